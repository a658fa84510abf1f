//! `storage_proofs_core::merkle::MerkleProof`, 19.1.0: in the words of a
//! [`Reader`], and its way into the noun.
//!
//! What it states more than once is compared here and then dropped.

use std::array;

use cuzk_values::{Level, MerkleProof, Node, Scalar, TreeShape};
use ff::PrimeField;

use super::error::{Fault, Problem};
use super::reader::{Names, Reader, count};
use crate::{SectorShape, TreeKind, hash};

/// The most of each that a path has; what is longer is not read on.
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

/// A `MerkleProof`.
#[derive(Default)]
pub(crate) struct Path {
    pub(crate) root: Node,
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

pub(crate) fn path<R: Reader>(r: &mut R) -> Result<Path, Fault> {
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

impl Path {
    /// The shape of the sector over whose data this path in `TreeD` goes.
    pub(crate) fn binary_shape(&self) -> Result<SectorShape, Fault> {
        let levels = self.sections[0].levels.len();
        SectorShape::of_nodes(levels).ok_or_else(|| {
            let found = format!("{levels}");
            let expected = "6, 7, 9, 10, 18, 19, 24, 25, 30 or 31 levels";
            Fault::from(Problem::Expected { expected, found }).in_field("path").in_field("path")
        })
    }

    /// The shape of the sector over whose replica this path in `TreeR` goes: its
    /// sections, their levels and the children of the root are those of one size only.
    pub(crate) fn octal_shape(&self) -> Result<SectorShape, Fault> {
        let levels = || self.sections.iter().flat_map(|section| &section.levels);
        let fits = |shape: &SectorShape| {
            let arities = shape.tree_c().arities();
            shape.trees as usize == self.kind
                && arities.len() == levels().count()
                && arities.last() == levels().last().map(|(siblings, _)| siblings + 1)
        };
        SectorShape::ALL.into_iter().find(fits).ok_or_else(|| {
            let siblings: Vec<usize> = levels().map(|(siblings, _)| *siblings).collect();
            let found = format!("{} with {siblings:?} siblings, from the leaf up", KINDS[self.kind]);
            let expected = "the path of a replica of 2KiB to 64GiB";
            Fault::from(Problem::Expected { expected, found }).in_field("data")
        })
    }

    /// Checks that the path has the tree's shape and says that it leads to
    /// `root`. Its indices say from which leaf.
    pub(crate) fn settle(self, tree: TreeShape, kind: TreeKind, root: Node) -> Result<MerkleProof, Fault> {
        self.settle_from(None, tree, kind, root)
    }

    /// As [`settle`](Self::settle), of a leaf that is known.
    pub(crate) fn settle_at(
        self,
        node: u32,
        tree: TreeShape,
        kind: TreeKind,
        root: Node,
    ) -> Result<MerkleProof, Fault> {
        self.settle_from(Some(node), tree, kind, root)
    }

    fn settle_from(
        mut self,
        node: Option<u32>,
        tree: TreeShape,
        kind: TreeKind,
        root: Node,
    ) -> Result<MerkleProof, Fault> {
        let name = KINDS[self.kind];
        if self.kind != kind as usize {
            let problem = Problem::Expected { expected: KINDS[kind as usize], found: name.into() };
            return Err(Fault::from(problem).in_field("data"));
        }
        let in_data = |f: Fault| f.in_field(name).in_field("data");
        let node = self.check_levels(node, tree, kind).map_err(in_data)?;
        if self.root != root {
            let problem = Problem::nodes_differ(&self.root, &root, "the first challenge's");
            return Err(in_data(Fault::from(problem).in_field("root")));
        }
        let [mut base, sub, top] = array::from_fn(|i| std::mem::take(&mut self.sections[i].siblings));
        base.extend(sub);
        base.extend(top);
        Ok(MerkleProof { tree, node, leaf: self.leaf, siblings: base.into_boxed_slice() })
    }

    /// Compares levels and siblings with the tree's, and the indices with the
    /// digits of `node`; gives the leaf that the indices are the digits of.
    fn check_levels(&self, node: Option<u32>, tree: TreeShape, kind: TreeKind) -> Result<u32, Fault> {
        let mut arities = tree.arities();
        let (mut below, mut leaf) = (0, 0);
        for (i, (section, name)) in self.sections.iter().zip(SECTIONS[kind as usize]).enumerate() {
            let in_section = |f: Fault| f.in_field("path").in_field(name);
            let expected = if i == 0 { tree.height() - kind.apart() } else { 1 };
            count(section.levels.len(), expected).map_err(|p| in_section(p.into()))?;
            for (level, ((siblings, index), arity)) in section.levels.iter().zip(&mut arities).enumerate() {
                let in_level = |f: Fault| in_section(f.in_element(level));
                count(*siblings, arity - 1).map_err(|p| in_level(Fault::from(p).in_field("hashes")))?;
                let digit = node.map(|node| (node as usize >> below) % arity);
                if digit.is_some_and(|digit| *index != digit as u64) {
                    let (digit, of) = (digit.unwrap_or_default(), "the child on the way to the node");
                    return Err(in_level(Fault::from(Problem::differs(index, digit, of)).in_field("index")));
                }
                if *index >= arity as u64 {
                    let expected = "the index of a child";
                    let problem =
                        Problem::Expected { expected, found: format!("{index} of {arity} children") };
                    return Err(in_level(Fault::from(problem).in_field("index")));
                }
                leaf |= (*index as u32) << below;
                below += arity.ilog2();
            }
        }
        Ok(leaf)
    }
}

pub(crate) const REACHES: &str = "the root that the path must reach";

/// The root that a path reaches.
pub(crate) fn climb(path: &MerkleProof, parent: impl Fn(&[Node]) -> Node) -> Node {
    climb_from(path.leaf, path.levels(), parent)
}

/// The node that some levels of a path lead to from one of its nodes.
pub(crate) fn climb_from<'a>(
    node: Node,
    levels: impl Iterator<Item = Level<'a>>,
    parent: impl Fn(&[Node]) -> Node,
) -> Node {
    let mut children = Vec::with_capacity(8);
    levels.fold(node, |child, level| {
        let (before, after) = level.siblings.split_at(level.index);
        children.clear();
        children.extend_from_slice(before);
        children.push(child);
        children.extend_from_slice(after);
        parent(&children)
    })
}

/// The roots that paths of one `TreeC` or `TreeR` reach, which are taken up side
/// by side; or which path has a node that is no scalar.
pub(crate) fn roots(paths: &[&MerkleProof]) -> Result<Vec<Node>, (usize, Problem)> {
    let Some(tree) = paths.first().map(|path| path.tree) else { return Ok(Vec::new()) };
    let scalar =
        |i: usize, node: &Node| hash::scalar(node).ok_or((i, Problem::NotCanonical { value: *node }));
    let leaves = paths.iter().enumerate().map(|(i, path)| scalar(i, &path.leaf));
    let mut nodes: Vec<Scalar> = leaves.collect::<Result<_, _>>()?;
    let mut levels: Vec<_> = paths.iter().map(|path| path.levels()).collect();
    let mut families = Vec::new();
    for arity in tree.arities() {
        families.clear();
        for (i, (node, levels)) in nodes.iter().zip(&mut levels).enumerate() {
            let Some(Level { index, siblings }) = levels.next() else { break };
            for sibling in &siblings[..index] {
                families.push(scalar(i, sibling)?);
            }
            families.push(*node);
            for sibling in &siblings[index..] {
                families.push(scalar(i, sibling)?);
            }
        }
        nodes = hash::poseidon(arity, &families);
    }
    Ok(nodes.iter().map(PrimeField::to_repr).collect())
}

/// That a node is the one that it must be.
pub(crate) fn same(found: &Node, expected: &Node, of: &'static str) -> Result<(), Fault> {
    if found == expected { Ok(()) } else { Err(Problem::nodes_differ(found, expected, of).into()) }
}
