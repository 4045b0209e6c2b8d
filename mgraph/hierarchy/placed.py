"""A hierarchy on the device that computes: its structure as the kernels take it."""

from typing import NamedTuple

from .. import device as devices
from ..arrays import Array
from ..kernels import hierarchy as hierarchy_kernels
from ..kernels.hierarchy.ops import Entries, Lower, Operations, Placed, Tree
from .structure import Structure


class OnDevice(NamedTuple):
    """The structure of a hierarchy on a device, how customization divides the vertices there, and each one's rank."""

    device: devices.Device
    tree: Tree
    entries: Entries
    lower: Lower
    upward: Placed
    downward: Placed
    stages: tuple[Array, ...]
    rank: Array

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
    )
