"""Graphs that stay on workers: examples, what workers hold of them, and what calls send."""

import numpy as np
import pytest
from distributed.comm import tcp

from mgraph import Graph, device
from mgraph.errors import InputError
from mgraph.generate import grid, rmat, weighted
from mgraph.runtime.dask.worker import NAME


@pytest.fixture
def carried(monkeypatch):
    """The bytes of the messages that this process sends and receives."""
    sizes = []
    write, from_frames = tcp.TCP.write, tcp.from_frames

    async def counted_write(*args, **kwargs):
        size = await write(*args, **kwargs)
        sizes.append(size)
        return size

    def counted_frames(frames, *args, **kwargs):
        sizes.append(sum(memoryview(frame).nbytes for frame in frames))
        return from_frames(frames, *args, **kwargs)

    monkeypatch.setattr(tcp.TCP, "write", counted_write)
    monkeypatch.setattr(tcp, "from_frames", counted_frames)
    return sizes


def directed(n=300, m=1500, seed=3, low=0, high=9):
    rng = np.random.default_rng(seed)
    src, dst = rng.integers(0, n, (2, m))
    return Graph.from_edges(src, dst, rng.integers(low, high, m), n=n)


def halves(graph):
    return graph.with_weights(graph.coo().weights / 2)


GRAPHS = {
    "Kronecker": lambda: weighted(rmat(8), (1, 255)),
    "floats": lambda: halves(weighted(grid(9, 31), (1, 9))),
    "directed with zeros and loops": directed,
    "negative": lambda: Graph.from_edges([0, 1, 0, 2, 3], [1, 2, 2, 3, 4], [4, -3, 2, -1, 5], n=70),
    "unweighted": lambda: directed().unweighted(),
    "fewer vertices than workers": lambda: Graph.from_edges([0, 1], [1, 0], [2, 3]),
    "no edges": lambda: Graph.from_edges([], [], n=40),
}


def same(found, expected):
    assert list(found.arrays) == list(expected.arrays)
    for name, array in expected.arrays.items():
        other = found.arrays[name]
        assert other.dtype == array.dtype and other.shape == array.shape
        other = other.to_numpy() if hasattr(other, "to_numpy") else other
        np.testing.assert_array_equal(other, device.to_host(array), err_msg=name)


def names_kept(client):
    """The names of what the sessions of each worker keep; after a failed call, two sessions know the same things."""

    def look(dask_worker):
        there = {id(session.kept): session.kept for session in dask_worker.plugins[NAME].sessions.values()}
        return [name for kept in there.values() for name in kept]

    return [name for names in client.run(look).values() for name in names]


class Failing:
    """A program in which the last shard fails while the others wait for it."""

    facts = ()

    def __init__(self, error=None):
        self.error = error or InputError("a test")

    def load(self, shard, piece, device):
        return shard

    def step(self, state, first, limit, comm):
        if state == comm.size - 1:
            raise self.error
        comm.allreduce(np.ones(1), "sum")
        return 1

    def collect(self, state, comm):
        return {}
