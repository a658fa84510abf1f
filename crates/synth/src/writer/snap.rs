//! SnapDeals' circuit (storage-proofs-update 19.1.0, `circuit.rs`, `gadgets.rs`).

use std::array;

use cuzk_values::{Node, Scalar, Snap, SnapChallenge, SnapPartition};
use ff::{Field, PrimeField};

use super::Part;
use super::gadgets::scalar;
use super::paths::PathHashes;
use crate::SnapShape;
use crate::poseidon::Poseidon;

/// How many numbers of high bits a circuit chooses from.
pub(crate) const HIGH_BITS: usize = 6;

/// The bits of a scalar that are uniform enough to be challenges (`Fr::CAPACITY`).
const CAPACITY: usize = 254;

/// How many digests give a partition's challenges, as many each as it has room for.
pub(crate) const fn digests(shape: SnapShape) -> usize {
    shape.challenges.div_ceil(CAPACITY / shape.log_chunk() as usize)
}

/// The public input that says which partition, and how many high bits: the index,
/// then a bit for each number to choose from.
pub(crate) fn selectors(shape: SnapShape, snap: &Snap, partition: usize) -> u64 {
    let chosen = shape.high_bits.iter().position(|bits| *bits == snap.high_bits).unwrap_or(0);
    partition as u64 | 1 << (shape.partitions.ilog2() as usize + chosen)
}

/// What the challenges of a partition share.
pub(crate) struct Common<'a> {
    shape: SnapShape,
    partition: &'a SnapPartition,
    selectors: u64,
    phi: Scalar,
    apex_leaves: Vec<Scalar>,
}

impl<'a> Common<'a> {
    /// Of partition `index`.
    pub(crate) fn new(shape: SnapShape, snap: &'a Snap, index: usize) -> Self {
        let partition = &snap.partitions[index];
        let preimage = [scalar(&snap.comm_d_new), scalar(&snap.comm_r_old)];
        Self {
            shape,
            selectors: selectors(shape, snap, index),
            phi: Poseidon::of_randomness().hash(&preimage),
            apex_leaves: partition.apex_leaves.iter().map(scalar).collect(),
            partition,
        }
    }

    /// Public inputs and commitments; the apex: the nodes of `TreeD` between its
    /// leaves and the root; and the digests that the challenges are taken from.
    pub(crate) fn header(&self, part: &mut Part<'_>, snap: &Snap) {
        let Self { shape, partition, .. } = self;
        let partition_bits = shape.partitions.ilog2() as usize;
        let index = self.selectors & ((1 << partition_bits) - 1);

        part.input(Scalar::ONE);
        let selectors = part.wide(Scalar::from(self.selectors));
        part.input(selectors);
        part.bits(self.selectors, (partition_bits + HIGH_BITS) as u32);
        let packed = part.wide(Scalar::from(index));
        let [comm_r_old, comm_d_new, comm_r_new] = [&snap.comm_r_old, &snap.comm_d_new, &snap.comm_r_new]
            .map(|node| {
                let commitment = part.node(node);
                part.input(commitment);
                commitment
            });
        part.poseidon(Poseidon::of_randomness(), &[comm_d_new, comm_r_old]);

        let [comm_c, root_r_old, root_r_new] =
            [&snap.comm_c, &snap.root_r_old, &snap.root_r_new].map(|node| part.node(node));
        for leaf in &self.apex_leaves {
            part.wide(*leaf);
        }
        let above = partition.challenges.first().map_or(&[][..], |challenge| &challenge.data.siblings);
        let above = &above[above.len() - partition_bits.min(above.len())..];
        for sibling in above {
            part.node(sibling);
        }
        part.poseidon(Poseidon::of_arity(2), &[comm_c, root_r_old]);
        part.poseidon(Poseidon::of_arity(2), &[comm_c, root_r_new]);

        let mut row = partition.apex_leaves.to_vec();
        while row.len() > 1 {
            row = row
                .as_chunks::<2>()
                .0
                .iter()
                .map(|[left, right]| part.hash_data_nodes(left, right))
                .collect();
        }
        row.iter().for_each(|apex| {
            above.iter().enumerate().fold(*apex, |node, (level, sibling)| {
                part.data_parent(&node, (index >> level) as usize & 1, sibling)
            });
        });

        for digest in 0..digests(*shape) as u64 {
            let number = part.wide(packed * Scalar::from(digests(*shape) as u64) + Scalar::from(digest));
            let digest = part.poseidon(Poseidon::of_randomness(), &[comm_r_new, number]);
            part.scalar_bits(&digest.to_repr());
        }
    }

    /// Challenges: `rho`, the encoding of the data with it, and the three paths.
    pub(crate) fn challenges(&self, parts: &mut [Part<'_>], challenges: &[SnapChallenge]) {
        let rho = challenges.iter().flat_map(|challenge| [self.phi, self.high(challenge.data.node)]);
        let rho = Poseidon::of_randomness().traces(&rho.collect::<Vec<_>>());
        let paths = challenges.iter().enumerate().flat_map(|(i, challenge)| {
            let old = scalar(&challenge.old.leaf);
            let new = old + scalar(&challenge.data.leaf) * rho.hash(i);
            [(&challenge.old, old), (&challenge.new, new)]
        });
        let hashes = PathHashes::new(&paths.collect::<Vec<_>>());

        for (i, (part, challenge)) in parts.iter_mut().zip(challenges).enumerate() {
            self.high_bits(part, challenge.data.node);
            let rho = part.trace(rho.of(i));
            let old = part.node(&challenge.old.leaf);
            let data = part.node(&challenge.data.leaf);
            let product = part.wide(data * rho);
            let new = part.wide(old + product);
            part.climb(&challenge.old, old, hashes.along(2 * i));
            part.climb(&challenge.new, new, hashes.along(2 * i + 1));

            let below = self.shape.log_apex_leaf();
            self.select_apex_leaf(part, challenge.data.node >> below);
            let siblings = &challenge.data.siblings[..below as usize];
            for sibling in siblings {
                part.node(sibling);
            }
            siblings.iter().enumerate().fold(challenge.data.leaf, |node: Node, (level, sibling)| {
                part.data_parent(&node, (challenge.data.node >> level) as usize & 1, sibling)
            });
        }
    }

    /// As many of a node's highest bits as `rho` is drawn from.
    fn high(&self, node: u32) -> Scalar {
        let chosen = (self.selectors >> self.shape.partitions.ilog2()).trailing_zeros() as usize;
        self.highest(node, self.shape.high_bits[chosen])
    }

    fn highest(&self, node: u32, bits: u32) -> Scalar {
        Scalar::from(u64::from(node) >> (u32::from(self.shape.sector.log_nodes) - bits))
    }

    /// The high bits of a challenge, each number of them beside a zero, or itself
    /// where it is chosen; and their sum (`get_challenge_high_bits`).
    fn high_bits(&self, part: &mut Part<'_>, node: u32) {
        let partition_bits = self.shape.partitions.ilog2() as usize;
        let chosen: [Scalar; HIGH_BITS] = array::from_fn(|i| {
            let high = part.wide(self.highest(node, self.shape.high_bits[i]));
            let is_chosen = (self.selectors >> (partition_bits + i)) & 1 == 1;
            part.pick(is_chosen, high, Scalar::ZERO)
        });
        part.wide(chosen.iter().sum());
    }

    /// `insertion::select`: halves by the bits of an index, the highest first.
    fn select_apex_leaf(&self, part: &mut Part<'_>, index: u32) {
        let mut leaves = self.apex_leaves.clone();
        for bit in (0..self.shape.apex_leaves.ilog2()).rev() {
            let (low, high) = leaves.split_at(leaves.len() / 2);
            let upper = (index >> bit) & 1 == 1;
            leaves = low.iter().zip(high).map(|(low, high)| part.pick(upper, *high, *low)).collect();
        }
    }
}
