//! Vanilla proofs of updates that are wrong: each kind of fault, and where it is
//! said to be.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use std::ops::ControlFlow;
use std::panic::catch_unwind;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cuzk_pipeline_core::ErrorKind;
use cuzk_synth::fixture;
use cuzk_synth::input::{self, InputError, Problem};
use cuzk_synth::snap::{self, Encoding, Known};
use cuzk_values::Snap;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

fn encode(snap: &Snap, encoding: Encoding) -> Vec<u8> {
    let mut bytes = Vec::new();
    snap::encode(snap, encoding, &mut bytes).unwrap();
    bytes
}

/// Two partitions, trees of three parts.
fn update() -> Snap {
    fixture::snap(32 << 10, 7).unwrap()
}

/// As JSON to be tampered with.
fn request() -> Value {
    serde_json::from_slice(&encode(&update(), Encoding::Json)).unwrap()
}

fn known(snap: &Snap) -> Known {
    Known {
        comm_r_old: Some(snap.comm_r_old),
        comm_r_new: Some(snap.comm_r_new),
        comm_d_new: Some(snap.comm_d_new),
        ..Known::default()
    }
}

fn refusal(bytes: &[u8], known: &Known) -> String {
    let error = snap::decode(bytes, known).expect_err("an update that is wrong");
    assert_eq!(error.kind(), ErrorKind::Input, "{error}");
    // The reader of any kind says the same.
    let any = input::Known { snap: *known, ..input::Known::default() };
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

/// A change of the bytes of the second partition's proof.
#[track_caller]
fn proof(edit: impl FnOnce(&mut Vec<u8>), path: &str, why: &str) {
    let mut request = request();
    let text = &mut request["vanilla_proofs"][1];
    let mut bytes = STANDARD.decode(text.as_str().unwrap()).unwrap();
    edit(&mut bytes);
    *text = json!(STANDARD.encode(bytes));
    starts(&refusal(request.to_string().as_bytes(), &Known::default()), path, why);
}

/// A change of the update itself.
#[track_caller]
fn changed(edit: impl FnOnce(&mut Snap), path: &str, why: &str) {
    let mut snap = update();
    edit(&mut snap);
    starts(&refusal(&encode(&snap, Encoding::Json), &Known::default()), path, why);
}

#[test]
fn what_a_bare_form_does_not_say_must_be_given() {
    let snap = update();
    let all = known(&snap);
    for encoding in [Encoding::List, Encoding::Bincode] {
        let bytes = encode(&snap, encoding);
        assert!(snap::decode(&bytes[..], &all).unwrap() == snap);
        let why = "the input does not say: it has to be given";
        starts(&refusal(&bytes, &Known { comm_r_old: None, ..all }), "comm_r_old", why);
        starts(&refusal(&bytes, &Known { comm_r_new: None, ..all }), "comm_r_new", why);
        starts(&refusal(&bytes, &Known { comm_d_new: None, ..all }), "comm_d_new", why);
        starts(
            &refusal(&bytes, &Known { comm_d_new: Some([1; 32]), ..all }),
            "comm_d_new",
            "the root of the paths",
        );
    }
}

#[test]
fn what_is_said_and_what_is_given_must_agree() {
    let bytes = encode(&update(), Encoding::Json);
    let other = Some([1; 32]);
    let refused = |known, path, why| starts(&refusal(&bytes, &known), path, why);
    let known = Known::default();
    refused(
        Known { sector_size: Some(2048), ..known },
        "sector_size",
        "is 32768, but the value given is 2048",
    );
    refused(Known { comm_r_old: other, ..known }, "comm_r_old", "but the value given is 0x0101");
    refused(Known { comm_r_new: other, ..known }, "comm_r_new", "but the value given is 0x0101");
    refused(Known { comm_d_new: other, ..known }, "comm_d_new", "but the value given is 0x0101");
    refused(Known { high_bits: Some(2), ..known }, "high_bits", "is 1, but the value given is 2");

    field("kind", json!("window-post"), "kind", "is window-post, not snap");
    field("registered_proof", json!(0), "sector_size", "is 32768, but that of the registered proof is 2048");
    let why = "a registered update proof: 0 to 4, or a name as StackedDrg32GiBV1, found";
    field("registered_proof", json!(5), "registered_proof", why);
    field("registered_proof", json!("StackedDrgWindow2KiBV1"), "registered_proof", why);
    let why = "a number of bits that the circuit knows, found 7, where the circuit of 32KiB sectors knows 1";
    field("high_bits", json!(7), "high_bits", why);
    let mut request = request();
    request.as_object_mut().unwrap().remove("sector_size");
    request["registered_proof"] = json!("RegisteredUpdateProof_StackedDrg2KiBV1");
    let error = refusal(request.to_string().as_bytes(), &Known::default());
    starts(&error, "sector_size", "is 2048, but the sector size that the trees have is 32768");
}

/// Offsets in a partition's proof: `comm_c` 0, apex leaves 32, from 40; challenges
/// 4136, from 4144; then the first challenge's old path: tag 0, levels 4, hashes 12.
#[test]
fn shapes_must_be_those_of_the_size() {
    let at = "vanilla_proofs[1]";
    let old = |rest: &str| format!("{at}.challenge_proofs[0].proof_r_old.data{rest}");
    proof(|b| b[0] ^= 1, &format!("{at}.comm_c"), "the first partition's");
    proof(|b| b[31] = 0xff, &format!("{at}.comm_c"), "is not below the field's modulus");
    proof(|b| b[32] = 129, &format!("{at}.apex_leafs"), "has 129 elements, and the limit is 128");
    proof(|b| b[39] = 1, &format!("{at}.apex_leafs"), "elements, and the limit is 128");
    proof(|b| b[4136] = 87, &format!("{at}.challenge_proofs"), "has 87 elements, and the limit is 86");
    proof(|b| b[4144] = 3, &old(""), "variant 3");
    proof(|b| b[4144 + 4] = 32, &old(".Top.base_proof.path"), "has 32 elements, and the limit is 31");
    proof(|b| b[4144 + 12] = 8, &old(".Top.base_proof.path[0].hashes"), "has 8 elements, and the limit is 7");
    proof(|b| b[4144 + 12 + 8 + 224] = 9, &old(".Top.base_proof.path[0].index"), "found 9 of 8 children");
    proof(
        |b| {
            b[32] = 127;
            drop(b.drain(40..72));
        },
        &format!("{at}.apex_leafs"),
        "has 127 elements, expected 128",
    );
    proof(|b| b.push(1), at, "expected the end of the input, found 0x01");

    changed(|s| drop(s.partitions.pop()), "vanilla_proofs", "has 1 element, expected 2");
    changed(
        |s| drop(s.partitions[1].challenges.pop()),
        "vanilla_proofs[1].challenge_proofs",
        "has 9 elements, expected 10",
    );
    let double = |s: &mut Snap| s.partitions.push(s.partitions[0].clone());
    changed(double, "vanilla_proofs", "has 3 elements, expected 2");
    let twenty = |s: &mut Snap| s.partitions = vec![s.partitions[0].clone(); 20];
    changed(twenty, "vanilla_proofs", "has more than 16 elements");
    let mut snap = update();
    snap.partitions = vec![snap.partitions[0].clone(); 17];
    let error = refusal(&encode(&snap, Encoding::Bincode), &known(&snap));
    starts(&error, "vanilla_proofs[16]", "has more than 16 elements");
    changed(
        |s| s.partitions.clear(),
        "vanilla_proofs",
        "expected the proof of at least one partition, found none",
    );
}

/// 1 GiB sectors have C1s and no updates.
#[test]
fn a_sector_without_updates_is_refused() {
    let mut snap = fixture::snap(2 << 10, 1).unwrap();
    let tree = cuzk_values::TreeShape::binary(25);
    let path = cuzk_values::MerkleProof { tree, node: 0, leaf: [0; 32], siblings: vec![[0; 32]; 25].into() };
    snap.partitions[0].challenges[0].data = path;
    let error = refusal(&encode(&snap, Encoding::Json), &Known::default());
    starts(
        &error,
        "vanilla_proofs[0].challenge_proofs[0]",
        "is of a sector of 1073741824 bytes: only sectors of 2KiB, 4KiB, 16KiB, 32KiB, 8MiB, 16MiB, 512MiB, \
         32GiB, 64GiB can be updated",
    );
}

#[test]
fn commitments_must_follow_from_one_another() {
    let why = "the hash of comm_c and the root of the paths in the replica";
    changed(|s| s.comm_r_old[0] ^= 1, "comm_r_old", why);
    changed(|s| s.comm_r_new[0] ^= 1, "comm_r_new", why);
    changed(|s| s.comm_c[0] ^= 1, "comm_r_old", why);
    changed(|s| s.root_r_new[0] ^= 1, "comm_r_new", why);
    field("comm_d_new", json!(vec![1; 32]), "comm_d_new", "the root of the paths `proof_d_new`");
    field("comm_r_old", json!("ff".repeat(32)), "comm_r_old", "is not below the field's modulus");
}

#[test]
fn challenges_must_be_those_of_comm_r_new() {
    let swap = |s: &mut Snap| s.partitions.swap(0, 1);
    changed(swap, "vanilla_proofs[0].challenge_proofs[0].proof_r_old", "the challenge that comm_r_new gives");
    let at = "vanilla_proofs[1].challenge_proofs[4]";
    let why = "the challenge that comm_r_new gives";
    changed(|s| s.partitions[1].challenges[4].data.node ^= 1, &format!("{at}.proof_d_new"), why);
    changed(|s| s.partitions[1].challenges[4].new.node ^= 1, &format!("{at}.proof_r_new"), why);
}

#[test]
fn data_and_replicas_must_belong_together() {
    let at = "vanilla_proofs[1].challenge_proofs[4]";
    let data = format!("{at}.proof_d_new");
    let encoded = format!("{at}.proof_r_new.leaf");
    changed(
        |s| s.partitions[1].challenges[4].new.leaf[0] ^= 1,
        &encoded,
        "the old node plus the data times rho",
    );
    changed(
        |s| s.partitions[1].challenges[4].old.leaf[0] ^= 1,
        &encoded,
        "the old node plus the data times rho",
    );
    // 512 nodes of a chunk lie below 128 apex leaves: two levels.
    changed(|s| s.partitions[1].challenges[4].data.leaf[0] ^= 1, &data, "the apex leaf above it");
    changed(|s| s.partitions[1].challenges[4].data.siblings[1][0] ^= 1, &data, "the apex leaf above it");
    changed(
        |s| s.partitions[1].challenges[4].data.siblings[2][0] ^= 1,
        &data,
        "the root that the path must reach",
    );
    let apex = "vanilla_proofs[1].apex_leafs";
    changed(|s| s.partitions[1].apex_leaves[0][0] ^= 1, apex, "the root that the apex leaves must reach");
    changed(|s| s.partitions[1].apex_leaves.swap(3, 60), apex, "the root that the apex leaves must reach");
}

#[test]
fn what_decoding_leaves_out_is_checked_in_the_trees() {
    let snap = update();
    for (change, name) in ["proof_r_old", "proof_r_new"].into_iter().enumerate() {
        let mut changed = snap.clone();
        let challenge = &mut changed.partitions[1].challenges[9];
        let path = if change == 0 { &mut challenge.old } else { &mut challenge.new };
        path.siblings[20][0] ^= 1;
        let read = snap::decode(&encode(&changed, Encoding::Json)[..], &Known::default()).unwrap();
        let error = snap::check_trees(&read).unwrap_err().to_string();
        starts(
            &error,
            &format!("vanilla_proofs[1].challenge_proofs[9].{name}"),
            "the root that the path must reach",
        );
    }
    let watched = snap::check_trees_watched(&snap, &|progress: input::Progress| {
        assert_eq!(progress.total, 20);
        ControlFlow::Break(())
    });
    assert!(matches!(watched, Err(InputError::Cancelled(_))));
}

#[test]
fn truncated_input_is_called_truncated() {
    let snap = update();
    for encoding in [Encoding::Json, Encoding::List, Encoding::Bincode] {
        let whole = encode(&snap, encoding);
        for at in [900, whole.len() / 3, whole.len() * 9 / 10, whole.len() - 3] {
            match snap::decode(&whole[..at], &known(&snap)) {
                Err(InputError::Invalid { location, problem: Problem::Truncated }) => {
                    assert!(location.offset.is_some());
                }
                other => panic!("{encoding}, {at} of {} bytes: {other:?}", whole.len()),
            }
        }
    }
}

/// Bytes changed at random, from printed seeds, in every encoding: an error or an
/// update, never a panic.
#[test]
fn mutated_input_never_panics() {
    let snap = update();
    let known = known(&snap);
    let any = input::Known { snap: known, ..input::Known::default() };
    let mut accepted = 0;
    for encoding in [Encoding::Json, Encoding::List, Encoding::Bincode] {
        let input = encode(&snap, encoding);
        for seed in 0..400 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut bytes = input.clone();
            for _ in 0..rng.gen_range(1..4) {
                let end = if rng.gen_bool(0.5) { bytes.len().min(5000) } else { bytes.len() };
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
            let result = catch_unwind(|| {
                let any = input::decode(&bytes[..], &any).map(|input| input.check_trees(&input::unwatched));
                snap::decode(&bytes[..], &known).is_ok() | any.is_ok()
            });
            accepted += usize::from(result.unwrap_or_else(|_| panic!("{encoding}, seed {seed}")));
        }
    }
    println!("{accepted} mutants still read");
}
