"""How fast this machine's CPU is beside the one that the built-in rates were measured on, in some tens of ms.

Three short loops of NumPy stand for what bounds the algorithms: sums and minima of numbers in a core's cache, copies of
what no core's own cache holds, and reads from random places of it. All cores run them at the same time, as they will,
and a thread counts its own time only: so it matters less who else uses the machine. What comes out is kept in the cache
folder beside what ``mgraph calibrate`` measured, by the CPU's model and the number of cores.
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


def cache_file(folder: str | None) -> Path:
    """Return where what was measured is kept; `folder` is that of the user's caches, None for the usual one."""
    return (Path(folder) if folder else Path.home() / ".cache") / "mgraph" / "probe.json"


def speed(model: str, cores: int) -> Speed:
    """Return how many times as fast as the reference's a core of this machine's CPU is, where `cores` are at work."""
    return _speed(model, min(cores, os.cpu_count() or 1), os.environ.get("XDG_CACHE_HOME"))


@functools.cache
def _speed(model: str, cores: int, folder: str | None) -> Speed:
    try:
        path, name = cache_file(folder), f"{model}, {cores} cores"
    except RuntimeError:  # there is no home
        return _relative(measured(cores))
    known = _kept(path)
    if name in known:
        return known[name]
    found = _relative(measured(cores))
    keep(path, known | {name: found})
    return found


def _relative(found: Speed) -> Speed:
    ratios = (own / there for own, there in zip(found, REFERENCE, strict=True))
    return Speed(*(min(max(ratio, 1 / _MOST), _MOST) for ratio in ratios))


def _kept(path: Path) -> dict[str, Speed]:
    """Return what is kept of this and other CPUs; nothing of a file that is not there or holds anything else."""
    try:
        found = json.loads(path.read_bytes())
        kept = {str(name): Speed(*map(float, figures)) for name, figures in found.items()}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {}
    return {name: own for name, own in kept.items() if all(1 / _MOST <= figure <= _MOST for figure in own)}


def keep(path: Path, speeds: dict[str, Speed]) -> None:
    """Keep the speeds of CPUs for later processes, where the folder can be written to."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(f".{os.getpid()}")
        fresh.write_text(json.dumps({name: list(own) for name, own in speeds.items()}, indent=1))
        fresh.replace(path)


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
