#!/usr/bin/env bash
# Compiles trainer/csrc/nccl into libchuhe_nccl.so, which chuhe-train loads when several processes train on GPUs: torch's
# ProcessGroupNCCL for the full torch of `python3 scripts/setup-libtorch.py --full`. Needs g++, no CUDA toolkit, no GPU.
#
#     scripts/build-nccl-shim.sh [--site-packages DIR] [--out FILE]
#
# --site-packages  where torch 2.11 with CUDA 13 is installed   [third_party/torch-full's]
# --out            the shared object                            [target/release/libchuhe_nccl.so, beside chuhe-train]
#
# Two header wheels that torch does not bring, 3.3 MB, are fetched once into third_party/nccl-headers; after that no
# network is needed.
set -euo pipefail
cd "$(dirname "$0")/.."

site=$(echo third_party/torch-full/lib/python3.*/site-packages)
out=target/release/libchuhe_nccl.so
while [ $# -gt 0 ]; do
    case $1 in
        --site-packages) site=$2; shift 2 ;;
        --out) out=$2; shift 2 ;;
        *) sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "$0"; exit 2 ;;
    esac
done
if [ ! -e "$site/torch/lib/libtorch_cuda.so" ]; then
    echo "build-nccl-shim: no torch/lib/libtorch_cuda.so in $site; run scripts/setup-libtorch.py --full, or give" \
        "--site-packages" >&2
    exit 2
fi

# What the CUDA headers in torch's own wheels include and do not contain.
headers=third_party/nccl-headers
if [ ! -e "$headers/nvidia/cu13/include/crt/host_config.h" ] || ! find "$headers" -path '*nv/target' | grep -q .; then
    mkdir -p third_party
    scratch=$(mktemp -d third_party/nccl-headers.partial-XXXXXX)
    trap 'rm -rf "$scratch"' EXIT
    cat > "$scratch/requirements.txt" <<'EOF'
nvidia-cuda-crt==13.0.88 --hash=sha256:2c8043c7c9e02492716426e9919fc78d2c5b3b2a7a768a88e952676b08aa55a4
nvidia-cuda-cccl==13.0.85 --hash=sha256:e0da7ad981f3a8aff08241b5bfc1af868742a63e2762f53a5171c492ef242649
EOF
    python3 -m pip download --no-deps --only-binary=:all: --no-cache-dir --require-hashes --disable-pip-version-check \
        --python-version=3.11 --platform=manylinux2014_x86_64 --platform=manylinux_2_17_x86_64 \
        --dest "$scratch" -r "$scratch/requirements.txt" >&2
    for wheel in "$scratch"/*.whl; do python3 -m zipfile -e "$wheel" "$scratch/unpacked"; done
    rm -rf "$headers"
    mv "$scratch/unpacked" "$headers"
fi

cccl=$(find "$headers" "$site/nvidia/cu13" -path '*nv/target' -printf '%h\n' 2>/dev/null | head -1)
mkdir -p "$(dirname "$out")"
# --no-undefined: what is missing in this torch shows here, and not on the cluster.
"${CXX:-g++}" -std=c++17 -O1 -fPIC -w -shared -Wl,--no-undefined -o "$out.partial" trainer/csrc/nccl/nccl.cpp \
    -D_GLIBCXX_USE_CXX11_ABI=1 -DUSE_C10D_NCCL -DUSE_CUDA \
    -I"$site/torch/include" -I"$site/torch/include/torch/csrc/api/include" \
    -isystem "$site/nvidia/cu13/include" -isystem "$site/nvidia/nccl/include" \
    -isystem "$headers/nvidia/cu13/include" -isystem "$(dirname "$cccl")" \
    -L"$site/torch/lib" -Wl,-rpath-link,"$site/nvidia/cu13/lib" -Wl,--unresolved-symbols=ignore-in-shared-libs \
    -ltorch_cuda -lc10_cuda -ltorch_cpu -lc10
mv "$out.partial" "$out"
echo "$out"
