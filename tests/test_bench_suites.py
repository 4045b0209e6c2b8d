"""Benchmarks: suites are read, swept, and refused with a message; their inputs are generated."""

import dataclasses
import re
import tomllib

import pytest

import mgraph
import mgraph.cluster
from mgraph.algorithms.registry import ALGORITHMS
from mgraph.generate import rmat, weighted
from mgraph_bench import CHECKOUT, inputs
from mgraph_bench.run import bench, read_rows
from mgraph_bench.suite import SUITES, load, names, parsed
from tests.support.bench_suites import CLAIM, DRAWING, SMALL, small_suites

PUBLISHED = {
    "apsp-methods", "apsp-tile", "bfs-size", "bfs-density", "bfs-degree", "fw-overhead", "traversal-size",
    "traversal-degree", "traversal-road", "apsp-sparse", "rank-scaling", "rank-threads", "rank-bandwidth",
    "components-types", "components-rounds", "components-threads", "bfs-strategies", "scaling", "peers", "span",
    "apsp-types", "searches", "predictions", "calls", "transfers",
}  # fmt: skip


@pytest.fixture
def suites(tmp_path, monkeypatch):
    return small_suites(tmp_path, monkeypatch)


class TestSuites:
    def test_every_study_has_its_suite(self):
        own = {name for name in set(names()) - PUBLISHED if not load(name).published}
        assert set(names()) == PUBLISHED | own and all(load(name).source == "this project" for name in own)

    @pytest.mark.parametrize("name", sorted(names()))
    def test_every_case_is_valid(self, name):
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

    def test_quick_values_replace_those_of_the_same_name(self):
        assert [case.graph["rows"] for case in parsed("small", tomllib.loads(SMALL)).cases(quick=True)] == [2, 2]

    def test_published_times_are_seconds(self):
        (series,) = parsed("small", tomllib.loads(SMALL)).published
        assert series.y == (0.001, 0.0025) and series.of == "seconds"

    def test_a_claim_and_a_band_are_read(self):
        suite = parsed("small", tomllib.loads(SMALL.replace("[quick]", CLAIM).replace("2.5]", "[2, 3]]")))
        assert suite.claims[0].band == (10, 20) and suite.published[0].upper == (0.003,)

    def test_further_plots_are_read(self):
        (drawing,) = parsed("small", tomllib.loads(SMALL.replace("[quick]", DRAWING))).drawings
        assert drawing.words == "By operation." and drawing.relative and drawing.plot.rows == {"method": "hybrid"}
        assert (drawing.plot.x, drawing.plot.y, drawing.plot.log) == ("n", "phases", ("x",))

    def test_an_unknown_suite_is_refused_with_a_list_of_suites(self):
        with pytest.raises(mgraph.InputError, match=r"'nothing' is not known: use one of apsp-methods"):
            load("nothing")

    @pytest.mark.parametrize(
        ("of", "by", "words"),
        [
            ("title", "tilte", "a suite has no 'tilte': use title, source"),
            ('about = "Nothing."', "", "a suite lacks 'about'"),
            ('"A suite"', "7", "title must be text, got 7"),
            ('"bfs"', '"bfsx"', "algorithm = 'bfsx' is not known: use apsp, betweenness"),
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
            ("call = {", 'call = {limit = "2", ', "limit = '2' does not fit: it takes int"),
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
            ("milliseconds", "hours", r"\[\[published\]\] has no 'hours': use series, machine, beside, x"),
            ("milliseconds = [1, 2.5]", "", "another machine has figures of nothing: give one of seconds"),
            ('{method = "hybrid"}', '{methods = "hybrid"}', "another machine: beside has no 'methods'"),
            ("[1, 2.5]", "[1, [2.5]]", "numbers above 0, or of pairs"),
            ('machine = "a machine"', "", r"\[\[published\]\] lacks 'machine'"),
            ('"a machine"', "7", "another machine: machine must be text, got 7"),
            ("[quick]", CLAIM.replace("band", "steepest"), r"it is: steepest must be true or false, got \[10, 20\]"),
            ("[quick]", CLAIM.replace('"seconds"', '"seconds.walk"'), "it is: of = 'seconds' is not known: use phases"),
            ("[quick]", DRAWING.replace("words", "title"), r"\[\[drawing\]\] has no 'title': use x, y, series"),
            ("[quick]", DRAWING.replace("phases", "speed"), r"\[\[drawing\]\] y = 'speed' is not known"),
            ("[quick]", DRAWING.replace("true", "1"), r"\[\[drawing\]\] relative must be true or false, got 1"),
            ("[quick]", "[moved.walking]\nwalk = 1\n[quick]", r"\[moved\] has no 'walking': use hybrid"),
            ("[quick]", CLAIM.replace("seconds", "hours"), "it is: of = 'hours' is not known: use seconds"),
            ("[quick]", CLAIM.replace("rows", "row"), r"\[\[claim\]\] has no 'row': use words, published, of, rows"),
            ("[quick]", CLAIM.replace("method", "colour"), "it is: rows has no 'colour'"),
            ("[quick]", CLAIM.replace("10, 20", "10"), r"it is: band must be a pair of numbers, got \[10\]"),
            ("[quick]", "[traffic.walking]\nwalk = 1\n[quick]", r"\[traffic\] has no 'walking': use hybrid"),
            ("[[sweep]]", "[sweep]", "sweep must be a list of tables"),
            ("[[published]]", "[[", "must be TOML: .*line 18"),
        ],
    )
    def test_an_invalid_suite_is_refused_with_a_quotation(self, suites, of, by, words):
        assert of in SMALL
        (suites / "small.toml").write_text(SMALL.replace(of, by))
        with pytest.raises(mgraph.InputError, match=rf"^small\.toml.*{words}"):
            load("small")

    @pytest.mark.parametrize(
        ("algorithm", "make", "words"),
        [
            ("bfs", '"linked_list"', "bfs takes nothing of make = 'linked_list': that is for list_rank"),
            ("list_rank", '"rmat"', "list_rank takes nothing of make = 'rmat': that is for apsp, betweenness"),
            ("components", '"random_matrix"', "that is for apsp"),
            ("bfs", '"read", file = 3', "file = 3 does not fit: it takes str"),
            ("apsp", '"random_matrix", dtype = "float31"', "dtype = 'float31' is not known: use auto, float32"),
        ],
    )
    def test_arguments_of_algorithms_are_checked(self, algorithm, make, words):
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
        checks = {name: lambda *given, name=name: asked.append(name) or "proved" for name in ("distances", "others")}
        monkeypatch.setitem(ALGORITHMS, "bfs", dataclasses.replace(ALGORITHMS["bfs"], checks=checks))
        text = SMALL.replace("[plot]", 'repeats = 7\nchecks = ["distances"]\n[plot]')
        (suites / "small.toml").write_text(text)
        bench(["small"], tmp_path / "seven", device="cpu")
        (suites / "small.toml").write_text(text.replace("[quick]", "[quick]\nrepeats = 2"))
        bench(["small"], tmp_path / "two", device="cpu", quick=True)
        for folder, times in (("seven", 7), ("two", 2)):
            cases = [row for row in read_rows(tmp_path / folder) if row["kind"] == "case"]
            assert cases and {len(row["times"]) for row in cases} == {times}
        assert set(asked) == {"distances"}


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
    def test_invalid_inputs_are_refused(self, graph, words):
        with pytest.raises(mgraph.InputError, match=words):
            inputs.made(graph, "cpu")


def test_every_row_of_the_source_studies_is_decided():
    text = (CHECKOUT / "docs" / "studies.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| (.*?) \| (.*?) \| (.*) \| (.*?) \| (.*?) \|$", text, re.MULTILINE)
    assert [int(number) for number, *_ in rows] == list(range(1, 150))
    decisions = [decision for *_, decision in rows]
    full, still_open = (sum(word.startswith(begin) for word in decisions) for begin in ("full", "open"))
    assert all(len(decision) > 3 for decision in decisions)
    said = f"Of 149 rows {full} are full and {still_open} are open; of the other {149 - full - still_open} the last"
    assert said in " ".join(text.split())
    folders = [CHECKOUT / name for name in ("benchmarks", "kernels", "mgraph", "deploy")]
    files = {path.relative_to(CHECKOUT).as_posix() for folder in folders for path in folder.rglob("*.*")}
    for number, _, _, where, suites, _ in rows:
        for name in re.findall(r"`([\w/.-]+\.(?:py|cuh?|toml)\b)", where):
            assert any(file == name or file.endswith(f"/{name}") for file in files), f"row {number}: no file {name}"
        for name in re.findall(r"[a-z]+(?:-[a-z]+)+", suites):
            assert name in names(), f"row {number}: no suite {name}"


def test_the_suites_are_where_the_package_looks():
    assert SUITES.is_dir() and all(path.suffix == ".toml" for path in SUITES.iterdir())
