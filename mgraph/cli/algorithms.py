"""The commands that run an algorithm."""

from functools import partial
from pathlib import Path
from typing import Any

import click

import mgraph

from ..algorithms.apsp.plan import METHODS
from ..algorithms.bfs import by_level as bfs_by_level
from ..algorithms.bfs.plan import BFS_METHODS
from ..algorithms.components import plan as components_plan
from ..algorithms.list_rank import plan as ranking_plan
from ..algorithms.sssp import plan as sssp_plan
from ..io import read_list
from .commands import main
from .options import (
    INPUT_FILE,
    SOURCE,
    TARGET,
    input_options,
    method_option,
    pairs_options,
    predecessors_option,
    run_options,
)
from .run import opened, perform, run_on_graph
from .summaries import described_list, lengths, levels, pairs, ranked, reachable, sizes


@main.command(epilog="Example: mgraph apsp --rmat 11 --out distances.npy")
@input_options
@method_option(*METHODS)
@pairs_options("The type to compute in; by default that of the weights; auto: the narrowest that is exact.", "auto")
@predecessors_option
@run_options
def apsp(**given: Any) -> None:
    """Find the shortest paths between all pairs of the vertices of FILE's graph."""
    run_on_graph(mgraph.apsp, pairs, **given)


@main.command(epilog="Example: mgraph bfs roads.gr --source 0 --predecessors --out tree.npz")
@input_options
@click.option(
    "--source",
    "sources",
    type=int,
    multiple=True,
    default=(0,),
    show_default="0",
    metavar="V",
    help=f"{SOURCE} Give it again to start from several at once.",
)
@click.option(
    "--limit", type=int, metavar="N", help="Greatest distance to search to; vertices beyond it count as unreached."
)
@click.option("--max-depth", type=int, hidden=True)  # the former name, which the call warns of
@click.option("--target", type=int, metavar="V", help=TARGET)
@method_option(*BFS_METHODS, *bfs_by_level.METHODS)
@predecessors_option
@run_options
def bfs(**given: Any) -> None:
    """Find every vertex's distance in edges from one vertex of FILE's graph, or from the nearest of several."""
    run_on_graph(mgraph.bfs, partial(levels, target=given["target"]), **given)


@main.command(epilog="Example: mgraph sssp roads.gr --source 0 --predecessors --out tree.npz")
@input_options
@click.option("--source", type=int, default=0, show_default=True, metavar="V", help=SOURCE)
@click.option("--dtype", type=click.Choice(["float32", "float64", "int32"]), help="By default that of the weights.")
@click.option(
    "--limit", type=float, metavar="D", help="Greatest distance to search to; vertices beyond it count as unreached."
)
@click.option("--target", type=int, metavar="V", help=TARGET)
@method_option(*sssp_plan.METHODS)
@predecessors_option
@run_options
def sssp(**given: Any) -> None:
    """Find the shortest paths from one vertex of FILE's graph."""
    run_on_graph(mgraph.sssp, partial(lengths, target=given["target"]), **given)


@main.command(epilog="Example: mgraph components friends.txt --relabel --out labels.npy")
@input_options
@method_option(*components_plan.METHODS)
@click.option("--connection", type=click.Choice(["weak", "strong"]), default="weak", show_default=True)
@run_options
def components(**given: Any) -> None:
    """Find the connected components of FILE's graph; each vertex is labelled with the least of its own."""
    run_on_graph(mgraph.connected_components, sizes, **given)


@main.command(epilog="Example: mgraph closure calls.txt --relabel --out reachable.npy")
@input_options
@click.option("--reflexive/--irreflexive", default=True, show_default=True, help="Whether every vertex reaches itself.")
@run_options
def closure(**given: Any) -> None:
    """Find which vertices of FILE's graph can be reached from which; saved as bits, 32 to a word."""
    run_on_graph(mgraph.transitive_closure, reachable, **given)


@main.command(epilog="Example: mgraph rank successors.npy --out ranks.npy")
@click.argument("file", type=INPUT_FILE)
@method_option(*ranking_plan.METHODS)
@click.option(
    "--splitters",
    type=int,
    metavar="N",
    help="About how many splitters to walk from; by default enough to keep the device busy.",
)
@run_options
def rank(file: Path, **given: Any) -> None:
    """Find every element's distance to the last of its list.

    FILE holds the successor of each element, the last of a list names itself: an array (.npy), or text, a number a
    line. Elements are numbered from 0.
    """
    perform(mgraph.list_rank, lambda: read_list(opened(file)), described_list, ranked, **given)
