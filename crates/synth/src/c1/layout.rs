//! The structs of a C1, in the words of a [`Reader`], and their way into the noun.
//!
//! The names and their order are those of `storage_proofs_porep::stacked::Proof`
//! and of `storage_proofs_core::merkle::MerkleProof`, 19.1.0. What these state
//! more than once is compared here and then dropped.

use std::array;

use cuzk_values::{
    ChallengeProof, ColumnProof, DRG_PARENTS, EXP_PARENTS, LABEL_PARENTS, MerkleProof, Node, TreeShape,
};

use super::error::{Fault, Problem};
use super::reader::{Names, Reader};
use crate::{SectorShape, TreeKind};

/// The most of each that a sector has; what is longer is not read on.
pub(super) const MAX_PARTITIONS: usize = 126;
pub(super) const MAX_CHALLENGES: usize = 18;
const MAX_LAYERS: usize = 11;
const MAX_LEVELS: usize = 31;
const MAX_HASHES: usize = 7;
const MAX_SIBLINGS: usize = 71;

const KINDS: Names = &["Single", "Sub", "Top"];
const KIND_FIELDS: [Names; 3] = [
    &["root", "leaf", "path"],
    &["base_proof", "sub_proof", "root", "leaf"],
    &["base_proof", "sub_proof", "top_proof", "root", "leaf"],
];
const SECTIONS: [Names; 3] =
    [&["path"], &["base_proof", "sub_proof"], &["base_proof", "sub_proof", "top_proof"]];

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

fn collect<R: Reader, T>(
    r: &mut R,
    limit: usize,
    element: impl Fn(&mut R) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    let mut all = Vec::with_capacity(limit);
    r.list(limit, |r, _| {
        all.push(element(r)?);
        Ok(())
    })?;
    Ok(all)
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

/// A `MerkleProof`.
#[derive(Default)]
struct Path {
    root: Node,
    leaf: Node,
    /// Which of `KINDS`.
    kind: usize,
    sections: [Section; 3],
}

/// An `InclusionPath`: the siblings of all levels, and each level's number of
/// siblings and index.
#[derive(Default)]
struct Section {
    siblings: Vec<Node>,
    levels: Vec<(usize, u64)>,
}

fn path<R: Reader>(r: &mut R) -> Result<Path, Fault> {
    let mut p = Path::default();
    r.record(&["data"], |r, _| {
        r.tagged(KINDS, |r, kind| {
            p.kind = kind;
            r.record(KIND_FIELDS[kind], |r, i| {
                match KIND_FIELDS[kind][i] {
                    "root" => p.root = r.node()?,
                    "leaf" => p.leaf = r.node()?,
                    "sub_proof" => p.sections[1] = section(r, MAX_HASHES)?,
                    "top_proof" => p.sections[2] = section(r, MAX_HASHES)?,
                    _ => p.sections[0] = section(r, MAX_SIBLINGS)?,
                }
                Ok(())
            })
        })
    })?;
    Ok(p)
}

fn section<R: Reader>(r: &mut R, capacity: usize) -> Result<Section, Fault> {
    let mut s = Section { siblings: Vec::with_capacity(capacity), levels: Vec::with_capacity(MAX_LEVELS) };
    r.record(&["path"], |r, _| {
        r.list(MAX_LEVELS, |r, _| {
            let (mut siblings, mut index) = (0, 0);
            r.record(&["hashes", "index"], |r, i| {
                match i {
                    0 => {
                        siblings = r.list(MAX_HASHES, |r, _| {
                            s.siblings.push(r.node()?);
                            Ok(())
                        })?;
                    }
                    _ => index = r.u64()?,
                }
                Ok(())
            })?;
            s.levels.push((siblings, index));
            Ok(())
        })?;
        Ok(())
    })?;
    Ok(s)
}

impl Challenge {
    /// Checks the shape and all that is stated twice.
    fn settle(self, first: &mut Option<(SectorShape, Roots)>) -> Result<ChallengeProof, Fault> {
        let roots = Roots { d: self.data.root, c: self.c_x.path.root, r_last: self.replica.root };
        let shape = match first {
            Some((shape, _)) => *shape,
            None => self.data.sector_shape().map_err(|f| f.in_field("comm_d_proofs"))?,
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
        let data = self.data.settle(shape.tree_d(), TreeKind::Single, node, roots.d);
        let replica = self.replica.settle(shape.tree_c(), shape.trees, node, roots.r_last);
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

fn count(found: usize, expected: usize) -> Result<(), Problem> {
    if found == expected { Ok(()) } else { Err(Problem::Count { found, expected }) }
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
        let path = self.path.settle(shape.tree_c(), shape.trees, self.index, root);
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

impl Path {
    /// The shape of the sector over whose data this path goes.
    fn sector_shape(&self) -> Result<SectorShape, Fault> {
        let levels = self.sections[0].levels.len();
        SectorShape::of_nodes(levels).ok_or_else(|| {
            let found = format!("{levels}");
            let expected = "6, 7, 9, 10, 18, 19, 24, 25, 30 or 31 levels";
            Fault::from(Problem::Expected { expected, found }).in_field("path").in_field("path")
        })
    }

    /// Checks that the path has the tree's shape and leads from `node` to `root`.
    fn settle(
        mut self,
        tree: TreeShape,
        kind: TreeKind,
        node: u32,
        root: Node,
    ) -> Result<MerkleProof, Fault> {
        let name = KINDS[self.kind];
        if self.kind != kind as usize {
            let problem = Problem::Expected { expected: KINDS[kind as usize], found: name.into() };
            return Err(Fault::from(problem).in_field("data"));
        }
        let in_data = |f: Fault| f.in_field(name).in_field("data");
        self.check_levels(tree, kind, node).map_err(in_data)?;
        if self.root != root {
            let problem = Problem::nodes_differ(&self.root, &root, "the first challenge's");
            return Err(in_data(Fault::from(problem).in_field("root")));
        }
        let [mut base, sub, top] = array::from_fn(|i| std::mem::take(&mut self.sections[i].siblings));
        base.extend(sub);
        base.extend(top);
        Ok(MerkleProof { tree, node, leaf: self.leaf, siblings: base.into_boxed_slice() })
    }

    fn check_levels(&self, tree: TreeShape, kind: TreeKind, node: u32) -> Result<(), Fault> {
        let mut arities = tree.arities();
        let mut node = node as usize;
        for (i, (section, name)) in self.sections.iter().zip(SECTIONS[kind as usize]).enumerate() {
            let in_section = |f: Fault| f.in_field("path").in_field(name);
            let expected = if i == 0 { tree.height() - kind.apart() } else { 1 };
            count(section.levels.len(), expected).map_err(|p| in_section(p.into()))?;
            for (level, ((siblings, index), arity)) in section.levels.iter().zip(&mut arities).enumerate() {
                let in_level = |f: Fault| in_section(f.in_element(level));
                count(*siblings, arity - 1).map_err(|p| in_level(Fault::from(p).in_field("hashes")))?;
                let digit = node % arity;
                if *index != digit as u64 {
                    let problem = Problem::differs(index, digit, "the child on the way to the node");
                    return Err(in_level(Fault::from(problem).in_field("index")));
                }
                node /= arity;
            }
        }
        Ok(())
    }
}
