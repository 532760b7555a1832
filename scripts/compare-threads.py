#!/usr/bin/env python3
"""Nodes per second with several threads over one: alternating runs of `chuhe speedtest`, the median of the ratios.

    scripts/compare-threads.py                        # 2 threads over 1, five pairs of 20 seconds each
    scripts/compare-threads.py --threads 16 --pairs 3 --seconds 60 --hash 256

Both runs of a pair have the same table. It says something only on an idle machine with that many processors; on a busy
one compare nodes per second of CPU time instead (scripts/compare-nps.py with --option "B:Threads=2").
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

PROGRAM = pathlib.Path(__file__).resolve().parent.parent / "target/release/chuhe"


def nodes_per_second(program, threads, arguments):
    """One speed test."""
    command = [program, "speedtest", threads, arguments.hash, arguments.seconds, "--json"]
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, check=True)
    summary = json.loads(done.stdout)
    return summary["nps"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=PROGRAM, help="the engine (default: target/release/chuhe)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=20, help="of each run")
    parser.add_argument("--hash", type=int, default=128, help="MiB, of every run")
    arguments = parser.parse_args()
    ratios = []
    for pair in range(arguments.pairs):
        order = [1, arguments.threads] if pair % 2 == 0 else [arguments.threads, 1]
        speed = {threads: nodes_per_second(arguments.program, threads, arguments) for threads in order}
        ratios.append(speed[arguments.threads] / speed[1])
        print(
            f"pair {pair + 1}: 1 thread {speed[1]:.0f}, {arguments.threads} threads {speed[arguments.threads]:.0f} "
            f"nodes/s, ratio {ratios[-1]:.3f}",
            file=sys.stderr,
        )
    print(f"{arguments.threads} threads over 1: {statistics.median(ratios):.3f} times the nodes per second (median)")


if __name__ == "__main__":
    main()
