//! What a graph says of itself before it runs.

mod common;

use std::sync::Arc;

use common::*;
use cuzk_pipeline_core::*;

const MIB: u64 = 1 << 20;

fn bytes(n: u64) -> Footprint {
    Footprint::host(n)
}

fn to(name: &'static str, out: u64) -> impl Stage<In = Blob, Out = Blob> {
    stage_fn(name, Cost::free().output(bytes(out)), |_, b: Blob| Ok::<_, Error>(b))
}

fn join(name: &'static str, out: u64) -> impl Stage<In = (Blob, Blob), Out = Blob> {
    stage_fn(name, Cost::free().output(bytes(out)), |_, (b, _): (Blob, Blob)| Ok::<_, Error>(b))
}

fn split(name: &'static str, a: u64, b: u64) -> impl Stage<In = Blob, Out = (Blob, Blob)> {
    stage_fn(name, Cost::free().output(bytes(a)).output(bytes(b)), |_, b: Blob| {
        Ok::<_, Error>((b, Blob(0, None)))
    })
}

/// A diamond with a table: split (8 + 4) → left (16), right (2, reads a table of 32) → join (1).
fn diamond() -> Graph<Blob, Blob> {
    let built = Graph::build(|g, input| {
        let (p, q) = g.stage(split("split", 8 * MIB, 4 * MIB), input);
        g.part(3);
        let left = g.stage(to("left", 16 * MIB), p);
        let load =
            stage_fn("load", Cost::free().output(bytes(32 * MIB)), |_, ()| Ok::<_, Error>(Blob(0, None)));
        let table = g.resident("table", load);
        let cost = Cost::free().output(bytes(2 * MIB)).scratch(Footprint::pinned(MIB));
        let right = stage_fn("right", cost, |_, (b, _): (Blob, Arc<Blob>)| Ok::<_, Error>(b));
        let right = g.stage(right, (q, table));
        g.part(None);
        Ok(g.stage(join("join", MIB), (left, right)))
    });
    built.expect("it is well formed")
}

/// By hand: 12 after the split; 12 + 16 while left runs, 20 after; with the
/// table 20 + 32 + 2 while right runs, 18 after; 18 + 1 while join runs.
#[test]
fn the_floor_is_the_peak_of_the_serial_order() {
    let floor = diamond().floor();
    assert_eq!(floor, Footprint { host: 54 * MIB, pinned: MIB, device: 0 });
}

/// The input counts until its last taker is done, and no longer.
#[test]
fn the_input_is_part_of_the_floor_while_it_lives() {
    let graph = diamond();
    assert_eq!(graph.floor_with(bytes(42 * MIB)).host, 54 * MIB);
    assert_eq!(graph.floor_with(bytes(43 * MIB)).host, 55 * MIB);
    let through = Graph::<Blob, Blob>::build(|_, input| Ok(input)).unwrap();
    assert_eq!(through.floor_with(bytes(7)).host, 7);
}

/// What is made in place costs no more than the larger of both.
#[test]
fn work_in_place_is_not_paid_twice() {
    let in_place = |kept| {
        let cost = Cost::free().output(bytes(10)).in_place(bytes(kept));
        let twice = stage_fn("in place", cost, |_, b: Blob| Ok::<_, Error>(b));
        Graph::build(|g, input| {
            let made = g.stage(to("make", 8), input);
            Ok(g.stage(twice, made))
        })
    };
    assert_eq!(in_place(0).unwrap().floor().host, 18);
    assert_eq!(in_place(8).unwrap().floor().host, 10);
    let error = in_place(9).err().unwrap().to_string();
    assert_eq!(
        error,
        "stage `in place` works in place on 9 B host; its owned inputs have 8 B host and its first output 10 B host"
    );
}

/// Without an engine, and with one, a graph gives the same; and what its stages
/// declare is held against what they make.
#[test]
fn a_rehearsal_runs_and_weighs_every_stage() {
    let built = Graph::build(|g, input| {
        let two = Cost::free().output(bytes(8)).output(bytes(4));
        let (p, q) = g.stage(
            stage_fn("split", two, |_, b: Blob| Ok::<_, Error>((Blob(b.0 + 1, None), Blob(5, None)))),
            input,
        );
        let load = stage_fn("load", Cost::free().output(bytes(3)), |_, ()| Ok::<_, Error>(Blob(3, None)));
        let table = g.resident("table", load);
        let p = g.share(p);
        let sum =
            |_: &Cx<'_>, (p, q, t): (Arc<Blob>, Blob, Arc<Blob>)| Ok::<_, Error>(Blob(p.0 + q.0 + t.0, None));
        Ok(g.stage(stage_fn("sum", Cost::free().output(bytes(20)), sum), (p, q, table)))
    });
    let graph = Arc::new(built.unwrap());
    let (value, stages) = graph.rehearse(&Cx::detached(), Blob(2, None)).unwrap();
    assert_eq!(value.0, 11);
    assert_eq!(two_lanes(40).submit(&graph, Blob(2, None)).wait().unwrap().0, 11);
    assert_eq!(stages.iter().map(|s| &*s.name).collect::<Vec<_>>(), ["split", "load", "sum"]);
    assert_eq!(stages[0].overweight().collect::<Vec<_>>(), [(1, bytes(4), bytes(5))]);
    assert_eq!(stages[0].slack(), bytes(5));
    assert_eq!(stages[2].slack(), bytes(9));
}

#[test]
fn a_graph_lists_its_stages_and_edges() {
    let graph = diamond();
    let stages: Vec<_> =
        graph.stages().map(|s| (s.name.to_owned(), s.part, s.resident.map(String::from))).collect();
    let part = Some(3);
    assert_eq!(
        stages,
        [
            ("split".into(), None, None),
            ("left".into(), part, None),
            ("load".into(), None, Some("table".into())),
            ("right".into(), part, None),
            ("join".into(), None, None),
        ]
    );
    let edges: Vec<_> = graph.edges().map(|e| (e.from, e.to, e.bytes.host / MIB, e.shared)).collect();
    let (some, none) = (Some::<usize>, None);
    let expected = [
        (none, some(0), 0, false),
        (some(0), some(1), 8, false),
        (some(0), some(3), 4, false),
        (some(2), some(3), 32, true),
        (some(1), some(4), 16, false),
        (some(3), some(4), 2, false),
        (some(4), none, 1, false),
    ];
    let mut sorted = edges.clone();
    sorted.sort_unstable();
    let mut wanted = expected.to_vec();
    wanted.sort_unstable();
    assert_eq!(sorted, wanted);
}

#[test]
fn the_critical_path_is_the_longest_way() {
    let graph = diamond();
    let time = |s: StageView<'_>| match s.name {
        "split" => 1.0,
        "left" => 5.0,
        "load" => 9.0,
        "right" => 2.0,
        _ => 0.5,
    };
    let (path, sum) = graph.critical_path(time);
    assert_eq!(path.iter().map(|s| s.name).collect::<Vec<_>>(), ["load", "right", "join"]);
    assert!((sum - 11.5).abs() < 1e-9);
    let warm = |s: StageView<'_>| if s.resident.is_some() { 0.0 } else { time(s) };
    let (path, sum) = graph.critical_path(warm);
    assert_eq!(path.iter().map(|s| s.name).collect::<Vec<_>>(), ["split", "left", "join"]);
    assert!((sum - 6.5).abs() < 1e-9);
}

#[test]
fn a_drawing_names_stages_places_and_bytes() {
    let expected = r#"digraph {
  rankdir=LR;
  node [shape=box, style=rounded, fontname="sans-serif"];
  edge [fontname="sans-serif", fontsize=10];
  in [shape=plaintext, label="input"];
  out [shape=plaintext, label="output"];
  s0 [label="split\ncpu\n12 MiB host"];
  s1 [label="left [3]\ncpu\n16 MiB host"];
  s2 [label="load\ncpu\n32 MiB host", shape=cylinder, style=solid];
  s3 [label="right [3]\ncpu\n2 MiB host + 1 MiB pinned"];
  s4 [label="join\ncpu\n1 MiB host"];
  in -> s0 [label=""];
"#;
    let dot = diamond().dot();
    assert!(dot.starts_with(expected), "{dot}");
    assert!(dot.contains("  s2 -> s3 [label=\"32 MiB\", style=dashed];\n"), "{dot}");
    assert!(dot.ends_with("  s4 -> out [label=\"1 MiB\"];\n}\n"), "{dot}");
}

#[test]
fn a_value_that_nothing_takes_is_a_build_error() {
    let lost = Graph::<Blob, Blob>::build(|g, input| Ok(g.stage(split("two", 0, 0), input).0));
    assert!(matches!(lost, Err(BuildError::Dangling { stage, output: 1 }) if &*stage == "two"));
    let unused = Graph::<Blob, Blob>::build(|g, _| {
        Ok(g.stage(stage_fn("new", Cost::free().output(bytes(0)), |_, ()| Ok::<_, Error>(Blob(0, None))), ()))
    });
    assert!(matches!(unused, Err(BuildError::Unused)));
}

#[test]
fn a_stage_must_declare_each_of_its_outputs() {
    let built = Graph::<Blob, Blob>::build(|g, input| {
        let odd = stage_fn("odd", Cost::free(), |_, b: Blob| Ok::<_, Error>(b));
        Ok(g.stage(odd, input))
    });
    assert!(matches!(built, Err(BuildError::Cost { outputs: 1, declared: 0, .. })));
}
