"""Operations of minimum spanning forests; ``kernels/spanning_forest.cu`` has the algorithm and the encoding."""

from typing import NamedTuple, Protocol

from ...arrays import Array
from ..edges import HubBuffers
from ..family import Family


class Incident(NamedTuple):
    """Edges at a shard's vertices, a row for each vertex.

    Attributes
    ----------
    indptr : array of int32 or int64, shape (rows + 1,)
        Where each row begins.
    indices : array of int32, shape (edges,)
        The other end of each edge; ascending in a row.
    keys : array of int32, shape (edges,)
        The weight of each edge, encoded so that keys order as weights do.
    """

    indptr: Array
    indices: Array
    keys: Array


class Components(NamedTuple):
    """The components of all n vertices, each with the least edge that leaves it.

    Attributes
    ----------
    comp : array of int32, shape (n,)
        The root of each vertex's component.
    parent : array of int32, shape (n,)
        The component below which a root was hooked.
    best : array of int64, shape (n,)
        Of each root: key and lesser end of the least edge; the greatest int64 without one.
    ends : array of int32, shape (n,)
        Of each root: the greater end of that edge; the greatest int32 without one.
    """

    comp: Array
    parent: Array
    best: Array
    ends: Array


class ForestEdges(NamedTuple):
    """Edges of the forest, in the order in which they are found: arrays of int32, shape (n,).

    Attributes
    ----------
    low, high : array of int32, shape (n,)
        The lesser and the greater end of each edge.
    keys : array of int32, shape (n,)
        Its key.
    """

    low: Array
    high: Array
    keys: Array


class Operations(Protocol):
    """The operations of both twins, for the vertices from `first` on; `choice` is int64 of shape (rows,)."""

    def hub_capacity(self, edges: int) -> int:
        """Return the int32 words that `choose` needs for the hubs of a list of `edges` edges; 0 if unused."""

    def choose(
        self, edges: Incident, first: int, alone: bool, components: Components, choice: Array, hubs: HubBuffers
    ) -> None:
        """Write each row's least edge that leaves its component to `choice`, and lower ``components.best``.

        `alone` says that every vertex is a component by itself.
        """

    def settle(self, edges: Incident, first: int, components: Components, choice: Array) -> None:
        """Lower ``components.ends`` to the greater ends of the chosen edges that attain their component's `best`."""

    def hook(self, first: int, last: int, components: Components, forest: ForestEdges, counts: Array) -> None:
        """Put each root below the component at the other end of its edge.

        Edges whose lesser end is one of the vertices from `first` to `last` are added to the forest. `counts`, int32 of
        shape (2,), counts the roots hooked and the edges added.
        """

    def relabel(self, components: Components) -> None:
        """Write every vertex's new root to ``components.comp``, and reset `best` and `ends`."""

    def order(self, low: Array, high: Array, n: int) -> Array:
        """Return the places of edges in the order of `low`, then of `high`; both int32, in [0, n)."""


_FAMILY: Family[Operations] = Family(__name__)

on, of_kind = _FAMILY.on, _FAMILY.of_kind
