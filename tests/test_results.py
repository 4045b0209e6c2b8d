"""The common interface of results, and the documentation and checks of common arguments."""

import dataclasses
import inspect
import re
import sys

import numpy as np
import pytest

import mgraph
from mgraph.algorithms.registry import ALGORITHMS
from mgraph.results import MatrixResult
from tests.support.calls import BY_CALL, arguments
from tests.support.commands import failed, invoke
from tests.support.formats import result_of

GRAPH = mgraph.Graph.from_edges([0, 1, 3], [1, 2, 4], [3, 4, 5])

#: Every public call with arguments that suit it.
CALLS = {call: arguments(name, GRAPH, [1, 2, 2]) for call, name in BY_CALL.items()}
COMMON = ("device", "client", "memory_limit", "span", "progress", "worker_timeout", "wait_for_workers", "retries")


def test_no_call_is_left_out():
    returned = {name: inspect.signature(getattr(mgraph, name)).return_annotation for name in mgraph.__all__
                if inspect.isfunction(getattr(mgraph, name))}  # fmt: skip
    calls = {name for name, annotation in returned.items() if str(annotation).endswith("Result")}
    assert calls == {*CALLS, "apsp_batch"}  # which runs on one device, at once


@pytest.mark.parametrize("name", CALLS)
def test_every_argument_is_documented_once(name):
    call = getattr(mgraph, name)
    parameters = inspect.signature(call).parameters
    assert set(COMMON) <= set(parameters)
    described = re.findall(r"^ *([\w, ]+) : ", inspect.getdoc(call).partition("Returns\n---")[0], re.MULTILINE)
    assert sorted(", ".join(described).split(", ")) == sorted(parameters)
    assert "{common" not in call.__doc__ and "See Also" in call.__doc__


@pytest.mark.parametrize("name", CALLS)
def test_progress_is_shown_as_a_bar(name, capsys):
    getattr(mgraph, name)(*CALLS[name], device="cpu", span=1, progress=True)
    shown = capsys.readouterr().err
    assert "steps" in shown and shown.endswith("\r")  # the bar vanishes


@pytest.mark.parametrize("name", CALLS)
def test_a_result_explains_its_plan_and_its_time(name):
    result = getattr(mgraph, name)(*CALLS[name], device="cpu")
    compiled = dataclasses.replace(result, timings=result.timings | {"compile": 2.5})
    *plan, took = compiled.explain().splitlines()
    assert "\n".join(plan) == result.plan.explain()
    assert re.fullmatch(r"took: load .*, compile 2\.5 s, solve .*, collect .*", took)


@pytest.mark.parametrize("name", CALLS)
def test_common_arguments_are_accepted_and_checked(name):
    call, given = getattr(mgraph, name), CALLS[name]
    seen = []
    result = call(
        *given, device="cpu", memory_limit="1GiB", span=1, progress=lambda done, total: seen.append((done, total))
    )
    assert result.plan.span == 1 and seen and seen[-1][0] >= seen[0][0]
    with pytest.raises(mgraph.InputError, match="memory_limit must be a number of bytes"):
        call(*given, device="cpu", memory_limit="much")
    with pytest.raises(mgraph.InputError, match="span must be an integer"):
        call(*given, device="cpu", span=0)
    with pytest.raises(mgraph.MemoryLimitError, match="may take 1 B by the memory limit"):
        call(*given, device="cpu", memory_limit=1)


#: The main arrays that are not the first that the registry names.
MAIN = {"minimum_spanning_forest": "weights", "transitive_closure": "words"}


def found(name, **options):
    return getattr(mgraph, name)(*CALLS[name], device="cpu", **options)


@pytest.mark.parametrize("name", CALLS)
def test_the_main_array(name):
    result = found(name)
    main = MAIN.get(name) or next(iter(ALGORITHMS[BY_CALL[name]].arrays(result)))
    assert isinstance(result, mgraph.Result) and next(iter(result.arrays)) == main
    assert np.asarray(result) is getattr(result, main)
    converted = np.array(result, np.float64)
    assert converted.dtype == np.float64 and np.array_equal(converted, getattr(result, main))
    assert np.array(result) is not getattr(result, main)


@pytest.mark.parametrize("name", CALLS)
def test_representations(name):
    result = found(name)
    main = next(iter(result.arrays.values()))
    words, page = repr(result), result._repr_html_()
    assert f"{main.dtype} {main.shape}" in words and f"method {result.plan.method!r} on cpu" in words
    assert len(words) < 160 and "\n" not in words
    assert (
        page.count("<tr>") == 1 + len(result.arrays) and f"<td>{main.shape}</td>" in page and "supersteps" not in page
    )


def test_arrays_that_were_asked_for():
    assert list(found("apsp", predecessors=True).arrays) == ["distances", "predecessors"]
    assert list(found("apsp", intermediate=True).arrays) == ["distances", "intermediate"]
    assert list(found("sssp", predecessors=True).arrays) == ["distances", "predecessors"]


@pytest.mark.parametrize("value", [99, 5, -1, -9998, 2**31 - 1])
def test_a_path_along_changed_predecessors(value):
    graph = mgraph.Graph.from_edges(range(4), range(1, 5), ids=list("abcde"))
    calls = {
        "sssp": lambda: mgraph.sssp(graph, 0, predecessors=True, device="cpu"),
        "bfs": lambda: mgraph.bfs(graph, 0, predecessors=True, device="cpu"),
        "bfs_many": lambda: mgraph.bfs_many(graph, [0], predecessors=True, device="cpu"),
        "distances": lambda: mgraph.distances(graph, [0], predecessors=True, device="cpu"),
        "apsp": lambda: mgraph.apsp(graph, predecessors=True, device="cpu"),
        "intermediate": lambda: mgraph.apsp(graph, intermediate=True, device="cpu"),
        "apsp_batch": lambda: mgraph.apsp_batch([graph], predecessors=True, device="cpu"),
    }
    for name, call in calls.items():
        result, ends = call(), [0] * {"sssp": 0, "bfs": 0, "apsp_batch": 2}.get(name, 1)
        array = result.intermediate if name == "intermediate" else result.predecessors
        array[..., 3] = value
        with pytest.raises(
            mgraph.InputError, match=rf"3\)?\] must be -9999 or in \[0, 5\), got {value}: the result was"
        ):
            result.path(*ends, 4)
        if value > 0 and name != "apsp_batch":
            with pytest.raises(mgraph.InputError, match=f"a vertex must be less than 5, got {value}"):
                result.to_pandas()
        array[..., 3] = 4
        with pytest.raises(mgraph.RoundingError, match=r"unless \w+( \w+)? were changed"):
            result.path(*ends, 4)
        for other in (array[..., :2], array + 0.5):
            with pytest.raises(mgraph.InputError, match="must be integers of the shape of distances"):
                dataclasses.replace(result, **{"intermediate" if name == "intermediate" else "predecessors": other})


def test_sources_of_searches():
    assert found("sssp").source == found("bfs").source == 0 and found("bfs").sources == (0,)
    assert found("bfs_many").sources == (0, 3)
    several = mgraph.bfs(GRAPH, sources=[3, 0], device="cpu")
    assert several.sources == (3, 0) and several.source is None and "sources (3, 0)" in repr(several)


def values_of_vertices():
    """Yield the calls whose results have a value for each vertex or element."""
    for name in CALLS:
        result = result_of(ALGORITHMS[BY_CALL[name]])
        if result.INDEX in ("vertex", "element") and not issubclass(result, MatrixResult):
            yield name


@pytest.mark.parametrize("name", list(values_of_vertices()))
def test_vectors_as_data_frames(name):
    options = {"predecessors": True} if name in ("bfs", "sssp") else {}
    result = found(name, **options)
    frame = result.to_pandas()
    assert list(frame.columns) == list(result.arrays)
    assert frame.index.name == ("element" if name == "list_rank" else "vertex")
    for column, array in result.arrays.items():
        there = array >= 0 if column == "predecessors" else result.is_reached if name in ("bfs", "sssp") else array >= 0
        assert np.array_equal(frame[column].notna(), there) and frame[column].dropna().tolist() == array[there].tolist()
        assert frame[column].dtype == (array.dtype if there.all() else "Int32")


@pytest.mark.parametrize("weights", [None, np.int32, np.float64])
def test_tables_lack_distances_of_no_path(weights, tmp_path):
    pandas = pytest.importorskip("pandas")
    lengths = None if weights is None else np.array([2, 5], weights)
    graph = mgraph.Graph.from_edges([1, 2], [2, 3], lengths, n=5, ids=["a", "b", "c", "d", "e"])
    for result in (mgraph.sssp(graph, 1, predecessors=True, device="cpu"), mgraph.bfs(graph, 1, device="cpu")):
        frame, integers = result.to_pandas(), result.distances.dtype == np.int32
        assert frame["distances"].isna().tolist() == [integers, False, False, False, integers]
        assert np.isinf(frame["distances"].dropna().astype(float)).sum() == 2 * (not integers)
        first, *_, last = frame.to_csv().splitlines()[1:]
        missing = "" if integers else "inf"
        assert first.split(",")[1] == last.split(",")[1] == missing
        result.save(tmp_path / "table.parquet", overwrite=True)
        read = pandas.read_parquet(tmp_path / "table.parquet")
        assert read["distances"].equals(frame["distances"].reset_index(drop=True))
        result.save(tmp_path / "arrays.npz", overwrite=True)
        with np.load(tmp_path / "arrays.npz") as arrays:  # arrays keep the type, and what it calls infinity
            assert np.array_equal(arrays["distances"], result.distances)


@pytest.mark.parametrize("weights", [None, np.int32, np.float64])
@pytest.mark.parametrize("name", ["apsp", "apsp_batch", "bfs", "bfs_many", "distances", "sssp"])
def test_what_is_reached(name, weights):
    lengths = None if weights is None else np.array([2, 0], weights)
    graph = mgraph.Graph.from_edges([0, 1], [1, 2], lengths, n=5)
    given = {"apsp": (graph,), "apsp_batch": ([graph],), "bfs": (graph, 1), "sssp": (graph, 1)}
    result = getattr(mgraph, name)(*given.get(name, (graph, [1, 0])), device="cpu")
    rows = {"apsp": range(5), "apsp_batch": range(5), "bfs": [1], "sssp": [1]}.get(name, [1, 0])
    expected = np.array([[source <= target <= 2 or source == target for target in range(5)] for source in rows])
    assert result.is_reached.dtype == bool
    assert np.array_equal(result.is_reached, expected.reshape(result.distances.shape))
    told = f"{(~expected).sum()} of {expected.size} not reached"
    assert told in repr(result) and told in result._repr_html_()


def test_only_what_is_not_reached_is_told(monkeypatch):
    assert "not reached" not in repr(mgraph.bfs(mgraph.generate.grid(2, 2), 0, device="cpu"))
    small, large = mgraph.Graph.from_edges([0], [1]), mgraph.Graph.from_edges([0], [1], n=3)
    batch = mgraph.apsp_batch([small, large], device="cpu")  # of 2 x 3 x 3 elements, of which 5 only fill the array
    assert "6 of 13 not reached" in repr(batch) and batch.is_reached.sum() == 7
    monkeypatch.setattr("mgraph.results.MOST_COUNTED", 8)
    assert "not reached" not in repr(batch)


def test_measures_and_tables_have_no_distances_to_be_reached(tmp_path):
    with pytest.raises(mgraph.InputError, match=r"the result has measures, not distances.*reduce='reached'"):
        mgraph.distances(GRAPH, reduce="mean", device="cpu").is_reached  # noqa: B018
    written = mgraph.distances(GRAPH, out=tmp_path / "d.npy", device="cpu")
    assert written.is_reached.sum() == 9 and "not reached" not in repr(written)
    sparse = mgraph.distances(GRAPH, sparse=True, device="cpu")
    assert sparse.is_reached.all() and len(sparse.is_reached) == 9
    pytest.importorskip("pyarrow")
    with pytest.raises(mgraph.InputError, match="what was computed is in the file"):
        mgraph.distances(GRAPH, out=tmp_path / "d.parquet", device="cpu").is_reached  # noqa: B018


@pytest.mark.parametrize("rows_at_a_time", [1, 1 << 22])
def test_matrices_as_data_frames(rows_at_a_time, monkeypatch):
    monkeypatch.setattr("mgraph.results.PAIRS_AT_A_TIME", rows_at_a_time)
    pairs = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2), (3, 3), (3, 4), (4, 4)]
    apsp = found("apsp", predecessors=True)
    frame = apsp.to_pandas()
    assert list(zip(frame["source"], frame["target"], strict=True)) == pairs
    assert frame["distances"].tolist() == [0, 3, 7, 0, 4, 0, 0, 5, 0]
    before = [apsp.predecessors[pair] for pair in pairs]
    assert frame["predecessors"].fillna(-9999).tolist() == before and frame["predecessors"].isna().sum() == 5
    frame = found("transitive_closure").to_pandas()
    assert list(frame.itertuples(index=False, name=None)) == pairs
    frame = mgraph.bfs_many(GRAPH, [3, 0], device="cpu").to_pandas()
    assert frame.to_dict("list") == {
        "source": [3, 3, 0, 0, 0], "target": [3, 4, 0, 1, 2], "distances": [0, 1, 0, 1, 2],
    }  # fmt: skip


def test_data_frames_of_empty_graphs():
    empty = mgraph.Graph.from_edges([], [], n=0)
    for call in (mgraph.apsp, mgraph.transitive_closure, mgraph.connected_components):
        assert len(call(empty, device="cpu").to_pandas()) == 0


def test_data_frames_of_large_matrices_are_refused(monkeypatch):
    monkeypatch.setattr("mgraph.results.MOST_BYTES", 299)
    with pytest.raises(mgraph.InputError, match=r"a DataFrame of 5 x 5 pairs may take 300 B, and the most is 299 B"):
        found("apsp").to_pandas()
    monkeypatch.setattr("mgraph.results.MOST_BYTES", 300)
    assert len(found("apsp").to_pandas()) == 9


def test_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    for name in ("bfs", "apsp"):
        with pytest.raises(mgraph.MissingPackageError, match=r"to_pandas\(\) needs pandas.* pip install pandas"):
            found(name).to_pandas()


@pytest.mark.parametrize("package", ["pandas", "pyarrow"])
def test_parquet_without_its_packages(monkeypatch, tmp_path, package):
    """Refused before the work where the path is known by then."""
    result, graph, path = found("bfs"), tmp_path / "edges.txt", tmp_path / "found.parquet"
    graph.write_text("0 1\n")
    monkeypatch.setitem(sys.modules, package, None)
    says = f"writing .parquet needs {package}.* pip install {package}"
    with pytest.raises(mgraph.MissingPackageError, match=says):
        result.save(path)
    with pytest.raises(mgraph.MissingPackageError, match=says):
        mgraph.distances(mgraph.generate.grid(2, 2), [0], out=path, device="cpu")
    assert re.search(says, failed(invoke("distances", graph, "--out", path), 1))
    assert not path.exists()


def test_matrices_on_workers(monkeypatch):
    with mgraph.cluster.local_client(2, "cpu") as client:
        result = found("apsp", client=client)
        expected = found("apsp")
        assert np.array_equal(np.asarray(result), expected.distances)
        assert result.to_pandas().equals(expected.to_pandas())
        assert np.array_equal(result.is_reached.compute(), expected.is_reached) and "not reached" not in repr(result)
        assert "on 2 devices" in repr(result) and "<td>workers</td>" in result._repr_html_()
        with pytest.raises(ValueError, match="a copy"):
            np.array(result, copy=False)
        monkeypatch.setattr("mgraph.results.MOST_BYTES", 99)
        with pytest.raises(mgraph.InputError, match=r"distances has 100 B on workers.* call distances\.to_numpy\(\)"):
            np.asarray(result)
        assert np.array_equal(np.asarray(found("transitive_closure", client=client)), found("transitive_closure").words)
