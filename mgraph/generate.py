"""Made graphs, lists and matrices for tests and benchmarks, the same from the same seed on every device.

R-MAT graphs are made where they shall live, from a hash of the numbers of their edges. The others are those of the
studies that the benchmarks measure again: NumPy's generator draws on the host, and what follows from that is computed,
and sorted, where the graph shall live.
"""

import contextlib
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from . import device as devices
from .arguments import checked_flag, checked_integer
from .dtypes import MAX_ELEMENTS, MAX_VERTICES, distance_dtype, infinity, offset_type
from .errors import InputError, MemoryLimitError
from .graph import Compressed, Graph, as_graph, check_memory

Array = Any

#: The probabilities of R-MAT's quadrants A, B and C in the Graph500 and GAP benchmarks; D has the rest.
A, B, C = 0.57, 0.19, 0.19

#: The largest scale whose 2**scale vertices have int32 ids.
MAX_SCALE = 30

#: Edges, or elements of a list, made at a time: on the CPU what its caches hold, on a GPU what keeps it busy.
EDGES_AT_A_TIME = {"cpu": 1 << 16, "cuda": 1 << 24}

#: Pairs of vertices among which edges are marked at a time, likewise.
PAIRS_AT_A_TIME = {"cpu": 1 << 18, "cuda": 1 << 24}

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
    scale = checked_integer("scale", scale, 0, MAX_SCALE)
    edges = checked_integer("edge_factor", edge_factor, 0, 2**31) << scale
    seed = checked_integer("seed", seed, 0)
    directed = checked_flag("directed", directed)
    place = _place(device, 1 << scale, edges if directed else 2 * edges)
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


def rmat_edges(xp: Any, scale: int, first: int, count: int, seed: int) -> tuple[Array, Array]:
    """Return the edges of `rmat` that are drawn as number `first` and so on, as sources and targets of uint64.

    `first` is a multiple of 4; `xp` is NumPy or CuPy.
    """
    src, dst = _quadrants(xp, scale, first, count, seed)
    return _renamed(src, scale, seed), _renamed(dst, scale, seed)


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


def weighted(graph: Any, weights: tuple[int, int], dtype: Any = "float32") -> Graph:
    """Return a graph with the edges of another and uniform whole weights, one for each pair of vertices.

    So both directions of an undirected edge have the same, and so have parallel edges.

    Parameters
    ----------
    graph : Graph, or what `mgraph.apsp` reads as one
        The edges; weights of its own do not matter.
    weights : tuple of (int, int)
        The least and the greatest weight, less than 2**31 apart.
    dtype : {"float32", "float64", "int32"}
        The type of the weights.

    Returns
    -------
    Graph
        Where `graph` is; the same on every device.

    Raises
    ------
    InputError
        For weights or a type that cannot be, and for what is no graph.
    """
    low, high = _range(weights)
    if high - low >= 2**31:
        raise InputError(f"weights must be at most 2**31 - 1 apart, got {weights!r}")
    kind = distance_dtype(None, dtype)
    if kind == np.int16:
        raise InputError(f"dtype must be float32, float64 or int32, got {dtype!r}")
    graph = as_graph(graph)
    with devices.find(graph.device).active():
        src, dst, _ = graph.coo()
        a, b = np.minimum(src, dst).astype(np.uint64), np.maximum(src, dst).astype(np.uint64)
        mixed = (a * np.uint64(0x9E3779B97F4A7C15)) ^ (b * np.uint64(0xC2B2AE3D27D4EB4F))
        mixed ^= mixed >> np.uint64(29)
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
        lengths = (mixed >> np.uint64(33)) % np.uint64(high - low + 1)
        lengths = (lengths.astype(np.int64) + low).astype(kind)
        indptr, indices, _ = graph.csr()
        csr = Compressed(indptr, indices, lengths)
        return Graph(graph.n, csr=csr, directed=graph.directed, ids=graph.ids, nonnegative=low >= 0)


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
        The weights' range; for integers both are whole numbers, and included.
    dtype : {"float32", "float64", "int32", "int16"}
        Type of the matrix; the latter two draw integers.
    seed : int
        The same arguments give the same matrix.
    """
    kind = distance_dtype(None, dtype)
    n = checked_integer("n", n, 0, MAX_VERTICES)
    if not 0 <= _number("density", density) <= 1:
        raise InputError(f"density must be a number in [0, 1], got {density!r}")
    low, high = _number("low", low), _number("high", high)
    if not low <= high:
        raise InputError(f"low must be a number up to high, got low={low} and high={high}")
    if kind.kind == "i":
        if not low % 1 == high % 1 == 0:
            raise InputError(f"low and high must be whole numbers for {kind.name}, got {low} and {high}")
        fit = np.iinfo(kind).min <= low <= high < np.iinfo(kind).max
    else:
        fit = max(-low, high, high - low) <= float(np.finfo(kind).max)
    if not fit:
        raise InputError(f"low and high must be numbers that {kind.name} can hold, got {low} and {high}")
    random = _random(seed)
    _check_room(f"a matrix of {n:,} vertices", n * n * kind.itemsize, devices.find("cpu"))
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


def random_density(
    n: int, density: float, max_degree: float = 100.0, *, seed: int = 0, device: str | None = None
) -> Graph:
    """Return a directed graph that has a share of all possible edges, with degrees that differ.

    Every vertex can be reached from every other; an edge from a vertex to itself is as likely as any. The degrees
    are those of 1 + (most - 1) u^k for u between 0 and 1, with the k that gives as many edges as asked for, and of
    edges there are as many, to the nearest whole number. All are the same where `max_degree` is `density`, and the more
    unequal the farther it is above. The neighbours of a vertex are an arithmetic progression through a random cycle of
    all vertices, from its successor there on.

    Parameters
    ----------
    n : int
        Number of vertices.
    density : float
        Edges in percent of all n² pairs.
    max_degree : float
        The most edges out of a vertex in percent of n, rounded down to a whole number of them, but up where fewer
        would not do.
    seed : int
        The same arguments give the same graph, on every device.
    device : {"cpu", "cuda", "cuda:N"}, optional
        Where the graph shall live; by default on the CPU.

    Raises
    ------
    InputError
        If there are too few edges to connect the vertices, which takes one from each, or if `max_degree` is below
        `density`.
    MemoryLimitError
        If the graph does not fit the device.

    References
    ----------
    Padamata and Raveendran, a study of parallel shortest paths and searches on GPUs, 2013: random graphs by size,
    density and greatest degree.
    """
    n = checked_integer("n", n, 0, MAX_VERTICES)
    if not 0 < _number("density", density) <= 100:
        raise InputError(f"density must be a number of percent in (0, 100], got {density!r}")
    if not density <= _number("max_degree", max_degree) <= 100:
        raise InputError(f"max_degree must be a number of percent in [{density}, 100], got {max_degree!r}")
    m = round(_percent(density) * n * n)
    if m < n:
        raise InputError(f"density must give each of the {n} vertices an edge, got {density}, which gives {m} edges")
    most = max(int(_percent(max_degree) * n), -(-m // max(n, 1)))
    random = _random(seed)
    place = devices.find("cpu" if device is None else device)
    _check_room(f"a graph of {n:,} vertices and {m:,} edges", 64 * n + 4 * m, place)
    cycle = random.permutation(n)
    strides = np.arange(1, max(n, 2))
    strides = random.choice(strides[np.gcd(strides, n) == 1], n) if n else strides  # they come by every vertex
    degrees = random.permutation(_unequal_degrees(n, m, most))
    indptr = np.concatenate([[0], degrees.cumsum()])
    with place.active():
        offsets = place.asarray(indptr.astype(offset_type(int(indptr[-1]))))
        csr = Compressed(offsets, _progressions(place, cycle, strides, indptr), None)
    return Graph(n, csr=csr, nonnegative=True)


def _unequal_degrees(n: int, m: int, most: int) -> np.ndarray:
    """Return the degrees, from 1 to `most`, of `n` vertices with `m` edges: 1 + (most - 1) u^k, ascending.

    Their sums are the integral's, rounded, whose last is `m`.
    """
    power = (most - 1) * n / (m - n) if m > n else 1.0  # k + 1
    beyond_one_each = np.rint((m - n) * (np.arange(n + 1) / max(n, 1)) ** power)
    return 1 + np.diff(beyond_one_each.astype(np.int64))


def _progressions(place: devices.Device, cycle: np.ndarray, strides: np.ndarray, indptr: np.ndarray) -> Array:
    """Return each vertex's neighbours, ascending: of a cycle, from the vertex's successor on, one in every stride."""
    xp, n = place.xp, len(cycle)
    wide = np.uint32 if n <= 2**16 else np.uint64  # holds n²
    successors = np.empty(n, wide)
    successors[cycle] = np.arange(1, n + 1)
    indices = xp.empty(int(indptr[-1]), np.int32)
    rows = max(1, PAIRS_AT_A_TIME[place.kind] // max(1, n))
    present = xp.empty(min(rows, n) * n, bool)
    there, cycle, strides, successors = map(place.asarray, (indptr, cycle, strides.astype(wide), successors))
    for first in range(0, n, rows):
        last = min(n, first + rows)
        begin, end = int(indptr[first]), int(indptr[last])
        starts = there[first:last] - begin
        # An edge's row is the number of rows, less one, that begin at it or before.
        row = xp.bincount(starts, minlength=end - begin)[: end - begin].cumsum() - 1
        number = xp.arange(end - begin, dtype=wide) - starts.astype(wide)[row]
        at = cycle[(successors[first:last][row] + strides[first:last][row] * number) % wide(n)]
        row *= n
        marks = present[: (last - first) * n]
        marks.fill(False)
        marks[row + at] = True
        indices[begin:end] = xp.flatnonzero(marks) - row
    return indices


def random_degree(
    n: int, degree: float, *, weights: tuple[int, int] | None = None, seed: int = 0, device: str | None = None
) -> Graph:
    """Return a directed graph in which all vertices have about as many edges, to vertices drawn at random.

    Loops and repeated edges are as likely as any, so few, and stay.

    Parameters
    ----------
    n : int
        Number of vertices.
    degree : float
        Edges out of a vertex; between two integers, some vertices have the lower and some the higher.
    weights : tuple of (int, int), optional
        The least and the greatest weight of an edge, drawn uniformly; by default the edges have none.
    seed : int
        The same arguments give the same graph, on every device.
    device : {"cpu", "cuda", "cuda:N"}, optional
        Where the graph shall live; by default on the CPU.

    References
    ----------
    P. Harish and P. J. Narayanan, "Accelerating large graph algorithms on the GPU using CUDA", 2007: random graphs
    of degree 6 to 7 with weights 1 to 10.
    """
    n = checked_integer("n", n, 0, MAX_VERTICES)
    m = round(n * _checked_degree(degree))
    weights = _checked_range(weights)
    random = _random(seed)
    place = _place(device, n, m)
    return _to_random_targets(_degrees(n, m), weights, random, place)


def scale_free(
    n: int,
    degree: float,
    hub_fraction: float = 0.001,
    hub_degree: int = 1000,
    *,
    weights: tuple[int, int] | None = None,
    seed: int = 0,
    device: str | None = None,
) -> Graph:
    """Return a directed graph in which few vertices have many edges and the others have few.

    As `random_degree`, but for a share of the vertices, drawn at random: the hubs.

    Parameters
    ----------
    n : int
        Number of vertices.
    degree : float
        Edges out of a vertex that is no hub.
    hub_fraction : float
        The share of the vertices that are hubs, 0 to 1.
    hub_degree : int
        Edges out of a hub.
    weights : tuple of (int, int), optional
        The least and the greatest weight of an edge, drawn uniformly; by default the edges have none.
    seed : int
        The same arguments give the same graph, on every device.
    device : {"cpu", "cuda", "cuda:N"}, optional
        Where the graph shall live; by default on the CPU.

    References
    ----------
    P. Harish and P. J. Narayanan, "Accelerating large graph algorithms on the GPU using CUDA", 2007: scale-free
    graphs, 0.1% of whose vertices have degree 1000.
    """
    n = checked_integer("n", n, 0, MAX_VERTICES)
    m = round(n * _checked_degree(degree))
    hub_degree = checked_integer("hub_degree", hub_degree, 0, 2**20)
    if not 0 <= _number("hub_fraction", hub_fraction) <= 1:
        raise InputError(f"hub_fraction must be a number in [0, 1], got {hub_fraction!r}")
    weights = _checked_range(weights)
    random = _random(seed)
    hubs = round(float(hub_fraction) * n)
    place = _place(device, n, round((n - hubs) * float(degree)) + hubs * hub_degree)
    degrees = _degrees(n, m)
    degrees[random.permutation(n)[:hubs]] = hub_degree
    return _to_random_targets(degrees, weights, random, place)


def grid(
    rows: int,
    columns: int,
    *,
    weights: tuple[int, int] | None = (1, 255),
    seed: int = 0,
    device: str | None = None,
) -> Graph:
    """Return an undirected grid of streets: like a road network, of small degrees and with many levels.

    Parameters
    ----------
    rows, columns : int
        The crossing in row ``i`` and column ``j`` is vertex ``i * columns + j``.
    weights : tuple of (int, int), optional
        The shortest and the longest street between two crossings, drawn uniformly; None gives none a weight.
    seed : int
        The same arguments give the same graph, on every device.
    device : {"cpu", "cuda", "cuda:N"}, optional
        Where the graph shall live; by default on the CPU.
    """
    rows, columns = checked_integer("rows", rows, 0, MAX_VERTICES), checked_integer("columns", columns, 0, MAX_VERTICES)
    if rows * columns > MAX_VERTICES:
        raise InputError(f"rows={rows} and columns={columns} make {rows * columns} vertices: at most {MAX_VERTICES}")
    weights = _checked_range(weights)
    random = _random(seed)
    m = rows * max(0, columns - 1) + max(0, rows - 1) * columns
    place = _place(device, rows * columns, 2 * m)
    lengths = _weights(m, weights, random)
    with place.active():
        xp = place.xp
        cell = xp.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
        src = xp.concatenate([cell[:, :-1].ravel(), cell[:-1].ravel()])
        dst = xp.concatenate([cell[:, 1:].ravel(), cell[1:].ravel()])
        return Graph.from_edges(src, dst, lengths, n=rows * columns, directed=False)


def linked_list(n: int, *, seed: int = 0, device: str | None = None) -> Array:
    """Return one list of all elements in random order, for `mgraph.list_rank` [2]_.

    The order is a pseudo-random permutation that gives each element from its place alone: a Feistel network of four
    rounds on the two digits of the place to a base of about the root of `n`, walked on where it leads beyond `n` [1]_.

    Parameters
    ----------
    n : int
        Number of elements.
    seed : int
        The same arguments give the same list, on every device.
    device : {"cpu", "cuda", "cuda:N"}, optional
        Where the list shall live; by default on the CPU.

    Returns
    -------
    array of int32, shape (n,)
        The element after each; the last is followed by itself. From 2**31 elements on, int64.

    References
    ----------
    .. [1] J. Black and P. Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002: the generalized Feistel
       cipher, with cycle walking.
    .. [2] Yogaratnam, a study of list ranking and connected components on GPUs, 2010: random lists of 1 to 64 million.
    """
    n = checked_integer("n", n, 0, MAX_ELEMENTS)
    dtype = np.dtype(np.int32 if n < 2**31 else np.int64)
    seed = checked_integer("seed", seed, 0)
    place = devices.find("cpu" if device is None else device)
    _check_room(f"a list of {n:,} elements", n * dtype.itemsize, place)
    at_a_time = EDGES_AT_A_TIME[place.kind]
    with place.active():
        xp = place.xp
        rounds = [(place.asarray(of_high), place.asarray(of_low)) for of_high, of_low in _rounds(n, seed)]
        succ = xp.empty(n, dtype)
        for first in range(0, n, at_a_time):
            places = xp.arange(first, min(n, first + at_a_time) + 1, dtype=np.uint32)
            order = _permuted(xp.minimum(places, np.uint32(n - 1)), n, rounds)
            xp.put(succ, order[:-1], order[1:], mode="wrap")  # CuPy assigns to 2**31 elements in no other way
        return succ


def _rounds(n: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Draw the functions of a permutation of the numbers below `n`: two of each of a number's digits."""
    base = math.isqrt(max(n - 1, 0)) + 1  # of the low digit: the root, rounded up
    rest = max(1, -(-n // base))  # numbers that the high one can be
    random = np.random.default_rng(seed)
    return [(random.integers(0, base, rest, np.uint32), random.integers(0, rest, base, np.uint32)) for _ in range(2)]


def _permuted(numbers: Array, n: int, rounds: list[tuple[Array, Array]]) -> Array:
    """Permute numbers of uint32 below `n`: one that is led beyond is led on, until it is back."""
    permuted = _two_digits_permuted(numbers, rounds)
    beyond = (permuted >= np.uint32(n)).nonzero()[0]
    while len(beyond):
        permuted[beyond] = _two_digits_permuted(permuted[beyond], rounds)
        beyond = beyond[permuted[beyond] >= np.uint32(n)]
    return permuted


def _two_digits_permuted(numbers: Array, rounds: list[tuple[Array, Array]]) -> Array:
    """Permute numbers of two digits: to each in turn is added, modulo its base, a random function of the other."""
    base, rest = (np.uint32(len(table)) for table in reversed(rounds[0]))
    high = numbers // base
    low = numbers - high * base
    for of_high, of_low in rounds:
        low += of_high[high]
        low %= base
        high += of_low[low]
        high %= rest
    return high * base + low


def list_graph(n: int, count: int, *, seed: int = 0, device: str | None = None) -> Graph:
    """Return an undirected graph of `count` lists, of `n` vertices in all: components of the greatest diameter.

    As `tree_graph` with one child a vertex.

    References
    ----------
    Yogaratnam, a study of list ranking and connected components on GPUs, 2010.
    """
    return tree_graph(n, count, 1, seed=seed, device=device)


def tree_graph(n: int, count: int, k: int, *, seed: int = 0, device: str | None = None) -> Graph:
    """Return an undirected graph of `count` complete `k`-ary trees, of about equal size and `n` vertices in all.

    Parameters
    ----------
    n : int
        Number of vertices, numbered at random.
    count : int
        Number of trees, which are the components.
    k : int
        Children of a vertex; 1 makes lists.
    seed : int
        The same arguments give the same graph, on every device.
    device : {"cpu", "cuda", "cuda:N"}, optional
        Where the graph shall live; by default on the CPU.

    References
    ----------
    Yogaratnam, a study of list ranking and connected components on GPUs, 2010: trees of 2 to 20 children.
    """
    n = checked_integer("n", n, 0, MAX_VERTICES)
    count, k = checked_integer("count", count, min(n, 1), n), checked_integer("k", k, 1, MAX_VERTICES)
    random = _random(seed)
    place = _place(device, n, 2 * (n - count))
    names = random.permutation(np.arange(n, dtype=np.int32))
    with place.active():
        xp = place.xp
        child = xp.arange(n)
        root = _firsts(_parts(child, n, count), n, count)
        child, root = child[child > root], root[child > root]
        parent = root + (child - root - 1) // k
        names = place.asarray(names)
        return Graph.from_edges(names[parent], names[child], n=n, directed=False)


def random_graph(m: int, density: float, count: int, *, seed: int = 0, device: str | None = None) -> Graph:
    """Return an undirected graph of `count` random graphs of equal size, with `m` edges in all.

    Each graph is connected, a component, where it has the edges for it, one less than vertices: first by a tree, in
    which every vertex but the first is joined to one before it. The other edges are different pairs of its vertices,
    drawn one from each of as many stretches of the list of all pairs that the tree has left. A graph with too few edges
    for a tree, as those of a low `density` and a small `m` are, has no tree, and falls into more components.

    Parameters
    ----------
    m : int
        Number of undirected edges.
    density : float
        The share of all pairs of vertices that edges join, above 0 and up to 1. A graph has as many vertices as
        that takes, at least two.
    count : int
        Number of graphs, of ``m / count`` edges each: of components too, where ``m // count`` edges connect a graph.
    seed : int
        The same arguments give the same graph, on every device.
    device : {"cpu", "cuda", "cuda:N"}, optional
        Where the graph shall live; by default on the CPU.

    References
    ----------
    Yogaratnam, a study of list ranking and connected components on GPUs, 2010: densities 0.001 and 0.01.
    """
    m = checked_integer("m", m, 0, 2**31)
    count = checked_integer("count", count, min(m, 1), m)
    if not 0 < _number("density", density) <= 1:
        raise InputError(f"density must be a number in (0, 1], got {density!r}")
    wanted = min(-(-m // max(count, 1)) / float(density), float(MAX_VERTICES) ** 2)
    size = max(2, int(np.ceil((1 + np.sqrt(1 + 8 * wanted)) / 2)))
    if count * size > MAX_VERTICES:
        raise InputError(f"density={density} makes {count * size} vertices of {m} edges: at most {MAX_VERTICES}")
    random = _random(seed)
    place = _place(device, count * size, 2 * m)
    # Vertex v of a graph has v pairs, those with the vertices before it. A tree takes one of them, and what is left are
    # as many as the vertex before has of all: they are drawn by that vertex's numbers.
    tree = size - 1 if m // max(count, 1) >= size - 1 else 0
    rows = size - 1 if tree else size
    pairs = rows * (rows - 1) // 2
    others = m - count * tree
    graph = _parts(np.arange(others), others, count)
    begins = _firsts(graph, others, count)
    number, of = np.arange(others) - begins, _firsts(graph + 1, others, count) - begins
    pair = random.integers(_scaled(number, of, pairs), _scaled(number + 1, of, pairs))
    names = random.permutation(np.arange(count * size, dtype=np.int32))
    child = np.arange(count * size if tree else 0)
    parent = random.integers(0, np.maximum(child % size, 1))  # within the graph, whose first vertex has none
    with place.active():
        xp = place.xp
        names, pair, base, child, parent = map(place.asarray, (names, pair, graph * size, child, parent))
        # The pairs (high, low) with low < high, in order: the root is right but for its rounding.
        high = ((1 + xp.sqrt(1 + 8.0 * pair)) / 2).astype(np.int64)
        high -= high * (high - 1) // 2 > pair
        high += high * (high + 1) // 2 <= pair
        low = pair - high * (high - 1) // 2
        src, dst = base + high, base + low
        if tree:
            src += 1
            dst += low >= parent[src]
            there = child % size > 0
            src = xp.concatenate([src, child[there]])
            dst = xp.concatenate([dst, (child - child % size + parent)[there]])
        return Graph.from_edges(names[src], names[dst], n=count * size, directed=False)


def _firsts(part: Array, whole: int, parts: int) -> Array:
    """Return the first of each part's numbers where those below `whole` are cut into parts of about equal length."""
    return part * whole // max(parts, 1)


def _parts(number: Array, whole: int, parts: int) -> Array:
    """Return in which of these parts each number is."""
    return ((number + 1) * parts - 1) // max(whole, 1)


def _scaled(part: Array, whole: Array, to: int) -> Array:
    """Return ``part * to // whole`` where the product may not fit 64 bits."""
    return part * (to // whole) + part * (to % whole) // whole


def _number(name: str, value: Any) -> float:
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        with contextlib.suppress(OverflowError):
            return float(value)
    raise InputError(f"{name} must be a number that a float can hold, got {value!r}")


def _percent(value: float) -> Fraction:
    """Return percent as the share that was written: no float is 0.57."""
    return Fraction(str(value)) / 100


def _random(seed: Any) -> np.random.Generator:
    """Return what draws on the host."""
    return np.random.default_rng(checked_integer("seed", seed, 0))


def _checked_degree(degree: Any) -> float:
    if not 0 <= _number("degree", degree) <= 2**20:
        raise InputError(f"degree must be a number in [0, {2**20}], got {degree!r}")
    return float(degree)


def _checked_range(weights: Any) -> tuple[int, int] | None:
    """Return the least and the greatest weight, if the edges shall have any."""
    return None if weights is None else _range(weights)


def _range(weights: Any) -> tuple[int, int]:
    ends = tuple(weights) if isinstance(weights, Sequence) else ()
    whole = all(isinstance(end, (int, np.integer)) and not isinstance(end, bool) for end in ends)
    if len(ends) != 2 or not whole or not -(2**31) <= ends[0] <= ends[1] < 2**31:
        raise InputError(f"weights must be two int32 integers, the least and the greatest, got {weights!r}")
    return int(ends[0]), int(ends[1])


def _place(device: str | None, n: int, edges: int) -> devices.Device:
    """Return where a graph shall live, or raise MemoryLimitError if so many edges cannot be sorted there."""
    place = devices.find("cpu" if device is None else device)
    check_memory(n, edges, place)
    return place


def _check_room(what: str, needed: int, place: devices.Device) -> None:
    there = place.available_memory()
    if needed > there:
        has = f"{place.name} has {there / 2**30:.1f} GiB free"
        raise MemoryLimitError(f"{what} takes {needed / 2**30:.1f} GiB, and {has}: make a smaller one")


def _degrees(n: int, m: int) -> np.ndarray:
    """Return degrees of `n` vertices with `m` edges that differ by at most one."""
    return np.diff(_scaled(np.arange(n + 1), max(n, 1), m))


def _weights(edges: int, between: tuple[int, int] | None, random: np.random.Generator) -> np.ndarray | None:
    """Draw the weights of `edges` edges, if they shall have any."""
    return None if between is None else random.integers(*between, edges, np.int32, endpoint=True)


def _to_random_targets(
    degrees: np.ndarray, weights: tuple[int, int] | None, random: np.random.Generator, place: devices.Device
) -> Graph:
    """Return the graph of vertices with so many edges each, to targets drawn at random."""
    n, m = len(degrees), int(degrees.sum())
    src = np.repeat(np.arange(n, dtype=np.int32), degrees)
    dst = random.integers(0, max(n, 1), m, np.int32)
    lengths = _weights(m, weights, random)
    with place.active():
        return Graph.from_edges(place.asarray(src), place.asarray(dst), lengths, n=n)
