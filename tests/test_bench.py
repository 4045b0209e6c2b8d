"""Benchmarks: suites are read and swept, results proved, rows complete; a run stops, goes on and tells what it left."""

import csv
import dataclasses
import functools
import json
import subprocess
import tomllib

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from test_cluster import forked

import mgraph
import mgraph.cluster
from mgraph import device as devices
from mgraph.errors import WrongResultError
from mgraph.generate import grid, linked_list, random_matrix, rmat, weighted
from mgraph.matrices.distance_matrix import NO_CYCLE
from mgraph.measuring import median_seconds, repeated, spread
from mgraph_bench import CHECKOUT, by_shards, ceilings, inputs
from mgraph_bench.algorithms import ALGORITHMS, check
from mgraph_bench.case import Bench, Unfit
from mgraph_bench.case import row as measured
from mgraph_bench.commands import bench as main
from mgraph_bench.rows import read
from mgraph_bench.run import _cases, bench, commit, read_rows
from mgraph_bench.suite import SUITES, Case, load, names, parsed, value
from mgraph_bench.verify import apsp, bellman
from mgraph_bench.work import Work

PUBLISHED = {
    "apsp-methods", "apsp-tile", "bfs-size", "bfs-density", "bfs-degree", "fw-overhead", "traversal-size",
    "traversal-degree", "traversal-road", "apsp-sparse", "rank-scaling", "rank-threads", "rank-bandwidth",
    "components-types", "components-threads", "bfs-strategies", "scaling", "peers", "span",
    "apsp-types", "searches", "closure", "predictions",
}  # fmt: skip

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


#: What a device can do is measured once for all tests.
ceilings_once = functools.cache(ceilings.ceilings)


@pytest.fixture
def suites(tmp_path, monkeypatch):
    """A folder of suites with one small one, ``small``."""
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


class TestSuites:
    def test_every_study_has_its_suite(self):
        assert set(names()) == PUBLISHED

    @pytest.mark.parametrize("name", sorted(PUBLISHED))
    def test_every_case_can_be_asked_for(self, name):
        suite = load(name)
        for quick in (False, True):
            cases = list(suite.cases(quick))
            assert cases
            for case in cases:
                assert case.graph["make"] in inputs.MAKERS
                assert case.algorithm in ALGORITHMS
        assert suite.title and suite.source and suite.about

    @pytest.mark.parametrize("name", sorted(PUBLISHED))
    def test_published_figures_are_positive_and_beside_something(self, name):
        for series in load(name).published:
            assert len(series.x) == len(series.y) > 0
            assert min(series.y) > 0 and series.beside

    def test_lists_are_swept_in_all_combinations(self):
        cases = list(parsed("small", tomllib.loads(SMALL)).cases())
        swept = [(case.graph["rows"], case.call["method"]) for case in cases]
        assert swept == [(3, "hybrid"), (3, "frontier"), (4, "hybrid"), (4, "frontier")]
        assert all(case.run == {"device": "cpu"} and case.graph["columns"] == 5 for case in cases)

    def test_quick_takes_the_place_of_what_has_its_name(self):
        assert [case.graph["rows"] for case in parsed("small", tomllib.loads(SMALL)).cases(quick=True)] == [2, 2]

    def test_published_times_are_seconds(self):
        (series,) = parsed("small", tomllib.loads(SMALL)).published
        assert series.y == (0.001, 0.0025) and series.of == "seconds"

    def test_a_claim_and_a_band_are_read(self):
        suite = parsed("small", tomllib.loads(SMALL.replace("[quick]", CLAIM).replace("2.5]", "[2, 3]]")))
        assert suite.claims[0].band == (10, 20) and suite.published[0].upper == (0.003,)

    def test_an_unknown_suite_is_refused_with_those_there_are(self):
        with pytest.raises(mgraph.InputError, match=r"'nothing' is not known: use one of apsp-methods"):
            load("nothing")

    @pytest.mark.parametrize(
        ("of", "by", "words"),
        [
            ("title", "tilte", "a suite has no 'tilte': use title, source"),
            ('about = "Nothing."', "", "a suite lacks 'about'"),
            ('"A suite"', "7", "title must be text, got 7"),
            ('"bfs"', '"bfsx"', "algorithm = 'bfsx' is not known: use apsp, bfs"),
            ('x = "n"', 'x = "nn"', r"\[plot\] x = 'nn' is not known: use device, n, m"),
            ('x = "n"', 'y = "speed"', r"\[plot\] lacks 'x'"),
            ('x = "n"', 'x = "n"\ny = "speed"', r"\[plot\] y = 'speed' is not known: use seconds"),
            ('x = "n"', 'x = "n"\nkind = "pie"', r"\[plot\] kind = 'pie' is not known: use line, bars"),
            ('x = "n"', 'x = "n"\nseries = ["colour"]', r"\[plot\] series = 'colour' is not known"),
            ('x = "n"', 'x = "n"\nlog = ["z"]', r"\[plot\] log = 'z' is not known: use x, y"),
            ('"grid"', '"gird"', "make = 'gird' is not known: use rmat, grid"),
            ("columns = 5", "cols = 5", "graph, of make = 'grid', has no 'cols': use make, rows, columns, weights"),
            (", columns = 5", "", "graph, of make = 'grid', lacks 'columns'"),
            ("columns = 5", "columns = 5.5", "columns = 5.5 does not fit: it takes int"),
            ("columns = 5", "columns = []", r"columns = \[\] leaves nothing to measure"),
            (
                "columns = 5",
                "columns = 5, weights = [1, 9]",
                r"weights = 1 does not fit.* write weights = \[\[1, 10\]\]",
            ),
            ("columns = 5", 'columns = 5, dtype = "float31"', "has no 'dtype'"),
            ('"frontier"', '"frontire"', "method, of bfs, = 'frontire' is not known: use auto, hybrid"),
            ("call = {", "call = {depth = 2, ", "call, of bfs, has no 'depth': use method, predecessors"),
            ("call = {", "call = {source = 2, ", "call, of bfs, has no 'source'"),
            ("call = {", 'call = {max_depth = "2", ', "max_depth = '2' does not fit: it takes int"),
            ('{device = "cpu"}', "{speed = 9}", "run has no 'speed': use device, peer"),
            ('{device = "cpu"}', '{device = "gpu"}', "device = 'gpu' is not known: use cpu, cuda or cuda:1"),
            ('{device = "cpu"}', "{sources = 0}", "sources must be an integer of 1 or more, got 0"),
            ('{device = "cpu"}', '{workers = "2"}', "workers must be an integer of 1 or more, got '2'"),
            ('{device = "cpu"}', '{where = "hots"}', "where = 'hots' is not known: use host, device"),
            ('{device = "cpu"}', '{peer = "nx"}', "peer = 'nx' is not known: use scipy"),
            ('{device = "cpu"}', '{tile = "64"}', "tile = '64' is none"),
            ("run = {", "runs = {", "a sweep has no 'runs': use algorithm, graph, call, run"),
            ("rows = [2]", "columms = [2]", r"\[quick\] has no 'columms': use repeats, make, rows, columns"),
            ("rows = [2]", 'rows = ["2"]', "rows = '2' does not fit: it takes int"),
            ("rows = [2]", "rows = []", r"rows = \[\] leaves nothing to measure"),
            ("rows = [2]", "repeats = 0", "repeats = 0 is too few or no number: use 1 or more"),
            ("[plot]", "repeats = 4\n[plot]", "repeats = 4 is too few or no number: use 5 or more"),
            ("[plot]", 'checks = ["rows"]\n[plot]', "checks = 'rows' is not known: use distances"),
            ("[plot]", "checks = []\n[plot]", r"checks must be a list of distances.*, got \[\]"),
            ("[1, 2.5]", "[1]", "another machine: 2 values of x and 1 of milliseconds"),
            ("[1, 2.5]", '["1", 2.5]', "another machine: x and milliseconds are lists, the latter of numbers"),
            ("milliseconds", "hours", r"\[\[published\]\] has no 'hours': use series, beside, x, seconds"),
            ("milliseconds = [1, 2.5]", "", "another machine has figures of nothing: give one of seconds"),
            ('{method = "hybrid"}', '{methods = "hybrid"}', "another machine: beside has no 'methods'"),
            ("[1, 2.5]", "[1, [2.5]]", "numbers above 0, or of pairs"),
            ("[quick]", CLAIM.replace("seconds", "hours"), "it is: of = 'hours' is not known: use seconds"),
            ("[quick]", CLAIM.replace("rows", "row"), r"\[\[claim\]\] has no 'row': use words, published, of, rows"),
            ("[quick]", CLAIM.replace("method", "colour"), "it is: rows has no 'colour'"),
            ("[quick]", CLAIM.replace("10, 20", "10"), r"it is: band must be a pair of numbers, got \[10\]"),
            ("[quick]", "[traffic.walking]\nwalk = 1\n[quick]", r"\[traffic\] has no 'walking': use hybrid"),
            ("[[sweep]]", "[sweep]", "sweep must be a list of tables"),
            ("[[published]]", "[[", "must be TOML: .*line 18"),
        ],
    )
    def test_a_file_that_is_no_suite_is_refused_in_its_own_words(self, suites, of, by, words):
        assert of in SMALL
        (suites / "small.toml").write_text(SMALL.replace(of, by))
        with pytest.raises(mgraph.InputError, match=rf"^small\.toml.*{words}"):
            load("small")

    @pytest.mark.parametrize(
        ("algorithm", "make", "words"),
        [
            ("bfs", '"linked_list"', "bfs takes nothing of make = 'linked_list': that is for list_rank"),
            ("list_rank", '"rmat"', "list_rank takes nothing of make = 'rmat': that is for apsp, bfs"),
            ("components", '"random_matrix"', "that is for apsp"),
            ("bfs", '"read", file = 3', "file = 3 does not fit: it takes str"),
            ("apsp", '"random_matrix", dtype = "float31"', "dtype = 'float31' is not known: use auto, float32"),
        ],
    )
    def test_an_algorithm_is_given_what_it_takes(self, algorithm, make, words):
        text = f"""
            title = ""
            source = ""
            about = ""
            algorithm = "{algorithm}"
            plot = {{x = "n"}}
            sweep = [{{graph = {{make = {make}, n = 8}}}}]
        """
        with pytest.raises(mgraph.InputError, match=words):
            parsed("small", tomllib.loads(text))

    def test_a_suite_says_how_often_and_what_is_checked(self, suites, tmp_path, monkeypatch):
        asked = []
        monkeypatch.setattr("mgraph_bench.algorithms.check", lambda *given: asked.append(given[-1]) or "proved")
        text = SMALL.replace("[plot]", 'repeats = 7\nchecks = ["distances"]\n[plot]')
        (suites / "small.toml").write_text(text)
        bench(["small"], tmp_path / "seven", device="cpu")
        (suites / "small.toml").write_text(text.replace("[quick]", "[quick]\nrepeats = 2"))
        bench(["small"], tmp_path / "two", device="cpu", quick=True)
        for folder, times in (("seven", 7), ("two", 2)):
            cases = [row for row in read_rows(tmp_path / folder) if row["kind"] == "case"]
            assert cases and {len(row["times"]) for row in cases} == {times}
        assert set(asked) == {("distances",)}


class TestInputs:
    def test_a_star(self):
        indptr, indices = inputs.star(4).adjacency("csr")
        assert indptr.tolist() == [0, 3, 4, 5, 6] and indices.tolist() == [1, 2, 3, 0, 0, 0]

    def test_weights_are_the_same_both_ways(self):
        graph = weighted(rmat(7), (3, 9))
        src, dst, weights = graph.coo()
        there = {(u, v): w for u, v, w in zip(src.tolist(), dst.tolist(), weights.tolist(), strict=True)}
        assert set(there.values()) <= set(range(3, 10)) and len(set(there.values())) > 1
        assert all(there[v, u] == w for (u, v), w in there.items())

    def test_the_core_of_a_file_has_the_vertices_of_most_edges(self, tmp_path):
        (tmp_path / "five.txt").write_text("0 1\n0 2\n0 3\n1 2\n4 3\n")
        graph = inputs.made({"make": "read", "file": "five.txt", "core": 3}, "cpu", tmp_path)
        src, dst, _ = graph.coo()
        assert graph.n == 3 and list(zip(src.tolist(), dst.tolist(), strict=True)) == [(0, 1), (0, 2), (1, 2)]

    def test_files_are_looked_for_from_here_and_from_the_checkout(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        assert [place.is_absolute() for place in inputs.DATA] == [False] * 3 + [True] * 3
        assert inputs.DATA[4] == CHECKOUT / "../shared/data" and (CHECKOUT / "benchmarks" / "mgraph_bench").is_dir()
        monkeypatch.setattr(inputs, "DATA", (tmp_path / "data", tmp_path / "checkout" / "data"))
        for name in ("data", "checkout/data"):
            (tmp_path / name).mkdir(parents=True)
        (tmp_path / "checkout" / "data" / "two.txt").write_text("0 1\n")
        assert inputs.made({"make": "read", "file": "two.txt"}, "cpu").n == 2

    @pytest.mark.parametrize(
        ("graph", "words"),
        [
            ({"make": "mystery"}, "make='mystery' is not known: use one of rmat"),
            ({"make": "rmat", "size": 3}, "rmat cannot be made of"),
            ({"make": "read", "file": "nowhere.gr"}, r"nowhere.gr is not in data, .*: put it there.*\(--data\)$"),
            ({"make": "read", "file": "XX.gr.xz"}, r"put it there.*; road networks: the ninth DIMACS challenge, http"),
            ({"make": "read", "file": "as-caida1.txt"}, r"put it there.*; graphs of autonomous systems: SNAP, http"),
        ],
    )
    def test_what_cannot_be_made_is_refused(self, graph, words):
        with pytest.raises(mgraph.InputError, match=words):
            inputs.made(graph, "cpu")


@functools.cache
def pairs(dense):
    """Return a graph or a matrix of 512 vertices, and all its pairs."""
    data = random_matrix(512, low=1, high=9) if dense else weighted(grid(16, 32), (1, 9))
    return data, mgraph.apsp(data, device="cpu").distances


class TestChecks:
    """Each accepts the right answer, and refuses one that differs from it in one place."""

    @pytest.mark.parametrize("change", [1, -1])
    def test_levels(self, change):
        graph = rmat(8)
        distances = mgraph.bfs(graph, 5, device="cpu").distances.copy()
        assert check("bfs", graph, {"distances": distances}, 5) == "Bellman's equations"
        farthest = int(distances.argmax())
        distances[farthest] += change
        with pytest.raises(WrongResultError, match=f"vertex {farthest}|from vertex 5"):
            check("bfs", graph, {"distances": distances}, 5)

    def test_a_vertex_left_unreached_is_found(self):
        graph = rmat(8)
        distances = mgraph.bfs(graph, 5, device="cpu").distances.copy()
        distances[int(distances.argmax())] = -1
        with pytest.raises(WrongResultError):
            check("bfs", graph, {"distances": distances}, 5)

    @pytest.mark.parametrize("dtype", ["float32", "int32"])
    def test_shortest_paths(self, dtype):
        graph = weighted(rmat(8), (1, 20), dtype)
        distances = mgraph.sssp(graph, 3, device="cpu").distances.copy()
        check("sssp", graph, {"distances": distances}, 3)
        reached = np.flatnonzero((distances > 0) & (distances < 1000))
        distances[reached[-1]] += 1
        with pytest.raises(WrongResultError):
            check("sssp", graph, {"distances": distances}, 3)

    @pytest.mark.parametrize("at_a_time", [1 << 26, 100])
    def test_all_pairs_of_a_matrix(self, monkeypatch, at_a_time):
        monkeypatch.setattr(bellman, "AT_A_TIME", at_a_time)
        matrix = random_matrix(40, density=0.3, seed=3)
        distances = mgraph.apsp(matrix, device="cpu").distances.copy()
        check("apsp", matrix, {"distances": distances})
        distances[0, 7] *= np.float32(0.99)
        with pytest.raises(WrongResultError, match="from vertex 0"):
            check("apsp", matrix, {"distances": distances})

    @pytest.mark.parametrize("at_a_time", [1 << 26, 50])
    def test_all_pairs_of_a_graph(self, monkeypatch, at_a_time):
        monkeypatch.setattr(bellman, "AT_A_TIME", at_a_time)
        graph = weighted(rmat(6), (1, 9))
        distances = mgraph.apsp(graph, device="cpu").distances.copy()
        check("apsp", graph, {"distances": distances})
        there = np.isfinite(distances[-1])
        there[-1] = False
        distances[-1, there.argmax() if there.any() else 0] = 0
        with pytest.raises(WrongResultError):
            check("apsp", graph, {"distances": distances})

    def test_components(self):
        graph = rmat(7)
        count, labels = mgraph.connected_components(graph, device="cpu")
        check("components", graph, {"labels": labels, "count": count})
        everything = np.zeros_like(labels)
        with pytest.raises(WrongResultError, match="SciPy counts"):
            check("components", graph, {"labels": everything, "count": 1})
        other = labels.copy()
        other[int(graph.coo().src[0])] = graph.n - 1
        with pytest.raises(WrongResultError):
            check("components", graph, {"labels": other, "count": count})

    @pytest.mark.parametrize("sums", [1 << 30, 1])
    def test_searches_from_many(self, monkeypatch, sums):
        monkeypatch.setattr(bellman, "SUMS", sums)
        graph, sources = rmat(6), [*range(0, 60, 2)]
        distances = mgraph.bfs_many(graph, sources, device="cpu").distances.copy()
        rows = "all" if sums > 1 else "4"
        assert check("bfs_many", graph, {"distances": distances}, sources) == f"Bellman's equations of {rows} rows"
        distances[-1, 7] += 1
        with pytest.raises(WrongResultError, match="from vertex 58 the distance of vertex 7"):
            check("bfs_many", graph, {"distances": distances}, sources)

    @pytest.mark.parametrize("reflexive", [True, False])
    def test_closures(self, reflexive):
        random = np.random.default_rng(5)
        graph = mgraph.Graph.from_edges(*random.integers(0, 50, (2, 60)), n=50)
        result = mgraph.transitive_closure(graph, reflexive=reflexive, device="cpu")
        assert check("closure", graph, {"reachable": result}) == "all rows as SciPy searches"
        reachable = result.to_dense()

        class Wrong:
            def rows(self, first, last):
                return wrong[first:last]

        for place in (7, 50 * 49 + 3, 51 * 20):
            wrong = reachable.copy()
            wrong.flat[place] ^= True
            with pytest.raises(WrongResultError, match="reaches vertex"):
                check("closure", graph, {"reachable": Wrong()})

    def test_ranks(self):
        succ = linked_list(50)
        ranks = mgraph.list_rank(succ, device="cpu").ranks.copy()
        check("list_rank", succ, {"ranks": ranks})
        for wrong in (ranks + 1, np.where(ranks == 20, 21, ranks)):
            with pytest.raises(WrongResultError, match="has rank"):
                check("list_rank", succ, {"ranks": wrong})

    @given(st.integers(0, 2**32), st.integers(-(2**31), 2**31 - 1))
    @settings(deadline=None, max_examples=60)
    def test_no_value_but_the_right_one_passes_at_any_place(self, place, value):
        graph = weighted(rmat(6), (1, 9))
        v, source = place % graph.n, int(graph.coo().src[0])
        count, labels = mgraph.connected_components(graph, device="cpu")
        succ = linked_list(graph.n)
        for algorithm, data, arrays, name in (
            ("bfs", graph, {"distances": mgraph.bfs(graph, source, device="cpu").distances}, "distances"),
            ("sssp", graph, {"distances": mgraph.sssp(graph, source, device="cpu").distances}, "distances"),
            ("components", graph, {"labels": labels, "count": count}, "labels"),
            ("list_rank", succ, {"ranks": mgraph.list_rank(succ, device="cpu").ranks}, "ranks"),
        ):
            check(algorithm, data, arrays, source)
            wrong = arrays[name].copy()
            wrong[v] = value
            if wrong[v] != arrays[name][v]:
                with pytest.raises(WrongResultError):
                    check(algorithm, data, arrays | {name: wrong}, source)

    @given(st.integers(0, 3), st.integers(0, 3), st.sampled_from([1e-3, 0.5, -3.0, np.inf]))
    @settings(deadline=None, max_examples=40)
    def test_no_wrong_tile_of_all_pairs_passes(self, i, j, more):
        for data in (random_matrix(128, low=1, high=9), weighted(grid(8, 16), (1, 9))):
            distances = mgraph.apsp(data, device="cpu").distances.copy()
            distances[32 * i : 32 * i + 32, 32 * j : 32 * j + 32] += np.float32(more)
            with pytest.raises(WrongResultError):
                check("apsp", data, {"distances": distances})

    @given(st.integers(0, 2**18 - 1), st.sampled_from([0.01, 0.5, -0.5, np.inf, np.nan]), st.booleans())
    @settings(deadline=None, max_examples=25)
    def test_no_wrong_element_of_all_pairs_passes(self, place, more, dense):
        data, distances = pairs(dense)
        wrong = distances.copy()
        wrong.flat[place] += np.float32(more)
        with pytest.raises(WrongResultError, match=f"from vertex {place // 512} "):
            check("apsp", data, {"distances": wrong})

    @pytest.mark.parametrize("dense", [False, True])
    def test_beyond_the_sums_that_may_be_made_some_rows_and_all_of_the_diagonal_are_looked_at(self, monkeypatch, dense):
        data, distances = pairs(dense)
        assert "Bellman's equations of all rows" in check("apsp", data, {"distances": distances})
        each = 512**2 if dense else 512 + data.m
        monkeypatch.setattr(bellman, "SUMS", 9 * each)
        monkeypatch.setattr(apsp, "TILE", 100)
        monkeypatch.setattr(apsp, "ELEMENTS", 2048)
        assert "Bellman's equations of 9 rows" in check("apsp", data, {"distances": distances})
        for i in (0, 301, 511):
            wrong = distances.copy()
            wrong[i, i] = 1e-3
            with pytest.raises(WrongResultError, match=f"from vertex {i} the distance of vertex {i} is 0.001"):
                check("apsp", data, {"distances": wrong}, names=["diagonal"])
        wrong = distances.copy()
        wrong[int(np.linspace(0, 511, 9)[5]), 77] += 1
        with pytest.raises(WrongResultError, match="from vertex 319 "):
            check("apsp", data, {"distances": wrong}, names=["rows"])

    def test_a_matrix_is_looked_at_where_it_lives(self, monkeypatch):
        class Elsewhere(type(devices.find("cpu"))):
            kind = "cuda"

            def asarray(self, array):
                return array.copy()

        random = np.random.default_rng(3)
        matrix = np.where(random.random((70, 70)) < 0.2, random.integers(1, 9, (70, 70)), np.inf).astype(np.float32)
        np.fill_diagonal(matrix, np.inf)
        rows = random.integers(0, 40, (3, 70)).astype(float)
        here, there = np.full((2, 3, 70), np.inf)
        bellman.through_matrix(matrix, rows, here)
        monkeypatch.setattr(bellman, "AT_A_TIME", 70 * 16)
        monkeypatch.setattr(devices, "of", lambda array: Elsewhere())
        bellman.through_matrix(matrix, rows, there)
        assert np.array_equal(here, there)
        assert np.array_equal(here, (rows[:, :, None] + matrix).min(axis=1))

    def test_only_what_is_asked_for_is_checked(self):
        graph = rmat(5)
        count, labels = mgraph.connected_components(graph, device="cpu")
        wrong = {"labels": labels, "count": count + 1}
        assert check("components", graph, wrong, names=["labels"]) == "equal across edges"
        with pytest.raises(WrongResultError, match="SciPy counts"):
            check("components", graph, wrong, names=["count"])

    def test_labels_below_zero_are_refused(self):
        star = inputs.star(5)
        with pytest.raises(WrongResultError, match="vertex 0 has label -1"):
            check("components", star, {"labels": np.full(5, -1), "count": 1})

    @pytest.mark.parametrize("algorithm", ["bfs", "sssp"])
    def test_the_end_of_a_long_path_is_looked_at_as_closely(self, algorithm):
        n = 300_000
        path = mgraph.Graph.from_edges(np.arange(n - 1), np.arange(1, n), n=n)
        distances = np.arange(n, dtype=np.int32 if algorithm == "bfs" else np.float32)
        check(algorithm, path, {"distances": distances}, 0)
        distances[-1] += 1
        with pytest.raises(WrongResultError, match="from vertex 0 the distance of vertex 299999 is 300000"):
            check(algorithm, path, {"distances": distances}, 0)

    def test_rounding_of_a_search_is_none_of_its_errors(self):
        random = np.random.default_rng(4)
        src, dst = random.integers(0, 500, (2, 3000))
        graph = mgraph.Graph.from_edges(src, dst, random.random(3000, np.float32) * 1000, n=500)
        for dtype in ("float32", "float64"):
            distances = mgraph.sssp(graph, 0, dtype=dtype, device="cpu").distances
            check("sssp", graph, {"distances": distances}, 0)
            check("sssp", graph, {"distances": distances.astype(np.float64)}, 0)

    def test_what_is_held_against_a_proof_has_to_be_equal(self):
        n = 300_000
        path = mgraph.Graph.from_edges(np.arange(n - 2), np.arange(1, n - 1), n=n, directed=False)
        shared, case = Bench(), Case("small", "components", {})
        labels = np.zeros(n, np.int32)
        labels[-1] = n - 1
        assert shared.prove(case, path, "a", {"labels": labels, "count": 2}, None).startswith("equal across")
        assert shared.prove(case, path, "b", {"labels": labels.copy(), "count": 2}, None) == "equal to a"
        for wrong in ({"labels": labels, "count": 1}, {"labels": labels - (labels > 0), "count": 2}):
            with pytest.raises(WrongResultError):
                shared.prove(case, path, "c", wrong, None)


class TestMeasuring:
    def test_the_first_call_counts_apart_and_the_last_result_is_returned(self):
        seen = []
        result, times = repeated(lambda: seen.append(0) or len(seen), 5)
        assert len(seen) == result == 6
        assert len(times.calls) == len(times.solves) == 5 and times.first_call > 0

    def test_a_result_tells_its_solve_from_what_is_moved(self):
        _, times = repeated(lambda: mgraph.bfs(rmat(5), 1, device="cpu"), 5)
        assert all(0 < solve < call for solve, call in zip(times.solves, times.calls, strict=True))
        assert len(times.loads) == len(times.collects) == 5

    def test_spread(self):
        assert spread((1.0, 2.0, 4.0)) == 1.5

    def test_work_is_done_once_more_than_it_is_timed(self):
        done = []
        assert median_seconds(devices.find("cpu"), lambda: done.append(0), 7) >= 0
        assert len(done) == 8

    def test_a_recorder_hears_of_every_operation(self):
        place = devices.find("cpu")
        matrix = random_matrix(200)
        with devices.Recorder(place) as recorder:
            mgraph.apsp(matrix, method="blocked", device="cpu")
        assert {"factor", "solve_rows", "solve_columns", "update"} <= recorder.seconds().keys()
        heard = len(recorder.operations)
        assert all(taken >= 0 for taken in recorder.seconds().values())
        mgraph.apsp(matrix, method="blocked", device="cpu")
        assert len(recorder.operations) == heard

    def test_operations_of_several_streams_are_recorded_one_after_the_other(self):
        class Stream(devices.Immediate):
            waited = 0

            def synchronize(self):
                self.waited += 1

        class Streams(devices.HostDevice):
            current = main = Stream()
            aside = Stream()

            def current_stream(self):
                return self.current

        place, matrix = Streams(), random_matrix(4)
        with devices.Recorder(place):
            through = place.kernels("minplus").through
            for name, waits in (("main", (0, 0)), ("main", (0, 0)), ("aside", (1, 0)), ("main", (1, 1))):
                place.current = getattr(place, name)
                through(matrix, None, 0, matrix[:1], None, 0, 1, np.full(1, NO_CYCLE, np.int32))
                assert (place.main.waited, place.aside.waited) == waits

    def test_peak_memory_is_what_a_block_takes(self):
        with devices.find("cpu").peak_memory() as peak:
            np.ones(1 << 20)
        assert 8 << 20 <= peak.bytes < 9 << 20

    @pytest.mark.gpu
    def test_on_a_gpu(self):
        place = devices.find("cuda")
        with place.peak_memory() as peak:
            place.xp.ones(1 << 20)
        assert peak.bytes == 8 << 20
        assert median_seconds(place, lambda: place.xp.ones(1 << 24)) > 0
        with devices.Recorder(place) as recorder:
            mgraph.apsp(random_matrix(300), method="blocked", device="cuda")
        assert recorder.seconds()["update"] > 0

    def test_work(self):
        graph = rmat(6)
        result = mgraph.bfs(graph, int(graph.coo().src[0]), device="cpu")
        degrees = np.diff(graph.csr().indptr)
        found = ALGORITHMS["bfs"].work(graph, result.plan, {"distances": result.distances})
        assert (found.amount, found.unit) == (degrees[result.distances >= 0].sum() / 2, "TEPS")
        matrix = random_matrix(64)
        made = mgraph.plan("apsp", 64, devices="cpu", method="blocked", block=32)
        assert ALGORITHMS["apsp"].work(matrix, made, {}) == Work(64**3, "min-plus/s", 2 * 4 * 64 * 64 * 2)
        assert ALGORITHMS["list_rank"].work(linked_list(7), None, {}).amount == 7

    @pytest.mark.parametrize(("method", "bounded"), [("frontier", True), ("hybrid", False), ("pull", False)])
    def test_what_leaves_edges_out_is_not_bounded_by_reads_of_all(self, method, bounded):
        place = devices.find("cpu")
        shared = Bench(ceilings={place.model(): {"reads": [[1, 1e9], [2, 1e9]]}})
        found = cpu_row("bfs", {"make": "rmat", "scale": 6}, {"method": method}, bench=shared)
        assert all((found[name] is not None) is bounded for name in ("bytes", "ceiling", "fraction"))


class TestRows:
    def test_a_row_is_complete(self):
        found = cpu_row("bfs", {"make": "rmat", "scale": 8}, {"method": "hybrid"}, {"sources": 3})
        assert found["method"] == "hybrid" and found["n"] == 256 and found["m"] == rmat(8).m
        assert len(found["times"]) == 15 and found["seconds"] > 0 and found["spread"] >= 0
        assert found["call_seconds"] > found["seconds"]
        assert found["unit"] == "TEPS" and found["rate"] > 0 and found["iterations"] > 1
        assert found["transfers"].keys() == {"load", "collect"} and found["phases"]
        assert found["peak_bytes"] > 0 and found["predicted_bytes"] > 0 and found["predicted_seconds"] > 0
        assert found["checked"] == "Bellman's equations"
        assert json.dumps(found, allow_nan=False)

    def test_a_graph_without_edges_is_no_place_to_search(self):
        with pytest.raises(Unfit, match="no vertex has an edge"):
            cpu_row("bfs", {"make": "star", "n": 1})

    def test_a_later_method_is_held_against_the_one_that_was_proved(self):
        shared = Bench()
        graph = {"make": "rmat", "scale": 7}
        assert cpu_row("bfs", graph, {"method": "hybrid"}, bench=shared)["checked"] == "Bellman's equations"
        assert cpu_row("bfs", graph, {"method": "scan"}, bench=shared)["checked"] == "equal to hybrid"

    def test_another_library_may_be_the_first(self):
        shared, graph = Bench(), {"make": "random_graph", "m": 300, "density": 0.01, "count": 3}
        assert cpu_row("components", graph, run={"peer": "scipy"}, bench=shared)["checked"].startswith("equal across")
        assert cpu_row("components", graph, bench=shared)["checked"] == "equal to scipy"

    def test_a_wrong_result_has_no_row(self, monkeypatch):
        monkeypatch.setitem(
            ALGORITHMS, "bfs", calling(lambda *given, **named: mgraph.bfs(*given, max_depth=1, **named))
        )
        with pytest.raises(WrongResultError):
            cpu_row("bfs", {"make": "grid", "rows": 4, "columns": 4})

    @pytest.mark.parametrize(
        ("algorithm", "graph", "call"),
        [
            ("apsp", {"make": "random_matrix", "n": 70}, {"method": "squaring"}),
            ("apsp", {"make": "random_degree", "n": 70, "degree": 3, "weights": [1, 9]}, {"method": "sssp"}),
            ("sssp", {"make": "grid", "rows": 9, "columns": 9}, {}),
            ("components", {"make": "tree_graph", "n": 90, "count": 3, "k": 2}, {"method": "shiloach-vishkin"}),
            ("list_rank", {"make": "linked_list", "n": 90}, {"method": "wylie"}),
            ("bfs_many", {"make": "grid", "rows": 9, "columns": 9}, {"predecessors": True}),
            ("closure", {"make": "rmat", "scale": 5}, {"reflexive": False}),
        ],
    )
    def test_every_algorithm(self, algorithm, graph, call):
        found = cpu_row(algorithm, graph, call, {"sources": 3})
        assert found["rate"] > 0 and found["checked"]
        assert found["work"] / found["seconds"] == pytest.approx(found["rate"])

    def test_value_finds_what_a_row_has(self):
        found = {
            "seconds": 2.0, "n": 4, "call": {"method": "a"}, "run": {"blocks": 7}, "graph": {"k": 5},
            "device": {"count": 3, "model": "x"}, "transfers": {"load": 1.0, "collect": 2.0}, "method": "b",
            "call_seconds": 5.0,
        }  # fmt: skip
        names = ("seconds", "blocks", "k", "devices", "model", "per_element", "overhead", "method", "nothing")
        assert [value(found, name) for name in names] == [2.0, 7, 5, 3, "x", 0.5, 1.5, "b", None]

    def test_quick_ceilings_never_stand_for_others(self, tmp_path):
        device = {"name": "cpu", "kind": "cpu", "model": "a model", "cores": 2, "count": 1}
        full = {"kind": "ceilings", "device": device, "quick": False, "copy": 2.0, "date": "2026-11-01"}
        quick = full | {"quick": True, "copy": 1.0, "date": "2026-11-02"}
        (tmp_path / "rows.jsonl").write_text(json.dumps(quick) + "\n")
        assert read(tmp_path).ceilings == [quick]
        (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in (full, quick)))
        assert read(tmp_path).ceilings == [full]


#: A row with what every reader needs.
ROW = json.dumps(
    {
        "kind": "case", "suite": "small", "algorithm": "bfs", "graph": {"make": "star"}, "call": {}, "run": {},
        "device": {"kind": "cpu", "model": "a model", "count": 1}, "n": 4, "seconds": 0.5, "call_seconds": 0.75,
    }
).encode()  # fmt: skip


class TestRuns:
    def test_rows_are_written_and_kept(self, suites, tmp_path):
        told = []
        ended = bench(["small"], tmp_path / "out", device="cpu", quick=True, tell=told.append)
        assert (ended.measured, ended.kept, ended.skipped, ended.wrong) == (2, 0, 0, 0)
        rows = list(read_rows(tmp_path / "out"))
        assert [row["kind"] for row in rows] == ["ceilings", "case", "case"] == [row["kind"] for row in told]
        assert all(row["versions"]["mgraph"] == mgraph.__version__ and row["date"] for row in rows)
        again = bench(["small"], tmp_path / "out", device="cpu", quick=True)
        assert (again.measured, again.kept) == (0, 2)
        assert list(read_rows(tmp_path / "out")) == rows

    def test_a_run_goes_on_after_a_line_that_was_cut_off(self, suites, tmp_path):
        bench(["small"], tmp_path, device="cpu", quick=True)
        file = tmp_path / "rows.jsonl"
        file.write_text(file.read_text()[:-100])
        ended = bench(["small"], tmp_path, device="cpu", quick=True)
        assert (ended.measured, ended.kept) == (1, 1)
        assert len([row for row in read_rows(tmp_path) if row["kind"] == "case"]) == 2
        assert len(read(tmp_path).cases) == 2

    @pytest.mark.parametrize(
        ("line", "words"),
        [
            (b"{}", "kind None is none of case, skipped"),
            (b'{"kind": "case"}', "its device is null"),
            (ROW.replace(b'"seconds": 0.5', b'"seconds": null'), "its seconds is null"),
            (ROW.replace(b'"seconds": 0.5', b'"seconds": NaN'), "got NaN"),
            (ROW.replace(b'"seconds": 0.5', b'"seconds": 0.0'), "its seconds is 0.0"),
            (ROW.replace(b'"n": 4', b'"n": "4"'), 'its n is "4"'),
            (ROW.replace(b'"count": 1', b'"count": true'), "its device's count is true"),
            (ROW.replace(b"small", b"sm\xffll"), "can't decode byte 0xff"),
        ],
    )
    def test_a_line_that_is_no_row_is_told_by_its_number(self, suites, tmp_path, line, words):
        (tmp_path / "rows.jsonl").write_bytes(ROW + b"\n" + line + b"\n")
        asked = ["small", "--quick", "--device", "cpu", "--out", str(tmp_path)]
        for command in (asked, ["report", str(tmp_path)]):
            if line == b"{}" and command is not asked:
                continue  # which a report leaves out, and tells
            done = CliRunner().invoke(main, command)
            assert done.exit_code == 2 and len(done.output.splitlines()) == 1
            assert f"{tmp_path / 'rows.jsonl'}, line 2 must be a row: " in done.output and words in done.output

    def test_an_interruption_leaves_a_folder_to_go_on_from(self, suites, tmp_path, monkeypatch):
        def interrupted(*given, method, **named):
            if method == "frontier":
                raise KeyboardInterrupt
            return mgraph.bfs(*given, method=method, **named)

        asked = ["small", "--quick", "--device", "cpu", "--out", str(tmp_path)]
        with monkeypatch.context() as patched:
            patched.setitem(ALGORITHMS, "bfs", calling(interrupted))
            assert CliRunner().invoke(main, asked).exit_code == 130
        assert len((tmp_path / "rows.csv").read_text().splitlines()) == 2
        done = CliRunner().invoke(main, asked)
        assert done.exit_code == 0 and "1 measured, 1 kept" in done.output

    def test_a_case_that_memory_is_too_small_for_is_skipped(self, suites, tmp_path, monkeypatch):
        def full(*given, method, **named):
            if method == "hybrid":
                raise MemoryError
            return mgraph.bfs(*given, method=method, **named)

        monkeypatch.setitem(ALGORITHMS, "bfs", calling(full))
        ended = bench(["small"], tmp_path, device="cpu", quick=True)
        assert (ended.measured, ended.skipped) == (1, 1)
        assert [row["why"] for row in read_rows(tmp_path) if row["kind"] == "skipped"] == ["not enough memory"]

    def test_what_fails_unexpectedly_is_told_and_the_rest_is_measured(self, suites, tmp_path, monkeypatch):
        def broken(*given, method, **named):
            if method == "hybrid":
                raise RuntimeError("no such\nluck")
            return mgraph.bfs(*given, method=method, **named)

        asked = ["small", "--quick", "--device", "cpu", "--out", str(tmp_path)]
        with monkeypatch.context() as patched:
            patched.setitem(ALGORITHMS, "bfs", calling(broken))
            done = CliRunner().invoke(main, asked)
        assert done.exit_code == 1 and "1 measured, 0 kept, 0 skipped, 0 wrong, 1 failed" in done.output
        (failed,) = (row for row in read_rows(tmp_path) if row["kind"] == "skipped")
        assert failed["why"] == "failed with RuntimeError: no such luck" and failed["call"] == {"method": "hybrid"}
        done = CliRunner().invoke(main, asked)
        assert done.exit_code == 0 and "1 measured, 1 kept" in done.output

    def test_an_interrupt_that_compiled_code_has_made_an_error_ends_a_run(self, suites, tmp_path, monkeypatch):
        def interrupted(*given, **named):
            raise SystemError("a result with an exception set") from KeyboardInterrupt()

        monkeypatch.setitem(ALGORITHMS, "bfs", calling(interrupted))
        done = CliRunner().invoke(main, ["small", "--quick", "--device", "cpu", "--out", str(tmp_path)])
        assert done.exit_code == 130 and not [row for row in read_rows(tmp_path) if row["kind"] != "ceilings"]

    def test_a_gpu_that_is_not_there_is_no_end_of_the_run(self, suites, tmp_path):
        (suites / "small.toml").write_text(SMALL.replace('"cpu"', '["cuda:77", "cpu"]'))
        ended = bench(["small"], tmp_path, quick=True)
        assert (ended.measured, ended.skipped) == (2, 2)

    def test_help_names_the_report(self):
        assert "mgraph bench report DIR" in CliRunner().invoke(main, ["--help"]).output

    def test_a_folder_that_another_run_writes_to_is_left_alone(self, suites, tmp_path):
        done, asked = [], ["small", "--quick", "--device", "cpu", "--out", str(tmp_path)]
        ended = bench(
            ["small"],
            tmp_path,
            device="cpu",
            quick=True,
            tell=lambda row: done.append(CliRunner().invoke(main, asked)),
        )
        assert ended.measured == 2 and len(list(read_rows(tmp_path))) == len(done) == 3
        assert {each.exit_code for each in done} == {2} and "another run writes to" in done[0].output
        assert CliRunner().invoke(main, asked).exit_code == 0

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (["--workers", "0"], "--workers must be an integer of 1 or more, got 0"),
            (["--workers", "-1"], "--workers must be an integer of 1 or more, got -1"),
            (["--limit", "-1"], "--limit must be a number of seconds, 0 or more, got -1.0"),
            (["--limit", "nan"], "--limit must be a number of seconds, 0 or more, got nan"),
            (["--scheduler", "garbage"], "--scheduler must be an address such as tcp://10.0.0.1:8786, got 'garbage'"),
            (["--scheduler", "tcp://10.0.0.1"], "got 'tcp://10.0.0.1'"),
        ],
    )
    def test_nonsense_is_refused_before_any_row(self, suites, tmp_path, options, words):
        asked = ["small", "--quick", "--device", "cpu", "--out", str(tmp_path / "out"), *options]
        done = CliRunner().invoke(main, asked)
        assert done.exit_code == 2 and words in done.output
        assert not (tmp_path / "out").exists()

    def test_a_scheduler_that_does_not_answer_fails_before_any_row(self, suites, tmp_path, monkeypatch):
        monkeypatch.setattr(mgraph.cluster, "connect", functools.partial(mgraph.cluster.connect, timeout=0.1))
        asked = ["small", "--quick", "--workers", "2", "--scheduler", "tcp://127.0.0.1:1"]
        done = CliRunner().invoke(main, [*asked, "--out", str(tmp_path / "out")])
        assert done.exit_code == 1 and "no scheduler answers at tcp://127.0.0.1:1" in done.output
        assert not (tmp_path / "out").exists()

    def test_what_the_suites_make_no_use_of_is_told(self, suites, tmp_path, monkeypatch):
        monkeypatch.setattr("mgraph_bench.run._look_at", lambda scheduler: None)
        with pytest.warns(UserWarning, match="scheduler='tcp://a:1' is not used: no case .* runs on workers"):
            bench(["small"], tmp_path, scheduler="tcp://a:1", limit=0)
        (suites / "small.toml").write_text(SMALL.replace('{device = "cpu"}', "{blocks = 1}"))
        with pytest.warns(UserWarning, match="workers=2 is not used: every case .* says itself"):
            bench(["small"], tmp_path, workers=2, limit=0)
        (suites / "small.toml").write_text(SMALL)
        bench(["small"], tmp_path, workers=2, scheduler="tcp://a:1", limit=0)

    def test_a_commit_is_that_of_the_checkout_itself(self, tmp_path):
        def git(*asked):
            said = ["-c", "user.name=a", "-c", "user.email=a@b", *asked]
            return subprocess.run(["git", *said], cwd=tmp_path, check=True, capture_output=True, text=True).stdout

        git("init", "--quiet")
        git("commit", "--quiet", "--allow-empty", "--message", "one")
        below = tmp_path / "env" / "site-packages"
        below.mkdir(parents=True)
        assert commit(tmp_path.resolve()) == git("rev-parse", "HEAD")[:12]
        assert commit(below.resolve()) is None

    def test_workers_are_for_what_does_not_say_it_and_is_not_tuned_in_this_process(self):
        def runs(**asked):
            return [case.run for _, case in _cases([swept], True, *map(asked.get, ("workers", "scheduler")))]

        swept = parsed("small", tomllib.loads(SMALL.replace('{device = "cpu"}', "{blocks = [1, 2]}")))
        assert runs(workers=2) == [{"blocks": 1}] * 2 + [{"blocks": 2}] * 2
        swept = parsed("small", tomllib.loads(SMALL.replace('{device = "cpu"}', "{}")))
        assert runs() == [{}] * 2 and runs(workers=2) == [{"workers": 2}] * 2
        assert runs(workers=2, scheduler="tcp://a:1") == [{"workers": "tcp://a:1"}] * 2
        assert runs(scheduler="tcp://a:1") == [{}] * 2

    def test_a_limit_ends_a_run_between_rows(self, suites, tmp_path):
        ended = bench(["small"], tmp_path, device="cpu", limit=0)
        assert ended.limited and ended.measured == 0
        assert not bench(["small"], tmp_path, device="cpu", limit=1000).limited

    def test_the_table_has_a_line_for_each_case(self, suites, tmp_path):
        bench(["small"], tmp_path, device="cpu")
        with (tmp_path / "rows.csv").open() as text:
            lines = list(csv.DictReader(text))
        assert [(line["graph.rows"], line["method"]) for line in lines] == [
            ("3", "hybrid"), ("3", "frontier"), ("4", "hybrid"), ("4", "frontier")
        ]  # fmt: skip
        assert all(float(line["seconds"]) > 0 for line in lines)

    def test_what_cannot_be_measured_is_told_once(self, suites, tmp_path):
        (suites / "small.toml").write_text(
            SMALL.replace("[quick]", '[[sweep]]\ngraph = {make = "read", file = "unheard-of.gr"}\n[quick]')
        )
        for _ in range(2):
            ended = bench(["small"], tmp_path, device="cpu", quick=True)
            assert ended.skipped == 1
        (skipped,) = (row for row in read_rows(tmp_path) if row["kind"] == "skipped")
        assert "unheard-of" in skipped["why"]

    def test_a_wrong_result_is_told_and_fails_the_command(self, suites, tmp_path, monkeypatch):
        monkeypatch.setitem(
            ALGORITHMS, "bfs", calling(lambda *given, **named: mgraph.bfs(*given, max_depth=1, **named))
        )
        done = CliRunner().invoke(main, ["small", "--quick", "--device", "cpu", "--out", str(tmp_path)])
        assert done.exit_code == 1 and "wrong: from vertex" in done.output and "2 wrong" in done.output

    def test_the_whole_set_quickly(self, tmp_path):
        with forked():
            ended = bench(out=tmp_path, device="cpu", quick=True)
        rows = list(read_rows(tmp_path))
        assert ended.wrong == 0 and not ended.limited
        measured = {row["suite"] for row in rows if row["kind"] == "case"}
        assert measured == PUBLISHED - ({"traversal-road", "fw-overhead"} - measured)  # which need files
        for row in rows:
            if row["kind"] == "skipped":
                assert any(
                    word in row["why"] for word in ("tiles", "put it there", "pip install", "has no call for")
                ), row["why"]

    def test_a_suite_on_the_command_line(self, suites, tmp_path):
        asked = ["small", "--quick", "--device", "cpu", "--out", str(tmp_path)]
        done = CliRunner().invoke(main, asked)
        assert done.exit_code == 0, done.output
        assert "small bfs make=grid rows=2 columns=5 device=cpu method=hybrid: hybrid on 1 x cpu" in done.output
        assert "2 measured, 0 kept, 0 skipped, 0 wrong" in done.output
        assert "2 kept" in CliRunner().invoke(main, asked).output

    def test_an_unknown_suite_on_the_command_line(self, tmp_path):
        done = CliRunner().invoke(main, ["nothing", "--out", str(tmp_path)])
        assert done.exit_code == 2 and "suite 'nothing' is not known" in done.output

    @pytest.mark.gpu
    def test_a_gpu_measures_its_cases(self, tmp_path):
        ended = bench(["apsp-methods", "bfs-strategies", "components-threads"], tmp_path, device="cuda", quick=True)
        assert ended.wrong == 0 and ended.measured > 20
        for row in read_rows(tmp_path):
            if row["kind"] == "case":
                assert row["device"]["kind"] == "cuda" and row["seconds"] > 0 and row["phases"]


class WrongSearch(by_shards.KroneckerSearch):
    def collect(self, state, comm):
        state.distances[state.distances == 2] = 3
        return super().collect(state, comm)


class WrongRanking(by_shards.RandomListRanking):
    def collect(self, state, comm):
        state.ranks[:1] += 1
        return super().collect(state, comm)


def test_workers_make_their_parts_of_an_input(monkeypatch):
    with forked(), mgraph.cluster.local_client(2, "cpu") as client:
        runner = mgraph.cluster.Cluster(client, "cpu")
        for measured, n in ((by_shards.apsp, 200), (by_shards.bfs, 256), (by_shards.list_rank, 3000)):
            row = measured(n, runner)
            assert row["n"] == n and row["seconds"] > 0
        assert row["elements_per_second"] == pytest.approx(3000 / row["seconds"])
        monkeypatch.setattr(by_shards, "KroneckerSearch", WrongSearch)
        with pytest.raises(WrongResultError, match="disprove the distances"):
            by_shards.bfs(256, runner)
        monkeypatch.setattr(by_shards, "RandomListRanking", WrongRanking)
        with pytest.raises(WrongResultError, match="ranks are wrong"):
            by_shards.list_rank(3000, runner)


def test_the_suites_are_where_the_package_looks():
    assert SUITES.is_dir() and all(path.suffix == ".toml" for path in SUITES.iterdir())
