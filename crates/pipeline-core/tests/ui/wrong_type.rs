//! A stage that takes one type is given another.

use cuzk_pipeline_core::{Cancelled, Cost, Footprint, Graph, Value, stage_fn};

struct Coeffs;
struct Evals;
impl Value for Coeffs {
    fn footprint(&self) -> Footprint {
        Footprint::ZERO
    }
}
impl Value for Evals {
    fn footprint(&self) -> Footprint {
        Footprint::ZERO
    }
}

fn main() {
    let cost = Cost::free().output(Footprint::ZERO);
    let stage = stage_fn("needs evals", cost, |_, e: Evals| Ok::<_, Cancelled>(e));
    let _ = Graph::<Coeffs, Evals>::build(|g, input| Ok(g.stage(stage, input)));
}
