"""The report of `mgraph bench`, made from invented rows, as no test measures times."""

import itertools
import re
import xml.etree.ElementTree as ET

import pytest

from mgraph_bench import amounts, suite
from mgraph_bench.report import report
from mgraph_bench.report.document import Column, Details, Section, Words, page, summary, table
from mgraph_bench.report.drawing import drawn, round_linear, round_log, short, spread_out, svg
from tests.support.bench_rows import CPU, SUITES, Page, case, ceilings, everything, peer, small_suites, texts, write


@pytest.fixture(autouse=True)
def suites(tmp_path_factory, monkeypatch):
    small_suites(tmp_path_factory.mktemp("suites"), monkeypatch)


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
    own, studies = ("scaling", "peers"), ("methods", "bandwidth")
    first = "beside", "summary", "measured", "wrong", "baseline"
    published = "summit", "published-betweenness"
    wanted = (*first, *own, "roofline", "predictions", *studies, *published, "skipped")
    assert [name for name in page.sections if name][: len(wanted)] == list(wanted)
    contents = [f"#{name}" for name in wanted]
    assert page.references[: len(wanted)] == contents
    assert short.count("\n- [") == len(wanted)
    assert "All pairs: blocked < naive" in page.sections["methods"]
    assert short.count("\n## ") == len(wanted)


def test_suites_are_folded_and_printed_whole(made, folder):
    text = (folder / "report.html").read_text()
    folded = re.findall(r'<details class="folded"><summary><h2>[^<]*</h2></summary>\n<section id="([^"]*)">', text)
    contents = re.search(r"<nav>(.*?)<details><summary>(\d+) more, in detail</summary>(.*?)</nav>", text, re.DOTALL)
    assert re.findall(r'href="#([^"]*)"', contents[3]) == folded and len(folded) == int(contents[2])
    assert "#beside" in contents[1] and "#skipped" not in contents[1]
    named = [name for name in made[0].sections if name]
    assert named[:5] == ["beside", "summary", "measured", "wrong", "baseline"] and named[5:] == folded
    assert re.search(r"@media print \{[^@]*details-content \{ content-visibility: visible", text)
    assert "<script" not in text and made[0].references[0] == "#beside"


def test_the_report_opens_with_calls_beside_those_of_other_libraries(made, folder):
    words = made[0].sections["beside"]
    assert "search: rmat, scale 8" in words and "all pairs" not in words  # of which there is no row of a library
    assert "on the same CPU" not in words  # ours ran on a GPU
    drawn = Page((folder / "plots" / "beside.svg").read_text())
    bars = [name for name in drawn.ids if "measured" in name]
    assert len(bars) == 3
    for name in ("mgraph, H200", "scipy, EPYC 9654", "networkx, EPYC 9654"):
        assert name in words


def test_calls_beside_those_of_other_libraries_on_one_machine(tmp_path):
    task = {"algorithm": "bfs", "graph": {"make": "rmat", "scale": 8}, "unit": "TEPS", "device": CPU}
    times = {"hybrid": 2e-3, "edge": 9e-3}
    ours = [case("peers", times[name], method=name, call={"method": name}, **task) for name in times]
    rows = [*ours, peer("scipy", 0.02), peer("networkx", 0.5)]
    words = Page(report(write(tmp_path, rows))[0].read_text()).sections["beside"]
    assert "on the same CPU: search 10.0 ×." in words and "edge" not in words


def test_without_other_libraries_the_summary_opens_the_report(tmp_path):
    page = Page(report(write(tmp_path, [case()]))[0].read_text())
    assert next(name for name in page.sections if name) == "summary"


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
    assert '<td class="n l">blocked 6.00 × to 8.00 ×</td>' in text and '<td class="n">268 Gmin-plus/s</td>' in text


def test_headlines(made):
    words = made[0].sections["summary"]
    assert "8.00 ×" in words  # of 6 ms and 32 ms published, 1 and 4 ms measured: 6 to 8
    assert "blocked 6.00 × to 8.00 ×" in words
    assert "50 %" in words
    assert "268 Gmin-plus/s" in words  # 1,024 cubed in 4 ms


def test_published_series_are_drawn_and_compared_with_ours(made, folder):
    page, short = made
    for name, series in (
        ("methods", "blocked, Tesla M2090"),
        ("bandwidth", "walk, GTX 260"),
        ("peers", "search, elsewhere"),
    ):
        words, machine = series.split(", ")
        assert words in page.sections[name] and f"| {machine} | {words} |" in short
        text = (folder / "plots" / f"{name}.svg").read_text()
        assert f'id="{name}-published' in text and "stroke-dasharray" in text
        assert series.split(",")[0] in text
    assert "| elsewhere | rounds | 1,000 | 9 | – | not measured |" in short  # ours are of other sizes
    assert "| Tesla M2090 | blocked | 512 | 6.00 ms | H200 | 1.00 ms | 6.00 × | 1.00 ms (naive) | 6.00 × |" in short
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


def test_peers_are_compared_with_ours(made, folder):
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


def test_missing_gpus_and_other_devices_have_lines(tmp_path):
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


def test_faster_rows_that_a_roofline_omits_are_listed(tmp_path):
    rows = [case(), case(method="hybrid", seconds=1e-4, bytes=None), ceilings()]
    words = report(write(tmp_path, rows))[1].read_text()
    assert "among those whose traffic to memory is known" in words
    assert "no least traffic is known of them: methods: hybrid, 1.34 Tmin-plus/s." in words
    assert "not drawn" not in report(write(tmp_path, [case(), ceilings()]))[1].read_text()


def test_skipped_and_wrong_cases_are_listed(made):
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


def test_plots_have_short_coordinates_and_whole_texts():
    with drawn("p", 300) as axes:
        axes.plot([0.123456, 0.7], [0.3333333, 0.77777])
        axes.annotate("density 0.001", (0.5, 0.5))
        text = svg(axes.figure, "p", "of 0.0625")
    assert ">density 0.001<" in text and "<title>of 0.0625</title>" in text
    assert not re.search(r'="[^"]*\.\d{3}', text)


def test_only_skipped_cases_make_a_report(tmp_path):
    write(tmp_path, [case() | {"kind": "skipped", "why": "needs a GPU"}])
    page = Page(report(tmp_path)[0].read_text())
    assert "0 rows" in page.sections["measured"] and "needs a GPU" in page.sections["skipped"]
    assert "No case of this suite was measured" in page.sections["methods"]


def test_quick_rows_are_labelled(tmp_path):
    write(tmp_path, [case(quick=True), case()])
    assert "1 of them quick" in Page(report(tmp_path)[0].read_text()).sections["measured"]


def test_rows_of_a_removed_suite(tmp_path):
    write(tmp_path, [case("of-old")])
    assert "not among those installed" in Page(report(tmp_path)[0].read_text()).sections["of-old"]


def test_words_of_rows_are_escaped(tmp_path):
    write(tmp_path, [case(checked="<b>a | b</b>") | {"graph": {"make": "<script>", "n": 512}}])
    written = report(tmp_path)
    assert "<script>" not in written[0].read_text() and "&lt;b&gt;" in written[0].read_text()
    Page(written[0].read_text())


def test_further_plots_of_a_suite(tmp_path, monkeypatch):
    text = SUITES["methods"]
    for x, more in (("n", "relative = true"), ("round", 'log = ["y"]')):
        text += f"""
            [[drawing]]
            x = "{x}"
            y = "phases"
            {more}
            words = "Operations by {x}."
        """
    (tmp_path / "methods.toml").write_text(text)
    monkeypatch.setattr(suite, "SUITES", tmp_path)
    rows = [case(n=512, rounds={"update": [1e-3, 2e-3, 4e-3]}), case(n=1024, seconds=4e-3)]
    words = report(write(tmp_path / "run", rows))[1].read_text()
    for number, x in ((1, "n"), (2, "round")):
        assert f"![Operations by {x}.](plots/methods-{number}.svg)" in words
    first, second = ((tmp_path / "run" / "plots" / f"methods-{number}.svg").read_text() for number in (1, 2))
    assert "times as fast as at the first n" in first and "blocked, factor" in first
    assert "blocked, update" in second and "factor" not in second
    assert "published" not in first + second


def test_published_figures_of_another_field_have_a_plot(made, folder):
    text = (folder / "plots" / "methods-iterations.svg").read_text()
    assert "rounds, elsewhere (published)" in text and 'id="methods-iterations-published' in text
    assert "plots/methods-iterations.svg" in made[1]


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


def test_empty_cells_and_escaped_markup():
    lines = [("a|b <i>", 1.5e-3, None), (None, float("nan"), "x" * 49)]
    found = table(
        lines, Column("*what*"), Column("Time", amounts.seconds), Column("Why", brief=False), links=["there", ""]
    )
    assert texts(found) == [("a|b <i>", "1.50 ms", "–"), ("–", "–", "x" * 49)]
    sections = [Section("one", "One", (found, Details("more", (Words("hidden"),))), "below")]
    assert summary("All", sections) == (
        "# All\n\n- [One](#one)\n\n## One\n\n*below*\n\n"
        "| \\*what\\* | Time |\n| --- | ---: |\n| a\\|b \\<i> | 1.50 ms |\n| – | – |\n"
    )
    text = page("All", sections)
    assert (
        '<td><a href="#there">a|b &lt;i&gt;</a></td><td class="n">1.50<span class="u">ms</span></td><td>–</td>' in text
    )
    assert f'<td class="w">{"x" * 49}</td>' in text and "<details><summary>more</summary>\n<p>hidden</p>" in text


def test_cases_without_a_row_are_listed(tmp_path, monkeypatch):
    monkeypatch.setattr(suite, "SUITES", tmp_path)
    text = SUITES["methods"].replace("call = {method", 'run = {device = ["cuda", "cpu"]}\n        call = {method')
    (tmp_path / "methods.toml").write_text(text)
    write(tmp_path, [case(n=512, method="naive", run={"device": "cuda"})])
    words = Page(report(tmp_path)[0].read_text()).sections["skipped"]
    assert "not run" in words and "3 cases" in words and "H200" in words  # those of a CPU were not asked for
