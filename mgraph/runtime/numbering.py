"""Numbering the vertex ids of edges from 0, ascending, where the edges are: the same numbers as on one device.

Each shard sorts the different ids of its chunks. All take regular samples of theirs, and cut the range of ids by these
into parts of about equal length, one a shard: a sample sort [1]_. Each id goes to the shard of its part, which drops
repeated ones, and answers with the numbers. So a shard has the ids of its own chunks with their numbers, and its part
of all ids. `Numbered` is the source of the renumbered edges.

`Moving` then moves the ids to the shards that hold these vertices.

References
----------
.. [1] W. D. Frazer and A. C. McKellar, "Samplesort: a sampling approach to minimal storage tree sorting", Journal of
   the ACM 17(3), 1970.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .. import device as devices
from ..arrays import Array, distinct, places_of
from ..dtypes import MAX_VERTICES
from ..errors import InputError
from ..graph.compressed import Edges
from ..graph.source import EdgeSource
from ..graph.vertex_range import PartWithVectors
from ..planning.cut import Ranges
from .communicator import Communicator

#: Samples that a shard takes for each shard.
SAMPLES = 64


class RawSource(EdgeSource, Protocol):
    """A source whose edges may have any ids from 0 that fit int64."""

    def raw(self, number: int) -> Edges:
        """Return the edges of a chunk on the CPU, with ids as they are, of int64 or int32."""


@dataclass
class State:
    """A shard's state: its source, the ids of its chunks with their numbers, and its part of all ids."""

    device: devices.Device
    source: RawSource
    own: Any = None
    numbers: Any = None
    ids: Any = None
    n: int = 0


class Numbering:
    """Numbers the ids of a source, the piece of every shard, in one superstep."""

    facts = ("n",)

    def load(self, shard: int, piece: RawSource, device: devices.Device) -> State:
        """Return the state of a shard."""
        return State(device, piece)

    def step(self, s: State, first: int, limit: int, comm: Communicator) -> int:
        """Number all ids, in the first superstep."""
        if first:
            return 0
        xp, size = s.device.xp, comm.size
        s.own = _in_use(s, comm)
        bounds = _bounds(s.own, comm, xp)
        sent = np.bincount(devices.to_host(xp.searchsorted(bounds, s.own, side="right")), minlength=size)
        lengths = xp.zeros(size * size, np.int64)
        lengths[comm.rank * size : (comm.rank + 1) * size] = xp.asarray(sent, np.int64)
        comm.allreduce(lengths, "sum")
        taken = devices.to_host(lengths).reshape(size, size)[:, comm.rank]
        [theirs] = comm.exchange([s.own], sent)
        s.ids = distinct(theirs, xp)
        counts = xp.zeros(size, np.int64)
        counts[comm.rank] = len(s.ids)
        comm.allreduce(counts, "sum")
        before = [0, *devices.to_host(counts).cumsum().tolist()]
        s.n = before[-1]
        if s.n > MAX_VERTICES:
            raise InputError(f"the edges use {s.n} vertex ids, beyond int32: at most {MAX_VERTICES}")
        numbers = (before[comm.rank] + places_of(theirs, s.ids, xp)).astype(np.int32)
        [s.numbers] = comm.exchange([numbers], taken)
        return 1

    def collect(self, s: State, comm: Communicator) -> dict[str, Array]:
        """Return the ids of the shard's chunks with their numbers, its part of all ids, and how many there are."""
        return {"n": s.device.xp.asarray([s.n]), "own": s.own, "numbers": s.numbers, "ids": s.ids}


def _in_use(s: State, comm: Communicator) -> Array:
    """Return the different ids of a shard's chunks, ascending."""
    found, waiting, count = np.empty(0, np.int64), [], 0
    for number in range(comm.rank, s.source.chunks, comm.size):
        src, dst, _ = s.source.raw(number)
        waiting.append(distinct(np.concatenate([src, dst])).astype(np.int64, copy=False))
        count += len(waiting[-1])
        if count > len(found):  # so that sorting them takes little in all
            found, waiting, count = distinct(np.concatenate([found, *waiting])), [], 0
    return s.device.asarray(distinct(np.concatenate([found, *waiting])))


def _bounds(own: Array, comm: Communicator, xp: Any) -> Array:
    """Return where each shard's part of the ids begins, but for the first."""
    size, each = comm.size, SAMPLES * comm.size
    samples = xp.zeros(size * (each + 1), np.int64)
    mine = samples[comm.rank * (each + 1) : (comm.rank + 1) * (each + 1)]
    if len(own):
        mine[:-1] = own[xp.arange(each) * len(own) // each]
        mine[-1] = 1
    comm.allreduce(samples, "sum")
    table = devices.to_host(samples).reshape(size, each + 1)
    chosen = np.sort(table[table[:, -1] > 0, :-1].ravel())
    if not len(chosen):
        return xp.zeros(size - 1, np.int64)
    return xp.asarray(chosen[np.arange(1, size) * len(chosen) // size])


@dataclass(frozen=True)
class Numbered:
    """The edges of a source with the numbers of their ids; `own` and `numbers` are as `Numbering` has left them."""

    source: RawSource
    n: int
    own: Array
    numbers: Array

    @property
    def chunks(self) -> int:
        """The number of chunks."""
        return self.source.chunks

    @property
    def weights_dtype(self) -> np.dtype | None:
        """The type of the weights."""
        return self.source.weights_dtype

    @property
    def directed(self) -> bool:
        """False if each edge is to be stored in both directions."""
        return self.source.directed

    @property
    def unique(self) -> bool:
        """Whether repeated edges are dropped."""
        return self.source.unique

    def chunk(self, number: int, device: devices.Device) -> Edges:
        """Return the edges of a chunk on a device."""
        src, dst, weights = self.source.raw(number)
        ends = [self.numbers[places_of(device.asarray(end), self.own, device.xp)] for end in (src, dst)]
        return Edges(ends[0], ends[1], None if weights is None else device.asarray(weights))

    def sizes(self) -> dict[str, int]:
        """Return the bytes of the ids and their numbers."""
        return {"numbers": self.own.nbytes + self.numbers.nbytes}


@dataclass(frozen=True)
class Moving:
    """Moves a vector to the ranges of a graph's vertices; the piece of a shard has its part of it as ``ids``."""

    ranges: Ranges
    facts = ()

    def load(self, shard: int, piece: PartWithVectors, device: devices.Device) -> list[Array]:
        """Return the shard's part of the vector."""
        return [piece.vectors["ids"]]

    def step(self, s: list[Array], first: int, limit: int, comm: Communicator) -> int:
        """Move all, in the first superstep."""
        if first:
            return 0
        lengths = devices.of(s[0]).xp.zeros(comm.size, np.int64)
        lengths[comm.rank] = len(s[0])
        comm.allreduce(lengths, "sum")
        start = int(lengths[: comm.rank].sum())
        ends = np.array([[first, last] for first, last in self.ranges]).clip(start, start + len(s[0]))
        s[:] = comm.exchange(s, ends[:, 1] - ends[:, 0])
        return 1

    def collect(self, s: list[Array], comm: Communicator) -> dict[str, Array]:
        """Return the shard's part of the vector."""
        return {"ids": s[0]}
