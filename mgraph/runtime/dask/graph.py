"""Graphs that lie on Dask workers: a range of vertices on each, kept until it is released."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from distributed import Client

from ...errors import InputError, MemoryLimitError
from ...graph import Compressed, Graph, PlacedGraph
from ...graph.vertex_range import incoming, range_of
from ...planning.cut import Placed, shares
from ...planning.devices import usable
from ...planning.plan import size_in_words
from . import residents
from .driver import Cluster, scattered
from .resident import Group, Kept, Resident, group_of


class DistributedGraph(PlacedGraph):
    """A graph whose edges lie on Dask workers, so that calls carry nothing of it.

    Each worker's device holds the edges into a range of vertices; the ranges are balanced by edges. Calls take it in
    place of a `Graph`, without `client`: `mgraph.bfs`, `mgraph.sssp` and weak `mgraph.connected_components`. Their
    vectors stay on the workers too, as `DistributedVector`.

    The edges stay until `close`, the end of a ``with`` block, or until nothing refers to the graph any more.

    Attributes
    ----------
    n, m : int
        Numbers of vertices and of stored directed edges.
    directed : bool
        False if each edge is stored in both directions.
    weights_dtype : dtype or None
        The type of the weights; None for an unweighted graph.
    ranges : tuple of (int, int)
        The vertices of each worker.

    Examples
    --------
    >>> import mgraph
    >>> with mgraph.cluster.local_client(2, device="cpu") as client:
    ...     graph = mgraph.DistributedGraph.from_graph(mgraph.generate.grid(3, 4), client, device="cpu")
    ...     mgraph.bfs(graph, 0).distances.max()
    5
    """

    def __init__(self, group: Group, facts: Graph, cut: Placed, name: str, held: list[Mapping[str, int]]) -> None:
        super().__init__(facts.n, facts.m, facts.directed, facts.weights_dtype, facts.extremes(), facts.total())
        self.ids = facts.ids
        self._group, self._cut, self._name, self._held = group, cut, name, held
        self._kept: Kept | None = Kept(group, name)

    @classmethod
    def from_graph(
        cls, graph: Graph, client: Client, *, device: str | None = None, worker_timeout: float | str | None = None
    ) -> "DistributedGraph":
        """Return a graph on the workers of a client; its edges are sent to them once.

        Parameters
        ----------
        graph : Graph
            The graph.
        client : distributed.Client
            The client whose workers are to hold the graph.
        device : {"cpu", "cuda"}, optional
            The kind of device to hold it. By default GPUs if all workers have one, else CPUs.
        worker_timeout : float or str, optional
            Seconds that a worker may be silent before a call ends.

        Returns
        -------
        DistributedGraph

        Raises
        ------
        InputError
            If `graph` is not a `Graph`.
        MemoryLimitError
            If the edges do not fit the workers' devices.
        WorkerLostError, SchedulerError, DeviceError, VersionError
            As of calls with ``client=``.

        See Also
        --------
        mgraph.Graph.from_edges : A graph in this process's memory.
        """
        if not isinstance(graph, Graph):
            raise InputError(argument="graph", value=graph, expected="a Graph")
        group = group_of(Cluster(client, device, worker_timeout))
        cut = _cut(graph, group)
        name = uuid.uuid4().hex
        held = []
        for rank, address in enumerate(group.addresses):
            part = range_of(graph, *cut.ranges[rank])
            sent = group.wait(scattered(group.client, address, part))
            held += group.one(rank, residents.place, name, sent)
        return cls(group, graph, cut, name, held)

    @property
    def ranges(self) -> tuple[tuple[int, int], ...]:
        """The vertices of each worker."""
        return self._cut.ranges

    @property
    def placed(self) -> Placed:
        """How the vertices are cut into ranges."""
        return self._cut

    @property
    def closed(self) -> bool:
        """Whether the edges have been released."""
        return self._kept is None

    def executor(self) -> Resident:
        """Return the executor that runs programs where the edges lie."""
        if self.closed:
            raise InputError(f"{self!r} has been closed")
        return Resident(self._group, self._name, self._held)

    def held(self, names: Sequence[str]) -> tuple[int, ...]:
        """Return the bytes that each worker's device keeps of the graph under some names."""
        return tuple(sum(sizes.get(name, 0) for name in names) for sizes in self._held)

    def to_graph(self) -> Graph:
        """Return the graph with all edges in this process's memory.

        Returns
        -------
        Graph
        """
        if self.closed:
            raise InputError(f"{self!r} has been closed")
        self._group.ready()
        own: list[tuple[Any, ...]] = [() for _ in self._group.addresses]
        parts: list[Compressed] = self._group.each(residents.edges, own, self._name)
        degrees = np.concatenate([np.diff(part.indptr) for part in parts])
        sources, targets = np.concatenate([part.indices for part in parts]), np.repeat(np.arange(self.n), degrees)
        weights = np.concatenate([part.weights for part in parts]) if self.weighted else None
        csr = Graph.from_edges(sources, targets, weights, n=self.n).csr()
        return Graph(self.n, csr=csr, directed=self.directed, ids=self.ids, nonnegative=self.nonnegative)

    def close(self) -> None:
        """Release the edges on the workers; results that were computed stay."""
        kept, self._kept = self._kept, None
        if kept is not None:
            kept.close()

    def __enter__(self) -> "DistributedGraph":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise InputError(f"{self!r} stays there and cannot be pickled")

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        where = "closed" if self.closed else f"on {len(self.ranges)} workers"
        return f"DistributedGraph(n={self.n}, m={self.m}, {kind}, {self.weights_dtype or 'unweighted'}, {where})"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{spec.name}</td><td>{first:,} to {last - 1:,}</td><td>{edges:,}</td>"
            f"<td>{size_in_words(sum(sizes.values()))}</td></tr>"
            for spec, (first, last), edges, sizes in zip(
                self._group.specs, self._cut.ranges, self._cut.edges, self._held, strict=True
            )
        )
        head = "".join(f"<th>{name}</th>" for name in ("device", "vertices", "edges", "held"))
        return f"<div><b>{self!r}</b><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"


def _cut(graph: Graph, group: Group) -> Placed:
    """Return the ranges of vertices of the group's workers, balanced by edges, or refuse if they do not fit."""
    offset = graph.adjacency("csr")[0].dtype.itemsize
    an_edge = 4 + (graph.weights_dtype.itemsize if graph.weights_dtype is not None else 0)

    def peak(own: int, edges: int) -> int:
        return an_edge * edges + offset * (own + 1)

    ranges, edges = shares(graph.n, graph.m, group.specs, None, incoming(graph), peak)
    for spec, (first, last), own in zip(group.specs, ranges, edges, strict=True):
        needed = peak(last - first, own)
        if needed > usable(spec, None):
            raise MemoryLimitError(
                f"the edges need {size_in_words(needed)} on {spec.name}, which has {size_in_words(spec.memory)} free: "
                "add workers, or use ones with more memory"
            )
    return Placed(ranges, tuple(edges))
