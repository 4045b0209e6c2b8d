"""Measures calls on a graph that lies on workers, and beside them the same calls on one device of this process."""

import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import click
import numpy as np

import mgraph
from mgraph import device as devices
from mgraph.cli import Command
from mgraph.cluster import local_client
from mgraph.errors import WrongResultError
from mgraph.generate import rmat, weighted

#: Calls before those that count, and calls that count, from different sources.
WARM, COUNTED = 3, 12

CALLS: dict[str, Callable[..., Any]] = {
    "bfs": mgraph.bfs,
    "sssp": mgraph.sssp,
    "components": lambda graph, source, **options: mgraph.connected_components(graph, **options),
}


def timed(call: Callable[[int], Any], sources: list[int]) -> dict[str, float]:
    """Return the median seconds of a call, of its solve, and of the rest of the same call."""
    for source in sources[:WARM]:
        call(source)
    calls, solves = [], []
    for source in sources[WARM:]:
        begun = time.perf_counter()
        found = call(source)
        calls.append(time.perf_counter() - begun)
        solves.append(found.timings["solve"])
    rest = statistics.median(whole - solve for whole, solve in zip(calls, solves, strict=True))
    return {"call": statistics.median(calls), "solve": statistics.median(solves), "rest": rest}


def measured(scale: int, client: Any, kind: str) -> list[dict[str, Any]]:
    """Return a row for each call on a Kronecker graph, directly and on the workers; results are compared.

    Raises
    ------
    WrongResultError
        If the workers' result differs from the direct one.
    """
    graph = weighted(rmat(scale, device=kind), (1, 255))
    starts = np.flatnonzero(np.diff(devices.to_host(graph.csr().indptr)))
    sources = np.random.default_rng(scale).choice(starts, WARM + COUNTED).tolist()
    rows = [
        {"call": name, "n": graph.n, "m": graph.m, "on": kind, **_named(timed(_bound(call, graph, kind), sources))}
        for name, call in CALLS.items()
    ]
    begun = time.perf_counter()
    with mgraph.DistributedGraph.from_graph(graph, client, device=kind) as placed:
        placing = time.perf_counter() - begun
        for name, call in CALLS.items():
            found, expected = call(placed, sources[0]), call(graph, sources[0], device=kind)
            for array, vector in found.arrays.items():
                if not np.array_equal(vector.to_numpy(), devices.to_host(expected.arrays[array])):
                    raise WrongResultError(f"{name} on workers: {array} differ from those of one device")
            times = _named(timed(_bound(call, placed, None), sources))
            workers, predicted = len(placed.ranges), found.plan.seconds
            row = {"call": name, "n": graph.n, "m": graph.m, "on": f"{workers} workers, {kind}", **times}
            rows.append({**row, "predicted_seconds": predicted, "placing_seconds": placing})
    return rows


def _bound(call: Callable[..., Any], graph: Any, device: str | None) -> Callable[[int], Any]:
    return lambda source: call(graph, source, device=device)


def _named(times: dict[str, float]) -> dict[str, float]:
    return {f"{name}_seconds": seconds for name, seconds in times.items()}


@click.command(cls=Command)
@click.option("--scale", type=int, default=22, show_default=True, help="The graph has 2^SCALE vertices.")
@click.option("--workers", type=int, metavar="P", help="Dask workers of this machine; by default its GPUs, or 2.")
@click.option("--device", type=click.Choice(["cpu", "cuda"]), help="By default GPUs where there are any.")
def main(scale: int, workers: int | None, device: str | None) -> None:
    """Measure calls on a Kronecker graph that lies on workers, and print a line of JSON for each."""
    kind = device or ("cuda" if devices.gpu_count() else "cpu")
    with local_client(workers or devices.gpu_count() or 2, kind) as client:
        for row in measured(scale, client, kind):
            click.echo(json.dumps(row))


if __name__ == "__main__":
    main()
