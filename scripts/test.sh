#!/usr/bin/env bash
# Installs what is missing, then runs every check: `scripts/test.sh [STEP…]`,
# where the steps are those of `cargo xtask ci --list`; without any, all of them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/install.sh test
# What is built once needs no notes for building it again: they are 12 of 21 GB.
export CARGO_INCREMENTAL="${CARGO_INCREMENTAL:-0}"
exec cargo xtask ci "$@"
