"""Folders of rows: what is read, what is refused, and which of several rows of a case counts."""

import json
import os

import pytest

from mgraph.errors import InputError
from mgraph_bench.report import report
from mgraph_bench.rows import device_name, figures, key, read, rows_of
from tests.support.bench_rows import CPU, KEPT, case, peer, small_suites, write


@pytest.fixture(autouse=True)
def suites(tmp_path_factory, monkeypatch):
    small_suites(tmp_path_factory.mktemp("suites"), monkeypatch)


def test_a_report_keeps_the_rows_as_a_table_too(tmp_path):
    write(tmp_path, [case()], "a/rows.jsonl")
    write(tmp_path, [{"row": "of another program"}], "b/rows.jsonl")
    report(tmp_path)
    table = tmp_path / "a" / "rows.csv"
    assert "seconds" in table.read_text().splitlines()[0] and len(table.read_text().splitlines()) == 2
    assert not (tmp_path / "b" / "rows.csv").exists()
    table.write_text("newer")
    os.utime(tmp_path / "a" / "rows.jsonl", (1, 1))
    report(tmp_path)
    assert table.read_text() == "newer"
    os.utime(table, (0, 0))
    report(tmp_path)
    assert "seconds" in table.read_text()


def test_a_folder_without_rows_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"holds no rows.*measure first"):
        report(tmp_path)
    with pytest.raises(InputError, match="expected a folder that `mgraph bench` has written rows to"):
        report(tmp_path / "nowhere")
    write(tmp_path, [case()])
    with pytest.raises(InputError, match="holds no rows"):
        report(tmp_path, baseline=write(tmp_path / "old", []))


def test_a_malformed_row_is_refused(tmp_path):
    write(tmp_path, [case()])
    path = tmp_path / "rows.jsonl"
    path.write_text("{half a row\n" + path.read_text())
    with pytest.raises(InputError, match=r"rows\.jsonl, line 1 must be a row"):
        report(tmp_path)
    path.write_text("7\n")
    with pytest.raises(InputError, match="line 1 must be a row, got '7'"):
        report(tmp_path)


@pytest.mark.parametrize(
    "changed",
    [
        *(
            {"suite": name}
            for name in ("../../../x", "a/b", "a\\b", "\\1", "", ".", "..", 'x" onload="y', "a\nb", "/x")
        ),
        *({"seconds": figure} for figure in (float("1e999"), 10**400, 0)),
        {"n": 10**30},
    ],
)
def test_rows_that_would_leave_the_folder_or_break_a_page_are_refused(tmp_path, changed):
    folder = tmp_path / "a" / "b" / "c"
    write(folder, [case()])
    row = json.loads((folder / "rows.jsonl").read_text()) | changed
    (folder / "rows.jsonl").write_text(json.dumps(row).replace("Infinity", "1e999") + "\n")
    with pytest.raises(InputError, match=r"rows\.jsonl, line 1 must be a row: its (suite|seconds|n) is"):
        report(folder)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["rows.jsonl"]


def test_a_suite_of_any_plain_name_has_its_plots_in_the_folder(tmp_path):
    write(tmp_path, [case(suite="my suite v1.2+x")])
    report(tmp_path)
    assert (tmp_path / "plots" / "my suite v1.2+x.svg").is_file()


def test_a_run_that_was_cut_off_is_read_up_to_there(tmp_path):
    write(tmp_path, [case(), case(method="naive")])
    path = tmp_path / "rows.jsonl"
    path.write_text(path.read_text()[:-20])
    assert [row["method"] for row in read(tmp_path).cases] == ["blocked"]


def test_the_newest_row_of_a_case_on_a_device_counts(tmp_path):
    new = case(seconds=2e-3, date="2026-11-22T11:00:00+00:00")
    write(tmp_path, [new, case(device=CPU, seconds=3e-3)], "a/rows.jsonl")
    write(tmp_path, [case(), {"row": "of another program"}], "b/rows.jsonl")
    rows = read(tmp_path)
    assert [row["seconds"] for row in rows.cases] == [2e-3, 3e-3]
    assert rows.others == 1
    write(tmp_path, [new | {"kind": "skipped", "why": "gone", "date": "2026-11-23"}], "c/rows.jsonl")
    assert [len(kind) for kind in (read(tmp_path).cases, read(tmp_path).skipped)] == [1, 1]


def test_a_case_that_another_run_has_measured_is_not_skipped(tmp_path):
    on_a_gpu = case(run={"device": "cuda"})
    write(tmp_path, [on_a_gpu], "gpu/rows.jsonl")
    skipped = on_a_gpu | {"kind": "skipped", "why": "needs a GPU", "device": CPU}
    write(tmp_path, [skipped, skipped | {"call": {"method": "naive"}}], "cpu/rows.jsonl")
    assert [row["call"]["method"] for row in read(tmp_path).skipped] == ["naive"]


def test_a_case_on_workers_that_was_measured_later_is_not_skipped(tmp_path):
    two = case(devices=2, device=CPU, date="2026-11-22T11:00:00+00:00")
    failed = two | {"kind": "skipped", "why": "failed", "device": CPU, "date": "2026-11-21T11:00:00+00:00"}
    write(tmp_path, [failed, two])
    assert [len(kind) for kind in (read(tmp_path).cases, read(tmp_path).skipped)] == [1, 0]
    write(tmp_path, [two, failed | {"date": "2026-11-23T11:00:00+00:00"}])
    assert [len(kind) for kind in (read(tmp_path).cases, read(tmp_path).skipped)] == [1, 1]


def test_the_kept_rows_have_each_case_once():
    for path in KEPT.glob("*/rows.jsonl"):
        keys = [key(row) for row in rows_of(path)]
        assert len(keys) == len(set(keys)), path


def test_devices_have_short_names():
    assert device_name(case(devices=4)) == "4 × H200"
    assert device_name(case(device=CPU)) == "EPYC 9654"
    intel = CPU | {"model": "Intel(R) Xeon(R) Platinum 8480+ CPU @ 2.00GHz"}
    assert device_name(case(device=intel)) == "Xeon Platinum 8480+"


def test_figures_of_operations():
    row = case(phase_rates={"walk": 2e10})
    assert figures(row, "phase_rates") == [("walk", 2e10)]
    assert figures(row, "iterations") == [("", 4)]
    assert figures(row, "overhead") == [("", pytest.approx(0.4))]  # 0.1 and 0.3 of 1 ms, for any time of the whole call
    assert figures(row, "per_iteration") == [("", 0.25e-3)]
    assert figures(row, "edges") == [] and figures(row | {"unit": "edges/s", "work": 5.0}, "edges") == [("", 5)]
    assert figures(peer("scipy", 1), "overhead") == []
