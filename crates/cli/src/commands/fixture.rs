//! `cuzk fixture`

use cuzk_pipeline_core::limits::format_bytes;
use cuzk_synth::c1::{self, Encoding};
use cuzk_synth::fixture::SparsePorep;
use serde_json::json;

use crate::args::{C1Format, FixturePorep};
use crate::failure::{Classify as _, Failure};
use crate::files::{self, shown};
use crate::printer::Printer;

pub(crate) fn porep(printer: Printer, args: &FixturePorep) -> Result<(), Failure> {
    files::check_writable(None, [&args.out])?;
    let shape = args.sector_size;
    let sector = SparsePorep::new(shape.sector_size(), args.seed)
        .or_input()?
        .miner(args.miner_addr.0)
        .sector_number(args.sector_number);
    let published = c1::porep_id(shape, sector.variant()).is_some();
    let encoding = match args.format {
        Some(C1Format::Lotus) => Encoding::LotusJson,
        Some(C1Format::Json) => Encoding::ProofsJson,
        Some(C1Format::ApiJson) => Encoding::ApiJson,
        Some(C1Format::Bincode) => Encoding::ProofsBincode,
        Some(C1Format::ApiBincode) => Encoding::ApiBincode,
        None => {
            if published {
                Encoding::LotusJson
            } else {
                Encoding::ProofsJson
            }
        }
    };
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
