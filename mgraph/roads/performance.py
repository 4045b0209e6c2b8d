"""What a link costs when it carries a flow: the function of the Bureau of Public Roads, and fixed costs beside it [1]_.

The time of a link is ``free_flow_time * (1 + b * (flow / capacity) ** power)``. Three limits are taken as they are
meant: a power of 0 makes the time ``free_flow_time * (1 + b)`` at any flow; a link whose time does not grow (`b`,
`power` or `free_flow_time` is 0) needs no capacity; and a link whose time grows, with a capacity of 0, is closed, as is
one whose free-flow time is infinite.

References
----------
.. [1] Bureau of Public Roads, "Traffic assignment manual", U.S. Department of Commerce, 1964.
"""

from typing import NamedTuple

import numpy as np

#: Whole powers up to this are computed by products, which is much faster.
_PRODUCT = 16

#: The least ratio of flow and capacity at which a slope is taken: with a power below 1 it is infinite at 0.
_LEAST_RATIO = 1e-9


class Links(NamedTuple):
    """The links of a network, in their order.

    Attributes
    ----------
    tail, head : array of int32, shape (m,)
        The nodes that each leads from and to, numbered from 0.
    free_flow_time, b, power, capacity : array of float64, shape (m,)
        What its time depends on; numbers of 0 or more.
    length, toll : array of float64, shape (m,)
        What a generalized cost adds.

    Examples
    --------
    >>> import numpy as np
    >>> from mgraph import roads
    >>> columns = np.array([[4, 4], [0.15, 0.15], [4, 4], [10, 20], [5, 7], [0, 0]])
    >>> links = roads.Links(np.array([0, 0]), np.array([1, 1]), *columns)
    >>> links.capacity.tolist()
    [10.0, 20.0]
    """

    tail: np.ndarray
    head: np.ndarray
    free_flow_time: np.ndarray
    b: np.ndarray
    power: np.ndarray
    capacity: np.ndarray
    length: np.ndarray
    toll: np.ndarray


class Performance:
    """The costs of links as functions of their flows.

    Parameters
    ----------
    links : Links
        The links, numbers that are checked.
    toll_factor, distance_factor : float
        What a unit of toll and of length costs, in units of time.

    Attributes
    ----------
    fixed : array, shape (m,)
        The cost of each link without traffic; ``inf`` of a link that is closed.
    """

    def __init__(self, links: Links, toll_factor: float = 0.0, distance_factor: float = 0.0) -> None:
        with np.errstate(divide="ignore", over="ignore"):
            per_capacity = 1 / links.capacity
        grows = (links.b > 0) & (links.power > 0) & (links.free_flow_time > 0)
        closed = (grows & np.isinf(per_capacity)) | np.isinf(links.free_flow_time)
        grows &= ~closed
        time = np.where(closed, 0, links.free_flow_time)
        self.fixed = time + toll_factor * links.toll + distance_factor * links.length
        constant = links.power == 0
        self.fixed[constant] += (time * links.b)[constant]
        self.fixed[closed] = np.inf
        self._rate = np.where(grows, time * links.b, 0)
        self._per_capacity = np.where(grows, per_capacity, 0)
        self._power = np.where(grows, links.power, 1)
        whole = (self._power == np.floor(self._power)) & (self._power <= _PRODUCT)
        powers = np.unique(self._power[whole]).astype(int).tolist()
        self._whole: list[tuple[int, np.ndarray | slice]] = [(k, np.flatnonzero(self._power == k)) for k in powers]
        if len(powers) == 1 and whole.all():
            self._whole = [(powers[0], slice(None))]
        self._other = np.flatnonzero(~whole)

    def costs(self, flows: np.ndarray) -> np.ndarray:
        """Return the cost of each link that carries a flow."""
        return self.fixed + self._rate * self._raised(flows * self._per_capacity, 0)

    def slopes(self, flows: np.ndarray) -> np.ndarray:
        """Return how much each cost grows with a unit of flow."""
        ratio = np.maximum(flows * self._per_capacity, _LEAST_RATIO)
        return self._rate * self._power * self._per_capacity * self._raised(ratio, 1)

    def _raised(self, ratio: np.ndarray, less: int) -> np.ndarray:
        """Return each ratio to the power of its link, or to one less."""
        result = np.empty_like(ratio)
        for power, where in self._whole:
            result[where] = _product(ratio[where], power - less)
        result[self._other] = ratio[self._other] ** (self._power[self._other] - less)
        return result


def _product(base: np.ndarray, power: int) -> np.ndarray:
    """Return a whole power of numbers."""
    result, square = np.ones_like(base), base
    while power:
        if power & 1:
            result = result * square
        power >>= 1
        if power:
            square = square * square
    return result
