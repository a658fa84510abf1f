//! A port is spent twice.

use cuzk_pipeline_core::{Cancelled, Cost, Footprint, Graph, Value, stage_fn};

struct V;
impl Value for V {
    fn footprint(&self) -> Footprint {
        Footprint::ZERO
    }
}

fn main() {
    let cost = Cost::free().output(Footprint::ZERO);
    let join = stage_fn("join", cost, |_, (a, _): (V, V)| Ok::<_, Cancelled>(a));
    let _ = Graph::<V, V>::build(|g, input| Ok(g.stage(join, (input, input))));
}
