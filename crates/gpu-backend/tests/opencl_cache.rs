//! Compiled programs in files: alone, for the folder is the process's.
#![cfg(feature = "opencl")]
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

use std::fs;

use cuzk_gpu_backend::{Arg, Backend, Device, Family, Grid, OpenCl, Param, Signature, Stream};

static STORE: Family =
    Family::new("store", &[Signature { name: "store", params: &[Param::U64, Param::Write(8)] }])
        .opencl("kernel void store(ulong value, global ulong *to, ulong n) { *to = value; }");

#[test]
fn programs_are_kept_in_files() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept");
    OpenCl::accept_cpus();
    OpenCl::cache_in(&kept);
    let files = || -> Vec<_> { fs::read_dir(&kept).unwrap().map(|entry| entry.unwrap().path()).collect() };
    let run = |value: u64| -> Option<()> {
        let skip = |error| eprintln!("SKIPPED, this tests nothing: {error}");
        let device = OpenCl::open(0, None).map_err(skip).ok()?;
        let (stream, kernel) = (device.stream().unwrap(), device.kernel(&STORE, "store").unwrap());
        let (out, mut bytes) = (device.buffer(8).unwrap(), [0; 8]);
        stream.launch(&kernel, Grid::new(1, 1), &[Arg::U64(value), Arg::Write(&out)]).unwrap();
        stream.download(&out, 0, &mut bytes).unwrap();
        assert_eq!(u64::from_ne_bytes(bytes), value);
        Some(())
    };
    let Some(()) = run(1) else { return };
    let [path] = &files()[..] else { panic!("{:?}", files()) };
    let whole = fs::read(path).unwrap();
    let _ = run(2);
    assert_eq!(fs::read(path).unwrap(), whole, "it was found");
    // Damaged at either end, cut short, empty, another's: made again, as it was.
    let flip = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        bytes
    };
    let last = whole.len() - 1;
    for (i, bytes) in
        [flip(0), flip(40), flip(last), whole[..100].to_vec(), vec![], vec![7; 5000]].iter().enumerate()
    {
        fs::write(path, bytes).unwrap();
        let _ = run(i as u64);
        assert_ne!(fs::read(path).unwrap(), *bytes, "{i}");
        assert!(fs::read(path).unwrap().len() > 100, "{i}");
    }
    // A folder that cannot be is no error.
    OpenCl::cache_in(path.join("no folder"));
    let _ = run(3);
    assert_eq!(files().len(), 1, "no temporary files are left");
}
