"""Operations of betweenness down a hierarchy, for CPUs only; `host` has the algorithm.

Vertices are ranks, and entries are those of `mgraph.kernels.hierarchy.ops`. No two edges are between the same vertices.
"""

from typing import NamedTuple, Protocol

import numpy as np

from ...arrays import Array
from ..hierarchy.ops import Entries, Lower, Placed, Tree

#: Operations that only a CPU has.
HOST_ONLY = frozenset({"numbers", "add_swept", "prepared_bytes", "swept_bytes"})

#: Sources whose sums are independent of each other's: so many cores share a batch, and the bits are those of one core.
SHARES = 16

#: Sources that a core takes at a time.
LANES = 32


class Numbers(NamedTuple):
    """A hierarchy with lengths and, for each entry, the number of shortest paths over lower vertices.

    Attributes
    ----------
    tree, entries, lower, upward, downward
        The structure, as `mgraph.kernels.hierarchy.ops` has it.
    edges, up, down : array of int32
        The lengths of the edges and of the entries. If `down` is `up`, both directions of each edge are as long.
    paths_up, paths_down : array of float64, shape (entries,)
        The numbers of paths; one array if `down` is `up`.
    first : array of int32, shape (n,)
        The first vertex of the block of each vertex, a subtree that a core's cache holds; -1 above the blocks.
    places : array of int32, shape (entries,)
        Where the row of each entry's upper vertex is: after those of the tree's levels if both are in one block.
    """

    tree: Tree
    entries: Entries
    lower: Lower
    upward: Placed
    downward: Placed
    edges: Array
    up: Array
    down: Array
    paths_up: Array
    paths_down: Array
    first: Array
    places: Array


class Operations(Protocol):
    """What `mgraph.kernels.betweenness_sweeps.host` implements."""

    def numbers(
        self, structure: tuple[Tree, Entries, Lower, Placed, Placed], edges: Array, up: Array, down: Array
    ) -> Numbers:
        """Return a hierarchy, given with its lengths, with the numbers of paths of its entries."""
        ...

    def add_swept(
        self,
        numbers: Numbers,
        sources: Array,
        targets: Array,
        limit: int,
        endpoints: bool,
        edges: bool,
        directed: bool,
        sums: np.ndarray,
    ) -> bool:
        """Add the dependencies on each vertex, or on each of the `edges`, to `sums`, by paths from `sources`.

        Paths are as long as `limit` at most; with `endpoints`, their ends count as passed. `targets` is of bool, shape
        (n,). Of edges that are not `directed`, the sums of both directions are in one of them. Return False, with sums
        of no use, if a number of paths exceeds `mgraph.kernels.betweenness.ops.LARGE`.
        """
        ...

    def prepared_bytes(self, n: int, entries: int, directed: bool) -> int:
        """Return the bytes that `numbers` allocates."""
        ...

    def swept_bytes(self, n: int, entries: int, height: int, sources: int, cores: int, directed: bool) -> int:
        """Return the bytes that `add_swept` allocates on so many cores."""
        ...
