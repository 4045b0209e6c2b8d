"""The command line gives the library's results, reports errors in one line, and exits with the documented code."""

import dataclasses
import gzip
import io
import json
import logging
import lzma
import os
import pty
import signal
import subprocess
import sys
import termios
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner
from distributed.versions import error_message
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order, shortest_path

import mgraph
from mgraph import cli, device
from mgraph.algorithms import command as commands
from mgraph.algorithms.registry import ALGORITHMS
from mgraph.cli import interrupts, machine, main, messages, run
from mgraph.cli.algorithms import command as made_command
from mgraph.device.clock import COMPILING
from mgraph.generate import rmat
from mgraph.planner import largest, plan
from mgraph.planning.rates import keep, rates
from tests.support.commands import failed, invoke, main_command, misused, ok
from tests.support.parameters import exhaustive

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"
AS_CAIDA = DATA / "as-caida20070917.txt.xz"
NEW_YORK = DATA / "NY.gr.xz"

CYCLE = "0 1 3\n1 2 4\n2 0 5\n"

# As SNAP publishes the AS relationships: sparse ids, and a third column that is not a weight.
AS_LIKE = """\
# Directed graph: as-caida20070917.txt
# FromNodeId\tToNodeId\tRelationship
8563\t4323\t-1
13499\t19548\t-1
13499\t3356\t0
4323\t3356\t2
3356\t4323\t2
"""

# The interpreter's own warnings as errors would be warnings of Dask's processes.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONWARNINGS"}


def facts(*arguments):
    """Return what the command prints with ``--json``."""
    return json.loads(ok(*arguments, "--json"))


def command(*arguments):
    return [sys.executable, "-m", "mgraph.cli", *map(str, arguments)]


def process(*arguments):
    """Run the command line in a process of its own, with pipes for its output."""
    return subprocess.run(command(*arguments), capture_output=True, text=True, cwd=ROOT, env=ENVIRONMENT, timeout=800)


def shown_plan(*arguments):
    """Run the command line in this process and return the plan that it shows before the run."""
    result = invoke(*arguments)
    assert result.exit_code == 0, result.output
    return result.stderr


@pytest.fixture
def cycle(tmp_path):
    path = tmp_path / "cycle.txt"
    path.write_text(CYCLE)
    return path


@pytest.fixture
def as_like(tmp_path):
    path = tmp_path / "as.txt.xz"
    path.write_bytes(lzma.compress(AS_LIKE.encode()))
    return path


# Results of calls


def test_apsp_of_a_file_equals_the_library(cycle, tmp_path):
    out = tmp_path / "distances.npy"
    found = facts("apsp", cycle, "--device", "cpu", "--out", out)
    expected = mgraph.apsp(mgraph.read(cycle), device="cpu").distances
    np.testing.assert_array_equal(np.load(out), expected)
    assert np.load(out).dtype == expected.dtype == np.int32
    assert {name: found[name] for name in ("algorithm", "method", "n", "m", "directed", "weighted", "dtype")} == {
        "algorithm": "apsp",
        "method": "blocked",
        "n": 3,
        "m": 3,
        "directed": True,
        "weighted": True,
        "dtype": "int32",
    }
    assert found["devices"] == ["cpu"] and found["workers"] is None
    assert (found["reachable_pairs"], found["mean_distance"], found["largest_distance"]) == (6, 6.0, 9)
    assert found["out"] == str(out) and found["version"] == mgraph.__version__
    assert set(found["timings"]) == {"read", "load", "compile", "solve", "collect"}


def test_bfs_of_a_file_equals_the_library(cycle, tmp_path):
    out = tmp_path / "tree.npz"
    found = facts("bfs", cycle, "--source", 1, "--predecessors", "--device", "cpu", "--out", out)
    with np.load(out) as arrays:
        assert set(arrays) == {"distances", "predecessors"}
        assert arrays["distances"].tolist() == [2, 0, 1]
        assert arrays["predecessors"].tolist() == [2, -9999, 1]
    assert (found["source"], found["reached"], found["levels"]) == (1, 3, 3)
    assert (found["widest_level"], found["widest_level_vertices"]) == (0, 1)


def test_any_predecessors(tmp_path):
    path, out = tmp_path / "graph.txt", tmp_path / "tree.npz"
    path.write_text("0 1\n0 2\n1 5\n2 4\n4 6\n5 6\n")
    for flags, last in (("--any-predecessors",), 5), (("--predecessors",), 4):
        arguments = "bfs", path, "--method", "frontier", "--directed", "--device", "cpu", *flags
        found = facts(*arguments, "--target", 6, "--out", out, "--overwrite")
        assert found["predecessors"] is True and found["route"][2:] == [last, 6]
        with np.load(out) as arrays:
            assert arrays["predecessors"][6] == last
        planned = ok("plan", "bfs", path, "--directed", "--devices", "cpu", flags[0], "--verbose")
        assert ("any on a shortest path" in planned) == (last == 5)


def test_generated_graphs(tmp_path):
    graph = rmat(6)
    matrices, search = tmp_path / "apsp.npz", tmp_path / "bfs.npy"
    ok("apsp", "--rmat", 6, "--predecessors", "--dtype", "float64", "--block", 32, "--span", 1, "--out", matrices)
    expected = mgraph.apsp(graph, predecessors=True, dtype="float64")
    with np.load(matrices) as arrays:
        assert arrays["distances"].dtype == np.float64
        np.testing.assert_array_equal(arrays["distances"], device.to_host(expected.distances))
        np.testing.assert_array_equal(arrays["predecessors"], device.to_host(expected.predecessors))
    ok("bfs", "--rmat", 6, "--source", 5, "--method", "pull", "--out", search)
    np.testing.assert_array_equal(np.load(search), device.to_host(mgraph.bfs(graph, 5).distances))
    assert facts("bfs", "--rmat", 6)["m"] == graph.m
    assert facts("bfs", "--rmat", 6, "--directed")["m"] == rmat(6, directed=True).m


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_summary_is_that_of_the_whole_matrix(tmp_path, monkeypatch, dtype):
    monkeypatch.setattr(commands, "ELEMENTS_AT_A_TIME", 100)  # several chunks
    random = np.random.default_rng(3)
    potential = random.integers(0, 30, 40)
    matrix = random.integers(0, 9, (40, 40)) + potential[:, None] - potential[None, :] - 40.0
    matrix[np.tri(40, dtype=bool)] = np.inf  # no cycles, and distances below zero only
    np.save(tmp_path / "matrix.npy", matrix)
    if dtype == "int32":
        matrix[np.isinf(matrix)] = np.iinfo(np.int32).max
        np.save(tmp_path / "matrix.npy", matrix.astype(np.int32))
    found = facts("apsp", tmp_path / "matrix.npy", "--dtype", dtype)
    distances = device.to_host(mgraph.apsp(mgraph.read(tmp_path / "matrix.npy"), dtype=dtype).distances)
    between = distances[np.triu_indices(40, 1)]
    assert found["reachable_pairs"] == between.size and found["m"] is None
    assert found["mean_distance"] == pytest.approx(between.mean(dtype=np.float64))
    assert found["largest_distance"] == between.max() < 0


@pytest.mark.parametrize("n", [0, 1, 3])
def test_summary_without_any_pair(tmp_path, n):
    path = tmp_path / "empty.txt"
    path.write_text("")
    found = facts("apsp", path, "--n", n)
    assert (found["reachable_pairs"], found["mean_distance"], found["largest_distance"]) == (0, None, None)
    assert "reachable: 0 of" in ok("apsp", path, "--n", n)


@pytest.mark.parametrize(
    ("text", "mean", "largest"),
    [
        ("0 1 1e308\n1 2 1e308\n", 1e308, 1e308),
        ("0 1 1e308\n1 2 7e307\n2 3 -9e307\n", pytest.approx(3.1e307 / 0.6), 1.7e308),
    ],
)
def test_summary_of_distances_at_the_limit(tmp_path, text, mean, largest):
    path = tmp_path / "far.txt"
    path.write_text(text)
    result = invoke("apsp", path, "--device", "cpu", "--json")
    assert (result.exit_code, result.stderr) == (0, "")

    def no_json(token):
        raise AssertionError(token)

    found = json.loads(result.stdout, parse_constant=no_json)
    assert (found["mean_distance"], found["largest_distance"]) == (mean, largest)
    path.write_text("0 1 -1.5e308\n1 2 -1.5e308\n")
    assert "below the least float64" in failed(invoke("apsp", path, "--device", "cpu"), 1)


def test_reading_options(as_like, tmp_path):
    out = tmp_path / "distances.npz"
    found = facts("apsp", as_like, "--unweighted", "--relabel", "--out", out)
    graph = mgraph.read(as_like, weighted=False, relabel=True)
    assert (found["n"], found["m"], found["weighted"], found["dtype"]) == (5, 5, False, "float32")
    with np.load(out) as arrays:
        assert arrays["ids"].tolist() == [3356, 4323, 8563, 13499, 19548]
        np.testing.assert_array_equal(arrays["distances"], device.to_host(mgraph.apsp(graph).distances))
    undirected = facts("bfs", as_like, "--relabel", "--undirected", "--source", 4)
    assert (undirected["directed"], undirected["m"], undirected["reached"]) == (False, 10, 5)
    text = tmp_path / "graph.data"
    text.write_text("2 1\n0 1\n")
    assert facts("bfs", text, "--format", "edges", "--n", 4)["n"] == 4


def test_a_summary_for_people(cycle, tmp_path):
    out = tmp_path / "distances.npy"
    text = ok("apsp", cycle, "--device", "cpu", "--out", out)
    for part in (
        "graph: 3 vertices, 3 stored edges, directed, weighted",
        "time: read",
        "rate:",
        "reachable: 6 of 6 pairs, mean distance 6, largest 9",
        f"saved: {out}",
    ):
        assert part in text
    shown = shown_plan("apsp", cycle, "--device", "cpu").splitlines()
    assert shown[0] == "apsp, method 'blocked': 3 vertices, 3 directed edges"
    assert "result: 36 B, in memory, a part of the peak" in shown and "where: cpu, peak " in "".join(shown)
    assert shown_plan("apsp", cycle, "--device", "cpu", "--json") == ""
    text = ok("bfs", cycle, "--device", "cpu")
    assert "reached: 3 of 3 vertices; levels: 3" in text and "saved" not in text
    assert ok("bfs", cycle, "--quiet") == ""
    assert json.loads(ok("bfs", cycle, "--quiet", "--json"))["reached"] == 3


def test_a_search_from_several_vertices(tmp_path):
    path = tmp_path / "path.txt"
    path.write_text("".join(f"{v} {v + 1}\n" for v in range(6)))
    out = tmp_path / "tree.npz"
    found = facts("bfs", path, "--source", 4, "--source", 1, "--predecessors", "--device", "cpu", "--out", out)
    assert (found["sources"], found["reached"], found["levels"]) == ([4, 1], 6, 3) and "source" not in found
    with np.load(out) as saved:
        assert saved["distances"].tolist() == [-1, 0, 1, 2, 0, 1, 2]
        assert saved["predecessors"].tolist() == [-9999, -9999, 1, 2, -9999, 4, 5]


# Errors


@pytest.mark.parametrize("name", ["apsp", "bfs"])
def test_existing_output_is_refused_before_anything_is_computed(cycle, tmp_path, monkeypatch, name):
    out = tmp_path / "out.npy"
    out.write_text("precious")
    with monkeypatch.context() as patched:
        patched.setattr(run, "read", lambda *_: pytest.fail("read the graph"))
        line = failed(invoke(name, cycle, "--out", out), 2)
        assert "--overwrite" in line and out.read_text() == "precious"
        failed(invoke(name, cycle, "--out", tmp_path / "out.txt"), 2)
        failed(invoke(name, cycle, "--out", tmp_path / "nowhere" / "out.npy"), 2)
        failed(invoke(name, cycle, "--out", tmp_path, "--overwrite"), 2)
        assert ".npz" in misused(invoke(name, cycle, "--predecessors", "--overwrite", "--out", out))
    ok(name, cycle, "--out", out, "--overwrite")
    assert len(np.load(out)) == 3


def test_urls_and_patterns_are_files(tmp_path):
    for number, text in enumerate(("0 1\n1 2\n", "2 3\n")):
        (tmp_path / f"part-{number}.txt").write_text(text)
    assert "reached: 3 of 3" in ok("bfs", f"file://{tmp_path}/part-0.txt", "--source", "0", "--device", "cpu")
    assert "reached: 4 of 4" in ok("bfs", tmp_path / "part-*.txt", "--source", "0", "--device", "cpu")
    assert "no file has a name of this pattern" in failed(invoke("bfs", tmp_path / "none-*", "--source", "0"), 1)
    (tmp_path / "list.txt").write_text("1\n2\n2\n")
    assert "largest rank is 2" in ok("rank", f"file://{tmp_path}/list.txt", "--device", "cpu")


def test_several_files_are_one_graph(tmp_path, cycle):
    (tmp_path / "more.txt").write_text("2 3 1\n")
    assert "reached: 4 of 4" in ok("bfs", cycle, tmp_path / "more.txt", "--source", "0", "--device", "cpu")
    for given, options in (
        ([cycle, tmp_path / "none.txt"], {}),
        ([tmp_path / "none.txt"], {}),
        ([tmp_path], {}),
        ([cycle, tmp_path / "more.txt"], {"format": "gr"}),
        ([cycle, tmp_path / "more.txt"], {"dense": "distances"}),
    ):
        with pytest.raises(mgraph.MgraphError) as caught:
            mgraph.read(given if len(given) > 1 else given[0], **options)
        with click.Context(main_command("bfs")):
            said = messages.Failure(caught.value).message
        code = 2 if options else 1  # arguments that cannot be used, or a failure
        options = [word for name, value in options.items() for word in (f"--{name}", value)]
        assert failed(invoke("bfs", *given, "--source", "0", *options), code) == f"mgraph: error: {said}"


TABLE = "from,to,km\nRome,Pisa,354\nPisa,Genoa,159\n"
COLUMNS = ("--source-column", "from", "--target-column", "to")


def test_columns_of_a_table(tmp_path):
    path, out = tmp_path / "roads.csv", tmp_path / "found.npz"
    path.write_text(TABLE)
    found = facts("sssp", path, *COLUMNS, "--weight-column", "km", "--source", 2, "--out", out)
    assert found["n"] == 3 and found["weighted"]
    with np.load(out) as archive:
        assert archive["ids"].tolist() == ["Genoa", "Pisa", "Rome"]
        assert archive["distances"].tolist() == [513, 354, 0]
    assert not facts("bfs", path, *COLUMNS, "--source", 2)["weighted"]
    path.write_text("Rome Pisa\nPisa Genoa\n")
    assert facts("bfs", path, "--source-column", 0, "--target-column", 1, "--source", 2)["reached"] == 3


def test_the_weights_of_graphml_by_their_attribute(tmp_path):
    networkx = pytest.importorskip("networkx")
    path = tmp_path / "roads.graphml"
    networkx.write_graphml(networkx.Graph([(0, 1, {"km": 7})]), path)
    assert facts("sssp", path, "--weight-column", "km", "--source", 0)["weighted"]


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        (("--source-column", "fro", "--target-column", "to"), 1, "there is no column 'fro'"),
        (("--source-column", "9" * 5000, "--target-column", "to"), 1, "there is no column '999"),
        (
            ("--source-column", "from"),
            2,
            "--target-column must be the name of a column, got None: --source-column from",
        ),
        (("--target-column", "to"), 2, "--source-column must be the name of a column"),
        ((*COLUMNS, "--relabel"), 2, "--relabel does not go with --source-column"),
        (("--weight-column", "km"), 2, "--weight-column km goes with --source-column"),
        ((), 1, "by --source-column from, --target-column to and --weight-column km"),
        (COLUMNS, 1, "name the column of weights by --weight-column km, or say --unweighted for edges of length 1"),
        (("--source", "9", *COLUMNS, "--weight-column", "km"), 2, "--source must be"),
    ],
)
def test_wrong_columns(tmp_path, options, code, says):
    path = tmp_path / "roads.csv"
    path.write_text(TABLE)
    assert says in failed(invoke("sssp", path, "--source", 0, *options), code)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["apsp"], "either FILE, --rmat SCALE or --resident NAME"),
        (["apsp", "FILE", "--rmat", "3"], "either FILE, --rmat SCALE or --resident NAME"),
        (["apsp", "--rmat", "3", "--relabel"], "do not go with --rmat"),
        (["apsp", "--rmat", "3", "--format", "gr"], "do not go with --rmat"),
        (["apsp", "--rmat", "3", "--n", "8"], "do not go with --rmat"),
        (["components", "--rmat", "3", "--weighted"], "do not go with --rmat"),
        (["apsp", "--rmat", "3", "--source-column", "from"], "do not go with --rmat"),
        (["apsp", "--rmat", "x"], "not a valid integer"),
        (["apsp", "FILE", "-"], "'-', standard input, goes with no other FILE"),
        (["apsp", "FILE", "--format", "xml"], "not one of"),
        (["apsp", "FILE", "--dtype", "int8"], "not one of"),
        (["apsp", "FILE", "--source", "1"], "No such option"),
        (["bfs", "FILE", "--block", "32"], "No such option"),
        (["bfs", "FILE", "--workers", "2", "--scheduler", "tcp://127.0.0.1:1"], "only one of"),
        (["bfs", "FILE", "--workers", "2", "--wait-for-workers", "2"], "goes with --scheduler"),
        (["plan", "apsp"], "--n"),
        (["plan", "apsp"], "give FILE, --n or --largest"),
        (["plan", "apsp", "FILE", "--largest"], "--largest goes without FILE and --n"),
        (["plan", "apsp", "FILE", "--n", "8", "--m", "9"], "--m goes with --n"),
        (["plan", "apsp", "--n", "8", "--relabel"], "--relabel, --dense and columns say how to read FILE"),
        (["plan", "apsp", "--largest", "--m", "8"], "with --largest, give --degree"),
        (["plan", "apsp", "--n", "8", "--seconds", "8"], "go with --largest"),
        (["plan", "apsp", "--n", "8", "--memory", "much"], "much"),
        (["plan", "apsp", "-n", "8", "--gpus", "0"], "--gpus"),
        (["plan", "apsp", "-n", "2.5", "--gpus", "1"], "'2.5' is not an integer, such as 2000000 or 2e6"),
        (["plan", "apsp", "-n", "1e999999999", "--gpus", "1"], "is not an integer"),
        (["plan", "apsp", "-n", "nan", "--gpus", "1"], "is not an integer"),
        (["plan", "apsp", "-n", "8", "--gpus", "2", "--devices", "cpu"], "only one of --devices and --gpus"),
        (["plan", "apsp", "-n", "8", "--gpus", "2", "--network", "fast"], "fast"),
        (["plan", "apsp", "-n", "8", "--gpus", "2", "--network", "0"], "--network must be a number of bytes"),
        (["plan", "apsp", "-n", "8", "--any-predecessors"], "--any-predecessors goes with bfs alone"),
        (["dijkstra", "FILE"], "No such command"),
    ],
)
def test_calls_that_click_refuses(cycle, arguments, says):
    assert says in misused(invoke(*(cycle if argument == "FILE" else argument for argument in arguments)))


def test_a_plan_names_options_of_the_command_for_arguments():
    size = ("plan", "distances", "-n", "20000", "--m", "50000", "--sources", "20000", "--devices", "cpu")
    assert "'hierarchy' takes" in (said := ok(*size)) and "only used if --method hierarchy is given" in said
    assert "fits; only used if --method blocked is given" in ok(*size, "--verbose")
    assert (
        "only used if method='hierarchy' is given"
        in mgraph.plan("distances", 20_000, 50_000, "cpu", sources=20_000).explain()
    )
    assert "; give --host-memory to check it" in ok(
        "plan", "apsp", "-n", "40000000", "--m", "240000000", "--memory", "140GiB", "--devices", "8xcuda"
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["apsp", "FILE", "--block", "33"], "--block must be 32, 64, 96 or 128, got 33"),
        (["apsp", "FILE", "--method", "magic"], "magic"),
        (["bfs", "FILE", "--method", "magic"], "magic"),
        (["bfs", "FILE", "--source", "3"], "--source must be an integer in [0, 3), got 3"),
        (["bfs", "FILE", "--source", "-1"], "--source must be an integer in [0, 3), got -1"),
        (["bfs", "FILE", "--source", "0", "--source", "7"], "--source must be an integer in [0, 3), got 7"),
        (["sssp", "FILE", "--source", "7"], "--source must be an integer in [0, 3), got 7"),
        (["apsp", "FILE", "--intermediate", "--predecessors"], "--predecessors and --intermediate exclude"),
        (["bfs", "FILE", "--method", "magic"], "got 'magic'"),
        (["bfs", "FILE", "--span", "0"], "--span must be an integer of 1 or more, got 0"),
        (["bfs", "FILE", "--device", "tpu"], "tpu"),
        (["plan", "apsp", "--n", "8", "--devices", "tpu"], "tpu"),
        (["plan", "apsp", "--n", "8", "--devices", "0"], "--devices must be an integer in [1, 65537), got 0"),
        (["plan", "apsp", "--n", "8", "--devices", "0xcuda"], "--devices must be an integer in [1, 65537), got 0"),
        (["plan", "apsp", "--largest", "--seconds", "0"], "--seconds must be a number of seconds, more than 0, got 0"),
        (["apsp", "FILE", "--workers", "0"], "--workers must be an integer of 1 or more, got 0"),
        (["apsp", "FILE", "--n", "-1"], "--n must be an integer of 0 or more, got -1"),
        (["apsp", "--rmat", "31"], "--rmat must be an integer in [0, 31), got 31"),
        (["plan", "sssp", "--n", "8"], "sssp"),
        (["plan", "bfs", "--n", "8"], "--m, the"),
        (["plan", "bfs", "--largest", "--gpus", "1"], "--degree, the"),
        (["plan", "apsp", "-n", "3e9"], "--n must be at most 2,146,435,072, as vertices are numbered in int32"),
        (["plan", "rank", "-n", "5e9"], "--n must be at most 4,294,967,295, as elements are numbered in uint32"),
        (["plan", "apsp", "-n", "9e6", "--gpus", "1", "--host-memory", "1TB"], "(sources=), or writes all rows"),
        (["plan", "apsp", "-n", "2e5", "--gpus", "1"], "such devices (--gpus or --devices), or"),
        (
            ["plan", "distances", "-n", "2e7", "--m", "5e7", "--sources", "20000000"],
            "--sources at a time, or only some --targets",
        ),
        (["plan", "apsp", "--n", "8", "--block", "7"], "--block must be 32, 64, 96 or 128, got 7"),
        (["plan", "list_rank", "-n", "8", "--gpus", "2", "--network", "25e9"], "is for apsp"),
    ],
)
def test_calls_that_the_library_refuses(cycle, arguments, says):
    result = invoke(*(cycle if argument == "FILE" else argument for argument in arguments))
    assert says in failed(result, 2)


def test_failures(cycle, tmp_path, monkeypatch):
    broken = tmp_path / "broken.txt"
    broken.write_text("0 1\n1 one\n")
    assert "line 2" in failed(invoke("bfs", broken), 1)
    broken.write_text("0 1 2 3\n")
    assert failed(invoke("bfs", broken), 1).endswith("or ignore the rest with --unweighted")
    broken.write_text("from,to,airline,km\nA,B,x,3\n")
    named = "has 4 columns: name those of an edge by --source-column, --target-column and --weight-column"
    assert named in failed(invoke("sssp", broken), 1)
    broken.write_text("4 3\n0 1\n1 2\n2 3\n")
    assert "pass --n 4 to skip it" in failed(invoke("bfs", broken), 1)
    uneven = tmp_path / "n=4.mtx"
    uneven.write_text("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n2 1\n")
    assert "n=4.mtx" in failed(invoke("bfs", uneven, "--n", 2), 1)
    monkeypatch.chdir(tmp_path)
    assert "error: n=4.mtx" in failed(invoke("bfs", uneven.name, "--n", 2), 1)
    assert "error: the roads, n=4.mtx" in failed(invoke("bfs", uneven.rename("the roads, n=4.mtx"), "--n", 2), 1)
    silent = invoke("bfs", cycle, "--workers", 1, "--worker-timeout", 0.5)
    assert "error: --worker-timeout must be a number of seconds" in failed(silent, 2)
    negative = tmp_path / "negative.txt"
    negative.write_text("0 1 -1\n1 0 -1\n")
    assert "negative weight" in failed(invoke("apsp", negative), 1)
    small = ("--rmat", 12, "--method", "squaring", "--memory-limit", "1MiB", "--device", "cpu")
    assert "a smaller type needs less (--dtype), or mgraph.distances" in failed(invoke("apsp", *small), 2)
    cut = tmp_path / "cut.txt.xz"
    cut.write_bytes(lzma.compress(AS_LIKE.encode())[:-30])
    failed(invoke("apsp", cut), 1)
    assert "needs" in failed(invoke("plan", "apsp", "--n", 5_000_000, "--memory", "1GiB", "--devices", "cuda"), 2)
    if not device.gpu_count():
        failed(invoke("bfs", cycle, "--device", "cuda"), 1)
        assert "with --memory devices" in failed(invoke("plan", "apsp", "--n", 8, "--devices", "8xcuda"), 1)

    def full(*_):
        raise OSError(28, "No space left on device; nothing was written", "out.npy")

    monkeypatch.setattr("mgraph.results.save", full)
    line = failed(invoke("bfs", cycle, "--out", tmp_path / "out.npy"), 1)
    assert line == "mgraph: error: out.npy: No space left on device; nothing was written"


def test_a_bug_is_a_line_and_with_debug_a_traceback(cycle, monkeypatch):
    def bug(*_, **__):
        raise ZeroDivisionError("division\nby zero")

    monkeypatch.setattr(run, "read", bug)
    line = failed(invoke("bfs", cycle), 1)
    assert line == "mgraph: error: ZeroDivisionError: division by zero (--debug shows where)"
    result = invoke("bfs", cycle, "--debug")
    assert result.exit_code == 1 and "Traceback" in result.stderr and "in bug" in result.stderr


def test_interrupted(cycle, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "read", interrupt)
    result = invoke("bfs", cycle)
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "mgraph: interrupted\n")


def test_apsp_with_predecessors_and_intermediate(cycle, tmp_path):
    out = tmp_path / "found.npz"
    for option in ("predecessors", "intermediate"):
        found = facts("apsp", cycle, "--device", "cpu", f"--{option}", "--method", "naive", "--out", out, "--overwrite")
        assert found[option] and found["method"] == "naive"
        expected = mgraph.apsp(mgraph.read(cycle), device="cpu", method="naive", **{option: True})
        with np.load(out) as saved:
            assert set(saved.files) == {"distances", option}
            np.testing.assert_array_equal(saved[option], getattr(expected, option))
        assert option in misused(invoke("apsp", cycle, f"--{option}", "--out", tmp_path / "d.npy"))
    assert facts("apsp", cycle, "--device", "cpu", "--dtype", "auto")["dtype"] == "int16"
    refused = failed(invoke("apsp", cycle, "--device", "cpu", "--memory-limit", "8B"), 2)
    assert "which may take 8 B by the memory limit: raise --memory-limit," in refused
    refused = failed(invoke("apsp", cycle, "--worker-timeout", 9), 2)
    assert "--worker-timeout goes with --workers: give both or neither" in refused
    assert "1 gallon" in misused(invoke("apsp", cycle, "--memory-limit", "1 gallon"))


def test_limits_of_searches(cycle):
    assert facts("bfs", cycle, "--device", "cpu", "--limit", 1)["reached"] == 2
    found = facts("bfs", cycle, "--device", "cpu", "--target", 1)
    assert found["searched"] == 2 and "reached" not in found
    assert "--target must be an integer in [0, 3), got 7" in failed(invoke("bfs", cycle, "--target", 7), 2)
    assert facts("bfs", cycle, "--device", "cpu", "--method", "scan", "--limit", 1)["reached"] == 2


@pytest.mark.parametrize(("call", "distance"), [("bfs", 2), ("sssp", 7)])
def test_the_way_to_a_target(cycle, call, distance):
    arguments = (call, cycle, "--device", "cpu", "--target", 2)
    found = facts(*arguments)
    assert (found["target"], found["distance"], found["route"]) == (2, distance, None)
    assert "reached" not in found and "searched as far as vertex 2: 3 of 3 vertices\n" in ok(*arguments)
    assert f"distance to vertex 2: {distance}\n" in ok(*arguments) and "route" not in ok(*arguments)
    found = facts(*arguments, "--predecessors")
    assert (found["distance"], found["route"]) == (distance, [0, 1, 2])
    assert ok(*arguments, "--predecessors").endswith(f"distance to vertex 2: {distance}\nroute: 0 1 2\n")
    assert "route" not in facts(call, cycle, "--device", "cpu", "--predecessors")
    cycle.write_text("0 1 3\n1 0 3\n2 0 5\n")
    found = facts(*arguments, "--predecessors")
    assert (found["target"], found["distance"], found["route"]) == (2, None, None)
    assert ok(*arguments, "--predecessors").endswith("searched: 2 of 3 vertices\nnot reached: vertex 2\n")


def test_the_way_to_a_target_from_the_nearest_source(tmp_path):
    path = tmp_path / "row.txt"
    path.write_text("".join(f"{v} {v + 1}\n" for v in range(9)))
    found = facts("bfs", path, "--source", 0, "--source", 5, "--target", 7, "--predecessors", "--device", "cpu")
    assert (found["distance"], found["route"]) == (2, [5, 6, 7])


def test_standard_input(cycle, tmp_path):
    expected = facts("sssp", cycle, "--device", "cpu")

    def given(data, *arguments):
        result = CliRunner().invoke(main, [*arguments, "--device", "cpu", "--json"], input=data)
        assert result.exit_code == 0, result.output
        found = json.loads(result.stdout)
        return {name: found[name] for name in expected if name not in ("timings", "out")}

    told = {name: expected[name] for name in expected if name not in ("timings", "out")}
    text = cycle.read_bytes()
    for data in (text, gzip.compress(text), lzma.compress(text)):
        assert given(data, "sssp", "-") == given(data, "sssp", "-", "--format", "edges") == told
    binary = io.BytesIO()
    sparse.save_npz(binary, sparse.csr_array(([3, 4, 5], ([0, 1, 2], [1, 2, 0]))))
    assert given(binary.getvalue(), "sssp", "-", "--format", "npz") == told
    refused = CliRunner().invoke(main, ["sssp", "-"], input=binary.getvalue())
    assert "nor from the content: pass --format one of 'edges'" in failed(refused, 1)
    assert "expected an integer vertex id, got 'a' in 'a b'" in failed(
        CliRunner().invoke(main, ["sssp", "-"], input="a b\n"), 1
    )


def test_standard_input_of_a_process(cycle):
    piped = subprocess.run(command("rank", "-", "--json"), input=b"1\n2\n2\n", capture_output=True, env=ENVIRONMENT)
    assert piped.returncode == 0, piped.stderr
    assert json.loads(piped.stdout)["largest_rank"] == 2
    piped = subprocess.run(command("bfs", "-"), input=b"0 1\n1 one\n", capture_output=True, env=ENVIRONMENT)
    assert piped.returncode == 1 and b"<stdin>, line 2" in piped.stderr


@pytest.mark.parametrize(
    ("home", "workers"), [(None, ()), ("/proc", ()), *exhaustive((None, ("--workers", 2)), ("/proc", ("--workers", 2)))]
)
def test_without_a_home_directory(cycle, home, workers):
    kept = {name: value for name, value in ENVIRONMENT.items() if name not in ("HOME", "XDG_CACHE_HOME")}
    given = kept if home is None else kept | {"HOME": home}
    arguments = command("bfs", cycle, "--device", "cpu", "--json", "--quiet", *workers)
    made = subprocess.run(arguments, capture_output=True, text=True, cwd=ROOT, env=given)
    assert made.returncode == 0 and "Traceback" not in made.stderr, made.stderr
    assert json.loads(made.stdout)["reached"] == 3


def test_standard_input_that_is_closed(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", None)  # as Python has it then
    for name in ("components", "rank"):
        with pytest.raises(SystemExit) as ended:
            main([name, "-", "--device", "cpu"])
        assert ended.value.code == 2
        assert "error: FILE must be a path where standard input is closed" in capsys.readouterr().err


@pytest.mark.parametrize("closed", [None, io.StringIO()])
def test_standard_error_that_is_closed(cycle, tmp_path, monkeypatch, capsys, closed):
    if closed is not None:
        closed.close()
    monkeypatch.setattr(sys, "stderr", closed)
    main(["components", str(cycle), "--device", "cpu", "--out", str(tmp_path / "labels.npy")], standalone_mode=False)
    assert "components: 1" in capsys.readouterr().out
    assert np.load(tmp_path / "labels.npy").tolist() == [0, 0, 0]


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["components", "--help"]])
def test_help_for_a_full_disk(arguments, monkeypatch, capsys):
    class Full(io.StringIO):
        def write(self, text):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys, "stdout", Full())
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 1
    assert capsys.readouterr().err == "mgraph: error: No space left on device\n"


def test_sssp_and_components(cycle, tmp_path):
    out = tmp_path / "found.npz"
    found = facts("sssp", cycle, "--device", "cpu", "--source", 1, "--predecessors", "--out", out)
    assert (found["source"], found["reached"], found["largest_distance"]) == (1, 3, 9)
    with np.load(out) as saved:
        assert saved["distances"].tolist() == [9, 0, 4] and saved["predecessors"].tolist() == [2, -9999, 1]
    assert facts("sssp", cycle, "--device", "cpu", "--limit", 5)["reached"] == 2
    path = tmp_path / "two.txt"
    path.write_text("0 1\n3 2\n")
    labels = tmp_path / "labels.npy"
    found = facts("components", path, "--device", "cpu", "--out", labels)
    assert (found["components"], found["largest_component"]) == (2, 2)
    assert np.load(labels).tolist() == [0, 0, 2, 2]
    assert "components: 4" in ok("components", path, "--connection", "strong", "--device", "cpu")


def test_a_few_distances_are_shown(tmp_path):
    """By name where vertices have names; the source is said where none was given."""
    roads = tmp_path / "roads.csv"
    roads.write_text("from,to,minutes\nUlm,Kiel,3\nKiel,Bonn,4\nBonn,Bern,9.5\n")
    columns = ("--source-column", "from", "--target-column", "to", "--weight-column", "minutes", "--device", "cpu")
    shown = ok("distances", roads, *columns).splitlines()
    assert [line.split() for line in shown[-5:]] == [
        ["from", "\\", "to", "Bern", "Bonn", "Kiel", "Ulm"],
        ["Bern", "0.0", "-", "-", "-"],
        ["Bonn", "9.5", "0.0", "-", "-"],
        ["Kiel", "13.5", "4.0", "0.0", "-"],
        ["Ulm", "16.5", "7.0", "3.0", "0.0"],
    ]
    assert "source: vertex 0, which FILE calls Bern\nreached: 1 of 4" in ok("sssp", roads, *columns)
    assert "source: Ulm\nreached: 4 of 4" in ok("bfs", roads, *columns, "--source", "Ulm")


def test_many_searches(cycle, tmp_path, monkeypatch):
    monkeypatch.setattr(commands, "ELEMENTS_AT_A_TIME", 4)  # a row at a time
    out, tree = tmp_path / "distances.npy", tmp_path / "trees.npz"
    arguments = ("bfs-many", cycle, "--source", 2, "--source", 0, "--device", "cpu")
    found = facts(*arguments, "--out", out)
    assert np.load(out).tolist() == [[1, 2, 0], [0, 1, 2]]
    assert (found["algorithm"], found["sources"]) == ("bfs_many", [2, 0])
    assert (found["reached_pairs"], found["largest_distance"]) == (6, 2)
    assert "reached: 4 of 6 pairs of a source and a vertex, the farthest at 1" in ok(*arguments, "--limit", 1)
    assert "give a .npz file" in misused(invoke(*arguments, "--predecessors", "--out", tmp_path / "tree.npy"))
    ok(*arguments, "--predecessors", "--out", tree)
    with np.load(tree) as saved:
        assert saved["predecessors"].tolist() == [[2, 0, -9999], [-9999, 0, 1]]
    assert facts("bfs-many", cycle, "--device", "cpu")["sources"] == [0]
    assert "--source must be an integer in [0, 3), got 3" in failed(invoke("bfs-many", cycle, "--source", 3), 2)


def test_forest(tmp_path):
    path, out = tmp_path / "roads.txt", tmp_path / "forest.npz"
    path.write_text("10 20 4\n20 30 3\n10 30 9\n40 50 1.5\n")
    arguments = ("forest", path, "--relabel", "--device", "cpu")
    found = facts(*arguments, "--out", out)
    assert (found["algorithm"], found["method"]) == ("minimum_spanning_forest", "boruvka")
    assert (found["edges"], found["trees"], found["total_weight"]) == (3, 2, 8.5)
    with np.load(out) as saved:
        assert [saved[name].tolist() for name in ("src", "dst", "weights")] == [[0, 1, 3], [1, 2, 4], [4, 3, 1.5]]
        assert saved["ids"].tolist() == [10, 20, 30, 40, 50]
    assert "3 edges, 2 trees, total weight 3" in ok(*arguments, "--unweighted")
    assert "its arrays are of use only together; write .npz" in misused(
        invoke(*arguments, "--out", tmp_path / "forest.npy")
    )
    path.write_text("0 1 1e308\n1 2 1e308\n")
    assert facts("forest", path, "--device", "cpu")["total_weight"] is None


def test_every_algorithm_has_a_command_and_a_plan():
    for entry in ALGORITHMS.values():
        assert entry.command.example in " ".join(ok(entry.command.name, "--help").split())
        arguments = ("--n", 100, "--m", 500, "--devices", "cpu", "--memory", "1GiB")
        assert ok("plan", entry.command.name, *arguments) == ok("plan", entry.name, *arguments)
        assert entry.command.name in ok("plan", "--help")


def test_closure(cycle, tmp_path):
    out = tmp_path / "reachable.npy"
    assert facts("closure", cycle, "--device", "cpu", "--out", out)["reachable_pairs"] == 9
    assert np.load(out).tolist() == [[7], [7], [7]]
    path = tmp_path / "chain.txt"
    path.write_text("0 1\n1 2\n")
    assert "reachable: 3 of 9 pairs" in ok("closure", path, "--device", "cpu", "--irreflexive")


def test_rank(tmp_path):
    out, ranks = tmp_path / "all.npz", tmp_path / "ranks.npy"
    text = tmp_path / "lists.txt"
    text.write_text("# two lists\n1\n2\n2\n3  # alone\n")
    found = facts("rank", text, "--device", "cpu", "--out", ranks)
    assert (found["n"], found["lists"], found["largest_rank"]) == (4, 2, 2)
    assert np.load(ranks).tolist() == [2, 1, 0, 0]
    assert "method 'splitter64': 4 elements" in shown_plan("rank", text, "--device", "cpu", "--splitters", 2)
    assert "one among 2" in ok("plan", "rank", "--n", 4, "--devices", "cpu", "--splitters", 2, "--verbose")
    assert "--splitters must be an integer of 1 or more, got 0" in failed(invoke("rank", text, "--splitters", 0), 2)
    assert "give --splitters with" in failed(invoke("rank", text, "--method", "wyllie", "--splitters", 2), 2)
    saved = tmp_path / "lists.npy"
    np.save(saved, np.array([1, 2, 2, 3], np.int32))
    packed = tmp_path / "lists.npy.gz"
    packed.write_bytes(gzip.compress(saved.read_bytes()))
    for path in (saved, packed):
        words = ok("rank", path, "--device", "cpu", "--method", "wyllie", "--out", out, "--overwrite")
        assert "lists: 4 elements" in words and "2 lists, the largest rank is 2" in words
        with np.load(out) as found:
            assert list(found) == ["ranks"] and found["ranks"].tolist() == [2, 1, 0, 0]
    text.write_text("")
    assert facts("rank", text, "--device", "cpu")["lists"] == 0


@pytest.mark.parametrize(
    ("content", "code", "says"),
    [
        (b"1\n2\n0\n", 2, "on a cycle"),
        (b"1\n7\n", 2, "succ must be integers in [0, 2), got 7 at element 1"),
        (b"0 1\n1 1\n", 1, "2 columns of numbers, not 1"),
        (b"1\ntwo\n", 1, "line 2: expected an integer vertex id, got 'two'"),
        (b"\x93NUMPY\x01", 1, "lists"),
        (b"\x1f\x8b\x08", 1, "cut off"),
    ],
)
def test_files_without_a_list(content, code, says, tmp_path):
    path = tmp_path / "lists"
    path.write_bytes(content)
    assert says in failed(invoke("rank", path, "--device", "cpu"), code)


# The other commands


def test_calibrate(monkeypatch, cache_home):
    monkeypatch.setattr("mgraph.calibrate.SIZES", {"cpu": (64, 128)})
    monkeypatch.setattr("mgraph.calibrate.SCALE", {"cpu": 8})
    before = plan("apsp", 4096, devices="cpu").seconds
    figures = facts("calibrate", "--device", "cpu")
    assert set(figures["minplus"]) == {"nonnegative", "float32", "int32", "int16", "float64"}
    assert all(figure > 0 for kind in ("minplus", "labelled") for figure in figures[kind].values())
    model = plan("apsp", 10, devices="cpu").devices[0].model
    assert dataclasses.asdict(rates("cpu", model)) == figures
    assert plan("apsp", 4096, devices="cpu").seconds != before
    again = facts("calibrate", "--device", "cpu")["relaxations"]
    assert 0.2 < again / figures["relaxations"] < 5
    (cache_home / "mgraph" / "rates.json").write_text("not JSON")
    with pytest.warns(UserWarning, match="is ignored"):
        keep("another", rates("cpu", "another"))  # an unreadable file is replaced
    assert rates("cpu", model).pivots == rates("cpu", "unheard of").pivots  # which nothing scales


KEPT = dataclasses.asdict(rates("cpu", "unheard of"))


@pytest.mark.parametrize(
    "text",
    [
        *("[]", "5", "null", "not JSON", "\xff", "[" * 99999, '{"a": 5}', '{"a": {}}', "9" * 5000),
        *(json.dumps({"a": KEPT | changed}) for changed in ({"memory": 0}, {"minplus": {}}, {"minplus": 3}, {"x": 1})),
        *(json.dumps({"a": KEPT | {"link": figure}}) for figure in (-1.0, "fast", None, True, float("nan"), 10**400)),
        json.dumps({"a": KEPT | {"labelled": dict.fromkeys(KEPT["labelled"], 0.0)}}),
    ],
)
def test_malformed_rates_are_ignored_with_one_warning(cache_home, text):
    (cache_home / "mgraph").mkdir()
    (cache_home / "mgraph" / "rates.json").write_text(text, encoding="latin-1")
    with pytest.warns(UserWarning, match=r"rates\.json is ignored") as caught:
        assert rates("cpu", "a") == rates("cpu", "unheard of")
        assert plan("apsp", 100, devices="cpu").seconds > 0
        keep("a", rates("cpu", "unheard of"))
        rates("cpu", "a")
    assert len(caught) == 1


def test_plan():
    arguments = ("apsp", "--n", 100_000, "--devices", "4xcuda", "--memory", "140GiB", "--predecessors")
    specs = [mgraph.DeviceSpec("cuda", "cuda", 140 << 30)] * 4
    expected = mgraph.plan("apsp", 100_000, devices=specs, predecessors=True)
    assert ok("plan", *arguments) == expected.explain() + "\n"
    assert ok("plan", *arguments, "--verbose") == expected.explain(verbose=True) + "\n"
    found = facts("plan", *arguments)
    assert found["peak_bytes"] == list(expected.peak_bytes) and len(found["ranges"]) == 4
    search = ("bfs", "--n", 1000, "--m", 5000, "--devices", "cpu", "--memory", "1GiB")  # what is free changes
    assert facts("plan", "bfs", "--n", "1e3", "--m", "5e3", *search[5:]) == facts("plan", *search)
    trees = [facts("plan", *search, *flag) for flag in ((), ("--predecessors",), ("--any-predecessors",))]
    assert [(each["predecessors"], each["tree"]) for each in trees] == [(False, False), (True, False), (True, True)]
    assert facts("plan", "bfs_many", *search[1:], "--sources", 100)["batch"] == 128
    assert facts("plan", *search, "--undirected")["peak_bytes"] < facts("plan", *search)["peak_bytes"]
    assert len(facts("plan", "apsp", "--n", 1000, "--devices", "3")["devices"]) == 3
    (spec,) = facts("plan", "apsp", "--n", 1000, "--devices", "cpu", "--memory", "1000000000")["devices"]
    assert (spec["kind"], spec["memory"]) == ("cpu", 10**9)


def test_plans_of_files_and_of_the_largest_graph(tmp_path):
    graph = mgraph.generate.weighted(rmat(7), (1, 9))
    path = tmp_path / "graph.wsg"
    mgraph.write(graph, path)
    for name in ("apsp", "sssp"):
        direction = {"directed": False} if name == "apsp" else {}  # sssp reads its edges by source alone
        expected = mgraph.plan(name, graph.n, graph.m, "2xcpu", dtype="int32", memory="1GiB", **direction)
        found = facts("plan", name, path, "--devices", "2xcpu", "--memory", "1GiB")
        assert found["peak_bytes"] == list(expected.peak_bytes) and found["dtype"] == "int32"
        assert (found["n"], found["m"], found["result_bytes"]) == (graph.n, graph.m, expected.result_bytes)
    table = tmp_path / "table.csv"
    table.write_text("from,to,km\nUlm,Bonn,420\nBonn,Kiel,560\n")
    columns = ("--source-column", "from", "--target-column", "to", "--weight-column", "km")
    found = facts("plan", "distances", table, *columns, "--undirected", "--devices", "cpu")
    assert (found["n"], found["m"], found["dtype"]) == (3, 4, "int32")
    table.write_text("0 1 4\n7 9 5\n")
    found = facts("plan", "sssp", table, "--unweighted", "--relabel", "--devices", "cpu")
    assert (found["n"], found["dtype"]) == (4, "float32")
    assert facts("plan", "bfs", table, "--n", 100, "--devices", "cpu")["n"] == 100
    lists = tmp_path / "lists.txt"
    lists.write_text("1\n2\n2\n")
    assert facts("plan", "rank", lists, "--devices", "cpu")["n"] == 3
    arguments = ("sssp", "--largest", "--degree", 8, "--devices", "cuda", "--memory", "8GiB")
    assert facts("plan", *arguments)["n"] == largest("sssp", 8, "cuda", memory="8GiB").n
    hosts = ("apsp", "--n", 200_000, "--m", 10**6, "--gpus", 4, "--method", "sssp")
    assert facts("plan", *hosts)["result_place"].startswith("in the memory of the devices' hosts")
    assert "of the memory of the host" in failed(invoke("plan", *hosts, "--host-memory", "100GiB"), 2)


def test_plan_for_gpus_that_this_machine_lacks():
    arguments = ("apsp", "-n", 1_660_000, "--gpus", 4608, "--network", "25e9")
    specs = [mgraph.DeviceSpec("cuda", "cuda", 140 << 30, model="NVIDIA H200")] * 4608
    expected = mgraph.plan("apsp", 1_660_000, devices=specs, network=25e9)
    assert ok("plan", *arguments, "--verbose") == expected.explain(verbose=True) + "\n"
    assert facts("plan", *arguments, "--gpus-per-node", 4)["exchange"] < expected.detail.exchange
    found = facts("plan", *arguments, "--memory", "16GB")
    assert found["devices"][4607]["memory"] == 16 * 10**9 and found["seconds"] == expected.seconds
    assert "needs" in failed(invoke("plan", *arguments, "--memory", "1GiB"), 2)


def test_info():
    text = ok("info")
    assert f"mgraph       {mgraph.__version__}" in text and "GiB free" in text
    found = facts("info")
    assert set(found["versions"]) >= {"mgraph", "python", "numpy", "scipy", "numba", "dask", "distributed"}
    assert found["versions"]["numpy"] == np.__version__
    assert found["devices"][0]["name"] == "cpu"


def test_info_without_cupy(monkeypatch):
    monkeypatch.setattr(device, "gpu_count", lambda: 0)
    installed = machine.metadata.version

    def without(name):
        if name.startswith("cupy"):
            raise machine.metadata.PackageNotFoundError(name)
        return installed(name)

    monkeypatch.setattr(machine.metadata, "version", without)
    found = facts("info")
    assert found["versions"]["cupy"] is None and len(found["devices"]) == 1
    (missing,) = found["missing"]
    assert "pip install 'dask-mgraph[cuda13]'" in missing
    text = ok("info")
    assert "cupy         not installed" in text and missing in text


def test_info_with_cupy_and_no_gpu(monkeypatch):
    monkeypatch.setattr(device, "gpu_count", lambda: 0)
    monkeypatch.setattr(device, "gpu_problem", lambda: "nothing is there")
    monkeypatch.setattr(machine.metadata, "version", lambda name: "1.0")
    several, missing = facts("info")["missing"]
    assert several.startswith("cupy-cuda13x and cupy-cuda12x and cupy are installed")
    assert missing == "nothing is there"


def test_version_and_help():
    assert mgraph.__version__ in ok("--version")
    for name in ("apsp", "bfs", "plan", "info"):
        assert name in ok("--help")
        assert "--debug" in ok(name, "--help")


# In a process of its own


def test_results_go_to_a_pipe_without_progress(cycle):
    result = process("apsp", "--rmat", 7, "--json")
    assert (result.returncode, result.stderr) == (0, "")
    assert json.loads(result.stdout)["n"] == 128
    result = process("bfs", cycle)
    assert result.returncode == 0 and "reached" in result.stdout
    assert result.stderr.startswith("bfs, method 'hybrid': 3 vertices") and "\r" not in result.stderr


def test_exit_codes_of_the_process(tmp_path):
    result = process("apsp", "--rmat", "many")
    assert result.returncode == 2 and "Traceback" not in result.stderr and result.stdout == ""
    broken = tmp_path / "broken.gr"
    broken.write_text("p sp 2 1\na 1 3 1\n")
    for unread in (broken, tmp_path / "missing.txt"):
        result = process("bfs", unread)
        assert result.returncode == 1 and result.stdout == ""
        assert result.stderr.startswith("mgraph: error: ") and result.stderr.count("\n") == 1


def test_a_warning_is_one_line(tmp_path):
    path = tmp_path / "sparse.txt"
    path.write_text("0 1\n1 5000\n")
    result = process("bfs", path, "--quiet")
    assert (result.returncode, result.stdout) == (0, "")
    assert result.stderr.startswith("mgraph: warning: ") and result.stderr.count("\n") == 1
    assert "--relabel" in result.stderr


def on_terminal(*arguments, interrupt=False, terminate=False):
    """Run the command with a terminal as its standard error; return exit code, output and what that showed.

    `interrupt` presses Ctrl-C once the bar moves, which all processes of the terminal receive; `terminate`
    then sends SIGTERM to the command.
    """
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    started = subprocess.Popen(
        command(*arguments),
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
        cwd=ROOT,
        env=ENVIRONMENT,
        start_new_session=True,
    )
    os.close(theirs)
    shown = b""
    with started, os.fdopen(ours, "rb", 0) as terminal:
        while True:
            try:
                piece = terminal.read(4096)
            except OSError:  # the error of Linux when the other end is closed
                break
            if not piece:
                break
            shown += piece
            if interrupt and b"%" in shown:
                os.killpg(started.pid, signal.SIGINT)
                interrupt = False
            if terminate and b"%" in shown:
                started.terminate()
                terminate = False
        output = started.stdout.read()
    return started.returncode, output, shown.decode()


def test_a_terminal_shows_progress():
    code, output, shown = on_terminal("apsp", "--rmat", 7, "--span", 1, "--json")
    assert code == 0 and json.loads(output)["n"] == 128
    assert "apsp:" in shown and "steps" in shown
    code, output, shown = on_terminal("apsp", "--rmat", 7, "--quiet")
    assert (code, output, shown) == (0, "", "")


@pytest.mark.parametrize("workers", [(), *exhaustive((("--workers", 2),))], ids=["directly", "two workers"])
def test_interrupted_at_work(workers):
    code, output, shown = on_terminal(
        "apsp", "--rmat", 13, "--method", "blocked", "--span", 1, *workers, interrupt=True
    )
    assert (code, output) == (130, ""), shown
    assert "interrupted" in shown and "Traceback" not in shown


@pytest.mark.exhaustive
def test_terminated_at_work():
    arguments = "apsp", "--rmat", 13, "--method", "blocked", "--span", 1, "--workers", 2
    code, output, shown = on_terminal(*arguments, terminate=True)
    assert (code, output) == (143, ""), shown
    assert "mgraph: terminated" in shown and "Warning" not in shown and "Traceback" not in shown


def test_an_interrupt_while_kernels_are_compiled(cycle):
    compiled = []

    def bfs(*_, **__):
        for kernel in range(3):
            with COMPILING:
                compiled.append(kernel)
                if kernel == 0:
                    signal.raise_signal(signal.SIGINT)

    entry = dataclasses.replace(ALGORITHMS["bfs"], call=bfs)
    result = CliRunner().invoke(made_command(entry, entry.command), [str(cycle)])
    assert (result.exit_code, compiled) == (130, [0])


def test_an_interrupt_while_the_bar_is_written(monkeypatch, capfd):
    class Terminal(io.RawIOBase):
        def writable(self):
            return True

        def write(self, shown):
            signal.raise_signal(signal.SIGINT)
            return len(shown)

    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(io.BufferedWriter(Terminal())))
    with interrupts.stoppable(by_workers=False) as look:
        sys.stderr.write("apsp: 1%")
        sys.stderr.flush()
        with pytest.raises(KeyboardInterrupt):
            look()
    assert "stopping after this span" in capfd.readouterr().err


def test_interrupted_before_the_command_runs(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli.main, "get_command", interrupt)  # which imports the command's module
    result = invoke("bfs", "--rmat", "3")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "mgraph: interrupted\n")


def test_workers_that_the_signal_ends_as_they_start(monkeypatch):
    def local_client(*_):
        signal.raise_signal(signal.SIGTERM)
        raise RuntimeError("the workers' processes did not start")

    monkeypatch.setattr("mgraph.runtime.dask.local_client", local_client)
    result = invoke("bfs", "--rmat", "3", "--workers", "2")
    assert (result.exit_code, result.stderr) == (143, "mgraph: terminated\n")


def test_an_interrupt_that_compiled_code_turned_into_an_error(capsys):
    def interrupted(*_, **__):
        raise SystemError("a result with an exception set") from KeyboardInterrupt()

    command = cli.Command("job", callback=interrupted)
    with pytest.raises(SystemExit) as ended:
        command.main([], standalone_mode=True)
    assert ended.value.code == 130 and "interrupted" in capsys.readouterr().err


# The main jobs, on real graphs


def real(path):
    if not path.is_file():
        pytest.skip(f"{path.name} is missing: the folder shared/data beside the checkout holds it")
    return path


WORKERS = pytest.mark.parametrize("workers", [(), *exhaustive((("--workers", 2),))], ids=["directly", "two workers"])


@WORKERS
def test_all_pairs_of_the_internet(tmp_path, workers):
    path, out = real(AS_CAIDA), tmp_path / "distances.npy"
    options = ("--unweighted", "--relabel", "--device", "cpu", "--json", "--out", out)
    result = process("apsp", path, *options, *workers)
    assert result.returncode == 0 and "Traceback" not in result.stderr, result.stderr
    found = json.loads(result.stdout)
    assert (found["n"], found["m"], found["workers"]) == (8020, 36406, 2 if workers else None)
    distances = np.load(out, mmap_mode="r")
    assert distances.shape == (8020, 8020) and distances.dtype == np.float32
    graph = scipy_matrix(mgraph.read(path, weighted=False, relabel=True))
    picked = np.random.default_rng(0).choice(8020, 50, replace=False)
    expected = shortest_path(graph, method="D", unweighted=True, indices=picked)
    np.testing.assert_array_equal(distances[picked], expected)


@pytest.mark.parametrize("workers", [(), *exhaustive((("--workers", 2),))], ids=["directly", "two workers"])
def test_search_of_new_york(tmp_path, workers):
    path, out = real(NEW_YORK), tmp_path / "distances.npy"
    result = process("bfs", path, "--source", 0, "--device", "cpu", "--json", "--out", out, *workers)
    assert result.returncode == 0 and "Traceback" not in result.stderr, result.stderr
    found = json.loads(result.stdout)
    assert (found["n"], found["m"], found["reached"]) == (264346, 730100, 264346)
    expected = hops(scipy_matrix(mgraph.read(path)), 0)
    np.testing.assert_array_equal(np.load(out), expected)
    assert found["levels"] == expected.max() + 1


def scipy_matrix(graph):
    indptr, indices, _ = graph.csr()
    return sparse.csr_matrix((np.ones(len(indices), np.int8), indices, indptr), shape=(graph.n, graph.n))


def hops(graph, source):
    """Return each vertex's distance in edges, from SciPy's search tree."""
    order, before = breadth_first_order(graph, source)
    distances = np.full(graph.shape[0], -1, np.int32)
    distances[source] = 0
    for vertex in order[1:]:
        distances[vertex] = distances[before[vertex]] + 1
    return distances


def test_mismatched_versions_are_one_readable_line(capsys):
    text = error_message(
        {"packages": {"numpy": "2.4.6"}}, {"w": {"packages": {"numpy": "2.4.5"}}}, {"packages": {"numpy": "2.4.6"}}
    )["warning"]
    messages.show_warning(text, UserWarning, "", 0)
    assert capsys.readouterr().err == (
        "mgraph: warning: the versions of packages differ (numpy: 2.4.6 on client, 2.4.6 on scheduler, "
        "2.4.5 on workers)\n"
    )


@pytest.mark.parametrize("debug", [False, True])
def test_only_debug_shows_what_dask_logs(caplog, debug):
    """And the log is as before when the command has ended."""
    log = logging.getLogger("distributed.batched")

    @click.command(cls=cli.Command)
    def command():
        log.error("closed")

    with caplog.at_level(logging.INFO, log.name):
        CliRunner().invoke(command, ["--debug"] if debug else [])
        assert ("closed" in caplog.text) == debug
        log.error("afterwards")
        assert "afterwards" in caplog.text


def test_distances_of_lists_of_vertices(tmp_path):
    roads = tmp_path / "roads.txt"
    roads.write_text("0 1 3\n1 2 4\n2 3 5\n3 0 7\n")
    (tmp_path / "a.txt").write_text("# from\n0\n2\n")
    np.save(tmp_path / "b.npy", [3, 1])
    lists = ("--sources", tmp_path / "a.txt", "--targets", tmp_path / "b.npy", "--device", "cpu")
    found = facts("distances", roads, *lists, "--out", tmp_path / "d.npy")
    assert np.load(tmp_path / "d.npy").tolist() == [[12, 3], [5, 15]]
    assert (found["sources"], found["pairs"], found["reached_pairs"], found["largest_distance"]) == (2, 4, 4, 15)
    table = tmp_path / "near.parquet"
    facts("distances", roads, *lists, "--limit", 9, "--nearest", 1, "--out", table)
    pandas = pytest.importorskip("pandas")
    assert pandas.read_parquet(table).values.tolist() == [[0, 1, 3], [2, 3, 5]]
    assert "near.parquet exists" in failed(invoke("distances", roads, *lists, "--out", table), 2)
    assert "--sources must be an integer in [0, 4)" in failed(
        invoke("distances", roads, "--sources", wrong(tmp_path), "--device", "cpu"), 2
    )
    says = "--sources takes a file, with a vertex a line, and there is no such file: 'nowhere.txt'"
    assert says in failed(invoke("distances", roads, "--sources", "nowhere.txt"), 1)
    (tmp_path / "words.txt").write_text("0\ntwo\n")
    assert "words.txt, line 2: expected" in failed(invoke("distances", roads, "--sources", tmp_path / "words.txt"), 1)
    ok("bfs", roads, "--device", "cpu", "--out", tmp_path / "levels.csv")
    assert (tmp_path / "levels.csv").read_text().splitlines() == ["vertex,distances", "0,0", "1,1", "2,2", "3,3"]
    ok("distances", roads, *lists, "--out", tmp_path / "od.csv")
    wanted = ["source,target,distances", "0,3,12", "0,1,3", "2,3,5", "2,1,15"]
    assert (tmp_path / "od.csv").read_text().splitlines() == wanted
    assert "suffix '.txt', which must be" in failed(invoke("bfs", roads, "--out", tmp_path / "levels.txt"), 2)


def wrong(folder):
    """A list of vertices, one of which no small graph has."""
    (folder / "wrong.txt").write_text("0\n99\n")
    return folder / "wrong.txt"


def test_measures(tmp_path):
    roads = tmp_path / "roads.txt"
    roads.write_text("0 1 3\n1 2 4\n")
    found = facts("measures", roads, "--eccentricity", "--within", 3, "--within", 8, "--device", "cpu")
    assert found["within"] == {"least": 1, "mean": pytest.approx(10 / 6), "most": 3}
    assert "--within must be a number of 0 or more" in failed(invoke("measures", roads, "--within", "nan"), 2)
    assert found["eccentricity"] == {"least": 7, "mean": 7, "most": 7}  # two vertices do not reach all others
    table = tmp_path / "measures.parquet"
    facts("measures", roads, "--closeness", "--reached", "--reverse", "--out", table, "--device", "cpu")
    frame = pytest.importorskip("pandas").read_parquet(table)
    assert frame["source"].tolist() == [0, 1, 2] and frame["reached"].tolist() == [1, 2, 3]
    says = "--closeness is of the distances to each source: give --reverse, or --out-closeness for those from it"
    assert says in failed(invoke("measures", roads, "--closeness"), 2)
    assert "give one or several of --eccentricity" in misused(invoke("measures", roads))


@pytest.mark.parametrize("name", ["bfs", "sssp"])
def test_a_search_from_a_vertex_without_edges_says_so(name, tmp_path):
    file = tmp_path / "graph.el"
    file.write_text("0 1\n1 2\n")
    told = "no edge leads from vertex 2 to another"
    assert told in ok(name, file, "--source", 2, "--device", "cpu")
    for others in (["--source", 1], ["--source", 2, "--limit", 0], ["--source", 2, "--target", 2]):
        assert told not in ok(name, file, *others, "--device", "cpu")


def test_the_package_is_the_command():
    ran = subprocess.run([sys.executable, "-m", "mgraph", "--version"], capture_output=True, text=True, env=ENVIRONMENT)
    assert ran.returncode == 0 and mgraph.__version__ in ran.stdout
