"""NetworkX's backend as NetworkX imports it with its first call: what decides at once, and all else when it is asked.

The functions are those of `mgraph.networkx`, which the first call that mgraph is to run imports with the engine. A
script of small graphs runs without it.
"""

import importlib
from collections.abc import Callable
from typing import Any

from networkx.utils.backends import _registered_algorithms

from mgraph.report import active

from . import FUNCTIONS, gains
from .watching import noting, watch, watched

can_run, should_run = (noting(gains.can_run), noting(gains.should_run))


def _deferred(name: str) -> Callable[..., Any]:
    """Return a function that calls that of `mgraph.networkx`."""

    def function(*args: Any, **kwargs: Any) -> Any:
        return __getattr__(name)(*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    return function if active() is None else watched(name, function)


if active() is not None:
    watch()

globals().update({name: _deferred(name) for name in FUNCTIONS})


def __getattr__(name: str) -> Any:
    if name in _registered_algorithms and name not in FUNCTIONS:  # NetworkX asks of parts of a call, too
        raise AttributeError(f"mgraph has no {name}")
    return getattr(importlib.import_module("mgraph.networkx"), name)
