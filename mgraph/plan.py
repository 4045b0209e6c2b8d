"""The planner: cuts the work into shards, predicts time and peak memory, and refuses what cannot fit.

A plan is made before anything is allocated. A distance matrix is cut into ranges of whole block rows, a
graph into ranges of vertices with about equal numbers of edges. The predicted peak is the sum of what the
program allocates on a device at its fullest moment, the input's own memory not counted.
"""

import importlib
import itertools
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import device as devices
from .errors import InputError, MemoryLimitError
from .graph import MAX_VERTICES
from .weights import chunk_rows, distance_dtype

#: Seconds that a span of supersteps shall take: between spans lie the progress report and Dask's barrier.
SPAN_SECONDS = 1.0

#: Additions and minima a second that the min-plus product reaches, on one H200 and on one CPU core, with
#: predecessors and without, and edges a second that a breadth-first search passes; measured, see
#: benchmarks/NOTES.md. float32 without negative weights has a rate of its own.
MINPLUS_RATE = {
    ("cuda", False): {"nonnegative": 15.6e12, "float32": 12.9e12, "int32": 15.2e12, "float64": 4.95e12},
    ("cuda", True): {"nonnegative": 8.9e12, "float32": 8.5e12, "int32": 8.5e12, "float64": 2.5e12},
    ("cpu", False): {"nonnegative": 36e9, "float32": 36e9, "int32": 34e9, "float64": 20e9},
    ("cpu", True): {"nonnegative": 14e9, "float32": 14e9, "int32": 14e9, "float64": 8e9},
}
EDGE_RATE = {"cuda": 100e9, "cpu": 0.2e9}

#: Seconds that the pivots' own part of a round takes, whatever the size of the matrix.
PIVOT_SECONDS = {"cuda": 60e-6, "cpu": 10e-6}

#: Seconds of one exchange between shards: within one device, by NCCL, and by Dask's messages.
EXCHANGE_SECONDS = {"solo": 0.0, "cuda": 60e-6, "cpu": 2e-3}

#: Share of a device's free memory that a plan may use.
USABLE = 0.95


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
    """

    name: str
    kind: str
    memory: int
    cores: int = 1


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

    def explain(self) -> str:
        """Return the plan in words, one fact a line."""
        what = f"{self.algorithm}, method {self.method!r}: {self.n:,} vertices"
        if self.m:
            what += f", {self.m:,} directed edges"
        kind = f"distances {self.dtype}" + (", predecessors int32" if self.predecessors else "")
        lines = [what, kind]
        if self.block:
            lines.append(f"blocks of {self.block} pivots")
        steps = "as many as the graph has levels" if self.steps is None else f"{self.steps:,}"
        lines.append(f"supersteps: {steps}, in spans of {self.span:,}")
        for (first, last), spec, peak in zip(self.ranges, self.devices, self.peak_bytes, strict=True):
            part = f"vertices {first:,} to {last - 1:,}" if last > first else "no vertices"
            lines.append(f"{spec.name}: {part}, peak {_size(peak)} of {_size(spec.memory)}")
        lines.append(f"predicted time of the solve: {_duration(self.seconds)}")
        return "\n".join(lines)


def plan(
    algorithm: str,
    n: int,
    m: int | None = None,
    devices: Any = None,
    *,
    method: str = "auto",
    dtype: Any = None,
    predecessors: bool = False,
    block: int | None = None,
    span: int | None = None,
    nonnegative: bool = True,
    directed: bool = True,
    indptr: Any = None,
) -> Plan:
    """Plan a call.

    Parameters
    ----------
    algorithm : {"apsp", "bfs"}
        The call to plan.
    n : int
        Number of vertices.
    m : int, optional
        Number of stored directed edges; needed for ``"bfs"``.
    devices : int, str, DeviceSpec or a sequence of these, optional
        What to plan for: a device's name, so many of this machine's best device, or descriptions of
        devices that need not exist. By default this machine's best device.
    method : str
        As in the call.
    dtype : dtype-like, optional
        Of the distances of ``"apsp"``; float32 by default.
    predecessors : bool
        Whether predecessors are asked for.
    block : int, optional
        Pivots eliminated at a time.
    span : int, optional
        Supersteps per span; by default about a second's worth.
    nonnegative : bool
        Whether no weight is negative, which the GPU kernels for float32 make use of.
    directed : bool
        Whether a search holds the edges by source and by target; of an undirected graph one list serves.
    indptr : array of int, shape (n + 1,), optional
        Where each vertex's edges begin, to balance a search's shards by edges; even by default.

    Raises
    ------
    MemoryLimitError
        If the plan does not fit its devices.
    InputError
        For an unknown algorithm, method, block or device.
    """
    if algorithm not in ("apsp", "bfs"):
        raise InputError(f"algorithm {algorithm!r} is not known: use 'apsp' or 'bfs'")
    for name, value in (("n", n), ("m", m)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0):
            raise InputError(f"{name}={value!r} is no number: give 0 or more")
    if n is None or n > MAX_VERTICES:
        raise InputError(f"n={n!r} is no number of vertices: give 0 to {MAX_VERTICES}")
    if block is not None and (isinstance(block, bool) or not isinstance(block, (int, np.integer))):
        raise InputError(f"block={block!r} is no number of pivots")
    if span is not None and span < 1:
        raise InputError(f"span={span!r} is no number of supersteps: give 1 or more")
    specs = _specs(devices)
    if algorithm == "apsp":
        made = _plan_apsp(int(n), int(m or 0), specs, method, dtype, predecessors, block, span, nonnegative)
    else:
        if m is None:
            raise InputError("a plan for bfs needs m=, the number of edges")
        made = _plan_bfs(int(n), int(m), specs, method, predecessors, span, directed, indptr)
    _check_fit(made)
    return made


def _plan_apsp(
    n: int,
    m: int,
    specs: tuple[DeviceSpec, ...],
    method: str,
    dtype: Any,
    predecessors: bool,
    block: int | None,
    span: int | None,
    nonnegative: bool,
) -> Plan:
    if method not in ("auto", "blocked"):
        raise InputError(f"method={method!r} is not known for apsp: use 'auto' or 'blocked'")
    kind = specs[0].kind
    kernels = kernel_module(kind, "minplus")
    block = kernels.DEFAULT_BLOCK if block is None else block
    if block not in kernels.BLOCKS:
        legal = ", ".join(map(str, kernels.BLOCKS))
        raise InputError(f"block={block!r} is not supported: use one of {legal}, or None for the best")
    distances = distance_dtype(None, dtype)
    rounds = -(-n // block)
    ranges = even_ranges(n, len(specs), block)
    fast = nonnegative and distances == np.float32
    rate = MINPLUS_RATE[kind, predecessors]["nonnegative" if fast else distances.name]
    rows = max((last - first for first, last in ranges), default=0)
    exchange = EXCHANGE_SECONDS["solo" if len(specs) == 1 else kind]
    round_seconds = n * rows * min(block, n) / (rate * specs[0].cores) + PIVOT_SECONDS[kind] + exchange
    steps = 3 * rounds
    peaks = tuple(
        _apsp_bytes(n, last - first, m * (last - first) // max(n, 1), distances, predecessors, block, kind)
        for first, last in ranges
    )
    return Plan(
        algorithm="apsp",
        method="blocked",
        n=n,
        m=m,
        dtype=distances.name,
        predecessors=predecessors,
        block=block,
        ranges=ranges,
        devices=specs,
        steps=steps,
        span=span or max(1, int(3 * SPAN_SECONDS / round_seconds)),
        peak_bytes=peaks,
        seconds=rounds * round_seconds,
    )


def _apsp_bytes(n: int, rows: int, m: int, dtype: np.dtype, predecessors: bool, block: int, kind: str) -> int:
    """Sum what `mgraph.apsp` allocates for a shard of `rows` rows with `m` edges."""
    kernels = kernel_module(kind, "minplus")
    alignment = devices.CudaDevice.row_alignment if kind == "cuda" else devices.HostDevice.row_alignment
    leading = -(-n // alignment) * alignment
    itemsize = dtype.itemsize
    cell = itemsize + (4 if predecessors else 0)
    matrix = rows * leading * cell
    panels = block * (kernels.padded(n) * cell + kernels.padded(rows) * itemsize)
    factored = max(kernels.BLOCKS) ** 2 * itemsize
    if predecessors or dtype.kind == "i":
        converted = 12  # what encoding, decoding and the first predecessors hold of an element
    else:
        converted = itemsize if kind == "cuda" else 0
    conversion = min(rows, chunk_rows(n)) * n * converted
    edges = m * (4 + 2 * itemsize) + 8 * (rows + 1)
    return matrix + max(panels + factored, conversion, edges if m else 0)


def _plan_bfs(
    n: int,
    m: int,
    specs: tuple[DeviceSpec, ...],
    method: str,
    predecessors: bool,
    span: int | None,
    directed: bool,
    indptr: Any,
) -> Plan:
    if method not in ("auto", "hybrid", "frontier", "pull"):
        raise InputError(f"method={method!r} is not known for bfs: use 'auto', 'hybrid', 'frontier' or 'pull'")
    kind = specs[0].kind
    if len(specs) == 1:
        ranges: tuple[tuple[int, int], ...] = ((0, n),)
        edges = [m]
    else:
        indptr = np.linspace(0, m, n + 1).astype(np.int64) if indptr is None else indptr
        ranges = balanced_ranges(indptr, len(specs))
        edges = [int(indptr[last]) - int(indptr[first]) for first, last in ranges]
    exchange = EXCHANGE_SECONDS["solo" if len(specs) == 1 else kind]
    per_level = exchange + (5e-6 if kind == "cuda" else 20e-6)
    shared = len(specs) == 1 and not directed
    offset = 4 if m < 2**31 else 8
    peaks = []
    for (first, last), own_edges in zip(ranges, edges, strict=True):
        lists = own_edges * 4 + (last - first + 1) * offset
        if not shared:
            lists += own_edges * 4 + (n + 1) * offset
        words = -(-n // 32) * 4
        own = -(-(last - first) // 32) * 4
        state = 8 * n + words + 2 * own
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
        span=span or max(1, int(SPAN_SECONDS / per_level)),
        peak_bytes=tuple(peaks),
        seconds=m / (EDGE_RATE[kind] * len(specs)) + 20 * per_level,
    )


def kernel_module(kind: str, family: str) -> Any:
    """Return the constants of a kernel family on a kind of device, which needs no such device."""
    return importlib.import_module(f"mgraph.{'host' if kind == 'cpu' else 'cuda'}.{family}")


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
    return DeviceSpec(device.name, device.kind, device.available_memory(), cores)


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


def _check_fit(made: Plan) -> None:
    for spec, peak in zip(made.devices, made.peak_bytes, strict=True):
        if peak > USABLE * spec.memory:
            total = sum(made.peak_bytes)
            enough = -(-total // max(1, int(USABLE * spec.memory)))
            raise MemoryLimitError(
                f"{made.algorithm} of {made.n:,} vertices needs {_size(peak)} on {spec.name}, which has "
                f"{_size(spec.memory)} free: it takes about {max(enough, len(made.devices) + 1)} such devices "
                "(client=), or a smaller type (dtype=)"
            )


def _size(size: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.3g} {unit}" if unit != "B" else f"{int(size)} B"
        size /= 1024
    return f"{size:,.2f} GiB"


def _duration(seconds: float) -> str:
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:,.1f} s"
