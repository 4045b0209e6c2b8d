"""Numbers of shortest paths from some vertices: the public call and its result.

Distances are those of `mgraph.distances`. Then paths are counted in the order of the distances, on the device that
searched, as in Brandes, "A faster algorithm for betweenness centrality", 2001.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np

from ... import device as devices
from ...arguments import checked_bytes, checked_flag, checked_integer
from ...docstrings import with_common_parts
from ...dtypes import band, infinity
from ...errors import ArgumentValue, InputError
from ...graph import Compressed, Graph, PlacedGraph, as_any_graph, in_this_process
from ...graph.compressed import lightest
from ...graph.potentials import lengths_of
from ...graph.question import Question
from ...kernels import betweenness as kernels_of_paths
from ...kernels.betweenness.ops import LOST, TOO_MANY, Rows
from ...planning.devices import spec_of
from ...planning.plan import Plan
from ...runtime.call import call
from ...runtime.run import Run
from ..distances.call import distances


@call
def path_counts(
    graph: Any,
    sources: Sequence[Any] | np.ndarray,
    *,
    weight: bool = True,
    limit: float | None = None,
    ids: bool | None = None,
    **run: Unpack[Run],
) -> "PathCounts":
    """Return the number of shortest paths from some vertices to every vertex, and their lengths.

    Parameters
    ----------
    graph : Graph, DistributedGraph, sparse matrix, or array_like of shape (n, n)
        Read as `mgraph.apsp` does. Weights must be positive: with edges of length 0 the number of shortest paths
        depends on what counts as one. Of parallel edges the lightest counts, once.
    sources : sequence of int or of ids
        The vertices that paths lead from, 0 to n-1 or their ids in the graph.
    weight : bool
        Whether a path is as long as the sum of its weights. Otherwise it is as long as the number of its edges.
    limit : float, optional
        The length of the longest paths that count.
    {ids argument}
    {common arguments}

    Returns
    -------
    PathCounts

    Raises
    ------
    InputError
        If a weight is not positive, or is so small beside another one that it is lost in the sum along a path, and for
        invalid input.
    DistanceOverflowError
        If a weight is out of range.
    {common errors}

    See Also
    --------
    mgraph.betweenness : How many shortest paths pass each vertex.

    Notes
    -----
    Numbers of paths are float64, exact up to 2**53. Where one exceeds 2**1000, all are scaled by powers of two, so that
    none is infinite. Lengths are exact for integers, and for floats the sums of float64 along a path, compared for
    equality. Workers find the distances; paths are counted in this process.

    Examples
    --------
    >>> import mgraph
    >>> found = mgraph.path_counts(mgraph.generate.grid(3, 3, weights=None), [0], device="cpu")
    >>> found.counts.tolist()
    [[1.0, 1.0, 1.0, 1.0, 2.0, 3.0, 1.0, 3.0, 6.0]]
    >>> list(found.paths(0, 4))
    [[0, 1, 4], [0, 3, 4]]
    """
    given = as_any_graph(graph)
    question = Question(given, given.n, ids)
    starts = question.vertices("sources", sources)
    weighted = checked_flag("weight", weight) and given.weighted
    if weighted:
        _check_positive(given)
    whole = not weighted or _fits(given)
    computed = np.dtype(np.int32 if whole else np.float64)
    needed, host = len(starts) * given.n * (8 + computed.itemsize), devices.find("cpu")
    devices.check_free_memory(f"numbers of paths from {len(starts):,} sources", needed, host)
    method = "auto" if weighted and whole else "sssp" if weighted else "bfs"
    found = distances(given, starts, limit=limit, method=method, dtype=computed, ids=False, **run)
    here = in_this_process(given)
    elsewhere = isinstance(given, PlacedGraph) or run.get("client") is not None
    device = devices.find("cpu" if elsewhere else found.plan.devices[0].name)
    rows = found.distances if isinstance(found.distances, np.ndarray) else found.distances.to_numpy()
    most = None if run.get("memory_limit") is None else checked_bytes("memory_limit", run["memory_limit"])
    by_target = _simple(here, "csc", weighted)
    by_source = _simple(here, "csr", weighted) if here.directed else by_target
    counts, exponents = _counted((by_source, by_target), rows, starts, device, most)
    return PathCounts(
        counts=counts,
        exponents=exponents,
        distances=rows,
        sources=question.answer(starts),
        plan=found.plan,
        timings=found.timings,
        _starts=starts,
        _edges=by_target._replace(weights=lengths_of(by_target, computed, host)),
        _question=question,
    )


def _check_positive(graph: Graph | PlacedGraph) -> None:
    """Raise InputError unless all weights are positive; name an edge that is not."""
    least = graph.extremes()[0] if graph.m else 1
    if least > 0:
        return
    where = ""
    if isinstance(graph, Graph):
        src, dst, weights = graph.listed()
        assert weights is not None
        e = int(weights.argmin())
        where = f" of the edge from {int(src[e])} to {int(dst[e])}"
    raise InputError(
        "shortest paths are counted along positive weights; the weight",
        f"{where} is {least}: change it, or count edges by ",
        ArgumentValue("weight", False),
    )


def _fits(graph: Graph | PlacedGraph) -> bool:
    """Return whether the sums of the weights along all paths are integers that fit int32."""
    kind = None if graph.weights_dtype is None else graph.weights_dtype.kind
    return kind == "i" and graph.extremes()[1] * max(1, graph.n - 1) <= band(np.dtype(np.int32))


def _simple(graph: Graph, order: str, weighted: bool) -> Compressed:
    """Return the edges of a graph on the host, of parallel ones the lightest."""
    edges = Compressed(*(None if part is None else devices.to_host(part) for part in graph.compressed(order)))
    return lightest(edges if weighted else edges._replace(weights=None))


def _counted(
    edges: tuple[Compressed, Compressed],
    rows: np.ndarray,
    starts: np.ndarray,
    device: devices.Device,
    memory_limit: int | None,
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the number of paths to each vertex from each source, and the exponents of two if some are too large."""
    (k, n), kernels, itemsize = rows.shape, kernels_of_paths.on(device), rows.dtype.itemsize
    counts = np.empty((k, n))
    for wide in (False, True):
        each, room = int(kernels.row_bytes(n, itemsize, wide)), device.available_memory() // 2
        cores = spec_of(device, recent=True).cores
        batch = max(1, min(k, kernels.SOURCES * cores, min(room, memory_limit or room) // max(1, each)))
        exponents = np.empty((k, n), np.int32) if wide else None
        lengths = sum((8 + itemsize) * len(part.indices) + 8 * n for part in edges)
        with device.active(), devices.allocating("numbers of paths", batch * each + lengths + n, device):
            by_source, by_target = (
                (device.asarray(part.indptr), device.asarray(part.indices), lengths_of(part, rows.dtype, device))
                for part in edges
            )
            own = kernels.rows(device.xp, batch, n, rows.dtype, wide)
            targets, trouble = device.xp.zeros(n, bool), device.xp.zeros(2, np.int32)
            for first in range(0, k, batch):
                last = min(k, first + batch)
                some = Rows(*(array[: last - first] for array in own))
                some.distances[...] = device.asarray(rows[first:last])
                kernels.tight(by_source, by_target, device.asarray(starts[first:last]), targets, some, trouble)
                counts[first:last] = devices.to_host(some.counts)
                if exponents is not None:
                    exponents[first:last] = devices.to_host(some.exponents)
            lost, large = (bool(devices.to_host(trouble)[place]) for place in (LOST, TOO_MANY))
        if lost:
            raise InputError(
                "a weight is so small beside another one that it is lost in the sum along a path, and with it the "
                "number of shortest paths: scale the weights, or count edges by ",
                ArgumentValue("weight", False),
            )
        if not large:
            break
    if exponents is not None:
        exponents[rows == infinity(rows.dtype)] = 0
    return counts, exponents


@with_common_parts
@dataclass(frozen=True, eq=False, kw_only=True)
class PathCounts:
    """The result of `path_counts`.

    Attributes
    ----------
    counts : array of float64, shape (k, n)
        The number of shortest paths from each source to each vertex: 1 to the source itself, 0 where there is none.
    exponents : array of int32, shape (k, n), or None
        Where some number exceeds 2**1000, the numbers are ``counts * 2.0**exponents``.
    distances : array of int32 or float64, shape (k, n)
        The lengths of the paths; ``inf``, for int32 its largest value, where there is none.
    sources : array of int32 or of ids, shape (k,)
        The source of each row, as ids if a vertex was asked for by its id.
    plan : Plan
        How the distances were found.
    timings : dict of str to float
        The seconds of the parts of that.

    Examples
    --------
    >>> import mgraph
    >>> found = mgraph.path_counts(mgraph.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3]), [0, 3], device="cpu")
    >>> found.counts.tolist()
    [[1.0, 1.0, 1.0, 2.0], [0.0, 0.0, 0.0, 1.0]]
    """

    counts: np.ndarray
    exponents: np.ndarray | None
    distances: np.ndarray
    sources: np.ndarray
    plan: Plan
    timings: dict[str, float]
    _starts: np.ndarray = field(default_factory=lambda: np.empty(0, np.int32))
    #: The edges by target, each with its length.
    _edges: Compressed = field(default_factory=lambda: Compressed(np.zeros(1, np.int32), np.empty(0, np.int32), None))
    _question: Any = None

    def __repr__(self) -> str:
        rows, n = self.counts.shape
        return f"PathCounts({rows:,} x {n:,}{'' if self.exponents is None else ', scaled'})"

    def paths(self, source: Any, vertex: Any, *, most: int | None = None) -> Iterator[list[Any]]:
        """Yield the shortest paths from one of the sources to a vertex, one after the other.

        Each takes time linear in its length and in the edges to its vertices, however many paths there are.

        Parameters
        ----------
        source : int or id
            One of the sources.
        vertex : int or id
            The last vertex.
        most : int, optional
            The most paths. By default all.

        Yields
        ------
        list of int, or of ids
            The vertices from the source to `vertex`, as ids if one of the two is an id, or a source of the call was.
            Paths come in the order of the vertex before the last, then of that before it, and so on.

        Raises
        ------
        InputError
            If `source` is not among the sources, `vertex` is not in [0, n) and no id of the graph, or `most` is not an
            integer of 1 or more.

        Examples
        --------
        >>> import mgraph
        >>> found = mgraph.path_counts(mgraph.generate.grid(2, 3, weights=None), [0], device="cpu")
        >>> list(found.paths(0, 5, most=2))
        [[0, 1, 2, 5], [0, 1, 4, 5]]
        """
        question = self._question
        start, end = question.vertex("source", source), question.vertex("vertex", vertex)
        most = None if most is None else checked_integer("most", most, 1)
        rows = np.flatnonzero(self._starts == start)
        if not len(rows):
            raise InputError(ArgumentValue("source", source), f" is not among the {len(self._starts)} sources")
        found = self._backwards(self.distances[rows[0]], start, end)
        return (question.listed(path) for path in itertools.islice(found, most))

    def _backwards(self, row: np.ndarray, start: int, end: int) -> Iterator[list[int]]:
        """Yield the paths that follow edges on shortest paths back from the end."""
        if row[end] == infinity(row.dtype):
            return
        indptr, indices, lengths = self._edges
        assert lengths is not None

        def before(v: int) -> Iterator[int]:
            own = slice(int(indptr[v]), int(indptr[v + 1]))
            sources = indices[own]
            fits = (row[sources] + lengths[own] == row[v]) & (row[sources] < row[v])
            return iter(sources[fits].tolist())

        path, untried = [end], [before(end)]
        while path:
            if path[-1] == start:
                yield path[::-1]
            following = next(untried[-1], None)
            if following is None:
                path.pop()
                untried.pop()
            else:
                path.append(following)
                untried.append(before(following))
