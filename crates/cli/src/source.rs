//! Inputs from files, checked against what the user says they are.

use std::fs::File;
use std::path::Path;

use anyhow::Context as _;
use clap::ValueEnum as _;
use cuzk_synth::c1::{self, Identity};
use cuzk_synth::input::{InputError, Watch};
use cuzk_synth::{
    FilecoinCircuit, PorepCircuit, PostCircuit, SectorShape, SnapCircuit, Statement, post, snap,
};
use cuzk_values::{C1, Post, PostKind, Scalar, Snap};

use crate::args::{GivenWindow, Kind, PorepInput, PostInput, SnapInput, WindowPostInput, WinningPostInput};
use crate::failure::{Classify as _, Failure};
use crate::printer::Printer;
use crate::progress::Meter;
use crate::units::{self, counted};
use crate::{files, input};

/// An input of one kind that a command names.
pub(crate) trait Source {
    /// What is proved of it.
    type Statement: Statement<Input: Clone>;

    /// The file.
    fn path(&self) -> &Path;

    /// Reads it in any encoding and checks all but its trees.
    fn decode(&self, printer: Printer) -> Result<Given<Self::Statement>, Failure>;
}

/// An input, and the circuit that its proofs are of.
pub(crate) struct Given<S: Statement> {
    pub(crate) statement: S,
    pub(crate) input: S::Input,
    pub(crate) shape: SectorShape,
    /// What it is, for people.
    pub(crate) what: String,
    check_trees: fn(&S::Input, &Watch<'_>) -> Result<(), InputError>,
}

impl<S: Statement> Given<S> {
    /// How many proofs it takes.
    pub(crate) fn partitions(&self) -> usize {
        S::partitions(&self.input)
    }

    /// Follows every path in its trees.
    pub(crate) fn check_trees(&self, printer: Printer, path: &Path) -> Result<(), Failure> {
        let meter = Meter::steps(printer, "following paths");
        input::check_trees(|watch| (self.check_trees)(&self.input, watch), path, &meter)
    }

    /// The public inputs of each partition, ONE first.
    pub(crate) fn public_inputs(&self) -> Result<Vec<Vec<Scalar>>, Failure> {
        let of = |i| self.statement.public_inputs(&self.input, i);
        (0..self.partitions()).map(of).collect::<Result<_, _>>().or_input()
    }
}

/// Reads an input, and follows every path in its trees, so that no proof is begun
/// that cannot verify.
pub(crate) fn provable<I: Source>(printer: Printer, source: &I) -> Result<Given<I::Statement>, Failure> {
    let given = source.decode(printer)?;
    given.check_trees(printer, source.path())?;
    Ok(given)
}

/// Reads a file by `decode`.
fn read<T>(path: &Path, decode: impl FnOnce(File) -> Result<T, InputError>) -> Result<T, Failure> {
    let (file, _) = files::open(path)?.into_parts();
    decode(file).map_err(|error| input::failure(error, path))
}

/// The circuit of an input that has been decoded, so that there is one.
fn of_size<C>(circuit: Option<C>, shape: SectorShape) -> Result<C, Failure> {
    circuit.with_context(|| format!("no circuit for {shape}")).or_bug()
}

impl Source for PorepInput {
    type Statement = PorepCircuit;

    fn path(&self) -> &Path {
        &self.c1
    }

    fn decode(&self, printer: Printer) -> Result<Given<PorepCircuit>, Failure> {
        let c1: C1 = read(&self.c1, c1::decode)?;
        let here = || self.c1.display().to_string();
        let shape = c1::shape_of(&c1).with_context(here).or_input()?;
        let known = &self.sector;
        let identity = Identity {
            prover_id: known.miner_addr.map(|miner| c1::prover_id(miner.0)),
            sector_number: known.sector_number,
            porep_id: None,
        };
        input::identify(printer, &c1, &identity).with_context(here).or_input()?;
        Ok(Given {
            statement: of_size(PorepCircuit::of_size(shape.sector_size()), shape)?,
            what: format!("a {shape} sector, {}", counted(c1.partitions.len(), "partition")),
            input: c1,
            shape,
            check_trees: c1::check_trees_watched,
        })
    }
}

impl Source for SnapInput {
    type Statement = SnapCircuit;

    fn path(&self) -> &Path {
        &self.input
    }

    fn decode(&self, _: Printer) -> Result<Given<SnapCircuit>, Failure> {
        let known = input::known_of_snap(&self.given);
        let snap: Snap = read(&self.input, |file| snap::decode(file, &known))?;
        let shape = snap::shape_of(&snap).or_input()?.sector;
        Ok(Given {
            statement: of_size(SnapCircuit::of_size(shape.sector_size()), shape)?,
            what: format!("an update of a {shape} sector, {}", counted(snap.partitions.len(), "partition")),
            input: snap,
            shape,
            check_trees: snap::check_trees_watched,
        })
    }
}

impl Source for WindowPostInput {
    type Statement = PostCircuit;

    fn path(&self) -> &Path {
        &self.post.input
    }

    fn decode(&self, printer: Printer) -> Result<Given<PostCircuit>, Failure> {
        decode_post(printer, &self.post, PostKind::Window, self.window)
    }
}

impl Source for WinningPostInput {
    type Statement = PostCircuit;

    fn path(&self) -> &Path {
        &self.post.input
    }

    fn decode(&self, printer: Printer) -> Result<Given<PostCircuit>, Failure> {
        decode_post(printer, &self.post, PostKind::Winning, GivenWindow::default())
    }
}

fn decode_post(
    printer: Printer,
    options: &PostInput,
    kind: PostKind,
    window: GivenWindow,
) -> Result<Given<PostCircuit>, Failure> {
    let known = input::known_of_post(options.miner_addr, options.randomness, window);
    let known = post::Known { kind: Some(kind), ..known };
    let post: Post = read(&options.input, |file| post::decode(file, &known))?;
    let shape = post::shape_of(&post).or_input()?.sector;
    warn_of_order(printer, post.sectors.iter().map(|sector| sector.number));
    let sectors = counted(post.sectors.len(), "sector");
    Ok(Given {
        statement: of_size(PostCircuit::of_size(post.kind, shape.sector_size()), shape)?,
        what: format!("a {} of {sectors} of {shape}", post::kind_name(post.kind)),
        input: post,
        shape,
        check_trees: post::check_trees_watched,
    })
}

/// Warns where sectors do not come as verifiers take them.
pub(crate) fn warn_of_order(printer: Printer, numbers: impl Iterator<Item = u64>) {
    if !numbers.is_sorted_by(|one, next| one < next) {
        printer.warn(
            "warning: the sectors' numbers do not ascend: Filecoin's verifiers take each sector once, in order",
        );
    }
}

/// A circuit by what it proves and of what size.
pub(crate) fn circuit(kind: Kind, shape: SectorShape) -> Result<FilecoinCircuit, Failure> {
    let name = kind.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
    units::circuit(&format!("{name}-{shape}")).map_err(anyhow::Error::msg).or_input()
}
