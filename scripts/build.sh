#!/usr/bin/env bash
# Sets up libtorch and builds every program (release profile, the only one used); prints the time of both.
# Further words go to cargo: scripts/build.sh --all-targets
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python3 scripts/setup-libtorch.py
echo "set-up: ${SECONDS} s"
SECONDS=0
cargo build --release --locked --workspace "$@"
echo "build: ${SECONDS} s"
