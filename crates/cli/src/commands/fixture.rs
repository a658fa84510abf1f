//! `cuzk fixture`

use std::path::Path;

use cuzk_pipeline_core::limits::format_bytes;
use cuzk_synth::PostShape;
use cuzk_synth::c1::{self, Encoding};
use cuzk_synth::fixture::{SparsePorep, SparsePost, SparseSnap};
use cuzk_synth::{post, snap};
use cuzk_values::{PostKind, PostVersion};
use serde_json::{Value as Json, json};

use super::inspect::hex;
use crate::args::{C1Format, FixturePorep, FixturePost, FixtureSnap, VanillaFormat};
use crate::failure::{Class, Classify as _, Failure};
use crate::files::{self, shown};
use crate::printer::Printer;

pub(crate) fn porep(printer: Printer, args: &FixturePorep) -> Result<(), Failure> {
    files::check_writable(&[], [&args.out])?;
    let shape = args.sector_size;
    let sector = SparsePorep::new(shape.sector_size(), args.seed)
        .or_input()?
        .miner(args.miner_addr.0)
        .sector_number(args.sector_number);
    let published = c1::porep_id(shape, sector.variant()).is_some();
    let usual = if published { C1Format::Lotus } else { C1Format::Json };
    let encoding = c1_encoding(args.format.unwrap_or(usual));
    let c1 = sector.build().or_bug()?;
    let mut bytes = Vec::new();
    c1::encode(&c1, encoding, &mut bytes).or_input()?;
    files::write(&args.out, &bytes)?;
    let json = json!({
        "file": shown(&args.out),
        "encoding": encoding.to_string(),
        "bytes": bytes.len(),
        "sector_size": shape.sector_size(),
        "seed": args.seed,
        "partitions": c1.partitions.len(),
    });
    let text = format!(
        "{}: a C1 of a {shape} sector from seed {}, {} of {encoding}",
        args.out.display(),
        args.seed,
        format_bytes(bytes.len() as u64)
    );
    printer.result(&json, &text)
}

/// The vanilla proofs of a WindowPoSt or a WinningPoSt.
pub(crate) fn post(printer: Printer, kind: PostKind, args: &FixturePost) -> Result<(), Failure> {
    files::check_writable(&[], [&args.out])?;
    let shape = args.sector_size;
    let room = PostShape::new(shape, kind).sectors;
    let sectors = args.sectors.map_or(room, |sectors| sectors as usize);
    if sectors > room {
        let error = anyhow::anyhow!(
            "--sectors {sectors}: a {} of {shape} sectors has room for {room}",
            post::kind_name(kind)
        );
        return Err(Failure::new(Class::Input, error));
    }
    if args.sector_number.checked_add(sectors as u64 - 1).is_none() {
        let error = anyhow::anyhow!("--sector-number {}: the last sector has no number", args.sector_number);
        return Err(Failure::new(Class::Input, error).hint("numbers have 64 bits"));
    }
    let mut sparse = SparsePost::new(kind, shape.sector_size(), args.seed)
        .or_input()?
        .miner(args.miner_addr.0)
        .first_sector(args.sector_number)
        .sectors(sectors);
    if kind == PostKind::Winning && args.post_version.is_some() {
        let error = anyhow::anyhow!("--post-version: a winning-post has no versions");
        return Err(Failure::new(Class::Input, error).hint("leave it out"));
    }
    if args.post_version.map(PostVersion::from) == Some(PostVersion::V1) {
        sparse = sparse.legacy();
    }
    let encoding = post_encoding(args.format);
    let made = sparse.build();
    let mut bytes = Vec::new();
    post::encode(&made, encoding, &mut bytes).or_bug()?;
    let json = json!({
        "kind": post::kind_name(kind),
        "sector_size": made.sector_size,
        "seed": args.seed,
        "sectors": made.sectors.len(),
        "randomness": hex(&made.randomness),
    });
    let what = format!("a {} of {} {shape} sectors", post::kind_name(kind), made.sectors.len());
    written(printer, args.seed, (&args.out, &bytes), &encoding.to_string(), &what, json)
}

/// The vanilla proofs of a sector's update.
pub(crate) fn snap(printer: Printer, args: &FixtureSnap) -> Result<(), Failure> {
    files::check_writable(&[], [&args.out])?;
    let shape = args.sector_size;
    let sparse = SparseSnap::new(shape.sector_size(), args.seed);
    let sparse = sparse.or_input()?;
    let encoding = snap_encoding(args.format);
    let made = sparse.build();
    let mut bytes = Vec::new();
    snap::encode(&made, encoding, &mut bytes).or_bug()?;
    let json = json!({
        "kind": "snap",
        "sector_size": made.sector_size,
        "seed": args.seed,
        "partitions": made.partitions.len(),
        "comm_r_old": hex(&made.comm_r_old),
        "comm_r_new": hex(&made.comm_r_new),
        "comm_d_new": hex(&made.comm_d_new),
    });
    let what = format!("an update of a {shape} sector");
    written(printer, args.seed, (&args.out, &bytes), &encoding.to_string(), &what, json)
}

/// Writes a fixture, and says so.
fn written(
    printer: Printer,
    seed: u64,
    (out, bytes): (&Path, &[u8]),
    encoding: &str,
    what: &str,
    mut json: Json,
) -> Result<(), Failure> {
    files::write(out, bytes)?;
    json["file"] = shown(out).into();
    json["encoding"] = encoding.into();
    json["bytes"] = bytes.len().into();
    let size = format_bytes(bytes.len() as u64);
    printer.result(&json, &format!("{}: {what} from seed {seed}, {size} of {encoding}", out.display()))
}

pub(crate) fn c1_encoding(format: C1Format) -> Encoding {
    match format {
        C1Format::Lotus => Encoding::LotusJson,
        C1Format::Json => Encoding::ProofsJson,
        C1Format::ApiJson => Encoding::ApiJson,
        C1Format::Bincode => Encoding::ProofsBincode,
        C1Format::ApiBincode => Encoding::ApiBincode,
    }
}

pub(crate) fn post_encoding(format: VanillaFormat) -> post::Encoding {
    match format {
        VanillaFormat::Json => post::Encoding::Json,
        VanillaFormat::List => post::Encoding::List,
        VanillaFormat::Bincode => post::Encoding::Bincode,
    }
}

pub(crate) fn snap_encoding(format: VanillaFormat) -> snap::Encoding {
    match format {
        VanillaFormat::Json => snap::Encoding::Json,
        VanillaFormat::List => snap::Encoding::List,
        VanillaFormat::Bincode => snap::Encoding::Bincode,
    }
}
