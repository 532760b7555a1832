#!/usr/bin/env bash
# Proves and measures the CUDA backend on the GPU of this computer; ends within 5 minutes.
#
#   scripts/gpu-check.sh [CHUHE_TRAIN] [TORCH_LIB]
#
# CHUHE_TRAIN  a built chuhe-train, stripped or not [default: beside this script, then target/release]
# TORCH_LIB    the torch/lib folder of a full torch 2.11 with CUDA [default: that of this computer's python3, then
#              third_party/torch-full]
#
# Needs no cargo, no network and no data: it makes its own. Exit codes: 0 every comparison holds, 1 one does not,
# 2 it could not run, 3 there is no GPU.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

fail() {
    echo "gpu-check: error: $1" >&2
    exit 2
}

program=${1:-}
if [ -z "$program" ]; then
    for program in "$here/chuhe-train" "$here/../target/release/chuhe-train"; do
        [ -x "$program" ] && break
    done
fi
[ -x "$program" ] || fail "$program is not a program; give the path of a built chuhe-train"

# The GPU first: without one the answer should not depend on torch.
if ! compgen -G '/dev/nvidia[0-9]*' > /dev/null && ! compgen -G '/dev/dxg' > /dev/null; then
    echo "gpu-check: no GPU: there is no /dev/nvidia0 on this computer; nothing was checked" >&2
    exit 3
fi

lib=${2:-}
if [ -z "$lib" ]; then
    # Found, not imported: importing takes seconds.
    lib=$(python3 - <<'PYTHON' || true
import importlib.util
spec = importlib.util.find_spec("torch")
print(spec.submodule_search_locations[0] + "/lib" if spec and spec.submodule_search_locations else "")
PYTHON
)
fi
if [ -z "$lib" ]; then
    lib=$(compgen -G "$here/../third_party/torch-full/lib/python3.*/site-packages/torch/lib" | head -n 1 || true)
fi
[ -n "$lib" ] || fail "python3 has no torch; give the torch/lib folder of a torch 2.11 with CUDA as the second argument"
[ -e "$lib/libtorch_cuda.so" ] || fail "$lib has no libtorch_cuda.so; expected the torch/lib of a torch 2.11 with CUDA"
version=$(sed -n "s/^__version__ = '\([^']*\)'.*/\1/p" "$lib/../version.py" 2> /dev/null || true)
case "$version" in
    2.11.* | "") ;;
    *) fail "$lib is of torch $version, expected 2.11: chuhe-train was built for its C++ interface" ;;
esac

echo "program $program"
echo "torch   $lib (${version:-version unknown})"
command -v nvidia-smi > /dev/null && nvidia-smi --query-gpu=index,name,memory.total,driver_version --format=csv,noheader
# LD_LIBRARY_PATH beats the path in the program, so that it uses this torch. 240 s for itself, and a wall behind it.
export LD_LIBRARY_PATH="$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
status=0
timeout --kill-after=5 290 "$program" gpu-check --seconds 200 || status=$?
[ "$status" -ne 124 ] || fail "stopped after 290 seconds"
exit "$status"
