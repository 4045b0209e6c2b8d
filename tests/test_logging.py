"""Messages that mgraph sends to the standard library's logger `mgraph`."""

import logging
import subprocess
import sys

import numpy as np
from distributed import Client, LocalCluster

import mgraph
from mgraph.generate import grid


def logged(caplog, level):
    """Return the messages of mgraph at a level."""
    return [
        record.getMessage()
        for record in caplog.records
        if record.name.startswith("mgraph.") and record.levelno == level
    ]


def test_a_program_that_configures_no_logging_sees_warnings_alone():
    program = """
import logging, mgraph
mgraph.bfs(mgraph.generate.grid(3, 3), 0, device="cpu")
logging.getLogger("mgraph.runtime").warning("a warning")
logging.getLogger("mgraph.runtime").info("no warning")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "a warning\n")


def test_the_plan_is_logged_on_one_line(caplog):
    caplog.set_level(logging.INFO, logger="mgraph")
    plan = mgraph.apsp(np.ones((5, 5)), method="naive", device="cpu").plan
    assert logged(caplog, logging.INFO) == [f"apsp: method naive on cpu, predicted {plan.seconds:.3g} s"]
    assert not logged(caplog, logging.DEBUG)


def test_details_are_logged_for_debugging(caplog):
    caplog.set_level(logging.DEBUG, logger="mgraph")
    graph = grid(4, 4)
    result = mgraph.bfs(graph, 0, device="cpu", span=2)
    lines = logged(caplog, logging.DEBUG)
    assert f"the plan:\n{result.plan.explain(True)}" in lines
    spans = [line for line in lines if line.startswith("bfs: a span from superstep ")]
    assert spans and spans[0].startswith("bfs: a span from superstep 0 to ")
    assert spans[-1].endswith(", the last one") and not any("last" in line for line in spans[:-1])


def test_what_a_graph_keeps_is_logged_once(caplog):
    caplog.set_level(logging.DEBUG, logger="mgraph")
    graph = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 0])
    for _ in range(2):
        graph.csc()
    assert [line for line in logged(caplog, logging.DEBUG) if "keeps" in line] == [
        f"{graph!r} keeps its edges as csc on cpu"
    ]


def test_sessions_are_logged(caplog):
    caplog.set_level(logging.DEBUG, logger="mgraph")
    options = {"processes": False, "threads_per_worker": 1, "memory_limit": 0, "dashboard_address": ":0"}
    with LocalCluster(n_workers=2, **options) as cluster, Client(cluster) as client:
        plan = mgraph.bfs(grid(3, 3), 0, client=client, device="cpu").plan
        names = ", ".join(spec.name for spec in plan.devices)
        assert logged(caplog, logging.INFO) == [f"bfs: method {plan.method} on {names}, predicted {plan.seconds:.3g} s"]
        lines = logged(caplog, logging.DEBUG)
        (opened,) = (line for line in lines if line.startswith("opened session") and line.endswith("of 2 workers"))
        name = opened.split()[2]
        assert lines.count(f"opened session {name}") == 2  # by a worker each
        assert not logged(caplog, logging.WARNING)
    assert f"closed session {name}" in logged(caplog, logging.DEBUG)
