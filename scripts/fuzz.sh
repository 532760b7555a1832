#!/usr/bin/env bash
# Fuzzing: scripts/fuzz.sh TARGET|all [SECONDS]   (60 seconds a target unless said otherwise; one core)
#
# Sets up what is missing: cargo-fuzz from the package registry into third_party/tools (compiles for two minutes),
# seeds from tests/data into fuzz/corpus. Works on the stable toolchain: coverage needs no nightly flag. CHUHE_SANITIZER=address
# adds the address sanitizer, for the C code of zstd (half the speed; our own code has no unsafe in what is fuzzed).
# What breaks a law is left in fuzz/artifacts/TARGET; put it into fuzz/crashers/TARGET, where tests/fuzz-laws
# replays it for ever, and repair what is wrong.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
wanted=${1:?expected a target or all; targets: $(ls fuzz/fuzz_targets | sed 's/\.rs$//' | tr '\n' ' ')}
seconds=${2:-60}
sanitizer=${CHUHE_SANITIZER:-none}
[ "$wanted" = all ] && targets=$(ls fuzz/fuzz_targets | sed 's/\.rs$//') || targets=$wanted
for target in $targets; do
    [ -f "fuzz/fuzz_targets/$target.rs" ] || {
        echo "error: no target $target in fuzz/fuzz_targets: $(ls fuzz/fuzz_targets | tr '\n' ' ')" >&2
        exit 2
    }
done

tools=$PWD/third_party/tools
PATH=$tools/bin:$PATH
command -v cargo-fuzz >/dev/null || cargo install --quiet --locked --version 0.13.2 --root "$tools" cargo-fuzz
cargo run --release --locked --quiet -p fuzz-laws --example fuzz_seeds fuzz/corpus
# The dependencies are those of the tests, by version.
[ fuzz/Cargo.lock -nt Cargo.lock ] || cp Cargo.lock fuzz/Cargo.lock
# The address sanitizer's flag is one of the nightly compiler's.
[ "$sanitizer" = none ] || export RUSTC_BOOTSTRAP=1

failed=0
for target in $targets; do
    echo "== fuzz $target, $seconds s, sanitizer $sanitizer =="
    cargo fuzz run --fuzz-dir fuzz --sanitizer "$sanitizer" "$target" -- \
        -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=25 -print_final_stats=1 || failed=1
done
exit $failed
