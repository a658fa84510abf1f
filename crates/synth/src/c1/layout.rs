//! The structs of a C1, in the words of a [`Reader`], and their way into the noun.
//!
//! The names and their order are those of `storage_proofs_porep::stacked::Proof`,
//! 19.1.0. What it states more than once is compared here and then dropped.

use cuzk_values::{ChallengeProof, ColumnProof, DRG_PARENTS, EXP_PARENTS, LABEL_PARENTS, Node};

use crate::input::error::{Fault, Problem};
use crate::input::merkle::{Path, path};
use crate::input::reader::{Names, Reader, collect, count};
use crate::{SectorShape, TreeKind};

/// The most of each that a sector has; what is longer is not read on.
pub(super) const MAX_PARTITIONS: usize = 126;
pub(super) const MAX_CHALLENGES: usize = 18;
const MAX_LAYERS: usize = 11;

/// The challenges' proofs while they are read.
#[derive(Default)]
pub(super) struct Partitions {
    pub(super) proofs: Vec<Vec<ChallengeProof>>,
    /// The shape, and the roots of the three trees, as the first challenge has them.
    pub(super) first: Option<(SectorShape, Roots)>,
}

/// The roots of the three trees.
#[derive(Clone, Copy)]
pub(super) struct Roots {
    pub(super) d: Node,
    pub(super) c: Node,
    pub(super) r_last: Node,
}

impl Partitions {
    /// `Vec<Vec<stacked::Proof>>`.
    pub(super) fn read<R: Reader>(&mut self, r: &mut R) -> Result<(), Fault> {
        let Self { proofs, first } = self;
        r.list(MAX_PARTITIONS, |r, _| {
            let mut partition = Vec::with_capacity(MAX_CHALLENGES);
            let found = r.list(MAX_CHALLENGES, |r, _| {
                partition.push(challenge(r)?.settle(first)?);
                Ok(())
            })?;
            match first {
                Some((shape, _)) if shape.challenges != found => {
                    Err(Problem::Count { found, expected: shape.challenges }.into())
                }
                _ => {
                    proofs.push(partition);
                    Ok(())
                }
            }
        })?;
        Ok(())
    }
}

/// A `stacked::Proof`.
#[derive(Default)]
struct Challenge {
    data: Path,
    replica: Path,
    c_x: Column,
    drg_parents: Vec<Column>,
    exp_parents: Vec<Column>,
    labeling: Vec<Label>,
    encoding: Label,
}

fn challenge<R: Reader>(r: &mut R) -> Result<Challenge, Fault> {
    let mut c = Challenge::default();
    let names: Names =
        &["comm_d_proofs", "comm_r_last_proof", "replica_column_proofs", "labeling_proofs", "encoding_proof"];
    r.record(names, |r, i| {
        match i {
            0 => c.data = path(r)?,
            1 => c.replica = path(r)?,
            2 => r.record(&["c_x", "drg_parents", "exp_parents"], |r, i| {
                match i {
                    0 => c.c_x = column(r)?,
                    1 => c.drg_parents = collect(r, DRG_PARENTS, column)?,
                    _ => c.exp_parents = collect(r, EXP_PARENTS, column)?,
                }
                Ok(())
            })?,
            3 => c.labeling = collect(r, MAX_LAYERS, label)?,
            _ => c.encoding = label(r)?,
        }
        Ok(())
    })?;
    Ok(c)
}

/// A `ColumnProof`.
#[derive(Default)]
struct Column {
    index: u32,
    labels: Vec<Node>,
    path: Path,
}

fn column<R: Reader>(r: &mut R) -> Result<Column, Fault> {
    let mut c = Column::default();
    r.record(&["column", "inclusion_proof"], |r, i| {
        match i {
            0 => r.record(&["index", "rows"], |r, i| {
                match i {
                    0 => c.index = r.u32()?,
                    _ => c.labels = collect(r, MAX_LAYERS, R::node)?,
                }
                Ok(())
            })?,
            _ => c.path = path(r)?,
        }
        Ok(())
    })?;
    Ok(c)
}

/// A `LabelingProof` or `EncodingProof`.
#[derive(Default)]
struct Label {
    parents: Vec<Node>,
    layer: u32,
    node: u64,
}

fn label<R: Reader>(r: &mut R) -> Result<Label, Fault> {
    let mut l = Label::default();
    r.record(&["parents", "layer_index", "node"], |r, i| {
        match i {
            0 => l.parents = collect(r, LABEL_PARENTS, R::node)?,
            1 => l.layer = r.u32()?,
            _ => l.node = r.u64()?,
        }
        Ok(())
    })?;
    Ok(l)
}

impl Challenge {
    /// Checks the shape and all that is stated twice.
    fn settle(self, first: &mut Option<(SectorShape, Roots)>) -> Result<ChallengeProof, Fault> {
        let roots = Roots { d: self.data.root, c: self.c_x.path.root, r_last: self.replica.root };
        let shape = match first {
            Some((shape, _)) => *shape,
            None => self.data.binary_shape().map_err(|f| f.in_field("comm_d_proofs"))?,
        };
        let (shape, roots) = *first.get_or_insert((shape, roots));
        let node = self.c_x.index;

        let drg = self.drg_parents;
        let exp = self.exp_parents;
        let columns = |c_x: Column| {
            let column = c_x.settle(shape, roots.c).map_err(|f| f.in_field("c_x"))?;
            let drg_parents = columns(drg, shape, roots.c).map_err(|f| f.in_field("drg_parents"))?;
            let exp_parents = columns(exp, shape, roots.c).map_err(|f| f.in_field("exp_parents"))?;
            Ok((column, drg_parents, exp_parents))
        };
        let (column, drg_parents, exp_parents) =
            columns(self.c_x).map_err(|f: Fault| f.in_field("replica_column_proofs"))?;
        let data = self.data.settle_at(node, shape.tree_d(), TreeKind::Single, roots.d);
        let replica = self.replica.settle_at(node, shape.tree_c(), shape.trees, roots.r_last);
        let proof = ChallengeProof {
            data: data.map_err(|f| f.in_field("comm_d_proofs"))?,
            replica: replica.map_err(|f| f.in_field("comm_r_last_proof"))?,
            column,
            drg_parents,
            exp_parents,
        };

        let labelings = |labeling: &[Label]| {
            count(labeling.len(), shape.layers)?;
            let mut layers = labeling.iter().enumerate();
            layers.try_for_each(|(i, label)| label.check(&proof, i + 1).map_err(|f| f.in_element(i)))
        };
        labelings(&self.labeling).map_err(|f| f.in_field("labeling_proofs"))?;
        self.encoding.check(&proof, shape.layers).map_err(|f| f.in_field("encoding_proof"))?;
        Ok(proof)
    }
}

fn columns<const N: usize>(
    columns: Vec<Column>,
    shape: SectorShape,
    root: Node,
) -> Result<[ColumnProof; N], Fault> {
    count(columns.len(), N)?;
    let mut settled = Vec::with_capacity(N);
    for (i, column) in columns.into_iter().enumerate() {
        settled.push(column.settle(shape, root).map_err(|f| f.in_element(i))?);
    }
    settled.try_into().map_err(|_| Problem::Missing.into())
}

impl Column {
    fn settle(self, shape: SectorShape, root: Node) -> Result<ColumnProof, Fault> {
        if self.index as usize >= shape.nodes() {
            let problem = Problem::Expected {
                expected: "the index of a node of the sector",
                found: format!("{} in a sector of {} nodes", self.index, shape.nodes()),
            };
            return Err(Fault::from(problem).in_field("index").in_field("column"));
        }
        count(self.labels.len(), shape.layers)
            .map_err(|p| Fault::from(p).in_field("rows").in_field("column"))?;
        let path = self.path.settle_at(self.index, shape.tree_c(), shape.trees, root);
        Ok(ColumnProof {
            labels: self.labels.into_boxed_slice(),
            path: path.map_err(|f| f.in_field("inclusion_proof"))?,
        })
    }
}

impl Label {
    /// The parents' labels are those of the columns, repeated.
    fn check(&self, proof: &ChallengeProof, layer: usize) -> Result<(), Fault> {
        if self.layer as usize != layer {
            let problem = Problem::differs(self.layer, layer, "the layer at this place");
            return Err(Fault::from(problem).in_field("layer_index"));
        }
        if self.node != u64::from(proof.challenge()) {
            let problem = Problem::differs(self.node, proof.challenge(), "the column's index");
            return Err(Fault::from(problem).in_field("node"));
        }
        let parents = || {
            count(self.parents.len(), LABEL_PARENTS)?;
            for (i, (found, label)) in self.parents.iter().zip(proof.label_parents(layer)).enumerate() {
                if found != label {
                    let of = "the label in the parent's column";
                    return Err(Fault::from(Problem::nodes_differ(found, label, of)).in_element(i));
                }
            }
            Ok(())
        };
        parents().map_err(|f: Fault| f.in_field("parents"))
    }
}
