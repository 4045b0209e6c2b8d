"""The command ``mgraph measures``: measures of distances, each an option."""

from typing import Any

import click

from ..algorithms.distances.entry import DISTANCES, MEASURED
from ..arguments import MEASURES, WITHIN, checked_number
from .algorithms import joined, options_of, runnable
from .commands import main
from .options import checkpoint_options, hierarchy_option, input_options, method_option, run_options
from .run import run_on_graph

_WORDS = {
    "eccentricity": "The greatest distance.",
    "mean": "The mean distance to the vertices within reach.",
    "closeness": "Closeness, by Wasserman and Faust; of a directed graph with --reverse.",
    "harmonic": "The sum of 1 / distance; of a directed graph with --reverse.",
    "out_closeness": "Closeness by the distances from each vertex of a directed graph.",
    "out_harmonic": "The sum of 1 / distance from each vertex of a directed graph.",
    "reached": "The number of vertices within reach.",
}


def _spelled(name: str) -> str:
    """Return the option of a measure."""
    return f"--{name.replace('_', '-')}"


def _measures(within: tuple[float, ...], **given: Any) -> None:
    wanted: list[Any] = [name for name in MEASURES if given.pop(name)]
    if within:
        wanted.append((WITHIN, [checked_number(WITHIN, radius, 0) for radius in within]))
    if not wanted:
        raise click.UsageError(f"give one or several of {', '.join(map(_spelled, (*MEASURES, WITHIN)))}")
    run_on_graph(DISTANCES.call, MEASURED, reduce=wanted, **joined(MEASURED, given))


main.add_command(
    runnable(
        MEASURED,
        _measures,
        input_options,
        hierarchy_option,
        *(click.option(_spelled(name), name, is_flag=True, help=_WORDS[name]) for name in MEASURES),
        click.option(
            f"--{WITHIN}",
            WITHIN,
            type=float,
            multiple=True,
            metavar="D",
            help="The number of vertices at distances up to D. Give it again for each further radius.",
        ),
        *options_of(MEASURED),
        method_option(*DISTANCES.methods),
        checkpoint_options,
        run_options,
    )
)
