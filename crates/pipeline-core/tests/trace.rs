//! A timeline of an engine at work.
#![allow(missing_docs, reason = "tests")]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use cuzk_pipeline_core::trace::Timeline;
use cuzk_pipeline_core::{
    Cancelled, Cost, End, Engine, ErrorKind, Footprint, Graph, Ledger, Options, Priority, Topology, Value,
    stage_fn,
};

struct Bytes(u64);

impl Value for Bytes {
    fn footprint(&self) -> Footprint {
        Footprint::host(self.0)
    }
}

#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    #[error("no")]
    No,
}

fn sleeps(
    name: &'static str,
    ms: u64,
    fails: bool,
) -> impl cuzk_pipeline_core::Stage<In = Bytes, Out = Bytes> {
    let cost = Cost::free().scratch(Footprint::host(1000)).output(Footprint::host(10));
    stage_fn(name, cost, move |_, _: Bytes| {
        std::thread::sleep(Duration::from_millis(ms));
        if fails { Err(Failed::No) } else { Ok(Bytes(10)) }
    })
}

fn engine(timeline: &Arc<Timeline>) -> Engine {
    let builder = Engine::builder().budget(Footprint::host(10_000)).topology(&Topology::fake(&[2, 2]));
    builder.observer(timeline.clone()).build().expect("two nodes are there")
}

/// Two partitions of two stages, joined.
fn graph(fails: bool) -> Arc<Graph<Bytes, Bytes>> {
    let graph = Graph::build(|g, input| {
        let input = g.share(input);
        let mut ends = vec![];
        for part in 0..2_u32 {
            g.part(part);
            let cost = Cost::free().output(Footprint::host(10));
            let take = stage_fn("take", cost, |_, _: Arc<Bytes>| Ok::<_, Cancelled>(Bytes(10)));
            let taken = g.stage(take, input);
            ends.push(g.stage(sleeps("work", 20, fails && part == 1), taken));
        }
        g.part(None);
        let join = stage_fn("join", Cost::free().output(Footprint::host(10)), |_, _: Vec<Bytes>| {
            Ok::<_, Cancelled>(Bytes(10))
        });
        Ok(g.stage(join, ends))
    });
    Arc::new(graph.expect("every value is taken"))
}

#[test]
fn every_stage_of_every_run_is_there() {
    let timeline = Arc::new(Timeline::new());
    let engine = engine(&timeline);
    let graph = graph(false);
    let runs: Vec<_> = (0..3)
        .map(|i| {
            engine.submit_with(
                &graph,
                Bytes(10),
                Options::new().label(format!("run \"{i}\"")).priority(Priority::High),
            )
        })
        .collect();
    for run in runs {
        run.wait().unwrap();
    }
    drop(engine);

    let trace = timeline.trace();
    assert_eq!((trace.spans().len(), trace.dropped()), (15, 0));
    assert!(trace.spans().iter().all(|span| matches!(span.end, Some((_, End::Done)))));
    let ids: BTreeSet<_> = trace.spans().iter().map(|span| (span.stage.job, span.stage.index)).collect();
    assert_eq!(ids.len(), 15);
    let counts: Vec<_> = trace.totals().iter().map(|sum| (&*sum.name, sum.count())).collect();
    assert_eq!(
        counts.iter().copied().collect::<BTreeSet<_>>(),
        [("take", 6), ("work", 6), ("join", 3)].into()
    );
    let work = trace.totals().iter().find(|sum| &*sum.name == "work").unwrap();
    assert!(work.mean() >= Duration::from_millis(20) && work.max >= work.mean());
    // One lane runs one stage at a time.
    for (i, a) in trace.spans().iter().enumerate() {
        for b in trace.spans()[i + 1..]
            .iter()
            .filter(|b| (b.stage.place, b.stage.lane) == (a.stage.place, a.stage.lane))
        {
            assert!(a.end.unwrap().0 <= b.start, "{a:?} {b:?}");
        }
    }
    assert!(trace.runs().iter().all(|run| run.admitted.is_some() && matches!(run.end, Some((_, End::Done)))));
    let host = trace.peaks().iter().find(|peak| peak.ledger == Ledger::Host).unwrap();
    assert!(host.used >= 1010 && host.used <= 10_000 && host.budget == 10_000, "{host:?}");
    assert_eq!(
        trace.memory().iter().rfind(|m| m.ledger == Ledger::Host).unwrap().used,
        0,
        "the books are empty"
    );

    let json: serde_json::Value = serde_json::from_str(&trace.chrome()).unwrap();
    let events = json["traceEvents"].as_array().unwrap();
    let stages: Vec<_> = events.iter().filter(|event| event["cat"] == "stage").collect();
    assert_eq!(stages.len(), 15);
    let parts: Vec<_> =
        stages.iter().filter(|s| s["name"] == "work").map(|s| s["args"]["part"].as_u64()).collect();
    assert_eq!(parts.iter().filter(|part| **part == Some(1)).count(), 3, "{parts:?}");
    assert!(stages.iter().filter(|s| s["name"] == "join").all(|s| s["args"].get("part").is_none()));
    assert!(
        events.iter().any(|event| event["name"] == "run 0: run \"0\"" || event["name"] == "run 1: run \"0\"")
    );

    let chart = trace.gantt(100).to_string();
    println!("{chart}");
    assert!(chart.lines().any(|line| line.starts_with("work ")) && chart.contains("numa0.0"), "{chart}");
    assert!(chart.contains("peak of host: "), "{chart}");
}

#[test]
fn failures_are_named() {
    let timeline = Arc::new(Timeline::new());
    let engine = engine(&timeline);
    engine.submit(&graph(true), Bytes(10)).wait().err().unwrap();
    drop(engine);
    let trace = timeline.trace();
    let failed: Vec<_> = trace.totals().iter().filter(|sum| sum.failed > 0).map(|sum| &*sum.name).collect();
    assert_eq!(failed, ["work"]);
    assert!(
        matches!(trace.runs(), [run] if matches!(run.end, Some((_, End::Failed(ErrorKind::Bug))))),
        "{:?}",
        trace.runs()
    );
    assert!(trace.table().to_string().contains("1 failed"));
    assert!(trace.chrome().contains("failed: bug"));
}
