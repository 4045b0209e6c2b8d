"""Calls that write checkpoints, with inputs of many spans."""

import functools

import pytest

import mgraph
from tests.support.parameters import exhaustive

GRAPH = mgraph.generate.grid(20, 20, weights=(1, 9), device="cpu")

#: Calls of many spans: what is called, its options, and the names of its arrays.
CALLS = {
    "blocked": (mgraph.apsp, {"method": "blocked", "block": 32, "span": 3}, ("distances",)),
    "blocked, in int16": (mgraph.apsp, {"method": "blocked", "block": 32, "span": 3, "dtype": "int16"}, ("distances",)),
    "predecessors": (
        mgraph.apsp,
        {"method": "blocked", "block": 32, "span": 3, "predecessors": True},
        ("distances", "predecessors"),
    ),
    "intermediate": (
        mgraph.apsp,
        {"method": "blocked", "block": 32, "span": 3, "intermediate": True},
        ("distances", "intermediate"),
    ),
    "out of core": (
        mgraph.apsp,
        {"method": "blocked", "block": 32, "span": 1, "memory_limit": 600_000},
        ("distances",),
    ),
    "out of core, predecessors": (
        mgraph.apsp,
        {"method": "blocked", "block": 32, "span": 1, "memory_limit": 500_000, "predecessors": True},
        ("distances", "predecessors"),
    ),
    "naive": (mgraph.apsp, {"method": "naive", "span": 50}, ("distances",)),
    "squaring": (mgraph.apsp, {"method": "squaring", "span": 2, "predecessors": True}, ("distances", "predecessors")),
    "sssp": (mgraph.apsp, {"method": "sssp", "span": 1, "predecessors": True}, ("distances", "predecessors")),
    "bfs_many": (
        functools.partial(mgraph.bfs_many, sources=[*range(400), *range(400)]),
        {"span": 40, "predecessors": True},
        ("distances", "predecessors"),
    ),
    "wyllie": (mgraph.list_rank, {"method": "wyllie", "span": 2}, ("ranks",)),
    "splitter64": (mgraph.list_rank, {"method": "splitter64", "splitters": 100, "span": 1}, ("ranks",)),
    "splitter48": (mgraph.list_rank, {"method": "splitter48", "splitters": 2, "span": 1}, ("ranks",)),
    **{
        f"bfs, {method}": (
            functools.partial(mgraph.bfs, source=5),
            {"method": method, "span": 2, "predecessors": True},
            ("distances", "predecessors"),
        )
        for method in ("hybrid", "frontier", "pull", "edge", "vertex", "mask", "scan", "sequential")
    },
    "bfs to a target": (
        functools.partial(mgraph.bfs, sources=[0, 3]),
        {"span": 4, "target": 250, "limit": 30},
        ("distances",),
    ),
    **{
        f"sssp, {method}": (
            functools.partial(mgraph.sssp, source=5),
            {"method": method, "span": 2, "predecessors": True},
            ("distances", "predecessors"),
        )
        for method in ("nearfar", "mask", "bellman-ford")
    },
    "sssp to a target": (
        functools.partial(mgraph.sssp, source=0),
        {"span": 2, "target": 250, "limit": 90, "dtype": "float64"},
        ("distances",),
    ),
    "closure": (mgraph.transitive_closure, {"span": 3}, ("words",)),
}

LIST = mgraph.generate.linked_list(3000, seed=1, device="cpu")

#: The inputs of calls on another one than `GRAPH`.
INPUTS = {
    "sssp": mgraph.generate.grid(48, 48, weights=(1, 9), device="cpu"),  # its sources take more than one batch
    "wyllie": LIST,
    "splitter64": LIST,
    "splitter48": LIST,
}

#: Cases that other workers need not try, as what is kept is that of another case.
ALIKE = ("blocked, in int16", "intermediate", "naive", "splitter48", "bfs, frontier", "bfs, pull", "bfs, vertex")

#: Cases of one device.
ALONE = ("out of core", "out of core, predecessors")

#: Every case that goes on on other workers; every change tries one in four.
_moved = [case for case in CALLS if case not in (*ALIKE, *ALONE)]
MOVED = pytest.mark.parametrize("case", [*_moved[::4], *exhaustive(*_moved[1::4], *_moved[2::4], *_moved[3::4])])
