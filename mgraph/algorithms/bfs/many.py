"""Breadth-first searches from many sources: the public call and its result; `search_many` has the program."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Unpack

import numpy as np

from ...arguments import checked_depth, checked_flag, checked_integer
from ...docstrings import with_common_parts
from ...graph import as_any_graph
from ...graph.question import Question
from ...results import CallInput, FromSearches, Proofs, check_named, solved_graph
from ...runtime.call import call
from ...runtime.run import ResumableRun
from ...runtime.solving import GraphCall
from .. import bellman
from ..certificates import distances as certificate
from . import plan as searches
from .search_many import SearchMany


@call
def bfs_many(
    graph: Any,
    sources: Sequence[Any],
    *,
    predecessors: bool = False,
    limit: int | None = None,
    ids: bool | None = None,
    **run: Unpack[ResumableRun],
) -> "BfsManyResult":
    """Return every vertex's distance in edges from each of many sources.

    Each search has a bit of a word, so one read of an edge serves up to 256 searches [1]_ [2]_.

    Parameters
    ----------
    graph : Graph, DistributedGraph, sparse matrix, or array_like of shape (n, n)
        Read as `mgraph.apsp` does; weights do not matter. Edges are followed from source to target.
    sources : sequence of int or of ids
        The vertices to start from, 0 to n-1 or their ids in the graph, one search each; vertices may be repeated.
    predecessors : bool
        Whether to return each vertex's predecessor in each search: the least one on a shortest path.
    limit : int, optional
        The greatest distance to search to; vertices beyond it count as unreached.
    {ids argument}
    {common arguments}
    {checkpoint arguments}

    Returns
    -------
    BfsManyResult

    Raises
    ------
    InputError
        If a source is not an integer in [0, n) and no id of the graph, if there is no source, and for invalid input.
    {common errors}
    {checkpoint errors}

    See Also
    --------
    mgraph.bfs : One search, also from several sources at once.
    mgraph.apsp : Distances from every vertex, with weights.

    References
    ----------
    .. [1] Then, Kaufmann, Chirigati, Hoang-Vu, Pham, Kemper, Neumann and Vo, "The more the merrier: efficient
       multi-source graph traversal", 2014.
    .. [2] Liu, Huang and Hu, "iBFS: concurrent breadth-first search on GPUs", 2016.

    Examples
    --------
    >>> import mgraph
    >>> mgraph.bfs_many(mgraph.Graph.from_edges([0, 1], [1, 2]), [0, 2], device="cpu").distances.tolist()
    [[0, 1, 2], [-1, -1, 0]]
    """
    graph = as_any_graph(graph)
    question = Question(graph, graph.n, ids)
    start = tuple(question.vertices("sources", sources).tolist())
    predecessors, limit = checked_flag("predecessors", predecessors), checked_depth(limit, graph.n)
    asked = GraphCall(graph, run, len(start))
    plan = asked.planned(
        searches.planned_for_many, sources=len(start), predecessors=predecessors, directed=graph.directed
    )
    found = asked.solved(SearchMany(plan, start, limit), plan, weighted=False)
    solved = CallInput(graph, float("inf") if limit is None else limit, -1, question.ids)
    return BfsManyResult(**found, sources=tuple(question.listed(start)), _starts=start, _solved=solved)


@with_common_parts
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class BfsManyResult(FromSearches):
    """The result of `bfs_many`.

    Attributes
    ----------
    sources : tuple of int or of ids
        The vertices that the searches started from.
    distances : array or DistributedMatrix of int32, shape (len(sources), n)
        Edges on the shortest path from each source; -1 where there is none.
    predecessors : array or DistributedMatrix of int32, shape (len(sources), n), or None
        The vertex before the last on a shortest path; -9999 where there is none and for the source.
    {common attributes}

    Examples
    --------
    >>> import mgraph
    >>> result = mgraph.bfs_many(mgraph.generate.grid(1, 4), [0, 2], device="cpu")
    >>> result.sources, result.distances.tolist()
    ((0, 2), [[0, 1, 2, 3], [2, 1, 0, 1]])
    """

    ARRAYS = ("distances", "predecessors")
    FACTS = ("sources",)
    UNREACHED = -1
    PROOFS: ClassVar[Proofs] = {
        "distances": certificate.OF_DISTANCES,
        "predecessors": certificate.OF_PREDECESSORS,
        "sources": ("source",),
    }

    sources: tuple[Any, ...]
    distances: Any
    predecessors: Any = None
    _starts: tuple[int, ...] = ()

    def verify(self, graph: Any = None, *, rows: int | None = 16) -> None:
        """Raise unless some of the searches are right, each by the rules of `mgraph.BfsResult.verify`.

        Not proved is that a predecessor is the least of several that are right.

        Parameters
        ----------
        graph : Graph or DistributedGraph, optional
            The graph that was searched. By default the call's, if it still exists: the result does not keep it. If it
            lies on workers, the rows are checked there.
        rows : int or None
            How many searches to check, evenly spaced, the first and the last included; None checks all.

        Raises
        ------
        VerificationError
            If a rule is broken: the error's `rule` names the first one, and `vertex` the first vertex that breaks it.
        InputError
            If the graph has gone or has another number of vertices, and for invalid `rows`.

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.generate.grid(2, 3)
        >>> mgraph.bfs_many(graph, [0, 4], device="cpu").verify()
        """
        known = solved_graph(self, graph)
        check_named(self, "sources", self._starts, "source")
        count = len(self._starts) if rows is None else checked_integer("rows", rows, 1)
        for i in bellman.sampled(len(self._starts), count):
            limits = self.solved.limit, self.solved.target
            start = self._starts[i]
            question = certificate.Question((start,), *limits, unit=True, unreached=-1, nonnegative=True, row=start)
            row = {name: array[i] for name, array in self.arrays.items()}
            certificate.verify(known, question, row, self.plan.devices)

    def _row_sources(self) -> np.ndarray:
        return np.array(self._starts, np.int32)
