"""How errors and warnings read on the command line: one line each, in the options of the command."""

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import click

import mgraph


class Failure(click.ClickException):
    """An error as the user sees it: one line and an exit code."""

    def __init__(self, error: Exception) -> None:
        text = str(error)
        if isinstance(error, OSError) and error.strerror:
            text = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
        elif isinstance(error, mgraph.MgraphError):
            text = _in_options(text)
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
    text = _in_options(_versions_in_words(str(message)))
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


def _in_options(text: str) -> str:
    """Return what the library says with the options of the command in the place of the arguments that they give.

    The names of files that the command was given stay as they are.
    """
    context = click.get_current_context(silent=True)
    if context is None:  # another thread warns
        return text
    given = [path for path in context.params.values() if isinstance(path, Path)]
    names = sorted({str(way) for path in given for way in (path, path.resolve())}, key=len, reverse=True)
    if not names:
        return _with_options(text, context.command.params)
    parts = re.split(rf"(?<![\w./-])({'|'.join(map(re.escape, names))})(?!\w)", text)
    return "".join(part if part in names else _with_options(part, context.command.params) for part in parts)


def _with_options(text: str, parameters: list[click.Parameter]) -> str:
    for option in parameters:
        if not isinstance(option, click.Option):
            continue
        argument, spelled = rf"(?<![\w./-]){option.name}=", max(option.opts, key=len)
        text = re.sub(rf"^{option.name} (?=must|is)", f"{spelled} ", text)
        if option.is_flag:
            text = re.sub(rf"{argument}True\b", spelled, text)
            for other in option.secondary_opts:
                text = re.sub(rf"{argument}False\b", other, text)
        else:
            text = re.sub(rf"{argument}(?=[^\s,)])", f"{spelled} ", text)
            text = re.sub(argument, spelled, text)
        if option.name == "workers":
            text = text.replace("client=", spelled)
        if option.name == "tls_ca_file":
            text = text.replace("security=", "--tls-ca-file, --tls-cert and --tls-key")
    return text


@contextlib.contextmanager
def one_line() -> Iterator[None]:
    """Turn a system's error, such as a full disk's, into one line; click knows what to do with a broken pipe."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Failure(error) from error
