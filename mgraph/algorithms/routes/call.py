"""Pairs and flows by a hierarchy: the public calls, which run on one device or on workers."""

from functools import partial
from typing import Any, Unpack, cast

import numpy as np

from ... import device as devices
from ...arguments import checked_flag
from ...arrays import Array
from ...docstrings import with_common_parts
from ...errors import ArgumentValue, InputError
from ...hierarchy import Flows, Hierarchy, Routes
from ...hierarchy.hierarchy import (
    flows_by,
    heads_of,
    home_of,
    known_of,
    prepared,
    ranks_of_demand,
    ranks_of_pairs,
    weights_along,
)
from ...runtime.call import call
from ...runtime.program import Accompanied
from ...runtime.run import ResumableRun
from ...runtime.select import executor
from ...runtime.solving import Call
from .plan import planned
from .program import Distances, Loads
from .request import Asked, by_start

#: Parts of the docstrings of both calls.
_SHARED = {
    "{beside the method}": """\
A plan is made before anything is allocated, and checkpoints may be written. What the method's arguments mean is said
there.
""",
    "{prepared graph}": """\
hierarchy : Hierarchy
    The prepared graph. It is sent to each worker once, and stays there as long as you have it.
""",
}

_documented = partial(with_common_parts, more=_SHARED)


@call
@_documented
def pairs(
    hierarchy: Hierarchy,
    sources: Any,
    targets: Any,
    *,
    along: Any = None,
    paths: bool = False,
    ids: bool | None = None,
    **run: Unpack[ResumableRun],
) -> Any:
    """Return the distances of many pairs of vertices by a hierarchy, and their paths, on one device or on workers.

    It returns what `Hierarchy.pairs` does. With `client` the pairs are dealt to the workers by source.
    {beside the method}

    Parameters
    ----------
    {prepared graph}
    sources, targets : sequence of int or of ids, shape (k,)
        The two ends of each pair.
    along : sequence of weights, optional
        Other weights to add up along the shortest paths.
    paths : bool
        Whether to return the paths, too. They are found on the CPU of each worker, and not kept in checkpoints.
    {ids of vertices}
    {common arguments}
    {checkpoint arguments}

    Returns
    -------
    array, shape (k,), or Routes
        The distance of each pair; with `along`, the sums as well, and with `paths` the vertices.

    Raises
    ------
    InputError
        As the method does.
    DistanceOverflowError
        If a distance is out of range for int32, or a sum of other weights for int64.
    {common errors}
    {checkpoint errors}

    Examples
    --------
    >>> import mgraph
    >>> graph = mgraph.Graph.from_edges([0, 1], [1, 2], [4, 3], directed=False)
    >>> roads = mgraph.Hierarchy(graph, order=[0, 2, 1], device="cpu")
    >>> mgraph.pairs(roads, [0, 2, 1], [2, 2, 0]).tolist()
    [7, 0, 4]
    """
    made = _checked(hierarchy)
    how = _called(made, run)
    if checked_flag("paths", paths) and how.checkpoints is not None:
        raise InputError(ArgumentValue("paths", True), " does not go with checkpoints, which keep no paths")
    starts, ends = ranks_of_pairs(made, sources, targets, ids, how.place if _is_alone(how) and not paths else None)
    heads = heads_of(made) if paths else None
    asked, order = _dealt(how, Asked(starts, ends, along=weights_along(made, along), heads=heads))
    move = home_of(made).asarray
    found = {name: move(_at(order, array)) for name, array in _solved(made, asked, how).items()}
    offsets = None
    if paths:
        offsets = np.zeros(len(starts) + 1, np.int64)
        np.cumsum(devices.to_host(found.pop("lengths")), out=offsets[1:])
        offsets = move(offsets)
    distances, vertices = found.pop("distances"), found.pop("vertices", None)
    sums = None if along is None else tuple(found.values())
    return Routes(distances, sums, offsets, vertices) if paths or along is not None else distances


@call
@_documented
def flows(
    hierarchy: Hierarchy,
    demand: Any,
    sources: Any = None,
    targets: Any = None,
    *,
    ids: bool | None = None,
    **run: Unpack[ResumableRun],
) -> Flows:
    """Return how much of a demand each edge carries if all of it takes shortest paths, on one device or on workers.

    It returns what `Hierarchy.flows` does. With `client` the sources are dealt to the workers, whose loads are added up
    in their order: those of integers are exact, and those of floats may round otherwise for another number of workers,
    or after a checkpoint.
    {beside the method}

    Parameters
    ----------
    {prepared graph}
    demand : tuple of three sequences, or array of shape (k, t)
        Pairs with amounts, or a matrix of them.
    sources, targets : sequence of int or of ids, optional
        The vertices of the rows and the columns of a matrix; by default all.
    {ids of vertices}
    {common arguments}
    {checkpoint arguments}

    Returns
    -------
    Flows
        The load of each edge, in the order of `Graph.coo`.

    Raises
    ------
    InputError
        As the method does.
    {common errors}
    {checkpoint errors}

    Examples
    --------
    >>> import mgraph
    >>> graph = mgraph.Graph.from_edges([0, 1], [1, 2], [4, 3], directed=False)
    >>> roads = mgraph.Hierarchy(graph, order=[0, 2, 1], device="cpu")
    >>> mgraph.flows(roads, ([0, 1], [2, 2], [10, 5])).loads.tolist()
    [10, 0, 15, 0]
    """
    made = _checked(hierarchy)
    how = _called(made, run)
    given = ranks_of_demand(made, demand, sources, targets, ids)
    asked = Asked(given.sources, given.targets, given.table, amounts=given.amounts)
    asked, _ = _dealt(how, asked)
    arrays = {name: devices.to_host(array) for name, array in _solved(made, asked, how).items()}
    return flows_by(made, given.amounts.dtype, **arrays | {"totals": arrays["totals"][:2]})


def _checked(hierarchy: Any) -> Hierarchy:
    """Return a hierarchy, or raise InputError."""
    if not isinstance(hierarchy, Hierarchy):
        raise InputError(argument="hierarchy", value=hierarchy, expected="a mgraph.Hierarchy, made of the graph once")
    return hierarchy


def _called(hierarchy: Hierarchy, run: ResumableRun) -> Call:
    """Return where and how a call runs: where the hierarchy is, unless it says otherwise."""
    if run.get("device") is None and run.get("client") is None:
        run = cast(ResumableRun, {**run, "device": hierarchy.device})
    return Call(run, executor(run, hierarchy.device))


def _is_alone(how: Call) -> bool:
    """Return whether one device takes all pairs, and no other goes on from a checkpoint."""
    return len(how.runner.specs) == 1 and how.checkpoints is None


def _dealt(how: Call, asked: Asked) -> tuple[Asked, np.ndarray | None]:
    """Return pairs in the order in which they are dealt, and the places at which they were; None for the same.

    Paths take longer than climbs, and are joined in their order.
    """
    same = asked.table or asked.heads is not None or _is_alone(how)
    return (asked, None) if same else by_start(asked)


def _at(order: np.ndarray | None, found: Array) -> Array:
    """Return what was found of pairs in the order in which they were dealt, in that of the caller."""
    if order is None:
        return found
    on_host = devices.to_host(found)
    values = np.empty_like(on_host)
    values[order] = on_host
    return values


def _solved(hierarchy: Hierarchy, asked: Asked, how: Call) -> dict[str, Any]:
    """Return what a program finds of pairs, by name."""
    plan = planned(
        hierarchy.n,
        hierarchy.m,
        how.runner.specs,
        dtype=hierarchy.dtype,
        sources=len(asked.starts),
        targets=len(asked.ends) if asked.table else None,
        along=len(asked.along),
        paths=asked.heads is not None,
        loads=None if asked.amounts is None else asked.amounts.dtype,
        known=known_of(hierarchy, how.place),
        span=how.span,
        memory_limit=how.memory_limit,
    )
    digest = "" if how.checkpoints is None else asked.digest()
    program = (Distances if asked.amounts is None else Loads)(plan, digest)

    def piece(shard: int) -> Accompanied:
        return Accompanied(prepared(hierarchy, how.place), asked.part(*plan.ranges[shard]))

    return dict(how.run(program, piece, plan)[1].arrays)
