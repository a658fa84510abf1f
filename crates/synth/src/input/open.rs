//! What lies around an input, and what kind of input it is.

use flate2::bufread::MultiGzDecoder;

use super::error::{Fault, Problem};
use super::json::Json;
use super::layers::{Layer, Layers};
use super::window::Window;

/// How many encodings may lie one within another: compression, lotus JSON,
/// base64, JSON, and one to spare.
const MAX_LAYERS: usize = 5;

/// How many of the first bytes tell an encoding.
pub(crate) const SNIFFED: usize = 512;

/// What is left when compression is taken away.
pub(crate) enum Opened<'a> {
    /// It starts with `{` or `[`; a mark of byte order is passed.
    Json(Json<'a>),
    /// It starts as `is_binary` knows.
    Binary(Window<'a>),
}

/// Takes away what an input is compressed with, and tells JSON from bytes that
/// `is_binary` recognises by how they start.
///
/// Those are asked first. A PoSt starts with a sector's number, whose bytes may
/// be those of `{`, `<` or gzip (123, 60, 559,903), but no text and no
/// compressed file looks like a PoSt.
pub(crate) fn open<'a>(
    mut window: Window<'a>,
    layers: &mut Layers,
    is_binary: impl Fn(&[u8]) -> bool,
) -> Result<Opened<'a>, Fault> {
    loop {
        let start = window.start(SNIFFED)?;
        if is_binary(start) {
            return Ok(Opened::Binary(window));
        }
        let kind = sniff(start);
        if layers.0.len() == MAX_LAYERS {
            return Err(window.fault(Problem::TooDeep { limit: MAX_LAYERS }));
        }
        match kind {
            Sniffed::Gzip => {
                layers.push(Layer::Gzip);
                window = Window::new(MultiGzDecoder::new(window));
            }
            Sniffed::Zstd => {
                layers.push(Layer::Zstd);
                let decoder = zstd::stream::read::Decoder::with_buffer(window);
                window = Window::new(decoder.map_err(Problem::Read)?);
            }
            Sniffed::Text { byte_order_mark } => {
                (0..3 * usize::from(byte_order_mark)).for_each(|_| window.pass());
                window.skip_space()?;
                return match window.peek()? {
                    Some(b'{' | b'[') => {
                        layers.push(Layer::Json);
                        Ok(Opened::Json(Json(window)))
                    }
                    Some(b'<') => Err(window.fault(Problem::Html)),
                    Some(_) => {
                        let problem = unknown(window.start(SNIFFED)?);
                        Err(window.fault(problem))
                    }
                    None => Err(window.fault(Problem::Empty)),
                };
            }
            Sniffed::Other(problem) => return Err(window.fault(problem)),
        }
    }
}

enum Sniffed {
    Gzip,
    Zstd,
    /// JSON, or white space so far.
    Text {
        byte_order_mark: bool,
    },
    Other(Problem),
}

fn sniff(start: &[u8]) -> Sniffed {
    let byte_order_mark = start.starts_with(b"\xef\xbb\xbf");
    let text = if byte_order_mark { &start[3..] } else { start }.trim_ascii_start();
    match text {
        [] if start.len() < SNIFFED => return Sniffed::Other(Problem::Empty),
        [] | [b'{' | b'[', ..] => return Sniffed::Text { byte_order_mark },
        [b'<', ..] => return Sniffed::Other(Problem::Html),
        _ => {}
    }
    match start {
        [0x1f, 0x8b, ..] => Sniffed::Gzip,
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Sniffed::Zstd,
        _ => Sniffed::Other(unknown(start)),
    }
}

/// What is wrong with bytes that start so.
pub(crate) fn unknown(start: &[u8]) -> Problem {
    if start.is_empty() {
        return Problem::Empty;
    }
    let start = start[..start.len().min(16)].escape_ascii();
    Problem::Unknown { start: format!("\"{start}\"") }
}

/// The little-endian number of 8 bytes at `at`, where there is one.
pub(crate) fn word(start: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*start.get(at..)?.first_chunk()?))
}

/// The little-endian number of 4 bytes at `at`, where there is one.
pub(crate) fn tag(start: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*start.get(at..)?.first_chunk()?))
}
