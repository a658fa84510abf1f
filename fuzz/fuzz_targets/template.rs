#![no_main]

#[path = "../bodies.rs"]
#[allow(dead_code, reason = "each target runs one of the bodies")]
mod bodies;

libfuzzer_sys::fuzz_target!(
    init: bodies::sow(&bodies::templates().expect("circuits")).expect("a folder for seeds"),
    |bytes: &[u8]| {
        bodies::template(bytes);
    }
);
