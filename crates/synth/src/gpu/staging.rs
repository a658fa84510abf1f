//! Values to devices, through page-locked memory.

use std::sync::MutexGuard;

use bytemuck::Pod;
use cuzk_gpu_backend::{Backend, Context, Pinned, Staging, Stream};
use cuzk_pipeline_core::Cx;
use rayon::prelude::*;

use crate::SynthError;

/// What one thread writes at a time.
const SHARE: usize = 1 << 16;

/// Sends rows of values to a device, one after the other.
pub(super) struct Sender<'a, B: Backend> {
    cx: &'a Cx<'a>,
    pub(super) context: &'a Context<B>,
    staging: MutexGuard<'a, Staging<B>>,
}

impl<'a, B: Backend> Sender<'a, B> {
    /// Waits for its turn.
    pub(super) fn new(cx: &'a Cx<'a>, context: &'a Context<B>) -> Self {
        Self { cx, context, staging: context.staging() }
    }

    /// Queues the copy of `items`, each of which is turned into a `W`, to `to` from byte `at` on.
    /// Waits for no more than the copy before the last.
    pub(super) fn send<T: Sync, W: Pod + Send>(
        &mut self,
        (to, at): (&B::Buffer, u64),
        items: &[T],
        word: impl Fn(&T) -> W + Sync,
    ) -> Result<(), SynthError> {
        let size = size_of::<W>() as u64;
        let mut at = at;
        for items in items.chunks((Staging::<B>::PIECE / size) as usize) {
            self.cx.checkpoint()?;
            let piece = self.staging.next();
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
                    self.cx
                        .install(|| words.par_chunks_mut(share).zip(items.par_chunks(share)).for_each(fill));
                }
            })?;
            self.context.transfer().upload_pinned(piece, 0..bytes, to, at)?;
            at += bytes;
        }
        Ok(())
    }
}
