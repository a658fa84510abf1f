//! The example works.

#[allow(unreachable_pub, reason = "it is a program")]
#[path = "../examples/blur.rs"]
mod blur;

#[test]
fn the_example_runs() {
    blur::main().unwrap();
}
