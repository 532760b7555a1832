#!/usr/bin/env bash
# Builds what is given to users, with the `dist` profile, into target/dist/programs: every program but the trainer, for
# x86-64-v2, and beside `chuhe` its twin for x86-64-v3, which it becomes at its start where the CPU allows
# (CHUHE_NO_REEXEC=1 keeps it from that). Then checks that both start and search the same. `--engine-only`: chuhe alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec cargo run --release --locked --quiet -p xtask -- dist "$@"
