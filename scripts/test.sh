#!/usr/bin/env bash
# Installs what is missing, then runs every check: `scripts/test.sh [STEP…]`,
# where the steps are those of `cargo xtask ci --list`; without any, all of them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/install.sh test
exec cargo xtask ci "$@"
