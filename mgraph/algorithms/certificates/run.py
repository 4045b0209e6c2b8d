"""Verify a result where it lies: run a certificate's program on the graph, and raise for the first broken rule."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...errors import VerificationError
from ...graph import Graph, PlacedGraph
from ...graph.vertex_range import AT_A_TIME, Beside
from ...planning.cut import shares
from ...planning.devices import rates_of
from ...planning.fit import fitted
from ...planning.plan import Detail, Plan
from ...results import on_workers
from ...runtime.direct import Direct
from ...runtime.program import Executor, Program
from ...runtime.select import cut_of, specs_holding

#: Bytes that a certificate takes for each vertex of the graph, and for each edge that it looks at at a time.
A_VERTEX, AN_EDGE = 40, 128


class Faults:
    """The first vertex that breaks each rule, as far as a shard knows.

    Parameters
    ----------
    rules : sequence of str
        The names of the rules, the first to be reported first.
    n : int
        Number of vertices; it stands for no vertex.
    """

    def __init__(self, rules: tuple[str, ...], n: int) -> None:
        self.rules = rules
        self.least = np.full(len(rules), n, np.int64)

    def add(self, rule: str, vertices: Array) -> None:
        """Note that vertices break a rule."""
        if len(vertices):
            i = self.rules.index(rule)
            self.least[i] = min(int(self.least[i]), int(vertices.min()))


def among_all(own: Array, first: int, n: int) -> Array:
    """Return a vector of n vertices that has a shard's own part, from vertex `first` on; `allgather` completes it."""
    if len(own) == n:
        return own
    whole = devices.of(own).xp.empty(n, own.dtype)
    whole[first : first + len(own)] = own
    return whole


def prove(
    graph: Graph | PlacedGraph,
    make: Callable[[Plan], Program],
    arrays: Mapping[str, Any],
    rules: Mapping[str, str],
) -> Mapping[str, Array]:
    """Run a certificate's program, and raise VerificationError for the first of the rules that is broken.

    Parameters
    ----------
    graph : Graph or PlacedGraph
        The graph.
    make : callable
        Returns the program by its plan. The program's fact ``"faults"`` has a vertex for each rule, or n.
    arrays : mapping
        The result's vectors by name, which become the `Beside.vectors` of the shards.
    rules : mapping
        What each rule says, by its name, in the order of their importance.

    Returns
    -------
    mapping
        The program's facts.
    """
    facts = facts_of(graph, make, arrays)
    refuse(rules, facts["faults"][: len(rules)], graph.n)
    return facts


def refuse(rules: Mapping[str, str], faults: Array, n: int) -> None:
    """Raise VerificationError for the first rule that is broken: `faults` has a vertex for each rule, or n."""
    for (rule, says), vertex in zip(rules.items(), faults.tolist(), strict=True):
        if vertex < n:
            raise VerificationError(f"vertex {vertex} breaks the rule {rule!r}: {says}", rule=rule, vertex=vertex)


def facts_of(
    graph: Graph | PlacedGraph, make: Callable[[Plan], Program], arrays: Mapping[str, Any]
) -> Mapping[str, Array]:
    """Run a program on a graph and vectors beside it, where they lie, and return its facts.

    Parameters
    ----------
    graph : Graph or PlacedGraph
        The graph.
    make : callable
        Returns the program by its plan.
    arrays : mapping
        The vectors by name, which become the `Beside.vectors` of the shards.
    """
    runner: Executor
    if isinstance(graph, PlacedGraph):
        runner, pieces = graph.executor(arrays), None
    else:
        home = devices.find(graph.device)
        here = {name: array.to_numpy() if on_workers(array) else array for name, array in arrays.items()}
        runner = Direct(home)
        pieces = Beside(graph, {name: home.asarray(array) for name, array in here.items()})
    plan = _planned(graph, runner)
    return runner.run(make(plan), lambda shard: pieces, plan, None).arrays


def _planned(graph: Graph | PlacedGraph, runner: Executor) -> Plan:
    """Return the plan of a certificate: a pass over the edges, and some vectors of all vertices."""

    def peak(own: int, edges: int) -> int:
        return A_VERTEX * graph.n + AN_EDGE * min(edges, AT_A_TIME[specs[0].kind])

    specs = specs_holding(runner, graph)
    ranges, edges, peaks = shares(graph.n, graph.m, specs, None, cut_of(runner, graph), peak)
    made = Plan(
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
    return fitted(made, None)
