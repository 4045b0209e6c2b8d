"""Plans are made without the devices they are for, cover every vertex once, and know their peak memory."""

import json
import shutil
import subprocess
import sys
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mgraph
from mgraph import DeviceSpec, InputError, MemoryLimitError, plan
from mgraph.bfs import Search
from mgraph.device import HostDevice
from mgraph.floyd_warshall import FloydWarshall
from mgraph.generate import random_matrix, rmat
from mgraph.plan import USABLE, balanced_ranges, best_grid, even_ranges, grouped, products

GIB = 1 << 30


def gpus(count, memory=140 * GIB):
    return [DeviceSpec(f"cuda:{i}", "cuda", memory) for i in range(count)]


def cpus(count, memory=64 * GIB, cores=4):
    return [DeviceSpec("cpu", "cpu", memory, cores) for _ in range(count)]


def check_cover(ranges, n, parts, multiple):
    """The ranges follow one another from 0 to n, and no block of `multiple` vertices is cut."""
    assert len(ranges) == parts
    assert ranges[0][0] == 0 and ranges[-1][1] == n
    assert all(first <= last for first, last in ranges)
    assert all(before[1] == after[0] for before, after in pairwise(ranges))
    assert all(last % multiple == 0 or last == n for _, last in ranges)


# How the vertices are cut


@given(st.integers(0, 5000), st.integers(1, 20), st.sampled_from([1, 32, 64, 96, 128]))
def test_even_ranges(n, parts, multiple):
    ranges = even_ranges(n, parts, multiple)
    check_cover(ranges, n, parts, multiple)
    blocks = [-(-(last - first) // multiple) for first, last in ranges]
    assert max(blocks) - min(blocks) <= 1


@given(st.lists(st.integers(0, 200), max_size=600), st.integers(1, 12), st.sampled_from([np.int32, np.int64]))
def test_balanced_ranges(degrees, parts, dtype):
    indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(dtype)
    ranges = balanced_ranges(indptr, parts)
    check_cover(ranges, len(degrees), parts, 32)
    work = [int(indptr[last] - indptr[first]) + last - first for first, last in ranges]
    # A bound lies at most 32 vertices beyond the place that would cut the work evenly.
    assert max(work) <= sum(work) / parts + 1 + 32 * (1 + max(degrees, default=0))


@given(st.integers(0, 3000), st.integers(1, 12), st.sampled_from([32, 64, 96, 128]))
def test_plans_of_apsp_cover_the_matrix(n, parts, block):
    made = plan("apsp", n, devices=gpus(parts), method="blocked", block=block)
    high, wide = made.grid
    assert high * wide == parts and len(made.ranges) == len(made.columns) == parts
    check_cover(made.ranges[::wide], n, high, block)
    check_cover(made.columns[:wide], n, wide, block)
    assert made.ranges == tuple(rows for rows in made.ranges[::wide] for _ in range(wide))
    assert made.columns == made.columns[:wide] * high
    assert made.block == block and made.steps == 3 * -(-n // block)
    assert made.span >= 1 and len(made.peak_bytes) == parts


@given(st.integers(0, 3000), st.integers(0, 10**6), st.integers(1, 12))
def test_plans_of_bfs_cover_the_vertices(n, m, parts):
    made = plan("bfs", n, m if n else 0, devices=gpus(parts))
    check_cover(made.ranges, n, parts, 32 if parts > 1 else 1)
    assert made.steps is None and made.dtype == "int32" and len(made.peak_bytes) == parts


def test_a_search_is_cut_by_edges():
    degrees = np.ones(6400, np.int64)
    degrees[:640] = 100
    indptr = np.concatenate([[0], np.cumsum(degrees)])
    made = plan("bfs", 6400, int(indptr[-1]), devices=gpus(4), indptr=indptr)
    edges = [int(indptr[last] - indptr[first]) + last - first for first, last in made.ranges]
    assert max(edges) < 1.1 * sum(edges) / 4
    assert made.ranges[0][1] < 320 < made.ranges[3][0]


def test_searches_of_many_vertices_send_lists():
    n, m = 1 << 24, 5 << 24
    made = plan("bfs", n, m, cpus(2))
    assert made.listed == n // 8 // 2 // 16 // 4 - 1 == 16383
    assert "up to 16,383 vertices of a shard as a list" in made.explain()
    assert plan("bfs", 8 * n, m, cpus(2)).listed == 16383  # a short message
    for other in (
        plan("bfs", n, m, cpus(1)),
        plan("bfs", n, m, cpus(2), method="pull"),
        plan("bfs", n, m, cpus(64)),
        plan("bfs", n, m, gpus(2)),
    ):
        assert other.listed == 0 and "as a list" not in other.explain()
    assert plan("bfs", 16 * n, m, gpus(2)).listed > 2**17


def test_grids_are_as_square_as_they_can_be():
    assert [best_grid(shards) for shards in (1, 2, 3, 4, 5, 6, 8, 9, 12)] == [
        (1, 1), (2, 1), (3, 1), (2, 2), (5, 1), (3, 2), (4, 2), (3, 3), (4, 3),
    ]  # fmt: skip


def test_groups_hold_whole_components():
    assert grouped([]) == () and grouped([5]) == (5,)
    assert grouped([5, 1, 3000, 1, 2040, 7, 2]) == (6, 3000, 2048, 2)


@given(st.integers(0, 5000), st.booleans())
def test_products_reach_every_path(n, nonnegative):
    made = products(n, nonnegative)
    longest = max(0, n - 1 if nonnegative else n)  # edges of a path, or of a negative cycle
    assert 2**made >= longest and (made == 0 or 2 ** (made - 1) < longest)


def test_more_devices_than_vertices():
    made = plan("apsp", 34, devices=gpus(8))
    check_cover(made.ranges[:: made.grid[1]], 34, made.grid[0], made.block)
    assert "no vertices" in made.explain()
    check_cover(plan("bfs", 34, 156, devices=gpus(8)).ranges, 34, 8, 32)


# What a plan says


def test_explain_tells_each_fact():
    made = plan(
        "apsp", 100_000, 1_000_000, gpus(4), method="blocked", predecessors=True, dtype="int32", block=64, span=12
    )
    text = made.explain()
    for part in (
        "apsp, method 'blocked': 100,000 vertices, 1,000,000 directed edges",
        "distances int32, predecessors int32",
        "blocks of 64 pivots",
        "supersteps: 4,689, in spans of 12",
        "predicted time",
        "a grid of 2 x 2 shards",
        "weighed:",
    ):
        assert part in text
    for spec, (first, last) in zip(made.devices, made.ranges, strict=True):
        (line,) = (line for line in text.splitlines() if line.startswith(f"{spec.name}:"))
        assert f"vertices {first:,} to {last - 1:,}" in line and "of 140.00 GiB" in line
    text = plan("bfs", 1000, 5000, cpus(1)).explain()
    assert "bfs, method 'hybrid'" in text and "as many as the graph has levels" in text
    assert "predecessors" not in text and "pivots" not in text


def test_spans_and_times_follow_the_size():
    small, large = (plan("apsp", n, devices=gpus(1)) for n in (4096, 131_072))
    assert small.span > large.span
    assert large.seconds / small.seconds > 1000
    alone, together = (plan("apsp", 131_072, devices=gpus(count)) for count in (1, 4))
    assert 3 < alone.seconds / together.seconds <= 4
    slow = plan("apsp", 4096, devices=cpus(1))
    assert slow.seconds > 10 * small.seconds
    assert plan("apsp", 4096, devices=gpus(1), predecessors=True).seconds > small.seconds


def test_a_plan_for_this_machine():
    here = plan("apsp", 100, devices="cpu")
    assert here.devices[0].name == "cpu" and here.devices[0].cores >= 1 and here.devices[0].memory > 0
    assert len(plan("apsp", 100, devices=3).ranges) == 3
    assert len(plan("apsp", 100).devices) == 1
    assert [spec.name for spec in plan("apsp", 100, devices=["cpu", "cpu"]).devices] == ["cpu", "cpu"]


def test_a_plan_for_gpus_needs_neither_cupy_nor_a_gpu():
    code = """
import json, sys
sys.modules["cupy"] = None
import mgraph
specs = [mgraph.DeviceSpec(f"cuda:{i}", "cuda", 140 << 30) for i in range(4)]
plans = [mgraph.plan("apsp", 100_000, devices=specs), mgraph.plan("bfs", 1000, 5000, specs)]
loaded = [name for name in ("numba", "dask", "distributed") if name in sys.modules]
print(json.dumps([[list(made.peak_bytes) for made in plans], loaded]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    peaks, loaded = json.loads(done.stdout)
    expected = [plan("apsp", 100_000, devices=gpus(4)), plan("bfs", 1000, 5000, gpus(4))]
    assert peaks == [list(made.peak_bytes) for made in expected]
    assert loaded == []


# What does not fit


@pytest.fixture
def small_host(monkeypatch):
    """Make a host with neither memory nor disk for a matrix that does not fit its GPU."""
    monkeypatch.setattr(HostDevice, "available_memory", lambda self: GIB)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(GIB, 0, GIB))


@pytest.mark.usefixtures("small_host")
def test_refusal_says_what_is_needed_and_what_is_there():
    needed = plan("apsp", 100_000, devices=gpus(1)).peak_bytes[0]
    with pytest.raises(MemoryLimitError) as refused:
        plan("apsp", 100_000, devices=gpus(1, memory=8 * GIB))
    text = str(refused.value)
    assert f"{needed / GIB:,.2f} GiB" in text and "8.00 GiB" in text
    assert "100,000 vertices" in text and "cuda:0" in text
    assert isinstance(refused.value, MemoryError)
    with pytest.raises(MemoryLimitError, match="bfs"):
        plan("bfs", 10**8, 10**10, gpus(1, memory=8 * GIB))


@pytest.mark.usefixtures("small_host")
def test_what_fits_exactly_is_planned():
    peak = plan("apsp", 50_000, devices=gpus(1)).peak_bytes[0]
    enough = int(peak / USABLE) + 1
    plan("apsp", 50_000, devices=gpus(1, memory=enough))
    with pytest.raises(MemoryLimitError):
        plan("apsp", 50_000, devices=gpus(1, memory=int(peak / USABLE) - 1))


@pytest.mark.usefixtures("small_host")
def test_the_number_of_devices_it_takes_is_enough():
    with pytest.raises(MemoryLimitError, match=r"about \d+ such devices") as refused:
        plan("apsp", 200_000, devices=gpus(1, memory=40 * GIB))
    count = int(str(refused.value).split("about ")[1].split()[0])
    plan("apsp", 200_000, devices=gpus(count, memory=40 * GIB))


def test_one_device_with_too_little_is_enough_to_refuse():
    with pytest.raises(MemoryLimitError, match="cuda:2"):
        plan("apsp", 100_000, devices=[*gpus(2), DeviceSpec("cuda:2", "cuda", GIB), DeviceSpec("x", "cuda", 99 * GIB)])


@pytest.mark.parametrize("program", [FloydWarshall, Search])
def test_calls_are_refused_before_anything_is_allocated(monkeypatch, program):
    graph = rmat(10)
    graph.csc()
    monkeypatch.setattr(HostDevice, "available_memory", lambda self: 1 << 10)
    monkeypatch.setattr(program, "load", lambda *_: pytest.fail("loaded"))
    tracemalloc.start()
    try:
        with pytest.raises(MemoryLimitError):
            if program is FloydWarshall:
                mgraph.apsp(graph, device="cpu")
            else:
                mgraph.bfs(graph, 0, device="cpu")
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def measured(call):
    """Return a call's result, and the most bytes that were allocated at a time while it ran."""
    tracemalloc.start()
    try:
        result = call()
        return result, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("predecessors", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_predicted_peak_of_apsp_is_the_measured_one(dtype, predecessors):
    n = 2048 if predecessors or dtype == "float64" else 4096
    matrix = random_matrix(n, density=0.1, dtype=dtype)
    options = dict(device="cpu", dtype=dtype, predecessors=predecessors)
    mgraph.apsp(matrix[:64, :64], **options)  # compiles
    result, peak = measured(lambda: mgraph.apsp(matrix, **options))
    assert result.plan.peak_bytes[0] == pytest.approx(peak, rel=0.05)


def test_predicted_peak_of_apsp_of_edges_is_the_measured_one():
    graph = rmat(12)
    mgraph.apsp(graph, device="cpu")  # compiles
    result, peak = measured(lambda: mgraph.apsp(graph, device="cpu"))
    assert result.plan.peak_bytes[0] == pytest.approx(peak, rel=0.05)


@pytest.mark.parametrize("predecessors", [False, True])
def test_predicted_peak_of_bfs_is_the_measured_one(predecessors):
    graph = rmat(17, directed=True)
    graph.csc()
    mgraph.bfs(rmat(5, directed=True), 0, device="cpu", predecessors=predecessors)  # compiles
    result, peak = measured(lambda: mgraph.bfs(graph, 1, device="cpu", predecessors=predecessors))
    # On the CPU the edges are the input's own arrays.
    edges = 2 * (4 * graph.m + 4 * (graph.n + 1))
    assert result.plan.peak_bytes[0] - edges == pytest.approx(peak, rel=0.05)


# Arguments that cannot be used


@pytest.mark.parametrize(
    ("arguments", "options", "says"),
    [
        (("dijkstra", 10), {}, "'dijkstra' is not known: use one of 'apsp', 'bfs', 'bfs_many', 'closure'"),
        (("apsp", -1), {}, "n=-1"),
        (("apsp", 1.5), {}, "n=1.5"),
        (("apsp", True), {}, "n=True"),
        (("apsp", 10, -2), {}, "m=-2"),
        (("bfs", 10), {}, "m="),
        (("apsp", 10), {"method": "pull"}, "method='pull'"),
        (("bfs", 10, 9), {"method": "blocked"}, "method='blocked'"),
        (("apsp", 10), {"block": 48}, "block=48"),
        (("apsp", 10), {"dtype": "int8"}, "int8"),
        (("apsp", 10), {"dtype": "auto"}, "name a type"),
        (("closure", 10), {"method": "naive"}, "'blocked'"),
        (("closure", 10), {"predecessors": True}, "predecessors"),
        (("apsp", 10), {"dtype": "words"}, "words"),
        (("apsp", 10), {"devices": 0}, "devices=0"),
        (("apsp", 10), {"devices": []}, "devices="),
        (("apsp", 10), {"devices": 1.5}, "devices=1.5"),
        (("apsp", 10), {"devices": "tpu"}, "tpu"),
    ],
)
def test_bad_arguments(arguments, options, says):
    with pytest.raises(InputError) as refused:
        plan(*arguments, **options)
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"algorithm": "apsp", "n": None}, "n=None"),
        ({"algorithm": "bfs", "n": 2**33, "m": 5}, "n=8589934592"),
        ({"algorithm": "apsp", "n": 10, "span": 0}, "span=0"),
        ({"algorithm": "apsp", "n": 10, "devices": DeviceSpec("x", "tpu", 1 << 30)}, "tpu"),
        ({"algorithm": "apsp", "n": 10, "devices": DeviceSpec("x", "cpu", -5)}, "-5"),
    ],
)
def test_plans_that_cannot_be(arguments, message):
    with pytest.raises(InputError, match=message):
        plan(**arguments)
