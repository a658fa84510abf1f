//! `cargo xtask tidy`: the rules that no compiler knows.

mod prose;
mod rust;

use anyhow::{Result, ensure};

use crate::source::{Split, split};
use crate::workspace::{Finding, files, read, report};

/// The extensions of the files that are read: sources, documents, manifests, scripts, and `.ci/run`.
const TEXTS: [&str; 7] = ["rs", "cu", "cl", "md", "toml", "sh", "ci/run"];

/// A text file of the project.
pub(crate) struct File {
    /// Its path from the root, with `/`.
    path: String,
    text: String,
    /// Rust alone is taken apart.
    rust: Option<Split>,
}

impl File {
    fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        let (path, text) = (path.into(), text.into());
        let rust = extension(&path, &["rs"]).then(|| split(&text));
        Self { path, text, rust }
    }

    /// A finding on a line; 0 is the whole file.
    fn finding(&self, line: usize, text: impl Into<String>) -> Finding {
        Finding { path: self.path.clone(), line, text: text.into() }
    }
}

/// Whether a path ends with a dot and one of `extensions`.
fn extension(path: &str, extensions: &[&str]) -> bool {
    path.rsplit_once('.').is_some_and(|(_, end)| extensions.contains(&end))
}

/// A rule on one file at a time.
type Rule = fn(&File) -> Vec<Finding>;

const RULES: [Rule; 7] = [
    rust::length,
    rust::unsafe_rooms,
    rust::unfinished,
    rust::lib_is_a_list,
    prose::history,
    prose::machine_paths,
    prose::readme,
];

/// Reads every text file that git knows and prints what the rules find.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    ensure!(arguments.is_empty(), "tidy takes no arguments");
    let mut texts = Vec::new();
    for path in files()? {
        if extension(&path, &TEXTS) {
            let text = read(&path)?;
            texts.push(File::new(path, text));
        }
    }
    let mut findings: Vec<Finding> =
        texts.iter().flat_map(|file| RULES.iter().flat_map(|rule| rule(file))).collect();
    findings.extend(prose::crates_have_readmes(&texts));
    findings.extend(prose::ignored_tests_are_listed(&texts));
    report("tidy", &findings)
}
