"""Bars on standard error that show how far a call is, and let Ctrl-C end it."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

from .. import lazy
from ..runtime.progress import shown_on
from .interrupts import closed, stoppable


@contextlib.contextmanager
def bar(
    name: str, unit: str, quiet: bool, show_on: Callable[[Any], Callable[..., None]] = shown_on
) -> Iterator[Callable[..., None]]:
    """Show a bar, and let Ctrl-C end the call when it reports its progress; return what it calls.

    ``show_on(bar)`` returns what shows a report, by default of what is done and of the total.
    """
    with (
        lazy.tqdm()(desc=name, unit=f" {unit}", leave=False, disable=quiet or closed(sys.stderr) or None) as shown,
        stoppable(by_workers=False) as look,
    ):
        show = show_on(shown)

        def progress(*report: Any) -> None:
            show(*report)
            look()

        yield progress
