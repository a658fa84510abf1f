//! Each stage run is a span that says what, for whom, where and how much.

mod common;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use common::*;
use cuzk_pipeline_core::*;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

type Fields = BTreeMap<&'static str, String>;

/// Keeps the fields of every span.
#[derive(Default)]
struct Spans(Mutex<Vec<(&'static str, Fields)>>);

struct Collect<'a>(&'a mut Fields);

impl Visit for Collect<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}

impl Subscriber for Spans {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span()
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields::new();
        span.record(&mut Collect(&mut fields));
        let mut spans = self.0.lock().expect("no test panics with it");
        spans.push((span.metadata().name(), fields));
        Id::from_u64(spans.len() as u64)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[test]
fn a_stage_is_a_span() {
    let spans = Arc::new(Spans::default());
    tracing::subscriber::set_global_default(spans.clone()).unwrap();
    let cost = Cost::free().output(Footprint::host(3 << 20)).scratch(Footprint::host(1 << 20));
    let stage = stage_fn("msm.h", cost, |_, b: Blob| Ok::<_, Error>(b));
    let graph = Graph::build(|g, input| {
        g.part(7);
        Ok(g.stage(stage, input))
    });
    let options = Options::new().label("sector 5");
    let engine = two_lanes(5 << 20);
    let run = engine.submit_with(&Arc::new(graph.unwrap()), Blob(1, None), options);
    run.wait().unwrap();
    let spans = spans.0.lock().unwrap();
    let [(name, fields)] = &spans[..] else { panic!("{spans:?}") };
    assert_eq!(*name, "stage");
    let expected = [
        ("bytes", "4 MiB host"),
        ("job", "1"),
        ("label", "\"sector 5\""),
        ("name", "\"msm.h\""),
        ("part", "7"),
        ("place", "numa0"),
    ];
    assert_eq!(*fields, expected.map(|(k, v)| (k, v.to_owned())).into());
}
