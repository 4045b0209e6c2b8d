"""The planner: cuts the work into shards, predicts time and peak memory, and refuses what cannot fit.

A plan is made before anything is allocated. A distance matrix is cut into a grid of whole blocks, or into
ranges of rows, a graph into ranges of vertices with about equal numbers of edges. The predicted peak is the
sum of what the program allocates on a device at its fullest moment, the input's own memory not counted.
Each algorithm has a module that says how it is cut and what it costs; as an attribute of `mgraph`, `plan` is the
call, which hides the package: its modules are had by ``from mgraph.plan import searches``.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arguments import checked_bytes, checked_flag
from ..errors import InputError, MemoryLimitError
from ..graph import MAX_VERTICES
from ..weights import distance_dtype
from . import all_pairs, closure, ranking, searches, single_source
from .components import planned as planned_components
from .devices import DeviceSpec, specs_of
from .fit import hindrance, refusal
from .plans import Alternative, Plan
from .ranking import MAX_ELEMENTS
from .shape import Shape

__all__ = ["ALGORITHMS", "Alternative", "DeviceSpec", "Plan", "plan"]

#: What can be planned.
ALGORITHMS = ("apsp", "bfs", "bfs_many", "closure", "components", "list_rank", "sssp")

#: The names of calls and of commands that are not those of what they plan.
_CALLS = {"transitive_closure": "closure", "connected_components": "components", "rank": "list_rank"}


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
    rows: int | None = None,
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
    rows : int, optional
        Rows of four words that a GPU keeps of a graph of few neighbours for ``"bfs"``; by default one a vertex.
    network : float, optional
        For ``"apsp"``: bytes a second that enter one node, and at the same time leave it, over the network between
        nodes. The node's devices share them: a node of Summit has two ports of 12.5 GB/s for six GPUs, 25e9. By
        default all devices are of one node. What is sent to many is taken to be passed on from one to the next, as
        `mgraph.comm` does not do yet on grids of more than two rows or columns.
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
        What is known of the graph's form, from `mgraph.plan.shape.shape_of`; it tells how long searches and
        components take a CPU. By default that of a random graph.

    Raises
    ------
    MemoryLimitError
        If no way of doing it fits the devices.
    InputError
        For an unknown algorithm, method, block or device, and for splitters where there are none.
    """
    if isinstance(algorithm, str):
        algorithm = _CALLS.get(algorithm, algorithm)
    if algorithm not in ALGORITHMS:
        known = ", ".join(map(repr, ALGORITHMS))
        raise InputError(f"algorithm {algorithm!r} is not known: use one of {known}")
    flags = {"predecessors": predecessors, "intermediate": intermediate, "nonnegative": nonnegative, "exact": exact}
    flags |= {"directed": directed, "weighted": weighted}
    flags = {name: checked_flag(name, value) for name, value in flags.items()}
    predecessors, intermediate, nonnegative, exact, directed, weighted = flags.values()
    memory_limit = None if memory_limit is None else checked_bytes("memory_limit", memory_limit)
    for name, value in (("n", n), ("m", m), ("sources", sources)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0):
            raise InputError(f"{name}={value!r} is no number: give 0 or more")
    most = MAX_ELEMENTS if algorithm == "list_rank" else MAX_VERTICES
    if n is None or n > most:
        what = "elements" if algorithm == "list_rank" else "vertices"
        raise InputError(f"n={n!r} is no number of {what}: give 0 to {most}")
    if block is not None and (isinstance(block, bool) or not isinstance(block, (int, np.integer))):
        raise InputError(f"block={block!r} is no number of pivots")
    if span is not None and span < 1:
        raise InputError(f"span={span!r} is no number of supersteps: give 1 or more")
    if isinstance(dtype, str) and dtype == "auto":
        raise InputError("dtype='auto' depends on the weights, which a plan does not know: name a type")
    if network is not None:
        if isinstance(network, bool) or not isinstance(network, (int, float, np.number)) or not network > 0:
            raise InputError(f"network={network!r} is no number of bytes a second: give more than 0, such as 25e9")
        if algorithm != "apsp":
            raise InputError(f"network={network!r} is for apsp: a plan for {algorithm} is for devices of one node")
    if isinstance(gpus_per_node, bool) or not isinstance(gpus_per_node, (int, np.integer)) or gpus_per_node < 1:
        raise InputError(f"gpus_per_node={gpus_per_node!r} is no number of devices: give 1 or more")
    if splitters is not None and algorithm != "list_rank":
        raise InputError(f"splitters={splitters!r} is for list_rank: {algorithm} has none")
    specs = specs_of(devices)
    shape = Shape() if shape is None else shape
    if algorithm == "apsp":
        if predecessors and intermediate:
            raise InputError("predecessors=True and intermediate=True exclude each other: ask for one of them")
        ask = all_pairs.Ask(
            *(int(n), int(m or 0), specs, distance_dtype(None, dtype), predecessors, intermediate, block, span),
            *(memory_limit, nonnegative, exact, tuple(components), network, int(gpus_per_node), weighted),
        )
        return all_pairs.planned(ask, method)
    if algorithm == "closure":
        if method not in ("auto", "blocked") or predecessors or intermediate:
            raise InputError("a plan for closure has one method, 'blocked', and neither predecessors nor intermediate")
        made = closure.planned(int(n), int(m or 0), specs, block, span, memory_limit)
    elif algorithm == "list_rank":
        made = ranking.planned(int(n), specs, method, span, splitters, memory_limit)
    elif m is None:
        raise InputError(f"a plan for {algorithm} needs m=, the number of edges")
    elif algorithm == "components":
        made = planned_components(int(n), int(m), specs, method, span, directed, indptr, memory_limit, shape)
    elif algorithm == "sssp":
        kept = distance_dtype(None, dtype), predecessors, nonnegative
        made = single_source.planned(int(n), int(m), specs, method, *kept, span, indptr, memory_limit, shape)
    elif algorithm == "bfs_many":
        if method not in ("auto", "words") or not sources:
            raise InputError("a plan for bfs_many has one method, 'words', and a source or more")
        counts = int(n), int(m), int(sources)
        made = searches.planned_for_many(*counts, specs, predecessors, span, directed, indptr, memory_limit, shape)
    else:
        searched = predecessors, span, directed, indptr, rows, memory_limit, shape
        made = searches.planned(int(n), int(m), specs, method, *searched)
    why = hindrance(made, memory_limit)
    if why:
        raise MemoryLimitError(refusal(made, why, memory_limit))
    return made
