"""The public class `Hierarchy`: its calls check their arguments here; what they do stands in the modules beside it."""

import copy
import os
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from .. import device as devices
from ..arguments import checked_flag, checked_limit, checked_reduce
from ..arrays import Array, distinct
from ..dtypes import distance_dtype, infinity, name_of
from ..errors import ArgumentValue, FormatError, InputError, parts_of, renamed
from ..graph import Compressed, Graph, as_graph
from ..graph.checks import checked_weights, host_array
from ..graph.question import Question
from ..kernels.routes import Parts
from . import paths, storage, sweeps
from .demand import Demand, checked_demand
from .flows import Flows, flows, flows_of
from .lengths import TYPES, Lengths, customized, customized_sets, encoded, on_host, sets_that_fit
from .order import Skeleton, checked_order, dissected, skeleton
from .placed import OnDevice, placed
from .predecessors import Lasts, Paths, are_exact, by_distances, by_entries, last_vertices
from .prepared import Prepared
from .routes import (
    Known,
    Labels,
    Pairs,
    Progress,
    Routes,
    are_joined,
    distances,
    divided,
    labelled,
    parts_on,
    ranked,
    routes,
)
from .stacks import Stack, naming, stack_of
from .structure import Elimination, Fill, Structure, eliminated, fill_of, structure_of
from .sweeps import Sweep

#: The name under which a graph keeps its elimination.
_ELIMINATION = "elimination"


class Hierarchy:
    """A graph prepared for many distances: a customizable contraction hierarchy.

    The vertices are eliminated once, in an order of nested dissection. That suits graphs with small separators: road
    networks above all, meshes and grids. `customize` computes the lengths for a set of weights, some hundredths of a
    second for a city. A distance then takes a climb from both ends, and distances from many sources one sweep over all
    vertices for dozens of sources at a time [1]_ [2]_.

    Parameters
    ----------
    graph : Graph, sparse matrix, or array_like of shape (n, n)
        Read as `mgraph.apsp` does, directed or not. The edges of an unweighted graph have length 1.
    order : array_like of int, shape (n,), optional
        An order of elimination, each vertex once. By default METIS finds one by nested dissection. It comes with mgraph
        on Linux (x86-64) and macOS; elsewhere ``pip install 'dask-mgraph[roads]'`` builds it.
    dtype : {"float32", "float64", "int32"}, optional
        The type of distances. By default that of the weights; integers in int32, hop counts in float32.
    device : {"cpu", "cuda", "cuda:N"}, optional
        Where to compute. By default the first GPU if there is one, and otherwise the CPU.

    Attributes
    ----------
    n, m : int
        Number of vertices, and of stored directed edges.
    entries : int
        Number of pairs of a vertex and an upper neighbour, which are edges or shortcuts; a sweep reads them all.
    height : int
        Number of vertices on the longest way up: the most that a climb passes.
    dtype : dtype
        The type of distances.

    Raises
    ------
    InputError
        If there would be so many entries that searches take less time, as in social graphs; for an invalid graph or
        order.
    NegativeCycleError
        If there is a cycle of negative weight; the error's `vertex` lies on one.
    DistanceOverflowError
        If a weight is out of range for its type; `mgraph.apsp` lists the ranges.
    MemoryLimitError
        If the entries do not fit the free memory.
    MissingPackageError
        If there is no `order` and pymetis is not installed.

    See Also
    --------
    mgraph.sssp : Shortest paths from one source, without preparation.
    mgraph.apsp : All pairs of vertices.

    Notes
    -----
    Integers are exact. Floats are sums of the lengths of shortcuts. Those of float32 are computed in float64 and
    rounded once, unless all sums are exact; without negative weights a distance is within one unit in the last place
    of the exact one. In float64 it is within k * 2**-53 of its value for a path of k edges.

    References
    ----------
    .. [1] J. Dibbelt, B. Strasser and D. Wagner, "Customizable contraction hierarchies", 2016.
    .. [2] D. Delling, A. V. Goldberg, A. Nowatzyk and R. F. Werneck, "PHAST: hardware-accelerated shortest path
       trees", 2011.

    Examples
    --------
    >>> import mgraph
    >>> graph = mgraph.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], [4, 3, 2, 8], directed=False)
    >>> roads = mgraph.Hierarchy(graph, order=[0, 2, 1, 3], device="cpu")
    >>> roads.distances([0]).tolist(), roads.path(0, 3)
    ([[0, 4, 7, 8]], [0, 3])
    """

    _labels: Labels | None = None

    def __init__(
        self, graph: Any, order: Any = None, *, dtype: Any = None, device: str | devices.Device | None = None
    ) -> None:
        graph = as_graph(graph, copy=True)
        computed = distance_dtype(graph.weights_dtype, dtype, TYPES)
        given = None if order is None else checked_order(order, graph.n)
        where = devices.find(device)
        weights, neighbours = _weights(graph), skeleton(graph)
        edges = encoded(weights, graph.m, computed)
        found = eliminated(neighbours, dissected(neighbours) if given is None else given)
        self._build(graph, neighbours, found, where)
        self._lengths = customized(self._graph, self._structure, self._on, edges, computed, weights)

    def _build(self, graph: Graph, neighbours: Skeleton, elimination: Elimination, device: devices.Device) -> None:
        """Compute what is the same for all weights."""
        self._graph = graph.unweighted()
        self._structure: Structure = structure_of(self._graph, neighbours, elimination)
        self._on: OnDevice = placed(self._structure, device)
        self._sweeps: dict[tuple[str, bool], Sweep] = {}

    def customize(self, weights: Any, *, dtype: Any = None) -> Any:
        """Return a hierarchy of the same edges with other weights, which shares everything but lengths with this one.

        Of several sets of weights, it returns an iterator of hierarchies, one for each set, in their order. A batch of
        sets that fits half the free memory is computed at once, when its first hierarchy is asked for, with the same
        bits as one after the other; that takes a fraction of the time.

        Parameters
        ----------
        weights : Graph, or array_like of shape (m,) or (sets, m)
            A graph of the same edges, or the weight of each edge in the order of `Graph.coo`. The two directions of an
            edge may differ, even if the first graph was undirected. A weight of ``inf`` closes an edge. Several sets
            are a matrix with a row for each, which may be a ``numpy.memmap``, or a sequence of arrays.
        dtype : {"float32", "float64", "int32"}, optional
            The type of distances, as for the class.

        Returns
        -------
        Hierarchy, or iterator of Hierarchy

        Raises
        ------
        InputError
            For a graph of other edges, and for weights of another shape, truth values or NaN.
        NegativeCycleError, DistanceOverflowError, MemoryLimitError
            As the class does. Of several sets, shapes and types are checked by the call, numbers when their set is
            asked for. The message then begins with the set, as in ``weights[3]:``, and the iterator ends.

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.Graph.from_edges([0, 1], [1, 2], [4, 3], directed=False)
        >>> roads = mgraph.Hierarchy(graph, order=[0, 2, 1], device="cpu")
        >>> graph.coo().src.tolist(), graph.coo().dst.tolist()
        ([0, 1, 1, 2], [1, 0, 2, 1])
        >>> roads.customize([4, 9, 3, 1]).distances().tolist()
        [[0, 4, 7], [9, 0, 3], [10, 1, 0]]
        >>> [each.distance(0, 2) for each in roads.customize([[4, 4, 3, 3], [4, 9, 3, 1], [5, 5, 5, 5]])]
        [7, 7, 10]
        """
        stack = stack_of(weights, self.m)
        if stack is None:
            return self._with(self._lengths_for(weights, dtype))
        return self._with_each(stack, stack.distance_types(dtype))

    def _lengths_for(self, weights: Any, dtype: Any) -> Lengths:
        """Return the lengths for a set of weights."""
        given = self._weights_of(weights, "weights")
        computed = distance_dtype(None if given is None else given.dtype, dtype, TYPES)
        edges = encoded(given, self.m, computed)
        return customized(self._graph, self._structure, self._on, edges, computed, given)

    def _with(self, lengths: Lengths) -> "Hierarchy":
        """Return a hierarchy with other lengths, which shares everything else with this one."""
        made = object.__new__(Hierarchy)
        made._graph, made._structure, made._on, made._sweeps = (
            self._graph,
            self._structure,
            self._on,
            self._sweeps,
        )
        made._lengths = lengths
        return made

    def _with_each(self, stack: Stack, types: list[np.dtype]) -> Iterator["Hierarchy"]:
        """Yield a hierarchy for each set of weights, given the types of their distances; computed in batches."""
        first = 0
        while first < len(stack):
            most = sets_that_fit(self._structure, self._on, self.m, stack.dtype(first).itemsize)
            batch = stack.batch(first, most)
            found: list[Lengths | None] = [None]
            if len(batch) > 1:
                sets = stack.on(self._on.device, batch)
                found = customized_sets(self._graph, self._structure, self._on, sets, types[first])
                del sets
            for number in batch:
                lengths, found[number - first] = found[number - first], None  # nothing keeps those that were returned
                if lengths is None:
                    with naming(number):
                        lengths = self._lengths_for(stack.sets[number], types[number])
                yield self._with(lengths)
            first = batch.stop

    def labelled(self) -> "Hierarchy":
        """Return the hierarchy with labels: the distances from each vertex to all its ancestors, and back.

        No vertex climbs then for `pairs`, for tables on a GPU, or on the CPU for `distance`: a pair reads two rows of
        labels. They take 8 bytes for each ancestor of each vertex, or 12 where lengths are computed in float64, and
        twice that if directions differ; `nbytes` counts them. `save` remembers them, and `load` computes them again.
        What `customize` returns has none. Paths, sums along them and flows climb as before.

        Returns
        -------
        Hierarchy
            It shares everything else with this one.

        Raises
        ------
        MemoryLimitError
            If the labels do not fit the free memory.

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.Graph.from_edges([0, 1], [1, 2], [4, 3], directed=False)
        >>> roads = mgraph.Hierarchy(graph, order=[0, 2, 1], device="cpu").labelled()
        >>> roads.is_labelled, roads.pairs([0, 2, 1], [2, 2, 0]).tolist(), roads.distance(0, 2)
        (True, [7, 0, 4], 7)
        """
        if self.is_labelled:
            return self
        made = copy.copy(self)
        made._labels = labelled(self._on, self._lengths)
        return made

    def _weights_of(self, weights: Any, name: str) -> np.ndarray | None:
        """Return the weights that an argument gives the edges, on the host; None if it is an unweighted graph."""
        if isinstance(weights, Graph) or hasattr(weights, "tocoo"):
            other = as_graph(weights)
            pairs = zip(self._graph.layout("csr"), other.layout("csr"), strict=True)
            if not all(np.array_equal(devices.to_host(own), devices.to_host(their)) for own, their in pairs):
                raise InputError(
                    f"the graph must have the same {self.m} edges as the hierarchy's, got {other!r}: for other edges, "
                    "make a hierarchy of that graph"
                )
            if self._graph.ids is not None and other.ids is not None:
                if not np.array_equal(self._graph.ids, other.ids):
                    raise InputError("the graph must have the ids of the hierarchy's graph, in the same order")
            return _weights(other)
        given = host_array(weights, name)
        if given.dtype.kind == "b":
            raise InputError(argument=name, value=given.dtype.name, expected="numbers, one per edge")
        return checked_weights(given, self.m)

    def distances(
        self,
        sources: Any = None,
        targets: Any = None,
        *,
        limit: float | None = None,
        reduce: Any = None,
        predecessors: bool = False,
        along: Any = None,
        out: Any = None,
        ids: bool | None = None,
    ) -> Any:
        """Return the distances from some vertices to others, or measures of them.

        Parameters
        ----------
        sources, targets : sequence of int or of ids, optional
            Vertices in [0, n) or their ids in the graph, in any order and as often as you like; by default all. For
            `reduce` a target that is repeated counts once.
        limit : float, optional
            The greatest distance; vertices beyond it count as unreached.
        reduce : str, tuple or sequence of these, optional
            What to measure instead of returning each distance: ``"eccentricity"``, ``"mean"``, ``"reached"``,
            ``"closeness"``, ``"harmonic"``, in directed graphs ``"out_closeness"`` and ``"out_harmonic"``, and
            ``("within", [r1, r2, ...])`` and ``("histogram", [e0, e1, ...])``, as `mgraph.distances` defines them.
            Nothing is stored for a pair of vertices then.
        predecessors : bool
            Whether to return the vertex before each target, too. It is the one that `mgraph.sssp` finds if no weight is
            negative, and weights are integers or their sums along a path are exact. Otherwise it is one on a shortest
            path; those of all vertices form a tree. With negative weights, a target beyond the limit keeps its
            predecessor: a path may return from there. They are found on the CPU.
        along : sequence of weights, optional
            Other weights, each as `customize` takes them, to add up along the shortest path from each source to each
            target: the length in miles of the fastest route. Of several shortest paths it is the one of `path`.
        out : array of shape (k, t) and the distances' type, contiguous, optional
            Write the distances there; it may be a ``numpy.memmap``, or lie on any device. A GPU writes to page-locked
            memory at the full speed of the bus, which new memory of the host does not reach. After an error it may
            hold a part of the distances.
        ids : bool
            Whether integers are ids of the graph, not numbers of vertices. Text always is an id. Predecessors are
            numbers.

        Returns
        -------
        array, shape (k, t), Paths, Routes or Measured
            The distance from each source to each target, on the graph's device or in `out`; ``inf``, for int32 its
            largest value, where there is no path. With `predecessors`, these as well; with `along`, the sums of each of
            the weights, arrays of the same shape; with `reduce`, the measures of each source.

        Raises
        ------
        InputError
            For a value that is not a vertex, a limit or a measure; for two of `reduce`, `predecessors`, `along` and
            `out` together; for weights as `customize` does; and for an array `out` of another shape or type, not
            contiguous, or read-only.
        DistanceOverflowError
            If a distance is out of range for int32, or a sum of other weights for int64.
        MemoryLimitError
            If the distances do not fit the free memory.

        Examples
        --------
        >>> import numpy as np, mgraph
        >>> graph = mgraph.Graph.from_edges([0, 1], [1, 2], [4, 3], directed=False)
        >>> roads = mgraph.Hierarchy(graph, order=[0, 2, 1], device="cpu")
        >>> roads.distances([2, 0], [1, 2]).tolist()
        [[3, 0], [4, 7]]
        >>> roads.distances(reduce=("within", [3, 5])).within.tolist()
        [[1, 2], [2, 3], [2, 2]]
        >>> roads.distances([2, 0], predecessors=True).predecessors.tolist()
        [[1, 2, -9999], [-9999, 0, 1]]
        >>> miles = [1.5, 1.5, 2.0, 2.0]
        >>> roads.distances([2, 0], along=[miles]).along[0].tolist()
        [[3.5, 2.0, 0.0], [0.0, 1.5, 3.5]]
        >>> table = np.empty((1, 3), np.int32)
        >>> roads.distances([1], out=table) is table, table.tolist()
        (True, [[4, 0, 3]])
        """
        question, rank = Question(self._graph, self.n, ids), self._structure.rank
        starts, ends = (
            rank if values is None else rank[question.vertices(name, values)]
            for name, values in (("sources", sources), ("targets", targets))
        )
        most = checked_limit(limit, self.dtype)
        asked = checked_reduce(reduce, "from" if self._graph.directed else "", "mgraph.distances ")
        checked_flag("predecessors", predecessors)
        if reduce is not None and (predecessors or out is not None):
            other = ArgumentValue("predecessors", True) if predecessors else ArgumentValue("out")
            raise InputError(ArgumentValue("reduce", reduce), " keeps no distances: leave out ", other)
        if along is not None and (predecessors or reduce is not None):
            other = ArgumentValue("predecessors", True) if predecessors else ArgumentValue("reduce", reduce)
            raise InputError(ArgumentValue("along"), " goes with distances alone: leave out ", other)
        if out is not None and (predecessors or along is not None):
            other = ArgumentValue("predecessors", True) if predecessors else ArgumentValue("along")
            raise InputError(ArgumentValue("out"), " takes distances alone: leave out ", other)
        if predecessors:
            return self._paths(starts, ends, most)
        if along is not None:
            return self._routes(starts, ends, self._along(along), table=True, limit=most)
        if out is not None:
            _check_out(out, (len(starts), len(ends)), self.dtype)
        measured = reduce is not None
        if targets is not None and not measured and out is None:
            if are_joined(self._on, self._lengths, len(starts), len(ends)):
                return self._joined(starts, ends, most)
        if targets is not None:
            ends = distinct(ends) if measured else ends
            sweep = sweeps.sweep_to(self._structure, self._on, ends, rows=not measured)
        else:
            sweep = sweeps.sweep_to_all(self._structure, self._on, self._sweeps, rows=not measured)
        if measured:
            known = self._structure, self._on, self._lengths
            return sweeps.measured(*known, starts, ends, sweep, most, *asked)
        home = devices.find(self._graph.device) if out is None else devices.of(out)
        return sweeps.distances(self._structure, self._on, home, self._lengths, starts, sweep, most, out)

    def _joined(self, starts: np.ndarray, ends: np.ndarray, limit: float) -> Array:
        """Return a table of the distances between ranks, joined from climbs, on the graph's device."""
        asked = Pairs(self._on, self._lengths, starts, ends, table=True, entries=False, labels=self._labels)
        found = distances(asked, None)
        if limit < float("inf"):
            sweeps.cut(found, limit, self._lengths)
        return devices.find(self._graph.device).asarray(found.reshape(len(starts), len(ends)))

    def _paths(self, starts: np.ndarray, ends: np.ndarray, limit: float) -> Paths:
        """Return the distances between ranks, and predecessors, on the graph's device."""
        structure, on, host = self._structure, self._on, devices.find("cpu")
        returns = not self._lengths.nonnegative and limit < float("inf")  # from beyond the limit, as a path may
        most = float("inf") if returns else limit

        def rows(sources: np.ndarray, targets: np.ndarray) -> Array:
            sweep = sweeps.sweep_to(structure, on, structure.rank[targets], rows=True)
            return sweeps.distances(structure, on, host, self._lengths, structure.rank[sources], sweep, most)

        sources, targets, lengths = structure.order[starts], structure.order[ends], self._on_host
        if are_exact(lengths, self.n):
            found = by_distances(self._graph, lengths, rows, sources, targets)
        else:
            found = by_entries(structure, self._here, lengths, self._lasts, rows, sources, targets)
        if returns:
            sweeps.cut(found.distances, limit, lengths)
        home = devices.find(self._graph.device)
        return Paths(*(home.asarray(part) for part in found))

    def distance(self, source: Any, target: Any, *, ids: bool | None = None) -> float:
        """Return the length of the shortest path from one vertex to another.

        Parameters
        ----------
        source, target : int or id
            Vertices in [0, n), or their ids in the graph.
        ids : bool
            Whether integers are ids of the graph, not numbers of vertices.

        Returns
        -------
        float or int
            ``inf`` if there is no path.

        Raises
        ------
        InputError
            If `source` or `target` is not a vertex and no id.
        DistanceOverflowError
            If the distance is out of range for int32.

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.Graph.from_edges([0, 1], [1, 2], [4, 3], directed=False)
        >>> mgraph.Hierarchy(graph, order=[0, 2, 1], device="cpu").distance(0, 2)
        7
        """
        question, rank = Question(self._graph, self.n, ids), self._structure.rank
        start, end = question.vertex("source", source), question.vertex("target", target)
        labels = self._labels if self._on.device.kind == "cpu" else None
        return paths.distance(self._structure, self._on_host, labels, rank.item(start), rank.item(end))

    def path(self, source: Any, target: Any, *, ids: bool | None = None) -> list[Any]:
        """Return the vertices of a shortest path from one vertex to another, both included.

        Parameters
        ----------
        source, target : int or id
            Vertices in [0, n), or their ids in the graph.
        ids : bool
            Whether integers are ids of the graph, not numbers of vertices.

        Returns
        -------
        list of int, or of ids
            As ids if one of the two is an id; empty if there is no path.

        Raises
        ------
        InputError
            If `source` or `target` is not a vertex and no id.

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.Graph.from_edges([0, 1], [1, 2], [4, 3], directed=False)
        >>> mgraph.Hierarchy(graph, order=[0, 2, 1], device="cpu").path(0, 2)
        [0, 1, 2]
        >>> named = graph.with_ids(["Rome", "Pisa", "Genoa"])
        >>> mgraph.Hierarchy(named, order=[0, 2, 1], device="cpu").path("Rome", "Genoa")
        ['Rome', 'Pisa', 'Genoa']
        """
        question, rank = Question(self._graph, self.n, ids), self._structure.rank
        start, end = question.vertex("source", source), question.vertex("target", target)
        return question.listed(paths.path(self._structure, self._on_host, rank.item(start), rank.item(end)))

    def pairs(
        self,
        sources: Any,
        targets: Any,
        *,
        along: Any = None,
        paths: bool = False,
        ids: bool | None = None,
        progress: Progress | None = None,
    ) -> Any:
        """Return the distances of many pairs of vertices, and their paths.

        A vertex climbs once, however many pairs it is in; a pair takes a fraction of a microsecond then.

        Parameters
        ----------
        sources, targets : sequence of int or of ids, shape (k,)
            The two ends of each pair, as for `distances`. Arrays of integers are checked on the device that computes.
        along : sequence of weights, optional
            Other weights to add up along the shortest paths, as for `distances`.
        paths : bool
            Whether to return the paths, too: those of `path`, as long as sums of lengths are exact. They are found on
            the CPU.
        ids : bool
            Whether integers are ids of the graph, not numbers of vertices. The vertices of paths are numbers.
        progress : callable, optional
            Called with how many of how many steps are done. An exception that it raises ends the call.

        Returns
        -------
        array, shape (k,), or Routes
            The distance of each pair, on the graph's device; ``inf``, for int32 its largest value, where there is no
            path. With `along` or `paths`, these as well.

        Raises
        ------
        InputError
            For a value that is not a vertex, if there are not as many targets as sources, and for weights as
            `customize` does.
        DistanceOverflowError
            If a distance is out of range for int32, or a sum of other weights for int64.
        MemoryLimitError
            If the result does not fit the free memory.

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.Graph.from_edges([0, 1], [1, 2], [4, 3], directed=False)
        >>> roads = mgraph.Hierarchy(graph, order=[0, 2, 1], device="cpu")
        >>> roads.pairs([0, 2, 1], [2, 2, 0]).tolist()
        [7, 0, 4]
        >>> found = roads.pairs([0, 2, 1], [2, 2, 0], paths=True)
        >>> found.offsets.tolist(), found.vertices.tolist()
        ([0, 3, 4, 6], [0, 1, 2, 2, 1, 0])
        """
        _check_progress(progress)
        place = devices.find("cpu") if checked_flag("paths", paths) else self._on.device
        starts, ends = ranks_of_pairs(self, sources, targets, ids, place)
        others = None if along is None else self._along(along)
        return self._routes(starts, ends, others, paths=paths, progress=progress)

    def _along(self, along: Any) -> tuple[np.ndarray, ...]:
        """Return other weights that an argument gives, each with a weight for each edge."""
        whole = isinstance(along, (str, Graph)) or hasattr(along, "tocoo") or getattr(along, "ndim", 2) < 2
        if whole or not hasattr(along, "__iter__"):
            raise InputError(argument="along", value=along, expected="a sequence of weights: for one give [weights]")
        try:
            given = [self._weights_of(weights, "along") for weights in along]
        except InputError as error:
            raise renamed(error, {"weights": "along"}) from error
        return tuple(np.ones(self.m, np.int64) if weights is None else weights for weights in given)

    def _routes(
        self,
        starts: Array,
        ends: Array,
        along: tuple[np.ndarray, ...] | None,
        *,
        table: bool = False,
        paths: bool = False,
        limit: float = float("inf"),
        progress: Progress | None = None,
    ) -> Any:
        """Return what `pairs` does of ranks, or `distances` with `along`, on the graph's device."""
        move = devices.find(self._graph.device).asarray
        if along is None and not paths:
            known = self._on, self._lengths, starts, ends
            return move(distances(Pairs(*known, table=False, entries=False, labels=self._labels), progress))
        on, lengths = (self._here, self._on_host) if paths else (self._on, self._lengths)
        asked = Pairs(on, lengths, starts, ends, table=table, entries=True)
        targets = heads_of(self) if paths else None
        found = routes(self._structure, asked, self._parts if paths else self._parts_there, along, targets, progress)
        if limit < float("inf"):
            sweeps.cut(found.distances, limit, lengths)
            unreached = found.distances == infinity(self.dtype)
            for total in found.along or ():
                total[unreached] = infinity(total.dtype)
        if table:
            shape = len(starts), len(ends)
            found = Routes(found.distances.reshape(shape), tuple(total.reshape(shape) for total in found.along or ()))
        offsets, vertices = (None if part is None else move(part) for part in found[2:])
        sums = None if found.along is None else tuple(map(move, found.along))
        return Routes(move(found.distances), sums, offsets, vertices)

    def flows(
        self,
        demand: Any,
        sources: Any = None,
        targets: Any = None,
        *,
        ids: bool | None = None,
        progress: Progress | None = None,
    ) -> Flows:
        """Return how much of a demand each edge carries, if all of it takes shortest paths.

        Of several shortest paths all of a pair's demand takes one, the one of `path` as long as sums of lengths are
        exact. No path is written out: the work is that of the climbs and of the entries. On a GPU, amounts that are not
        whole are added in any order, which may change the last bits of a load.

        Parameters
        ----------
        demand : tuple of three sequences, or array of shape (k, t)
            The sources, the targets and the amounts of pairs, ``(sources, targets, amounts)``; or a matrix of the
            amounts from each of `sources` to each of `targets`, which may be sparse. Numbers of 0 or more.
        sources, targets : sequence of int or of ids, optional
            The vertices of the rows and the columns of a matrix; by default all.
        ids : bool
            Whether integers are ids of the graph, not numbers of vertices.
        progress : callable, optional
            Called with how many of how many pairs are done. An exception that it raises ends the call.

        Returns
        -------
        Flows
            The load of each edge, in the order of `Graph.coo`. Its `verify` proves that no vertex gains or loses.

        Raises
        ------
        InputError
            For a value that is not a vertex; for amounts that are negative, NaN or infinite, or of another shape; and
            for integers that add up to 2**53 or more.
        MemoryLimitError
            If the flows do not fit the free memory.

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.Graph.from_edges([0, 1], [1, 2], [4, 3], directed=False)
        >>> roads = mgraph.Hierarchy(graph, order=[0, 2, 1], device="cpu")
        >>> graph.coo().src.tolist(), graph.coo().dst.tolist()
        ([0, 1, 1, 2], [1, 0, 2, 1])
        >>> roads.flows(([0, 1], [2, 2], [10, 5])).loads.tolist()
        [10, 0, 15, 0]
        >>> roads.flows([[10, 1], [5, 1]], [0, 1], [2, 0]).loads.tolist()
        [10, 1, 15, 0]
        """
        _check_progress(progress)
        asked = ranks_of_demand(self, demand, sources, targets, ids)
        pairs = Pairs(self._on, self._lengths, asked.sources, asked.targets, table=asked.table, entries=True)
        return flows(self._graph, self._structure, pairs, self._parts, asked.amounts, progress)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the hierarchy to a file, which appears whole or not at all.

        The file holds the edges, their lengths, the order, and the graph's ids as integers or text: what follows from
        them is computed again by `load`.

        Parameters
        ----------
        path : path, str or URL
            Ends with ``.npz``.
        overwrite : bool
            Whether to replace a file that exists.

        Raises
        ------
        OutputExistsError
            If the file exists and `overwrite` is false.
        InputError, OSError
            If the file cannot be written.

        Examples
        --------
        >>> import pathlib
        >>> import tempfile
        >>> import mgraph
        >>> graph = mgraph.Graph.from_edges([0, 1], [1, 2], [4, 3], directed=False)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     mgraph.Hierarchy(graph, order=[0, 2, 1], device="cpu").save(pathlib.Path(folder, "roads.npz"))
        ...     mgraph.Hierarchy.load(pathlib.Path(folder, "roads.npz"), device="cpu").distance(0, 2)
        7
        """
        checked_flag("overwrite", overwrite)
        lengths = self._on_host.edges.astype(self.dtype, copy=False)
        storage.save(path, storage.Stored(self._graph, lengths, self._structure.order, self.is_labelled), overwrite)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, device: str | devices.Device | None = None) -> "Hierarchy":
        """Return the hierarchy that `save` wrote to a file.

        Parameters
        ----------
        path : path, str or URL
            The file.
        device : {"cpu", "cuda", "cuda:N"}, optional
            Where to compute, as for the class.

        Returns
        -------
        Hierarchy

        Raises
        ------
        FormatError
            If the file does not hold a hierarchy.
        MissingFileError
            If it does not exist.
        NegativeCycleError
            If its edges have a cycle of negative length, which no hierarchy that was saved has.
        MemoryLimitError
            If the hierarchy does not fit the free memory.

        Examples
        --------
        See `save`.

        >>> import mgraph
        >>> mgraph.Hierarchy.load("no-such-file.npz")
        Traceback (most recent call last):
            ...
        mgraph.errors.MissingFileError: [Errno 2] there is no such file: 'no-such-file.npz'
        """
        where = devices.find(device)
        stored = storage.load(path)
        made, neighbours = object.__new__(cls), skeleton(stored.graph)
        try:
            order = checked_order(stored.order, stored.graph.n)
        except InputError as error:
            raise FormatError(f"{os.fspath(path)}: ", *parts_of(error)) from error
        made._build(stored.graph, neighbours, eliminated(neighbours, order), where)
        weights = lengths = stored.lengths
        if lengths.dtype.kind == "f":  # they may be weights that were rounded, whose cycles were not negative
            weights = np.where(lengths == 0, lengths, np.nextafter(lengths, lengths.dtype.type(np.inf)))
        made._lengths = customized(made._graph, made._structure, made._on, lengths, lengths.dtype, weights)
        return made.labelled() if stored.labelled else made

    @property
    def n(self) -> int:
        """Number of vertices.

        Examples
        --------
        >>> import mgraph
        >>> mgraph.Hierarchy(mgraph.Graph.from_edges([0], [1]), order=[0, 1], device="cpu").n
        2
        """
        return self._graph.n

    @property
    def m(self) -> int:
        """Number of stored directed edges.

        Examples
        --------
        >>> import mgraph
        >>> mgraph.Hierarchy(mgraph.Graph.from_edges([0], [1]), order=[0, 1], device="cpu").m
        1
        """
        return self._graph.m

    @property
    def entries(self) -> int:
        """Number of pairs of a vertex and an upper neighbour, edges and shortcuts.

        Examples
        --------
        >>> import mgraph
        >>> path = mgraph.Graph.from_edges([0, 1], [1, 2])
        >>> [mgraph.Hierarchy(path, order=order, device="cpu").entries for order in ([0, 2, 1], [1, 0, 2])]
        [2, 3]
        """
        return len(self._structure.entries.upper)

    @property
    def height(self) -> int:
        """Number of vertices on the longest way up the elimination tree.

        Examples
        --------
        >>> import mgraph
        >>> path = mgraph.Graph.from_edges([0, 1], [1, 2])
        >>> [mgraph.Hierarchy(path, order=order, device="cpu").height for order in ([0, 2, 1], [0, 1, 2])]
        [2, 3]
        """
        return self._structure.tree.height

    @property
    def is_labelled(self) -> bool:
        """Whether it keeps labels, as `labelled` returns them.

        Examples
        --------
        >>> import mgraph
        >>> mgraph.Hierarchy(mgraph.Graph.from_edges([0], [1]), order=[0, 1], device="cpu").is_labelled
        False
        """
        return self._labels is not None

    @property
    def dtype(self) -> np.dtype:
        """The type of distances.

        Examples
        --------
        >>> import mgraph
        >>> mgraph.Hierarchy(mgraph.Graph.from_edges([0], [1], [5]), order=[0, 1], device="cpu").dtype
        dtype('int32')
        """
        return self._lengths.dtype

    @property
    def order(self) -> np.ndarray:
        """The vertices in the order of elimination, int32: a postorder of the elimination tree.

        It may differ from the order that was given, but leads to as many entries.

        Examples
        --------
        >>> import mgraph
        >>> mgraph.Hierarchy(mgraph.Graph.from_edges([0, 1], [1, 2]), order=[2, 0, 1], device="cpu").order.tolist()
        [2, 0, 1]
        """
        return self._structure.order.copy()

    @property
    def device(self) -> str:
        """The name of the device that computes.

        Examples
        --------
        >>> import mgraph
        >>> mgraph.Hierarchy(mgraph.Graph.from_edges([0], [1]), order=[0, 1], device="cpu").device
        'cpu'
        """
        return self._on.device.name

    @property
    def nbytes(self) -> int:
        """Bytes that the hierarchy takes on its device, without those of the graph.

        Examples
        --------
        >>> import mgraph
        >>> mgraph.Hierarchy(mgraph.Graph.from_edges([0], [1]), order=[0, 1], device="cpu").nbytes > 0
        True
        """
        _, *structure, rank, mirror = self._on
        parts = [*structure, (rank,), mirror, self._lengths[1:4]]
        if self._labels is not None:
            parts += self._labels[: 1 if self._labels.back is self._labels.there else 2]
        return sum(int(getattr(array, "nbytes", 0)) for part in parts for array in part)

    @cached_property
    def graph(self) -> Graph:
        """The graph: its edges with the weights of the hierarchy, but for those that are closed.

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.Graph.from_edges([0, 1], [1, 2], [4, 3], directed=False)
        >>> mgraph.Hierarchy(graph, order=[0, 2, 1], device="cpu").graph.coo().weights.tolist()
        [4, 4, 3, 3]
        """
        edges = self._on_host.edges.astype(self.dtype, copy=False)
        graph = self._graph
        if not graph.directed and self._lengths.down is not self._lengths.up and not _are_alike(graph, edges):
            indptr, indices = graph.layout("csr")
            graph = Graph(graph.n, csr=Compressed(indptr, indices, None), directed=True, ids=graph.ids)
        made = graph.with_weights(edges)
        made.kept(_name(self.dtype), devices.find("cpu"), lambda: self, weights=True)
        return made

    @cached_property
    def _to_send(self) -> Prepared:
        """What workers need: one object, so that it is sent to each of them once."""
        return Prepared(self._structure, self._on_host)

    def __repr__(self) -> str:
        return f"Hierarchy(n={self.n}, m={self.m}, entries={self.entries}, height={self.height}, {self.dtype})"

    @cached_property
    def _on_host(self) -> Lengths:
        return on_host(self._lengths)

    @cached_property
    def _lasts(self) -> Lasts:
        return last_vertices(self._structure, self._on_host)

    @cached_property
    def _parts(self) -> Parts:
        return divided(self._structure, self._on_host)

    @cached_property
    def _parts_there(self) -> Parts:
        return parts_on(self._on.device, self._parts)

    @cached_property
    def _size(self) -> tuple[Fill, float]:
        """How much the graph fills in, and the ancestors of a vertex on average, with the vertex itself."""
        structure = self._structure
        depths = structure.tree.depth
        return fill_of(np.diff(structure.entries.begin), structure.tree), float(depths.mean()) + 1 if self.n else 0.0

    @cached_property
    def _here(self) -> OnDevice:
        return self._on if self._on.device.kind == "cpu" else placed(self._structure, devices.find("cpu"))


def elimination_of(graph: Graph) -> Elimination:
    """Return the elimination of a graph in an order of nested dissection, which is kept with it."""

    def made() -> Elimination:
        neighbours = skeleton(graph)
        return eliminated(neighbours, dissected(neighbours))

    found: Elimination = graph.kept(_ELIMINATION, devices.find("cpu"), made)
    return found


def hierarchy_of(graph: Graph, dtype: np.dtype, device: devices.Device) -> Hierarchy:
    """Return the hierarchy that a graph keeps for a type of distances; it is made on a device if there is none yet."""

    def made() -> Hierarchy:
        weights, found = _weights(graph), object.__new__(Hierarchy)
        edges = encoded(weights, graph.m, dtype)
        found._build(graph, skeleton(graph), elimination_of(graph), device)
        found._lengths = customized(found._graph, found._structure, found._on, edges, dtype, weights)
        return found

    kept: Hierarchy = graph.kept(_name(dtype), devices.find("cpu"), made, weights=True)
    return kept


def prepared(hierarchy: Hierarchy, place: devices.Device | None) -> Prepared:
    """Return what a device needs of a hierarchy, or workers if `place` is None."""
    if place is None:
        return hierarchy._to_send
    known = hierarchy._structure, hierarchy._lengths, hierarchy._on
    return Prepared(*known, kept=hierarchy._sweeps, labels=hierarchy._labels)


def known_of(hierarchy: Hierarchy, place: devices.Device | None) -> Known:
    """Return what a plan needs to know of a hierarchy whose pairs a device takes, or workers if `place` is None."""
    lengths, here = hierarchy._lengths, place is hierarchy._on.device
    alike, labelled = lengths.down is lengths.up, here and hierarchy.is_labelled
    return Known(*hierarchy._size, np.dtype(lengths.up.dtype), alike, labelled, here)


def ranks_of_pairs(
    hierarchy: Hierarchy, sources: Any, targets: Any, ids: bool | None, place: devices.Device | None = None
) -> tuple[Array, Array]:
    """Return the ranks of both ends of each pair that a call is given, on the hierarchy's device if it is the place."""
    question, rank, on = Question(hierarchy._graph, hierarchy.n, ids), hierarchy._structure.rank, hierarchy._on
    device, rank_of = (on.device, on.rank) if place is on.device else (devices.find("cpu"), rank)
    one, other = question.numbers(sources), question.numbers(targets)
    found = None if one is None or other is None else ranked(device, rank_of, (one, other))
    if found is None:  # they are no arrays of numbers, or one is no vertex, which an error names
        found = rank[question.vertices("sources", sources)], rank[question.vertices("targets", targets)]
    starts, ends = found
    if len(starts) != len(ends):
        raise InputError(
            argument="targets", value=len(ends), expected=f"{len(starts)} vertices, one for each of sources"
        )
    return starts, ends


def weights_along(hierarchy: Hierarchy, along: Any) -> tuple[np.ndarray, ...]:
    """Return the other weights that a call is given, each with a weight for each edge."""
    return () if along is None else hierarchy._along(along)


def _check_progress(progress: Any) -> None:
    """Raise InputError unless progress can be reported, or is not asked for."""
    if progress is not None and not callable(progress):
        expected = "a function of the steps that are done and their total"
        raise InputError(argument="progress", value=progress, expected=expected)


def home_of(hierarchy: Hierarchy) -> devices.Device:
    """Return the device of a hierarchy's graph, where results go."""
    return devices.find(hierarchy._graph.device)


def heads_of(hierarchy: Hierarchy) -> np.ndarray:
    """Return the target of each edge of a hierarchy's graph, on the host."""
    return devices.to_host(hierarchy._graph.layout("csr")[1])


def ranks_of_demand(hierarchy: Hierarchy, demand: Any, sources: Any, targets: Any, ids: bool | None) -> Demand:
    """Return the demand that a call is given, with ranks in place of vertices."""
    rank = hierarchy._structure.rank
    asked = checked_demand(Question(hierarchy._graph, hierarchy.n, ids), demand, sources, targets)
    return asked._replace(sources=rank[asked.sources], targets=rank[asked.targets])


def flows_by(hierarchy: Hierarchy, dtype: np.dtype, loads: np.ndarray, supply: np.ndarray, totals: np.ndarray) -> Flows:
    """Return flows over a hierarchy's edges, given what `mgraph.hierarchy.flows.Carried.divided` returns."""
    return flows_of(hierarchy._graph, hierarchy._on_host, dtype, loads, supply, totals)


def is_prepared(graph: Graph, dtype: np.dtype) -> bool:
    """Return whether a graph keeps a hierarchy for a type of distances."""
    return graph.held(devices.find("cpu"), _name(dtype)) > 0


def known_fill(graph: Graph, dtype: np.dtype) -> Fill | None:
    """Return how much a graph fills in if it keeps a hierarchy or an elimination, otherwise None."""
    ordered = is_prepared(graph, dtype) or graph.held(devices.find("cpu"), _ELIMINATION)
    return found_fill(graph, dtype) if ordered else None


def found_fill(graph: Graph, dtype: np.dtype) -> Fill:
    """Return how much a graph fills in; its vertices are ordered unless that was done before."""
    if is_prepared(graph, dtype):
        structure = hierarchy_of(graph, dtype, devices.find("cpu"))._structure
        return fill_of(np.diff(structure.entries.begin), structure.tree)
    found = elimination_of(graph)
    return fill_of(found.counts, found.tree)


def _name(dtype: np.dtype) -> str:
    """Return the name under which a graph keeps its hierarchy."""
    return f"hierarchy of {name_of(dtype)}"


def _weights(graph: Graph) -> np.ndarray | None:
    """Return the weights of a graph's edges on the host."""
    weights = graph.compressed("csr").weights
    return None if weights is None else devices.to_host(weights)


def _check_out(out: Any, shape: tuple[int, int], dtype: np.dtype) -> None:
    """Raise InputError unless distances of this shape and type can be written to `out`."""
    if type(out) not in (np.ndarray, np.memmap, devices.of(out).xp.ndarray):
        raise InputError(argument="out", value=out, expected=f"an array of shape {shape} and {dtype.name}")
    if out.shape != shape:
        raise InputError(argument="out", value=out.shape, expected=f"an array of shape {shape}")
    if out.dtype != dtype:
        raise InputError(argument="out", value=str(out.dtype), expected=f"an array of {dtype.name}")
    if not out.flags.c_contiguous:
        raise InputError(ArgumentValue("out"), " is not contiguous: give an array whose rows follow one another")
    if isinstance(out, np.ndarray) and not out.flags.writeable:
        raise InputError(ArgumentValue("out"), " is read-only: give an array that can be written to")


def _are_alike(graph: Graph, lengths: np.ndarray) -> bool:
    """Return whether the edges of an undirected graph have the same lengths in both directions."""
    src, dst, _ = graph.listed()
    up, down = np.flatnonzero(src < dst), np.flatnonzero(src > dst)
    up = up[np.lexsort((lengths[up], dst[up], src[up]))]
    down = down[np.lexsort((lengths[down], src[down], dst[down]))]
    return np.array_equal(lengths[up], lengths[down])
