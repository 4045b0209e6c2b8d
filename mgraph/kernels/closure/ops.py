"""Operations of transitive closure, a bit a pair; ``kernels/closure.cu`` has the algorithm and the encoding."""

from typing import Any, Protocol

from ...arrays import Array
from ..minplus.ops import Panels


class Operations(Protocol):
    """What both twins do.

    D is uint32 of shape (rows, words), where bit j % 32 of word j // 32 tells whether the row reaches column j. M, R
    and C are those of `panels`, and hold a set of pivots for every pivot, every column and every row.
    """

    #: Pivots that may be eliminated at a time, and how many are by default.
    BLOCKS: tuple[int, ...]
    DEFAULT_BLOCK: int

    def panels(self, xp: Any, dtype: Any, rows: int, columns: int, block: int) -> tuple[Array, Array, Array]:
        """Return uninitialised M, R and C for so many rows and columns, in vertices, not words."""
        ...

    def compile_ahead(self, block: int) -> None:
        """Begin to compile the three phases for blocks of so many pivots; returns at once."""
        ...

    def factor(self, D: Array, row: int, column: int, pivot: int, b: int, M: Array, cycle: Array) -> None:
        """M = the reflexive closure of the diagonal block of `b` pivots, which begins at ``D[row, column]``.

        `pivot` and `cycle` are not used: nothing is a negative cycle.
        """
        ...

    def solve_rows(self, D: Array, P: Array | None, row: int, pivot: int, b: int, panels: Panels) -> None:
        """R = M D[pivots, :], as the set of pivots that reach each column; the first pivot's row is `row`.

        P and `pivot` are not used: there are no labels.
        """
        ...

    def solve_columns(self, D: Array, column: int, b: int, panels: Panels) -> None:
        """C = the pivots' columns as they are, which begin at `column`: the rows are closed, and that is enough."""
        ...

    def update(self, D: Array, panels: Panels, b: int, rows: tuple[int, int], columns: tuple[int, int]) -> None:
        """D = D + C R in some rows and columns, given as (first, end) from multiples of the block on."""
        ...

    def scatter(self, D: Array, indptr: Array, indices: Array) -> None:
        """Set the bits of edges; the others stay. `indptr` is int32 or int64 of shape (rows + 1,)."""
        ...

    def set_diagonal(self, D: Array, row: int, column: int, length: int) -> None:
        """Set the bits of the diagonal, which begins at a row and a column and has so many elements."""
        ...

    def pack(self, present: Array, D: Array) -> None:
        """D = the bits of a Boolean matrix, of shape (rows, columns), and zeros behind its last column."""
        ...

    def unpack(self, D: Array, present: Array) -> None:
        """Write the bits to a Boolean matrix, of shape (rows, columns)."""
        ...

    def count(self, D: Array, counts: Array) -> None:
        """Write the number of bits in each row to `counts`, int64 of shape (rows,)."""
        ...
