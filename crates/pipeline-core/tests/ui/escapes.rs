//! A port outlives the closure that builds its graph.

use cuzk_pipeline_core::{Footprint, Graph, Port, Value};

struct V;
impl Value for V {
    fn footprint(&self) -> Footprint {
        Footprint::ZERO
    }
}

fn main() {
    let mut kept: Option<Port<'static, V>> = None;
    let _ = Graph::<V, V>::build(|_, input| {
        kept = Some(input);
        unreachable!()
    });
}
