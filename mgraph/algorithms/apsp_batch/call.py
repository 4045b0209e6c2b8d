"""Shortest paths of many small graphs: the public call and its result.

``kernels/apsp_batch.cu`` describes the algorithms. All graphs are solved by one launch for each class of sizes. What is
rare is left to `mgraph.apsp`: a graph in which a cycle looks negative is solved again by it, as it sums such cycles
exactly.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ... import device as devices
from ... import errors, lazy
from ...arguments import checked_flag, checked_integer, checked_vertices, size_in_words
from ...arrays import Array
from ...docstrings import with_common_parts
from ...dtypes import distance_dtype, exact_types
from ...errors import DistanceOverflowError, InputError
from ...graph import check_sums, sums_are_exact
from ...paths import needed_for_paths, walked_back
from ...planning.plan import Plan
from ...results import MOST_BYTES, OfDistances, named
from ...runtime.program import memory_errors
from ...runtime.select import checked_memory_limit, executor, is_small
from ..apsp.call import apsp, check_counting
from .plan import planned
from .program import NO_CYCLE, AllPairs
from .request import Batch, batch_of

#: The types of hop counts that kernels compute, and those of weighted distances.
NARROW = tuple(map(np.dtype, (np.int8, np.int16)))
WEIGHTED = tuple(map(np.dtype, (np.float32, np.float64, np.int32)))


@memory_errors("apsp_batch")
def apsp_batch(
    graphs: Any = None,
    *,
    edge_index: Any = None,
    batch: Any = None,
    weights: Any = None,
    lengths: Any = None,
    predecessors: bool = False,
    dtype: Any = "auto",
    device: str | None = None,
    memory_limit: int | float | str | None = None,
) -> "ApspBatchResult":
    """Return the lengths of the shortest paths between all pairs of vertices of many small graphs, solved together.

    Give either `graphs`, or `edge_index` and `batch`. All arrays may be of any library that speaks DLPack, such as
    tensors of PyTorch; on a GPU they stay there.

    Parameters
    ----------
    graphs : list of Graph, sparse matrix, array_like, networkx.Graph or Data; Batch; or array of shape (count, n, n)
        The graphs, of up to 512 vertices. An array of truth values holds adjacency matrices, one of numbers distance
        matrices: ``inf`` (of integers the type's largest value) means no edge, and a diagonal counts as zero unless it
        is negative. A list of arrays of one type is read in the same way; other matrices in a list as `mgraph.apsp`
        reads them. ``Data`` and ``Batch`` are those of PyTorch Geometric, whose ``edge_weight``, if there is one, has
        the weights. NetworkX's graphs are read by `mgraph.Graph.from_networkx`. Paths are as long as the number of
        their edges if no graph has weights; otherwise an edge without a weight has length 1.
    edge_index : array of int, shape (2, m)
        In place of `graphs`: the source and the target of each edge, in any order, as PyTorch Geometric has them. The
        vertices of all graphs are numbered in a row. An undirected edge is given in both directions.
    batch : array of int, shape (vertices,)
        With `edge_index`: the graph of each vertex, ascending. A number that does not occur is a graph without
        vertices.
    weights : array, shape (m,), optional
        With `edge_index`: the length of each edge. By default paths are as long as the number of their edges.
    lengths : array of int, shape (count,), optional
        With an array of matrices: how many vertices each graph has. The rest of its rows and columns is not read. By
        default all.
    predecessors : bool
        Whether to record the vertex before the last on each path.
    dtype : {"auto", "int8", "int16", "int32", "float32", "float64"}
        The type of the distances. ``"auto"`` takes an exact type, the narrowest of these: for hop counts int8 or int16,
        for integer weights int32 or float64, for floats as `mgraph.apsp` does. Weighted distances are not computed in
        int8 or int16.
    device : {"cpu", "cuda", "cuda:N"}, optional
        Where to run. By default the input's own device if that is a GPU, else a GPU if there is one.
    memory_limit : int, float or str, optional
        The most bytes that the call may allocate on the device, such as 1e9 or ``"1GiB"``. By default the free memory.

    Returns
    -------
    ApspBatchResult
        On the device that the input came from.

    Raises
    ------
    NegativeCycleError
        If there is a cycle of negative weight: the error's `graph` is the first graph that has one, and its `vertex`
        one of that graph's on such a cycle.
    DistanceOverflowError
        If a weight or distance is out of range for its type: in int8, hop counts go up to 126, in int16 to 32766. For
        the other types see `mgraph.apsp`.
    InputError
        For invalid input: a graph of more than 512 vertices, a `batch` that is not ascending, an edge between two
        graphs, and as `mgraph.apsp` does.
    MemoryLimitError
        If the batch does not fit the free memory, or `memory_limit`; raised before the results are allocated.
    DeviceError
        If the device does not exist or cannot be used.

    See Also
    --------
    mgraph.apsp : One graph, of any size, on any number of devices.

    Notes
    -----
    Hop counts are found by searches from all vertices, with a level as a bitmap; weighted distances by the algorithm of
    Floyd and Warshall [1]_, on a GPU with a matrix in the registers of a thread block, or a block of pivots at a time
    [2]_. The call runs on one device, and takes no ``client``: of more graphs than fit a device, give some at a time.

    References
    ----------
    .. [1] Floyd, "Algorithm 97: Shortest path", 1962.
    .. [2] Venkataraman, Sahni and Mukhopadhyaya, "A blocked all-pairs shortest-paths algorithm", 2003.

    Examples
    --------
    A path of three vertices, and an edge:

    >>> import mgraph
    >>> edges = [[0, 1, 1, 2, 3, 4], [1, 0, 2, 1, 4, 3]]
    >>> result = mgraph.apsp_batch(edge_index=edges, batch=[0, 0, 0, 1, 1], device="cpu")
    >>> result.distances.dtype.name, result.distances.shape, result.lengths.tolist()
    ('int8', (2, 3, 3), [3, 2])
    >>> result.distances[1].tolist()
    [[0, 1, 127], [1, 0, 127], [127, 127, 127]]
    >>> result[1].tolist()
    [[0, 1], [1, 0]]
    """
    predecessors = checked_flag("predecessors", predecessors)
    given = batch_of(graphs, lengths, edge_index, batch, weights)
    types = _types(given, dtype)
    small = is_small(given.side, given.m, given.side * given.count)
    runner = executor(device, None, given.home.name, small=small)
    limit = checked_memory_limit(memory_limit, runner)
    plan_of = partial(
        planned,
        given.count,
        given.side,
        given.m,
        runner.specs,
        given_bytes=given.nbytes,
        weighted=given.weights_dtype is not None,
        predecessors=predecessors,
        memory_limit=limit,
    )
    kept = given.weights_dtype
    exactly = isinstance(dtype, str) and dtype == "auto" and kept is not None and kept.kind == "i"
    for wanted, computed in types:
        try:
            check_sums(given, computed)
            plan = plan_of(dtype=wanted, computed=computed)
            outcome = runner.run(AllPairs(plan, given.nonnegative), lambda _: given, plan, None)
            if not (given.nonnegative or sums_are_exact(given, computed)):
                _check_cycles(given)
            _solve_apart(given, outcome.arrays, plan)
            if exactly:
                check_counting(outcome.arrays["distances"], plan)
            break
        except DistanceOverflowError:
            if computed is types[-1][1]:
                raise
    arrays = devices.all_on(given.home, outcome.arrays)
    return ApspBatchResult(**arrays, lengths=given.lengths, plan=plan, timings=outcome.timings)


def _types(given: Batch, dtype: Any) -> list[tuple[np.dtype, np.dtype]]:
    """Return pairs of types: of the result, and to compute in; the first that holds every distance is to be taken."""
    automatic = isinstance(dtype, str) and dtype == "auto"
    kept = given.weights_dtype
    if kept is not None:
        if automatic:
            found = exact_types(kept, *given.extremes(), given.side, narrow=False)
        else:
            found = [distance_dtype(kept, dtype, WEIGHTED)]
        return [(each, each) for each in found]
    enough = NARROW[:1] if given.side <= np.iinfo(np.int8).max else NARROW
    if automatic:
        return [(each, each) for each in enough]
    wanted = distance_dtype(None, dtype, (*NARROW, *WEIGHTED))
    return [(wanted, wanted if wanted in NARROW else enough[-1])]


def _check_cycles(given: Batch) -> None:
    """Raise NegativeCycleError for the first graph with a cycle of negative weight, which rounding may have hidden."""
    g, found = given.count, -1
    while g and (on_cycle := given.vertex_on_cycle(g)) is not None:
        g, found = on_cycle
    if found >= 0:
        raise errors.NegativeCycleError(found, graph=g)


def _solve_apart(given: Batch, arrays: dict[str, Array], plan: Plan) -> None:
    """Solve graphs in which a cycle looks negative by `apsp`, or raise NegativeCycleError if it is."""
    cycles = arrays.pop("cycles", None)
    if cycles is None:
        return
    home = devices.of(arrays["distances"])
    for g in np.flatnonzero(devices.to_host(cycles) != NO_CYCLE).tolist():
        graph = given.graph(g)
        try:
            alone = apsp(graph, predecessors=plan.predecessors, dtype=plan.dtype, device="cpu")
        except errors.NegativeCycleError as error:
            raise errors.NegativeCycleError(error.vertex, graph=g) from None
        for name, array in arrays.items():
            array[g, : graph.n, : graph.n] = home.asarray(alone.arrays[name])


@with_common_parts
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ApspBatchResult(OfDistances):
    """The result of `apsp_batch`.

    ``result[g]`` are the distances of graph g alone, and ``len(result)`` is the number of graphs.

    Attributes
    ----------
    distances : array of shape (count, n, n)
        ``distances[g, i, j]`` is the length of the shortest path from ``i`` to ``j`` in graph g; n is the most vertices
        that a graph has, or that of an array of matrices. ``inf``, for integers the type's largest value, where there
        is no path, and beyond the graph's own vertices.
    predecessors : array of int32, shape (count, n, n), or None
        The vertex before ``j`` on the path from ``i`` to ``j``; -9999 where there is none and for ``i == j``. Of hop
        counts, the least such vertex; of weighted distances, the one that `mgraph.apsp` records with
        ``method="naive"``.
    lengths : array of int32, shape (count,)
        The number of vertices of each graph.
    {common attributes}

    Examples
    --------
    >>> import mgraph
    >>> edge, path = mgraph.generate.grid(1, 2, weights=None), mgraph.generate.grid(1, 3, weights=None)
    >>> result = mgraph.apsp_batch([edge, path], predecessors=True, device="cpu")
    >>> len(result), result[0].tolist(), result.path(1, 0, 2)
    (2, [[0, 1], [1, 0]], [0, 1, 2])
    """

    ARRAYS = ("distances", "predecessors", "lengths")

    distances: Any
    predecessors: Any = None
    lengths: Any

    def __len__(self) -> int:
        return self.plan.n

    def __getitem__(self, graph: int) -> Array:
        number = checked_integer("graph", graph, -self.plan.n, self.plan.n - 1) % max(self.plan.n, 1)
        n = int(self.lengths[number])
        return self.distances[number, :n, :n]

    def path(self, graph: int, i: int, j: int) -> list[int]:
        """Return the vertices of the shortest path from `i` to `j` in a graph, both ends included.

        Parameters
        ----------
        graph : int
            The number of the graph.
        i, j : int
            The first and the last vertex, numbered from 0 in the graph.

        Returns
        -------
        list of int
            The vertices; empty where there is no path.

        Raises
        ------
        InputError
            If predecessors were not requested, or there is no such graph or vertex.

        Examples
        --------
        >>> import mgraph
        >>> result = mgraph.apsp_batch([[[0, 3, 9], [2, 0, 5], [1, 4, 0]]], predecessors=True, device="cpu")
        >>> result.path(0, 0, 2)
        [0, 1, 2]
        """
        before = needed_for_paths(self.predecessors, "apsp_batch")
        graph = checked_integer("graph", graph, 0, self.plan.n - 1)
        n = int(self.lengths[graph])
        [i], [j] = checked_vertices("i", [i], n), checked_vertices("j", [j], n)
        if i == j:
            return [i]
        vertices = walked_back(before[graph, i, :n], j)
        return vertices if vertices[0] == i else []

    def to_pandas(self) -> Any:
        """Return the connected pairs of vertices as a pandas DataFrame, a row for each pair.

        Returns
        -------
        pandas.DataFrame
            With columns ``graph``, ``source`` and ``target``, int32, and the arrays of pairs.

        Raises
        ------
        InputError
            If a row for every pair might take more than a GiB.
        MissingPackageError
            If pandas is not installed.
        MemoryLimitError
            If the rows, and what is needed to make them, do not fit the free memory.

        Examples
        --------
        >>> import mgraph
        >>> mgraph.apsp_batch([mgraph.Graph.from_edges([0], [1])], device="cpu").to_pandas()
           graph  source  target  distances
        0      0       0       0          0
        1      0       0       1          1
        2      0       1       1          0
        """
        pandas = lazy.optional("pandas", "to_pandas()")
        pairs = {name: array for name, array in self.arrays.items() if name != "lengths"}
        needed = int(self.distances.size) * (12 + sum(array.dtype.itemsize for array in pairs.values()))
        if needed > MOST_BYTES:
            raise InputError(
                f"a DataFrame of these pairs may take {size_in_words(needed)}, and the most is "
                f"{size_in_words(MOST_BYTES)}: use the arrays"
            )
        with devices.allocating("to_pandas()", 2 * needed + 24 * int(self.distances.size), devices.find("cpu")):
            there = np.nonzero(self._reached(devices.to_host(self.distances)))
            columns = dict(zip(("graph", "source", "target"), (axis.astype(np.int32) for axis in there), strict=True))
            columns |= {name: devices.to_host(array)[there] for name, array in pairs.items()}
            columns |= {name: named(columns[name], None) for name in self.VERTICES if name in columns}
            return pandas.DataFrame(columns)

    def _entries(self) -> int:
        return int((devices.to_host(self.lengths).astype(np.int64) ** 2).sum())
