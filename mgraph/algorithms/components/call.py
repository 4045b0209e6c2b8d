"""Connected components: the public call and its result.

The algorithms and their sources are described in ``kernels/components.cu``. A shard owns a range of vertices and the
edges from them, and computes a forest of all n vertices from these edges alone. An edge joins its ends whichever shard
has it, so a directed graph's edges are needed at one end only. Then the forests are joined: each is sent to all other
shards once, 4 n bytes, whatever the number of edges. A root is the least vertex of its tree, so the labels are the same
for every method and number of shards.

Strong components are found on one device, by the algorithms of ``kernels/strong.cu`` or on one core. There, too, labels
are the least vertices, whatever the method.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Unpack

import numpy as np

from ... import plotting
from ...arguments import checked_choice
from ...arrays import Array
from ...docstrings import with_common_parts
from ...errors import ArgumentValue, InputError
from ...graph import PlacedGraph, as_any_graph
from ...results import CallInput, Proofs, Result
from ...runtime.call import call
from ...runtime.run import Run
from ...runtime.solving import GraphCall
from ..certificates import labels as certificate
from ..certificates import strong as strong_certificate
from . import plan as components_plan
from .program import Components
from .strong import Strong


@call
def connected_components(
    graph: Any,
    *,
    method: str = "auto",
    connection: str = "weak",
    **run: Unpack[Run],
) -> "ComponentsResult":
    """Return the number of connected components, and the component of every vertex.

    Parameters
    ----------
    graph : Graph, DistributedGraph, sparse matrix, or array_like of shape (n, n)
        Read as `mgraph.apsp` does; weights do not matter.
    method : {"auto", "afforest", "shiloach-vishkin", "sequential", "multistep", "colouring"}
        For weak components: ``"afforest"`` links every vertex with some neighbours, then the vertices outside the giant
        component with their other neighbours [1]_. ``"shiloach-vishkin"`` hooks and shortcuts all trees in rounds [2]_
        [3]_. ``"sequential"`` is union-find on one core of a CPU. ``"auto"`` takes ``"afforest"``, or ``"sequential"``
        for few edges on a CPU.

        For strong components of directed graphs: ``"colouring"`` finds the giant component by two searches, then the
        others by passing on the greatest of random keys in both directions [5]_. ``"multistep"`` finds the giant one in
        the same way, on all cores of a CPU, and the others on one [6]_. ``"sequential"`` is a depth-first search on one
        core of a CPU [4]_. ``"auto"`` takes ``"colouring"`` on a GPU. On a CPU it takes ``"multistep"``, or
        ``"sequential"`` for small graphs, for few edges a vertex, and for long paths.
    connection : {"weak", "strong"}
        ``"weak"`` ignores the directions of edges; ``"strong"`` connects two vertices only if each reaches the other.
        Strong components of a directed graph are found on one device.
    {common arguments}

    Returns
    -------
    ComponentsResult
        Unpacks as ``(count, labels)``.

    Raises
    ------
    InputError
        For invalid input, and for a method or connection that the devices do not support.
    {common errors}

    See Also
    --------
    mgraph.bfs : The vertices that one vertex reaches.
    mgraph.transitive_closure : Which vertices reach which others.

    References
    ----------
    .. [1] Sutton, Ben-Nun and Barak, "Optimizing parallel graph connectivity computation via subgraph sampling",
       2018.
    .. [2] Shiloach and Vishkin, "An O(log n) parallel connectivity algorithm", 1982.
    .. [3] Dehne and Yogaratnam, "Exploring the limits of GPUs with parallel graph algorithms", 2010.
    .. [4] Pearce, "An improved algorithm for finding the strongly connected components of a directed graph", 2005.
    .. [5] Alabandi, Sands, Biros and Burtscher, "A GPU algorithm for detecting strongly connected components", 2023.
    .. [6] Slota, Rajamanickam and Madduri, "BFS and coloring-based parallel algorithms for strongly connected
       components and related problems", 2014.

    Examples
    --------
    >>> import mgraph
    >>> graph = mgraph.Graph.from_edges([0, 1, 2, 3], [1, 0, 3, 0])
    >>> result = mgraph.connected_components(graph, device="cpu")
    >>> result.count, result.labels.tolist()
    (1, [0, 0, 0, 0])
    >>> mgraph.connected_components(graph, connection="strong", device="cpu").labels.tolist()
    [0, 0, 2, 3]
    """
    graph = as_any_graph(graph)
    checked_choice("connection", connection, ("weak", "strong"))
    checked_choice("method", method, ("auto", *components_plan.EVERY_METHOD))
    strong = connection == "strong" and graph.directed
    if strong and isinstance(graph, PlacedGraph):
        raise InputError(
            ArgumentValue("connection", "strong"), f" is not computed on workers: give {graph!r}.to_graph()"
        )
    if strong and run.get("client") is not None:
        raise InputError(
            ArgumentValue("connection", "strong"), " is computed on one device: leave out ", ArgumentValue("client")
        )
    if not strong and method not in ("auto", *components_plan.METHODS):
        raise InputError(
            ArgumentValue("method", method),
            " is for strong components of directed graphs: add ",
            ArgumentValue("connection", "strong"),
        )
    asked = GraphCall(graph, run)
    plan = asked.planned(
        components_plan.planned, orders=("csc",), method=method, connection=connection, directed=graph.directed
    )
    found = asked.solved(Strong(plan) if strong else Components(plan, graph.directed), plan, weighted=False)
    found["count"], found["iterations"] = int(found["count"].sum()), int(found["iterations"].max())
    return ComponentsResult(**found, _solved=CallInput(graph), _strong=strong)


@with_common_parts
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ComponentsResult(Result):
    """The result of `connected_components`, which unpacks as ``(count, labels)``.

    Attributes
    ----------
    count : int
        Number of components.
    labels : array or DistributedVector of int32, shape (n,)
        The smallest vertex of each vertex's component.
    iterations : int
        Number of rounds of ``"shiloach-vishkin"``, including the last one, in which nothing changed, or of
        ``"colouring"``; 1 for the other methods.
    {common attributes}

    Examples
    --------
    >>> import mgraph
    >>> count, labels = mgraph.connected_components(mgraph.Graph.from_edges([0, 3], [2, 1]), device="cpu")
    >>> count, labels.tolist()
    (2, [0, 1, 0, 1])
    """

    ARRAYS = ("labels",)
    VERTICES = ("labels",)
    FACTS = ("count",)
    PROOFS: ClassVar[Proofs] = {
        "labels": ("label", "edge", "connected", "reached", "reaching", "cycle"),
        "count": ("count",),
        "iterations": (),
    }
    PICTURES = ("sizes", "graph", "map")
    KINDS = True

    count: int
    labels: Array
    iterations: int
    _strong: bool = False

    def __iter__(self) -> Iterator[Any]:
        yield self.count
        yield self.labels

    def _colours(self) -> tuple[np.ndarray, str]:
        return np.asarray(self), "components"

    def _drawing(self, kind: str, given: Any) -> Callable[[Any], None]:
        if kind != "sizes":
            return super()._drawing(kind, given)
        counts = np.bincount(np.asarray(self))
        sizes = np.sort(counts[counts > 0])[::-1]
        return partial(plotting.draw_bars, counts=sizes, across="component", up="vertices")

    def verify(self, graph: Any = None) -> None:
        """Raise unless the components are right.

        Weak components are verified by two passes over the edges, on the GPU that computed them if it has room for
        this, else where the graph is; strong ones by four on the host. The kernels share nothing with those that
        compute.

        Parameters
        ----------
        graph : Graph or DistributedGraph, optional
            The graph that was solved. By default the call's, if it still exists: the result does not keep it.

        Raises
        ------
        VerificationError
            If a rule is broken: the error's `rule` names the first one, and `vertex` the first vertex that breaks it.
        InputError
            If the graph has gone or has another number of vertices.
        MemoryLimitError
            If what the check needs does not fit.

        Notes
        -----
        The rules, in this order: ``"label"`` (a label is at most its vertex's number, and is its own label), ``"edge"``
        (labels are equal across edges), ``"connected"`` (a vertex is connected with the vertex that its label names),
        ``"count"`` (there are `count` labels). Of strong components, instead of the second and the third: ``"reached"``
        and ``"reaching"`` (the vertex that a label names reaches all with the label, and they reach it, within the
        label), ``"cycle"`` (no cycle leads through two labels).

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.Graph.from_edges([0, 3], [2, 1])
        >>> result = mgraph.connected_components(graph, device="cpu")
        >>> result.verify()
        >>> result.labels[3] = 0
        >>> result.verify()  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        mgraph.errors.VerificationError: vertex 3 breaks the rule 'edge': ...
        """
        (strong_certificate if self._strong else certificate).verify(self, graph)
