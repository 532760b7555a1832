#!/usr/bin/env python3
"""Training steps on the CPU against a program of one's own in PyTorch: alternating runs, positions a second of wall time
and of processor time, medians of the ratios.

    scripts/compare-training.py --data games.rec --peer "python3 baseline.py --ft {l1} --threads {threads} --steps 10"

Three things are measured in each round: `chuhe-train train` on record files through its loader, `chuhe-train bench-step`
(batches in memory), and the peer, which must print `N pos/s wall, M pos/cpu-s` as its last line. The loader's run is timed
twice, with few steps and with many, and the difference counts: reading, counting and validating before the first step is
in both. Processor time is that of the whole process, loader included.
"""
import argparse
import json
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import tempfile

PROGRAM = pathlib.Path(__file__).resolve().parent.parent / "target/release/chuhe-train"
CONFIG = """\
[net]
architecture = "{arch}"
[training]
batch_size = {batch}
steps = {steps}
[validation]
fraction = 0.0
[checkpoint]
every_steps = 1000000
"""


def run(words):
    """Runs a program: its output, and the seconds it took on the wall clock and of all processors."""
    before = os.times()
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{words[0]} failed: {done.stderr[-2000:]}")
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return done.stdout, after.elapsed - before.elapsed, cpu


def train(arguments, arch, steps):
    """A training run from nothing: seconds on the wall clock, of all processors."""
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder) / "config.toml"
        config.write_text(CONFIG.format(arch=arch, batch=arguments.batch, steps=steps))
        words = [arguments.program, "--threads", arguments.threads, "train", config, "--data", *arguments.data]
        _, wall, cpu = run([*words, "--out", pathlib.Path(folder) / "run", "--quiet"])
        return wall, cpu


def through_the_loader(arguments, arch):
    few, many = arguments.steps, 4 * arguments.steps
    (wall1, cpu1), (wall2, cpu2) = train(arguments, arch, few), train(arguments, arch, many)
    positions = arguments.batch * (many - few)
    return positions / (wall2 - wall1), positions / (cpu2 - cpu1)


def in_memory(arguments, arch):
    words = [arguments.program, "--threads", arguments.threads, "bench-step", "--arch", arch, "--json"]
    output, _, _ = run([*words, "--batch-size", arguments.batch, "--steps", arguments.steps])
    result = json.loads(output)
    return result["positions_per_second"], result["positions_per_cpu_second"]


def peer(arguments, l1):
    output, _, _ = run(shlex.split(arguments.peer.format(l1=l1, threads=arguments.threads)))
    found = re.findall(r"([\d.]+) pos/s wall, ([\d.]+) pos/cpu-s", output)
    if not found:
        raise SystemExit(f"the peer's last line is {output.splitlines()[-1:]}, expected `N pos/s wall, M pos/cpu-s`")
    return tuple(float(value) for value in found[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=PROGRAM, help="chuhe-train (default: target/release/chuhe-train)")
    parser.add_argument("--data", nargs="+", type=pathlib.Path, required=True, help="record files")
    parser.add_argument("--peer", required=True, help="its command, {l1} and {threads} filled in")
    parser.add_argument("--arch", default="half-ka-hm-ab 2x{l1}-32-32-1 crelu", help="with {l1}")
    parser.add_argument("--l1", nargs="+", type=int, default=[512, 1024])
    parser.add_argument("--batch", type=int, default=16384)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--pairs", type=int, default=5)
    arguments = parser.parse_args()
    for l1 in arguments.l1:
        arch = arguments.arch.format(l1=l1)
        ratios = {"loader, wall": [], "loader, cpu": [], "in memory, wall": [], "in memory, cpu": []}
        for pair in range(arguments.pairs):
            theirs = peer(arguments, l1)
            loader, memory = through_the_loader(arguments, arch), in_memory(arguments, arch)
            values = [*loader, *memory]
            for (name, list_), mine, other in zip(ratios.items(), values, [*theirs, *theirs]):
                list_.append(mine / other)
            shown = ", ".join(f"{value:.0f}" for value in [*values, *theirs])
            print(f"{l1} pair {pair + 1}: loader, memory, peer (each wall, cpu): {shown}", file=sys.stderr)
        for name, list_ in ratios.items():
            low, high = min(list_), max(list_)
            print(f"{arch}: {name}: {statistics.median(list_):.2f} times the peer ({low:.2f} to {high:.2f})", flush=True)


if __name__ == "__main__":
    main()
