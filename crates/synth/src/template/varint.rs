//! Numbers of 7 bits a byte, least significant first (LEB128), in zstd frames.

use std::io::{self, Read as _, Write as _};

use super::TemplateError;

/// How hard zstd tries: more gains a few percent for many times the work.
const LEVEL: i32 = 6;

/// The binary logarithm of the most bytes that zstd looks back, and that unpacking so takes.
const LOG_WINDOW: u32 = 20;

/// Writes numbers into a frame.
pub(super) struct Packer {
    encoder: zstd::Encoder<'static, Vec<u8>>,
    buffer: Vec<u8>,
}

impl Packer {
    pub(super) fn new() -> io::Result<Self> {
        let mut encoder = zstd::Encoder::new(Vec::new(), LEVEL)?;
        encoder.window_log(LOG_WINDOW)?;
        Ok(Self { encoder, buffer: Vec::new() })
    }

    #[inline]
    pub(super) fn push(&mut self, mut number: u64) -> io::Result<()> {
        while number >= 0x80 {
            self.buffer.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.buffer.push(number as u8);
        if self.buffer.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.buffer.extend_from_slice(bytes);
        self.flush()
    }

    pub(super) fn finish(mut self) -> io::Result<Vec<u8>> {
        self.flush()?;
        self.encoder.finish()
    }

    fn flush(&mut self) -> io::Result<()> {
        self.encoder.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }
}

/// Bytes that are packed or unpacked together.
const BUFFER: usize = 1 << 16;

/// Reads numbers from a frame.
pub(super) struct Unpacker<'a> {
    what: &'static str,
    decoder: zstd::Decoder<'static, &'a [u8]>,
    buffer: Box<[u8]>,
    at: usize,
    end: usize,
}

impl<'a> Unpacker<'a> {
    /// A reader of one part of a file, which errors name.
    pub(super) fn new(what: &'static str, packed: &'a [u8]) -> Result<Self, TemplateError> {
        let decoder = || {
            let mut decoder = zstd::Decoder::with_buffer(packed)?;
            decoder.window_log_max(LOG_WINDOW)?;
            Ok(decoder.single_frame())
        };
        let decoder = decoder().map_err(|source| TemplateError::Packed { what, source })?;
        Ok(Self { what, decoder, buffer: vec![0; BUFFER].into(), at: 0, end: 0 })
    }

    /// The next number, which is item `index` of its part.
    #[inline]
    pub(super) fn next(&mut self, index: u64) -> Result<u64, TemplateError> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            if self.at == self.end {
                self.refill()?;
            }
            let Some(byte) = self.buffer[..self.end].get(self.at) else {
                return Err(self.item(index, "is missing"));
            };
            self.at += 1;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(self.item(index, "is a number of more than 64 bits"))
    }

    /// The next bytes, which are item `index` of its part.
    pub(super) fn bytes<const N: usize>(&mut self, index: u64) -> Result<[u8; N], TemplateError> {
        let mut bytes = [0; N];
        for byte in &mut bytes {
            if self.at == self.end {
                self.refill()?;
            }
            let next = self.buffer[..self.end].get(self.at);
            *byte = *next.ok_or_else(|| self.item(index, "is missing"))?;
            self.at += 1;
        }
        Ok(bytes)
    }

    /// Checks that nothing is left.
    pub(super) fn finish(mut self) -> Result<(), TemplateError> {
        if self.at == self.end {
            self.refill()?;
        }
        let rest = self.end - self.at + self.decoder.get_ref().len();
        if rest == 0 { Ok(()) } else { Err(self.item(rest as u64, "bytes are left over")) }
    }

    pub(super) fn item(&self, index: u64, reason: &'static str) -> TemplateError {
        TemplateError::Item { what: self.what, index, reason }
    }

    #[cold]
    fn refill(&mut self) -> Result<(), TemplateError> {
        let read = self.decoder.read(&mut self.buffer);
        (self.at, self.end) = (0, read.map_err(|source| TemplateError::Packed { what: self.what, source })?);
        Ok(())
    }
}

/// A signed number as one that is small where its magnitude is.
pub(super) fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

/// What [`zigzag`] was given.
pub(super) fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}
