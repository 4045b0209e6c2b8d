"""A bar on standard error, or in a notebook, that shows how far a run is."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

from .. import lazy


def shown_on(bar: Any) -> Callable[[int, int | None], None]:
    """Return a function of the supersteps done and their total that shows them on a bar of tqdm."""

    def show(done: int, total: int | None) -> None:
        bar.total = total
        bar.update(done - bar.n)

    return show


@contextlib.contextmanager
def bar_of(name: str) -> Iterator[Callable[[int, int | None], None]]:
    """Show a bar with a name, which vanishes at the end; return what moves it."""
    with lazy.tqdm()(desc=name, unit=" steps", leave=False, disable=sys.stderr is None) as bar:
        yield shown_on(bar)
