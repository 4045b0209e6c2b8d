"""Linked lists in random order, for list ranking."""

import math

import numpy as np

from .. import device as devices
from ..arguments import checked_integer
from ..arrays import Array
from ..dtypes import MAX_ELEMENTS
from .parts import EDGES_AT_A_TIME


def linked_list(n: int, *, seed: int = 0, device: str | None = None) -> Array:
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
        The device on which the list lives; by default the CPU.

    Returns
    -------
    array of int32, shape (n,)
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
    """
    n = checked_integer("n", n, 0, MAX_ELEMENTS)
    dtype = np.dtype(np.int32 if n < 2**31 else np.int64)
    seed = checked_integer("seed", seed, 0)
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


def drawn_rounds(n: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Draw the round functions of a permutation of the numbers below `n`: two for each digit."""
    base = math.isqrt(max(n - 1, 0)) + 1  # of the low digit: the square root, rounded up
    rest = max(1, -(-n // base))  # values of the high digit
    random = np.random.default_rng(seed)
    return [(random.integers(0, base, rest, np.uint32), random.integers(0, rest, base, np.uint32)) for _ in range(2)]


def permuted(numbers: Array, n: int, rounds: list[tuple[Array, Array]]) -> Array:
    """Permute numbers of uint32 below `n`; a result of `n` or more is permuted again until it is below `n`."""
    permuted = _two_digits_permuted(numbers, rounds)
    beyond = (permuted >= np.uint32(n)).nonzero()[0]
    while len(beyond):
        permuted[beyond] = _two_digits_permuted(permuted[beyond], rounds)
        beyond = beyond[permuted[beyond] >= np.uint32(n)]
    return permuted


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
