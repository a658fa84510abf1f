//! The suite on the first OpenCL device, which may be a CPU, and what only OpenCL has. Without a
//! device a test says so and passes.
#![cfg(feature = "opencl")]
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

use cuzk_gpu_backend::{
    Arg, Backend, Buffer, Device, Error, Event, Family, Grid, OpenCl, Param, Pinned, Signature, Stream,
    discover,
};

cuzk_gpu_backend::backend_suite!(OpenCl, OpenCl::accept_cpus());

/// `load` reads where it is told, whatever is there; `store` writes what it is told; `shared` sums up to 256
/// numbers in shared memory, whose size is the launch's.
static OWN: Family = Family::new(
    "own",
    &[
        Signature { name: "load", params: &[Param::U64, Param::Write(8)] },
        Signature { name: "store", params: &[Param::U64, Param::Write(8)] },
        Signature { name: "sum", params: &[Param::Read(8), Param::Write(8)] },
        Signature { name: "absent", params: &[] },
        Signature { name: "fewer", params: &[Param::U32, Param::U32] },
    ],
)
.opencl(
    "
    kernel void load(ulong from, global ulong *to, ulong n) { *to = *(global const ulong *)from; }
    kernel void store(ulong value, global ulong *to, ulong n) { *to = value; }
    kernel void sum(global const ulong *x, ulong xs, global ulong *to, ulong n, local ulong *shared) {
        const size_t i = get_local_id(0);
        shared[i] = x[i];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i == 0) {
            ulong all = 0;
            for (ulong k = 0; k < xs; k++) all += shared[k];
            *to = all;
        }
    }
    kernel void fewer(uint n) {}
    ",
);

static NONSENSE: Family = Family::new("nonsense", &[Signature { name: "load", params: &[] }])
    .opencl("kernel void load() { nonsense }");

static FORMLESS: Family = Family::new("formless", &[Signature { name: "load", params: &[] }]);

fn open() -> Option<<OpenCl as Backend>::Device> {
    OpenCl::accept_cpus();
    OpenCl::open(0, Some(1 << 30)).inspect_err(|error| eprintln!("SKIPPED, this tests nothing: {error}")).ok()
}

fn store(device: &<OpenCl as Backend>::Device, value: u64) -> u64 {
    let (stream, kernel) = (device.stream().unwrap(), device.kernel(&OWN, "store").unwrap());
    let (out, mut bytes) = (device.buffer(8).unwrap(), [0; 8]);
    stream.launch(&kernel, Grid::new(1, 1), &[Arg::U64(value), Arg::Write(&out)]).unwrap();
    stream.download(&out, 0, &mut bytes).unwrap();
    u64::from_ne_bytes(bytes)
}

#[test]
fn source_of_ones_own_runs() {
    let Some(device) = open() else { return };
    assert_eq!(store(&device, 0x0123_4567_89ab_cdef), 0x0123_4567_89ab_cdef);
    let error = device.kernel(&OWN, "absent").unwrap_err();
    assert!(matches!(error, Error::NoKernel { family: "own", .. }), "{error}");
    let error = device.kernel(&FORMLESS, "load").unwrap_err();
    assert!(matches!(error, Error::NoKernel { family: "formless", .. }), "{error}");
    let error = device.kernel(&OWN, "fewer").unwrap_err();
    assert!(matches!(error, Error::Compile { family: "own", .. }), "{error}");
}

#[test]
fn shared_memory_is_the_last_argument() {
    let Some(device) = open() else { return };
    let (stream, kernel) = (device.stream().unwrap(), device.kernel(&OWN, "sum").unwrap());
    let (x, out, mut bytes) = (device.buffer(8 * 256).unwrap(), device.buffer(8).unwrap(), [0; 8]);
    let numbers: Vec<u64> = (0..256).map(|i| i * i).collect();
    stream.upload(bytemuck::cast_slice(&numbers), &x, 0).unwrap();
    let grid = Grid::new(1, 256).shared(8 * 256);
    stream.launch(&kernel, grid, &[Arg::Read(&x), Arg::Write(&out)]).unwrap();
    stream.download(&out, 0, &mut bytes).unwrap();
    assert_eq!(u64::from_ne_bytes(bytes), numbers.iter().sum());
    let too_much = Grid::new(1, 256).shared(device.info().max_shared + 1);
    let error = stream.launch(&kernel, too_much, &[Arg::Read(&x), Arg::Write(&out)]).unwrap_err();
    assert!(matches!(error, Error::Launch { kernel: "sum", .. }), "{error}");
}

#[test]
fn code_that_is_none_is_refused() {
    let Some(device) = open() else { return };
    let error = device.kernel(&NONSENSE, "load").unwrap_err();
    let Error::Compile { family: "nonsense", ref log, .. } = error else { panic!("{error}") };
    assert!(log.contains("nonsense"), "{log}");
    device.stream().unwrap().sync().expect("the device is none the worse");
}

/// Alone: CPUs are not accepted here, for a CPU's driver lives in this process, which the fault would end.
#[test]
#[ignore = "loses a GPU"]
fn a_fault_loses_the_device() {
    let Ok(device) = OpenCl::open(0, Some(1 << 30)) else {
        eprintln!("SKIPPED, this tests nothing: no GPU");
        return;
    };
    let (stream, kernel) = (device.stream().unwrap(), device.kernel(&OWN, "load").unwrap());
    let (out, mut pinned) = (device.buffer(8).unwrap(), device.pinned(8).unwrap());
    stream.launch(&kernel, Grid::new(1, 1), &[Arg::U64(8), Arg::Write(&out)]).unwrap();
    let lost = |error: Error| assert!(matches!(error, Error::Lost { .. }), "{error}");
    lost(stream.sync().unwrap_err());
    lost(stream.zero(&out, 0..8).unwrap_err());
    lost(stream.upload(&[0; 8], &out, 0).unwrap_err());
    lost(stream.download(&out, 0, &mut [0; 8]).unwrap_err());
    lost(stream.record().map(drop).unwrap_err());
    lost(pinned.read(|_| ()).unwrap_err());
    lost(pinned.write(|_| ()).unwrap_err());
    lost(device.buffer(8).map(drop).unwrap_err());
    lost(device.pinned(8).map(drop).unwrap_err());
    lost(device.stream().map(drop).unwrap_err());
    lost(device.memory().map(drop).unwrap_err());
    lost(device.kernel(&OWN, "load").map(drop).unwrap_err());
}

#[test]
fn memory_stays_with_the_handle_until_it_goes() {
    let Some(device) = open() else { return };
    let stream = device.stream().unwrap();
    for _ in 0..50 {
        let buffers: Vec<_> = (1..=8).map(|i| device.buffer(i << 20).unwrap()).collect();
        buffers.iter().for_each(|buffer| stream.zero(buffer, 0..buffer.bytes()).unwrap());
    }
    stream.sync().unwrap();
    let report = device.memory().unwrap();
    assert_eq!(report.ours, 0);
    assert!(report.largest >= (1 << 30).min(report.total / 4), "what is kept and not used is free: {report}");
    // What is kept makes room for other sizes.
    let most = report.largest;
    let all = device.buffer(most).unwrap();
    stream.zero(&all, most - 1..most).unwrap();
    stream.sync().unwrap();
    let error = device.buffer((1 << 30) - most + 1).map(drop).unwrap_err();
    assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
}

#[test]
fn events_tell_how_long_kernels_take() {
    let Some(device) = open() else { return };
    let (stream, buffer) = (device.stream().unwrap(), device.buffer(64 << 20).unwrap());
    stream.zero(&buffer, 0..64 << 20).unwrap();
    let start = stream.record().unwrap();
    for _ in 0..4 {
        stream.zero(&buffer, 0..64 << 20).unwrap();
    }
    let time = stream.record().unwrap().since(&start).unwrap();
    assert!(time.as_micros() >= 5, "{time:?} for 256 MiB");
}

#[test]
fn discovery_names_the_device_or_says_why_not() {
    let found = open().is_some();
    let shown: String = discover().iter().map(ToString::to_string).collect();
    match found {
        true => assert!(shown.contains("opencl0: "), "{shown}"),
        false => assert!(shown.contains("opencl: backend opencl is unavailable: "), "{shown}"),
    }
}
