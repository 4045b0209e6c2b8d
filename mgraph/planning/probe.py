"""How fast this machine's CPU is beside the one that the built-in rates were measured on, in some tens of ms.

Three short loops of NumPy stand for what bounds the algorithms: sums and minima of numbers in a core's cache, copies of
what no core's own cache holds, and reads from random places of it. All cores run them at the same time, as they will,
and a thread counts its own time only: so it matters less who else uses the machine. What comes out is kept in the cache
folder beside what ``mgraph calibrate`` measured, by the CPU's model and the number of cores. It counts for a day, as it
may have been measured on a busy machine all the same.
"""

import contextlib
import functools
import json
import math
import os
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..kept import cache_folder, write_json

#: The file of the speeds of CPUs, in the cache folder, and for how many seconds what was measured counts.
FILE = "probe.json"
AGE = 86400.0

#: Threads that are measured at most, and how often each runs each loop, of which the fastest counts.
_THREADS = 8
_REPEATS = 10

#: Numbers in a core's cache, numbers beyond it, and reads of these.
_NEAR, _FAR, _READS = 1 << 14, 1 << 21, 1 << 15

#: A CPU is taken for at most so many times slower or faster: what is beyond has been disturbed.
_MOST = 10.0


class Speed(NamedTuple):
    """What a core does in a second, or how many times as much as the reference's.

    Attributes
    ----------
    arithmetic : float
        Sums and minima of float32.
    memory : float
        Bytes read and written in order.
    reads : float
        Reads from random places.
    """

    arithmetic: float
    memory: float
    reads: float

    @property
    def searches(self) -> float:
        """How much faster searches are: they read at random, and compute in between."""
        return math.sqrt(self.arithmetic * self.reads)


#: A core of the CPU that the built-in rates were measured on: an AMD EPYC of the third generation (AVX2), two cores.
REFERENCE = Speed(arithmetic=2.9e9, memory=45e9, reads=350e6)

#: That of a device which is not this machine's CPU.
SAME = Speed(1.0, 1.0, 1.0)


def speed(model: str, cores: int) -> Speed:
    """Return how many times as fast as the reference's a core of this machine's CPU is, where `cores` are at work."""
    return _speed(model, min(cores, os.cpu_count() or 1), cache_folder())


@functools.cache
def _speed(model: str, cores: int, folder: Path | None) -> Speed:
    if folder is None:
        return _relative(measured(cores))
    known, name = kept(folder), f"{model}, {cores} cores"
    if name in known:
        return known[name].speed
    found = _relative(measured(cores))
    keep(folder, known | {name: Kept(found, time.time())})
    return found


def _relative(found: Speed) -> Speed:
    ratios = (own / there for own, there in zip(found, REFERENCE, strict=True))
    return Speed(*(min(max(ratio, 1 / _MOST), _MOST) for ratio in ratios))


class Kept(NamedTuple):
    """The speed of a CPU beside the reference's, and when it was measured: seconds of the system's clock."""

    speed: Speed
    measured: float


def kept(folder: Path) -> dict[str, Kept]:
    """Return what a folder holds of this and other CPUs and counts still; nothing of a file that holds anything else.

    What is too old, or comes from the future, is left out.
    """
    try:
        found = json.loads((folder / FILE).read_bytes())
        everything = {
            str(name): Kept(Speed(*map(float, figures["speed"])), float(figures["measured"]))
            for name, figures in found.items()
        }
    except (OSError, ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return {}
    now = time.time()
    return {
        name: own
        for name, own in everything.items()
        if 0 <= now - own.measured <= AGE and all(1 / _MOST <= figure <= _MOST for figure in own.speed)
    }


def keep(folder: Path, speeds: dict[str, Kept]) -> None:
    """Keep the speeds of CPUs for later processes, where the folder can be written to."""
    with contextlib.suppress(OSError):
        write_json(
            folder / FILE, {name: {"speed": own.speed, "measured": own.measured} for name, own in speeds.items()}
        )


def measured(cores: int) -> Speed:
    """Return what each of so many cores does in a second, when all are at work."""
    far = np.ones(_FAR, np.float32)
    places = np.random.default_rng(1).integers(0, _FAR, _READS).astype(np.intp)
    threads = max(1, min(cores, _THREADS))
    with ThreadPoolExecutor(threads, "mgraph-probe") as pool:
        found = list(pool.map(lambda _: _one_core(far, places), range(threads)))
    return Speed(*(statistics.median(figures) for figures in zip(*found, strict=True)))


def _one_core(far: np.ndarray, places: np.ndarray) -> Speed:
    near, other, sums = (np.full(_NEAR, value, np.float32) for value in (1, 2, 3))
    part = far[: _FAR // 2]
    copy, read = part.copy(), np.empty(_READS, np.float32)

    def arithmetic() -> None:
        for _ in range(16):
            np.add(near, other, out=sums)
            np.minimum(sums, other, out=sums)

    return Speed(
        arithmetic=16 * _NEAR / _seconds(arithmetic),
        memory=2 * part.nbytes / _seconds(lambda: np.copyto(copy, part)),
        reads=_READS / _seconds(lambda: far.take(places, out=read, mode="clip")),
    )


def _seconds(work: Callable[[], object]) -> float:
    """Return the least time that some work takes of this thread."""
    least = float("inf")
    for _ in range(_REPEATS):
        began = time.thread_time()
        work()
        least = min(least, time.thread_time() - began)
    return max(least, 1e-6)
