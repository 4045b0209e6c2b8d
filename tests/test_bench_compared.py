"""Rows compared with published figures, with another run, and with the same case on several devices."""

import dataclasses
import random
import re
import tomllib

import pytest

from mgraph_bench import amounts, kernels, suite
from mgraph_bench.report import betweenness, claims, report, summit
from mgraph_bench.report import published as beside
from mgraph_bench.report.baseline import change, compared, noise
from mgraph_bench.report.speedup import families
from mgraph_bench.rows import read
from tests.support.bench_rows import CPU, INSTALLED, SUITES, Page, case, ceilings, small_suites, texts, write


@pytest.fixture(autouse=True)
def suites(tmp_path_factory, monkeypatch):
    small_suites(tmp_path_factory.mktemp("suites"), monkeypatch)


def test_published_figures_of_other_sizes_have_no_ratio(tmp_path):
    write(tmp_path, [case(n=96)])
    text = report(tmp_path)[1].read_text()
    for n, figure in (("512", "6.00 ms"), ("1,024", "32.0 ms")):
        assert f"| Tesla M2090 | blocked | {n} | {figure} | – | not measured |" in text


def test_the_best_method_stands_beside_the_same_one(tmp_path):
    rows = [case(n=512, seconds=2e-3), case(n=512, seconds=5e-4, method="naive"), case(n=1024, seconds=8e-3)]
    rows += [case(n=512, seconds=1e-4, method="scipy", run={"peer": "scipy"})]  # another library's
    text = report(write(tmp_path, rows))[1].read_text()
    assert "| Tesla M2090 | blocked | 512 | 6.00 ms | H200 | 2.00 ms | 3.00 × | 500 µs (naive) | 12.0 × |" in text
    assert "| Tesla M2090 | blocked | 1,024 | 32.0 ms | H200 | 8.00 ms | 4.00 × | 8.00 ms (blocked) | 4.00 × |" in text


def test_several_rows_that_are_like_a_published_one_have_a_range(tmp_path, monkeypatch):
    text = SUITES["methods"].replace("x = [1000]", "x = [1024]")
    (tmp_path / "methods.toml").write_text(text)
    monkeypatch.setattr(suite, "SUITES", tmp_path)
    rows = [case(n=1024, iterations=5), case(n=1024, iterations=7, call={"method": "blocked", "k": 2})]
    words = report(write(tmp_path / "run", rows))[1].read_text()
    assert "| elsewhere | rounds | 1,024 | 9 | H200 | 5 to 7 | – | – | – |" in words


def test_rows_say_whether_their_kernels_have_changed(tmp_path):
    today = kernels.digests(["mgraph.kernels.minplus"], "cuda")
    (name,) = today
    rows = [case(n=512, kernels=today), case(n=1024, kernels={name: "another"}), case(n=2048)]
    assert [kernels.state(row) for row in rows] == [kernels.SAME, kernels.CHANGED, kernels.UNKNOWN]
    assert kernels.state(case(run={"peer": "scipy"})) == ""
    assert kernels.state(case(kernels={"kernels/removed.cu": "x"})) == kernels.CHANGED
    for other in ("mgraph.kernels.bellman.host", "kernels/ceilings.cu"):  # which no call runs
        assert kernels.state(case(kernels=today | {other: "x"})) == kernels.SAME
        assert kernels.state(case(kernels={other: "x"})) == kernels.UNKNOWN
    assert kernels.state(ceilings() | {"kernels": {"mgraph.kernels.ceilings.host": "x"}}) == kernels.CHANGED
    text = report(write(tmp_path, rows))[1].read_text()
    assert "Of 3 rows 1 ran kernels that have changed since and 1 do not say which kernels they ran" in text
    assert re.search(r"\| Tesla M2090 \| blocked \| 512 .*\| same \|", text)
    assert re.search(r"\| Tesla M2090 \| blocked \| 1,024 .*\| changed since \|", text)


def test_digests_of_kernels_are_of_their_code(monkeypatch, tmp_path):
    (tmp_path / "one.cu").write_text('#include "two.cuh"\nint one();  // a comment\n')
    (tmp_path / "two.cuh").write_text("int two();\n")
    monkeypatch.setattr("mgraph.device.compile.KERNELS", tmp_path)
    digest = kernels._digest.__wrapped__
    before = digest("kernels/one.cu")
    (tmp_path / "one.cu").write_text('#include "two.cuh"\nint one();\n')
    assert digest("kernels/one.cu") == before
    (tmp_path / "two.cuh").write_text("long two();\n")
    assert digest("kernels/one.cu") != before
    assert digest("kernels/none.cu") is None
    assert kernels.digests(kernels.packages(), "cpu").keys() >= {"mgraph.kernels.bfs.host", "mgraph.kernels.text.host"}


def test_a_published_band_is_drawn_and_listed(tmp_path, monkeypatch):
    text = SUITES["methods"].replace("microseconds = [6000, 32000]", "milliseconds = [[5, 9], [20, 40]]")
    (tmp_path / "methods.toml").write_text(text)
    monkeypatch.setattr(suite, "SUITES", tmp_path)
    page, short = report(write(tmp_path / "run", [case(n=512), case(n=1024)]))
    line = "| Tesla M2090 | blocked | 512 | 5.00 ms to 9.00 ms | H200 | 1.00 ms | 1.00 ms (blocked) |"
    assert line in short.read_text()
    plot = (tmp_path / "run" / "plots" / "methods.svg").read_text()
    assert 'id="methods-published' in plot and "fill-opacity: 0.13" in plot
    assert "Shaded: published" in page.read_text()


def told(found, cells=slice(2, 5), **claim):
    """Return some cells of the lines of a claim: the measured figure, at which n, and on what."""
    known = suite.parsed("methods", tomllib.loads(SUITES["methods"]))
    one = suite.Claim("faster", claim.pop("published", "2 ×"), **{"of": "seconds"} | claim)
    *_, table = claims.blocks(dataclasses.replace(known, claims=(one,)), found)
    assert all(row[:2] == (one.words, one.published) for row in texts(table))
    return [row[cells] for row in texts(table)]


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
    assert told(rows, rows=gpu | {"n": [1024, 2048]}, over=gpu) == [("1.00 ×", "n 1,024 to 2,048", "H200")]
    assert told(rows, rows=gpu | {"n": [1024, 2048]}, over=gpu, best=True) == [("4.00 ×", "", "H200")]
    least = told(rows, rows={"n": 2048}, over={"n": [512, 1024]}, of="phases.update")
    assert least == [("16.0 ×", "", "H200")]
    assert told(rows, rows={"n": 2048}, over={"n": 512}, published="90 %") == [("1600 %", "", "H200")]
    assert told(rows, rows={"kind": "ceilings"}, of="copy") == [("4.30 TB/s", "", "H200")]
    assert told(rows, rows={"n": [512, 1024], "device": "cpu", "blocks": []}) == [
        ("100 ms to 200 ms", "n 512 to 1,024", "EPYC 9654 (2 cores)")
    ]
    most = told(rows, rows={}, of="n", by="rate")
    assert most == [("2,048", "", "H200"), ("4,096", "", "EPYC 9654 (2 cores)")]
    assert told(rows, rows={"method": "naive"}) == [("not measured", "", "")]
    others = [row | {"device": row["device"] | {"model": "NVIDIA H100"}} for row in rows[:3]]
    beside = told([*rows, *others], rows=gpu | {"n": 2048}, over=gpu | {"n": 512})
    assert beside == [("16.0 ×", "", "H200"), ("16.0 ×", "", "H100")]  # each beside itself


@pytest.mark.parametrize(
    ("band", "ours", "verdict"),
    [
        ((2, 4), (3, 4), "holds"),
        ((2, 4), (5, 9), "more"),
        ((2, 4), (1.1, 1.5), "less"),
        ((2, 4), (0.2, 0.9), "reversed"),
        ((0.2, 0.9), (1.1, 2), "reversed"),
        ((2, 4), (0.9, 9), "reversed in part"),
        ((0.2, 0.9), (0.5, 1.1), "reversed in part"),
        ((0.9, 1.1), (0.2, 0.5), "less"),  # flat, which has no other side
        ((2, 4), (1, 3), "in part"),
        ((), (1, 3), ""),
    ],
)
def test_claims_have_a_verdict(band, ours, verdict):
    rows = [case(n=n, seconds=1.0, method="naive") for n in (512, 1024)]
    rows += [case(n=n, seconds=1 / ratio) for n, ratio in zip((512, 1024), ours, strict=True)]
    cells = told(rows, slice(5, 6), rows={"method": "naive"}, over={"method": "blocked"}, band=band)
    assert [cell for (cell,) in cells] == [verdict if verdict else ""]


def test_reversed_claims_are_listed_at_the_top(tmp_path, monkeypatch):
    text = SUITES["methods"]
    for words, band in (("naive is slower", [2, 4]), ("naive is much faster", [0.1, 0.4])):
        text += f"""
            [[claim]]
            words = "{words}"
            published = "so it is"
            band = {band}
            of = "seconds"
            rows = {{method = "naive"}}
            over = {{method = "blocked"}}
        """
    (tmp_path / "methods.toml").write_text(text)
    monkeypatch.setattr(suite, "SUITES", tmp_path)
    rows = [case(n=512, seconds=3e-4, method="naive"), case(n=512, seconds=1e-3)]
    words = report(write(tmp_path / "run", rows))[1].read_text().partition("## Claims of the studies")[2]
    assert "1 reversed, 1 holds" in words
    listed = "| methods | naive is slower | so it is | 0.300 × | H200 | reversed | not recorded |"
    assert listed in words.partition("## ")[0]


def test_an_inflection_is_the_steepest_rise():
    rows = [case(n=n, seconds=t) for n, t in ((512, 1e-3), (1024, 3e-3), (2048, 4e-3))]
    assert told(rows, rows={}, steepest=True) == [("3.00 ×", "n 1,024", "H200")]
    assert told(rows[:1], rows={}, steepest=True) == [("1.00 ×", "n 512", "H200")]
    assert told(rows, slice(5, 6), rows={}, steepest=True, band=(1, 1.2)) == [("reversed",)]  # the study saw none
    assert told(rows, rows={}, steepest=True, of="phases.update", band=(4, 9))[0][0] == "3.00 ×"


def test_ratios_with_a_band_are_drawn():
    known = suite.parsed("methods", tomllib.loads(SUITES["methods"]))
    rows = [case(n=n, seconds=t, method=m) for n in (512, 1024) for m, t in (("naive", 8e-3), ("blocked", 1e-3))]
    sides = {"of": "seconds", "rows": {"method": "naive"}, "over": {"method": "blocked"}}
    one = suite.Claim("naive over blocked", "5 to 10 ×", band=(5, 10), **sides)
    plot, table = claims.blocks(dataclasses.replace(known, claims=(one,)), rows)
    assert plot.name == "methods-ratios" and "5 to 10 × (published)" in plot.svg and "fill-opacity: 0.13" in plot.svg
    (table,) = claims.blocks(dataclasses.replace(known, claims=(one,)), rows[:2])
    assert texts(table)[0][2] == "8.00 ×"


def test_suites_measure_what_their_studies_published(monkeypatch):
    monkeypatch.setattr(suite, "SUITES", INSTALLED)
    printed = {
        "bfs-strategies",
        "peers",
        "searches",
    }  # no figures of these are published, and none of this project's own suites
    printed |= {name for name in suite.names() if suite.load(name).source == "this project"}
    for name in suite.names():
        known = suite.load(name)
        assert name in printed or known.published or known.claims, name
        cases = [dataclasses.asdict(each) for each in known.cases()]
        for each in cases:  # as rows are, of a call that ran the method that it asked for
            count = each["run"].get("workers", 1)
            each["device"] = {"kind": each["run"].get("device", "cuda"), "model": "a device", "count": count}
            each |= {"method": each["call"].get("method", each["run"].get("peer"))}
            each |= {"n": each["graph"].get("n", each["graph"].get("core"))}
        for published in known.published:
            at = {beside.plain(suite.value(each, known.plot.x)) for each in cases if beside.comparable(each, published)}
            if name not in ("scaling", "span", "peers"):  # the project's own
                assert at >= set(published.x), f"{name} never measures {published}"
        for claim in known.claims:
            for wanted in (claim.rows, claim.over or {}):
                fields = {what: value for what, value in wanted.items() if what not in ("devices", "kind", "n")}
                assert any(suite.matches(each, fields) for each in cases), f"{name} never measures {claim}"


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


def test_betweenness_is_shown_beside_what_was_published(monkeypatch, tmp_path):
    runs = betweenness.published()
    assert [run["library"] for run in runs] == ["nx-cugraph", "nx-cugraph", "TurboBC"]
    assert betweenness.teps(runs[0]) == pytest.approx(100 * 68993773 / 13.7) and betweenness.teps(runs[2]) == 18e9
    asked = {"algorithm": "betweenness", "method": "brandes"}
    rows = [case(n=n, **asked) | {"work": 8e9, "seconds": seconds} for n, seconds in ((512, 2.0), (1024, 4.0))]
    found = betweenness.section(read(write(tmp_path, rows)))
    lines = texts(found.blocks[1])
    assert len(lines) == 4 and lines[3][0] == "mgraph" and lines[3][6] == "4.00 G"
    monkeypatch.setattr(betweenness, "PUBLISHED", (tmp_path / "nowhere.toml",))
    assert betweenness.section(read(tmp_path)) is None


def test_equal_sizes_on_one_device_are_not_scaling():
    assert families([case(n=100), case(n=101)]) == []


def test_graphs_of_one_size_scale_each_by_itself():
    kinds = ({"make": "rmat", "scale": 20}, {"make": "grid", "rows": 1024}, {"make": "read", "file": "NY.gr.xz"})
    rows = [case(n=1 << 20, graph=graph, devices=p) for graph in kinds for p in (1, 2)]
    found = {name: [row["graph"] for row in chain] for _, name, chain in families(rows)}
    assert len(found) == 3 and all(first == last for first, last in found.values())
    assert [name.split(", ")[1] for name in found] == ["rmat", "grid", "NY.gr.xz"]
