#![no_main]

use std::sync::LazyLock;

use cuzk_synth::input::Known;

#[path = "../bodies.rs"]
#[allow(dead_code, reason = "each target runs one of the bodies")]
mod bodies;

static SEEDS: LazyLock<(Vec<Vec<u8>>, Known)> = LazyLock::new(|| bodies::inputs().expect("fixtures"));

libfuzzer_sys::fuzz_target!(init: bodies::sow(&SEEDS.0).expect("a folder for seeds"), |bytes: &[u8]| {
    bodies::input(bytes, &SEEDS.1);
});
