"""Strong components of a directed graph; ``kernels/strong.cu`` describes the algorithms."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...graph.vertex_range import Part
from ...kernels import components as components_kernels
from ...kernels import strong as strong_kernels
from ...kernels.edges import Adjacency
from ...planning.plan import Plan
from ...runtime.communicator import Communicator

#: The most rounds of the searches for the giant component, of which the second may read edges in each round again.
#: Where there are long paths, other steps are faster. Levels are kept in bytes.
MOST_ROUNDS, MOST_PULLS = 64, 16


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
    chosen, active, count : array of int32, shape (1,)
        The pivot, whether a pass changed anything, and the number of components.
    """

    device: devices.Device
    kernels: strong_kernels.Operations
    edges: Adjacency
    labels: Array
    marks: Array
    keys: Array
    chosen: Array
    active: Array
    count: Array
    rounds: int = 1
    finished: bool = False

    def changes(self, operation: Callable[..., None], *arguments: Any) -> bool:
        """Run an operation whose last argument is `active`; return whether it changed anything."""
        self.active.fill(0)
        operation(*arguments, self.active)
        return bool(int(self.active[0]))


class Strong:
    """Strong components of a directed graph, on one device."""

    facts: ClassVar[tuple[str, ...]] = ("count", "iterations")

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def load(self, shard: int, piece: Part, device: devices.Device) -> StrongState:
        """Return the state, with buffers that the first superstep initialises."""
        xp, n = device.xp, self.plan.n
        chosen, active, count = xp.zeros((3, 1), np.int32)
        return StrongState(
            device=device,
            kernels=strong_kernels.on(device),
            edges=piece.incident(device),
            labels=xp.empty(n, np.int32),
            marks=xp.empty((2, n), np.uint8),
            keys=xp.empty((3, n if self.plan.method == "colouring" else 0), np.uint32),
            chosen=chosen,
            active=active,
            count=count,
        )

    def step(self, state: StrongState, first: int, limit: int, comm: Communicator) -> int:
        """Find the giant component, and the others on one core; or the others by a round of colouring a superstep."""
        if state.finished or not self.plan.n:
            return 0
        if self.plan.method == "sequential":
            state.labels.fill(-1)
            _complete(state)
        elif first == 0:
            _find_giant(state)
            if self.plan.method == "multistep":
                _complete(state)
            else:
                state.kernels.start(state.marks[0], state.labels, *state.keys)
        else:
            state.rounds = first
            _colour(state)
        if state.finished:
            kernels = components_kernels.on(state.device)
            kernels.count_roots(0, self.plan.n, state.labels, state.count)
        return 1

    def collect(self, state: StrongState, comm: Communicator) -> dict[str, Array]:
        """Return the labels, the number of components, and of rounds."""
        return {
            "labels": state.labels,
            "count": devices.to_host(state.count),
            "iterations": np.array([state.rounds]),
        }


def _find_giant(state: StrongState) -> None:
    """Label the component of a pivot with its least vertex, or nothing if its paths are long."""
    k, (forward, backward) = state.kernels, state.marks
    state.marks.fill(0)
    if len(state.edges[1]):
        k.pivot(*state.edges, state.chosen)
        state.marks[:, int(state.chosen[0])] = 1
        ends = any(not state.changes(k.push, *state.edges, level, forward) for level in range(1, MOST_ROUNDS))
        if not ends or all(state.changes(k.pull, *state.edges, forward, backward) for _ in range(MOST_PULLS)):
            state.marks.fill(0)
    k.divide(forward, backward, int(backward.argmax()), state.labels)


def _complete(state: StrongState) -> None:
    """Label the vertices without a label, on one core."""
    xp, n, (indptr, _) = state.device.xp, len(state.labels), state.edges
    numbers, stack, cursors = xp.empty(n, np.uint32), xp.empty(n, np.int32), xp.empty(n, indptr.dtype)
    state.kernels.complete(*state.edges, state.labels, numbers, stack, cursors, state.marks[0])
    state.finished = True


def _colour(state: StrongState) -> None:
    """Spread the keys until they are final, and label the vertices whose keys are the same."""
    k, (classes, reached, reaches) = state.kernels, state.keys
    while state.changes(k.spread, *state.edges, classes, reached, reaches):
        k.jump(classes, reached, reaches)
    state.finished = not state.changes(k.settle, classes, reached, reaches, state.labels)
    if state.finished:  # the labels become the least vertices
        kernels, names, spare = components_kernels.on(state.device), classes.view(np.int32), reached.view(np.int32)
        kernels.initialise(names, spare)
        kernels.least(state.labels, names)
        kernels.rename(names, state.labels)
