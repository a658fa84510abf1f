//! Just enough of Rust's lexer to tell code from comments and literals.

/// A Rust source taken apart: each part is as long as the source, has its line
/// breaks, and blanks where the source has something else.
pub(crate) struct Split {
    /// Everything but comments and the insides of literals.
    pub(crate) code: String,
    /// Comments, doc comments among them.
    pub(crate) comments: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Code,
    Comment,
    Literal,
}

/// Takes a Rust source apart.
pub(crate) fn split(text: &str) -> Split {
    let bytes = text.as_bytes();
    let blank = || bytes.iter().map(|&byte| if byte == b'\n' { b'\n' } else { b' ' }).collect::<Vec<_>>();
    let (mut code, mut comments) = (blank(), blank());
    let mut start = 0;
    while start < bytes.len() {
        let (kind, length) = token(&bytes[start..]);
        let range = start..(start + length).min(bytes.len());
        start = range.end;
        match kind {
            Kind::Code => code[range.clone()].copy_from_slice(&bytes[range]),
            Kind::Comment => comments[range.clone()].copy_from_slice(&bytes[range]),
            Kind::Literal => {}
        }
    }
    // Tokens begin and end at ASCII bytes or are copied whole, so both stay UTF-8.
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Split { code: text(code), comments: text(comments) }
}

/// The kind and length of the token that `rest` (not empty) starts with.
fn token(rest: &[u8]) -> (Kind, usize) {
    match rest {
        [b'/', b'/', ..] => (Kind::Comment, rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len())),
        [b'/', b'*', ..] => (Kind::Comment, block_comment(rest)),
        [b'"', ..] => (Kind::Literal, quoted(rest, b'"')),
        [b'\'', b'\\', ..] => (Kind::Literal, quoted(rest, b'\'')),
        [b'\'', ..] => match character(rest) {
            Some(length) => (Kind::Literal, length),
            None => (Kind::Code, 1), // a lifetime
        },
        [first, ..] if first.is_ascii_alphabetic() || *first == b'_' => {
            let word =
                rest.iter().position(|b| !b.is_ascii_alphanumeric() && *b != b'_').unwrap_or(rest.len());
            match raw_string(&rest[..word], &rest[word..]) {
                Some(length) => (Kind::Literal, word + length),
                None => (Kind::Code, word),
            }
        }
        _ => (Kind::Code, 1),
    }
}

fn block_comment(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        match &rest[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// The length of a literal between two `quote`s with `\` escapes.
fn quoted(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != quote {
        at += if rest[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

/// The length of a character literal without an escape, if `rest` starts with one.
fn character(rest: &[u8]) -> Option<usize> {
    let width = match rest.get(1)? {
        0x00..0x80 => 1,
        0x80..0xe0 => 2,
        0xe0..0xf0 => 3,
        _ => 4,
    };
    (rest.get(1 + width) == Some(&b'\'')).then_some(width + 2)
}

/// The length of `#…"…"#…` after a raw string's prefix.
fn raw_string(prefix: &[u8], rest: &[u8]) -> Option<usize> {
    let hashes = rest.iter().take_while(|&&b| b == b'#').count();
    if !matches!(prefix, b"r" | b"br" | b"cr") || rest.get(hashes) != Some(&b'"') {
        return None;
    }
    let end = [b"\"".as_slice(), &rest[..hashes]].concat();
    let body = &rest[hashes + 1..];
    let length = body.windows(end.len()).position(|window| window == end).unwrap_or(body.len());
    Some(hashes + 1 + length + end.len())
}

/// The lines, from 1, on which `word` stands alone in `text`.
pub(crate) fn lines_with_word(text: &str, word: &str) -> Vec<usize> {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let alone = |line: &str| {
        line.match_indices(word)
            .any(|(at, _)| !line[..at].ends_with(part) && !line[at + word.len()..].starts_with(part))
    };
    text.lines().enumerate().filter(|(_, line)| alone(line)).map(|(at, _)| at + 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_comments_and_literals_are_told_apart() {
        let source = r##"let s = "unsafe \" //"; // unsafe é
/* a /* nested */ unsafe */ fn f<'a>(c: char) { g('"', '\'', 'é', r#"un"safe"#, b"unsafe") }
let r#type = br#"a " unsafe"#;
unsafe {}"##;
        let Split { code, comments } = split(source);
        assert_eq!(lines_with_word(&code, "unsafe"), [4]);
        assert_eq!(lines_with_word(&comments, "unsafe"), [1, 2]);
        assert!(code.contains("fn f<'a>(c: char) { g("));
        assert!(code.contains("let r#type ="));
        assert_eq!((code.len(), code.lines().count()), (source.len(), 4));
    }

    #[test]
    fn unfinished_tokens_end_with_the_file() {
        for source in ["\"", "'", "'\\", "/*", "r#\"x", "//", "b'"] {
            assert_eq!(split(source).code.len(), source.len(), "{source}");
        }
    }

    #[test]
    fn a_word_stands_alone() {
        assert_eq!(lines_with_word("unsafe_code\nx unsafe{\nmy_unsafe", "unsafe"), [2]);
    }
}
