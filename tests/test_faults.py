"""A small part of the matrix of faults, and that it finds what it looks for."""

import numpy as np
import pytest

from tests.faults.cases import Moment
from tests.faults.faults import FAULTS
from tests.faults.rounds import Rounds

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


@pytest.mark.parametrize("number", range(len(CELLS)))
def test_a_call_that_is_struck_ends_well_and_leaves_nothing(rounds, number):
    assert rounds.round(number) == []


def test_the_rounds_find_a_wrong_result(rounds):
    [number] = [number for number, cell in enumerate(rounds.cells) if cell == ("worker added", "superstep", "bfs")]
    right = rounds.expected["bfs"]
    rounds.expected["bfs"] = right + np.int32(1)
    try:
        assert any("WRONG" in problem for problem in rounds.round(number))
    finally:
        rounds.expected["bfs"] = right


def test_every_fault_and_moment_has_a_row_in_the_table(rounds):
    rows = rounds.table().splitlines()
    assert {fault for fault, *_ in CELLS} <= set(FAULTS) and {moment for _, moment, _ in CELLS} == set(Moment.NAMES)
    for fault, moment, _ in CELLS:
        assert any(row.startswith(f"| {fault} | {moment} |") for row in rows)
