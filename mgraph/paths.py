"""Paths of vertices, from predecessors or from intermediate vertices."""

from typing import Any

from . import device as devices
from .arrays import Array
from .dtypes import NO_PREDECESSOR
from .errors import ArgumentValue, InputError, RoundingError

#: The most parts of a path that intermediate vertices may make, times the number of vertices.
PARTS = 64


def endless(array: str) -> RoundingError:
    """Return the error for a path that does not end, by an array of the result."""
    return RoundingError(
        f"the path goes round a cycle that rounding makes negative or too short to count, unless {array} were changed: "
        "use predecessors, with ",
        ArgumentValue("method", "johnson"),
    )


def changed(name: str, vertex: int | tuple[int, int], value: object, n: int) -> InputError:
    """Return the error for an element of a result's array that is not one of n vertices, which no call returns."""
    return InputError(
        f"{name}[{vertex}] must be {NO_PREDECESSOR} or in [0, {n}), got {value}: the result was changed, so call again"
    )


def needed_for_paths(predecessors: Array | None, call: str) -> Array:
    """Return the predecessors of a call's result, or raise InputError if they were not requested."""
    if predecessors is None:
        raise InputError(f"path() needs the predecessors: call {call}(..., ", ArgumentValue("predecessors", True), ")")
    return predecessors


def walked_back(predecessors: Array, vertex: int) -> list[int]:
    """Return the path to `vertex`, from a vertex without a predecessor; each vertex is the predecessor of the next.

    Raises
    ------
    RoundingError
        If the predecessors form a cycle.
    InputError
        If a predecessor is not a vertex.
    """
    before = devices.to_host(predecessors)
    vertices: list[int] = []
    while vertex != NO_PREDECESSOR:
        if not 0 <= vertex < len(before):
            raise changed("predecessors", vertices[-1], vertex, len(before))
        if len(vertices) == len(before):
            raise endless("predecessors")
        vertices.append(vertex)
        vertex = int(before[vertex])
    return vertices[::-1]


def unfolded_path(intermediate: Any, i: int, j: int, n: int) -> list[int]:
    """Return the path from `i` to `j`, which are connected: split at its highest intermediate vertex, as each part is.

    Where short edges vanish in long distances, parts may meet: the path then leaves out what leads back to a vertex.

    Raises
    ------
    RoundingError
        If the path is split again and again.
    InputError
        If an intermediate vertex is not one of the n vertices.
    """
    vertices, ahead = [i], [(i, j)]
    while ahead:
        if len(vertices) + len(ahead) > PARTS * n:
            raise endless("intermediate vertices")
        a, b = ahead.pop()
        between = int(intermediate[a, b])
        if between == NO_PREDECESSOR:
            vertices.append(b)
        elif not 0 <= between < n:
            raise changed("intermediate", (a, b), between, n)
        else:
            ahead += [(between, b), (a, between)]
    last = {vertex: place for place, vertex in enumerate(vertices)}
    path, place = [i], last[i] + 1
    while place < len(vertices):
        path.append(vertices[place])
        place = last[vertices[place]] + 1
    return path
