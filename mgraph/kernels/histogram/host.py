"""Counts in bins."""

from ...device.numba import prange
from ...device.numba.bins import place_of, places_in_one
from ...device.numba.caching import njit


@njit(parallel=True, nogil=True, cache=True)
def count(distances, limits, counts):
    low, high, in_one = limits[0], limits[-1], places_in_one(limits)
    for row in prange(len(distances)):
        for d in distances[row]:
            if low < d <= high:
                counts[row, place_of(d, limits, in_one) - 1] += 1
