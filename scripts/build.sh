#!/usr/bin/env bash
# Sets up libtorch and builds every program (release profile, the only one used); prints the time of both.
# Further words go to cargo: scripts/build.sh --all-targets
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
for program in cargo python3 cc c++; do
    if ! command -v "$program" > /dev/null; then
        echo "error: $program is missing; needed are Rust 1.95 or newer, Python 3 with pip, and a C and C++ compiler" >&2
        exit 2
    fi
done
python3 scripts/setup-libtorch.py
echo "set-up: ${SECONDS} s"
SECONDS=0
cargo build --release --locked --workspace "$@"
echo "build: ${SECONDS} s"
