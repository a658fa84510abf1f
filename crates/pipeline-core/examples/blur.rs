//! Blurs an image in bands, side by side, under a budget that holds two and a
//! half of its four bands: a pipeline of one's own, without cryptography.
//!
//! `cargo run --release -p cuzk-pipeline-core --example blur`

#![allow(clippy::print_stdout, reason = "it is a program")]

use std::error::Error;
use std::sync::Arc;

use cuzk_pipeline_core::trace::Timeline;
use cuzk_pipeline_core::{
    Builder, Cancelled, Cost, Cx, Engine, Footprint, Graph, Port, Shared, Stage, Value, stage_fn,
};

const WIDTH: usize = 1024;
const ROWS: usize = 256;
const BANDS: usize = 4;
const BAND: Footprint = Footprint::host((WIDTH * ROWS * size_of::<f32>()) as u64);

/// Some rows of an image.
struct Band(Vec<f32>);

impl Value for Band {
    fn footprint(&self) -> Footprint {
        Footprint::host((self.0.capacity() * size_of::<f32>()) as u64)
    }
}

/// What to draw.
struct Seed(u32);

impl Value for Seed {
    fn footprint(&self) -> Footprint {
        Footprint::ZERO
    }
}

/// How bright the image is, band by band.
struct Means(Vec<f32>);

impl Value for Means {
    fn footprint(&self) -> Footprint {
        Footprint::host((self.0.capacity() * size_of::<f32>()) as u64)
    }
}

/// Draws noise: a stage that is a closure.
fn draw(band: usize) -> impl Stage<In = Arc<Seed>, Out = Band> {
    stage_fn("image.draw", Cost::free().output(BAND), move |_, seed: Arc<Seed>| {
        let mut state = seed.0 ^ (band as u32 + 1).wrapping_mul(0x9E37_79B9);
        let mut noise = || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state as f32 / u32::MAX as f32
        };
        Ok::<_, Cancelled>(Band((0..WIDTH * ROWS).map(|_| noise()).collect()))
    })
}

/// Blurs each row in place: a stage with a type of its own.
struct Blur {
    radius: usize,
}

impl Stage for Blur {
    type In = Band;
    type Out = Band;
    type Error = Cancelled;

    fn name(&self) -> std::borrow::Cow<'static, str> {
        "image.blur".into()
    }

    fn cost(&self) -> Cost {
        // The output is the input's memory; a row is copied aside.
        let row = Footprint::host((WIDTH * size_of::<f32>()) as u64);
        Cost::free().output(BAND).in_place(BAND).scratch(row)
    }

    fn run(&self, cx: &Cx<'_>, mut band: Band) -> Result<Band, Cancelled> {
        for row in band.0.chunks_mut(WIDTH) {
            cx.checkpoint()?;
            let old = row.to_vec();
            for (x, pixel) in row.iter_mut().enumerate() {
                let near = &old[x.saturating_sub(self.radius)..(x + self.radius + 1).min(WIDTH)];
                *pixel = near.iter().sum::<f32>() / near.len() as f32;
            }
        }
        Ok(band)
    }
}

/// A sub-pipeline is a function from ports to ports.
fn band<'g>(g: &mut Builder<'g>, seed: Shared<'g, Seed>, band: usize) -> Port<'g, Means> {
    let drawn = g.stage(draw(band), seed);
    let blurred = g.stage(Blur { radius: 8 }, drawn);
    let mean = stage_fn("image.mean", Cost::free().output(Footprint::host(64)), |_, band: Band| {
        Ok::<_, Cancelled>(Means(vec![band.0.iter().sum::<f32>() / band.0.len() as f32]))
    });
    g.stage(mean, blurred)
}

fn graph() -> Result<Graph<Seed, Means>, cuzk_pipeline_core::BuildError> {
    Graph::build(|g, seed| {
        let seed = g.share(seed);
        let mut means = Vec::new();
        for i in 0..BANDS {
            g.part(i as u32);
            means.push(band(g, seed, i));
        }
        g.part(None);
        let join =
            stage_fn("image.join", Cost::free().output(Footprint::host(64)), |_, means: Vec<Means>| {
                Ok::<_, Cancelled>(Means(means.into_iter().flat_map(|m| m.0).collect()))
            });
        Ok(g.stage(join, means))
    })
}

/// Blurs three images and shows what ran when.
pub fn main() -> Result<(), Box<dyn Error>> {
    let graph = Arc::new(graph()?);
    println!("one run needs at least {}", graph.floor());

    let timeline = Arc::new(Timeline::new());
    let budget = Footprint::host(BAND.host * 5 / 2);
    let engine = Engine::builder().budget(budget).observer(timeline.clone()).build()?;
    let runs: Vec<_> = (0..3).map(|seed| engine.submit(&graph, Seed(seed + 1))).collect();
    for run in runs {
        let means = run.wait()?.0;
        assert_eq!(means.len(), BANDS);
        assert!(means.iter().all(|mean| (0.45..0.55).contains(mean)), "noise is grey: {means:?}");
    }

    let peaks = timeline.trace().peaks().to_vec();
    assert!(peaks.iter().all(|peak| peak.used <= peak.budget), "{peaks:?}");
    println!("{}", timeline.trace().gantt(80));
    Ok(())
}
