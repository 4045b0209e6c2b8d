"""Made graphs and matrices for tests and benchmarks, the same from the same seed on every device."""

from typing import Any

import numpy as np

from . import device as devices
from .errors import InputError
from .graph import Graph
from .weights import distance_dtype, infinity

Array = Any

#: The probabilities of R-MAT's quadrants A, B and C in the Graph500 and GAP benchmarks; D has the rest.
A, B, C = 0.57, 0.19, 0.19

#: The largest scale whose 2**scale vertices have int32 ids.
MAX_SCALE = 30

#: Edges made at a time: on the CPU what its caches hold, on a GPU what keeps it busy.
EDGES_AT_A_TIME = {"cpu": 1 << 16, "cuda": 1 << 24}

#: Elements of a random matrix drawn at a time. Which numbers are drawn depends on it.
ELEMENTS_AT_A_TIME = 1 << 22

_WORD = 2**64 - 1


def rmat(
    scale: int, edge_factor: int = 16, *, seed: int = 0, directed: bool = False, device: str | None = None
) -> Graph:
    """Return a Kronecker (R-MAT) graph: few vertices have very many neighbours, as in a social network.

    An edge picks one of the four quadrants of the adjacency matrix, then one of the quadrant's quadrants,
    and so on. Vertices are renamed by a pseudo-random permutation; self-loops and repeated edges are
    dropped, so that the graph has somewhat fewer than ``edge_factor * 2**scale`` edges.

    Parameters
    ----------
    scale : int
        The graph has ``2**scale`` vertices; at most 30.
    edge_factor : int
        Edges drawn per vertex.
    seed : int
        The same seed gives the same graph, on every device.
    directed : bool
        False keeps every edge in both directions, and drops an edge that was drawn in both.
    device : {"cpu", "cuda", "cuda:N"}, optional
        Where the graph is made and lives; by default on the CPU.

    References
    ----------
    D. Chakrabarti, Y. Zhan and C. Faloutsos, "R-MAT: a recursive model for graph mining", SDM 2004. The
    probabilities are those of the Graph500 specification; dropping repeated edges and self-loops follows
    S. Beamer, K. Asanović and D. Patterson, "The GAP benchmark suite", 2015.
    """
    for name, value, largest in (("scale", scale, MAX_SCALE), ("edge_factor", edge_factor, 2**31)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 0 <= value <= largest:
            raise InputError(f"{name}={value!r} is no integer from 0 to {largest}")
    scale, edges = int(scale), int(edge_factor) << int(scale)
    place = devices.find("cpu" if device is None else device)
    at_a_time = EDGES_AT_A_TIME[place.kind]
    with place.active():
        xp = place.xp
        keys = xp.empty(edges, np.uint64)
        kept = 0
        for first in range(0, edges, at_a_time):
            src, dst = _quadrants(xp, scale, first, min(at_a_time, edges - first), seed)
            src, dst = _renamed(src, scale, seed), _renamed(dst, scale, seed)
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


def _quadrants(xp: Any, scale: int, first: int, count: int, seed: int) -> tuple[Array, Array]:
    """Draw edges `first` to ``first + count - 1``: a bit of the source and of the target per level.

    The random number of an edge at a level is a function of both and of the seed, so it does not matter
    which edges are drawn together. Each hash gives four edges 16 bits each; `first` is a multiple of 4.
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


def _renamed(ids: Array, scale: int, seed: int) -> Array:
    """Permute the `scale`-bit ids; each round of addition, odd multiplication and shift has an inverse."""
    mask = np.uint64((1 << scale) - 1)
    shift = np.uint64((scale + 1) // 2)
    key = ~_mixed(seed) & _WORD
    for _ in range(3):
        key = _mixed(key)
        ids = (ids + np.uint64(key >> 32)) * np.uint64(key | 1) & mask
        ids ^= ids >> shift
    return ids


def random_matrix(
    n: int,
    *,
    density: float = 1.0,
    low: float = 1.0,
    high: float = 1000.0,
    dtype: Any = "float32",
    seed: int = 0,
) -> np.ndarray:
    """Return a random distance matrix of `n` vertices: uniform weights, and zeros on the diagonal.

    Parameters
    ----------
    n : int
        Number of vertices.
    density : float
        The probability of an edge, 0 to 1; elsewhere the matrix is ``inf``, for integers the type's largest value.
    low, high : float
        The weights' range, for integers both ends included.
    dtype : {"float32", "float64", "int32", "int16"}
        Type of the matrix; the latter two draw integers.
    seed : int
        The same arguments give the same matrix.
    """
    kind = distance_dtype(None, dtype)
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 0:
        raise InputError(f"n={n!r} is no number of vertices")
    if not 0 <= density <= 1:
        raise InputError(f"density={density} is no probability: use a number from 0 to 1")
    if not low <= high:
        raise InputError(f"low={low} is above high={high}: the weights are drawn from low to high")
    if kind.kind == "i" and not np.iinfo(kind).min <= low <= high < np.iinfo(kind).max:
        raise InputError(f"weights from {low} to {high} do not fit {kind.name}")
    random = np.random.default_rng(seed)
    matrix = np.empty((n, n), kind)
    rows = max(1, ELEMENTS_AT_A_TIME // max(1, n))
    for first in range(0, n, rows):
        block = matrix[first : first + rows]
        if kind.kind == "i":
            block[:] = random.integers(int(low), int(high), block.shape, kind, endpoint=True)
        else:
            random.random(block.shape, kind, out=block)
            block *= high - low
            block += low
        if density < 1:
            block[random.random(block.shape, np.float32) >= density] = infinity(kind)
    np.fill_diagonal(matrix, 0)
    return matrix
