//! What is to be said of an input.

use cuzk_synth::input::{Input, Layers};
use cuzk_synth::{c1, post, snap};
use cuzk_values::{C1, Node, Post, PostKind, Snap};
use serde_json::{Value as Json, json};

use super::inspect::hex;
use crate::failure::{Classify as _, Failure};
use crate::units::counted;

/// An input as JSON and as text.
pub(crate) fn input(input: &Input, layers: &Layers) -> Result<(Json, String), Failure> {
    let (mut json, text) = match input {
        Input::C1(c1) => of_c1(c1, layers)?,
        Input::Post(post) => of_post(post, layers)?,
        Input::Snap(snap) => of_snap(snap, layers)?,
    };
    json["encoding"] = layers.0.iter().map(ToString::to_string).collect();
    Ok((json, text))
}

fn of_c1(c1: &C1, layers: &Layers) -> Result<(Json, String), Failure> {
    let shape = c1::shape_of(c1).or_input()?;
    let challenges: usize = c1.partitions.iter().map(Vec::len).sum();
    let json = json!({
        "kind": "c1",
        "sector_size": shape.sector_size(),
        "sector_number": c1.sector_number,
        "variant": c1.variant.map(|v| format!("{v:?}")),
        "partitions": c1.partitions.len(),
        "challenges": challenges,
        "layers": c1.layers(),
        "replica_id": hex(&c1.replica_id),
        "comm_d": hex(&c1.comm_d),
        "comm_r": hex(&c1.comm_r),
        "ticket": hex(&c1.ticket),
        "seed": hex(&c1.seed),
    });
    let number = c1.sector_number.map(|n| format!(" number {n}")).unwrap_or_default();
    let hashes = hashes(&[
        ("replica_id", &c1.replica_id),
        ("comm_d", &c1.comm_d),
        ("comm_r", &c1.comm_r),
        ("ticket", &c1.ticket),
        ("seed", &c1.seed),
    ]);
    let text = format!(
        "the C1 of a {shape} sector{number}, as {}\n  {}, {challenges} challenges, {} layers; shapes and commitments agree{hashes}",
        around(layers),
        counted(c1.partitions.len(), "partition"),
        c1.layers(),
    );
    Ok((json, text))
}

fn of_post(post: &Post, layers: &Layers) -> Result<(Json, String), Failure> {
    let shape = post::shape_of(post).or_input()?;
    let challenges: usize = post.sectors.iter().map(|sector| sector.challenges.len()).sum();
    let kind = post::kind_name(post.kind);
    let mut json = json!({
        "kind": kind,
        "sector_size": post.sector_size,
        "sectors": post.sectors.len(),
        "first_sector": post.sectors.first().map(|sector| sector.number),
        "challenges": challenges,
        "prover_id": hex(&post.prover_id),
        "randomness": hex(&post.randomness),
    });
    let mut version = String::new();
    if post.kind == PostKind::Window {
        json["version"] = post::version_name(post.version).into();
        json["partition_index"] = post.partition.into();
        version = format!(" of version {}", post::version_name(post.version));
    }
    let hashes = hashes(&[("prover_id", &post.prover_id), ("randomness", &post.randomness)]);
    let text = format!(
        "the vanilla proofs of a {kind}{version}, as {}\n  {} of {}, {challenges} challenges; shapes, commitments and challenges agree{hashes}",
        around(layers),
        counted(post.sectors.len(), "sector"),
        shape.sector,
    );
    Ok((json, text))
}

fn of_snap(snap: &Snap, layers: &Layers) -> Result<(Json, String), Failure> {
    let shape = snap::shape_of(snap).or_input()?;
    let challenges = shape.partitions * shape.challenges;
    let json = json!({
        "kind": "snap",
        "sector_size": snap.sector_size,
        "partitions": snap.partitions.len(),
        "challenges": challenges,
        "high_bits": snap.high_bits,
        "comm_r_old": hex(&snap.comm_r_old),
        "comm_r_new": hex(&snap.comm_r_new),
        "comm_d_new": hex(&snap.comm_d_new),
    });
    let hashes = hashes(&[
        ("comm_r_old", &snap.comm_r_old),
        ("comm_r_new", &snap.comm_r_new),
        ("comm_d_new", &snap.comm_d_new),
    ]);
    let text = format!(
        "the vanilla proofs of an update of a {} sector, as {}\n  {}, {challenges} challenges; shapes, commitments, challenges and data agree{hashes}",
        shape.sector,
        around(layers),
        counted(snap.partitions.len(), "partition"),
    );
    Ok((json, text))
}

fn around(layers: &Layers) -> String {
    let layers: Vec<String> = layers.0.iter().rev().map(ToString::to_string).collect();
    layers.join(" in ")
}

/// A line for each hash.
fn hashes(named: &[(&str, &Node)]) -> String {
    named.iter().map(|(name, hash)| ["\n  ", &format!("{name:<10} "), &hex(*hash)].concat()).collect()
}
