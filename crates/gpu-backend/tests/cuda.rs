//! The suite on NVIDIA's devices, and what only they can do. Without one, a test
//! says so and passes; `scripts/gpu-test.sh` runs it on a machine that has one.
#![cfg(feature = "cuda")]
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

use cuzk_gpu_backend::{
    Arg, Backend, Buffer, Cuda, Device, Error, Event, Family, Grid, Param, Pinned, Signature, Stream,
    discover,
};

cuzk_gpu_backend::backend_suite!(Cuda);

/// `load` reads where it is told, whatever is there; `store` writes what it is told.
static OWN: Family = Family::new(
    "own",
    &[
        Signature { name: "load", params: &[Param::U64, Param::Write(8)] },
        Signature { name: "store", params: &[Param::U64, Param::Write(8)] },
        Signature { name: "absent", params: &[] },
    ],
)
.cuda(
    br"
.version 7.0
.target sm_75
.address_size 64
.visible .entry load(.param .u64 from, .param .u64 to, .param .u64 n) {
    .reg .u64 %r<3>;
    ld.param.u64 %r0, [from];
    ld.param.u64 %r1, [to];
    ld.global.u64 %r2, [%r0];
    st.global.u64 [%r1], %r2;
    ret;
}
.visible .entry store(.param .u64 value, .param .u64 to, .param .u64 n) {
    .reg .u64 %r<2>;
    ld.param.u64 %r0, [value];
    ld.param.u64 %r1, [to];
    st.global.u64 [%r1], %r0;
    ret;
}
",
);

static NONSENSE: Family = Family::new("nonsense", &[Signature { name: "load", params: &[] }])
    .cuda(b".version 7.0\n.target sm_75\nnonsense");

fn open() -> Option<<Cuda as Backend>::Device> {
    Cuda::open(0, Some(1 << 30)).inspect_err(|error| eprintln!("SKIPPED, this tests nothing: {error}")).ok()
}

#[test]
fn ptx_of_ones_own_runs() {
    let Some(device) = open() else { return };
    let (stream, kernel) = (device.stream().unwrap(), device.kernel(&OWN, "store").unwrap());
    let (out, mut bytes) = (device.buffer(8).unwrap(), [0; 8]);
    stream.launch(&kernel, Grid::new(1, 1), &[Arg::U64(0x0123_4567_89ab_cdef), Arg::Write(&out)]).unwrap();
    stream.download(&out, 0, &mut bytes).unwrap();
    assert_eq!(u64::from_ne_bytes(bytes), 0x0123_4567_89ab_cdef);
    let error = device.kernel(&OWN, "absent").unwrap_err();
    assert!(matches!(error, Error::NoKernel { family: "own", .. }), "{error}");
}

#[test]
fn code_that_is_none_is_refused() {
    let Some(device) = open() else { return };
    let error = device.kernel(&NONSENSE, "load").unwrap_err();
    let Error::Compile { family: "nonsense", ref log, .. } = error else { panic!("{error}") };
    assert!(log.contains("nonsense") || log.contains("INVALID_PTX"), "{log}");
    device.stream().unwrap().sync().expect("the device is none the worse");
}

#[test]
fn a_fault_loses_the_device() {
    let Some(device) = open() else { return };
    {
        let (stream, kernel) = (device.stream().unwrap(), device.kernel(&OWN, "load").unwrap());
        let (out, mut pinned) = (device.buffer(8).unwrap(), device.pinned(8).unwrap());
        let before = stream.record().unwrap();
        stream.launch(&kernel, Grid::new(1, 1), &[Arg::U64(8), Arg::Write(&out)]).unwrap();
        let error = stream.sync().unwrap_err();
        assert!(matches!(error, Error::Lost { code: 700, .. }), "{error}");
        for error in [
            stream.zero(&out, 0..8).unwrap_err(),
            stream.upload(&[0; 8], &out, 0).unwrap_err(),
            stream.download(&out, 0, &mut [0; 8]).unwrap_err(),
            stream.record().map(drop).unwrap_err(),
            before.sync().unwrap_err(),
            pinned.read(|_| ()).unwrap_err(),
            pinned.write(|_| ()).unwrap_err(),
            device.buffer(8).map(drop).unwrap_err(),
            device.pinned(8).map(drop).unwrap_err(),
            device.stream().map(drop).unwrap_err(),
            device.memory().map(drop).unwrap_err(),
            device.kernel(&OWN, "load").map(drop).unwrap_err(),
        ] {
            assert!(matches!(error, Error::Lost { code: 700, .. }), "{error}");
        }
    }
    drop(device);
    // Either the driver makes a new context, which works, or it says why not.
    match Cuda::open(0, Some(1 << 30)) {
        Ok(device) => {
            let (stream, buffer) = (device.stream().unwrap(), device.buffer(4).unwrap());
            stream.upload(&[1, 2, 3, 4], &buffer, 0).unwrap();
            let mut bytes = [0; 4];
            stream.download(&buffer, 0, &mut bytes).unwrap();
            assert_eq!(bytes, [1, 2, 3, 4]);
            eprintln!("opened again, it works");
        }
        Err(error) => assert!(matches!(error, Error::Lost { code: 700, .. }), "{error}"),
    }
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
    assert_eq!((report.ours, report.largest), (0, 1 << 30), "what is mapped and not used is free");
}

#[test]
fn discovery_names_the_driver_or_says_why_not() {
    let shown: String = discover().iter().map(ToString::to_string).collect();
    match open() {
        Some(_) => assert!(shown.contains("cuda0: NVIDIA"), "{shown}"),
        None => assert!(shown.contains("cuda: backend cuda is unavailable: "), "{shown}"),
    }
}
