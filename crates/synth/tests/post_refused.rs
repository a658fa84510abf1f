//! Vanilla proofs of spacetime that are wrong: each kind of fault, and where it
//! is said to be.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use std::ops::ControlFlow;
use std::panic::catch_unwind;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cuzk_pipeline_core::ErrorKind;
use cuzk_synth::fixture::SparsePost;
use cuzk_synth::input::{self, InputError, Problem};
use cuzk_synth::post::{self, Encoding, Known};
use cuzk_synth::{c1, fixture, snap};
use cuzk_values::{Post, PostKind, PostVersion};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

fn encode(post: &Post, encoding: Encoding) -> Vec<u8> {
    let mut bytes = Vec::new();
    post::encode(post, encoding, &mut bytes).unwrap();
    bytes
}

fn window() -> Post {
    SparsePost::new(PostKind::Window, 2 << 10, 7).unwrap().first_sector(40).build()
}

/// As JSON to be tampered with.
fn request() -> Value {
    serde_json::from_slice(&encode(&window(), Encoding::Json)).unwrap()
}

fn refusal(bytes: &[u8], known: &Known) -> String {
    let error = post::decode(bytes, known).expect_err("a PoSt that is wrong");
    assert_eq!(error.kind(), ErrorKind::Input, "{error}");
    // The reader of any kind says the same.
    let any = input::Known { post: *known, ..input::Known::default() };
    assert!(input::decode(bytes, &any).is_err(), "{error}");
    error.to_string()
}

/// The error must start with `path` and contain `why`.
#[track_caller]
fn starts(error: &str, path: &str, why: &str) {
    let rest = error.strip_prefix(path).unwrap_or_else(|| panic!("{path}: {error}"));
    assert!(rest.starts_with([' ', ':']), "{path}: {error}");
    assert!(error.contains(why), "{why}: {error}");
}

/// A change of one field of the object.
#[track_caller]
fn field(name: &str, value: Value, path: &str, why: &str) {
    let mut request = request();
    request[name] = value;
    starts(&refusal(request.to_string().as_bytes(), &Known::default()), path, why);
}

/// A change of the bytes of the second sector's proof.
#[track_caller]
fn proof(edit: impl FnOnce(&mut Vec<u8>), path: &str, why: &str) {
    let mut request = request();
    let text = &mut request["vanilla_proofs"][1];
    let mut bytes = STANDARD.decode(text.as_str().unwrap()).unwrap();
    edit(&mut bytes);
    *text = json!(STANDARD.encode(bytes));
    starts(&refusal(request.to_string().as_bytes(), &Known::default()), path, why);
}

#[test]
fn what_a_bare_form_does_not_say_must_be_given() {
    let post = window();
    let all = Known {
        version: Some(post.version),
        prover_id: Some(post.prover_id),
        randomness: Some(post.randomness),
        ..Known::default()
    };
    for encoding in [Encoding::List, Encoding::Bincode] {
        let bytes = encode(&post, encoding);
        post::decode(&bytes[..], &all).unwrap();
        let why = "the input does not say: it has to be given";
        starts(&refusal(&bytes, &Known { version: None, ..all }), "registered_proof", why);
        starts(&refusal(&bytes, &Known { prover_id: None, ..all }), "miner_id", why);
        starts(&refusal(&bytes, &Known { randomness: None, ..all }), "randomness", why);
    }
    // The one that Go calls 1.1, by its name, is enough.
    let mut request = request();
    for name in ["kind", "version", "sector_size", "partition_index"] {
        request.as_object_mut().unwrap().remove(name);
    }
    request["registered_proof"] = json!("StackedDrgWindow2KiBV1_1");
    assert!(post::decode(request.to_string().as_bytes(), &Known::default()).unwrap() == post);
    request["registered_proof"] = json!(10);
    assert!(post::decode(request.to_string().as_bytes(), &Known::default()).unwrap() == post);
}

#[test]
fn what_is_said_and_what_is_given_must_agree() {
    let bytes = encode(&window(), Encoding::Json);
    let other = Some([1; 32]);
    let refused = |known, path, why| starts(&refusal(&bytes, &known), path, why);
    let known = Known::default();
    refused(Known { kind: Some(PostKind::Winning), ..known }, "kind", "is window-post, not winning-post");
    refused(
        Known { version: Some(PostVersion::V1), ..known },
        "version",
        "is V1_1, but the value given is V1",
    );
    refused(
        Known { sector_size: Some(8 << 20), ..known },
        "sector_size",
        "is 2048, but the value given is 8388608",
    );
    refused(Known { prover_id: other, ..known }, "miner_id", "0xe807000000");
    refused(Known { randomness: other, ..known }, "randomness", "but the value given is 0x0101");
    refused(Known { partition: Some(3), ..known }, "partition_index", "is 0, but the value given is 3");

    field(
        "kind",
        json!("winning-post"),
        "kind",
        "is winning-post, but that of the registered proof is window-post",
    );
    field("kind", json!("snap"), "kind", "is snap, not window-post or winning-post");
    field(
        "kind",
        json!("porep"),
        "kind",
        r#"is "porep", which is none of ["window-post", "winning-post", "snap"]"#,
    );
    field("version", json!("V1"), "version", "is V1, but that of the registered proof is V1_1");
    field("sector_size", json!(4096), "sector_size", "is 4096, but that of the registered proof is 2048");
    let why = "a registered proof of spacetime: 0 to 14, or a name as StackedDrgWindow32GiBV1_1, found";
    field("registered_proof", json!(15), "registered_proof", why);
    field("registered_proof", json!("StackedDrg2KiBV1"), "registered_proof", why);
    field(
        "registered_proof",
        json!("StackedDrgWindow8MiBV1_2"),
        "sector_size",
        "is 2048, but that of the registered proof is 8388608",
    );
    field("prover_id", json!("00".repeat(32)), "prover_id", "`miner_id` and `prover_id`");
}

/// Sizes that no registered proof is for are told by their paths.
#[test]
fn the_size_that_is_said_must_be_the_paths() {
    let post = SparsePost::new(PostKind::Window, 4 << 10, 1).unwrap().build();
    let mut request: Value = serde_json::from_slice(&encode(&post, Encoding::Json)).unwrap();
    assert_eq!(request.get("registered_proof"), None);
    request["sector_size"] = json!(2048);
    let error = refusal(request.to_string().as_bytes(), &Known::default());
    starts(&error, "sector_size", "is 2048, but the sector size that the trees have is 4096");
}

#[test]
fn scalars_must_be_canonical() {
    let mut high = [7; 32];
    high[31] = 0xff;
    let why = "miners clear the two highest bits of randomness (byte 31 & 0x3f)";
    field("randomness", json!(high), "randomness", why);
    let known = Known {
        randomness: Some(high),
        version: Some(PostVersion::V1_1),
        prover_id: Some([0; 32]),
        ..Known::default()
    };
    starts(&refusal(&encode(&window(), Encoding::Bincode), &known), "randomness", why);
    let mut request = request();
    request.as_object_mut().unwrap().remove("miner_id");
    request["prover_id"] = json!(high);
    let why = "is not below the field's modulus";
    starts(&refusal(request.to_string().as_bytes(), &Known::default()), "prover_id", why);
    let at = "vanilla_proofs[1].vanilla_proof.sectors[0].inclusion_proofs[0].data.Single.path.path[0].hashes[0] of sector 41 \
              (byte 140 of the PoSt bincode in base64 in PoSt JSON)";
    proof(|bytes| bytes[140..172].fill(0xff), at, why);
    proof(|bytes| bytes[39] = 0xff, "vanilla_proofs[1].comm_r of sector 41 (byte 8", why);
}

#[test]
fn hashes_come_in_hex_in_base64_or_as_a_list() {
    let post = window();
    let hex: String = post
        .randomness
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from_digit(digit.into(), 16).unwrap().to_ascii_uppercase())
        .collect();
    let base64 = STANDARD.encode(post.randomness);
    let forms = [
        json!(hex),
        json!(format!("0x{hex}")),
        json!(base64.trim_end_matches('=')),
        json!(base64),
        json!(post.randomness),
    ];
    for form in forms {
        let mut request = request();
        request["randomness"] = form;
        assert!(post::decode(request.to_string().as_bytes(), &Known::default()).unwrap() == post);
    }
    let why = "expected 32 bytes, in hex, in base64 or as a list, found";
    for wrong in
        [json!(&hex[1..]), json!(format!("{hex}00")), json!(""), json!("x".repeat(64)), json!("=".repeat(44))]
    {
        field("randomness", wrong, "randomness", why);
    }
    field("randomness", json!(7), "randomness", "expected a list of 32 bytes, found `7`");
}

/// Offsets in a sector's proof: number 0, `comm_r` 8, sectors 40, challenges 48;
/// then of 556 bytes each: tag 0, root 4, leaf 36, levels 68; hashes 76, index 308.
#[test]
fn shapes_must_be_those_of_the_size() {
    let at = "vanilla_proofs[1].vanilla_proof";
    let in_path = |rest: &str| format!("{at}.sectors[0].inclusion_proofs[0].data.Single.{rest}");
    proof(|b| b[40] = 0, &format!("{at}.sectors"), "has 0 elements, expected 1");
    proof(|b| b[40] = 2, &format!("{at}.sectors"), "has 2 elements, and the limit is 1");
    proof(
        |b| b[48] = 67,
        &format!("{at}.sectors[0].inclusion_proofs"),
        "has 67 elements, and the limit is 66",
    );
    proof(|b| b[56] = 3, &format!("{at}.sectors[0].inclusion_proofs[0].data"), "variant 3");
    let sub = format!("{at}.sectors[0].inclusion_proofs[0].data.Sub.base_proof.path");
    proof(|b| b[56] = 1, &sub, "elements, and the limit is 31");
    proof(|b| b[56 + 68] = 32, &in_path("path.path"), "has 32 elements, and the limit is 31");
    proof(|b| b[56 + 76] = 8, &in_path("path.path[0].hashes"), "has 8 elements, and the limit is 7");
    proof(|b| b[56 + 308] = 8, &in_path("path.path[0].index"), "the index of a child, found 8 of 8 children");
    proof(|b| b[56 + 315] = 1, &in_path("path.path[0].index"), "of 8 children");
    proof(
        |b| b[56 + 556 + 4] ^= 1,
        &format!("{at}.sectors[0].inclusion_proofs[1].data.Single.root"),
        "the first challenge's",
    );
    proof(
        |b| {
            b[48] = 9;
            drop(b.drain(56..56 + 556));
        },
        &format!("{at}.sectors[0].inclusion_proofs of sector 41"),
        "has 9 elements, expected 10",
    );
    // One level less than any size has.
    proof(
        |b| {
            for i in (0..10).rev() {
                let path = 56 + 556 * i;
                b[path + 68] = 1;
                drop(b.drain(path + 316..path + 556));
            }
        },
        &in_path("path.path"),
        "has 1 element, expected 2",
    );
    proof(|b| b.push(0), "vanilla_proofs[1]", "expected the end of the input, found 0x00");
    let cut = format!(
        "{at}.sectors[0].inclusion_proofs[1].data.Single.path.path[0].hashes[6] of sector 41 (byte 900 of"
    );
    proof(|b| b.truncate(900), &cut, "truncated");
}

/// Whatever the bytes are, and wherever the kind stands.
#[test]
fn another_kind_is_said_before_anything_of_the_proofs() {
    let of_window = |kind| Known { kind: Some(kind), ..Known::default() };
    let mut request = request();
    request["vanilla_proofs"] = json!(["nonsense"]);
    let text = |request: &Value| {
        let kind = format!("{{\"kind\":{},", request["kind"]);
        request.to_string().replacen('{', &kind, 1).replacen(&format!(",\"kind\":{}", request["kind"]), "", 1)
    };
    let error = refusal(text(&request).as_bytes(), &of_window(PostKind::Winning));
    starts(&error, "kind (byte 8 of the JSON)", "is window-post, not winning-post");
    request["kind"] = json!("snap");
    let error = refusal(text(&request).as_bytes(), &Known::default());
    starts(&error, "kind (byte 8 of the JSON)", "is snap, not window-post or winning-post");

    // Nothing says the kind but the bytes.
    let mut bare = Vec::new();
    let update = fixture::snap(2 << 10, 1).unwrap();
    for encoding in [snap::Encoding::List, snap::Encoding::Bincode] {
        bare.clear();
        snap::encode(&update, encoding, &mut bare).unwrap();
        let error = post::decode(&bare[..], &Known::default()).unwrap_err().to_string();
        assert!(error.contains("is an update's proof, not a PoSt's"), "{error}");
    }
    let mut c1 = Vec::new();
    c1::encode(&fixture::porep(2 << 10, 1).unwrap(), c1::Encoding::LotusJson, &mut c1).unwrap();
    let error = post::decode(&c1[..], &Known::default()).unwrap_err().to_string();
    starts(&error, "Phase1Out", "is of a C1, not the vanilla proofs of a PoSt or an update");
    let error = c1::decode(&encode(&window(), Encoding::Json)[..]).unwrap_err().to_string();
    starts(&error, "the input", "is the vanilla proofs of a PoSt or an update, not a C1");
}

#[test]
fn sectors_are_counted() {
    let bytes = encode(&window(), Encoding::Bincode);
    let post = window();
    let known = Known {
        version: Some(post.version),
        prover_id: Some(post.prover_id),
        randomness: Some(post.randomness),
        ..Known::default()
    };
    starts(
        &refusal(&[&bytes[..], &bytes].concat(), &known),
        "vanilla_proofs",
        "has 4 elements, and the limit is 2",
    );
    let mut request = request();
    request["vanilla_proofs"] = json!([]);
    let error = refusal(request.to_string().as_bytes(), &Known::default());
    starts(&error, "vanilla_proofs", "expected the proof of at least one sector, found none");
    request["vanilla_proofs"] = json!([""]);
    let any = input::decode(request.to_string().as_bytes(), &input::Known::default());
    starts(&any.unwrap_err().to_string(), "vanilla_proofs[0]", "the input is empty");
    request["vanilla_proofs"] = json!([[]]);
    let error = refusal(request.to_string().as_bytes(), &Known::default());
    starts(&error, "vanilla_proofs[0]", "is a C1's partition, not a list of proofs in base64");
    request.as_object_mut().unwrap().remove("vanilla_proofs");
    let error = refusal(request.to_string().as_bytes(), &Known::default());
    starts(&error, "the input", "has neither `vanilla_proofs` nor");

    let winning = fixture::winning_post(2 << 10, 1).unwrap();
    let mut request: Value = serde_json::from_slice(&encode(&winning, Encoding::Json)).unwrap();
    request["partition_index"] = json!(1);
    let error = refusal(request.to_string().as_bytes(), &Known::default());
    starts(&error, "partition_index", "is 1, but the only partition of a WinningPoSt is 0");
    let twice = request["vanilla_proofs"][0].clone();
    request["partition_index"] = json!(0);
    request["vanilla_proofs"].as_array_mut().unwrap().push(twice);
    let error = refusal(request.to_string().as_bytes(), &Known::default());
    starts(&error, "vanilla_proofs", "has 2 elements, and the limit is 1");
    // A window's proof where a WinningPoSt is asked for.
    request["vanilla_proofs"] = self::request()["vanilla_proofs"].clone();
    request["vanilla_proofs"].as_array_mut().unwrap().pop();
    let error = refusal(request.to_string().as_bytes(), &Known::default());
    starts(
        &error,
        "vanilla_proofs[0].vanilla_proof.sectors[0].inclusion_proofs of sector 40",
        "has 10 elements, expected 66",
    );
}

#[test]
fn challenges_must_be_those_of_the_randomness() {
    let path = "vanilla_proofs[0].vanilla_proof.sectors[0].inclusion_proofs[0] of sector 40";
    let why = "the challenge that the randomness, the sector's number and the version give";
    field("randomness", json!("11".repeat(32)), path, why);
    let path = "vanilla_proofs[1].vanilla_proof.sectors[0].inclusion_proofs[3] of sector 41";
    proof(|b| b[56 + 3 * 556 + 308] ^= 1, path, why);
    // The number of another sector.
    proof(|b| b[0] += 1, "vanilla_proofs[1].vanilla_proof.sectors[0].inclusion_proofs[0] of sector 42", why);
    // The first sector is the same in both versions.
    let mut request = request();
    request["registered_proof"] = json!("StackedDrgWindow2KiBV1");
    request["version"] = json!("V1");
    let error = refusal(request.to_string().as_bytes(), &Known::default());
    starts(&error, "vanilla_proofs[1].vanilla_proof.sectors[0].inclusion_proofs[0] of sector 41", why);
}

#[test]
fn commitments_must_follow_from_one_another() {
    let at = "vanilla_proofs[1].comm_r of sector 41";
    proof(|b| b[8] ^= 1, at, "the hash of comm_c and comm_r_last");
    let end = 56 + 10 * 556;
    proof(|b| b[end] ^= 1, at, "the hash of comm_c and comm_r_last");
    let last = "vanilla_proofs[1].vanilla_proof.sectors[0].comm_r_last of sector 41";
    proof(|b| b[end + 32] ^= 1, last, "the root of the sector's paths");
}

#[test]
fn what_decoding_leaves_out_is_checked_in_the_trees() {
    let post = window();
    for change in 0..2 {
        let mut changed = post.clone();
        let path = &mut changed.sectors[1].challenges[6];
        if change == 0 {
            path.leaf[0] ^= 1;
        } else {
            path.siblings[13][0] ^= 1;
        }
        let read = post::decode(&encode(&changed, Encoding::Json)[..], &Known::default()).unwrap();
        let error = post::check_trees(&read).unwrap_err().to_string();
        let path = "vanilla_proofs[1].vanilla_proof.sectors[0].inclusion_proofs[6] of sector 41";
        starts(&error, path, "the root that the path must reach");
    }
    // Sectors are checked some at a time.
    let mut many = SparsePost::new(PostKind::Window, 32 << 30, 1).unwrap().sectors(6).build();
    many.sectors[5].challenges[2].siblings[69][0] ^= 1;
    let error = post::check_trees(&many).unwrap_err().to_string();
    let path = "vanilla_proofs[5].vanilla_proof.sectors[0].inclusion_proofs[2] of sector 6";
    starts(&error, path, "the root that the path must reach");

    let watched = post::check_trees_watched(&post, &|progress: input::Progress| {
        assert_eq!(progress.total, 20);
        ControlFlow::Break(())
    });
    assert!(matches!(watched, Err(InputError::Cancelled(_))));
    let last = std::sync::atomic::AtomicU64::new(0);
    post::check_trees_watched(&post, &|progress: input::Progress| {
        last.fetch_max(progress.done, std::sync::atomic::Ordering::Relaxed);
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(last.into_inner(), 20);
}

#[test]
fn truncated_input_is_called_truncated() {
    let post = window();
    let known = Known {
        version: Some(post.version),
        prover_id: Some(post.prover_id),
        randomness: Some(post.randomness),
        ..Known::default()
    };
    for encoding in [Encoding::Json, Encoding::List, Encoding::Bincode] {
        let whole = encode(&post, encoding);
        // Between two sectors a concatenation may end.
        for at in [700, whole.len() / 3, whole.len() * 9 / 10, whole.len() - 3] {
            match post::decode(&whole[..at], &known) {
                Err(InputError::Invalid { location, problem: Problem::Truncated }) => {
                    assert!(location.offset.is_some());
                }
                other => panic!("{encoding}, {at} of {} bytes: {other:?}", whole.len()),
            }
        }
    }
}

/// Bytes changed at random, from printed seeds, in every encoding: an error or a
/// PoSt, never a panic.
#[test]
fn mutated_input_never_panics() {
    let (post, winning) = (window(), fixture::winning_post(32 << 10, 1).unwrap());
    let known = Known {
        version: Some(post.version),
        prover_id: Some(c1::prover_id(1000)),
        randomness: Some(post.randomness),
        ..Known::default()
    };
    let mut accepted = 0;
    let inputs = [&post, &winning]
        .map(|post| [Encoding::Json, Encoding::List, Encoding::Bincode].map(|e| encode(post, e)));
    for (i, input) in inputs.concat().into_iter().enumerate() {
        for seed in 0..300 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut bytes = input.clone();
            for _ in 0..rng.gen_range(1..4) {
                // Near the start as often as anywhere.
                let end = if rng.gen_bool(0.5) { bytes.len().min(400) } else { bytes.len() };
                let at = rng.gen_range(0..end.max(1));
                let to = (at + rng.gen_range(1..64)).min(bytes.len());
                match rng.gen_range(0..4) {
                    0 if at < bytes.len() => bytes[at] ^= 1 << rng.gen_range(0..8),
                    1 => drop(bytes.drain(at.min(to)..to)),
                    2 => bytes.truncate(at),
                    _ => {
                        let copy = bytes[at.min(to)..to].to_vec();
                        let into = rng.gen_range(0..=bytes.len());
                        bytes.splice(into..into, copy);
                    }
                }
            }
            let any = input::Known { post: known, ..input::Known::default() };
            let result = catch_unwind(|| {
                let any = input::decode(&bytes[..], &any).map(|input| input.check_trees(&input::unwatched));
                post::decode(&bytes[..], &known).is_ok() | any.is_ok()
            });
            accepted += usize::from(result.unwrap_or_else(|_| panic!("input {i}, seed {seed}")));
        }
    }
    println!("{accepted} mutants still read");
}
