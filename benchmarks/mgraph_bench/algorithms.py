"""The algorithms that are measured, an entry each: its call, its verifier, its work and its ceiling."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import mgraph
from mgraph.algorithms import work
from mgraph.algorithms.apsp import verify as apsp
from mgraph.algorithms.apsp.plan import METHODS as APSP_METHODS
from mgraph.algorithms.bfs import by_level as bfs_by_level
from mgraph.algorithms.bfs import verify as bfs
from mgraph.algorithms.bfs.plan import BFS_METHODS
from mgraph.algorithms.closure import verify as closure
from mgraph.algorithms.components import verify as components
from mgraph.algorithms.components.plan import METHODS as COMPONENTS_METHODS
from mgraph.algorithms.list_rank import verify as list_rank
from mgraph.algorithms.list_rank.plan import METHODS as RANKING_METHODS
from mgraph.algorithms.sssp import plan as sssp_plan
from mgraph.algorithms.sssp import verify as sssp

from . import ceilings

#: Raises unless a result is right; it is given the input, the result's arrays by name and where it starts.
Check = Callable[[Any, dict[str, Any], Any], str]


def _planned_steps(result: Any) -> int | None:
    return int(result.plan.steps)


def _counted(result: Any) -> int | None:
    return int(result.iterations)


def _jumps(result: Any) -> int | None:
    made = result.plan
    return max(1, math.ceil(math.log2(max(2, made.n)))) if made.method == "wyllie" else None


@dataclass(frozen=True)
class Algorithm:
    """An algorithm, for benchmarks.

    Attributes
    ----------
    call : callable
        The public call.
    checks : dict of str to callable
        The checks of a result, by the names that suites give them.
    work : callable
        Returns the work of a call.
    rounds : callable
        Returns the rounds, levels or products that a result took; None where none are counted.
    methods : tuple of str
        Those of the call, beside ``"auto"``.
    takes : tuple of str
        Its kinds of input: ``"graph"``, ``"matrix"``, ``"list"``.
    start : str
        The argument that says where it starts: ``"source"``, ``"sources"``, or "" for none.
    unique : tuple of str
        The result's arrays that every method returns bit for bit: a result that equals a verified one is right.
    ceiling : callable or None
        Returns the most work a second that a device's measured ceilings allow.
    """

    call: Callable[..., Any]
    checks: dict[str, Check]
    work: work.Measure
    rounds: Callable[[Any], int | None]
    methods: tuple[str, ...] = ()
    takes: tuple[str, ...] = ("graph",)
    start: str = ""
    unique: tuple[str, ...] = ()
    ceiling: ceilings.Ceiling | None = None
    arrays: Callable[[Any], dict[str, Any]] = field(
        default=lambda result: {
            name: getattr(result, name) for name in ("distances", "labels", "count", "ranks") if hasattr(result, name)
        }
    )


#: By the names that suites and plans give them.
ALGORITHMS: dict[str, Algorithm] = {
    "apsp": Algorithm(
        call=mgraph.apsp,
        methods=APSP_METHODS,
        takes=("graph", "matrix"),
        checks={"diagonal": apsp.diagonal, "rows": apsp.rows, "elements": apsp.elements},
        work=work.of_pairs,
        rounds=_planned_steps,
        ceiling=ceilings.of_products,
    ),
    "bfs": Algorithm(
        call=mgraph.bfs,
        methods=(*BFS_METHODS, *bfs_by_level.METHODS),
        start="source",
        checks={"distances": bfs.distances},
        unique=("distances",),
        work=work.of_search(4),
        rounds=lambda result: len(result.levels),
        ceiling=ceilings.of_reads(1, 1),  # of a bitmap of the visited
    ),
    "bfs_many": Algorithm(
        call=mgraph.bfs_many,
        start="sources",
        checks={"distances": bfs.rows},
        work=work.of_searches,
        rounds=lambda result: None,
    ),
    "sssp": Algorithm(
        call=mgraph.sssp,
        methods=sssp_plan.METHODS,
        start="source",
        checks={"distances": sssp.distances},
        unique=("distances",),
        work=work.of_search(8),
        rounds=_counted,
        ceiling=ceilings.of_reads(1, 32),  # of a distance
    ),
    "components": Algorithm(
        call=mgraph.connected_components,
        methods=COMPONENTS_METHODS,
        checks={"labels": components.labels, "count": components.count},
        unique=("labels", "count"),
        work=work.of_edges,
        rounds=_counted,
        ceiling=ceilings.of_reads(1, 32),  # of a label
    ),
    "closure": Algorithm(
        call=mgraph.transitive_closure,
        checks={"rows": closure.rows},
        arrays=lambda result: {"reachable": result},
        work=work.of_bits,
        rounds=_planned_steps,
    ),
    "list_rank": Algorithm(
        call=mgraph.list_rank,
        methods=RANKING_METHODS,
        takes=("list",),
        checks={"ranks": list_rank.ranks},
        work=work.of_elements,
        rounds=_jumps,
        ceiling=ceilings.of_reads(3, 32),  # the successor, what the walk writes, and the rank
    ),
}


def check(algorithm: str, graph: Any, arrays: dict[str, Any], start: Any = None, names: Any = ()) -> str:
    """Raise unless a result is right; return in words how it was verified.

    Parameters
    ----------
    algorithm : str
        One of `ALGORITHMS`.
    graph : Graph, array of shape (n, n), or array of shape (n,)
        What was solved.
    arrays : dict of str to array
        The result's, by name.
    start : int or sequence of int, optional
        Where it starts.
    names : iterable of str
        Which of the algorithm's checks to make; by default all.

    Raises
    ------
    WrongResultError
        If the result is wrong.
    """
    checks = ALGORITHMS[algorithm].checks
    words = [made(graph, arrays, start) for name, made in checks.items() if not names or name in names]
    return ", ".join(filter(None, words))
