"""How errors and warnings read on the command line: one line each, in the options of the command."""

import contextlib
from collections.abc import Iterator
from typing import Any, TextIO

import click

import mgraph

from ..errors import Argument, Given, Worded


class Failure(click.ClickException):
    """An error as the user sees it: one line and an exit code."""

    def __init__(self, error: Exception) -> None:
        text = str(error)
        if isinstance(error, OSError) and error.strerror:
            text = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
        elif isinstance(error, mgraph.MgraphError):
            text = _sentence(error)
        else:
            text = f"{type(error).__name__}: {text} (--debug shows where)"
        super().__init__(" ".join(text.split()))

    def show(self, file: Any = None) -> None:
        """Print the line."""
        click.echo(f"mgraph: error: {self.message}", err=True)


class Misuse(Failure):
    """An error in how the command was called."""

    exit_code = 2


def show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning in one line, as `warnings.showwarning`."""
    text = _sentence(message) if isinstance(message, Worded) else _versions_in_words(str(message))
    click.echo(f"mgraph: warning: {' '.join(text.split())}", err=True)


def _versions_in_words(text: str) -> str:
    """Return Dask's table of mismatched versions as a sentence, and any other text as it is."""
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in text.splitlines() if line[:1] == "|"]
    if "Mismatched versions found" not in text or not rows:
        return text
    (_, *places), *packages = rows
    found = "; ".join(
        f"{name}: "
        + ", ".join(f"{version} on {place.lower()}" for place, version in zip(places, versions, strict=True))
        for name, *versions in packages
    )
    return f"the versions of packages differ ({found})"


#: Arguments that are not given by options of their names.
_STAND_FOR = {"client": "--workers", "security": "--tls-ca-file, --tls-cert and --tls-key"}


def _sentence(error: Worded) -> str:
    """Return the message of an error or a warning, with the options of the command for the arguments that it names."""
    return error.sentence(_spelled) if error.names_arguments else str(error)


def _spelled(part: Argument | Given) -> str:
    """Return an argument of the library as an option of the command that runs, where it has one."""
    context = click.get_current_context(silent=True)
    parameters = [] if context is None else context.command.params  # another thread warns
    options = {option.name: option for option in parameters if isinstance(option, click.Option)}
    if part.name in _STAND_FOR and _STAND_FOR[part.name].split(",")[0] in {n for o in options.values() for n in o.opts}:
        return _STAND_FOR[part.name]
    if part.name not in options:
        return str(part)
    option = options[part.name]
    name = max(option.opts, key=len)
    if isinstance(part, Argument) or part.value is ...:
        return name
    if option.is_flag and isinstance(part.value, bool):
        return name if part.value else max(option.secondary_opts, key=len, default=str(part))
    return f"{name} {part.value}"


@contextlib.contextmanager
def one_line() -> Iterator[None]:
    """Turn a system's error, such as a full disk's, into one line; click knows what to do with a broken pipe."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Failure(error) from error
