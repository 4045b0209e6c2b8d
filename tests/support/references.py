"""What results are compared with: distances and components of SciPy, NetworkX and the textbook."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph

from mgraph import device as devices
from mgraph.dtypes import infinity


def as_floats(distances):
    """Return distances of any type on any device as float64, with inf for infinity."""
    distances = np.asarray(devices.to_host(distances))
    return np.where(distances == infinity(distances.dtype), np.inf, distances.astype(np.float64))


def edges_of(graph):
    """Return all edges on the host: their sources, targets and weights, which are 1 in a graph without weights."""
    src, dst, weights = (None if part is None else devices.to_host(part) for part in graph.coo())
    return src, dst, np.ones(len(src), np.float32) if weights is None else weights


def lightest_edges(graph):
    """Return a graph as SciPy takes it: stored zeros are edges, and of parallel edges, which it adds, one is left."""
    src, dst, weights = edges_of(graph)
    order = np.lexsort((weights, dst, src))
    src, dst, weights = src[order], dst[order], weights[order].astype(np.float64)
    first = np.ones(len(src), bool)
    first[1:] = (src[1:] != src[:-1]) | (dst[1:] != dst[:-1])
    return sparse.csr_array((weights[first], (src[first], dst[first])), shape=(graph.n, graph.n))


def lightest_matrix(graph):
    """Return the lightest edges as a dense matrix, inf where there is none; the diagonal is at most 0."""
    matrix = np.full((graph.n, graph.n), np.inf)
    src, dst, weights = edges_of(graph)
    np.minimum.at(matrix, (src, dst), weights)
    np.fill_diagonal(matrix, np.minimum(matrix.diagonal(), 0))
    return matrix


def textbook(matrix):
    """Floyd and Warshall's three loops, in the matrix's own type."""
    d = matrix.copy()
    np.fill_diagonal(d, np.minimum(d.diagonal(), 0))
    for k in range(len(d)):
        d = np.minimum(d, d[:, k, None] + d[None, k, :])
    return d


def all_distances(graph):
    """Return the distances between all vertices by the textbook, in float64."""
    return textbook(lightest_matrix(graph))


def shortest_distances(graph, sources, limit=np.inf):
    """Return SciPy's distances from one vertex or a row for each of several, inf beyond a limit."""
    if not np.size(sources):
        return np.empty((0, graph.n))
    search = csgraph.dijkstra if graph.nonnegative else csgraph.johnson
    rows = search(lightest_edges(graph), indices=sources)
    return np.where(rows > limit, np.inf, rows)


def hop_counts(graph, sources):
    """Return SciPy's numbers of edges from one vertex or several, -1 where there is no path."""
    indptr, indices, _ = (None if part is None else devices.to_host(part) for part in graph.compressed("csr"))
    matrix = sparse.csr_matrix((np.ones(len(indices)), indices, indptr), shape=(graph.n, graph.n))
    distances = csgraph.shortest_path(matrix, unweighted=True, indices=sources)
    return np.where(np.isinf(distances), -1, distances)


def component_labels(graph, connection):
    """Return SciPy's number of components, and its labels as the smallest vertex of each."""
    indptr, indices, _ = (devices.to_host(part) if part is not None else None for part in graph.csr())
    matrix = sparse.csr_array((np.ones(len(indices)), indices, indptr), shape=(graph.n, graph.n), copy=True)
    matrix.sum_duplicates()  # its search for strong components does not end if edges are repeated
    count, labels = csgraph.connected_components(matrix, connection=connection)
    return count, np.unique(labels, return_index=True)[1][labels]


def as_networkx(graph):
    """Return the lightest edges as a graph of NetworkX."""
    nx = pytest.importorskip("networkx")
    made = (nx.DiGraph if graph.directed else nx.Graph)()
    made.add_nodes_from(range(graph.n))
    for u, v, weight in zip(*(part.tolist() for part in edges_of(graph)), strict=True):
        if weight < made.get_edge_data(u, v, {"weight": np.inf})["weight"]:
            made.add_edge(u, v, weight=weight)
    return made
