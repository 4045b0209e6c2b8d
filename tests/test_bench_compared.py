"""Rows compared with published figures, with another run, and with the same case on several devices."""

import dataclasses
import random
import tomllib

import pytest

from mgraph_bench import amounts, suite
from mgraph_bench.report import claims, report, summit
from mgraph_bench.report.baseline import change, compared, noise
from mgraph_bench.report.speedup import families
from mgraph_bench.rows import figures, read
from tests.support.bench_rows import CPU, INSTALLED, KEPT, SUITES, Page, case, ceilings, small_suites, texts, write


@pytest.fixture(autouse=True)
def suites(tmp_path_factory, monkeypatch):
    small_suites(tmp_path_factory.mktemp("suites"), monkeypatch)


def test_published_figures_of_other_sizes_have_no_ratio(tmp_path):
    write(tmp_path, [case(n=96)])
    text = report(tmp_path)[1].read_text()
    assert "| blocked, Tesla M2090 | 512 | 6.00 ms | 1.00 ms (at 96) |" in text
    assert "| blocked, Tesla M2090 | 1,024" not in text


def test_a_published_size_between_ours_has_both_neighbours(tmp_path, monkeypatch):
    text = SUITES["methods"].replace("x = [1000]", "x = [724.0773439350247]")  # as far from 512 as from 1,024
    (tmp_path / "methods.toml").write_text(text)
    monkeypatch.setattr(suite, "SUITES", tmp_path)
    rows = [case(n=512), case(n=1024, iterations=5), case(n=1024, iterations=7, call={"method": "blocked", "k": 2})]
    words = report(write(tmp_path / "run", rows))[1].read_text()
    assert "| 9 | 4 (at 512); 5 to 7 (at 1,024) |" in words


def test_a_published_band_is_drawn_and_listed(tmp_path, monkeypatch):
    text = SUITES["methods"].replace("microseconds = [6000, 32000]", "milliseconds = [[5, 9], [20, 40]]")
    (tmp_path / "methods.toml").write_text(text)
    monkeypatch.setattr(suite, "SUITES", tmp_path)
    page, short = report(write(tmp_path / "run", [case(n=512), case(n=1024)]))
    assert "| blocked, Tesla M2090 | 512 | 5.00 ms to 9.00 ms | 1.00 ms |" in short.read_text()
    plot = (tmp_path / "run" / "plots" / "methods.svg").read_text()
    assert 'id="methods-published' in plot and "fill-opacity: 0.13" in plot
    assert "Shaded: published" in page.read_text()


def told(found, **claim):
    """Return the cells of the lines of a claim: the measured figure, at which n, and on what."""
    known = suite.parsed("methods", tomllib.loads(SUITES["methods"]))
    one = suite.Claim("faster", claim.pop("published", "2 ×"), **{"of": "seconds"} | claim)
    *_, table = claims.blocks(dataclasses.replace(known, claims=(one,)), found)
    assert all(row[:2] == (one.words, one.published) for row in texts(table))
    return [row[2:] for row in texts(table)]


def test_claims_are_compared_with_our_rows():
    gpu = {"device": "cuda"}
    rows = [case(n=n, seconds=t, run=gpu) for n, t in ((512, 1e-3), (1024, 4e-3), (2048, 16e-3))]
    rows += [case(n=n, seconds=t, device=CPU, run={"device": "cpu"}) for n, t in ((512, 0.1), (1024, 0.2), (4096, 1))]
    rows += [case(n=512, seconds=0.5, device=CPU, run={"device": "cpu", "blocks": 1}), ceilings()]
    blocks = {"device": "cpu", "blocks": []}
    both = "EPYC 9654 (2 cores) over H200"
    assert told(rows, rows=blocks, over=gpu) == [("50.0 × to 100 ×", "n 512 to 1,024", both)]
    one = ("500 ×", "n 512", "EPYC 9654 (1 core) over H200")
    assert told(rows, rows={"blocks": 1, "device": "cpu"}, over=gpu) == [one]
    assert told(rows, rows={"n": 2048}, over={"n": [512, 1024]}) == [("16.0 ×", "", "H200")]  # the best of them all
    assert told(rows, rows={"n": 2048}, over={"n": 512}, published="90 %") == [("1600 %", "", "H200")]
    assert told(rows, rows={"kind": "ceilings"}, of="copy") == [("4.30 TB/s", "", "H200")]
    assert told(rows, rows={"n": [512, 1024], "device": "cpu", "blocks": []}) == [
        ("100 ms to 200 ms", "n 512 to 1,024", "EPYC 9654 (2 cores)")
    ]
    most = told(rows, rows={}, of="n", by="rate")
    assert most == [("2,048", "", "H200"), ("4,096", "", "EPYC 9654 (2 cores)")]
    assert told(rows, rows={"method": "naive"}) == [("not measured", "", "")]


def test_ratios_with_a_band_are_drawn():
    known = suite.parsed("methods", tomllib.loads(SUITES["methods"]))
    rows = [case(n=n, seconds=t, method=m) for n in (512, 1024) for m, t in (("naive", 8e-3), ("blocked", 1e-3))]
    sides = {"of": "seconds", "rows": {"method": "naive"}, "over": {"method": "blocked"}}
    one = suite.Claim("naive over blocked", "5 to 10 ×", band=(5, 10), **sides)
    plot, table = claims.blocks(dataclasses.replace(known, claims=(one,)), rows)
    assert plot.name == "methods-ratios" and "5 to 10 × (published)" in plot.svg and "fill-opacity: 0.13" in plot.svg
    (table,) = claims.blocks(dataclasses.replace(known, claims=(one,)), rows[:2])
    assert texts(table)[0][2] == "8.00 ×"


def test_published_figures_of_suites_have_kept_rows(monkeypatch):
    monkeypatch.setattr(suite, "SUITES", INSTALLED)
    rows = read(KEPT)
    printed = {"bfs-strategies", "calls", "peers"}  # no figures of these are published
    printed |= {"apsp-types", "searches", "closure", "predictions", "forest"}  # whose figures are this project's own
    for name in suite.names():
        known = suite.load(name)
        assert name in printed or known.published or known.claims, name
        found = [finding.claim for finding in claims.findings(known, [*rows.of(name), *rows.ceilings])]
        assert [claim.words for claim in known.claims if claim not in found] in ([], ["the same on 8 GPUs"]), name
        for published in known.published:
            phase = published.beside.get("phase")
            drawn_only = name == "rank-bandwidth" and phase == "coalesced"
            wanted = {what: value for what, value in published.beside.items() if what != "phase"}
            same = [row for row in rows.of(name) if all(suite.value(row, what) == wanted[what] for what in wanted)]
            assert drawn_only or any(dict(figures(row, published.of)).get(phase or "") for row in same), published


def verdict(times, before, **fields):
    """Return the verdict of a case with these times, compared with one with the times before."""
    rows = (case(times=each, seconds=sorted(each)[len(each) // 2], **fields) for each in (times, before))
    return change(*rows).verdict


def test_slower_and_faster_cases():
    quiet = [1.00, 1.01, 0.99, 1.005, 0.995]
    assert verdict([1.2 * t for t in quiet], quiet) == "slower"
    assert verdict(quiet, [1.2 * t for t in quiet]) == "faster"
    assert verdict([1.04 * t for t in quiet], quiet) == "within noise"  # less than the drift between runs
    loud = [1.0, 1.3, 0.8, 1.1, 0.9]
    assert verdict([1.2 * t for t in loud], loud) == "within noise"
    assert verdict([2.5 * t for t in loud], loud) == "slower"


def test_one_slow_repetition_hides_no_change():
    quiet = [1.00, 1.01, 0.99, 1.005, 3.0]
    assert verdict([1.2 * t for t in quiet], quiet) == "slower"


def test_times_from_several_sources_are_not_noise():
    by_source = [source * t for source in (1.0, 2.0, 3.0) for t in (0.99, 1.0, 1.01)]
    assert noise(case(times=by_source)) > 0.3
    assert noise(case(times=by_source, run={"sources": 3}, spread=0.02)) == pytest.approx(0.01)
    assert verdict([1.2 * t for t in by_source], by_source, run={"sources": 3}, spread=0.02) == "slower"


def test_chance_alone_makes_few_cases_slower_and_hides_few_changes():
    chance = random.Random(7)

    def run(slowdown=1.0):
        drift = 1 + chance.gauss(0, 0.01)
        return [slowdown * drift * (1 + abs(chance.gauss(0, 0.02))) for _ in range(5)]

    same = [verdict(run(), run()) for _ in range(2000)]
    assert sum(found != "within noise" for found in same) <= 10
    slower = [verdict(run(1.25), run()) for _ in range(500)]
    assert slower.count("slower") > 450


def test_new_and_missing_cases(tmp_path):
    now = read(write(tmp_path / "now", [case(n=1), case(n=2)]))
    old = [case(n=2), case(n=3), case(n=2, device=CPU), case(n=2, quick=True), case("peers", n=2)]
    comparison = compared(now, read(write(tmp_path / "old", old)))
    assert [row["n"] for row in comparison.new] == [1]
    assert [(row["n"], row["quick"]) for row in comparison.gone] == [(3, False), (2, True)]
    assert comparison.elsewhere == 2  # another device, another suite
    assert [c.row["n"] for c in comparison.changes] == [2]


def test_the_page_lists_what_got_slower(tmp_path):
    rows = [case(n=n, method=method) for n in (512, 1024) for method in ("naive", "blocked")]
    old = write(tmp_path / "old", [*rows[:3], case(n=4096)])
    for row, factor in zip(rows, (3, 0.9, 1.01, 1), strict=True):
        row.update(seconds=row["seconds"] * factor, times=[t * factor for t in row["times"]], commit="new")
    page = Page(report(write(tmp_path / "new", rows), old)[0].read_text())
    words = " ".join(page.sections["baseline"].split())
    assert "Of 3 cases that both runs have: 1 slower, 1 faster, 1 within noise. Beside them: 1 new, 1 gone." in words
    assert "3.00 times" in words and "−10" in words and "87f8779" in words


# What is beside it


def test_summit_is_predicted_beside_what_was_published(monkeypatch, tmp_path):
    path = tmp_path / "summit.toml"
    path.write_text(
        '[[run]]\ngpus = 6\nnodes = 1\nminplus_per_second = 2e13\nnetwork = 25e9\nsource = "A paper"\n'
        '[[run]]\ngpus = 12\nnodes = 2\nn = 100000\nseconds = 20\nnetwork = 25e9\nsource = "Another"\n'
    )
    monkeypatch.setattr(summit, "PUBLISHED", (path,))
    table = summit.section().blocks[1]
    assert [row[0] for row in texts(table)] == ["6", "12"]
    assert texts(table)[0][2] == "109,544 (assumed)" and texts(table)[1][2] == "100,000"
    assert texts(table)[1][3] == "50.0 T"
    n, rate = summit.predicted({"gpus": 6, "nodes": 1, "network": 25e9})
    assert texts(table)[0][5] == amounts.times(rate / 2e13) and n == 109_544
    monkeypatch.setattr(summit, "PUBLISHED", (tmp_path / "nowhere.toml",))
    assert summit.section() is None


def test_equal_sizes_on_one_device_are_not_scaling():
    assert families([case(n=100), case(n=101)]) == []
