"""What can go wrong, in the user's words: every error that mgraph raises on purpose, and what Ctrl-C may look like.

Each derives from `MgraphError` and from the built-in exception that a caller would expect, so that
``except ValueError`` and ``except MemoryError`` go on working.
"""

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .negative_cycle import NegativeCycleError as NegativeCycleError
else:

    def __getattr__(name: str) -> Any:
        if name == "NegativeCycleError":  # which imports a large part of SciPy
            return importlib.import_module(".negative_cycle", __package__).NegativeCycleError
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class Argument(NamedTuple):
    """A public call's argument where a message names it."""

    name: str

    def __str__(self) -> str:
        return self.name


class Given(NamedTuple):
    """A public call's argument where a message says how it is given, such as ``method='johnson'``, or ``client=``."""

    name: str
    value: Any = ...

    def __str__(self) -> str:
        return f"{self.name}=" if self.value is ... else f"{self.name}={self.value!r}"


#: A message, or a part of it, in parts.
Words = tuple["str | Argument | Given", ...]


class Worded(Exception):
    """An error or a warning whose message may be made of several parts: text, `Argument` and `Given`.

    The command line says the latter two in its options.
    """

    def __init__(self, *parts: Any) -> None:
        #: The message in parts.
        self.parts = parts
        # OSError takes its number, reason and file one by one.
        super().__init__(*(parts if parts and isinstance(parts[0], int) else ("".join(map(str, parts)),)))

    def __reduce__(self) -> tuple[Any, ...]:
        # Dask's workers send errors by tblib, which without this would not call the constructor.
        return type(self), self.parts, self.__dict__

    @property
    def names_arguments(self) -> bool:
        """Whether the message names arguments."""
        return any(isinstance(part, (Argument, Given)) for part in self.parts)

    def sentence(self, spelled: Callable[[Argument | Given], str]) -> str:
        """Return the message, with arguments as `spelled` says them."""
        return "".join(spelled(part) if isinstance(part, (Argument, Given)) else str(part) for part in self.parts)


def parts_of(error: BaseException) -> tuple[Any, ...]:
    """Return the message of an error in parts, for another error's message to hold."""
    return error.parts if isinstance(error, Worded) else (str(error),)


class MgraphError(Worded):
    """The base of every error that mgraph raises on purpose."""


class RenamedWarning(Worded, FutureWarning):
    """A former name was used that ends with the next release."""


class InputError(MgraphError, ValueError):
    """An argument or a graph that cannot be used, with the offending value and what to do.

    Parameters
    ----------
    *parts : str, Argument or Given
        The message; with `argument`, what follows it.
    argument : str, optional
        The argument that cannot be used.
    value : object
        What it was.
    expected : str, optional
        What it must be.

    Attributes
    ----------
    argument, value, expected
        As above; None for an error that is not about one argument's value.

    Examples
    --------
    >>> from mgraph.errors import InputError
    >>> print(InputError(argument="source", value=7, expected="an integer in [0, 3)"))
    source must be an integer in [0, 3), got 7
    """

    def __init__(
        self,
        *parts: str | Argument | Given,
        argument: str | None = None,
        value: Any = None,
        expected: str | None = None,
    ) -> None:
        self.argument, self.value, self.expected = argument, value, expected
        head = () if argument is None else (Argument(argument), f" must be {expected}, got {value!r}")
        super().__init__(*head, *parts)


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
