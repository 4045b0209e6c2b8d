"""How many pairs of a graph's vertices are at which distance: hop plots, the effective diameter, mean, efficiency.

Rows of counts are added up, a block of sources after the other, so that memory is taken for a block.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Unpack

import numpy as np

from ... import lazy, plotting
from ...arguments import checked_bins, checked_flag, checked_number
from ...docstrings import with_common_parts
from ...dtypes import as_floats, bin_limits
from ...errors import ArgumentValue, InputError, VerificationError
from ...graph import Graph
from ...results import OF_BINS, CallInput, Proofs, Result, on_host, solved_graph
from .call import distances, given_graph, once_read
from .measures import FIRST, Where, measure, measured

#: The most counts of a block of sources.
CELLS = 1 << 24

#: The most bins that are chosen for lengths: half of them are left where the last ones are merged.
BINS = 128

#: Sources from which `verify` searches at a time, and how much sums of floats may differ, of themselves.
ROWS, ROUNDING = 64, 1e-9


@with_common_parts
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class DistanceHistogram(Result):
    """How many pairs of vertices are at which distance, as `mgraph.distance_histogram` returns it.

    Pairs are ordered, and of different vertices: an undirected graph has each twice.

    Attributes
    ----------
    counts : array of int64, shape (bins,)
        The number of pairs in each bin.
    edges : array of float64, shape (bins + 1,)
        The edges of the bins: a bin has its lower one, and the last bin both.
    pairs : int
        The number of pairs with a path.
    mean : float
        Their mean distance; NaN if there is none.
    efficiency : float
        The global efficiency: the mean of 1 / distance over all n (n - 1) pairs. One without a path, or at distance 0,
        adds 0. NaN for fewer than two vertices.
    {common attributes}

    Notes
    -----
    `plan` is that of the first sources, and `timings` are those of all.

    Examples
    --------
    >>> import mgraph
    >>> found = mgraph.distance_histogram(mgraph.generate.grid(1, 4, weights=None), device="cpu")
    >>> found.counts.tolist(), found.pairs, round(found.mean, 3), round(found.efficiency, 3)
    ([0, 6, 4, 2], 12, 1.667, 0.722)
    """

    ARRAYS = ("counts", "edges")
    FACTS = ("pairs", "mean", "efficiency")
    INDEX = "bin"
    VERTICES: ClassVar[tuple[str, ...]] = ()
    PICTURES = ("hops",)
    NOT_IN = OF_BINS
    PROOFS: ClassVar[Proofs] = {
        "counts": ("counts",),
        "edges": ("edges",),
        "pairs": ("pairs",),
        "mean": ("mean",),
        "efficiency": ("efficiency",),
    }

    counts: np.ndarray
    edges: np.ndarray
    pairs: int
    mean: float
    efficiency: float
    #: The edges of the bins, and the greatest distance that is counted up to each.
    _bins: tuple[float, ...] = (0.0, 1.0)
    _places: np.ndarray = field(default_factory=lambda: np.empty(0))
    _weighs: bool = False

    def hop_plot(self) -> tuple[np.ndarray, np.ndarray]:
        """Return distances, and the number of pairs at each of them or less.

        Returns
        -------
        tuple of arrays of float64 and int64, shape (bins + 1,)
            The edges or, if distances are integers, the greatest integer that is counted up to each. Pairs below the
            first edge do not count.

        Examples
        --------
        >>> import mgraph
        >>> found = mgraph.distance_histogram(mgraph.generate.grid(1, 4, weights=None), device="cpu")
        >>> [part.tolist() for part in found.hop_plot()]
        [[0.0, 0.0, 1.0, 2.0, 3.0], [0, 0, 6, 10, 12]]
        """
        return self._places, np.append(0, self.counts.cumsum())

    def effective_diameter(self, share: float = 0.9) -> float:
        """Return the distance within which a share of the pairs with a path are.

        Between the points of `hop_plot`, the number of pairs is interpolated linearly [1]_. So of hop counts, it is not
        an integer in general.

        Parameters
        ----------
        share : float
            More than 0, up to 1.

        Returns
        -------
        float
            NaN if no pair has a path.

        Raises
        ------
        InputError
            For another share, and if the bins do not have all pairs.

        References
        ----------
        .. [1] Leskovec, Kleinberg and Faloutsos, "Graphs over time: densification laws, shrinking diameters and
           possible explanations", 2005.

        Examples
        --------
        >>> import mgraph
        >>> found = mgraph.distance_histogram(mgraph.generate.grid(1, 4, weights=None), device="cpu")
        >>> found.effective_diameter(0.5), found.effective_diameter(0.75)
        (1.0, 1.75)
        """
        if not 0 < checked_number("share", share, 0) <= 1:
            raise InputError(argument="share", value=share, expected="more than 0, and at most 1")
        if int(self.counts.sum()) != self.pairs:
            raise InputError(
                f"{self.pairs - int(self.counts.sum()):,} of {self.pairs:,} pairs are in no bin: count again with ",
                ArgumentValue("bins"),
                " from the least distance to the greatest",
            )
        if not self.pairs:
            return math.nan
        places, within = self.hop_plot()
        wanted = share * self.pairs
        last = int(np.searchsorted(within, wanted))
        part = (wanted - within[last - 1]) / (within[last] - within[last - 1])
        return float(places[last - 1] + part * (places[last] - places[last - 1]))

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame with a row for each bin: ``from``, ``to``, ``pairs``.

        Raises
        ------
        MissingPackageError
            If pandas is not installed.

        Examples
        --------
        >>> import mgraph
        >>> found = mgraph.distance_histogram(mgraph.generate.grid(1, 3, weights=None), device="cpu")
        >>> found.to_pandas().values.tolist()
        [[0.0, 1.0, 0.0], [1.0, 2.0, 4.0], [2.0, 3.0, 2.0]]
        """
        pandas = lazy.optional("pandas", "to_pandas()")
        return pandas.DataFrame({"from": self.edges[:-1], "to": self.edges[1:], "pairs": self.counts})

    def verify(self, graph: Any = None) -> None:
        """Raise unless all pairs were counted in their bins, and the mean and the efficiency are theirs.

        Searches from all vertices are made again by the same method, a block after the other, and each is proved by the
        rules of `mgraph.SsspResult.verify`. Then NumPy counts the distances. That takes much longer than the call.

        Parameters
        ----------
        graph : Graph or DistributedGraph, optional
            The graph that was measured. By default the call's, if it still exists: the result does not keep it.

        Raises
        ------
        VerificationError
            If a rule is broken. The error's `rule` is the name of what differs, or a rule of distances; its `vertex` is
            the bin, or the vertex.
        InputError
            If the graph has gone or has another number of vertices.

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.generate.grid(1, 4, weights=None)
        >>> found = mgraph.distance_histogram(graph, device="cpu")
        >>> found.verify()
        >>> found.counts[1] = 5
        >>> found.verify()
        Traceback (most recent call last):
            ...
        mgraph.errors.VerificationError: bin 1 breaks the rule 'counts': it is 5, and 6 was expected
        """
        known, n = solved_graph(self, graph), self.plan.n
        known = known.unweighted() if isinstance(known, Graph) and not self._weighs else known
        counts, pairs, totals, inverses = np.zeros(len(self._bins) - 1, np.int64), 0, [], []
        for first in range(0, n, ROWS):
            sources = np.arange(first, min(n, first + ROWS), dtype=np.int32)
            options: dict[str, Any] = {"method": self.plan.method, "dtype": self.plan.dtype, "ids": False}
            found = distances(known, sources, **options)
            found.verify(known, rows=None)
            rows = as_floats(on_host(found.distances))
            rows[np.arange(len(sources)), sources] = np.inf  # a vertex and itself
            there = rows[np.isfinite(rows)]
            counts += np.histogram(there, self._bins)[0]
            pairs += len(there)
            totals.append(math.fsum(there))
            inverses.append(math.fsum(1 / there[there != 0]))
        self._check("edges", self.edges, np.array(self._bins))
        self._check("counts", self.counts, counts)
        self._check("pairs", self.pairs, pairs)
        self._check("mean", self.mean, math.fsum(totals) / pairs if pairs else math.nan)
        self._check("efficiency", self.efficiency, math.fsum(inverses) / (n * (n - 1)) if n > 1 else math.nan)

    def _check(self, name: str, found: Any, expected: Any) -> None:
        """Raise VerificationError unless an array or a fact is as expected, a sum of floats but for rounding."""
        rounding = ROUNDING if name in ("mean", "efficiency") else 0.0
        right = np.isclose(found, expected, rtol=rounding, atol=0.0, equal_nan=True)
        if right.all():
            return
        place = int(right.argmin()) if np.ndim(expected) else None
        what = name if place is None else f"{self.INDEX} {place}"
        one, other = (np.ravel(value)[place or 0] for value in (found, expected))
        raise VerificationError(
            f"{what} breaks the rule {name!r}: it is {one}, and {other} was expected", rule=name, vertex=place
        )

    def _types_of(self, name: str) -> tuple[str, ...]:
        return ("int64",) if name == "counts" else ("float64",)

    def _shape_of(self, name: str) -> tuple[int, ...]:
        return (len(self._bins) - (name == "counts"),)

    def _names_of_call(self) -> set[str]:
        return set(self.ARRAYS)

    def _drawing(self, kind: str, given: Any) -> Callable[[Any], None]:
        places, within = self.hop_plot()
        complete, n = 0 < self.pairs == within[-1], self.plan.n
        return partial(
            plotting.draw_shares,
            places=places,
            shares=within / max(1, n * (n - 1)),
            most=self.effective_diameter() if complete else None,
            across="distance" if self._weighs else "distance in edges",
            steps=False,  # as the diameter is interpolated
        )


@measure
def distance_histogram(
    graph: Any, bins: Sequence[float] | np.ndarray | None = None, *, weight: bool = True, **where: Unpack[Where]
) -> "DistanceHistogram":
    """Return how many pairs of vertices are at which distance, exactly, by searches from all vertices.

    Memory is that of the searches and of the counts of a block of sources, which are run one after the other.

    Parameters
    ----------
    graph : Graph, DistributedGraph, Hierarchy, sparse matrix, or array_like of shape (n, n)
        Read as `mgraph.distances` does.
    bins : sequence of numbers, optional
        The edges of the bins, each greater than the one before; the last may be ``inf``. By default a bin for each
        number of edges or, by weights, up to 128 of an equal width, a power of two, from 0 to the greatest distance.
    weight : bool
        Whether a path is as long as the sum of its weights. Otherwise it is as long as the number of its edges.
    method, dtype
        As of `mgraph.distances`.
    {common arguments}

    Returns
    -------
    DistanceHistogram
        It has the number of pairs in each bin, their mean distance and the efficiency, the effective diameter, and
        draws the hop plot.

    Raises
    ------
    InputError
        For negative weights without `bins`, and for invalid input; see `mgraph.distances` for other errors.

    See Also
    --------
    mgraph.distances : With ``reduce=("histogram", edges)``, the same of each source.

    Notes
    -----
    Counts are exact. The mean and the efficiency are sums of floats, added up in the order of the sources; of hop
    counts in a bin each they are made of the counts.

    Examples
    --------
    >>> import mgraph
    >>> found = mgraph.distance_histogram(mgraph.generate.grid(2, 3, weights=None), device="cpu")
    >>> found.counts.tolist(), found.mean, found.effective_diameter()
    ([0, 14, 12, 4], 1.6666666666666667, 2.25)
    >>> found = mgraph.distance_histogram([[0, 5, 7], [5, 0, 9], [7, 9, 0]], [0, 6, 12], device="cpu")
    >>> found.counts.tolist()
    [2, 4]
    """
    graph = once_read(graph)
    given = given_graph(graph)
    weighs = checked_flag("weight", weight) and given.weighted and where.get("method") != "bfs"
    edges = None if bins is None else checked_bins("bins", bins)
    if edges is None and weighs and not given.nonnegative:
        raise InputError("distances may be negative: give the edges of the ", ArgumentValue("bins"))
    counting = _Counting(graph, given.n, weight, weighs, where)
    return counting.all(edges)


class _Counting:
    """Counts of the pairs of a graph by blocks of sources."""

    def __init__(self, graph: Any, n: int, weight: bool, weighs: bool, where: Where) -> None:
        self.graph, self.n, self.weight, self.weighs, self.where = graph, n, weight, weighs, where
        self.timings: dict[str, float] = {}

    def rows(self, sources: np.ndarray | None, edges: Sequence[float], *further: str) -> Any:
        """Return the counts of some sources, and further measures."""
        wanted = [("histogram", edges), *further]
        found = measured(self.graph, wanted, "sources", sources, self.weight, False, self.where)
        for part, seconds in found.timings.items():
            self.timings[part] = self.timings.get(part, 0.0) + seconds
        return found

    def all(self, edges: tuple[float, ...] | None) -> DistanceHistogram:
        """Return the histogram; without edges, they grow with the distances that are found."""
        n, chosen = self.n, edges is None
        edges = self._expected() if edges is None else edges
        counts, pairs, totals, inverses = np.zeros(len(edges) - 1, np.int64), 0, [], []
        first, plan = 0, None
        while first < n or plan is None:
            block = np.arange(first, min(n, first + max(FIRST, CELLS // len(edges))), dtype=np.int32)
            found = self.rows(block if n else None, edges, "reached", "mean", "out_harmonic")
            plan = plan or found.plan
            reached = found.reached - 1
            if chosen and (found.histogram[:, :-1].sum(axis=1) <= reached).any():  # the last bin stays empty
                edges, counts = self._further(edges, counts)
                del found  # frees its counts before there are others
                continue
            counts += found.histogram.sum(axis=0)
            pairs += int(reached.sum())
            totals.append(np.where(reached > 0, found.mean, 0) @ reached)
            inverses.append(found.out_harmonic.sum())
            first += len(block)
            del found
        itself = int(np.searchsorted(bin_limits(edges, np.dtype(np.float64)), 0)) - 1
        if 0 <= itself < len(counts):
            counts[itself] -= n  # a vertex and itself
        if chosen:
            last = int(counts.nonzero()[0].max(initial=-1)) + 1
            counts, edges = counts[:last], edges[: last + 1]
        total, inverse = math.fsum(totals), math.fsum(inverses)
        if chosen and not self.weighs:
            hops = range(len(counts))
            total = float(sum(hop * count for hop, count in zip(hops, counts.tolist(), strict=True)))
            inverse = math.fsum(count / hop for hop, count in zip(hops, counts.tolist(), strict=True) if hop)
        whole = not self.weighs or np.dtype(plan.dtype).kind == "i"
        return DistanceHistogram(
            counts=counts,
            edges=np.array(edges, np.float64),
            pairs=pairs,
            mean=total / pairs if pairs else math.nan,
            efficiency=inverse / (n * (n - 1)) if n > 1 else math.nan,
            plan=plan,
            timings=self.timings,
            _bins=edges,
            _places=_places(edges, chosen) if whole else np.array(edges, np.float64),
            _weighs=self.weighs,
            _solved=CallInput(given_graph(self.graph)),
        )

    def _expected(self) -> tuple[float, ...]:
        """Return edges of bins that have all distances from some sources, and twice as long ones."""
        if not self.n:
            return 0.0, 1.0
        some = np.unique(np.linspace(0, self.n - 1, FIRST).astype(np.int32))
        least = 1.0
        if self.weighs:
            least = 2.0 ** math.frexp(float(given_graph(self.graph).extremes()[1]) / BINS)[1]
        powers = tuple(least * 2.0**i for i in range(-1, 60))
        near = self.rows(some, (0.0, *powers)).histogram.sum(axis=0)
        most = powers[int(near.nonzero()[0].max(initial=0))]  # the upper edge of the last bin that has any
        if not self.weighs:
            return tuple(float(hop) for hop in range(2 * int(most) + 2))
        width = max(2 * most / BINS, 2.0**-1000)
        return tuple(width * i for i in range(BINS + 1))

    def _further(self, edges: tuple[float, ...], counts: np.ndarray) -> tuple[tuple[float, ...], np.ndarray]:
        """Return edges that reach twice as far, and the counts so far: of lengths, two bins are merged into one."""
        bins = len(counts)
        if not self.weighs:
            more = tuple(float(hop) for hop in range(2 * bins + 1))
            return more, np.append(counts, np.zeros(bins, np.int64))
        merged = np.zeros(bins, np.int64)
        merged[: bins // 2] = counts.reshape(-1, 2).sum(axis=1)
        return tuple(2 * edge for edge in edges), merged


def _places(edges: tuple[float, ...], open_ended: bool) -> np.ndarray:
    """Return the greatest integer that is counted up to each edge; if `open_ended`, the last one does not count."""
    found = np.array([math.ceil(edge) - 1 if edge < np.inf else edge for edge in edges], np.float64)
    if edges[0] == 0:
        found[0] = 0
    if not open_ended and edges[-1] < np.inf:
        found[-1] = math.floor(edges[-1])
    return found
