"""The documents are right: Python examples run, commands and links exist, and every line of a plan is explained.

A block of Python with prompts is a doctest; the blocks of a page run one after the other and share their names. A
comment before a block says how else it is tested:

- ``<!-- gpu -->``: where there is a GPU, as a doctest of its own or, without prompts, as a script.
- ``<!-- script -->``: as a script on the CPU, with a file ``roads.gr``.
- ``<!-- osm -->``: with a file ``city.osm.pbf``, where pyosmium is installed.
- ``<!-- needs PACKAGE -->``: as a doctest like the others; the page is skipped where the package is not installed.
- ``<!-- not run: why -->``: it is only compiled.

Of the blocks of a shell, marked ``sh``, the options of mgraph's commands are checked.
"""

import doctest
import functools
import inspect
import json
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import mgraph
from mgraph.algorithms import calls
from mgraph.algorithms.apsp import plan as all_pairs
from mgraph.algorithms.distances import plan as distances
from mgraph.algorithms.registry import ALGORITHMS
from mgraph.cli import main
from mgraph.planning.shape import Shape
from mgraph_bench.amounts import seconds
from mgraph_bench.commands import bench
from tests.support import formats
from tests.support.commands import main_command, ok

ROOT = Path(__file__).parents[1]
PAGES = {
    path.relative_to(ROOT).as_posix(): path
    for folder in (".", "docs", "docs/tutorials", "deploy")
    for path in sorted(ROOT.glob(f"{folder}/*.md"))
}
BLOCK = re.compile(
    r"(?:<!-- (?P<how>gpu|script|osm|needs \w+|not run: .*?) -->\n)?^```(?P<language>\w+)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
PYTHON = [
    (page, text.count("\n", 0, block.start("code")), block["how"], block["code"])
    for page, text in ((page, path.read_text()) for page, path in PAGES.items())
    for block in BLOCK.finditer(text)
    if block["language"] == "python"
]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("page", sorted({page for page, _, how, _ in PYTHON if (how or "needs").startswith("needs")}))
def test_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for needed in {how.split()[1] for name, _, how, _ in PYTHON if name == page and (how or "").startswith("needs ")}:
        pytest.importorskip(needed)
    if find_spec("matplotlib"):
        import_module("matplotlib").use("Agg")
    names = {}
    runner = doctest.DocTestRunner(verbose=False, optionflags=FLAGS)
    for _, line, how, code in (block for block in PYTHON if block[0] == page):
        if how is None or how.startswith("needs "):
            assert ">>>" in code, f"{page}, line {line}: an example without prompts would not run"
            test = doctest.DocTestParser().get_doctest(code, {}, page, page, line)
            test.globs = names
            runner.run(test, clear_globs=False)
    assert runner.tries and not runner.failures


def marked(how):
    """Parametrize a test by the blocks of Python that such a comment precedes."""
    blocks = [block for block in PYTHON if (block[2] or "").startswith(how)]
    assert blocks
    return pytest.mark.parametrize(
        ("page", "line", "code"),
        [(page, line, code) for page, line, _, code in blocks],
        ids=[f"{page}:{line}" for page, line, *_ in blocks],
    )


@pytest.mark.gpu
@marked("gpu")
def test_examples_run_on_a_gpu(page, line, code, tmp_path):
    if ">>>" in code:
        test = doctest.DocTestParser().get_doctest(code, {"mgraph": mgraph}, page, page, line)
        assert doctest.DocTestRunner(verbose=False, optionflags=FLAGS).run(test).failed == 0
    else:
        run_script(code, tmp_path)


@pytest.mark.exhaustive
@marked("script")
def test_scripts_run(page, line, code, tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    roads = "".join(f"a {v} {v + 1} {v}\n" for v in range(1, 100))
    (tmp_path / "roads.gr").write_text(f"p sp 100 99\n{roads}")
    run_script(code, tmp_path)


@pytest.mark.filterwarnings("ignore::DeprecationWarning:osmium")
@marked("osm")
def test_examples_with_a_file_of_openstreetmap_run(page, line, code, tmp_path, monkeypatch):
    osmium = pytest.importorskip("osmium")
    for package in ("contourpy", "matplotlib", "pandas", "pymetis"):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    side, names = 8, {}
    nodes = [(24.938 + 0.002 * column, 60.159 + 0.001 * row) for row in range(side) for column in range(side)]
    grid = np.arange(side * side).reshape(side, side)
    with osmium.SimpleWriter("city.osm.pbf") as writer:
        for number, place in enumerate(nodes, 1):
            writer.add_node(osmium.osm.mutable.Node(id=number, version=1, location=place))
        for number, refs in enumerate([*grid, *grid.T], 1):
            street = {"highway": "residential"}
            writer.add_way(osmium.osm.mutable.Way(id=number, version=1, nodes=(refs + 1).tolist(), tags=street))
    import_module("matplotlib").use("Agg")
    exec(compile(code, f"{page}, line {line}", "exec"), names)
    assert names["network"].graph.n == side * side
    assert np.isfinite(names["found"].seconds).all() and (names["found"].metres > 0).all()
    assert len(json.loads((tmp_path / "areas.geojson").read_text())["features"]) == 3
    assert (tmp_path / "areas.png").read_bytes().startswith(b"\x89PNG")


def run_script(code, folder):
    (folder / "script.py").write_text(code)
    ended = subprocess.run([sys.executable, "script.py"], cwd=folder, capture_output=True, text=True, timeout=800)
    assert ended.returncode == 0, ended.stderr
    assert list(folder.glob("*.npy")), "the script saved nothing"


@marked("not run")
def test_examples_that_are_not_run_compile(page, line, code):
    compile(code, f"{page}, line {line}", "exec")


@pytest.mark.parametrize("page", PAGES)
def test_blocks_are_marked_as_what_is_checked(page):
    fences = re.findall(r"^ *(?:```|~~~).*$", PAGES[page].read_text(), re.MULTILINE)
    opening, closing = fences[::2], fences[1::2]
    assert {re.sub(r"{.*", "{", fence) for fence in opening} <= {"```python", "```sh", "```text", "```{"}
    assert len(opening) == len(closing) and set(closing) <= {"```"}


def commands():
    """The commands of mgraph in the documents: the page, and the words of each."""
    for page, path in PAGES.items():
        for block in BLOCK.finditer(path.read_text()):
            if block["language"] == "sh":
                for line in block["code"].splitlines():
                    for part in " ".join(shlex.split(line, comments=True)).split(" | "):
                        words = part.split()
                        if words[:1] == ["mgraph"]:
                            yield pytest.param(words[1:], id=f"{page}: {part}")


@pytest.mark.parametrize("words", list(commands()))
def test_commands_have_the_options_that_are_shown(words):
    name, *words = words
    if name == "bench":
        command = bench.commands[words[0] if words[0] in bench.commands else "run"]
    else:
        command = main if name.startswith("-") else main_command(name)
        command = getattr(command, "commands", {}).get(words[0], command) if words else command
    known = {spelled for option in command.params for spelled in (*option.opts, *option.secondary_opts)}
    assert {word for word in words if re.match("--?[a-z]", word)} <= known


def test_the_reference_opens_with_a_line_for_each_call():
    tables = (ROOT / "docs" / "api" / "index.rst").read_text().partition(".. toctree::")[0]
    listed = re.findall(r"^   (\w+)$", tables, re.MULTILINE)
    made = {name for name in calls.NAMES if inspect.isfunction(getattr(mgraph, name))}
    assert made <= set(listed) and len(listed) == len(set(listed))


@pytest.mark.parametrize("words", [each for each in commands() if each.values[0][0] == "plan"])
def test_plans_that_are_shown_fit(words):
    if "roads.gr" not in words:  # for devices that need not exist
        ok(*words)


@pytest.mark.parametrize(
    ("heading", "command"),
    [
        ("All pairs", "apsp"),
        ("Shortest paths from one source", "sssp"),
        ("Breadth-first search", "bfs"),
        ("Connected components", "components"),
        ("List ranking", "rank"),
    ],
)
def test_every_method_is_explained_and_no_other(heading, command):
    section = PAGES["docs/calls.md"].read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    table = re.findall(r"^\| (`\".*?) \|", section, re.MULTILINE)
    explained = re.findall('"(.*?)"', " ".join(table))
    (option,) = (option for option in main_command(command).params if option.name == "method")
    assert sorted(["auto", *explained]) == sorted(re.split(r", | or ", option.help.rstrip(".")))


@functools.cache
def anchors(path):
    """The anchors of a page's headings."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    path = PAGES[page]
    links = re.findall(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"", path.read_text())
    for link in (given or other for given, other in links):
        if not link.startswith("http") and "_pictures/" not in link:  # drawn when the documents are built
            target, _, anchor = link.partition("#")
            there = path.parent / target if target else path
            assert there.exists(), link
            assert not anchor or anchor in anchors(there), link


def test_what_maintainers_are_told_of_is_there():
    """Files, and names in the sources; NAME, FAMILY and VERSION stand for what varies."""
    sources = [path for folder in ("mgraph", "tests", "benchmarks") for path in ROOT.glob(f"{folder}/**/*.py")]
    texts = [path.read_text() for path in (*sources, ROOT / "pyproject.toml")]
    words, files = set(re.findall(r"\w+", " ".join(texts))), {path.name for path in sources}
    found = set(re.findall("(?<!`)`([^`\n]+)`(?!`)", PAGES["CONTRIBUTING.md"].read_text()))
    told = {each for each in found if not re.search(r"NAME|FAMILY|VERSION|[^\w./]|^\.\.", each)}
    assert "mgraph/version.py" in told and "Resumable" in told
    for each in sorted(told):
        if "/" in each:
            assert (ROOT / each).exists(), each
        else:
            assert each in files or each.rpartition(".")[2] in words, each


def explained():
    """The lines of `Plan.explain` that docs/plan.md explains, as regular expressions."""
    table = PAGES["docs/plan.md"].read_text().partition("## Every line")[2].partition("\n## ")[0]
    shown = [code for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for code in re.findall("`(.*?)`", row)]
    named = {mgraph.plan(name, 10, 20, gpus(1)).detail.values for name in ALGORITHMS}
    results = "|".join(named - {"distances", "betweenness"})  # which have rows of their own
    # The part after a comma is explained in the row's text.
    return {
        code: re.compile(".+".join(map(re.escape, code.split("…"))).replace("RESULT", f"({results})") + "(,.*)?")
        for code in shown
    }


def gpus(count, memory=140 << 30):
    return [mgraph.DeviceSpec(f"cuda:{number}", "cuda", memory) for number in range(count)]


def cpus(count, memory=16 << 30):
    return [mgraph.DeviceSpec("cpu", "cpu", memory, cores=16)] * count


PLANS = [
    *((name, {"n": 10_000, "m": 50_000, "devices": gpus(1)}) for name in ALGORITHMS),
    ("apsp", {"n": 30_000, "m": 180_000, "devices": gpus(1), "predecessors": True, "exact": True}),
    ("apsp", {"n": 20_000, "m": 80_000, "devices": gpus(1), "intermediate": True, "method": "blocked"}),
    ("apsp", {"n": 20_000, "m": 80_000, "devices": gpus(1), "method": "blocked"}),
    ("apsp", {"n": 500, "m": 2_000, "devices": gpus(1)}),
    ("apsp", {"n": 4, "devices": cpus(1)}),
    ("apsp", {"n": 10_000_000, "m": 40_000_000, "devices": gpus(1, 1 << 50)}),
    ("apsp", {"n": 3_000, "m": 4_000_000, "devices": gpus(1), "predecessors": True, "exact": True}),
    ("apsp", {"n": 12_000, "m": 50_000, "devices": gpus(1), "components": [6_000, 5_900, 100], "intermediate": True}),
    ("apsp", {"n": 40_000, "devices": gpus(1, 4 << 30), "memory_limit": "3GiB"}),
    ("apsp", {"n": 9_000, "devices": cpus(1, 1 << 28)}),
    ("apsp", {"n": 32_768, "devices": gpus(4)}),
    ("apsp", {"n": 100, "devices": gpus(4)}),
    ("apsp", {"n": 1_660_000, "devices": gpus(1) * 4608, "network": 25e9}),
    ("bfs", {"n": 1 << 22, "m": 1 << 27, "devices": gpus(1)}),
    ("bfs", {"n": 1 << 24, "m": 1 << 28, "devices": cpus(2), "predecessors": True}),
    ("bfs", {"n": 1 << 24, "m": 1 << 28, "devices": gpus(2), "predecessors": "any"}),
    ("bfs", {"n": 1 << 28, "m": 1 << 32, "devices": gpus(1) * 64, "network": 25e9}),
    ("bfs", {"n": 1 << 10, "m": 1 << 14, "devices": gpus(1) * 64, "network": 400e9}),
    ("bfs_many", {"n": 1 << 20, "m": 1 << 24, "devices": gpus(1), "sources": 1000}),
    ("distances", {"n": 1 << 20, "m": 1 << 22, "devices": gpus(1), "sources": 1000, "targets": 50}),
    ("distances", {"n": 1 << 20, "m": 1 << 22, "devices": gpus(1), "targets": 50, "weighted": False}),
    ("distances", {"n": 1 << 20, "m": 1 << 22, "devices": gpus(1), "sparse": True}),
    ("distances", {"n": 1 << 20, "m": 1 << 22, "devices": gpus(1), "reduce": "mean"}),
    ("distances", {"n": 1 << 20, "m": 1 << 22, "devices": gpus(1), "sources": 1000, "method": "hierarchy"}),
    ("betweenness", {"n": 1 << 20, "m": 1 << 24, "devices": gpus(1), "edges": True}),
    ("sssp", {"n": 1 << 22, "m": 1 << 26, "devices": gpus(1), "predecessors": True}),
    ("sssp", {"n": 1 << 20, "m": 1 << 22, "devices": cpus(2)}),
    ("bfs", {"n": 1 << 20, "m": 1 << 22, "devices": cpus(2), "method": "asynchronous"}),
    ("components", {"n": 1 << 22, "m": 1 << 26, "devices": gpus(1)}),
    ("pairs", {"n": 264_346, "m": 730_100, "devices": gpus(1), "sources": 1_000_000}),
    ("pairs", {"n": 264_346, "m": 730_100, "devices": cpus(2), "sources": 1_000, "along": 2}),
    ("flows", {"n": 264_346, "m": 730_100, "devices": cpus(1), "sources": 1_000, "targets": 1_000}),
    ("closure", {"n": 100_000, "m": 1_000_000, "devices": gpus(1)}),
    ("list_rank", {"n": 1 << 26, "devices": gpus(1)}),
]


def test_every_line_of_a_plan_is_explained_and_no_other():
    rows = explained()
    plans = [mgraph.plan(algorithm, **given) for algorithm, given in PLANS]
    # What only calls with checkpoints have.
    plans += [replace(plans[0], copied_bytes=copies) for copies in ((1 << 20,), (0,), (None,))]
    plans.append(all_pairs.planned(9_000, 20_000, tuple(gpus(1)), components=(8_999, 1), by_component=True))
    lines = {line for plan in plans for all_of_it in (True, False) for line in plan.explain(all_of_it).splitlines()}
    seen = {line: [code for code, pattern in rows.items() if pattern.fullmatch(line)] for line in lines}
    assert not [line for line, codes in seen.items() if not codes]
    assert set(rows) == {code for codes in seen.values() for code in codes}


def chosen_by():
    """The section of docs/plan.md about how a method is chosen, a line for each row of a table or paragraph."""
    section = PAGES["docs/plan.md"].read_text().partition("\n## How a method is chosen")[2].partition("\n## ")[0]
    return re.sub(r"(?<=[^|\n])\n(?=[^|\n])", " ", section)


def said(pattern):
    """The numbers in a sentence about how a method is chosen."""
    [numbers] = re.findall(pattern, chosen_by())
    return [int(number.replace(",", "")) for number in ([numbers] if isinstance(numbers, str) else numbers)]


def test_methods_are_chosen_up_to_the_sizes_that_are_said():
    [edges] = said(r"CPU with at most ([\d,]+) edges `\"sequential\"`")
    [together, levels] = said(r"at most ([\d,]+) vertices and edges together, .* more than (\d+) levels")
    [on_cpu, on_gpu] = said(r"lists of at most ([\d,]+) elements take .* at most ([\d,]+) elements take `\"wyllie")

    def chosen(name, n, m=None, devices=None, **options):
        return mgraph.plan(name, n, m, devices or cpus(1), **options).method

    assert [chosen("components", 1_000, m) for m in (edges, edges + 1)] == ["sequential", "afforest"]
    strong = {"connection": "strong", "shape": Shape(levels=levels)}
    fifth = together // 5
    sizes = [(fifth, together - fifth), (fifth, together - fifth + 1), (together, 4 * together - 1)]
    found = [chosen("components", n, m, **strong) for n, m in sizes]
    assert found == ["sequential", "multistep", "sequential"]
    assert chosen("components", *sizes[1], **strong | {"shape": Shape(levels=levels + 1)}) == "sequential"
    assert [chosen("list_rank", n) for n in (on_cpu, on_cpu + 1)] == ["sequential", "splitter64"]
    assert [chosen("list_rank", n, devices=gpus(1)) for n in (on_gpu, on_gpu + 1)] == ["wyllie", "splitter64"]


def test_ways_are_preferred_by_the_factors_that_are_said():
    rows = re.findall(r"^\| `(.*?)` \|.*\| ([\d.]+) \|$", chosen_by(), re.MULTILINE)
    assert {way: float(factor) for way, factor in rows} == all_pairs.ADVANTAGE
    assert said(r"saves (\d+) ms") == [1e3 * all_pairs.WORTH]
    rule = f"saves {distances.WORTH:g} s and is faster than searches by the factor {distances.ADVANTAGE:g},"
    assert rule in chosen_by()
    assert said(r"need only save (\d+) ms") == [1e3 * distances.ALIKE]
    assert said(r"at most ([\d,]+) vertices of which at least a quarter") == [distances.MATRIX]
    assert distances.SHARE == 0.25


def test_measured_times_are_those_of_the_rows():
    table = PAGES["README.md"].read_text().partition("\n| call | mgraph, H200 |")[2].partition("\n\n")[0]
    libraries = ("scipy", "networkit", "igraph", "networkx")
    rows = {}
    for device in ("h200", "cpu"):
        path = ROOT / "benchmarks" / "results" / "suites" / device / "rows.jsonl"
        for row in map(json.loads, path.read_text().splitlines()):
            if row.get("suite") == "peers" and row["kind"] == "case":
                rows[row["algorithm"], row["run"].get("peer", f"mgraph {device}")] = seconds(row["call_seconds"])
    calls = {
        "breadth-first search": "bfs",
        "connected components": "components",
        "shortest paths from one vertex": "sssp",
        "minimum spanning forest": "minimum_spanning_forest",
        "all pairs": "apsp",
    }
    columns = ("mgraph h200", "mgraph cpu", *libraries)
    expected = [
        f"| {call} | " + " | ".join(rows.get((name, column), "–") for column in columns) + " |"
        for call, name in calls.items()
    ]
    assert table.splitlines()[2:] == expected


def test_the_build_writes_the_formats_of_results():
    table, page = formats.table(), PAGES["docs/files.md"].read_text()
    assert page.count(formats.PLACE) == 1 and table not in page
    assert all(f"| `{entry.call.__name__}` |" in table for entry in ALGORITHMS.values())
    assert "replace(formats.PLACE, formats.table())" in (ROOT / "docs" / "conf.py").read_text()


def test_every_extra_is_explained_and_no_other():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    table = PAGES["docs/install.md"].read_text().partition("## Extras")[2].partition("\n## ")[0]
    shown = re.findall("`(.*?)`", " ".join(re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)))
    assert sorted(shown) == sorted(extras)
