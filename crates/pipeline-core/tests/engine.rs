//! Random graphs under tight budgets: every run ends, what is truly alive never
//! exceeds the budget, and the books balance (the scheduler asserts it).

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::time::Duration;

use cuzk_pipeline_core::*;

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    #[error("no")]
    No,
}

/// A value that weighs so much, and may be metered while it lives.
struct Blob(u64, Option<Arc<Meter>>);
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

#[derive(Default)]
struct Meter {
    live: AtomicI64,
    peak: AtomicI64,
}
impl Meter {
    fn add(&self, bytes: i64) {
        let live = self.live.fetch_add(bytes, SeqCst) + bytes;
        self.peak.fetch_max(live, SeqCst);
    }
}

struct Rng(u64);
impl Rng {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

fn random(rng: &mut Rng, meter: &Arc<Meter>) -> Graph<Blob, Blob> {
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
            let cost = Cost::free()
                .scratch(Footprint { host: scratch, device: rng.below(3), ..Footprint::ZERO })
                .output(Footprint::host(a))
                .output(Footprint::host(b))
                .in_place(Footprint::host(kept));
            let meter = meter.clone();
            let place = if rng.below(3) == 0 { Placement::Gpu } else { Placement::Cpu };
            let nap = Duration::from_micros(rng.below(60));
            let (p, q) = g.stage(
                stage_fn(format!("s{i}"), cost, move |_, inputs: Vec<Blob>| {
                    meter.add((scratch + a + b - kept).cast_signed());
                    std::thread::sleep(nap);
                    drop(inputs);
                    meter.add(kept.cast_signed() - scratch.cast_signed());
                    Ok::<_, Error>((Blob(a, Some(meter.clone())), Blob(b, Some(meter.clone()))))
                })
                .at(place),
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

#[test]
fn random_graphs_end_under_any_budget_above_their_floor() {
    for seed in 1..=300u64 {
        let mut rng = Rng(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let meter = Arc::new(Meter::default());
        let graphs: Vec<_> = (0..4).map(|_| Arc::new(random(&mut rng, &meter))).collect();
        let floor = graphs.iter().fold(Footprint::ZERO, |m, g| Footprint {
            host: m.host.max(g.floor().host),
            device: m.device.max(g.floor().device),
            ..Footprint::ZERO
        });
        let budget = Footprint {
            host: floor.host + 2 + rng.below(40),
            device: floor.device + rng.below(3),
            ..Footprint::ZERO
        };
        let engine =
            Engine::builder().budget(budget).place(Place::Numa(0), 3).place(Place::Gpu(0), 1).build();
        let (tx, rx) = std::sync::mpsc::channel();
        let ends = std::thread::spawn(move || {
            let runs: Vec<_> = (0..8).map(|i| engine.submit(&graphs[i % 4], Blob(2, None))).collect();
            let ends: Vec<_> = runs.into_iter().map(|r| r.wait().map(|b| b.0)).collect();
            tx.send(()).unwrap();
            ends
        });
        rx.recv_timeout(Duration::from_secs(20)).unwrap_or_else(|_| panic!("seed {seed} starves or died"));
        for end in ends.join().unwrap() {
            assert_eq!(end.unwrap(), 1, "seed {seed}");
        }
        let peak = meter.peak.load(SeqCst);
        assert!(peak <= budget.host.cast_signed(), "seed {seed}: {peak} bytes alive of {}", budget.host);
        assert_eq!(meter.live.load(SeqCst), 0, "seed {seed}");
    }
}

fn engine() -> Engine {
    Engine::builder().budget(Footprint::host(10)).place(Place::Numa(0), 2).build()
}

#[test]
fn an_error_names_its_stage_and_place_and_keeps_its_cause() {
    let graph = Graph::<Blob, Blob>::build(|g, input| {
        let bad = stage_fn("msm.h", Cost::free().output(Footprint::host(1)), |_, _: Blob| {
            Err::<Blob, _>(Error::No)
        });
        Ok(g.stage(bad, input))
    });
    let error = engine().submit(&Arc::new(graph.unwrap()), Blob(1, None)).wait().err().unwrap();
    assert_eq!(error.to_string(), "stage `msm.h` failed on numa0");
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "no");
}

#[test]
fn a_panic_ends_its_run_and_not_the_engine() {
    let graph = Graph::<Blob, Blob>::build(|g, input| {
        let odd = stage_fn("odd", Cost::free().output(Footprint::host(1)), |_, b: Blob| {
            assert!(b.0 != 3, "three");
            Ok::<_, Error>(b)
        });
        Ok(g.stage(odd, input))
    });
    let (graph, engine) = (Arc::new(graph.unwrap()), engine());
    assert!(
        matches!(engine.submit(&graph, Blob(3, None)).wait(), Err(RunError::Panicked { message, .. }) if message == "three")
    );
    assert!(engine.submit(&graph, Blob(1, None)).wait().is_ok());
}

#[test]
fn a_graph_above_the_budget_is_refused_with_both_numbers() {
    let graph = Graph::<Blob, Blob>::build(|g, input| {
        let big = stage_fn("big", Cost::free().output(Footprint::host(11)), |_, b: Blob| Ok::<_, Error>(b));
        Ok(g.stage(big, input))
    });
    let end = engine().submit(&Arc::new(graph.unwrap()), Blob(0, None)).wait();
    assert!(
        matches!(end, Err(RunError::OverBudget { floor, budget }) if floor.host == 11 && budget.host == 10)
    );
}

#[test]
fn a_cancelled_run_stops_at_a_checkpoint() {
    let graph = Graph::<Blob, Blob>::build(|g, input| {
        let slow = stage_fn("slow", Cost::free().output(Footprint::host(1)), |cx, _: Blob| {
            loop {
                cx.checkpoint()?;
                std::thread::yield_now();
            }
            #[allow(unreachable_code)]
            Ok::<Blob, Error>(Blob(0, None))
        });
        Ok(g.stage(slow, input))
    });
    let engine = engine();
    let run = engine.submit(&Arc::new(graph.unwrap()), Blob(1, None));
    run.cancel_token().cancel();
    assert!(matches!(run.wait(), Err(RunError::Cancelled)));
}

#[test]
fn a_value_that_nothing_takes_is_a_build_error() {
    let built = Graph::<Blob, Blob>::build(|g, input| {
        let two = Cost::free().output(Footprint::ZERO).output(Footprint::ZERO);
        let (a, _lost) =
            g.stage(stage_fn("two", two, |_, _: Blob| Ok::<_, Error>((Blob(0, None), Blob(0, None)))), input);
        Ok(a)
    });
    assert!(matches!(built, Err(BuildError::Dangling { output: 1, .. })));
}
