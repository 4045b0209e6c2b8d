"""Graphs built on Dask workers from sources of edges: the client sends the sources, and learns the facts."""

import itertools
import math
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ... import device as devices
from ...arguments import as_array
from ...errors import InputError
from ...graph.checks import check_one_per_edge, dtype_of_weights
from ...graph.question import check_distinct
from ...graph.source import Chunks, EdgeSource
from ...planning.cut import Placed
from ...planning.devices import DeviceSpec
from ...planning.plan import Detail, Plan
from ..placing import Placing
from ..program import Program
from . import residents, tasks
from .group import Group, RemotePin
from .placement import Facts, Placement
from .remade import first_made
from .resident import Resident
from .survey import Cluster
from .vector import DistributedVector


class Building(Detail):
    """The detail of a plan of building a graph."""

    values: ClassVar[str] = "edges"


def built(source: EdgeSource, cluster: Cluster, made: str) -> Placement:
    """Return the graph of a source of edges, of which each worker makes its share of the chunks.

    `made` is the line of Python that makes it again.
    """
    return first_made(partial(_of_source, source, made), cluster)


def _of_source(source: EdgeSource, made: str, group: Group) -> Placement:
    return placed(group, residents.keep, [(source,)] * len(group.specs), made)


def collected(src: Any, dst: Any, weights: Any, n: int | None, directed: bool, cluster: Cluster) -> Placement:
    """Return the graph of the edges in Dask's collections, whose partitions are dealt to the workers in turn."""

    def build(group: Group, *collections: Any) -> Placement:
        arrays = _aligned(*collections)
        dtype = dtype_of_weights(arrays[2]) if len(arrays) > 2 else None
        source = Chunks({}, arrays[0].numblocks[0], n, dtype, directed)
        return placed(group, residents.keep_chunks, _dealt(arrays, source, group))

    given = {"src": src, "dst": dst} | ({} if weights is None else {"weights": weights})
    return first_made(build, cluster, {f"the lazy collection {name}": each for name, each in given.items()})


def _dealt(arrays: Sequence[Any], source: Chunks, group: Group) -> list[tuple[Any, ...]]:
    """Return each worker's chunks as arguments of the task that keeps them; nothing else refers to them."""
    shards, blocks = len(group.specs), source.chunks
    futures = iter(tasks.computed(group.client, [block for array in arrays for block in array.to_delayed().ravel()]))
    columns: list[list[Any]] = [list(itertools.islice(futures, blocks)) for _ in arrays]
    if len(columns) < 3:
        columns.append([None] * blocks)
    return [
        (source, list(range(shard, blocks, shards)), *(column[shard::shards] for column in columns))
        for shard in range(shards)
    ]


def computed(
    name: str, planned: Callable[[tuple[DeviceSpec, ...]], tuple[Program, Plan]], cluster: Cluster
) -> DistributedVector:
    """Return a vector that a program computes on workers of nothing; `planned` makes program and plan for devices."""

    def build(group: Group) -> DistributedVector:
        program, plan = planned(group.specs)
        vector: DistributedVector = Resident(group, None, []).run(program, lambda shard: None, plan, None).arrays[name]
        return vector

    return first_made(build, cluster)


def _aligned(src: Any, dst: Any, weights: Any = None) -> list[Any]:
    """Return the edges as Dask arrays cut in the same way, or raise InputError."""
    found = []
    for name, values in (("src", src), ("dst", dst), ("weights", weights)):
        if values is None and name == "weights":
            continue
        array = values.to_dask_array() if hasattr(values, "to_dask_array") else values
        if not hasattr(array, "to_delayed") or getattr(array, "ndim", 0) != 1:
            wanted = "a Dask array of one dimension, or a column of a Dask dataframe"
            raise InputError(argument=name, value=values, expected=wanted)
        found.append(array)
    first, *others = found
    aligned = [first]
    for name, other in zip(("dst", "weights"), others, strict=False):
        known = not np.isnan(first.shape[0] + other.shape[0])  # the lengths of a dataframe's partitions are not
        ours, theirs = ((each.shape if known else each.numblocks)[0] for each in (first, other))
        if ours != theirs:
            noun = "entries" if known else "partitions"
            raise InputError(f"src has {ours} {noun} and {name} has {theirs}: give one of each per edge")
        aligned.append(other.rechunk(first.chunks) if known and other.chunks != first.chunks else other)
    if first.shape[0] == 0:  # such arrays Dask does not rechunk
        import dask.array as da

        return [da.zeros(0, dtype=each.dtype, chunks=1) for each in found]
    return aligned


def placed(group: Group, keep: Callable[..., Any], sources: list[tuple[Any, ...]], line: str = "") -> Placement:
    """Return the graph of the edges of each worker's source, which the task `keep` makes of its arguments.

    The list is emptied once the workers have the sources, so that Dask frees what it has computed for them. `line` is
    the line of Python that makes the graph again.
    """
    group.ready()
    name = uuid.uuid4().hex
    there = RemotePin(group, name)
    try:
        group.each(keep, sources, name)
        sources.clear()
        arrays = Resident(group, name, []).run(Placing(), lambda shard: None, plan_of_building(group), None).arrays
    finally:
        there.close()
    rows, weights = arrays["indptr"], arrays.get("weights")
    ends = arrays["range"].reshape(-1, 2).tolist()
    cut = Placed(tuple((first, last) for first, last in ends), tuple(arrays["m"].tolist()))
    n, directed = int(arrays["n"][0]), bool(arrays["directed"][0])
    extremes = (
        min(arrays["least"].tolist(), default=0),
        max(arrays["most"].tolist(), default=0),
        bool(arrays["whole"].all()),
    )
    dtype = None if weights is None else weights.dtype
    facts = Facts(n, sum(cut.edges), directed, dtype, extremes, float(arrays["total"].sum()))
    graph = uuid.uuid4().hex
    given = [(n, first, last, directed) for first, last in cut.ranges]
    with group.making(graph):
        held = group.each(residents.ranged, given, rows.owner.name, graph)
        made = Placement(group, facts, cut, graph, held)
    peaks = tuple(arrays["peak"].tolist())
    made.plan = replace(plan_of_building(group), n=n, m=made.m, ranges=cut.ranges, peak_bytes=peaks)
    made.made = line
    return made


def reweighed(old: Placement, given: Any, line: Callable[[str], str]) -> Placement:
    """Return the graph of the same edges with other weights; the edges themselves are shared.

    Parameters
    ----------
    old : Placement
        The graph.
    given : function, DistributedVector, Dask array or column, or array_like, of shape (m,)
        A function of the edges' ends runs where they lie. Of arrays each worker gets its own part.
    line : callable
        Returns the line of Python that makes the graph again, given that of the old one.

    Raises
    ------
    InputError
        For invalid weights, and if the two directions of an undirected edge differ.
    """
    old.check()
    old.group.ready()
    name, workers = uuid.uuid4().hex, len(old.cut.ranges)
    parts = [given] * workers if callable(given) else _divided(given, old)
    with old.group.making(name):
        known = old.group.each(residents.weighed, [(part,) for part in parts], old.name, name)
        kinds = {each.dtype for each in known if each.m} or {known[0].dtype}
        if len(kinds) > 1:
            names = ", ".join(sorted(dtype.name for dtype in kinds))
            raise InputError(argument="weights", value=names, expected="a function that returns one type")
        [kind] = kinds
        if any(each.dtype != kind for each in known):
            old.group.each(residents.set_weight_dtype_if_empty, [(kind,)] * workers, name)
        if sum(each.imbalance for each in known) % 2**64:
            raise InputError(
                "weights must be the same in both directions of an undirected edge: for weights that differ, make a "
                "directed graph"
            )
    least = min((each.least for each in known if each.least is not None), default=0)
    most = max((each.most for each in known if each.most is not None), default=0)
    extremes = least, most, all(each.whole for each in known)
    total = float(sum(each.total for each in known))
    cut = Placed(old.cut.ranges, tuple(each.m for each in known))
    facts = Facts(old.n, sum(cut.edges), old.directed, kind, extremes, total, old.ids)
    graph = Placement(old.group, facts, cut, name, [each.sizes for each in known])
    graph.made = line(old.made) if old.made else ""
    return graph


def identified(old: Placement, ids: np.ndarray) -> Placement:
    """Return the graph of the same edges with other ids for its vertices; the edges are shared.

    `ids` has shape (n,), and is checked but for an id of two vertices.
    """
    old.check()
    old.group.ready()
    name = uuid.uuid4().hex
    with old.group.making(name):
        held = old.group.each(residents.renamed, [()] * len(old.cut.ranges), old.name, name)
    graph = Placement(old.group, replace(old.facts, ids=ids), old.cut, name, held)
    graph.made = f"{old.made}.with_ids(ids)" if old.made else ""
    check_distinct(graph)
    return graph


def _divided(given: Any, graph: Placement) -> list[Any]:
    """Return each worker's weights: a future of them where Dask has them, or where they have been sent."""
    given = given.to_dask_array() if hasattr(given, "to_dask_array") else given
    if not hasattr(given, "to_delayed"):
        weights = devices.to_host(as_array(given, "weights"))
        _check_weights(weights, graph.m)
        ends = itertools.pairwise(itertools.accumulate(graph.cut.edges, initial=0))
        return [graph.group.sent(rank, weights[start:end]) for rank, (start, end) in enumerate(ends)]
    _check_weights(given, graph.m)
    own = [m for m in graph.cut.edges if m]
    blocks = iter(tasks.computed(graph.group.client, given.rechunk((tuple(own),)).to_delayed()) if own else ())
    none = np.zeros(0, given.dtype)
    return [next(blocks) if m else none for m in graph.cut.edges]


def _check_weights(weights: Any, m: int) -> None:
    """Raise InputError unless weights are one for each of m edges, and numbers."""
    check_one_per_edge(weights, m)
    dtype_of_weights(weights)


def plan_of_building(group: Group) -> Plan[Detail]:
    """Return a plan of building; what it needs is known when the edges have been counted."""
    shards = len(group.specs)
    return Plan(
        algorithm="building a graph",
        method="count and place",
        n=0,
        dtype="int32",
        ranges=((0, 0),) * shards,
        devices=group.specs,
        steps=None,
        span=1,
        peak_bytes=(0,) * shards,
        seconds=math.inf,  # not predicted: files may be of any size, so no superstep is late
        detail=Building(),
    )
