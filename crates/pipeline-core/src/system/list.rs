//! Linux's notation for sets of CPUs and nodes: `0-3,8`.

use std::fmt;

/// No Linux has more CPUs (`NR_CPUS` is at most 8,192) or nodes; a list that says so is garbage.
const LIMIT: usize = 1 << 16;

/// A list that is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ListError {
    #[error("not a list of ranges such as 0-3,8")]
    Syntax,
    #[error("numbers end at {LIMIT}")]
    TooLarge,
}

/// The members, rising and each once. An empty text is the empty set.
pub(crate) fn parse_list(text: &str) -> Result<Vec<usize>, ListError> {
    let number = |s: &str| -> Result<usize, ListError> {
        if s.is_empty() || !s.bytes().all(|b| b.is_ascii_digit()) {
            return Err(ListError::Syntax);
        }
        s.parse().ok().filter(|&n| n < LIMIT).ok_or(ListError::TooLarge)
    };
    let mut set = vec![];
    for range in text.trim().split(',').filter(|_| !text.trim().is_empty()) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return Err(ListError::Syntax);
        }
        set.extend(first..=last);
        if set.len() > LIMIT {
            return Err(ListError::TooLarge);
        }
    }
    set.sort_unstable();
    set.dedup();
    Ok(set)
}

/// Shows a rising set as ranges; `none` when it is empty.
pub(crate) fn show_list(set: &[usize]) -> impl fmt::Display {
    fmt::from_fn(move |f| {
        if set.is_empty() {
            return f.write_str("none");
        }
        for (i, run) in set.chunk_by(|a, b| a + 1 == *b).enumerate() {
            let comma = if i > 0 { "," } else { "" };
            match run {
                [one] => write!(f, "{comma}{one}")?,
                [first, .., last] => write!(f, "{comma}{first}-{last}")?,
                [] => {}
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_linux_writes() {
        assert_eq!(parse_list(""), Ok(vec![]));
        assert_eq!(parse_list("\n"), Ok(vec![]));
        assert_eq!(parse_list("0\n"), Ok(vec![0]));
        assert_eq!(parse_list("0-3,8"), Ok(vec![0, 1, 2, 3, 8]));
        assert_eq!(parse_list("8,0-3,2-4"), Ok(vec![0, 1, 2, 3, 4, 8]));
        for garbage in ["a", "-1", "1-", "3-1", "0,,1", "0-3,", "+1", "0-10:1/2", "0 1"] {
            assert_eq!(parse_list(garbage), Err(ListError::Syntax), "{garbage}");
        }
        for huge in ["0-4294967295", "65536", "99999999999999999999"] {
            assert_eq!(parse_list(huge), Err(ListError::TooLarge), "{huge}");
        }
        let twice = ["0-65535"; 3].join(",");
        assert_eq!(parse_list(&twice), Err(ListError::TooLarge));
    }

    #[test]
    fn shows_what_it_reads() {
        for text in ["none", "0", "0-3,8", "0,2,4", "1-2,4-5,7"] {
            let set = if text == "none" { vec![] } else { parse_list(text).unwrap() };
            assert_eq!(show_list(&set).to_string(), text);
        }
    }
}
