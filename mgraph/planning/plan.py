"""What a plan is, and its words."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from .devices import DeviceSpec

#: Devices from which on they are told as one, not a line each.
MANY = 17


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
    def by_source(self) -> bool:
        """Whether all pairs are found by searching from every source."""
        return self.algorithm == "apsp" and self.batch > 0

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
            lines.append(f"out of core: {self.strip:,} rows at a time, {size_in_words(self.host_bytes)} in {where}")
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
                f"  {way.name:{width}} {_duration(way.seconds):>10} {size_in_words(way.peak_bytes):>12}  {way.verdict}"
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
            peak, memory = (
                _between(self.peak_bytes, size_in_words),
                _between((spec.memory for spec in self.devices), size_in_words),
            )
            yield f"{len(self.devices):,} x {self.devices[0].kind}: {part} {noun} each, peak {peak} of {memory}"
            return
        for own, across, spec, peak_bytes in zip(self.ranges, columns, self.devices, self.peak_bytes, strict=True):
            part = f"{noun} {own[0]:,} to {own[1] - 1:,}"
            if self.grid[1] > 1:
                part += f" by {across[0]:,} to {across[1] - 1:,}"
            if own[0] == own[1] or across[0] == across[1]:
                part = f"no {noun}"
            yield f"{spec.name}: {part}, peak {size_in_words(peak_bytes)} of {size_in_words(spec.memory)}"


def _between(values: Iterable[int], words: Callable[[int], str]) -> str:
    """Return in words between what and what some values lie."""
    there = set(values)
    least, most = words(min(there)), words(max(there))
    return least if least == most else f"{least} to {most}"


def _duration(seconds: float) -> str:
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:,.1f} s"


def size_in_words(size: float) -> str:
    """Return a number of bytes in words."""
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.3g} {unit}" if unit != "B" else f"{int(size)} B"
        size /= 1024
    return f"{size:,.2f} GiB"
