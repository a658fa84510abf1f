//! Files: whole ones are read as they were made, and by upstream; each kind of
//! broken one has its own error.
#![allow(clippy::unwrap_used, reason = "only tests are here")]

mod common;

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use bellperson::groth16::Parameters;
use blstrs::{Bls12, G1Affine, G2Affine};
use common::{RandomCircuit, random, record};
use cuzk_pipeline_core::{CancelToken, Cx, Stage, Value};
use cuzk_srs::{
    Depth, Digest, Fault, FileKind, Layout, Load, Meta, ParameterFile, ParameterSet, Point, Query, Setup,
    SrsError, Trapdoor, check, encode_key, list, unwatched, verifying_key, write_parameters,
};
use cuzk_values::{Bases, BasesError, QueryLengths, R1cs};
use rand_core::RngCore;
use tempfile::TempDir;

fn circuit() -> RandomCircuit {
    RandomCircuit { inputs: 4, aux: 300, constraints: 200, seed: 7 }
}

/// The circuit's parameters, made once.
static FILE: LazyLock<(R1cs, Vec<u8>)> = LazyLock::new(|| {
    let (r1cs, mut file) = (record(circuit()), Vec::new());
    write_parameters(&r1cs, &Trapdoor::from_seed(3), &mut file, &mut unwatched).unwrap();
    (r1cs, file)
});

fn lengths() -> QueryLengths {
    FILE.0.query_lengths()
}

fn put(bytes: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.params");
    fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn open(bytes: &[u8]) -> Result<ParameterFile, SrsError> {
    let (_folder, path) = put(bytes);
    ParameterFile::open(&path, &lengths())
}

#[test]
fn what_was_made_is_read() {
    let file = open(&FILE.1).unwrap();
    let upstream = Parameters::<Bls12>::read(FILE.1.as_slice(), true).unwrap();
    let key = file.verifying_key();
    assert_eq!(key.ic, upstream.vk.ic);
    assert_eq!(
        (key.alpha_g1, key.beta_g1, key.delta_g1),
        (upstream.vk.alpha_g1, upstream.vk.beta_g1, upstream.vk.delta_g1)
    );
    assert_eq!(
        (key.beta_g2, key.gamma_g2, key.delta_g2),
        (upstream.vk.beta_g2, upstream.vk.gamma_g2, upstream.vk.delta_g2)
    );
    let mapped = file.srs();
    let resident = file.resident(&Query::ALL, &mut unwatched).unwrap();
    for srs in [&mapped, &resident] {
        assert_eq!(srs.lengths(), lengths());
        assert_eq!(all(&srs.h), *upstream.h);
        assert_eq!(all(&srs.l), *upstream.l);
        assert_eq!(all(&srs.a), *upstream.a);
        assert_eq!(all(&srs.b_g1), *upstream.b_g1);
        assert_eq!(all(&srs.b_g2), *upstream.b_g2);
    }
    assert!(!mapped.h.is_resident() && resident.h.is_resident() && resident.b_g2.is_resident());
    let some = file.resident(&[Query::BG2, Query::A], &mut unwatched).unwrap();
    assert!(
        some.a.is_resident() && some.b_g2.is_resident() && !some.h.is_resident() && !some.b_g1.is_resident()
    );
}

fn all<G: Clone + 'static>(bases: &Bases<G>) -> Vec<G> {
    bases.points(0..bases.len()).unwrap().into_owned()
}

#[test]
fn any_range_is_that_part_of_the_whole() {
    let mut random = random();
    let srs = open(&FILE.1).unwrap().srs();
    let (a, b): (Vec<G1Affine>, Vec<G2Affine>) = (all(&srs.a), all(&srs.b_g2));
    for _ in 0..300 {
        let mut range = |len: usize| {
            let (x, y) = (random.next_u32() as usize % (len + 1), random.next_u32() as usize % (len + 1));
            x.min(y)..x.max(y)
        };
        let range_a = range(a.len());
        assert_eq!(*srs.a.points(range_a.clone()).unwrap(), a[range_a]);
        let range_b = range(b.len());
        assert_eq!(*srs.b_g2.points(range_b.clone()).unwrap(), b[range_b]);
    }
    let len = a.len();
    for (start, end) in [(0, len + 1), (len + 1, len + 1), (5, 4), (usize::MAX - 1, usize::MAX)] {
        assert_eq!(srs.a.points(start..end).unwrap_err(), BasesError::Range { start, end, len });
    }
}

#[test]
fn declared_bytes_are_those_held() {
    let file = open(&FILE.1).unwrap();
    for queries in [&[][..], &[Query::H], &[Query::BG2, Query::L], &Query::ALL] {
        let srs = file.resident(queries, &mut unwatched).unwrap();
        assert_eq!(srs.footprint().host, file.resident_bytes(queries), "{queries:?}");
    }
}

#[test]
fn the_stage_loads_and_can_be_cancelled() {
    let file = Arc::new(open(&FILE.1).unwrap());
    let load = Load::new(file.clone(), [Query::H]);
    assert_eq!(load.name(), "srs.load");
    let srs = load.run(&Cx::detached(), ()).unwrap();
    assert!(srs.h.is_resident() && !srs.l.is_resident());
    let cancelled = CancelToken::default();
    cancelled.cancel();
    let stopped = load.run(&Cx::detached().with_cancel(cancelled), ());
    assert!(matches!(stopped, Err(SrsError::Cancelled)));
}

#[test]
fn upstream_maps_what_was_made() {
    let (_folder, path) = put(&FILE.1);
    let mapped = Parameters::<Bls12>::build_mapped_parameters(path, true).unwrap();
    assert_eq!(mapped.h.len(), lengths().h);
    assert_eq!(mapped.b_g2.len(), lengths().b);
}

/// Every length of a file but the right one is an error, whose variant says which way.
#[test]
fn a_cut_file_is_truncated_wherever_it_is_cut() {
    let whole = &FILE.1;
    let layout = Layout::new(&lengths());
    assert_eq!(layout.file_bytes(), whole.len() as u64);
    let step = whole.len() / 500;
    let ends = Query::ALL.map(|query| layout.section(query).end() as usize);
    let near = ends.iter().flat_map(|end| end - 5..end + 5).chain(860..880);
    for size in (1..whole.len()).step_by(step).chain(near).filter(|size| *size < whole.len()) {
        match open(&whole[..size]) {
            Err(SrsError::Truncated { needed, size: found, part, .. }) => {
                assert_eq!(found, size as u64);
                assert!(needed > found, "{part} at {size}");
            }
            other => panic!("{size}: {other:?}"),
        }
    }
}

#[test]
fn each_fault_of_a_file_has_its_error() {
    let whole = &FILE.1;
    assert!(matches!(open(&[]), Err(SrsError::Empty { .. })));
    let longer = [whole.as_slice(), &[0]].concat();
    assert!(matches!(open(&longer), Err(SrsError::Trailing { expected, size, .. }) if expected + 1 == size));

    for page in ["<!DOCTYPE html><html><body>504", "\n  <html>", "<?xml version='1.0'?><Error/>"] {
        assert!(
            matches!(open(page.as_bytes()), Err(SrsError::Html { size, .. }) if size == page.len() as u64)
        );
    }
    for text in
        ["{\"message\": \"no such key\"}", "404 Not Found\n", "version https://git-lfs.github.com/spec/v1"]
    {
        assert!(
            matches!(open(text.as_bytes()), Err(SrsError::Text { start, .. }) if start.contains(&text[..5]))
        );
    }

    let folder = tempfile::tempdir().unwrap();
    let missing = ParameterFile::open(&folder.path().join("none.params"), &lengths()).unwrap_err();
    assert!(missing.to_string().contains("No cached parameters found"), "{missing}");
    assert!(missing.to_string().contains("none.params"), "{missing}");
    let not_a_file = ParameterFile::open(folder.path(), &lengths()).unwrap_err();
    assert!(matches!(not_a_file, SrsError::NotAFile { .. }));
    assert!(not_a_file.to_string().contains("Invalid parameters file"), "{not_a_file}");
}

#[test]
fn another_circuit_is_named_by_what_differs() {
    let (_folder, path) = put(&FILE.1);
    let right = lengths();
    let part = |expected: QueryLengths| match ParameterFile::open(&path, &expected) {
        Err(SrsError::WrongCircuit { part, found, expected, .. }) => (part, found.abs_diff(expected)),
        other => panic!("{other:?}"),
    };
    assert_eq!(part(QueryLengths { inputs: right.inputs + 1, ..right }), ("ic", 1));
    assert_eq!(part(QueryLengths { h: right.h * 2 + 1, ..right }), ("h", right.h as u64 + 1));
    assert_eq!(part(QueryLengths { l: right.l - 1, ..right }), ("l", 1));
    assert_eq!(part(QueryLengths { a: right.a - 1, ..right }), ("a", 1));
    assert_eq!(part(QueryLengths { b: right.b + 7, ..right }), ("b_g1", 7));

    let mut uneven = FILE.1.clone();
    let at = Layout::new(&right).section(Query::BG2).start as usize;
    uneven[at - 1] ^= 1;
    assert!(matches!(open(&uneven), Err(SrsError::WrongCircuit { part: "b_g2", .. })));
}

/// A flipped bit in any count or in the key's points is seen at once.
#[test]
fn a_flipped_bit_in_the_header_is_seen() {
    let layout = Layout::new(&lengths());
    let counts = Query::ALL.map(|query| layout.section(query).start as usize - 4).into_iter().chain([864]);
    let key = (0..layout.vk_bytes() as usize).step_by(31);
    for at in counts.flat_map(|at| at..at + 4).chain(key) {
        for bit in 0..8 {
            let mut bytes = FILE.1.clone();
            bytes[at] ^= 1 << bit;
            assert!(open(&bytes).is_err(), "bit {bit} of byte {at}");
        }
    }
}

#[test]
fn a_bad_point_is_named_wherever_it_is_met() {
    let layout = Layout::new(&lengths());
    for query in Query::ALL {
        let section = layout.section(query);
        let index = section.count / 3;
        let at = section.start as usize + index * section.point_bytes;
        let mut bytes = FILE.1.clone();
        bytes[at + section.point_bytes - 1] ^= 1;
        let (_folder, path) = put(&bytes);

        let file = ParameterFile::open(&path, &lengths()).unwrap();
        let met = |error: BasesError| {
            assert_eq!(error, BasesError::Point { query: query.name(), index, reason: "not on curve" });
        };
        let srs = file.srs();
        match query {
            Query::H => met(srs.h.points(0..section.count).unwrap_err()),
            Query::L => met(srs.l.points(index..index + 1).unwrap_err()),
            Query::A => met(srs.a.points(index - 3..section.count).unwrap_err()),
            Query::BG1 => met(srs.b_g1.points(0..index + 1).unwrap_err()),
            Query::BG2 => met(srs.b_g2.points(1..section.count).unwrap_err()),
        }
        let named = |error: SrsError| {
            let here = |part, i| part == query.name() && i == index;
            assert!(
                matches!(&error, SrsError::Point { part, index, reason: Fault::NotOnCurve, .. } if here(*part, *index)),
                "{error}"
            );
            assert!(error.to_string().contains("Invalid parameters file"), "{error}");
        };
        named(file.resident(&Query::ALL, &mut unwatched).unwrap_err());
        named(check(&path, Some(&lengths()), Depth::Curve, true, &mut unwatched).unwrap_err());
        assert!(check(&path, Some(&lengths()), Depth::Header, false, &mut unwatched).is_ok());
    }
}

/// A point of the curve and not of the subgroup passes all but the deep check.
#[test]
fn the_deep_check_sees_points_outside_the_subgroup() {
    let layout = Layout::new(&lengths());
    let mut random = random();
    for (query, index) in [(Query::H, 0), (Query::A, 17), (Query::BG2, 5)] {
        let section = layout.section(query);
        let mut bytes = FILE.1.clone();
        let place = &mut bytes[section.start as usize + index * section.point_bytes..][..section.point_bytes];
        if query == Query::BG2 {
            outside::<G2Affine>(place, &mut random);
        } else {
            outside::<G1Affine>(place, &mut random);
        }
        let (_folder, path) = put(&bytes);
        assert!(check(&path, Some(&lengths()), Depth::Curve, false, &mut unwatched).is_ok());
        match check(&path, Some(&lengths()), Depth::Subgroup, false, &mut unwatched) {
            Err(SrsError::Point { part, index: at, reason: Fault::NotInSubgroup, .. }) => {
                assert_eq!((part, at), (query.name(), index));
            }
            other => panic!("{other:?}"),
        }
    }
    let (_folder, path) = put(&FILE.1);
    assert!(check(&path, Some(&lengths()), Depth::Subgroup, true, &mut unwatched).is_ok());
}

/// A random point of the curve: compressed bytes that decompress, most of them outside.
fn outside<P: Point>(place: &mut [u8], random: &mut impl RngCore) {
    let mut found = false;
    while !found {
        random.fill_bytes(place);
        place[0] &= 0x1f;
        found = P::BYTES == 96 && {
            let mut compressed: [u8; 48] = place[..48].try_into().unwrap();
            compressed[0] |= 0x80;
            let point = Option::<G1Affine>::from(G1Affine::from_compressed_unchecked(&compressed));
            point.is_some_and(|point| {
                point.encode(place);
                !point.in_subgroup()
            })
        } || P::BYTES == 192 && {
            let mut compressed: [u8; 96] = place[..96].try_into().unwrap();
            compressed[0] |= 0x80;
            compressed[48] &= 0x1f;
            let point = Option::<G2Affine>::from(G2Affine::from_compressed_unchecked(&compressed));
            point.is_some_and(|point| {
                point.encode(place);
                !point.in_subgroup()
            })
        };
    }
}

#[test]
fn a_file_that_changes_is_not_used_on() {
    let (_folder, path) = put(&FILE.1);
    let file = ParameterFile::open(&path, &lengths()).unwrap();
    let srs = file.srs();
    assert!(srs.h.points(0..10).is_ok());
    fs::OpenOptions::new().append(true).open(&path).unwrap().set_len(FILE.1.len() as u64 + 1).unwrap();
    assert!(
        matches!(srs.h.points(0..10), Err(BasesError::Point { reason, .. }) if reason.contains("changed"))
    );
    assert!(matches!(file.resident(&[Query::H], &mut unwatched), Err(SrsError::Changed { .. })));
}

#[test]
fn digests_are_those_of_b2sum() {
    let (folder, path) = put(b"\x00\x01\x02");
    // b2sum -l 512, first 32 digits.
    let known = "40a374727302d9a4769c17b5f409ff32";
    assert_eq!(Digest::of_file(&path, &mut unwatched).unwrap().to_string(), known);
    assert_eq!(known.parse::<Digest>().unwrap(), Digest::of_file(&path, &mut unwatched).unwrap());
    for bad in ["", "40a3", &known.to_uppercase().replace('F', "g"), "+0a374727302d9a4769c17b5f409ff32"] {
        assert!(matches!(bad.parse::<Digest>(), Err(SrsError::Digest { .. })), "{bad}");
    }
    let whole = folder.path().join("whole");
    fs::write(&whole, &FILE.1).unwrap();
    let expected = blake2b_simd::Params::new().hash_length(64).hash(&FILE.1).to_hex()[..32].to_string();
    let mut seen = Vec::new();
    let mut watch = |progress: cuzk_srs::Progress| {
        assert!(progress.done <= progress.total);
        seen.push(progress.part);
        ControlFlow::Continue(())
    };
    for depth in [Depth::Header, Depth::Curve, Depth::Subgroup] {
        let report = check(&whole, None, depth, true, &mut watch).unwrap();
        assert_eq!(report.digest.unwrap().to_string(), expected);
        assert_eq!((report.lengths, report.size), (lengths(), FILE.1.len() as u64));
    }
    assert!(["h", "l", "a", "b_g1", "b_g2"].iter().all(|part| seen.contains(part)));
    let stopped = check(&whole, None, Depth::Curve, true, &mut |_| ControlFlow::Break(()));
    assert!(matches!(stopped, Err(SrsError::Cancelled)));
}

#[test]
fn keys_are_read_and_their_faults_named() {
    let key = open(&FILE.1).unwrap().verifying_key().clone();
    let bytes = encode_key(&key);
    assert_eq!(bytes, FILE.1[..bytes.len()]);
    let read = |bytes: &[u8]| {
        let (_folder, path) = put(bytes);
        verifying_key(&path)
    };
    assert_eq!(read(&bytes).unwrap(), key);
    assert!(matches!(read(&bytes[..bytes.len() - 1]), Err(SrsError::Truncated { part: "ic", .. })));
    assert!(matches!(read(&bytes[..100]), Err(SrsError::Truncated { part: "vk", .. })));
    assert!(matches!(read(&[bytes.as_slice(), &[1]].concat()), Err(SrsError::Trailing { .. })));
    assert!(matches!(read(&[]), Err(SrsError::Empty { .. })));
    let mut outside_subgroup = bytes.clone();
    outside::<G1Affine>(&mut outside_subgroup[868..964], &mut random());
    let error = read(&outside_subgroup).unwrap_err();
    assert!(
        matches!(error, SrsError::Point { part: "ic", index: 0, reason: Fault::NotInSubgroup, .. }),
        "{error}"
    );
}

fn setup(folder: &Path) -> Setup<'_> {
    Setup { folder, stem: "a-circuit", sector_size: 2048, official_names: false, replace: false }
}

#[test]
fn a_setup_makes_three_files_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("made/on/demand");
    let made = setup(&inside).run(&FILE.0, &Trapdoor::from_seed(3), &mut unwatched).unwrap();
    assert_eq!(fs::read(&made.params).unwrap(), FILE.1);
    assert_eq!(made.bytes, FILE.1.len() as u64);
    assert_eq!(
        encode_key(&verifying_key(&made.vk).unwrap()),
        FILE.1[..fs::metadata(&made.vk).unwrap().len() as usize]
    );
    let meta = Meta::read(&made.meta).unwrap();
    let insecure = meta.insecure.unwrap();
    assert_eq!((meta.sector_size, insecure.seed), (2048, Some(3)));
    assert!(insecure.warning.contains("TEST PARAMETERS"));
    assert_eq!(
        names(&inside),
        ["insecure-test-a-circuit.meta", "insecure-test-a-circuit.params", "insecure-test-a-circuit.vk"]
    );
    let entries = list(&inside).unwrap();
    assert_eq!(entries.len(), 3);
    assert!(entries.iter().all(|entry| entry.insecure && entry.problems.is_empty()), "{entries:?}");

    let again = setup(&inside).run(&FILE.0, &Trapdoor::from_seed(4), &mut unwatched);
    assert!(matches!(again, Err(SrsError::Exists { .. })));
    assert_eq!(fs::read(&made.params).unwrap(), FILE.1);
    let replaced = Setup { replace: true, ..setup(&inside) };
    replaced.run(&FILE.0, &Trapdoor::from_seed(4), &mut unwatched).unwrap();
    assert_ne!(fs::read(&made.params).unwrap(), FILE.1);
    assert_eq!(names(&inside).len(), 3);
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// What storage-proofs-core reads of a `.meta` file.
#[derive(serde::Deserialize)]
struct Upstream {
    sector_size: u64,
}

#[test]
fn official_names_are_upstreams_and_marked_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let official = Setup { official_names: true, ..setup(folder.path()) };
    let made = official.run(&FILE.0, &Trapdoor::from_os(), &mut unwatched).unwrap();
    assert_eq!(made.params, folder.path().join("v28-a-circuit.params"));
    let upstream: Upstream = serde_json::from_slice(&fs::read(&made.meta).unwrap()).unwrap();
    assert_eq!(upstream.sector_size, 2048);
    assert_eq!(Meta::read(&made.meta).unwrap().insecure.unwrap().seed, None);
    assert!(list(folder.path()).unwrap().iter().all(|entry| entry.insecure && entry.problems.is_empty()));
    assert!(matches!(ParameterSet::official("../x"), Err(SrsError::Name { .. })));
    let escape = Setup { stem: "../../etc/x", ..setup(folder.path()) };
    assert!(matches!(
        escape.run(&FILE.0, &Trapdoor::from_seed(1), &mut unwatched),
        Err(SrsError::Name { .. })
    ));
}

/// Stopped at every look and refused by every fault, a setup leaves no file.
#[test]
fn a_stopped_setup_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut looks = 0;
    for stop in 0.. {
        let mut look = 0;
        let mut names_seen = Vec::new();
        let result = setup(folder.path()).run(&FILE.0, &Trapdoor::from_seed(3), &mut |_| {
            look += 1;
            names_seen = names(folder.path());
            if look > stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        // Never under its name before it is whole, and marked as partial until then.
        assert!(names_seen.iter().all(|name| FileKind::of(name) == Some((FileKind::Partial, false))));
        if result.is_ok() {
            looks = stop;
            break;
        }
        assert!(names(folder.path()).is_empty());
    }
    assert!(looks > 5);
    let empty = tempfile::tempdir().unwrap();
    let mut bad = record(circuit());
    bad.aux += 1;
    assert!(setup(empty.path()).run(&bad, &Trapdoor::from_seed(3), &mut unwatched).is_err());
    assert!(names(empty.path()).is_empty());
    let on_a_file = empty.path().join("file");
    fs::write(&on_a_file, "x").unwrap();
    let refused = setup(&on_a_file).run(&FILE.0, &Trapdoor::from_seed(3), &mut unwatched);
    assert!(matches!(refused, Err(SrsError::Io { .. })), "{refused:?}");
}

#[test]
fn a_folder_is_listed_with_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    let key = &FILE.1[..Layout::new(&lengths()).vk_bytes() as usize];
    put("v28-good.params", &FILE.1);
    put("v28-good.vk", key);
    put("v28-good.meta", b"{\"sector_size\":2048}");
    put("v28-short.params", &FILE.1[..FILE.1.len() - 1]);
    put("v28-page.vk", b"<html>");
    put("v28-empty.params", b"");
    put("v28-lonely.params", &FILE.1);
    put("v28-mixed.params", &FILE.1);
    put("v28-mixed.vk", &[&key[..key.len() - 96], &key[key.len() - 192..key.len() - 96]].concat());
    put("v28-bad.meta", b"{}");
    put("v27-old.params", &FILE.1);
    put("fetch.lock", b"");
    put(".cuzk-partial-x", b"");
    put("notes.txt", b"");
    let winning = "proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-0-559e581f022b";
    put(&format!("v28-{winning}.params"), &FILE.1);
    put(&format!("v28-{winning}.vk"), key);
    let entries = list(folder.path()).unwrap();
    let problem = |name: &str| {
        let entry = entries.iter().find(|entry| entry.name == name).unwrap();
        assert!(entry.problems.len() < 2 && !entry.insecure);
        entry.problems.first().map(ToString::to_string).unwrap_or_default()
    };
    assert_eq!(entries.len(), 15);
    for good in
        ["v28-good.params", "v28-good.vk", "v28-good.meta", "v27-old.params", "fetch.lock", ".cuzk-partial-x"]
    {
        assert_eq!(problem(good), "", "{good}");
    }
    for (bad, why) in [
        ("v28-short.params", "truncated"),
        ("v28-page.vk", "web page"),
        ("v28-empty.params", "it is empty"),
        ("v28-lonely.params", "v28-lonely.vk: No cached parameters found"),
        ("v28-mixed.params", "the verifying key in it is not that of"),
        ("v28-bad.meta", "JSON"),
        (&format!("v28-{winning}.params"), "has 192050232 bytes"),
        (&format!("v28-{winning}.vk"), "has 13636 bytes"),
    ] {
        assert!(problem(bad).contains(why), "{bad}: {}", problem(bad));
    }
    assert!(matches!(list(&folder.path().join("none")), Err(SrsError::Missing { .. })));
}
