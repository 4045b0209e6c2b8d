"""Runs every algorithm, by every method, on small inputs under NVIDIA's compute-sanitizer and records what it finds.

    python -m tests.sanitize [--out FILE]

memcheck finds accesses out of bounds, racecheck hazards in shared memory, synccheck barriers that not all threads
reach. The exit status says whether anything was found. It runs the samples of the registry, each method by
itself; tests/test_registry.py checks their results.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

import mgraph
from mgraph import device as devices
from mgraph.algorithms.registry import ALGORITHMS
from mgraph.kernels import ceilings as ceilings_kernels

TOOLS = ("memcheck", "racecheck", "synccheck")
SECONDS = 400


def ceilings() -> None:
    """The ceilings of a device, for every type: whole blocks, and a last one of some words."""
    device = devices.find("cuda")
    kernels, xp = ceilings_kernels.on(device), device.xp
    for dtype in (np.float32, np.float64, np.int32, np.int16):
        for nonnegative in (False, True)[: 2 if dtype == np.float32 else 1]:
            kernels.relaxations(xp.ones(10_000, dtype), dtype(3), dtype(2), dtype(90), 9, nonnegative)
    kernels.reads(xp.arange(1 << 12, dtype=np.uint32), 10_000, xp.zeros(1, np.uint32))
    device.synchronize()


def hierarchies() -> None:
    """Hierarchies for every type: few sources and many, rows, measures, pairs, both directions alike and not.

    Sets of weights together: of both kinds, and more than a batch.
    """
    grid = mgraph.generate.grid(12, 13)
    for dtype in ("float32", "float64", "int32"):
        roads = mgraph.Hierarchy(grid, range(grid.n), dtype=dtype, device="cuda")
        for one in (roads, roads.customize(np.arange(grid.m), dtype=dtype)):
            for sources in ([0, 5, 7], np.arange(300) % grid.n):
                one.distances(sources, limit=900)
                one.distances(sources, [3, 9], reduce=["mean", "out_harmonic", ("within", list(range(20)))])
                one.pairs(sources, sources[::-1])
        both_ways, one_way = np.ones((37, grid.m), dtype), np.arange(37 * grid.m).reshape(37, -1)
        for stack in (both_ways, one_way % 99):
            for one in roads.customize(stack, dtype=dtype):
                one.distances([0], limit=900)


def samples(name: str, method: str) -> None:
    """Run an algorithm's samples by a method, with all blocks a launch and with few."""
    entry = ALGORITHMS[name]
    for sample in entry.samples(method):
        entry.run(sample, method, "cuda")
        with devices.find("cuda").limited(2):
            entry.run(sample, method, "cuda")


#: The runs: each algorithm of the registry by each of its methods for GPUs, the ceilings, and hierarchies.
RUNS: dict[str, Callable[[], None]] = {
    " ".join((name, *([method] if entry.methods else []))): partial(samples, name, method)
    for name, entry in ALGORITHMS.items()
    for method in (entry.methods or ("auto",))
    if method not in entry.cpu_only
} | {"ceilings": ceilings, "hierarchies": hierarchies}


def found(tool: str, run: str) -> dict[str, object]:
    """Return a tool's report on a run."""
    sanitizer = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    command = [sanitizer, "--tool", tool, "--error-exitcode", "9", sys.executable, "-m", "tests.sanitize"]
    try:
        done = subprocess.run([*command, "--run", run], capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return {"tool": tool, "run": run, "clean": False, "said": [f"no end within {SECONDS} s"]}
    said = [line.removeprefix("=========").strip() for line in done.stdout.splitlines() if line.startswith("=====")]
    errors = [line for line in done.stderr.splitlines() if line.strip()]
    # CuPy's own kernels are excluded: that of nonzero() has harmless hazards.
    places = set(re.findall(r"access at (?:\w+ )*?([\w:]+)(?:[<(].*?)?\+0x", done.stdout))
    ended = "returned an error" not in done.stdout and "Traceback" not in done.stderr
    if tool == "racecheck" and ended and places and all(place.startswith("cupy_") for place in places):
        return {"tool": tool, "run": run, "clean": True, "said": [f"0 hazards but in {', '.join(places)}"]}
    clean = done.returncode == 0 and any(" 0 " in line for line in said[-1:])
    return {
        "tool": tool, "run": run, "clean": clean, "said": said[-1:] if clean else said[:40] + errors[-5:]
    }  # fmt: skip


def main() -> int:
    """Make all runs under all tools, or a single run without a tool."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", choices=RUNS, metavar="NAME", help="make only this run, without a tool")
    parser.add_argument("--out", type=Path, help="write what was found to this file")
    arguments = parser.parse_args()
    if arguments.run:
        RUNS[arguments.run]()
        return 0
    work = [(tool, run) for run in RUNS for tool in TOOLS]
    with ThreadPoolExecutor(min(14, os.cpu_count() or 1)) as pool:
        results = list(pool.map(lambda job: found(*job), work))
    for result in results:
        print(json.dumps(result) if not result["clean"] else f"{result['tool']} {result['run']}: {result['said']}")
    if arguments.out:
        from tests.conftest import environment, kernel_digests

        record = {**environment(), "runs": results, "kernels": kernel_digests()}
        arguments.out.write_text(json.dumps(record, indent=2) + "\n")
    return 0 if all(result["clean"] for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
