"""What a call asks of a hierarchy's pairs, as its programs are given it."""

from hashlib import sha256
from typing import NamedTuple

import numpy as np

from ...arrays import Array


class Asked(NamedTuple):
    """Pairs of ranks, or a table of them, in the order in which they are dealt.

    Attributes
    ----------
    starts, ends : array of int32
        The ends of each pair; of a table its rows and its columns. They may lie on the device that takes them all.
    table : bool
        Whether each start is paired with each end.
    along : tuple of array
        Other weights to add up along the paths.
    amounts : array of int64 or float64, or None
        How much each pair demands; of a table, row by row.
    heads : array of int32, or None
        The target of each edge, if the vertices of paths are wanted.
    """

    starts: Array
    ends: Array
    table: bool = False
    along: tuple[np.ndarray, ...] = ()
    amounts: np.ndarray | None = None
    heads: np.ndarray | None = None

    @property
    def width(self) -> int:
        """The number of pairs of a start."""
        return len(self.ends) if self.table else 1

    def part(self, top: int, bottom: int) -> "Asked":
        """Return the pairs of some starts."""
        ends = self.ends if self.table else self.ends[top:bottom]
        amounts = None if self.amounts is None else self.amounts[top * self.width : bottom * self.width]
        return self._replace(starts=self.starts[top:bottom], ends=ends, amounts=amounts)

    def digest(self) -> str:
        """Return the SHA-256 of all that is asked."""
        amounts = () if self.amounts is None else (self.amounts,)
        digest = sha256(f"{self.table}".encode())
        for array in (self.starts, self.ends, *self.along, *amounts):
            digest.update(f"{array.dtype} {array.shape}".encode())
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()


def by_start(asked: Asked) -> tuple[Asked, np.ndarray]:
    """Return pairs by start, so that a vertex climbs on few shards, and the places at which they were."""
    order = np.argsort(asked.starts, kind="stable")
    amounts = None if asked.amounts is None else asked.amounts[order]
    return asked._replace(starts=asked.starts[order], ends=asked.ends[order], amounts=amounts), order
