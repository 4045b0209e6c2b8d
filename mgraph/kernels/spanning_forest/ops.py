"""Operations of minimum spanning forests; ``kernels/spanning_forest.cu`` has the algorithm and the encoding."""

from typing import Protocol

from ...arrays import Array


class Operations(Protocol):
    """What both twins do.

    ``indptr`` (int32 or int64, shape (rows + 1,)), ``indices`` (int32) and ``keys`` (int32) are the edges at the
    vertices from `first` on, the ends of each row ascending. `comp` and `ends` are int32 and `best` int64, of shape
    (n,); `choice` is int64 of shape (rows,).
    """

    def hub_capacity(self, edges: int) -> int:
        """Return the int32 words that `choose` needs for the hubs of a list of so many edges; 0 without hubs."""
        ...

    def choose(
        self,
        indptr: Array,
        indices: Array,
        keys: Array,
        first: int,
        alone: bool,
        comp: Array,
        best: Array,
        choice: Array,
        hubs: Array,
        total: Array,
    ) -> None:
        """Choose each row's least edge that leaves its component, and lower the components' bounds.

        `alone` says that every vertex is a component by itself. `hubs`, int32 of shape (``hub_capacity(edges)``,), and
        `total`, uint64 of shape (1,), are buffers.
        """
        ...

    def settle(
        self, indptr: Array, indices: Array, first: int, comp: Array, best: Array, choice: Array, ends: Array
    ) -> None:
        """Find the least of the greater ends of the edges that attain their component's bound."""
        ...

    def hook(
        self,
        first: int,
        last: int,
        comp: Array,
        best: Array,
        ends: Array,
        parent: Array,
        low: Array,
        high: Array,
        keys: Array,
        counts: Array,
    ) -> None:
        """Put each root below the component at the other end of its edge.

        Edges whose lesser end is one of the vertices from `first` to `last` are added to the forest: `low`, `high` and
        `keys`, int32 of shape (n,). `counts`, int32 of shape (2,), counts the roots hooked and the edges added.
        """
        ...

    def relabel(self, parent: Array, comp: Array, best: Array, ends: Array) -> None:
        """Write every vertex's new root to `comp`, and reset the bounds."""
        ...
