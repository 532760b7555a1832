#!/usr/bin/env bash
# The whole loop on real input, into runs/quickstart: self-play, training, export, verification, benchmark of the
# new net on every backend of this CPU, matches, summary. About five minutes on two cores after set-up and build.
# Running it again continues what was interrupted. `--fresh` starts over.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/build.sh
exec "${CARGO_TARGET_DIR:-target}/release/xtask" quickstart "$@"
