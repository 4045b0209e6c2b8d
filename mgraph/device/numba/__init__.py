"""Numba as the kernels for CPUs use it: its threads, its cache, atomic operations, and what forked children run."""

import contextlib
import importlib
import os
import sys
from collections.abc import Iterator

from ... import limits
from ...errors import InputError
from ..clock import COMPILING, clock

#: How often a thread of GNU's OpenMP looks whether the others have come to a barrier before it sleeps: for some
#: tens of microseconds. By default it looks for milliseconds, 300,000 times; so two processes on two cores each waited
#: for threads that the other one's waiting kept from the cores, and both took 36 times as long as one alone.
_LOOKS = "3000"


def _check_environment() -> None:
    """Raise InputError for a variable of the environment with which Numba cannot run the kernels."""
    for name, wanted, fits in (
        ("NUMBA_NUM_THREADS", "an integer of 1 or more", lambda number: number >= 1),
        ("NUMBA_DISABLE_JIT", "0, as the kernels have to be compiled", lambda number: number == 0),
    ):
        value = os.environ.get(name)
        if value is None:
            continue
        with contextlib.suppress(ValueError):
            if fits(int(value)):
                continue
        raise InputError(f"the environment variable {name} must be {wanted}, got {value!r}: unset it")


@contextlib.contextmanager
def _checked_threads() -> Iterator[None]:
    """Raise InputError after the block, or in it, if the environment chooses threads that Numba does not have.

    Only Numba knows that, once it starts them: it would tell in the midst of the first kernel that needs threads.
    """
    names = "NUMBA_THREADING_LAYER", "NUMBA_THREADING_LAYER_PRIORITY"
    chosen = {name: value for name in names if (value := os.environ.get(name)) is not None}
    try:
        yield
        if chosen:
            importlib.import_module("numba").get_num_threads()  # which starts them
    except ValueError as error:
        if not chosen:
            raise
        variables = " and ".join(f"{name}={value!r}" for name, value in chosen.items())
        reason = " ".join(str(error).split())
        raise InputError(
            f"Numba cannot start threads with {variables} in the environment: unset it ({reason})"
        ) from error


def _count_compiling() -> None:
    """Let a thread's `clock` run while Numba compiles or loads kernels for it, and tell `COMPILING` of the former.

    Numba holds its lock for both, and for what it sets up before the first: half a second.
    """
    event = importlib.import_module("numba.core.event")

    class Locked(event.Listener):  # type: ignore[name-defined]
        def on_start(self, event: object) -> None:
            clock().begin()

        def on_end(self, event: object) -> None:
            clock().end()

    class Compiled(event.Listener):  # type: ignore[name-defined]
        def on_start(self, event: object) -> None:
            COMPILING.begin()

        def on_end(self, event: object) -> None:
            COMPILING.end()

    event.register("numba:compiler_lock", Locked())
    event.register("numba:compile", Compiled())


@contextlib.contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    """Set a variable of the environment, which has none of that name, within the block."""
    os.environ[name] = value
    try:
        yield
    finally:
        os.environ.pop(name, None)


def _load_openmp() -> None:
    """Load GNU's OpenMP for Numba with `_LOOKS`, for it reads the environment only then.

    Not where the environment tells how threads shall wait, or that Numba shall take others. Where something else has
    loaded the same library before, it stays as it is; what makes use of it later finds it as it is here.
    """
    told = os.environ.keys() & {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"}
    if told or sys.platform != "linux" or os.environ.get("NUMBA_THREADING_LAYER") in ("tbb", "workqueue"):
        return
    # A Numba without OpenMP has threads of its own.
    with _environment("GOMP_SPINCOUNT", _LOOKS), contextlib.suppress(ImportError):
        importlib.import_module("numba.np.ufunc.omppool")


def _import_numba() -> None:
    """Import Numba with no more threads than this process may keep busy; it counts those that it may run on.

    More would wait for each other within a container's quota. Not where the environment says how many. Numba reads
    that when it is imported; where it was before, at least the threads of this one's kernels are fewer. The environment
    is left as it was, as child processes inherit it.
    """
    cores, told = limits.cores(), "NUMBA_NUM_THREADS" in os.environ
    if "numba" in sys.modules:
        _load_openmp()
        if not told:
            numba = importlib.import_module("numba")
            numba.set_num_threads(min(cores, numba.get_num_threads()))
    elif told or cores >= limits.cores_allowed():
        _load_openmp()
    else:
        with _environment("NUMBA_NUM_THREADS", str(cores)):
            _load_openmp()
            config = importlib.import_module("numba").config
        # Numba would take the change for one that its user made, once it compiles.
        config.reload_config()
        config.NUMBA_NUM_THREADS = cores


_check_environment()
with _checked_threads():
    _import_numba()
# Numba would look for its plugins at the first call of a kernel, for 40 ms that no event tells of.
importlib.import_module("numba.core.entrypoints").init_all()
importlib.import_module(f"{__name__}.forks")
_count_compiling()

#: Numba, as this process shall use it: kernels import it from here, so that nothing imports it before it is set up.
numba = importlib.import_module("numba")
prange = numba.prange
