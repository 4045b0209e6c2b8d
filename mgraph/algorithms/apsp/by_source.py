"""All-pairs shortest paths by a search from every source, for sparse graphs; negative weights are allowed.

A shard holds the whole graph and a range of the sources; a superstep takes the next batch of them, as `Searches` does.
Shards do not communicate. The rows of a batch are final once written, so they are sent to the host at once: the result
may be far larger than the GPU's memory.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...dtypes import NO_PREDECESSOR
from ...planning.plan import Plan
from ...runtime.checkpoints import NumberRange, Piece, Resumable, Saved
from ...runtime.communicator import Communicator
from ..batched_sssp import Network, Searches, batches_of, resumed_rows
from .detail import SourcesDetail


@dataclass
class SourcesShard:
    """A shard's state: the graph, and the rows of its sources."""

    searches: Searches
    D: devices.RowStream
    P: devices.RowStream | None
    batches: list[tuple[int, int]]  # of sources that are left to search from, as rows of the shard
    rounds: int  # the superstep after the last batch of the shard with most of them
    begun: int = 0  # the superstep of the first batch
    done: list[tuple[int, int]] = field(default_factory=list)

    @property
    def streams(self) -> dict[str, devices.RowStream]:
        """The streams of rows, by the names of the results."""
        return {"distances": self.D} | ({} if self.P is None else {"predecessors": self.P})


class FromEverySource(Resumable):
    """Shortest paths from every vertex, batch by batch of sources, over ranges of the sources.

    Parameters
    ----------
    plan : Plan
        Its ranges are those of the sources; each shard's device has the whole graph.
    home : {"cpu", "cuda", "file"}
        Where the shards' results are kept: on the host, on the devices that compute them, or in temporary files.
    """

    facts: ClassVar[tuple[str, ...]] = ()

    def __init__(self, plan: Plan[SourcesDetail], home: str) -> None:
        self.plan = plan
        self.detail = plan.detail
        self.home = home

    def load(self, shard: int, piece: Network, device: devices.Device) -> SourcesShard:
        """Return the shard with the graph on its device and the rows of its result allocated."""
        first, last = self.plan.ranges[shard]
        batch = min(last - first, self.detail.batch)
        shape = (last - first, self.plan.n)

        def rows(dtype: Any) -> devices.RowStream:
            return devices.RowStream(device, devices.rows_at(self.home, device, shape, dtype), batch)

        lengths = [end - start for start, end in self.plan.ranges]
        batches = [batches_of([(0, length)], self.detail.batch) for length in lengths]
        return SourcesShard(
            searches=Searches(piece, device, batch, np.dtype(self.detail.computed), np.dtype(self.plan.dtype)),
            D=rows(self.plan.dtype),
            P=rows(np.int32) if self.plan.predecessors else None,
            batches=batches[shard],
            rounds=max(map(len, batches)),
        )

    def step(self, state: SourcesShard, first: int, limit: int, comm: Communicator) -> int:
        """Search from one batch of sources."""
        if first >= state.rounds:
            return 0
        number = first - state.begun
        if number >= len(state.batches):
            return 1
        top, bottom = state.batches[number]
        source = self.plan.ranges[comm.rank][0] + top
        sources = state.searches.device.xp.arange(source, source + bottom - top, dtype=np.int32)
        P = None if state.P is None else state.P.batch(top, bottom)
        state.searches.write(sources, state.D.batch(top, bottom), P)
        state.D.send(top, bottom)
        if state.P is not None:
            state.P.send(top, bottom)
        state.done.append((top, bottom))
        return 1

    def identity(self) -> dict[str, Any]:
        """Return what a checkpoint must have been written for."""
        return super().identity() | {"computed": self.detail.computed}

    def fingerprint(self, state: SourcesShard, shard: int) -> int:
        """Return the fingerprint of the edges into the shard's sources, and of what their weights were shifted by."""
        first, last = self.plan.ranges[shard]
        return state.searches.fingerprint(first, last)

    def pieces(self, state: SourcesShard, shard: int) -> list[Piece]:
        """Return the rows that are done since the call began, which are final."""
        first = self.plan.ranges[shard][0]
        return [
            Piece(name, stream.complete()[top:bottom], (first + top, 0), final=True)
            for name, stream in state.streams.items()
            for top, bottom in state.done
        ]

    def allowed(self) -> Mapping[str, NumberRange]:
        """Return vertices for predecessors."""
        return {"predecessors": NumberRange(0, self.plan.n - 1, NO_PREDECESSOR)}

    def bytes_kept(self, shard: int) -> int:
        """Return 0: rows that are done do not change, so they are not copied."""
        return 0

    def resumed(self, state: SourcesShard, shard: int, saved: Saved) -> int:
        """Fill the rows that are done, and search from the other sources only, in the last supersteps."""
        rows = {name: stream.whole for name, stream in state.streams.items()}
        return resumed_rows(state, shard, saved, self.plan, self.detail.batch, "distances", self.plan.n, rows)

    def collect(self, state: SourcesShard, comm: Communicator) -> dict[str, Array]:
        """Return the shard's rows of the result."""
        results = {"distances": state.D.complete()}
        if state.P is not None:
            results["predecessors"] = state.P.complete()
        return results
