"""The commands of ``mgraph``: what each does with errors, and the group of them, other packages' commands too."""

import contextlib
import importlib
import logging
import signal
import sys
import traceback
import warnings
from typing import TYPE_CHECKING, Any, NoReturn

import click

from .. import lazy
from ..errors import FormatError, InputError, MemoryLimitError, MissingPackageError, OutputExistsError, interrupted
from ..version import __version__
from .interrupts import Terminated, closed
from .messages import Failure, Misuse, one_line, show_warning

if TYPE_CHECKING:
    from importlib import metadata

#: Where a command's context has the words by which it was called.
WORDS = "mgraph.words"


class WithExample(click.Command):
    """A command whose help ends with its example in one line, to be copied, however long it is."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the example."""
        if self.epilog:
            formatter.write(f"\n  {self.epilog}\n")


class Command(WithExample):
    """A command whose errors and warnings are one line each; ``--debug`` adds the traceback and Dask's log."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.append(click.Option(["--debug"], is_flag=True, help="Show an error's traceback, and Dask's log."))

    def make_context(self, info_name: str | None, args: list[str], *others: Any, **options: Any) -> click.Context:
        """Parse the options, and note the words."""
        words = [info_name, *args]
        ctx = super().make_context(info_name, args, *others, **options)
        ctx.meta[WORDS] = words
        return ctx

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        debug = ctx.params.pop("debug")
        logged = logging.root.manager.disable
        if not debug:
            logging.disable()  # our error replaces Dask's long log message
        try:
            silent = ctx.params.get("quiet") or ctx.params.get("as_json") or closed(sys.stderr)
            notice = importlib.import_module("mgraph.device.notice").NOTICE  # with NumPy, which the group does without
            with warnings.catch_warnings(), contextlib.nullcontext() if silent else notice.everywhere():
                warnings.showwarning = show_warning
                return super().invoke(ctx)
        except KeyboardInterrupt as error:
            _stop(ctx, error)
        except (click.ClickException, click.exceptions.Exit, BrokenPipeError):
            raise  # click knows what to do
        except Exception as error:
            if interrupted(error):
                _stop(ctx)
            if debug:
                traceback.print_exc()
            refused = InputError, MemoryLimitError, OutputExistsError
            misuse = isinstance(error, refused) and not isinstance(error, FormatError)
            raise (Misuse if misuse else Failure)(error) from error
        finally:
            logging.disable(logged)


def _stop(ctx: click.Context, error: BaseException | None = None) -> NoReturn:
    terminated = isinstance(error, Terminated)
    click.echo("mgraph: terminated" if terminated else "mgraph: interrupted", err=True)
    ctx.exit(128 + (signal.SIGTERM if terminated else signal.SIGINT))


#: The group of entry points by which other packages add commands: a name, and the click command that it stands for.
COMMANDS = "mgraph.commands"


def _loaded(point: "metadata.EntryPoint") -> click.Command:
    command = point.load()
    if not isinstance(command, click.Command):
        raise TypeError(f"{point.value} is not a click command")
    return command


def _without(name: str, error: Exception) -> click.Command:
    """Return a command in place of one that cannot be imported: its help and its run say why in a line."""
    why = " ".join(f"cannot be imported: {error}".split())

    def fail() -> NoReturn:
        raise MissingPackageError(f"the command {name!r} {why}; install its package again") from error

    anything = {"ignore_unknown_options": True, "allow_extra_args": True}
    return Command(name, callback=fail, short_help=f"({why})", add_help_option=False, context_settings=anything)


#: The modules that have the commands. Each is imported when one of its commands is asked for.
MODULES = {
    "calibrate": ".machine",
    "completion": ".completion",
    "customize": ".hierarchies",
    "datasets": ".datasets",
    "flows": ".hierarchies",
    "hierarchy": ".hierarchies",
    "info": ".machine",
    "load": ".residents",
    "measures": ".measures",
    "pairs": ".hierarchies",
    "plan": ".plans",
    "resume": ".resuming",
    "roads": ".road_tables",
    "run": ".script",
    "unload": ".residents",
    "warm-up": ".machine",
}

#: The module of all others, which are made from the registry of algorithms.
_ALGORITHMS = ".algorithms"

#: Calls of the library that are options of another command.
_ELSEWHERE = {
    "closeness": "mgraph measures --closeness",
    "harmonic_closeness": "mgraph measures --harmonic",
    "average_distance": "mgraph measures --mean",
    "apsp_batch": "mgraph.apsp_batch, a call of Python",
    **dict.fromkeys(("shortest_path", "dijkstra"), "mgraph sssp --source V --target V --predecessors"),
    "hop_plot": "mgraph distance-histogram",
    "effective_diameter": "mgraph distance-histogram",
    **dict.fromkeys(
        ("diameter", "radius", "eccentricity", "center", "periphery"),
        "mgraph measures --eccentricity, whose least and greatest are the radius and the diameter",
    ),
}


class Commands(WithExample, click.Group):
    """The commands, including those of other packages; each is imported when it is asked for.

    Errors before a command runs, as in its help, are one line.
    """

    command_class = Command

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        for module in {*MODULES.values(), _ALGORITHMS}:
            importlib.import_module(module, __package__)
        return sorted({*super().list_commands(ctx), *lazy.metadata().entry_points(group=COMMANDS).names})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of a name; None where there is none."""
        importlib.import_module(MODULES.get(cmd_name, _ALGORITHMS), __package__)
        found = super().get_command(ctx, cmd_name)
        others = () if found is not None else lazy.metadata().entry_points(group=COMMANDS, name=cmd_name)
        for point in others:
            try:
                return _loaded(point)
            except Exception as error:  # importing another package's module may raise any
                found = _without(cmd_name, error)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the words name; of a call that is an option elsewhere, say where."""
        name = args[0].replace("-", "_")
        if name in _ELSEWHERE and self.get_command(ctx, args[0]) is None:
            raise click.UsageError(f"No such command {args[0]!r}: it is {_ELSEWHERE[name]}.", ctx)
        return super().resolve_command(ctx, args)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Parse the options before the command."""
        with one_line():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Parse the command's own options and run it."""
        with one_line():
            return super().invoke(ctx)


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Example: mgraph apsp --rmat 8",
)
@click.version_option(__version__, prog_name="mgraph")
def main() -> None:
    """Graph algorithms by one call: on a CPU, on one GPU, on all GPUs of a host, on a Dask cluster."""
