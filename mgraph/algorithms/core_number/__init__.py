"""Core numbers: the public call, its result and its registry entry."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Unpack

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...docstrings import with_common_parts
from ...errors import ArgumentValue, InputError, VerificationError, WrongResultError, shown
from ...generate import rmat
from ...graph import Graph, as_any_graph
from ...graph.ids import id_of
from ...results import CallInput, Proofs, Result, on_host
from ...runtime.call import call
from ...runtime.run import Run
from ...runtime.solving import GraphCall
from ..command import Command, Summary
from ..entry import Algorithm, Sample, declare, named
from ..samples import graphs, large
from ..work import of_edges
from . import program, verify

__all__ = ["CoreNumberResult", "core_number"]


@call
def core_number(graph: Any, *, method: str = "auto", **run: Unpack[Run]) -> "CoreNumberResult":
    """Return the core number of every vertex: the greatest k such that it is in a subgraph of degrees of at least k.

    Parameters
    ----------
    graph : Graph, DistributedGraph, sparse matrix, or array_like of shape (n, n)
        Read as `mgraph.apsp` does; weights do not matter. In- and out-degrees of a directed graph are added. The graph
        must have no self-loops and no parallel edges, as networkx.core_number asks.
    method : {"auto", "peeling"}
        In rounds, all vertices of the least degree are taken away [1]_ [2]_.
    {common arguments}

    Returns
    -------
    CoreNumberResult

    Raises
    ------
    InputError
        For invalid input, and for a graph with self-loops or parallel edges.
    {common errors}

    See Also
    --------
    mgraph.connected_components : The components, which are the parts of the 1-core and isolated vertices.

    References
    ----------
    .. [1] Batagelj and Zaversnik, "An O(m) algorithm for cores decomposition of networks", 2003.
    .. [2] Dasari, Desh and Zubair, "ParK: an efficient algorithm for k-core decomposition on multicore processors",
       2014.

    Examples
    --------
    >>> import mgraph
    >>> graph = mgraph.Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], directed=False)
    >>> mgraph.core_number(graph, device="cpu").cores.tolist()
    [2, 2, 2, 1]
    """
    graph = as_any_graph(graph)
    asked = GraphCall(graph, run)
    orders = program.orders_of(graph.directed)
    plan = asked.planned(program.planned, orders=orders, method=method, directed=graph.directed)
    found = asked.solved(program.Peeling(plan, graph.directed), plan, weighted=False)
    flaws = found.pop("flaws")[:2].tolist()  # every shard has the same two
    for vertex, flaw in zip(flaws, ("a self-loop", "parallel edges"), strict=True):
        if vertex < graph.n:
            name = vertex if graph.ids is None else shown(id_of(graph.ids, vertex))
            words = f"graph must have no {flaw.removeprefix('a ')}, and vertex {name} has {flaw}: "
            if flaw == "a self-loop":
                raise InputError(words, "leave out edges whose ends are one vertex")
            advice = "take each pair once; what has both directions of its edges is read without "
            raise InputError(words, advice, ArgumentValue("directed", False))
    found["rounds"] = int(found["rounds"].max())
    return CoreNumberResult(**found, _solved=CallInput(graph))


@with_common_parts
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CoreNumberResult(Result):
    """The result of `core_number`.

    Attributes
    ----------
    cores : array or DistributedVector of int32, shape (n,)
        The core number of each vertex.
    rounds : int
        Number of rounds.
    {common attributes}

    Examples
    --------
    >>> import mgraph
    >>> result = mgraph.core_number(mgraph.Graph.from_edges([0, 1, 2], [1, 2, 0]), device="cpu")
    >>> result.cores.tolist(), result.rounds
    ([2, 2, 2], 1)
    """

    ARRAYS = ("cores",)
    PROOFS: ClassVar[Proofs] = {"cores": tuple(verify.RULES), "rounds": ()}
    PICTURES = ("distribution", "graph", "map")

    cores: Array
    rounds: int

    def _colours(self) -> tuple[np.ndarray, str]:
        return np.asarray(self), "core number"

    def verify(self, graph: Any = None) -> None:
        """Raise unless the core numbers are right.

        Verified on the host by two rules, which share nothing with the kernels. A graph on workers is copied first.

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
        The rules, in this order: ``"support"`` (a vertex has as many edges as its core number to vertices of at least
        that number), ``"peeled"`` (the vertices of a number can be taken away one after the other, each with at most
        that many edges left to vertices of that number and higher ones).

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 0])
        >>> result = mgraph.core_number(graph, device="cpu")
        >>> result.verify()
        >>> result.cores[1] = 1
        >>> result.verify()  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        mgraph.errors.VerificationError: vertex 0 breaks the rule 'support': ...
        """
        verify.verify(self, graph)


def _summary(graph: Graph, result: CoreNumberResult, options: dict[str, Any]) -> Summary:
    """Sum up the core numbers."""
    cores = on_host(result.cores)
    most = int(cores.max(initial=0))
    inner = int((cores == most).sum())
    facts = {"greatest_core": most, "vertices_of_it": inner, "rounds": result.rounds}
    return Summary(facts, f"greatest core number: {most:,}, of {inner:,} of {graph.n:,} vertices")


def _right(graph: Graph, arrays: dict[str, Any], source: object) -> str:
    """Raise unless the core numbers pass the rules of `verify`."""
    try:
        verify.prove(graph, devices.to_host(arrays["cores"]))
    except VerificationError as error:
        raise WrongResultError(str(error)) from error
    return "core numbers by their two rules"


def _simple(graph: Graph) -> Graph:
    """Return a graph without self-loops, and with one of several edges between two vertices."""
    src, dst, _ = graph.listed()
    ends = np.stack([src, dst]) if graph.directed else np.sort([src, dst], axis=0)
    src, dst = np.unique(ends[:, ends[0] != ends[1]], axis=1)
    return Graph.from_edges(src, dst, n=graph.n, directed=graph.directed)


def _samples(method: str) -> Iterator[Sample]:
    """Yield every graph."""
    for graph in graphs():
        yield Sample(_simple(graph), {})


def _further() -> Iterator[Sample]:
    """Yield a large graph, and a directed one of some size."""
    yield Sample(_simple(large()), {})
    yield Sample(_simple(rmat(12, directed=True)), {})


declare(
    Algorithm(
        name="core_number",
        call=core_number,
        planner=program.planned,
        needs_edges=True,
        methods=program.METHODS,
        checks={"cores": _right},
        arrays=named("cores"),
        unique=("cores",),
        work=of_edges,
        rounds=lambda result: result.rounds,
        samples=_samples,
        further=_further,
        by_vertex={"networkx": "core_number", "igraph": "coreness"},
        command=Command(
            name="core-number",
            help="Find the core number of each vertex of FILE's graph.",
            example="mgraph core-number friends.txt --relabel --undirected --out cores.npy",
            summary=_summary,
            weights=False,
        ),
    )
)
