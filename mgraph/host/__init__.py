"""The CPU twins of the CUDA kernels, in Numba: one module a family, the operations of `mgraph.cuda`."""

import contextlib
import importlib
import os
import sys

from .. import limits
from ..compiling import COMPILING

#: How often a thread of GNU's OpenMP looks whether the others have come to a barrier before it sleeps: for some
#: tens of microseconds. By default it looks for milliseconds, 300,000 times; so two processes on two cores each waited
#: for threads that the other one's waiting kept from the cores, and both took 36 times as long as one alone.
_LOOKS = "3000"


def _count_compiling() -> None:
    """Let `COMPILING` run while Numba compiles."""
    event = importlib.import_module("numba.core.event")

    class Listener(event.Listener):  # type: ignore[name-defined]
        def on_start(self, event: object) -> None:
            COMPILING.begin()

        def on_end(self, event: object) -> None:
            COMPILING.end()

    event.register("numba:compile", Listener())


def _load_openmp() -> None:
    """Load GNU's OpenMP for Numba with `_LOOKS`, for it reads the environment only then.

    Not where the environment tells how threads shall wait, or that Numba shall take others. Where something else has
    loaded the same library before, it stays as it is; what makes use of it later finds it as it is here.
    """
    told = os.environ.keys() & {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"}
    if told or sys.platform != "linux" or os.environ.get("NUMBA_THREADING_LAYER") in ("tbb", "workqueue"):
        return
    os.environ["GOMP_SPINCOUNT"] = _LOOKS
    try:
        with contextlib.suppress(ImportError):  # a Numba without OpenMP has threads of its own
            importlib.import_module("numba.np.ufunc.omppool")
    finally:
        os.environ.pop("GOMP_SPINCOUNT", None)


def _limit_threads() -> None:
    """Let Numba have no more threads than this process may keep busy; it counts those that it may run on.

    More would wait for each other within a container's quota. Not where the environment says how many. Numba reads
    that when it is imported; where it was before, at least the threads of this one's kernels are fewer.
    """
    if "NUMBA_NUM_THREADS" in os.environ:
        return
    cores = limits.cores()
    if "numba" not in sys.modules:
        if cores < limits.cores_allowed():
            os.environ["NUMBA_NUM_THREADS"] = str(cores)
        return
    import numba

    numba.set_num_threads(min(cores, numba.get_num_threads()))


_limit_threads()
_load_openmp()
importlib.import_module(f"{__name__}.forks")  # and Numba, which reads what these two have set
importlib.import_module(f"{__name__}.caching")
_count_compiling()
