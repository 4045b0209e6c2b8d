"""Coroutines that are begun from other threads than that of their event loop."""

import asyncio
import concurrent.futures
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def begun(
    loop: asyncio.AbstractEventLoop, work: Callable[..., Coroutine[Any, Any, T]], *given: Any
) -> "concurrent.futures.Future[T]":
    """Run the coroutine that `work` returns on an event loop, as `asyncio.run_coroutine_threadsafe` does.

    It is made there: Python would report one made here as never awaited if the loop ended, or Ctrl-C came, before the
    loop had it.

    Raises
    ------
    RuntimeError
        If the loop is closed.
    """
    working: concurrent.futures.Future[T] = concurrent.futures.Future()

    async def run() -> T:
        return await work(*given)

    def begin() -> None:
        task = asyncio.ensure_future(run())
        task.add_done_callback(end)
        working.add_done_callback(lambda _: task.done() or loop.call_soon_threadsafe(task.cancel))

    def end(task: "asyncio.Future[T]") -> None:
        if task.cancelled():
            working.cancel()
        if not working.set_running_or_notify_cancel():
            return
        error = task.exception()
        if error is not None:
            working.set_exception(error)
        else:
            working.set_result(task.result())

    loop.call_soon_threadsafe(begin)
    return working
