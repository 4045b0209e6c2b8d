"""What a search prepares from a shard's edges, once for a graph."""

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...kernels import bfs as bfs_kernels


def prepared_edges(
    what: str | None, device: devices.Device, by_target: tuple[Array, Array], by_source: tuple[Array, Array]
) -> tuple[Array, Array]:
    """Return the heads and the quads; only the one named by `what` is not empty."""
    xp, kernels = device.xp, bfs_kernels.on(device)
    with device.active():
        heads = xp.empty(len(by_target[0]) - 1 if what == "heads" else 0, np.int32)
        if what == "heads":
            kernels.heads(*by_target, by_source[0], heads)
        return heads, kernels.quads(xp, *by_source) if what == "quads" else xp.empty((0, 4), np.int32)
