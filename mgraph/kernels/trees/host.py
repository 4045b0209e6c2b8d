"""Random trees, grown vertex by vertex, after K. Yogaratnam's generator (2010)."""

import numpy as np

from ...device.numba.caching import njit


@njit(nogil=True, cache=True)
def grow(draws, k, vertices, parents):
    count = len(vertices) - len(draws)
    children = np.zeros(len(vertices), np.int32)
    for root in range(count):
        vertices[root] = root
    able = count  # vertices that may have a further child, in any order
    for i in range(len(draws)):
        place = int(draws[i] * able)
        parent = vertices[place]
        parents[i] = parent
        children[parent] += 1
        if children[parent] == k:
            able -= 1
            vertices[place] = vertices[able]
        vertices[able] = count + i
        able += 1
