//! Embeds the code for devices: what `cargo xtask kernels` has made for NVIDIA's, where it has and
//! the sources are still the same, and the sources for OpenCL, each with what it includes in its place.

#![allow(clippy::disallowed_methods, reason = "cargo tells a build script where things are by variables")]

#[path = "build/source.rs"]
mod source;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let kernels = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("kernels");
    println!("cargo::rerun-if-changed={}", kernels.display());
    let mut code = String::from("#[cfg(feature = \"cuda\")]\npub(crate) const CUDA: &[(&str, &[u8])] = &[\n");
    for path in files(&kernels.join("built"), "fatbin")? {
        let now = source::whole(&kernels.join(stem(&path)).with_extension("cu")).ok();
        if now.is_none() || now != fs::read_to_string(path.with_extension("source")).ok() {
            let path = path.display();
            println!(
                "cargo::warning={path} is not of the sources that are there, and is left out: `cargo xtask kernels` makes it anew"
            );
            continue;
        }
        let _ = writeln!(code, "    ({:?}, include_bytes!({:?})),", stem(&path), path.display().to_string());
    }
    code += "];\n#[cfg(feature = \"opencl\")]\npub(crate) const OPENCL: &[(&str, &str)] = &[\n";
    for path in files(&kernels, "cl")? {
        let _ = writeln!(code, "    ({:?}, {:?}),", stem(&path), source::whole(&path)?);
    }
    code += "];\n";
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("embedded.rs"), code)
}

/// The name without its extension.
fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().display().to_string()
}

/// The files of a folder with an extension, sorted; none where there is no folder.
fn files(folder: &Path, extension: &str) -> io::Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    files.retain(|path| path.extension().is_some_and(|found| found == extension));
    files.sort();
    Ok(files)
}
