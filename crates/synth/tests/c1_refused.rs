//! C1s that are wrong: each kind of fault, and where it is said to be.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use std::io::{self, Read, Write};

use cuzk_pipeline_core::ErrorKind;
use cuzk_synth::c1::{self, Encoding};
use cuzk_synth::fixture;
use cuzk_synth::input::{self, InputError, Problem};
use cuzk_values::C1;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

const LOTUS_JSON: &[u8] = include_bytes!("../../testing/fixtures/c1-2kib-lotus.json");

fn encode(c1: &C1, encoding: Encoding) -> Vec<u8> {
    let mut bytes = Vec::new();
    c1::encode(c1, encoding, &mut bytes).unwrap();
    bytes
}

/// A sector whose trees have a base, a sub and a top part, as JSON to be tampered with.
fn top() -> Value {
    let c1 = fixture::porep(32 << 10, 7).unwrap();
    serde_json::from_slice(&encode(&c1, Encoding::ProofsJson)).unwrap()
}

/// A real sector, as filecoin-proofs-api writes it.
fn api() -> Value {
    let c1 = c1::decode(LOTUS_JSON).unwrap();
    serde_json::from_slice(&encode(&c1, Encoding::ApiJson)).unwrap()
}

fn refusal(bytes: &[u8]) -> String {
    let error = c1::decode(bytes).expect_err("a C1 that is wrong");
    assert_eq!(error.kind(), ErrorKind::Input, "{error}");
    error.to_string()
}

/// Applies `edit` at a JSON pointer; the error must start with `path` and contain `why`.
#[track_caller]
fn refused(mut c1: Value, pointer: &str, edit: impl FnOnce(&mut Value), path: &str, why: &str) {
    edit(c1.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")));
    let error = refusal(&serde_json::to_vec(&c1).unwrap());
    let rest = error.strip_prefix(path).unwrap_or_else(|| panic!("{path}: {error}"));
    assert!(rest.starts_with([' ', ':']), "{path}: {error}");
    assert!(error.contains(why), "{why}: {error}");
}

/// Changes a field element to another one.
fn change(node: &mut Value) {
    let byte = node[0].as_u64().unwrap();
    node[0] = json!(byte ^ 1);
}

fn pop(list: &mut Value) {
    list.as_array_mut().unwrap().pop();
}

fn increase(number: &mut Value) {
    *number = json!(number.as_u64().unwrap() + 1);
}

#[test]
fn what_is_no_encoding_at_all_is_placed_in_the_input() {
    assert_eq!(refusal(b""), "the input (byte 0): the input is empty: nothing has been written to it");
}

#[test]
fn commitments_must_follow_from_one_another() {
    refused(top(), "/comm_r", change, "comm_r", "the hash of comm_c and comm_r_last");
    refused(top(), "/comm_d", change, "comm_d", "the root of the paths `comm_d_proofs`");
    let zeros = |value: &mut Value| *value = json!(vec![0; 32]);
    refused(top(), "/seed", zeros, "seed", "is all zeros");
    refused(top(), "/comm_r", zeros, "comm_r", "is all zeros");
    let index = "vanilla_proofs[0][0].replica_column_proofs.c_x.column.index";
    refused(top(), "/seed", change, index, "the challenge that replica_id and seed give");
    refused(top(), "/replica_id", change, index, "the challenge that replica_id and seed give");
}

#[test]
fn field_elements_must_be_canonical() {
    let too_large = |value: &mut Value| *value = json!(vec![255; 32]);
    let why = "ffff (little-endian) is not below the field's modulus";
    refused(top(), "/comm_d", too_large, "comm_d", why);
    let path = "vanilla_proofs[0][1].comm_d_proofs.data.Single.path.path[9].hashes[0]";
    refused(
        top(),
        "/vanilla_proofs/0/1/comm_d_proofs/data/Single/path/path/9/hashes/0",
        too_large,
        path,
        why,
    );
    let path = "vanilla_proofs[0][0].labeling_proofs[1].parents[36]";
    refused(top(), "/vanilla_proofs/0/0/labeling_proofs/1/parents/36", too_large, path, why);
    // The modulus itself, and what is just below it.
    let modulus = "0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001";
    let mut bytes: Vec<u8> =
        (2..66).step_by(2).map(|i| u8::from_str_radix(&modulus[i..i + 2], 16).unwrap()).collect();
    bytes.reverse();
    refused(top(), "/comm_r", |value| *value = json!(bytes), "comm_r", "is not below");
    bytes[0] -= 1;
    refused(top(), "/comm_r", |value| *value = json!(bytes), "comm_r", "the hash of comm_c");
}

#[test]
fn the_path_of_the_data_must_lead_to_comm_d() {
    let proof = "/vanilla_proofs/0/1/comm_d_proofs/data/Single";
    let at = |rest: &str| format!("{proof}{rest}");
    let path = "vanilla_proofs[0][1].comm_d_proofs";
    let why = "the root that the path must reach";
    refused(top(), &at("/leaf"), change, path, why);
    refused(top(), &at("/path/path/3/hashes/0"), change, path, why);
    let in_data = |rest: &str| format!("{path}.data.Single.{rest}");
    refused(top(), &at("/root"), change, &in_data("root"), "the first challenge's");
    refused(top(), &at("/path/path"), pop, &in_data("path.path"), "has 9 elements, expected 10");
    refused(
        top(),
        &at("/path/path/3/hashes"),
        pop,
        &in_data("path.path[3].hashes"),
        "has 0 elements, expected 1",
    );
    refused(
        top(),
        &at("/path/path/3/index"),
        |index| *index = json!(1 - index.as_u64().unwrap()),
        &in_data("path.path[3].index"),
        "the child on the way to the node",
    );
    refused(
        top(),
        "/vanilla_proofs/0/0/comm_d_proofs/data/Single/path/path",
        |path| {
            pop(path);
            pop(path);
        },
        "vanilla_proofs[0][0].comm_d_proofs.path.path",
        "expected 6, 7, 9, 10, 18, 19, 24, 25, 30 or 31 levels, found 8",
    );
}

#[test]
fn paths_in_the_other_trees_must_have_their_shape() {
    let proof = "/vanilla_proofs/0/1/comm_r_last_proof/data";
    let at = |rest: &str| format!("{proof}{rest}");
    let path = "vanilla_proofs[0][1].comm_r_last_proof.data";
    let in_data = |rest: &str| format!("{path}.Top.{rest}");
    refused(top(), &at("/Top/root"), change, &in_data("root"), "the first challenge's");
    refused(
        top(),
        &at("/Top/leaf"),
        change,
        "vanilla_proofs[0][1].comm_r_last_proof.leaf",
        "the data plus the last label",
    );
    refused(
        top(),
        &at("/Top/base_proof/path"),
        pop,
        &in_data("base_proof.path"),
        "has 1 element, expected 2",
    );
    refused(top(), &at("/Top/sub_proof/path"), pop, &in_data("sub_proof.path"), "has 0 elements, expected 1");
    let hashes = in_data("top_proof.path[0].hashes");
    refused(top(), &at("/Top/top_proof/path/0/hashes"), pop, &hashes, "has 0 elements, expected 1");
    let grow = |list: &mut Value| list.as_array_mut().unwrap().push(json!(vec![1; 32]));
    refused(top(), &at("/Top/top_proof/path/0/hashes"), grow, &hashes, "has 2 elements, expected 1");
    let hashes = in_data("base_proof.path[1].hashes");
    refused(top(), &at("/Top/base_proof/path/1/hashes"), grow, &hashes, "has more than 7 elements");
    let index = in_data("sub_proof.path[0].index");
    refused(top(), &at("/Top/sub_proof/path/0/index"), increase, &index, "the child on the way");
    let to_sub = |data: &mut Value| {
        let mut sub = data["Top"].take();
        sub.as_object_mut().unwrap().remove("top_proof");
        *data = json!({ "Sub": sub });
    };
    refused(top(), proof, to_sub, path, "expected Top, found Sub");
    let rename = |data: &mut Value| *data = json!({ "Bottom": data["Top"].take() });
    refused(top(), proof, rename, path, r#"is "Bottom", which is none of ["Single", "Sub", "Top"]"#);
}

#[test]
fn columns_must_be_those_of_the_labels() {
    let columns = "/vanilla_proofs/0/1/replica_column_proofs";
    let at = |rest: &str| format!("{columns}{rest}");
    let path = |rest: &str| format!("vanilla_proofs[0][1].replica_column_proofs.{rest}");
    refused(
        top(),
        &at("/c_x/column/rows/1"),
        change,
        &path("c_x.column.rows[1]"),
        "the hash of the parents' labels",
    );
    let why = "the label in the parent's column";
    let label = "vanilla_proofs[0][1].labeling_proofs[0].parents[2]";
    refused(top(), &at("/drg_parents/2/column/rows/0"), change, label, why);
    let label = "vanilla_proofs[0][1].labeling_proofs[1].parents[9]";
    refused(top(), &at("/exp_parents/3/column/rows/0"), change, label, why);
    refused(top(), &at("/drg_parents"), pop, &path("drg_parents"), "has 5 elements, expected 6");
    refused(top(), &at("/exp_parents"), pop, &path("exp_parents"), "has 7 elements, expected 8");
    let rows = path("exp_parents[4].column.rows");
    refused(top(), &at("/exp_parents/4/column/rows"), pop, &rows, "has 1 element, expected 2");
    let root = path("drg_parents[5].inclusion_proof.data.Top.root");
    refused(
        top(),
        &at("/drg_parents/5/inclusion_proof/data/Top/root"),
        change,
        &root,
        "the first challenge's",
    );
    let index = path("drg_parents[1].inclusion_proof.data.Top.base_proof.path[0].index");
    let move_by_one = |index: &mut Value| *index = json!(index.as_u64().unwrap() ^ 1);
    refused(top(), &at("/drg_parents/1/column/index"), move_by_one, &index, "the child on the way");
    let index = path("c_x.column.index");
    refused(
        top(),
        &at("/c_x/column/index"),
        |i| *i = json!(1024),
        &index,
        "found 1024 in a sector of 1024 nodes",
    );
    refused(
        top(),
        &at("/c_x/column/index"),
        |i| *i = json!(1_u64 << 32),
        &index,
        "below 2^32, found 4294967296",
    );
}

#[test]
fn labels_must_be_those_of_the_columns() {
    let proof = "/vanilla_proofs/0/0";
    let at = |rest: &str| format!("{proof}/{rest}");
    let path = |rest: &str| format!("vanilla_proofs[0][0].{rest}");
    let why = "the label in the parent's column";
    refused(top(), &at("labeling_proofs/1/parents/36"), change, &path("labeling_proofs[1].parents[36]"), why);
    refused(top(), &at("labeling_proofs/0/parents/12"), change, &path("labeling_proofs[0].parents[12]"), why);
    let parents = path("labeling_proofs[0].parents");
    refused(top(), &at("labeling_proofs/0/parents"), pop, &parents, "has 36 elements, expected 37");
    refused(top(), &at("labeling_proofs"), pop, &path("labeling_proofs"), "has 1 element, expected 2");
    let layer = path("labeling_proofs[1].layer_index");
    refused(
        top(),
        &at("labeling_proofs/1/layer_index"),
        increase,
        &layer,
        "is 3, but the layer at this place is 2",
    );
    let node = path("labeling_proofs[1].node");
    refused(top(), &at("labeling_proofs/1/node"), increase, &node, "the column's index");
    refused(top(), &at("encoding_proof/parents/0"), change, &path("encoding_proof.parents[0]"), why);
    refused(top(), &at("encoding_proof/layer_index"), increase, &path("encoding_proof.layer_index"), "is 3");
    refused(top(), &at("encoding_proof/node"), increase, &path("encoding_proof.node"), "the column's index");
}

#[test]
fn partitions_and_challenges_are_counted() {
    refused(top(), "/vanilla_proofs/0", pop, "vanilla_proofs[0]", "has 1 element, expected 2");
    refused(top(), "/vanilla_proofs", pop, "vanilla_proofs", "has 0 elements, expected 1");
    let double = |list: &mut Value| {
        let first = list[0].clone();
        list.as_array_mut().unwrap().push(first);
    };
    refused(top(), "/vanilla_proofs", double, "vanilla_proofs", "has 2 elements, expected 1");
    let swap = |list: &mut Value| list.as_array_mut().unwrap().swap(0, 1);
    let index = "vanilla_proofs[0][0].replica_column_proofs.c_x.column.index";
    refused(top(), "/vanilla_proofs/0", swap, index, "the challenge that replica_id and seed give");
}

#[test]
fn what_says_the_sector_size_must_agree() {
    let proof = |name| move |value: &mut Value| *value = json!(name);
    let why = "is 8388608, but the sector size that the trees have is 2048";
    refused(api(), "/registered_proof", proof("StackedDrg8MiBV1_1"), "registered_proof", why);
    let known = r#"is "StackedDrg3KiBV1", which is none of ["StackedDrg2KiBV1","#;
    refused(api(), "/registered_proof", proof("StackedDrg3KiBV1"), "registered_proof", known);
    let retag = |value: &mut Value| *value = json!({ "StackedDrg8MiBV1": value["StackedDrg2KiBV1"].take() });
    refused(api(), "/vanilla_proofs", retag, "vanilla_proofs", why);
    let parent = "vanilla_proofs[0][0].replica_column_proofs.drg_parents[0].column.index";
    refused(api(), "/registered_proof", proof("StackedDrg2KiBV1"), parent, "the parent in the graph");
    let challenge = "vanilla_proofs[0][0].replica_column_proofs.c_x.column.index";
    let synthetic = proof("StackedDrg2KiBV1_1_Feat_SyntheticPoRep");
    refused(api(), "/registered_proof", synthetic, challenge, "the challenge that replica_id and seed give");
    let non_interactive = proof("StackedDrg2KiBV1_2_Feat_NonInteractivePoRep");
    refused(api(), "/registered_proof", non_interactive, "vanilla_proofs", "has 1 element, expected 13");

    let lotus: Value = serde_json::from_slice(LOTUS_JSON).unwrap();
    let why = "is 2049, but the sector size that the trees have is 2048";
    refused(lotus, "/SectorSize", increase, "SectorSize", why);
}

#[test]
fn values_of_another_type_are_named() {
    let bytes = "expected a list of 32 bytes, found ";
    refused(top(), "/ticket", pop, "ticket", &format!("{bytes}`]`"));
    refused(top(), "/ticket", |v| v.as_array_mut().unwrap().push(json!(1)), "ticket", &format!("{bytes}`,`"));
    refused(top(), "/ticket", |v| *v = json!("00"), "ticket", &format!("{bytes}`\"`"));
    for (value, found) in [
        (json!(256), "256"),
        (json!(-1), "`-`"),
        (json!(1.5), "1.5"),
        (json!(u64::MAX), "18446744073709551615"),
        (json!(null), "`n`"),
        (json!("1"), "`\"`"),
    ] {
        let why = format!("expected a byte, found {found}");
        refused(top(), "/ticket/31", |v| *v = value, "ticket[31]", &why);
    }
    refused(top(), "/vanilla_proofs", |v| *v = json!(7), "vanilla_proofs", "expected a list, found `7`");
    refused(top(), "/vanilla_proofs/0/0", |v| *v = json!([]), "vanilla_proofs[0][0]", "expected an object");
    let field = |name: &'static str| move |v: &mut Value| drop(v.as_object_mut().unwrap().remove(name));
    refused(top(), "", field("seed"), "seed", "is missing");
    let column = "/vanilla_proofs/0/0/replica_column_proofs/exp_parents/7/column";
    let path = "vanilla_proofs[0][0].replica_column_proofs.exp_parents[7].column.rows";
    refused(top(), column, field("rows"), path, "is missing");
    refused(top(), "", field("vanilla_proofs"), "the input", "neither `vanilla_proofs` nor `Phase1Out`");
    let twice = String::from_utf8(serde_json::to_vec(&top()).unwrap()).unwrap();
    let twice = twice.replacen("\"index\":", "\"index\":0,\"index\":", 1);
    let path = "vanilla_proofs[0][0].comm_d_proofs.data.Single.path.path[0].index (byte ";
    let error = refusal(twice.as_bytes());
    assert!(error.starts_with(path) && error.ends_with("is there twice"), "{error}");
}

#[test]
fn what_decoding_leaves_out_is_checked_in_the_trees() {
    let columns = "/vanilla_proofs/0/1/replica_column_proofs";
    for (pointer, path, why) in [
        ("/c_x/inclusion_proof/data/Top/leaf", "c_x.inclusion_proof.leaf", "the hash of the labels"),
        ("/exp_parents/3/column/rows/1", "exp_parents[3].inclusion_proof.leaf", "the hash of the labels"),
        (
            "/drg_parents/2/inclusion_proof/data/Top/base_proof/path/1/hashes/6",
            "drg_parents[2].inclusion_proof",
            "must reach",
        ),
        (
            "/exp_parents/0/inclusion_proof/data/Top/top_proof/path/0/hashes/0",
            "exp_parents[0].inclusion_proof",
            "must reach",
        ),
    ] {
        let mut value = top();
        change(value.pointer_mut(&format!("{columns}{pointer}")).unwrap());
        let c1 = c1::decode(&serde_json::to_vec(&value).unwrap()[..]).unwrap();
        let error = c1::check_trees(&c1).unwrap_err().to_string();
        let path = format!("vanilla_proofs[0][1].replica_column_proofs.{path}: ");
        assert!(error.starts_with(&path) && error.contains(why), "{path}: {error}");
    }
    let mut value = top();
    change(
        value
            .pointer_mut("/vanilla_proofs/0/1/comm_r_last_proof/data/Top/sub_proof/path/0/hashes/3")
            .unwrap(),
    );
    let c1 = c1::decode(&serde_json::to_vec(&value).unwrap()[..]).unwrap();
    let error = c1::check_trees(&c1).unwrap_err().to_string();
    assert!(error.starts_with("vanilla_proofs[0][1].comm_r_last_proof: "), "{error}");
}

#[test]
fn what_is_no_c1_is_called_what_it_is() {
    for (input, why) in [
        (&b""[..], "the input is empty"),
        (b" \n", "the input is empty"),
        (b"<!DOCTYPE html><html>502 Bad Gateway", "an HTML page"),
        (b"version https://git-lfs.github.com/spec/v1", "it starts with \"version https://\""),
        (b"\x7fELF\x02\x01", "it starts with \"\\x7fELF\\x02\\x01\""),
        (b"[1,2,3]", "expected an object, found `[`"),
        (b"{}", "neither `vanilla_proofs` nor `Phase1Out`"),
        (b"{\"a\":1} x", "neither"),
        (b"{\"comm_r\":", "it is truncated"),
        (b"{\"Phase1Out\":null}", "Phase1Out (byte 13 of the lotus JSON): expected a string, found `n`"),
        (b"{\"Phase1Out\":\"\"}", "the input is empty"),
        (b"{\"Phase1Out\":\"****\"}", "Invalid symbol 42"),
        (b"{\"Phase1Out\":\"e30=\"}", "neither"),
        (
            b"{\"SectorNum\":-1}",
            "SectorNum (byte 13 of the JSON): expected an unsigned integer below 2^64, found `-`",
        ),
        (b"\x1f\x8b\x08\x00\x00", "it is truncated"),
        (b"\x1f\x8bxxxxxxxxxxxxxxxxxx", "gzip"),
        (b"\x28\xb5\x2f\xfdxxxxxxxxxxxxxxxxxx", "zstd"),
    ] {
        let error = refusal(input);
        assert!(error.contains(why), "{}: {error}", input.escape_ascii());
    }
    let trailing = [&serde_json::to_vec(&top()).unwrap()[..], b" }"].concat();
    assert!(refusal(&trailing).contains("expected the end of the input, found `}`"));
    let trailing = [encode(&c1::decode(LOTUS_JSON).unwrap(), Encoding::ProofsBincode), vec![9]].concat();
    assert!(refusal(&trailing).contains("expected the end of the input, found 0x09"));
}

#[test]
fn truncated_input_is_called_truncated() {
    let c1 = c1::decode(LOTUS_JSON).unwrap();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(LOTUS_JSON).unwrap();
    let inputs = [
        (encode(&c1, Encoding::ProofsJson), "filecoin-proofs JSON"),
        (encode(&c1, Encoding::ApiJson), "filecoin-proofs-api JSON"),
        (encode(&c1, Encoding::LotusJson), "lotus JSON"),
        (encode(&c1, Encoding::ProofsBincode), "filecoin-proofs bincode"),
        (encode(&c1, Encoding::ApiBincode), "filecoin-proofs-api bincode"),
        (gz.finish().unwrap(), "lotus JSON in gzip"),
        (zstd::encode_all(LOTUS_JSON, 1).unwrap(), "lotus JSON in zstd"),
    ];
    for (whole, encoding) in inputs {
        c1::decode(&whole[..]).unwrap();
        for at in [whole.len() / 10, whole.len() / 2, whole.len() * 9 / 10, whole.len() - 1] {
            match c1::decode(&whole[..at]) {
                Err(InputError::Invalid { location, problem: Problem::Truncated }) => {
                    let layers = location.layers.to_string();
                    let recognised = layers.ends_with(encoding) || encoding.ends_with(&layers);
                    assert!(location.offset.is_some() && recognised, "{encoding}: {layers}");
                }
                other => panic!("{encoding}, {at} of {} bytes: {other:?}", whole.len()),
            }
        }
    }
}

#[test]
fn lengths_are_not_believed() {
    let bincode = encode(&c1::decode(LOTUS_JSON).unwrap(), Encoding::ProofsBincode);
    // Two lengths, a tag, root and leaf lie before the length of the first path.
    let mut huge = bincode.clone();
    huge[84..92].copy_from_slice(&u64::MAX.to_le_bytes());
    let path =
        "vanilla_proofs[0][0].comm_d_proofs.data.Single.path.path (byte 84 of the filecoin-proofs bincode)";
    assert_eq!(refusal(&huge), format!("{path}: has 18446744073709551615 elements, and the limit is 31"));
    let mut tag = bincode;
    tag[16..20].copy_from_slice(&1_u32.to_le_bytes());
    assert!(c1::decode(&tag[..]).is_err());
}

#[test]
fn nesting_is_limited() {
    let deep = [b"{\"later\":", &b"[".repeat(1 << 20)[..]].concat();
    assert!(
        refusal(&deep).contains("more than 128 lists and objects lie one within another"),
        "{}",
        refusal(&deep)
    );
    let mut zipped = LOTUS_JSON.to_vec();
    for _ in 0..8 {
        zipped = zstd::encode_all(&zipped[..], 1).unwrap();
    }
    assert!(refusal(&zipped).contains("more than 5"), "{}", refusal(&zipped));
}

/// A source that fails is not the C1's fault.
#[test]
fn a_source_that_fails_is_told_from_a_wrong_c1() {
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::from(io::ErrorKind::PermissionDenied))
        }
    }
    let error = c1::decode(LOTUS_JSON[..100_000].chain(Failing)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Resource);
    assert!(error.to_string().contains("permission denied"), "{error}");
    // A folder opens as a file does, and cannot be read.
    let folder = std::fs::File::open(env!("CARGO_MANIFEST_DIR")).unwrap();
    assert_eq!(c1::decode(folder).unwrap_err().kind(), ErrorKind::Input);
}

/// 1 GiB of white space in 32 KiB.
#[test]
fn a_decompression_bomb_ends_at_the_limit() {
    let spaces = b"{".chain(io::repeat(b' ')).take(input::MAX_BYTES + (1 << 20));
    let bomb = zstd::encode_all(spaces, 1).unwrap();
    assert!(bomb.len() < 1 << 18);
    let error = refusal(&bomb);
    assert!(error.contains("longer than 1073741824 bytes when decompressed"), "{error}");
}

/// Bytes changed at random, from printed seeds, in every encoding: an error or a C1, never a panic.
#[test]
fn mutated_input_never_panics() {
    let c1 = c1::decode(LOTUS_JSON).unwrap();
    let mut zipped = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    zipped.write_all(&encode(&c1, Encoding::ProofsBincode)).unwrap();
    let inputs = [
        encode(&c1, Encoding::ProofsJson),
        encode(&c1, Encoding::ApiJson),
        encode(&c1, Encoding::LotusJson),
        encode(&c1, Encoding::ProofsBincode),
        encode(&c1, Encoding::ApiBincode),
        serde_json::to_vec_pretty(&top()).unwrap(),
        zipped.finish().unwrap(),
    ];
    let mut accepted = 0;
    for (i, input) in inputs.iter().enumerate() {
        for seed in 0..400 {
            let mut bytes = input.clone();
            mutate(&mut bytes, &mut ChaCha8Rng::seed_from_u64(seed));
            let result = std::panic::catch_unwind(|| c1::decode(&bytes[..]).map(|c1| c1::check_trees(&c1)));
            accepted += usize::from(result.unwrap_or_else(|_| panic!("input {i}, seed {seed}")).is_ok());
        }
    }
    println!("{accepted} of {} mutants still read", 400 * inputs.len());
}

fn mutate(bytes: &mut Vec<u8>, rng: &mut ChaCha8Rng) {
    const WORDS: [&[u8]; 12] = [
        b"[",
        b"]",
        b"{",
        b"}",
        b"\"",
        b",",
        b"null",
        b"-1",
        b"999999999999999999999",
        b"\\",
        b"\0\0\0\0\0\0\0\x01",
        b"\xff\xff\xff\xff",
    ];
    for _ in 0..rng.gen_range(1..4) {
        // Near the start as often as anywhere.
        let end = if rng.gen_bool(0.5) { bytes.len().min(400) } else { bytes.len() };
        let at = rng.gen_range(0..end.max(1));
        let to = (at + rng.gen_range(1..64)).min(bytes.len());
        match rng.gen_range(0..5) {
            0 if at < bytes.len() => bytes[at] ^= 1 << rng.gen_range(0..8),
            1 => drop(bytes.drain(at.min(to)..to)),
            2 => bytes.truncate(at),
            3 => drop(bytes.splice(at..at, WORDS[rng.gen_range(0..WORDS.len())].iter().copied())),
            _ => {
                let copy = bytes[at.min(to)..to].to_vec();
                let into = rng.gen_range(0..=bytes.len());
                bytes.splice(into..into, copy);
            }
        }
    }
}
