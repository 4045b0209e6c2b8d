"""Pieces of a program's state that checkpoints keep: arrays, and where they lie in the whole of all shards.

A checkpoint holds pieces of whole arrays, such as the matrix of distances, and not shards. So a call can go on from it
on another number of workers, each of which reads what overlaps its own pieces.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...graph import Compressed

#: Elements whose fingerprint is computed at a time.
AT_A_TIME = {"cpu": 1 << 18, "cuda": 1 << 24}

#: A part of an array: the first and the end of each dimension.
Box = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Crossing:
    """The elements of a matrix where some rows and columns cross, gathered on its device only when they are read.

    Attributes
    ----------
    matrix : array of two dimensions
        The matrix.
    rows, columns : array of int
        The numbers of the rows and of the columns, on the same device.
    """

    matrix: Array
    rows: Array
    columns: Array

    #: The number of dimensions.
    ndim: ClassVar[int] = 2

    @property
    def dtype(self) -> np.dtype:
        """The type of the elements."""
        return np.dtype(self.matrix.dtype)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and of columns."""
        return len(self.rows), len(self.columns)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        """The bytes of an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self.size * self.itemsize

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, part: Any) -> Any:
        """Return some rows, a `Crossing` too, or the elements in some rows and columns, an array."""
        if isinstance(part, slice):
            return Crossing(self.matrix, self.rows[part], self.columns)
        rows, columns = part
        return self.matrix[self.rows[rows, None], self.columns[columns]]


class Piece(NamedTuple):
    """An array of a shard, or a view of one, as a part of a whole.

    Attributes
    ----------
    name : str
        The name of the whole, of the letters a to z.
    array : array or Crossing
        The elements, contiguous in the last dimension; what is final may be a `Crossing`.
    origin : tuple of int
        Where the first element lies in the whole. Pieces of shards do not overlap.
    final : bool
        Whether the elements will not change any more: they are written once.
    """

    name: str
    array: Array
    origin: tuple[int, ...]
    final: bool = False

    @property
    def box(self) -> Box:
        """The part of the whole that this piece is."""
        return tuple((first, first + size) for first, size in zip(self.origin, self.array.shape, strict=True))


@dataclass(frozen=True)
class NumberRange:
    """The elements that a whole may have: numbers from `least` to `most`, and `special`.

    Attributes
    ----------
    least, most : number
        The range; NaN is not in it.
    special : int or None
        One more element, such as -9999 for no predecessor.
    shift : int
        How many lower bits of an element hold something else.
    """

    least: float
    most: float
    special: int | None = None
    shift: int = 0

    def __str__(self) -> str:
        return f"numbers from {self.least} to {self.most}" + ("" if self.special is None else f", or {self.special}")

    def disallowed(self, elements: np.ndarray, box: Box) -> np.ndarray:
        """Return the elements of a part of the whole that it must not have."""
        numbers = elements >> elements.dtype.type(self.shift) if self.shift else elements
        allowed = (numbers >= self.least) & (numbers <= self.most)
        return numbers[~(allowed if self.special is None else allowed | (numbers == self.special))]


@dataclass(frozen=True)
class Bits:
    """The elements that a whole may have: words of 32 bits along its last dimension, and no bit from `count` on."""

    count: int

    def __str__(self) -> str:
        return f"{self.count:,} bits"

    def disallowed(self, elements: np.ndarray, box: Box) -> np.ndarray:
        """Return the words of a part of the whole that have a bit from `count` on."""
        first, end = box[-1]
        left = (self.count - 32 * np.arange(first, end)).clip(0, 32)
        return elements[elements.astype(np.uint64) >> left.astype(np.uint64) != 0]


def overlap(one: Box, other: Box) -> Box | None:
    """Return the part that two boxes share; None if they share nothing."""
    shared = tuple((max(a, c), min(b, d)) for (a, b), (c, d) in zip(one, other, strict=True))
    return shared if all(first < last for first, last in shared) else None


def within(box: Box, origin: Sequence[int]) -> tuple[slice, ...]:
    """Return the indices of a box in an array whose first element lies at `origin`."""
    return tuple(slice(first - start, last - start) for (first, last), start in zip(box, origin, strict=True))


#: Odd multipliers, by which the bits of a number spread.
_SPREAD = tuple(
    np.array([factor], np.uint64) for factor in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)


def fingerprint_of(pieces: Sequence[Piece]) -> int:
    """Return a number of 64 bits that depends on every element of some pieces and on its place in the whole."""
    total = 0
    for piece in pieces:
        array = piece.array if piece.array.ndim == 2 else piece.array[:, None]
        xp, (top, left) = devices.of(array).xp, (*piece.origin, 0)[:2]
        columns = _spread(xp.arange(left, left + array.shape[1], dtype=np.uint64), 0, xp)
        rows = max(1, AT_A_TIME[devices.of(array).kind] // max(1, array.shape[1]))
        for first in range(0, len(array), rows):
            part = xp.ascontiguousarray(array[first : first + rows])
            places = _spread(xp.arange(top + first, top + first + len(part), dtype=np.uint64), 1, xp)
            values = part.view(f"u{part.dtype.itemsize}").astype(np.uint64)
            values ^= places[:, None]
            total += _sum(values, columns, xp)
    return total % 2**64


def fingerprint_of_edges(first: int, edges: Compressed) -> int:
    """Return a number of 64 bits that depends on every edge into the vertices from `first` on, in any order."""
    xp, indptr, total = devices.of(edges.indices).xp, edges.indptr, 0
    at_a_time = AT_A_TIME[devices.of(edges.indices).kind]
    for start in range(0, len(edges.indices), at_a_time):
        own = slice(start, start + at_a_time)
        places = xp.arange(start, min(start + at_a_time, len(edges.indices)))
        targets = xp.searchsorted(indptr, places.astype(indptr.dtype), side="right").astype(np.uint64) + np.uint64(
            first
        )
        values = _spread(edges.indices[own].astype(np.uint64), 1, xp)
        if edges.weights is not None:
            weights = xp.ascontiguousarray(edges.weights[own])
            values ^= weights.view(f"u{weights.dtype.itemsize}").astype(np.uint64)
        total += _sum(values, _spread(targets, 0, xp), xp)
    return total % 2**64


def _sum(values: Array, others: Array, xp: Any) -> int:
    """Return the sum of the spread bits of `values` and `others` together; `values` is overwritten."""
    values += others
    values ^= values >> np.uint64(31)
    values *= xp.asarray(_SPREAD[2])
    values ^= values >> np.uint64(29)
    return int(values.sum(dtype=np.uint64))


def _spread(values: Array, factor: int, xp: Any) -> Array:
    return (values + np.uint64(1)) * xp.asarray(_SPREAD[factor])
