//! A port of one graph is plugged into a stage of another.

use cuzk_pipeline_core::{Cancelled, Cost, Footprint, Graph, Value, stage_fn};

struct V;
impl Value for V {
    fn footprint(&self) -> Footprint {
        Footprint::ZERO
    }
}

fn main() {
    let _ = Graph::<V, V>::build(|_, outer| {
        let cost = Cost::free().output(Footprint::ZERO);
        let join = stage_fn("join", cost, |_, (a, _): (V, V)| Ok::<_, Cancelled>(a));
        let _ = Graph::<V, V>::build(|g, inner| Ok(g.stage(join, (inner, outer))));
        unreachable!()
    });
}
