"""Measuring a device once, so that the planner's predictions hold on it; see `mgraph.planning.rates`.

Each figure comes from a short run of what it predicts. Solves of two sizes separate the rate of the (min, +) product
from the fixed time of a round.
"""

import dataclasses
from functools import partial
from typing import Any

import numpy as np

from . import device as devices
from .algorithms.apsp.call import apsp
from .algorithms.bfs.call import bfs
from .generate import random_matrix, rmat
from .graph import Graph
from .kernels import minplus as minplus_kernels
from .matrices.distance_matrix import NO_CYCLE
from .measuring import median_seconds, repeated
from .planning.devices import spec_of
from .planning.rates import Rates, folder_of_figures, keep
from .planning.rates import rates as rates_of

#: Vertices of the two solves that measure a device's product, and the scale of the graph that is searched.
SIZES = {"cuda": (8192, 16384), "cpu": (512, 2048)}
SCALE = {"cuda": 20, "cpu": 16}


def calibrate(device: str | None = None) -> Rates:
    """Measure a device of this machine, keep the figures for later plans, and return them.

    It takes some seconds on a GPU and about a minute on a CPU.

    Parameters
    ----------
    device : {"cpu", "cuda", "cuda:N"}, optional
        By default a GPU where there is one.

    Raises
    ------
    InputError
        For an unknown device, or if there is no folder to keep the figures in.
    DeviceError
        If the device does not exist or cannot be used.

    See Also
    --------
    mgraph.plan : The predictions that use the figures.

    Examples
    --------
    >>> from mgraph.calibrate import calibrate
    >>> rates = calibrate("cpu")  # doctest: +SKIP
    """
    folder_of_figures()
    found = devices.find(device)
    spec = spec_of(found)
    with found.active():
        rates = _measured(found, spec.cores)
    keep(spec.model, rates)
    return rates


def _measured(device: devices.Device, cores: int) -> Rates:
    known = rates_of(device.kind, device.model(), cores)
    small, large = SIZES[device.kind]
    minplus, labelled = dict(known.minplus), dict(known.labelled)
    overhead = 0.0
    for name in minplus:
        dtype = "float32" if name == "nonnegative" else name
        matrix = _matrix(device, large, dtype, negative=name == "float32")
        for rates, paths in ((minplus, False), (labelled, True)):
            if name in rates:
                seconds = _solve_seconds(device, matrix, dtype, paths)
                if name == "nonnegative" and not paths:
                    part = _solve_seconds(device, matrix[:small, :small].copy(), dtype, paths)
                    overhead = _per_round(device, small, part, large, seconds)
                apart = min(overhead * _rounds(device, large), seconds / 2)
                rates[name] = large**3 / (seconds - apart) / cores
    tiny = _matrix(device, 1024, "float32", negative=False)
    round_seconds = _solve_seconds(device, tiny, "float32", False) / _rounds(device, 1024)
    looks_ahead = device.kind == "cuda"
    return dataclasses.replace(
        known,
        minplus=minplus,
        labelled=labelled,
        strips=overhead if looks_ahead else 0.0,
        pivots=max(0.0, round_seconds - overhead) if looks_ahead else overhead,
        memory=_memory(device, cores),
        copy=_copy(device) or known.copy,
        search=_searched(device, known),
        relaxations=_relaxed(device, known),
    )


def _rounds(device: devices.Device, n: int) -> int:
    return -(-n // int(minplus_kernels.on(device).DEFAULT_BLOCK))


def _per_round(device: devices.Device, small: int, part: float, large: int, whole: float) -> float:
    """Return the fixed seconds of a round, which do not grow with the matrix, from two solves."""
    growth = (large / small) ** 3
    overhead = (growth * part - whole) / (growth * _rounds(device, small) - _rounds(device, large))
    return max(0.0, overhead)


def _matrix(device: devices.Device, n: int, dtype: str, negative: bool) -> Any:
    matrix = random_matrix(n, density=1.0, dtype=dtype)
    if negative:
        matrix[: n // 2, n // 2 :] -= matrix.dtype.type(0.5)  # from one half to the other: no cycle
        matrix[0, n - 1] = -1
    return device.asarray(matrix)


def _solve_seconds(device: devices.Device, matrix: Any, dtype: str, paths: bool) -> float:
    solve = partial(apsp, matrix, dtype=dtype, predecessors=paths, method="blocked", device=device.name)
    return repeated(solve, 3)[1].seconds


def _memory(device: devices.Device, cores: int) -> float:
    """Return the bytes per second and core that one pivot of the unblocked algorithm reads and writes."""
    n = 4096
    D = device.asarray(random_matrix(n, density=1.0, dtype="float32"))
    cycle = device.xp.full(1, NO_CYCLE, np.int32)
    through = minplus_kernels.on(device).through
    return 2 * D.nbytes / median_seconds(device, lambda: through(D, None, 7, D[7:8], None, 7, 1, cycle)) / cores


def _copy(device: devices.Device) -> float:
    """Return the bytes per second to the host during an equal transfer from it; 0 if the device is the host."""
    if device.kind == "cpu":
        return 0.0
    xp, shape = device.xp, (4096, 16384)
    host = [device.pinned(shape, np.float32) for _ in range(2)]
    there = [xp.full(shape, 7, np.float32) for _ in range(2)]
    for array in host:
        array.fill(3)
    streams = device.stream(), device.stream()

    def both_ways() -> None:
        with streams[0]:
            device.copy(host[0], there[0])
        with streams[1]:
            device.copy(there[1], host[1])
        for stream in streams:
            stream.synchronize()

    return host[0].nbytes / median_seconds(device, both_ways)


def _searched(device: devices.Device, known: Rates) -> float:
    """Return the edges per second of a breadth-first search, as the planner counts them; see `_relaxed`."""
    graph = rmat(SCALE[device.kind])
    source = int(np.diff(devices.to_host(graph.layout("csr")[0])).argmax())
    result, taken = repeated(partial(bfs, graph, source, device=device.name))
    return result.plan.seconds / taken.seconds * known.search


def _relaxed(device: devices.Device, known: Rates) -> float:
    """Return the relaxations per second and core of searches from many sources, as the planner counts them.

    `known` are the rates of its prediction.
    """
    n = 8192 if device.kind == "cuda" else 1024
    random = np.random.default_rng(1)
    src, dst = random.integers(0, n, (2, 6 * n))
    graph = Graph.from_edges(src, dst, random.integers(1, 11, 6 * n).astype(np.float32), n=n)
    result, taken = repeated(partial(apsp, graph, method="sssp", device=device.name), 3)
    return result.plan.seconds / taken.seconds * known.relaxations
