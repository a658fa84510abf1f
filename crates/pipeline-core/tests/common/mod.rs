//! Values that know when they live, and graphs made of chance.

#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::time::Duration;

use cuzk_pipeline_core::*;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    #[error("no")]
    No,
}

/// A value that weighs so much, and may be metered while it lives.
pub struct Blob(pub u64, pub Option<Arc<Meter>>);

impl Value for Blob {
    fn footprint(&self) -> Footprint {
        Footprint::host(self.0)
    }
}

impl Drop for Blob {
    fn drop(&mut self) {
        if let Some(meter) = &self.1 {
            meter.add(-self.0.cast_signed());
        }
    }
}

/// Bytes that are alive, and the most that ever were.
#[derive(Default)]
pub struct Meter {
    live: AtomicI64,
    peak: AtomicI64,
}

impl Meter {
    pub fn add(&self, bytes: i64) {
        let live = self.live.fetch_add(bytes, SeqCst) + bytes;
        self.peak.fetch_max(live, SeqCst);
    }

    pub fn blob(self: &Arc<Self>, bytes: u64) -> Blob {
        self.add(bytes.cast_signed());
        Blob(bytes, Some(self.clone()))
    }

    pub fn live(&self) -> i64 {
        self.live.load(SeqCst)
    }

    pub fn peak(&self) -> i64 {
        self.peak.load(SeqCst)
    }
}

/// Xorshift: G. Marsaglia, "Xorshift RNGs", 2003.
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// A graph of up to 40 stages with random edges, costs and places.
pub fn random(rng: &mut Rng, meter: &Arc<Meter>) -> Graph<Blob, Blob> {
    Graph::build(|g, input| {
        let mut open = vec![input];
        let mut sizes = vec![0u64];
        for i in 0..rng.below(40) {
            let k = (1 + rng.below(3)).min(open.len() as u64);
            let (mut ins, mut held) = (Vec::new(), 0);
            for _ in 0..k {
                let j = rng.below(open.len() as u64) as usize;
                ins.push(open.swap_remove(j));
                held += sizes.swap_remove(j);
            }
            let (a, b) = (rng.below(16), rng.below(4));
            let (scratch, kept) = (rng.below(3), a.min(held));
            let gpu = rng.below(3) == 0;
            let device = if gpu { rng.below(3) } else { 0 };
            let cost = Cost::free()
                .scratch(Footprint { host: scratch, device, ..Footprint::ZERO })
                .output(Footprint::host(a))
                .output(Footprint::host(b))
                .in_place(Footprint::host(kept));
            let meter = meter.clone();
            let nap = Duration::from_micros(rng.below(60));
            let (p, q) = g.stage(
                stage_fn(format!("s{i}"), cost, move |_, inputs: Vec<Blob>| {
                    meter.add((scratch + a + b - kept).cast_signed());
                    std::thread::sleep(nap);
                    drop(inputs);
                    meter.add(kept.cast_signed() - scratch.cast_signed());
                    Ok::<_, Error>((Blob(a, Some(meter.clone())), Blob(b, Some(meter.clone()))))
                })
                .at(if gpu { Placement::Gpu } else { Placement::Cpu }),
                ins,
            );
            open.extend([p, q]);
            sizes.extend([a, b]);
        }
        let end = stage_fn("end", Cost::free().output(Footprint::host(1)), |_, _: Vec<Blob>| {
            Ok::<_, Error>(Blob(1, None))
        });
        Ok(g.stage(end, open))
    })
    .expect("it is well formed")
}

/// One stage from a blob to a blob.
pub fn one<F>(name: &'static str, out: u64, f: F) -> Arc<Graph<Blob, Blob>>
where
    F: Fn(&Cx<'_>, Blob) -> Result<Blob, Error> + Send + Sync + 'static,
{
    let stage = stage_fn(name, Cost::free().output(Footprint::host(out)), f);
    Arc::new(Graph::build(|g, input| Ok(g.stage(stage, input))).expect("it is well formed"))
}

/// An engine of 10 bytes and two lanes.
pub fn engine() -> Engine {
    two_lanes(10)
}

pub fn two_lanes(bytes: u64) -> Engine {
    Engine::builder()
        .budget(Footprint::host(bytes))
        .topology(&Topology::fake(&[2]))
        .place(Place::Numa(0), 2)
        .build()
        .expect("there are threads")
}

/// Waits until nothing is paid but for resident values.
pub fn books_are_empty(engine: &Engine) {
    for _ in 0..500 {
        let status = engine.status().expect("it is up");
        if status.active == 0 && status.ledgers.iter().all(|l| l.used == l.resident) {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("the books do not balance: {:?}", engine.status());
}
