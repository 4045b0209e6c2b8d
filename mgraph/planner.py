"""The planner: cuts the work into shards, predicts time and peak memory, and refuses what cannot fit.

A plan is made before anything is allocated. A distance matrix is cut into a grid of whole blocks, or into
ranges of rows, a graph into ranges of vertices with about equal numbers of edges. The predicted peak is the
sum of what the program allocates on a device at its fullest moment, the input's own memory not counted.
Each algorithm has a module that says how it is cut and what it costs: `mgraph.algorithms.ALGORITHM.plan`.
"""

import functools
import inspect
import reprlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .algorithms.apsp import plan as all_pairs
from .algorithms.bfs import plan as searches
from .algorithms.closure import plan as closure
from .algorithms.components import plan as components_plan
from .algorithms.list_rank import plan as ranking
from .algorithms.minimum_spanning_forest import plan as spanning_forest
from .algorithms.sssp import plan as single_source
from .arguments import checked_bytes, checked_flag, checked_integer
from .dtypes import MAX_ELEMENTS, MAX_VERTICES
from .errors import Given, InputError
from .planning.devices import DeviceSpec, specs_of
from .planning.plan import Alternative, Plan
from .planning.shape import Shape

__all__ = ["ALGORITHMS", "Alternative", "DeviceSpec", "Plan", "plan"]

#: The names of calls and of commands that are not those of what they plan.
_CALLS = {"transitive_closure": "closure", "connected_components": "components", "rank": "list_rank"}

#: What plans each algorithm, and whether it needs the number of edges.
_PLANNERS: dict[str, tuple[Callable[..., Plan], bool]] = {
    "apsp": (all_pairs.planned, False),
    "bfs": (searches.planned, True),
    "bfs_many": (searches.planned_for_many, True),
    "closure": (closure.planned, False),
    "components": (components_plan.planned, True),
    "list_rank": (ranking.planned, False),
    "minimum_spanning_forest": (spanning_forest.planned, True),
    "sssp": (single_source.planned, True),
}

#: What can be planned.
ALGORITHMS = tuple(_PLANNERS)


def plan(
    algorithm: str,
    n: int,
    m: int | None = None,
    devices: Any = None,
    *,
    method: str = "auto",
    dtype: Any = None,
    predecessors: bool = False,
    intermediate: bool = False,
    block: int | None = None,
    span: int | None = None,
    memory_limit: int | float | str | None = None,
    nonnegative: bool = True,
    exact: bool = False,
    components: Sequence[int] = (),
    directed: bool = True,
    indptr: Any = None,
    sources: int = 1,
    quads: int | None = None,
    network: float | None = None,
    gpus_per_node: int = 8,
    splitters: int | None = None,
    weighted: bool = True,
    shape: Shape | None = None,
) -> Plan:
    """Plan a call.

    Parameters
    ----------
    algorithm : {"apsp", "bfs", "bfs_many", "closure", "components", "list_rank", "sssp"}
        The call to plan, also by the name of its function; what it needs of the host's memory, or disk, is held
        against this machine's.
    n : int
        Number of vertices, or of a list's elements.
    m : int, optional
        Number of stored directed edges; needed for searches, ``"components"`` and ``"sssp"``, and for methods of
        ``"apsp"`` that work on edges.
    devices : int, str, DeviceSpec or a sequence of these, optional
        What to plan for: a device's name, so many of this machine's best device, or descriptions of
        devices that need not exist. By default this machine's best device.
    method : str
        As in the call.
    dtype : dtype-like, optional
        Of the distances of ``"apsp"`` and ``"sssp"``; float32 by default.
    predecessors, intermediate : bool
        Whether predecessors, or intermediate vertices, are asked for.
    block : int, optional
        Pivots eliminated at a time.
    span : int, optional
        Supersteps per span; by default about a second's worth.
    memory_limit : int, float or str, optional
        Bytes that the call may take of each device, such as 1e9 or ``"1GiB"``.
    nonnegative : bool
        Whether no weight is negative, which the GPU kernels for float32 make use of.
    exact : bool
        Whether sums of weights are exact: then predecessors can be derived from distances.
    components : sequence of int
        Vertices of each weakly connected component of the graph, where they are known.
    directed : bool
        Whether a search holds the edges by source and by target; of an undirected graph one list serves, and
        components need not look at all of it.
    indptr : array of int, shape (n + 1,), optional
        Where each vertex's edges begin, to balance the shards by edges; even by default.
    sources : int
        Number of sources of ``"bfs_many"``.
    quads : int, optional
        Quads that a GPU keeps of a graph of few neighbours for ``"bfs"``: rows of four words, by default one a vertex.
    network : float, optional
        For ``"apsp"``: bytes a second that enter one node, and at the same time leave it, over the network between
        nodes. The node's devices share them: a node of Summit has two ports of 12.5 GB/s for six GPUs, 25e9. By
        default all devices are of one node. What is sent to many is taken to be passed on from one to the next, as
        `mgraph.runtime.communicator` does not do yet on grids of more than two rows or columns.
    gpus_per_node : int
        Devices of a node, consecutive ones; as many as a host of H200s has by default. Only ``network`` makes use
        of it.
    splitters : int, optional
        About how many splitters ``"list_rank"`` walks from. One is picked among `spacing` elements, which is
        ``n // splitters`` rounded down to a power of two, at least 1 and at most 1024, as 16 bits hold the steps of a
        walk; by default what keeps the devices busy.
    weighted : bool
        Whether the edges have weights: without them searches from all sources are quicker.
    shape : Shape, optional
        What is known of the graph's form, from `mgraph.planning.shape.shape_of`; it tells how long searches and
        components take a CPU. By default that of a random graph.

    Raises
    ------
    MemoryLimitError
        If no way of doing it fits the devices.
    InputError
        For an unknown algorithm, method, block or device, and for an option that the algorithm does not take.
    DeviceError
        If a device of this machine that is named is not there.

    Examples
    --------
    >>> import mgraph
    >>> made = mgraph.plan("apsp", 100_000, devices=[mgraph.DeviceSpec("cuda:0", "cuda", 140 << 30)])
    >>> made.method, max(made.peak_bytes) < 140 << 30
    ('blocked', True)
    """
    if isinstance(algorithm, str):
        algorithm = _CALLS.get(algorithm, algorithm)
    if algorithm not in ALGORITHMS:
        known = ", ".join(map(repr, ALGORITHMS))
        raise InputError(f"algorithm {algorithm!r} is not known: use one of {known}")
    flags = {"predecessors": predecessors, "intermediate": intermediate, "nonnegative": nonnegative, "exact": exact}
    flags |= {"directed": directed, "weighted": weighted}
    flags = {name: checked_flag(name, value) for name, value in flags.items()}
    n = checked_integer("n", n, 0, MAX_ELEMENTS if algorithm == "list_rank" else MAX_VERTICES)
    m = None if m is None else checked_integer("m", m, 0)
    sources, gpus_per_node = checked_integer("sources", sources, 1), checked_integer("gpus_per_node", gpus_per_node, 1)
    block = None if block is None else checked_integer("block", block, 1)
    span = None if span is None else checked_integer("span", span, 1)
    quads = None if quads is None else checked_integer("quads", quads, 0)
    splitters = None if splitters is None else checked_integer("splitters", splitters, 1)
    memory_limit = None if memory_limit is None else checked_bytes("memory_limit", memory_limit)
    components, indptr = _checked_sizes(components, n), _checked_starts(indptr, n)
    if network is not None:
        number = isinstance(network, (int, float, np.integer, np.floating)) and not isinstance(network, bool)
        if not number or not network > 0:
            raise InputError(
                argument="network", value=network, expected="a number of bytes a second, more than 0, such as 25e9"
            )
    if shape is not None and not isinstance(shape, Shape):
        raise InputError(argument="shape", value=shape, expected="what mgraph.planning.shape.shape_of returns")
    options = flags | {
        "dtype": dtype,
        "block": block,
        "components": components,
        "indptr": indptr,
        "sources": sources,
        "quads": quads,
        "network": network,
        "gpus_per_node": gpus_per_node,
        "splitters": splitters,
        "shape": shape,
    }
    _refuse_others(algorithm, options)
    if isinstance(dtype, str) and dtype == "auto":
        raise InputError(Given("dtype", "auto"), " depends on the weights, which a plan does not know: name a type")
    planned, needs_edges = _PLANNERS[algorithm]
    if m is None and needs_edges:
        raise InputError(f"a plan for {algorithm} needs ", Given("m"), ", the number of edges")
    taken = {name: value for name, value in options.items() if name in _options(algorithm)}
    return planned(n, m or 0, specs_of(devices), method=method, span=span, memory_limit=memory_limit, **taken)


@functools.cache
def _options(algorithm: str) -> frozenset[str]:
    """Return the options that an algorithm's planner takes."""
    planned, _ = _PLANNERS[algorithm]
    given = inspect.signature(planned).parameters.values()
    return frozenset(each.name for each in given if each.kind is inspect.Parameter.KEYWORD_ONLY)


def _refuse_others(algorithm: str, options: dict[str, Any]) -> None:
    """Raise InputError for an option that the algorithm does not take and that is not as by default."""
    defaults = inspect.signature(plan).parameters
    for name, value in options.items():
        default = defaults[name].default
        given = value is not None if default is None else value != default
        if given and name not in _options(algorithm):
            takers = ", ".join(other for other in ALGORITHMS if name in _options(other))
            raise InputError(Given(name, value), f" does not go with {algorithm}: it is for {takers}")


def _checked_sizes(components: Any, n: int) -> tuple[int, ...]:
    """Return the vertices of each component, if they are known, or raise InputError."""
    try:
        sizes = np.asarray(components)
    except ValueError:  # rows of unequal length
        sizes = np.empty(0, object)
    if sizes.shape == (0,) and sizes.dtype != object:
        return ()
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or sizes.min() < 1 or int(sizes.sum()) != n:
        raise InputError(
            "components must be a sequence of integers of 1 or more that add up to ",
            Given("n", n),
            f", got {reprlib.repr(components)}",
        )
    return tuple(sizes.tolist())


def _checked_starts(indptr: Any, n: int) -> np.ndarray | None:
    """Return where each vertex's edges begin, if that is known, or raise InputError."""
    if indptr is None:
        return None
    try:
        starts = np.asarray(indptr)
    except (ValueError, TypeError):
        starts = np.empty(0)
    if starts.shape != (n + 1,) or starts.dtype.kind not in "iu":
        raise InputError(f"indptr must be n + 1 = {n + 1} integers, got {reprlib.repr(indptr)}")
    return starts
