"""The `Plan` of a call, and its description in words.

A `Plan` has the fields that all algorithms share. Fields of one algorithm are in its `Detail`. Each algorithm derives a
`Detail` in its own `plan` module, or in `detail` if its programs import it. It also writes the algorithm's lines of
`Plan.explain`.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

from ..arguments import size_in_words, warn_caller
from ..errors import ArgumentValue, SlowPlanWarning, Words
from .cut import Range, Ranges
from .devices import DeviceSpec
from .network import WITHIN_LAUNCH, Traffic
from .rates import are_of

#: Seconds that a choice must cost to be warned of.
MINUTES = 60.0

#: The number of devices from which one line describes all of them.
MANY = 17


#: The verdict on the alternative that runs, and how those begin on others that fit.
CHOSEN, FITS = "chosen", "fits"


class Alternative(NamedTuple):
    """An alternative that the planner considered: its name, predicted seconds and peak bytes, and the verdict."""

    name: str
    seconds: float
    peak_bytes: int
    verdict: str


@dataclass(frozen=True)
class Detail:
    """The fields of a plan that belong to one algorithm.

    An algorithm derives a frozen dataclass from it, with the fields that its program needs. The methods write the
    lines of `Plan.explain` that differ between algorithms. Each takes the plan that the detail belongs to.

    Attributes
    ----------
    traffic : Traffic or None
        What is predicted of the exchange between nodes, where ``network`` was given and vertices are cut into ranges.
    meeting_way : str
        How shards of a search on GPUs exchange data, or have done so once a call has run, and why; "" of others.
    """

    traffic: Traffic | None = field(default=None, kw_only=True)
    meeting_way: str = field(default="", kw_only=True)

    @property
    def meets(self) -> bool:
        """Whether shards exchange data within a launch, or may."""
        return self.meeting_way.startswith(WITHIN_LAUNCH)

    #: What `Plan.n` counts.
    noun: ClassVar[str] = "vertices"

    #: What `Plan.ranges` count, where that is not what `Plan.n` counts.
    dealt: ClassVar[str] = ""

    #: The name of the main result.
    values: ClassVar[str] = "distances"

    #: The number of supersteps in words, if it is not known before the run.
    until: ClassVar[str] = "as many as it takes"

    #: Whether rows of the result leave a GPU for the host's memory, or a file, as they are found.
    rows_leave: ClassVar[bool] = False

    #: Whether each of several devices holds only its part of the input, so that more devices need less memory each.
    divided: ClassVar[bool] = True

    def result(self, plan: "Plan") -> str:
        """Return the names and types of the results, in words."""
        return f"{self.values} {plan.dtype}" + (", predecessors int32" if plan.predecessors else "")

    def result_bytes(self, plan: "Plan") -> int | None:
        """Return the bytes of the results of all devices together; None if they are not known before the run."""
        return plan.n * (np.dtype(plan.dtype).itemsize + 4 * plan.predecessors)

    def lines(self, plan: "Plan") -> Iterator[str]:
        """Yield lines about how the result is computed."""
        if self.meeting_way:
            yield f"exchanged: {self.meeting_way}"
        steps = self.until if plan.steps is None else f"{plan.steps:,}"
        yield f"supersteps: {steps}, in spans of {plan.span:,}"
        if self.traffic is not None:
            sent = f"{size_in_words(self.traffic.entering)} into each node in {duration_in_words(self.traffic.seconds)}"
            fewer = f"exchange less from {self.traffic.grid_from or 0:,} devices on"
            grid = fewer if self.traffic.grid_from is not None else "not exchange less on any number of devices"
            yield f"network: {sent}; a grid of two dimensions would {grid}"

    def preparing(self, plan: "Plan") -> Iterator[str]:
        """Yield a line about what is prepared before the solve, if anything is."""
        yield from ()

    def part(self, plan: "Plan", shard: int) -> tuple[Range, ...]:
        """Return a shard's part of the work: its vertices, or the rows and the columns of its rectangle."""
        return (plan.ranges[shard],)

    def layout(self, plan: "Plan") -> tuple[Ranges, Ranges]:
        """Return how a resulting matrix is cut into a grid with one part per shard: its rows, and its columns."""
        return plan.ranges, ((0, plan.n),)

    def advice(self, plan: "Plan", short: bool) -> Iterator[Words]:
        """Yield advice that needs less memory; `short` says that devices lack memory, not only that a limit is low."""
        yield from ()


DetailT = TypeVar("DetailT", bound=Detail, covariant=True)


@dataclass(frozen=True, kw_only=True)
class Plan(Generic[DetailT]):
    """How a call will be run, made before anything is allocated.

    Attributes
    ----------
    algorithm, method : str
        Names of the algorithm and the method.
    n, m : int
        Number of vertices, or elements of a list, and of stored directed edges (0 if they do not matter).
    dtype : str
        The type of the result.
    predecessors : bool
        Whether predecessors are computed.
    ranges : tuple of (int, int)
        The vertices, or elements, of each shard; for a matrix, its rows.
    devices : tuple of DeviceSpec
        Each shard's device.
    steps : int or None
        Number of supersteps; None if it is not known before the run.
    span : int
        Number of supersteps per span.
    peak_bytes : tuple of int
        The peak bytes of each device.
    seconds : float
        Predicted seconds of the solve; infinite if they are not predicted.
    detail : Detail
        The fields of this algorithm's plans.
    host_bytes, disk_bytes : int
        Bytes that one GPU's call takes of the host's memory, and bytes of a temporary file, in addition to the devices.
    alternatives : tuple of Alternative
        The alternatives that were considered, fastest first.
    result_bytes : int or None
        Bytes of the results of all devices together; None if they are not known before the run.
    result_place : str
        Where the results go, in words.
    copied_bytes : tuple of int or None
        The bytes of `peak_bytes` that copies for checkpoints take, by device; None where they do not fit, so that the
        call pauses while one is written. Empty without checkpoints.

    Examples
    --------
    >>> import mgraph
    >>> plan = mgraph.bfs(mgraph.generate.grid(2, 3), 0, device="cpu").plan
    >>> plan.algorithm, plan.n, plan.m, plan.ranges
    ('bfs', 6, 14, ((0, 6),))
    """

    algorithm: str
    method: str
    n: int
    m: int = 0
    dtype: str
    predecessors: bool = False
    ranges: Ranges
    devices: tuple[DeviceSpec, ...]
    steps: int | None
    span: int
    peak_bytes: tuple[int, ...]
    seconds: float
    detail: DetailT
    host_bytes: int = 0
    disk_bytes: int = 0
    alternatives: tuple[Alternative, ...] = ()
    copied_bytes: tuple[int | None, ...] = ()

    @property
    def result_bytes(self) -> int | None:
        """Bytes of the results of all devices together; None if they are not known before the run.

        Examples
        --------
        >>> import mgraph
        >>> gpus = [mgraph.DeviceSpec("cuda", "cuda", 140 << 30)] * 4
        >>> plan = mgraph.plan("apsp", 2_000_000, 12_000_000, gpus)
        >>> plan.method, plan.result_bytes >> 40, plan.result_place
        ('sssp', 14, "in the memory of the devices' hosts, in addition to the peaks")
        """
        return self.detail.result_bytes(self)

    @property
    def result_place(self) -> str:
        """Where the results go, in words.

        Examples
        --------
        >>> import mgraph
        >>> mgraph.plan("bfs", 1000, 5000, "cpu").result_place
        'in memory, a part of the peak'
        """
        several = len(self.devices) > 1
        if self.disk_bytes:
            return "in a temporary file"
        if self.host_bytes:
            return "in the host's memory, in addition to the peak"
        if self.detail.rows_leave and self.devices[0].kind == "cuda":
            return "in the memory of the devices' hosts, in addition to the peaks"
        if self.devices[0].kind == "cpu":
            return "in memory, a part of the peaks" if several else "in memory, a part of the peak"
        return "on the devices, a part of their peaks" if several else "on the device, a part of its peak"

    def __str__(self) -> str:
        """Return what `explain` returns."""
        return self.explain()

    def explain(self, verbose: bool = False) -> str:
        """Return the plan in words, one fact per line; ``print(plan)`` shows it.

        Parameters
        ----------
        verbose : bool
            Whether to return all that the plan says: how the work is cut, each device, and the alternatives. Otherwise
            the method, why it was chosen, where the call runs, with its memory, the result and the time.

        Returns
        -------
        str

        Examples
        --------
        >>> import mgraph
        >>> gpu = mgraph.DeviceSpec("cuda:0", "cuda", 16 << 30)
        >>> plan = mgraph.plan("apsp", n=10_000, devices=[gpu])
        >>> print(plan.explain())  # doctest: +ELLIPSIS
        apsp, method 'blocked': 10,000 vertices
        why: the fastest of ... that fit; 'squaring' takes ...
        where: cuda:0, peak 401 MiB of 16.00 GiB
        result: 381 MiB, on the device, a part of its peak
        predicted time of the solve: ...
        >>> print(plan.explain(verbose=True))  # doctest: +ELLIPSIS
        apsp, method 'blocked': 10,000 vertices
        distances float32
        result: 381 MiB, on the device, a part of its peak
        blocks of 128 pivots, looking ahead
        supersteps: 237, in spans of ...
        cuda:0: vertices 0 to 9,999, peak 401 MiB of 16.00 GiB
        predicted time of the solve: ...
        alternatives:
          blocked ... chosen
        ...
        """
        what = f"{self.algorithm}, method {self.method!r}: {self.n:,} {self.detail.noun}"
        if self.m:
            what += f", {self.m:,} directed edges"
        size = self.result_bytes
        unknown = "hosts" in self.result_place and any(spec.host is None for spec in self.devices)
        checked = "; give host_memory= to check it" if unknown else ""
        result = [] if size is None else [f"result: {size_in_words(size)}, {self.result_place}{checked}"]
        if verbose:
            lines = [what, self.detail.result(self), *result, *self.detail.lines(self), *self._parts()]
        else:
            lines = [what, *self._why(), f"where: {self._where()}", *result, *self.detail.preparing(self)]
        copies = [copy for copy in self.copied_bytes if copy is not None]
        if len(copies) < len(self.copied_bytes):
            lines.append("checkpoints: written while the call pauses, as a copy does not fit")
        elif copies:
            copied = f", from a copy of {_between(copies, size_in_words)} on each device" if any(copies) else ""
            lines.append(f"checkpoints: written behind the computation{copied}")
        known = math.isfinite(self.seconds)
        other = are_of(self.devices[0].kind, self.devices[0].model)
        time = duration_in_words(self.seconds) + (f", if each is as fast as {other}" if other else "")
        lines.append(f"predicted time of the solve: {time if known else 'unknown'}")
        if self.alternatives and verbose:
            lines.append("alternatives:")
            width = max(len(way.name) for way in self.alternatives)
            lines += (
                f"  {way.name:{width}} {duration_in_words(way.seconds):>10} {size_in_words(way.peak_bytes):>12}"
                f"  {way.verdict}"
                for way in self.alternatives
            )
        return "\n".join(lines)

    def _why(self) -> Iterator[str]:
        """Yield a line that says why this plan was chosen among its alternatives, if it has any."""
        chosen = next((place for place, way in enumerate(self.alternatives) if way.verdict == CHOSEN), None)
        if chosen is None or len(self.alternatives) < 2:
            return
        # The method's name does not say, for example, that it searches from the targets.
        name = self.alternatives[chosen].name
        what = "" if name == self.method else f"{name!r}, "
        faster, fitting = self.alternatives[:chosen], [way for way in self.alternatives if way.verdict.startswith(FITS)]
        if faster:
            ways = (
                f"{way.name!r} takes {duration_in_words(way.seconds)}, but {way.verdict.removeprefix(f'{FITS}; ')}"
                for way in faster
            )
            yield f"why: {what and f'{what}as '}{'; '.join(ways)}"
        elif fitting:
            second = f"{fitting[0].name!r} takes {duration_in_words(fitting[0].seconds)}"
            yield f"why: {what}the fastest of {1 + len(fitting)} that fit; {second}"
        else:
            yield f"why: {what}the only one that fits"

    def _where(self) -> str:
        """Return the devices, and how much of their memory the call takes."""
        if len(self.devices) == 1:
            [spec] = self.devices
            return f"{spec.name}, peak {peak_in_words(self.peak_bytes[0], spec)} of {size_in_words(spec.memory)}"
        peak = _between(self.peak_bytes, size_in_words)
        memory = _between((spec.memory for spec in self.devices), size_in_words)
        return f"{len(self.devices):,} x {self.devices[0].kind}, peak {peak} of {memory} each"

    def _parts(self) -> Iterator[str]:
        """Yield a line for each device, with its part of the work and its memory; a single line for many devices."""
        noun = self.detail.dealt or self.detail.noun
        parts = [self.detail.part(self, shard) for shard in range(len(self.devices))]
        if len(self.devices) >= MANY:
            sizes = ([last - first for first, last in side] for side in zip(*parts, strict=True))
            part = " by ".join(_between(side, "{:,}".format) for side in sizes)
            peak = _between(self.peak_bytes, size_in_words)
            memory = _between((spec.memory for spec in self.devices), size_in_words)
            yield f"{len(self.devices):,} x {self.devices[0].kind}: {part} {noun} each, peak {peak} of {memory}"
            return
        for own, spec, peak_bytes in zip(parts, self.devices, self.peak_bytes, strict=True):
            words = f"{noun} " + " by ".join(f"{first:,} to {last - 1:,}" for first, last in own)
            if any(first == last for first, last in own):
                words = f"no {noun}"
            yield f"{spec.name}: {words}, peak {peak_in_words(peak_bytes, spec)} of {size_in_words(spec.memory)}"


def warn_of_minutes(plan: Plan) -> None:
    """Warn the caller if a choice that an argument changes costs a minute or more: `plan` is about to run."""
    ways = {way.name: way for way in plan.alternatives}
    chosen = next((way for way in plan.alternatives if way.verdict == CHOSEN), None)
    if chosen is None or chosen.seconds < MINUTES:
        return
    words = f"{plan.algorithm} by {chosen.name!r} is predicted to take {duration_in_words(chosen.seconds)}"
    quicker = next((way for way in plan.alternatives if "only used if" in way.verdict), chosen)
    preparation = getattr(plan.detail, "preparation", 0.0)
    if chosen.seconds - quicker.seconds >= MINUTES:
        why = quicker.verdict.removeprefix("fits; ")
        warn_caller(
            SlowPlanWarning(f"{words}, by {quicker.name!r} {duration_in_words(quicker.seconds)}, which is {why}")
        )
    elif preparation >= MINUTES and (other := next((name for name in ways if name != chosen.name), None)):
        words += f", of which {duration_in_words(preparation)} are to prepare what the graph keeps for further calls; "
        advice = ArgumentValue("method", other), f" takes {duration_in_words(ways[other].seconds)}"
        warn_caller(SlowPlanWarning(words, *advice))


def _between(values: Iterable[int], words: Callable[[int], str]) -> str:
    """Return the least and the greatest of some values in words."""
    there = set(values)
    least, most = words(min(there)), words(max(there))
    return least if least == most else f"{least} to {most}"


def duration_in_words(seconds: float) -> str:
    """Return a time in words."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    if seconds < 1:
        return f"{seconds * 1e3:.1f} ms"
    for unit, length, most in (("s", 1, 999.95), ("min", 60, 120), ("h", 3600, 48)):
        if seconds < most * length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds / 86400:,.1f} days"


def peak_in_words(peak: int, spec: DeviceSpec) -> str:
    """Return a device's peak in words, and how much of it is already allocated on the device."""
    return size_in_words(peak) + (f" ({size_in_words(spec.held)} already allocated)" if spec.held else "")
