"""What the tests of betweenness share: networks that are drawn, and results on one core and on two."""

import random

import networkx as nx
import numpy as np

import mgraph
from mgraph.device.numba import numba

KINDS = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]


def drawn_network(seed, most, degree, lengths):
    """A NetworkX graph of each kind in turn, with parallel edges, loops, lone nodes and ties; and as a Graph."""
    rng = random.Random(seed)
    n, made = rng.randint(2, most), KINDS[seed % 4]()
    made.add_nodes_from(range(n))
    for _ in range(rng.randint(0, degree * n)):
        made.add_edge(rng.randrange(n), rng.randrange(n), weight=rng.choice(lengths))
    return made, mgraph.Graph.from_networkx(made)


def check_cores(find):
    """Check that a function returns the same bits on one core and on two."""
    cores, found = numba.get_num_threads(), []
    try:
        for threads in {1, min(2, cores)}:
            numba.set_num_threads(threads)
            found.append(find())
    finally:
        numba.set_num_threads(cores)
    assert all(np.array_equal(each, found[0]) for each in found)
