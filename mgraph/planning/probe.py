"""A quick measurement of this machine's CPU, relative to the one that the built-in rates come from: some tens of ms.

Three short loops of NumPy represent the bounds of the algorithms: sums and minima of numbers in a core's cache, copies
of arrays larger than a core's cache, and random reads from these. All cores run them at the same time, as algorithms
do. Each thread measures its own CPU time, so that other processes disturb less. The result is kept in the cache folder,
by the CPU's model and the number of cores. It expires after a day, as it may have been measured on a busy machine.
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

from ..cache_folder import write_json

#: The file of the speeds of CPUs, in the cache folder, and the seconds after which a measurement expires.
FILE = "probe.json"
AGE = 86400.0

#: The most threads that measure, and the repetitions of each loop, of which the fastest counts.
_THREADS = 8
_REPEATS = 10

#: Elements of an array in a core's cache and of a larger one, and the number of random reads from the latter.
_NEAR, _FAR, _READS = 1 << 14, 1 << 21, 1 << 15

#: The largest factor between a CPU and the reference; a larger one means that the measurement was disturbed.
_MOST = 10.0


class Speed(NamedTuple):
    """Rates of a core per second, or these relative to the reference.

    Attributes
    ----------
    arithmetic : float
        Sums and minima of float32.
    memory : float
        Bytes read and written sequentially.
    reads : float
        Random reads.
    """

    arithmetic: float
    memory: float
    reads: float

    @property
    def searches(self) -> float:
        """The relative speed of searches, which read at random and compute in between."""
        return math.sqrt(self.arithmetic * self.reads)


#: A core of the CPU that the built-in rates were measured on: an AMD EPYC of the third generation (AVX2), two cores.
REFERENCE = Speed(arithmetic=2.9e9, memory=45e9, reads=350e6)

#: The relative speed of a device that is not this machine's CPU.
SAME = Speed(1.0, 1.0, 1.0)


@functools.cache
def speed_in(model: str, cores: int, folder: Path | None) -> Speed:
    """Return the speed of a core of this machine's CPU relative to the reference, if `cores` cores are busy.

    It is the one kept in a folder; if it is missing, it is measured and kept there.
    """
    cores = min(cores, os.cpu_count() or 1)
    if folder is None:
        return _relative(measured(cores))
    known, name = kept(folder), f"{model}, {cores} cores"
    if name in known:
        return known[name].speed
    found = _relative(measured(cores))
    keep(folder, known | {name: CachedSpeed(found, time.time())})
    return found


def _relative(found: Speed) -> Speed:
    ratios = (own / there for own, there in zip(found, REFERENCE, strict=True))
    return Speed(*(min(max(ratio, 1 / _MOST), _MOST) for ratio in ratios))


class CachedSpeed(NamedTuple):
    """The relative speed of a CPU, and the time of its measurement in seconds of the system's clock."""

    speed: Speed
    measured: float


def kept(folder: Path) -> dict[str, CachedSpeed]:
    """Return the speeds of CPUs kept in a folder; empty if the file is invalid.

    Measurements that are too old, or from the future, are left out.
    """
    try:
        path = folder / FILE
        found = json.loads(path.read_bytes()) if path.is_file() else {}
        everything = {
            str(name): CachedSpeed(Speed(*map(float, figures["speed"])), float(figures["measured"]))
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


def keep(folder: Path, speeds: dict[str, CachedSpeed]) -> None:
    """Keep the speeds of CPUs for later processes, where the folder can be written to."""
    with contextlib.suppress(OSError):
        write_json(
            folder / FILE, {name: {"speed": own.speed, "measured": own.measured} for name, own in speeds.items()}
        )


def measured(cores: int) -> Speed:
    """Return the rates of a core when `cores` cores are busy."""
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
    """Return the least CPU time of this thread for some work."""
    least = float("inf")
    for _ in range(_REPEATS):
        began = time.thread_time()
        work()
        least = min(least, time.thread_time() - began)
    return max(least, 1e-6)
