"""The planner: cuts the work into shards, predicts time and peak memory, and refuses what cannot fit.

A plan is made before anything is allocated. A distance matrix is cut into a grid of whole blocks, or into
ranges of rows, a graph into ranges of vertices with about equal numbers of edges. The predicted peak is the
sum of what the program allocates on a device at its fullest moment, the input's own memory not counted.

Shards of all pairs also wait for each other, on one node or, to plan for machines that are not there, on many:
`_Ask.exchange` is the model.
"""

import bisect
import importlib
import itertools
import math
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from . import device as devices
from .errors import InputError, MemoryLimitError
from .graph import MAX_VERTICES, offset_type
from .rates import EXCHANGE, SHORT, Rates, rates
from .weights import chunk_rows, distance_dtype

#: Seconds that a span of supersteps shall take: between spans lie the progress report and Dask's barrier.
SPAN_SECONDS = 1.0

#: Share of a device's free memory that a plan may use.
USABLE = 0.95

#: How many times faster, and by how many seconds, another way must promise to be, for "auto" to leave Floyd
#: and Warshall's algorithm on the whole matrix, whose result is the same however it is computed.
ADVANTAGE = {"sssp": 2.0, "johnson": 2.0, "blocked, components first": 1.1, "blocked, predecessors derived": 1.1}
WORTH = 0.01

#: Pairs a second and pivot that the product of bits passes, on a GPU and on a CPU's core, and the seconds that
#: the pivots' own part of a round takes.
CLOSURE_RATE = {"cuda": 3.0e15, "cpu": 4.2e12}
CLOSURE_PIVOTS = {"cuda": 50e-6, "cpu": 300e-6}

#: Elements a second that list ranking passes on a GPU, of many millions, and on a CPU's core; by jumping, in each
#: round.
LIST_RANK_RATE = {
    "cuda": {"splitter64": 10e9, "splitter48": 7e9, "wylie": 35e9},
    "cpu": {"sequential": 7.5e6, "splitter64": 45e6, "splitter48": 42e6, "wylie": 250e6},
}

#: Launches of a GPU that ranks by splitters, most of them to rank the splitters and what no walk has passed.
RANKING_LAUNCHES = 80

#: Elements of a short list: up to which one core of a CPU goes along it as fast as it jumps, as its caches hold them,
#: and up to which jumping on all takes a GPU no longer than the launches for splitters.
SHORT_LIST = {"cpu": 1 << 16, "cuda": 1 << 21}

#: Walks that each of a device's threads makes at least, so that few wait for the longest, and the most elements
#: among which one splitter is picked: then 16 bits hold the steps of a walk.
WALKS = 4
SPACING = 1024

#: Elements of a list whose numbers, and distances, have 32 bits.
MAX_ELEMENTS = 2**32 - 1

#: Edges a vertex from which on a search looks at its neighbour of most edges first.
_HEADS_FROM = 8

#: Of how many edges a GPU then looks at one, measured on Kronecker graphs.
_LOOKED = 7

#: Times that a list of vertices is shorter than the bitmap that it stands for.
LISTS = 16

#: What can be planned.
ALGORITHMS = ("apsp", "bfs", "bfs_many", "closure", "components", "list_rank", "sssp")

#: What `mgraph.apsp` can do.
METHODS = ("blocked", "naive", "squaring", "sssp", "johnson")

#: Those that search from every source, and do not compute in int16.
SEARCHES = ("sssp", "johnson")

#: What `mgraph.bfs` can do in one launch; `mgraph.bfs_by_level` has the others.
BFS_METHODS = ("hybrid", "frontier", "pull")

#: Levels that a search is taken to have, which only the graph can tell.
DEPTH = 20

#: Edges up to which one core of a CPU joins components as fast as all do, as these may take longer to wake up.
FEW_EDGES = 1 << 17

#: What `mgraph.connected_components` can do.
COMPONENTS_METHODS = ("afforest", "shiloach-vishkin", "sequential")

#: Out of core, strips on the device at a time, where they fit: one computed, one arriving, one leaving.
ROOMS = 3

#: Devices from which on they are told as one, not a line each.
MANY = 17

#: Vertices that components are grouped up to, to be solved together: a smaller matrix leaves a device idle.
GROUP = 2048


@dataclass(frozen=True)
class DeviceSpec:
    """What the planner knows of a device.

    Attributes
    ----------
    name : str
        The device's name; of a Dask worker's device, with its address.
    kind : {"cpu", "cuda"}
        What runs there.
    memory : int
        Bytes that can be allocated.
    cores : int
        CPU cores that its kernels may use; 1 for a GPU.
    model : str
        The hardware's name, by which `mgraph calibrate` keeps what it measured, and `mgraph.rates.PUBLISHED` has what
        others published.
    processors : int
        Multiprocessors of a GPU, unless given those of an H200; how much it takes to keep them busy.
    """

    name: str
    kind: str
    memory: int
    cores: int = 1
    model: str = ""
    processors: int = 132


class Alternative(NamedTuple):
    """A way that the planner weighed: its name, predicted seconds and peak bytes, and the verdict."""

    name: str
    seconds: float
    peak_bytes: int
    verdict: str


@dataclass(frozen=True)
class Plan:
    """How a call will be run, made before anything is allocated.

    Attributes
    ----------
    algorithm, method : str
        What runs.
    n, m : int
        Vertices, and stored directed edges (0 where they do not matter).
    dtype : str
        The type of the distances.
    predecessors : bool
        Whether predecessors are computed.
    block : int
        Pivots eliminated at a time; 0 where there are none.
    ranges : tuple of (int, int)
        The vertices (rows) of each shard.
    devices : tuple of DeviceSpec
        Each shard's device.
    steps : int or None
        Number of supersteps; None where only the graph can tell.
    span : int
        Supersteps per span.
    peak_bytes : tuple of int
        The most that each device will hold at a time.
    seconds : float
        Predicted time of the solve.
    intermediate : bool
        Whether the highest intermediate vertex of each path is computed.
    grid : tuple of (int, int)
        Rows and columns of the grid of shards, which are numbered along its rows.
    columns : tuple of (int, int)
        The columns of each shard's rectangle of the matrix.
    look_ahead : bool
        Whether the next pivots are made ready while the matrix is updated.
    derived : bool
        Whether predecessors are derived from the finished distances.
    strip : int
        Rows of the matrix that are on the device at a time; 0 where all of them are.
    rooms : int
        How many strips of so many rows are on the device at a time.
    host_bytes : int
        What a matrix that is not on the device takes elsewhere,
    on_disk : bool
        and whether that is a temporary file, not the host's memory.
    groups : tuple of int
        Vertices of each group of components that is solved by itself; empty where the graph is solved whole.
    batch : int
        Sources at a time; 0 where it is not done by sources.
    spacing : int
        Elements among which one is picked as a splitter of a list; 0 where there are none.
    listed : int
        Vertices of a level up to which a shard sends a list of them, not a bitmap; 0 where it never does.
    update, exchange : float
        Predicted seconds of a round of ``"blocked"`` all pairs that the update takes, and that shards take to
        exchange the pivots; 0 where there are no such rounds, or nobody to exchange with.
    alternatives : tuple of Alternative
        The ways that were weighed, quickest first.
    """

    algorithm: str
    method: str
    n: int
    m: int
    dtype: str
    predecessors: bool
    block: int
    ranges: tuple[tuple[int, int], ...]
    devices: tuple[DeviceSpec, ...]
    steps: int | None
    span: int
    peak_bytes: tuple[int, ...]
    seconds: float
    intermediate: bool = False
    grid: tuple[int, int] = (1, 1)
    columns: tuple[tuple[int, int], ...] = ()
    look_ahead: bool = False
    derived: bool = False
    strip: int = 0
    rooms: int = 0
    host_bytes: int = 0
    on_disk: bool = False
    groups: tuple[int, ...] = ()
    batch: int = 0
    spacing: int = 0
    listed: int = 0
    update: float = 0.0
    exchange: float = 0.0
    alternatives: tuple[Alternative, ...] = ()

    @property
    def labelled(self) -> bool:
        """Whether labels are recorded beside the distances."""
        return self.intermediate or (self.predecessors and not self.derived)

    @property
    def stored(self) -> tuple[tuple[int, int], ...]:
        """The columns of each shard's part of a result: of a closure words, which hold 32."""
        if self.algorithm != "closure":
            return self.columns
        return tuple((first // 32, -(-last // 32)) for first, last in self.columns)

    @property
    def computed(self) -> str:
        """The type that the kernels compute in: with labels there is no int16, nor float32 with potentials."""
        if self.method == "johnson" and self.dtype == "float32":
            return "float64"
        return "int32" if self.dtype == "int16" and self.labelled else self.dtype

    def explain(self) -> str:
        """Return the plan in words, one fact a line, and the ways that were weighed."""
        noun = "elements" if self.algorithm == "list_rank" else "vertices"
        what = f"{self.algorithm}, method {self.method!r}: {self.n:,} {noun}"
        if self.m:
            what += f", {self.m:,} directed edges"
        kinds = {
            "closure": "reachability, a bit a pair",
            "components": f"labels {self.dtype}",
            "list_rank": f"ranks {self.dtype}",
        }
        kind = kinds.get(self.algorithm, f"distances {self.dtype}")
        if self.predecessors:
            kind += ", predecessors int32" + (" derived from them" if self.derived else "")
        if self.intermediate:
            kind += ", intermediate vertices int32"
        lines = [what, kind]
        if self.groups:
            lines.append(f"components first, in {len(self.groups):,} groups of at most {max(self.groups):,} vertices")
        if self.block:
            lines.append(f"blocks of {self.block} pivots" + (", looking ahead" if self.look_ahead else ""))
        if self.strip:
            where = "a temporary file" if self.on_disk else "the host's memory"
            lines.append(f"out of core: {self.strip:,} rows at a time, {_size(self.host_bytes)} in {where}")
        if self.batch:
            lines.append(f"sources: {self.batch:,} at a time")
        if self.spacing:
            lines.append(f"splitters: {-(-self.n // self.spacing):,}, one among {self.spacing:,} elements")
        if self.listed:
            lines.append(f"exchanged: up to {self.listed:,} vertices of a shard as a list, more as a bitmap")
        if self.grid[1] > 1:
            lines.append(f"a grid of {self.grid[0]} x {self.grid[1]} shards")
        steps = "as many as " + ("the graph has levels" if self.algorithm == "bfs" else "it takes")
        steps = steps if self.steps is None else f"{self.steps:,}"
        lines.append(f"supersteps: {steps}, in spans of {self.span:,}")
        if self.exchange:
            how = "at the same time" if self.look_ahead else "one after the other"
            lines.append(f"a round: update {_duration(self.update)}, exchange {_duration(self.exchange)}, {how}")
        lines += self._parts(noun)
        lines.append(f"predicted time of the solve: {_duration(self.seconds)}")
        if self.alternatives:
            lines.append("weighed:")
            width = max(len(way.name) for way in self.alternatives)
            lines += (
                f"  {way.name:{width}} {_duration(way.seconds):>10} {_size(way.peak_bytes):>12}  {way.verdict}"
                for way in self.alternatives
            )
        return "\n".join(lines)

    def _parts(self, noun: str) -> Iterator[str]:
        """Yield a line a device, its part of the vertices and its memory; of many devices one for all."""
        noun = "sources" if self.algorithm == "bfs_many" else noun
        columns = self.columns or ((0, self.n),) * len(self.ranges)
        if len(self.devices) >= MANY:
            part = _between((last - first for first, last in self.ranges), "{:,}".format)
            if self.grid[1] > 1:
                part += " by " + _between((last - first for first, last in columns), "{:,}".format)
            peak, memory = _between(self.peak_bytes, _size), _between((spec.memory for spec in self.devices), _size)
            yield f"{len(self.devices):,} x {self.devices[0].kind}: {part} {noun} each, peak {peak} of {memory}"
            return
        for own, across, spec, peak_bytes in zip(self.ranges, columns, self.devices, self.peak_bytes, strict=True):
            part = f"{noun} {own[0]:,} to {own[1] - 1:,}"
            if self.grid[1] > 1:
                part += f" by {across[0]:,} to {across[1] - 1:,}"
            if own[0] == own[1] or across[0] == across[1]:
                part = f"no {noun}"
            yield f"{spec.name}: {part}, peak {_size(peak_bytes)} of {_size(spec.memory)}"


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
    memory_limit: int | None = None,
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
) -> Plan:
    """Plan a call.

    Parameters
    ----------
    algorithm : {"apsp", "bfs", "bfs_many", "closure", "components", "list_rank", "sssp"}
        The call to plan; what it needs of the host's memory, or disk, is held against this machine's.
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
    memory_limit : int, optional
        Bytes that the call may take of each device.
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

    Raises
    ------
    MemoryLimitError
        If no way of doing it fits the devices.
    InputError
        For an unknown algorithm, method, block or device, and for splitters where there are none.
    """
    if algorithm not in ALGORITHMS:
        known = ", ".join(map(repr, ALGORITHMS))
        raise InputError(f"algorithm {algorithm!r} is not known: use one of {known}")
    for name, value in (("n", n), ("m", m), ("memory_limit", memory_limit), ("sources", sources)):
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
    specs = _specs(devices)
    if algorithm == "apsp":
        if predecessors and intermediate:
            raise InputError("predecessors=True and intermediate=True exclude each other: ask for one of them")
        ask = _Ask(
            *(int(n), int(m or 0), specs, distance_dtype(None, dtype), predecessors, intermediate, block, span),
            *(memory_limit, nonnegative, exact, tuple(components), network, int(gpus_per_node)),
        )
        return _plan_apsp(ask, method)
    if algorithm == "closure":
        if method not in ("auto", "blocked") or predecessors or intermediate:
            raise InputError("a plan for closure has one method, 'blocked', and neither predecessors nor intermediate")
        made = _plan_closure(int(n), int(m or 0), specs, block, span)
    elif algorithm == "list_rank":
        made = _plan_list_rank(int(n), specs, method, span, splitters)
    elif m is None:
        raise InputError(f"a plan for {algorithm} needs m=, the number of edges")
    elif algorithm == "components":
        made = _plan_components(int(n), int(m), specs, method, span, directed, indptr)
    elif algorithm == "sssp":
        kept = distance_dtype(None, dtype), predecessors, nonnegative
        made = _plan_sssp(int(n), int(m), specs, method, *kept, span, indptr)
    elif algorithm == "bfs_many":
        if method not in ("auto", "words") or not sources:
            raise InputError("a plan for bfs_many has one method, 'words', and a source or more")
        made = _plan_bfs_many(int(n), int(m), int(sources), specs, predecessors, span, directed, indptr, memory_limit)
    else:
        made = _plan_bfs(int(n), int(m), specs, method, predecessors, span, directed, indptr, rows)
    hindrance = _hindrance(made, memory_limit)
    if hindrance:
        raise MemoryLimitError(_refusal(made, hindrance, memory_limit))
    return made


class _Ask(NamedTuple):
    """What all-pairs shortest paths are asked for, as `plan` tells."""

    n: int
    m: int
    specs: tuple[DeviceSpec, ...]
    dtype: np.dtype
    predecessors: bool
    intermediate: bool
    block: int | None
    span: int | None
    memory_limit: int | None
    nonnegative: bool
    exact: bool
    components: tuple[int, ...]
    network: float | None
    gpus_per_node: int

    @property
    def kind(self) -> str:
        """The kind of the devices."""
        return self.specs[0].kind

    @property
    def rates(self) -> Rates:
        """What one of the devices can do."""
        return rates(self.kind, self.specs[0].model)

    @property
    def pivots(self) -> int:
        """Pivots eliminated at a time."""
        kernels = kernel_module(self.kind, "minplus")
        return int(kernels.DEFAULT_BLOCK if self.block is None else self.block)

    def cell(self, labelled: bool) -> tuple[np.dtype, int]:
        """Return the type that is computed in, and the bytes of a distance and its label."""
        dtype = np.dtype(np.int32) if labelled and self.dtype == np.int16 else self.dtype
        return dtype, dtype.itemsize + 4 * labelled

    def product_seconds(self, rows: int, columns: int, depth: int, labelled: bool) -> float:
        """Predict the time of a (min, +) product."""
        dtype, _ = self.cell(labelled)
        name = "nonnegative" if self.nonnegative and dtype == np.float32 else dtype.name
        per_core = (self.rates.labelled if labelled else self.rates.minplus)[name]
        return rows * columns * depth / (per_core * self.specs[0].cores)

    def exchange(self, grid: tuple[int, int], rows: int, columns: int = 0) -> float:
        """Predict the seconds in which every shard of a grid gets its part of the pivots' rows and columns.

        `rows` and `columns` are the bytes of such a part: one shard of each of the grid's columns sends its part of
        the rows down that, one of each of its rows a part of the columns along it. A message is passed on from
        shard to shard in pieces, so that its length costs what it takes to receive once, and reaches twice as
        many with every latency. All nodes receive at a time, each a part once, however many of its devices need
        it; what else loads the network is left out. (`mgraph.comm.Nccl` sends to each of a grid's row or column
        instead: the same on grids of two rows and columns, on longer ones the owner's link carries every copy.)
        """
        high, wide = grid
        if high * wide == 1:
            return 0.0
        seconds = (rows * (high > 1) + columns * (wide > 1)) / self.rates.link
        if self.network is not None:
            # Shards are numbered along the grid's rows: a node has so many consecutive ones of so many rows.
            across = min(self.gpus_per_node, wide)
            down = min(high, -(-(wide - math.gcd(self.gpus_per_node, wide) + self.gpus_per_node) // wide))
            entering = across * rows * (high > down) + down * columns * (wide > across)
            seconds = max(seconds, entering / self.network)
        return EXCHANGE[self.kind] * (max(grid) - 1).bit_length() + seconds


def _plan_apsp(ask: _Ask, method: str) -> Plan:
    """Weigh the ways of finding all pairs, and return the best that fits."""
    if method not in ("auto", *METHODS):
        known = ", ".join(map(repr, METHODS))
        raise InputError(f"method={method!r} is not known for apsp: use 'auto', {known}")
    if ask.intermediate and method in ("squaring", *SEARCHES):
        raise InputError(
            f"intermediate=True is what Floyd and Warshall's algorithm records: method={method!r} has none; "
            "use 'blocked' or 'naive', or predecessors=True"
        )
    _check_block(ask.block, kernel_module(ask.kind, "minplus").BLOCKS)
    sources = "sssp" if ask.nonnegative else "johnson"
    # Potentials cost floats of another size some of their digits, which is for the caller to choose.
    searchable = ask.m and not ask.intermediate and (ask.nonnegative or ask.dtype.kind == "i")
    ways = {"blocked": _blocked(ask, derived=False)}
    if ask.predecessors and ask.exact and ask.nonnegative and ask.m and ask.dtype != np.int16:
        ways["blocked, predecessors derived"] = _blocked(ask, derived=True)
    if len(ask.components) > 1 and len(ask.specs) == 1:
        ways["blocked, components first"] = _by_component(ask)
    if len(ask.specs) == 1 and ask.n > ask.pivots:
        ways["blocked, out of core"] = _out_of_core(ask)
    if searchable and ask.dtype != np.int16:
        ways[sources] = _by_source(ask, sources)
    if not ask.intermediate:
        ways["squaring"] = _squaring(ask)
    ways["naive"] = _naive(ask)
    if method in SEARCHES:
        if ask.dtype == np.int16:
            raise InputError(f"method={method!r} does not compute in int16: use dtype='int32' or 'auto'")
        ways[method] = _by_source(ask, method)
    hindrances = {name: _hindrance(way, ask.memory_limit) for name, way in ways.items()}
    fitting = [name for name, hindrance in hindrances.items() if not hindrance]

    if method == "auto":
        open_to_choice = [name for name in fitting if name in ADVANTAGE or name.startswith("blocked")]
        open_to_choice.sort(key=lambda name: ways[name].seconds * ADVANTAGE.get(name, 1) + WORTH * (name in ADVANTAGE))
    elif method == "blocked":
        open_to_choice = [name for name in ("blocked", "blocked, out of core") if name in fitting]
    else:
        open_to_choice = [method] if method in fitting else []
    if not open_to_choice:
        first = "blocked" if method == "auto" else method
        refusal = _refusal(ways[first], hindrances[first], ask.memory_limit)
        if hindrances.get("blocked, out of core") and first == "blocked":
            refusal += f"; out of core it {hindrances['blocked, out of core']}"
        raise MemoryLimitError(refusal)
    chosen = open_to_choice[0]
    alternatives = tuple(
        Alternative(name, way.seconds, max(way.peak_bytes), "chosen" if name == chosen else hindrances[name] or "fits")
        for name, way in sorted(ways.items(), key=lambda item: item[1].seconds)
    )
    return replace(ways[chosen], alternatives=alternatives)


def _check_block(block: int | None, legal: Sequence[int]) -> None:
    if block is not None and block not in legal:
        known = ", ".join(map(str, legal))
        raise InputError(f"block={block!r} is not supported: use one of {known}, or None for the best")


def _plan_of(ask: _Ask, method: str, **facts: Any) -> Plan:
    """Return a plan with what is common to all methods filled in; ``facts["step_seconds"]`` sizes its spans."""
    step_seconds = facts.pop("step_seconds")
    common: dict[str, Any] = dict(
        algorithm="apsp",
        method=method,
        n=ask.n,
        m=ask.m,
        dtype=ask.dtype.name,
        predecessors=ask.predecessors,
        intermediate=ask.intermediate,
        block=0,
        devices=ask.specs,
        span=ask.span or max(1, int(SPAN_SECONDS / max(step_seconds, 1e-9))),
    )
    return Plan(**(common | facts))


def _blocked(ask: _Ask, derived: bool) -> Plan:
    """Plan the blocked algorithm, the matrix in the devices' memory."""
    n, block, r = ask.n, ask.pivots, ask.rates
    shards = len(ask.specs)
    grid = (shards, 1) if derived else best_grid(shards)
    bands, strips = even_ranges(n, grid[0], block), even_ranges(n, grid[1], block)
    ranges = tuple(band for band in bands for _ in strips)
    columns = strips * grid[0]
    labelled = ask.intermediate or (ask.predecessors and not derived)
    rounds = -(-n // block)
    look_ahead = _looks_ahead(ask.kind, block, rounds)
    high = max((last - first for first, last in bands), default=0)
    wide = max((last - first for first, last in strips), default=0)
    update = ask.product_seconds(high, wide, min(block, n), labelled)
    M, R, C = _panel_sizes(ask, high, wide, labelled, block)
    exchange = ask.exchange(grid, M + R, M + C)
    pivots = r.pivots + exchange
    seconds = max(update, pivots) + r.strips if look_ahead else update + pivots
    edges = ask.m * high * wide // max(n, 1) ** 2
    shapes = [(band[1] - band[0], strip[1] - strip[0]) for band in bands for strip in strips]
    sets = 2 if look_ahead else 1
    peaks = {shape: _matrix_bytes(ask, *shape, labelled, sets, edges, derived) for shape in set(shapes)}
    derivation = ask.m * n / (r.relaxations * ask.specs[0].cores * shards) if derived else 0
    return _plan_of(
        ask,
        "blocked",
        block=block,
        ranges=ranges,
        columns=columns,
        grid=grid,
        look_ahead=look_ahead,
        derived=derived,
        steps=3 * rounds,
        step_seconds=seconds / 3,
        peak_bytes=tuple(peaks[shape] for shape in shapes),
        seconds=rounds * seconds + derivation,
        update=update,
        exchange=exchange,
    )


def _looks_ahead(kind: str, block: int, rounds: int) -> bool:
    """Whether to look ahead: where launches overlap, and with whole tiles of every type in a block.

    Then nothing that is read ahead is written at the same time.
    """
    return kind == "cuda" and block % 128 == 0 and rounds > 1


def _matrix_bytes(
    ask: _Ask, rows: int, columns: int, labelled: bool, sets: int, edges: int, derived: bool = False
) -> int:
    """Sum what a shard of the matrix allocates, with `sets` sets of panels, made from so many edges."""
    dtype, cell = ask.cell(labelled)
    matrix = rows * _padded(columns, ask.kind) * cell
    panels = sets * _panel_bytes(ask, rows, columns, labelled, ask.pivots)
    conversion = _conversion_bytes(ask, rows, columns, labelled)
    lists = edges * (4 + 2 * dtype.itemsize) + 8 * (rows + 1) if edges else 0
    narrow = rows * columns * 2 if ask.dtype == np.int16 and dtype != np.int16 else 0
    after = rows * columns * 4 + ask.m * (4 + dtype.itemsize) + 8 * (ask.n + 1) if derived else 0
    return matrix + max(panels + after, panels + narrow + conversion if narrow else 0, conversion, lists)


def _conversion_bytes(ask: _Ask, rows: int, columns: int, labelled: bool) -> int:
    """Sum the temporaries of encoding, decoding and the first predecessors; less than 1 MiB does not count."""
    dtype, _ = ask.cell(labelled)
    each = 12 if labelled or dtype.kind == "i" else dtype.itemsize if ask.kind == "cuda" else 0
    size = min(rows, chunk_rows(columns)) * columns * each
    return size if size >= 1 << 20 else 0


def _panel_bytes(ask: _Ask, rows: int, columns: int, labelled: bool, block: int) -> int:
    return sum(_panel_sizes(ask, rows, columns, labelled, block))


def _panel_sizes(ask: _Ask, rows: int, columns: int, labelled: bool, block: int) -> tuple[int, int, int]:
    """Return the bytes of the pivots' factored block, of their rows with the labels, and of their columns."""
    dtype, _ = ask.cell(labelled)
    M, R, C = kernel_module(ask.kind, "minplus").panels(_Shapes, dtype, rows, columns, block)
    labels = 4 * R.size if labelled and ask.predecessors else 0
    return M.nbytes, R.nbytes + labels, C.nbytes


class _Shapes:
    """Stands in for NumPy where only the size of what would be allocated is asked."""

    class empty:
        """An array that is not there."""

        def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
            self.size = math.prod(shape)
            self.nbytes = self.size * np.dtype(dtype).itemsize


def _by_component(ask: _Ask) -> Plan:
    """Plan one blocked solve for each group of components, on one device."""
    groups = grouped(ask.components)
    labelled = ask.intermediate or ask.predecessors
    alone = [_blocked(ask._replace(n=size, components=()), derived=False) for size in sorted(set(groups))]
    by_size = {made.n: made for made in alone}
    whole = ask.n * _padded(ask.n, ask.kind) * (ask.dtype.itemsize + 4 * labelled)
    seconds = sum(by_size[size].seconds + 30 * ask.rates.launch for size in groups)
    return _plan_of(
        ask,
        "blocked",
        block=ask.pivots,
        ranges=((0, ask.n),),
        columns=((0, ask.n),),
        groups=groups,
        look_ahead=any(made.look_ahead for made in alone),
        steps=len(groups),
        span=ask.span or 1,
        step_seconds=1,
        peak_bytes=(whole + max(made.peak_bytes[0] for made in alone),),
        seconds=seconds,
    )


def _out_of_core(ask: _Ask) -> Plan:
    """Plan a solve in strips of rows, of which few are on the device at a time."""
    n, r = ask.n, ask.rates
    labelled = ask.intermediate or ask.predecessors
    _, cell = ask.cell(labelled)
    row = _padded(n, ask.kind) * cell
    usable = _usable(ask.specs[0], ask.memory_limit)

    def peak(block: int, strip: int, rooms: int) -> int:
        rounds = -(-strip // block) * _panel_bytes(ask, 0, n, labelled, block)
        conversion = _conversion_bytes(ask, min(strip, n), n, labelled)
        return rooms * strip * row + max(rounds + _panel_bytes(ask, strip, 0, labelled, block), conversion)

    def largest_strip(block: int, rooms: int) -> int:
        """Return the largest strip of whole blocks that fits, of two or more; 0 if none does."""
        blocks = range(1, -(-n // (2 * block)) + 1)
        return block * bisect.bisect_right(blocks, usable, key=lambda count: peak(block, block * count, rooms))

    def layouts() -> Iterator[tuple[int, int, int]]:
        """Yield blocks, strips and the strips on the device that fit, the fastest first."""
        smaller = [block for block in kernel_module(ask.kind, "minplus").BLOCKS if block < ask.pivots]
        for block in [ask.pivots] if ask.block else [ask.pivots, *reversed(smaller)]:
            for rooms in (ROOMS, 1):
                strip = largest_strip(block, rooms)
                if strip:
                    # As few strips as fit, all of about the same height.
                    yield block, math.ceil(n / -(-n // strip) / block) * block, rooms

    layout = next(layouts(), (ask.pivots, ask.pivots, 1))
    block, strip, rooms = layout
    count = -(-n // strip)
    look_ahead = _looks_ahead(ask.kind, block, strip // block)
    compute = ask.product_seconds(n, n, n, labelled) + count * -(-n // block) * (r.strips if look_ahead else r.pivots)
    outside = n * n * (cell + (2 if labelled and ask.dtype == np.int16 else 0))
    on_disk = ask.kind == "cpu" or outside > USABLE * devices.find("cpu").available_memory()
    transfer = count * n * row / (r.disk if on_disk else r.copy)
    seconds = max(compute, transfer) + 2 * strip / n * transfer / count if rooms > 1 else compute + 2 * transfer
    return _plan_of(
        ask,
        "blocked",
        block=block,
        ranges=((0, n),),
        columns=((0, n),),
        look_ahead=look_ahead,
        strip=strip,
        rooms=rooms,
        host_bytes=outside,
        on_disk=on_disk,
        steps=count * count,
        step_seconds=seconds / count**2,
        peak_bytes=(peak(*layout),),
        seconds=seconds,
    )


def _by_source(ask: _Ask, method: str) -> Plan:
    """Plan a single-source run from every vertex."""
    from . import sources  # which knows of plans

    n, r, shards = ask.n, ask.rates, len(ask.specs)
    ranges = even_ranges(n, shards, 1)
    shifted = method == "johnson" and ask.dtype == np.float32
    batch = sources.batch_size(n, np.dtype(np.float64) if shifted else ask.dtype, ask.kind)
    most = max(last - first for first, last in ranges)
    steps = -(-most // batch)
    result = n * (ask.dtype.itemsize + 4 * ask.predecessors)
    # A sweep passes every edge; each edge is passed until the longest path of least weight is known.
    sweeps = 2 * math.log2(max(2, n)) / math.log2(max(2, ask.m / max(1, n)))
    passed = min(batch, most) * sweeps * max(ask.m, n) / (r.relaxations * ask.specs[0].cores)
    # Rows go to pages that the host has to make first, which halves the rate.
    step_seconds = max(passed, 2 * min(batch, most) * result / r.copy) + r.launch
    return _plan_of(
        ask,
        method,
        ranges=ranges,
        columns=((0, n),) * shards,
        grid=(shards, 1),
        batch=min(batch, n),
        steps=steps,
        step_seconds=step_seconds,
        peak_bytes=tuple(
            sources.device_bytes(
                n, ask.m, last - first, ask.dtype, ask.predecessors, kind=ask.kind, home="cpu", shifted=shifted
            )
            for first, last in ranges
        ),
        host_bytes=n * result if ask.kind == "cuda" and shards == 1 else 0,
        seconds=steps * step_seconds,
    )


def _squaring(ask: _Ask) -> Plan:
    """Plan repeated squaring."""
    n, block = ask.n, ask.pivots
    labelled = ask.predecessors
    ranges = even_ranges(n, len(ask.specs), block)
    high = max((last - first for first, last in ranges), default=0)
    steps = products(n, ask.nonnegative) * -(-n // block)
    _, R, _ = _panel_sizes(ask, 0, n, labelled, block)
    exchange = ask.exchange((len(ask.specs), 1), R)
    step_seconds = ask.product_seconds(high, n, min(block, n), labelled) + ask.rates.pivots + exchange
    _, cell = ask.cell(labelled)
    return _plan_of(
        ask,
        "squaring",
        block=block,
        ranges=ranges,
        columns=((0, n),) * len(ranges),
        grid=(len(ranges), 1),
        steps=steps,
        step_seconds=step_seconds,
        peak_bytes=tuple(
            _matrix_bytes(ask, last - first, n, labelled, 1, ask.m) + (last - first) * _padded(n, ask.kind) * cell
            for first, last in ranges
        ),
        seconds=steps * step_seconds,
    )


def _naive(ask: _Ask) -> Plan:
    """Plan one launch a pivot."""
    n = ask.n
    labelled = ask.intermediate or ask.predecessors
    ranges = even_ranges(n, len(ask.specs), 1)
    high = max((last - first for first, last in ranges), default=0)
    dtype, cell = ask.cell(labelled)
    exchange = ask.exchange((len(ask.specs), 1), n * cell)
    # Labels are written where a distance falls, which few do.
    step_seconds = 2 * high * n * dtype.itemsize / (ask.rates.memory * ask.specs[0].cores)
    step_seconds += 2 * ask.rates.launch + exchange
    return _plan_of(
        ask,
        "naive",
        ranges=ranges,
        columns=((0, n),) * len(ranges),
        grid=(len(ranges), 1),
        steps=n,
        step_seconds=step_seconds,
        peak_bytes=tuple(_matrix_bytes(ask, last - first, n, labelled, 0, ask.m) for first, last in ranges),
        seconds=n * step_seconds,
    )


def prepared_for(method: str, n: int, m: int, shards: int) -> str | None:
    """Return what a search makes of a graph once, to find its way by; ``kernels/bfs.cu`` tells what it is.

    Who pulls looks at the heads of vertices, where these have many edges; with few, the rows of four serve thin
    levels, of which a launch must run many for it to pay.
    """
    if m >= _HEADS_FROM * n:
        return "heads" if method in ("auto", "hybrid", "pull") else None
    return "rows of four" if method in ("auto", "hybrid", "frontier") and shards == 1 else None


def _plan_bfs(
    n: int,
    m: int,
    specs: tuple[DeviceSpec, ...],
    method: str,
    predecessors: bool,
    span: int | None,
    directed: bool,
    indptr: Any,
    rows: int | None,
) -> Plan:
    from . import bfs_by_level  # which knows of plans

    kind = specs[0].kind
    if method not in ("auto", *BFS_METHODS, *bfs_by_level.METHODS):
        known = ", ".join(map(repr, (*BFS_METHODS, *bfs_by_level.METHODS)))
        raise InputError(f"method={method!r} is not known for bfs: use 'auto', {known}")
    by_level = method in bfs_by_level.METHODS
    if by_level and method not in kernel_module(kind, "bfs_by_level").METHODS:
        raise InputError(f"method={method!r} runs on one core of a CPU: add device='cpu', or use method='auto'")
    ranges, edges = _shares(n, m, len(specs), indptr)
    per_level = EXCHANGE["solo" if len(specs) == 1 else kind] + (5e-6 if kind == "cuda" else 20e-6)
    listed = 0 if by_level or method == "pull" else _listed(n, len(specs), kind)
    shared = len(specs) == 1 and not directed
    offset = offset_type(m).itemsize
    search = rates(kind, specs[0].model).search
    few = kind == "cuda" and method != "pull" and prepared_for(method, n, m, len(specs)) == "heads"
    looked = m / _LOOKED if few else m
    seconds, level = looked / (search * len(specs)), per_level
    if by_level:  # two launches and the host's look at what they found
        per_level += 3 * rates(kind, specs[0].model).launch
        cores = 1 if method == "sequential" else specs[0].cores
        seconds = bfs_by_level.touches(n, max(edges), method, DEPTH) / (search * cores)
        level = per_level + seconds / DEPTH
    peaks = []
    for (first, last), own_edges in zip(ranges, edges, strict=True):
        if by_level:
            what = n, last - first, own_edges, method, predecessors
            peaks.append(bfs_by_level.device_bytes(*what, offset=offset, shared=shared))
            continue
        lists = own_edges * 4 + (last - first + 1) * offset
        if not shared:
            lists += own_edges * 4 + (n + 1) * offset
        words = -(-n // 32) * 4
        own = -(-(last - first) // 32) * 4
        hubs = 4 * kernel_module(kind, "bfs").hub_capacity(own_edges)
        rows = (n if kind == "cuda" else 0) if rows is None else rows
        once = {"heads": 4 * (last - first), "rows of four": 16 * rows, None: 0}
        state = (
            8 * n
            + words
            + 2 * own
            + hubs
            + 4 * len(specs) * (1 + listed)
            + once[prepared_for(method, n, m, len(specs))]
        )
        peaks.append(lists + state + (4 * (last - first) if predecessors else 0))
    return Plan(
        algorithm="bfs",
        method="hybrid" if method == "auto" else method,
        n=n,
        m=m,
        dtype="int32",
        predecessors=predecessors,
        block=0,
        ranges=ranges,
        devices=specs,
        steps=None,
        span=span or max(1, int(SPAN_SECONDS / level)),
        peak_bytes=tuple(peaks),
        seconds=seconds + DEPTH * per_level,
        listed=listed,
    )


def _listed(n: int, shards: int, kind: str) -> int:
    """Return the most vertices of a level that a shard of a search shall send as a list; 0 where lists do not pay.

    They do not where a shard's part of the bitmap is little to send itself. A list always travels in full length, and
    in vain if the level does not fit it: so it is a small part of the bitmap, and short.
    """
    bitmap = n // 8 // shards
    if shards == 1 or bitmap <= SHORT[kind] // 2:
        return 0
    return min(bitmap // LISTS, SHORT[kind]) // 4 - 1


def _plan_bfs_many(
    n: int,
    m: int,
    sources: int,
    specs: tuple[DeviceSpec, ...],
    predecessors: bool,
    span: int | None,
    directed: bool,
    indptr: Any,
    memory_limit: int | None,
) -> Plan:
    """Plan searches from many sources: as many words of 64 at a time as there are, and as fit."""
    kind, shards = specs[0].kind, len(specs)
    columns, edges = _shares(n, m, shards, indptr)
    r, offset, both = rates(kind, specs[0].model), offset_type(m).itemsize, directed or shards > 1
    per_level = EXCHANGE["solo" if shards == 1 else kind] + 3 * r.launch

    def made(words: int) -> Plan:
        batches, peaks = -(-sources // (64 * words)), []
        for (first, last), own_edges in zip(columns, edges, strict=True):
            own = last - first
            lists = 4 * own_edges + offset * (own + 1) + both * (4 * own_edges + offset * (n + 1))
            found = 4 * own * sources * (1 + predecessors) + predecessors * 4 * n
            peaks.append(lists + 8 * words * (n + 2 * own) + found)
        # An edge is looked at in some levels, the words of a vertex in all; a distance is written once.
        passes = DEPTH * 24 * words * n / (r.memory * shards) + DEPTH * per_level
        seconds = batches * (3 * max(edges) / (r.search * specs[0].cores) + passes)
        return Plan(
            algorithm="bfs_many",
            method="words",
            n=n,
            m=m,
            dtype="int32",
            predecessors=predecessors,
            block=0,
            ranges=((0, sources),) * shards,
            columns=columns,
            grid=(1, shards),
            devices=specs,
            steps=None,
            span=span or max(1, int(SPAN_SECONDS * DEPTH * batches / seconds)),
            peak_bytes=tuple(peaks),
            seconds=seconds + 8 * sources * n / (r.memory * shards),
            batch=64 * words,
        )

    # No more words than there are sources for, but for a power of two.
    ways = [made(words) for words in kernel_module(kind, "bfs_many").WORDS if words < 2 * -(-sources // 64)]
    return next((way for way in ways if not _hindrance(way, memory_limit)), ways[-1])


def _plan_components(
    n: int, m: int, specs: tuple[DeviceSpec, ...], method: str, span: int | None, directed: bool, indptr: Any
) -> Plan:
    """Plan connected components: what a method touches of the vertices and edges, and the forests it keeps."""
    if method not in ("auto", *COMPONENTS_METHODS):
        known = ", ".join(map(repr, COMPONENTS_METHODS))
        raise InputError(f"method={method!r} is not known for components: use 'auto', {known}")
    kind, shards = specs[0].kind, len(specs)
    if method == "auto":
        method = "sequential" if kind == "cpu" and m <= FEW_EDGES else "afforest"
    if method not in kernel_module(kind, "components").METHODS:
        raise InputError(f"method={method!r} runs on one core of a CPU: add device='cpu', or use method='auto'")
    ranges, edges = _shares(n, m, shards, indptr)
    rounds = method == "shiloach-vishkin"
    offset = offset_type(m).itemsize
    forests = 3 if rounds else 1 + (shards > 1)
    most = max(edges)
    if method == "sequential":
        touches, cores, launches = most + n, 1, 1
    elif rounds:  # it took some ten of them, of two passes over the edges and four launches
        touches, cores, launches = 20 * most + 80 * n, specs[0].cores, 40
    else:
        touches, cores, launches = (most if directed else min(most, 2 * n)) + 6 * n, specs[0].cores, 8
    exchanges = 0 if shards == 1 else EXCHANGE[kind] * shards
    able = rates(kind, specs[0].model)
    seconds = touches / (able.search * cores) + launches * able.launch + exchanges
    return Plan(
        algorithm="components",
        method=method,
        n=n,
        m=m,
        dtype="int32",
        predecessors=False,
        block=0,
        ranges=ranges,
        devices=specs,
        steps={"sequential": 1, "afforest": 2}.get(method),
        span=span or max(1, int(SPAN_SECONDS / (seconds / (10 if rounds else 1) + 1e-9))),
        peak_bytes=tuple(
            4 * own + offset * (last - first + 1) + forests * 4 * n
            for (first, last), own in zip(ranges, edges, strict=True)
        ),
        seconds=seconds,
    )


def _plan_sssp(
    n: int,
    m: int,
    specs: tuple[DeviceSpec, ...],
    method: str,
    dtype: np.dtype,
    predecessors: bool,
    nonnegative: bool,
    span: int | None,
    indptr: Any,
) -> Plan:
    from . import single_source  # which knows of plans

    if method == "auto":
        method = "nearfar" if nonnegative else "bellman-ford"
    if method not in single_source.METHODS:
        raise InputError(f"method={method!r} is not known for sssp: use 'auto', 'nearfar', 'bellman-ford' or 'mask'")
    if dtype.itemsize < 4:
        raise InputError(f"dtype={dtype.name} is not supported for sssp: use float32, float64 or int32")
    kind, shards = specs[0].kind, len(specs)
    ranges, edges = _shares(n, m, shards, indptr)
    per_round = EXCHANGE["solo" if shards == 1 else kind] + (5e-6 if kind == "cuda" else 20e-6)
    return Plan(
        algorithm="sssp",
        method=method,
        n=n,
        m=m,
        dtype=dtype.name,
        predecessors=predecessors,
        block=0,
        ranges=ranges,
        devices=specs,
        steps=None,
        span=span or max(1, int(SPAN_SECONDS / per_round)),
        peak_bytes=tuple(
            single_source.device_bytes(
                n, own_edges, last - first, dtype, predecessors, kind=kind, masked=shards > 1 or method == "mask"
            )
            for (first, last), own_edges in zip(ranges, edges, strict=True)
        ),
        # An edge is passed a few times, and its weight and its end's distance looked at.
        seconds=4 * m / (rates(kind, specs[0].model).search * shards) + 60 * per_round,
    )


def _shares(n: int, m: int, shards: int, indptr: Any) -> tuple[tuple[tuple[int, int], ...], list[int]]:
    """Return the vertices of each shard and the number of edges into them, which is balanced."""
    if shards == 1:
        return ((0, n),), [m]
    indptr = np.linspace(0, m, n + 1).astype(np.int64) if indptr is None else indptr
    ranges = balanced_ranges(indptr, shards)
    return ranges, [int(indptr[last]) - int(indptr[first]) for first, last in ranges]


def _plan_closure(n: int, m: int, specs: tuple[DeviceSpec, ...], block: int | None, span: int | None) -> Plan:
    """Plan a transitive closure by the blocked algorithm, a bit a pair."""
    kind, shards = specs[0].kind, len(specs)
    kernels = kernel_module(kind, "closure")
    _check_block(block, kernels.BLOCKS)
    block = int(kernels.DEFAULT_BLOCK if block is None else block)
    grid = best_grid(shards)
    bands, strips = even_ranges(n, grid[0], block), even_ranges(n, grid[1], block)
    ranges, columns = tuple(band for band in bands for _ in strips), strips * grid[0]
    rounds = -(-n // block)
    high = max((last - first for first, last in bands), default=0)
    wide = max((last - first for first, last in strips), default=0)
    update = high * wide * min(block, n) / (CLOSURE_RATE[kind] * specs[0].cores)
    pivots = CLOSURE_PIVOTS[kind] + (EXCHANGE[kind] if shards > 1 else 0)
    # A round with look-ahead takes twice the launches, which is as long as the pivots' part again.
    look_ahead = kind == "cuda" and update > 2 * CLOSURE_PIVOTS[kind]
    seconds = max(update, pivots) + rates(kind, specs[0].model).strips if look_ahead else update + pivots

    def peak(rows: int, width: int) -> int:
        matrix = 4 * rows * _padded(-(-width // 32), kind)
        made = kernels.panels(_Shapes, np.uint32, rows, width, block)
        panels = (2 if look_ahead else 1) * sum(array.nbytes for array in made) + 8 * rows
        # The edges of the shard's rows; of a dense matrix some rows at a time, as numbers and as truth values.
        loading = 4 * m * rows // max(n, 1) + 8 * (rows + 1) if m else 10 * min(rows, chunk_rows(width)) * width
        return matrix + max(panels, loading)

    return Plan(
        algorithm="closure",
        method="blocked",
        n=n,
        m=m,
        dtype="bool",
        predecessors=False,
        block=block,
        ranges=ranges,
        columns=columns,
        grid=grid,
        look_ahead=look_ahead,
        devices=specs,
        steps=3 * rounds,
        span=span or max(1, int(3 * SPAN_SECONDS / max(seconds, 1e-9))),
        peak_bytes=tuple(
            peak(band[1] - band[0], strip[1] - strip[0]) for band, strip in zip(ranges, columns, strict=True)
        ),
        seconds=rounds * seconds,
    )


def _plan_list_rank(
    n: int, specs: tuple[DeviceSpec, ...], method: str, span: int | None, splitters: int | None
) -> Plan:
    """Plan a list ranking: strata of the elements by splitters, ranges of them by jumping."""
    kind, shards = specs[0].kind, len(specs)
    known = ("auto", "sequential", "wylie", "splitter64", "splitter48")
    if method not in known:
        raise InputError(f"method={method!r} is not known for list_rank: use one of {', '.join(map(repr, known))}")
    if method == "sequential" and kind == "cuda":
        raise InputError("method='sequential' goes along a list on one core of a CPU: give device='cpu' with it")
    if splitters is not None:
        if isinstance(splitters, bool) or not isinstance(splitters, (int, np.integer)) or splitters < 1:
            raise InputError(f"splitters={splitters!r} is no number of splitters: give 1 or more")
        if method in ("sequential", "wylie"):
            raise InputError(f"method={method!r} has no splitters: give splitters= with 'splitter64' or 'splitter48'")
    if method == "auto":
        short = shards == 1 and n <= SHORT_LIST[kind] and splitters is None
        method = {"cpu": "sequential", "cuda": "wylie"}[kind] if short else "splitter64"
    dtype = np.dtype(np.int32 if n < 2**31 else np.int64)
    ranges, spacing, lists = even_ranges(n, shards, 1), 0, n * dtype.itemsize
    exchange = EXCHANGE[kind] if shards > 1 else 0
    cores = sum(spec.cores for spec in specs)
    seconds = n / LIST_RANK_RATE[kind][method]
    if method == "sequential":
        ranges = ((0, n), *((n, n),) * (shards - 1))
        steps, peaks = 1, (3 * lists, *(lists,) * (shards - 1))
    elif method == "wylie":
        steps = rounds(n)
        peaks = tuple(lists + 8 * n + (last - first) * dtype.itemsize for first, last in ranges)
        seconds = steps * (seconds / cores + exchange)
    else:
        if splitters is None:
            units = sum(spec.processors for spec in specs) if kind == "cuda" else cores
            walks = WALKS if shards == 1 else WALKS // 2  # each shard ranks the splitters of all
            splitters = walks * units * kernel_module(kind, "ranking").WALKERS
        spacing = min(SPACING, 1 << max(0, (n // int(splitters)).bit_length() - 1))
        # A CPU may receive all others' ranks of its range while it still ranks; GPUs reduce in place.
        heard = dtype.itemsize * (shards - 1) if kind == "cpu" else 0
        each = 2 * lists + (8 if method == "splitter64" else 6) * n + 8 * -(-n // spacing)
        steps, peaks = 4, tuple(each + heard * (last - first) for first, last in ranges)
        able = rates(kind, specs[0].model)
        if kind == "cuda":  # each shard sets and reads the words of all elements, whichever it has walked
            passes = 20 * n / able.memory
            seconds = passes + (seconds - passes) / cores + (n * dtype.itemsize / able.link if shards > 1 else 0)
            launches = RANKING_LAUNCHES
        else:
            seconds, launches = seconds / cores, steps
        seconds += launches * able.launch + steps * exchange
    return Plan(
        algorithm="list_rank",
        method=method,
        n=n,
        m=0,
        dtype=dtype.name,
        predecessors=False,
        block=0,
        ranges=ranges,
        devices=specs,
        steps=steps,
        span=span or max(1, int(SPAN_SECONDS * steps / max(seconds, 1e-9))),
        peak_bytes=peaks,
        seconds=seconds,
        spacing=spacing,
    )


def rounds(links: int) -> int:
    """Return how many rounds of jumps bring every word of a chain to its end, and show a word on a cycle."""
    return max(1, (links - 1).bit_length()) if links > 0 else 0


def products(n: int, nonnegative: bool) -> int:
    """Return how many (min, +) squarings reach every path, and every negative cycle if there may be one."""
    edges = n - 1 if nonnegative else n
    return max(0, (edges - 1).bit_length()) if edges > 0 else 0


def best_grid(shards: int) -> tuple[int, int]:
    """Return the rows and columns of the grid whose shards receive least of the panels; the squarest of these."""

    def received(rows: int) -> tuple[float, int]:
        columns = shards // rows
        return (rows > 1) / columns + (columns > 1) / rows, abs(rows - columns)

    rows = min((rows for rows in range(shards, 0, -1) if shards % rows == 0), key=received)
    return rows, shards // rows


def grouped(components: Sequence[int]) -> tuple[int, ...]:
    """Return the vertices of groups of whole components, in the order of the components.

    A component joins the group before unless both together exceed `GROUP`: small ones cost less together.
    """
    groups: list[int] = []
    for size in components:
        if groups and groups[-1] + size <= GROUP:
            groups[-1] += size
        else:
            groups.append(size)
    return tuple(groups)


def kernel_module(kind: str, family: str) -> Any:
    """Return the constants of a kernel family on a kind of device, which needs no such device."""
    return importlib.import_module(f"mgraph.{'host' if kind == 'cpu' else 'cuda'}.{family}")


def _padded(columns: int, kind: str) -> int:
    """Return the length of a matrix's rows on a kind of device."""
    alignment = (devices.CudaDevice if kind == "cuda" else devices.HostDevice).row_alignment
    return -(-columns // alignment) * alignment


def even_ranges(n: int, parts: int, multiple: int) -> tuple[tuple[int, int], ...]:
    """Cut 0 to n into `parts` ranges of about equal length that start on multiples; the last may be empty."""
    blocks = -(-n // multiple)
    bounds = [min(n, blocks * part // parts * multiple) for part in range(parts + 1)]
    return tuple(itertools.pairwise(bounds))


def balanced_ranges(indptr: Any, parts: int) -> tuple[tuple[int, int], ...]:
    """Cut the vertices into ranges with about equal numbers of edges, starting on multiples of 32.

    So no two shards share a word of a bitmap. A vertex weighs as much as an edge: it costs as much to scan.
    """
    n = len(indptr) - 1
    work = devices.to_host(indptr).astype(np.int64) + np.arange(n + 1)
    goals = work[-1] * np.arange(parts + 1) // parts
    bounds = np.minimum(-(-np.searchsorted(work, goals) // 32) * 32, n)
    bounds[0], bounds[-1] = 0, n
    return tuple((int(first), int(last)) for first, last in itertools.pairwise(bounds))


def spec_of(device: devices.Device) -> DeviceSpec:
    """Return what the planner needs to know of a device of this machine."""
    cores = len(os.sched_getaffinity(0)) if device.kind == "cpu" and hasattr(os, "sched_getaffinity") else 1
    described = DeviceSpec(device.name, device.kind, device.available_memory(), cores, device.model())
    if device.kind == "cpu":
        return described
    with device.active():
        return replace(described, processors=devices.cuda_attribute("MultiProcessorCount"))


def _specs(wanted: Any) -> tuple[DeviceSpec, ...]:
    if isinstance(wanted, int) and not isinstance(wanted, bool):
        if wanted < 1:
            raise InputError(f"devices={wanted} is no number of devices: give 1 or more")
        return (spec_of(devices.find(None)),) * wanted
    if wanted is None or isinstance(wanted, (str, DeviceSpec)):
        wanted = [wanted]
    if not isinstance(wanted, Sequence) or not wanted:
        raise InputError(f"devices={wanted!r} is not known: give a number, names or DeviceSpecs")
    specs = tuple(w if isinstance(w, DeviceSpec) else spec_of(devices.find(w)) for w in wanted)
    for spec in specs:
        if spec.kind not in ("cpu", "cuda") or spec.memory < 0 or spec.cores < 1:
            raise InputError(f"{spec} cannot be: its kind is 'cpu' or 'cuda', with some memory and cores")
    return specs


def _usable(spec: DeviceSpec, memory_limit: int | None) -> int:
    """Return the bytes that a plan may take of a device."""
    usable = int(USABLE * spec.memory)
    return usable if memory_limit is None else min(usable, memory_limit)


def _hindrance(made: Plan, memory_limit: int | None) -> str:
    """Return in words what keeps a plan from fitting; nothing if it fits."""
    for spec, peak in zip(made.devices, made.peak_bytes, strict=True):
        usable = _usable(spec, memory_limit)
        if peak > usable:
            what = (
                f"may take {_size(usable)}, by memory_limit"
                if usable == memory_limit
                else (f"has {_size(spec.memory)} free")
            )
            return f"needs {_size(peak)} on {spec.name}, which {what}"
    if not made.host_bytes:
        return ""
    if made.on_disk:
        folder = tempfile.gettempdir()
        free, where = shutil.disk_usage(folder).free, f"in {folder} (set TMPDIR for another folder)"
    else:
        free, where = devices.find("cpu").available_memory(), "of the host's memory"
    if made.host_bytes > USABLE * free:
        return f"needs {_size(made.host_bytes)} {where}, of which {_size(free)} are free"
    return ""


def _refusal(made: Plan, hindrance: str, memory_limit: int | None) -> str:
    """Return the message of a MemoryLimitError: what was needed, what there is, what would fit."""
    advice = []
    if made.algorithm == "list_rank":
        advice.append("method='splitter48' takes least (each device has the whole list)")
    elif made.method not in SEARCHES:  # of these too every device has the whole graph
        usable = max((_usable(spec, memory_limit) for spec in made.devices), default=1)
        enough = max(-(-sum(made.peak_bytes) // max(1, usable)), len(made.devices) + 1)
        advice.append(f"it takes about {enough} such devices (client=)")
    if made.algorithm == "apsp" and made.dtype != "int16":
        advice.append("a smaller type needs less (dtype=)")
    noun = "elements" if made.algorithm == "list_rank" else "vertices"
    return f"{made.algorithm} of {made.n:,} {noun} {hindrance}: {', or '.join(advice) or 'use less of it elsewhere'}"


def _size(size: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.3g} {unit}" if unit != "B" else f"{int(size)} B"
        size /= 1024
    return f"{size:,.2f} GiB"


def _between(values: Iterable[int], words: Callable[[int], str]) -> str:
    """Return in words between what and what some values lie."""
    there = set(values)
    least, most = words(min(there)), words(max(there))
    return least if least == most else f"{least} to {most}"


def _duration(seconds: float) -> str:
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:,.1f} s"
