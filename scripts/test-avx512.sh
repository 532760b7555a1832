#!/usr/bin/env bash
# Every x86-64 backend of the evaluator against the reference, on an emulated PC with AVX-512, VNNI and AVX-VNNI.
# Downloads Debian packages (100 MB, said before) into third_party/emulation. Exit 77: could not run here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec python3 scripts/emulated.py avx512
