"""Kernels in a process that was forked from one that had started Numba's threads.

A fork copies one thread only. GNU's OpenMP cannot start the others again: it ends a child that needs them, and a pool
of such children never returns. So kernels of a child run on one core. They are compiled again without threads, and
cached under names of their own, so that the next child finds them.
"""

import os
from types import FunctionType

from numba.core.dispatcher import Dispatcher
from numba.np.ufunc import parallel

from .caching import KERNELS, KernelCache


def single(function):
    """Return a copy of a function with another name, under which Numba caches its version for one core."""
    copy = FunctionType(function.__code__, function.__globals__, f"{function.__name__}_alone")
    copy.__qualname__, copy.__module__ = copy.__name__, function.__module__
    return copy


def _run_on_one_core():
    """In a child: drop kernels compiled for all cores, if Numba has started threads of GNU's OpenMP."""
    if not parallel._is_initialized or parallel.threading_layer() != "omp":
        return
    # All are found before the first is changed.
    for kernel in [kernel for kernel in KERNELS if takes_all_cores(kernel)]:
        kernel.targetoptions["parallel"] = False
        kernel._reset_overloads()
        if isinstance(kernel._cache, KernelCache):
            kernel._cache = KernelCache(single(kernel.py_func))


def _kernels(values):
    """Return the kernels among some values of a module."""
    return [kernel for value in values if isinstance(kernel := getattr(value, "together", value), Dispatcher)]


def takes_all_cores(kernel):
    """Return whether a kernel, or any kernel that it calls directly or indirectly, runs on all cores."""
    found, waiting = {id(kernel)}, [kernel]
    while waiting:
        one = waiting.pop()
        if one.targetoptions.get("parallel"):
            return True
        function = one.py_func
        called = _kernels(function.__globals__.get(name) for name in function.__code__.co_names)
        waiting += [other for other in called if id(other) not in found]
        found.update(map(id, called))
    return False


if hasattr(os, "register_at_fork"):  # where processes fork
    os.register_at_fork(after_in_child=_run_on_one_core)
