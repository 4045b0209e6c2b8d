"""Programs and calls that run on a cluster, compared with direct calls."""

import time
from dataclasses import replace

import numpy as np

from mgraph import apsp
from mgraph.planner import plan
from mgraph.runtime.dask import DistributedMatrix, visiting


def matrix(n, dtype=np.float32, seed=0):
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 50, (n, n))
    missing = np.inf if np.dtype(dtype).kind == "f" else np.iinfo(dtype).max
    return np.where(rng.random((n, n)) < 0.1, weights, missing).astype(dtype)


def check_apsp(client, n, dtype, predecessors, span=None, where="cpu"):
    d = matrix(n, dtype)
    direct = apsp(d, predecessors=predecessors, block=32, device=where)
    found = apsp(d, predecessors=predecessors, block=32, device=where, client=client, span=span)
    assert isinstance(found.distances, DistributedMatrix)
    assert found.distances.dtype == dtype
    np.testing.assert_array_equal(found.distances.to_numpy(), direct.distances)
    assert (found.predecessors is None) == (not predecessors)
    if predecessors:
        np.testing.assert_array_equal(found.predecessors.to_numpy(), direct.predecessors)
    return found


class Probe:
    """A test program of `steps` supersteps, in each of which every shard calls `act`."""

    def __init__(self, plan, act, steps=3):
        self.plan = plan
        self.act = act
        self.steps = steps

    def load(self, shard, piece, device):
        return {"shard": shard, "piece": piece, "seen": []}

    def step(self, state, first, limit, comm):
        if first >= self.steps:
            return 0
        state["seen"].append(self.act(state, first, comm))
        return 1

    def collect(self, state, comm):
        return {"seen": np.concatenate([np.empty(0), *state["seen"]])}


def run(client, act, steps=3, span=1, progress=None, piece=lambda shard: None):
    runner = visiting(client, "cpu")
    made = replace(plan("apsp", 320, devices=runner.specs, block=32), span=span)
    return runner.run(Probe(made, act, steps), piece, made, progress)


def slow(state, k, comm):
    time.sleep(0.02)
    comm.allreduce(np.zeros(1, np.int32), "sum")
    return np.zeros(0)
