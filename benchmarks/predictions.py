"""Measures what the planner predicts of the CPU at hand, on one core, beside what the calls take.

    python -m benchmarks.predictions [NAME ...]

Each row prints one line: the case, its method, the predicted and the measured milliseconds, and the first over the
second. A name is that of an algorithm, such as sssp. Measured is the processor's time of the solve, the least of some
runs after a warm-up: so it says little of who else uses the machine. Results are checked by the tests, not here.
"""

import argparse
import os
import time
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np

import mgraph
from mgraph import device as devices
from mgraph.generate import grid, linked_list, random_degree, random_matrix, rmat, weighted
from mgraph.planning.rates import speed

RUNS = 3
WEIGHTS = (1, 255)

Case = tuple[str, Callable[[], Any], Callable[..., Any], dict[str, Any]]


def cases() -> Iterator[Case]:
    """Yield what is measured: a name, the input, the call and its arguments."""
    graphs = {
        "grid 1,000 x 1,000": lambda: grid(1000, 1000),
        "R-MAT 18": lambda: rmat(18),
        "R-MAT 20": lambda: rmat(20),
        "random 2^18, degree 6": lambda: random_degree(1 << 18, 6),
        "random 2^20, degree 16": lambda: random_degree(1 << 20, 16),
    }
    for name, make in graphs.items():
        yield f"bfs {name}", make, mgraph.bfs, {"source": 0}
        yield f"sssp {name}", lambda make=make: weighted(make(), WEIGHTS), mgraph.sssp, {"source": 0}
        yield f"components {name}", make, mgraph.connected_components, {}
    many = {"sources": range(64)}
    yield "bfs_many grid 300 x 300", lambda: grid(300, 300), mgraph.bfs_many, many
    yield "bfs_many R-MAT 16", lambda: rmat(16), mgraph.bfs_many, many
    yield "bfs_many random 2^17, degree 6", lambda: random_degree(1 << 17, 6), mgraph.bfs_many, many
    for scale in (20, 22):
        yield f"list_rank 2^{scale}", lambda scale=scale: linked_list(1 << scale), mgraph.list_rank, {}
    for paths in (False, True):
        asked = {"predecessors": paths}
        for method in ("blocked", "naive", "squaring"):
            made = {**asked, "method": method}
            yield "apsp dense 1,024", lambda: random_matrix(1024, density=1.0, dtype="float32"), mgraph.apsp, made
        by_source = {**asked, "method": "sssp"}
        yield "apsp grid 40 x 40", lambda: weighted(grid(40, 40), WEIGHTS), mgraph.apsp, by_source
        yield "apsp R-MAT 11", lambda: rmat(11), mgraph.apsp, by_source
        yield "apsp random 2^11, degree 6", lambda: weighted(random_degree(2048, 6), WEIGHTS), mgraph.apsp, by_source
    yield "closure R-MAT 12", lambda: rmat(12), mgraph.transitive_closure, {}


def main() -> None:
    """Print the rows that were asked for, and how many are within a factor of two."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    names = parser.parse_args().names
    known = dict.fromkeys(name.split()[0] for name, *_ in cases())
    if unknown := [name for name in names if name not in known]:
        parser.error(f"unknown NAME {', '.join(unknown)}: use one of {', '.join(known)}")
    cpu = devices.find("cpu")
    relative = speed("cpu", cpu.model(), 1)
    print(f"{cpu.model()}, one core; {os.getloadavg()[0]:.1f} processes at work; beside the reference {relative}")
    good = total = 0
    for name, make, call, arguments in cases():
        if names and name.split()[0] not in names:
            continue
        given, measured = make(), []
        if "source" in arguments and "grid" not in name:  # where 0 may have no edge
            arguments["source"] = int(np.diff(given.adjacency("csr")[0]).argmax())
        clock = mock.patch.object(devices.HostDevice, "mark", lambda self: time.process_time())
        with clock, mock.patch("mgraph.limits.cores", lambda root="": 1), cpu.limited(1):
            for _ in range(RUNS + 1):
                result = call(given, device="cpu", **arguments)
                measured.append(result.timings["solve"])
        predicted, taken = result.plan.seconds, min(measured[1:])
        total += taken >= 0.01
        good += taken >= 0.01 and 0.5 <= predicted / taken <= 2
        paths = " predecessors" if arguments.get("predecessors") else ""
        what = f"{name}, {result.plan.method}{paths}"
        print(f"{what:55} {predicted * 1e3:9.1f} {taken * 1e3:9.1f} {predicted / taken:6.2f}", flush=True)
    print(f"{good} of {total} calls of 10 ms and more within a factor of two")


if __name__ == "__main__":
    main()
