#!/usr/bin/env bash
# Installs what is missing, then runs every check: `scripts/test.sh [STEP…]`,
# where the steps are those of `cargo xtask ci --list`, or `all`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/install.sh test
# Without a choice, the steps that have been seen to pass in one run; `all` is all of them.
steps=("$@")
((${#steps[@]})) || steps=(fmt tidy deps deny nextest)
[[ ${steps[0]} == all ]] && steps=()
exec cargo xtask ci "${steps[@]}"
