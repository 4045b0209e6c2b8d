"""Compiling kernels ahead of the first call: small samples of the algorithms run in processes side by side."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

from . import limits
from .algorithms.registry import ALGORITHMS
from .device import gpu_count
from .errors import InputError, MgraphError

_RUN = "import sys; from mgraph.warming import run_samples; run_samples(*sys.argv[1:])"


def warm_up(calls: Sequence[str] | None = None, *, progress: Callable[[int, int], None] | None = None) -> None:
    """Compile the kernels of algorithms ahead, in as many processes as there are cores.

    The compiled kernels are kept on disk, where later processes of this machine find them: Python's own, and Dask's
    workers. With a GPU, its kernels are compiled, too.

    Parameters
    ----------
    calls : sequence of str, optional
        The algorithms, by the names that `mgraph.plan` takes; by default all.
    progress : callable, optional
        Called with how many of how many parts are compiled.

    Raises
    ------
    InputError
        If there is no such algorithm.
    MgraphError
        If a process fails.
    """
    names = list(ALGORITHMS) if calls is None else list(calls)
    for name in names:
        if name not in ALGORITHMS:
            raise InputError(f"calls must be among {', '.join(ALGORITHMS)}, got {name!r}")
    kinds = ["cpu", "cuda"] if gpu_count() else ["cpu"]
    jobs = [
        (name, method, kind) for name in names for method in (ALGORITHMS[name].methods or ("auto",)) for kind in kinds
    ]
    with ThreadPoolExecutor(max(1, limits.cores())) as pool:
        begun = [pool.submit(_compile, *job) for job in jobs]
        for done, each in enumerate(as_completed(begun), 1):
            each.result()
            if progress is not None:
                progress(done, len(jobs))


def _compile(*job: str) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    ran = subprocess.run(
        [sys.executable, "-c", _RUN, *job], env=environment, capture_output=True, text=True, check=False
    )
    if ran.returncode:
        raise MgraphError(f"the kernels of {' '.join(job)} could not be compiled: {ran.stderr.strip()[-500:]}")


def run_samples(name: str, method: str, device: str) -> None:
    """Run the samples of an algorithm's method on a device, which compiles their kernels."""
    entry = ALGORITHMS[name]
    for sample in entry.samples(method):
        entry.run(sample, method, device)
