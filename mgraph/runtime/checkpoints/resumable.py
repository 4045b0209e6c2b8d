"""What a program must offer to be kept: its pieces, the fingerprint of its input, and how it goes on."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, ClassVar

import numpy as np

from ...planning.plan import Plan
from .pieces import Bits, NumberRange, Piece
from .store import Saved

#: The most vertices that a manifest lists.
LISTED = 100


def vertices_in_short(vertices: Sequence[int]) -> list[int] | str:
    """Return some vertices as a manifest names them: a list of a few, or the number of many and their SHA-256."""
    if len(vertices) <= LISTED:
        return list(vertices)
    return f"{len(vertices)} vertices, SHA-256 {sha256(np.asarray(vertices, '<i8')).hexdigest()}"


class Resumable(ABC):
    """The base of programs that can go on from a checkpoint."""

    plan: Plan[Any]

    #: Whether what is not final is copied where that fits. If not, the call pauses while it is written.
    COPIED: ClassVar[bool] = True

    def identity(self) -> dict[str, Any]:
        """Return by name what a checkpoint must have been written for: values of JSON, none of which are a cut."""
        plan = self.plan
        return {
            "algorithm": plan.algorithm,
            "method": plan.method,
            "n": plan.n,
            "dtype": plan.dtype,
            "predecessors": plan.predecessors,
        }

    def resume_details(self) -> dict[str, Any]:
        """Return by name what else a checkpoint says of the call, for `resumed`: values of JSON."""
        return {}

    @abstractmethod
    def fingerprint(self, state: Any, shard: int) -> int:
        """Return a number of 64 bits that depends on the shard's part of the input; called right after `load`.

        The sum of the shards' numbers is that of the whole input, however it is cut.
        """

    @abstractmethod
    def pieces(self, state: Any, shard: int) -> list[Piece]:
        """Return the shard's pieces: views of the state, which a checkpoint copies and `resumed` fills."""

    @abstractmethod
    def allowed(self) -> Mapping[str, NumberRange | Bits]:
        """Return the elements that each whole may have, by its name.

        A checkpoint with others is damaged. A whole that a kernel takes indices from, or counts by, must be named.
        """

    def settled(self, step: int) -> bool:
        """Return whether all that is to be kept is in the pieces when `step` is the number of the next superstep."""
        return True

    @abstractmethod
    def bytes_kept(self, shard: int) -> int:
        """Return the bytes of a shard's pieces that are not final, of which a checkpoint makes a copy."""

    def resumed(self, state: Any, shard: int, saved: Saved) -> int:
        """Fill the state from a checkpoint; return the number of the next superstep."""
        for piece in self.pieces(state, shard):
            saved.fill(piece)
        return saved.manifest.step
