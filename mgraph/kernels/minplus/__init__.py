"""Operations of (min, +) products and blocked Floyd-Warshall; ``kernels/minplus.cu`` has the algorithms."""

from typing import Any, NamedTuple, Protocol

import numpy as np

from ...arrays import Array
from ..family import Family


class Panels(NamedTuple):
    """The arrays that the phases of a round pass on; `Operations.panels` allocates M, R and C.

    Attributes
    ----------
    M : array
        The factored diagonal block.
    R : array
        The pivots' rows over the shard's columns, a row a pivot.
    labels : array of int32, shape of R, or None
        The predecessors in R.
    C : array
        The pivots' columns over the shard's rows, a row a pivot.
    """

    M: Array
    R: Array
    labels: Array | None
    C: Array


class Bounds(NamedTuple):
    """The bounds of an integer type that `Operations.eliminate` encodes and decodes by.

    Attributes
    ----------
    most : int
        The greatest weight, and less its sign the least.
    lowest, highest : int
        Bounds of the distances of vertices that are reached.
    unreached : int
        The least value that means that a vertex is not reached.
    """

    most: int
    lowest: int
    highest: int
    unreached: int


class Operations(Protocol):
    """The operations of both twins.

    D is a matrix of distances in float32, float64, int32 or int16, with contiguous rows, which may be padded. P is its
    matrix of labels (predecessors or intermediate vertices), int32 of D's shape, or None. `cycle` is int32 of shape
    (1,): the first pivot that was found on a negative cycle.
    """

    #: Numbers of pivots that can be eliminated at a time, and the default.
    BLOCKS: tuple[int, ...]
    DEFAULT_BLOCK: int

    def padded(self, items: int) -> int:
        """Return the length of a panel's rows for `items` columns (or rows) of D, padding included."""

    def panels(self, xp: Any, dtype: Any, rows: int, columns: int, block: int) -> tuple[Array, Array, Array]:
        """Return M, R and C, uninitialised, for a matrix of `rows` x `columns` and up to `block` pivots at a time.

        Each has a row for each pivot: M for the factored diagonal block, R for the pivots' rows, C for their columns.
        """

    def compile_ahead(self, dtype: np.dtype, paths: bool, labelled: bool, nonnegative: bool) -> None:
        """Begin to compile the three phases, and return at once.

        `labelled` says whether there is P, and `paths` whether the panels have labels.
        """

    def clip_diagonal(self, D: Array, row: int, column: int, length: int) -> None:
        """D = min(D, 0) on a diagonal of `length` elements that begins at ``D[row, column]``."""

    def label_edges(self, D: Array, first: int, left: int, P: Array) -> None:
        """P = the source of each edge, -9999 where there is none and on the diagonal.

        Row 0 of D is vertex `first`, and column 0 is vertex `left`.
        """

    def factor(self, D: Array, row: int, column: int, pivot: int, b: int, M: Array, cycle: Array) -> None:
        """Factor the diagonal block of `b` pivots, whose corner is ``D[row, column]``, into M.

        `pivot` is the number of the first pivot.
        """

    def solve_rows(self, D: Array, P: Array | None, row: int, pivot: int, b: int, panels: Panels) -> None:
        """Write the rows of `b` pivots to R, each as it is when the pivot is eliminated, and predecessors to `labels`.

        They begin at row `row` of D; `pivot` is the number of the first pivot.
        """

    def solve_columns(self, D: Array, column: int, b: int, panels: Panels) -> None:
        """Write the columns of `b` pivots, from `column` of D on, to C, each as it is when the pivot is eliminated."""

    def update(
        self,
        D: Array,
        P: Array | None,
        panels: Panels,
        pivot: int,
        b: int,
        nonnegative: bool,
        skip: tuple[int, int, int, int] = (0, 0, 0, 0),
    ) -> None:
        """D = min(D, C (+) R): paths of every pair through the `b` pivots of the panels, from number `pivot` on.

        Where an element falls, P receives the predecessor in `labels` of the pivot through which it last fell, or
        without `labels` that pivot itself. The rows ``skip[0]`` to ``skip[1]`` and the columns ``skip[2]`` to
        ``skip[3]`` are up to date and may be skipped. `nonnegative` says that no element of D is negative.
        """

    def through(
        self,
        D: Array,
        P: Array | None,
        column: int,
        R: Array,
        labels: Array | None,
        pivot: int,
        count: int,
        cycle: Array,
    ) -> None:
        """D = min(D, D[:, column + t] + R[t]) for t = 0, ..., count - 1, one after the other.

        These are the `count` pivots from number `pivot` on. R has their rows, which may be rows of D itself; `labels`,
        of R's shape or None, has their predecessors. P is as for `update`.
        """

    def at_once(self, n: int, processors: int) -> bool:
        """Return whether `eliminate` takes n vertices, on a device with as many multiprocessors."""

    def board(self, xp: Any, dtype: Any, n: int, labelled: bool) -> tuple[Array, Array | None]:
        """Return what `eliminate` needs beside the matrix of n vertices, uninitialised."""

    def eliminate(
        self,
        given: Array,
        D: Array,
        P: Array | None,
        paths: bool,
        bounds: Bounds,
        board: tuple[Array, Array | None],
        found: Array,
    ) -> None:
        """D = the shortest paths in a matrix of distances that `at_once` allows, in one launch.

        Weights are encoded and distances decoded on the way, as `mgraph.graph.weights` does. `given`, of D's type, may
        be D itself. P receives the predecessors if `paths`, else the highest intermediate vertices. `board` comes from
        `Operations.board`.

        `found` is int32 of shape (4,), zeros before. found[0] is the kernel's own. found[1] becomes 2**31 - 1 less the
        first pivot on a negative cycle; the results are then of no use. found[2] is set if a weight is out of bounds,
        found[3] if a distance is.
        """

    def scatter(self, D: Array, indptr: Array, indices: Array, weights: Array) -> None:
        """D[v, w] = the least of its value and the weights of the edges from v to w; other elements stay.

        `indptr` is int32 or int64 of shape (rows + 1,), `indices` int32, `weights` of D's type.
        """


_FAMILY: Family[Operations] = Family(__name__)

on, of_kind = _FAMILY.on, _FAMILY.of_kind
