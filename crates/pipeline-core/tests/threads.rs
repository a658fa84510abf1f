//! Locality, residency and endings, where threads really race.

mod common;

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use common::*;
use cuzk_pipeline_core::*;

/// On a machine of two nodes with a lane each, each of two runs stays where
/// its first stage ran: its data is there, and that node's lane is free for it.
#[test]
fn runs_stay_on_their_nodes() {
    let engine = Engine::builder()
        .budget(Footprint::host(1000))
        .topology(&Topology::fake(&[1, 1]))
        .place(Place::Numa(0), 1)
        .place(Place::Numa(1), 1)
        .build()
        .unwrap();
    for round in 0..20 {
        let seen: [Arc<Mutex<Vec<Place>>>; 2] = Default::default();
        let graphs = seen.clone().map(|seen| {
            let made = Graph::build(|g, input| {
                let stage = |i: usize| {
                    let seen = seen.clone();
                    stage_fn(format!("s{i}"), Cost::free().output(Footprint::host(8)), move |cx, _: Blob| {
                        seen.lock().unwrap().push(cx.place());
                        std::thread::sleep(Duration::from_micros(if i == 0 { 3000 } else { 100 }));
                        Ok::<_, Error>(Blob(8, None))
                    })
                };
                Ok((0..30).fold(input, |port, i| g.stage(stage(i), port)))
            });
            Arc::new(made.unwrap())
        });
        let runs: Vec<_> = graphs.iter().map(|graph| engine.submit(graph, Blob(8, None))).collect();
        runs.into_iter().for_each(|run| drop(run.wait().unwrap()));
        for seen in seen {
            let places: HashSet<_> = seen.lock().unwrap().drain(..).collect();
            assert_eq!(places.len(), 1, "round {round}: {places:?}");
        }
    }
}

/// Eight runs at once need one value, then eight another that does not fit
/// beside it: one load each, and never both alive.
#[test]
fn residents_are_loaded_once_and_make_way() {
    let meter = Arc::new(Meter::default());
    let loads = Arc::new(AtomicUsize::new(0));
    let graph = |key: &'static str| {
        let load = {
            let (meter, loads) = (meter.clone(), loads.clone());
            stage_fn(format!("load.{key}"), Cost::free().output(Footprint::host(70)), move |_, ()| {
                loads.fetch_add(1, SeqCst);
                std::thread::sleep(Duration::from_millis(5));
                Ok::<_, Error>(meter.blob(70))
            })
        };
        let read = stage_fn("read", Cost::free().output(Footprint::ZERO), |_, _: (Blob, Arc<Blob>)| {
            std::thread::sleep(Duration::from_micros(200));
            Ok::<_, Error>(Blob(0, None))
        });
        let made = Graph::build(|g, input| {
            let table = g.resident(key, load);
            Ok(g.stage(read, (input, table)))
        });
        Arc::new(made.unwrap())
    };
    let engine = two_lanes(100);
    for (i, key) in ["a", "b", "a"].into_iter().enumerate() {
        let graph = graph(key);
        let runs: Vec<_> = (0..8).map(|_| engine.submit(&graph, Blob(1, None))).collect();
        runs.into_iter().for_each(|run| drop(run.wait().unwrap()));
        assert_eq!(loads.load(SeqCst), i + 1);
        let status = engine.status().unwrap();
        assert_eq!(status.residents.iter().map(|r| &*r.key).collect::<Vec<_>>(), [key]);
    }
    assert_eq!(meter.peak(), 70);
    engine.trim(Duration::ZERO);
    while engine.status().unwrap().ledgers[0].used > 0 {
        std::thread::yield_now();
    }
    assert_eq!(meter.live(), 0);
}

/// Runs are cancelled, dropped and waited for at random moments, and engines
/// are dropped with runs under way: all ends, and nothing stays alive.
#[test]
fn endings_of_every_kind_leave_nothing_behind() {
    for seed in 0..60u64 {
        let mut rng = Rng::new(seed);
        let meter = Arc::new(Meter::default());
        let graphs: Vec<_> = (0..3).map(|_| Arc::new(random(&mut rng, &meter))).collect();
        let floor = graphs.iter().fold(Footprint::ZERO, |m, g| m.max(g.floor_with(Footprint::host(2))));
        let engine = Engine::builder()
            .budget(floor + Footprint::host(rng.below(40)))
            .topology(&Topology::fake(&[1, 1]))
            .place(Place::Numa(0), 2)
            .place(Place::Numa(1), 1)
            .place(Place::Gpu(0), 1)
            .build()
            .unwrap();
        let start = Instant::now();
        let mut runs: Vec<_> = (0..12).map(|i| engine.submit(&graphs[i % 3], Blob(2, None))).collect();
        while runs.len() > rng.below(4) as usize {
            let run = runs.swap_remove(rng.below(runs.len() as u64) as usize);
            match rng.below(4) {
                0 => drop(run),
                1 => {
                    run.cancel_token().cancel();
                    let end = run.wait();
                    assert!(matches!(end, Ok(Blob(1, _)) | Err(RunError::Cancelled)), "seed {seed}");
                }
                2 => drop(run.wait_timeout(Duration::from_micros(rng.below(2000))).map_err(drop)),
                _ => assert!(run.wait().is_ok_and(|b| b.0 == 1), "seed {seed}"),
            }
        }
        if rng.below(2) == 0 {
            drop(runs);
            books_are_empty(&engine);
            drop(engine);
        } else {
            drop(engine);
            for run in runs {
                assert!(matches!(run.wait(), Ok(Blob(1, _)) | Err(RunError::Shutdown)), "seed {seed}");
            }
        }
        assert!(start.elapsed() < Duration::from_secs(20), "seed {seed}");
        assert_eq!(meter.live(), 0, "seed {seed}");
    }
}
