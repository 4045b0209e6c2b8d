"""Scripts as they stand: what mgraph ran of their calls, what it left to SciPy and NetworkX, and why."""

import inspect
import re
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse.csgraph
from scipy.sparse import csr_array

import mgraph
from mgraph import csgraph, report
from mgraph.csgraph.gains import MODULES, PLACES, left_to_scipy
from tests.support.installed import environment


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    return environment(tmp_path_factory.mktemp("site"))


def test_a_report_lists_the_calls_that_took_longest_first():
    counted = report.Report()
    assert "no call" in str(counted)
    for name, why, seconds in (("a", "", 2.0), ("b", "too small", 0.5), ("b", "too small", 0.25), ("b", "", 0.125)):
        counted.note("networkx", name, why, seconds)
    counted.note("scipy.sparse.csgraph", "c", "too few", 1.0)
    assert str(counted).splitlines() == [
        "mgraph: ran 2 calls in 2.12 s, left to SciPy and NetworkX 3 calls in 1.75 s",
        "   calls  seconds  call, and what ran it",
        "       1    2.000  networkx.a, by mgraph",
        "       1    1.000  scipy.sparse.csgraph.c, by SciPy: too few",
        "       2    0.750  networkx.b, by NetworkX: too small",
        "       1    0.125  networkx.b, by mgraph",
    ]
    for number in range(30):
        counted.note("networkx", f"f{number}", "", 0.0)
    assert str(counted).splitlines()[-1] == "and 9 more"


SCRIPT = """
import sys
import networkx as nx
import numpy as np
from scipy.sparse.csgraph import dijkstra, minimum_spanning_tree

graph = nx.gnm_random_graph(200, 600, seed=1)
closeness = nx.closeness_centrality(graph)
ranks = nx.pagerank(graph)
[*nx.connected_components(nx.path_graph(3))]
matrix = np.ones((100, 100)) - np.eye(100)
print(__name__, sys.argv[1:], dijkstra(matrix).sum(), dijkstra(matrix, indices=0).sum())
print(minimum_spanning_tree(matrix).nnz)
"""


def run(installed, *words, **variables):
    """Return what a process prints, and the rows of its report: how often, what, and by whom."""
    pytest.importorskip("networkx")
    ended = subprocess.run(
        [sys.executable, *words], env=installed | variables, capture_output=True, text=True, timeout=300
    )
    rows = re.findall(r"^ +(\d+) +[\d.]+  (\S+), by (.*)$", ended.stderr, re.MULTILINE)
    return ended, {(name, by): int(count) for count, name, by in rows}


def test_a_script_that_is_not_edited(installed, tmp_path):
    script = tmp_path / "analysis.py"
    script.write_text(SCRIPT)
    ended, rows = run(installed, "-m", "mgraph", "run", script, "--year", "-h")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "__main__ ['--year', '-h'] 9900.0 99.0\n99\n"
    plain, none = run(installed, script, "--year", "-h")
    assert plain.stdout == ended.stdout and not none
    first = "NetworkX: a script's first call may compile for 4 s, and this one gains 0.012 s"
    assert rows[("networkx.closeness_centrality", first)] == 1
    assert rows[("networkx.pagerank", "NetworkX: mgraph has no such function")] == 1
    assert ("networkx.path_graph", "NetworkX: mgraph has no such function") not in rows
    assert rows[("scipy.sparse.csgraph.minimum_spanning_tree", "SciPy: SciPy's code is as fast on a CPU")] == 1
    assert "mgraph: ran 0 calls in 0 s" in ended.stderr and "Warning" not in ended.stderr


def test_a_script_where_networkx_does_not_know_mgraph(installed, tmp_path):
    script = tmp_path / "analysis.py"
    script.write_text("import networkx as nx\nprint(nx.number_connected_components(nx.path_graph(3)))\n")
    program = "import importlib.metadata as m, sys; m.entry_points = lambda **names: (); import mgraph.cli; "
    program += "mgraph.cli.main(['run', sys.argv[1]])"
    ended, rows = run(installed, "-c", program, script)
    assert (ended.returncode, ended.stdout) == (0, "1\n"), ended.stderr
    why = "NetworkX: NetworkX does not know mgraph, as pip has not installed it"
    assert rows == {("networkx.number_connected_components", why): 1}


@pytest.mark.parametrize("variable", ["NETWORKX_BACKEND_PRIORITY", "NETWORKX_BACKEND_PRIORITY_ALGOS"])
def test_a_script_whose_environment_prefers_a_backend(installed, tmp_path, variable):
    script = tmp_path / "analysis.py"
    script.write_text("import networkx as nx\nprint(nx.config.backend_priority.algos)\n")
    ended, _ = run(installed, "-m", "mgraph", "run", script, **{variable: "networkx,mgraph"})
    assert ended.stdout == "['mgraph', 'networkx']\n", ended.stderr


def test_a_script_that_asks_for_mgraph(installed, tmp_path):
    script = tmp_path / "analysis.py"
    script.write_text(f"import mgraph\nmgraph.csgraph.enable(){SCRIPT}")
    ended, rows = run(installed, script, MGRAPH_REPORT="1", NETWORKX_BACKEND_PRIORITY="mgraph")
    assert ended.returncode == 0, ended.stderr
    assert rows[("networkx.closeness_centrality", "mgraph")] == 1
    assert rows[("scipy.sparse.csgraph.dijkstra", "mgraph")] == 1
    few = "SciPy: it gains from 0.65 ms of SciPy on, and this takes some 0.11"
    assert rows[("scipy.sparse.csgraph.dijkstra", few)] == 1
    assert "mgraph: ran 2 calls" in ended.stderr
    quiet, none = run(installed, script, MGRAPH_REPORT="0", NETWORKX_BACKEND_PRIORITY="mgraph")
    assert quiet.stdout == ended.stdout and "mgraph: ran" not in quiet.stderr and not none


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ("import sys\nsys.exit(7)\n", 7, ""),
        ("open('nowhere')\n", 1, "FileNotFoundError"),
        ("def f():\n    raise ValueError('why')\nf()\n", 1, "line 2, in f\n    raise ValueError"),
        ("import helper\nprint(helper.NAME)\n", 0, ""),
    ],
)
def test_how_scripts_end(installed, tmp_path, text, code, says):
    (tmp_path / "helper.py").write_text("NAME = 'beside the script'\n")
    script = tmp_path / "script.py"
    script.write_text(text)
    ended, _ = run(installed, "-m", "mgraph", "run", script)
    assert ended.returncode == code and says in ended.stderr
    assert "unedited.py" not in ended.stderr and "runpy" not in ended.stderr
    assert "no call of SciPy's csgraph or of NetworkX was made" in ended.stderr
    assert ("beside the script" in ended.stdout) == ("helper" in text)


SAME = {
    "exit with words": "import sys\nsys.exit('why')\n",
    "exit of a thread": "import sys, threading\nthreading.Thread(target=sys.exit, args=[3]).start()\n",
    "chained errors": "def f():\n    1 / 0\ntry:\n    f()\nexcept ZeroDivisionError as e:\n    raise KeyError from e\n",
    "a syntax error": "x = 1\nif x\n    y\n",
    "an interrupt": "raise KeyboardInterrupt\n",
    "own excepthook": "import sys\nsys.excepthook = lambda kind, e, trace: print(kind, e, trace.tb_lineno)\n1 / 0\n",
    "the module": '"""Words."""\nimport __main__, sys\nx = 1\ndef f(): return x\n'
    "print(__main__.x, f(), __doc__, __file__, sys.argv, sys.path[0], __spec__, __package__, __name__)\n"
    "print(f.__module__, sys.modules['__main__'] is __main__, globals() is vars(__main__))\n"
    "print(__builtins__.len('ab'), type(__loader__), __loader__.get_filename(), __loader__.is_package('__main__'))\n"
    "print(sorted(vars(__main__).keys() - {'__annotations__', '__cached__'}))\n",
    "an end": "import atexit\natexit.register(print, 'ended')\nprint('begun')\n",
    "a process": "import multiprocessing\ndef square(x):\n    return x * x, __name__\nif __name__ == '__main__':\n"
    "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n        print(pool.map(square, [2, 3]))\n",
}


@pytest.mark.parametrize("case", SAME)
def test_a_script_runs_as_by_itself(installed, tmp_path, case):
    script = tmp_path / "script.py"
    script.write_text(SAME[case])
    plain, _ = run(installed, script, "-x", "--help")
    ended, _ = run(installed, "-m", "mgraph", "run", script, "-x", "--help")
    shown = re.sub(r"^mgraph: no call of .* was made\n", "", ended.stderr, flags=re.MULTILINE)
    assert (ended.returncode, ended.stdout, shown) == (plain.returncode, plain.stdout, plain.stderr)


DASK = """
import sys
from dask.distributed import Client, LocalCluster


class Part:
    def __init__(self, number):
        self.number = number


def square(part):
    return Part(part.number ** 2)


def main():
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            return client.submit(square, Part(3)).result().number


if __name__ == "__main__":
    sys.exit(main())
"""


def test_a_script_with_a_cluster_of_processes(installed, tmp_path):
    pytest.importorskip("distributed")
    script = tmp_path / "script.py"
    script.write_text(DASK)
    ended, _ = run(installed, "-m", "mgraph", "run", script)
    assert ended.returncode == 9, ended.stderr


def test_a_script_imports_neither_the_commands_nor_the_engine(installed, tmp_path):
    script = tmp_path / "small.py"
    script.write_text(
        "import sys\nbefore = set(sys.modules)\nimport networkx as nx\nfrom scipy.sparse.csgraph import dijkstra\n"
        "print(nx.has_path(nx.path_graph(4), 0, 3), dijkstra([[0, 2], [0, 0]]).tolist())\n"
        "print(*sys.modules.keys() & {'click', 'numba', 'mgraph.graph', 'mgraph.device', 'mgraph_networkx.backend'})\n"
        "print(*before & {'numpy', 'networkx', 'scipy', 'mgraph.csgraph', 'mgraph_networkx'})\n"
    )
    ended, rows = run(installed, "-m", "mgraph", "run", script)
    assert ended.stdout == "True [[0.0, 2.0], [inf, 0.0]]\n\n\n", ended.stderr
    assert sorted(name for name, _ in rows) == ["networkx.has_path", "scipy.sparse.csgraph.dijkstra"]


#: What the command has in ``bin``, as pip writes it.
LAUNCHER = "import sys\nfrom mgraph.__main__ import main\nif __name__ == '__main__':\n    sys.exit(main())\n"


def test_a_script_of_neither_library_imports_a_few_modules(installed, tmp_path):
    launcher, script = tmp_path / "mgraph", tmp_path / "small.py"
    launcher.write_text(LAUNCHER)
    script.write_text("import sys\nprint(*sys.modules)\n")
    modules = [set(run(installed, *words, script)[0].stdout.split()) for words in ([], [launcher, "run"])]
    further = modules[1] - modules[0]
    slow = {"collections", "contextlib", "functools", "importlib.util", "re", "threading", "typing", "mgraph.public"}
    assert "mgraph.unedited" in further and not further & slow


def test_scripts_that_are_not_there(installed):
    ended, _ = run(installed, "-m", "mgraph", "run", "nowhere.py")
    assert ended.returncode == 2 and "'nowhere.py' does not exist" in ended.stderr


CALLS_WITHIN = """
import networkx as nx
import networkx.utils.backends as backends

asked = []
backend = backends._load_backend("mgraph")
can_run = backend.can_run
backend.can_run = lambda name, args, kwargs: asked.append(name) or can_run(name, args, kwargs)
small, ring = nx.path_graph(9), nx.cycle_graph(4000)


@nx._dispatchable(name="calls_within")
def within(G):
    return nx.closeness_centrality(G)[0]


nx.shortest_path_length(small, 0, 5)
nx.shortest_path_length(small, 0, 5, backend="networkx")
print(asked)
print(round(within(small), 3), asked)
print(round(within(ring), 3), asked)
with nx.config(backend_priority=["networkx", "mgraph"]):
    nx.closeness_centrality(ring, 3)
print(asked)
"""


def test_small_calls_are_not_asked_about_and_large_ones_within_another_are(installed, tmp_path):
    script = tmp_path / "within.py"
    script.write_text(CALLS_WITHIN)
    ended, rows = run(installed, "-m", "mgraph", "run", script)
    asked = "['closeness_centrality']"
    assert ended.stdout.splitlines() == ["[]", "0.222 []", f"0.001 {asked}", asked], ended.stderr
    assert rows[("networkx.shortest_path_length", "NetworkX: NetworkX searches from both ends")] == 1
    assert ("networkx.calls_within", "NetworkX: mgraph has no such function") in rows


def of_shape(n, m, connected):
    """Return a graph of some nodes, a path or none of them connected, that says that it has `m` edges."""
    nx = pytest.importorskip("networkx")
    graph = nx.empty_graph(n)
    if connected:
        nx.add_path(graph, range(n))
    graph.number_of_edges = lambda: m
    return graph


@pytest.mark.parametrize(
    ("name", "n", "m", "connected", "arguments", "worth"),
    [
        ("closeness_centrality", 2_500, 7_500, True, {}, False),
        ("closeness_centrality", 4_000, 12_000, True, {}, True),
        ("closeness_centrality", 40_000, 12_000, False, {}, False),
        ("closeness_centrality", 40_000, 40_000, True, {"u": 3}, False),
        ("closeness_centrality", 3_500, 10_000, True, {"distance": "weight"}, True),
        ("diameter", 4_000, 12_000, True, {}, True),
        ("diameter", 4_000, 12_000, False, {}, False),
        ("center", 4_000, 3_999, True, {}, False),
        ("betweenness_centrality", 3_500, 10_000, True, {}, True),
        ("betweenness_centrality", 3_500, 10_000, True, {"k": 10}, False),
        ("betweenness_centrality_subset", 3_500, 10_000, True, {"sources": [0, 1], "targets": [2]}, False),
        ("all_pairs_shortest_path_length", 3_500, 10_000, True, {}, False),
        ("single_source_dijkstra", 100_000, 300_000, True, {"source": 0}, False),
        ("floyd_warshall", 300, 900, True, {}, False),
        ("floyd_warshall", 500, 900, True, {}, True),
        ("local_efficiency", 4_000, 12_000, True, {}, False),
    ],
)
def test_a_first_call_is_mgraphs_if_it_takes_longer_than_compiling(
    monkeypatch, name, n, m, connected, arguments, worth
):
    gains = pytest.importorskip("mgraph_networkx.gains")
    monkeypatch.setattr(gains, "is_cold", lambda: True)
    graph = of_shape(n, m, connected)
    assert (gains.should_run(name, (graph,), arguments) is True) == worth
    assert (gains.reason_to_leave(name, graph, (graph,), arguments) == "") == worth


@pytest.mark.parametrize(("seconds", "why"), [(4.0, ""), (3.9, "may compile for 4 s, and this one gains 3.9 s")])
def test_what_a_first_call_has_to_gain(monkeypatch, seconds, why):
    first_calls = pytest.importorskip("mgraph_networkx.first_calls")
    monkeypatch.setattr(first_calls, "estimated", lambda *call: (seconds, 4.0))
    found = first_calls.reason("diameter", None, {})
    assert found.endswith(why) and bool(found) == bool(why)


@pytest.mark.parametrize("name", PLACES)
def test_arguments_by_which_a_call_is_left_to_scipy_have_their_places(name):
    for function in (getattr(csgraph, name), getattr(scipy.sparse.csgraph, name)):
        parameters = list(inspect.signature(function).parameters)
        assert {each: parameters.index(each) for each in PLACES[name]} == PLACES[name]


def test_each_function_is_in_its_module():
    for name, module in MODULES.items():
        assert getattr(csgraph, name).__module__ == module
    with csgraph.enable():
        theirs = vars(scipy.sparse.csgraph).items()
        replaced = {name for name, each in theirs if getattr(each, "__module__", "") in MODULES.values()}
    assert replaced == MODULES.keys()


SMALL, LARGE = np.zeros((50, 50)), np.zeros((10_000, 1))  # of which the shape alone is looked at


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "why"),
    [
        ("dijkstra", (SMALL,), {}, "it gains from 0.5 ms of SciPy on, and this takes some 0.25"),
        ("dijkstra", (csr_array(np.ones((50, 50))),), {}, ""),
        ("dijkstra", (LARGE[:8_000],), {"indices": range(1)}, ""),
        ("dijkstra", (LARGE[:5_000],), {"indices": 3}, "it gains from 0.65 ms of SciPy on, and this takes some 0.5"),
        (
            "dijkstra",
            (LARGE[:999],),
            {"indices": range(9)},
            "it gains from 1.4 ms of SciPy on, and this takes some 0.9",
        ),
        (
            "dijkstra",
            (LARGE[:999],),
            {"indices": range(99), "min_only": True},
            "it gains from 0.65 ms of SciPy on, and this takes some 0.1",
        ),
        ("dijkstra", (LARGE,), {"indices": 3}, ""),
        ("dijkstra", (LARGE, True, 3), {}, ""),
        ("dijkstra", (SMALL, True, range(200)), {}, ""),
        ("shortest_path", (), {"csgraph": SMALL}, "it gains from 0.5 ms of SciPy on, and this takes some 0.25"),
        ("shortest_path", (np.ones((60, 60)),), {}, "it gains from 0.28 ms of SciPy on, and this takes some 0.065"),
        ("shortest_path", (np.ones((150, 150)), "BF"), {"indices": 0}, ""),
        ("bellman_ford", (np.ones((20, 20)),), {}, "it gains from 0.26 ms of SciPy on, and this takes some 0.22"),
        ("floyd_warshall", (SMALL.tolist(),), {}, "it gains from 0.28 ms of SciPy on, and this takes some 0.038"),
        ("breadth_first_order", (LARGE,), {"i_start": 0}, ""),
        ("breadth_first_order", (SMALL,), {"i_start": 0}, "SciPy's code is as fast on a CPU"),
        ("connected_components", (np.zeros((12_000, 1)),), {}, ""),
        (
            "connected_components",
            (SMALL,),
            {"connection": "strong"},
            "it gains from 200 vertices on, and there are 50",
        ),
        ("connected_components", (SMALL, False, "strong"), {}, "it gains from 12,000 vertices on, and there are 50"),
        ("minimum_spanning_tree", (LARGE,), {}, "SciPy's code is as fast on a CPU"),
        ("csgraph_from_dense", (SMALL,), {}, ""),
    ],
)
def test_what_is_left_to_scipy(name, args, kwargs, why):
    assert left_to_scipy(name, args, kwargs) == why


class Matrix(NamedTuple):
    """What is looked at of a sparse matrix."""

    shape: tuple[int, int]
    nnz: int


def of(rows, entries=5):
    """Return a matrix of so many entries a row."""
    return Matrix((rows, rows), rows * entries)


@pytest.mark.parametrize(
    ("name", "matrix", "arguments", "why"),
    [
        ("dijkstra", of(7_200), {}, ""),
        ("dijkstra", of(7_000), {}, "may compile for 5 s, and this one gains 4.9 s"),
        ("dijkstra", of(7_200), {"limit": 3.0}, "may compile for 5 s, and this one gains 0 s"),
        ("dijkstra", of(2_000_000), {"indices": 0}, "may compile for 2.5 s, and this one gains 0.2 s"),
        ("dijkstra", of(7_200), {"min_only": True}, "may compile for 2.5 s, and this one gains 0.00072 s"),
        ("bellman_ford", of(1_500), {"indices": 0}, "may compile for 2.5 s, and this one gains 0.01 s"),
        ("bellman_ford", of(30_000), {"indices": 0}, ""),
        ("floyd_warshall", of(1_500), {}, "may compile for 5 s, and this one gains 0.67 s"),
        ("floyd_warshall", of(3_000), {}, ""),
        ("connected_components", of(5_000_000), {}, "may compile for 2 s, and components seldom gain as much"),
        ("breadth_first_order", of(20_000), {}, "SciPy's code is as fast on a CPU"),
        ("csgraph_from_dense", of(20), {}, "imports mgraph, and this one gains less"),
    ],
)
def test_the_first_call_of_a_function_must_be_worth_compiling(monkeypatch, name, matrix, arguments, why):
    ran = set()
    monkeypatch.setattr(report, "is_cold", lambda call="": call not in ran)
    said = left_to_scipy(name, (matrix,), arguments)
    assert said.endswith(why) and bool(said) == bool(why)
    ran.add(f"scipy.sparse.csgraph.{name}")
    assert "a script's first call" not in left_to_scipy(name, (matrix,), arguments)


COLD = """
from mgraph import report
report.start(unedited=True)
print(report.is_cold(), report.is_cold("scipy.sparse.csgraph.dijkstra"))
report.active().note("scipy.sparse.csgraph", "yen", "", 0.0)
report.active().note("scipy.sparse.csgraph", "dijkstra", "too small", 0.0)
print(report.is_cold(), report.is_cold("scipy.sparse.csgraph.dijkstra"), report.is_cold("scipy.sparse.csgraph.yen"))
"""


def test_each_function_of_scipy_has_a_first_call(installed):
    assert run(installed, "-c", COLD)[0].stdout == "True True\nFalse True False\n"


def test_errors_of_small_calls_are_scipys():
    with mgraph.csgraph.enable(), pytest.raises(ValueError, match="square"):
        scipy.sparse.csgraph.dijkstra(np.zeros((2, 3)))
