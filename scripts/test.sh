#!/usr/bin/env bash
# Every check that a change has to pass. Sets up what is missing, builds once, then runs the stages of
# `xtask test`, which prints the time of each. `--full` adds soaks, fuzzing and kill trials; `--only STAGE,…`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python3 scripts/setup-tools.py
cargo fetch --locked --quiet
# The compiler of the CUDA kernels; without it (no network, first run) the test that compiles them says SKIPPED.
python3 scripts/setup-libtorch.py --nvrtc || echo "test.sh: no NVRTC; the CUDA kernels are not compiled for a GPU" >&2
scripts/build.sh --all-targets
exec "${CARGO_TARGET_DIR:-target}/release/xtask" test "$@"
