"""The public `plan`: cuts the work into shards, predicts time and peak memory, and refuses what cannot fit.

A plan is made before anything is allocated. A distance matrix is cut into a grid of whole blocks, or into ranges of
rows; a graph into ranges of vertices with about equal numbers of edges. The predicted peak is the sum of what the
program allocates on a device at its fullest moment, without the input's own memory. Each algorithm's own planner, which
the registry names, decides how it is cut and what it costs.
"""

import functools
import inspect
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypedDict, Unpack

import numpy as np

from .algorithms.registry import ALGORITHMS, PLANNED
from .arguments import checked_bytes, checked_choice, checked_flag, checked_integer, checked_predecessors
from .docstrings import with_common_parts
from .dtypes import MAX_ELEMENTS, MAX_VERTICES
from .errors import ArgumentValue, DeviceError, InputError, MemoryLimitError, shown
from .planning.devices import DeviceSpec, specs_of
from .planning.plan import Alternative, Plan
from .planning.shape import Shape

__all__ = ["Alternative", "DeviceSpec", "Plan", "largest", "plan"]

#: GPUs of a node, unless the arguments say it: those of a host of H200s.
NODE = 8

#: What a list and a graph consist of, how many there may be, and the type of their numbers.
_LIST, _GRAPH = ("elements", MAX_ELEMENTS, "uint32"), ("vertices", MAX_VERTICES, "int32")

#: The algorithms by the names of their calls and commands.
_BY_CALL = {entry.call.__name__: name for name, entry in ALGORITHMS.items()} | {
    entry.command.name: name for name, entry in ALGORITHMS.items() if entry.command is not None
}


#: Calls that have no plan of their own, and what is planned for them.
_PLANNED_AS = {
    **dict.fromkeys(
        (
            "average_distance center closeness diameter distance_histogram eccentricity harmonic_closeness measures "
            "periphery radius"
        ).split(),
        "plan 'distances', which measures are made of",
    ),
    "hierarchy": "plan 'distances' by the method 'hierarchy', which counts its preparation",
    "apsp_batch": "the plan of a batch needs its graphs: apsp_batch(...).plan has it",
}


class Options(TypedDict, total=False):
    """The options of single algorithms, by the names of their planners' keywords; `plan` explains them."""

    dtype: Any
    predecessors: bool | str
    intermediate: bool
    block: int | None
    nonnegative: bool
    exact: bool
    components: Sequence[int]
    connection: str
    directed: bool
    indptr: Any
    sources: int | None
    targets: int | None
    nearest: int | None
    reduce: Any
    sparse: bool
    quads: int | None
    network: float | None
    gpus_per_node: int
    splitters: int | None
    weighted: bool
    edges: bool
    along: int
    paths: bool
    shape: Shape | None


def _listed(names: Iterable[str]) -> str:
    """Return names as lines of a docstring."""
    return textwrap.fill(", ".join(f'``"{name}"``' for name in names), 104) + ".\n"


@partial(
    with_common_parts,
    more={
        "{algorithms}": _listed(PLANNED),
        "{algorithms without edges}": _listed(name for name, entry in PLANNED.items() if not entry.needs_edges),
    },
)
def plan(
    algorithm: str,
    n: int,
    m: int | None = None,
    devices: Any = None,
    *,
    method: str = "auto",
    span: int | None = None,
    memory_limit: int | float | str | None = None,
    memory: int | float | str | None = None,
    host_memory: int | float | str | None = None,
    **options: Unpack[Options],
) -> Plan:
    """Plan a call.

    Parameters
    ----------
    algorithm : str
        What to plan, by its name, or that of its call or command:
        {algorithms}
        What it needs of the host's memory, or disk, is compared with what this machine has.
    n : int
        Number of vertices, or of a list's elements.
    m : int, optional
        Number of stored directed edges. What can be planned without:
        {algorithms without edges}
        Then methods of ``"apsp"`` that work on edges are left out.
    devices : int, str, DeviceSpec or a sequence of these, optional
        What to plan for: a number of this machine's best devices, a device's name, both, as in ``"4xcuda"``, or
        descriptions of devices that need not exist. By default this machine's best device.
    method : str
        As in the call.
    span : int, optional
        Supersteps per span; by default about a second's worth.
    memory_limit : int, float or str, optional
        Bytes that the call may take of each device, such as 1e9 or ``"1GiB"``.
    memory : int, float or str, optional
        Free memory of each device, which need not exist then.
    host_memory : int, float or str, optional
        Free memory of each host, of which its GPUs, `gpus_per_node` of them, take equal shares for what they send
        there. By default what this machine has, for one GPU; results of several are then compared with nothing.
    **options
        Options of single algorithms, listed below. An algorithm refuses those of others.

    Other Parameters
    ----------------
    dtype : dtype-like, optional
        Of the distances of ``"apsp"``, ``"distances"``, ``"flows"``, ``"pairs"`` and ``"sssp"``; float32 by default.
    predecessors, intermediate : bool
        Whether the call returns predecessors, or intermediate vertices. ``predecessors="any"`` goes with ``"bfs"``.
    block : int, optional
        Pivots eliminated at a time.
    nonnegative : bool
        Whether no weight is negative. The GPU kernels for float32 are faster then.
    exact : bool
        Whether sums of weights are exact. Then predecessors can be derived from distances.
    components : sequence of int
        Number of vertices of each weakly connected component, if known.
    connection : {"weak", "strong"}
        Which ``"components"`` to plan; the strong ones of a directed graph also for a method that finds only these.
    directed : bool
        Whether the graph is directed. Searches, and all pairs by searches, then keep its edges both by source and by
        target; of an undirected graph one list is enough, and components do not read all of it.
    indptr : array of int, shape (n + 1,), optional
        Where each vertex's edges begin, to give shards equal numbers of edges. By default the edges count as evenly
        spread.
    sources : int
        Number of sources of ``"bfs_many"`` and ``"sssp"``, and of ``"distances"``, ``"betweenness"`` and
        ``"path_counts"``, there by default all vertices. Of ``"pairs"`` and ``"flows"`` the number of pairs.
    targets, nearest : int, optional
        Number of targets of ``"distances"``, by default all vertices, and how many of the nearest it returns. With
        `targets`, ``"pairs"`` and ``"flows"`` have a pair of each source and each of these.
    reduce : str, pair or sequence of these, optional
        The measures that ``"distances"`` returns.
    sparse : bool
        Whether ``"distances"`` returns a sparse matrix, whose memory is not known before.
    quads : int, optional
        Quads, rows of four words, that a GPU keeps for ``"bfs"`` of a graph with few neighbours a vertex. By default
        one per vertex.
    network : float, optional
        Bytes a second that can enter one node over the network between nodes, and at the same time
        leave it. The node's devices share them: a node of Summit has two ports of 12.5 GB/s for six GPUs, 25e9. By
        default all devices are in one node. For ``"apsp"`` the prediction assumes that a broadcast is passed on from
        device to device, which `mgraph.runtime.communicator` does not do yet on grids of more than two rows or columns.
        For ``"bfs"``, ``"bfs_many"``, ``"sssp"`` and ``"components"``, ``plan.detail.traffic`` has what enters a node
        and how long that takes, and from which number of devices on a grid of two dimensions would exchange less than
        the ranges of vertices that are used.
    gpus_per_node : int
        Consecutive devices that form a node; used with ``network`` and `host_memory`. By default as many as a host of
        H200s has.
    splitters : int, optional
        About how many splitters ``"list_rank"`` walks from. One is picked among `spacing` elements, which is
        ``n // splitters`` rounded down to a power of two, at most 262,144, or 1024 by ``"splitter48"``, where 16 bits
        hold the steps of a walk. By default as many as keep the devices busy.
    weighted : bool
        Whether the edges have weights. Without them searches from all sources are faster.
    edges : bool
        Whether ``"betweenness"`` is that of edges.
    along : int
        Number of other weights that ``"pairs"`` adds up along the paths.
    paths : bool
        Whether ``"pairs"`` returns the paths, which are found on the CPU.
    shape : Shape, optional
        What is known of the graph's form, from `mgraph.planning.shape.shape_of`. The time of searches and components
        on a CPU depends on it. By default that of a random graph.

    Returns
    -------
    Plan

    Raises
    ------
    MemoryLimitError
        If no method fits the devices.
    InputError
        For an unknown algorithm, method, block or device, and for an option that the algorithm does not take.
    TypeError
        For an option that no algorithm takes.
    DeviceError
        If a named device is not in this machine.

    See Also
    --------
    Plan : What is returned: its fields and `explain`.
    DeviceSpec : A device to plan for.

    Examples
    --------
    >>> import mgraph
    >>> plan = mgraph.plan("apsp", 100_000, devices=[mgraph.DeviceSpec("cuda:0", "cuda", 140 << 30)])
    >>> plan.method, max(plan.peak_bytes) < 140 << 30
    ('blocked', True)
    """
    name = named(algorithm)
    entry = PLANNED[name]
    if hasattr(n, "n") and hasattr(n, "m"):
        raise InputError(": give its numbers, graph.n and graph.m", argument="n", value=n, expected="an integer")
    n = checked_integer("n", n, 0)
    noun, most, dtype = _LIST if "list" in entry.takes else _GRAPH
    if n > most:
        raise InputError(argument="n", value=n, expected=f"at most {most:,}, as {noun} are numbered in {dtype}")
    m = None if m is None else checked_integer("m", m, 0, 2**62)
    span = None if span is None else checked_integer("span", span, 1)
    memory_limit = None if memory_limit is None else checked_bytes("memory_limit", memory_limit)
    specs = _specs(devices, memory, host_memory, options.get("gpus_per_node"))
    taken = {}
    for option, value in options.items():
        if not takers(option):
            raise TypeError(f"plan() got an unexpected keyword argument {shown(option)}")
        defaults = [_defaults(taker)[option] for taker in takers(option)]
        checked = None if value is None and None in defaults else _checked(name, option, value, n)
        if option in _defaults(name):
            taken[option] = checked
        elif option == "gpus_per_node" and host_memory is not None:
            continue
        elif not any(checked is default or (default is not None and checked == default) for default in defaults):
            raise InputError(
                ArgumentValue(option, value), f" does not go with {name}: it is for {', '.join(takers(option))}"
            )
    if m is None and entry.needs_edges:
        raise InputError(f"a plan for {name} needs ", ArgumentValue("m"), ", the number of edges")
    return entry.planner(n, m or 0, specs, method=method, span=span, memory_limit=memory_limit, **taken)


def largest(
    algorithm: str,
    degree: float | None = None,
    devices: Any = None,
    *,
    seconds: float | None = None,
    memory: int | float | str | None = None,
    host_memory: int | float | str | None = None,
    **options: Any,
) -> Plan:
    """Plan a call for the most vertices that fit the memory of the devices and their hosts.

    No plan that takes a temporary file counts.

    Parameters
    ----------
    algorithm, devices, memory, host_memory, **options
        As of `plan`, but for `n` and `m`.
    degree : float, optional
        Stored directed edges for each vertex. An algorithm that cannot be planned without edges needs it.
    seconds : float, optional
        The most predicted seconds, preparation included.

    Returns
    -------
    Plan
        Of the largest `n`.

    Raises
    ------
    MemoryLimitError
        If a single vertex does not fit.
    InputError
        If one vertex takes more than `seconds`, if the results of several GPUs go to their hosts and nothing but
        `host_memory`, which is missing, bounds them, and as `plan` does.

    Examples
    --------
    >>> from mgraph.planner import largest
    >>> plan = largest("apsp", devices="cuda", memory="16GiB", method="blocked", host_memory=0)
    >>> 62_000 < plan.n < 66_000, max(plan.peak_bytes) < 0.95 * 2**34
    (True, True)
    """
    name = named(algorithm)
    most = MAX_ELEMENTS if "list" in PLANNED[name].takes else MAX_VERTICES
    number = isinstance(degree, (int, float, np.integer, np.floating)) and not isinstance(degree, bool)
    if degree is not None and not (number and 0 <= degree <= most):
        raise InputError(argument="degree", value=degree, expected="a number of edges for each vertex, 0 or more")
    if seconds is not None and (isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds > 0):
        raise InputError(argument="seconds", value=seconds, expected="a number of seconds, more than 0")
    if degree is None and PLANNED[name].needs_edges:
        raise InputError(f"a plan for {name} needs ", ArgumentValue("degree"), ", the number of edges for each vertex")
    specs = _specs(devices, memory, host_memory, options.get("gpus_per_node"))

    def made(n: int) -> Plan:
        return plan(algorithm, n, None if degree is None else int(degree * n), specs, **options)

    def fits(found: Plan) -> bool:
        spent = found.seconds + getattr(found.detail, "preparation", 0.0)
        return not found.disk_bytes and (seconds is None or spent <= seconds)

    best = made(1)  # what is wrong with the arguments is wrong for any number of vertices
    if not fits(best):
        raise InputError(argument="seconds", value=seconds, expected="a time in which the call can solve one vertex")
    low, high = 1, most + 1  # the largest n that fits is in [low, high)
    while high - low > 1:
        middle = min(2 * low, (low + high) // 2)
        try:
            found = made(middle)
        except MemoryLimitError:
            high = middle
            continue
        if fits(found):
            low, best = middle, found
        else:
            high = middle
    if seconds is None and "hosts" in best.result_place and any(spec.host is None for spec in specs):
        raise InputError(
            "the largest graph on several GPUs takes the memory of their hosts, which get the result: give ",
            ArgumentValue("host_memory"),
        )
    return best


def named(algorithm: str) -> str:
    """Return the name of an algorithm, given that or the name of its call or command."""
    called = _BY_CALL.get(algorithm) if isinstance(algorithm, str) else None
    if isinstance(algorithm, str) and algorithm.replace("-", "_") in _PLANNED_AS:
        advice = f": {_PLANNED_AS[algorithm.replace('-', '_')]}"
        raise InputError(advice, argument="algorithm", value=algorithm, expected="one that has plans of its own")
    return called or checked_choice("algorithm", algorithm, tuple(PLANNED))


def _specs(devices: Any, memory: Any, host_memory: Any, gpus_per_node: Any) -> tuple[DeviceSpec, ...]:
    """Return the devices that the arguments describe; each has its share of its host's memory, if that is given."""
    memory, host = (
        None if value is None else checked_bytes(name, value, 0)
        for name, value in (("memory", memory), ("host_memory", host_memory))
    )
    try:
        specs = specs_of(devices, memory)
    except DeviceError as error:
        raise DeviceError(str(error), "; with ", ArgumentValue("memory"), " devices need not exist") from error
    if host is None:
        return specs
    share = host // min(len(specs), checked_integer("gpus_per_node", gpus_per_node or NODE, 1))
    return tuple(replace(spec, host=share) for spec in specs)


@functools.cache
def _defaults(algorithm: str) -> dict[str, Any]:
    """Return the options that an algorithm's planner takes, its keyword-only parameters, with their defaults."""
    given = inspect.signature(PLANNED[algorithm].planner).parameters.values()
    return {each.name: each.default for each in given if each.name in Options.__annotations__}


def takers(option: str) -> tuple[str, ...]:
    """Return the algorithms whose planners take an option."""
    return tuple(name for name in PLANNED if option in _defaults(name))


#: The least value of options that are integers.
_LEAST = {
    "along": 0,
    "block": 1,
    "gpus_per_node": 1,
    "nearest": 1,
    "quads": 0,
    "sources": 1,
    "splitters": 1,
    "targets": 1,
}


def _checked(algorithm: str, option: str, value: Any, n: int) -> Any:
    """Return the value of an option of an algorithm, checked, or raise InputError."""
    match option:
        case "predecessors" if algorithm == "bfs":
            return checked_predecessors(value)
        case (
            "predecessors"
            | "intermediate"
            | "nonnegative"
            | "exact"
            | "directed"
            | "sparse"
            | "weighted"
            | "edges"
            | "paths"
        ):
            return checked_flag(option, value)
        case _ if option in _LEAST:
            return checked_integer(option, value, _LEAST[option], 2**62)
        case "connection":
            return checked_choice(option, value, ("weak", "strong"))
        case "components":
            return _checked_sizes(value, n)
        case "indptr":
            return _checked_starts(value, n)
        case "network":
            number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
            if not number or not value > 0:
                wanted = "a number of bytes a second, more than 0, such as 25e9"
                raise InputError(argument="network", value=value, expected=wanted)
        case "shape":
            if not isinstance(value, Shape):
                raise InputError(argument="shape", value=value, expected="what mgraph.planning.shape.shape_of returns")
        case "dtype":
            if isinstance(value, str) and value == "auto":
                advice = " depends on the weights, which a plan does not know: name a type"
                raise InputError(ArgumentValue("dtype", "auto"), advice)
    return value


def _checked_sizes(components: Any, n: int) -> tuple[int, ...]:
    """Return the number of vertices of each component, () if they are not known, or raise InputError."""
    try:
        sizes = np.asarray(components)
    except ValueError:  # rows of unequal length
        sizes = np.empty(0, object)
    if sizes.shape == (0,) and sizes.dtype != object:
        return ()
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or sizes.min() < 1 or int(sizes.sum()) != n:
        wanted = f"a sequence of integers of 1 or more that add up to n={n}"
        raise InputError(argument="components", value=components, expected=wanted)
    return tuple(sizes.tolist())


def _checked_starts(indptr: Any, n: int) -> np.ndarray:
    """Return where each vertex's edges begin, or raise InputError."""
    try:
        starts = np.asarray(indptr)
    except (ValueError, TypeError):
        starts = np.empty(0)
    if starts.shape != (n + 1,) or starts.dtype.kind not in "iu":
        raise InputError(argument="indptr", value=indptr, expected=f"n + 1 = {n + 1} integers")
    return starts
