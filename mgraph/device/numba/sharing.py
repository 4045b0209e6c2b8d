"""Sharing calls of compiled code between the cores, by Python's threads: the code releases the interpreter's lock."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from ..clock import clock, take_over
from . import numba

Item = TypeVar("Item")


def on_all_cores(task: Callable[[Item], object], items: Iterable[Item], most: int | None = None) -> None:
    """Call `task` with each item, on all cores, or on `most` of them."""
    items = list(items)
    cores = min(len(items), numba.get_num_threads() if most is None else most)
    if cores <= 1:
        for item in items:
            task(item)
        return
    # The caller's clock counts what these threads compile.
    with ThreadPoolExecutor(cores, initializer=take_over, initargs=(clock(),)) as pool:
        for _ in pool.map(task, items):
            pass
