"""Distances from many sources, batch by batch: the program over ranges of the list of sources.

A shard has the whole graph and a range of the sources; shards do not communicate. A superstep takes the next batch of
them, searches from it (`Searches` or `LevelSearches`) or sweeps down a hierarchy (`Sweeps`), and keeps what the call
wants of its rows (`row_sinks`). Sweeps make measures themselves, and searches without weights count levels
(`LevelCounts`), so that there are no rows then.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ... import device as devices
from ...arguments import HISTOGRAM
from ...arrays import Array
from ...dtypes import NO_PREDECESSOR, bin_limits
from ...hierarchy.prepared import Prepared
from ...planning.plan import Plan
from ...runtime.checkpoints import NumberRange, Piece, Resumable, Saved, vertices_in_short
from ...runtime.communicator import Communicator
from ..batched_bfs import LevelCounts, LevelSearches
from ..batched_sssp import Network, Searches, batches_of, resumed_rows
from ..batched_sweeps import Sweeps
from .detail import DistancesDetail
from .output import Output, within
from .row_sinks import RowSink, combined, greatest_within, keeper, unmeasured


@dataclass
class Searching:
    """Searches from a shard's sources, on its device, and what is kept of their rows."""

    searches: Searches | LevelSearches | Sweeps
    sources: Array
    keeper: RowSink

    def take(self, top: int, bottom: int) -> None:
        """Search from sources number `top` to `bottom`."""
        sources = self.sources[top:bottom]
        self.searches.write(sources, *self.keeper.rows(top, bottom))
        self.keeper.keep(top, bottom, sources)

    def results(self) -> dict[str, Array]:
        """Return what was kept."""
        return self.keeper.results()


@dataclass
class Measuring:
    """Sweeps that measure the rows of a shard's sources, which are never stored."""

    searches: Sweeps
    sources: np.ndarray
    wanted: Output
    found: dict[str, np.ndarray]

    def take(self, top: int, bottom: int) -> None:
        """Sweep from sources number `top` to `bottom`."""
        wanted = self.wanted
        measured = self.searches.measured(self.sources[top:bottom], wanted.measures, wanted.radii, wanted.bins)
        for name in self.wanted.measures:
            self.found[name][top:bottom] = getattr(measured, name)
        if measured.within is not None:
            for i, column in enumerate(measured.within.T):
                self.found[within(i)][top:bottom] = column
        if measured.histogram is not None:
            self.found[HISTOGRAM][top:bottom] = measured.histogram

    def results(self) -> dict[str, Array]:
        """Return the measures."""
        return dict(self.found)


@dataclass
class Counting:
    """Searches that count the targets of each level, from a shard's sources, whose rows are never stored."""

    searches: LevelCounts
    sources: np.ndarray
    wanted: Output
    n: int
    dtype: np.dtype
    found: dict[str, np.ndarray]

    def take(self, top: int, bottom: int) -> None:
        """Search from sources number `top` to `bottom`."""
        sources, targets = self.sources[top:bottom], self.wanted.targets
        t = self.n if targets is None else len(targets)
        itself = np.ones(len(sources), bool) if targets is None else np.isin(sources, targets)
        radii = np.array(greatest_within(self.wanted.radii, self.dtype), np.float64)
        limits = bin_limits(self.wanted.bins, np.dtype(np.int32)) if self.wanted.bins else np.empty(0)
        counts = self.searches.counted(sources, radii, limits)
        farthest = np.where(counts.reached < t, np.inf, counts.farthest)
        counts = counts._replace(farthest=farthest, within=counts.within.T)
        for name, values in combined(self.wanted, counts, itself, t, np).items():
            self.found[name][top:bottom] = values

    def results(self) -> dict[str, Array]:
        """Return the measures."""
        return dict(self.found)


@dataclass
class Shard:
    """A shard's state: what takes its sources, and the batches of them."""

    taking: Searching | Counting | Measuring
    batches: list[tuple[int, int]]  # of sources that are left to search from, as rows of the shard
    rounds: int  # the superstep after the last batch of the shard with most of them
    begun: int = 0  # the superstep of the first batch
    done: list[tuple[int, int]] = field(default_factory=list)


class FromSources(Resumable):
    """Shortest paths from some vertices over ranges of the list of these.

    Parameters
    ----------
    plan : Plan
        Its ranges are those of the list; each shard's device has the whole graph.
    sources : array of int32, shape (k,)
        The vertices to search from, in any order; vertices may be repeated.
    wanted : Output
        What to keep of each row of distances.
    limit : float
        The greatest distance to search to, a number of the result's type or infinity.
    """

    def __init__(self, plan: Plan[DistancesDetail], sources: np.ndarray, wanted: Output, limit: float) -> None:
        self.plan = plan
        self.sources = sources
        self.wanted = wanted
        self.limit = limit
        #: The results that go to the caller, if the graph lies on workers.
        self.facts = wanted.vectors

    def load(self, shard: int, piece: Network | Prepared, device: devices.Device) -> Shard:
        """Return the shard with the graph on its device, before the first batch."""
        batches = [batches_of([(0, last - first)], self.plan.detail.batch) for first, last in self.plan.ranges]
        own = self.sources[slice(*self.plan.ranges[shard])]
        taking: Searching | Counting | Measuring
        if isinstance(piece, Prepared):
            taking = self._sweeping(own, piece, device)
        elif self.plan.detail.counted:
            taking = self._counting(own, piece, device)
        else:
            taking = self._searching(own, piece, device)
        return Shard(taking, batches[shard], max(map(len, batches)))

    def _searching(self, sources: np.ndarray, piece: Network, device: devices.Device) -> Searching:
        """Return searches from some sources."""
        plan, detail, dtype = self.plan, self.plan.detail, np.dtype(self.plan.dtype)
        rows, batch = len(sources), min(detail.batch, len(sources))
        return Searching(
            LevelSearches(piece, device, batch, dtype, self.limit, detail.words)
            if plan.method == "bfs"
            else Searches(piece, device, batch, np.dtype(detail.computed), dtype, self.limit, detail.apart),
            device.asarray(sources),
            keeper(self.wanted, device, "cpu", rows, plan.n, batch, dtype, plan.predecessors),
        )

    def _counting(self, sources: np.ndarray, piece: Network, device: devices.Device) -> Counting:
        """Return searches from some sources that count levels."""
        wanted, n, dtype = self.wanted, self.plan.n, np.dtype(self.plan.dtype)
        searches = LevelCounts(piece, device, wanted.targets, self.limit, self.plan.detail.words)
        return Counting(searches, sources, wanted, n, dtype, unmeasured(wanted, len(sources)))

    def _sweeping(self, sources: np.ndarray, piece: Prepared, device: devices.Device) -> Searching | Measuring:
        """Return sweeps from some sources to the targets."""
        plan, wanted, dtype = self.plan, self.wanted, np.dtype(self.plan.dtype)
        rows, batch = len(sources), min(plan.detail.batch, len(sources))
        if plan.predecessors:  # which follow from the distances to all vertices
            sweeps = Sweeps(piece, device, None, self.limit, rows=True)
            return Searching(sweeps, sources, keeper(wanted, device, "cpu", rows, plan.n, batch, dtype, True))
        measures = bool(wanted.vectors) and not wanted.sparse
        sweeps = Sweeps(piece, device, wanted.targets, self.limit, rows=not measures)
        if measures:
            return Measuring(sweeps, sources, wanted, unmeasured(wanted, rows))
        wide = plan.n if wanted.targets is None else len(wanted.targets)
        kept = keeper(replace(wanted, narrow=True), device, "cpu", rows, wide, batch, dtype, False)
        return Searching(sweeps, sources, kept)

    def step(self, state: Shard, first: int, limit: int, comm: Communicator) -> int:
        """Search from one batch of sources, and keep what is wanted of it."""
        if first >= state.rounds:
            return 0
        number = first - state.begun
        if number < len(state.batches):
            state.taking.take(*state.batches[number])
            state.done.append(state.batches[number])
        return 1

    def identity(self) -> dict[str, Any]:
        """Return what a checkpoint must have been written for."""
        wanted = self.wanted
        return super().identity() | {
            "computed": self.plan.detail.computed,
            "sources": vertices_in_short(self.sources.tolist()),
            "targets": None if wanted.targets is None else vertices_in_short(wanted.targets.tolist()),
            "nearest": wanted.nearest,
            "measures": list(wanted.measures),
            "radii": list(wanted.radii),
            "bins": list(wanted.bins),
            "limit": None if self.limit == float("inf") else self.limit,
        }

    def fingerprint(self, state: Shard, shard: int) -> int:
        """Return the fingerprint of a shard's share of the vertices and of their edges, which every shard has."""
        n, shards = state.taking.searches.n, len(self.plan.ranges)
        return state.taking.searches.fingerprint(n * shard // shards, n * (shard + 1) // shards)

    def pieces(self, state: Shard, shard: int) -> list[Piece]:
        """Return what was kept of the sources since the call began, which is final."""
        first = self.plan.ranges[shard][0]
        return [
            Piece(name, array[top:bottom], (first + top, 0), final=True)
            for name, array in self._kept(state).items()
            for top, bottom in state.done
        ]

    def allowed(self) -> Mapping[str, NumberRange]:
        """Return vertices for predecessors and for the nearest targets."""
        return dict.fromkeys(("predecessors", "nearest"), NumberRange(0, self.plan.n - 1, NO_PREDECESSOR))

    def bytes_kept(self, shard: int) -> int:
        """Return 0: rows that are done do not change, so they are not copied."""
        return 0

    def resumed(self, state: Shard, shard: int, saved: Saved) -> int:
        """Fill the rows that are done, and search from the other sources only, in the last supersteps."""
        kept = self._kept(state)
        name, sources, batch = next(iter(kept)), len(self.sources), self.plan.detail.batch
        return resumed_rows(state, shard, saved, self.plan, batch, name, sources, kept)

    def _kept(self, state: Shard) -> dict[str, Array]:
        """Return the results as matrices, by names of letters alone."""
        found = state.taking.results()
        letters = str.maketrans("0123456789", "abcdefghij", " ")
        return {name.translate(letters): a if a.ndim == 2 else a[:, None] for name, a in found.items()}

    def collect(self, state: Shard, comm: Communicator) -> dict[str, Array]:
        """Return what was kept of the rows of the shard's sources."""
        return state.taking.results()
