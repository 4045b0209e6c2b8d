"""The public `plan`: cuts the work into shards, predicts time and peak memory, and refuses what cannot fit.

A plan is made before anything is allocated. A distance matrix is cut into a grid of whole blocks, or into ranges of
rows; a graph into ranges of vertices with about equal numbers of edges. The predicted peak is the sum of what the
program allocates on a device at its fullest moment, without the input's own memory. Each algorithm's own planner, which
the registry names, decides how it is cut and what it costs.
"""

import functools
import inspect
import reprlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from .algorithms.registry import ALGORITHMS
from .arguments import checked_bytes, checked_flag, checked_integer
from .dtypes import MAX_ELEMENTS, MAX_VERTICES
from .errors import Given, InputError
from .planning.devices import DeviceSpec, specs_of
from .planning.plan import Alternative, Plan
from .planning.shape import Shape

__all__ = ["Alternative", "DeviceSpec", "Plan", "plan"]

#: The algorithms by the names of their calls and commands.
_BY_CALL = {entry.call.__name__: name for name, entry in ALGORITHMS.items()} | {
    entry.command.name: name for name, entry in ALGORITHMS.items() if entry.command is not None
}


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
    algorithm : {"apsp", "bfs", "bfs_many", "closure", "components", "list_rank", "minimum_spanning_forest", "sssp"}
        What to plan. The names of its call and of its command will do too. What it needs of the host's memory, or
        disk, is compared with what this machine has.
    n : int
        Number of vertices, or of a list's elements.
    m : int, optional
        Number of stored directed edges. Only ``"apsp"``, ``"closure"`` and ``"list_rank"`` can be planned without;
        then methods of ``"apsp"`` that work on edges are left out.
    devices : int, str, DeviceSpec or a sequence of these, optional
        What to plan for: a device's name, a number of this machine's best devices, or descriptions of devices
        that need not exist. By default this machine's best device.
    method : str
        As in the call.
    dtype : dtype-like, optional
        Of the distances of ``"apsp"`` and ``"sssp"``; float32 by default.
    predecessors, intermediate : bool
        Whether the call returns predecessors, or intermediate vertices.
    block : int, optional
        Pivots eliminated at a time.
    span : int, optional
        Supersteps per span; by default about a second's worth.
    memory_limit : int, float or str, optional
        Bytes that the call may take of each device, such as 1e9 or ``"1GiB"``.
    nonnegative : bool
        Whether no weight is negative. The GPU kernels for float32 are faster then.
    exact : bool
        Whether sums of weights are exact. Then predecessors can be derived from distances.
    components : sequence of int
        Number of vertices of each weakly connected component, if known.
    directed : bool
        Whether the graph is directed. Searches then keep its edges both by source and by target; of an undirected
        graph one list is enough, and components do not read all of it.
    indptr : array of int, shape (n + 1,), optional
        Where each vertex's edges begin, to give shards equal numbers of edges. By default the edges count as evenly
        spread.
    sources : int
        Number of sources of ``"bfs_many"``.
    quads : int, optional
        Quads, rows of four words, that a GPU keeps for ``"bfs"`` of a graph with few neighbours a vertex. By default
        one per vertex.
    network : float, optional
        For ``"apsp"``: bytes a second that can enter one node over the network between nodes, and at the same time
        leave it. The node's devices share them: a node of Summit has two ports of 12.5 GB/s for six GPUs, 25e9. By
        default all devices are in one node. The prediction assumes that a broadcast is passed on from device to
        device, which `mgraph.runtime.communicator` does not do yet on grids of more than two rows or columns.
    gpus_per_node : int
        Consecutive devices that form a node; used with ``network`` only. By default as many as a host of H200s has.
    splitters : int, optional
        About how many splitters ``"list_rank"`` walks from. One is picked among `spacing` elements, which is
        ``n // splitters`` rounded down to a power of two, at least 1 and at most 1024, as 16 bits hold the steps of a
        walk. By default as many as keep the devices busy.
    weighted : bool
        Whether the edges have weights. Without them searches from all sources are faster.
    shape : Shape, optional
        What is known of the graph's form, from `mgraph.planning.shape.shape_of`. The time of searches and components
        on a CPU depends on it. By default that of a random graph.

    Raises
    ------
    MemoryLimitError
        If no method fits the devices.
    InputError
        For an unknown algorithm, method, block or device, and for an option that the algorithm does not take.
    DeviceError
        If a named device is not in this machine.

    Examples
    --------
    >>> import mgraph
    >>> made = mgraph.plan("apsp", 100_000, devices=[mgraph.DeviceSpec("cuda:0", "cuda", 140 << 30)])
    >>> made.method, max(made.peak_bytes) < 140 << 30
    ('blocked', True)
    """
    name = _BY_CALL.get(algorithm, algorithm) if isinstance(algorithm, str) else None
    if name not in ALGORITHMS:
        known = ", ".join(map(repr, ALGORITHMS))
        raise InputError(f"algorithm {algorithm!r} is not known: use one of {known}")
    algorithm = name
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
    entry = ALGORITHMS[algorithm]
    if m is None and entry.needs_edges:
        raise InputError(f"a plan for {algorithm} needs ", Given("m"), ", the number of edges")
    taken = {name: value for name, value in options.items() if name in _options(algorithm)}
    return entry.planner(n, m or 0, specs_of(devices), method=method, span=span, memory_limit=memory_limit, **taken)


@functools.cache
def _options(algorithm: str) -> frozenset[str]:
    """Return the options that an algorithm's planner takes: its keyword-only parameters."""
    given = inspect.signature(ALGORITHMS[algorithm].planner).parameters.values()
    return frozenset(each.name for each in given if each.kind is inspect.Parameter.KEYWORD_ONLY)


def takers(option: str) -> tuple[str, ...]:
    """Return the algorithms whose planners take an option."""
    return tuple(name for name in ALGORITHMS if option in _options(name))


def _refuse_others(algorithm: str, options: dict[str, Any]) -> None:
    """Raise InputError for an option that the algorithm does not take, unless it has its default value."""
    defaults = inspect.signature(plan).parameters
    for name, value in options.items():
        default = defaults[name].default
        given = value is not None if default is None else value != default
        if given and name not in _options(algorithm):
            raise InputError(Given(name, value), f" does not go with {algorithm}: it is for {', '.join(takers(name))}")


def _checked_sizes(components: Any, n: int) -> tuple[int, ...]:
    """Return the number of vertices of each component, () if they are not known, or raise InputError."""
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
    """Return where each vertex's edges begin, None if that is not known, or raise InputError."""
    if indptr is None:
        return None
    try:
        starts = np.asarray(indptr)
    except (ValueError, TypeError):
        starts = np.empty(0)
    if starts.shape != (n + 1,) or starts.dtype.kind not in "iu":
        raise InputError(f"indptr must be n + 1 = {n + 1} integers, got {reprlib.repr(indptr)}")
    return starts
