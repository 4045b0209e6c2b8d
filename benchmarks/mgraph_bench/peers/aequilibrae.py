"""AequilibraE: traffic assignment for planners, by searches from each zone in Cython, on the cores that it is told."""

from collections.abc import Callable
from importlib import import_module

import numpy as np
import pandas as pd

from mgraph.roads import TntpNetwork


def assignment(network: TntpNetwork, demand: np.ndarray, iterations: int, cores: int) -> Callable[[], np.ndarray]:
    """Return the call for the user equilibrium by its biconjugate method, which returns the flow of each link.

    Its first iteration is the one that loads the demand at free flow. All nodes are passed.
    """
    paths, matrices = import_module("aequilibrae.paths"), import_module("aequilibrae.matrix")
    links = network.links
    graph = paths.Graph()
    graph.network = pd.DataFrame(
        {
            "link_id": np.arange(1, len(links.tail) + 1),
            "a_node": links.tail.astype(np.int64) + 1,
            "b_node": links.head.astype(np.int64) + 1,
            "direction": 1,
            "free_flow_time": links.free_flow_time,
            "capacity": links.capacity,
            "b": links.b,
            "power": links.power,
        }
    )
    zones = np.arange(1, network.zones + 1)
    graph.prepare_graph(zones)
    graph.set_graph("free_flow_time")
    graph.set_blocked_centroid_flows(False)
    graph.set_skimming([])
    matrix = matrices.AequilibraeMatrix()
    matrix.create_empty(zones=network.zones, matrix_names=["trips"], memory_only=True)
    matrix.index = zones
    matrix.matrices[:, :, 0] = demand
    matrix.computational_view(["trips"])
    assigned = paths.TrafficAssignment()
    assigned.set_classes([paths.TrafficClass("car", graph, matrix)])
    assigned.set_vdf("BPR")
    assigned.set_vdf_parameters({"alpha": "b", "beta": "power"})
    assigned.set_capacity_field("capacity")
    assigned.set_time_field("free_flow_time")
    assigned.set_algorithm("bfw")
    assigned.max_iter, assigned.rgap_target = iterations, 1e-12
    assigned.set_cores(cores)

    def solve() -> np.ndarray:
        assigned.execute()
        found = assigned.results()["PCE_AB"].reindex(np.arange(1, len(links.tail) + 1))
        return np.nan_to_num(found.to_numpy(np.float64))

    return solve
