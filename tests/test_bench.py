"""Benchmarks: rows are complete; a run stops, continues, and reports what it skipped."""

import csv
import dataclasses
import functools
import json
import subprocess
import tomllib

import numpy as np
import pytest
from click.testing import CliRunner

import mgraph
import mgraph.cluster
from mgraph import device as devices
from mgraph import limits
from mgraph.algorithms.registry import ALGORITHMS
from mgraph.algorithms.work import Work
from mgraph.errors import WrongResultError
from mgraph.generate import linked_list, random_matrix, rmat
from mgraph.measuring import spread
from mgraph.runtime.dask import visiting
from mgraph_bench import building, by_shards, kernels
from mgraph_bench.case import Bench, Unfit
from mgraph_bench.case import row as measured
from mgraph_bench.commands import bench as main
from mgraph_bench.phases import by_phase
from mgraph_bench.rows import read
from mgraph_bench.run import bench, cases_of, commit, read_rows
from mgraph_bench.suite import Case, names, parsed, value
from tests.support.bench_suites import SMALL, calling, cpu_row, small_suites
from tests.support.clusters import forked


@pytest.fixture
def suites(tmp_path, monkeypatch):
    return small_suites(tmp_path, monkeypatch)


class TestRows:
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
    def test_a_search_that_skips_edges_is_not_bounded_by_reading_all(self, method, bounded):
        place = devices.find("cpu")
        shared = Bench(ceilings={place.model(): {"reads": [[1, 1e9], [2, 1e9]]}})
        found = cpu_row("bfs", {"make": "rmat", "scale": 6}, {"method": method}, bench=shared)
        assert all((found[name] is not None) is bounded for name in ("bytes", "ceiling", "fraction"))

    def test_a_row_is_complete(self):
        found = cpu_row("bfs", {"make": "rmat", "scale": 8}, {"method": "hybrid"}, {"sources": 3})
        assert found["method"] == "hybrid" and found["n"] == 256 and found["m"] == rmat(8).m
        assert len(found["times"]) == 15 and found["seconds"] > 0
        each = [tuple(found["times"][first : first + 5]) for first in (0, 5, 10)]  # five of each source
        assert found["spread"] == pytest.approx(np.mean([spread(times) for times in each]))
        assert found["call_seconds"] > found["seconds"]
        assert found["unit"] == "TEPS" and found["rate"] > 0 and found["iterations"] > 1
        assert found["transfers"].keys() == {"load", "collect"} and found["phases"]
        assert found["peak_bytes"] > 0 and found["predicted_bytes"] > 0 and found["predicted_seconds"] > 0
        assert found["checked"] == "Bellman's equations and paths"
        assert json.dumps(found, allow_nan=False)

    def test_a_row_names_its_kernels_and_the_times_of_rounds(self):
        found = cpu_row("list_rank", {"make": "linked_list", "n": 500}, {"method": "wyllie", "span": 1})
        assert found["kernels"].keys() == {"mgraph.kernels.list_rank.host"}
        assert kernels.state(found | {"run": {}}) == kernels.SAME
        assert len(found["rounds"]["jump"]) > 5
        assert sum(found["rounds"]["jump"]) == pytest.approx(found["phases"]["jump"])
        assert "link" not in found["rounds"]  # one call

    def test_a_cpu_has_no_more_threads_than_cores(self):
        cores = limits.cores()
        with pytest.raises(Unfit, match=rf"^needs {cores + 1} cores, and this machine has {cores}$"):
            cpu_row("components", {"make": "star", "n": 9}, run={"blocks": cores + 1})

    def test_bytes_a_second_are_counted_both_ways(self):
        case = Case("small", "list_rank", {"make": "linked_list", "n": 500}, {"method": "splitter64"}, {})
        suite = dataclasses.replace(
            parsed("small", tomllib.loads(SMALL)),
            traffic={"splitter64": {"walk": 20}},
            moved={"splitter64": {"walk": 12}},
        )
        found = measured(case, suite, Bench(), devices.find("cpu"))
        assert found["phase_rates"]["walk"] == pytest.approx(20 * 500 / found["phases"]["walk"])
        assert found["moved_rates"]["walk"] == pytest.approx(12 * 500 / found["phases"]["walk"])
        assert value(found, "phase_rates.walk") == found["phase_rates"]["walk"]
        assert value(found, "phases_per_element.walk") == pytest.approx(found["phases"]["walk"] / 500)

    def test_a_graph_without_edges_has_no_sources(self):
        with pytest.raises(Unfit, match="no vertex has an edge"):
            cpu_row("bfs", {"make": "star", "n": 1})

    def test_a_later_method_is_compared_with_the_verified_one(self):
        shared = Bench()
        graph = {"make": "rmat", "scale": 7}
        assert cpu_row("bfs", graph, {"method": "hybrid"}, bench=shared)["checked"] == "Bellman's equations and paths"
        assert cpu_row("bfs", graph, {"method": "scan"}, bench=shared)["checked"] == "equal to hybrid"

    def test_another_library_may_be_the_first(self):
        shared, graph = Bench(), {"make": "random_graph", "m": 300, "density": 0.01, "count": 3}
        assert cpu_row("components", graph, run={"peer": "scipy"}, bench=shared)["checked"].startswith("equal across")
        assert cpu_row("components", graph, bench=shared)["checked"] == "equal to scipy"

    def test_a_wrong_result_has_no_row(self, monkeypatch):
        monkeypatch.setitem(ALGORITHMS, "bfs", calling(lambda *given, **named: mgraph.bfs(*given, limit=1, **named)))
        with pytest.raises(WrongResultError):
            cpu_row("bfs", {"make": "grid", "rows": 4, "columns": 4})

    @pytest.mark.parametrize(
        ("algorithm", "graph", "call"),
        [
            ("apsp", {"make": "random_matrix", "n": 70}, {"method": "squaring"}),
            ("apsp", {"make": "random_degree", "n": 70, "degree": 3, "weights": [1, 9]}, {"method": "sssp"}),
            ("sssp", {"make": "grid", "rows": 9, "columns": 9}, {}),
            ("components", {"make": "tree_graph", "n": 90, "count": 3, "k": 2}, {"method": "shiloach-vishkin"}),
            ("list_rank", {"make": "linked_list", "n": 90}, {"method": "wyllie"}),
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
            "seconds": 2.0, "n": 4, "call": {"method": "a"}, "run": {"blocks": 7}, "graph": {"k": 5, "m": 3}, "m": 6,
            "device": {"count": 3, "model": "x"}, "transfers": {"load": 1.0, "collect": 2.0}, "method": "b",
            "call_seconds": 5.0,
        }  # fmt: skip
        names = ("seconds", "blocks", "k", "m", "devices", "model", "per_element", "overhead", "method", "nothing")
        assert [value(found, name) for name in names] == [2.0, 7, 5, 3, 3, "x", 0.5, 1.5, "b", None]

    def test_a_round_has_its_share_of_the_rounds_that_were_timed(self):
        found = {"phases": {"hook": 6.0, "compress": 3.0}, "rounds": {"hook": [1.0, 2.0, 3.0]}, "iterations": 4}
        assert by_phase(found, "phases_per_iteration") == {"hook": 2.0, "compress": 1.0}
        assert by_phase(found | {"rounds": {}}, "phases_per_iteration") == {"hook": 1.5, "compress": 0.75}

    def test_quick_ceilings_never_replace_full_ones(self, tmp_path):
        device = {"name": "cpu", "kind": "cpu", "model": "a model", "cores": 2, "count": 1}
        full = {"kind": "ceilings", "device": device, "quick": False, "copy": 2.0, "date": "2026-11-01"}
        quick = full | {"quick": True, "copy": 1.0, "date": "2026-11-02"}
        (tmp_path / "rows.jsonl").write_text(json.dumps(quick) + "\n")
        assert read(tmp_path).ceilings == [quick]
        (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in (full, quick)))
        assert read(tmp_path).ceilings == [full]


#: A row with the fields that every reader needs.
ROW = json.dumps(
    {
        "kind": "case", "suite": "small", "algorithm": "bfs", "graph": {"make": "star"}, "call": {}, "run": {},
        "device": {"kind": "cpu", "model": "a model", "count": 1}, "n": 4, "seconds": 0.5, "call_seconds": 0.75,
    }
).encode()  # fmt: skip


class TestRuns:
    def test_rows_are_written_and_kept(self, suites, tmp_path):
        reported = []
        ended = bench(["small"], tmp_path / "out", device="cpu", quick=True, on_row=reported.append)
        assert (ended.measured, ended.kept, ended.skipped, ended.wrong) == (2, 0, 0, 0)
        rows = list(read_rows(tmp_path / "out"))
        assert [row["kind"] for row in rows] == ["ceilings", "case", "case"] == [row["kind"] for row in reported]
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
    def test_a_malformed_row_is_named_by_its_line(self, suites, tmp_path, line, words):
        (tmp_path / "rows.jsonl").write_bytes(ROW + b"\n" + line + b"\n")
        asked = ["small", "--quick", "--device", "cpu", "--out", str(tmp_path)]
        for command in (asked, ["report", str(tmp_path)]):
            if line == b"{}" and command is not asked:
                continue  # a report omits these, and counts them
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

    def test_an_unexpected_failure_is_reported_and_the_rest_is_measured(self, suites, tmp_path, monkeypatch):
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

    def test_an_interrupt_that_compiled_code_turned_into_an_error_ends_a_run(self, suites, tmp_path, monkeypatch):
        def interrupted(*given, **named):
            raise SystemError("a result with an exception set") from KeyboardInterrupt()

        monkeypatch.setitem(ALGORITHMS, "bfs", calling(interrupted))
        done = CliRunner().invoke(main, ["small", "--quick", "--device", "cpu", "--out", str(tmp_path)])
        assert done.exit_code == 130 and not [row for row in read_rows(tmp_path) if row["kind"] != "ceilings"]

    def test_a_missing_gpu_does_not_end_the_run(self, suites, tmp_path):
        (suites / "small.toml").write_text(SMALL.replace('"cpu"', '["cuda:77", "cpu"]'))
        ended = bench(["small"], tmp_path, quick=True)
        assert (ended.measured, ended.skipped) == (2, 2)

    def test_help_names_the_report(self):
        assert "mgraph bench report [DIR]" in CliRunner().invoke(main, ["--help"]).output

    def test_a_report_of_no_folder_says_where_there_are_some(self, tmp_path):
        done = CliRunner().invoke(main, ["report", str(tmp_path / "none")])
        assert done.exit_code == 2 and "there is no folder" in done.output
        assert f"mgraph bench --out {tmp_path / 'none'} makes one" in done.output

    def test_a_folder_that_another_run_writes_to_is_refused(self, suites, tmp_path):
        done, asked = [], ["small", "--quick", "--device", "cpu", "--out", str(tmp_path)]
        ended = bench(
            ["small"],
            tmp_path,
            device="cpu",
            quick=True,
            on_row=lambda row: done.append(CliRunner().invoke(main, asked)),
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

    def test_unused_workers_and_schedulers_are_warned_about(self, suites, tmp_path, monkeypatch):
        monkeypatch.setattr("mgraph_bench.run.check_scheduler", lambda scheduler: None)
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

    def test_workers_apply_to_cases_that_name_none(self):
        def runs(**asked):
            return [case.run for _, case in cases_of([swept], True, *map(asked.get, ("workers", "scheduler")))]

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

    def test_each_reason_for_skipping_is_printed_once(self, suites, tmp_path):
        (suites / "small.toml").write_text(
            SMALL.replace("[quick]", '[[sweep]]\ngraph = {make = "read", file = "unheard-of.gr"}\n[quick]')
        )
        for _ in range(2):
            ended = bench(["small"], tmp_path, device="cpu", quick=True)
            assert ended.skipped == 1
        (skipped,) = (row for row in read_rows(tmp_path) if row["kind"] == "skipped")
        assert "unheard-of" in skipped["why"]

    def test_a_wrong_result_is_reported_and_fails_the_command(self, suites, tmp_path, monkeypatch):
        monkeypatch.setitem(ALGORITHMS, "bfs", calling(lambda *given, **named: mgraph.bfs(*given, limit=1, **named)))
        done = CliRunner().invoke(main, ["small", "--quick", "--device", "cpu", "--out", str(tmp_path)])
        assert done.exit_code == 1 and "wrong: from vertex" in done.output and "2 wrong" in done.output

    @pytest.mark.exhaustive
    def test_the_whole_set_quickly(self, tmp_path):
        with forked():
            ended = bench(out=tmp_path, device="cpu", quick=True)
        rows = list(read_rows(tmp_path))
        assert ended.wrong == 0 and not ended.limited
        measured = {row["suite"] for row in rows if row["kind"] == "case"}
        # The first two need files, the third four cores, the last a GPU.
        lacking = {"traversal-road", "fw-overhead", "components-rounds", "transfers"}
        assert measured == set(names()) - (lacking - measured)
        for row in rows:
            if row["kind"] == "skipped":
                known = ("tiles", "put it there", "pip install", "has no call for", "takes all sources", "cores")
                assert any(words in row["why"] for words in known), row["why"]

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
                assert row["device"]["kind"] == "cuda" and row["seconds"] > 0
                assert row["phases"] or "peer" in row["run"]  # a peer's calls have no phases


class WrongSearch(by_shards.KroneckerSearch):
    def collect(self, state, comm):
        state.distances[state.distances == 2] = 3
        return super().collect(state, comm)


class WrongRanking(by_shards.RandomListRanking):
    def collect(self, state, comm):
        state.ranks[:1] += 1
        return super().collect(state, comm)


@pytest.mark.exhaustive
def test_workers_make_their_parts_of_an_input(monkeypatch):
    with forked(), mgraph.cluster.local_client(2, "cpu") as client:
        runner = visiting(client, "cpu")
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


def test_building_is_measured_and_verified(monkeypatch):
    ran = CliRunner().invoke(building.main, ["--scale", "8"])
    rows = [json.loads(line) for line in ran.output.splitlines()]
    assert [row["case"] for row in rows] == list(building.CASES)
    assert len({row["stored"] for row in rows}) == 1
    assert all(row["seconds"] > 0 and row["peak_bytes"] > 0 for row in rows)
    right = mgraph.Graph.csr
    monkeypatch.setattr(mgraph.Graph, "csr", lambda graph: right(graph)._replace(indices=right(graph).indices[::-1]))
    with pytest.raises(WrongResultError, match="directed: the arrays are not those of SciPy"):
        building.measured(*building.kronecker(4), 16, "directed")
