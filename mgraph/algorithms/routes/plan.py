"""Plans of pairs and of flows by a hierarchy: pairs are dealt to the devices, each of which has all entries.

The figures are those of New York's roads in benchmarks/NOTES.md ("Pairs, flows and sums along paths"): 264,346 vertices
with 160 ancestors each, a climb of 6,300 entries, and 1.3 million entries in all. Seconds of a core are relative to its
speed. A figure that no run printed by itself says what it was derived from.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ... import device as devices
from ...arguments import checked_choice
from ...dtypes import distance_dtype, name_of, offset_type
from ...errors import ArgumentValue, InputError
from ...hierarchy.lengths import TYPES
from ...hierarchy.routes import CLIMBS, FEW, Known
from ...kernels.routes.ops import APART, STACK
from ...planning.cut import even_ranges, span_of
from ...planning.devices import DeviceSpec, rates_of, spec_of, speed_of
from ...planning.fit import fitted
from ...planning.plan import Plan
from ...planning.remembered import remembered
from ..batched_sweeps import expected_fill
from .detail import RoutesDetail

#: The methods, of which there is one.
METHODS = ("hierarchy",)

#: The most pairs that a device takes in a superstep.
BATCH = 1 << 20

#: Bytes of an entry and of a vertex of a hierarchy that is copied to a device: its ends, its depth, its lower vertex,
#: its number there, and its lengths in both directions.
AN_ENTRY, A_VERTEX = 32, 64

#: Bytes of what the paths of an entry consist of, and of the depth of its lower end, which is all that a GPU has of
#: it for a demand.
_PARTS, _DEPTH = 20, 4

#: Bytes of a pair of a batch besides its distance twice: the numbers of its climbs; of one of integers, whether there
#: is a path, and its distance once more, and what a comparison with the range takes; with sums along paths, the turn, a
#: total and one that is added; and of a demand.
_NUMBERS, _REACHED, _COMPARED, _SUMMED, _A_SUM, _DEMANDED = 8, 5, 4, 30, 16, 36

#: The share of the height that a vertex's ancestors are: New York's labels of 8 bytes take 0.34 GB.
_ANCESTORS = 0.62

#: Seconds of a core: of an addition of a climb by a stack of rows (740 a vertex, 0.11 s for all), and of an element of
#: a climb that is written (labels take 0.24 s); of an entry of a climb alone (8 us), and of a pair that is taken alone,
#: of two climbs (24 us). With last entries climbs take twice as long. A stack passes so many ancestors of a vertex that
#: it passes for no other: both ways of climbing take as long from one vertex in 176 on.
_ADDED, _WRITTEN, _CLIMBED_ALONE, _TAKEN_ALONE = 0.56e-9, 3e-9, 1.3e-9, 1.9e-9
_WITH_LAST, _OWN = 2, 20

#: Seconds of a core for a pair: those that all cores share, and those of one (360 ns of a million from labels, and 118
#: on 16 cores); of a table (18 ms of a million, and what is left of 157 ms of flows besides climbs and entries).
_JOINED, _LISTED = 0.26e-6, 0.1e-6
_JOINED_IN_TABLE, _LISTED_IN_TABLE = 0.02e-6, 0.08e-6

#: Seconds of a core for an element of a climb along which sums are made (2.8 us a pair of a million), and one core for
#: one along which a demand goes down (between 2.8 s on one core and 0.55 s on 16 for a million pairs).
_CARRIED, _PUSHED = 22e-9, 8e-9

#: Seconds of a core for a pair of entries when what paths consist of is found (101 ms), and for an entry whose sums are
#: added up, or whose load is divided, on one core (of flows of a matrix on a GPU, 24 ms in all).
_DIVIDED, _SPREAD = 11e-9, 10e-9

#: Of paths, the vertices as a multiple of the root of the graph's vertices, and seconds of a core for one (306 of a
#: path on average, in 24 us); they lie twice in memory when all are joined.
_PATH, _A_VERTEX_OF_PATH, _COPIES = 0.6, 78e-9, 2

#: Seconds of a call on a GPU besides (0.81 ms for 10,000 pairs from labels), of an entry of a climb (all of New York's
#: in 4.8 ms) and of one of a single climb, which bounds few, and of a pair from its climbs (`meet` of ten million).
_CALL, _GPU_ENTRY, _GPU_CLIMB, _MET = 0.8e-3, 2.9e-12, 10e-9, 0.54e-9


@dataclass(frozen=True)
class _Request:
    """The arguments of a plan, checked."""

    n: int
    m: int
    starts: int
    ends: int
    table: bool
    along: int
    paths: bool
    loads: bool
    dtype: np.dtype
    known: Known

    @property
    def width(self) -> int:
        """The pairs of a start."""
        return self.ends if self.table else 1

    @property
    def entered(self) -> bool:
        """Whether paths matter, and so entries."""
        return self.loads or self.paths or self.along > 0

    @property
    def sums(self) -> int:
        """What is added up along paths: other weights, the edges of a path, or a demand."""
        return self.along + self.paths + self.loads

    @property
    def batch(self) -> int:
        """The starts that a device takes at a time."""
        return max(1, min(self.starts, BATCH // max(1, self.width)))

    @property
    def detail(self) -> RoutesDetail:
        """What the plan has beside the fields of all plans."""
        return RoutesDetail(
            pairs=self.starts * self.width,
            batch=self.batch,
            along=self.along,
            paths=self.paths,
            loads=self.loads,
            entries=self.known.fill.entries,
        )

    @property
    def path(self) -> float:
        """The vertices of a path, as far as they are known before."""
        return _PATH * math.sqrt(self.n)

    def vertices(self, rows: int) -> tuple[int, int]:
        """Return how many vertices climb at most for some starts, and for their ends; of both at once the first."""
        ends = self.ends if self.table else min(self.ends, rows)
        if self.known.labelled and not self.entered:
            return 0, 0
        if self.known.alike:
            return min(self.n, rows + ends), 0
        return min(self.n, rows), min(self.n, ends)

    def elements(self, rows: int) -> float:
        """Return the elements of these climbs."""
        return self.known.ancestors * sum(self.vertices(rows))

    def peak(self, rows: int, spec: DeviceSpec) -> int:
        """Return the bytes that a device needs that takes some of the starts."""
        known, on_host, fill = self.known, spec.kind == "cpu", self.known.fill
        taken, item = min(rows, self.batch), known.inner.itemsize
        last = offset_type(fill.entries).itemsize if self.entered else 0
        vertices = sum(self.vertices(taken))
        elements = min(self.elements(taken), min(CLIMBS, spec.memory // 4) / (4 + item + last))
        sums = self.sums * elements * (16 if known.alike else 8)
        climbing = spec.cores * fill.height * (4 + fill.height * (item + last)) * on_host
        climbing *= self._together(vertices, item + last)
        step = elements * (4 + item + last) + 8 * vertices + max(climbing, sums + self._batch_bytes(taken))
        asked = 4 * (rows + (self.ends if self.table else rows))
        copied = 0 if known.here else AN_ENTRY * fill.entries + A_VERTEX * self.n + 20 * self.m
        parts = _DEPTH if self.loads and not on_host else _PARTS
        kept = (16 * (self.along + self.paths) + parts * self.entered) * fill.entries
        if not self.loads:
            found = rows * (self.dtype.itemsize + 8 * self.along + self.paths * int(8 + 4 * _COPIES * self.path))
            return int(copied + asked + kept + found + step)
        kept += 16 * fill.entries + 8 * self.n + 8 * rows * self.width * on_host
        return int(copied + asked + kept + max(step, 16 * (self.m + self.n) * on_host))

    def _batch_bytes(self, rows: int) -> int:
        """Return the bytes that the pairs of a batch take besides climbs."""
        each = 2 * self.known.inner.itemsize
        if self.loads:
            each += _DEMANDED
        elif self.entered:
            each += _SUMMED + _A_SUM * (self.sums - 1)
        else:
            each += _NUMBERS * (not self.known.labelled) + _REACHED * (self.dtype.kind == "i")
            each += _COMPARED * (self.dtype.kind == "i" and self.known.inner != self.dtype)
        return each * rows * self.width

    def _together(self, vertices: int, itemsize: int) -> bool:
        """Return whether vertices climb together, as `mgraph.kernels.routes.host` decides."""
        return vertices * APART >= self.n > 0 and self.known.fill.height**2 * itemsize <= STACK

    def seconds(self, rows: int, spec: DeviceSpec) -> float:
        """Predict the seconds in which a device takes some of the starts, all batches."""
        if not rows:
            return 0.0
        taken = min(rows, self.batch)
        steps = rows / taken
        spec = spec_of(devices.find("cpu")) if self.paths else spec  # where paths are found
        host = spec if spec.kind == "cpu" else spec_of(devices.find("cpu"))
        prepared = self._entry_seconds(host, spec.kind == "cpu") if self.entered else 0.0
        passed = self._on_cores(taken, spec) if spec.kind == "cpu" else self._on_gpu(taken, spec)
        return prepared + steps * passed + (_CALL if spec.kind == "cuda" else 0.0)

    def _entry_seconds(self, host: DeviceSpec, alone: bool) -> float:
        """Predict the seconds in which the host finds what paths consist of, and divides loads or adds up sums.

        A GPU adds up sums itself: then the host is not `alone`.
        """
        fill, own = self.known.fill, self.sums if alone else self.loads
        divided, added = _DIVIDED * fill.pairs / host.cores, _SPREAD * fill.entries * own
        return (divided + added) / speed_of(host).arithmetic

    def _on_cores(self, rows: int, spec: DeviceSpec) -> float:
        """Predict the seconds of a batch on a CPU."""
        known, fill, pairs = self.known, self.known.fill, rows * self.width
        vertices, elements, item = sum(self.vertices(rows)), self.elements(rows), known.inner.itemsize
        shared = pairs * (_JOINED_IN_TABLE if self.table else _JOINED)
        alone = pairs * (_LISTED_IN_TABLE if self.table else _LISTED)
        if 2 * pairs * FEW <= self.n and not (self.table or self.entered or known.labelled):
            shared, alone = pairs * 2 * _TAKEN_ALONE * fill.climb, 0.0
        elif vertices:
            twice = _WITH_LAST if self.entered else 1
            if self._together(vertices, item + 4 * self.entered):
                passed = self.n * -math.expm1(-_OWN * vertices / self.n)
                climbing = passed * _ADDED * known.ancestors * fill.entries / self.n
            else:
                climbing = vertices * _CLIMBED_ALONE * fill.climb
            shared += twice * climbing + _WRITTEN * elements
        carried = elements * (1 + known.alike)
        shared += _CARRIED * carried * (self.along + self.paths) + self.paths * pairs * self.path * _A_VERTEX_OF_PATH
        alone += _PUSHED * carried * self.loads
        return (shared / spec.cores + alone) / speed_of(spec).arithmetic

    def _on_gpu(self, rows: int, spec: DeviceSpec) -> float:
        """Predict the seconds of a batch on a GPU, with the copies of what is asked and found."""
        rates, fill, pairs = rates_of(spec), self.known.fill, rows * self.width
        vertices, elements = sum(self.vertices(rows)), self.elements(rows)
        climbing = fill.climb * (_GPU_CLIMB * (vertices > 0) + _GPU_ENTRY * vertices)
        moved = (16 + 16 * (not self.table)) * rows + pairs * (self.dtype.itemsize + 8 * self.along)
        carried = 32 * elements * (1 + self.known.alike) * self.sums
        return climbing + pairs * _MET + moved / rates.copy + carried / rates.memory


@remembered
def planned(
    n: int,
    m: int,
    specs: tuple[DeviceSpec, ...],
    *,
    method: str = "auto",
    dtype: Any = None,
    sources: int | None = None,
    targets: int | None = None,
    along: int = 0,
    paths: bool = False,
    directed: bool = True,
    exact: bool = False,
    loads: np.dtype | None = None,
    known: Known | None = None,
    span: int | None = None,
    memory_limit: int | None = None,
) -> Plan[RoutesDetail]:
    """Plan pairs by a hierarchy, or the loads of a demand.

    There are as many pairs as `sources`, or one of each source and each of `targets`. As long as the hierarchy is not
    known, it is that of a road network; one device has it already, and several get copies. Unless all sums of weights
    are `exact`, it sums float32 in float64.
    """
    checked_choice("method", method, ("auto", *METHODS))
    for name, value in (("along", along), ("paths", paths)):
        if value and loads is not None:
            raise InputError(ArgumentValue(name, value), " does not go with flows: it is for pairs")
    distances = distance_dtype(None, dtype, TYPES)
    known = known or _expected(n, m, distances, not directed, exact, here=len(specs) == 1)
    starts = n if sources is None else sources
    ends = starts if targets is None else targets
    table, of_loads = targets is not None, loads is not None
    request = _Request(n, m, starts, ends, table, along, paths, of_loads, distances, known)
    ranges = even_ranges(starts, len(specs), 1)
    rows = [last - first for first, last in ranges]
    seconds = max(request.seconds(count, spec) for count, spec in zip(rows, specs, strict=True))
    steps = max(1, -(-max(rows) // request.batch))
    made = Plan(
        algorithm="pairs" if loads is None else "flows",
        method="hierarchy",
        n=n,
        m=m,
        dtype=name_of(distances if loads is None else loads),
        ranges=ranges,
        devices=specs,
        steps=steps,
        span=span or span_of(seconds / steps),
        peak_bytes=tuple(request.peak(count, spec) for count, spec in zip(rows, specs, strict=True)),
        seconds=seconds,
        detail=request.detail,
    )
    return fitted(made, memory_limit)


def _expected(n: int, m: int, dtype: np.dtype, alike: bool, exact: bool, here: bool) -> Known:
    """Return what is expected of the hierarchy of a road network, for distances of a type."""
    fill, wide = expected_fill(n, m), dtype.kind == "f" and not exact
    inner = np.dtype(np.float64) if wide else dtype
    return Known(fill, _ANCESTORS * fill.height, inner, alike, labelled=False, here=here)


#: The planner of flows.
planned_flows = partial(planned, loads=np.dtype(np.float64))
