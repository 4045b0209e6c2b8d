"""Traffic on roads: user equilibrium on a part of a file's graph with capacities and demand drawn, beside AequilibraE.

    python -m mgraph_bench.roads FILE [--links M] [--zones Z] [--iterations K] [--alone] [--load L]

The part is what a search from the middle vertex reaches first. Free-flow times are drawn from 1 to 255, capacities from
four classes, the demand for each pair of zones uniformly; `--load` scales the demand. Each line is a row of JSON. Both
libraries get the same network, in this process, on all its cores, one after the other: mgraph's seconds are those of
the call, with the order of elimination, AequilibraE's those of `TrafficAssignment.execute`, without its preparation of
the graph. Before a row is written, the flows must conserve the demand, and both objectives of Beckmann agree within 1%.
"""

import importlib.util
import json
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import click
import numpy as np

import mgraph
from mgraph import roads
from mgraph.cli import Command
from mgraph.errors import WrongResultError
from mgraph.limits import cores

from .peers import aequilibrae
from .run import versions

#: Vehicles an hour that links of the four classes carry, and how many of them there are.
CAPACITIES, SHARES = (600, 900, 1800, 4000), (0.6, 0.25, 0.1, 0.05)

#: How much the objectives of two libraries may differ, relatively.
AGREED = 0.01


def drawn(edges: mgraph.Graph, links: int, zones: int, load: float) -> tuple[roads.TntpNetwork, np.ndarray]:
    """Return a network of about so many links, whose first nodes are the zones, and a demand between these."""
    rng = np.random.default_rng(1)
    distances = mgraph.bfs(edges, edges.n // 2, device="cpu").distances
    order = np.argsort(np.where(distances < 0, edges.n, distances), kind="stable")
    order = order[: int((distances >= 0).sum())]
    rank = np.full(edges.n, edges.n)
    rank[order] = np.arange(len(order))
    src, dst, _ = edges.coo()
    last = np.sort(np.maximum(rank[src], rank[dst]))
    nodes = int(last[min(links, len(last)) - 1]) + 1
    kept = np.maximum(rank[src], rank[dst]) < nodes
    number = rng.permutation(nodes).astype(np.int32)
    tail, head = number[rank[src[kept]]], number[rank[dst[kept]]]
    m = len(tail)
    column = np.ones(m)
    made = roads.Links(
        tail,
        head,
        free_flow_time=rng.integers(1, 256, m).astype(np.float64),
        b=0.15 * column,
        power=4 * column,
        capacity=rng.choice(CAPACITIES, m, p=SHARES).astype(np.float64),
        length=column,
        toll=0 * column,
    )
    demand = load * rng.random((zones, zones))
    np.fill_diagonal(demand, 0)
    return roads.TntpNetwork(nodes, zones, 0, made), demand


def objective(links: roads.Links, flows: np.ndarray) -> float:
    """Return Beckmann's objective: the sum of the integrals of the links' times."""
    ratio = (flows / links.capacity) ** links.power
    return float((links.free_flow_time * flows * (1 + links.b * ratio / (links.power + 1))).sum())


def timed(call: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """Return what a call returns, and its seconds: those that passed, and those of this process on all cores."""
    started, before = time.perf_counter(), time.process_time()
    found = call()
    return found, {"seconds": time.perf_counter() - started, "cpu_seconds": time.process_time() - before}


def rows(network: roads.TntpNetwork, demand: np.ndarray, iterations: int, alone: bool) -> Iterator[dict[str, Any]]:
    """Yield a row of each library.

    Raises
    ------
    WrongResultError
        If the two objectives differ.
    """
    roads.assignment(network, demand, gap=0, iterations=1)  # loads or compiles the kernels
    found, seconds = timed(lambda: roads.assignment(network, demand, gap=0, iterations=iterations))
    found.verify()
    own = objective(network.links, found.flows)
    yield {"library": "mgraph", **seconds, "iterations": len(found.gaps), "gap": found.gap, "objective": own}
    if alone or importlib.util.find_spec("aequilibrae") is None:
        return
    solve, preparing = timed(lambda: aequilibrae.assignment(network, demand, iterations, cores()))
    flows, seconds = timed(solve)
    theirs = objective(network.links, flows)
    if abs(theirs - own) > AGREED * own:
        raise WrongResultError(f"the objectives differ: {own} by mgraph, {theirs} by AequilibraE")
    yield {
        "library": "aequilibrae",
        **seconds,
        "preparing": preparing["seconds"],
        "iterations": iterations,
        "objective": theirs,
    }


@click.command(cls=Command)
@click.argument("file")
@click.option("--links", type=int, default=100_000, show_default=True, help="About how many links.")
@click.option("--zones", type=int, default=1000, show_default=True, help="Between which there is demand.")
@click.option("--iterations", type=int, default=50, show_default=True, help="Of each library.")
@click.option("--load", type=float, default=0.04, show_default=True, help="The greatest demand of a pair.")
@click.option("--alone", is_flag=True, help="Without AequilibraE.")
def main(file: str, links: int, zones: int, iterations: int, load: float, alone: bool) -> None:
    """Measure traffic assignment on a part of FILE's graph."""
    network, demand = drawn(mgraph.read(file), links, zones, load)
    known = {"file": file, "nodes": network.nodes, "links": len(network.links.tail), "zones": zones, "load": load}
    print(json.dumps({**known, "cores": cores(), "busy": os.getloadavg()[0], "versions": versions()}))
    for row in rows(network, demand, iterations, alone):
        print(json.dumps({**row, "busy": os.getloadavg()[0]}), flush=True)


if __name__ == "__main__":
    main()
