//! What people write on a command line: sizes, miners, commitments.

use std::fmt;
use std::str::FromStr;

use cuzk_pipeline_core::limits::{ParseBytesError, format_bytes, parse_bytes};
use cuzk_synth::{FilecoinCircuit, ParseCircuitError, SectorShape};

/// A sector's size, as 32GiB.
pub(crate) fn sector_shape(text: &str) -> Result<SectorShape, String> {
    let known = || SectorShape::ALL.map(|shape| shape.to_string()).join(", ");
    let bytes = parse_bytes(text).map_err(|e| e.to_string())?;
    SectorShape::of_size(bytes).ok_or_else(|| format!("no sector has this size; the sizes are {}", known()))
}

/// A circuit's name, as porep-32GiB.
pub(crate) fn circuit(text: &str) -> Result<FilecoinCircuit, String> {
    text.parse().map_err(|error: ParseCircuitError| {
        let of = |circuit: &FilecoinCircuit| {
            text.rsplit_once('-').is_some_and(|(of, _)| of == circuit.statement())
        };
        let sizes: Vec<_> =
            FilecoinCircuit::all().filter(of).map(|known| known.shape().to_string()).collect();
        match &sizes[..] {
            [] => error.to_string(),
            _ => format!("there is no circuit {text}; the sizes are {}", sizes.join(", ")),
        }
    })
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

/// 32 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hash(pub(crate) [u8; 32]);

impl FromStr for Hash {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let bytes = cuzk_synth::input::parse_hash(text.as_bytes());
        bytes.map(Self).ok_or_else(|| "32 bytes are 64 digits of hex, or base64".to_owned())
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
    fn memory_is_auto_or_a_size() {
        assert_eq!("auto".parse(), Ok(Memory::Auto));
        assert_eq!("14GiB".parse(), Ok(Memory::Bytes(14 << 30)));
        assert!("14 gigs".parse::<Memory>().is_err());
    }
}
