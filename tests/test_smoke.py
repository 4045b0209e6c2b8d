"""Every public call, method and type once on tiny graphs, a file of each format, the command line: on every Python.

``python -m pytest -m smoke`` is what runs on each Python that mgraph supports, in at most three minutes on two cores
with an empty cache. The cases come from the package's own lists, and are compared with SciPy's results or known ones.
"""

import bz2
import gzip
import inspect
import json
import lzma
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

import dask
import numpy as np
import pytest
from click.testing import CliRunner
from scipy import io as scipy_io
from scipy import sparse
from scipy.sparse import csgraph

import mgraph
from mgraph import cli, generate
from mgraph.algorithms.apsp.plan import SEARCHES
from mgraph.algorithms.components.plan import METHODS, STRONG_METHODS
from mgraph.algorithms.registry import ALGORITHMS
from mgraph.cluster import local_client
from mgraph.dtypes import DISTANCE_TYPES
from mgraph.errors import InputError, MemoryLimitError
from mgraph.io import FORMATS
from mgraph.planner import ALGORITHMS as PLANNED
from mgraph_bench.commands import bench
from tests.support.commands import invoke
from tests.support.files import in_memory
from tests.support.references import as_floats

pytestmark = pytest.mark.smoke

TYPES = [dtype.name for dtype in DISTANCE_TYPES]

#: Types of weights.
WEIGHTS = [*TYPES, "float16", "int8", "int64", "uint8", "uint16", "uint32"]

N = 9
EDGES = [(0, 1, 4), (0, 2, 1), (2, 1, 2), (1, 3, 5), (2, 3, 9), (3, 0, 7), (4, 5, 3), (5, 4, 6), (3, 6, 1), (6, 7, 2)]
SOURCES, TARGETS, LENGTHS = np.array(EDGES).T

#: SciPy's results for the graph, whose last vertex has no edge.
MATRIX = sparse.csr_array((LENGTHS.astype(float), (SOURCES, TARGETS)), shape=(N, N))
DISTANCES = csgraph.dijkstra(MATRIX)
WEIGHED = MATRIX.toarray()
HOPS = csgraph.dijkstra(MATRIX, unweighted=True)


def graph(dtype="float32", directed=True):
    return mgraph.Graph.from_edges(SOURCES, TARGETS, LENGTHS.astype(dtype), n=N, directed=directed)


def check_predecessors(distances, predecessors, weights):
    """A predecessor is one edge before its vertex; sources and unreached vertices have none."""
    for row, parents in zip(np.atleast_2d(distances), np.atleast_2d(predecessors), strict=True):
        for vertex, parent in enumerate(parents):
            if not 0 < row[vertex] < np.inf:
                assert parent == -9999
            else:
                assert weights[parent, vertex] and row[parent] + weights[parent, vertex] == row[vertex]


@pytest.mark.parametrize("labels", [{}, {"predecessors": True}, {"intermediate": True}], ids="".join)
@pytest.mark.parametrize(("method", "dtype"), [*product(["auto", *ALGORITHMS["apsp"].methods], TYPES)])
def test_apsp(method, dtype, labels):
    def call():
        return mgraph.apsp(graph(dtype), method=method, dtype=dtype, device="cpu", **labels)

    no_labels = "intermediate" in labels and method not in ("auto", "blocked", "naive")
    if no_labels or (dtype == "int16" and method in SEARCHES):
        with pytest.raises(InputError):
            call()
        return
    result = call()
    assert result.distances.dtype == dtype and method in ("auto", result.plan.method)
    np.testing.assert_array_equal(as_floats(result.distances), DISTANCES)
    if "predecessors" in labels:
        check_predecessors(DISTANCES, result.predecessors, WEIGHED)
    if labels:
        assert result.path(0, 7) == [0, 2, 1, 3, 6, 7]


def test_apsp_out_of_core():
    matrix = generate.random_matrix(200, density=0.1)
    inside = mgraph.apsp(matrix, method="blocked", block=32, device="cpu")
    found = mgraph.apsp(matrix, method="blocked", block=32, device="cpu", memory_limit=150_000)
    assert found.plan.detail.strip and not inside.plan.detail.strip
    np.testing.assert_array_equal(found.distances, inside.distances)
    with pytest.raises(MemoryLimitError, match="needs"):
        mgraph.apsp(matrix, device="cpu", memory_limit=1000)


@pytest.mark.parametrize("dtype", WEIGHTS)
def test_weights_of_every_type(dtype):
    np.testing.assert_array_equal(as_floats(mgraph.apsp(graph(dtype), device="cpu").distances), DISTANCES)
    np.testing.assert_array_equal(as_floats(mgraph.sssp(graph(dtype), 2, device="cpu").distances), DISTANCES[2])


@pytest.mark.parametrize("predecessors", [False, True])
@pytest.mark.parametrize(("method", "dtype"), [*product(["auto", *ALGORITHMS["sssp"].methods], TYPES)])
def test_sssp(method, dtype, predecessors):
    def call():
        return mgraph.sssp(graph(dtype), 0, method=method, dtype=dtype, predecessors=predecessors, device="cpu")

    if dtype == "int16":
        with pytest.raises(InputError, match="int16"):
            call()
        return
    result = call()
    assert result.distances.dtype == dtype
    np.testing.assert_array_equal(as_floats(result.distances), DISTANCES[0])
    if predecessors:
        check_predecessors(DISTANCES[0], result.predecessors, WEIGHED)
        assert result.path(7) == [0, 2, 1, 3, 6, 7]


@pytest.mark.parametrize("predecessors", [False, True])
def test_apsp_batch(predecessors):
    weighed = mgraph.apsp_batch([graph(), graph()], predecessors=predecessors, device="cpu")
    np.testing.assert_array_equal(as_floats(weighed[1]), DISTANCES)
    hops = mgraph.apsp_batch(np.array([WEIGHED > 0]), predecessors=predecessors, device="cpu")
    np.testing.assert_array_equal(as_floats(hops[0]), HOPS)
    if predecessors:
        assert weighed.path(1, 0, 7) == [0, 2, 1, 3, 6, 7]


@pytest.mark.parametrize("predecessors", [False, True, "any"])
@pytest.mark.parametrize("method", ["auto", *ALGORITHMS["bfs"].methods])
def test_bfs(method, predecessors):
    result = mgraph.bfs(graph(), 0, method=method, predecessors=predecessors, device="cpu")
    np.testing.assert_array_equal(np.where(result.distances < 0, np.inf, result.distances), HOPS[0])
    assert result.levels.tolist() == [1, 2, 1, 1, 1]
    if predecessors:
        check_predecessors(HOPS[0], result.predecessors, WEIGHED > 0)


@pytest.mark.parametrize("options", [{}, {"targets": [1, 0]}, {"nearest": 2}, {"reduce": ["mean", "out_harmonic"]}])
def test_distances(options):
    result = mgraph.distances(graph(), range(N), **options, device="cpu")
    result.verify(graph(), rows=None)


#: Computed from `mgraph.distances`.
MEASURES = (
    *("average_distance", "center", "closeness", "diameter"),
    *("eccentricity", "harmonic_closeness", "periphery", "radius"),
)


def test_distance_blocks():
    assert [len(block.distances) for block in mgraph.distance_blocks(graph(), rows=N - 1, device="cpu")] == [N - 1, 1]


def test_distance_histogram():
    found = mgraph.distance_histogram(graph(), device="cpu")
    assert found.counts.sum() == found.pairs == np.isfinite(DISTANCES).sum() - N


def test_path_counts():
    found = mgraph.path_counts(graph(), range(N), device="cpu")
    assert np.array_equal(found.counts > 0, np.isfinite(DISTANCES))


@pytest.mark.parametrize("name", MEASURES)
def test_measures(name):
    assert np.all(np.asarray(getattr(mgraph, name)(graph(), device="cpu")) >= 0)


@pytest.mark.parametrize("predecessors", [False, True])
def test_bfs_many(predecessors):
    result = mgraph.bfs_many(graph(), range(N), predecessors=predecessors, device="cpu")
    np.testing.assert_array_equal(np.where(result.distances < 0, np.inf, result.distances), HOPS)
    if predecessors:
        check_predecessors(HOPS, result.predecessors, WEIGHED > 0)


@pytest.mark.parametrize(
    ("method", "connection"), [*product(["auto", *METHODS], ["weak"]), *product(["auto", *STRONG_METHODS], ["strong"])]
)
def test_connected_components(method, connection):
    result = mgraph.connected_components(graph(), method=method, connection=connection, device="cpu")
    count, labels = csgraph.connected_components(MATRIX, connection=connection)
    assert result.count == count
    assert result.labels.tolist() == [int(np.flatnonzero(labels == label)[0]) for label in labels]


@pytest.mark.parametrize("reflexive", [False, True])
def test_transitive_closure(reflexive):
    result = mgraph.transitive_closure(graph(), reflexive=reflexive, device="cpu")
    reached = np.isfinite(DISTANCES)
    if not reflexive:
        on_cycle = (MATRIX.toarray().astype(bool).astype(int) @ reached.astype(int)).diagonal() > 0
        np.fill_diagonal(reached, on_cycle)
    np.testing.assert_array_equal(result.to_dense(), reached)
    assert result.count == reached.sum()


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("method", ["auto", *ALGORITHMS["list_rank"].methods])
def test_list_rank(method, dtype):
    succ = np.array([3, 1, 0, 4, 4, 5, 2], dtype)
    assert np.asarray(mgraph.list_rank(succ, method=method, device="cpu")).tolist() == [2, 0, 3, 1, 0, 0, 4]


@pytest.mark.parametrize(
    ("name", "method"), [(name, method) for name, entry in ALGORITHMS.items() for method in ("auto", *entry.methods)]
)
def test_a_sample(name, method):
    entry = ALGORITHMS[name]
    sample = next(entry.samples(method))
    result = entry.run(sample, method, "cpu")
    assert entry.check(sample.given, entry.arrays(result), sample.start)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_plan(algorithm):
    for method in ("auto", *ALGORITHMS[algorithm].methods):
        made = mgraph.plan(algorithm, 1000, 5000, "cpu", method=method)
        assert made.algorithm == algorithm and made.peak_bytes[0] > 0 and "predicted time" in made.explain(True)


MADE = {
    "rmat": lambda: generate.rmat(5),
    "weighted": lambda: generate.weighted(generate.rmat(4), (1, 9)),
    "random_matrix": lambda: generate.random_matrix(9),
    "random_density": lambda: generate.random_density(9, 30.0),
    "random_degree": lambda: generate.random_degree(9, 2),
    "scale_free": lambda: generate.scale_free(50, 3),
    "grid": lambda: generate.grid(3, 4),
    "linked_list": lambda: generate.linked_list(9),
    "list_graph": lambda: generate.list_graph(9, 3),
    "tree_graph": lambda: generate.tree_graph(9, 2, 2),
    "random_graph": lambda: generate.random_graph(30, 0.5, 3),
}

#: Helper functions, not calls.
WITHIN = {"rmat_edges"}

#: Functions beside those of the registry.
BESIDE = {
    *MEASURES,
    "apsp_batch",
    "distance_blocks",
    "distance_histogram",
    "flows",
    "pairs",
    "plan",
    "read",
    "resident",
    "write",
}


def public(module):
    names = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
    return {
        name
        for name in names
        if inspect.isfunction(f := getattr(module, name)) and f.__module__.startswith(module.__name__)
    }


def test_everything_public_is_here():
    assert public(mgraph) == BESIDE | {entry.call.__name__ for entry in ALGORITHMS.values()}
    assert public(generate) - WITHIN == MADE.keys()
    assert ALGORITHMS.keys() == set(PLANNED)


@pytest.mark.parametrize("maker", MADE)
def test_generate(maker):
    made = MADE[maker]()
    if maker == "linked_list":
        assert sorted(np.asarray(mgraph.list_rank(made, device="cpu"))) == list(range(9))
    elif maker == "random_matrix":
        np.testing.assert_allclose(mgraph.apsp(made, device="cpu").distances, csgraph.floyd_warshall(made), rtol=1e-6)
    else:
        indptr, indices = made.adjacency("csr")
        matrix = sparse.csr_array((np.ones(len(indices)), indices, indptr), shape=(made.n, made.n))
        found = mgraph.connected_components(made, device="cpu")
        assert found.count == csgraph.connected_components(matrix, directed=False)[0]


def lines(*rows):
    return ("\n".join(rows) + "\n").encode()


def by_networkx(write):
    """Return the bytes that NetworkX writes to a file."""
    networkx = pytest.importorskip("networkx")
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(N))
    graph.add_weighted_edges_from(EDGES)
    return in_memory(lambda file: getattr(networkx, write)(graph, file))


def node_link():
    """Return the graph in JSON, in node-link form."""
    links = [{"source": u, "target": v, "weight": w} for u, v, w in EDGES]
    return json.dumps({"directed": True, "nodes": [{"id": v} for v in range(N)], "edges": links}).encode()


def serialized(graph):
    """Return the bytes of GAP's serialized form of a graph."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "graph.wsg" if graph.weighted else "graph.sg")
        mgraph.write(graph, path)
        return path.read_bytes()


def neighbours(vertex):
    """Return the line of a vertex in METIS's form, with the edges from it alone."""
    return " ".join(f"{v + 1} {w}" for u, v, w in EDGES if u == vertex)


FILES = {
    "edges": lambda: lines(*(f"{u} {v} {w}" for u, v, w in EDGES), f"# to {N}"),
    "gr": lambda: lines(f"p sp {N} {len(EDGES)}", *(f"a {u + 1} {v + 1} {w}" for u, v, w in EDGES)),
    "mtx": lambda: in_memory(scipy_io.mmwrite, MATRIX.tocoo()),
    "metis": lambda: lines(f"{N} {len(EDGES) // 2} 1", *map(neighbours, range(N))),
    "sg": lambda: serialized(graph().unweighted()),
    "wsg": lambda: serialized(graph("int32")),
    "npz": lambda: in_memory(sparse.save_npz, sparse.csr_matrix(MATRIX)),
    "npy": lambda: in_memory(np.save, np.where(WEIGHED > 0, WEIGHED, np.inf)),
    "graphml": lambda: by_networkx("write_graphml"),
    "gexf": lambda: by_networkx("write_gexf"),
    "gml": lambda: by_networkx("write_gml"),
    "pajek": lambda: by_networkx("write_pajek"),
    "json": node_link,
}

#: Formats of several files, or of graphs without directions, which have tests of their own.
OTHERS = ("webgraph", "graphalytics", "graph6")


#: What a file does not say.
OPTIONS = {"edges": {"n": N}, "metis": {"directed": True}}


@pytest.mark.parametrize("squeezed", ["", ".gz", ".bz2", ".xz"])
@pytest.mark.parametrize("name", [name for name in FORMATS if name not in OTHERS])
def test_read(name, squeezed, tmp_path):
    path = tmp_path / f"graph.{'txt' if name == 'edges' else name}{squeezed}"
    squeeze = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}[squeezed]
    path.write_bytes(squeeze(FILES[name]()))
    result = mgraph.apsp(mgraph.read(path, **OPTIONS.get(name, {})), device="cpu")
    np.testing.assert_array_equal(as_floats(result.distances), HOPS if name == "sg" else DISTANCES)


@pytest.fixture(scope="module")
def roads(tmp_path_factory):
    path = tmp_path_factory.mktemp("smoke") / "roads.gr"
    path.write_bytes(FILES["gr"]())
    return path


def ok(*arguments):
    """Return what a command prints as JSON."""
    result = invoke(*map(str, arguments), "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_help_of_every_command():
    for name in cli.main.list_commands(None):
        result = invoke(name, "--help")
        assert result.exit_code == 0 and "Usage" in result.output


COMMANDS = {
    "apsp": ("mean_distance", DISTANCES[np.isfinite(DISTANCES) & (DISTANCES > 0)].mean()),
    "bfs": ("levels", 5),
    "sssp": ("largest_distance", 11),
    "components": ("components", 3),
    "closure": ("reachable_pairs", int(np.isfinite(DISTANCES).sum())),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_on_a_file(command, roads, tmp_path):
    name, value = COMMANDS[command]
    out = tmp_path / "result.npz"
    assert ok(command, roads, "--device", "cpu", "--out", out)[name] == pytest.approx(value)
    assert out.exists()


def test_rank(tmp_path):
    np.save(tmp_path / "list.npy", np.array([1, 2, 2]))
    assert ok("rank", tmp_path / "list.npy", "--device", "cpu")["largest_rank"] == 2


def test_plan_and_info():
    assert ok("plan", "apsp", "-n", 1000, "--devices", "cpu")["algorithm"] == "apsp"
    assert ok("info")["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))


def test_calibrate(monkeypatch, cache_home):
    monkeypatch.setattr("mgraph.calibrate.SIZES", {"cpu": (64, 128)})
    monkeypatch.setattr("mgraph.calibrate.SCALE", {"cpu": 6})
    assert ok("calibrate", "--device", "cpu")["search"] > 0


def test_bench(tmp_path):
    command = ["bfs-size", "--quick", "--limit", "1", "--device", "cpu", "--out", str(tmp_path)]
    result = CliRunner().invoke(bench, command)
    assert result.exit_code == 0, result.output
    result = CliRunner().invoke(bench, ["report", str(tmp_path)])
    assert result.exit_code == 0 and (tmp_path / "report.html").exists(), result.output


def test_a_process_of_its_own(roads):
    command = [sys.executable, "-W", "error", "-m", "mgraph.cli", "sssp", str(roads), "--device", "cpu", "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["reached"] == np.isfinite(DISTANCES[0]).sum()


# A cluster that closes leaves sockets to the garbage collector.
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_workers():
    spawned = dask.config.set({"distributed.worker.multiprocessing-method": "spawn"})  # as Dask does by default
    with spawned, local_client(2, "cpu") as client:
        result = mgraph.apsp(graph(), method="blocked", client=client)
        np.testing.assert_array_equal(result.distances.to_numpy(), DISTANCES)
        result = mgraph.bfs(graph(), 0, client=client)
        np.testing.assert_array_equal(np.where(result.distances < 0, np.inf, result.distances), HOPS[0])
        result = mgraph.connected_components(graph(), client=client)
        assert result.count == 3
        mgraph.DistributedGraph.from_graph(graph(), client).publish("small")
        found = mgraph.sssp(mgraph.resident("small", client), 0)
        np.testing.assert_array_equal(as_floats(found.distances.to_numpy()), DISTANCES[0])
        assert not mgraph.cluster.check_network(client).broken
        mgraph.cluster.unpublish("small", client)
