#!/usr/bin/env bash
# Installs what is missing on Debian or Ubuntu and says what that is:
#   scripts/install.sh build   a C compiler, pkg-config, hwloc
#   scripts/install.sh test    those, an OpenCL driver for CPUs, Python's venv, cargo-nextest and
#                              cargo-deny
#   scripts/install.sh kernels FOLDER   a Python environment with nvcc of CUDA 13.0,
#                              for `CUDA_HOME=FOLDER/cuda cargo xtask kernels`
set -euo pipefail

# Built from crates.io without optimisation: about 3 and 2 CPU-minutes, once.
nextest=0.9.151
deny=0.20.2
# All pinned: they ask for each other's newest versions. The last is what sppark includes.
wheels=(nvidia-cuda-nvcc==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-runtime==13.0.96
    nvidia-cuda-cccl==13.0.85)

say() { printf '%s\n' "== $*" >&2; }
die() { printf '%s\n' "error: $*" >&2; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }

has cargo || die "no cargo: install Rust 1.95 or later from https://rustup.rs"

packages=()
{ has cc && has make && has ar; } || packages+=(build-essential)
has pkg-config || packages+=(pkg-config)
{ has pkg-config && pkg-config --exists hwloc; } || packages+=(libhwloc-dev)
# Any driver does; without one the tests of OpenCL say that they test nothing.
if [[ ${1:-build} == test ]] && has apt-get && ! compgen -G '/etc/OpenCL/vendors/*.icd' >/dev/null; then
    packages+=(pocl-opencl-icd ocl-icd-libopencl1)
fi
# For the compiler of kernels: where there is none, the check of them says that it checks nothing.
if [[ ${1:-build} == test ]] && has apt-get && ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
    packages+=(python3-venv)
fi
if ((${#packages[@]})); then
    has apt-get || die "please install ${packages[*]} (or what they are called on this system)"
    as_root=()
    if ((EUID)); then
        has sudo || die "please install as root: apt-get install ${packages[*]}"
        as_root=(sudo)
    fi
    say "installing ${packages[*]} with apt-get"
    "${as_root[@]}" apt-get update -q
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -q -y --no-install-recommends "${packages[@]}"
fi

case "${1:-build}" in
build) ;;
test)
    for tool in fmt clippy; do
        cargo "$tool" --version >/dev/null 2>&1 && continue
        component=${tool/#fmt/rustfmt}
        say "adding the Rust component $component"
        rustup component add "$component" || die "cargo $tool is missing and rustup cannot add $component"
    done
    if ! cargo nextest --version >/dev/null 2>&1; then
        say "installing cargo-nextest $nextest from crates.io"
        cargo install --locked --debug "cargo-nextest@$nextest" --no-default-features --features default-no-update
    fi
    if ! cargo deny --version >/dev/null 2>&1; then
        say "installing cargo-deny $deny from crates.io"
        cargo install --locked --debug "cargo-deny@$deny" --no-default-features
    fi
    ;;
kernels)
    folder=${2:?usage: scripts/install.sh kernels FOLDER}
    has python3 || die "no python3: install it with its venv module"
    python3 -m venv "$folder" || die "python3 has no venv module: apt-get install python3-venv"
    "$folder/bin/pip" install -q --retries 2 --timeout 30 "${wheels[@]}"
    cuda=$(echo "$folder"/lib/python3*/site-packages/nvidia/cu13)
    # The compiler looks for libraries there; the wheels call it lib.
    ln -sfn lib "$cuda/lib64"
    ln -sfn "${cuda#"$folder"/}" "$folder/cuda"
    say "CUDA_HOME=$folder/cuda cargo xtask kernels"
    ;;
*) die "usage: scripts/install.sh [build|test|kernels FOLDER]" ;;
esac
