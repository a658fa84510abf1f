//! `cargo xtask kernels`: the code for devices, where there is a compiler for it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result, bail, ensure};

use crate::workspace::root;

const KERNELS: &str = "crates/gpu-backend/kernels";

/// Code for these without options: the card that the figures are of, and a form
/// that newer drivers compile for any card since Turing.
const DEFAULT: [&str; 2] = ["sm_90", "compute_75"];

/// What is known to the pinned compiler, CUDA 13.0.
const ARCHITECTURES: [&str; 8] =
    ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120", "compute_75"];

#[path = "../../crates/gpu-backend/build/source.rs"]
mod source;

/// Where `scripts/install.sh kernels` puts a compiler for [`check`].
const INSTALLED: &str = "target/nvcc";

/// Compiles all of them for one architecture and keeps nothing. Where there is no compiler, the pinned
/// one is installed; where that cannot be had, this says so and checks nothing.
pub(crate) fn check() -> Result<()> {
    if nvcc().is_err() {
        let mut install = Command::new("scripts/install.sh");
        install.args(["kernels", INSTALLED]).current_dir(root());
        if !install.status().is_ok_and(|status| status.success()) {
            eprintln!("SKIPPED, this checks nothing: nvcc's wheels cannot be installed");
            return Ok(());
        }
    }
    run(&["--check".to_owned(), "--arch".to_owned(), "compute_75".to_owned()])
}

/// Compiles each `kernels/*.cu` to `kernels/built/*.fatbin`, which the next build embeds.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let (mut architectures, mut families, mut keep) = (Vec::new(), Vec::new(), true);
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--arch" => {
                let listed = arguments.next().context("--arch wants a list, as sm_80,sm_90 or all")?;
                architectures.extend(listed.split(',').map(str::to_owned));
            }
            "--check" => keep = false,
            option if option.starts_with('-') => {
                bail!("no option `{option}`; there are --arch LIST and --check, which keeps nothing")
            }
            family => families.push(family.to_owned()),
        }
    }
    if architectures.is_empty() {
        architectures = DEFAULT.map(str::to_owned).to_vec();
    } else if architectures == ["all"] {
        architectures = ARCHITECTURES.map(str::to_owned).to_vec();
    }
    for name in &architectures {
        ensure!(
            ARCHITECTURES.contains(&name.as_str()),
            "no `{name}`: there are {}",
            ARCHITECTURES.join(", ")
        );
    }
    let nvcc = nvcc()?;
    let folder = root().join(KERNELS);
    let built = if keep { folder.join("built") } else { root().join("target/kernels") };
    fs::create_dir_all(&built).with_context(|| format!("cannot make {}", built.display()))?;
    let mut sources: Vec<PathBuf> =
        fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    sources.retain(|path| path.extension().is_some_and(|extension| extension == "cu"));
    sources.sort();
    let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    for family in &families {
        ensure!(sources.iter().any(|path| stem(path) == *family), "no {KERNELS}/{family}.cu");
    }
    sources.retain(|path| families.is_empty() || families.contains(&stem(path)));
    for path in sources {
        let name = stem(&path);
        let fatbin = built.join(&name).with_extension("fatbin");
        let text = source::whole(&path)?;
        let mut command = Command::new(&nvcc);
        command.args(["-fatbin", "-std=c++17", "-O3", "-lineinfo", "--threads", "0"]);
        command.args(["-Werror", "all-warnings", "-I"]).arg(&folder);
        for architecture in &architectures {
            let number = architecture.split('_').nth(1).unwrap_or_default();
            command.arg(format!("--generate-code=arch=compute_{number},code={architecture}"));
        }
        command.arg("-o").arg(&fatbin).arg(&path);
        println!("{name}: {}", architectures.join(", "));
        let status = command.status().with_context(|| format!("cannot run {}", nvcc.display()))?;
        ensure!(status.success(), "{} on {}: {status}", nvcc.display(), path.display());
        // The next build takes what was made of these sources alone.
        fs::write(fatbin.with_extension("source"), text)?;
    }
    Ok(())
}

/// The compiler: `NVCC`, or that of `CUDA_HOME`, or the path's.
fn nvcc() -> Result<PathBuf> {
    if let Some(nvcc) = env::var_os("NVCC") {
        return Ok(nvcc.into());
    }
    let home = env::var_os("CUDA_HOME").map(|home| Path::new(&home).join("bin/nvcc"));
    let installed = root().join(INSTALLED).join("cuda/bin/nvcc");
    let path = env::var_os("PATH").unwrap_or_default();
    let found = home.into_iter().chain(env::split_paths(&path).map(|folder| folder.join("nvcc")));
    found.chain([installed]).find(|nvcc| nvcc.is_file()).with_context(
        || "no nvcc: install CUDA's, or the wheels of scripts/install.sh kernels, and set CUDA_HOME or NVCC",
    )
}
