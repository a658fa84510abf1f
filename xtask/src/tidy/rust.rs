//! Rules on Rust (and kernel) sources.

use super::{File, extension};
use crate::source::lines_with_word;
use crate::workspace::Finding;

/// The most lines of a source file.
const LINES: usize = 600;
/// What the first line of a longer file starts with, and its reason after it.
const LONG: &str = "// long: ";

/// The modules that may hold `unsafe` code, each a file `.rs` or a folder.
const UNSAFE_ROOMS: [&str; 11] = [
    "benches/rivals/sppark/src/rival",
    "crates/cli/src/allocator",
    "crates/gpu-backend/src/cuda",
    "crates/gpu-backend/src/opencl",
    "crates/lanes/src/scalar",
    "crates/msm/src/arith",
    "crates/ntt/src/arith",
    "crates/pipeline-core/src/topology",
    "crates/srs/src/lanes",
    "crates/srs/src/map",
    "crates/synth/src/zeroed",
];

/// A file has one subject and at most [`LINES`] lines, or says why not.
pub(super) fn length(file: &File) -> Vec<Finding> {
    let lines = file.text.lines().count();
    let source = extension(&file.path, &["rs", "cu", "cl"]);
    let excused = file.text.strip_prefix(LONG).is_some_and(|rest| !rest.starts_with(['\r', '\n']));
    if !source || lines <= LINES || excused {
        return Vec::new();
    }
    vec![
        file.finding(0, format!("{lines} lines, at most {LINES}; split it, or start it with `{LONG}REASON`")),
    ]
}

/// `unsafe` code stays in the rooms that ARCHITECTURE.md names. Tests are free:
/// clippy asks them for a reason.
pub(super) fn unsafe_rooms(file: &File) -> Vec<Finding> {
    let Some(source) = &file.rust else { return Vec::new() };
    let allowed = UNSAFE_ROOMS
        .iter()
        .any(|room| file.path.strip_prefix(room).is_some_and(|rest| rest == ".rs" || rest.starts_with('/')));
    if allowed || !file.path.contains("src/") {
        return Vec::new();
    }
    let lines = lines_with_word(&source.code, "unsafe").into_iter();
    lines.map(|line| file.finding(line, "`unsafe` outside the rooms that may hold it")).collect()
}

/// Nothing unfinished is committed.
pub(super) fn unfinished(file: &File) -> Vec<Finding> {
    let Some(source) = &file.rust else { return Vec::new() };
    let mut findings = Vec::new();
    for name in ["todo", "unimplemented", "dbg"] {
        for line in lines_with_word(&source.code, name) {
            let text = source.code.lines().nth(line - 1).unwrap_or_default();
            if text.contains(&format!("{name}!")) {
                findings.push(file.finding(line, format!("`{name}!`")));
            }
        }
    }
    findings
}

/// A crate's `lib.rs` is its README and a list of modules and names.
pub(super) fn lib_is_a_list(file: &File) -> Vec<Finding> {
    let Some(source) = file.rust.as_ref().filter(|_| is_lib(&file.path)) else { return Vec::new() };
    let mut findings = Vec::new();
    if !file.text.contains("#![doc = include_str!(\"../README.md\")]") {
        findings.push(file.finding(0, "the crate's documentation is its README: include_str it"));
    }
    for (start, item) in items(&source.code) {
        let bare = without_attributes(item);
        let words = bare.trim_end();
        let head = words
            .strip_prefix("pub")
            .map_or(words, |rest| rest.trim_start().strip_prefix("(crate)").unwrap_or(rest).trim_start());
        let listed = head.starts_with("use ") || head.starts_with("mod ") && !head.contains('{');
        if !words.is_empty() && !listed {
            let before = &source.code[..start + item.len() - bare.len()];
            let line = before.matches('\n').count() + 1;
            findings.push(file.finding(line, "lib.rs holds `mod`s and `use`s, nothing else"));
        }
    }
    findings
}

fn is_lib(path: &str) -> bool {
    path.strip_prefix("crates/")
        .and_then(|path| path.split_once('/'))
        .is_some_and(|(_, rest)| rest == "src/lib.rs")
}

/// The items of a file and where they start. An item ends, outside of brackets,
/// with a `;`, or with a `}` that no `;` follows.
fn items(code: &str) -> Vec<(usize, &str)> {
    let (mut items, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (at, c) in code.char_indices() {
        match c {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let block = c == '}' && !code[at + 1..].trim_start().starts_with(';');
        if depth == 0 && (c == ';' || block) {
            items.push((start, &code[start..=at]));
            start = at + 1;
        }
    }
    items.push((start, &code[start..]));
    items
}

/// The end of the item that starts after its attributes and blanks.
fn without_attributes(item: &str) -> &str {
    let mut rest = item.trim_start();
    while rest.starts_with('#') {
        let mut depth = 0_usize;
        let end = rest.char_indices().find(|&(_, c)| {
            match c {
                '[' => depth += 1,
                ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            c == ']' && depth == 0
        });
        rest = end.map_or("", |(at, _)| rest[at + 1..].trim_start());
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(findings: &[Finding]) -> Vec<usize> {
        findings.iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_long_file_needs_a_reason() {
        let file =
            |head: &str, lines: usize| File::new("crates/x/src/a.rs", head.to_owned() + &"\n".repeat(lines));
        assert!(length(&file("", 600)).is_empty());
        assert_eq!(length(&file("", 601)).len(), 1);
        assert_eq!(length(&file("// long: ", 601)).len(), 1);
        assert!(length(&file("// long: a table of constants", 601)).is_empty());
        assert!(length(&File::new("README.md", "\n".repeat(601))).is_empty());
    }

    #[test]
    fn unsafe_code_has_its_rooms() {
        let found = |path: &str| {
            lines(&unsafe_rooms(&File::new(path, "// unsafe\nunsafe {}\n#[allow(unsafe_code)]")))
        };
        assert_eq!(found("crates/msm/src/cpu.rs"), [2]);
        assert_eq!(found("crates/srs/src/mapper.rs"), [2]);
        assert_eq!(found("xtask/src/main.rs"), [2]);
        assert!(found("crates/srs/src/map.rs").is_empty());
        assert!(found("crates/gpu-backend/src/cuda/stream.rs").is_empty());
        assert!(found("crates/msm/tests/memory.rs").is_empty());
    }

    #[test]
    fn unfinished_code_is_found() {
        let text = "fn f() { todo!() }\n// todo!()\nlet todo = 1;\nunimplemented!(\"x\");\ndbg!(x);";
        let mut found = lines(&unfinished(&File::new("xtask/src/a.rs", text)));
        found.sort_unstable();
        assert_eq!(found, [1, 4, 5]);
    }

    #[test]
    fn a_lib_is_a_list() {
        let good = "//! x\n#![doc = include_str!(\"../README.md\")]\n\n#[cfg(test)]\nmod a;\npub mod b;\n\
                    #[allow(unsafe_code, reason = \"[mmap]\")]\npub(crate) mod c;\npub use a::{B, c::{D}};\n";
        let found = |text: &str| lines(&lib_is_a_list(&File::new("crates/x/src/lib.rs", text)));
        assert!(found(good).is_empty());
        assert_eq!(found(&good.replace("../README", "../OTHER")), [0]);
        assert_eq!(found(&format!("{good}mod d {{ fn f() {{}} }}\n/// x\npub struct S;\n")), [10, 12]);
        assert_eq!(found(&format!("{good}fn f() {{ g(); }}\n#[inline]\npub const X: u8 = 1;")), [10, 12]);
        assert!(lib_is_a_list(&File::new("benches/src/lib.rs", "fn f() {}")).is_empty());
        assert!(lib_is_a_list(&File::new("crates/x/src/a/lib.rs", "fn f() {}")).is_empty());
    }
}
