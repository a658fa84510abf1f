//! Embeds the code for devices that `cargo xtask kernels` has made, where it has.

#![allow(clippy::disallowed_methods, reason = "cargo tells a build script where things are by variables")]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("kernels/built");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut images: Vec<PathBuf> = match fs::read_dir(&folder) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    images.retain(|path| path.extension().is_some_and(|extension| extension == "fatbin"));
    images.sort();
    let mut code = String::from("pub(crate) const CUDA: &[(&str, &[u8])] = &[\n");
    for path in &images {
        let name = path.file_stem().unwrap_or_default().display().to_string();
        let _ = writeln!(code, "    ({name:?}, include_bytes!({:?})),", path.display().to_string());
    }
    code += "];\n";
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("embedded.rs"), code)
}
