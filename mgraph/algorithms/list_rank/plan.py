"""Plans of list ranking."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...arguments import checked_choice, checked_integer
from ...dtypes import MAX_ELEMENTS, name_of
from ...errors import ArgumentValue, InputError, Words
from ...kernels import list_rank as list_rank_kernels
from ...planning.cut import even_ranges, fitting_rows, span_of
from ...planning.devices import DeviceSpec, rates_of, speed_of
from ...planning.fit import fitted
from ...planning.plan import Detail, Plan
from ...planning.rates import EXCHANGE
from ...planning.remembered import remembered
from .rounds import rounds

#: Elements ranked a second by a GPU, of lists of many millions, and by a CPU's core; by Wyllie's method, elements a
#: second in each round.
RATE = {
    "cuda": {"splitter64": 10e9, "splitter48": 7e9, "wyllie": 100e9},
    "cpu": {"sequential": 7.5e6, "splitter64": 33e6, "splitter48": 30e6, "wyllie": 150e6},
}

#: Launches that ranking by splitters takes on a GPU; reads and allocations that take as long are counted too.
LAUNCHES = 50

#: Elements of a short list. On a CPU, one core walks along it as fast as any method, because its caches hold the list;
#: on a GPU, Wyllie's method takes no longer than the launches for splitters.
SHORT_LIST = {"cpu": 1 << 16, "cuda": 1 << 23}

#: How many times faster per element a core walks along a short list.
CACHED = 7

#: Least number of walks per thread of a device, so that few threads wait for the longest walk; and the largest spacing
#: of splitters by default, with which 16 bits hold the number of steps of a walk.
WALKS = 4
SPACING = 1024

#: The largest spacing that can be asked for. With wider ones a walk would take minutes to notice that it is on a cycle.
WIDEST = {"splitter64": 1 << 18, "splitter48": SPACING}

#: What `mgraph.list_rank` can do.
METHODS = ("sequential", "wyllie", "splitter64", "splitter48")


@dataclass(frozen=True)
class ListDetail(Detail):
    """The splitters of a list.

    Attributes
    ----------
    spacing : int
        One of this number of elements is picked as a splitter; 0 where there are no splitters.
    """

    noun: ClassVar[str] = "elements"
    values: ClassVar[str] = "ranks"
    divided: ClassVar[bool] = False  # each device has the whole list

    spacing: int = 0

    def lines(self, plan: Plan) -> Iterator[str]:
        """Yield the splitters."""
        if self.spacing:
            yield f"splitters: {-(-plan.n // self.spacing):,}, one among {self.spacing:,} elements"
        yield from super().lines(plan)

    def advice(self, plan: Plan, short: bool) -> Iterator[Words]:
        """Yield the method that takes least."""
        if short:
            yield ArgumentValue("method", "splitter48"), " takes least (each device has the whole list)"


def planned(
    n: int,
    m: int | None,
    specs: tuple[DeviceSpec, ...],
    *,
    method: str = "auto",
    span: int | None = None,
    splitters: int | None = None,
    memory_limit: int | None = None,
) -> Plan:
    """Plan a list ranking: strata of the elements by splitters, ranges of the elements by Wyllie's method.

    `m` is not used, since an element has one link.
    """
    checked_integer("n", n, 0, MAX_ELEMENTS)
    return _planned(n, specs, method, span, splitters, memory_limit)


@remembered
def _planned(
    n: int,
    specs: tuple[DeviceSpec, ...],
    method: str,
    span: int | None,
    splitters: int | None,
    memory_limit: int | None,
) -> Plan:
    kind, shards = specs[0].kind, len(specs)
    _check(method, kind, splitters)
    if method == "auto":
        short = shards == 1 and n <= SHORT_LIST[kind] and splitters is None
        method = {"cpu": "sequential", "cuda": "wyllie"}[kind] if short else "splitter64"
    dtype = np.dtype(np.int32 if n < 2**31 else np.int64)
    ranges, spacing, lists = even_ranges(n, shards, 1), 0, n * dtype.itemsize
    cores = sum(spec.cores for spec in specs)
    seconds = n / (RATE[kind][method] * speed_of(specs[0]).searches)
    if method == "sequential":
        if n <= SHORT_LIST["cpu"]:
            seconds /= CACHED
        ranges = ((0, n), *((n, n),) * (shards - 1))
        steps, peaks = 1, (3 * lists, *(lists,) * (shards - 1))
    elif method == "wyllie":
        steps = rounds(n)

        def peak(own: int) -> int:
            return lists + 8 * n + own * dtype.itemsize

        ranges = fitting_rows(n, 1, specs, memory_limit, peak)
        peaks = tuple(peak(last - first) for first, last in ranges)
        seconds = steps * (seconds / cores + (EXCHANGE[kind] if shards > 1 else 0))
    else:
        steps, spacing = 4, _spacing(n, specs, method, splitters)
        # A CPU may receive the others' ranks of its range before it has finished its own; GPUs reduce in place.
        received = dtype.itemsize * (shards - 1) if kind == "cpu" else 0
        each = 2 * lists + (8 if method == "splitter64" else 6) * n + 8 * -(-n // spacing)
        peaks = tuple(each + received * (last - first) for first, last in ranges)
        seconds = _seconds_by_splitters(n, lists, specs, seconds, steps)
    made = Plan(
        algorithm="list_rank",
        method=method,
        n=n,
        dtype=name_of(dtype),
        ranges=ranges,
        devices=specs,
        steps=steps,
        span=span or span_of(seconds / max(steps, 1)),
        peak_bytes=peaks,
        seconds=seconds,
        detail=ListDetail(spacing),
    )
    return fitted(made, memory_limit)


def _check(method: str, kind: str, splitters: int | None) -> None:
    """Raise unless a kind of device has the method, and the method splitters if their number is given."""
    checked_choice("method", method, ("auto", *METHODS))
    if method == "sequential" and kind == "cuda":
        raise InputError(
            ArgumentValue("method", "sequential"),
            " goes along a list on one core of a CPU: give ",
            ArgumentValue("device", "cpu"),
            " with it",
        )
    if splitters is not None and method in ("sequential", "wyllie"):
        raise InputError(
            ArgumentValue("method", method),
            " has no splitters: give ",
            ArgumentValue("splitters"),
            " with 'splitter64' or 'splitter48'",
        )


def _spacing(n: int, specs: tuple[DeviceSpec, ...], method: str, splitters: int | None) -> int:
    """Return the elements for each splitter, a power of two: enough walks for the devices, or the number given."""
    if splitters is None:
        kind, shards = specs[0].kind, len(specs)
        units = sum(spec.processors if kind == "cuda" else spec.cores for spec in specs)
        walks = WALKS if shards == 1 else WALKS // 2  # each shard ranks the splitters of all
        wanted = walks * units * list_rank_kernels.of_kind(kind).WALKERS
        return min(SPACING, 1 << max(0, (n // wanted).bit_length() - 1))
    spacing: int = 1 << max(0, (n // splitters).bit_length() - 1)
    if spacing > WIDEST[method]:
        least = n // (2 * WIDEST[method]) + 1
        expected = f"{least} or more for {n} elements by {method!r}"
        raise InputError(argument="splitters", value=splitters, expected=expected)
    return spacing


def _seconds_by_splitters(n: int, lists: int, specs: tuple[DeviceSpec, ...], seconds: float, steps: int) -> float:
    """Return the time of a ranking that takes one core, or one GPU, that many `seconds`, on all devices."""
    kind, shards, able = specs[0].kind, len(specs), rates_of(specs[0])
    cores = sum(spec.cores for spec in specs)
    exchanged = steps * EXCHANGE[kind] if shards > 1 else 0
    if kind == "cpu":
        return seconds / cores + steps * able.launch + exchanged
    passes = 20 * n / able.memory  # each shard writes and reads a word of every element, by whomever it was walked
    sent = lists / able.link if shards > 1 else 0
    return passes + (seconds - passes) / cores + sent + LAUNCHES * able.launch + exchanged


def on_the_first(plan: Plan) -> Plan:
    """Return the plan of ranking a list element by element on the first device, to find what is wrong with it."""
    ranges = ((0, plan.n), *((plan.n, plan.n),) * (len(plan.ranges) - 1))
    return replace(plan, method="sequential", ranges=ranges, steps=1, span=1, detail=ListDetail())
