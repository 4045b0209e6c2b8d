"""The commands that run an algorithm, each made from its entry of the registry."""

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import click

from ..algorithms.command import Command, Option
from ..algorithms.entry import Algorithm
from ..algorithms.registry import ALGORITHMS
from ..errors import InputError, MgraphError, MissingFileError, shown
from ..io import read_list
from .commands import Command as Runnable
from .commands import main
from .messages import Failure
from .options import (
    INPUT_FILE,
    checkpoint_options,
    hierarchy_option,
    input_options,
    method_option,
    options,
    run_options,
)
from .run import opened, perform, run_on_graph
from .summaries import described_list

#: What the names of options of single vertices begin with: a call has no argument of them.
_SINGLE = "single_"


def option(given: Option) -> Any:
    """Return an argument of a call as an option of click's."""
    spelled = given.spelled or f"--{given.name.replace('_', '-')}"
    flag, pair = given.type is bool, "/" in spelled
    shown = given.default is not None and (pair or not flag)
    kind: Any = click.Choice(given.type) if isinstance(given.type, tuple) else given.type
    kind = click.UNPROCESSED if given.vertices else kind
    passed = {"type": click.UNPROCESSED, "flag_value": given.flag} if flag and not pair else {"type": kind}
    return click.option(
        spelled,
        given.name,
        **passed,
        is_flag=flag,
        default=False if flag and not pair else given.default,
        show_default=" ".join(map(str, given.default)) if given.several else shown,
        multiple=given.several,
        metavar=given.metavar,
        help=given.help or None,
        callback=None if given.read is None else partial(_read, given.read),
    )


def options_of(offered: Command) -> list[Any]:
    """Return the options of a command's own as those of click."""
    return [*map(option, offered.options), *(_single(each) for each in offered.options if each.single)]


def _single(given: Option) -> Any:
    """Return the option that names single vertices in place of a file of them."""
    name = given.name.removesuffix("s")
    text = f"One of these, by its number or id, in place of a file; may be given several times. See --{given.name}."
    return click.option(f"--{name}", _SINGLE + name, type=click.UNPROCESSED, multiple=True, metavar="V", help=text)


def joined(offered: Command, given: dict[str, Any]) -> dict[str, Any]:
    """Return the options with the single vertices under the names of lists."""
    for each in (each for each in offered.options if each.single):
        name = each.name.removesuffix("s")
        vertices = given.pop(_SINGLE + name)
        if vertices and given[each.name] is not None:
            raise click.UsageError(f"give only one of --{name} and --{each.name}")
        if vertices:
            given[each.name] = vertices
    return given


def _read(read: Callable[[Any], Any], context: click.Context, parameter: click.Parameter, value: Any) -> Any:
    """Return what is made of an option's value, if it was given."""
    try:
        return None if value is None else read(value)
    except MissingFileError as error:
        words = f"--{parameter.name} takes a file, with a vertex a line, and there is no such file: {shown(value)}"
        one = f"--{str(parameter.name).removesuffix('s')}"
        there = {name for each in context.command.params for name in each.opts}
        raise Failure(InputError(f"{words}; one vertex is {one} {value}" if one in there else words)) from error
    except MgraphError as error:  # before the command runs, which reports its own
        raise Failure(error) from error


def command(entry: Algorithm, offered: Command) -> click.Command:
    """Return a command of an algorithm."""
    of_lists, call = "list" in entry.takes, offered.call or entry.call

    def run(**given: Any) -> None:
        given = joined(offered, given)
        if of_lists:
            file = given.pop("file")
            perform(call, offered, lambda: read_list(opened(file)), described_list, **given)
        else:
            run_on_graph(call, offered, **given)

    return runnable(
        offered,
        run,
        click.argument("file", type=INPUT_FILE) if of_lists else input_options,
        *([hierarchy_option] if offered.prepared else []),
        *options_of(offered),
        *([method_option(*entry.methods)] if entry.methods else []),
        *([checkpoint_options] if "checkpoint" in inspect.signature(call).parameters else []),
        run_options,
    )


def runnable(offered: Command, run: Callable[..., None], *decorators: Callable[[Any], Any]) -> click.Command:
    """Return a command that runs a function, with what these decorators add to it."""
    how: dict[str, Any] = {"help": inspect.cleandoc(offered.help), "epilog": f"Example: {offered.example}"}
    made: click.Command = click.command(offered.name, cls=Runnable, **how)(options(*decorators)(run))
    return made


for _entry in ALGORITHMS.values():
    for _offered in (_entry.command, *_entry.further_commands):
        if _offered is not None:
            main.add_command(command(_entry, _offered))
