"""Strong components by SciPy, on one core of a CPU.

D. J. Pearce, "An improved algorithm for finding the strongly connected components of a directed graph", 2005.
"""

import numpy as np

from ... import device as devices
from ... import lazy
from ...arrays import Array
from ...graph.vertex_range import Part
from ...planning.plan import Plan
from ...runtime.communicator import Communicator


class Strong:
    """Strong components of a directed graph by SciPy, on one core of a CPU."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def load(self, shard: int, piece: Part, device: devices.Device) -> dict[str, Array]:
        """Return the state: the edges, to which `step` adds the labels."""
        n, (indptr, indices) = self.plan.n, piece.adjacency("csr", device)
        marks = lazy.sparse().csr_array((np.ones(len(indices), bool), indices, indptr), shape=(n, n), copy=True)
        marks.sum_duplicates()  # SciPy's search does not end with repeated edges
        return {"marks": marks}

    def step(self, state: dict[str, Array], first: int, limit: int, comm: Communicator) -> int:
        """Find all components."""
        if "labels" in state:
            return 0
        count, found = lazy.csgraph().connected_components(state["marks"], connection="strong")
        # The first vertex with a label is the smallest of its component.
        _, smallest = np.unique(found, return_index=True)
        state |= {"labels": smallest.astype(np.int32)[found], "count": np.array([count])}
        return 1

    def collect(self, state: dict[str, Array], comm: Communicator) -> dict[str, Array]:
        """Return the labels and their number."""
        return {"labels": state["labels"], "count": state["count"], "iterations": np.ones(1, int)}
