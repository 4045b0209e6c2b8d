"""Pairs and flows by a hierarchy, batch by batch: programs over ranges of the list of pairs.

A shard has the whole hierarchy, and its range of the pairs or of the rows of a matrix. A superstep joins the next batch
of them. Distances are final then; what the entries carry of a demand is added up in the order of the shards at the end.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...hierarchy.flows import Carried
from ...hierarchy.lengths import Lengths, on_host
from ...hierarchy.placed import OnDevice
from ...hierarchy.prepared import Prepared
from ...hierarchy.routes import Labels, Pairs, distances, divided, parts_on, routes
from ...hierarchy.structure import Structure
from ...kernels.routes import Parts
from ...planning.plan import Plan
from ...runtime.checkpoints import NumberRange, Piece, Resumable, Saved
from ...runtime.communicator import Communicator
from ...runtime.program import Accompanied
from ..batched_sssp import batches_of, resumed_rows
from ..batched_sweeps import fingerprint_of_hierarchy
from .detail import RoutesDetail
from .request import Asked

FoundT = TypeVar("FoundT")


@dataclass
class Shard(Generic[FoundT]):
    """A shard's state: the hierarchy on its device, its pairs, what was found, and the batches that are left."""

    structure: Structure
    on: OnDevice
    lengths: Lengths
    labels: Labels | None
    parts: Parts | None
    asked: Asked
    found: FoundT
    batches: list[tuple[int, int]]
    rounds: int
    begun: int = 0
    done: list[tuple[int, int]] = field(default_factory=list)

    def pairs(self, some: Asked) -> Pairs:
        """Return some pairs, with entries if their paths matter."""
        known, entries = (self.on, self.lengths, some.starts, some.ends), self.parts is not None
        return Pairs(*known, table=some.table, entries=entries, labels=self.labels)


class OverPairs(Resumable, Generic[FoundT]):
    """What pairs by a hierarchy have in common, whatever is found of them.

    Parameters
    ----------
    plan : Plan
        Its ranges are those of the starts; each shard's device has the whole hierarchy.
    asked : str
        The digest of all pairs, which a checkpoint must be of; empty without checkpoints.
    """

    def __init__(self, plan: Plan[RoutesDetail], asked: str = "") -> None:
        self.plan = plan
        self.asked = asked

    @abstractmethod
    def made(self, asked: Asked, piece: Prepared, on: OnDevice, lengths: Lengths, parts: Parts | None) -> FoundT:
        """Return what is to be found of a shard's pairs, before the first batch."""

    @abstractmethod
    def take(self, state: Shard[FoundT], top: int, bottom: int) -> None:
        """Join a batch of the shard's pairs."""

    def load(self, shard: int, piece: Accompanied, device: devices.Device) -> Shard[FoundT]:
        """Return the shard with the hierarchy on its device, before the first batch; paths are found on the CPU."""
        prepared: Prepared = piece.kept
        own: Asked = piece.own
        batches = [batches_of([(0, last - first)], self.plan.detail.batch) for first, last in self.plan.ranges]
        on, lengths = prepared.on(device if own.heads is None else devices.find("cpu"))
        of_paths = self.plan.detail.loads or own.along or own.heads is not None
        parts = divided(prepared.structure, on_host(lengths)) if of_paths else None
        if parts is not None and not self.plan.detail.loads:
            parts = parts_on(on.device, parts)
        found = self.made(own, prepared, on, lengths, parts)
        labels = prepared.labels if on is prepared.there else None
        rounds = max(map(len, batches))
        return Shard(prepared.structure, on, lengths, labels, parts, own, found, batches[shard], rounds)

    def step(self, state: Shard[FoundT], first: int, limit: int, comm: Communicator) -> int:
        """Join one batch of pairs."""
        if first >= state.rounds:
            return 0
        number = first - state.begun
        if number < len(state.batches):
            self.take(state, *state.batches[number])
            state.done.append(state.batches[number])
        return 1

    def identity(self) -> dict[str, Any]:
        """Return what a checkpoint must have been written for."""
        return super().identity() | {"m": self.plan.m, "pairs": self.plan.detail.pairs, "asked": self.asked}

    def fingerprint(self, state: Shard[FoundT], shard: int) -> int:
        """Return the fingerprint of a shard's share of the vertices and of their entries, which every shard has."""
        n, shards = self.plan.n, len(self.plan.ranges)
        first, last = n * shard // shards, n * (shard + 1) // shards
        return fingerprint_of_hierarchy(state.structure, state.lengths, first, last)

    def _left(self, state: Shard[FoundT], shard: int, saved: Saved, name: str, arrays: Mapping[str, Array]) -> int:
        """Fill the rows that are done, and leave the other starts to the last supersteps."""
        batch, starts = self.plan.detail.batch, self.plan.ranges[-1][1]
        return resumed_rows(state, shard, saved, self.plan, batch, name, starts, arrays)


@dataclass
class Found:
    """What is known of a shard's pairs: arrays by name, a row for each, and the vertices of paths, batch by batch."""

    arrays: dict[str, Array]
    vertices: list[np.ndarray] = field(default_factory=list)


class Distances(OverPairs[Found]):
    """The distances of pairs, the sums of other weights along their paths, and the paths."""

    def made(self, asked: Asked, piece: Prepared, on: OnDevice, lengths: Lengths, parts: Parts | None) -> Found:
        """Return the arrays of the shard's pairs, a row for each."""
        types = {"distances": lengths.dtype} | {name: sums.dtype for name, sums in _along(asked).items()}
        if asked.heads is not None:
            types["lengths"] = np.dtype(np.int64)
        return Found({name: on.device.xp.empty((len(asked.starts), 1), dtype) for name, dtype in types.items()})

    def take(self, state: Shard[Found], top: int, bottom: int) -> None:
        """Find the distances of a batch of the shard's pairs."""
        some, found = state.asked.part(top, bottom), state.found
        pairs, along = state.pairs(some), _along(some)
        if state.parts is None:
            found.arrays["distances"][top:bottom, 0] = distances(pairs, None)
            return
        made = routes(state.structure, pairs, state.parts, tuple(along.values()), some.heads, None)
        for name, array in zip(("distances", *along), (made.distances, *(made.along or ())), strict=True):
            found.arrays[name][top:bottom, 0] = array
        if made.offsets is not None and made.vertices is not None:
            found.arrays["lengths"][top:bottom, 0] = np.diff(made.offsets)
            found.vertices.append(made.vertices)

    def pieces(self, state: Shard[Found], shard: int) -> list[Piece]:
        """Return what was found since the call began, which is final."""
        first = self.plan.ranges[shard][0]
        return [
            Piece(name, array[top:bottom], (first + top, 0), final=True)
            for name, array in state.found.arrays.items()
            for top, bottom in state.done
        ]

    def allowed(self) -> Mapping[str, NumberRange]:
        """Return nothing: no kernel takes indices from distances."""
        return {}

    def bytes_kept(self, shard: int) -> int:
        """Return 0: what is found does not change, so it is not copied."""
        return 0

    def resumed(self, state: Shard[Found], shard: int, saved: Saved) -> int:
        """Fill the distances that are known, and go on with the other pairs."""
        return self._left(state, shard, saved, "distances", state.found.arrays)

    def collect(self, state: Shard[Found], comm: Communicator) -> dict[str, Array]:
        """Return what was found of the shard's pairs, and the vertices of their paths one after the other."""
        arrays = {name: array[:, 0] for name, array in state.found.arrays.items()}
        if "lengths" in arrays:
            arrays["vertices"] = np.concatenate([np.empty(0, np.int32), *state.found.vertices])
        return arrays


def _along(asked: Asked) -> dict[str, np.ndarray]:
    """Return the other weights by the names of their sums, which are of letters alone."""
    wide = {"f": np.float64}
    return {
        "along" + "i" * i: weights.astype(wide.get(weights.dtype.kind, np.int64), copy=False)
        for i, weights in enumerate(asked.along)
    }


@dataclass
class Flowing:
    """What a shard's entries carry, and marks of its starts that are done."""

    carried: Carried
    marks: Array


class Loads(OverPairs[Flowing]):
    """The loads of edges if a demand takes shortest paths."""

    def made(self, asked: Asked, piece: Prepared, on: OnDevice, lengths: Lengths, parts: Parts | None) -> Flowing:
        """Return entries that carry nothing."""
        assert parts is not None
        marks = on.device.xp.ones((len(asked.starts), 1), np.uint8)
        return Flowing(Carried(piece.structure, lengths, parts, on.device), marks)

    def take(self, state: Shard[Flowing], top: int, bottom: int) -> None:
        """Add the demand of a batch of the shard's pairs."""
        some = state.asked.part(top, bottom)
        assert some.amounts is not None
        state.found.carried.add(state.pairs(some), some.amounts, None)

    def pieces(self, state: Shard[Flowing], shard: int) -> list[Piece]:
        """Return the shard's sums, and marks of the starts that are done since the call began."""
        first, marks = self.plan.ranges[shard][0], state.found.marks
        done = [Piece("done", marks[top:end], (first + top, 0), final=True) for top, end in state.done]
        return [Piece("sums", state.found.carried.sums[None], (shard, 0)), *done]

    def allowed(self) -> Mapping[str, NumberRange]:
        """Return sums that are numbers, and the marks."""
        most = float(np.finfo(np.float64).max)
        return {"sums": NumberRange(-most, most), "done": NumberRange(1, 1)}

    def bytes_kept(self, shard: int) -> int:
        """Return the bytes of the sums."""
        return 8 * (2 * self.plan.detail.entries + self.plan.n + 2)

    def resumed(self, state: Shard[Flowing], shard: int, saved: Saved) -> int:
        """Add the sums of one shard in so many, and go on with the starts that are left."""
        sums = state.found.carried.sums
        sums.fill(0)  # a later checkpoint, which turned out to be damaged, may have been added
        for row, _ in saved.rows("sums", len(saved.manifest.files)):
            if row % len(self.plan.ranges) == shard:
                other = state.on.device.xp.empty((1, len(sums)), np.float64)
                saved.fill(Piece("sums", other, (row, 0)))
                sums += other[0]
        return self._left(state, shard, saved, "done", {"done": state.found.marks})

    def collect(self, state: Shard[Flowing], comm: Communicator) -> dict[str, Array]:
        """Return the shard's share of the edges and of the vertices, with the sums of all shards, and all totals."""
        carried = state.found.carried
        comm.allreduce(carried.sums, "sum")
        loads, supply, totals = carried.divided(self.plan.m)
        own = {name: self._share(array, comm.rank) for name, array in (("loads", loads), ("supply", supply))}
        return own | {"totals": totals}

    def _share(self, array: np.ndarray, rank: int) -> np.ndarray:
        """Return a shard's share of the elements that all have."""
        count, shards = len(array), len(self.plan.ranges)
        return array[count * rank // shards : count * (rank + 1) // shards]
