"""A call between its arguments and its result: where it runs, by which plan, and what came of it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ..arguments import checked_choice
from ..graph import Graph, PlacedGraph, as_any_graph, as_graph, size_and_device
from ..planning.plan import Plan
from ..planning.shape import shape_beside
from .checkpoints import Checkpoints, checked_resumable, plan_with_copies
from .program import Executor, Outcome, Program, Progress
from .run import Run
from .select import (
    at_home,
    checked_memory_limit,
    checked_span,
    checkpoints_of,
    cut_of,
    executor,
    is_small,
    near_workers,
    parts,
    runner_of,
    specs_holding,
)

#: The options that a runner is chosen by.
LOOKED_UP = frozenset(("device", "client"))


class Call:
    """A call and where it runs.

    Parameters
    ----------
    run : Run
        Where and how to run, as the caller says.
    runner : Executor
        What runs programs.

    Attributes
    ----------
    runner : Executor
        As above.
    place : Device or None
        The device, if it is one of this process.
    checkpoints : Checkpoints or None
        The checkpoints to write.
    progress : Progress or None
        What is called with the progress.
    memory_limit, span : int or None
        The most bytes to allocate on a device, and the supersteps between two reports.
    """

    def __init__(self, run: Run, runner: Executor) -> None:
        self.runner, self.place = runner, runner.place
        self.checkpoints: Checkpoints | None = None
        self.progress: Progress | None = None
        self.memory_limit: int | None = None
        self.span: int | None = None
        if run.keys() - LOOKED_UP or runner.place is None:  # a small call is checked no longer than it runs
            self.checkpoints, self.progress = checkpoints_of(run), run.get("progress")
            self.memory_limit, self.span = checked_memory_limit(run, runner), checked_span(run)

    def method(self, algorithm: str, asked: str, methods: Sequence[str]) -> str:
        """Return the method that is asked for; of a call that goes on from a checkpoint, and asks for none, its own."""
        if not isinstance(asked, str) or asked != "auto":
            checked_choice("method", asked, ("auto", *methods))
        return asked if self.checkpoints is None else self.checkpoints.method(algorithm, asked, methods)

    def run(
        self, program: Program, piece: Callable[[int], Any], plan: Plan, *, resume: bool = False
    ) -> tuple[Plan, Outcome]:
        """Run a program by its plan; return the outcome, and the plan with what only the run has shown.

        That is the memory that checkpoints take, and how GPUs of a host have exchanged data.

        With `resume`, go on from the checkpoints of a program that this call has run before.
        """
        checkpoints = self.checkpoints
        if checkpoints is not None:
            plan = plan_with_copies(plan, checked_resumable(program, plan), self.memory_limit)
            checkpoints = replace(checkpoints, resume=True) if resume else checkpoints
        outcome = self.runner.run(program, piece, plan, self.progress, checkpoints)
        if plan.detail.meeting_way and plan.detail.meets:  # of most calls the first is empty, and they call no function
            way = outcome.meeting_way or plan.detail.meeting_way
            plan = replace(plan, detail=replace(plan.detail, meeting_way=way))
        return plan, outcome

    def anew(self) -> None:
        """Remove the checkpoints of an attempt that has failed."""
        if self.checkpoints is not None:
            self.checkpoints = self.checkpoints.anew()


class GraphCall(Call):
    """A call on a graph whose vertices are dealt to the devices in ranges.

    Parameters
    ----------
    graph : Graph or PlacedGraph
        The graph.
    run : Run
        Where and how to run, as the caller says.
    rows : int
        Number of sources, if the call computes a row for each.
    """

    def __init__(self, graph: Graph | PlacedGraph, run: Run, rows: int = 0) -> None:
        super().__init__(run, runner_of(graph, run, rows))
        self.graph = graph

    def planned(
        self,
        planner: Callable[..., Plan],
        *kept: str,
        orders: tuple[str, ...] = ("csc", "csr"),
        **asked: Any,
    ) -> Plan:
        """Return the plan that a planner makes for the graph and the devices.

        Parameters
        ----------
        planner : callable
            Takes the numbers of vertices and edges, the devices, and options by name.
        *kept : str
            Names of arrays that the graph may keep on the devices, which the plan's peak includes.
        orders : tuple of str
            The orders of edges that the peak includes.
        **asked
            The planner's own options.
        """
        graph, runner = self.graph, self.runner
        m = graph.m
        return planner(
            graph.n,
            m,
            specs_holding(runner, graph, *kept, orders=orders),
            memory_limit=self.memory_limit,
            span=self.span,
            indptr=cut_of(runner, graph) if self.place is None else None,
            shape=shape_beside(graph, m, runner.specs),
            **asked,
        )

    def solved(self, program: Program, plan: Plan, *, weighted: bool = True, resume: bool = False) -> dict[str, Any]:
        """Return what a result is made of: the program's arrays, where the graph is, with the plan and the timings.

        Parameters
        ----------
        program : Program
            The program.
        plan : Plan
            Its plan.
        weighted : bool
            Whether the program reads the weights.
        resume : bool
            Whether to go on from the checkpoints of a program that this call has run before.
        """
        graph, place = self.graph, self.place
        pieces = parts(self.runner, graph, plan, weighted=weighted) if place is None else (graph,).__getitem__
        plan, outcome = self.run(program, pieces, plan, resume=resume)
        on_host = place is not None and place.kind == graph.device == "cpu"
        arrays = outcome.arrays if on_host else at_home(graph, outcome.arrays)
        return {**arrays, "plan": plan, "timings": outcome.timings}


class MatrixCall(Call):
    """A call on a matrix, or on a graph all of whose edges each device reads.

    Parameters
    ----------
    matrix_or_graph : Graph, DistributedGraph, sparse or dense matrix
        The caller's input.
    run : Run
        Where and how to run, as the caller says.

    Attributes
    ----------
    given : Graph, PlacedGraph or sparse matrix
        The input; the edges of a sparse matrix are not read yet.
    n, entries : int
        Numbers of vertices, and of stored edges.
    specs : tuple of DeviceSpec
        The devices.
    """

    def __init__(self, matrix_or_graph: Any, run: Run) -> None:
        matrix, near = near_workers(matrix_or_graph, run)
        self.given: Any = matrix if hasattr(matrix, "tocoo") else as_any_graph(matrix)
        self.n, home, self.entries = size_and_device(self.given)
        placed = isinstance(self.given, PlacedGraph)
        if placed:
            runner = runner_of(self.given, run)
        else:
            runner = near or executor(run, home, small=is_small(self.n, self.entries))
        super().__init__(run, runner)
        # One worker has all edges already; of several, each gathers them.
        alone = placed and len(runner.specs) == 1
        self.specs = specs_holding(runner, self.given) if alone else runner.specs

    def graph(self) -> Graph | PlacedGraph:
        """Return the input as a graph, whose edges are sorted and checked now, if they were not."""
        return self.given if isinstance(self.given, PlacedGraph) else as_graph(self.given)
