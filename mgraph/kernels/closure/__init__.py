"""Operations of transitive closure, one bit per pair; ``kernels/closure.cu`` has the algorithm and the encoding."""

from typing import Any, Protocol

from ...arrays import Array
from ..family import Family
from ..minplus import Panels


class Operations(Protocol):
    """The operations of both twins.

    D is uint32 of shape (rows, words): bit j % 32 of word j // 32 says whether the row reaches column j. In the panels,
    M has a set of pivots for every pivot, R for every column (on a CPU: the pivots' rows, in words), C for every row;
    `labels` is None.
    """

    #: Numbers of pivots that can be eliminated at a time, and the default.
    BLOCKS: tuple[int, ...]
    DEFAULT_BLOCK: int

    def panels(self, xp: Any, dtype: Any, rows: int, columns: int, block: int) -> tuple[Array, Array, Array]:
        """Return M, R and C, uninitialised, for a matrix of `rows` x `columns` vertices (not words)."""

    def compile_ahead(self, block: int) -> None:
        """Begin to compile the three phases for blocks of `block` pivots, and return at once."""

    def factor(self, D: Array, row: int, column: int, pivot: int, b: int, M: Array, cycle: Array) -> None:
        """M = the reflexive closure of the diagonal block of `b` pivots, which begins at ``D[row, column]``.

        `pivot` and `cycle` are not used: there are no negative cycles.
        """

    def solve_rows(self, D: Array, P: Array | None, row: int, pivot: int, b: int, panels: Panels) -> None:
        """R = M D[pivots, :], as the set of pivots that reach each column; the first pivot's row is `row`.

        P and `pivot` are not used: there are no labels.
        """

    def solve_columns(self, D: Array, column: int, b: int, panels: Panels) -> None:
        """C = the pivots' columns of D, from `column` on, unchanged: it suffices that the rows are closed."""

    def update(self, D: Array, panels: Panels, b: int, rows: tuple[int, int], columns: tuple[int, int]) -> None:
        """D = D | C R in some rows and columns, given as (first, end); `first` is a multiple of the block."""

    def scatter(self, D: Array, indptr: Array, indices: Array) -> None:
        """Set the bits of edges; other bits stay.

        `indptr` is int32 or int64 of shape (rows + 1,), `indices` int32: the targets in each row.
        """

    def set_diagonal(self, D: Array, row: int, column: int, length: int) -> None:
        """Set the `length` bits of a diagonal that begins at row `row` and column `column`."""

    def pack(self, present: Array, D: Array) -> None:
        """D = the bits of `present`, Boolean of shape (rows, columns), and zeros after the last column."""

    def unpack(self, D: Array, present: Array) -> None:
        """Write the bits of D to `present`, Boolean of shape (rows, columns)."""

    def count(self, D: Array, counts: Array) -> None:
        """Write the number of set bits in each row to `counts`, int64 of shape (rows,)."""


_FAMILY: Family[Operations] = Family(__name__)

on, of_kind = _FAMILY.on, _FAMILY.of_kind
