"""A hierarchy on the device that computes: its structure as the kernels take it."""

from typing import NamedTuple

import numpy as np

from .. import device as devices
from ..arrays import Array
from ..kernels import hierarchy as hierarchy_kernels
from ..kernels.hierarchy.ops import Entries, Lower, Operations, Placed, Tree
from .structure import Structure


class OnDevice(NamedTuple):
    """The structure of a hierarchy on a device, how customization divides the vertices there, and each one's rank.

    `mirror` has an array of the edge back of each edge; it is empty if some edges have none.
    """

    device: devices.Device
    tree: Tree
    entries: Entries
    lower: Lower
    upward: Placed
    downward: Placed
    stages: tuple[Array, ...]
    rank: Array
    mirror: tuple[Array, ...]

    @property
    def kernels(self) -> Operations:
        """The operations of the device."""
        return hierarchy_kernels.on(self.device)


def placed(structure: Structure, device: devices.Device) -> OnDevice:
    """Return a structure on a device."""

    def moved(part: tuple[Array, ...]) -> tuple[Array, ...]:
        return tuple(device.asarray(array) for array in part)

    return OnDevice(
        device,
        Tree(*moved(structure.tree)),
        Entries(*moved(structure.entries)),
        Lower(*moved(structure.lower)),
        Placed(*moved(structure.upward)),
        Placed(*moved(structure.downward)),
        moved(hierarchy_kernels.on(device).stages(structure.tree, structure.entries)),
        device.asarray(structure.rank),
        moved(_mirror(structure)),
    )


def _mirror(structure: Structure) -> tuple[np.ndarray, ...]:
    """Return the edge back of each edge; of parallel edges one of them, of a loop itself."""
    (_, there, up), (_, back, down) = structure.upward, structure.downward
    if not np.array_equal(there, back):
        return ()
    mirror = np.arange(len(up) + len(down) + len(structure.loops), dtype=up.dtype)
    mirror[up], mirror[down] = down, up
    return (mirror,)
