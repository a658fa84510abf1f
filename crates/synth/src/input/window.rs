//! The bytes under a reader's eyes: a buffer that moves over a stream.

use std::io::{self, BufRead, Read};

use super::error::{Fault, Problem};

/// The most bytes that any one encoding of an input may have, decompressed: 1 GiB.
///
/// The largest that exists, a C1 of a non-interactive 32 GiB sector, 126 partitions
/// in lotus JSON, has 0.65 GB.
pub const MAX_BYTES: u64 = 1 << 30;

const BUFFER: usize = 64 << 10;

/// A stream with a buffer before it, so that input of any length is read in
/// constant memory.
pub(crate) struct Window<'a> {
    source: Box<dyn Read + 'a>,
    buffer: Box<[u8]>,
    at: usize,
    end: usize,
    /// Bytes that have left the buffer.
    passed: u64,
    /// Why nothing comes after what is in the buffer.
    failed: Option<io::Error>,
}

impl<'a> Window<'a> {
    pub(crate) fn new(source: impl Read + 'a) -> Self {
        let buffer = vec![0; BUFFER].into_boxed_slice();
        Self { source: Box::new(source), buffer, at: 0, end: 0, passed: 0, failed: None }
    }

    /// How many bytes lie behind.
    pub(crate) fn offset(&self) -> u64 {
        self.passed + self.at as u64
    }

    pub(crate) fn fault(&self, problem: Problem) -> Fault {
        Fault::at(self.offset(), problem)
    }

    /// The next byte, which stays; `None` at the end.
    #[inline]
    pub(crate) fn peek(&mut self) -> Result<Option<u8>, Fault> {
        if self.at == self.end {
            self.refill()?;
        }
        Ok(self.buffer[..self.end].get(self.at).copied())
    }

    /// Passes the byte that was peeked at.
    #[inline]
    pub(crate) fn pass(&mut self) {
        self.at += 1;
    }

    /// The bytes that are in the buffer already, which stay.
    #[inline]
    pub(crate) fn ahead(&self) -> &[u8] {
        &self.buffer[self.at..self.end]
    }

    /// Passes bytes that are [`ahead`](Self::ahead).
    #[inline]
    pub(crate) fn pass_many(&mut self, n: usize) {
        self.at = (self.at + n).min(self.end);
    }

    /// The next `out.len()` bytes.
    pub(crate) fn take(&mut self, out: &mut [u8]) -> Result<(), Fault> {
        let mut done = 0;
        while done < out.len() {
            if self.peek()?.is_none() {
                return Err(self.fault(Problem::Truncated));
            }
            let n = (out.len() - done).min(self.end - self.at);
            out[done..done + n].copy_from_slice(&self.buffer[self.at..self.at + n]);
            (self.at, done) = (self.at + n, done + n);
        }
        Ok(())
    }

    /// Passes the white space of JSON.
    #[inline]
    pub(crate) fn skip_space(&mut self) -> Result<(), Fault> {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek()? {
            self.pass();
        }
        Ok(())
    }

    /// The bytes that come next, up to `n` of them and as many as the buffer holds, which stay.
    pub(crate) fn start(&mut self, n: usize) -> Result<&[u8], Fault> {
        self.buffer.copy_within(self.at..self.end, 0);
        self.passed += self.at as u64;
        (self.at, self.end) = (0, self.end - self.at);
        while self.end < n.min(BUFFER) {
            match self.pull() {
                Ok(0) => break,
                Ok(more) => self.end += more,
                // What was read before is shown; who reads on hears of it.
                Err(e) if self.end > 0 => {
                    self.failed = Some(e);
                    break;
                }
                Err(e) => return Err(self.unread(e)),
            }
        }
        Ok(&self.buffer[..self.end.min(n)])
    }

    /// Reads on behind `end`.
    fn pull(&mut self) -> io::Result<usize> {
        if let Some(e) = self.failed.take() {
            return Err(e);
        }
        loop {
            match self.source.read(&mut self.buffer[self.end..]) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }

    #[cold]
    fn refill(&mut self) -> Result<(), Fault> {
        self.advance().map_err(|e| self.unread(e))?;
        if self.passed > MAX_BYTES {
            return Err(self.fault(Problem::TooLong { limit: MAX_BYTES }));
        }
        Ok(())
    }

    fn unread(&self, error: io::Error) -> Fault {
        self.fault(match error.kind() {
            io::ErrorKind::UnexpectedEof => Problem::Truncated,
            _ => Problem::Read(error),
        })
    }

    fn advance(&mut self) -> io::Result<()> {
        self.passed += self.end as u64;
        (self.at, self.end) = (0, 0);
        self.end = self.pull()?;
        Ok(())
    }
}

/// For what decompresses. The limit is checked on what comes out.
impl Read for Window<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.fill_buf()?.read(out)?;
        self.consume(n);
        Ok(n)
    }
}

impl BufRead for Window<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.end {
            self.advance()?;
        }
        Ok(&self.buffer[self.at..self.end])
    }

    fn consume(&mut self, n: usize) {
        self.at += n;
    }
}
