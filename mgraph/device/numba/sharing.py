"""Sharing calls of compiled code between the cores, by Python's threads: the code releases the interpreter's lock."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

from ... import limits
from ..clock import clock, take_over
from . import numba
from .small import VERTICES

Item = TypeVar("Item")


def _started() -> ThreadPoolExecutor:
    """Return threads that start when they are first needed; to start sixteen takes some milliseconds."""
    return ThreadPoolExecutor(limits.cores_allowed(), "mgraph-core")


_threads = _started()


def _renew_threads() -> None:
    """In a forked child: replace the threads, which stayed in the parent."""
    global _threads
    _threads = _started()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_threads)


def on_all_cores(task: Callable[[Item], object], items: Iterable[Item], most: int | None = None) -> None:
    """Call `task` with each item, on all cores, or on `most` of them; a task must not call this itself."""
    items = list(items)
    cores = min(len(items), numba.get_num_threads() if most is None else most)
    if cores <= 1:
        for item in items:
            task(item)
        return
    callers, shared = clock(), iter(enumerate(items))  # threads may take from it at the same time
    failed: dict[int, BaseException] = {}

    def on_a_core() -> None:
        take_over(callers)  # which counts what these threads compile
        for number, item in shared:
            if failed:
                return
            try:
                task(item)
            except BaseException as error:
                failed[number] = error

    begun = []
    try:
        for _ in range(cores):
            begun.append(_threads.submit(on_a_core))
    except RuntimeError:  # the interpreter ends, and lets no thread begin: the caller's goes on
        on_a_core()
    wait(begun)
    if failed:  # items are taken in their order, so the first that fails is among them
        raise failed[min(failed)]


def parts(count: int, work: int = 1, little: int = VERTICES) -> list[slice]:
    """Return slices of `count` items for `on_all_cores`: one for all items if they are `little` work, else some a core.

    `work` is that of an item, in elements that are read or written.
    """
    pieces = 1 if count * work <= little else min(count, 8 * numba.get_num_threads())
    return [slice(count * i // pieces, count * (i + 1) // pieces) for i in range(pieces)]
