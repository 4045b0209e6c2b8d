"""Verify a result where it was solved: run a certificate's program on the graph, and raise for the first broken rule.

No rule is checked by the kernels that solve: a fault of theirs would then prove itself.
"""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...errors import DeviceError, InputError, VerificationError
from ...graph import Graph, PlacedGraph
from ...graph.compressed import compressed_bytes
from ...graph.vertex_range import Part, PartWithVectors
from ...planning.cut import shares
from ...planning.devices import DeviceSpec, holding, rates_of
from ...planning.fit import fitted
from ...planning.plan import Detail, Plan
from ...results import on_workers
from ...runtime.direct import Direct
from ...runtime.program import Executor, Program, memory_errors
from ...runtime.select import cut_of, specs_holding


@dataclass(frozen=True)
class Needs:
    """What a certificate takes of a device, beside the edges and the vectors.

    Attributes
    ----------
    a_vertex : int
        Bytes for each vertex of the graph.
    weights : bool
        Whether it takes the weights of the edges.
    """

    a_vertex: int
    weights: bool


def among_all(own: Array, first: int, n: int) -> Array:
    """Return a vector of n vertices that has a shard's own part, from vertex `first` on; `allgather` completes it."""
    if len(own) == n:
        return own
    whole = devices.of(own).xp.empty(n, own.dtype)
    whole[first : first + len(own)] = own
    return whole


def as_int32(vector: Array, xp: Any) -> Array:
    """Return a vector of integers as int32; what is beyond the type is no vertex, and becomes its limits."""
    if vector.dtype == np.int32:
        return vector
    info = np.iinfo(np.int32)
    return xp.clip(vector, info.min, info.max).astype(np.int32)


def row_order(part: Part) -> tuple[str, bool]:
    """Return the order in which a part has its edges, ``"csr"`` or ``"csc"``, and whether its rows are sources.

    Each edge of an undirected graph is in both rows: these are read as targets, which kernels mark faster.
    """
    whole = isinstance(part, Graph)
    return ("csr" if whole else "csc"), isinstance(part, Graph) and part.directed


def broken(least: Array, n: int) -> bool:
    """Return whether a rule is broken: `least` has the first vertex that breaks each, or n."""
    return bool((least < n).any())


def prove(
    graph: Graph | PlacedGraph,
    make: Callable[[Plan], Program],
    arrays: Mapping[str, Any],
    rules: Mapping[str, str],
    needs: Needs,
    solved_on: Sequence[DeviceSpec],
) -> Mapping[str, Array]:
    """Run a certificate's program, and raise VerificationError for the first of the rules that is broken.

    Parameters
    ----------
    graph : Graph or PlacedGraph
        The graph.
    make : callable
        Returns the program by its plan. The program's fact ``"faults"`` has a vertex for each rule, or n.
    arrays : mapping
        The result's vectors by name, which become the `PartWithVectors.vectors` of the shards.
    rules : mapping
        What each rule says, by its name, in the order of their importance.
    needs : Needs
        What the program takes.
    solved_on : sequence of DeviceSpec
        The devices of the result's plan.

    Returns
    -------
    mapping
        The program's facts.
    """
    facts = facts_of(graph, make, arrays, needs, solved_on)
    refuse(graph, arrays, rules, facts["faults"][: len(rules)])
    return facts


def refuse(graph: Graph | PlacedGraph, arrays: Mapping[str, Any], rules: Mapping[str, str], faults: Array) -> None:
    """Raise VerificationError for the first rule that is broken: `faults` has a vertex for each rule, or n."""
    for (rule, says), vertex in zip(rules.items(), faults.tolist(), strict=True):
        if vertex < graph.n:
            found = ", ".join(f"{name} {array[vertex]}" for name, array in arrays.items())
            message = f"vertex {called(graph, vertex)} breaks the rule {rule!r}: {says}; it has {found}"
            raise VerificationError(message, rule=rule, vertex=vertex)


def called(graph: Graph | PlacedGraph, vertex: int) -> str:
    """Return a vertex's number, and its id if the graph has ids."""
    return str(vertex) if graph.ids is None else f"{vertex} ({graph.ids[vertex]!r})"


def facts_of(
    graph: Graph | PlacedGraph,
    make: Callable[[Plan], Program],
    arrays: Mapping[str, Any],
    needs: Needs,
    solved_on: Sequence[DeviceSpec] = (),
) -> Mapping[str, Array]:
    """Run a program on a graph and vectors beside it, and return its facts.

    It runs on the workers where the graph lies; else on the GPU where the result was computed, if there is room, as
    this keeps the edges; else on the graph's device. Parameters are as of `prove`.
    """
    if isinstance(graph, PlacedGraph):
        runner: Executor = graph.executor(arrays)
        plan = fitted(plan_of(graph, runner, arrays, needs), None)
        return runner.run(make(plan), lambda shard: None, plan, None).arrays
    here = {name: array.to_numpy() if on_workers(array) else array for name, array in arrays.items()}
    for device in gpu_of(solved_on):
        with contextlib.suppress(MemoryError):  # also where another process has taken the memory meanwhile
            return _facts_on(device, graph, make, here, needs)
    return _facts_on(devices.find(graph.device), graph, make, here, needs)


def _facts_on(
    device: devices.Device,
    graph: Graph,
    make: Callable[[Plan], Program],
    arrays: Mapping[str, Array],
    needs: Needs,
) -> Mapping[str, Array]:
    """Return the facts as `facts_of` does, of one device."""
    direct = Direct(device)
    plan = fitted(plan_of(graph, direct, arrays, needs), None)
    with memory_errors("verify", plan):
        pieces = PartWithVectors(graph, {name: device.asarray(array) for name, array in arrays.items()})
    return direct.run(make(plan), lambda shard: pieces, plan, None).arrays


def gpu_of(solved_on: Sequence[DeviceSpec]) -> list[devices.Device]:
    """Return the GPU of this machine on which a result was computed, if it was on one alone."""
    if len(solved_on) != 1 or solved_on[0].kind != "cuda":
        return []
    try:
        return [devices.find(solved_on[0].name)]
    except (DeviceError, InputError):  # a result of another machine, or of a worker
        return []


def plan_of(graph: Graph | PlacedGraph, runner: Executor, arrays: Mapping[str, Any], needs: Needs) -> Plan:
    """Return the plan of a certificate: a pass over the edges, the vectors of all vertices, and what it takes beside.

    Vectors that are on one device already are no part of it.
    """
    if isinstance(graph, PlacedGraph):
        specs = specs_holding(runner, graph, *(("weights",) if needs.weights else ()), orders=("csc",))
    else:  # which is read by source
        assert runner.place is not None
        names = "csr.indptr", "csr.indices", *(("csr.weights",) if needs.weights else ())
        held = graph.held(runner.place, *names)
        specs = tuple([holding(spec, held) for spec in runner.specs])
    a_weight = graph.weights_dtype.itemsize if needs.weights and graph.weights_dtype is not None else 0
    moved = [a for a in arrays.values() if runner.place is None or devices.of(a).name != runner.place.name]
    a_vertex = needs.a_vertex + sum(np.dtype(array.dtype).itemsize for array in moved)

    def peak(own: int, edges: int) -> int:
        return compressed_bytes(own, edges, a_weight) + a_vertex * graph.n

    ranges, edges, peaks = shares(graph.n, graph.m, specs, None, cut_of(runner, graph), peak)
    return Plan(
        algorithm="verify",
        method="certificate",
        n=graph.n,
        m=graph.m,
        dtype="int32",
        ranges=ranges,
        devices=specs,
        steps=1,
        span=1,
        peak_bytes=peaks,
        seconds=(graph.n + max(edges)) / rates_of(specs[0]).search,
        detail=Detail(),
    )
