//! The bodies of the fuzz targets on changed fixtures, for half a minute each.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]
#![allow(unsafe_code, reason = "an allocator that counts")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::panic::catch_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use cuzk_synth::template::MULTIPLE;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

#[path = "../../../fuzz/bodies.rs"]
mod bodies;

const TIME: Duration = Duration::from_secs(30);

/// The most memory that reading an input takes, besides buffers and zstd's window:
/// this many times its length, packed inputs unpacked.
const INPUT_MULTIPLE: usize = 8;
/// Buffers of 64 KiB, of each of the encodings within one another.
const BUFFERS: usize = 2 << 20;
/// zstd's window is at most 128 MiB.
const WINDOW: usize = 160 << 20;

struct Counting;
static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: all is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(now, Relaxed);
        // SAFETY: the caller keeps the promises.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps the promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// The most that `work` allocates at once.
fn peak(work: impl FnOnce()) -> usize {
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    work();
    PEAK.load(Relaxed).saturating_sub(before)
}

/// Bytes changed in a few places, near the start as often as anywhere.
fn mutate(bytes: &mut Vec<u8>, others: &[Vec<u8>], rng: &mut ChaCha8Rng) {
    const WORDS: [&[u8]; 14] = [
        b"[",
        b"]",
        b"{",
        b"}",
        b"\"",
        b",",
        b"null",
        b"-1",
        b"1e9",
        b"\\",
        b"=",
        b"\xff\xff\xff\xff",
        b"\0\0\0\0\0\0\0\x01",
        b"99999999999999999999",
    ];
    for _ in 0..rng.gen_range(1..5) {
        let near = if rng.gen_bool(0.5) { bytes.len().min(400) } else { bytes.len() };
        let at = rng.gen_range(0..near.max(1)).min(bytes.len());
        let to = (at + rng.gen_range(1..64)).min(bytes.len());
        match rng.gen_range(0..7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << rng.gen_range(0..8),
            1 => drop(bytes.drain(at..to)),
            2 => bytes.truncate(at),
            3 => drop(bytes.splice(at..at, WORDS[rng.gen_range(0..WORDS.len())].iter().copied())),
            4 => bytes[at..to].fill([0, 1, 0x7f, 0x80, 0xff][rng.gen_range(0..5)]),
            5 => {
                let other = &others[rng.gen_range(0..others.len())];
                let from = rng.gen_range(0..other.len());
                let piece = other[from..(from + 200).min(other.len())].iter().copied();
                drop(bytes.splice(at..to, piece));
            }
            _ => {
                let copy = bytes[at..to].to_vec();
                let into = rng.gen_range(0..=bytes.len());
                bytes.splice(into..into, copy);
            }
        }
    }
}

/// Runs `body` on changed seeds until time is up. It says whether it took the bytes;
/// `limit` is the most memory that bytes may cost.
fn fuzz(
    seeds: &[Vec<u8>],
    body: impl Fn(&[u8]) -> bool + std::panic::RefUnwindSafe,
    limit: impl Fn(&[u8]) -> usize,
) {
    // Memory is the process's: one after the other.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock();
    let seed = rand::random();
    println!("seed {seed}");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (start, mut runs, mut taken) = (Instant::now(), 0_u64, 0_u64);
    seeds.iter().for_each(|bytes| assert!(body(bytes), "a fixture is refused"));
    while start.elapsed() < TIME {
        let mut bytes = seeds[rng.gen_range(0..seeds.len())].clone();
        mutate(&mut bytes, seeds, &mut rng);
        let mut ended = None;
        let peak = peak(|| ended = catch_unwind(|| body(&bytes)).ok());
        let kept = || {
            let path = std::env::temp_dir().join(format!("cuzk-fuzz-{seed}-{runs}"));
            fs_err::write(&path, &bytes).unwrap();
            path
        };
        assert!(ended.is_some(), "a panic: {}", kept().display());
        assert!(peak <= limit(&bytes), "{peak} bytes for {}: {}", bytes.len(), kept().display());
        (runs, taken) = (runs + 1, taken + u64::from(ended == Some(true)));
    }
    println!("{runs} runs, {taken} of them taken");
    assert!(runs > 100 && taken > 0);
}

#[test]
fn inputs() {
    let (seeds, known) = bodies::inputs().unwrap();
    assert!(seeds.len() >= 14, "{} fixtures are read", seeds.len());
    let limit = |bytes: &[u8]| {
        let packed = bytes.starts_with(&[0x28, 0xb5]) || bytes.starts_with(&[0x1f, 0x8b]);
        INPUT_MULTIPLE * bytes.len() + if packed { WINDOW } else { BUFFERS }
    };
    fuzz(&seeds, |bytes| bodies::input(bytes, &known), limit);
}

#[test]
fn templates() {
    let seeds = bodies::templates().unwrap();
    // Twice a decoding's, and the copy with another checksum.
    let limit = |bytes: &[u8]| 2 * MULTIPLE as usize * bytes.len() + BUFFERS;
    fuzz(&seeds, bodies::template, limit);
}
