//! Sums and transforms on the first NVIDIA device, ours and sppark's in turns: the same inputs, on the
//! device before the clock starts, results compared.
//!
//! `gpu_bench LIBRARY [WHAT=LOG,LOG…]…` for `g1`, `g2`, `ntt`, `quotient`; by default what docs/performance.md has.
//! A table, and JSON on the last line.

mod group;
mod rival;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use blst::{blst_fp, blst_p1_affine};
use blstrs::G1Affine;
use cuzk_gpu_backend::{Context, Cuda, Device, Stream};
use cuzk_msm::gpu::GpuMsm;
use cuzk_msm::{G1, G2};
use cuzk_ntt::gpu::DeviceDomain;
use group::BenchCurve;
use rival::Sppark;

/// Turns that count, after one that does not.
const TURNS: usize = 7;
/// Memory that a sum may take besides its inputs.
const LIMIT: u64 = 20 << 30;
const DEFAULT: [&str; 4] = ["g1=22,24,26", "g2=22,24", "ntt=24,25,26,27", "quotient=27"];

type Error = Box<dyn std::error::Error>;

/// Times of both in milliseconds, in the order of their turns.
struct Race {
    what: String,
    times: [Vec<f64>; 2],
    note: String,
}

impl Race {
    /// Runs both in turns.
    fn run(
        what: String,
        mut ours: impl FnMut() -> Result<(), Error>,
        mut theirs: impl FnMut() -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let mut times = [Vec::new(), Vec::new()];
        for turn in 0..=TURNS {
            for (who, times) in times.iter_mut().enumerate() {
                let start = Instant::now();
                if who == 0 {
                    ours()?
                } else {
                    theirs()?
                }
                if turn > 0 {
                    times.push(1e3 * start.elapsed().as_secs_f64());
                }
            }
        }
        Ok(Self { what, times, note: String::new() })
    }

    fn median(&self, who: usize) -> f64 {
        let mut times = self.times[who].clone();
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    }

    fn row(&self) -> String {
        let Self { what, note, .. } = self;
        let (ours, theirs) = (self.median(0), self.median(1));
        format!("| {what} | {ours:.2} ms | {theirs:.2} ms | {:.2} | {note} |", ours / theirs)
    }

    fn json(&self) -> String {
        let (ours, theirs) = (self.median(0), self.median(1));
        format!(
            r#"{{"what":"{}","ours_ms":{ours:.4},"sppark_ms":{theirs:.4},"ratio":{:.4},"ours":{:.4?},"sppark":{:.4?},"note":"{}"}}"#,
            self.what,
            ours / theirs,
            self.times[0],
            self.times[1],
            self.note
        )
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Error> {
    let mut arguments: Vec<_> = std::env::args().skip(1).collect();
    if arguments.is_empty() {
        return Err("usage: gpu_bench LIBRARY [g1=LOG,LOG…] [g2=…] [ntt=…] [quotient=…]".into());
    }
    let sppark = Sppark::open(Path::new(&arguments.remove(0)))?;
    if arguments.is_empty() {
        arguments = DEFAULT.map(str::to_owned).to_vec();
    }
    let context = Context::<Cuda>::open(0, None)?;
    let info = context.device().info();
    println!("{}, driver {}; medians of {TURNS}, in turns\n", info.name, info.driver);
    let points = group::bases::<G1>(1 << 12);
    let [(theirs, a), (ours, b)] = [sppark.additions(0, &points, 256)?, sppark.additions(1, &points, 256)?];
    for (a, b) in a.iter().zip(&b) {
        // x = X / ZZ; theirs has ZZZ before ZZ.
        let [x, zz, x_, zz_] = [a[0], a[3], b[0], b[2]].map(|l| {
            let mut point = G1Affine::default();
            *point.as_mut() = blst_p1_affine { x: blst_fp { l }, ..blst_p1_affine::default() };
            point.x()
        });
        assert!(x * zz_ == x_ * zz && b[2] != [0; 6], "the sums of both are equal");
    }
    println!("mixed additions in G1: {:.2} G/s ours, {:.2} G/s sppark's\n", ours / 1e9, theirs / 1e9);
    println!("| | ours | sppark | ours / sppark | |\n|---|---|---|---|---|");
    let mut races = Vec::new();
    for argument in &arguments {
        let (what, logs) = argument.split_once('=').ok_or_else(|| format!("{argument}: WHAT=LOG,LOG…"))?;
        let logs: Vec<u32> = logs.split(',').map(str::parse).collect::<Result<_, _>>()?;
        match what {
            "g1" => sums::<G1>(&context, &sppark, &logs, Some(ours), &mut races)?,
            "g2" => sums::<G2>(&context, &sppark, &logs, None, &mut races)?,
            "ntt" => transforms(&context, &sppark, &logs, &mut races)?,
            "quotient" => quotients(&context, &sppark, &logs, &mut races)?,
            other => return Err(format!("no {other}").into()),
        }
    }
    let rows: Vec<_> = races.iter().map(Race::json).collect();
    println!(
        "\n{{\"gpu\":\"{}\",\"driver\":\"{}\",\"additions\":{ours:.0},\"sppark_additions\":{theirs:.0},\"races\":[{}]}}",
        info.name,
        info.driver,
        rows.join(",")
    );
    Ok(())
}

fn finish(races: &mut Vec<Race>, race: Race) {
    println!("{}", race.row());
    races.push(race);
}

/// Sums of full-width multiples, of different bases. `rate` is that of additions, in G1.
fn sums<C: BenchCurve>(
    context: &Context<Cuda>,
    sppark: &Sppark,
    logs: &[u32],
    rate: Option<f64>,
    races: &mut Vec<Race>,
) -> Result<(), Error> {
    let most = 1 << logs.iter().max().ok_or("no sizes")?;
    let (bases, scalars) = (group::bases::<C>(most), group::scalars(most));
    let (device, stream) = (context.device(), context.compute());
    for log in logs {
        let n = 1_usize << log;
        let (bases, scalars) = (&bases[..n * C::BYTES], &scalars[..n]);
        let expected = group::expected::<C>(scalars);
        let theirs = sppark.msm::<C>(bases, scalars)?;
        let [points, factors] = [bases, bytemuck::cast_slice(scalars)].map(|bytes| {
            let buffer = device.buffer(bytes.len() as u64)?;
            stream.upload(bytes, &buffer, 0).map(|()| buffer)
        });
        let (points, factors) = (points?, factors?);
        let msm = GpuMsm::<Cuda, C>::new(device, n as u64, LIMIT)?;
        let mut race = Race::run(
            format!("{} 2^{log}", C::TITLE),
            || {
                let sum = msm.multiply(stream, [&points, &factors], [0, 0], n as u64)?;
                if sum == expected { Ok(()) } else { Err("our sum is wrong".into()) }
            },
            || {
                if C::theirs(&theirs.run()?) == expected {
                    Ok(())
                } else {
                    Err("sppark's sum is wrong".into())
                }
            },
        )?;
        let windows = msm.plan().windows;
        race.note = format!("{windows} windows");
        if let Some(rate) = rate {
            let additions = n as f64 * f64::from(windows) / (1e-3 * race.median(0));
            race.note += &format!(
                ", {:.2} G additions/s, {:.0} % of the rate",
                additions / 1e9,
                100.0 * additions / rate
            );
        }
        finish(races, race);
    }
    Ok(())
}

/// Scalars that are compared after transforms.
const COMPARED: usize = 1 << 20;

/// Forward transforms, natural to bit-reversed order.
fn transforms(
    context: &Context<Cuda>,
    sppark: &Sppark,
    logs: &[u32],
    races: &mut Vec<Race>,
) -> Result<(), Error> {
    let (device, stream) = (context.device(), context.compute());
    for log in logs {
        let scalars = group::scalars(1 << log);
        let theirs = sppark.ntt(&scalars)?;
        let domain = DeviceDomain::<Cuda>::new(device, stream, *log)?;
        let ours = device.buffer(domain.bytes())?;
        stream.upload(bytemuck::cast_slice(&scalars), &ours, 0)?;
        stream.sync()?;
        let race = Race::run(
            format!("ntt 2^{log}"),
            || {
                domain.ntt_to_reversed(stream, &ours, None)?;
                Ok(stream.sync()?)
            },
            || Ok(theirs.run(1)?),
        )?;
        // As often transformed, they are still equal.
        let mut read = [(); 2].map(|()| vec![[0_u64; 4]; COMPARED.min(1 << log)]);
        stream.download(&ours, 0, bytemuck::cast_slice_mut(&mut read[0]))?;
        theirs.read(&mut read[1])?;
        if read[0] != read[1] {
            return Err(format!("transforms of 2^{log} differ").into());
        }
        finish(races, race);
    }
    Ok(())
}

/// The whole quotient beside seven of sppark's transforms.
fn quotients(
    context: &Context<Cuda>,
    sppark: &Sppark,
    logs: &[u32],
    races: &mut Vec<Race>,
) -> Result<(), Error> {
    let (device, stream) = (context.device(), context.compute());
    for log in logs {
        let scalars = group::scalars(1 << log);
        let theirs = sppark.ntt(&scalars)?;
        let domain = DeviceDomain::<Cuda>::new(device, stream, *log)?;
        let divisor = domain.divisor(device, stream)?;
        let buffers = [(); 3].map(|()| {
            let buffer = device.buffer(domain.bytes())?;
            stream.upload(bytemuck::cast_slice(&scalars), &buffer, 0).map(|()| buffer)
        });
        let [a, b, c] = buffers;
        let (a, b, c) = (a?, b?, c?);
        stream.sync()?;
        let mut race = Race::run(
            format!("quotient 2^{log}"),
            || {
                domain.quotient(stream, &divisor, &a, &b, &c)?;
                Ok(stream.sync()?)
            },
            || Ok(theirs.run(7)?),
        )?;
        race.note = "sppark: seven forward transforms".into();
        finish(races, race);
    }
    Ok(())
}
