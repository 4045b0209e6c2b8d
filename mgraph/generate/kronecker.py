"""Kronecker (R-MAT) graphs: generated on the device on which they live, from a hash of the number of each edge."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np

from .. import device as devices
from ..arguments import as_written, checked_flag, checked_integer
from ..arrays import Array
from ..graph import Graph
from ..graph.compressed import Edges
from .checks import checked_place
from .parts import EDGES_AT_A_TIME, chunk_of
from .workers import built, cluster_of

if TYPE_CHECKING:
    from distributed import Client

    from ..runtime.dask import DistributedGraph

#: The probabilities of R-MAT's quadrants A, B and C in the Graph500 and GAP benchmarks; D has the rest.
A, B, C = 0.57, 0.19, 0.19

#: The largest scale whose 2**scale vertices have int32 ids.
MAX_SCALE = 30

_WORD = 2**64 - 1


@overload
def rmat(
    scale: int,
    edge_factor: int = 16,
    *,
    seed: int = 0,
    directed: bool = False,
    device: str | None = None,
    client: None = None,
    workers: None = None,
    worker_timeout: None = None,
    wait_for_workers: None = None,
) -> Graph: ...


@overload
def rmat(
    scale: int,
    edge_factor: int = 16,
    *,
    seed: int = 0,
    directed: bool = False,
    device: str | None = None,
    client: "Client",
    workers: Sequence[str | int] | None = None,
    worker_timeout: float | str | None = None,
    wait_for_workers: int | None = None,
) -> "DistributedGraph": ...


def rmat(
    scale: int,
    edge_factor: int = 16,
    *,
    seed: int = 0,
    directed: bool = False,
    device: str | None = None,
    client: Any = None,
    workers: Sequence[str | int] | None = None,
    worker_timeout: float | str | None = None,
    wait_for_workers: int | None = None,
) -> Any:
    """Return a Kronecker (R-MAT) graph: few vertices have very many neighbours, as in a social network.

    An edge picks one of the four quadrants of the adjacency matrix, then one of the quadrant's quadrants,
    and so on. Vertices are renumbered by a pseudo-random permutation. Self-loops and repeated edges are
    dropped, so the graph has somewhat fewer than ``edge_factor * 2**scale`` edges. Many vertices have none, perhaps
    vertex 0 too: start searches in the largest component.

    Parameters
    ----------
    scale : int
        The graph has ``2**scale`` vertices; at most 30.
    edge_factor : int
        Number of edges drawn per vertex.
    seed : int
        The same seed gives the same graph, on every device.
    directed : bool
        False keeps every edge in both directions, and drops an edge that was drawn in both.
    device : {"cpu", "cuda", "cuda:N"}, optional
        The device on which the graph is generated and lives; by default the CPU. With `client`, the kind of its
        workers' devices.
    client : distributed.Client, optional
        Generate the graph on the workers of this client, each its share of the edges, as a `mgraph.DistributedGraph`.
    workers : sequence of str or int, optional
        The client's workers to use, by address or name, as of `mgraph.DistributedGraph.from_graph`.
    worker_timeout : float or str, optional
        With `client`, seconds that a worker may be silent before the call ends.
    wait_for_workers : int, optional
        With `client`, the number of workers to wait for, as of calls with ``client=``.

    Returns
    -------
    Graph or DistributedGraph
        The same graph either way.

    See Also
    --------
    mgraph.generate.weighted : The same graph with random weights.
    mgraph.generate.scale_free : A directed graph with a few hubs.

    References
    ----------
    D. Chakrabarti, Y. Zhan and C. Faloutsos, "R-MAT: a recursive model for graph mining", SDM 2004. The
    probabilities are those of the Graph500 specification; dropping repeated edges and self-loops follows
    S. Beamer, K. Asanović and D. Patterson, "The GAP benchmark suite", 2015.

    Examples
    --------
    >>> import mgraph
    >>> graph = mgraph.generate.rmat(6)
    >>> graph
    Graph(n=64, m=780, undirected, unweighted)
    >>> import numpy as np
    >>> largest = np.bincount(mgraph.connected_components(graph, device="cpu").labels).argmax()  # its least vertex
    >>> mgraph.bfs(graph, int(largest), device="cpu").levels.tolist()
    [1, 10, 50, 1]

    On the workers of a Dask client:

    >>> from distributed import Client
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     mgraph.generate.rmat(6, client=client, device="cpu")
    DistributedGraph(n=64, m=780, undirected, unweighted, on 1 worker)
    """
    scale = checked_integer("scale", scale, 0, MAX_SCALE)
    edges = checked_integer("edge_factor", edge_factor, 0, 2**31) << scale
    seed = checked_integer("seed", seed, 0)
    directed = checked_flag("directed", directed)
    there = cluster_of(client, device, workers, worker_timeout, wait_for_workers)
    if there is not None:
        made = as_written("mgraph.generate.rmat", scale, edge_factor, seed=seed, directed=directed, device=device)
        return built(Kronecker(scale, edges, seed, directed), there, made)
    place = checked_place(device, 1 << scale, edges if directed else 2 * edges)
    at_a_time = EDGES_AT_A_TIME[place.kind]
    with place.active():
        xp = place.xp
        keys = xp.empty(edges, np.uint64)
        kept = 0
        for first in range(0, edges, at_a_time):
            src, dst = rmat_edges(xp, scale, first, min(at_a_time, edges - first), seed)
            if not directed:
                src, dst = xp.minimum(src, dst), xp.maximum(src, dst)
            chunk = ((src << np.uint64(scale)) | dst)[src != dst]
            keys[kept : kept + len(chunk)] = chunk
            kept += len(chunk)
        keys = keys[:kept]
        keys.sort()
        if kept:
            keys = keys[xp.concatenate([xp.ones(1, bool), keys[1:] != keys[:-1]])]
        src = (keys >> np.uint64(scale)).astype(np.int32)
        dst = (keys & np.uint64((1 << scale) - 1)).astype(np.int32)
        del keys
        return Graph.from_edges(src, dst, n=1 << scale, directed=directed)


@dataclass(frozen=True)
class Kronecker:
    """The edges of `rmat` as a source of chunks."""

    scale: int
    edges: int
    seed: int
    directed: bool
    weights_dtype: ClassVar[np.dtype | None] = None
    unique: ClassVar[bool] = True

    @property
    def n(self) -> int:
        """The number of vertices."""
        return 1 << self.scale

    @property
    def chunks(self) -> int:
        """The number of chunks."""
        return -(-self.edges // chunk_of(self.edges))

    def chunk(self, number: int, device: devices.Device) -> Edges:
        """Draw the edges of a chunk, but self-loops."""
        first = number * chunk_of(self.edges)
        last = min(self.edges, first + chunk_of(self.edges))
        xp, at_a_time = device.xp, EDGES_AT_A_TIME[device.kind]
        ends: list[tuple[Array, Array]] = []
        for start in range(first, last, at_a_time):
            src, dst = rmat_edges(xp, self.scale, start, min(at_a_time, last - start), self.seed)
            there = src != dst
            ends.append((src[there].astype(np.int32), dst[there].astype(np.int32)))
        src, dst = ends[0] if len(ends) == 1 else (xp.concatenate(side) for side in zip(*ends, strict=True))
        return Edges(src, dst, None)

    def sizes(self) -> dict[str, int]:
        """Return nothing: no edge is kept."""
        return {}


def rmat_edges(xp: Any, scale: int, first: int, count: int, seed: int) -> tuple[Array, Array]:
    """Return edges `first` to ``first + count - 1`` of `rmat`, as sources and targets of uint64.

    Parameters
    ----------
    xp : module
        NumPy or CuPy, which makes the arrays.
    scale : int
        The graph has 2 to the power of `scale` vertices.
    first, count : int
        The first edge, a multiple of 4, and the number of edges.
    seed : int
        The seed of the graph.

    Returns
    -------
    src, dst : array of uint64, shape (count,)

    See Also
    --------
    mgraph.generate.rmat : The graph of these edges.

    Examples
    --------
    >>> import mgraph
    >>> import numpy as np
    >>> src, dst = mgraph.generate.rmat_edges(np, 6, 0, 4, seed=0)
    >>> src.tolist(), dst.tolist()
    ([46, 32, 46, 58], [54, 44, 31, 62])
    """
    src, dst = quadrants(xp, scale, first, count, seed)
    return renamed(src, scale, seed), renamed(dst, scale, seed)


def quadrants(xp: Any, scale: int, first: int, count: int, seed: int) -> tuple[Array, Array]:
    """Draw edges `first` to ``first + count - 1``: a bit of the source and of the target per level.

    The random number of an edge at a level depends on the edge, the level and the seed alone, so edges can be
    drawn in any groups. Each hash serves four edges, with 16 bits each; `first` is a multiple of 4.
    """
    words = xp.arange(first // 4, (first + count + 3) // 4, dtype=np.uint64)
    src = xp.zeros(4 * len(words), np.uint32)
    dst = xp.zeros(4 * len(words), np.uint32)
    in_b, in_c, in_d = (np.uint16(round(bound * 2**16)) for bound in (A, A + B, A + B + C))
    for level in range(scale):
        draws = _hashed(words, _mixed(_mixed(seed) ^ level)).view(np.uint16)
        lower = draws >= in_c
        right = (draws >= in_b) ^ lower ^ (draws >= in_d)
        src = src + src + lower
        dst = dst + dst + right
    return src[:count].astype(np.uint64), dst[:count].astype(np.uint64)


def _hashed(words: Array, key: int) -> Array:
    """Return 64 pseudo-random bits for each of `words` (splitmix64, a stream per key)."""
    x = words * np.uint64(0x9E3779B97F4A7C15)
    x += np.uint64(key)
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return x


def _mixed(number: int) -> int:
    """Return 64 pseudo-random bits for one number: `_hashed` for a Python integer."""
    x = (number + 1) * 0x9E3779B97F4A7C15 & _WORD
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & _WORD
    x = (x ^ x >> 27) * 0x94D049BB133111EB & _WORD
    return x ^ x >> 31


def renamed(ids: Array, scale: int, seed: int) -> Array:
    """Permute the `scale`-bit ids; each round of addition, odd multiplication and shift has an inverse."""
    mask = np.uint64((1 << scale) - 1)
    shift = np.uint64((scale + 1) // 2)
    key = ~_mixed(seed) & _WORD
    for _ in range(3):
        key = _mixed(key)
        ids = (ids + np.uint64(key >> 32)) * np.uint64(key | 1) & mask
        ids ^= ids >> shift
    return ids
