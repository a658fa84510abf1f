//! Compact witnesses to devices.

use cuzk_gpu_backend::{Arg, Backend, Context, Device, Grid, Stream};
use cuzk_pipeline_core::{Cost, Cx, Footprint};
use cuzk_values::{DeviceWitness, Witness};

use super::kernels::{FAMILY, SCALAR, limbs};
use super::staging::Sender;
use super::taken;
use crate::{SynthError, WitnessSize};

/// A witness on a device. The copies are queued on [`Context::transfer`], and what is queued on
/// [`Context::compute`] from then on comes after them; the witness was read when this returns.
///
/// The host writes page-locked memory and waits for nothing but its turn there: bits, the wide values,
/// and their places as they are stored, which the device writes out.
///
/// # Errors
/// [`SynthError::Device`], [`SynthError::Cancelled`].
pub fn upload<B: Backend>(
    cx: &Cx<'_>,
    context: &Context<B>,
    witness: &Witness,
) -> Result<DeviceWitness<B::Buffer>, SynthError> {
    let (device, aux) = (context.device(), &witness.aux);
    let places = aux.wide_at();
    let (run, start, period) = places.run();
    let buffer = |bytes: u64, items: usize| device.buffer(bytes * items as u64);
    let inputs = buffer(SCALAR, witness.inputs.len())?;
    let ones = buffer(8, aux.ones().words().len())?;
    let wide_at = buffer(4, places.len())?;
    let wide = buffer(SCALAR, aux.wide().len())?;

    let mut sender = Sender::new(cx, context);
    sender.send((&inputs, 0), &witness.inputs, limbs)?;
    sender.send((&wide_at, 0), places.first(), |place| *place)?;
    if places.len() > places.first().len() {
        let (first, expand) = (places.first().len() as u64, device.kernel(&FAMILY, "eval_places")?);
        let stored = buffer(4, run.len())?;
        sender.send((&stored, 0), run, |place| *place)?;
        let grid = Grid::cover(places.len() as u64 - first, 256);
        let args =
            [Arg::U32(start), Arg::U32(period), Arg::U64(first), Arg::Read(&stored), Arg::Write(&wide_at)];
        context.transfer().launch(&expand, grid, &args)?;
    }
    sender.send((&ones, 0), aux.ones().words(), |word| *word)?;
    sender.send((&wide, 0), aux.wide(), limbs)?;
    context.after_transfers()?;
    Ok(DeviceWitness { inputs, ones, wide_at, wide, aux: aux.len() })
}

/// What [`upload`] takes of a device for a witness of this size.
pub(super) fn cost(size: &WitnessSize) -> Cost {
    let WitnessSize { inputs, aux, wide, places } = *size;
    let parts = [(SCALAR, inputs), (8, aux.div_ceil(64)), (4, wide), (SCALAR, wide)];
    let parts = parts.map(|(bytes, items)| taken(bytes * items as u64));
    let stored = Footprint::device(taken(4 * places as u64));
    Cost::free().scratch(stored).output(Footprint::device(parts.iter().sum()))
}
