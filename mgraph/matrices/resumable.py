"""What checkpoints keep of a distance matrix: the rectangles of shards."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array
from ..dtypes import NO_PREDECESSOR
from ..planning.plan import Plan
from ..runtime.checkpoints import Bits, NumberRange, Piece, Resumable, Saved, fingerprint_of
from .distance_matrix import NO_CYCLE
from .plan import MatrixDetail

#: The name of the pivots that shards have found on a negative cycle.
CYCLE = "cycle"


class ResumableMatrix(Resumable):
    """The base of programs on a matrix of which each shard has a rectangle, with labels or without."""

    plan: Plan[MatrixDetail]

    facts: ClassVar[tuple[str, ...]] = ()

    #: Columns that an element of the array stands for.
    BITS: ClassVar[int] = 1

    def identity(self) -> dict[str, Any]:
        """Return what a checkpoint must have been written for; the block, as floats are added up in its order."""
        detail = self.plan.detail
        return super().identity() | {
            "computed": detail.computed,
            "block": detail.block,
            "labels": detail.labelled,
            "intermediate": detail.intermediate,
        }

    def corner(self, shard: int) -> tuple[int, int]:
        """Return the place of the first element of a shard's rectangle."""
        return self.plan.ranges[shard][0], self.plan.detail.columns[shard][0] // self.BITS

    def matrices(self, state: Any) -> dict[str, Array | None]:
        """Return the shard's rectangles by name."""
        return {"distances": state.D, "labels": state.P}

    def fingerprint(self, state: Any, shard: int) -> int:
        """Return the fingerprint of the matrix as it was loaded."""
        return fingerprint_of([Piece("distances", state.D, self.corner(shard))])

    def pieces(self, state: Any, shard: int) -> list[Piece]:
        """Return the shard's rectangles, and the pivot that it found on a negative cycle."""
        found = [(name, array) for name, array in self.matrices(state).items() if array is not None]
        return [Piece(name, array, self.corner(shard)) for name, array in found] + [Piece(CYCLE, state.cycle, (shard,))]

    def allowed(self) -> Mapping[str, NumberRange | Bits]:
        """Return vertices for labels and pivots, and no restriction of distances."""
        last = self.plan.n - 1
        return {"labels": NumberRange(0, last, NO_PREDECESSOR), CYCLE: NumberRange(0, last, NO_CYCLE)}

    def bytes_kept(self, shard: int) -> int:
        """Return the bytes of the shard's rectangles."""
        (top, bottom), (left, right) = self.plan.ranges[shard], self.plan.detail.columns[shard]
        label = 4 if self.plan.detail.labelled else 0
        return (bottom - top) * -(-(right - left) // self.BITS) * (np.dtype(self.plan.detail.computed).itemsize + label)

    def resumed(self, state: Any, shard: int, saved: Saved) -> int:
        """Fill the shard's rectangles; every shard gets the first pivot that any of them had found."""
        for piece in self.pieces(state, shard):
            if piece.name == CYCLE:
                state.cycle[...] = min(
                    int(value.min(initial=NO_CYCLE)) for value in saved.values(CYCLE, (1,), np.int32)
                )
            else:
                saved.fill(piece)
        return saved.manifest.step
