//! Rules on comments, documents and READMEs.

use super::File;
use crate::source::lines_with_word;
use crate::workspace::Finding;

/// Comments speak of the code as it is: git remembers plans, tickets and what was.
pub(super) fn history(file: &File) -> Vec<Finding> {
    let Some(source) = &file.rust else { return Vec::new() };
    let mut findings = Vec::new();
    for word in ["TODO", "FIXME", "XXX", "HACK"] {
        let lines = lines_with_word(&source.comments, word).into_iter();
        findings.extend(lines.map(|line| file.finding(line, format!("`{word}` in a comment"))));
    }
    for (at, line) in source.comments.lines().enumerate() {
        for word in ["phase", "ticket", "issue", "milestone"] {
            if numbered(&line.to_lowercase(), word) {
                findings.push(file.finding(at + 1, format!("a numbered {word} in a comment")));
            }
        }
    }
    findings
}

/// Whether `word`, on its own, is followed by a number. "Commit phase 2" is Filecoin's own term.
fn numbered(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + word.len()..]);
        let number = after.trim_start_matches([' ', '-', '#']);
        let alone = !before.ends_with(char::is_alphanumeric) && number.len() < after.len();
        alone && number.starts_with(|c: char| c.is_ascii_digit()) && !before.ends_with("commit ")
    })
}

/// No path of one person's machine is committed.
pub(super) fn machine_paths(file: &File) -> Vec<Finding> {
    // Written apart, or this file would find itself.
    let paths = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];
    let named = |line: &str| paths.iter().find(|path| line.contains(**path)).copied();
    let lines = file.text.lines().enumerate();
    lines
        .filter_map(|(at, line)| Some(file.finding(at + 1, format!("a machine's path, `{}`", named(line)?))))
        .collect()
}

/// A crate's README: its name, a sentence, "Key items", an example, "Limits".
pub(super) fn readme(file: &File) -> Vec<Finding> {
    let Some(folder) = crate_of(&file.path, "README.md") else { return Vec::new() };
    let heading = |words: &str| file.text.lines().any(|line| line.starts_with("## ") && line.contains(words));
    let fence = |language: &str| file.text.lines().any(|line| line.starts_with(language));
    let title = format!("# cuzk-{folder}");
    let parts = [
        (file.text.lines().next() == Some(&title), format!("starts with `{title}`")),
        (heading("Key items"), "has a section `## Key items`".to_owned()),
        (fence("```rust") || fence("```sh"), "has an example: a block of `rust`, or of `sh`".to_owned()),
        (heading("Limits"), "has a section `## Limits`".to_owned()),
    ];
    let missing = parts.into_iter().filter(|(there, _)| !there);
    missing.map(|(_, part)| file.finding(0, format!("a crate's README {part}"))).collect()
}

/// Each crate has a README.
pub(super) fn crates_have_readmes(files: &[File]) -> Vec<Finding> {
    let folders =
        |name| files.iter().filter_map(move |file| crate_of(&file.path, name).map(|folder| (file, folder)));
    let bare =
        folders("Cargo.toml").filter(|(_, folder)| !folders("README.md").any(|(_, other)| other == *folder));
    bare.map(|(file, _)| file.finding(0, "this crate has no README.md")).collect()
}

/// The folder of the crate whose file `name` this is.
fn crate_of<'a>(path: &'a str, name: &str) -> Option<&'a str> {
    let folder = path.strip_prefix("crates/")?.strip_suffix(name)?.strip_suffix('/')?;
    (!folder.contains('/')).then_some(folder)
}

/// Where the tests that CI leaves out are listed.
const CONTRIBUTING: &str = "CONTRIBUTING.md";

/// CONTRIBUTING.md names every file with ignored tests, beside the command that runs
/// them; a test that another test runs says "run by `NAME`" as its reason.
pub(super) fn ignored_tests_are_listed(files: &[File]) -> Vec<Finding> {
    let listed = files.iter().find(|file| file.path == CONTRIBUTING).map_or("", |file| &file.text);
    let mut findings = Vec::new();
    for file in files {
        let Some(source) = &file.rust else { continue };
        let lines = source.code.lines().zip(file.text.lines());
        let mut ignored = lines
            .map(|(code, text)| code.trim_start().starts_with("#[ignore") && !text.contains("\"run by `"));
        if let Some(at) = ignored.position(|ignored| ignored).filter(|_| !listed.contains(&file.path)) {
            let text = format!("{CONTRIBUTING} does not say how to run this file's ignored tests");
            findings.push(file.finding(at + 1, text));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(findings: &[Finding]) -> Vec<usize> {
        findings.iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn comments_without_history() {
        let text = "// Phase 2: later\n/// see issue #12\n// TODO: x\nlet phase_1 = \"phase 1\"; // commit_phase1\n\
                    // the ticket of a sector\n// ticket-7\n//! SealCommitPhase1Output\n// lotus#6884, TODOS\n\
                    // Commit phase 2, pre-commit phase 1";
        let mut found = lines(&history(&File::new("xtask/src/a.rs", text)));
        found.sort_unstable();
        assert_eq!(found, [1, 2, 3, 6]);
    }

    #[test]
    fn machine_paths_are_found_everywhere() {
        let text = concat!("x = 1\ncd /wo", "rk/main\nsee /ro", "ot/.cargo\n/tmp/ is free\nframework/x");
        for path in ["a.md", "scripts/a.sh", "xtask/src/a.rs"] {
            assert_eq!(lines(&machine_paths(&File::new(path, text))), [2, 3]);
        }
    }

    #[test]
    fn a_readme_has_its_sections() {
        let good = "# cuzk-x\n\nA crate.\n\n## Key items\n\n## Example\n\n```rust\n```\n\n## Limits\n";
        let found = |path: &str, text: &str| readme(&File::new(path, text)).len();
        assert_eq!(found("crates/x/README.md", good), 0);
        assert_eq!(found("crates/y/README.md", good), 1);
        for part in ["## Key items", "```rust", "## Limits"] {
            assert_eq!(found("crates/x/README.md", &good.replace(part, "")), 1, "{part}");
        }
        assert_eq!(found("crates/x/README.md", ""), 4);
        assert_eq!(found("README.md", ""), 0);
    }

    #[test]
    fn a_crate_without_a_readme_is_found() {
        let file = |path: &str| File::new(path, "");
        let files = [file("crates/x/Cargo.toml"), file("crates/x/README.md"), file("crates/y/Cargo.toml")];
        assert_eq!(crates_have_readmes(&files), [files[2].finding(0, "this crate has no README.md")]);
    }

    #[test]
    fn ignored_tests_are_in_the_guide() {
        let test = File::new(
            "crates/x/tests/big.rs",
            "#[ignore = \"run by `g`\"]\n#[ignore = \"minutes\"]\nfn f() {}",
        );
        let quoted = File::new("crates/x/src/a.rs", "// #[ignore]\nlet s = \"\\\n#[ignore]\";");
        let guide = |text: &str| File::new(CONTRIBUTING, text);
        assert_eq!(lines(&ignored_tests_are_listed(&[test, quoted, guide("")])), [2]);
        let test = File::new("crates/x/tests/big.rs", "#[ignore]");
        assert!(ignored_tests_are_listed(&[test, guide("`crates/x/tests/big.rs`: …")]).is_empty());
    }
}
