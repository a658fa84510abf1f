//! Where things are, how cargo is called, and how a check says what it found.

use std::fmt;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

/// The folder of the root `Cargo.toml`.
pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// The paths, from the root, of every file that git tracks or would track.
pub(crate) fn files() -> Result<Vec<String>> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root());
    let out = git.output().context("git is needed to list the project's files")?;
    ensure!(out.status.success(), "git ls-files: {}", String::from_utf8_lossy(&out.stderr));
    let list = String::from_utf8(out.stdout).context("a file's name is not UTF-8")?;
    // A tracked file may be gone from the work tree.
    let there = |path: &&str| !path.is_empty() && root().join(path).is_file();
    Ok(list.split('\0').filter(there).map(str::to_owned).collect())
}

/// The text of a file, by its path from the root.
pub(crate) fn read(path: &str) -> Result<String> {
    Ok(fs_err::read_to_string(root().join(path))?)
}

/// `cargo metadata` of the workspace's own packages.
pub(crate) fn metadata() -> Result<Value> {
    let mut cargo = Command::new("cargo");
    cargo.args(["metadata", "--format-version", "1", "--no-deps"]).current_dir(root());
    let out = cargo.output().context("cargo metadata")?;
    ensure!(out.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).context("the output of cargo metadata")
}

/// A folder for what is built with other flags than the rest.
pub(crate) fn target_folder(name: &str) -> Result<String> {
    let metadata = metadata()?;
    let target = metadata["target_directory"].as_str().context("a target folder")?;
    Ok(format!("{target}/{name}"))
}

/// A list in a JSON object, empty where there is none.
pub(crate) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

/// A call of cargo in the root folder.
pub(crate) struct Cargo {
    arguments: Vec<String>,
    variables: Vec<(&'static str, String)>,
}

impl Cargo {
    /// `cargo` with the words of `line` as arguments.
    pub(crate) fn new(line: &str) -> Self {
        let arguments = line.split_whitespace().map(str::to_owned).collect();
        Self { arguments, variables: Vec::new() }
    }

    /// Sets an environment variable.
    pub(crate) fn env(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    /// Appends an argument that may hold spaces.
    pub(crate) fn arg(mut self, argument: impl Into<String>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Runs it, after the line that a person would type.
    pub(crate) fn run(self) -> Result<()> {
        println!("$ {self}");
        let mut cargo = Command::new("cargo");
        cargo.args(&self.arguments).envs(self.variables.iter().map(|(name, value)| (name, value)));
        let status = cargo.current_dir(root()).status().context("cargo does not start")?;
        ensure!(status.success(), "`{self}` failed: {status}");
        Ok(())
    }

    /// Whether it succeeds, in silence.
    pub(crate) fn succeeds(self) -> bool {
        let mut cargo = Command::new("cargo");
        cargo.args(&self.arguments).current_dir(root()).stdout(Stdio::null()).stderr(Stdio::null());
        cargo.status().is_ok_and(|status| status.success())
    }
}

impl fmt::Display for Cargo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.variables {
            write!(f, "{name}='{value}' ")?;
        }
        write!(f, "cargo {}", self.arguments.join(" "))
    }
}

/// Something that is not as the rules want it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// The file, from the root.
    pub(crate) path: String,
    /// The line, from 1; 0 means the whole file.
    pub(crate) line: usize,
    /// What is wrong and what would be right.
    pub(crate) text: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.text),
            line => write!(f, "{}:{line}: {}", self.path, self.text),
        }
    }
}

/// Prints the findings of `check`; any of them is an error.
pub(crate) fn report(check: &str, findings: &[Finding]) -> Result<()> {
    for finding in findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => Ok(()),
        n => bail!("{check}: {n} finding{}", if n == 1 { "" } else { "s" }),
    }
}
