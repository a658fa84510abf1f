//! `cuzk verify`

use std::path::Path;

use clap::Args;
use cuzk_groth16::{Groth16Error, PreparedVerifyingKey};
use cuzk_values::{PROOF_BYTES, Proof};
use serde_json::json;

use crate::args::Verifying;
use crate::failure::{Class, Classify as _, Failure};
use crate::files::{self, shown};
use crate::params::Chosen;
use crate::printer::Printer;
use crate::source::Source;
use crate::units::counted;

/// The longest proof: 126 partitions of a non-interactive PoRep, as hex with room for blanks.
pub(super) const LONGEST_PROOF: u64 = 1 << 20;

pub(crate) fn run<I: Args + Source>(printer: Printer, args: &Verifying<I>) -> Result<(), Failure> {
    let proof = parse_proof(&files::read(&args.proof, LONGEST_PROOF)?, &args.proof)?;
    let given = args.input.decode(printer)?;
    let chosen = Chosen::of(&args.params, given.statement)?;
    chosen.announce(printer);
    let key = cuzk_srs::verifying_key(&chosen.key()).map_err(|e| chosen.failure(e))?;
    let inputs = given.public_inputs()?;
    let verified = PreparedVerifyingKey::new(&key).verify_all(&proof, &inputs);
    verified.map_err(|error| refused(error, &args.proof, &chosen))?;
    let json = json!({
        "valid": true,
        "kind": chosen.circuit.statement(),
        "partitions": proof.0.len(),
        "sector_size": given.shape.sector_size(),
        "insecure_parameters": chosen.insecure,
    });
    printer.result(&json, &format!("the proof is valid: {}", counted(proof.0.len(), "partition")))
}

/// A proof that does not hold, or was not even tried, with the file that is at fault.
fn refused(error: Groth16Error, proof: &Path, chosen: &Chosen) -> Failure {
    let of_key = matches!(error, Groth16Error::Inputs { .. });
    let class = if matches!(error, Groth16Error::Invalid { .. }) { Class::NotVerified } else { Class::Input };
    let file = if of_key { shown(&chosen.key()) } else { shown(proof) };
    let failure = Failure::new(class, anyhow::Error::new(error).context(file));
    match class {
        Class::NotVerified if chosen.insecure => failure.hint(format!(
            "test parameters are all different: a proof holds with the key of its own only, here {}",
            chosen.key().display()
        )),
        _ if of_key => failure.hint(chosen.again()),
        _ => failure,
    }
}

/// The proof that a file holds: bytes, or hex text with or without 0x.
pub(super) fn parse_proof(bytes: &[u8], path: &Path) -> Result<Proof, Failure> {
    let decoded = from_hex(bytes);
    let proof = Proof::from_bytes(decoded.as_deref().unwrap_or(bytes));
    proof.map_err(|e| anyhow::Error::new(e).context(path.display().to_string())).or_input()
}

/// The bytes that a hex text stands for; `None` where it is no hex text.
pub(crate) fn from_hex(text: &[u8]) -> Option<Vec<u8>> {
    let text = text.trim_ascii();
    let text = text.strip_prefix(b"0x").unwrap_or(text);
    if text.is_empty() || !text.len().is_multiple_of(2 * PROOF_BYTES) {
        return None;
    }
    let digit = |c: u8| (c as char).to_digit(16);
    text.chunks_exact(2).map(|d| Some((digit(d[0])? * 16 + digit(d[1])?) as u8)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_is_told_from_bytes() {
        assert_eq!(from_hex(&[b'0'; 384]), Some(vec![0; 192]));
        let mut text = b"0x".to_vec();
        text.extend([b'f'; 384]);
        text.push(b'\n');
        assert_eq!(from_hex(&text), Some(vec![0xff; 192]));
        assert_eq!(from_hex(&[b'g'; 384]), None);
        assert_eq!(from_hex(&[0x93; 192]), None);
    }
}
