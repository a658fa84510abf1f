//! Which variables have a base in each query, on a device.

use std::iter::repeat_n;

use cuzk_gpu_backend::{Backend, Context, Device, Stream};
use cuzk_pipeline_core::{Footprint, Value};
use cuzk_values::{Bits, Densities};

use crate::MsmError;

/// What words are rounded to: whole blocks of a device's memory, so that all bytes are known before.
const GRAIN: usize = 64;

/// A bit for each variable of a query, and their ranks: the number of a variable's base is how many bits
/// are set before its own.
#[derive(Debug)]
pub struct QueryDensity<B: Backend> {
    /// Words of 64 bits, lowest first: of the inputs, and from a new word on of the auxiliary variables.
    pub(super) words: B::Buffer,
    /// The bits that are set before each word, of 4 bytes.
    pub(super) ranks: B::Buffer,
    pub(super) inputs: usize,
    pub(super) aux: usize,
    /// Bases of the query.
    pub(super) bases: usize,
}

/// Words for so many variables.
fn words(inputs: usize, aux: usize) -> usize {
    (inputs.div_ceil(64) + aux.div_ceil(64)).next_multiple_of(GRAIN)
}

impl<B: Backend> QueryDensity<B> {
    fn new(context: &Context<B>, inputs: &Bits, aux: &Bits) -> Result<Self, MsmError> {
        let len = words(inputs.len(), aux.len());
        let bits = inputs.words().iter().chain(aux.words()).copied();
        let bits: Vec<u64> = bits.chain(repeat_n(0, len)).take(len).collect();
        let bits = Bits::from_words(bits, 64 * len).unwrap_or_default();
        let upload = |bytes: &[u8]| {
            let buffer = context.device().buffer(bytes.len() as u64)?;
            context.transfer().upload(bytes, &buffer, 0)?;
            Ok::<_, MsmError>(buffer)
        };
        Ok(Self {
            words: upload(bytemuck::cast_slice(bits.words()))?,
            ranks: upload(bytemuck::cast_slice(&bits.rank_blocks()))?,
            inputs: inputs.len(),
            aux: aux.len(),
            bases: bits.count_ones(),
        })
    }

    /// How many bases the query has.
    pub fn bases(&self) -> usize {
        self.bases
    }
}

/// The queries of a circuit that are summed over its witnesses, on a device.
#[derive(Debug)]
pub struct DeviceDensity<B: Backend> {
    /// All auxiliary variables.
    pub l: QueryDensity<B>,
    /// The inputs, and auxiliary variables in A.
    pub a: QueryDensity<B>,
    /// Inputs and auxiliary variables in B.
    pub b: QueryDensity<B>,
}

impl<B: Backend> DeviceDensity<B> {
    /// Those of a circuit, on the way to the device.
    ///
    /// # Errors
    /// What the device says.
    pub fn new(context: &Context<B>, densities: &Densities) -> Result<Self, MsmError> {
        let Densities { a_aux, b_inputs, b_aux } = densities;
        let (inputs, aux) = (b_inputs.len(), a_aux.len());
        if b_aux.len() != aux {
            let what = "auxiliary variables";
            return Err(MsmError::Density { what, bits: b_aux.len(), variables: aux });
        }
        let density = Self {
            l: QueryDensity::new(context, &Bits::zeros(inputs), &Bits::ones(aux))?,
            a: QueryDensity::new(context, &Bits::ones(inputs), a_aux)?,
            b: QueryDensity::new(context, b_inputs, b_aux)?,
        };
        context.after_transfers()?;
        Ok(density)
    }

    /// The bytes of the device that those of a circuit take.
    pub fn bytes(densities: &Densities) -> u64 {
        3 * 12 * words(densities.b_inputs.len(), densities.a_aux.len()) as u64
    }
}

impl<B: Backend> Value for DeviceDensity<B> {
    fn footprint(&self) -> Footprint {
        let queries = [&self.l, &self.a, &self.b].into_iter();
        queries.fold(Footprint::ZERO, |sum, query| sum + query.words.footprint() + query.ranks.footprint())
    }
}
