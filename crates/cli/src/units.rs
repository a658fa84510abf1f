//! What people write on a command line: sizes, miners, commitments.

use std::fmt;
use std::str::FromStr;

use cuzk_pipeline_core::limits::{ParseBytesError, format_bytes, parse_bytes};
use cuzk_synth::SectorShape;
use cuzk_synth::registered::PostProof;
use cuzk_values::PostKind;

/// A sector's size, as 32GiB.
pub(crate) fn sector_shape(text: &str) -> Result<SectorShape, String> {
    let known = || SectorShape::ALL.map(|shape| shape.to_string()).join(", ");
    let bytes = parse_bytes(text).map_err(|e| e.to_string())?;
    SectorShape::of_size(bytes).ok_or_else(|| format!("no sector has this size; the sizes are {}", known()))
}

/// A memory budget: so many bytes, or what the machine allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Memory {
    /// What cgroups, cpusets and free memory allow, minus a margin.
    Auto,
    /// So many bytes.
    Bytes(u64),
}

impl FromStr for Memory {
    type Err = ParseBytesError;
    fn from_str(text: &str) -> Result<Self, ParseBytesError> {
        if text == "auto" { Ok(Self::Auto) } else { parse_bytes(text).map(Self::Bytes) }
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Bytes(bytes) => f.write_str(&format_bytes(*bytes)),
        }
    }
}

/// `1 partition`, `10 partitions`.
pub(crate) fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// A miner's actor id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Miner(pub(crate) u64);

/// A text that is no miner.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no miner: write t01000, f01000 or 1000")]
pub(crate) struct ParseMinerError(String);

impl FromStr for Miner {
    type Err = ParseMinerError;
    fn from_str(text: &str) -> Result<Self, ParseMinerError> {
        let digits = text.strip_prefix("t0").or_else(|| text.strip_prefix("f0")).unwrap_or(text);
        let bad = || ParseMinerError(text.to_owned());
        if !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(bad());
        }
        digits.parse().map(Self).map_err(|_| bad())
    }
}

/// 32 bytes, as 64 hexadecimal digits with or without 0x.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bytes32(pub(crate) [u8; 32]);

/// A text that is not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0} characters, where 64 hexadecimal digits are wanted")]
pub(crate) struct ParseBytes32Error(usize);

impl FromStr for Bytes32 {
    type Err = ParseBytes32Error;
    fn from_str(text: &str) -> Result<Self, ParseBytes32Error> {
        let bad = ParseBytes32Error(text.chars().count());
        let digits = text.strip_prefix("0x").unwrap_or(text).as_bytes();
        let mut bytes = [0; 32];
        let (pairs, rest) = digits.as_chunks::<2>();
        if pairs.len() != bytes.len() || !rest.is_empty() {
            return Err(bad);
        }
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            let digit = |c: &u8| char::from(*c).to_digit(16);
            let Some((high, low)) = digit(high).zip(digit(low)) else { return Err(bad) };
            *byte = (16 * high + low) as u8;
        }
        Ok(Self(bytes))
    }
}

/// A registered WindowPoSt proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WindowProof(pub(crate) PostProof);

/// A text that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no registered window proof: write 5 to 14, or a name as StackedDrgWindow32GiBV1_1")]
pub(crate) struct ParseWindowProofError(String);

impl FromStr for WindowProof {
    type Err = ParseWindowProofError;
    fn from_str(text: &str) -> Result<Self, ParseWindowProofError> {
        let proof = text.parse().map_or_else(|_| PostProof::of_name(text), PostProof::of_number);
        let window = proof.filter(|proof| proof.kind == PostKind::Window);
        window.map(Self).ok_or_else(|| ParseWindowProofError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_miner_is_an_id_address_or_its_number() {
        for text in ["t01000", "f01000", "1000"] {
            assert_eq!(text.parse(), Ok(Miner(1000)), "{text}");
        }
        for text in ["", "t0", "t1000x", "-1", "f018446744073709551616", "+5"] {
            assert!(text.parse::<Miner>().is_err(), "{text}");
        }
    }

    #[test]
    fn bytes_are_hex_and_proofs_have_numbers_and_names() {
        let digits = "0f".repeat(32);
        assert_eq!(digits.parse(), Ok(Bytes32([15; 32])));
        assert_eq!(format!("0x{digits}").parse(), Ok(Bytes32([15; 32])));
        for text in ["", "0x", "0f", &"0g".repeat(32), &"é".repeat(32), &format!("{digits}0")] {
            assert!(text.parse::<Bytes32>().is_err(), "{text}");
        }
        let proof = |text: &str| text.parse::<WindowProof>().map(|proof| proof.0.number());
        assert_eq!(proof("13"), Ok(Some(13)));
        assert_eq!(proof("StackedDrgWindow32GiBV1_1"), Ok(Some(13)));
        for text in ["3", "15", "-1", "StackedDrgWinning32GiBV1", ""] {
            assert!(proof(text).is_err(), "{text}");
        }
    }

    #[test]
    fn memory_is_auto_or_a_size() {
        assert_eq!("auto".parse(), Ok(Memory::Auto));
        assert_eq!("14GiB".parse(), Ok(Memory::Bytes(14 << 30)));
        assert!("14 gigs".parse::<Memory>().is_err());
    }
}
