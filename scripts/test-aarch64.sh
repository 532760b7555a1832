#!/usr/bin/env bash
# The evaluator and the engine on an emulated AArch64 CPU: tests, every backend, the signature of `chuhe bench`.
# Downloads Debian packages (150 MB, said before) into third_party/emulation. Exit 77: could not run here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
test -x "${CARGO_TARGET_DIR:-target}/release/chuhe" || cargo build --release --locked -p engine --bin chuhe
exec python3 scripts/emulated.py aarch64
