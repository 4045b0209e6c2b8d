"""Checkpoints of all pairs on workers: what they cost, and what a killed worker costs.

    python -m mgraph_bench.checkpoints FOLDER [--side S] [--workers P] [--every SECONDS] [--runs R] [--kill SECONDS]

The workers make a square grid of S x S vertices, and eliminate its n = S * S vertices by blocks. Calls without
checkpoints alternate with calls that write them to FOLDER. With `--kill`, one more call loses a worker so many seconds
after it has begun, and goes on from its last checkpoint. All results must have the same bits: some rows of each are
compared with those of the first. Each line is a row of JSON.
"""

import json
import os
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
from distributed import Client

import mgraph
from mgraph import device as devices
from mgraph.algorithms import bellman
from mgraph.cli import Command
from mgraph.cluster import local_client
from mgraph.errors import WrongResultError
from mgraph.runtime.dask.events import TOPIC

from .run import versions

#: Rows that are compared.
ROWS = 16


def call(graph: Any, folder: Path | None = None, every: float | None = None) -> tuple[Any, float]:
    """Return all pairs of a graph on workers, and the seconds of the call."""
    kept: dict[str, Any] = {} if folder is None else {"checkpoint": folder, "checkpoint_every": every}
    begun = time.perf_counter()
    found = mgraph.apsp(graph, method="blocked", dtype="float32", **kept)
    return found, time.perf_counter() - begun


def some_rows(found: Any) -> np.ndarray:
    """Return some rows of the distances."""
    return np.stack([found.distances.row(i) for i in bellman.sampled(found.plan.n, ROWS)])


def since(client: Client, begun: float) -> list[tuple[float, dict[str, Any]]]:
    """Return what the calls have told since a time, as the scheduler noted it."""
    return [(stamp, event) for stamp, event in client.get_events(TOPIC) if stamp >= begun]


def complete(events: list[tuple[float, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the checkpoints that were complete before the end of a call."""
    return [event for _, event in events if event["event"] == "checkpoint"]


def kill_later(client: Client, seconds: float) -> threading.Timer:
    """Return a timer that kills one of the workers."""
    victim = max(client.run(os.getpid).values())
    timer = threading.Timer(seconds, os.kill, (victim, signal.SIGKILL))
    timer.start()
    return timer


def recovered(events: list[tuple[float, dict[str, Any]]], killed: float) -> dict[str, Any]:
    """Return how a call went on after a kill at a time.

    At least the supersteps between that of the checkpoint and the last report before the kill were lost. Reports come
    once a second at most.
    """
    found: dict[str, Any] = {"complete_before": len(complete([each for each in events if each[0] < killed]))}
    before = [event["superstep"] for stamp, event in events if event["event"] == "span" and stamp < killed]
    kept = [event["superstep"] for stamp, event in events if event["event"] == "checkpoint" and stamp < killed]
    found |= {"superstep_reported": max(before, default=0), "superstep_kept": max(kept, default=0)}
    for name, kind in (("attempt_ended", "lost"), ("made_again", "again")):
        found[f"seconds_{name}"] = next((stamp - killed for stamp, e in events if e["event"] == kind), None)
    again = next((stamp for stamp, event in events if event["event"] == "again"), np.inf)
    first = next(((stamp, e) for stamp, e in events if e["event"] == "span" and stamp > again), None)
    if first is not None:
        found |= {"seconds_first_report": first[0] - killed, "superstep_of_it": first[1]["superstep"]}
    return found


def rows(
    client: Client, kind: str, side: int, folder: Path, every: float, runs: int, kill: float | None
) -> Iterator[dict[str, Any]]:
    """Yield a row for each call.

    Raises
    ------
    WrongResultError
        If a result differs from the first one.
    """
    small = mgraph.generate.grid(64, 64, weights=(1, 255), client=client, device=kind)
    call(small, folder, every)  # compiles
    shutil.rmtree(folder)
    graph = mgraph.generate.grid(side, side, weights=(1, 255), client=client, device=kind)
    expected = None
    for number in range(runs):
        for written in (None, folder):
            begun = time.time()
            found, seconds = call(graph, written, every)
            expected = some_rows(found) if expected is None else expected
            _check(found, expected)
            row = {"run": number, "checkpoints": written is not None, "n": found.plan.n, "call": seconds}
            row |= {"solve": found.timings["solve"], "complete": complete(since(client, begun))}
            del found
            yield row
            shutil.rmtree(folder, ignore_errors=True)
    if kill is not None:
        timer = kill_later(client, kill)
        begun = time.time()
        found, seconds = call(graph, folder, every)
        timer.join()
        _check(found, expected)
        events = since(client, begun)
        row = {"killed_after": kill, "call": seconds, "timings": found.timings, **recovered(events, begun + kill)}
        yield row | {"complete": complete(events)}
        shutil.rmtree(folder)


def _check(found: Any, expected: Any) -> None:
    if not np.array_equal(some_rows(found), expected):
        raise WrongResultError("the rows of a call differ from those of the first call")


@click.command(cls=Command)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--side", type=int, default=256, show_default=True, help="The grid has SIDE x SIDE vertices.")
@click.option("--workers", type=int, metavar="P", help="Dask workers of this machine; by default its GPUs, or 2.")
@click.option("--device", type=click.Choice(["cpu", "cuda"]), help="By default GPUs where there are any.")
@click.option("--every", type=float, default=3.0, show_default=True, help="Seconds between checkpoints.")
@click.option(
    "--runs", type=click.IntRange(1), default=2, show_default=True, help="Calls with checkpoints, and as many without."
)
@click.option("--kill", type=float, help="Kill a worker of one more call after so many seconds.")
def main(
    folder: Path, side: int, workers: int | None, device: str | None, every: float, runs: int, kill: float | None
) -> None:
    """Measure checkpoints that are written to FOLDER, which must not be there; it is removed at the end."""
    if folder.exists():
        raise click.UsageError(f"{folder} is there already")
    kind = device or ("cuda" if devices.gpu_count() else "cpu")
    click.echo(json.dumps({"device": devices.find(kind).model(), "versions": versions()}))
    with local_client(workers or devices.gpu_count() or 2, kind) as client:
        for row in rows(client, kind, side, folder, every, runs, kill):
            click.echo(json.dumps(row))


if __name__ == "__main__":
    main()
