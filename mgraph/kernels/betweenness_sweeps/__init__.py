"""Operations of betweenness down a hierarchy; `host` has the algorithm.

Vertices are ranks, and entries are those of `mgraph.kernels.hierarchy.ops`. No two edges are between the same vertices.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np

from ...arrays import Array
from ..family import Family
from ..hierarchy.ops import Entries, Lower, Placed, Tree

#: Operations that only a CPU has.
HOST_ONLY = frozenset({"numbers", "hand_down"})

#: Sources whose sums are independent of each other's: so many cores share a batch, and the bits are those of one core.
SHARES = 16

#: Sources that a core takes at a time.
LANES = 32

#: Sources of a group of a GPU, and the most groups that it sweeps at a time.
GROUP, GROUPS = 128, 16


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


class Sums(NamedTuple):
    """What some sources add up: of vertices, and of entries upwards and downwards, one array if they are alike."""

    vertices: np.ndarray
    up: np.ndarray
    down: np.ndarray


class Operations(Protocol):
    """What `mgraph.kernels.betweenness_sweeps.host` implements, and on a GPU `cuda` what is not of the host."""

    def numbers(
        self, structure: tuple[Tree, Entries, Lower, Placed, Placed], edges: Array, up: Array, down: Array
    ) -> Numbers:
        """Return a hierarchy, given with its lengths, with the numbers of paths of its entries."""

    def placed(self, numbers: Numbers) -> Any:
        """Return what `sweep` reads of a hierarchy, on the device."""

    def sweep(
        self,
        placed: Any,
        sources: np.ndarray,
        targets: np.ndarray,
        limit: int,
        endpoints: bool,
        directed: bool,
    ) -> Sums | None:
        """Return the dependencies on each vertex, and what entries carry, by paths from one source or more.

        All arrays but those of `placed` are on the host. Paths are as long as `limit` at most; with `endpoints`, their
        ends count as passed. `targets` is of bool, shape (n,). Of edges that are not `directed`, the sums of both
        directions are in one of them. None if a number of paths exceeds `mgraph.kernels.betweenness.LARGE`.
        """

    def hand_down(self, numbers: Numbers, found: Sums, edges: bool, sums: np.ndarray) -> None:
        """Add dependencies on each vertex, or on each of the `edges`, to `sums`, from what sweeps found."""

    def prepared_bytes(self, n: int, entries: int, directed: bool) -> int:
        """Return the bytes that `numbers` or `placed` allocates on the device."""

    def swept_bytes(self, n: int, entries: int, height: int, sources: int, cores: int, directed: bool) -> int:
        """Return the bytes that `sweep` allocates on the device, on so many cores."""


_FAMILY: Family[Operations] = Family(__name__)

on, of_kind = _FAMILY.on, _FAMILY.of_kind
