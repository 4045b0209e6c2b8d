"""NetworkX's backend: NetworkX's own tests, run on it, and comparisons with NetworkX on random graphs."""

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.installed import environment
from tests.support.parameters import exhaustive

networkx = pytest.importorskip("networkx")

import mgraph_networkx.backend  # noqa: E402
from mgraph import networkx as backend  # noqa: E402
from mgraph.networkx.registered import FUNCTIONS  # noqa: E402

ROOT = Path(__file__).parents[1]

#: NetworkX's modules of tests for what mgraph runs.
MODULES = (
    "centrality.tests.test_betweenness_centrality",
    "centrality.tests.test_betweenness_centrality_subset",
    "centrality.tests.test_closeness_centrality",
    "centrality.tests.test_harmonic_centrality",
    "components",
    "shortest_paths",
    "tests.test_dag",
    "tests.test_distance_measures",
    "tests.test_efficiency",
    "tests.test_voronoi",
    "tests.test_wiener",
    "traversal.tests.test_bfs",
    "tree.tests.test_mst",
    *(f"tests.test_{getattr(networkx, name).__module__.rpartition('.')[2]}" for name in FUNCTIONS),
)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The environment of a process in which this checkout's entry points are installed."""
    return environment(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def networkx_run(installed, tmp_path_factory):
    """What a run of NetworkX's tests printed, and the number of calls that mgraph ran, by function."""
    folder = tmp_path_factory.mktemp("run")
    options = {"NETWORKX_TEST_BACKEND": "mgraph", "NETWORKX_FALLBACK_TO_NX": "True", "NETWORKX_CALLS": "calls.json"}
    command = (sys.executable, "-m", "pytest", "-q", "-rfE", "--tb=short", "-p", "networkx_calls")
    # Hundreds of cases of one test that take long, and of what NetworkX runs itself.
    without = (
        "-k",
        "not test_use_bounds_on_off_consistency",
        "-p",
        "no:logging",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:zarr",
    )
    modules = [f"networkx.algorithms.{name}" for name in MODULES]
    ended = subprocess.run(
        [*command, *without, "--pyargs", *modules],
        cwd=folder,
        env=installed | options,
        capture_output=True,
        text=True,
        timeout=800,
    )
    calls = folder / "calls.json"
    assert calls.exists(), ended.stdout + ended.stderr
    return ended, json.loads(calls.read_text())


def test_networkxs_tests_pass_but_for_those_that_are_listed(networkx_run):
    ended, _ = networkx_run
    assert ended.returncode == 0, ended.stdout[-4000:]
    found = {name: int(count) for count, name in re.findall(r"(\d+) (\w+)", ended.stdout.splitlines()[-1])}
    assert found["passed"] > 500
    assert found.get("xfailed", 0) == len(backend.EXPECTED_FAILURES)  # the marks are strict


def test_the_calls_really_ran_on_mgraph(networkx_run):
    _, calls = networkx_run
    assert sum(calls.values()) > 2500
    assert set(calls) <= set(mgraph_networkx.FUNCTIONS)
    assert [name for name in mgraph_networkx.FUNCTIONS if not calls.get(name)] == ["generic_bfs_edges"]


def test_every_function_that_is_announced_is_there_and_no_other():
    own = {"ConvertedGraph", "EXPECTED_FAILURES", "can_run", "should_run"}
    own |= {"convert_from_nx", "convert_to_nx", "on_start_tests"}
    assert set(backend.__all__) - own == set(mgraph_networkx.FUNCTIONS)


@pytest.mark.parametrize("seeds", [1, *exhaustive(4)])
def test_results_are_networkxs(installed, seeds):
    command = (sys.executable, "-m", "pytest", "-q", "-rfE", "--tb=short", "-p", "no:cacheprovider")
    ended = subprocess.run(
        [*command, "networkx_compared.py"],
        cwd=ROOT / "tests",
        env=installed | {"SEEDS": str(seeds)},
        capture_output=True,
        text=True,
        timeout=800,
    )
    assert ended.returncode == 0, ended.stdout[-6000:]


def test_importing_networkx_does_not_import_the_engine(installed):
    program = (
        "import sys, networkx; loaded = set(sys.modules);"
        "assert 'mgraph' in networkx.utils.backends.backend_info;"
        "assert 'mgraph_networkx' in loaded and not loaded & {'mgraph', 'numpy', 'numba', 'cupy'}"
    )
    ended = subprocess.run([sys.executable, "-c", program], env=installed, capture_output=True, text=True, timeout=800)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize(
    ("call", "module"),
    [
        ("assert networkx.diameter(networkx.path_graph(5)) == 4", "gains"),  # left to NetworkX
        ("networkx.minimum_spanning_tree(networkx.path_graph(9)).size()", "backend"),  # of which mgraph has a part
    ],
)
def test_a_call_that_is_left_to_networkx_does_not_import_the_engine(installed, call, module):
    program = (
        f"import sys, networkx; {call}; "
        f"assert 'mgraph_networkx.{module}' in sys.modules and not sys.modules.keys() & {{'mgraph.networkx', 'numpy'}}"
    )
    preferring = installed | {"NETWORKX_BACKEND_PRIORITY": "mgraph"}
    ended = subprocess.run([sys.executable, "-c", program], env=preferring, capture_output=True, text=True, timeout=800)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize(
    ("args", "kwargs", "answer"),
    [
        ((0, 2), {}, True),
        ((0,), {"target": 2}, True),
        ((), {"target": 2, "source": 0}, True),
        ((0,), {}, "missing a required argument: 'target'"),
        ((0, 1, 2), {}, "too many positional arguments"),
        ((0,), {"source": 1, "target": 2}, "multiple values for argument 'source'"),
        ((0, 1), {"nothing": 1}, "got an unexpected keyword argument 'nothing'"),
    ],
)
def test_calls_with_arguments_that_do_not_fit_are_declined(args, kwargs, answer):
    assert mgraph_networkx.backend.can_run("has_path", (networkx.path_graph(3), *args), kwargs) == answer


@pytest.mark.parametrize("name", mgraph_networkx.FUNCTIONS)
def test_functions_have_the_arguments_of_networkx(name):
    """By NetworkX's own it is decided whether mgraph can run a call."""
    theirs = inspect.signature(networkx.utils.backends._registered_algorithms[name].orig_func).parameters.values()
    ours = inspect.signature(getattr(backend, name)).parameters.values()
    facts = [[(each.name, each.kind, each.default) for each in parameters] for parameters in (ours, theirs)]
    assert facts[0] == facts[1]


@pytest.mark.parametrize("kind", [networkx.DiGraph, networkx.MultiDiGraph])
def test_undirected_views_with_two_weights_of_an_edge_are_declined(kind):
    roads = kind([(0, 1, {"weight": 1}), (1, 0, {"weight": 9}), (1, 2, {"weight": 1})])
    converted = backend.convert_from_nx(roads.to_undirected(as_view=True))
    with pytest.raises(NotImplementedError, match="from its other end"):
        backend.floyd_warshall(converted, weight="weight")
    assert backend.has_path(converted, 2, 0)
    networkx.set_edge_attributes(roads, 1, "weight")
    converted = backend.convert_from_nx(roads.to_undirected(as_view=True))
    assert backend.floyd_warshall(converted, weight="weight")[2] == {0: 2, 1: 1, 2: 0}
