"""Errors for cycles of negative weight that are both mgraph's and SciPy's, for programs written for SciPy's."""

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

from .. import lazy
from ..errors import NegativeCycleError


@contextlib.contextmanager
def scipys_errors() -> Iterator[None]:
    """Raise mgraph's error for a negative cycle as one that is SciPy's, too."""
    try:
        yield
    except NegativeCycleError as error:
        raise scipys_error(error.vertex) from error


def scipys_error(vertex: int) -> NegativeCycleError:
    """Return an error that is mgraph's and SciPy's."""
    error: NegativeCycleError = _error_of_both()(vertex)
    return error


@functools.cache
def _error_of_both() -> Any:
    """Return the class of such errors; its base is in a large module of SciPy, which is imported when it is needed."""

    class Both(NegativeCycleError, lazy.csgraph().NegativeCycleError):  # type: ignore[misc]
        """A cycle of negative weight, as mgraph and SciPy raise it."""

        def __reduce__(self) -> Any:
            return scipys_error, (self.vertex,)

    Both.__name__ = Both.__qualname__ = "NegativeCycleError"
    return Both
