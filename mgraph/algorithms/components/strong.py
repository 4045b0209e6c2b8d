"""Strong components of a directed graph; ``kernels/strong.cu`` describes the algorithms."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...graph.vertex_range import Part
from ...kernels import components as components_kernels
from ...kernels import strong as strong_kernels
from ...kernels.edges import Adjacency
from ...planning.plan import Plan
from ...runtime.communicator import Communicator

#: Passes in which all cores label what has edges to labelled vertices only, before one core searches.
_TRIMS = 2


@dataclass
class StrongState:
    """The state; ``kernels/strong.cu`` describes the arrays.

    Attributes
    ----------
    labels : array of int32, shape (n,)
        A vertex of each vertex's component, or -1.
    marks : array of uint8, shape (2, n)
        Which vertices the pivot reaches, and which of these reach it.
    keys : array of uint32, shape (3, n)
        Classes, and the keys that reach a vertex and that it reaches; of shape (3, 0) where nothing is coloured.
    control : array of uint32, shape (2, words)
        What the blocks of the two cooperative kernels share.
    chosen, count : array of int32, shape (1,)
        The pivot, and the number of components.
    """

    device: devices.Device
    kernels: strong_kernels.Operations
    edges: Adjacency
    labels: Array
    marks: Array
    keys: Array
    control: Array
    chosen: Array
    count: Array
    finished: bool = False


class Strong:
    """Strong components of a directed graph, on one device."""

    facts: ClassVar[tuple[str, ...]] = ("count", "iterations")

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def load(self, shard: int, piece: Part, device: devices.Device) -> StrongState:
        """Return the state, with buffers that the first kernels initialise."""
        xp, n, kernels = device.xp, self.plan.n, strong_kernels.on(device)
        return StrongState(
            device=device,
            kernels=kernels,
            edges=piece.incident(device),
            labels=xp.empty(n, np.int32),
            marks=xp.empty((2, n), np.uint8),
            keys=xp.empty((3, n if self.plan.method == "colouring" else 0), np.uint32),
            control=xp.zeros((2, kernels.CONTROL_WORDS), np.uint32),
            chosen=xp.full(1, -1, np.int32),
            count=xp.zeros(1, np.int32),
        )

    def step(self, state: StrongState, first: int, limit: int, comm: Communicator) -> int:
        """Find the giant component, in the next superstep the others; all in one superstep on one core."""
        if state.finished or not self.plan.n:
            return 0
        if self.plan.method == "sequential":
            state.labels.fill(-1)
            _complete(state)
        elif first == 0:
            if len(state.edges[1]):
                state.kernels.pivot(*state.edges, state.chosen)
            forward, backward = state.marks
            state.kernels.find_giant(*state.edges, state.chosen, forward, backward, state.labels, state.control[0])
        elif self.plan.method == "multistep":
            for _ in range(_TRIMS):
                state.kernels.trim(*state.edges, state.labels)
            _complete(state)
        else:
            _colour(state)
        if state.finished:
            kernels = components_kernels.on(state.device)
            kernels.count_roots(0, self.plan.n, state.labels, state.count)
        return 1

    def collect(self, state: StrongState, comm: Communicator) -> dict[str, Array]:
        """Return the labels, the number of components, and of rounds of colouring, or 1."""
        rounds = int(state.control[1, state.kernels.ROUNDS]) if self.plan.method == "colouring" else 1
        return {
            "labels": state.labels,
            "count": devices.to_host(state.count),
            "iterations": np.array([rounds]),
        }


def _complete(state: StrongState) -> None:
    """Label the vertices without a label, on one core."""
    xp, n, (indptr, _) = state.device.xp, len(state.labels), state.edges
    numbers, stack, cursors = xp.empty(n, np.uint32), xp.empty(n, np.int32), xp.empty(n, indptr.dtype)
    state.kernels.complete(*state.edges, state.labels, numbers, stack, cursors, state.marks[0])
    state.finished = True


def _colour(state: StrongState) -> None:
    """Label the vertices without a label by colouring; then every label becomes the least vertex that has it."""
    classes, reached, reaches = state.keys
    state.kernels.colour(*state.edges, state.marks[0], state.labels, classes, reached, reaches, state.control[1])
    kernels, names, spare = components_kernels.on(state.device), classes.view(np.int32), reached.view(np.int32)
    kernels.initialise(names, spare)
    kernels.least(state.labels, names)
    kernels.rename(names, state.labels)
    state.finished = True
