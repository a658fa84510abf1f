//! JSON, as serde and Go write it, read as a stream.
//!
//! Fields may come in any order and be unknown; a known one may not come
//! twice. Numbers are unsigned integers.

use std::io::{self, Read};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::error::{Fault, Problem};
use super::reader::{Names, Reader};
use super::window::Window;

/// The deepest nesting that is skipped in a field of unknown meaning.
const MAX_DEPTH: u32 = 128;

/// The longest name that is told apart from others.
const MAX_NAME: usize = 64;

pub(crate) struct Json<'a>(pub(crate) Window<'a>);

impl<'a> Json<'a> {
    /// Nothing but white space may follow.
    pub(crate) fn finish(mut self) -> Result<(), Fault> {
        self.skip_space()?;
        match self.0.peek()? {
            None => Ok(()),
            Some(_) => Err(self.expected("the end of the input")),
        }
    }

    /// The byte that the next value starts with, which stays.
    #[inline]
    pub(crate) fn token(&mut self) -> Result<u8, Fault> {
        self.skip_space()?;
        match self.0.peek()? {
            Some(byte) => Ok(byte),
            None => Err(self.0.fault(Problem::Truncated)),
        }
    }

    /// An object of which any of `names` may be absent. Returns which there
    /// were, one bit each.
    pub(crate) fn object(
        &mut self,
        names: Names,
        mut field: impl FnMut(&mut Self, usize) -> Result<(), Fault>,
    ) -> Result<u32, Fault> {
        self.punctuation(b'{', "an object")?;
        let mut seen = 0;
        if self.token()? == b'}' {
            self.0.pass();
            return Ok(seen);
        }
        loop {
            match self.name_of(names)? {
                Ok(i) => {
                    if seen & (1 << i) != 0 {
                        return Err(self.0.fault(Problem::Duplicate).in_field(names[i]));
                    }
                    seen |= 1 << i;
                    self.punctuation(b':', "`:`")?;
                    field(self, i).map_err(|f| f.in_field(names[i]))?;
                }
                Err(_unknown) => {
                    self.punctuation(b':', "`:`")?;
                    self.skip_value()?;
                }
            }
            match self.token()? {
                b',' => self.0.pass(),
                b'}' => break,
                _ => return Err(self.expected("`,` or `}`")),
            }
        }
        self.0.pass();
        Ok(seen)
    }

    /// The bytes of a string, as they stand, up to its closing quote.
    pub(crate) fn string(&mut self) -> Result<JsonString<'_, 'a>, Fault> {
        self.punctuation(b'"', "a string")?;
        Ok(JsonString(self))
    }

    /// Passes the quote that closes a [`string`](Self::string).
    pub(crate) fn close_string(&mut self) -> Result<(), Fault> {
        match self.0.peek()? {
            Some(b'"') => self.0.pass(),
            Some(_) => return Err(self.expected("the end of the string")),
            None => return Err(self.0.fault(Problem::Truncated)),
        }
        Ok(())
    }

    /// A string, cut to `MAX_NAME` bytes.
    pub(crate) fn text(&mut self) -> Result<String, Fault> {
        self.punctuation(b'"', "a string")?;
        let (text, length) = self.rest_of_string::<MAX_NAME>()?;
        Ok(String::from_utf8_lossy(&text[..length]).into_owned())
    }

    /// 32 bytes, as hex with or without 0x, as base64, or as a list; and the byte
    /// that they start at.
    pub(crate) fn hash(&mut self) -> Result<(u64, [u8; 32]), Fault> {
        let (quoted, offset) = (self.token()? == b'"', self.offset());
        if !quoted {
            return Ok((offset, self.bytes()?));
        }
        self.0.pass();
        // One more than the longest.
        let (text, length) = self.rest_of_string::<{ 2 + 64 + 1 }>()?;
        let bytes = parse_hash(&text[..length]).ok_or_else(|| {
            let found = format!("\"{}\"", text[..length].escape_ascii());
            Fault::at(
                offset,
                Problem::Expected { expected: "32 bytes, in hex, in base64 or as a list", found },
            )
        })?;
        Ok((offset, bytes))
    }

    #[inline]
    fn skip_space(&mut self) -> Result<(), Fault> {
        self.0.skip_space()
    }

    #[inline]
    fn punctuation(&mut self, byte: u8, what: &'static str) -> Result<(), Fault> {
        if self.token()? != byte {
            return Err(self.expected(what));
        }
        self.0.pass();
        Ok(())
    }

    #[cold]
    fn expected(&mut self, expected: &'static str) -> Fault {
        match self.0.peek() {
            Ok(Some(byte)) => {
                let found = match byte {
                    b' '..=b'~' => format!("`{}`", char::from(byte)),
                    _ => format!("`{}`", byte.escape_ascii()),
                };
                self.0.fault(Problem::Expected { expected, found })
            }
            Ok(None) => self.0.fault(Problem::Truncated),
            Err(fault) => fault,
        }
    }

    /// A string: which of `names`, or what it is instead, cut to `MAX_NAME` bytes.
    fn name_of(&mut self, names: Names) -> Result<Result<usize, String>, Fault> {
        self.punctuation(b'"', "a name in quotes")?;
        let (text, length) = self.rest_of_string::<MAX_NAME>()?;
        let text = &text[..length];
        let known = names.iter().position(|name| name.as_bytes() == text);
        Ok(known.ok_or_else(|| String::from_utf8_lossy(text).into_owned()))
    }

    /// What a string holds, its opening quote passed: the first `N` bytes, and how
    /// many of them there are.
    fn rest_of_string<const N: usize>(&mut self) -> Result<([u8; N], usize), Fault> {
        let (mut text, mut length) = ([0; N], 0);
        while let Some(byte) = self.string_byte()? {
            if let Some(slot) = text.get_mut(length) {
                (*slot, length) = (byte, length + 1);
            }
        }
        Ok((text, length))
    }

    /// The next byte of a string; the closing quote is passed and gives `None`.
    /// An escape gives the bytes that it is written with.
    fn string_byte(&mut self) -> Result<Option<u8>, Fault> {
        let Some(byte) = self.0.peek()? else {
            return Err(self.0.fault(Problem::Truncated));
        };
        self.0.pass();
        match byte {
            b'"' => Ok(None),
            b'\\' => {
                if self.0.peek()?.is_some() {
                    self.0.pass();
                }
                Ok(Some(b'\\'))
            }
            _ => Ok(Some(byte)),
        }
    }

    /// Passes a value of unknown meaning, of which only brackets and strings are looked at.
    fn skip_value(&mut self) -> Result<(), Fault> {
        let mut depth = 0;
        loop {
            match self.token()? {
                b'"' => {
                    self.0.pass();
                    while self.string_byte()?.is_some() {}
                }
                b'[' | b'{' if depth == MAX_DEPTH => {
                    return Err(self.0.fault(Problem::TooNested { limit: MAX_DEPTH as usize }));
                }
                b'[' | b'{' => {
                    self.0.pass();
                    depth += 1;
                    continue;
                }
                b']' | b'}' | b',' | b':' if depth == 0 => return Err(self.expected("a value")),
                b']' | b'}' => {
                    self.0.pass();
                    depth -= 1;
                }
                b',' | b':' => {
                    self.0.pass();
                    continue;
                }
                _ => self.skip_word()?,
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// Passes a number, `true`, `false` or `null`.
    fn skip_word(&mut self) -> Result<(), Fault> {
        if !matches!(self.0.peek()?, Some(b'a'..=b'z' | b'0'..=b'9' | b'-')) {
            return Err(self.expected("a value"));
        }
        while let Some(b'a'..=b'z' | b'0'..=b'9' | b'-' | b'+' | b'.' | b'E') = self.0.peek()? {
            self.0.pass();
        }
        Ok(())
    }

    /// An unsigned integer up to `max`.
    #[inline]
    fn integer(&mut self, max: u64, what: &'static str) -> Result<u64, Fault> {
        self.skip_space()?;
        let mut value = match self.0.peek()? {
            Some(digit @ b'0'..=b'9') => u64::from(digit - b'0'),
            _ => return Err(self.expected(what)),
        };
        self.0.pass();
        let leading_zero = value == 0;
        while let Some(digit @ b'0'..=b'9') = self.0.peek()? {
            let more = value.checked_mul(10).and_then(|v| v.checked_add(u64::from(digit - b'0')));
            match more {
                Some(more) if more <= max && !leading_zero => value = more,
                _ => return Err(self.not_integer(value, what)),
            }
            self.0.pass();
        }
        match self.0.peek()? {
            Some(b'.' | b'e' | b'E') => Err(self.not_integer(value, what)),
            _ => Ok(value),
        }
    }

    #[cold]
    fn not_integer(&mut self, so_far: u64, expected: &'static str) -> Fault {
        let mut found = so_far.to_string();
        while let (Ok(Some(byte @ (b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'))), true) =
            (self.0.peek(), found.len() < MAX_NAME)
        {
            found.push(byte.into());
            self.0.pass();
        }
        self.0.fault(Problem::Expected { expected, found })
    }
}

impl Reader for Json<'_> {
    fn offset(&self) -> u64 {
        self.0.offset()
    }

    fn record(
        &mut self,
        names: Names,
        field: impl FnMut(&mut Self, usize) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let seen = self.object(names, field)?;
        match seen.trailing_ones() as usize {
            n if n < names.len() => Err(self.0.fault(Problem::Missing).in_field(names[n])),
            _ => Ok(()),
        }
    }

    fn list(
        &mut self,
        limit: usize,
        mut element: impl FnMut(&mut Self, usize) -> Result<(), Fault>,
    ) -> Result<usize, Fault> {
        self.punctuation(b'[', "a list")?;
        if self.token()? == b']' {
            self.0.pass();
            return Ok(0);
        }
        let mut count = 0;
        loop {
            if count == limit {
                return Err(self.0.fault(Problem::TooMany { found: None, limit }));
            }
            element(self, count).map_err(|f| f.in_element(count))?;
            count += 1;
            match self.token()? {
                b',' => self.0.pass(),
                b']' => break,
                _ => return Err(self.expected("`,` or `]`")),
            }
        }
        self.0.pass();
        Ok(count)
    }

    fn tagged<T>(
        &mut self,
        names: Names,
        content: impl FnOnce(&mut Self, usize) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.punctuation(b'{', "an object of one field")?;
        let tag = self.unit(names)?;
        self.punctuation(b':', "`:`")?;
        let value = content(self, tag).map_err(|f| f.in_field(names[tag]))?;
        self.punctuation(b'}', "`}`")?;
        Ok(value)
    }

    fn unit(&mut self, names: Names) -> Result<usize, Fault> {
        self.skip_space()?;
        let offset = self.offset();
        self.name_of(names)?.map_err(|found| Fault::at(offset, Problem::Name { found, known: names }))
    }

    fn u64(&mut self) -> Result<u64, Fault> {
        self.integer(u64::MAX, "an unsigned integer below 2^64")
    }

    fn u32(&mut self) -> Result<u32, Fault> {
        self.integer(u32::MAX.into(), "an unsigned integer below 2^32").map(|value| value as u32)
    }

    fn bytes(&mut self) -> Result<[u8; 32], Fault> {
        if let Some((bytes, length)) = compact_bytes(self.0.ahead()) {
            self.0.pass_many(length);
            return Ok(bytes);
        }
        let mut bytes = [0; 32];
        self.punctuation(b'[', "a list of 32 bytes")?;
        for (i, byte) in bytes.iter_mut().enumerate() {
            if i != 0 {
                self.punctuation(b',', "a list of 32 bytes")?;
            }
            *byte = self.integer(255, "a byte").map_err(|f| f.in_element(i))? as u8;
        }
        self.punctuation(b']', "a list of 32 bytes")?;
        Ok(bytes)
    }
}

/// 32 bytes from 64 digits of hex, with or without 0x, or from base64, padded or not.
pub fn parse_hash(text: &[u8]) -> Option<[u8; 32]> {
    let digits = text.strip_prefix(b"0x").unwrap_or(text);
    if digits.len() != 64 {
        let text = text.strip_suffix(b"=").unwrap_or(text);
        return STANDARD_NO_PAD.decode(text).ok()?.try_into().ok();
    }
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = (16 * digit(pair[0])? + digit(pair[1])?) as u8;
    }
    Some(bytes)
}

/// A list of 32 bytes without white space, wholly before us, and its length:
/// what nearly all of a C1 in JSON consists of. `None` for anything else.
#[inline]
fn compact_bytes(text: &[u8]) -> Option<([u8; 32], usize)> {
    const LONGEST: usize = "[".len() + 32 * "255,".len();
    let text: &[u8; LONGEST] = text.first_chunk()?;
    if text[0] != b'[' {
        return None;
    }
    let digit = |at: usize| text.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit < 10);
    let mut bytes = [0; 32];
    let mut at = 1;
    for (i, byte) in bytes.iter_mut().enumerate() {
        let mut value = u16::from(digit(at)?);
        at += 1;
        // No digit follows a leading zero, and none a third.
        while let Some(digit) = digit(at).filter(|_| (1..100).contains(&value)) {
            value = 10 * value + u16::from(digit);
            at += 1;
        }
        let end = if i == 31 { b']' } else { b',' };
        if text.get(at) != Some(&end) {
            return None;
        }
        *byte = u8::try_from(value).ok()?;
        at += 1;
    }
    Some((bytes, at))
}

/// The inside of a string in JSON, as a stream.
pub(crate) struct JsonString<'j, 'a>(&'j mut Json<'a>);

impl Read for JsonString<'_, '_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let window = &mut self.0.0;
        let seen = io::BufRead::fill_buf(window)?;
        if seen.is_empty() {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the string does not end"));
        }
        let seen = &seen[..seen.len().min(out.len())];
        // `contains` is fast, and mostly the answer is no.
        let quote = if seen.contains(&b'"') { seen.iter().position(|byte| *byte == b'"') } else { None };
        let length = quote.unwrap_or(seen.len());
        out[..length].copy_from_slice(&seen[..length]);
        io::BufRead::consume(window, length);
        Ok(length)
    }
}
