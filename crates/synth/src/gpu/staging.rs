//! Page-locked memory through which values go to devices.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use bytemuck::Pod;
use cuzk_gpu_backend::{Backend, Context, Device, Pinned, Stream};
use cuzk_pipeline_core::{Cx, Footprint};
use rayon::prelude::*;

use crate::SynthError;

/// Bytes of each of a device's two pieces.
const PIECE: u64 = 8 << 20;

/// What one thread writes at a time.
const SHARE: usize = 1 << 16;

/// Two pieces of page-locked memory for each device, made when they are first used and kept: one is
/// filled while the other is on its way.
pub struct Staging<B: Backend> {
    /// By the device's name.
    devices: Mutex<Vec<(String, Shared<B>)>>,
}

type Shared<B> = Arc<Mutex<Pieces<B>>>;

impl<B: Backend> Staging<B> {
    /// None yet.
    pub fn new() -> Self {
        Self { devices: Mutex::default() }
    }

    /// What it keeps for each device.
    pub const fn footprint() -> Footprint {
        Footprint::pinned(2 * PIECE)
    }

    /// A device's pieces.
    pub(super) fn pieces(&self, context: &Context<B>) -> Result<Shared<B>, SynthError> {
        let mut devices = self.devices.lock().unwrap_or_else(PoisonError::into_inner);
        let id = context.device().info().id();
        if let Some((_, pieces)) = devices.iter().find(|(other, _)| *other == id) {
            return Ok(pieces.clone());
        }
        let pieces = Arc::new(Mutex::new(Pieces::new(context)?));
        devices.push((id, pieces.clone()));
        Ok(pieces)
    }
}

impl<B: Backend> Default for Staging<B> {
    fn default() -> Self {
        Self::new()
    }
}

impl<B: Backend> fmt::Debug for Staging<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Staging on {}", B::NAME)
    }
}

/// The pieces of one device.
pub(super) struct Pieces<B: Backend> {
    pieces: [B::Pinned; 2],
    next: usize,
}

impl<B: Backend> Pieces<B> {
    pub(super) fn new(context: &Context<B>) -> Result<Self, SynthError> {
        let piece = || context.device().pinned(PIECE);
        Ok(Self { pieces: [piece()?, piece()?], next: 0 })
    }

    /// Queues the copy of `items`, each of which is turned into a `W`, to `to` from byte `at` on.
    /// Waits for no more than the copy before the last.
    pub(super) fn send<T: Sync, W: Pod + Send>(
        &mut self,
        cx: &Cx<'_>,
        context: &Context<B>,
        (to, at): (&B::Buffer, u64),
        items: &[T],
        word: impl Fn(&T) -> W + Sync,
    ) -> Result<(), SynthError> {
        let size = size_of::<W>() as u64;
        let mut at = at;
        for items in items.chunks((PIECE / size) as usize) {
            cx.checkpoint()?;
            let piece = &mut self.pieces[self.next];
            self.next = 1 - self.next;
            let bytes = size * items.len() as u64;
            piece.write(|piece| {
                let words: &mut [W] = bytemuck::cast_slice_mut(&mut piece[..bytes as usize]);
                let fill = |(words, items): (&mut [W], &[T])| {
                    words.iter_mut().zip(items).for_each(|(out, item)| *out = word(item));
                };
                // A worker that waits for others takes up any other work, as may want these pieces too.
                if bytes <= SHARE as u64 || rayon::current_thread_index().is_some() {
                    fill((words, items));
                } else {
                    let share = SHARE / size as usize;
                    cx.install(|| words.par_chunks_mut(share).zip(items.par_chunks(share)).for_each(fill));
                }
            })?;
            context.transfer().upload_pinned(piece, 0..bytes, to, at)?;
            at += bytes;
        }
        Ok(())
    }
}
