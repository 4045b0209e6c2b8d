"""The distance of a pair of vertices, and a shortest path: by a climb from each, which meet at a common ancestor."""

from typing import NamedTuple

import numpy as np

from .. import device as devices
from ..dtypes import distance_range, kernel_infinity, out_of_range
from ..kernels import hierarchy as hierarchy_kernels
from ..kernels import routes as route_kernels
from .lengths import Lengths
from .routes import Labels
from .structure import Structure


class Climbs(NamedTuple):
    """The climbs from both ends: labels by depth of the ancestor, and the depth where a path turns; -1 without one."""

    turn: int
    there: np.ndarray
    back: np.ndarray


def climbs(structure: Structure, lengths: Lengths, source: int, target: int) -> Climbs:
    """Climb from two ranks; `lengths` lie on the host."""
    tree = structure.tree
    there = np.empty(int(tree.depth[source]) + 1, lengths.up.dtype)
    back = np.empty(int(tree.depth[target]) + 1, lengths.up.dtype)
    kernels = hierarchy_kernels.on(devices.find("cpu"))
    turn = kernels.between(
        source, target, tree, structure.entries, lengths.up, lengths.down, lengths.nonnegative, there, back
    )
    return Climbs(int(turn), there, back)


def distance(structure: Structure, lengths: Lengths, labels: Labels | None, source: int, target: int) -> float:
    """Return the length of the shortest path between two ranks, from labels on the host if there are any.

    Raises
    ------
    DistanceOverflowError
        If it is out of range for the type of distances.
    """
    host = devices.find("cpu")
    if labels is None:
        parts = structure.tree, structure.entries, lengths.up, lengths.down
        found = hierarchy_kernels.on(host).length(source, target, *parts, lengths.nonnegative)
    else:
        found = route_kernels.on(host).between(source, target, *labels)
    if found >= kernel_infinity(lengths.up.dtype):
        return float("inf")
    if lengths.dtype.kind == "f":
        with np.errstate(over="ignore"):
            return float(lengths.dtype.type(found))
    least, greatest = distance_range(lengths.dtype, lengths.nonnegative)
    if not least <= found <= greatest:
        raise out_of_range(lengths.dtype, lengths.nonnegative)
    return int(found)


def path(structure: Structure, lengths: Lengths, source: int, target: int) -> list[int]:
    """Return the vertices of a shortest path between two ranks; empty where there is none."""
    turn, there, back = climbs(structure, lengths, source, target)
    if turn < 0:
        return []
    structure_parts = structure.tree, structure.entries, structure.lower, structure.upward, structure.downward
    ranks = hierarchy_kernels.on(devices.find("cpu")).unpacked(
        source, target, turn, *structure_parts, lengths.edges, lengths.up, lengths.down, there, back
    )
    found: dict[int, None] = {}  # an ordered set
    for vertex in structure.order[ranks].tolist():
        if vertex in found:  # after a cycle of length zero
            while next(reversed(found)) != vertex:
                found.popitem()
        found[vertex] = None
    return list(found)
