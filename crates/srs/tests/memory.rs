//! Reading a parameter file takes the memory of the points that are asked for, and no more.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "only tests are here")]

use std::fs;

use blstrs::{G1Affine, G2Affine};
use cuzk_srs::{G1_BYTES, Layout, ParameterFile, Query, encode_key};
use cuzk_values::{QueryLengths, VerifyingKey};
use group::prime::PrimeCurveAffine;

/// Resident bytes of this process, of files alone.
fn mapped_resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("RssFile:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

/// A file of 128 MiB whose points are all the generator.
fn large() -> (tempfile::NamedTempFile, QueryLengths) {
    let lengths = QueryLengths { inputs: 1, h: (1 << 20) - 1, l: 300_000, a: 50_000, b: 1000 };
    let (g1, g2) = (G1Affine::generator(), G2Affine::generator());
    let key = VerifyingKey {
        alpha_g1: g1,
        beta_g1: g1,
        beta_g2: g2,
        gamma_g2: g2,
        delta_g1: g1,
        delta_g2: g2,
        ic: vec![g1],
    };
    let mut bytes = encode_key(&key);
    for query in Query::ALL {
        let count = query.count(&lengths);
        bytes.extend((count as u32).to_be_bytes());
        let point =
            if query == Query::BG2 { g2.to_uncompressed().to_vec() } else { g1.to_uncompressed().to_vec() };
        bytes.extend(point.repeat(count));
    }
    assert_eq!(bytes.len() as u64, Layout::new(&lengths).file_bytes());
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), bytes).unwrap();
    (file, lengths)
}

#[test]
fn pages_are_let_go_when_their_points_are_decoded() {
    let (file, lengths) = large();
    let parameters = ParameterFile::open(file.path(), &lengths).unwrap();
    let srs = parameters.srs();
    let before = mapped_resident();
    let chunk = 1 << 14;
    let mut most = 0;
    for start in (0..lengths.h).step_by(chunk) {
        let points = srs.h.points(start..lengths.h.min(start + chunk)).unwrap();
        assert_eq!(points.first(), Some(&G1Affine::generator()));
        most = most.max(mapped_resident().saturating_sub(before));
    }
    // The kernel maps 64 KiB around a fault, of which some lies behind the range.
    let allowed = 4 << 20;
    assert!(lengths.h * G1_BYTES > 20 * allowed);
    assert!(most < allowed as u64, "{most} bytes of the file stayed resident");
}
