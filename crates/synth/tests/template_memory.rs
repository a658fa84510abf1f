//! What a template may take that is wrong behind a right checksum, measured by the allocator.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]
#![allow(unsafe_code, reason = "an allocator that counts")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use cuzk_synth::FilecoinCircuit;
use cuzk_synth::template::{MULTIPLE, decode, encode};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: all memory is the system's.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        PEAK.fetch_max(LIVE.fetch_add(layout.size(), Relaxed) + layout.size(), Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Buffers of nine zstd frames that are unpacked at once; zstd's own memory, which is C's, is
/// not counted.
const BUFFERS: usize = 2 << 20;

#[test]
fn no_template_takes_more_than_its_length_allows() {
    let seed = rand::random();
    println!("seed {seed}");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let circuit: FilecoinCircuit = "winning-post-2KiB".parse().unwrap();
    let good = encode("key", &circuit.record().unwrap()).unwrap();
    let header = 16 + u32::from_le_bytes(good[12..16].try_into().unwrap()) as usize;
    let mut worst = 0;
    for round in 0..2000 {
        let mut bytes = good[..good.len() - 32].to_vec();
        if round > 0 {
            for _ in 0..rng.gen_range(1..4) {
                let at = if rng.gen_ratio(3, 4) {
                    rng.gen_range(0..header)
                } else {
                    rng.gen_range(0..bytes.len())
                };
                bytes[at] = if rng.r#gen() { rng.r#gen() } else { bytes[at] ^ (1 << rng.gen_range(0..8)) };
            }
        }
        let digest = blake2b_simd::Params::new().hash_length(32).hash(&bytes);
        bytes.extend(digest.as_bytes());
        PEAK.store(LIVE.load(Relaxed), Relaxed);
        let before = LIVE.load(Relaxed);
        let decoded = decode("key", &bytes);
        assert!(round > 0 || decoded.is_ok());
        drop(decoded);
        worst = worst.max(PEAK.load(Relaxed) - before);
        assert!(worst < MULTIPLE as usize * bytes.len() + BUFFERS, "{worst} for {}", bytes.len());
    }
    println!("{worst} bytes at the most, for files of {}", good.len());
}
