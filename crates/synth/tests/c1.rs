//! C1s in all encodings, held against upstream's serde.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::io::Write;

use cuzk_synth::c1::{self, Encoding, Identity};
use cuzk_synth::input::{InputError, Layer, Layers};
use cuzk_synth::{SectorShape, fixture};
use cuzk_values::{C1, PoRepVariant};
use filecoin_proofs::constants::{SectorShape2KiB, SectorShape4KiB, SectorShape16KiB, SectorShape32KiB};
use filecoin_proofs::{MerkleTreeTrait, SealCommitPhase1Output};
use filecoin_proofs_api::seal::SealCommitPhase1Output as ApiOutput;
use serde::Serialize;
use serde::de::DeserializeOwned;

const PROOFS_JSON: &[u8] = include_bytes!("../../testing/fixtures/c1-2kib.json");
const LOTUS_JSON: &[u8] = include_bytes!("../../testing/fixtures/c1-2kib-lotus.json");

/// The prover of both, as their README says.
const PROVER: [u8; 32] = {
    let mut id = [1; 32];
    id[31] = 0;
    id
};

const ENCODINGS: [Encoding; 5] = [
    Encoding::ProofsJson,
    Encoding::ApiJson,
    Encoding::LotusJson,
    Encoding::ProofsBincode,
    Encoding::ApiBincode,
];

fn encode(c1: &C1, encoding: Encoding) -> Vec<u8> {
    let mut bytes = Vec::new();
    c1::encode(c1, encoding, &mut bytes).unwrap();
    bytes
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(bytes).unwrap();
    gz.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

/// What of a C1 an encoding has a place for.
fn kept(c1: &C1, encoding: Encoding) -> C1 {
    let names_variant = !matches!(encoding, Encoding::ProofsJson | Encoding::ProofsBincode);
    C1 {
        variant: c1.variant.filter(|_| names_variant),
        sector_number: c1.sector_number.filter(|_| encoding == Encoding::LotusJson),
        ..c1.clone()
    }
}

#[test]
fn a_real_sector_reads_the_same_from_both_files() {
    let (mut proofs, mut lotus) = (Layers::default(), Layers::default());
    let c1 = c1::decode_noting(PROOFS_JSON, &mut proofs).unwrap();
    let wrapped = c1::decode_noting(LOTUS_JSON, &mut lotus).unwrap();
    assert_eq!(proofs, Layers(vec![Layer::C1(Encoding::ProofsJson)]));
    assert_eq!(lotus.to_string(), "filecoin-proofs-api JSON in base64 in lotus JSON");
    assert_eq!(wrapped.variant, Some(PoRepVariant::V1_1));
    assert_eq!(wrapped.sector_number, Some(1));
    assert_eq!(kept(&wrapped, Encoding::ProofsJson), c1);
    c1::check_trees(&c1).unwrap();
}

#[test]
fn a_real_sector_is_what_upstream_reads() {
    let c1 = c1::decode(LOTUS_JSON).unwrap();
    let proofs: SealCommitPhase1Output<SectorShape2KiB> = serde_json::from_slice(PROOFS_JSON).unwrap();
    assert_eq!(encode(&c1, Encoding::ProofsBincode), bincode::serialize(&proofs).unwrap());
    let api: ApiOutput = serde_json::from_slice(&encode(&c1, Encoding::ApiJson)).unwrap();
    assert_eq!(encode(&c1, Encoding::ApiBincode), bincode::serialize(&api).unwrap());
    assert_eq!(encode(&c1, Encoding::ApiJson), serde_json::to_vec(&api).unwrap());
}

/// Upstream's struct, rebuilt from the noun in upstream's types.
fn rebuilt<Tree>(c1: &C1) -> SealCommitPhase1Output<Tree>
where
    Tree: 'static + MerkleTreeTrait<Hasher = filecoin_proofs::constants::DefaultTreeHasher>,
{
    let partition = |k| c1::upstream::partition_proofs::<Tree>(c1, k).unwrap();
    SealCommitPhase1Output {
        vanilla_proofs: (0..c1.partitions.len()).map(partition).collect(),
        comm_r: c1.comm_r,
        comm_d: c1.comm_d,
        replica_id: c1.replica_id.into(),
        seed: c1.seed,
        ticket: c1.ticket,
    }
}

/// Our bytes are upstream's bytes, and upstream reads them back.
fn same_bytes<T: Serialize + DeserializeOwned>(ours: &C1, theirs: &T, json: Encoding, bincode: Encoding) {
    let text = serde_json::to_vec(theirs).unwrap();
    assert_eq!(encode(ours, json), text, "{json}");
    let read: T = serde_json::from_slice(&text).unwrap();
    assert_eq!(encode(ours, bincode), bincode::serialize(&read).unwrap(), "{bincode}");
}

#[test]
fn trees_of_every_kind_are_written_as_upstream_writes_them() {
    let of = |size| fixture::porep(size, 5).unwrap();
    let (json, bincode) = (Encoding::ProofsJson, Encoding::ProofsBincode);
    let c1 = of(2 << 10);
    same_bytes(&c1, &rebuilt::<SectorShape2KiB>(&c1), json, bincode);
    let c1 = of(4 << 10);
    same_bytes(&c1, &rebuilt::<SectorShape4KiB>(&c1), json, bincode);
    let c1 = of(16 << 10);
    same_bytes(&c1, &rebuilt::<SectorShape16KiB>(&c1), json, bincode);
    let c1 = of(32 << 10);
    same_bytes(&c1, &rebuilt::<SectorShape32KiB>(&c1), json, bincode);
    let wrong = c1::upstream::partition_proofs::<SectorShape16KiB>(&c1, 0);
    assert!(matches!(wrong, Err(InputError::Upstream(_))));
}

#[test]
fn every_encoding_compressed_or_not_gives_the_same_back() {
    for shape in SectorShape::ALL.into_iter().filter(|shape| shape.log_nodes < 30) {
        let c1 = fixture::porep(shape.sector_size(), 11).unwrap();
        for encoding in ENCODINGS {
            let mut bytes = Vec::new();
            match c1::encode(&c1, encoding, &mut bytes) {
                Ok(()) => {}
                Err(InputError::Unencodable { .. }) if c1.variant.is_none() => continue,
                Err(e) => panic!("{shape}, {encoding}: {e}"),
            }
            let zipped = gzip(&bytes);
            for bytes in [zstd(&zipped), zipped, zstd(&bytes), bytes] {
                assert_eq!(c1::decode(&bytes[..]).unwrap(), kept(&c1, encoding), "{shape}, {encoding}");
            }
        }
    }
}

#[test]
fn fields_in_any_order_unknown_ones_and_white_space_are_read() {
    let mut value: serde_json::Value = serde_json::from_slice(PROOFS_JSON).unwrap();
    value["later"] = serde_json::json!({ "a": [1.5e3, null, true, { "\"": "\\\"}" }], "b": [] });
    // `Value` sorts the fields by name.
    let pretty = serde_json::to_vec_pretty(&value).unwrap();
    let want = c1::decode(PROOFS_JSON).unwrap();
    assert_eq!(c1::decode(&pretty[..]).unwrap(), want);
    let marked = [b"\xef\xbb\xbf \r\n", &pretty[..], b"\n"].concat();
    assert_eq!(c1::decode(&marked[..]).unwrap(), want);
    // More white space than tells an encoding, and than a buffer holds.
    for blanks in [511, 512, 4000, 200_000] {
        let blanks = vec![b'\n'; blanks];
        for mark in [&b""[..], b"\xef\xbb\xbf"] {
            let behind = [mark, &blanks, &pretty].concat();
            assert_eq!(c1::decode(&behind[..]).unwrap(), want, "{} blanks", blanks.len());
        }
        let refused = |text: &[u8]| c1::decode(&[&blanks, text].concat()[..]).unwrap_err().to_string();
        assert!(refused(b"").contains("the input is empty"));
        assert!(refused(b"<html>").contains("an HTML page"));
        assert!(refused(b"?").contains("in no known encoding"));
    }
}

#[test]
fn a_sector_is_told_from_another_by_its_replica_id() {
    let c1 = c1::decode(LOTUS_JSON).unwrap();
    let known = Identity { prover_id: Some(PROVER), sector_number: Some(1), porep_id: None };
    assert!(c1::check_identity(&c1, &known).unwrap());
    assert!(!c1::check_identity(&c1, &Identity { prover_id: None, ..known }).unwrap());
    assert!(c1::check_identity(&c1, &Identity { sector_number: None, ..known }).unwrap());

    let other = Identity { prover_id: Some(c1::prover_id(1000)), ..known };
    let error = c1::check_identity(&c1, &other).unwrap_err().to_string();
    assert!(error.starts_with("replica_id") && error.contains("the hash of the prover"), "{error}");
    let other = Identity { sector_number: Some(2), ..known };
    let error = c1::check_identity(&c1, &other).unwrap_err().to_string();
    assert_eq!(error, "SectorNum: is 1, but the sector number given is 2");

    let bare = c1::decode(PROOFS_JSON).unwrap();
    assert!(!c1::check_identity(&bare, &known).unwrap());
    let mut porep_id = [0; 32];
    porep_id[0] = 5;
    assert!(c1::check_identity(&bare, &Identity { porep_id: Some(porep_id), ..known }).unwrap());
}

#[test]
fn miners_are_named_in_leb128() {
    let start = |miner| c1::prover_id(miner)[..3].to_vec();
    assert_eq!(start(0), [0, 0, 0]);
    assert_eq!(start(127), [127, 0, 0]);
    assert_eq!(start(1000), [0xe8, 7, 0]);
    assert_eq!(c1::prover_id(u64::MAX)[8..12], [0xff, 1, 0, 0]);
}

#[test]
fn registered_proofs_have_upstreams_names_and_numbers() {
    use PoRepVariant::{NonInteractive, Synthetic, V1, V1_1};
    use filecoin_proofs_api::RegisteredSealProof;
    let mut number = 0;
    for variant in [V1, V1_1, Synthetic, NonInteractive] {
        for shape in SectorShape::ALL {
            let Some(name) = c1::seal_proof_name(shape, variant) else { continue };
            let theirs: RegisteredSealProof = serde_json::from_str(&format!("\"{name}\"")).unwrap();
            assert_eq!(bincode::serialize(&theirs).unwrap(), u32::to_le_bytes(number));
            let config = theirs.as_v1_config();
            assert_eq!(Some(config.porep_id), c1::porep_id(shape, variant));
            assert_eq!(u64::from(config.sector_size), shape.sector_size());
            let partitions = match variant {
                NonInteractive => shape.non_interactive_partitions,
                _ => shape.partitions,
            };
            assert_eq!(usize::from(config.partitions), partitions);
            number += 1;
        }
    }
    assert_eq!(number, 20);
}
