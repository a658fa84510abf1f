#!/usr/bin/env bash
# Installs what is missing on Debian or Ubuntu and says what that is:
#   scripts/install.sh build   a C compiler, pkg-config, hwloc
#   scripts/install.sh test    those, and cargo-nextest and cargo-deny
set -euo pipefail

# Built from crates.io without optimisation: about 3 and 2 CPU-minutes, once.
nextest=0.9.151
deny=0.20.2

say() { printf '%s\n' "== $*" >&2; }
die() { printf '%s\n' "error: $*" >&2; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }

has cargo || die "no cargo: install Rust 1.95 or later from https://rustup.rs"

packages=()
{ has cc && has make && has ar; } || packages+=(build-essential)
has pkg-config || packages+=(pkg-config)
{ has pkg-config && pkg-config --exists hwloc; } || packages+=(libhwloc-dev)
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
*) die "usage: scripts/install.sh [build|test]" ;;
esac
