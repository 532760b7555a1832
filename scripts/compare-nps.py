#!/usr/bin/env python3
"""Compares the node rates of two UCI engines on the same positions: alternating pairs of runs, one thread, nodes per
second of CPU time, medians.

    scripts/compare-nps.py --depth 10 --option "A:EvalFile=net.nnue" "target/release/chuhe" "/path/to/pikafish"
    scripts/compare-nps.py --nodes 200000 --option "A:Backend=sse41" --option "B:Backend=avx2" chuhe chuhe

CPU time (user and system, all threads) is read from /proc after `isready`, before the first `go`, and after the last
`bestmove`: loading a net does not count. It needs Linux. Nodes are those of the last `info` line of each search. With a
depth the engines search different trees, with nodes the same number of nodes; both compare speed, not strength.
"""
import argparse
import json
import os
import pathlib
import re
import shlex
import statistics
import subprocess

POSITIONS = pathlib.Path(__file__).resolve().parent.parent / "engine/src/bench_positions.in"


class Engine:
    """One engine process, spoken to in UCI."""

    def __init__(self, command, options):
        self.process = subprocess.Popen(
            shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.say("uci")
        self.read_until("uciok")
        for option in options:
            name, _, value = option.partition("=")
            self.say(f"setoption name {name} value {value}")
        self.say("ucinewgame")
        self.say("isready")
        self.read_until("readyok")

    def say(self, line):
        self.process.stdin.write(line + "\n")

    def read_until(self, word):
        """Lines up to the one that begins with `word`."""
        lines = []
        for line in self.process.stdout:
            lines.append(line)
            if line.startswith(word):
                return lines
        raise SystemExit(f"the engine ended before it said {word}; its last words: {''.join(lines[-3:])}")

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def search(self, fen, limit):
        self.say(f"position fen {fen}")
        self.say(f"go {limit}")
        nodes = [re.search(r"\bnodes (\d+)", line) for line in self.read_until("bestmove")]
        return int([match for match in nodes if match][-1].group(1))

    def quit(self):
        self.say("quit")
        self.process.wait()


def measure(command, options, fens, limit):
    """(nodes, CPU seconds) of all positions."""
    engine = Engine(command, options)
    before = engine.cpu_seconds()
    nodes = sum(engine.search(fen, limit) for fen in fens)
    seconds = engine.cpu_seconds() - before
    engine.quit()
    if seconds < 0.5:
        raise SystemExit(f"{seconds:.2f} s is too short to measure: give a greater depth or more nodes")
    return nodes, seconds


def fens_of(path):
    text = pathlib.Path(path).read_text()
    try:
        return [entry["fen"] if isinstance(entry, dict) else entry for entry in json.loads(text)]
    except ValueError:
        return re.findall(r'"([^"]+/[^"]+)"', text) or [line for line in text.splitlines() if line.strip()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine_a")
    parser.add_argument("engine_b")
    parser.add_argument("--positions", default=POSITIONS, help="FENs: JSON, quoted, or one a line [bench's]")
    parser.add_argument("--depth", type=int, help="depth of each search")
    parser.add_argument("--nodes", type=int, help="nodes of each search")
    parser.add_argument("--pairs", type=int, default=5, help="alternating runs of each engine [5]")
    parser.add_argument("--option", action="append", default=[], metavar="A:NAME=VALUE", help="UCI option of A or B")
    arguments = parser.parse_args()
    if (arguments.depth is None) == (arguments.nodes is None):
        parser.error("give --depth or --nodes")
    limit = f"depth {arguments.depth}" if arguments.depth else f"nodes {arguments.nodes}"
    fens = fens_of(arguments.positions)
    engines = {"A": arguments.engine_a, "B": arguments.engine_b}
    options = {name: [o[2:] for o in arguments.option if o.startswith(name + ":")] for name in engines}
    print(f"{len(fens)} positions, {limit}, {arguments.pairs} pairs")
    rates = {name: [] for name in engines}
    for pair in range(arguments.pairs):
        for name, command in engines.items():
            nodes, seconds = measure(command, options[name], fens, limit)
            rates[name].append(nodes / seconds)
            print(f"{pair + 1} {name}: {nodes} nodes, {seconds:.2f} s, {nodes / seconds:,.0f} nodes/s", flush=True)
    for name, command in engines.items():
        print(f"{name} {command} {' '.join(options[name])}: median {statistics.median(rates[name]):,.0f} nodes/s")
    ratios = sorted(a / b for a, b in zip(rates["A"], rates["B"]))
    print(f"A/B: median {statistics.median(ratios):.3f}, from {ratios[0]:.3f} to {ratios[-1]:.3f}")


if __name__ == "__main__":
    main()
