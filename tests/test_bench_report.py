"""The report of `mgraph bench`: of made-up rows, as no test measures times."""

import dataclasses
import itertools
import json
import os
import random
import re
import tomllib
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import pytest

from mgraph.errors import InputError
from mgraph_bench import amounts, suite
from mgraph_bench.report import claims, report, summit
from mgraph_bench.report.baseline import change, compared, noise
from mgraph_bench.report.document import Column, Details, Section, Words, page, summary, table
from mgraph_bench.report.drawing import drawn, round_linear, round_log, short, spread_out, svg
from mgraph_bench.report.speedup import families
from mgraph_bench.rows import device_name, figures, key, read, rows_of

SUITES = {
    "methods": """
        title = "All pairs: blocked < naive"
        source = "A study, 2013"
        about = "The study found the blocked algorithm to be faster."
        algorithm = "apsp"
        [plot]
        x = "n"
        log = ["x", "y"]
        [[sweep]]
        graph = {make = "random_matrix", n = [512, 1024]}
        call = {method = ["naive", "blocked"]}
        [[published]]
        series = "blocked, Tesla M2090"
        beside = {method = "blocked"}
        x = [512, 1024]
        microseconds = [6000, 32000]
        [[published]]
        series = "rounds, elsewhere"
        beside = {method = "blocked"}
        x = [1000]
        iterations = [9]
    """,
    "bandwidth": """
        title = "Bytes a second"
        source = "A study, 2010"
        about = "By kernel."
        algorithm = "list_rank"
        [plot]
        x = "n"
        y = "phase_rates"
        [[sweep]]
        graph = {make = "linked_list", n = 1048576}
        [[published]]
        series = "walk, GTX 260"
        beside = {method = "splitter64", phase = "walk"}
        x = [1048576]
        phase_rates = [4e9]
    """,
    "scaling": """
        title = "Several devices"
        source = "this project"
        about = "Strong and weak."
        algorithm = "apsp"
        [plot]
        x = "devices"
        y = "rate"
        series = ["n"]
        [[sweep]]
        graph = {make = "random_matrix", n = 1000}
    """,
    "peers": """
        title = "Other libraries"
        source = "this project"
        about = "On the same graphs."
        algorithm = "bfs"
        [plot]
        x = "make"
        series = ["method"]
        kind = "bars"
        log = ["y"]
        [[sweep]]
        graph = {make = "rmat", scale = 8}
        [[published]]
        series = "search, elsewhere"
        beside = {method = "hybrid"}
        x = ["rmat"]
        milliseconds = [50]
    """,
}

#: The suites themselves, and the rows that are kept of them.
INSTALLED = suite.SUITES
KEPT = Path(__file__).parents[1] / "benchmarks" / "results" / "suites"

GPU = {"name": "cuda:0", "kind": "cuda", "model": "NVIDIA H200", "count": 1, "cores": 1}
CPU = {"name": "cpu", "kind": "cpu", "model": "AMD EPYC 9654 96-Core Processor", "count": 1, "cores": 2}
FACTS = {
    "versions": {"mgraph": "0.1.0", "python": "3.12.1"},
    "commit": "87f8779",
    "date": "2026-11-21T11:00:00+00:00",
    "quick": False,
}


@pytest.fixture(autouse=True)
def suites(tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("suites")
    for name, text in SUITES.items():
        (folder / f"{name}.toml").write_text(text)
    monkeypatch.setattr(suite, "SUITES", folder)


def case(name="methods", seconds=1e-3, *, method="blocked", n=512, device=GPU, devices=1, algorithm="apsp", **fields):
    """Return a row as `mgraph bench` writes it, with what differs from a usual one."""
    work = float(n) ** 3
    row = {
        "kind": "case",
        "suite": name,
        "algorithm": algorithm,
        "graph": {"make": "random_matrix", "n": n},
        "call": {"method": method},
        "run": {} if devices == 1 else {"workers": devices},
        "n": n,
        "m": None,
        "method": method,
        "device": device | {"count": devices},
        "seconds": seconds,
        "times": [seconds * factor for factor in (0.99, 0.995, 1, 1.005, 1.01)],
        "spread": 0.02,
        "call_seconds": 2 * seconds,
        "first_call_seconds": 0.25,
        "transfers": {"load": 1e-4, "collect": 3e-4},
        "phases": {"factor": 0.25 * seconds, "update": 0.75 * seconds},
        "phase_rates": {},
        "iterations": 4,
        "work": work,
        "unit": "min-plus/s",
        "rate": work / seconds,
        "bytes": 8 * n * n,
        "ceiling": 2 * work / seconds,
        "fraction": 0.5,
        "peak_bytes": 1 << 20,
        "predicted_bytes": 1 << 20,
        "predicted_seconds": 1.1 * seconds,
        "checked": "Bellman's equations",
    }
    return row | FACTS | fields


def peer(method, seconds, **fields):
    missing = dict.fromkeys(
        (
            "transfers",
            "iterations",
            "bytes",
            "ceiling",
            "fraction",
            "peak_bytes",
            "predicted_bytes",
            "predicted_seconds",
        )
    )
    own = {"graph": {"make": "rmat", "scale": 8}, "run": {"peer": method}, "call": {}, "phases": {}, "unit": "TEPS"}
    return case("peers", seconds, method=method, device=CPU, algorithm="bfs", **(missing | own | fields))


def ceilings(device=GPU, **fields):
    known = {"minplus": {"float32": 1.3e13, "int16": 3e13}, "copy": 4.3e12, "reads": [[2**20, 9e11], [2**32, 7e10]]}
    return {"kind": "ceilings", "device": device, **known, **FACTS} | fields


def everything():
    """Return rows of every suite, and of every kind."""
    rows = [
        case(n=n, method=method, seconds=t) for n, t in ((512, 1e-3), (1024, 4e-3)) for method in ("naive", "blocked")
    ]
    rows += [case(n=512, seconds=0.05, device=CPU)]
    rows += [
        case(
            "bandwidth",
            method="splitter64",
            n=1 << 20,
            algorithm="list_rank",
            unit="elements/s",
            phases={"walk": 6e-4, "aggregate": 4e-4},
            phase_rates={"walk": 2e10, "aggregate": 9e10},
            graph={"make": "linked_list", "n": 1 << 20},
        )
    ]
    rows += [case("scaling", 1.0 / speed, n=1000, devices=count) for count, speed in ((1, 1), (2, 1.9), (4, 3.6))]
    rows += [case("scaling", 1.1, n=1260, devices=2)]
    rows += [
        case("peers", 2e-3, method="hybrid", algorithm="bfs", unit="TEPS", graph={"make": "rmat", "scale": 8}, call={})
    ]
    rows += [peer("scipy", 0.02), peer("networkx", 0.5)]
    rows += [ceilings(), ceilings(CPU, minplus={"float32": 3e10}, copy=2e10, reads=[])]
    rows += [peer("cugraph", 1) | {"kind": "skipped", "why": "cugraph is not installed"}]
    rows += [case(n=2048) | {"kind": "wrong", "why": "naive and blocked differ"}]
    return rows


def write(folder, rows, name="rows.jsonl"):
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


class Page(HTMLParser):
    """A page taken apart: its text by section, and every tag that it refers with; unbalanced tags raise."""

    EMPTY = ("meta", "br", "hr", "img", "link", "input")

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.references, self.sections, self.styles = [], [], [], {}, ""
        self.section = ""
        self.feed(text)
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag not in self.EMPTY:
            self.open.append(tag)
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if tag == "section":
            self.section = attributes["id"]
        self.references += [
            attributes[name] for name in ("href", "src", "xlink:href", "action", "data") if name in attributes
        ]
        self.styles += attributes.get("style") or ""

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.EMPTY:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data):
        if "style" in self.open:
            self.styles += data
        else:
            self.sections[self.section] = self.sections.get(self.section, "") + data + " "


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("run")


@pytest.fixture
def made(folder):
    """The page and the summary of every kind of row, beside a baseline; made once."""
    if not (folder / "report.html").exists():
        rows = everything()
        write(folder, [row for row in rows if row["device"]["kind"] == "cuda"], "gpu/rows.jsonl")
        write(folder, [row for row in rows if row["device"]["kind"] == "cpu"], "cpu/rows.jsonl")
        report(folder, write(folder.parent / "baseline", rows[1:]))
    return Page((folder / "report.html").read_text()), (folder / "report.md").read_text()


def test_the_page_is_whole_and_needs_nothing_else(made):
    page, _ = made
    assert len(page.ids) == len(set(page.ids))
    assert page.references and all(reference.startswith("#") for reference in page.references)
    assert {reference[1:] for reference in page.references} <= set(page.ids)
    targets = re.findall(r"url\(([^)]*)\)", page.styles)
    assert all(target.startswith("#") and target[1:] in page.ids for target in targets)
    assert "@import" not in page.styles


def test_the_page_follows_light_and_dark(made, folder):
    text = (folder / "report.html").read_text()
    used = set(re.findall(r"var\(--(\w+)\)", text))
    light, dark = re.findall(r":root \{ (.*?) \}", text)
    assert {"ground", "ink", "series0"} <= used
    for colours in (light, dark):
        assert used <= set(re.findall(r"--(\w+):", colours))
    body = text.partition("<body>")[2]
    assert not re.findall(r"#[0-9a-f]{6}\b", body)


def test_every_section_is_there(made):
    page, short = made
    suites = ("methods", "bandwidth", "scaling", "peers")
    wanted = ("measured", "wrong", "summary", "baseline", *suites, "roofline", "predictions", "summit", "skipped")
    assert [name for name in page.sections if name][: len(wanted)] == list(wanted)
    assert "All pairs: blocked < naive" in page.sections["methods"]
    assert short.count("\n## ") == len(wanted)


def test_what_was_measured_where(made):
    words = made[0].sections["measured"]
    assert (
        "13 rows of 4 suites" in words and "1 cases were skipped or failed" in words and "1 results were wrong" in words
    )
    for what in ("H200", "1, 2, 4", "EPYC 9654", "2 cores", "2026-11-21", "87f8779", "python 3.12.1"):
        assert what in words


def test_versions_are_apart_and_words_of_tables_wrap_on_a_phone(made, folder):
    text = (folder / "report.html").read_text()
    table, versions = text.split("<summary>Versions</summary>")
    assert "python 3.12.1" not in table and "H200: mgraph 0.1.0, python 3.12.1" in versions
    assert re.search(r"max-width: 40rem\) \{[^@]*td:not\(\.n\), td\.l \{ white-space: normal", text)
    assert '<td class="n l">6.00 to 8.00 ×</td>' in text and '<td class="n">268 Gmin-plus/s</td>' in text


def test_headlines(made):
    words = made[0].sections["summary"]
    assert "8.00 ×" in words  # of 6 ms and 32 ms published, 1 and 4 ms measured: 6 to 8
    assert "6.00 to 8.00 ×" in words
    assert "50 %" in words
    assert "268 Gmin-plus/s" in words  # 1,024 cubed in 4 ms


def test_published_series_are_drawn_and_set_beside_ours(made, folder):
    page, short = made
    for name, series in (
        ("methods", "blocked, Tesla M2090"),
        ("bandwidth", "walk, GTX 260"),
        ("peers", "search, elsewhere"),
    ):
        assert series in page.sections[name] and series in short
        text = (folder / "plots" / f"{name}.svg").read_text()
        assert f'id="{name}-published' in text and "stroke-dasharray" in text
        assert series.split(",")[0] in text
    assert "9" in page.sections["methods"] and "4 (at 1,024)" in page.sections["methods"]
    assert "5.00 ×" in page.sections["bandwidth"] and "25.0 ×" in page.sections["peers"]


def test_rows_have_their_figures(made):
    words = made[0].sections["methods"]
    for what in ("Bellman's equations", "1.10", "250 ms", "100 µs"):
        assert what in words or what.replace(" ", "") in words.replace(" ", "")
    assert "factor" in words and "update" in words


def test_several_devices(made):
    words = made[0].sections["scaling"]
    assert "strong" in words and "weak" in words
    assert (
        "1.90 ×" in words.replace("  ", " ")
        and "95 %" in words.replace("  ", " ")
        and "90 %" in words.replace("  ", " ")
    )
    weak = 2 * 1.26**3 / 2 / 1.1  # twice the work on two devices in 1.1 of the time
    assert amounts.times(weak).partition(" ")[0] in words


def test_peers_are_set_beside_ours(made, folder):
    text = (folder / "plots" / "peers-peers.svg").read_text()
    assert "10.0 ×" in text and "250 ×" in text and "beside ours on H200" in text


def test_rooflines(made, folder):
    assert {"H200", "EPYC 9654"} <= set(re.findall(r"H200|EPYC 9654", made[0].sections["roofline"]))
    text = (folder / "plots" / "roofline-h200.svg").read_text()
    for what in ("copy 4.30 TB/s", "float32: 13.0 T", "random reads", "methods: "):
        assert what in text


def test_predictions(made):
    words = " ".join(made[0].sections["predictions"].split())
    assert "11 of 11 times (100 %) are within 20 %" in words
    assert "All pairs on several GPUs: 4 of 4 within 15 %." in words


def test_gpus_that_are_not_there_and_other_devices_have_their_lines(tmp_path):
    graph = {"make": "random_matrix", "n": 4096}
    rows = [case("scaling", n=4096, devices=count, graph=graph) for count in (1, 2)]
    rows += [case("scaling", n=4096, devices=count, graph=graph, device=CPU, predicted_seconds=9) for count in (1, 2)]
    spans = {"call": {"method": "blocked", "span": 1}, "predicted_seconds": 9.0}
    rows += [case("scaling", n=4096, devices=2, graph=graph, **spans)]
    eight = {"kind": "skipped", "why": "8 GPUs are not here", "run": {"device": "cuda", "workers": 8}, "graph": graph}
    rows += [case("scaling", call={"method": "blocked", "dtype": "float32"}) | eight]
    words = report(write(tmp_path, rows))[1].read_text()
    assert "All pairs on several GPUs: 2 of 2 within 15 %; 1 not measured: 8 GPUs are not here." in words
    assert re.search(r"\| H200 \| 8 \| [^|]* \| [\d.]+ [mµ]s \| not measured \| – \| – \|", words)
    assert "and by spans that the call asks for: 0 of 3 within 15 %." in words


def test_faster_rows_that_a_roofline_leaves_out_are_told(tmp_path):
    rows = [case(), case(method="hybrid", seconds=1e-4, bytes=None), ceilings()]
    words = report(write(tmp_path, rows))[1].read_text()
    assert "among those whose traffic to memory is known" in words
    assert "no least traffic is known of them: methods: hybrid, 1.34 Tmin-plus/s." in words
    assert "not drawn" not in report(write(tmp_path, [case(), ceilings()]))[1].read_text()


def test_what_was_skipped_or_wrong_is_said(made):
    assert "cugraph is not installed" in made[0].sections["skipped"]
    assert "naive and blocked differ" in made[0].sections["wrong"]
    assert "cugraph is not installed" in made[1]


def test_the_summary_shows_the_plots(made, folder):
    plots = re.findall(r"!\[[^\n]*\]\((.*?)\)", made[1])
    assert {"plots/methods.svg", "plots/scaling.svg", "plots/roofline-h200.svg"} <= set(plots)
    assert all((folder / plot).is_file() for plot in plots)
    tables = [line for line in made[1].splitlines() if line.startswith("|")]
    assert len(tables) > 20
    widths = [len(re.findall(r"(?<!\\)\|", line)) for line in made[1].splitlines() if re.match(r"\|[ -]*---", line)]
    assert min(widths) >= 4


def test_plots_are_files_that_can_be_read_on_light_and_dark(made, folder):
    plots = sorted((folder / "plots").glob("*.svg"))
    assert len(plots) > 8
    for plot in plots:
        root = ET.fromstring(plot.read_text())
        ids = [node.get("id") for node in root.iter() if node.get("id")]
        assert len(ids) == len(set(ids))
        texts = [node for node in root.iter("{http://www.w3.org/2000/svg}text")]
        assert texts, "text is not left as text"
        style = root.find("{http://www.w3.org/2000/svg}style").text
        assert "prefers-color-scheme: dark" in style
        colours = set(
            re.findall(r"(?:fill|stroke): (#[0-9a-f]{6})", ET.tostring(root, encoding="unicode").split("</", 1)[-1])
        )
        assert colours and all(f": {colour}" in style for colour in colours)


def test_the_same_rows_give_the_same_files(tmp_path):
    texts = []
    for name in ("a", "b"):
        written = report(write(tmp_path / name, everything()))
        plots = sorted((tmp_path / name / "plots").iterdir())
        texts.append([path.read_text() for path in (*written, *plots)])
    assert texts[0] == texts[1]


def test_rows_in_another_order_give_the_same_report(tmp_path):
    rows = [row for row in everything() if row.get("suite") == "methods"]
    one, other = (report(write(tmp_path / name, each)) for name, each in (("a", rows), ("b", rows[::-1])))
    assert one[1].read_text() == other[1].read_text()


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


def test_plots_have_short_coordinates_and_whole_texts():
    with drawn("p", 300) as axes:
        axes.plot([0.123456, 0.7], [0.3333333, 0.77777])
        axes.annotate("density 0.001", (0.5, 0.5))
        text = svg(axes.figure, "p", "of 0.0625")
    assert ">density 0.001<" in text and "<title>of 0.0625</title>" in text
    assert not re.search(r'="[^"]*\.\d{3}', text)


def test_a_folder_without_rows_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"holds no rows.*measure first"):
        report(tmp_path)
    with pytest.raises(InputError, match="expected a folder that `mgraph bench` has written rows to"):
        report(tmp_path / "nowhere")
    write(tmp_path, [case()])
    with pytest.raises(InputError, match="holds no rows"):
        report(tmp_path, baseline=write(tmp_path / "old", []))


def test_a_line_that_is_no_row_is_refused(tmp_path):
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


def test_only_skipped_cases_make_a_report(tmp_path):
    write(tmp_path, [case() | {"kind": "skipped", "why": "needs a GPU"}])
    page = Page(report(tmp_path)[0].read_text())
    assert "0 rows" in page.sections["measured"] and "needs a GPU" in page.sections["skipped"]
    assert "No case of this suite was measured" in page.sections["methods"]


def test_quick_rows_are_said_to_be(tmp_path):
    write(tmp_path, [case(quick=True), case()])
    assert "1 of them quick" in Page(report(tmp_path)[0].read_text()).sections["measured"]


def test_a_suite_that_is_no_longer_there(tmp_path):
    write(tmp_path, [case("of-old")])
    assert "not among those installed" in Page(report(tmp_path)[0].read_text()).sections["of-old"]


def test_words_of_rows_are_escaped(tmp_path):
    write(tmp_path, [case(checked="<b>a | b</b>") | {"graph": {"make": "<script>", "n": 512}}])
    written = report(tmp_path)
    assert "<script>" not in written[0].read_text() and "&lt;b&gt;" in written[0].read_text()
    Page(written[0].read_text())


def test_published_figures_of_other_sizes_have_no_ratio(tmp_path):
    write(tmp_path, [case(n=96)])
    text = report(tmp_path)[1].read_text()
    assert "| blocked, Tesla M2090 | 512 | 6.00 ms | 1.00 ms (at 96) |" in text
    assert "| blocked, Tesla M2090 | 1,024" not in text


def test_published_figures_of_another_field_have_a_plot(made, folder):
    text = (folder / "plots" / "methods-iterations.svg").read_text()
    assert "rounds, elsewhere (published)" in text and 'id="methods-iterations-published' in text
    assert "plots/methods-iterations.svg" in made[1]


def test_a_published_size_between_ours_has_both_neighbours(tmp_path, monkeypatch):
    text = SUITES["methods"].replace("x = [1000]", "x = [724.0773439350247]")  # as far from 512 as from 1,024
    (tmp_path / "methods.toml").write_text(text)
    monkeypatch.setattr(suite, "SUITES", tmp_path)
    rows = [case(n=512), case(n=1024, iterations=5), case(n=1024, iterations=7, call={"method": "blocked", "k": 2})]
    words = report(write(tmp_path / "run", rows))[1].read_text()
    assert "| 9 | 4 (at 512); 5 to 7 (at 1,024) |" in words


def test_a_published_band_is_drawn_and_told(tmp_path, monkeypatch):
    text = SUITES["methods"].replace("microseconds = [6000, 32000]", "milliseconds = [[5, 9], [20, 40]]")
    (tmp_path / "methods.toml").write_text(text)
    monkeypatch.setattr(suite, "SUITES", tmp_path)
    page, short = report(write(tmp_path / "run", [case(n=512), case(n=1024)]))
    assert "| blocked, Tesla M2090 | 512 | 5.00 ms to 9.00 ms | 1.00 ms |" in short.read_text()
    plot = (tmp_path / "run" / "plots" / "methods.svg").read_text()
    assert 'id="methods-published' in plot and "fill-opacity: 0.13" in plot
    assert "Shaded: published" in page.read_text()


# What studies tell in words


def texts(table):
    """The cells of a table, line by line."""
    return [tuple(cell for cell, _ in line) for line in table.lines()]


def told(found, **claim):
    """Return the cells of the lines of a claim: the measured figure, at which n, and on what."""
    known = suite.parsed("methods", tomllib.loads(SUITES["methods"]))
    one = suite.Claim("faster", claim.pop("published", "2 ×"), **{"of": "seconds"} | claim)
    *_, table = claims.blocks(dataclasses.replace(known, claims=(one,)), found)
    assert all(row[:2] == (one.words, one.published) for row in texts(table))
    return [row[2:] for row in texts(table)]


def test_claims_are_set_beside_the_same_of_rows():
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


def test_the_suites_tell_what_was_published_and_the_kept_rows_have_it(monkeypatch):
    monkeypatch.setattr(suite, "SUITES", INSTALLED)
    rows = read(KEPT)
    printed = {"bfs-strategies", "peers"}  # of which no figures are
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


def test_the_kept_rows_have_each_case_once():
    for path in KEPT.glob("*/rows.jsonl"):
        keys = [key(row) for row in rows_of(path)]
        assert len(keys) == len(set(keys)), path


# The baseline


def verdict(times, before, **fields):
    """Return the verdict of a case with such times, beside one with those of before."""
    rows = (case(times=each, seconds=sorted(each)[len(each) // 2], **fields) for each in (times, before))
    return change(*rows).verdict


def test_what_is_slower_and_faster():
    quiet = [1.00, 1.01, 0.99, 1.005, 0.995]
    assert verdict([1.2 * t for t in quiet], quiet) == "slower"
    assert verdict(quiet, [1.2 * t for t in quiet]) == "faster"
    assert verdict([1.04 * t for t in quiet], quiet) == "within noise"  # less than runs drift by
    loud = [1.0, 1.3, 0.8, 1.1, 0.9]
    assert verdict([1.2 * t for t in loud], loud) == "within noise"
    assert verdict([2.5 * t for t in loud], loud) == "slower"


def test_one_slow_repetition_hides_no_change():
    quiet = [1.00, 1.01, 0.99, 1.005, 3.0]
    assert verdict([1.2 * t for t in quiet], quiet) == "slower"


def test_times_from_several_sources_are_no_noise():
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


def test_what_is_new_and_gone(tmp_path):
    now = read(write(tmp_path / "now", [case(n=1), case(n=2)]))
    old = [case(n=2), case(n=3), case(n=2, device=CPU), case(n=2, quick=True), case("peers", n=2)]
    comparison = compared(now, read(write(tmp_path / "old", old)))
    assert [row["n"] for row in comparison.new] == [1]
    assert [(row["n"], row["quick"]) for row in comparison.gone] == [(3, False), (2, True)]
    assert comparison.elsewhere == 2  # another device, another suite
    assert [c.row["n"] for c in comparison.changes] == [2]


def test_the_page_tells_what_got_slower(tmp_path):
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


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (amounts.seconds(1.2345e-3), "1.23 ms"),
        (amounts.seconds(0.99999), "1.00 s"),
        (amounts.seconds(3e-10), "0.300 ns"),
        (amounts.seconds(0.0), "0 ns"),
        (amounts.rate(15.23e12, "min-plus/s"), "15.2 Tmin-plus/s"),
        (amounts.rate(12.0, "TEPS"), "12.0 TEPS"),
        (amounts.size(3 << 29), "1.50 GiB"),
        (amounts.share(0.0321), "3.2 %"),
        (amounts.share(0.871), "87 %"),
        (amounts.count(1 << 20), "2²⁰"),
        (amounts.count(65_536), "65,536"),
        (amounts.count(0.001), "0.001"),
        (amounts.count(True), "yes"),
        (amounts.count(None), amounts.NONE),
        (amounts.digits(9.996), "10.0"),
        (amounts.digits(99_999.9), "100,000"),
    ],
)
def test_amounts(words, expected):
    assert words == expected


def test_devices_have_short_names():
    assert device_name(case(devices=4)) == "4 × H200"
    assert device_name(case(device=CPU)) == "EPYC 9654"
    intel = CPU | {"model": "Intel(R) Xeon(R) Platinum 8480+ CPU @ 2.00GHz"}
    assert device_name(case(device=intel)) == "Xeon Platinum 8480+"


def test_figures_of_operations():
    row = case(phase_rates={"walk": 2e10})
    assert figures(row, "phase_rates") == [("walk", 2e10)]
    assert figures(row, "iterations") == [("", 4)]
    assert figures(row, "overhead") == [("", pytest.approx(0.4))]  # 0.1 and 0.3 of 1 ms, whatever the whole call takes
    assert figures(row, "per_iteration") == [("", 0.25e-3)]
    assert figures(row, "edges") == [] and figures(row | {"unit": "edges/s", "work": 5.0}, "edges") == [("", 5)]
    assert figures(peer("scipy", 1), "overhead") == []


def test_ticks_are_round():
    assert round_log(0.9, 11000) == [1, 10, 100, 1000, 10000]
    assert round_linear(0, 1) == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1])


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1.00 ms", "1 ms"), ("0.500 ×", "0.5 ×"), ("0.05", "0.05"), ("100", "100"), ("2.50 T", "2.5 T")],
)
def test_ticks_have_no_needless_zeros(text, expected):
    assert short(text) == expected


def test_labels_do_not_cover_each_other():
    places = spread_out([50, 51, 52, 10], [15] * 4, 200)
    inner = sorted(places)
    assert all(b - a >= 15 - 1e-9 for a, b in itertools.pairwise(inner))
    assert places[0] < places[1] < places[2] and places[3] == 10
    assert max(spread_out([99, 99], [15, 15], 100)) <= 100 - 7.5


def test_problems_of_the_same_size_on_one_device_are_no_scaling():
    assert families([case(n=100), case(n=101)]) == []


def test_cells_that_have_nothing_and_words_that_mean_something_to_a_page_or_to_markdown():
    lines = [("a|b <i>", 1.5e-3, None), (None, float("nan"), "x" * 49)]
    found = table(
        lines, Column("*what*"), Column("Time", amounts.seconds), Column("Why", brief=False), links=["there", ""]
    )
    assert texts(found) == [("a|b <i>", "1.50 ms", "–"), ("–", "–", "x" * 49)]
    sections = [Section("one", "One", (found, Details("more", (Words("hidden"),))), "below")]
    assert summary("All", sections) == (
        "# All\n\n## One\n\n*below*\n\n| \\*what\\* | Time |\n| --- | ---: |\n| a\\|b \\<i> | 1.50 ms |\n| – | – |\n"
    )
    text = page("All", sections)
    assert (
        '<td><a href="#there">a|b &lt;i&gt;</a></td><td class="n">1.50<span class="u">ms</span></td><td>–</td>' in text
    )
    assert f'<td class="w">{"x" * 49}</td>' in text and "<details><summary>more</summary>\n<p>hidden</p>" in text
