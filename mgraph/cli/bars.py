"""Bars on standard error that show how far a call is, and let Ctrl-C end it."""

import contextlib
import sys
from collections.abc import Callable, Iterator

from .. import lazy
from ..runtime.progress import shown_on
from .interrupts import closed, stoppable


@contextlib.contextmanager
def bar(name: str, unit: str, quiet: bool) -> Iterator[Callable[[int, int | None], None]]:
    """Show a bar, and let Ctrl-C end the call when it reports its progress; return what it calls."""
    with (
        lazy.tqdm()(desc=name, unit=f" {unit}", leave=False, disable=quiet or closed(sys.stderr) or None) as shown,
        stoppable(by_workers=False) as look,
    ):
        show = shown_on(shown)

        def progress(done: int, total: int | None) -> None:
            show(done, total)
            look()

        yield progress
