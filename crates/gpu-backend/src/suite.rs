//! What every backend passes: `backend_suite!(Host)` makes a test of each function here.
//!
//! Where the backend or its first device is not there, a test says so loudly and passes.
#![allow(clippy::missing_panics_doc, clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]
#![allow(missing_docs, reason = "a test's name is its claim")]

use std::time::{Duration, Instant};

use cuzk_pipeline_core::{Footprint, Value};

use crate::host::HostArg;
use crate::{
    Arg, Backend, Buffer, Device, Error, Event, Family, Grid, Kernel, MemoryKind, Param, Pinned, Signature,
    Stream,
};

/// Makes a test of every function of the suite for a [`Backend`], each of which may begin with
/// something: `backend_suite!(OpenCl, OpenCl::accept_cpus())`.
///
/// ```
/// # #[cfg(feature = "suite")]
/// cuzk_gpu_backend::backend_suite!(cuzk_gpu_backend::Host);
/// ```
#[macro_export]
macro_rules! backend_suite {
    ($backend:ty) => {
        $crate::backend_suite!($backend, ());
    };
    ($backend:ty, $before:expr) => {
        $crate::backend_suite! { $backend, $before;
            devices_are_described
            an_absent_device_is_an_error
            memory_is_accounted
            the_limit_is_kept
            gaps_do_not_count
            nothing_is_a_buffer
            copies_arrive
            bounds_are_checked
            pinned_memory_waits_for_its_copies
            streams_keep_their_order
            events_order_streams
            events_come_true_and_tell_time
            dropped_buffers_last_as_long_as_their_work
            dropped_buffers_are_not_given_again_before_their_work
            kernels_compute
            values_are_passed
            arguments_are_checked
            grids_are_checked
            unknown_kernels_are_errors
            handles_of_another_device_are_refused
            threads_share_a_device
        }
    };
    ($backend:ty, $before:expr; $($test:ident)*) => {
        $(
            #[test]
            fn $test() {
                $before;
                $crate::suite::$test::<$backend>();
            }
        )*
    };
}

/// The kernels of the suite.
pub static FAMILY: Family = Family::new(
    "suite",
    &[
        Signature { name: "iota", params: &[Param::U32, Param::Write(4)] },
        Signature { name: "axpy", params: &[Param::U64, Param::Read(8), Param::Write(8)] },
        Signature { name: "xor_key", params: &[Param::Value(16), Param::Read(16), Param::Write(16)] },
        Signature { name: "formless", params: &[] },
    ],
)
.host(&[("iota", iota), ("axpy", axpy), ("xor_key", xor)]);

/// `out[i] = start + i`.
fn iota(_: Grid, args: &mut [HostArg<'_>]) {
    let [HostArg::U32(start), HostArg::Write(out)] = args else { unreachable!("the signature") };
    for (i, x) in (0u32..).zip(bytemuck::cast_slice_mut::<u8, u32>(out)) {
        *x = start.wrapping_add(i);
    }
}

/// `y[i] += a * x[i]`, over the shorter of both.
fn axpy(_: Grid, args: &mut [HostArg<'_>]) {
    let [HostArg::U64(a), HostArg::Read(x), HostArg::Write(y)] = args else { unreachable!("the signature") };
    for (x, y) in bytemuck::cast_slice::<u8, u64>(x).iter().zip(bytemuck::cast_slice_mut::<u8, u64>(y)) {
        *y = y.wrapping_add(a.wrapping_mul(*x));
    }
}

/// `y[i] = x[i] ^ key`.
fn xor(_: Grid, args: &mut [HostArg<'_>]) {
    let [HostArg::Value(key), HostArg::Read(x), HostArg::Write(y)] = args else {
        unreachable!("the signature")
    };
    let key = bytemuck::cast_slice::<u8, u128>(key)[0];
    for (x, y) in bytemuck::cast_slice::<u8, u128>(x).iter().zip(bytemuck::cast_slice_mut::<u8, u128>(y)) {
        *y = x ^ key;
    }
}

/// The first device, where there is one.
pub fn open<B: Backend>() -> Option<B::Device> {
    match B::open(0, None) {
        Ok(device) => Some(device),
        Err(error @ (Error::Unavailable { .. } | Error::NoDevice { .. })) => {
            eprintln!("SKIPPED, this tests nothing: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Bytes that differ from place to place and from seed to seed.
fn pattern(len: u64, seed: u64) -> Vec<u8> {
    (0..len).map(|i| ((i + 1).wrapping_mul(seed.wrapping_mul(2) + 0x9e37_79b9) >> 11) as u8).collect()
}

fn numbers<T: bytemuck::AnyBitPattern>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()
}

fn filled<B: Backend>(device: &B::Device, stream: &B::Stream, bytes: &[u8]) -> B::Buffer {
    let buffer = device.buffer(bytes.len() as u64).unwrap();
    stream.upload(bytes, &buffer, 0).unwrap();
    buffer
}

fn all<B: Backend>(stream: &B::Stream, buffer: &B::Buffer) -> Vec<u8> {
    let mut bytes = vec![0; buffer.bytes() as usize];
    stream.download(buffer, 0, &mut bytes).unwrap();
    bytes
}

pub fn devices_are_described<B: Backend>() {
    let Some(device) = open::<B>() else { return };
    let devices = B::devices().unwrap();
    assert!(devices.iter().enumerate().all(|(i, d)| usize::from(d.index) == i && d.backend == B::NAME));
    assert_eq!(device.info().name, devices[0].name);
    assert_eq!(device.info().id(), format!("{}0", B::NAME));
    let info = device.info();
    assert!(info.memory > 0 && info.max_threads >= 32 && info.units > 0, "{info:?}");
    let report = device.memory().unwrap();
    assert!(report.free <= report.total && report.ours + report.largest <= report.total, "{report}");
}

pub fn an_absent_device_is_an_error<B: Backend>() {
    let error = B::open(u16::MAX, None).unwrap_err();
    assert!(matches!(error, Error::NoDevice { index: u16::MAX, .. } | Error::Unavailable { .. }), "{error}");
}

pub fn memory_is_accounted<B: Backend>() {
    let Some(device) = open::<B>() else { return };
    let ours = || device.memory().unwrap().ours;
    let before = ours();
    let buffer = device.buffer(1_000_001).unwrap();
    assert_eq!((buffer.bytes(), buffer.footprint()), (1_000_001, Footprint::device(1_000_001)));
    let clone = buffer.clone();
    drop(buffer);
    assert!((1_000_001..1_100_000).contains(&(ours() - before)), "a clone keeps the memory");
    drop(clone);
    assert_eq!(ours(), before);
    let pinned = device.pinned(4097).unwrap();
    assert_eq!((pinned.bytes(), pinned.footprint()), (4097, Footprint::pinned(4097)));
    pinned.read(|bytes| assert!(bytes.len() == 4097 && bytes.iter().all(|b| *b == 0))).unwrap();
    assert_eq!(ours(), before, "page-locked memory is the host's");
}

pub fn the_limit_is_kept<B: Backend>() {
    if open::<B>().is_none() {
        return;
    }
    let device = B::open(0, Some(1 << 20)).unwrap();
    let first = device.buffer(600 << 10).unwrap();
    let error = device.buffer(600 << 10).unwrap_err();
    let Error::OutOfMemory { kind: MemoryKind::Device, requested, free, largest, limit, .. } = error else {
        panic!("{error}")
    };
    assert_eq!((requested, limit), (600 << 10, 1 << 20));
    assert!(free <= 424 << 10 && largest <= free, "{error}");
    assert!(device.memory().unwrap().largest <= 424 << 10);
    let second = device.buffer(400 << 10).expect("what fits is given after what does not");
    drop(first);
    drop(device.buffer(600 << 10).expect("what was given back is there again"));
    drop(second);
    assert!(device.buffer(u64::MAX).is_err() && device.pinned(u64::MAX).is_err());
    assert_eq!(device.memory().unwrap().ours, 0);
}

/// However large buffers came and went, what is free of a limit can be had in one.
pub fn gaps_do_not_count<B: Backend>() {
    const UNIT: u64 = 8 << 20;
    if open::<B>().is_none() {
        return;
    }
    let device = B::open(0, Some(10 * UNIT)).unwrap();
    let stream = device.stream().unwrap();
    let mut buffers: Vec<_> = (0..10).map(|_| Some(device.buffer(UNIT).unwrap())).collect();
    for large in [5, 3, 4] {
        buffers.iter_mut().step_by(2).for_each(|buffer| *buffer = None);
        let one = device.buffer(large * UNIT).unwrap();
        stream.zero(&one, 0..large * UNIT).unwrap();
        stream.sync().unwrap();
        drop(one);
        buffers.iter_mut().step_by(2).for_each(|buffer| *buffer = Some(device.buffer(UNIT).unwrap()));
    }
    assert!(device.buffer(UNIT).is_err());
    drop(buffers);
    assert_eq!(device.memory().unwrap().ours, 0);
}

pub fn nothing_is_a_buffer<B: Backend>() {
    let Some(device) = open::<B>() else { return };
    let stream = device.stream().unwrap();
    let (none, mut pinned) = (device.buffer(0).unwrap(), device.pinned(0).unwrap());
    stream.upload(&[], &none, 0).unwrap();
    stream.upload_pinned(&pinned, 0..0, &none, 0).unwrap();
    stream.download_pinned(&none, 0..0, &mut pinned, 0).unwrap();
    stream.zero(&none, 0..0).unwrap();
    assert_eq!(all::<B>(&stream, &none), [0; 0]);
    let axpy = device.kernel(&FAMILY, "axpy").unwrap();
    let other = device.buffer(0).unwrap();
    stream.launch(&axpy, Grid::cover(0, 32), &[Arg::U64(1), Arg::Read(&none), Arg::Write(&other)]).unwrap();
    stream.sync().unwrap();
}

pub fn copies_arrive<B: Backend>() {
    let Some(device) = open::<B>() else { return };
    let stream = device.stream().unwrap();
    for len in [1, 2, 15, 16, 17, 255, 4095, 4096, 4097, 1_000_003] {
        let bytes = pattern(len, len);
        let a = filled::<B>(&device, &stream, &bytes);
        assert_eq!(all::<B>(&stream, &a), bytes, "{len}");
        // Parts, at places that are aligned to nothing.
        let (third, rest) = (len / 3, len - len / 3);
        let b = device.buffer(len).unwrap();
        stream.zero(&b, 0..len).unwrap();
        stream.copy(&a, third..len, &b, 0).unwrap();
        let mut expected = bytes[third as usize..].to_vec();
        expected.resize(len as usize, 0);
        assert_eq!(all::<B>(&stream, &b), expected, "{len}");
        let mut part = vec![0; rest as usize];
        stream.download(&a, third, &mut part).unwrap();
        assert_eq!(part, bytes[third as usize..], "{len}");
        stream.upload(&part, &a, 0).unwrap();
        stream.zero(&a, rest..len).unwrap();
        assert_eq!(all::<B>(&stream, &a), expected, "{len}");
        // Within one buffer.
        if len >= 2 {
            stream.copy(&b, 0..len / 2, &b, len - len / 2).unwrap();
            expected.copy_within(..(len / 2) as usize, (len - len / 2) as usize);
            assert_eq!(all::<B>(&stream, &b), expected, "{len}");
        }
    }
}

pub fn bounds_are_checked<B: Backend>() {
    let Some(device) = open::<B>() else { return };
    let stream = device.stream().unwrap();
    let (a, b) = (filled::<B>(&device, &stream, &[7; 100]), device.buffer(100).unwrap());
    let mut pinned = device.pinned(50).unwrap();
    let bounds = |result: Result<(), Error>, at, len, bytes| {
        let error = result.unwrap_err();
        let Error::Bounds { at: a, len: l, bytes: b, .. } = error else { panic!("{error}") };
        assert_eq!((a, l, b), (at, len, bytes), "{error}");
    };
    bounds(stream.upload(&[0; 10], &a, 91), 91, 10, 100);
    bounds(stream.upload(&[0; 1], &a, u64::MAX), u64::MAX, 1, 100);
    bounds(stream.download(&a, 99, &mut [0; 2]), 99, 2, 100);
    bounds(stream.copy(&a, 0..101, &b, 0), 0, 101, 100);
    bounds(stream.copy(&a, 0..51, &b, 50), 50, 51, 100);
    #[allow(clippy::reversed_empty_ranges, reason = "it is the point")]
    bounds(stream.copy(&a, 7..5, &b, 0), 7, 0, 100);
    bounds(stream.zero(&a, 100..101), 100, 1, 100);
    bounds(stream.upload_pinned(&pinned, 0..51, &a, 0), 0, 51, 50);
    bounds(stream.upload_pinned(&pinned, 0..50, &a, 51), 51, 50, 100);
    bounds(stream.download_pinned(&a, 0..51, &mut pinned, 0), 0, 51, 50);
    bounds(stream.download_pinned(&a, 60..101, &mut pinned, 0), 60, 41, 100);
    for (range, at) in [(0..10, 9), (9..20, 0), (0..1, 0)] {
        let error = stream.copy(&a, range, &a, at).unwrap_err();
        assert!(matches!(error, Error::Overlap { .. }), "{error}");
    }
    assert_eq!(all::<B>(&stream, &a), [7; 100], "what was refused did nothing");
}

pub fn pinned_memory_waits_for_its_copies<B: Backend>() {
    let Some(device) = open::<B>() else { return };
    let (one, two) = (device.stream().unwrap(), device.stream().unwrap());
    let len = 100_000;
    let mut pinned = device.pinned(len).unwrap();
    let (a, b) = (device.buffer(len).unwrap(), device.buffer(len).unwrap());
    let bytes = pattern(len, 3);
    pinned.write(|p| p.copy_from_slice(&bytes)).unwrap();
    one.upload_pinned(&pinned, 0..len, &a, 0).unwrap();
    two.upload_pinned(&pinned, 10..len, &b, 0).unwrap();
    // Both copies were made when the memory is given away.
    pinned.write(|p| p.fill(0)).unwrap();
    assert_eq!(all::<B>(&one, &a), bytes);
    assert_eq!(all::<B>(&two, &b)[..len as usize - 10], bytes[10..]);
    one.download_pinned(&a, 5..len, &mut pinned, 1).unwrap();
    one.download_pinned(&a, 0..1, &mut pinned, 0).unwrap();
    let read = pinned.read(<[u8]>::to_vec).unwrap();
    assert_eq!((read[0], &read[1..len as usize - 4]), (bytes[0], &bytes[5..]));
    // Memory that is dropped with copies queued.
    pinned.write(|p| p.copy_from_slice(&bytes)).unwrap();
    one.upload_pinned(&pinned, 0..len, &b, 0).unwrap();
    drop(pinned);
    assert_eq!(all::<B>(&one, &b), bytes);
}

pub fn streams_keep_their_order<B: Backend>() {
    let Some(device) = open::<B>() else { return };
    let stream = device.stream().unwrap();
    let (axpy, n) = (device.kernel(&FAMILY, "axpy").unwrap(), 1000_u64);
    let x = filled::<B>(&device, &stream, bytemuck::cast_slice(&vec![1_u64; n as usize]));
    let y = device.buffer(8 * n).unwrap();
    stream.zero(&y, 0..8 * n).unwrap();
    // x and y take turns as Fibonacci's numbers do, with nothing in between.
    for _ in 0..20 {
        stream.launch(&axpy, Grid::cover(n, 128), &[Arg::U64(1), Arg::Read(&x), Arg::Write(&y)]).unwrap();
        stream.launch(&axpy, Grid::cover(n, 128), &[Arg::U64(1), Arg::Read(&y), Arg::Write(&x)]).unwrap();
    }
    let numbers = all::<B>(&stream, &y);
    assert!(bytemuck::cast_slice::<u8, u64>(&numbers).iter().all(|x| *x == 102_334_155), "F(40)");
}

pub fn events_order_streams<B: Backend>() {
    let Some(device) = open::<B>() else { return };
    let (upper, middle, lower) =
        (device.stream().unwrap(), device.stream().unwrap(), device.stream().unwrap());
    let (iota, n) = (device.kernel(&FAMILY, "iota").unwrap(), 4096_u64);
    let (a, b) = (device.buffer(4 * n).unwrap(), device.buffer(4 * n).unwrap());
    let mut results: Vec<_> = (0..50).map(|_| device.pinned(4 * n).unwrap()).collect();
    let mut free: Option<B::Event> = None;
    for (round, result) in (0_u32..).zip(&mut results) {
        // a is written when it was copied, b when it was read, all without the host.
        upper.launch(&iota, Grid::cover(n, 64), &[Arg::U32(round), Arg::Write(&a)]).unwrap();
        middle.wait(&upper.record().unwrap()).unwrap();
        if let Some(free) = &free {
            middle.wait(free).unwrap();
        }
        middle.copy(&a, 0..4 * n, &b, 0).unwrap();
        let copied = middle.record().unwrap();
        upper.wait(&copied).unwrap();
        lower.wait(&copied).unwrap();
        lower.download_pinned(&b, 0..4 * n, result, 0).unwrap();
        free = Some(lower.record().unwrap());
    }
    for (round, result) in (0..50_u32).zip(&results).rev() {
        let seen = result.read(numbers::<u32>).unwrap();
        assert!(seen.iter().copied().eq(round..round + n as u32), "round {round}");
    }
}

pub fn events_come_true_and_tell_time<B: Backend>() {
    let Some(device) = open::<B>() else { return };
    let stream = device.stream().unwrap();
    let early = stream.record().unwrap();
    let buffer = device.buffer(1 << 20).unwrap();
    for _ in 0..10 {
        stream.zero(&buffer, 0..1 << 20).unwrap();
    }
    let late = stream.record().unwrap();
    let asked = Instant::now();
    while !late.is_done().unwrap() {
        assert!(asked.elapsed() < Duration::from_secs(30), "it never comes true");
        std::thread::yield_now();
    }
    assert!(early.is_done().unwrap(), "streams keep their order");
    late.sync().unwrap();
    assert!(late.since(&early).unwrap() < Duration::from_mins(1));
    assert_eq!(early.since(&late).unwrap(), Duration::ZERO);
    assert_eq!(late.since(&late.clone()).unwrap(), Duration::ZERO);
    // Events outlive their streams.
    let last = stream.record().unwrap();
    drop(stream);
    last.sync().unwrap();
    assert!(last.is_done().unwrap());
}

pub fn dropped_buffers_last_as_long_as_their_work<B: Backend>() {
    if open::<B>().is_none() {
        return;
    }
    let device = B::open(0, Some(64 << 10)).unwrap();
    let (one, two) = (device.stream().unwrap(), device.stream().unwrap());
    let keep = device.buffer(4 << 10).unwrap();
    // Far more than the limit in all: memory comes back while work is queued, and no copy sees
    // what a later buffer in the same place holds.
    for round in 0..200_u64 {
        let bytes = pattern(16 << 10, round);
        let (stream, other) = if round % 2 == 0 { (&one, &two) } else { (&two, &one) };
        let first = filled::<B>(&device, stream, &bytes);
        let second = device.buffer(16 << 10).unwrap();
        stream.copy(&first, 0..16 << 10, &second, 0).unwrap();
        drop(first);
        other.wait(&stream.record().unwrap()).unwrap();
        other.copy(&second, 12 << 10..16 << 10, &keep, 0).unwrap();
        drop(second);
        if round % 10 == 9 {
            assert!(all::<B>(other, &keep) == bytes[12 << 10..], "round {round}");
        }
    }
    one.sync().unwrap();
    two.sync().unwrap();
    let ours = device.memory().unwrap().ours;
    assert!(ours < 8 << 10, "{ours} bytes for one buffer of 4 KiB");
}

/// Work that waits for a slow stream, and uses buffers that were dropped, sees their bytes and no later
/// buffers', whose bytes it leaves alone.
pub fn dropped_buffers_are_not_given_again_before_their_work<B: Backend>() {
    let Some(device) = open::<B>() else { return };
    let [slow, late, other] = [(); 3].map(|()| device.stream().unwrap());
    let (iota, axpy) = (device.kernel(&FAMILY, "iota").unwrap(), device.kernel(&FAMILY, "axpy").unwrap());
    let n = 16_u64 << 10;
    let (old, new) = (pattern(n, 1), pattern(n, 2));
    let [x, y] = [(); 2].map(|()| filled::<B>(&device, &slow, &vec![0; 1 << 20]));
    let (mut source, mut seen) = (device.pinned(n).unwrap(), device.pinned(n).unwrap());
    source.write(|bytes| bytes.copy_from_slice(&old)).unwrap();
    // One thread's work, and ever more of it: until the later buffers were written before it was done.
    let was_slow = (0..14).any(|round| {
        let dropped = [(); 8].map(|()| filled::<B>(&device, &other, &old));
        let [copied, summed] = [(); 2].map(|()| filled::<B>(&device, &other, &vec![0; n as usize]));
        other.sync().unwrap();
        for _ in 0..1 << round {
            slow.launch(&axpy, Grid::new(1, 1), &[Arg::U64(1), Arg::Read(&x), Arg::Write(&y)]).unwrap();
        }
        late.wait(&slow.record().unwrap()).unwrap();
        let grid = Grid::cover(n / 8, 64);
        late.copy(&dropped[0], 0..n, &copied, 0).unwrap();
        late.launch(&axpy, grid, &[Arg::U64(1), Arg::Read(&dropped[1]), Arg::Write(&summed)]).unwrap();
        late.download_pinned(&dropped[2], 0..n, &mut seen, 0).unwrap();
        late.copy(&copied, 0..n, &dropped[3], 0).unwrap();
        late.launch(&iota, grid, &[Arg::U32(7), Arg::Write(&dropped[4])]).unwrap();
        late.upload(&old, &dropped[5], 0).unwrap();
        late.upload_pinned(&source, 0..n, &dropped[6], 0).unwrap();
        late.zero(&dropped[7], 0..n).unwrap();
        let done = late.record().unwrap();
        drop(dropped);
        let later = [(); 8].map(|()| filled::<B>(&device, &other, &new));
        other.sync().unwrap();
        let was_slow = !done.is_done().unwrap();
        assert!(all::<B>(&late, &copied) == old && all::<B>(&late, &summed) == old, "what is read");
        assert!(seen.read(|bytes| bytes == old).unwrap(), "what is downloaded");
        for (i, buffer) in later.iter().enumerate() {
            assert!(all::<B>(&late, buffer) == new, "buffer {i}");
        }
        was_slow
    });
    assert!(was_slow, "the later buffers came too late");
}

pub fn kernels_compute<B: Backend>() {
    let Some(device) = open::<B>() else { return };
    let stream = device.stream().unwrap();
    let (iota, axpy) = (device.kernel(&FAMILY, "iota").unwrap(), device.kernel(&FAMILY, "axpy").unwrap());
    assert_eq!((iota.name(), axpy.name()), ("iota", "axpy"));
    let threads = axpy.max_threads().min(256);
    assert!(threads >= 32);
    for n in [1_u64, 2, 31, 32, 33, 1023, 1025, 100_003] {
        let (x, y) = (pattern(8 * n, 1), pattern(8 * n, 2));
        let (dx, dy) = (filled::<B>(&device, &stream, &x), filled::<B>(&device, &stream, &y));
        let a = 0xdead_beef_1234_5678_u64;
        stream
            .launch(&axpy, Grid::cover(n, threads), &[Arg::U64(a), Arg::Read(&dx), Arg::Write(&dy)])
            .unwrap();
        let (x, mut y) = (numbers::<u64>(&x), numbers::<u64>(&y));
        x.iter().zip(&mut y).for_each(|(x, y)| *y = y.wrapping_add(a.wrapping_mul(*x)));
        assert_eq!(all::<B>(&stream, &dy), bytemuck::cast_slice::<u64, u8>(&y), "{n}");
        assert_eq!(all::<B>(&stream, &dx), bytemuck::cast_slice::<u64, u8>(&x), "{n}: what is read stays");

        let out = device.buffer(4 * n).unwrap();
        stream.launch(&iota, Grid::cover(n, threads), &[Arg::U32(u32::MAX - 1), Arg::Write(&out)]).unwrap();
        let seen = numbers::<u32>(&all::<B>(&stream, &out));
        assert!((0_u32..).zip(&seen).all(|(i, x)| *x == (u32::MAX - 1).wrapping_add(i)), "{n}");
    }
}

pub fn values_are_passed<B: Backend>() {
    let Some(device) = open::<B>() else { return };
    let stream = device.stream().unwrap();
    let kernel = device.kernel(&FAMILY, "xor_key").unwrap();
    let (x, y) = (filled::<B>(&device, &stream, &pattern(160, 1)), device.buffer(160).unwrap());
    {
        let key = pattern(16, 9);
        stream.launch(&kernel, Grid::new(1, 32), &[Arg::Value(&key), Arg::Read(&x), Arg::Write(&y)]).unwrap();
        // The value was taken when the kernel was queued.
    }
    let expected: Vec<_> =
        pattern(160, 1).iter().zip(pattern(16, 9).iter().cycle()).map(|(x, k)| x ^ k).collect();
    assert_eq!(all::<B>(&stream, &y), expected);
}

pub fn arguments_are_checked<B: Backend>() {
    let Some(device) = open::<B>() else { return };
    let stream = device.stream().unwrap();
    let (axpy, xor) = (device.kernel(&FAMILY, "axpy").unwrap(), device.kernel(&FAMILY, "xor_key").unwrap());
    let (x, y, odd) = (device.buffer(64).unwrap(), device.buffer(64).unwrap(), device.buffer(63).unwrap());
    let refused = |kernel: &B::Kernel, args: &[Arg<'_, B>], at: usize| {
        let error = stream.launch(kernel, Grid::new(1, 32), args).unwrap_err();
        let Error::Argument { kernel: name, index, .. } = error else { panic!("{error}") };
        assert_eq!((name, index), (kernel.name(), at), "{error}");
    };
    refused(&axpy, &[], 0);
    refused(&axpy, &[Arg::U64(1), Arg::Read(&x)], 2);
    refused(&axpy, &[Arg::U64(1), Arg::Read(&x), Arg::Write(&y), Arg::U32(1)], 3);
    refused(&axpy, &[Arg::U32(1), Arg::Read(&x), Arg::Write(&y)], 0);
    refused(&axpy, &[Arg::U64(1), Arg::Write(&x), Arg::Write(&y)], 1);
    refused(&axpy, &[Arg::U64(1), Arg::Read(&odd), Arg::Write(&y)], 1);
    refused(&axpy, &[Arg::U64(1), Arg::Read(&x), Arg::Write(&x)], 2);
    refused(&axpy, &[Arg::U64(1), Arg::Read(&x), Arg::Write(&x.clone())], 2);
    refused(&xor, &[Arg::Value(&[0; 15]), Arg::Read(&x), Arg::Write(&y)], 0);
    stream.launch(&axpy, Grid::new(1, 32), &[Arg::U64(0), Arg::Read(&x), Arg::Write(&y)]).unwrap();
}

pub fn grids_are_checked<B: Backend>() {
    let Some(device) = open::<B>() else { return };
    let stream = device.stream().unwrap();
    let kernel = device.kernel(&FAMILY, "iota").unwrap();
    let out = device.buffer(4).unwrap();
    let bad = [
        Grid::new(0, 32),
        Grid::new(1, 0),
        Grid::new(1, kernel.max_threads() + 1),
        Grid { blocks: [1, 1, 0], threads: 32, shared: 0 },
        Grid::new(1, 32).shared(u32::MAX),
    ];
    for grid in bad {
        let error = stream.launch(&kernel, grid, &[Arg::U32(0), Arg::Write(&out)]).unwrap_err();
        assert!(matches!(error, Error::Launch { kernel: "iota", grid: g, .. } if g == grid), "{error}");
    }
    stream
        .launch(&kernel, Grid::new(1, 32), &[Arg::U32(9), Arg::Write(&out)])
        .expect("a refusal breaks nothing");
    assert_eq!(all::<B>(&stream, &out), 9_u32.to_ne_bytes());
}

pub fn unknown_kernels_are_errors<B: Backend>() {
    let Some(device) = open::<B>() else { return };
    for name in ["axpi", "", "formless"] {
        let error = device.kernel(&FAMILY, name).unwrap_err();
        assert!(
            matches!(&error, Error::NoKernel { family: "suite", kernel, .. } if kernel == name),
            "{error}"
        );
    }
}

pub fn handles_of_another_device_are_refused<B: Backend>() {
    let Some(device) = open::<B>() else { return };
    let other = B::open(0, Some(1 << 20)).unwrap();
    let (stream, there) = (device.stream().unwrap(), other.stream().unwrap());
    let (a, b) = (device.buffer(16).unwrap(), other.buffer(16).unwrap());
    let (ours, mut theirs) = (device.pinned(16).unwrap(), other.pinned(16).unwrap());
    let kernel = device.kernel(&FAMILY, "xor_key").unwrap();
    let refused = |result: Result<(), Error>| {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::OtherDevice { .. }), "{error}");
    };
    refused(stream.upload(&[0; 16], &b, 0));
    refused(stream.download(&b, 0, &mut [0; 16]));
    refused(stream.copy(&a, 0..16, &b, 0));
    refused(stream.copy(&b, 0..16, &a, 0));
    refused(stream.zero(&b, 0..16));
    refused(stream.upload_pinned(&ours, 0..16, &b, 0));
    refused(stream.upload_pinned(&theirs, 0..16, &a, 0));
    refused(stream.download_pinned(&a, 0..16, &mut theirs, 0));
    refused(stream.wait(&there.record().unwrap()));
    refused(stream.launch(&kernel, Grid::new(1, 32), &[Arg::Value(&[0; 16]), Arg::Read(&b), Arg::Write(&a)]));
}

pub fn threads_share_a_device<B: Backend>() {
    let Some(device) = open::<B>() else { return };
    let shared = device.stream().unwrap();
    let (device, shared) = (&device, &shared);
    std::thread::scope(|scope| {
        for seed in 0..4 {
            scope.spawn(move || {
                let own = device.stream().unwrap();
                for round in 0..20 {
                    let stream = if round % 2 == 0 { &own } else { shared };
                    let bytes = pattern(10_000, 100 * seed + round);
                    let buffer = filled::<B>(device, stream, &bytes);
                    assert!(all::<B>(stream, &buffer) == bytes);
                }
            });
        }
    });
}
