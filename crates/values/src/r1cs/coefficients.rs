//! The distinct coefficients of a circuit.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use blst::blst_fr;
use cuzk_pipeline_core::{Footprint, Value};

use crate::Scalar;

/// The distinct coefficients of a circuit. Filecoin's have about 2,500.
#[derive(Debug, Clone, Default)]
pub struct Coefficients {
    values: Vec<Scalar>,
    index: HashMap<(u64, u64, u64, u64), u32, BuildHasherDefault<LimbHasher>>,
}

/// Mixes the limbs of a scalar: a circuit's coefficients come from whoever wrote
/// the circuit, so that no stronger hash is called for.
#[derive(Debug, Default)]
struct LimbHasher(u64);

impl Hasher for LimbHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64((*byte).into());
        }
    }

    #[inline]
    fn write_u64(&mut self, limb: u64) {
        // Fibonacci hashing: 2^64 divided by the golden ratio.
        self.0 = (self.0.rotate_left(29) ^ limb).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}

impl Coefficients {
    /// The index of `value`, which is added if it is new.
    pub fn intern(&mut self, value: Scalar) -> u32 {
        let values = &mut self.values;
        let [l0, l1, l2, l3] = blst_fr::from(value).l;
        *self.index.entry((l0, l1, l2, l3)).or_insert_with(|| {
            values.push(value);
            values.len() as u32 - 1
        })
    }

    /// The values by index.
    pub fn values(&self) -> &[Scalar] {
        &self.values
    }
}

impl Value for Coefficients {
    fn footprint(&self) -> Footprint {
        Footprint::host((self.values.capacity() * (32 + 48)) as u64)
    }
}
