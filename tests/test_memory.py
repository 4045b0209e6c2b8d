"""Calls outside of plans: what they say they need is what they allocate, and they ask before they do."""

import numpy as np
import pytest
from scipy import sparse

import mgraph
from mgraph import device as devices
from mgraph.algorithms.minimum_spanning_forest.keys import keys_of
from mgraph.errors import MemoryLimitError
from mgraph.generate import rmat, weighted
from tests.support.memory import measured

networkx = pytest.importorskip("networkx")  # imported here, not in a measured call

pandas = pytest.importorskip("pandas")

BOTH = weighted(rmat(11, 32), (1, 99), "float64")
ONE = weighted(rmat(11, 32, directed=True), (1, 99), "float64")
SEARCH = mgraph.bfs(rmat(17, 1), 0, predecessors=True, device="cpu")
MANY = mgraph.bfs_many(rmat(12, 16), range(64), device="cpu")
CLOSURE = mgraph.transitive_closure(rmat(11, 4), device="cpu")
MATRIX = mgraph.generate.random_matrix(500, density=0.2)


def with_infinity(graph):
    weights = graph.coo().weights.copy()
    weights[weights > 50] = np.inf
    return weights


FRACTIONS = keys_of(ONE.compressed("csr").weights, (0.5, 9, False))
LENGTHS = np.ones(ONE.m)
INFINITE = with_infinity(BOTH)

#: Calls by what the message begins with, or names.
CALLS = {
    r"coo\(\) of": lambda: BOTH.coo(),
    r"csc\(\) of": lambda: ONE.csc(),
    r"csc\(\) of .*": lambda: ONE.unweighted().csc(),
    r"with_weights\(\) of": lambda: ONE.with_weights(LENGTHS),
    r"(with_weights|coo|csc)\(\) of": lambda: BOTH.with_weights(BOTH.csr().weights),
    r"(with_weights|coo|csc)\(\) of .*": lambda: BOTH.with_weights(INFINITE),
    r"sorting [0-9,]* weights": lambda: keys_of(ONE.compressed("csr").weights, (0.5, 9, False)),
    r"keys of": lambda: FRACTIONS.of(ONE.compressed("csr").weights, ONE.m, devices.find("cpu")),
    r"to_scipy\(\) of": lambda: ONE.to_scipy(),
    r"to_scipy\(\) of .*": lambda: ONE.unweighted().to_scipy(),
    r"to_networkx\(\) of": lambda: BOTH.to_networkx(),
    r"to_networkx\(\) of .*": lambda: ONE.unweighted().to_networkx(),
    r"(weights|coo\(\)) of": lambda: weighted(BOTH, (1, 9), "float64"),
    r"sorting a graph": lambda: mgraph.Graph.from_scipy(SPARSE.tocsc()),
    r"a copy of a matrix": lambda: mgraph.Graph.from_scipy(LONG),
    r"(the edges of a matrix|sorting a graph) of": lambda: mgraph.Graph.from_distances(MATRIX, copy=False).csr(),
    r"to_pandas\(\)": lambda: SEARCH.to_pandas(),
    r"to_pandas\(\) of": lambda: MANY.to_pandas(),
    r"to_dense\(\) of": lambda: CLOSURE.to_dense(),
}

SPARSE = sparse.random_array((2000, 2000), density=0.05, rng=np.random.default_rng(0)).tocsr()

#: A matrix in CSR that has to be copied.
LONG = SPARSE.astype(np.int16)
LONG.indices, LONG.indptr = LONG.indices.astype(np.int64), LONG.indptr.astype(np.int64)


@pytest.mark.parametrize("message", CALLS)
def test_memory_is_compared_with_what_is_free(message, monkeypatch):
    call = CALLS[message]
    call()
    ONE.release()
    _, peak = measured(call)
    ONE.release()
    free = 0
    monkeypatch.setattr(devices.HostDevice, "available_memory", lambda self: free)
    free = int(0.9 * peak)
    with pytest.raises(MemoryLimitError, match=f"^{message}.* needs .* of memory, and cpu has .* free"):
        call()
    free = 3 * peak
    call()


def test_memory_that_runs_out_nevertheless(monkeypatch):
    def full(*_):
        raise MemoryError("no more")

    monkeypatch.setattr(np, "repeat", full)
    with pytest.raises(MemoryLimitError, match=r"^coo\(\) of 3 edges ran out of memory \(no more\): it needs 72 B"):
        mgraph.Graph.from_edges([0, 1, 2], [0, 1, 2]).coo()


def test_rows_of_edges_are_listed_in_their_own_memory():
    coo, peak = measured(BOTH.coo)
    assert peak < coo.src.nbytes + 24 * BOTH.n
