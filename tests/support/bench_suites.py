"""A small suite, shared by the tests of the benchmarks."""

import dataclasses
import functools
import tomllib

from mgraph import device as devices
from mgraph.algorithms.registry import ALGORITHMS
from mgraph_bench import ceilings
from mgraph_bench.case import Bench
from mgraph_bench.case import row as measured
from mgraph_bench.suite import Case, parsed

SMALL = """
title = "A suite"
source = "nowhere"
about = "Nothing."
algorithm = "bfs"

[plot]
x = "n"

[[sweep]]
graph = {make = "grid", rows = [3, 4], columns = 5}
call = {method = ["hybrid", "frontier"]}
run = {device = "cpu"}

[quick]
rows = [2]

[[published]]
series = "another machine"
machine = "a machine"
beside = {method = "hybrid"}
x = [15, 20]
milliseconds = [1, 2.5]
"""

CLAIM = """
[[claim]]
words = "it is"
published = "10 to 20 ×"
of = "seconds"
rows = {method = "hybrid"}
band = [10, 20]
[quick]
"""

DRAWING = """
[[drawing]]
x = "n"
y = "phases"
log = ["x"]
rows = {method = "hybrid"}
relative = true
words = "By operation."
[quick]
"""


#: The ceilings of a device are measured once for all tests.
ceilings_once = functools.cache(ceilings.ceilings)


def small_suites(tmp_path, monkeypatch):
    """Have the benchmarks find their suites in a folder with one small one, ``small``, and return the folder."""
    monkeypatch.setattr(ceilings, "ceilings", ceilings_once)
    folder = tmp_path / "suites"
    folder.mkdir()
    (folder / "small.toml").write_text(SMALL)
    monkeypatch.setattr("mgraph_bench.suite.SUITES", folder)
    return folder


def calling(call):
    """The entry of breadth-first searches with another call."""
    return dataclasses.replace(ALGORITHMS["bfs"], call=call)


def cpu_row(algorithm, graph, call=None, run=None, bench=None):
    case = Case("small", algorithm, graph, call or {}, run or {})
    place = devices.find("cpu")
    return measured(case, parsed("small", tomllib.loads(SMALL)), bench or Bench(), place)
