//! What an NVIDIA device takes: measurements, no tests of right and wrong.

use std::fs;
use std::sync::Arc;
use std::time::Instant;

use blstrs::{G1Affine, G2Affine};
use cuzk_gpu_backend::{Arg, Buffer, Cuda, Device, Event, Grid, Stream};
use cuzk_pipeline_core::Stage;
use cuzk_srs::gpu::{LoadBases, Staging};
use cuzk_srs::{Layout, Query};
use cuzk_values::{Bases, QueryLengths};

use crate::fixture::{Bench, TestFile, TestPoint, random, random_points};

/// A parameter file of `n` points in G1 or G2, which repeat a few, in the page cache.
fn large_file<P: TestPoint>(n: usize) -> TestFile {
    let few = TestFile::new(&random_points::<P>(1 << 12, &mut random()));
    let section = few.layout.section(P::QUERY);
    let row = few.bytes[section.start as usize..section.end() as usize].to_vec();
    let QueryLengths { inputs, .. } = *few.layout.lengths();
    let lengths = match P::QUERY {
        Query::H => QueryLengths { inputs, h: n, l: 1, a: 1, b: 1 },
        _ => QueryLengths { inputs, h: 1, l: 1, a: 1, b: n },
    };
    let layout = Layout::new(&lengths);
    let (old, mut file) = (few.layout, fs::File::create(&few.path).unwrap());
    std::io::Write::write_all(&mut file, &few.bytes[..old.vk_bytes() as usize]).unwrap();
    for query in Query::ALL {
        let count = query.count(&lengths);
        std::io::Write::write_all(&mut file, &(count as u32).to_be_bytes()).unwrap();
        let first = old.section(query).start as usize;
        let row = if query == P::QUERY { &row[..] } else { &few.bytes[first..][..query.point_bytes()] };
        for i in (0..count * query.point_bytes()).step_by(row.len()) {
            let part = &row[..row.len().min(count * query.point_bytes() - i)];
            std::io::Write::write_all(&mut file, part).unwrap();
        }
    }
    TestFile { bytes: few.bytes[..old.vk_bytes() as usize].to_vec(), layout, ..few }
}

fn rates<P: TestPoint>(n: usize) {
    let Some(bench) = Bench::<Cuda>::open(Staging::<Cuda>::PIECE) else { return };
    let srs = large_file::<P>(n).srs();
    let (query, gigabytes) = (P::query(&srs), (n * P::BYTES) as f64 / 1e9);
    let resident = Bases::new(query.points(0..n).unwrap().into_owned());
    let median = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    for (log, bases) in [(23, query), (24, query), (25, query), (26, query), (25, &resident)] {
        let staging = Arc::new(Staging::<Cuda>::new(bench.context.device(), 1 << log).unwrap());
        let mut times: Vec<f64> = (0..8)
            .map(|_| {
                let load = LoadBases::<Cuda, P>::new("srs.test", bases.clone(), 0..n);
                let start = Instant::now();
                let loaded = load.run(&bench.cx(), staging.clone()).unwrap();
                bench.context.compute().sync().unwrap();
                let seconds = start.elapsed().as_secs_f64();
                drop(loaded);
                seconds
            })
            .skip(1)
            .collect();
        let rate = gigabytes / median(&mut times);
        eprintln!("{n} points of {} bytes, pieces of 2^{log}: {rate:.1} GB/s, {bases:?}", P::BYTES);
    }
    let (device, stream) = (bench.context.device(), bench.context.compute());
    let kernel = device.kernel(&cuzk_srs::gpu::FAMILY, P::KERNEL).unwrap();
    let (points, first_bad) = (device.buffer((n * P::BYTES) as u64).unwrap(), device.buffer(4).unwrap());
    let stored = device.buffer(points.bytes()).unwrap();
    let mut row = vec![0; (1 << 12) * P::BYTES];
    query.encoded().unwrap().read(0..1 << 12, &mut row).unwrap();
    for at in (0..stored.bytes()).step_by(row.len()) {
        stream.upload(&row[..row.len().min((stored.bytes() - at) as usize)], &stored, at).unwrap();
    }
    stream.zero(&first_bad, 0..4).unwrap();
    let mut times: Vec<f64> = (0..8)
        .map(|_| {
            stream.copy(&stored, 0..stored.bytes(), &points, 0).unwrap();
            let start = stream.record().unwrap();
            let args = [Arg::Write(&points), Arg::Write(&first_bad)];
            stream.launch(&kernel, Grid::cover(n as u64, 128), &args).unwrap();
            stream.record().unwrap().since(&start).unwrap().as_secs_f64()
        })
        .skip(1)
        .collect();
    let mut complement = [1; 4];
    stream.download(&first_bad, 0, &mut complement).unwrap();
    assert_eq!(complement, [0; 4]);
    eprintln!("{n} points of {} bytes: decoded at {:.0} GB/s", P::BYTES, gigabytes / median(&mut times));

    // Beside kernels that keep every multiprocessor busy.
    let field = device.kernel(&cuzk_gpu_backend::field::FAMILY, "fp_squarings").unwrap();
    let [x, y] = [(); 2].map(|()| device.buffer(48 << 16).unwrap());
    stream.zero(&x, 0..x.bytes()).unwrap();
    for steps in [0, 50_000] {
        let busy = || {
            for _ in 0..if steps == 0 { 0 } else { 20 } {
                let args = [Arg::U32(steps), Arg::Read(&x), Arg::Write(&y)];
                stream.launch(&field, Grid::cover(1 << 16, 128), &args).unwrap();
            }
        };
        let started = stream.record().unwrap();
        busy();
        let ended = stream.record().unwrap();
        let start = Instant::now();
        let loaded = bench.load(query, 0..n).unwrap();
        let (loading, early) = (start.elapsed().as_secs_f64(), !ended.is_done().unwrap());
        let kernels = ended.since(&started).unwrap().as_secs_f64();
        drop(loaded);
        eprintln!(
            "{:.1} ms of kernels (still at it: {early}), beside them a load of {:.1} ms",
            1e3 * kernels,
            1e3 * loading
        );
    }
}

/// What a device takes: not a test of right and wrong.
#[test]
#[ignore = "gigabytes of a device, and its rates: CONTRIBUTING.md"]
fn rates_of_a_device() {
    rates::<G1Affine>(1 << 24);
    rates::<G2Affine>(1 << 22);
}
