//! Templates that are wrong behind a checksum that is right.

use ff::Field;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::encode::digest;
use super::format::Header;
use super::*;
use crate::{FilecoinCircuit, Recording};

const KEY: &str = "key";

/// A file taken apart: the header, and what is packed in each part.
#[derive(Clone)]
struct Apart {
    header: Header,
    parts: Vec<Vec<u8>>,
}

impl Apart {
    fn of(recording: &Recording) -> Self {
        let file = encode(KEY, recording).unwrap();
        let (header, start) = Header::decode(&file).unwrap();
        let mut rest = &file[start..];
        let parts = header.parts.iter().map(|length| {
            let (part, after) = rest.split_at(*length as usize);
            rest = after;
            zstd::decode_all(part).unwrap()
        });
        Self { parts: parts.collect(), header: header.clone() }
    }

    /// A file with a checksum.
    fn together(mut self) -> Vec<u8> {
        let parts: Vec<_> = self.parts.iter().map(|part| zstd::encode_all(&part[..], 1).unwrap()).collect();
        self.header.parts =
            parts.iter().map(|part| part.len() as u32).collect::<Vec<_>>().try_into().unwrap();
        let mut file = self.header.encode().unwrap();
        file.extend(parts.into_iter().flatten());
        let digest = digest(&file);
        file.extend(digest);
        file
    }

    fn mutate(&mut self, rng: &mut ChaCha8Rng) {
        let header = &mut self.header;
        if rng.gen_ratio(1, 3) {
            let value = |old: u32, rng: &mut ChaCha8Rng| match rng.gen_range(0..5) {
                0 => 0,
                1 => old.wrapping_add(1),
                2 => old.wrapping_sub(1),
                3 => rng.r#gen(),
                _ => old.wrapping_mul(rng.gen_range(2..100)),
            };
            let [a, b, c] = &mut header.entries;
            let fields = [
                &mut header.inputs,
                &mut header.aux,
                &mut header.wide,
                &mut header.places,
                &mut header.coefficients,
                &mut header.rows,
                a,
                b,
                c,
                &mut header.count,
                &mut header.run.start,
                &mut header.run.end,
                &mut header.run_inputs.start,
                &mut header.run_inputs.end,
                &mut header.run_aux.start,
                &mut header.run_aux.end,
                &mut header.arguments,
            ];
            let field = rng.gen_range(0..fields.len());
            for (i, old) in fields.into_iter().enumerate() {
                if i == field {
                    *old = value(*old, rng);
                }
            }
            return;
        }
        let which = rng.gen_range(0..self.parts.len());
        let part = &mut self.parts[which];
        let at = rng.gen_range(0..=part.len());
        match rng.gen_range(0..4) {
            0 => part.truncate(at),
            1 => part.insert(at, rng.r#gen()),
            2 if at < part.len() => drop(part.remove(at)),
            _ if at < part.len() => part[at] = rng.r#gen(),
            _ => part.extend([0xff; 11]),
        }
    }
}

/// What all users of constraints rely on.
fn assert_sound(recording: &Recording) {
    let r1cs = &recording.r1cs;
    let (columns, values) = (r1cs.inputs + r1cs.aux, r1cs.coefficients.values());
    assert!(r1cs.inputs > 0 && (recording.size.inputs, recording.size.aux) == (r1cs.inputs, r1cs.aux));
    assert!(values.iter().all(|value| !value.is_zero_vartime()));
    for matrix in [&r1cs.a, &r1cs.b, &r1cs.c] {
        assert_eq!(matrix.rows(), r1cs.constraints());
        let mut entries = 0;
        // Copies without end are possible; some are enough.
        for row in matrix.rows_in(0..matrix.rows().min(1 << 16)) {
            entries += row.len();
            assert!(
                row.into_iter().all(|(at, index)| (at as usize) < columns && (index as usize) < values.len())
            );
        }
        assert!(entries <= matrix.entries());
        let run = &matrix.repeat().rows;
        // Behind the first copy come the others, whose arguments may be in another order.
        let written = (0..run.end as usize).map(|row| matrix.row(row).map(|(column, _)| column));
        assert!(written.take(1 << 16).all(|columns| columns.is_sorted_by(|one, next| one < next)));
    }
    assert_eq!(r1cs.densities.a_aux.len(), r1cs.aux);
    assert_eq!((r1cs.densities.b_inputs.len(), r1cs.densities.b_aux.len()), (r1cs.inputs, r1cs.aux));
}

#[test]
fn a_right_checksum_is_not_trusted() {
    let seed = rand::random();
    println!("seed {seed}");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let whole = Apart::of(&with_arguments());
    assert_sound(&decode(KEY, &whole.clone().together()).unwrap());
    let (mut sound, mut refused) = (0, 0);
    for _ in 0..5_000 {
        let mut apart = whole.clone();
        for _ in 0..rng.gen_range(1..3) {
            apart.mutate(&mut rng);
        }
        match decode(KEY, &apart.together()) {
            Ok(recording) => {
                assert_sound(&recording);
                sound += 1;
            }
            Err(_) => refused += 1,
        }
    }
    println!("{sound} sound, {refused} refused");
    assert!(sound > 20 && refused > 1000);
}

/// A small template with all that there may be: arguments, own inputs, a large dictionary aside.
fn with_arguments() -> Recording {
    use bellpepper_core::{Circuit, ConstraintSystem, LinearCombination, SynthesisError};
    use cuzk_values::Scalar;

    struct Small;
    impl Circuit<Scalar> for Small {
        fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
            let none = || Err(SynthesisError::AssignmentMissing);
            let mut bits = Vec::new();
            for i in 0..12 {
                let bit = cs.namespace(|| "header").alloc(|| "boolean", none)?;
                cs.enforce(|| "", |lc| lc + (Scalar::from(i + 1), bit), |lc| lc + CS::one(), |lc| lc);
                bits.push(bit);
            }
            for block in 0..3 {
                let mut cs = cs.namespace(|| format!("block {block}"));
                let input = cs.alloc_input(|| "", none)?;
                let mut last = cs.alloc(|| "num", none)?;
                for bit in &bits[3 * block..3 * block + 4] {
                    let next = cs.alloc(|| "num", none)?;
                    let sum = |lc: LinearCombination<Scalar>| lc + *bit + last + (Scalar::from(7), next);
                    cs.enforce(|| "", sum, |lc| lc + bits[11] + input, |lc| lc + next);
                    last = next;
                }
            }
            Ok(())
        }
    }
    let recording =
        crate::record_blocks(Small, |name| name.strip_prefix("block ")?.parse().ok()).expect("equal blocks");
    assert_eq!((recording.r1cs.a.repeat().count, recording.r1cs.a.repeat().arguments(0).len()), (3, 4));
    let whole = crate::record(Small).expect("a circuit");
    for (one, other) in [
        (&recording.r1cs.a, &whole.r1cs.a),
        (&recording.r1cs.b, &whole.r1cs.b),
        (&recording.r1cs.c, &whole.r1cs.c),
    ] {
        assert!(one.rows_in(0..one.rows()).eq_by_rows(other.rows_in(0..other.rows())));
    }
    recording
}

/// Iterators of rows have no equality.
trait EqByRows<'a>: Iterator<Item = cuzk_values::Row<'a>> + Sized {
    fn eq_by_rows(self, other: Self) -> bool {
        self.map(Iterator::collect::<Vec<_>>).eq(other.map(Iterator::collect::<Vec<_>>))
    }
}

impl<'a, I: Iterator<Item = cuzk_values::Row<'a>>> EqByRows<'a> for I {}

/// The same for a template of Filecoin's, with its bytes changed by the dozen.
#[test]
fn a_real_template_is_not_trusted_either() {
    let seed = rand::random();
    println!("seed {seed}");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let circuit: FilecoinCircuit = "window-post-2KiB".parse().unwrap();
    let whole = Apart::of(&circuit.record().unwrap());
    for _ in 0..200 {
        let mut apart = whole.clone();
        (0..rng.gen_range(1..12)).for_each(|_| apart.mutate(&mut rng));
        if let Ok(recording) = decode(KEY, &apart.together()) {
            assert_sound(&recording);
        }
    }
}
