"""Random graphs with a given share of all pairs as edges."""

from fractions import Fraction

import numpy as np

from .. import device as devices
from ..arguments import checked_integer
from ..arrays import Array
from ..dtypes import MAX_VERTICES, offset_type
from ..errors import InputError
from ..graph import Compressed, Graph
from .checks import checked_number, checked_place, host_random
from .parts import PAIRS_AT_A_TIME, first_of, part_of, scaled


def random_density(
    n: int, density: float, max_degree: float = 100.0, *, seed: int = 0, device: str | None = None
) -> Graph:
    """Return a directed graph with a given share of all possible edges, and unequal degrees.

    Every vertex can be reached from every other. Self-loops are as likely as any other edge. The degrees are
    1 + (most - 1) u^k for u between 0 and 1; k is chosen such that the number of edges is as requested, to the nearest
    integer. All degrees are equal if `max_degree` is `density`; they differ more, the greater `max_degree` is. The
    neighbours of a vertex are an arithmetic progression through a random cycle of all vertices, which begins at the
    vertex's successor.

    Parameters
    ----------
    n : int
        Number of vertices.
    density : float
        Number of edges, in percent of all n² pairs.
    max_degree : float
        The greatest out-degree, in percent of n. It is rounded down, or up if the edges would not fit otherwise.
    seed : int
        The same arguments give the same graph, on every device.
    device : {"cpu", "cuda", "cuda:N"}, optional
        The device on which the graph lives; by default the CPU.

    Returns
    -------
    Graph

    Raises
    ------
    InputError
        If there are fewer edges than vertices, which cannot connect them, or if `max_degree` is less than `density`.
    MemoryLimitError
        If the graph does not fit the device.

    See Also
    --------
    mgraph.generate.random_graph : Undirected graphs of a given density.

    References
    ----------
    Padamata and Raveendran, a study of parallel shortest paths and searches on GPUs, 2013: random graphs by size,
    density and greatest degree.

    Examples
    --------
    >>> import mgraph
    >>> mgraph.generate.random_density(100, 5)
    Graph(n=100, m=500, directed, unweighted)
    """
    n = checked_integer("n", n, 0, MAX_VERTICES)
    if not 0 < checked_number("density", density) <= 100:
        raise InputError(argument="density", value=density, expected="a number of percent in (0, 100]")
    if not density <= checked_number("max_degree", max_degree) <= 100:
        raise InputError(argument="max_degree", value=max_degree, expected=f"a number of percent in [{density}, 100]")
    m = round(_percent(density) * n * n)
    if m < n:
        raise InputError(f"density must give each of the {n} vertices an edge, got {density}, which gives {m} edges")
    most = max(int(_percent(max_degree) * n), -(-m // max(n, 1)))
    random = host_random(seed)
    place = devices.find("cpu" if device is None else device)
    what = f"a graph of {n:,} vertices and {m:,} edges"
    devices.check_free_memory(what, 64 * n + 4 * m, place, "make a smaller one")
    cycle = random.permutation(n)
    strides = np.arange(1, max(n, 2))
    strides = random.choice(strides[np.gcd(strides, n) == 1], n) if n else strides  # they reach all vertices
    degrees = random.permutation(unequal_degrees(n, m, most))
    indptr = np.concatenate([[0], degrees.cumsum()])
    with place.active():
        offsets = place.asarray(indptr.astype(offset_type(int(indptr[-1]))))
        csr = Compressed(offsets, _progressions(place, cycle, strides, indptr), None)
    return Graph(n, csr=csr, nonnegative=True)


def _percent(value: float) -> Fraction:
    """Return a percentage as an exact fraction of its decimal form: no float equals 0.57."""
    return Fraction(str(value)) / 100


def unequal_degrees(n: int, m: int, most: int) -> np.ndarray:
    """Return the degrees, from 1 to `most`, of `n` vertices with `m` edges: 1 + (most - 1) u^k, ascending.

    Their cumulative sums are the rounded integral, so the last one is `m`.
    """
    power = (most - 1) * n / (m - n) if m > n else 1.0  # k + 1
    beyond_one_each = np.rint((m - n) * (np.arange(n + 1) / max(n, 1)) ** power)
    return 1 + np.diff(beyond_one_each.astype(np.int64))


def _progressions(place: devices.Device, cycle: np.ndarray, strides: np.ndarray, indptr: np.ndarray) -> Array:
    """Return each vertex's neighbours, ascending: every stride-th vertex of the cycle, from its successor on."""
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
        # The row of an edge is the number of rows that begin at or before it, minus one.
        row = xp.bincount(starts, minlength=end - begin)[: end - begin].cumsum() - 1
        number = xp.arange(end - begin, dtype=wide) - starts.astype(wide)[row]
        at = cycle[(successors[first:last][row] + strides[first:last][row] * number) % wide(n)]
        row *= n
        marks = present[: (last - first) * n]
        marks.fill(False)
        marks[row + at] = True
        indices[begin:end] = xp.flatnonzero(marks) - row
    return indices


def random_graph(m: int, density: float, count: int, *, seed: int = 0, device: str | None = None) -> Graph:
    """Return an undirected graph of `count` random graphs of equal size, with `m` edges in all.

    Each graph is connected by a random tree: every vertex but the first is joined to an earlier one. The other edges
    are different pairs of vertices: the list of all remaining pairs is cut into as many ranges, and one pair is drawn
    from each. A graph with too few edges for a spanning tree is not connected; that happens if `density` and `m` are
    small.

    Parameters
    ----------
    m : int
        Number of undirected edges.
    density : float
        The share of all pairs of vertices that are edges, above 0 and up to 1. It determines the number of vertices,
        which is at least two for each graph.
    count : int
        Number of graphs, with ``m / count`` edges each. If they are connected, also of components.
    seed : int
        The same arguments give the same graph, on every device.
    device : {"cpu", "cuda", "cuda:N"}, optional
        The device on which the graph lives; by default the CPU.

    Returns
    -------
    Graph

    See Also
    --------
    mgraph.generate.random_density : Directed graphs of a given density.

    References
    ----------
    Yogaratnam, a study of list ranking and connected components on GPUs, 2010: delta of 0.001 and 0.01 there are
    densities of 0.002 and 0.02 here, as it makes sqrt(m / (2 delta)) vertices of m edges that it counts both ways.

    Examples
    --------
    >>> import mgraph
    >>> mgraph.generate.random_graph(1000, 0.1, 2)
    Graph(n=202, m=2000, undirected, unweighted)
    """
    m = checked_integer("m", m, 0, 2**31)
    count = checked_integer("count", count, min(m, 1), m)
    if not 0 < checked_number("density", density) <= 1:
        raise InputError(argument="density", value=density, expected="a number in (0, 1]")
    wanted = min(-(-m // max(count, 1)) / float(density), float(MAX_VERTICES) ** 2)
    size = max(2, int(np.ceil((1 + np.sqrt(1 + 8 * wanted)) / 2)))
    if count * size > MAX_VERTICES:
        raise InputError(f"density={density} makes {count * size} vertices of {m} edges: at most {MAX_VERTICES}")
    random = host_random(seed)
    place = checked_place(device, count * size, 2 * m)
    # Vertex v has v pairs with earlier vertices. A tree takes one of them; v - 1 are left, as many as vertex v - 1 has
    # in all. So the pairs that are left are numbered like those of one vertex fewer.
    tree = size - 1 if m // max(count, 1) >= size - 1 else 0
    rows = size - 1 if tree else size
    pairs = rows * (rows - 1) // 2
    others = m - count * tree
    graph = part_of(np.arange(others), others, count)
    begins = first_of(graph, others, count)
    number, of = np.arange(others) - begins, first_of(graph + 1, others, count) - begins
    pair = random.integers(scaled(number, of, pairs), scaled(number + 1, of, pairs))
    names = random.permutation(np.arange(count * size, dtype=np.int32))
    child = np.arange(count * size if tree else 0)
    parent = random.integers(0, np.maximum(child % size, 1))  # within the graph; its first vertex has no parent
    with place.active():
        xp = place.xp
        names, pair, base, child, parent = map(place.asarray, (names, pair, graph * size, child, parent))
        # The pairs (high, low) with low < high, in order. The square root may be off by one after rounding.
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
