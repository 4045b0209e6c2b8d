"""The error for a cycle of negative weight, which SciPy's handlers catch too.

It has a module of its own because its base is in `scipy.sparse.csgraph`, which takes longer to import than mgraph:
refer to it as ``errors.NegativeCycleError``, which imports this module when it is needed.
"""

from scipy.sparse.csgraph import NegativeCycleError as _ScipyNegativeCycleError

from .errors import MgraphError


class NegativeCycleError(MgraphError, _ScipyNegativeCycleError):
    """The graph has a cycle of negative weight, so that no shortest path exists.

    The exact sum of the weights counts, as they are stored: no rounding hides or makes a negative cycle.

    Attributes
    ----------
    vertex : int
        A vertex on such a cycle.
    graph : int or None
        The number of the graph, if the call solved several.

    Examples
    --------
    >>> import mgraph
    >>> try:
    ...     mgraph.apsp([[0, -2], [1, 0]], device="cpu")
    ... except mgraph.NegativeCycleError as error:
    ...     print(error.vertex)
    0
    """

    def __init__(self, vertex: int, graph: int | None = None) -> None:
        self.vertex = vertex
        self.graph = graph
        where = f"vertex {vertex}" if graph is None else f"vertex {vertex} of graph {graph}"
        super().__init__(f"{where} lies on a cycle of negative weight: there is no shortest path through it")

    def __reduce__(self) -> tuple[type, tuple[int, int | None]]:
        return type(self), (self.vertex, self.graph)
