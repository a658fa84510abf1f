//! A kernel family of one's own, run on the first device that is there: `y += a * x`.
//!
//! `cargo run -p cuzk-gpu-backend --features cuda --example axpy`
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use cuzk_gpu_backend::host::HostArg;
use cuzk_gpu_backend::{
    Arg, Backend, Device, Error, Event, Family, Grid, Host, Param, Pinned, Signature, Stream, discover,
};

/// What the kernel takes, what it does on the host, and its form for NVIDIA's devices:
/// `nvcc -ptx -arch=compute_75 axpy.cu`, or PTX of any other compiler.
static AXPY: Family = Family::new(
    "axpy",
    &[Signature { name: "axpy", params: &[Param::U64, Param::Read(8), Param::Write(8)] }],
)
.host(&[("axpy", axpy)])
.cuda(include_bytes!("axpy.ptx"));

fn axpy(_: Grid, args: &mut [HostArg<'_>]) {
    let [HostArg::U64(a), HostArg::Read(x), HostArg::Write(y)] = args else { unreachable!("the signature") };
    let (x, y): (&[u64], &mut [u64]) = (bytemuck::cast_slice(x), bytemuck::cast_slice_mut(y));
    x.iter().zip(y).for_each(|(x, y)| *y = y.wrapping_add(a.wrapping_mul(*x)));
}

/// Works on any backend: two uploads on streams of their own, a kernel after both, a download.
fn run<B: Backend>(device: &B::Device, a: u64, x: &[u64], y: &[u64]) -> Result<Vec<u64>, Error> {
    let (one, two) = (device.stream()?, device.stream()?);
    let bytes = size_of_val(x) as u64;
    let (dx, dy, mut result) = (device.buffer(bytes)?, device.buffer(bytes)?, device.pinned(bytes)?);
    one.upload(bytemuck::cast_slice(x), &dx, 0)?;
    two.upload(bytemuck::cast_slice(y), &dy, 0)?;
    two.wait(&one.record()?)?;
    let start = two.record()?;
    let kernel = device.kernel(&AXPY, "axpy")?;
    two.launch(&kernel, Grid::cover(x.len() as u64, 256), &[Arg::U64(a), Arg::Read(&dx), Arg::Write(&dy)])?;
    let end = two.record()?;
    two.download_pinned(&dy, 0..bytes, &mut result, 0)?;
    println!("the kernel took {:?}", end.since(&start)?);
    result.read(|bytes| bytemuck::cast_slice(bytes).to_vec())
}

fn main() -> Result<(), Error> {
    for found in discover() {
        print!("{found}");
    }
    #[cfg(feature = "cuda")]
    match cuzk_gpu_backend::Cuda::open(0, Some(1 << 20)) {
        Ok(device) => return show::<cuzk_gpu_backend::Cuda>(&device),
        Err(error) => println!("{error}; so, on the host:"),
    }
    show::<Host>(&Host::open(0, Some(1 << 20))?)
}

fn show<B: Backend>(device: &B::Device) -> Result<(), Error> {
    let y = run::<B>(device, 10, &[1, 2, 3], &[5, 5, 5])?;
    println!("{}: {y:?}; {}", B::NAME, device.memory()?);
    assert_eq!(y, [15, 25, 35]);
    Ok(())
}
