"""Counts in bins. Of bins of about equal widths, that of a distance is computed, and it or one beside it is right."""

import numpy as np

from ...device.numba import prange
from ...device.numba.caching import njit


@njit(parallel=True, nogil=True, cache=True)
def count(distances, limits, counts):
    """Add to `counts` how many distances of each row are in each bin."""
    bins, low, high = len(limits) - 1, limits[0], limits[-1]
    width = (np.float64(high) - np.float64(low)) / bins
    even = width > 0.0 and width < np.inf
    for i in range(bins):
        even = even and abs(np.float64(limits[i]) - np.float64(low) - i * width) <= width
    for row in prange(len(distances)):
        for d in distances[row]:
            if low < d <= high:
                if even:
                    place = min(max(int((np.float64(d) - np.float64(low)) / width), 0), bins - 1)
                    while d <= limits[place]:
                        place -= 1
                    while d > limits[place + 1]:
                        place += 1
                else:
                    place, above = 0, bins
                    while above - place > 1:
                        middle = (place + above) // 2
                        if limits[middle] < d:
                            place = middle
                        else:
                            above = middle
                counts[row, place] += 1
