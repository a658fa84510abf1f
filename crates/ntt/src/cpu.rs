//! A transform on the CPU: which passes, with which constants.

use cuzk_pipeline_core::Cancelled;
use cuzk_values::Scalar;
use ff::Field;

#[cfg(target_arch = "x86_64")]
use crate::arith::Ifma;
use crate::arith::{self, Flow, Lanes, Memory, Pass, Portable, Scratch, Transform, reversed};
use crate::roots::{self, Powers};

/// The fewest levels of a pass, so that a tile finds enough blocks or columns for all lanes.
const MIN_LEVELS: u32 = 3;

/// An instruction set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub enum Path {
    /// Any CPU.
    Portable,
    /// x86-64 with AVX-512 IFMA and VBMI2: Intel from Ice Lake, AMD from Zen 4.
    Ifma,
}

impl Path {
    /// All that this CPU has, the fastest last.
    pub fn available() -> Vec<Self> {
        let mut paths = vec![Self::Portable];
        #[cfg(target_arch = "x86_64")]
        paths.extend(Ifma::detect().map(|_| Self::Ifma));
        paths
    }
}

/// What is to be done with `n` scalars `c_j`: output `i` is
/// `scale output^i sum_j c_j (input w^i)^j`, `w` the `n`-th root of unity or its inverse.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Task {
    pub(crate) flow: Flow,
    pub(crate) inverse: bool,
    pub(crate) input: Scalar,
    pub(crate) output: Scalar,
    pub(crate) scale: Scalar,
}

impl Task {
    /// The values of a polynomial at `shift w^i`.
    pub(crate) fn evaluate(flow: Flow, shift: Scalar) -> Self {
        Self { flow, inverse: false, input: shift, output: Scalar::ONE, scale: Scalar::ONE }
    }
}

/// Called between passes; stops the transform.
pub(crate) type Checkpoint<'a> = &'a (dyn Fn() -> Result<(), Cancelled> + Sync);

/// Splits `log_len` levels into passes that fit a core's cache, as few and as equal as
/// possible, the first those that join scalars far apart. There are none for a length
/// that is too short for two.
pub(crate) fn passes(log_len: u32) -> Vec<Pass> {
    if log_len < 2 * MIN_LEVELS {
        return Vec::new();
    }
    let count = log_len.div_ceil(Pass::MAX_LEVELS).max(2);
    let mut above = 0;
    let mut next = |i| {
        let levels = (log_len - above) / (count - i);
        let pass = Pass { above, levels, below: log_len - above - levels };
        above += levels;
        pass
    };
    (0..count).map(&mut next).collect()
}

/// The passes of one length, and their twiddles prepared for one instruction set.
pub(crate) struct Tables<L: Lanes> {
    lanes: L,
    passes: Vec<Pass>,
    forward: Vec<L::Fixed>,
    inverse: Vec<L::Fixed>,
}

impl<L: Lanes> Tables<L> {
    fn new(lanes: L, log_len: u32) -> Self {
        let passes = passes(log_len);
        let log = passes.iter().map(|pass| pass.levels - 1).max().unwrap_or(0);
        let prepare = |inverse| roots::twiddles(log, inverse).iter().map(L::fixed).collect();
        Self { lanes, passes, forward: prepare(false), inverse: prepare(true) }
    }

    fn bytes(&self) -> usize {
        size_of::<L::Fixed>() * (self.forward.len() + self.inverse.len())
    }

    fn thread_bytes(&self) -> usize {
        self.passes.iter().map(|pass| pass.memory_bytes::<L>()).max().unwrap_or(0)
    }

    /// Does the task, pass by pass. `roots` are the powers of the root of unity.
    fn run(
        &self,
        scalars: &mut [Scalar],
        task: &Task,
        roots: &Powers,
        checkpoint: Checkpoint<'_>,
    ) -> Result<(), Cancelled> {
        let outputs = (task.output != Scalar::ONE).then(|| Powers::new(task.output, scalars.len().ilog2()));
        let outputs = Outputs { scale: task.scale, powers: outputs.as_ref() };
        let scratch = Scratch::new();
        for i in 0..self.passes.len() {
            checkpoint()?;
            let last = self.passes.len() - 1;
            let pass = self.passes[if task.flow == Flow::Dif { i } else { last - i }];
            let outputs = if i == last { outputs } else { Outputs::AS_THEY_ARE };
            self.pass(scalars, pass, task, roots, outputs, &scratch);
        }
        Ok(())
    }

    /// The rows of a pass are coefficients of a polynomial in `y`, a power of the whole
    /// transform's variable, and there is one for each block (DIF: rows far apart come first)
    /// or each column (DIT). What `y` is to be is a power of the root of unity that
    /// grows with the block or column, in natural order, times that power of the shift.
    fn pass(
        &self,
        scalars: &mut [Scalar],
        pass: Pass,
        task: &Task,
        roots: &Powers,
        outputs: Outputs<'_>,
        scratch: &Scratch<Memory<L>>,
    ) {
        let n = scalars.len();
        let (log_power, log_count) = match task.flow {
            Flow::Dif => (pass.below, pass.above),
            Flow::Dit => (pass.above, pass.below),
        };
        let natural = |i, bits| if task.flow == Flow::Dif { reversed(i, bits) } else { i };
        let shift = (0..log_power).fold(task.input, |shift, _| shift.square());
        let twist = |i: usize| {
            let i = natural(i, log_count);
            let power = i << log_power;
            let root = roots.get(if task.inverse { (n - power) % n } else { power });
            (shift * root, outputs.factor(i))
        };
        let plain = log_count == 0 && shift == Scalar::ONE && outputs.scale == Scalar::ONE;
        let rows: Vec<_> = match outputs.powers {
            Some(powers) => (0..1 << pass.levels)
                .map(|row| L::fixed(&powers.get(natural(row, pass.levels) << log_count)))
                .collect(),
            None => Vec::new(),
        };
        let transform = Transform {
            flow: task.flow,
            common: if task.inverse { &self.inverse } else { &self.forward },
            twist: if plain && rows.is_empty() { None } else { Some(&twist) },
            rows: &rows,
        };
        arith::pass(self.lanes, scalars, pass, &transform, scratch);
    }
}

/// Factors of the outputs, of which output `i` has `scale base^i`.
#[derive(Clone, Copy)]
struct Outputs<'a> {
    scale: Scalar,
    powers: Option<&'a Powers>,
}

impl Outputs<'_> {
    const AS_THEY_ARE: Self = Self { scale: Scalar::ONE, powers: None };

    fn factor(&self, i: usize) -> Scalar {
        self.powers.map_or(self.scale, |powers| self.scale * powers.get(i))
    }
}

/// [`Tables`] for the instruction set that was chosen.
pub(crate) enum Engine {
    Portable(Tables<Portable>),
    #[cfg(target_arch = "x86_64")]
    Ifma(Tables<Ifma>),
}

/// Calls a method of the tables that an [`Engine`] has.
macro_rules! tables {
    ($engine:expr, $tables:ident => $call:expr) => {
        match $engine {
            Engine::Portable($tables) => $call,
            #[cfg(target_arch = "x86_64")]
            Engine::Ifma($tables) => $call,
        }
    };
}

impl Engine {
    /// For domains of `2^log_len` points; portable where the CPU lacks `path`.
    pub(crate) fn new(path: Path, log_len: u32) -> Self {
        #[cfg(target_arch = "x86_64")]
        if path == Path::Ifma
            && let Some(ifma) = Ifma::detect()
        {
            return Self::Ifma(Tables::new(ifma, log_len));
        }
        let _ = path;
        Self::Portable(Tables::new(Portable, log_len))
    }

    /// Whether there are passes: transforms of few scalars go without.
    pub(crate) fn has_passes(&self) -> bool {
        tables!(self, tables => !tables.passes.is_empty())
    }

    /// The bytes of the tables.
    pub(crate) fn bytes(&self) -> usize {
        tables!(self, tables => tables.bytes())
    }

    /// The bytes that each thread works in during a transform.
    pub(crate) fn thread_bytes(&self) -> usize {
        tables!(self, tables => tables.thread_bytes())
    }

    /// See [`Tables::run`].
    pub(crate) fn run(
        &self,
        scalars: &mut [Scalar],
        task: &Task,
        roots: &Powers,
        checkpoint: Checkpoint<'_>,
    ) -> Result<(), Cancelled> {
        tables!(self, tables => tables.run(scalars, task, roots, checkpoint))
    }

    /// `a_i *= b_i`
    pub(crate) fn multiply(&self, a: &mut [Scalar], b: &[Scalar]) {
        tables!(self, tables => arith::multiply(tables.lanes, a, b));
    }

    /// `a_i b_i`, in new memory.
    pub(crate) fn product(&self, a: &[Scalar], b: &[Scalar]) -> Vec<Scalar> {
        tables!(self, tables => arith::product(tables.lanes, a, b))
    }
}
