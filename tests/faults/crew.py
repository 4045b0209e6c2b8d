"""Processes that make rounds side by side, each on sites of its own.

This process hands out the numbers of the rounds. One that ends in the middle of a round, as after a hang, is a problem
of that round, and another one takes its place.
"""

import contextlib
import multiprocessing
import signal
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from tests.faults.rounds import Cell, Rounds
from tests.faults.table import Made, Row

#: Seconds within which a process that is told to end has closed its sites.
ENDING = 30.0


def interrupted_by_signals() -> None:
    """Let SIGTERM raise KeyboardInterrupt, as Ctrl-C does; only the first of these signals does."""

    def interrupt(*_: object) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, interrupt)


class Crew:
    """Processes that make rounds. A context: it ends them.

    Parameters
    ----------
    folder : Path
        Where each process has a folder for its sites.
    jobs : int
        Number of processes.
    given
        The other arguments of `Rounds`.
    """

    def __init__(self, folder: Path, jobs: int, *given: Any) -> None:
        self._folder, self._given = folder, given
        self._started = 0
        self._processes: dict[Connection, Any] = {}
        #: The numbers of the rounds that are being made.
        self.underway: dict[Connection, int] = {}
        for _ in range(jobs):
            self._start()

    def __enter__(self) -> "Crew":
        return self

    def __exit__(self, *_: object) -> None:
        for pipe in self.underway:
            self._processes[pipe].terminate()
        for process in self._processes.values():
            process.join(ENDING)
            process.kill()

    def made(self, numbers: Iterator[int], cells: list[Cell], seconds: float) -> Iterator[Made]:
        """Make rounds; none begins after so many seconds, and those that have begun end.

        Parameters
        ----------
        numbers : iterator of int
            The numbers of the rounds.
        cells : list of Cell
            The cells of the rounds, in their order.
        seconds : float
            Seconds in which rounds begin.

        Yields
        ------
        Made
            Each round, once it is made.
        """
        last = time.monotonic() + seconds
        for pipe in list(self._processes):
            self._next(pipe, numbers, last)
        while self.underway:
            for pipe in wait(list(self.underway)):
                number = self.underway.pop(pipe)
                try:
                    yield pipe.recv()
                except (EOFError, ConnectionResetError):
                    process = self._processes.pop(pipe)
                    process.join(ENDING)
                    cell = cells[number % len(cells)]
                    words = f"round {number}: {', '.join(cell)}: its process ended with {process.exitcode}"
                    yield Made(*cell, Row({"ended": 1}, problems=1), [words])
                    pipe = self._start()
                self._next(pipe, numbers, last)

    def _next(self, pipe: Connection, numbers: Iterator[int], last: float) -> None:
        """Hand out the next round, if there is one and there is time; else let the process close its sites."""
        number = next(numbers, None) if time.monotonic() < last else None
        if number is None:
            pipe.close()
        else:
            pipe.send(number)
            self.underway[pipe] = number

    def _start(self) -> Connection:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_make, args=(theirs, self._folder / str(self._started), *self._given))
        process.start()
        theirs.close()
        self._started += 1
        self._processes[ours] = process
        return ours


def _make(pipe: Connection, folder: Path, *given: Any) -> None:
    """Process: make the rounds whose numbers come, until the pipe is closed."""
    interrupted_by_signals()
    with contextlib.suppress(EOFError, KeyboardInterrupt, BrokenPipeError), Rounds(folder, *given) as rounds:
        while True:
            pipe.send(rounds.round(pipe.recv()))
