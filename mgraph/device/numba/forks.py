"""Kernels in a process that was forked from one that had started Numba's threads.

A fork copies one thread only. GNU's OpenMP cannot start others anew and ends a child that asks it to, so that a pool of
such children never returns. Their kernels run on one core: compiled once more without threads, and kept under
names of their own, by which the next child finds them.
"""

import os
import sys
from types import FunctionType

from numba.core.dispatcher import Dispatcher
from numba.np.ufunc import parallel

from .caching import KernelCache


def single(function):
    """Return a copy of a function under a name of its own, by which Numba keeps what it compiles for one core."""
    copy = FunctionType(function.__code__, function.__globals__, f"{function.__name__}_alone")
    copy.__qualname__, copy.__module__ = copy.__name__, function.__module__
    return copy


def _run_on_one_core():
    """In a child: forget what was compiled for all cores, unless no thread was started or Numba's layer survives."""
    if not parallel._is_initialized or parallel.threading_layer() != "omp":
        return
    modules = [module for name, module in list(sys.modules.items()) if name.startswith("mgraph.kernels.")]
    kernels = {id(kernel): kernel for module in modules for kernel in _kernels(vars(module).values())}
    # All are found before the first is changed.
    for kernel in [kernel for kernel in kernels.values() if _takes_all_cores(kernel)]:
        kernel.targetoptions["parallel"] = False
        kernel._reset_overloads()
        kernel._cache = KernelCache(single(kernel.py_func))


def _kernels(values):
    """Return what of some values Numba compiles."""
    return [kernel for value in values if isinstance(kernel := getattr(value, "together", value), Dispatcher)]


def _takes_all_cores(kernel):
    """Return whether a kernel, or one that it calls, directly or not, runs on all cores."""
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
