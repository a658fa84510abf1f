#!/usr/bin/env bash
# From nothing to a verified proof: installs what is missing, builds cuzk, makes
# the C1 of a 2 KiB sector and test parameters, proves, verifies, and shows what
# the stages did when. All it writes is in target/demo.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/install.sh build

demo=target/demo
mkdir -p "$demo"
step() {
    printf '\n$ cuzk %s\n' "$*"
    "${CARGO_TARGET_DIR:-target}/release/cuzk" "$@"
}

printf '$ cargo build --release --locked --package cuzk-cli\n'
cargo build --release --locked --package cuzk-cli
step fixture porep --sector-size 2KiB --out "$demo/c1.json"
# About a minute of two cores and 1 GiB of disk; kept for the next time.
step setup porep --sector-size 2KiB --out "$demo/params"
step prove porep --c1 "$demo/c1.json" --params "$demo/params" --test-params \
    --out "$demo/proof.bin" --trace "$demo/trace.json" --timeline
step verify porep --c1 "$demo/c1.json" --proof "$demo/proof.bin" --params "$demo/params" --test-params

printf '\nThe proof is %s/proof.bin; open %s/trace.json in https://ui.perfetto.dev for the timeline.\n' \
    "$demo" "$demo"
