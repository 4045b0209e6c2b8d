"""Hierarchies: what each step takes on a graph of a file, with random weights of 1 to 255.

    python -m mgraph_bench.hierarchies FILE... [--device DEVICE] [--batch K]... [--all] [--workers P]

The graphs of several files, or of one that is named several times, are joined by bridges. Each line is a row of JSON:
what was done, its seconds, and distances a second. The seconds are those of the best of some runs, but the hierarchy is
prepared once, and so are all eccentricities. Distances and measures from some sources are compared with SciPy's
Dijkstra before they are timed. Rows stay on the device; measures are brought to the host. If there is room, a GPU
brings rows to new memory of the host, too, and to page-locked memory.

Sets of weights in a stack are random, first with both directions alike and then with directions that differ. Distances
over each set are compared with those over the set alone.

Pairs in arrays are the first some of more: 1,000, a hundred thousand, a million, and from labels ten million. Where the
package routingkit-cch is installed, RoutingKit answers some pairs, too, one after the other by the same order, and its
distances are compared; it is also customized, which takes its weights from a list.

With `--workers` sources are dealt out to 1 and to P Dask workers, each of which has the hierarchy; the seconds are
those of the call's solve, and eccentricities and one row of distances are compared with those of one device.
"""

import importlib
import importlib.util
import itertools
import json
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import click
import numpy as np

import mgraph
from mgraph import device as devices
from mgraph import lazy
from mgraph.cli import Command
from mgraph.cluster import local_client
from mgraph.errors import WrongResultError

from .run import versions

#: Runs of which the best counts, sources that are compared, pairs, and sources and targets of a table.
RUNS, COMPARED, PAIRS, TABLE = 4, 3, 1000, 1000

#: Sets of weights that are customized together.
SETS = 64

#: Pairs in arrays, and of those with paths.
BULK, WITH_PATHS = (1000, 100_000, 1_000_000), 100_000

#: Pairs in arrays that are answered from labels.
LABELLED = (*BULK, 10_000_000)

#: Sources from which a GPU measures as from many: with several in each thread.
WIDE = 128

#: Sources of a batch, by default.
BATCHES = (1, 32, 128, 1024)

#: What is measured, alone and together.
MEASURED: dict[str, Any] = {
    "eccentricity": "eccentricity",
    "mean": "mean",
    "within": ("within", [5000]),
    "measures": ["eccentricity", "mean", ("within", [1000, 5000])],
}


def weighted(edges: mgraph.Graph, device: devices.Device) -> mgraph.Graph:
    """Return an undirected graph of the same edges with random weights, on a device."""
    src, dst, _ = edges.coo()
    once = src <= dst
    weights = np.random.default_rng(1).integers(1, 256, int(once.sum()), dtype=np.int32)
    sources, targets, lengths = (device.asarray(part) for part in (src[once], dst[once], weights))
    return mgraph.Graph.from_edges(sources, targets, lengths, n=edges.n, directed=False)


def joined(graphs: Sequence[mgraph.Graph]) -> mgraph.Graph:
    """Return graphs as one, with an edge from the last vertex of each to the first of the next."""
    firsts = np.cumsum([0, *(graph.n for graph in graphs)])
    sources, targets = [firsts[1:-1] - 1], [firsts[1:-1]]
    for graph, first in zip(graphs, firsts[:-1], strict=True):
        src, dst, _ = graph.coo()
        once = src <= dst
        sources.append(src[once] + first)
        targets.append(dst[once] + first)
    return mgraph.Graph.from_edges(np.concatenate(sources), np.concatenate(targets), n=int(firsts[-1]), directed=False)


def call_each(call: Callable[[int, int], Any], pairs: list[list[int]]) -> None:
    """Call with every pair of vertices."""
    for source, target in pairs:
        call(source, target)


def seconds_of(call: Callable[[], Any], device: devices.Device, runs: int = RUNS) -> float:
    """Return the seconds of the best run of a call."""
    best = float("inf")
    for _ in range(runs):
        started = time.perf_counter()
        call()
        device.synchronize()
        best = min(best, time.perf_counter() - started)
    return best


def fits(roads: mgraph.Hierarchy, k: int) -> bool:
    """Return whether the rows of so many sources fit half the memory that is left on the hierarchy's device."""
    return k * roads.n * roads.dtype.itemsize < devices.find(roads.device).available_memory() // 2


def brought_home(
    roads: mgraph.Hierarchy, sources: np.ndarray, device: devices.Device
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield calls that bring rows from a GPU to the host, if a quarter of its free memory has room for them."""
    shape, dtype = (len(sources), roads.n), roads.dtype
    room = devices.find("cpu").available_memory() // 4
    if device.kind == "cuda" and shape[0] * shape[1] * dtype.itemsize < room:
        yield "distances, to new memory", lambda: roads.distances(sources, out=np.empty(shape, dtype))
        locked = device.pinned(shape, dtype)
        yield "distances, to page-locked memory", lambda: roads.distances(sources, out=locked)


def dealt(roads: mgraph.Hierarchy, kind: str, workers: int, batches: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Yield a row for each batch of sources and number of workers, of eccentricities and, if they fit, of rows.

    Raises
    ------
    WrongResultError
        If a result differs from that of one device.
    """
    random = np.random.default_rng(3)
    chosen = {k: random.integers(0, roads.n, k) for k in batches}
    expected = {k: roads.distances(sources, reduce="eccentricity").eccentricity for k, sources in chosen.items()}
    last = {k: devices.to_host(roads.distances(sources[-1:]))[0] for k, sources in chosen.items()}
    for count in (1, workers):
        with local_client(count, kind) as client:
            for k, sources in chosen.items():
                for step, reduce in (("eccentricity", "eccentricity"), ("rows", None))[: 1 + fits(roads, k)]:
                    solves = []
                    for _ in range(RUNS):
                        found = mgraph.distances(roads, sources, reduce=reduce, client=client)
                        solves.append(found.timings["solve"])
                        if reduce:
                            same = np.array_equal(found.eccentricity, expected[k])
                        else:
                            same = np.array_equal(found.distances.row(k - 1), last[k])
                        if not same:
                            raise WrongResultError(f"{step} on {count} workers differ from those of one device")
                        del found
                    rate = k * roads.n / min(solves)
                    row = {"step": step, "workers": count, "sources": k, "seconds": min(solves)}
                    yield {**row, "distances_per_second": rate}


def rows(edges: mgraph.Graph, name: str | None, batches: tuple[int, ...], everything: bool) -> Iterator[dict[str, Any]]:
    """Yield a row for each step.

    Raises
    ------
    WrongResultError
        If a distance or a measure is not that of Dijkstra's algorithm.
    """
    device = devices.find(name)
    graph, random = weighted(edges, device), np.random.default_rng(2)
    mgraph.Hierarchy(mgraph.generate.grid(3, 3), device=name).distances([0])  # compiles
    started = time.perf_counter()
    roads = mgraph.Hierarchy(graph, device=name)
    yield {
        "step": "prepare",
        "seconds": time.perf_counter() - started,
        "entries": roads.entries,
        "height": roads.height,
    }
    order = roads.order
    yield {
        "step": "prepare, order given",
        "seconds": seconds_of(lambda: mgraph.Hierarchy(graph, order, device=name), device, 2),
    }
    check(roads, graph, random.integers(0, graph.n, COMPARED))
    weights = devices.to_host(graph.csr().weights)
    yield {"step": "customize", "seconds": seconds_of(lambda: roads.customize(weights), device)}
    one_way = random.integers(1, 256, graph.m, dtype=np.int32)
    yield {"step": "customize, directions differ", "seconds": seconds_of(lambda: roads.customize(one_way), device)}
    yield from stacked(roads, weights, device)
    for k in batches:
        sources = random.integers(0, graph.n, k)
        calls: list[tuple[str, Callable[..., Any]]] = [
            (step, partial(roads.distances, sources, reduce=reduce)) for step, reduce in MEASURED.items()
        ]
        if fits(roads, k):
            calls.insert(0, ("distances", partial(roads.distances, sources)))
        for step, call in itertools.chain(calls, brought_home(roads, sources, device)):
            seconds = seconds_of(call, device)
            yield {"step": step, "sources": k, "seconds": seconds, "distances_per_second": k * graph.n / seconds}
    table = random.integers(0, graph.n, (2, TABLE))
    yield {
        "step": "table",
        "sources": TABLE,
        "targets": TABLE,
        "seconds": seconds_of(lambda: roads.distances(*table), device),
    }
    pairs = random.integers(0, graph.n, (PAIRS, 2)).tolist()
    for step, pair in (("distance", roads.distance), ("path", roads.path)):
        yield {"step": step, "seconds": seconds_of(partial(call_each, pair, pairs), device) / PAIRS}
    yield from in_bulk(roads, device, table)
    yield from from_labels(roads, device, pairs)
    yield from by_routingkit(roads, graph, pairs)
    if everything:
        started = time.perf_counter()
        diameter = roads.distances(reduce="eccentricity").eccentricity.max().item()
        seconds = time.perf_counter() - started
        row = {"step": "all eccentricities", "diameter": diameter, "seconds": seconds}
        yield {**row, "distances_per_second": graph.n**2 / seconds}


def each_set(roads: mgraph.Hierarchy, stack: np.ndarray) -> None:
    """Customize for each set of weights, and keep no hierarchy."""
    for _ in roads.customize(stack):
        pass


def stacked(roads: mgraph.Hierarchy, weights: np.ndarray, device: devices.Device) -> Iterator[dict[str, Any]]:
    """Yield rows of customization for several sets of weights at once.

    Raises
    ------
    WrongResultError
        If distances over a set differ from those over the set alone.
    """
    random = np.random.default_rng(5)
    both_ways = random.integers(1, 256, (SETS, 256), dtype=np.int32).take(weights, axis=1)  # by the edge's weight
    one_way = random.integers(1, 256, both_ways.shape, dtype=np.int32)
    for step, stack in (("", both_ways), (", directions differ", one_way)):
        source = random.integers(0, roads.n, 1)
        for together, alone in zip(roads.customize(stack), map(roads.customize, stack), strict=True):
            found, expected = (devices.to_host(each.distances(source)) for each in (together, alone))
            if not np.array_equal(found, expected):
                raise WrongResultError("distances over a set of weights of a stack differ from those over the set")
        seconds = seconds_of(partial(each_set, roads, stack), device)
        yield {"step": f"customize, a stack{step}", "sets": SETS, "seconds": seconds, "seconds_a_set": seconds / SETS}


def in_bulk(roads: mgraph.Hierarchy, device: devices.Device, table: np.ndarray) -> Iterator[dict[str, Any]]:
    """Yield rows of pairs in arrays, with paths and sums of other weights, and of flows; seconds are of whole calls."""
    random, ones = np.random.default_rng(4), np.ones(roads.m)
    every = random.integers(0, roads.n, (2, max(BULK)))
    for count in BULK:
        some = every[:, :count]
        amounts = random.integers(1, 100, count)
        roads.flows((*some, amounts)).verify()
        calls: list[tuple[str, Callable[[], Any]]] = [
            ("pairs", partial(roads.pairs, *some)),
            ("pairs, along", partial(roads.pairs, *some, along=[ones])),
            ("flows", partial(roads.flows, (*some, amounts))),
        ]
        if count <= WITH_PATHS:
            calls.append(("pairs, paths", partial(roads.pairs, *some, paths=True)))
        for step, call in calls:
            seconds = seconds_of(call, device)
            yield {"step": step, "pairs": count, "seconds": seconds, "pairs_per_second": count / seconds}
    demand = random.integers(0, 9, (len(table[0]), len(table[1])))
    shape = {"sources": len(table[0]), "targets": len(table[1])}
    yield {
        "step": "table, along",
        **shape,
        "seconds": seconds_of(partial(roads.distances, *table, along=[ones]), device),
    }
    roads.flows(demand, *table).verify()
    yield {"step": "flows", **shape, "seconds": seconds_of(partial(roads.flows, demand, *table), device)}


def from_labels(roads: mgraph.Hierarchy, device: devices.Device, pairs: list[list[int]]) -> Iterator[dict[str, Any]]:
    """Yield rows of labels, of a pair and of pairs from them, in arrays of the host and, on a GPU, of the device.

    Raises
    ------
    WrongResultError
        If a distance is not the one without labels.
    """
    labelled = roads.labelled()
    yield {"step": "labels", "seconds": seconds_of(roads.labelled, device), "bytes": labelled.nbytes - roads.nbytes}
    seconds = seconds_of(partial(call_each, labelled.distance, pairs), device)
    yield {"step": "distance, labels", "seconds": seconds / len(pairs)}
    every = np.random.default_rng(5).integers(0, roads.n, (2, max(LABELLED)))
    some = every[:, : BULK[1]]
    if not np.array_equal(devices.to_host(labelled.pairs(*some)), devices.to_host(roads.pairs(*some))):
        raise WrongResultError("distances from labels differ")
    for where in ["", *(["on the device"] if device.kind == "cuda" else [])]:
        for count in LABELLED:
            ends = [device.asarray(side) if where else side for side in every[:, :count]]
            seconds = seconds_of(partial(labelled.pairs, *ends), device)
            step = ", ".join(filter(None, ("pairs, labels", where)))
            yield {"step": step, "pairs": count, "seconds": seconds, "pairs_per_second": count / seconds}


def by_routingkit(roads: mgraph.Hierarchy, graph: mgraph.Graph, pairs: list[list[int]]) -> Iterator[dict[str, Any]]:
    """Yield rows of RoutingKit's times for weights and for a pair, by the same order, if its package is installed.

    Raises
    ------
    WrongResultError
        If a distance differs.
    """
    if importlib.util.find_spec("routingkit_cch") is None:
        return
    kit = importlib.import_module("routingkit_cch")
    src, dst, weights = (devices.to_host(part).tolist() for part in graph.coo())
    prepared = kit.CCH(roads.order.tolist(), src, dst, False)
    query = kit.CCHQuery(kit.CCHMetric(prepared, weights))
    found = [query.run(source, target).distance for source, target in pairs]
    known = devices.to_host(roads.pairs(*np.array(pairs).T)).tolist()
    if found != [None if length == np.iinfo(np.int32).max else length for length in known]:
        raise WrongResultError("RoutingKit's distances differ")

    seconds = seconds_of(partial(kit.CCHMetric, prepared, weights), devices.find("cpu"))
    yield {"step": "customize, RoutingKit", "seconds": seconds}

    def asked(source: int, target: int) -> Any:
        return query.run(source, target).distance

    seconds = seconds_of(partial(call_each, asked, pairs), devices.find("cpu"))
    yield {"step": "distance, RoutingKit", "seconds": seconds / len(pairs)}

    def routed(source: int, target: int) -> Any:
        return query.run(source, target).node_path

    seconds = seconds_of(partial(call_each, routed, pairs), devices.find("cpu"))
    yield {"step": "path, RoutingKit", "seconds": seconds / len(pairs)}


def check(roads: mgraph.Hierarchy, graph: mgraph.Graph, sources: np.ndarray) -> None:
    """Raise WrongResultError unless distances and measures from some sources are those of SciPy's Dijkstra."""
    expected = lazy.csgraph().dijkstra(graph.to_scipy(), indices=sources)
    found = devices.to_host(roads.distances(sources)).astype(np.float64)
    found[found == np.iinfo(np.int32).max] = np.inf
    if not np.array_equal(found, expected):
        row, vertex = np.argwhere(found != expected)[0].tolist()
        raise WrongResultError(f"the distance from {sources[row]} to {vertex} is not {found[row, vertex]}")
    reached = np.isfinite(expected)
    totals, others = np.where(reached, expected, 0).sum(axis=1), reached.sum(axis=1) - 1
    for name, reduce in MEASURED.items():
        measured = roads.distances(np.resize(sources, WIDE), reduce=reduce)
        right = []
        if measured.eccentricity is not None:
            greatest = measured.eccentricity[: len(sources)].astype(np.float64)
            greatest[greatest == np.iinfo(np.int32).max] = np.inf
            right.append(np.array_equal(greatest, expected.max(axis=1)))
        if measured.mean is not None:
            with np.errstate(invalid="ignore"):
                means = totals / others
            right.append(np.array_equal(measured.mean[: len(sources)], means, equal_nan=True))
        if measured.within is not None:
            [radii] = [
                each[1] for each in (reduce if isinstance(reduce, list) else [reduce]) if isinstance(each, tuple)
            ]
            within = (expected[:, :, None] <= np.array(radii)).sum(axis=1)
            right.append(np.array_equal(measured.within[: len(sources)], within))
        if not all(right):
            raise WrongResultError(f"{name} of vertices {sources.tolist()} is not that of their distances")


@click.command(cls=Command)
@click.argument("files", type=click.Path(exists=True), nargs=-1, required=True, metavar="FILE...")
@click.option("--device", help="cpu, cuda or cuda:N; by default the first GPU if there is one.")
@click.option("--batch", type=int, multiple=True, help="Sources of a batch; by default 1, 32, 128 and 1024.")
@click.option("--all", "everything", is_flag=True, help="Measure the eccentricities of all vertices, too.")
@click.option("--workers", type=int, metavar="P", help="Measure only sources that are dealt out to 1 and to P workers.")
def main(
    files: tuple[str, ...], device: str | None, batch: tuple[int, ...], everything: bool, workers: int | None
) -> None:
    """Print what each step of a hierarchy takes on the graph of the FILEs."""
    read = {file: mgraph.read(file) for file in set(files)}
    edges, place = joined([read[file] for file in files]), devices.find(device)
    print(json.dumps({"files": files, "n": edges.n, "m": edges.m, "device": place.model(), "versions": versions()}))
    batches = batch or BATCHES
    if workers is None:
        made = rows(edges, device, batches, everything)
    else:
        made = dealt(mgraph.Hierarchy(weighted(edges, place), device=device), place.kind, workers, batches)
    for row in made:
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
