//! A compact witness on a device, and the evaluations of A and B there.
//!
//! No variable is expanded, and no row is stored but once: a column's two bits say whether its value is
//! 1 or wide, and the repeated rows are read once for each copy with their columns moved. Scalars are
//! little-endian Montgomery forms of 32 bytes, as blst's `blst_fr`.

mod fill;
mod kernels;
mod slices;
mod stage;
mod staging;
mod upload;

use std::fmt;

use cuzk_gpu_backend::{Arg, Backend, Buffer, Context, Device, Grid, Stream};
use cuzk_pipeline_core::{Cx, Footprint, Value};
use cuzk_values::{DeviceWitness, Evals, Matrix, OnDevice, Poly, R1cs, Scalar};

use crate::cpu::{DIGITS, scalar, small};
use crate::{SynthError, WitnessSize};

pub use kernels::FAMILY;
use kernels::{Run, SCALAR, limbs};
use slices::{Batch, Entry, Extent, Slice};
pub use stage::{DeviceEval, LoadTemplate, UploadWitness};
use staging::Sender;
pub use upload::upload;

/// Threads of a block.
const THREADS: u32 = 256;

/// Columns that share two words of bits.
const BLOCK: usize = 32;

/// A device's evaluations.
type OnDeviceEvals<B> = Poly<Evals, OnDevice<<B as Backend>::Buffer>>;

/// The bytes that a device gives for `bytes`: whole blocks of an [`Arena`](cuzk_gpu_backend::Arena).
const fn taken(bytes: u64) -> u64 {
    bytes.next_multiple_of(256)
}

/// The matrices A and B of a circuit on a device, from which [`evaluate`](Self::evaluate) makes
/// a and b. C is not there: of a satisfied witness c = a∘b.
pub struct DeviceTemplate<B: Backend> {
    size: Size,
    columns: B::Kernel,
    rows: B::Kernel,
    coefficients: B::Buffer,
    small: B::Buffer,
    digits: B::Buffer,
    matrices: [DeviceMatrix<B>; 2],
    bytes: u64,
}

/// What a circuit has of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Size {
    inputs: usize,
    aux: usize,
    constraints: usize,
    log_domain: u32,
}

/// A matrix in [`slices`].
struct DeviceMatrix<B: Backend> {
    run: Run,
    extent: Extent,
    slices: B::Buffer,
    rows: B::Buffer,
    entries: B::Buffer,
    bound: B::Buffer,
}

impl<B: Backend> DeviceMatrix<B> {
    fn buffers(&self) -> [&B::Buffer; 4] {
        [&self.slices, &self.rows, &self.entries, &self.bound]
    }
}

/// What a template will take, by what it is made of.
#[derive(Debug, Clone, Copy)]
struct Plan {
    matrices: [Extent; 2],
    bytes: u64,
    /// The most that making it holds on the host.
    scratch: u64,
}

impl Plan {
    fn new(r1cs: &R1cs) -> Self {
        let matrices = [&r1cs.a, &r1cs.b].map(slices::extent);
        let coefficients = r1cs.coefficients.values().len() as u64;
        let shared =
            taken(SCALAR * coefficients) + taken(4 * coefficients) + taken(SCALAR * DIGITS.count() as u64);
        let of = |(extent, matrix): (&Extent, &Matrix)| {
            let parts = [
                size_of::<Slice>() * extent.slices,
                4 * extent.rows,
                size_of::<Entry>() * extent.entries,
                4 * matrix.repeat().bound.len(),
            ];
            parts.iter().map(|bytes| taken(*bytes as u64)).sum::<u64>()
        };
        let bytes = shared + matrices.iter().zip([&r1cs.a, &r1cs.b]).map(of).sum::<u64>();
        let scratch = matrices.iter().map(Batch::scratch).max().unwrap_or(0);
        Self { matrices, bytes, scratch }
    }
}

impl<B: Backend> DeviceTemplate<B> {
    /// The bytes of a device that the template of these constraints takes.
    pub fn bytes(r1cs: &R1cs) -> u64 {
        Plan::new(r1cs).bytes
    }

    /// The template of these constraints. The copies are queued on [`Context::transfer`], and what is
    /// queued on [`Context::compute`] from then on comes after them; the constraints were read when
    /// this returns. The host holds a few megabytes meanwhile.
    ///
    /// # Errors
    /// [`SynthError::Device`].
    pub fn new(context: &Context<B>, r1cs: &R1cs) -> Result<Self, SynthError> {
        Self::planned(&Cx::detached(), context, r1cs, &Plan::new(r1cs))
    }

    fn planned(cx: &Cx<'_>, context: &Context<B>, r1cs: &R1cs, plan: &Plan) -> Result<Self, SynthError> {
        let kernel = |name| context.device().kernel(&FAMILY, name);
        let (columns, rows) = (kernel("eval_columns")?, kernel("eval_rows")?);
        let mut sender = Sender::new(cx, context);
        let values = r1cs.coefficients.values();
        let digits: Vec<Scalar> = DIGITS.map(scalar).collect();
        let template = Self {
            size: Size {
                inputs: r1cs.inputs,
                aux: r1cs.aux,
                constraints: r1cs.constraints(),
                log_domain: r1cs.log_domain(),
            },
            columns,
            rows,
            coefficients: sender.made(values, limbs)?,
            small: sender.made(values, small)?,
            digits: sender.made(&digits, limbs)?,
            matrices: [sender.matrix(&r1cs.a, plan.matrices[0])?, sender.matrix(&r1cs.b, plan.matrices[1])?],
            bytes: plan.bytes,
        };
        same(
            "bytes of constraints",
            template.buffers().map(|b| taken(b.bytes()) as usize).sum(),
            plan.bytes as usize,
        )?;
        context.after_transfers()?;
        Ok(template)
    }

    fn buffers(&self) -> impl Iterator<Item = &B::Buffer> {
        let shared = [&self.coefficients, &self.small, &self.digits];
        shared.into_iter().chain(self.matrices.iter().flat_map(DeviceMatrix::buffers))
    }

    /// The bytes of a device that [`evaluate`](Self::evaluate) holds while it works.
    fn scratch(inputs: usize, aux: usize) -> u64 {
        let blocks = (inputs + aux).div_ceil(BLOCK) as u64;
        taken(8 * blocks) + taken(4 * blocks)
    }

    /// The evaluations of A and B at the points of the domain, zeros after the last constraint, as
    /// [`eval_ab`](crate::eval_ab)'s. Queued on [`Context::compute`].
    ///
    /// # Errors
    /// [`SynthError::Foreign`] for a witness of another circuit, before anything is queued;
    /// [`SynthError::Device`].
    pub fn evaluate(
        &self,
        context: &Context<B>,
        witness: &DeviceWitness<B::Buffer>,
    ) -> Result<(OnDeviceEvals<B>, OnDeviceEvals<B>), SynthError> {
        let Size { inputs, aux, log_domain, .. } = self.size;
        let items = |buffer: &B::Buffer, bytes: u64| (buffer.bytes() / bytes) as usize;
        for (what, found, expected) in [
            ("inputs", items(&witness.inputs, SCALAR), inputs),
            ("auxiliary variables", witness.aux, aux),
            ("words of bits", items(&witness.ones, 8), aux.div_ceil(64)),
            ("full-width values", items(&witness.wide, SCALAR), items(&witness.wide_at, 4)),
        ] {
            same(what, found, expected)?;
        }
        let (device, stream) = (context.device(), context.compute());
        let words = (inputs + aux).div_ceil(BLOCK) as u64;
        let (blocks, ranks) = (device.buffer(8 * words)?, device.buffer(4 * words)?);
        let out = [device.buffer(SCALAR << log_domain)?, device.buffer(SCALAR << log_domain)?];
        let args = [
            Arg::Read(&witness.inputs),
            Arg::Read(&witness.ones),
            Arg::Read(&witness.wide_at),
            Arg::Write(&blocks),
            Arg::Write(&ranks),
        ];
        stream.launch(&self.columns, Grid::cover(words, THREADS), &args)?;
        for (matrix, out) in self.matrices.iter().zip(&out) {
            stream.zero(out, SCALAR * self.size.constraints as u64..out.bytes())?;
            let DeviceMatrix { run, extent, slices, rows, entries, bound } = matrix;
            let [count, ..] = run;
            let warps = (extent.slices + extent.repeated * (*count as usize - 1)) as u64;
            let args = [
                Arg::Value(bytemuck::bytes_of(run)),
                Arg::U64(extent.repeated as u64),
                Arg::Read(slices),
                Arg::Read(rows),
                Arg::Read(entries),
                Arg::Read(bound),
                Arg::Read(&self.coefficients),
                Arg::Read(&self.small),
                Arg::Read(&self.digits),
                Arg::Read(&blocks),
                Arg::Read(&ranks),
                Arg::Read(&witness.inputs),
                Arg::Read(&witness.wide),
                Arg::Write(out),
            ];
            stream.launch(&self.rows, Grid::cover(warps * slices::LANES as u64, THREADS), &args)?;
        }
        Ok(out.map(|out| Poly::on_device(out, log_domain)).into())
    }

    /// Whether it is of the circuit that the caller has in mind.
    fn check(&self, witness: &WitnessSize, log_domain: u32) -> Result<(), SynthError> {
        same("inputs", self.size.inputs, witness.inputs)?;
        same("auxiliary variables", self.size.aux, witness.aux)?;
        same("points of the domain", 1 << self.size.log_domain, 1 << log_domain)
    }
}

fn same(what: &'static str, found: usize, expected: usize) -> Result<(), SynthError> {
    if found == expected { Ok(()) } else { Err(SynthError::Foreign { what, found, expected }) }
}

impl<B: Backend> Value for DeviceTemplate<B> {
    fn footprint(&self) -> Footprint {
        Footprint::device(self.bytes)
    }
}

impl<B: Backend> fmt::Debug for DeviceTemplate<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceTemplate of {:?}, {} bytes on {}", self.size, self.bytes, B::NAME)
    }
}
