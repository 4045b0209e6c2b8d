"""Distances from many sources, batch by batch: the program over ranges of the list of sources.

A shard has the whole graph and a range of the sources; shards do not communicate. A superstep takes the next batch of
them, searches from it (`Searches` or `LevelSearches`), and keeps what the call wants of its rows (`keepers`).
"""

from dataclasses import dataclass

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...planning.plan import Plan
from ...runtime.communicator import Communicator
from ..many_levels import LevelSearches
from ..many_sources import Network, Searches, batches_of
from .detail import DistancesDetail
from .keepers import Keeper, keeper
from .wanted import Wanted


@dataclass
class Shard:
    """A shard's state: the graph, its sources, what is kept of their rows, and the batches of them."""

    searches: Searches | LevelSearches
    sources: Array
    keeper: Keeper
    batches: list[tuple[int, int]]
    rounds: int  # batches that the shard with most of them has


class FromSources:
    """Shortest paths from some vertices over ranges of the list of these.

    Parameters
    ----------
    plan : Plan
        Its ranges are those of the list; each shard's device has the whole graph.
    sources : array of int32, shape (k,)
        The vertices to search from, in any order; vertices may be repeated.
    wanted : Wanted
        What to keep of each row of distances.
    limit : float
        The greatest distance to search to, a number of the result's type or infinity.
    """

    def __init__(self, plan: Plan[DistancesDetail], sources: np.ndarray, wanted: Wanted, limit: float) -> None:
        self.plan = plan
        self.sources = sources
        self.wanted = wanted
        self.limit = limit
        #: The results that go to the caller, if the graph lies on workers.
        self.facts = wanted.vectors

    def load(self, shard: int, piece: Network, device: devices.Device) -> Shard:
        """Return the shard with the graph on its device, before the first batch."""
        plan, detail = self.plan, self.plan.detail
        first, last = plan.ranges[shard]
        batches = [batches_of([(0, end - start)], detail.batch) for start, end in plan.ranges]
        batch, dtype = min(detail.batch, last - first), np.dtype(plan.dtype)
        return Shard(
            searches=LevelSearches(piece, device, batch, dtype, self.limit, detail.words)
            if plan.method == "bfs"
            else Searches(piece, device, batch, np.dtype(detail.computed), dtype, self.limit, detail.apart),
            sources=device.asarray(self.sources[first:last]),
            keeper=keeper(self.wanted, device, "cpu", last - first, plan.n, batch, dtype, plan.predecessors),
            batches=batches[shard],
            rounds=max(map(len, batches)),
        )

    def step(self, state: Shard, first: int, limit: int, comm: Communicator) -> int:
        """Search from one batch of sources, and keep what is wanted of it."""
        if first >= state.rounds:
            return 0
        if first < len(state.batches):
            top, bottom = state.batches[first]
            sources = state.sources[top:bottom]
            state.searches.write(sources, *state.keeper.rows(top, bottom))
            state.keeper.keep(top, bottom, sources)
        return 1

    def collect(self, state: Shard, comm: Communicator) -> dict[str, Array]:
        """Return what was kept of the rows of the shard's sources."""
        return state.keeper.results()
