"""Linked lists in random order, for list ranking."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np

from .. import device as devices
from ..arguments import checked_integer
from ..arrays import Array
from ..dtypes import MAX_ELEMENTS
from ..planning.cut import even_ranges
from ..planning.devices import DeviceSpec, rates_of
from ..planning.fit import fitted
from ..planning.plan import Detail, Plan
from ..runtime.communicator import Communicator
from ..runtime.program import Program
from .parts import EDGES_AT_A_TIME
from .workers import cluster_of, computed

if TYPE_CHECKING:
    from distributed import Client

    from ..runtime.dask import DistributedVector


@overload
def linked_list(
    n: int,
    *,
    seed: int = 0,
    device: str | None = None,
    client: None = None,
    workers: None = None,
    worker_timeout: None = None,
    wait_for_workers: None = None,
) -> Array: ...


@overload
def linked_list(
    n: int,
    *,
    seed: int = 0,
    device: str | None = None,
    client: "Client",
    workers: Sequence[str | int] | None = None,
    worker_timeout: float | str | None = None,
    wait_for_workers: int | None = None,
) -> "DistributedVector": ...


def linked_list(
    n: int,
    *,
    seed: int = 0,
    device: str | None = None,
    client: Any = None,
    workers: Sequence[str | int] | None = None,
    worker_timeout: float | str | None = None,
    wait_for_workers: int | None = None,
) -> Any:
    """Return one list of all elements in random order, for `mgraph.list_rank` [2]_.

    The order is a pseudo-random permutation, computed for each place independently. It is a Feistel network of four
    rounds on the two digits of the place, in a base of about the square root of `n`; a result of `n` or more is
    permuted again [1]_.

    Parameters
    ----------
    n : int
        Number of elements.
    seed : int
        The same arguments give the same list, on every device.
    device : {"cpu", "cuda", "cuda:N"}, optional
        The device on which the list lives; by default the CPU. With `client`, the kind of its workers' devices.
    client : distributed.Client, optional
        Make the list on the workers of this client, each its range of the elements.
    workers : sequence of str or int, optional
        The client's workers to use, by address or name, as of `mgraph.DistributedGraph.from_graph`.
    worker_timeout : float or str, optional
        With `client`, seconds that a worker may be silent before the call ends.
    wait_for_workers : int, optional
        With `client`, the number of workers to wait for, as of calls with ``client=``.

    Returns
    -------
    array of int32, shape (n,), or a `mgraph.cluster.DistributedVector`
        The element after each; the last is followed by itself. From 2**31 elements on, int64.

    See Also
    --------
    mgraph.list_rank : The distance of each element to the last.

    References
    ----------
    .. [1] J. Black and P. Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002: the generalized Feistel
       cipher, with cycle walking.
    .. [2] Yogaratnam, a study of list ranking and connected components on GPUs, 2010: random lists of 1 to 64 million.

    Examples
    --------
    >>> import mgraph
    >>> mgraph.generate.linked_list(5).tolist()
    [3, 4, 2, 1, 2]

    On the workers of a Dask client:

    >>> from distributed import Client
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     succ = mgraph.generate.linked_list(5, client=client, device="cpu")
    ...     mgraph.list_rank(succ).ranks.to_numpy().tolist()
    [4, 2, 0, 3, 1]
    """
    n = checked_integer("n", n, 0, MAX_ELEMENTS)
    dtype = np.dtype(np.int32 if n < 2**31 else np.int64)
    seed = checked_integer("seed", seed, 0)
    there = cluster_of(client, device, workers, worker_timeout, wait_for_workers)
    if there is not None:
        return computed("succ", partial(_planned, n, seed, dtype), there)
    place = devices.find("cpu" if device is None else device)
    devices.check_free_memory(f"a list of {n:,} elements", n * dtype.itemsize, place, "make a smaller one")
    at_a_time = EDGES_AT_A_TIME[place.kind]
    with place.active():
        xp = place.xp
        rounds = [(place.asarray(of_high), place.asarray(of_low)) for of_high, of_low in drawn_rounds(n, seed)]
        succ = xp.empty(n, dtype)
        for first in range(0, n, at_a_time):
            places = xp.arange(first, min(n, first + at_a_time) + 1, dtype=np.uint32)
            order = permuted(xp.minimum(places, np.uint32(n - 1)), n, rounds)
            xp.put(succ, order[:-1], order[1:], mode="wrap")  # CuPy assigns to 2**31 elements in no other way
        return succ


@dataclass(frozen=True)
class ListDetail(Detail):
    """No fields; only names differ."""

    noun: ClassVar[str] = "elements"
    values: ClassVar[str] = "successors"


def _planned(n: int, seed: int, dtype: np.dtype, specs: tuple[DeviceSpec, ...]) -> tuple[Program, Plan]:
    """Return the program and the plan that make a list on some devices."""
    ranges = even_ranges(n, len(specs), 1)
    at_a_time = EDGES_AT_A_TIME[specs[0].kind]
    # The part of the list; some elements with their places; the tables of the permutation, and what it takes.
    peaks = tuple(
        dtype.itemsize * (last - first) + 64 * min(last - first, at_a_time) + 16 * (math.isqrt(n) + 1)
        for first, last in ranges
    )
    plan = Plan(
        algorithm="linked_list",
        method="permutation",
        n=n,
        dtype=dtype.name,
        ranges=ranges,
        devices=specs,
        steps=1,
        span=1,
        peak_bytes=peaks,
        seconds=max(last - first for first, last in ranges) / (4 * rates_of(specs[0]).search),
        detail=ListDetail(),
    )
    return Listing(fitted(plan, None), seed), plan


@dataclass
class Elements:
    """A shard's state: its part of the list, once it is made."""

    device: devices.Device
    succ: Any = None


class Listing:
    """A linked list, made over ranges of the elements in one superstep."""

    facts: ClassVar[tuple[str, ...]] = ()

    def __init__(self, plan: Plan, seed: int) -> None:
        self.plan = plan
        self.seed = seed

    def load(self, shard: int, piece: None, device: devices.Device) -> Elements:
        """Return the shard with nothing."""
        return Elements(device)

    def step(self, state: Elements, first: int, limit: int, comm: Communicator) -> int:
        """Find the place of each of the shard's elements, and the element in the next place."""
        if first:
            return 0
        device, n, (start, end) = state.device, self.plan.n, self.plan.ranges[comm.rank]
        xp, at_a_time = device.xp, EDGES_AT_A_TIME[device.kind]
        rounds = [(device.asarray(of_high), device.asarray(of_low)) for of_high, of_low in drawn_rounds(n, self.seed)]
        state.succ = xp.empty(end - start, self.plan.dtype)
        for begin in range(start, end, at_a_time):
            elements = xp.arange(begin, min(end, begin + at_a_time), dtype=np.uint32)
            following = xp.minimum(unpermuted(elements, n, rounds) + np.uint32(1), np.uint32(n - 1))
            state.succ[begin - start : begin - start + len(elements)] = permuted(following, n, rounds)
        return 1

    def collect(self, state: Elements, comm: Communicator) -> dict[str, Array]:
        """Return the shard's part of the list."""
        return {"succ": state.succ}


def drawn_rounds(n: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Draw the round functions of a permutation of the numbers below `n`: two for each digit."""
    base = math.isqrt(max(n - 1, 0)) + 1  # of the low digit: the square root, rounded up
    rest = max(1, -(-n // base))  # values of the high digit
    random = np.random.default_rng(seed)
    return [(random.integers(0, base, rest, np.uint32), random.integers(0, rest, base, np.uint32)) for _ in range(2)]


def permuted(numbers: Array, n: int, rounds: list[tuple[Array, Array]]) -> Array:
    """Permute numbers of uint32 below `n`; a result of `n` or more is permuted again until it is below `n`."""
    return _walked(_two_digits_permuted, numbers, n, rounds)


def unpermuted(numbers: Array, n: int, rounds: list[tuple[Array, Array]]) -> Array:
    """Return the numbers of which `permuted` makes these."""
    return _walked(_two_digits_unpermuted, numbers, n, rounds)


def _walked(
    step: Callable[[Array, list[tuple[Array, Array]]], Array], numbers: Array, n: int, rounds: list[tuple[Array, Array]]
) -> Array:
    """Apply a permutation of two digits until all results are below `n`."""
    found = step(numbers, rounds)
    beyond = (found >= np.uint32(n)).nonzero()[0]
    while len(beyond):
        found[beyond] = step(found[beyond], rounds)
        beyond = beyond[found[beyond] >= np.uint32(n)]
    return found


def _two_digits_permuted(numbers: Array, rounds: list[tuple[Array, Array]]) -> Array:
    """Permute numbers of two digits: add to each digit in turn a random function of the other, modulo its base."""
    base, rest = (np.uint32(len(table)) for table in reversed(rounds[0]))
    high = numbers // base
    low = numbers - high * base
    for of_high, of_low in rounds:
        low += of_high[high]
        low %= base
        high += of_low[low]
        high %= rest
    return high * base + low


def _two_digits_unpermuted(numbers: Array, rounds: list[tuple[Array, Array]]) -> Array:
    """Invert `_two_digits_permuted`: subtract what it added, the last first."""
    base, rest = (np.uint32(len(table)) for table in reversed(rounds[0]))
    high = numbers // base
    low = numbers - high * base
    for of_high, of_low in reversed(rounds):
        high += rest - of_low[low]
        high %= rest
        low += base - of_high[high]
        low %= base
    return high * base + low
