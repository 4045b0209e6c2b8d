"""The nearest source of each vertex, of equally near ones the least, from finished distances and predecessors.

A vertex's sources are those of the vertices before it on its shortest paths. The predecessors are a tree, in which
jumps of doubling length find each vertex's root (Wyllie's pointer jumping). Other shortest paths may lead from lesser
sources: a round takes the least source over all tight edges, and then along the tree by the same jumps. Rounds end when
no shard's labels fall. So there are about as many as a path has edges off the tree, not as many as it has vertices.
"""

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...dtypes import NO_PREDECESSOR
from ...graph import Compressed
from ...planning.cut import Ranges
from ...runtime.communicator import Communicator

#: Bytes that it takes for each edge into a shard's vertices, and for each vertex of the graph.
AN_EDGE, A_VERTEX = 29, 40


def nearest_sources(
    device: devices.Device,
    edges: Compressed,
    distances: Array,
    parents: Array,
    sources: Array,
    ranges: Ranges,
    comm: Communicator,
) -> Array:
    """Return the nearest source of each of a shard's vertices as int32; -9999 where there is none.

    Parameters
    ----------
    device : Device
        Where the arrays are.
    edges : Compressed
        The edges by source, only those into the shard's vertices; the weight of a tight one is 1, of others more.
    distances : array, shape (n,)
        The distances of all vertices; the kernels' infinity where unreached.
    parents : array of int32, shape (last - first,)
        The predecessors of the shard's vertices.
    sources : array of int32
        The sources, each once.
    ranges : tuple of (int, int)
        The vertices of each shard.
    comm : Communicator
        Its rank is the shard's number.
    """
    xp, n = device.xp, len(distances)
    first, last = ranges[comm.rank]
    before = xp.empty(n, np.int32)
    before[first:last] = parents
    comm.allgather(before, ranges)
    everyone = xp.arange(n, dtype=np.int32)
    before = xp.where(before < 0, everyone, before)
    label = xp.full(n, n, np.int32)
    roots = sources[distances[sources] == 0]  # not those that a path of negative weight leads to
    label[roots] = roots
    tight = xp.flatnonzero(edges.weights == 1)
    begin, ends = xp.searchsorted(edges.indptr, tight, side="right") - 1, edges.indices[tight]
    fell = xp.ones(1, np.int32)
    while int(fell[0]):
        old = label.copy()
        jump = before
        for _ in range(n.bit_length()):  # where rounding made a cycle, jumps never end at a root
            label = xp.minimum(label, label[jump])
            further = jump[jump]
            if bool((further == jump).all()):
                break
            jump = further
        xp.minimum.at(label, ends, label[begin])
        comm.allgather(label, ranges)
        fell[0] = bool((label[first:last] < old[first:last]).any())
        comm.allreduce(fell, "max")
    own = label[first:last]
    return xp.where(own < n, own, np.int32(NO_PREDECESSOR))
