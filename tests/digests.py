"""Digests of results, and times: they show that a large change of the library leaves both as they were.

    python -m tests.digests record|compare [--on PLACE ...] [--only NAME] [--times] [--file FILE]

`record` runs some 480 cases, each a call with a method, a type and options on a small graph. It writes a digest of
every array of each result, or the error where the call refuses. `compare` runs the cases again and lists those whose
outcome changed. The script uses public names only and lists methods and types itself, so that modules may move.

A PLACE is `cpu`, `cuda` (one GPU), `2` or `3` (so many workers on CPUs), or `cuda:2` (so many on GPUs). The library
promises the same bits everywhere, so all places are compared with the CPU's digests. For another place, `record` writes
only what differs there, such as the error of a method that needs a CPU. Of an error only the type is compared, as the
wording may improve. `compare` fails if a case differs, if a recorded case did not run, and if no case ran.

With `--times`, `cpu` and `cuda` also run larger inputs, such as New York's roads from `../shared/data`. Inputs are on
the device before the clock starts. Times are shown beside the recorded ones of the same device and left to the reader;
the digests of these results must agree on all devices.
"""

import argparse
import contextlib
import functools
import hashlib
import json
import os
import platform
import re
import statistics
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from scipy import sparse

import mgraph
from mgraph import Graph, generate
from mgraph.algorithms.registry import ALGORITHMS

RECORD = Path(__file__).parents[1] / "benchmarks" / "results" / "digests.json"
DATA = ("../shared/data", "shared/data", "data", ".data")

BFS = ("auto", "hybrid", "frontier", "pull", "edge", "vertex", "mask", "queue", "privatized", "scan", "sequential")
APSP = ("blocked", "naive", "squaring", "sssp", "johnson")
SSSP = ("auto", "nearfar", "bellman-ford", "mask")
COMPONENTS = ("auto", "afforest", "shiloach-vishkin", "sequential")
RANKING = ("auto", "sequential", "wyllie", "splitter64", "splitter48")
TYPES = ("float32", "float64", "int32", "int16")

#: Names of arrays and scalars that results may contain.
ARRAYS = (
    *("distances", "predecessors", "intermediate", "levels", "labels", "count", "words", "ranks"),
    *("src", "dst", "weights"),
    *("nearest", "eccentricity", "mean", "closeness", "harmonic", "out_closeness", "out_harmonic", "reached", "within"),
)

#: Measures of rows of distances that are the same however sums are grouped; sums of floats are not.
MEASURES = ("eccentricity", "reached")


def random_edges(n, m, least, most, seed, dtype=np.int32, **options):
    """A graph of random edges of whole weights; some edges are self-loops, some repeated."""
    random = np.random.default_rng(seed)
    src, dst = random.integers(0, n, (2, m))
    return Graph.from_edges(src, dst, random.integers(least, most + 1, m).astype(dtype), n=n, **options)


def shifted(graph, seed):
    """The same edges, some of negative weight: shifting by a potential keeps the weight of every cycle."""
    src, dst, weights = graph.coo()
    potential = np.random.default_rng(seed).integers(0, 60, graph.n)
    return Graph.from_edges(src, dst, weights + potential[src] - potential[dst], n=graph.n)


def trees(n, seed):
    """Successors that make two trees, of the roots 0 and 1."""
    parents = (np.random.default_rng(seed).random(n) * np.arange(n)).astype(int)
    parents[:2] = 0, 1
    return parents


def fractions(n, m, seed):
    """A sparse matrix of random numbers below 1."""
    random = np.random.default_rng(seed)
    return sparse.csr_array((random.random(m), tuple(random.integers(0, n, (2, m)))), shape=(n, n))


INPUTS = {
    # larger, for searches
    "social": lambda: generate.rmat(11, seed=1),
    "social-directed": lambda: generate.rmat(10, seed=2, directed=True),
    "social-weighted": lambda: generate.weighted(generate.rmat(11, seed=1), (1, 255), "int32"),
    "roads": lambda: generate.weighted(generate.grid(60, 50), (1, 255), "int32"),
    "archipelago": lambda: random_edges(2300, 2000, 1, 90, seed=3, directed=False),
    # smaller, for all pairs too
    "town": lambda: generate.weighted(generate.grid(12, 11), (1, 255), "int32"),
    "disconnected": lambda: random_edges(140, 130, 1, 50, seed=4, directed=False),
    "tangled": lambda: random_edges(150, 900, 0, 40, seed=5),
    "negative": lambda: shifted(random_edges(130, 600, 0, 30, seed=6), seed=6),
    "negative-cycle": lambda: random_edges(60, 400, -9, 30, seed=7),
    "unweighted": lambda: generate.rmat(7, 6, seed=8, directed=True),
    "fractions": lambda: fractions(120, 600, seed=9),
    "unique-paths": lambda: random_edges(110, 700, 1, 1_000_000, seed=10),
    "matrix": lambda: generate.random_matrix(131, high=900, dtype="int16", seed=11),
    "matrix-infinite": lambda: generate.random_matrix(97, density=0.06, high=90, dtype="int16", seed=12),
    "matrix-fractions": lambda: generate.random_matrix(150, density=0.3, dtype="float64", seed=13),
    "matrix-zeros": lambda: Graph.from_distances(np.random.default_rng(14).integers(0, 3, (70, 70))),
    "matrix-truths": lambda: np.random.default_rng(15).random((90, 90)) < 0.03,
    "adjacency": lambda: Graph.from_adjacency(np.random.default_rng(16).integers(0, 9, (80, 80)) // 7),
    "edgeless": lambda: Graph.from_edges([], [], n=40),
    "single": lambda: Graph.from_edges([0], [0], [3], n=1),
    "empty": lambda: Graph.from_edges([], [], n=0),
    # for list ranking
    "list": lambda: generate.linked_list(20_000, seed=18),
    "pairs": lambda: np.arange(5000) // 2 * 2,
    "trees": lambda: trees(4000, seed=19),
    "list-cyclic": lambda: (np.arange(3000) + 1) % 3000,
    "list-single": lambda: np.zeros(1, np.int64),
    "list-empty": lambda: np.zeros(0, np.int32),
    **{
        f"weights-{dtype}": functools.partial(random_edges, 90, 500, 1, 99, seed=20, dtype=dtype)
        for dtype in ("float16", "float32", "float64", "int8", "uint8", "uint16", "uint32", "int64")
    },
}  # fmt: skip

SEARCHED = ("social", "social-directed", "roads", "disconnected", "tangled")
TINY = ("edgeless", "single", "empty")


@functools.cache
def given(name):
    """Inputs of the cases, generated once: later cases find what a graph keeps."""
    return INPUTS[name]()


def label(option, value):
    """The words for an option in a case's name, if any."""
    if option in ("method", "dtype", "connection"):
        return value
    if option == "source" or value is None:
        return ""
    return option if value is True else f"{option}={len(value) if isinstance(value, list) else value}"


def cases():
    """Return every case by its name: a function of where to run it."""
    made = {}

    def add(call, on, **options):
        name = "/".join([call, *filter(None, map(label, options, options.values())), on])
        assert name not in made, name
        if "max_depth" in options:
            options["limit"] = options.pop("max_depth")  # the former name, which names of cases keep
        made[name] = lambda place: getattr(mgraph, call)(given(on), **options, **place)

    def generated(maker, **options):
        name = "/".join(["generate", maker, *(option for option in options if options[option] is True)])
        made[name] = lambda place: getattr(generate, maker)(**options, **place)

    paths = {"predecessors": True}
    for method in APSP:
        for dtype in TYPES:
            for labels in ({}, paths, {"intermediate": True}):
                add("apsp", "town", method=method, dtype=dtype, **labels)
            add("apsp", "disconnected", method=method, dtype=dtype)
            add("apsp", "matrix-infinite", method=method, dtype=dtype)
        for on in ("disconnected", "tangled", "negative", "unweighted", "matrix", "fractions", "matrix-fractions"):
            add("apsp", on, method=method, **paths)
        for on in ("matrix-zeros", "matrix-truths", "adjacency", "negative-cycle", *TINY):
            add("apsp", on, method=method)
        add("apsp", "matrix-fractions", method=method, dtype="float32")
    for on in ("disconnected", "tangled", "negative", "matrix"):
        add("apsp", on, method="blocked", intermediate=True)
    for options in (*({"block": block} for block in (32, 64, 96, 128, 7)), {"span": 1}, {"memory_limit": 1000}):
        add("apsp", "matrix-fractions", method="blocked", **options, **paths)
    add("apsp", "matrix", method="blocked", block=32, memory_limit=150_000)
    # The planner may choose another method on another device, so only what all methods agree on is compared.
    add("apsp", "unique-paths", dtype="auto", **paths)
    for on in ("archipelago", "town", "negative", "negative-cycle"):
        add("apsp", on)

    for on in SEARCHED:
        for method in BFS if on in ("social", "roads", "tangled") else BFS[:2]:
            add("bfs", on, source=0, method=method, **paths)
    for on in (*SEARCHED, *TINY):
        add("bfs", on, source=0)
        add("bfs_many", on, sources=[0], **paths)
    for method in BFS[1:]:
        add("bfs", "social", sources=[9, 200, 1999], method=method, **paths)
        add("bfs", "roads", source=77, method=method, max_depth=9)
        add("bfs", "roads", source=78, method=method, target=1500, **paths)
    add("bfs", "roads", source=5, span=1, **paths)
    for on in ("social", "social-directed", "roads"):
        for count in (3, 70, 300):
            add("bfs_many", on, sources=list(range(5, 5 + count)))
        add("bfs_many", on, sources=list(range(9, 80)), **paths)
    add("bfs_many", "social", sources=[5, 5, 6], span=1, max_depth=2, **paths)

    for on in ("roads", "social-weighted", "tangled", "disconnected", "unweighted", "negative", "fractions"):
        add("distances", on, sources=[7, 3, 7, 12], **paths)
        add("distances", on, sources=[1, 2], targets=[5, 0, 9], limit=40)
        add("distances", on, nearest=4)
        add("distances", on, reduce=[*MEASURES, ("within", [0, 9])])
    for options in (paths, {"targets": [5, 0, 9], "limit": 400}, {"reduce": [*MEASURES, ("within", [0, 900])]}):
        add("distances", "roads", sources=[7, 3, 7, 12], method="hierarchy", **options)

    for method in SSSP:
        for dtype in TYPES:
            for labels in ({}, paths):
                add("sssp", "roads", source=0, method=method, dtype=dtype, **labels)
        for on in ("social-weighted", "tangled", "disconnected", "negative", "unweighted", "fractions"):
            add("sssp", on, source=1, method=method, **paths)
        add("sssp", "roads", source=2, method=method, limit=900, **paths)
        add("sssp", "roads", source=2, method=method, target=1700, **paths)
    for on in ("negative-cycle", *TINY, *(name for name in INPUTS if name.startswith("weights-"))):
        add("sssp", on, source=0)
    add("sssp", "social-weighted", source=3, span=1, **paths)

    for method in COMPONENTS:
        for on in (*SEARCHED, "archipelago", "matrix-truths"):
            add("connected_components", on, method=method)
    for on in TINY:
        add("connected_components", on)
    for on in ("social", "social-directed", "tangled"):
        add("connected_components", on, connection="strong")

    for method in RANKING:
        for on in ("list", "pairs", "trees", "list-cyclic", "list-single", "list-empty"):
            add("list_rank", on, method=method)
    for splitters in (4, 3000):
        add("list_rank", "list", method="splitter64", splitters=splitters)

    for on in ("social-directed", "roads", "disconnected", "tangled", "matrix-truths", *TINY):
        add("transitive_closure", on)
        add("transitive_closure", on, reflexive=False)

    for on in (*SEARCHED, "social-weighted", "negative", *TINY):
        add("minimum_spanning_forest", on)
    for on in ("fractions", "matrix-fractions", "matrix-zeros", "matrix-truths"):
        add("minimum_spanning_forest", on)
    for on in INPUTS:
        if on.startswith("weights-"):
            add("minimum_spanning_forest", on)
    add("minimum_spanning_forest", "roads", span=1)

    generated("rmat", scale=9, seed=3)
    generated("rmat", scale=9, seed=3, directed=True)
    generated("grid", rows=20, columns=9)
    generated("random_density", n=300, density=5)
    generated("random_degree", n=300, degree=5.5, weights=(1, 20))
    generated("scale_free", n=500, degree=4, hub_fraction=0.01, hub_degree=100)
    generated("linked_list", n=3000)
    generated("list_graph", n=1000, count=7)
    generated("tree_graph", n=1000, count=7, k=3)
    generated("random_graph", m=1000, density=0.05, count=4)
    for on in ("roads", "tangled", "negative", "adjacency", "matrix-zeros"):
        made[f"graph/{on}"] = lambda place, on=on: given(on)
    for entry in ALGORITHMS.values():
        if not any(name.startswith(f"{entry.call.__name__}/") for name in made):
            made |= samples(entry)
    return made


def samples(entry):
    """The cases of an algorithm that has none above: its samples, by each method."""
    made = {}
    for method in entry.methods or ("auto",):
        options = {"method": method} if entry.methods else {}
        for number, sample in enumerate(entry.samples(method)):
            call = functools.partial(entry.call, sample.given, **sample.options, **options)
            made[f"{entry.call.__name__}/sample {number}/{method}"] = lambda place, call=call: call(**place)
    return made


def fetched(array):
    """An array of a device or of workers, in NumPy."""
    return np.ascontiguousarray(array.get() if hasattr(array, "get") else array)


def digest(array):
    """The first digits of the SHA-256 of an array's type, shape and elements."""
    array = fetched(array)
    found = hashlib.sha256(f"{array.dtype.str} {array.shape} ".encode())
    found.update(array.reshape(-1).view(np.uint8))
    return found.hexdigest()[:16]


def digests(result):
    """The digests of a result's arrays by their names."""
    if isinstance(result, Graph):
        names = ("src", "dst", "weights", "indptr", "sources", "weights by target")
        found = dict(zip(names, (*result.coo(), *result.csc()), strict=True))
    else:
        # An array has a method called "mean".
        named = () if hasattr(result, "dtype") else dict.fromkeys((*ARRAYS, *getattr(result, "ARRAYS", ())))
        found = {name: getattr(result, name) for name in named if hasattr(result, name)} or {"array": result}
    found = {name: array for name, array in found.items() if array is not None}
    if found.keys() & {"predecessors", "intermediate"}:
        found["paths"] = paths_of(result)
    return {name: digest(array) for name, array in found.items()}


def paths_of(result):
    """The paths to three vertices, one after the other."""
    *rows, n = result.distances.shape
    start = tuple(map(int, getattr(result, "sources", (0,))[:1])) if rows else ()
    return np.array([v for end in (0, n // 2, n - 1) for v in (*result.path(*start, end), -1)] if n else [], np.int64)


def outcome(call, options):
    """The outcome of a call: the digests of its arrays, or its error."""
    try:
        return digests(call(options))
    except mgraph.MgraphError as error:
        return {"error": f"{type(error).__name__}: {error}"}
    except Exception as error:
        return {"failure": f"{type(error).__name__}: {error}"}


def kept(outcome):
    """The part of an outcome that must not change: of an error only its type, as the wording may improve."""
    return outcome["error"].partition(":")[0] if "error" in outcome else outcome


def runs(name, on, only):
    """Whether a case, or its record, is for a place. Graphs are generated in one process only."""
    return only in name and (on in ("cpu", "cuda") or not name.startswith(("generate/", "graph/")))


@contextlib.contextmanager
def place(on):
    """Yield the options that make a call run there."""
    device, workers = ("cpu", on) if on.isdigit() else on.partition(":")[::2]
    if workers:
        with mgraph.cluster.local_client(int(workers), device) as client:
            yield {"device": device, "client": client}
    else:
        yield {"device": device}


def outcomes(on, only):
    """Run the cases there, and return their outcomes."""
    with place(on) as options:
        return {name: outcome(call, options) for name, call in cases().items() if runs(name, on, only)}


def record(on, only, known):
    """Run the cases there, and record their outcomes: of a CPU all, of another place those that differ.

    Return the number of cases, and a line for each fault, as the next ones do.
    """
    found, before = outcomes(on, only), known["digests"].get(on, {})
    failures = [f"{name}: {each['failure']}" for name, each in found.items() if "failure" in each]
    if failures:
        return len(found), failures
    expected = {} if on == "cpu" else known["digests"]["cpu"]
    there = {**before, **found} if only else found
    known["digests"][on] = {name: each for name, each in there.items() if kept(each) != kept(expected.get(name, {}))}
    if found and not (only and before):
        known["recorded"][on] = {"date": today(), "device": device_name(on)}
    print(f"{on}: {len(found)} cases ran, {len(known['digests'][on])} are recorded for this place", flush=True)
    return len(found), []


def compare(on, only, known):
    """Run the cases there, and find those whose outcome differs from the record."""
    found, faults, reworded = outcomes(on, only), [], 0
    expected = {**known["digests"]["cpu"], **known["digests"].get(on, {})}
    expected = {name: each for name, each in expected.items() if runs(name, on, only)}
    for name in sorted(found.keys() | expected.keys()):
        was, now = expected.get(name), found.get(name)
        if was is None or now is None:
            faults.append(f"{name}: {'was not recorded' if was is None else 'was recorded and did not run'}")
        elif kept(was) != kept(now):
            faults.append(f"{name}: was {was}, now {now}")
        else:
            reworded += was != now
    compared = len(found.keys() & expected.keys())
    print(f"{on}: {compared} cases compared, {len(faults)} faults; {reworded} errors have other words", flush=True)
    return compared, faults


def matrix(n, xp):
    """A full distance matrix of pseudo-random whole weights up to 1,000, generated on the device."""
    row, column = xp.arange(n, dtype=np.uint32)[:, None], xp.arange(n, dtype=np.uint32)
    mixed = (row * np.uint32(0x9E3779B1)) ^ (column * np.uint32(0x85EBCA77))
    mixed ^= mixed >> np.uint32(15)
    mixed *= np.uint32(0x2C1B3C6D)
    mixed >>= np.uint32(12)
    mixed %= np.uint32(1000)
    return (mixed + np.uint32(1)).astype(np.float32)


def timed_calls(device, xp):
    """Yield the rows to be timed: a name, and a call on inputs that are on the device."""
    large = device == "cuda"
    road = mgraph.read(next(path for folder in DATA if (path := Path(folder, "NY.gr.xz")).is_file()))
    road = Graph.from_edges(*map(xp.asarray, road.coo()[:2]), n=road.n)
    scale = 22 if large else 18
    for name, graph in (("new-york", road), (f"kronecker-{scale}", generate.rmat(scale, device=device))):
        weighted = generate.weighted(graph, (1, 255), "float32")
        source = int(np.flatnonzero(np.diff(fetched(graph.csr()[0])))[graph.n // 5])
        for paths in (False, True):
            end = f"{'predecessors/' * paths}{name}"
            yield f"bfs/{end}", functools.partial(mgraph.bfs, graph, source, predecessors=paths, device=device)
            yield f"sssp/{end}", functools.partial(mgraph.sssp, weighted, source, predecessors=paths, device=device)
        yield f"connected_components/{name}", functools.partial(mgraph.connected_components, graph, device=device)
    for n in (4096, 32768) if large else (2048,):
        given = matrix(n, xp)
        yield f"apsp/blocked/{n}", functools.partial(mgraph.apsp, given, method="blocked", device=device)
    succ = generate.linked_list(1 << 22, device=device)
    yield "list_rank/4194304", functools.partial(mgraph.list_rank, succ, device=device)
    graph = generate.rmat(12, directed=True, device=device)
    yield "transitive_closure/kronecker-12", functools.partial(mgraph.transitive_closure, graph, device=device)


def timed(call, wait, seconds):
    """Call five times or more, for so many seconds; return the times in milliseconds, and the result's digests.

    `solve_ms` and `call_ms` are medians. `least_ms` is the shortest solve, which a busy machine changes least. `spread`
    is the range of the middle half of the solves over their median.
    """
    call()  # compiles, and prepares what a graph keeps
    calls, solves, result = [], [], None
    while len(calls) < 5 or sum(calls) < seconds:
        del result  # so that its memory can serve the next call
        wait()
        started = time.perf_counter()
        result = call()
        wait()
        calls.append(time.perf_counter() - started)
        solves.append(result.timings["solve"])
    low, middle, high = statistics.quantiles(solves, n=4)
    return {
        "least_ms": round(1e3 * min(solves), 4),
        "solve_ms": round(1e3 * middle, 4),
        "call_ms": round(1e3 * statistics.median(calls), 4),
        "spread": round((high - low) / middle, 3),
        "runs": len(calls),
        "digests": digests(result),
    }


def device_name(on):
    """The name of the hardware there."""
    if on.startswith("cuda"):
        import cupy

        return cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    models = re.findall(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return f"{models[0] if models else platform.processor()}, {len(os.sched_getaffinity(0))} cores"


def today():
    return datetime.now(UTC).isoformat(timespec="minutes")


def times(on, only):
    """Run the rows to be timed there, and return the times of each."""
    xp, wait, seconds = np, lambda: None, 3  # a CPU is usually shared
    if on == "cuda":
        import cupy as xp

        wait, seconds = xp.cuda.Device().synchronize, 0.3
    return {name: timed(call, wait, seconds) for name, call in timed_calls(on, xp) if only in name}


def record_times(on, only, known):
    """Time the rows there, and record the times: of several recordings the shortest, as other work only adds time."""
    found, device = times(on, only), device_name(on)
    before = known["times"].setdefault(device, {})
    for name, now in found.items():
        was = before.get(name)
        if not was or was["digests"] != now["digests"] or now["least_ms"] < was["least_ms"]:
            before[name] = now
    print(f"{device}: {len(found)} rows timed")
    return len(found), []


def compare_times(on, only, known):
    """Time the rows there, print the times beside the recorded ones, and find rows whose results differ."""
    found, device = times(on, only), device_name(on)
    before = known["times"].get(device, {})
    faults = [f"{name}: was timed and did not run" for name in before if only in name and name not in found]
    print(f"{device}: milliseconds now (recorded)")
    for name, now in found.items():
        was = before.get(name, {})
        shown = (f"{part[:-3]} {now[part]} ({was.get(part, 'never')})" for part in ("least_ms", "solve_ms", "call_ms"))
        print(f"  {name}: {', '.join(shown)}")
        results = [rows[name]["digests"] for rows in known["times"].values() if name in rows]
        if not results or any(each != now["digests"] for each in results):
            faults.append(f"{name}: the result was {results or 'not recorded'}, now {now['digests']}")
    return len(found), faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("record", "compare"))
    parser.add_argument("--on", nargs="+", default=["cpu"], metavar="PLACE", help="cpu by default")
    parser.add_argument("--only", default="", metavar="NAME", help="only what has this in its name")
    parser.add_argument("--times", action="store_true", help="take times too, on cpu and cuda")
    parser.add_argument("--poison", type=int, metavar="BYTE", help="fill new memory of this process with a byte")
    parser.add_argument("--file", type=Path, default=RECORD, help="the record")
    arguments = parser.parse_args()
    known = {"recorded": {}, "digests": {}, "times": {}}
    if arguments.file.exists() or arguments.what == "compare":
        known = json.loads(arguments.file.read_text())
    if arguments.poison is not None:
        from tests import poison

        poison.start(arguments.poison)
    faults = []
    for on in arguments.on:
        work = [record if arguments.what == "record" else compare]
        if arguments.times and on in ("cpu", "cuda"):
            work.append(record_times if arguments.what == "record" else compare_times)
        counts, found = zip(*(run(on, arguments.only, known) for run in work), strict=True)
        faults += [f"{on}: {fault}" for each in found for fault in each]
        if not sum(counts):
            faults.append(f"{on}: nothing has {arguments.only!r} in its name")
    for fault in faults:
        print(fault, file=sys.stderr)
    if arguments.what == "record" and not faults:
        arguments.file.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
