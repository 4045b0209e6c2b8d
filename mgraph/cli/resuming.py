"""``mgraph resume``: going on with a command from the checkpoints that it has written."""

import contextlib
import itertools
import os
from collections.abc import Iterable, Sequence
from typing import Any

import click

from ..errors import CheckpointError
from ..io.files import absolute
from ..runtime.checkpoints import checked_checkpoints
from .commands import main

#: Options with a value that say where a command runs, and how a scheduler is reached. A new place replaces them all.
PLACES = ("--device", "--workers", "--scheduler", "--scheduler-file")
WAYS = ("--wait-for-workers", "--tls-ca-file", "--tls-cert", "--tls-key")


@main.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog="Example: mgraph resume /scratch/run --scheduler-file scheduler.json",
)
@click.argument("folder", metavar="FOLDER")
@click.argument("options", nargs=-1, type=click.UNPROCESSED, metavar="[OPTIONS OF THE COMMAND]...")
@click.pass_context
def resume(ctx: click.Context, folder: str, options: tuple[str, ...]) -> None:
    """Go on with the command that has written checkpoints to FOLDER, in the folder in which it ran.

    It gets the options that it had, and those given here. They may name other devices or workers; paths in them are of
    the folder in which you are.

    The command is noted in FOLDER. So resume from folders only that nobody else can write to.
    """
    if folder.startswith("-"):
        raise click.UsageError(f"give FOLDER first, then the options of the command, got {folder!r}")
    wanted = checked_checkpoints(folder, None, True)
    assert wanted is not None
    words, ran_in = wanted.store.command()
    if not wanted.store.numbers():
        raise CheckpointError(f"{folder} holds no checkpoint to go on from: give the command itself again")
    command = main.get_command(ctx, words[0])
    if command is None or not any(each.name == "checkpoint" for each in command.params):
        raise CheckpointError(f"{folder}: mgraph has no command {words[0]!r} that writes checkpoints")
    moves = any(_named(each) in PLACES for each in options)
    end = words.index("--") if "--" in words else len(words)  # after it, words are files
    kept = _without((*PLACES, *WAYS), words[1:end]) if moves else words[1:end]
    arguments: list[Any] = [
        *kept,
        "--checkpoint",
        wanted.store.place,
        "--resume",
        *_from_here(command, options),
        *words[end:],
    ]
    if not os.path.isdir(ran_in):
        raise CheckpointError(f"{folder}: the command ran in {ran_in}, which is no folder here: its paths start there")
    with contextlib.chdir(ran_in):
        with command.make_context(words[0], arguments, parent=ctx.parent) as inner:
            if inner.params["checkpoint"] != wanted.store.place:
                raise click.UsageError(f"mgraph resume goes on in {folder}: --checkpoint cannot name another folder")
            command.invoke(inner)


def _named(word: str) -> str:
    """Return the option that a word of a command names, if it is one."""
    return word.partition("=")[0]


def _from_here(command: click.Command, options: Iterable[str]) -> list[str]:
    """Return options of a command, with the paths that they give as they are known in every folder."""
    known = [each for each in command.params if isinstance(each, click.Option)]
    files = [each for each in known if isinstance(each.type, click.Path) or each.name == "out"]  # or a URL
    names = {name for each in files for name in each.opts}
    found, ahead = [], iter(options)
    for word in ahead:
        name, equals, path = word.partition("=")
        if word in names:
            found += [word, *(absolute(path) for path in itertools.islice(ahead, 1))]
        else:
            found.append(f"{name}={absolute(path)}" if equals and name in names else word)
    return found


def _without(names: Sequence[str], words: Iterable[str]) -> list[str]:
    """Return the words of a command without some options and their values."""
    found, ahead = [], iter(words)
    for word in ahead:
        if word in names:
            next(ahead, None)
        elif _named(word) not in names:
            found.append(word)
    return found
