"""User equilibrium by the biconjugate method of Frank and Wolfe.

An iteration assigns all demand to the routes that are cheapest at the costs of now, all or nothing, and moves the flows
towards a mean of the last three such assignments. The weights make the direction conjugate to the two before it, in
the metric of the costs' slopes [1]_; the first direction of a run is that of Frank and Wolfe, the second conjugate to
it [1]_. The length of the step is where the directional derivative of Beckmann's objective is zero [2]_.

The vertices are eliminated once. Each iteration customizes the hierarchy for its costs and has it load the demand, as
Buchhold, Sanders and Wagner do [3]_.

References
----------
.. [1] M. Mitradjieva and P. O. Lindberg, "The stiff is moving: conjugate direction Frank-Wolfe methods with
   applications to traffic assignment", Transportation Science, 2013.
.. [2] M. Beckmann, C. B. McGuire and C. B. Winsten, "Studies in the economics of transportation", 1956.
.. [3] V. Buchhold, P. Sanders and D. Wagner, "Real-time traffic assignment using engineered customizable contraction
   hierarchies", 2019.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..errors import InputError
from .performance import Performance

#: The least share that the newest assignment has in a direction, so that it does not stall: that of [1]_.
_NEWEST = 0.01

#: A step that is nearer to 1 than this ends a run of conjugate directions: it leaves nothing of the point before.
_WHOLE = 1e-9

#: Steps of the search for a step's length at most; Newton's method takes some six.
_SEARCHES = 60

#: Called with how many iterations are done, and the relative gap.
Progress = Callable[[int, float], object]

#: Returns the flows if all demand takes the cheapest routes at these costs.
Loading = Callable[[np.ndarray], np.ndarray]


class Equilibrium(NamedTuple):
    """Flows, their costs, and the relative gap of each iteration."""

    flows: np.ndarray
    costs: np.ndarray
    gaps: np.ndarray


class _Past(NamedTuple):
    """The last targets of a run of conjugate directions, newest first, and the last step's length."""

    targets: tuple[np.ndarray, ...] = ()
    step: float = 0.0


def equilibrium(
    performance: Performance, load: Loading, gap: float, iterations: int, progress: Progress | None
) -> Equilibrium:
    """Return flows at which no traveller gains by another route, up to a relative gap.

    Parameters
    ----------
    performance : Performance
        The costs, of links that are open.
    load : callable
        Assigns the demand all or nothing.
    gap : float
        The relative gap at which to end.
    iterations : int
        The most iterations.
    progress : callable or None
        Told of each iteration.

    Raises
    ------
    InputError
        If the costs are beyond the range of floats.
    """
    flows, gaps, past = load(performance.fixed), [], _Past()
    while True:
        costs = performance.costs(flows)
        total = _dot(costs, flows)
        if not np.isfinite(total):
            raise InputError("the costs of links exceed the range of floats: are there capacities near 0?")
        newest = load(costs)
        gaps.append(max(0.0, (total - _dot(costs, newest)) / total) if total > 0 else 0.0)
        if progress is not None:
            progress(len(gaps), gaps[-1])
        if gaps[-1] <= gap or len(gaps) >= iterations:
            return Equilibrium(flows, costs, np.array(gaps))
        past = _target(flows, newest, past, performance.slopes(flows), costs)
        way = past.targets[0] - flows
        past = past._replace(step=_step(performance, flows, way))
        flows = np.maximum(flows + past.step * way, 0)


def _target(flows: np.ndarray, newest: np.ndarray, past: _Past, slopes: np.ndarray, costs: np.ndarray) -> _Past:
    """Return the past with the point to move to, which is a mean of the newest assignment and the last two points."""
    if past.targets and past.step < 1 - _WHOLE:
        mean = _conjugate if len(past.targets) == 1 else _biconjugate
        point = mean(flows, newest, past, slopes)
        if _dot(costs, point - flows) < 0:
            return _Past((point, past.targets[0]))
    return _Past((newest,))


def _conjugate(flows: np.ndarray, newest: np.ndarray, past: _Past, slopes: np.ndarray) -> np.ndarray:
    """Return the point whose direction is conjugate to the last one."""
    before = past.targets[0]
    weighted = slopes * (before - flows)
    above, below = _dot(weighted, newest - flows), _dot(weighted, newest - before)
    share = float(np.clip(above / below, 0, 1 - _NEWEST)) if below else 0.0
    return share * before + (1 - share) * newest


def _biconjugate(flows: np.ndarray, newest: np.ndarray, past: _Past, slopes: np.ndarray) -> np.ndarray:
    """Return the point whose direction is conjugate to the last two."""
    (one, two), step = past.targets, past.step
    toward, last = newest - flows, one - flows
    older = step * one + (1 - step) * two - flows
    weighted, weighted_older = slopes * last, slopes * older
    curved, curved_older = _dot(weighted, last), _dot(weighted_older, two - one)
    if not (curved and curved_older):
        return newest
    mu = max(0.0, -_dot(weighted_older, toward) / curved_older)
    nu = max(0.0, mu * step / (1 - step) - _dot(weighted, toward) / curved)
    share = 1 / (1 + mu + nu)
    if share < _NEWEST:
        mu, nu = (each * (1 / _NEWEST - 1) / (mu + nu) for each in (mu, nu))
        share = _NEWEST
    return share * (newest + nu * one + mu * two)


def _dot(one: np.ndarray, other: np.ndarray) -> float:
    """Return the sum of products, the same for any number of cores."""
    return float((one * other).sum())


def _step(performance: Performance, flows: np.ndarray, way: np.ndarray) -> float:
    """Return the step along a way at which the objective is least, in [0, 1], by Newton's method between bounds."""

    def derivative(step: float) -> tuple[float, np.ndarray]:
        there = np.maximum(flows + step * way, 0)
        return _dot(way, performance.costs(there)), there

    if derivative(1.0)[0] <= 0:
        return 1.0
    low, high, step = 0.0, 1.0, 0.5
    for _ in range(_SEARCHES):
        value, there = derivative(step)
        if value == 0:
            return step
        low, high = (step, high) if value < 0 else (low, step)
        slope = _dot(way, performance.slopes(there) * way)
        following = step - value / slope if slope > 0 else low
        if not low < following < high:
            following = (low + high) / 2
        if abs(following - step) <= 1e-14 * step or not low < following < high:
            return following
        step = following
    return step
