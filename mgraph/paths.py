"""Paths of vertices, from predecessors."""

from . import device as devices
from .arrays import Array
from .dtypes import NO_PREDECESSOR
from .errors import Given, InputError, RoundingError


def endless() -> RoundingError:
    """Return the error for a path that does not end."""
    return RoundingError(
        "the path goes round a cycle whose weight rounding makes negative, unless predecessors were changed: use ",
        Given("method", "johnson"),
    )


def changed(name: str, vertex: int | tuple[int, int], value: object, n: int) -> InputError:
    """Return the error for an element of a result's array that is not one of n vertices, which no call returns."""
    return InputError(
        f"{name}[{vertex}] must be {NO_PREDECESSOR} or in [0, {n}), got {value}: the result was changed, so call again"
    )


def needed_for_paths(predecessors: Array | None, call: str) -> Array:
    """Return the predecessors of a call's result, or raise InputError if they were not requested."""
    if predecessors is None:
        raise InputError(f"path() needs the predecessors: call {call}(..., ", Given("predecessors", True), ")")
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
            raise endless()
        vertices.append(vertex)
        vertex = int(before[vertex])
    return vertices[::-1]
