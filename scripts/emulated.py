#!/usr/bin/env python3
"""Tests on CPUs that this machine does not have, under emulators. Slow: minutes.

    python3 scripts/emulated.py aarch64    NEON, under QEMU: tests of the evaluator, `chuhe bench` against this CPU's
    python3 scripts/emulated.py avx512     AVX-VNNI, AVX-512 and its VNNI, under Bochs: examples/equal_everywhere of the
                                           evaluator, and the trainer's kernels

The compiler, libraries and emulators are Debian packages, unpacked into third_party/emulation and not installed
(`debian_aside.py`). Exit 0: passed, 1: failed, 77: could not run here, and says why.
"""

import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import debian_aside as debian
import emulated_pc as pc

FAILED, SKIPPED = 1, 77
ROOT = debian.root()
TOOLS = ROOT / "third_party/emulation"
TARGET_DIR = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


class Failed(Exception):
    """What was tested is wrong."""


def say(text):
    print(f"emulated: {text}", flush=True)


def run(words, environment, **more):
    say("running " + " ".join(str(word) for word in words))
    done = subprocess.run(words, env={**os.environ, **environment}, cwd=ROOT, text=True, **more)
    if done.returncode != 0:
        raise Failed(f"exit {done.returncode}: {' '.join(str(word) for word in words)}")
    return done.stdout


# --- AArch64 under QEMU

# The toolchain of this workspace has no standard library for AArch64; Debian's newest Rust has, and is new enough.
# The other names are the C compiler and linker, the C library, and QEMU with the libraries that it needs.
AARCH64_ROOTS = ["rustc-web", "libstd-rust-web-dev", "gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross", "qemu-user"]
AARCH64_KEPT = r"^(libstd-rust|libllvm|lib\w+-arm64|linux-libc|libgcc-[0-9]+-dev-arm64|(gcc|cpp|binutils)-)|arm64-cross|capstone|uring|numa"
AARCH64 = "aarch64-unknown-linux-gnu"
# Small enough for an emulator, and they reach every kernel. Doctests would need another rustdoc.
AARCH64_TESTS = ["-p", "nnue-infer", "--lib", "--tests"]
NETS = ["classic", "half-ka-hm-ab 2x256-16-32-1 pairwise 16-stacks psqt"]
# Depth of `bench`, in plies: some seconds a backend under emulation. (At fixed nodes the signature would say nothing.)
BENCH_DEPTH = "6"


def fill_aarch64(scratch, target):
    archive = debian.Archive(scratch, ["amd64", "arm64"])
    names = archive.closure(AARCH64_ROOTS, AARCH64_KEPT) + ["libstd-rust-web-dev:arm64"]
    say(f"downloading {len(names)} Debian packages, about 150 MB: {' '.join(sorted(names))}")
    archive.download(names)
    archive.unpack(target)
    # A linker script with absolute paths, right only where the package is installed.
    script = target / "usr/aarch64-linux-gnu/lib/libc.so"
    script.write_text(script.read_text().replace("/usr/aarch64-linux-gnu/lib/", ""))


def aarch64():
    tools = TOOLS / "aarch64"
    debian.set_up(tools, "2", fill_aarch64)
    bin_folder, name = tools / "usr/bin", AARCH64.replace("-", "_")
    (gcc,) = bin_folder.glob("aarch64-linux-gnu-gcc-[0-9]*")
    libraries = tools / "usr/lib/x86_64-linux-gnu"
    qemu = [str(bin_folder / "qemu-aarch64"), "-L", str(tools / "usr/aarch64-linux-gnu"), "-cpu", "max"]
    environment = {
        "RUSTC": str(bin_folder / "rustc"),
        "LD_LIBRARY_PATH": str(libraries),
        "CARGO_TARGET_DIR": str(TARGET_DIR / "emulated"),
        f"CARGO_TARGET_{name.upper()}_LINKER": str(gcc),
        f"CARGO_TARGET_{name.upper()}_RUNNER": " ".join(qemu),
        f"CC_{name}": str(gcc),
        f"AR_{name}": str(bin_folder / "aarch64-linux-gnu-ar"),
        # The long forms of the tests are for real CPUs.
        "CHUHE_FULL": "",
    }
    cargo = os.environ.get("CARGO", "cargo")
    flags = ["--release", "--locked", "--target", AARCH64]
    run([cargo, "test", *flags, *AARCH64_TESTS], environment)
    run([cargo, "build", *flags, "-p", "engine", "--bin", "chuhe"], environment)
    emulated = [*qemu, str(TARGET_DIR / "emulated" / AARCH64 / "release/chuhe")]
    here = [str(TARGET_DIR / "release/chuhe")]
    backends = said(emulated, ["backends"], environment)
    if backends != ["scalar", "neon", "neondot"]:
        raise Failed(f"an AArch64 CPU with everything has scalar, neon and neondot; found {backends}")
    compare(here, emulated, ["--net", "none"], [None], environment)
    for net in NETS:
        compare(here, emulated, ["--arch", net, "--seed", "1"], backends, environment)


def said(program, words, environment):
    """What a `chuhe` says in JSON."""
    return json.loads(run([*program, *words, "--json"], environment, stdout=subprocess.PIPE))


def compare(here, emulated, net, backends, environment):
    """The signature of `bench` is the same on both CPUs and on every backend."""
    bench = ["bench", *net, "--depth", BENCH_DEPTH]
    expected = said(here, bench, {})["signature"]
    for backend in backends:
        words = bench + (["--backend", backend] if backend else [])
        found = said(emulated, words, environment)["signature"]
        if found != expected:
            raise Failed(f"{net} on {backend}: signature {found} on AArch64, {expected} on this CPU")
        say(f"{' '.join(net)}, {backend or 'hand-crafted'}: signature {found} on both CPUs")


# --- AVX-512 under Bochs

# What the emulated CPU must have, slowest first.
X86_BACKENDS = ["scalar", "sse41", "avx2", "avxvnni", "avx512", "avx512vnni"]
X86_KERNELS = ["scalar", "avx2", "avx512"]
# Games of equal_everywhere for each architecture.
GAMES = "1"
BOOT_MINUTES = 30


def avx512():
    tools = TOOLS / "pc"
    debian.set_up(tools, "1", pc.fill)
    target = "x86_64-unknown-linux-gnu"
    environment = {
        "CARGO_TARGET_DIR": str(TARGET_DIR / "emulated"),
        # The program is all there will be on that machine.
        "RUSTFLAGS": "-C target-cpu=x86-64-v2 -C target-feature=+crt-static",
    }
    names = ["-p", "nnue-infer", "--example", "equal_everywhere", "-p", "trainer-kernels", "--bin", "trainer-kernels"]
    run([os.environ.get("CARGO", "cargo"), "build", "--release", "--locked", *names, "--target", target], environment)
    built = TARGET_DIR / "emulated" / target / "release"
    evaluator = built / "examples/equal_everywhere"
    emulated(tools, evaluator, [GAMES, *X86_BACKENDS], f"backends: {' '.join(X86_BACKENDS)}")
    emulated(tools, built / "trainer-kernels", X86_KERNELS, f"kernels: {' '.join(X86_KERNELS)}")


def emulated(tools, program, words, announced):
    """Boots a PC with a program as all there is; it must say what it checks and that all is equal."""
    say(f"booting an emulated {pc.MODEL} with {program.name}; a minute on an idle machine")
    folder = TARGET_DIR / "emulated/pc"
    lines = pc.boot(tools, folder, program, words, "all equal", 60 * BOOT_MINUTES)
    for line in lines:
        if pc.worth_showing(line):
            print(f"    {line}")
    if not pc.was_said("all equal", lines) or announced not in lines:
        raise Failed(f"{program.name} did not say `all equal`; all that was said is in {folder / 'serial.txt'}")


def main():
    stages = {"aarch64": aarch64, "avx512": avx512}
    if len(sys.argv) != 2 or sys.argv[1] not in stages:
        print(f"usage: emulated.py {'|'.join(stages)}", file=sys.stderr)
        return 2
    name, started = sys.argv[1], time.monotonic()
    try:
        if (sys.platform, platform.machine()) != ("linux", "x86_64"):
            raise debian.Unavailable("this is set up for Linux on x86-64")
        stages[name]()
    except debian.Unavailable as error:
        print(f"emulated: {name} SKIPPED: {error}", file=sys.stderr)
        return SKIPPED
    except Failed as error:
        print(f"emulated: {name} FAILED: {error}", file=sys.stderr)
        return FAILED
    say(f"{name} passed in {time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
