"""How errors and warnings read on the command line: one line each, in the options of the command."""

import contextlib
import logging
import re
import signal
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TextIO

import click

from ..errors import Argument, ArgumentValue, MgraphError, StructuredError, printable

if TYPE_CHECKING:
    from ..planning.plan import Plan


class Failure(click.ClickException):
    """An error as the user sees it: one line and an exit code."""

    def __init__(self, error: Exception) -> None:
        text = str(error)
        if isinstance(error, OSError) and error.strerror:
            text = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
        elif isinstance(error, MgraphError):
            text = _sentence(error)
        else:
            text = f"{type(error).__name__}: {text} (--debug shows where)"
        super().__init__(" ".join(printable(text).split()))

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
    text = _sentence(message) if isinstance(message, StructuredError) else _versions_in_words(str(message))
    click.echo(f"mgraph: warning: {' '.join(printable(text).split())}", err=True)


class _Lines(logging.Handler):
    """Prints what is logged, one line each."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print a record."""
        click.echo(f"mgraph: warning: {' '.join(printable(record.getMessage()).split())}", err=True)


@contextlib.contextmanager
def logged_warnings() -> Iterator[None]:
    """Print what mgraph logs as a warning, such as a worker that was lost, where logging is disabled otherwise.

    What other packages log stays hidden: Dask's loggers have handlers of their own, which are put aside.
    """
    disabled = logging.root.manager.disable
    if not disabled:  # all of it is shown
        yield
        return
    own, nowhere, lines = logging.getLogger("mgraph"), logging.NullHandler(), _Lines(logging.WARNING)
    others = [each for each in logging.root.manager.loggerDict.values() if isinstance(each, logging.Logger)]
    before = {logger: logger.handlers for logger in others if logger.handlers and logger is not own}
    try:
        for logger in before:
            logger.handlers = [nowhere]
        logging.root.addHandler(nowhere)  # else Python prints the warnings of loggers without handlers
        own.addHandler(lines)
        logging.disable(logging.NOTSET)
        yield
    finally:
        logging.disable(disabled)
        own.removeHandler(lines)
        logging.root.removeHandler(nowhere)
        for logger, handlers in before.items():
            logger.handlers = handlers


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


#: Options that stand for arguments of other names, by their first one: of these, what the command has.
_STAND_FOR = {
    "client": ("--workers", "--gpus or --devices"),
    "security": ("--tls-ca-file, --tls-cert and --tls-key",),
    "columns": ("--source-column, --target-column and --weight-column",),
}

#: An argument as the text of a plan has it: with a word, with True, or without a value.
_ARGUMENT = re.compile(r"\b([a-z_]+)=(?:'([^']+)'|(True)\b|(?=[ ;,)]|$))")


def explained(plan: "Plan", verbose: bool = False) -> str:
    """Return a plan in words, with the options of the command for the arguments that it names."""

    def option(found: re.Match[str]) -> str:
        return _spelled(ArgumentValue(found[1], found[2] or bool(found[3]) or ...))

    return _ARGUMENT.sub(option, plan.explain(verbose))


def _sentence(error: StructuredError) -> str:
    """Return the message of an error or a warning, with the options of the command for the arguments that it names."""
    return error.sentence(_spelled) if error.names_arguments else str(error)


def _spelled(part: Argument | ArgumentValue) -> str:
    """Return an argument of the library as an option of the command that runs, where it has one."""
    context = click.get_current_context(silent=True)
    parameters = [] if context is None else context.command.params  # another thread warns
    options = {option.name: option for option in parameters if isinstance(option, click.Option)}
    there = {name for option in options.values() for name in option.opts}
    for words in _STAND_FOR.get(part.name, ()):
        if re.split("[, ]", words)[0] in there:
            return words
    if part.name == "reduce" and isinstance(part, ArgumentValue) and part.value in options:
        part = ArgumentValue(part.value, True)  # each measure is a flag
    if part == ArgumentValue("weight", False):
        part = ArgumentValue("weighted", False)
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
    """Turn errors of the system, such as a full disk's, and of click into one line, as well as Ctrl-C.

    A broken pipe is left to click, which would end in 1 after Ctrl-C.
    """
    try:
        yield
    except KeyboardInterrupt as error:
        click.echo("mgraph: interrupted", err=True)
        raise click.exceptions.Exit(128 + signal.SIGINT) from error
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Failure(error) from error
    except click.ClickException as error:
        error.message = printable(error.message)  # type: ignore[misc]
        raise
