//! `cargo xtask deps`: who may depend on whom, and that every dependency has its reason.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::workspace::{Finding, list, metadata, read, report};

/// The page with the table of the workspace's own crates.
const ARCHITECTURE: &str = "ARCHITECTURE.md";
const BEGIN: &str = "<!-- deps:begin -->";
const END: &str = "<!-- deps:end -->";
/// The page with a row for each dependency from outside.
const REASONS: &str = "docs/dependencies.md";
/// The package of the crate in `crates/<folder>` is this and the folder's name.
const PREFIX: &str = "cuzk-";
/// What tests of any crate may use, though it may be built on the crate.
const TEST_ONLY: &str = "testing";

/// Dependencies from outside that stay in one room: patterns of names (a `*` at
/// the end matches the rest), the crates that may name them, whether tests may too.
const CONFINED: [(&[&str], &[&str], bool); 5] = [
    (&["filecoin-*", "storage-proofs-*", "bellp*"], &["synth", "testing"], true),
    (&["anyhow", "clap*"], &["cli", "xtask"], false),
    (&["tokio*", "tonic*"], &["daemon"], false),
    (&["petgraph", "core_affinity", "hwloc2"], &["pipeline-core"], false),
    (&["opencl3", "cust", "cudarc", "ec-gpu-gen", "rust-gpu-tools"], &["gpu-backend"], true),
];

/// Compares `cargo metadata` with the two pages and the rules above.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    ensure!(arguments.is_empty(), "deps takes no arguments");
    let packages = packages(&metadata()?);
    let table = table(&read(ARCHITECTURE)?)?;
    let mut findings = own(&packages, &table);
    findings.extend(confined(&packages));
    findings.extend(reasons(&packages, &read(REASONS)?));
    report("deps", &findings)
}

/// A package of the workspace.
#[derive(Debug, Default)]
struct Package {
    /// Its folder's name under `crates`, or its own where it lives elsewhere.
    name: String,
    /// Whether it lives under `crates`, where the table rules.
    ruled: bool,
    /// Crates under `crates` that it depends on.
    own: Vec<Dependency>,
    /// Crates of others that it depends on.
    outside: Vec<Dependency>,
}

#[derive(Debug)]
struct Dependency {
    name: String,
    /// Whether only tests, examples and benches see it.
    dev: bool,
}

fn packages(metadata: &Value) -> Vec<Package> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut packages = Vec::new();
    for package in list(metadata, "packages") {
        let full = text(&package["name"]);
        let ruled = package["manifest_path"].as_str().is_some_and(|path| path.contains("/crates/"));
        let name = full.strip_prefix(PREFIX).filter(|_| ruled).unwrap_or(&full).to_owned();
        let (mut own, mut outside) = (Vec::new(), Vec::new());
        for dependency in list(package, "dependencies") {
            let (name, dev) = (text(&dependency["name"]), dependency["kind"] == "dev");
            if dependency["path"].is_string() {
                own.push(Dependency { name: name.strip_prefix(PREFIX).unwrap_or(&name).to_owned(), dev });
            } else {
                outside.push(Dependency { name, dev });
            }
        }
        packages.push(Package { name, ruled, own, outside });
    }
    packages
}

/// The rows of the table: a crate, and the crates that it may depend on.
fn table(page: &str) -> Result<BTreeMap<String, Vec<String>>> {
    let (_, rest) = page.split_once(BEGIN).with_context(|| format!("{ARCHITECTURE} has no {BEGIN}"))?;
    let (rows, _) = rest.split_once(END).with_context(|| format!("{ARCHITECTURE} has no {END}"))?;
    let mut table = BTreeMap::new();
    // The first two lines are the head and its rule.
    for row in rows.lines().filter(|line| line.starts_with('|')).skip(2) {
        let mut cells = row.trim_matches('|').split('|').map(|cell| cell.replace('`', ""));
        let (name, may) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
        let may = may.split_whitespace().map(str::to_owned).collect();
        let twice = table.insert(name.trim().to_owned(), may).is_some();
        ensure!(!twice, "{ARCHITECTURE}: `{}` has two rows", name.trim());
    }
    Ok(table)
}

/// Holds the workspace's own crates against the table.
fn own(packages: &[Package], table: &BTreeMap<String, Vec<String>>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in packages.iter().filter(|package| package.ruled) {
        let name = &package.name;
        let Some(may) = table.get(name) else {
            findings.push(finding(ARCHITECTURE, format!("`{name}` has no row in the table")));
            continue;
        };
        for Dependency { name: on, dev } in &package.own {
            // A test may join what is not built on its own crate.
            let beside = table.get(on).is_some_and(|row| !row.contains(name));
            if !may.contains(on) && !(*dev && (beside || on == TEST_ONLY)) {
                let text =
                    format!("`{name}` depends on `{on}`, which its row in {ARCHITECTURE} does not allow");
                findings.push(finding(&manifest(package), text));
            }
        }
    }
    for (row, may) in table {
        for name in std::iter::once(row).chain(may) {
            if !packages.iter().any(|package| package.ruled && package.name == *name) {
                findings.push(finding(ARCHITECTURE, format!("the table names `{name}`, which is no crate")));
            }
        }
    }
    findings
}

/// Holds each dependency from outside against [`CONFINED`].
fn confined(packages: &[Package]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in packages {
        for Dependency { name, dev } in &package.outside {
            for (patterns, rooms, tests) in CONFINED {
                let hit = patterns.iter().any(|pattern| matches(pattern, name));
                if hit && !rooms.contains(&package.name.as_str()) && !(tests && *dev) {
                    let text = format!("`{name}` may be named by {} only", rooms.join(", "));
                    findings.push(finding(&manifest(package), text));
                }
            }
        }
    }
    findings
}

fn matches(pattern: &str, name: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == name, |start| name.starts_with(start))
}

/// Each dependency from outside is in backticks at the start of a row of the page of reasons.
fn reasons(packages: &[Package], page: &str) -> Vec<Finding> {
    let first_cells: Vec<&str> =
        page.lines().filter_map(|line| line.strip_prefix('|')?.split('|').next()).collect();
    let mut findings = Vec::new();
    for package in packages {
        for Dependency { name, .. } in &package.outside {
            let quoted = format!("`{name}`");
            if !first_cells.iter().any(|cell| cell.contains(&quoted)) {
                findings.push(finding(
                    REASONS,
                    format!("no row for `{name}`, which `{}` depends on", package.name),
                ));
            }
        }
    }
    findings
}

fn manifest(package: &Package) -> String {
    let folder = if package.ruled { "crates/" } else { "" };
    format!("{folder}{}/Cargo.toml", package.name.trim_start_matches(PREFIX))
}

fn finding(path: &str, text: String) -> Finding {
    Finding { path: path.to_owned(), line: 0, text }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PAGE: &str = "x\n<!-- deps:begin -->\n| crate | may depend on |\n|---|---|\n| `core` | |\n\
                        | `ntt` | core |\n| `testing` | core ntt |\n\
                        | `srs` | core |\n| `cli` | core ntt |\n<!-- deps:end -->\n| `no` | row |";

    /// `crates/ntt`, with one dependency on each of `own` and `outside`: (name, kind).
    fn workspace(own: &[(&str, Option<&str>)], outside: &[(&str, Option<&str>)]) -> Vec<Package> {
        let dependency = |&(name, kind): &(&str, Option<&str>), path: Option<&str>| json!({"name": name, "kind": kind, "path": path});
        let mut on: Vec<Value> = own.iter().map(|entry| dependency(entry, Some("/x"))).collect();
        on.extend(outside.iter().map(|entry| dependency(entry, None)));
        let package = |name: &str, folder: &str, on: &[Value]| json!({"name": name, "manifest_path": format!("/x/{folder}/Cargo.toml"), "dependencies": on});
        packages(&json!({"packages": [
            package("cuzk-core", "crates/core", &[]),
            package("cuzk-testing", "crates/testing", &[]),
            package("cuzk-srs", "crates/srs", &[]),
            package("cuzk-cli", "crates/cli", &[]),
            package("cuzk-ntt", "crates/ntt", &on),
        ]}))
    }

    fn count(own_crates: &[(&str, Option<&str>)], outside: &[(&str, Option<&str>)]) -> [usize; 2] {
        let packages = workspace(own_crates, outside);
        [own(&packages, &table(PAGE).expect("a table")).len(), confined(&packages).len()]
    }

    #[test]
    fn the_table_rules_the_workspaces_own() {
        let dev = Some("dev");
        assert_eq!(count(&[("cuzk-core", None), ("cuzk-testing", dev)], &[]), [0, 0]);
        assert_eq!(count(&[("cuzk-testing", None)], &[]), [1, 0]);
        assert_eq!(count(&[("cuzk-msm", None)], &[]), [1, 0]);
        assert_eq!(count(&[("cuzk-msm", dev)], &[]), [1, 0]);
        assert_eq!(count(&[("cuzk-srs", dev)], &[]), [0, 0]);
        assert_eq!(count(&[("cuzk-cli", dev)], &[]), [1, 0]);
        assert_eq!(count(&[("cuzk-core", Some("build")), ("cuzk-msm", Some("build"))], &[]), [1, 0]);
    }

    #[test]
    fn the_table_and_the_workspace_name_the_same_crates() {
        let packages = workspace(&[], &[]);
        let page = PAGE.replace("| `ntt` | core |", "| `ntm` | core msm |");
        let findings = own(&packages, &table(&page).expect("a table"));
        assert_eq!(findings.len(), 3, "{findings:?}"); // no row for ntt; no crates ntm, msm
        assert!(table(&PAGE.replace("ntt", "core")).is_err());
        assert!(table("no table").is_err());
    }

    #[test]
    fn rooms_keep_their_dependencies() {
        let dev = Some("dev");
        assert_eq!(count(&[], &[("blst", None), ("bellperson", dev)]), [0, 0]);
        assert_eq!(
            count(&[], &[("bellperson", None), ("filecoin-proofs", None), ("clap_mangen", dev)]),
            [0, 3]
        );
    }

    #[test]
    fn each_dependency_has_a_reason() {
        let packages = workspace(&[], &[("blst", None), ("ff", Some("dev"))]);
        let findings = reasons(&packages, "| `blst`, `blstrs` | field `ff` |\n`ff`");
        assert_eq!(findings, [finding(REASONS, "no row for `ff`, which `ntt` depends on".to_owned())]);
    }
}
