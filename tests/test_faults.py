"""A small part of the matrix of faults, and that it finds what it looks for."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import psutil
import pytest

from tests.faults.cases import Moment
from tests.faults.faults import FAULTS
from tests.faults.rounds import Rounds
from tests.faults.site import wait_until
from tests.faults.table import Made, Row, Table
from tests.support.parameters import exhaustive

#: Ten cells; each moment, and each kind of site but that of little memory, which takes long to start.
CELLS = [
    ("SIGKILL", "superstep", "bfs"),
    ("SIGKILL", "exchange", "apsp"),
    ("SIGKILL, same address", "collecting", "bfs"),
    ("SIGTERM", "opening", "apsp"),
    ("SIGSTOP", "superstep", "bfs"),
    ("restarted", "superstep", "apsp in one span"),
    ("worker added", "superstep", "bfs"),
    ("client killed", "superstep", "apsp"),
    ("network cut for 1 s", "exchange", "bfs"),
    ("scheduler killed", "collecting", "bfs"),
]


@pytest.fixture(scope="module")
def rounds(tmp_path_factory):
    with Rounds(tmp_path_factory.mktemp("faults"), 0, CELLS, workers=2) as made:
        yield made


@pytest.mark.parametrize("number", [4, 7, *exhaustive(0, 1, 2, 3, 5, 6, 8, 9)])
def test_a_call_that_is_struck_ends_well_and_leaves_nothing(rounds, number):
    for _ in range(5):
        made = rounds.round(number)
        assert made.problems == []
        if not made.row.missed:
            return
    pytest.fail("the call was never struck")


def test_the_rounds_find_a_wrong_result(rounds):
    [number] = [number for number, cell in enumerate(rounds.cells) if cell == ("worker added", "superstep", "bfs")]
    right = rounds.expected["bfs"]
    rounds.expected["bfs"] = right + np.int32(1)
    try:
        assert any("WRONG" in problem for problem in rounds.round(number).problems)
    finally:
        rounds.expected["bfs"] = right


def test_the_rounds_find_a_traceback_in_the_log(rounds):
    site = rounds.site("plain")
    with pytest.raises(ZeroDivisionError):
        site.client.run_on_scheduler(divmod, 1, 0)
    assert ["ZeroDivisionError" in record for record in site.logged()] == [True]
    assert site.logged() == []


def test_every_fault_and_moment_has_a_row_in_the_table():
    assert {fault for fault, *_ in CELLS} <= set(FAULTS) and {moment for _, moment, _ in CELLS} == set(Moment.NAMES)
    table = Table()
    for cell in CELLS * 2:
        table.add(Made(*cell, Row(Counter(right=1), slowest=0.5), []))
    rows = str(table).splitlines()
    for fault, moment, _ in CELLS:
        assert f"| {fault} | {moment} | 2 | 2 | 0 |  | 0 | 0.5 | 0 |" in rows


@pytest.mark.exhaustive
def test_processes_side_by_side_end_with_their_table_when_they_are_told_to(tmp_path):
    table = tmp_path / "table.md"
    given = ["--jobs", "2", "--workers", "2", "--fault", "SIGKILL", "--algorithm", "bfs", "--table", str(table)]
    making = subprocess.Popen(
        [sys.executable, "-m", "tests.faults", *given],
        cwd=Path(__file__).parents[1],
        env=os.environ | {"TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
    )
    wait_until(table.exists, "no round is made")
    descendants = psutil.Process(making.pid).children(recursive=True)
    making.terminate()
    printed, _ = making.communicate()
    assert making.returncode == 0
    assert "stopped in the rounds" in printed and ": 0 problems" in printed and "| SIGKILL |" in table.read_text()
    wait_until(lambda: not any(process.is_running() for process in descendants), "processes are left")
    assert [path.name for path in tmp_path.iterdir()] == ["table.md"]
