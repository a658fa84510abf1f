//! `cuzk circuit`: what is kept, shown and checked.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

/// `cuzk` with the words of `line`, and `cache` as the user's.
fn output(cache: &Path, line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cuzk"));
    command.args(line.split_whitespace()).env_remove("RUST_LOG").stdin(Stdio::null());
    command.env("XDG_CACHE_HOME", cache).output().unwrap()
}

/// What a command that succeeds says with `--json`, and on stderr.
fn said(cache: &Path, line: &str) -> (Value, String) {
    let out = output(cache, &format!("{line} --json"));
    let stderr = String::from_utf8(out.stderr).unwrap();
    assert!(out.status.success(), "{line}: {stderr}");
    (serde_json::from_slice(&out.stdout).unwrap(), stderr)
}

fn json(cache: &Path, line: &str) -> Value {
    said(cache, line).0
}

/// The exit code of a command that fails, and what it says on stderr.
fn failure(cache: &Path, line: &str) -> (Option<i32>, String) {
    let out = output(cache, line);
    assert!(out.stdout.is_empty(), "{line}");
    (out.status.code(), String::from_utf8(out.stderr).unwrap())
}

/// The circuits of `cuzk circuit list` that are kept.
fn kept(cache: &Path) -> Vec<String> {
    let list = json(cache, "circuit list");
    let all = list["circuits"].as_array().unwrap();
    assert_eq!(all.len(), 39);
    let kept = all.iter().filter(|circuit| circuit["stored"].is_object());
    kept.map(|circuit| circuit["circuit"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn circuits_are_recorded_once_and_checked() {
    let cache = tempfile::tempdir().unwrap();
    let cache = cache.path();
    assert!(kept(cache).is_empty());
    let (code, error) = failure(cache, "circuit check window-post-2KiB");
    assert_eq!(code, Some(4), "{error}");
    assert!(error.ends_with("hint: record it: cuzk circuit build window-post-2KiB --force\n"), "{error}");

    let built = json(cache, "circuit build winning-post-2KiB window-post-2KiB");
    let made = |built: &Value| built["circuits"].as_array().unwrap().iter().all(|one| one["made"] == true);
    assert!(made(&built));
    assert!(!made(&json(cache, "circuit build window-post-2KiB")));
    assert!(made(&json(cache, "circuit build window-post-2KiB --force")));
    assert_eq!(kept(cache), ["window-post-2KiB", "winning-post-2KiB"]);
    let checked = json(cache, "circuit check window-post-2KiB");
    assert_eq!((&checked["equal"], &checked["constraints"]), (&json!(true), &json!(21_889)));

    let shown = json(cache, "circuit show window-post-2KiB");
    let counts = ["inputs", "aux", "constraints", "log_domain"].map(|name| &shown[name]);
    assert_eq!(counts, [&json!(23), &json!(22_128), &json!(21_889), &json!(15)]);
    assert_eq!(shown["queries"], json!({ "ic": 23, "h": 32_767, "l": 22_128, "a": 16_793, "b": 16_029 }));
    assert_eq!((&shown["blocks"]["count"], &shown["blocks"]["arguments"]), (&json!(2), &json!(0)));
    assert!(shown["parameter_id"].as_str().unwrap().starts_with("v28-proof-of-spacetime-fallback-"));

    // A file that is damaged is refused by the check, and made again by what uses it.
    let file = shown["file"].as_str().unwrap();
    assert!(file.starts_with(cache.to_str().unwrap()), "{file}");
    let good = std::fs::read(file).unwrap();
    let mut bad = good.clone();
    bad[good.len() / 2] ^= 1;
    std::fs::write(file, bad).unwrap();
    let (code, error) = failure(cache, "circuit check window-post-2KiB");
    assert!(code == Some(2) && error.contains(": its checksum is wrong\nhint: record it again: "), "{error}");
    let (again, stderr) = said(cache, "circuit show window-post-2KiB");
    assert!(
        stderr.contains("is not usable, and the circuit was recorded again: its checksum is wrong"),
        "{stderr}"
    );
    assert_eq!(again, shown);
    assert_eq!(std::fs::read(file).unwrap(), good);
}

#[test]
fn circuits_need_not_be_kept() {
    let cache = tempfile::tempdir().unwrap();
    let cache = cache.path();
    let shown = json(cache, "circuit show winning-post-4KiB --no-circuits");
    assert!(shown["file"].is_null());
    assert!(std::fs::read_dir(cache).unwrap().next().is_none());

    // A folder of one's own is named in the hint.
    let elsewhere = cache.join("elsewhere");
    let elsewhere = elsewhere.display();
    let (_, error) = failure(cache, &format!("circuit check snap-2KiB --circuits {elsewhere}"));
    assert!(
        error.contains(&format!("cuzk circuit build snap-2KiB --force --circuits {elsewhere}")),
        "{error}"
    );

    // A cache that cannot be written is a warning.
    std::fs::write(cache.join("cuzk"), "").unwrap();
    let (shown, stderr) = said(cache, "circuit show winning-post-2KiB");
    let kept_in = cache.join("cuzk/circuits");
    let warning = format!("warning: the circuit is not kept in {}: ", kept_in.display());
    assert!(stderr.contains(&warning), "{stderr}");
    let (code, error) = failure(cache, "circuit build winning-post-2KiB");
    assert_eq!(code, Some(4), "{error}");
    assert!(error.contains(&format!("circuits cannot be kept in {}: ", kept_in.display())), "{error}");
    assert!(error.contains("hint: name another folder, with --circuits"), "{error}");
    assert_eq!(shown["constraints"], 90_883);

    for line in
        ["circuit show porep-3KiB", "circuit show snap-1GiB", "circuit build", "circuit build --all --small"]
    {
        let (code, error) = failure(cache, line);
        assert_eq!(code, Some(2), "{line}: {error}");
    }
}
