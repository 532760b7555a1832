#!/usr/bin/env python3
"""Compares the speed of `chuhe perft` with the `go perft` of a peer, one thread each.

    scripts/compare-perft.py --peer "path/to/pikafish" --pairs 5

Runs both alternately on positions of tests/data/vectors/perft.json, checks that they count the same leaves, and prints
per position the median over the pairs of peer time / own time: above 1 ours is faster. Times are user CPU seconds
of the process, less those of the same process when it counts one ply (start-up, loading of a net).
"""
import argparse
import json
import os
import re
import shlex
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The start position, and six of other kinds, at depths of about 30 to 200 million leaves.
DEPTHS = {
    "start": 5,
    "cpw1": 5,
    "cpw3": 6,
    "fsf1": 5,
    "random1_16": 5,
    "in_check_rook": 7,
    "bishops_blocked": 8,
}


def run(command, text):
    """The output and the user CPU seconds of a process that is given `text`."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    process.stdin.write(text)
    process.stdin.close()
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{shlex.join(command)} ended with {process.returncode}:\n{output}")
    return output, usage.ru_utime


def count(pattern, output, command):
    found = re.search(pattern, output)
    if not found:
        sys.exit(f"{shlex.join(command)}: no count of leaves in:\n{output}")
    return int(found.group(1))


def own(command, fen, depth):
    command = command + ["perft", str(depth), "--fen", fen]
    output, seconds = run(command, "")
    return count(r"(\d+) leaves", output, command), seconds


def peer(command, fen, depth):
    output, seconds = run(command, f"position fen {fen}\ngo perft {depth}\nquit\n")
    return count(r"Nodes searched:\s*(\d+)", output, command), seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", required=True, help="command of a UCI engine that knows `go perft`")
    parser.add_argument("--own", default=str(ROOT / "target/release/chuhe"), help="command of ours")
    parser.add_argument("--pairs", type=int, default=5, help="alternating runs per position (default 5)")
    parser.add_argument("--positions", help="other ones: id:depth,id:depth,…")
    arguments = parser.parse_args()
    own_command, peer_command = shlex.split(arguments.own), shlex.split(arguments.peer)
    if arguments.positions:
        depths = {i: int(depth) for i, depth in (p.split(":") for p in arguments.positions.split(","))}
    else:
        depths = DEPTHS
    vectors = json.loads((ROOT / "tests/data/vectors/perft.json").read_text())
    fens = {vector["id"]: vector["fen"] for vector in vectors}

    start_up = [statistics.median(side(command, fens["start"], 1)[1] for _ in range(5))
                for side, command in ((own, own_command), (peer, peer_command))]
    print(f"start-up: own {start_up[0]:.2f} s, peer {start_up[1]:.2f} s of CPU time, taken off below")
    print(f"{'position':<20}{'depth':>6}{'leaves':>12}{'own M/s':>9}{'peer M/s':>9}{'ratio':>7}  pairs")
    ratios = []
    for name, depth in depths.items():
        pairs = []
        for _ in range(arguments.pairs):
            (leaves, mine), (others, theirs) = (own(own_command, fens[name], depth), peer(peer_command, fens[name], depth))
            if leaves != others:
                sys.exit(f"{name} depth {depth}: own {leaves} leaves, peer {others}")
            pairs.append((mine - start_up[0], theirs - start_up[1]))
        each = sorted(theirs / mine for mine, theirs in pairs)
        ratios.append(statistics.median(each))
        speeds = [leaves / statistics.median(seconds) / 1e6 for seconds in zip(*pairs)]
        span = f"{each[0]:.2f}-{each[-1]:.2f}"
        print(f"{name:<20}{depth:>6}{leaves:>12}{speeds[0]:>9.1f}{speeds[1]:>9.1f}{ratios[-1]:>7.2f}  {span}", flush=True)
    print(f"lowest {min(ratios):.2f}, median {statistics.median(ratios):.2f}, highest {max(ratios):.2f}")


if __name__ == "__main__":
    main()
