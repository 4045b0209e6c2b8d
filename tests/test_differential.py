"""Every call on tiny graphs of extreme weights, in every form of input, against exact arithmetic; and on tiny lists.

A call is right or ends in an error of mgraph's own. A longer run: ``python -m tests.test_differential SEED SECONDS``.
"""

import itertools
import sys
import time
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import mgraph
from mgraph import Graph
from mgraph.algorithms.registry import ALGORITHMS
from tests.support import calls

FLOATS = [0.0, -0.0, 1, 2, 3, 0.5, -1, -2, np.inf, np.nan, -np.inf, 1e308, -1e308, 1.7e308, 9e307, 1e-320, 3.4e38]
INTEGERS = [0, 1, 2, 3, -1, -2, 4095, 4096, 4097, -4095, -4096, 6143, 12286, 2**27 + 1, -(2**27) - 1]
INTEGERS += [2**28 - 1, 2**28, 2**28 + 1, 1 - 2**28, -(2**28), -(2**28) - 1, 2**30, 2**31 - 1, -(2**31)]
POOLS = {"f": FLOATS, "i": INTEGERS, "b": [0, 1]}
TYPES = ["float32", "float64", "int8", "int16", "int32", "int64", "bool"]
METHODS = ["auto", "blocked", "naive", "squaring", "sssp", "johnson"]
KINDS = ["edges", "coo", "csr", "csc", "dense", "list", "masked", "fortran", "adjacency", "distances"]


def drawn(random, kind, dtype, size):
    """Weights of any size, or of the same only positive."""
    pool = np.array(POOLS[kind])
    values = pool[random.integers(0, len(pool), size)]
    if random.random() < 0.5:
        values = np.abs(np.nan_to_num(values, nan=1.0)) if kind == "f" else abs(values)
    with np.errstate(all="ignore"):
        return values.astype(dtype)


def example(random):
    """An input of a call, its number of vertices, and the edges that it represents."""
    n, dtype, how = int(random.integers(0, 5)), str(random.choice(TYPES)), str(random.choice(KINDS))
    kind = np.dtype(dtype).kind
    if how in ("edges", "coo", "csr", "csc"):
        places = random.permutation(n * n)[: random.integers(0, 8)]
        src, dst = places // max(n, 1), places % max(n, 1)
        if how in ("edges", "coo") and len(src):  # and some in parallel
            src, dst = np.append(src, src[0]), np.append(dst, dst[0])
        weights = drawn(random, kind, dtype, len(src))
        lengths = [1] * len(src) if kind == "b" else weights.tolist()
        edges = list(zip(src.tolist(), dst.tolist(), lengths, strict=True))
        if how != "edges":
            return sparse.coo_array((weights, (src, dst)), shape=(n, n)).asformat(how), n, edges
        directed = bool(random.random() < 0.7)
        edges += [] if directed else [(j, i, w) for i, j, w in edges]
        return Graph.from_edges, n, edges, (src, dst, None if kind == "b" else weights, n, directed)
    matrix = drawn(random, kind, dtype, (n, n))
    if how == "list":
        n, matrix = max(n, 1), drawn(random, kind, {"f": "float64", "i": "int64", "b": "bool"}[kind], (max(n, 1),) * 2)
    absent = random.random((n, n)) < (0.3 if how == "masked" else 0)
    if kind == "b" or how == "adjacency":
        absent |= matrix == 0
    else:
        absent |= matrix == (np.inf if kind == "f" else np.iinfo(matrix.dtype).max)
        absent |= np.eye(n, dtype=bool) & (matrix >= 0)
    edges = [(int(i), int(j), matrix[i, j].item()) for i, j in np.argwhere(~absent)]
    if how in ("adjacency", "distances"):
        return getattr(Graph, f"from_{how}"), n, edges, (matrix,)
    given = {"list": matrix.tolist(), "masked": np.ma.array(matrix, mask=absent), "fortran": np.asfortranarray(matrix)}
    if how == "masked" and kind != "b" and not absent.any():
        given["masked"] = np.ma.array(matrix)
    return given.get(how, matrix), n, edges


def exact(n, edges):
    """The distances as fractions, None where there is no path; None at all for a negative cycle."""
    D = [[Fraction(0) if i == j else None for j in range(n)] for i in range(n)]
    for i, j, weight in edges:
        D[i][j] = Fraction(weight) if D[i][j] is None else min(D[i][j], Fraction(weight))
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if D[i][k] is not None and D[k][j] is not None:
                    through = D[i][k] + D[k][j]
                    D[i][j] = through if D[i][j] is None else min(D[i][j], through)
    return None if any(D[v][v] < 0 for v in range(n)) else D


def agrees(found, expected, size):
    """Whether a distance is the exact one, but for rounding relative to the largest weight."""
    dtype = np.dtype(found.dtype)
    if expected is None:
        return found == (np.inf if dtype.kind == "f" else np.iinfo(dtype).max)
    if dtype.kind == "i":
        return int(found) == expected
    if found == np.inf:
        return expected > Fraction(float(np.finfo(dtype).max)) * Fraction(999_999, 1_000_000)
    return np.isfinite(found) and abs(Fraction(float(found)) - expected) <= rounding(dtype, size)


def lightest(n, edges):
    """The edges of the minimum spanning forest by Kruskal's algorithm, in the order of their ends."""
    pairs = {}
    for i, j, weight in edges:
        if i != j:
            ends = min(i, j), max(i, j)
            pairs[ends] = min(Fraction(weight), pairs.get(ends, Fraction(weight)))
    tree, found = list(range(n)), []
    for i, j in sorted(pairs, key=lambda ends: (pairs[ends], ends)):
        if tree[i] != tree[j]:
            found.append((i, j, pairs[i, j]))
            tree = [tree[j] if each == tree[i] else each for each in tree]
    return sorted(found)


def ranks_of(succ):
    """The distances to the ends of lists, None if a list has none."""
    n, ranks = len(succ), []
    for start in range(n):
        rank, at = 0, start
        while succ[at] != at and rank < n:
            rank, at = rank + 1, succ[at]
        ranks.append(rank)
    return None if any(rank == n for rank in ranks) else ranks


def rounding(dtype, size):
    """The error that a sum of floats may have, for weights up to some size."""
    return size * Fraction(1, 10**4 if dtype == np.float32 else 10**11) + Fraction(1, 10**37)


def check(random):
    """One graph by every call; return the errors that were raised."""
    given, n, edges, *arguments = example(random)
    bad = any(weight != weight or weight == -np.inf for *_, weight in edges)
    edges = [edge for edge in edges if abs(edge[2]) < np.inf]
    size = max((abs(Fraction(weight)) for *_, weight in edges), default=Fraction(0))
    D, hops = exact(n, edges), exact(n, [(i, j, 1) for i, j, _ in edges])
    raised = []

    def call(function, *more, **options):
        try:
            graph = given(*arguments[0]) if arguments else given
            return function(graph, *more, device="cpu", **options)
        except mgraph.NegativeCycleError as error:
            assert bad or D is None
            raised.append(type(error).__name__)
        except mgraph.MgraphError as error:
            raised.append(type(error).__name__)
        return None

    dtype = random.choice(np.array([None, "float32", "float64", "int32", "int16", "auto"], object))
    method, labels = str(random.choice(METHODS)), bool(random.random() < 0.4)
    pairs = call(mgraph.apsp, method=method, dtype=dtype, predecessors=labels)
    if pairs is not None:
        assert not bad, (method, dtype, edges)
        assert D is not None, (method, dtype, edges)
        for i in range(n):
            for j in range(n):
                assert agrees(pairs.distances[i, j], D[i][j], size), (method, dtype, edges, i, j)
                if labels and np.isfinite(float(pairs.distances[i, j])):
                    assert bool(pairs.path(i, j)) == (D[i][j] is not None), (method, dtype, edges, i, j)
    for reflexive in (True, False):
        closure = call(mgraph.transitive_closure, reflexive=reflexive)
        for i in range(n if closure is not None and not bad else 0):
            for j in range(n):
                steps = [k for v, k, _ in edges if v == i]  # of a walk of one edge or more
                expected = hops[i][j] is not None if reflexive else any(hops[k][j] is not None for k in steps)
                assert closure.reaches(i, j) == expected, (edges, i, j, reflexive)
    connection = str(random.choice(["weak", "strong"]))
    components = call(mgraph.connected_components, connection=connection)
    if components is not None and not bad:
        both = edges if connection == "strong" else edges + [(j, i, w) for i, j, w in edges]
        reach = exact(n, [(i, j, 1) for i, j, _ in both])
        mutual = [[u for u in range(n) if reach[u][v] is not None and reach[v][u] is not None] for v in range(n)]
        assert components.labels.tolist() == [min(each) for each in mutual], (edges, connection)
    forest = call(mgraph.minimum_spanning_forest)
    if forest is not None:
        assert not bad, edges
        weights = [Fraction(weight) for weight in forest.weights.tolist()]
        found = list(zip(forest.src.tolist(), forest.dst.tolist(), weights, strict=True))
        assert found == lightest(n, edges), (forest.weights.dtype, edges)
    if n:
        source = int(random.integers(0, n))
        levels = call(mgraph.bfs, source)
        if levels is not None and not bad:
            assert levels.distances.tolist() == [-1 if d is None else int(d) for d in hops[source]], edges
        sources = random.integers(0, n, random.integers(1, 4)).tolist()
        many = call(mgraph.bfs_many, sources, predecessors=labels)
        if many is not None and not bad:
            for row, start in zip(many.distances.tolist(), sources, strict=True):
                assert row == [-1 if d is None else int(d) for d in hops[start]], (edges, sources)
        some = call(mgraph.distances, sources, dtype=random.choice([None, "float32", "float64", "int32"]))
        if some is not None and D is not None:
            assert not bad, (edges, sources)
            for row, start in zip(some.distances, sources, strict=True):
                assert all(agrees(row[v], D[start][v], size) for v in range(n)), (edges, sources)
        one = call(mgraph.sssp, source, method=str(random.choice(["auto", "bellman-ford"])))
        if one is not None:
            assert not bad, edges
            for v in range(n if D is not None else 0):
                assert agrees(one.distances[v], D[source][v], size), (edges, source, v)
    if arguments and len(arguments[0]) == 5 and n and D is not None and not bad:  # a graph of edges, by every check
        for name, entry in ALGORITHMS.items():
            graph, *start = calls.arguments(name, given(*arguments[0]), sources=[0])
            if isinstance(graph, Graph) and (result := call(entry.call, *start)) is not None:
                with np.errstate(over="ignore"):
                    entry.check(graph, entry.arrays(result), *start)
    return raised


@pytest.mark.parametrize("seed", range(6))
def test_tiny_graphs_of_extreme_weights(seed):
    random = np.random.default_rng(seed)
    for _ in range(25):
        check(random)


@pytest.mark.parametrize("method", ["auto", *ALGORITHMS["list_rank"].methods])
def test_tiny_lists(method):
    """Every array of at most four successors, among them those with a cycle."""
    for n in range(5):
        for succ in itertools.product(range(n), repeat=n):
            expected = ranks_of(succ)
            if expected is None:
                with pytest.raises(mgraph.InputError, match="cycle"):
                    mgraph.list_rank(succ, method=method, device="cpu")
            else:
                given = np.array(succ, np.int64)
                assert mgraph.list_rank(given, method=method, device="cpu").ranks.tolist() == expected, succ


if __name__ == "__main__":
    start, seconds = int(sys.argv[1]), float(sys.argv[2])
    began, cases, errors = time.monotonic(), 0, Counter[str]()
    while time.monotonic() - began < seconds:
        errors.update(check(np.random.default_rng([start, cases])))
        cases += 1
    print(f"{cases:,} graphs, errors of mgraph's own: {dict(errors)}")
