"""Places of numbers among ascending limits: computed where limits are about equally far apart, else searched for."""

import numpy as np

from .caching import njit


@njit(nogil=True, cache=True)
def places_in_one(limits):
    """Return how many places there are in one, for `place_of`; 0 where limits are not about equally far apart."""
    steps, low = len(limits) - 1, np.float64(limits[0])
    width = (np.float64(limits[steps]) - low) / steps if steps > 0 else 0.0
    even = 0.0 < width < np.inf
    for i in range(steps):
        even = even and abs(np.float64(limits[i]) - low - i * width) <= width
    return 1.0 / width if even else 0.0


@njit(nogil=True, cache=True)
def place_of(number, limits, in_one):
    """Return the first place whose limit is not less than a number, which does not exceed the last limit."""
    last = len(limits) - 1
    if in_one > 0.0:
        place = min(max(int((np.float64(number) - np.float64(limits[0])) * in_one), 0), last)
        while place > 0 and number <= limits[place - 1]:
            place -= 1
        while number > limits[place]:
            place += 1
        return place
    below, above = -1, last
    while above - below > 1:
        middle = (below + above) // 2
        if limits[middle] < number:
            below = middle
        else:
            above = middle
    return above
