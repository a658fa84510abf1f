//! bincode 1 as `bincode::serialize` writes it: little-endian, fixed widths,
//! 64-bit lengths, 32-bit tags.

use super::error::{Fault, Problem};
use super::reader::{Names, Reader};
use super::window::Window;

pub(crate) struct Bincode<'a>(pub(crate) Window<'a>);

impl Bincode<'_> {
    /// Nothing may follow.
    pub(crate) fn finish(mut self) -> Result<(), Fault> {
        match self.0.peek()? {
            None => Ok(()),
            Some(byte) => {
                let found = format!("0x{byte:02x}");
                Err(self.0.fault(Problem::Expected { expected: "the end of the input", found }))
            }
        }
    }
}

impl Reader for Bincode<'_> {
    fn offset(&self) -> u64 {
        self.0.offset()
    }

    fn record(
        &mut self,
        names: Names,
        mut field: impl FnMut(&mut Self, usize) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        names.iter().enumerate().try_for_each(|(i, name)| field(self, i).map_err(|f| f.in_field(name)))
    }

    fn list(
        &mut self,
        limit: usize,
        mut element: impl FnMut(&mut Self, usize) -> Result<(), Fault>,
    ) -> Result<usize, Fault> {
        let offset = self.offset();
        let count = self.u64()?;
        if count > limit as u64 {
            return Err(Fault::at(offset, Problem::TooMany { found: Some(count), limit }));
        }
        (0..count as usize).try_for_each(|i| element(self, i).map_err(|f| f.in_element(i)))?;
        Ok(count as usize)
    }

    fn tagged<T>(
        &mut self,
        names: Names,
        content: impl FnOnce(&mut Self, usize) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let tag = self.unit(names)?;
        content(self, tag).map_err(|f| f.in_field(names[tag]))
    }

    fn unit(&mut self, names: Names) -> Result<usize, Fault> {
        let offset = self.offset();
        let tag = self.u32()?;
        if tag as usize >= names.len() {
            let found = format!("variant {tag}");
            return Err(Fault::at(offset, Problem::Name { found, known: names }));
        }
        Ok(tag as usize)
    }

    fn u64(&mut self) -> Result<u64, Fault> {
        let mut bytes = [0; 8];
        self.0.take(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn u32(&mut self) -> Result<u32, Fault> {
        let mut bytes = [0; 4];
        self.0.take(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn bytes(&mut self) -> Result<[u8; 32], Fault> {
        let mut bytes = [0; 32];
        self.0.take(&mut bytes)?;
        Ok(bytes)
    }
}
