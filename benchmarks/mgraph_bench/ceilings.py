"""Measured ceilings of a device: the roofs of a roofline.

Three rates bound the algorithms: sums and minima in registers, random reads of a table inside or outside a cache, and
sequential memory traffic. A short kernel for each is timed (``kernels/ceilings.cu``). Two more figures answer questions
of the studies: what scattered reads of the splitters cost the aggregation of list ranking, and how fast a GPU exchanges
data with the host and with another GPU (`mgraph_bench.transfers`).
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mgraph import device as devices
from mgraph.kernels import ceilings as ceilings_kernels
from mgraph.kernels import list_rank as list_rank_kernels
from mgraph.measuring import each_seconds

from . import kernels, transfers

#: Measured variants of the (min, +) product: the type, and whether nothing is negative.
_MINPLUS = {
    "float32": (np.float32, False),
    "nonnegative": (np.float32, True),
    "int32": (np.int32, False),
    "int16": (np.int16, False),
    "float64": (np.float64, False),
}

#: Bytes of the tables that are read: from a core's nearest cache to beyond all caches.
_TABLES = tuple(1 << bits for bits in (15, 18, 21, 24, 27, 30, 33))

#: Work of a measurement, for some milliseconds: rounds, reads, and bytes of the largest table and of a copy. A quick
#: measurement does less, but enough that starting a launch or a thread is a small part of its time: otherwise cases of
#: a quick run, whose data lie in a cache, would be many times faster than their ceiling.
_EFFORT = {
    "cuda": (1 << 15, 1 << 27, 1 << 33, 1 << 30),
    "cpu": (1 << 17, 1 << 23, 1 << 27, 1 << 28),
}
_QUICK = {
    "cuda": (1 << 12, 1 << 26, 1 << 27, 1 << 28),
    "cpu": (1 << 14, 1 << 22, 1 << 24, 1 << 26),
}

#: Elements of a list of which the aggregation is measured, at most, and elements for each splitter.
_RANKED = {"cuda": 1 << 26, "cpu": 1 << 23}
_STRATUM = 1 << 9

#: Bytes that the aggregation of an element moves, as the thesis counts them: the packed word and the rank.
_OF_ELEMENT = 16

#: Returns the greatest rate of work that a device's measured ceilings allow. Its arguments are these, the type of the
#: distances, whether no weight is negative, and the number of vertices or elements.
Ceiling = Callable[[dict[str, Any], Any, bool, int], float]


def ceilings(device: devices.Device, quick: bool = False) -> dict[str, Any]:
    """Measure a device's ceilings, in a second or two on a GPU and a few on a CPU.

    Parameters
    ----------
    device : Device
        Of a CPU, all cores that Numba uses.
    quick : bool
        Measure for a fraction of a second, and small tables only: the figures are rougher.

    Returns
    -------
    dict
        ``"minplus"``: sums and minima a second, by the type of distances and ``"nonnegative"``, float32 where nothing
        is negative. ``"copy"``: bytes a second read plus written. ``"reads"``: pairs of a table's bytes and of the
        random reads of four bytes a second, ascending. ``"aggregation"``: bytes a second of list ranking's last
        kernel, ``"random"`` with each element's splitter drawn, ``"coalesced"`` with neighbours sharing theirs.
        ``"copies"``: bytes a second between a GPU and memory of other kinds; none of a CPU. ``"kernels"``: digests of
        the kernels that ran.
    """
    rounds, reads, largest, copied = (_QUICK if quick else _EFFORT)[device.kind]
    ranked = _RANKED[device.kind] >> (4 if quick else 0)
    room = device.available_memory() // 4
    with device.active():
        return {
            "minplus": {name: _minplus(device, name, rounds) for name in _MINPLUS},
            "copy": _copy(device, min(copied, room)),
            "reads": _reads(device, reads, min(largest, room)),
            "aggregation": _aggregation(device, min(ranked, room // (2 * _OF_ELEMENT))),
            "copies": _copies(device, min(copied, room)),
            "kernels": kernels.digests((ceilings_kernels.__name__, list_rank_kernels.__name__), device.kind),
        }


def of_products(measured: dict[str, Any], dtype: Any, nonnegative: bool, n: int) -> float:
    """Return the sums and minima a second that a device's ceilings allow, by the type of the distances."""
    name = np.dtype(dtype).name
    return float(measured["minplus"]["nonnegative" if nonnegative and name == "float32" else name])


def of_reads(reads: int, bits: int) -> Ceiling:
    """Return the ceiling of work in which every edge or element takes some random reads.

    Parameters
    ----------
    reads : int
        Random reads of an edge or element, at least.
    bits : int
        Bits of the table that is read, for each vertex or element.
    """

    def ceiling(measured: dict[str, Any], dtype: Any, nonnegative: bool, n: int) -> float:
        return _interpolated(measured["reads"], max(1.0, n * bits / 8)) / reads

    return ceiling


#: The ceilings of the library's algorithms, by their entries' names; those not here have none.
CEILINGS: dict[str, Ceiling] = {
    "apsp": of_products,
    "bfs": of_reads(1, 1),  # of a bitmap of the visited
    "sssp": of_reads(1, 32),  # of a distance
    "components": of_reads(1, 32),  # of a label
    "list_rank": of_reads(3, 32),  # the successor, the word that the walk writes, and the rank
}


def _interpolated(reads: list[list[float]], size: float) -> float:
    """Return the rate of reads from a table of that many bytes, interpolated between logarithms."""
    sizes, rates = np.log(np.array(reads, float)).T
    return math.exp(np.interp(math.log(size), sizes, rates))


def _seconds(device: devices.Device, work: Callable[[], object]) -> float:
    """Return the least time of some work: other processes can only add to it."""
    return min(each_seconds(device, work))


def _minplus(device: devices.Device, name: str, rounds: int) -> float:
    dtype, nonnegative = _MINPLUS[name]
    family = ceilings_kernels.on(device)
    values = family.values(device.xp, dtype)
    # Up and down again, so that all values go on changing; what is not negative goes up only.
    steps = (3, 5, 16000) if nonnegative else (3, -3, 50)
    first, second, limit = (dtype(step) for step in steps)

    def work() -> None:
        family.relaxations(values, first, second, limit, rounds, nonnegative)

    return 2 * rounds * len(values) / _seconds(device, work)


def _copy(device: devices.Device, size: int) -> float:
    copy = ceilings_kernels.on(device).copy
    source, target = (device.xp.full(size // 4, value, np.uint32) for value in (7, 3))
    return (source.nbytes + target.nbytes) / _seconds(device, lambda: copy(target, source))


def _reads(device: devices.Device, count: int, largest: int) -> list[list[float]]:
    read = ceilings_kernels.on(device).reads
    sizes = [size for size in _TABLES if size <= largest]
    table = device.xp.arange(sizes[-1] // 4, dtype=np.uint32)
    total = device.xp.zeros(1, np.uint32)

    def rate(size: int) -> float:
        return count / _seconds(device, lambda: read(table[: size // 4], count, total))

    return [[size, rate(size)] for size in sizes]


def _aggregation(device: devices.Device, n: int) -> dict[str, float]:
    """Return the bytes a second of the aggregation with scattered and with coalesced reads of the splitters' ranks.

    The ranks are right in neither case: the second reads the chain in order, as listing 5.12 of Yogaratnam's thesis
    does to show what scattered reads cost.
    """
    aggregate = list_rank_kernels.on(device).aggregate
    splitters = max(1, n // _STRATUM)
    chain = device.asarray(np.full(splitters, n, np.uint64))
    ranks, steps = device.xp.empty(n, np.int32), device.xp.empty(0, np.uint16)
    drawn = np.random.default_rng(n).integers(splitters, size=n, dtype=np.uint64)
    owners = {"random": drawn, "coalesced": np.arange(n, dtype=np.uint64) * splitters // n}

    def rate(numbers: np.ndarray) -> float:
        words = device.asarray(numbers << np.uint64(32))
        return n * _OF_ELEMENT / _seconds(device, lambda: aggregate(words, steps, chain, ranks))

    return {name: rate(numbers) for name, numbers in owners.items()}


def _copies(device: devices.Device, size: int) -> dict[str, float]:
    return transfers.rates(device, size) if isinstance(device, devices.CudaDevice) else {}
