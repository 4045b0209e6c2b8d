"""Numba, set up for the kernels for CPUs: threads, cache, atomic operations, and forked processes."""

import contextlib
import importlib
import os
import sys
from collections.abc import Iterator
from typing import Any

from ... import limits
from ...arguments import size_in_words
from ...errors import InputError, MemoryLimitError, shown
from ..clock import COMPILING, clock

#: How often a thread of GNU's OpenMP polls at a barrier before it sleeps: some tens of microseconds. The default,
#: 300,000 times, takes milliseconds. With it, the threads of two processes on two cores kept each other from running
#: while they polled, and both processes took 36 times as long as one alone.
_SPINS = "3000"

_PACKAGE = __name__.partition(".")[0]


def _check_environment() -> None:
    """Raise InputError if an environment variable has a value with which Numba cannot run the kernels."""
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
        raise InputError(f"the environment variable {name} must be {wanted}, got {shown(value)}: unset it")


@contextlib.contextmanager
def _checked_threads() -> Iterator[None]:
    """Raise InputError if the environment chooses a threading layer that Numba does not have.

    Numba checks this only when it starts threads, which would otherwise be in the first parallel kernel.
    """
    names = "NUMBA_THREADING_LAYER", "NUMBA_THREADING_LAYER_PRIORITY"
    chosen = {name: value for name in names if (value := os.environ.get(name)) is not None}
    try:
        yield
        if chosen:
            importlib.import_module("numba").get_num_threads()  # starts the threads
    except ValueError as error:
        if not chosen:
            raise
        variables = " and ".join(f"{name}={shown(value)}" for name, value in chosen.items())
        reason = " ".join(str(error).split())
        raise InputError(
            f"Numba cannot start threads with {variables} in the environment: unset it ({reason})"
        ) from error


@contextlib.contextmanager
def _room() -> Iterator[None]:
    """Raise MemoryLimitError if the import of Numba in the block fails for want of address space."""
    try:
        yield
    except (ImportError, MemoryError, OSError) as error:
        left = limits.address_space()
        if left >= limits.NUMBA_ADDRESSES:
            raise
        raise MemoryLimitError(
            f"Numba needs {size_in_words(limits.NUMBA_ADDRESSES)} of address space, and this process may map only "
            f"{size_in_words(left)} more: raise its limit (ulimit -v)"
        ) from error


def _count_compiling() -> None:
    """Run a thread's `clock` while Numba compiles or loads kernels for it, and tell `COMPILING` of our compilations.

    Numba holds its compiler lock while it does either, and while it sets itself up for half a second before the first.
    """
    event = importlib.import_module("numba.core.event")

    class Locked(event.Listener):  # type: ignore[name-defined]
        def on_start(self, event: object) -> None:
            clock().begin()

        def on_end(self, event: object) -> None:
            clock().end()

    class Compiled(event.Listener):  # type: ignore[name-defined]
        def on_start(self, event: Any) -> None:
            if (family := _family(event)) is not None:
                COMPILING.begin(family)

        def on_end(self, event: Any) -> None:
            if _family(event) is not None:
                COMPILING.end()

    def _family(event: Any) -> str | None:
        """Return the family of the kernel that is compiled; None if it is not of this package."""
        package, *rooms = event.data["dispatcher"].py_func.__module__.split(".")
        return rooms[1 if rooms[0] == "kernels" else 0] if package == _PACKAGE and rooms else None

    event.register("numba:compiler_lock", Locked())
    event.register("numba:compile", Compiled())


@contextlib.contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    """Set an environment variable, which must not be set yet, within the block."""
    os.environ[name] = value
    try:
        yield
    finally:
        os.environ.pop(name, None)


def _load_openmp() -> None:
    """Load GNU's OpenMP for Numba with `_SPINS`: the library reads the environment only when it is loaded.

    Do nothing if the environment says how threads wait, or chooses another threading layer. If the library was loaded
    before, its setting stays; later users of the library share this one.
    """
    chosen = os.environ.keys() & {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"}
    if chosen or sys.platform != "linux" or os.environ.get("NUMBA_THREADING_LAYER") in ("tbb", "workqueue"):
        return
    # A Numba without OpenMP uses another threading layer.
    with _environment("GOMP_SPINCOUNT", _SPINS), contextlib.suppress(ImportError):
        importlib.import_module("numba.np.ufunc.omppool")


def _import_numba() -> None:
    """Import Numba with as many threads as this process may keep busy, unless the environment gives a number.

    Numba counts the cores that the process may run on. In a container with a lower quota, that many threads would wait
    for each other. Numba reads the number when it is imported. If it was imported before, the kernels of this thread
    use fewer threads. The environment is restored, as child processes inherit it.
    """
    cores, chosen = limits.cores(), "NUMBA_NUM_THREADS" in os.environ
    if "numba" in sys.modules:
        _load_openmp()
        if not chosen:
            numba = importlib.import_module("numba")
            numba.set_num_threads(min(cores, numba.get_num_threads()))
    elif chosen or cores >= limits.cores_allowed():
        _load_openmp()
    else:
        with _environment("NUMBA_NUM_THREADS", str(cores)):
            _load_openmp()
            config = importlib.import_module("numba").config
        # Otherwise Numba would notice the changed environment when it compiles, and read it again.
        config.reload_config()
        config.NUMBA_NUM_THREADS = cores


_check_environment()
with _checked_threads(), _room():
    _import_numba()
# Otherwise Numba would look for its plugins at the first call of a kernel: 40 ms that no event reports.
importlib.import_module("numba.core.entrypoints").init_all()
importlib.import_module(f"{__name__}.forks")
importlib.import_module("mgraph.device.notice")
_count_compiling()

#: Kernels import Numba from here, so that it is set up first.
numba = importlib.import_module("numba")
prange = numba.prange
