//! A stage that would own its input is given a shared one.

use cuzk_pipeline_core::{Cancelled, Cost, Footprint, Graph, Value, stage_fn};

struct V;
impl Value for V {
    fn footprint(&self) -> Footprint {
        Footprint::ZERO
    }
}

fn main() {
    let cost = Cost::free().output(Footprint::ZERO);
    let own = stage_fn("own", cost, |_, v: V| Ok::<_, Cancelled>(v));
    let _ = Graph::<V, V>::build(|g, input| {
        let shared = g.share(input);
        Ok(g.stage(own, shared))
    });
}
