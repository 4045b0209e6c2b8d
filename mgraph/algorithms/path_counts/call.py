"""Numbers of shortest paths from some vertices: the public call and its result.

Distances are those of `mgraph.distances`. Then paths are counted in the order of the distances, on the device that
searched, as in Brandes, "A faster algorithm for betweenness centrality", 2001.
"""

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Unpack

import numpy as np

from ... import device as devices
from ...arguments import checked_bytes, checked_flag, checked_integer
from ...device.clock import clock
from ...docstrings import with_common_parts
from ...dtypes import band, infinity
from ...errors import ArgumentValue, InputError, VerificationError
from ...graph import Compressed, Graph, PlacedGraph, as_any_graph, check_positive, in_this_process
from ...graph.potentials import lengths_of
from ...graph.question import Question
from ...kernels import betweenness as kernels_of_paths
from ...kernels.betweenness import LONG, LOST, TOO_MANY, Rows
from ...planning.devices import spec_of
from ...planning.plan import Plan
from ...results import CallInput, MatrixResult, Proofs, check_named, solved_graph
from ...runtime.call import call
from ...runtime.run import Run
from .. import bellman
from ..betweenness.call import check_sums_along_paths
from ..betweenness.program import longest
from ..certificates import distances as certificate
from ..certificates.run import called
from ..distances.call import distances
from .detail import PathCountsDetail
from .plan import with_counting
from .verify import A_VERTEX, AN_EDGE, edges_of_paths, first_difference


@call
def path_counts(
    graph: Any,
    sources: Sequence[Any] | np.ndarray,
    *,
    weight: bool = True,
    limit: float | None = None,
    ids: bool | None = None,
    **run: Unpack[Run],
) -> "PathCountsResult":
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
    PathCountsResult

    Raises
    ------
    InputError
        If a weight is not positive, or is so small beside another one that it is lost in the sum along a path; if
        integers add up to 2**53 or more along a path; and for invalid input.
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
        check_positive(given, "shortest paths are counted along positive weights")
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
    integers = weighted and not whole and given.weights_dtype is not None and given.weights_dtype.kind != "f"
    check_sums_along_paths(False, integers and longest(rows, np) >= LONG)
    most = None if run.get("memory_limit") is None else checked_bytes("memory_limit", run["memory_limit"])
    by_target = edges_of_paths(here, "csc", weighted)
    by_source = edges_of_paths(here, "csr", weighted) if here.directed else by_target
    plan_of = partial(with_counting, found.plan, spec_of(device, recent=True), here.directed, most)
    began, compiled = time.perf_counter(), clock().seconds()
    counts, exponents, plan = _counted((by_source, by_target), rows, starts, device, plan_of)
    compiling, timings = clock().seconds() - compiled, found.timings
    counting = {"compile": compiling, "solve": time.perf_counter() - began - compiling}
    return PathCountsResult(
        counts=counts,
        exponents=exponents,
        distances=rows,
        sources=question.answer(starts),
        plan=plan,
        timings=timings | {part: timings[part] + seconds for part, seconds in counting.items()},
        _starts=starts,
        _edges=by_target._replace(weights=lengths_of(by_target, computed, host)),
        _solved=CallInput(given, found.solved.limit, by_ids=question.ids),
    )


def _fits(graph: Graph | PlacedGraph) -> bool:
    """Return whether the sums of the weights along all paths are integers that fit int32."""
    kind = None if graph.weights_dtype is None else graph.weights_dtype.kind
    return kind == "i" and graph.extremes()[1] * max(1, graph.n - 1) <= band(np.dtype(np.int32))


def _counted(
    edges: tuple[Compressed, Compressed],
    rows: np.ndarray,
    starts: np.ndarray,
    device: devices.Device,
    plan_of: Callable[..., Plan[PathCountsDetail]],
) -> tuple[np.ndarray, np.ndarray | None, Plan[PathCountsDetail]]:
    """Return the numbers of paths, the exponents of two if some are too large, and the plan by which they are counted.

    `plan_of` plans to count with ``wide=True`` by scaled numbers.
    """
    (k, n), kernels, itemsize = rows.shape, kernels_of_paths.on(device), rows.dtype.itemsize
    counts = np.empty((k, n))
    for wide in (False, True):
        plan = plan_of(wide=wide)
        batch, each = plan.detail.counting, int(kernels.row_bytes(n, itemsize, wide))
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
        check_sums_along_paths(lost, False)
        if not large:
            break
    if exponents is not None:
        exponents[rows == infinity(rows.dtype)] = 0
    return counts, exponents, plan


@with_common_parts
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PathCountsResult(MatrixResult):
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
    {common attributes}

    Examples
    --------
    >>> import mgraph
    >>> found = mgraph.path_counts(mgraph.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3]), [0, 3], device="cpu")
    >>> found.counts.tolist()
    [[1.0, 1.0, 1.0, 2.0], [0.0, 0.0, 0.0, 1.0]]
    """

    ARRAYS = ("counts", "exponents", "distances")
    OPTIONAL = ("exponents",)
    INDEX = "source"
    PICTURES = ("matrix", "distribution")
    PROOFS: ClassVar[Proofs] = {
        "counts": ("count",),
        "exponents": ("count",),
        "distances": certificate.OF_DISTANCES,
        "sources": ("source",),
    }

    counts: np.ndarray
    exponents: np.ndarray | None = None
    distances: np.ndarray
    sources: np.ndarray
    _starts: np.ndarray = field(default_factory=lambda: np.empty(0, np.int32))
    #: The edges by target, each with its length.
    _edges: Compressed = field(default_factory=lambda: Compressed(np.zeros(1, np.int32), np.empty(0, np.int32), None))

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
        question = self._question(None)
        start, end = question.vertex("source", source), question.vertex("vertex", vertex)
        most = None if most is None else checked_integer("most", most, 1)
        rows = np.flatnonzero(self._starts == start)
        if not len(rows):
            raise InputError(ArgumentValue("source", source), f" is not among the {len(self._starts)} sources")
        found = self._backwards(self.distances[rows[0]], start, end)
        return (question.listed(path) for path in itertools.islice(found, most))

    def verify(self, graph: Any = None, *, rows: int | None = 16) -> None:
        """Raise unless the distances from some sources are right, and the numbers of paths that follow from them.

        Distances are proved where the graph is, by the rules of `mgraph.SsspResult.verify`. Then paths are counted by
        NumPy, on the host.

        Parameters
        ----------
        graph : Graph or DistributedGraph, optional
            The graph that was searched. By default the call's, if it still exists: the result does not keep it.
        rows : int or None
            How many sources to check, evenly spaced, the first and the last included; None checks all.

        Raises
        ------
        VerificationError
            If a rule is broken: the error's `rule` names the first one, and `vertex` the first vertex that breaks it.
        InputError
            If the graph has gone or has another number of vertices, and for invalid `rows`.
        MemoryLimitError
            If what the check needs does not fit.

        Notes
        -----
        The rules after those of distances: ``"count"``. Numbers below 2**53 must be exact; greater ones may differ by
        a relative error of 1e-9.

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.generate.grid(3, 3, weights=None)
        >>> found = mgraph.path_counts(graph, [0], device="cpu")
        >>> found.verify()
        >>> found.counts[0, 4] = 3
        >>> found.verify()
        Traceback (most recent call last):
            ...
        mgraph.errors.VerificationError: from vertex 0: vertex 4 breaks the rule 'count': 3 paths lead there, not 2
        """
        known = solved_graph(self, graph)
        check_named(self, "sources", self._starts, "source")
        count = len(self._starts) if rows is None else checked_integer("rows", rows, 1)
        picked = bellman.sampled(len(self._starts), count) if len(self._starts) else []
        far, unit = infinity(self.distances.dtype), self.plan.method == "bfs" or not known.weighted
        for i in picked:
            start = int(self._starts[i])
            question = certificate.Question((start,), self.solved.limit, -1, unit, far, nonnegative=True, row=start)
            certificate.verify(known, question, {"distances": self.distances[i]}, self.plan.devices)
        host = devices.find("cpu")
        with devices.allocating("verify()", AN_EDGE * known.m + A_VERTEX * known.n, host):
            edges = edges_of_paths(in_this_process(known), "csc", not unit)
            edges = edges._replace(weights=lengths_of(edges, self.distances.dtype, host))
            for i in picked:
                start, scaled = int(self._starts[i]), None if self.exponents is None else self.exponents[i]
                broken = first_difference(edges, start, self.distances[i], self.counts[i], scaled)
                if broken is not None:
                    vertex, found, expected = broken
                    raise VerificationError(
                        f"from vertex {called(known, start)}: vertex {called(known, vertex)} breaks the rule 'count': "
                        f"{found} paths lead there, not {expected}",
                        rule="count",
                        vertex=vertex,
                    )

    def _row_sources(self) -> np.ndarray:
        return self._starts

    def _reached(self, values: Any) -> Any:
        return values > 0

    def _types_of(self, name: str) -> tuple[str, ...]:
        return {"counts": ("float64",), "exponents": ("int32",)}.get(name) or super()._types_of(name)

    def _names_of_call(self) -> set[str]:
        return {"counts", "distances"}

    def _drawing(self, kind: str, given: Any) -> Callable[[Any], None]:
        if self.exponents is not None:
            raise InputError("numbers of paths beyond float64 are not drawn: draw numpy.log2(counts) + exponents")
        return super()._drawing(kind, given)

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
