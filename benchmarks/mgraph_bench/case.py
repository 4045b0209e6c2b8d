"""Measures one case: makes its input, calls, verifies the result, and returns the row."""

import contextlib
import json
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import mgraph
from mgraph import device as devices
from mgraph.algorithms.registry import ALGORITHMS
from mgraph.algorithms.work import Work
from mgraph.graph import Graph
from mgraph.measuring import Times, repeated, spread
from mgraph.planning.devices import spec_of

from . import inputs, kernels, peers
from .ceilings import CEILINGS
from .suite import Case, Suite

#: Calls of an operation whose times a row has one by one, at most.
ROUNDS = 64

#: Where a call starts: at a vertex, at several, or nowhere.
Start = int | list[int] | None


class Unfit(Exception):
    """A case cannot be measured on this machine; the message says why."""


@dataclass
class Bench:
    """State that cases share: the latest input, and the results that were verified.

    Attributes
    ----------
    folder : path or None
        Folder of the files of graphs.
    client : callable
        Returns the Dask client of that many workers on a kind of device, or of a scheduler's address; None for None.
    ceilings : dict of str to dict
        The devices' ceilings, by their models.
    """

    folder: Path | None = None
    client: Callable[[int | str | None, str], Any] = lambda workers, kind: None
    ceilings: dict[str, dict[str, Any]] = field(default_factory=dict)
    _latest: tuple[str, Any] = ("", None)
    _placed: tuple[Any, Any] = (None, None)
    _seconds: float = 0.0
    _proved: dict[str, tuple[str, list[np.ndarray]]] = field(default_factory=dict)

    def input(self, case: Case, place: devices.Device) -> Any:
        """Return a case's input, on the device that the case names; the latest input is kept."""
        device = "cpu" if case.run.get("where") == "host" or "peer" in case.run else place.name
        key = json.dumps([case.graph, device], sort_keys=True)
        if key != self._latest[0]:
            self._latest, self._placed = ("", None), (None, None)
            self._proved.clear()
            if place.kind == "cuda":
                place.xp.get_default_memory_pool().free_all_blocks()
            began = time.perf_counter()
            self._latest = (key, inputs.made(case.graph, device, self.folder))
            place.synchronize()
            self._seconds = time.perf_counter() - began
        return self._latest[1]

    def placed(self, graph: Graph, client: Any, place: devices.Device) -> Any:
        """Return the latest input on a client's workers; it stays there until there is another input or client."""
        key = self._latest[0], client
        if self._placed[0] != key:
            self._placed = (key, mgraph.DistributedGraph.from_graph(graph, client, device=place.kind))
        return self._placed[1]

    @property
    def input_seconds(self) -> float:
        """Seconds that it took to generate or read the latest input."""
        return self._seconds

    def prove(
        self,
        case: Case,
        graph: Any,
        method: str,
        arrays: dict[str, Any],
        start: Start,
        wanted: tuple[str, ...] = (),
    ) -> str:
        """Raise unless a result passes the requested checks, or equals a verified one."""
        algorithm = ALGORITHMS[case.algorithm]
        names = algorithm.unique
        if not names:
            return algorithm.check(graph, arrays, start, wanted)
        found = [devices.to_host(arrays[name]) for name in names]
        key = f"{case.algorithm} {start} {wanted}"
        by, proved = self._proved.get(key, ("", []))
        if proved and all(map(np.array_equal, found, proved)):
            return f"equal to {by}"
        proof = algorithm.check(graph, arrays, start, wanted)
        self._proved[key] = (method, found)
        return proof


def row(case: Case, suite: Suite, bench: Bench, place: devices.Device, quick: bool = False) -> dict[str, Any]:
    """Measure a case on a device and return the measured part of its row.

    Raises
    ------
    Unfit, MgraphError
        If this machine cannot measure it: it lacks a device, a library, a file, or memory.
    WrongResultError
        If a result is wrong.
    """
    if str(case.run.get("device", "cpu")).startswith("cuda") and place.kind == "cpu":
        raise Unfit("needs a GPU" if case.run["device"] == "cuda" else f"needs the GPU {case.run['device']}")
    if "peer" in case.run and peers.PEERS[case.run["peer"]].kind != place.kind:
        raise Unfit("needs a GPU")
    if "tile" in case.run and place.kind == "cpu":
        raise Unfit("tiles are those of a GPU's product")
    if place.kind == "cpu" and case.run.get("blocks", 1) > (cores := spec_of(place).cores):
        raise Unfit(f"needs {case.run['blocks']} cores, and this machine has {cores}")
    client = bench.client(case.run.get("workers"), place.kind)
    graph = bench.input(case, place)
    repeats = suite.repetitions(quick)
    with _tuned(case, place):
        if "peer" in case.run:
            found = _peer_row(case, suite, graph, repeats, bench)
        else:
            found = _own_row(case, suite, graph, repeats, place, client, bench)
    return {
        "kind": "case",
        "n": graph.n if isinstance(graph, Graph) else len(graph),
        "m": graph.m if isinstance(graph, Graph) and graph.dense is None else None,
        "device": described(place, client),
        "input_seconds": bench.input_seconds,
        **found,
    }


def described(place: devices.Device, client: Any = None) -> dict[str, Any]:
    """Return a row's description of the device, or of the devices of a client's workers."""
    kind, cores = place.kind, spec_of(place).cores
    count = 1 if client is None else len(client.scheduler_info(n_workers=-1)["workers"])
    return {"name": place.name, "kind": kind, "model": place.model(), "cores": cores, "count": count}


@contextlib.contextmanager
def _tuned(case: Case, place: devices.Device) -> Iterator[None]:
    """Run the block with the number of thread blocks, and the tile of the product, that a case asks for."""
    with contextlib.ExitStack() as stack:
        if "blocks" in case.run:
            stack.enter_context(place.limited(case.run["blocks"]))
        if "tile" in case.run:
            from mgraph.kernels.minplus import cuda as minplus

            stack.enter_context(minplus.tiled(case.run["tile"]))
        yield


def _starts(case: Case, graph: Any) -> list[Start]:
    """Return where each call starts: at random vertices that have neighbours, the same for every method."""
    start = ALGORITHMS[case.algorithm].start
    if not start:
        return [None]
    degrees = np.diff(devices.to_host(graph.adjacency("csr")[0]))
    candidates = np.flatnonzero(degrees)
    if not len(candidates):
        raise Unfit("no vertex has an edge that a search could start from")
    count = min(case.run.get("sources", 1), len(candidates))
    picked = [int(v) for v in np.random.default_rng(graph.n).choice(candidates, count, replace=False)]
    return [picked] if start == "sources" else [*picked]


def _own_row(
    case: Case, suite: Suite, graph: Any, repeats: int, place: devices.Device, client: Any, bench: Bench
) -> dict[str, Any]:
    """Measure the library's own call."""
    algorithm = ALGORITHMS[case.algorithm]
    call, there = partial(algorithm.call, device=place.name, **case.call), graph
    if client is not None and case.run.get("where") == "workers":
        call, there = partial(algorithm.call, **case.call), bench.placed(graph, client, place)
    elif client is not None:
        call = partial(algorithm.call, client=client, device=place.kind, **case.call)
    times: list[Times] = []
    amounts: list[Work] = []
    proof = ""
    for start in _starts(case, graph):
        from_here = call if start is None else partial(call, **{algorithm.start: start})
        result, taken = repeated(partial(from_here, there), repeats)
        arrays = algorithm.arrays(result)
        if there is not graph:
            arrays = {name: place.asarray(devices.to_host(array)) for name, array in arrays.items()}
        proof = bench.prove(case, graph, result.plan.method, arrays, start, suite.checks)
        times.append(taken)
        amounts.append(algorithm.measured(graph, result.plan, arrays))
        del arrays
    made, rounds = result.plan, algorithm.rounds(result)
    peak: int | None = None
    calls: dict[str, list[float]] = {}
    families = kernels.packages()  # on workers any
    if client is None:
        del result
        peak, calls, families = _inside(from_here, graph, place)
    phases = {phase: sum(each) for phase, each in calls.items()}
    ceiling, of_device = None, CEILINGS.get(case.algorithm)
    bounded = amounts[-1].unit != "pairs/s" and made.method not in ("sequential", *algorithm.skipping)
    if bounded and of_device is not None and place.model() in bench.ceilings:
        nonnegative = graph.nonnegative if isinstance(graph, Graph) else not bool((graph < 0).any())
        ceiling = of_device(bench.ceilings[place.model()], made.dtype, nonnegative, made.n)
        # Measured with all cores of a CPU, which its workers share.
        ceiling *= sum(spec.cores for spec in made.devices) / spec_of(place).cores
    rates = {
        name: {phase: sizes[phase] * amounts[-1].amount / phases[phase] for phase in sizes if phases.get(phase)}
        for name, sizes in (
            ("phase_rates", suite.traffic.get(made.method, {})),
            ("moved_rates", suite.moved.get(made.method, {})),
        )
    }
    return {
        "method": made.method,
        **_timed(times),
        "transfers": {
            "load": statistics.median([t for taken in times for t in taken.loads]),
            "collect": statistics.median([t for taken in times for t in taken.collects]),
        },
        "phases": phases,
        "rounds": {phase: each for phase, each in calls.items() if 1 < len(each) <= ROUNDS},
        **rates,
        "kernels": kernels.digests(families, place.kind),
        "iterations": rounds,
        **_rated(amounts, times, ceiling),
        "peak_bytes": peak,
        "predicted_bytes": max(made.peak_bytes),
        "predicted_seconds": None if "blocks" in case.run else made.seconds,  # which plans do not count
        "checked": proof,
    }


def _peer_row(case: Case, suite: Suite, graph: Any, repeats: int, bench: Bench) -> dict[str, Any]:
    """Measure another library's call."""
    name = case.run["peer"]
    times: list[Times] = []
    amounts: list[Work] = []
    proof = ""
    found: dict[str, Any] = {}
    algorithm = ALGORITHMS[case.algorithm]
    for start in _starts(case, graph):
        given = case.call if start is None else {**case.call, algorithm.start: start}
        peer = peers.solver(name, case.algorithm, graph, **given)
        result, taken = repeated(peer.solve, repeats)
        found = peer.arrays(result)
        if "labels" in found:
            found.setdefault("count", len(np.unique(found["labels"])))  # not every library counts them
        proof = bench.prove(case, graph, name, found, start, suite.checks)
        times.append(taken)
        amounts.append(algorithm.measured(graph, None, found))
    return {
        "method": name,
        **_timed(times),
        "transfers": None,
        "phases": {},
        "rounds": {},
        "phase_rates": {},
        "moved_rates": {},
        "kernels": {},
        "iterations": None,
        **_rated(amounts, times, None),
        "peak_bytes": None,
        "predicted_bytes": None,
        "predicted_seconds": None,
        "checked": proof,
        "called": peer.called,
    }


def _inside(
    call: Callable[..., Any], graph: Any, place: devices.Device
) -> tuple[int, dict[str, list[float]], set[str]]:
    """Return the peak memory of a call, as plans count it, the times of its operations, and its families of kernels.

    The memory is that of the first call on a graph, which prepares the arrays that the graph keeps. Plans count the
    lists of neighbours too, and a list that is ranked.
    """
    given, fresh = 0, graph
    if isinstance(graph, Graph) and graph.dense is None:
        fresh = Graph(graph.n, csr=graph.compressed("csr"), directed=graph.directed, nonnegative=graph.nonnegative)
        if graph.device == place.name:
            given = graph.held(place, "csr.indptr", "csr.indices")
    elif graph.ndim == 1 and devices.of(graph) is place:
        given = graph.nbytes
    with place.peak_memory() as peak:
        call(fresh)
    with devices.Recorder(place) as recorder:
        call(graph)
    return peak.bytes + given, recorder.calls(), recorder.packages


def _timed(times: list[Times]) -> dict[str, Any]:
    """Return a row's times: with several sources, the mean of the medians."""
    return {
        "seconds": statistics.mean(taken.seconds for taken in times),
        "times": [t for taken in times for t in taken.solves],
        "spread": statistics.mean(spread(taken.solves) for taken in times),
        "call_seconds": statistics.mean(statistics.median(taken.calls) for taken in times),
        "first_call_seconds": times[0].first_call,
        "processor_seconds": statistics.mean(statistics.median(taken.processor) for taken in times),
    }


def _rated(amounts: list[Work], times: list[Times], ceiling: float | None) -> dict[str, Any]:
    """Return a row's rate: with several sources the harmonic mean, as in Graph500."""
    rates = [amount.amount / taken.seconds for amount, taken in zip(amounts, times, strict=True)]
    rate = statistics.harmonic_mean(rates) if all(rates) else 0.0
    return {
        "work": amounts[-1].amount,
        "unit": amounts[-1].unit,
        "rate": rate,
        "bytes": amounts[-1].bytes,
        "ceiling": ceiling,
        "fraction": None if ceiling is None else rate / ceiling,
    }
