"""Plans of distances from many sources: how the sources are dealt to the devices, and how many fit at a time."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ... import device as devices
from ...arguments import Reduced, check_left_out, checked_choice, checked_reduce
from ...dtypes import DISTANCE_TYPES, distance_dtype, name_of
from ...errors import ArgumentValue, InputError, MemoryLimitError
from ...hierarchy.structure import Fill
from ...planning.cut import Ranges, fitting_rows, sources_of, span_of
from ...planning.devices import DeviceSpec, rates_of, spec_of, unheld, usable
from ...planning.fit import fitted, refusal, shortfall
from ...planning.plan import Alternative, Plan
from ...planning.remembered import remembered
from ...planning.shape import Shape
from ..apsp import plan as all_pairs
from ..batched_bfs import counts_bytes, counts_seconds, levels_bytes, levels_seconds, words_for
from ..batched_sssp import (
    CORE_SOURCES,
    SLICE,
    apart_seconds,
    batch_size,
    derivation_seconds,
    gathered_bytes,
    relaxing_seconds,
    searches_bytes,
)
from ..batched_sweeps import (
    BATCH,
    LANES,
    LEAST,
    batch_of,
    expected_fill,
    ordering_bytes,
    ordering_seconds,
    preparation_bytes,
    preparation_seconds,
    sweeps_bytes,
    sweeps_seconds,
)
from .detail import DistancesDetail
from .from_targets import COLUMNS
from .output import columns
from .row_sinks import keeper_bytes, measured_bytes

#: The methods of `mgraph.distances`.
METHODS = ("sssp", "johnson", "bfs", "blocked", "hierarchy")

#: The types to compute in: searches do not compute in int16.
TYPES = tuple(dtype for dtype in DISTANCE_TYPES if dtype != np.int16)

#: Sources of which each core of a CPU, or a GPU, counts levels at a time.
COUNTED = {"cpu": 1024, "cuda": 8192}

#: "auto" takes a hierarchy, its preparation counted, or all pairs, if they are predicted faster than searches by this
#: factor and these seconds. The same searches from fewer targets need less: their predictions err alike.
ADVANTAGE, WORTH, ALIKE = 2.0, 0.5, 0.01

#: "auto" considers all pairs if at least this share of the vertices are sources, and there are at most so many.
SHARE, MATRIX = 0.25, 1 << 16

#: Why "auto" takes searches alone, unless the call knows better; with a place for the other method.
UNKNOWN = "only used if method={!r} is given"

#: The end of the name of a way that searches from the targets, and why "auto" does not take it for all weights.
FROM_TARGETS = " from the targets"
GROUPED = f"floats are summed in another order than by searches, so {UNKNOWN}"
INEXACT = "only used if sums of weights are exact; reverse=True searches from the targets"


class Preparation(NamedTuple):
    """What is known of a graph's hierarchy before a call.

    Attributes
    ----------
    fill : Fill or None
        How much the graph fills in, if the vertices have been ordered.
    done : bool
        Whether the graph keeps a hierarchy.
    rounding : bool
        Whether predecessors are found by entries, as sums of weights may round, or weights are negative.
    why_not : str
        Why ``"auto"`` must not take one; empty if it may.
    """

    fill: Fill | None = None
    done: bool = False
    rounding: bool = False
    why_not: str = ""


class _Dealt(NamedTuple):
    """How sources are dealt to the devices, how many each takes at a time, and the bytes that each needs."""

    ranges: Ranges
    batch: int
    peak_bytes: tuple[int, ...]

    @property
    def most(self) -> int:
        """The sources of the device with most of them."""
        return max(last - first for first, last in self.ranges)

    @property
    def taken(self) -> int:
        """The sources of the largest batch."""
        return min(self.batch, self.most)


@dataclass(frozen=True)
class _Request:
    """The arguments of a plan, checked."""

    n: int
    m: int
    specs: tuple[DeviceSpec, ...]
    dtype: np.dtype
    predecessors: bool
    sources: int
    targets: int | None
    nearest: int | None
    measures: int
    bins: int
    sparse: bool
    span: int | None
    memory_limit: int | None
    nonnegative: bool
    weighted: bool
    directed: bool
    gathered: bool
    here: bool
    weight_bytes: int
    exact: bool
    shape: Shape

    @property
    def kind(self) -> str:
        """The kind of the devices."""
        return self.specs[0].kind

    @property
    def fewer_targets(self) -> bool:
        """Whether to weigh searches from the targets: if they are fewer, and only lengths of paths are wanted."""
        plain = self.here and not self.predecessors and not self.sparse
        return plain and 0 < (self.targets or 0) < self.sources

    @property
    def measured(self) -> bool:
        """Whether measures of rows are kept, and no distances."""
        return self.measures > 0

    @property
    def wide(self) -> int:
        """The number of columns of the resulting matrices; 0 where there are none."""
        return columns(self.n, self.targets, self.nearest, self.measured or self.sparse)

    def kept_bytes(self, rows: int, wide: int, batch: int) -> int:
        """Return the bytes that a keeper takes of the rows of a device's sources, of `wide` distances each."""
        wanted = self.wide, self.measured or self.sparse, self.nearest is not None
        return keeper_bytes(wanted, rows, wide, batch, self.dtype, self.predecessors, self.bins, kind=self.kind)

    def dealt(self, best: int, least: int, peak: Callable[[int, int], int]) -> _Dealt:
        """Deal the sources to the devices: the best number at a time, or fewer if so many do not fit.

        ``peak(rows, batch)`` are the bytes that a device needs.
        """
        batch, share = max(1, min(best, self.sources)), -(-self.sources // len(self.specs))
        most = min(usable(spec, self.memory_limit) for spec in self.specs)
        while batch > least and peak(share, batch) > most:
            batch = max(least, -(-batch // 2 // least) * least)
        ranges = fitting_rows(self.sources, 1, self.specs, self.memory_limit, lambda rows: peak(rows, batch))
        return _Dealt(ranges, batch, tuple(peak(last - first, batch) for first, last in ranges))

    def moving_seconds(self, rows: int, width: int) -> float:
        """Predict the seconds in which rows of this number of distances are looked through, and what is kept is moved.

        Rows are copied to pages that the host has yet to allocate, which halves the rate.
        """
        rates, itemsize = rates_of(self.specs[0]), self.dtype.itemsize
        kept = 2 * self.wide * (itemsize + 4 * self.predecessors)
        return rows * (kept / rates.copy + width * itemsize / rates.memory)

    def plan(self, method: str, dealt: _Dealt, passed: float, computed: str, **details: Any) -> Plan:
        """Return a plan; `passed` are the seconds of a batch, and `computed` is the type that is computed in."""
        steps = -(-dealt.most // dealt.batch)
        seconds = passed + rates_of(self.specs[0]).launch
        a_row = self.wide * (self.dtype.itemsize + 4 * self.predecessors + 4 * (self.nearest is not None))
        return Plan(
            algorithm="distances",
            method=method,
            n=self.n,
            m=self.m,
            dtype=name_of(self.dtype),
            predecessors=self.predecessors,
            ranges=dealt.ranges,
            devices=self.specs,
            steps=steps,
            span=self.span or span_of(seconds),
            seconds=steps * seconds,
            host_bytes=self.sources * a_row if self.kind == "cuda" and len(self.specs) == 1 else 0,
            peak_bytes=dealt.peak_bytes,
            detail=DistancesDetail(
                sources=self.sources,
                columns=self.wide,
                batch=dealt.batch,
                computed=computed,
                sparse=self.sparse,
                nearest=self.nearest is not None,
                **details,
            ),
        )


@remembered
def planned(
    n: int,
    m: int,
    specs: tuple[DeviceSpec, ...],
    *,
    method: str = "auto",
    dtype: Any = None,
    predecessors: bool = False,
    sources: int | None = None,
    targets: int | None = None,
    nearest: int | None = None,
    reduce: Any = None,
    sparse: bool = False,
    span: int | None = None,
    memory_limit: int | None = None,
    nonnegative: bool = True,
    weighted: bool = True,
    directed: bool = True,
    gathered: bool = False,
    here: bool = True,
    weight_bytes: int = 0,
    shape: Shape | None = None,
    preparation: Preparation | None = None,
    searches_only: str = UNKNOWN,
    exact: bool = False,
) -> Plan:
    """Plan distances from `sources` vertices to `targets` vertices, of which all or the `nearest` are kept.

    A `sparse` result takes memory for what lies within the limit, which is not known before.

    A limit shortens the searches by what lies beyond it, which the plan does not know: it predicts searches without.

    A hierarchy is weighed with its `preparation`. As long as the fill is not known, it is that of a road network. The
    blocked method is for calls that run in this process, `here`. `searches_only` says why ``"auto"`` must take
    searches; it is empty if the other methods are open to choice.

    Unless all sums of weights are `exact`, a hierarchy sums float32 in float64, and ``"auto"`` does not take the
    blocked method, whose sums are rounded in another order than those of searches. Where targets are fewer than
    sources, it weighs searches from them against the edges, whose sums are rounded in another order, too.
    """
    reduced = _checked(method, reduce, nearest=nearest, predecessors=predecessors or None)
    computed = distance_dtype(None, dtype, TYPES)
    request = _Request(
        *(n, m, specs),
        dtype=computed,
        predecessors=predecessors,
        sources=n if sources is None else sources,
        targets=targets,
        nearest=nearest,
        measures=sum(map(len, reduced)),
        bins=max(0, len(reduced.bins) - 1),
        sparse=sparse,
        span=span,
        memory_limit=memory_limit,
        nonnegative=nonnegative,
        weighted=weighted,
        directed=directed,
        gathered=gathered,
        here=here and len(specs) == 1,
        weight_bytes=weight_bytes,
        exact=exact or not weighted or computed.kind == "i",
        shape=shape or Shape(),
    )
    return _chosen(request, method, preparation or Preparation(), searches_only)


def _checked(method: str, reduce: Any, **others: Any) -> Reduced:
    """Return the measures; raise InputError unless other arguments go with them, and with the method."""
    checked_choice("method", method, ("auto", *METHODS))
    reduced = checked_reduce(reduce)
    if reduce is not None:
        check_left_out(others, ArgumentValue("reduce", reduce), " keeps no distances: leave out ")
    if method == "blocked":
        no_tree = ArgumentValue("method", method), " finds no predecessors: leave out "
        check_left_out({"predecessors": others["predecessors"]}, *no_tree)
    return reduced


def _chosen(request: _Request, method: str, preparation: Preparation, searches_only: str) -> Plan:
    """Return the plan of a method, or the best of those among which ``"auto"`` chooses."""
    memory_limit = request.memory_limit
    if method == "hierarchy":
        return fitted(_sweeping(request, preparation), memory_limit)
    if method == "blocked":
        return fitted(_on_matrix(request), memory_limit)
    searches = "bfs" if not request.weighted else "sssp" if request.nonnegative else "johnson"
    named = searches if method == "auto" else method
    ways = {named: _searching(request, named)}
    if method == "auto":
        ways["hierarchy"] = _sweeping(request, preparation)
        many = SHARE * request.n <= request.sources and 0 < request.n <= MATRIX
        if many and request.here and not request.predecessors:
            with contextlib.suppress(MemoryLimitError):
                ways["blocked"] = _on_matrix(request)
    rounds = "" if request.exact else GROUPED
    why_not = {"hierarchy": searches_only or preparation.why_not, "blocked": searches_only or rounds}
    if method == "auto" and request.targets is not None and request.fewer_targets:
        with contextlib.suppress(MemoryLimitError):
            swapped = replace(request, sources=request.targets, targets=request.sources, nearest=None, measures=0)
            choice = {named: _searching(swapped, named), "hierarchy": _sweeping(swapped, preparation)}
            searched = _best(choice, named, why_not, memory_limit)
            name = searched.method + FROM_TARGETS
            ways[name] = _searching_from_targets(request, searched)
            why_not[name] = "" if request.exact or searched.method == "hierarchy" else INEXACT
    return _best(ways, named, why_not, memory_limit)


def _searching_from_targets(request: _Request, searched: Plan) -> Plan:
    """Return the plan of searches from the targets, after which the columns are kept as rows on the host."""
    k, t, on_host = request.sources, searched.detail.sources, request.kind == "cpu"
    wanted = request.wide, request.measured, request.nearest is not None
    kept = keeper_bytes(wanted, k, t, min(k, COLUMNS), request.dtype, False, request.bins, kind="cpu")
    return replace(
        searched,
        peak_bytes=tuple(peak + kept * on_host for peak in searched.peak_bytes),
        host_bytes=searched.host_bytes + kept * (not on_host),
        detail=replace(searched.detail, sources=k, columns=request.wide, from_targets=t),
    )


def _best(ways: dict[str, Plan], named: str, why_not: dict[str, str], memory_limit: int | None) -> Plan:
    """Return the plan of the best way: `named`, unless another that may be taken is clearly faster, or alone fits."""
    seconds = {name: way.detail.preparation + way.seconds for name, way in ways.items()}
    short = {name: shortfall(way, memory_limit) for name, way in ways.items()}
    open_to_choice = [name for name in ways if name != named and not why_not[name] and not short[name]]
    other = min(open_to_choice, key=lambda name: seconds[name], default=named)

    def worth(name: str) -> float:
        return ALIKE if name == named + FROM_TARGETS else WORTH

    clearly = ADVANTAGE * seconds[other] + worth(other) < seconds[named]
    chosen = other if clearly or short[named] else named
    if short[chosen]:
        raise MemoryLimitError(*refusal(ways[chosen], short[chosen], memory_limit))
    if len(ways) == 1:
        return ways[chosen]

    def verdict(name: str) -> str:
        if name == chosen:
            return "chosen"
        if short[name] or name == named:
            return short[name] or "fits"
        rule = f"chosen only if at least {ADVANTAGE:g} times as fast and {worth(name) * 1e3:g} ms shorter"
        return f"fits; {why_not[name].format(name) or rule}"

    alternatives = (
        Alternative(name, seconds[name], max(ways[name].peak_bytes), verdict(name))
        for name in sorted(ways, key=lambda name: seconds[name])
    )
    return replace(ways[chosen], alternatives=tuple(alternatives))


def _searching(request: _Request, method: str) -> Plan:
    """Return the plan of searches."""
    n, m, spec, made, shape = request.n, request.m, request.specs[0], request.dtype, request.shape
    computed = np.dtype(np.float64) if method == "johnson" and made == np.float32 else made
    share = max(1, -(-request.sources // len(request.specs)))
    # The more sources there are, the nearer to each other are those of a batch.
    together = relaxing_seconds(n, m, share, spec, request.weighted, shape)
    # Sources that are few, or lie apart in a road network, are searched from one by one.
    apart = request.kind == "cpu" and method != "bfs" and apart_seconds(n, m, share, spec, shape) < together
    searches = _Searches(request, method == "bfs", computed, apart, share, together)
    dealt = request.dealt(searches.best(), 1 if apart else SLICE[request.kind], searches.peak)
    words = searches.words(dealt.taken)
    return request.plan(
        method,
        dealt,
        searches.seconds(dealt.taken),
        computed.name,
        words=words,
        counted=searches.counted,
        apart=apart or (method == "bfs" and not words and not searches.counted),
    )


class _Searches(NamedTuple):
    """Searches from batches of sources: what decides their memory and time.

    Attributes
    ----------
    request : _Request
        The arguments of the plan.
    unit : bool
        Whether edges are counted, by breadth-first searches.
    computed : dtype
        The type of distances by weights.
    apart : bool
        Whether sources are searched from one by one along weights.
    share : int
        The most sources of a device.
    together : float
        Seconds that they take along weights in batches.
    """

    request: _Request
    unit: bool
    computed: np.dtype
    apart: bool
    share: int
    together: float

    @property
    def counted(self) -> bool:
        """Whether the vertices of each level are counted, and no distances are kept."""
        return self.unit and self.request.measured

    def words(self, batch: int) -> int:
        """Return how many words to search by at a time; none on a CPU where a queue for each search is faster."""
        request = self.request
        shared = words_for(batch, request.kind) if self.unit else 0
        if request.kind != "cpu" or not shared:
            return shared
        if self.counted:
            return 0
        n, m, spec, shape = request.n, request.m, request.specs[0], request.shape
        return min((shared, 0), key=lambda words: levels_seconds(n, m, batch, words, spec, shape))

    def best(self) -> int:
        """Return how many sources to take at a time, if they fit."""
        kind, cores = self.request.kind, self.request.specs[0].cores
        if self.counted:
            best = COUNTED[kind] * cores
        else:
            best = max(SLICE[kind], 4 * cores) if self.apart else batch_size(self.request.n, self.computed, kind)
        if kind == "cuda":
            return best
        by_queue = self.apart or (self.unit and not self.counted and not self.words(min(best, self.share)))
        return sources_of(best, (4 if by_queue else CORE_SOURCES) * cores, self.seconds)

    def peak(self, rows: int, batch: int) -> int:
        """Return the peak bytes of a device for its rows."""
        request, batch = self.request, min(batch, rows)
        n, m, kind, directed, cores = request.n, request.m, request.kind, request.directed, request.specs[0].cores
        held = gathered_bytes(m, request.weight_bytes, directed, request.nonnegative) if request.gathered else 0
        if self.counted:
            found = counts_bytes(n, m, batch, self.words(batch), kind=kind, directed=directed, cores=cores)
            return held + found + measured_bytes(rows, request.bins, batch)
        if self.unit:
            words = self.words(batch)
            searched = levels_bytes(n, m, batch, words, request.dtype, kind=kind, directed=directed, cores=cores)
        else:
            types = self.computed, request.dtype
            apart = cores if self.apart else 0
            searched = searches_bytes(n, m, batch, *types, kind=kind, directed=directed, apart=apart)
        return held + searched + request.kept_bytes(rows, n, batch)

    def seconds(self, batch: int) -> float:
        """Predict the seconds of a batch."""
        request = self.request
        n, m, spec, shape = request.n, request.m, request.specs[0], request.shape
        if self.counted:
            return counts_seconds(n, m, batch, self.words(batch), spec, shape)
        if self.unit:
            passed = levels_seconds(n, m, batch, self.words(batch), spec, shape)
        elif self.apart:
            passed = apart_seconds(n, m, batch, spec, shape)
        else:
            passed = self.together * batch / self.share
        if request.predecessors and request.kind == "cpu":
            passed += derivation_seconds(m, batch, spec, request.weighted)
        return max(passed, request.moving_seconds(batch, n))


def _sweeping(request: _Request, preparation: Preparation) -> Plan:
    """Return the plan of sweeps down a hierarchy, which has its own edges beside those that the graph keeps."""
    request = replace(request, specs=unheld(request.specs))
    n, m, specs, made = request.n, request.m, request.specs, request.dtype
    # Predecessors follow from the distances to all vertices, and the edges or the ends of the entries' paths.
    targets = n if request.targets is None or request.predecessors else request.targets
    fill = preparation.fill or expected_fill(n, m)
    inner = made if request.exact or made.kind == "i" else np.dtype(np.float64)  # the type of sums
    by_entries = request.predecessors and preparation.rounding
    edges = 8 * fill.entries if by_entries else request.predecessors * m * (8 + made.itemsize)

    def peak(rows: int, batch: int) -> int:
        batch = min(batch, rows)
        if request.measured:  # a batch is counted up to each edge of the bins first
            kept = measured_bytes(rows, request.bins, batch) + 8 * batch * request.bins
        else:
            kept = request.kept_bytes(rows, targets, batch)
        marks = 5 * batch * n if by_entries else 0  # predecessors before they are kept, and whether they close cycles
        return sweeps_bytes(n, m, batch, targets, fill, inner, specs[0], request.measured) + edges + marks + kept

    def seconds(batch: int) -> float:
        """Predict the seconds of a batch."""
        passed = sweeps_seconds(n, batch, targets, fill, inner, made, specs[0], request.measures)
        if not request.measured:
            passed = max(passed, request.moving_seconds(batch, targets))
        return passed + request.predecessors * derivation_seconds(m, batch, specs[0], request.weighted)

    best = batch_of(specs[0], request.measured)
    if request.kind == "cpu":
        best = sources_of(best, LANES * specs[0].cores, seconds)
    dealt = request.dealt(best, LEAST, peak)
    if preparation.done:
        ordering, ordering_room, prepared, room = 0.0, 0, 0.0, 0
    else:
        host, unordered = spec_of(devices.find("cpu"), recent=True), preparation.fill is None
        ordering, ordering_room = ordering_seconds(n, host) * unordered, ordering_bytes(n, m) * unordered
        prepared, room = preparation_seconds(fill, host), preparation_bytes(n, m, fill)
    plan = request.plan(
        "hierarchy",
        dealt,
        seconds(dealt.taken),
        inner.name,
        entries=fill.entries,
        preparation=ordering + prepared,
        ordering=ordering,
        ordering_bytes=ordering_room,
    )
    # A GPU's hierarchy is prepared on the host, before rows come there; on a CPU the peak has it.
    return plan if request.kind == "cpu" else replace(plan, host_bytes=max(plan.host_bytes, room, ordering_room))


def _on_matrix(request: _Request) -> Plan:
    """Return the plan of the blocked method on the matrix of all pairs, of which the sources' rows are kept.

    Raises
    ------
    MemoryLimitError
        If the matrix fits nowhere.
    """
    request = replace(request, specs=unheld(request.specs))
    n, k, limit = request.n, request.sources, request.memory_limit
    if not request.here:
        raise InputError(
            ArgumentValue("method", "blocked"), " is for one device without workers: call mgraph.apsp for these"
        )
    pairs = all_pairs.planned(
        n,
        request.m,
        request.specs,
        method="blocked",
        dtype=request.dtype,
        span=request.span,
        memory_limit=limit,
        nonnegative=request.nonnegative,
        weighted=request.weighted,
        directed=request.directed,
    )
    batch = max(1, min(BATCH, k))
    made = request.plan(
        "blocked",
        _Dealt(((0, k),), batch, (pairs.peak_bytes[0] + request.kept_bytes(k, n, batch),)),
        request.moving_seconds(min(batch, k), n),
        pairs.detail.computed,
    )
    return replace(
        made,
        steps=pairs.steps,
        span=pairs.span,
        seconds=made.seconds + pairs.seconds,
        host_bytes=made.host_bytes + pairs.host_bytes,
        disk_bytes=pairs.disk_bytes,
    )
