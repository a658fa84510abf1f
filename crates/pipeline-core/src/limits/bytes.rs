//! Sizes as people write them.

/// Unit names with the bytes of each.
const UNITS: [(&str, u64); 9] = [
    ("B", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
];

/// A text that is not a size.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseBytesError {
    /// No number is where it should be.
    #[error("`{text}` is not a size such as 14GiB or 1.5TB")]
    Number {
        /// The whole text.
        text: String,
    },
    /// A number without a unit: 14 what?
    #[error("`{text}` has no unit: write {text}GiB, or one of B, KiB, MiB, GiB, TiB, KB, MB, GB, TB")]
    NoUnit {
        /// The whole text.
        text: String,
    },
    /// A unit that is none.
    #[error("`{unit}` in `{text}` is not one of B, KiB, MiB, GiB, TiB, KB, MB, GB, TB")]
    Unit {
        /// The whole text.
        text: String,
        /// What stands for the unit.
        unit: String,
    },
    /// More than 2^64 - 1 bytes.
    #[error("`{text}` is more than 2^64 - 1 bytes")]
    Overflow {
        /// The whole text.
        text: String,
    },
}

/// The bytes of a size: a number, which may have up to nine decimals, perhaps one space, and a
/// unit, exactly as in `14GiB`, `1.5 TiB`, `500MB`. `KiB` to `TiB` are powers of 1024, `KB` to
/// `TB` of 1000. A fraction of a byte is dropped.
///
/// # Errors
/// [`ParseBytesError`] for anything else, a bare number included.
///
/// ```
/// use cuzk_pipeline_core::limits::parse_bytes;
///
/// assert_eq!(parse_bytes("14GiB"), Ok(14 << 30));
/// assert_eq!(parse_bytes("1.5 KB"), Ok(1_500));
/// assert!(parse_bytes("-1GiB").is_err());
/// assert!(parse_bytes("14").is_err());
/// ```
pub fn parse_bytes(text: &str) -> Result<u64, ParseBytesError> {
    let whole_text = || text.chars().take(64).collect::<String>();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(decimals) || decimals.len() > 9 {
        return Err(ParseBytesError::Number { text: whole_text() });
    }
    let unit = unit.strip_prefix(' ').unwrap_or(unit);
    if unit.is_empty() {
        return Err(ParseBytesError::NoUnit { text: whole_text() });
    }
    let Some(&(_, size)) = UNITS.iter().find(|(name, _)| *name == unit) else {
        return Err(ParseBytesError::Unit { text: whole_text(), unit: unit.chars().take(16).collect() });
    };
    let overflow = || ParseBytesError::Overflow { text: whole_text() };
    let whole: u64 = whole.parse().map_err(|_| overflow())?;
    // At most nine digits times 2^40: no overflow in 128 bits.
    let part = decimals.parse::<u128>().map_err(|_| overflow())? * u128::from(size)
        / 10u128.pow(decimals.len() as u32);
    let bytes = u128::from(whole) * u128::from(size) + part;
    u64::try_from(bytes).map_err(|_| overflow())
}

/// A size for people, with one decimal unless it is whole: `14 GiB`, `62.8 GiB`, `512 B`.
/// [`parse_bytes`] reads it.
///
/// ```
/// assert_eq!(cuzk_pipeline_core::limits::format_bytes(3 << 29), "1.5 GiB");
/// ```
pub fn format_bytes(bytes: u64) -> String {
    let (unit, size) = UNITS[..5].iter().rev().find(|(_, size)| bytes >= *size).unwrap_or(&UNITS[0]);
    if bytes.is_multiple_of(*size) {
        format!("{} {unit}", bytes / size)
    } else {
        // Rounded down, so that what is said to be there is there.
        let tenths = u128::from(bytes) * 10 / u128::from(*size);
        format!("{}.{} {unit}", tenths / 10, tenths % 10)
    }
}
