//! Wrong wiring does not compile.

#[test]
fn wrong_edges_do_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
