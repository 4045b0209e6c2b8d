"""Made-up rows of benchmarks, and the page of their report taken apart."""

import json
from html.parser import HTMLParser
from pathlib import Path

from mgraph_bench import suite

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
        series = "blocked"
        machine = "Tesla M2090"
        beside = {method = "blocked"}
        x = [512, 1024]
        microseconds = [6000, 32000]
        [[published]]
        series = "rounds"
        machine = "elsewhere"
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
        series = "walk"
        machine = "GTX 260"
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
        series = "search"
        machine = "elsewhere"
        beside = {method = "hybrid"}
        x = ["rmat"]
        milliseconds = [50]
    """,
}

#: The suites themselves, and the rows that are kept of them.
INSTALLED = suite.SUITES
KEPT = Path(__file__).parents[2] / "benchmarks" / "results" / "suites"

GPU = {"name": "cuda:0", "kind": "cuda", "model": "NVIDIA H200", "count": 1, "cores": 1}
CPU = {"name": "cpu", "kind": "cpu", "model": "AMD EPYC 9654 96-Core Processor", "count": 1, "cores": 2}
FACTS = {
    "versions": {"mgraph": "0.1.0", "python": "3.12.1"},
    "commit": "87f8779",
    "date": "2026-11-21T11:00:00+00:00",
    "quick": False,
}


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


def texts(table):
    """The cells of a table, line by line."""
    return [tuple(cell for cell, _ in line) for line in table.lines()]


def small_suites(folder, monkeypatch):
    """Have the benchmarks find the suites of the made-up rows, in a folder."""
    for name, text in SUITES.items():
        (folder / f"{name}.toml").write_text(text)
    monkeypatch.setattr(suite, "SUITES", folder)
