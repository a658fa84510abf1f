//! What is particular to the host: laziness, garbage, gaps, and what goes wrong on demand.

use std::sync::atomic::{AtomicU32, Ordering};

use super::{Fault, Host, HostArg, HostConfig, HostDevice};
use crate::suite::FAMILY;
use crate::{
    Arg, Backend, Buffer, Device, Error, Event, Family, Grid, MemoryKind, Param, Pinned, Signature, Stream,
    discover,
};

crate::backend_suite!(Host);

static FAULTY: Family = Family::new("faulty", &[Signature { name: "faulty", params: &[Param::Write(1)] }])
    .host(&[("faulty", faulty)]);

fn faulty(_: Grid, args: &mut [HostArg<'_>]) {
    let [HostArg::Write(out)] = args else { unreachable!("the signature") };
    let len = out.len();
    out[len] = 0;
}

fn device(memory: u64) -> HostDevice {
    HostDevice::new(&HostConfig { memory, pinned: memory, ..HostConfig::default() })
}

fn bytes(stream: &super::HostStream, buffer: &super::HostBuffer) -> Vec<u8> {
    let mut bytes = vec![0; Buffer::bytes(buffer) as usize];
    stream.download(buffer, 0, &mut bytes).unwrap();
    bytes
}

#[test]
fn nothing_happens_before_somebody_waits() {
    let device = device(1 << 20);
    let (one, two) = (device.stream().unwrap(), device.stream().unwrap());
    let buffer = device.buffer(4).unwrap();
    one.upload(&[1; 4], &buffer, 0).unwrap();
    assert_eq!(bytes(&two, &buffer), [0xa5; 4], "no event: the other stream sees garbage, every time");
    let event = one.record().unwrap();
    assert!(!event.happened());
    one.upload(&[2; 4], &buffer, 0).unwrap();
    two.wait(&event).unwrap();
    assert_eq!(bytes(&two, &buffer), [1; 4], "the wait needs the first copy and no more");
    assert_eq!(bytes(&one, &buffer), [2; 4]);
}

#[test]
fn asking_makes_progress_one_piece_at_a_time() {
    let device = device(1 << 20);
    let (one, two) = (device.stream().unwrap(), device.stream().unwrap());
    let buffer = device.buffer(4).unwrap();
    one.zero(&buffer, 0..4).unwrap();
    two.wait(&one.record().unwrap()).unwrap();
    let event = two.record().unwrap();
    let answers: Vec<_> = (0..5).map(|_| event.is_done().unwrap()).collect();
    assert_eq!(answers, [false, false, false, true, true], "zero, pass, wait, pass");
}

#[test]
fn times_wait_for_both_ends() {
    let device = device(1 << 20);
    let (one, two) = (device.stream().unwrap(), device.stream().unwrap());
    let (early, late) = (one.record().unwrap(), two.record().unwrap());
    late.since(&early).unwrap();
    assert!(early.happened() && late.happened());
}

#[test]
fn a_long_chain_of_waits_is_no_recursion() {
    let device = device(1 << 20);
    let (one, two) = (device.stream().unwrap(), device.stream().unwrap());
    for _ in 0..100_000 {
        two.wait(&one.record().unwrap()).unwrap();
        one.wait(&two.record().unwrap()).unwrap();
    }
    one.sync().unwrap();
}

#[test]
fn memory_is_counted() {
    let device = device(10 << 10);
    let buffers: Vec<_> = (0..5).map(|_| device.buffer(1 << 10).unwrap()).collect();
    let report = device.memory().unwrap();
    assert_eq!(
        (report.total, report.free, report.ours, report.largest),
        (10 << 10, 5 << 10, 5 << 10, 5 << 10)
    );
    let error = device.buffer(6 << 10).unwrap_err();
    let text = "out of device memory on host0: 6 KiB asked for, 5 KiB at most in one piece, 5 KiB free of a limit of 10 KiB";
    assert_eq!(error.to_string(), text);
    drop(buffers);
    device.buffer(10 << 10).unwrap();
}

#[test]
fn others_take_their_share() {
    let config = HostConfig { memory: 10 << 10, others: 4 << 10, limit: None, ..HostConfig::default() };
    let report = HostDevice::new(&config).memory().unwrap();
    assert_eq!((report.total, report.free, report.largest), (10 << 10, 6 << 10, 6 << 10));
    let config = HostConfig { others: 99 << 10, ..config };
    assert_eq!(HostDevice::new(&config).memory().unwrap().largest, 0);
}

#[test]
fn page_locked_memory_has_its_own_limit() {
    let device = device(1 << 10);
    let held = device.pinned(1000).unwrap();
    let error = device.pinned(25).unwrap_err();
    assert!(
        matches!(
            error,
            Error::OutOfMemory { kind: MemoryKind::Pinned, requested: 25, free: 24, limit: 1024, .. }
        ),
        "{error}"
    );
    drop(held);
    device.pinned(1024).unwrap();
}

#[test]
fn memory_comes_back_from_queued_work() {
    let device = device(1 << 10);
    let stream = device.stream().unwrap();
    let buffer = device.buffer(1 << 10).unwrap();
    stream.zero(&buffer, 0..16).unwrap();
    drop(buffer);
    assert_eq!(device.memory().unwrap().ours, 1 << 10, "it is in use as long as the work is queued");
    device.buffer(1 << 10).expect("the work is done before memory is out");
}

#[test]
fn allocations_fail_on_demand() {
    let device = device(1 << 20);
    device.inject(Fault::Allocation { after: 2 });
    device.buffer(16).unwrap();
    device.pinned(16).unwrap();
    let error = device.buffer(16).unwrap_err();
    assert!(matches!(error, Error::OutOfMemory { requested: 16, free: 1_048_576, .. }), "{error}");
    device.buffer(16).expect("once");
}

#[test]
fn launches_fail_on_demand() {
    let device = device(1 << 20);
    let (stream, kernel) = (device.stream().unwrap(), device.kernel(&FAMILY, "iota").unwrap());
    let out = device.buffer(8).unwrap();
    device.inject(Fault::Launch { after: 1 });
    let launch = |start| stream.launch(&kernel, Grid::new(1, 32), &[Arg::U32(start), Arg::Write(&out)]);
    launch(5).unwrap();
    let error = launch(6).unwrap_err().to_string();
    let text = "kernel `iota` cannot run on host0 as 1x1x1 blocks of 32 threads with 0 bytes shared (code 0): a fault was injected";
    assert_eq!(error, text);
    assert_eq!(bytes(&stream, &out), bytemuck::cast_slice::<u32, u8>(&[5, 6]), "the first launch stands");
    launch(7).expect("once");
}

#[test]
fn a_lost_device_stays_lost() {
    let device = device(1 << 20);
    let stream = device.stream().unwrap();
    let (buffer, mut pinned) = (device.buffer(4).unwrap(), device.pinned(4).unwrap());
    device.inject(Fault::Loss { after: 1 });
    stream.upload(&[1; 4], &buffer, 0).unwrap();
    let before = stream.record().unwrap();
    stream.zero(&buffer, 0..4).unwrap();
    before.sync().expect("the loss comes later");
    let event = stream.record().unwrap();
    let lost = |result: Result<(), Error>| {
        let error = result.unwrap_err();
        let Error::Lost { call: "zero", ref text, .. } = error else { panic!("{error}") };
        assert_eq!(text, "a fault was injected");
    };
    lost(event.sync());
    lost(event.is_done().map(drop));
    lost(before.since(&before).map(drop));
    lost(stream.sync());
    lost(stream.zero(&buffer, 0..4));
    lost(stream.upload(&[0; 4], &buffer, 0));
    lost(stream.download(&buffer, 0, &mut [0; 4]));
    lost(stream.record().map(drop));
    lost(stream.wait(&before));
    lost(pinned.read(drop_bytes));
    lost(pinned.write(|bytes| drop_bytes(bytes)));
    lost(device.buffer(4).map(drop));
    lost(device.pinned(4).map(drop));
    lost(device.stream().map(drop));
    lost(device.memory().map(drop));
    lost(device.kernel(&FAMILY, "iota").map(drop));
    Host::open(0, None).unwrap().buffer(4).expect("a device that is opened anew is another one");
}

fn drop_bytes(_: &[u8]) {}

#[test]
fn a_lost_device_does_nothing_more() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    static COUNTED: Family =
        Family::new("counted", &[Signature { name: "count", params: &[] }]).host(&[("count", count)]);
    fn count(_: Grid, _: &mut [HostArg<'_>]) {
        CALLS.fetch_add(1, Ordering::Relaxed);
    }
    let device = device(1 << 20);
    let (stream, kernel) = (device.stream().unwrap(), device.kernel(&COUNTED, "count").unwrap());
    let (faulty, out) = (device.kernel(&FAULTY, "faulty").unwrap(), device.buffer(8).unwrap());
    let count = || stream.launch(&kernel, Grid::new(1, 1), &[]).unwrap();
    count();
    count();
    stream.launch(&faulty, Grid::new(1, 1), &[Arg::Write(&out)]).unwrap();
    count();
    stream.sync().unwrap_err();
    assert_eq!(CALLS.load(Ordering::Relaxed), 2);
}

#[test]
fn a_kernel_that_panics_loses_the_device() {
    let device = device(1 << 20);
    let (stream, kernel) = (device.stream().unwrap(), device.kernel(&FAULTY, "faulty").unwrap());
    let out = device.buffer(8).unwrap();
    stream.launch(&kernel, Grid::new(1, 32), &[Arg::Write(&out)]).unwrap();
    let error = stream.sync().unwrap_err();
    let Error::Lost { call: "faulty", ref text, .. } = error else { panic!("{error}") };
    assert!(text.contains("index out of bounds"), "{text}");
    drop((out, stream));
}

#[test]
fn work_that_is_left_in_a_stream_is_done_when_it_goes() {
    let device = device(1 << 20);
    let (one, two) = (device.stream().unwrap(), device.stream().unwrap());
    let buffer = device.buffer(4).unwrap();
    one.upload(&[1; 4], &buffer, 0).unwrap();
    drop(one);
    assert_eq!(bytes(&two, &buffer), [1; 4]);
}

#[test]
fn every_backend_is_accounted_for() {
    let found = discover();
    let names: Vec<_> = found.iter().map(|found| found.backend).collect();
    assert_eq!(names, ["cuda", "opencl", "host"]);
    let shown: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert!(shown[2].starts_with("host0: the host as a device, "), "{shown:?}");
    // Here or not, in this build or not: each says something.
    let said = |(name, line): (&&str, &String)| {
        line.starts_with(&format!("{name}0: "))
            || line.starts_with(&format!("{name}: backend {name} is unavailable: "))
    };
    assert!(names.iter().zip(&shown).all(said), "{shown:?}");
}
