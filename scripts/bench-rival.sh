#!/usr/bin/env bash
# `cuzk prove` and filecoin-proofs with bellperson on the CPU, in turns, on the same
# C1 with the same parameters: scripts/bench-rival.sh [ROUNDS]. All it writes is in
# target/rival: 1 GiB of test parameters, kept for the next time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
rounds=${1:-3}
scripts/install.sh build

work=$PWD/target/rival
params=$work/params
mkdir -p "$work"
cargo build --release --locked --package cuzk-cli
cargo build --release --locked --manifest-path benches/rivals/Cargo.toml --bins --features c2
cuzk=${CARGO_TARGET_DIR:-target}/release/cuzk
rivals=${CARGO_TARGET_DIR:-benches/rivals/target}/release

# Upstream finds its parameters by their official names only.
"$cuzk" fixture porep --sector-size 2KiB --out "$work/c1.json"
"$cuzk" setup porep --sector-size 2KiB --seed 1 --official-names --out "$params"

printf '\nA: cuzk prove; B: c2_rival (filecoin-proofs 19.1.0, bellperson 0.27, CPU); commit %s\n' \
    "$(git describe --always --dirty)"
grep -m 1 'model name' /proc/cpuinfo || true
export FIL_PROOFS_PARAMETER_CACHE=$params
"$rivals/turns" "$rounds" \
    "$cuzk" prove porep --c1 "$work/c1.json" --params "$params" --quiet --out "$work/proof.bin" \
    --- "$rivals/c2_rival" "$work/c1.json" "$work/rival.bin"
