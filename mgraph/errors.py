"""What can go wrong, in the user's words: every error that mgraph raises on purpose, and what Ctrl-C may look like.

Each derives from `MgraphError` and from the built-in exception that a caller would expect, so that
``except ValueError`` and ``except MemoryError`` go on working.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .negative_cycle import NegativeCycleError as NegativeCycleError
else:

    def __getattr__(name: str) -> Any:
        if name == "NegativeCycleError":  # which imports a large part of SciPy
            return importlib.import_module(".negative_cycle", __package__).NegativeCycleError
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class MgraphError(Exception):
    """The base of every error that mgraph raises on purpose."""


class InputError(MgraphError, ValueError):
    """An argument or a graph that cannot be used, with the offending value and what to do."""


class AmbiguousZerosError(InputError):
    """A dense matrix that does not tell whether its zeros are edges of weight zero or no edges."""


class FormatError(InputError):
    """A file that cannot be read as the graph it should hold, with its line where there is one."""


class MissingFileError(MgraphError, FileNotFoundError):
    """There is no file of the name to read; `errno` and `filename` are those of any missing file."""


class RoundingError(MgraphError, ArithmeticError):
    """A method cannot tell the distances, because rounding makes a cycle look negative that is not."""


class DistanceOverflowError(MgraphError, OverflowError):
    """A weight or distance is beyond what its type carries, as `mgraph.apsp` tells for each type."""


class WrongResultError(MgraphError):
    """A verifier has found that a result is wrong; the message names a vertex or an element."""


class MemoryLimitError(MgraphError, MemoryError):
    """No plan fits the memory there is, which is told before anything is allocated; or memory ran out all the same."""


class DeviceError(MgraphError, RuntimeError):
    """A device that was asked for is not there or cannot be used."""


class WorkerLostError(MgraphError, RuntimeError):
    """A Dask worker went away in the middle of a call."""


class SchedulerError(MgraphError, TimeoutError):
    """A Dask scheduler did not answer, or has no workers."""


class VersionError(MgraphError, ImportError):
    """A Dask worker has no mgraph, or another version of it than the client."""


class MissingPackageError(MgraphError, ImportError):
    """An optional package, such as pandas, is not installed; the message says how to install it."""


class OutputExistsError(MgraphError, FileExistsError):
    """The output path exists and was not to be overwritten."""


def interrupted(error: BaseException | None) -> bool:
    """Return whether an error comes of Ctrl-C, which compiled code turns into errors of its own."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None
