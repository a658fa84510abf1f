//! The buffers of a template, filled through page-locked memory.

use std::marker::PhantomData;

use bytemuck::Pod;
use cuzk_gpu_backend::{Backend, Buffer, Device};
use cuzk_values::Matrix;

use super::DeviceMatrix;
use super::kernels::run;
use super::slices::{self, Entry, Extent, Slice};
use super::staging::Sender;
use crate::SynthError;

/// Fills new buffers.
impl<B: Backend> Sender<'_, B> {
    /// A buffer of items, each of which is turned into a `W`.
    pub(super) fn made<T: Sync, W: Pod + Send>(
        &mut self,
        items: &[T],
        word: impl Fn(&T) -> W + Sync,
    ) -> Result<B::Buffer, SynthError> {
        let mut row = self.row::<W>(items.len())?;
        self.append(&mut row, items, word)?;
        Ok(row.buffer)
    }

    fn row<W>(&self, items: usize) -> Result<Row<B, W>, SynthError> {
        let buffer = self.context.device().buffer((size_of::<W>() * items) as u64)?;
        Ok(Row { buffer, filled: 0, words: PhantomData })
    }

    /// Fills more of a row, if that is what was planned.
    fn append<T: Sync, W: Pod + Send>(
        &mut self,
        row: &mut Row<B, W>,
        items: &[T],
        word: impl Fn(&T) -> W + Sync,
    ) -> Result<(), SynthError> {
        let end = row.filled + size_of::<W>() as u64 * items.len() as u64;
        if end > row.buffer.bytes() {
            return row.unplanned(end);
        }
        self.send((&row.buffer, row.filled), items, word)?;
        row.filled = end;
        Ok(())
    }

    /// A matrix of this extent.
    pub(super) fn matrix(&mut self, matrix: &Matrix, extent: Extent) -> Result<DeviceMatrix<B>, SynthError> {
        let bound = self.made(&matrix.repeat().bound, |column| *column)?;
        let mut slices = self.row::<Slice>(extent.slices)?;
        let mut rows = self.row::<u32>(extent.rows)?;
        let mut entries = self.row::<Entry>(extent.entries)?;
        slices::slices(matrix, |batch| {
            self.append(&mut slices, &batch.slices, |slice| *slice)?;
            self.append(&mut rows, &batch.rows, |row| *row)?;
            self.append(&mut entries, &batch.entries, |entry| *entry)
        })?;
        let (slices, rows, entries) = (slices.full()?, rows.full()?, entries.full()?);
        Ok(DeviceMatrix { run: run(matrix.repeat()), extent, slices, rows, entries, bound })
    }
}

/// A buffer of words `W`, filled from its start.
struct Row<B: Backend, W> {
    buffer: B::Buffer,
    /// Bytes.
    filled: u64,
    words: PhantomData<fn() -> W>,
}

impl<B: Backend, W> Row<B, W> {
    /// The buffer, which is as long as was planned.
    fn full(self) -> Result<B::Buffer, SynthError> {
        if self.filled == self.buffer.bytes() { Ok(self.buffer) } else { self.unplanned(self.filled) }
    }

    fn unplanned<T>(&self, bytes: u64) -> Result<T, SynthError> {
        let (found, expected) = (bytes as usize, self.buffer.bytes() as usize);
        Err(SynthError::Foreign { what: "bytes of constraints", found, expected })
    }
}
