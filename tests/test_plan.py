"""Plans are made without the devices they are for, cover every vertex once, and know their peak memory."""

import inspect
import json
import math
import re
import shutil
import subprocess
import sys
import tomllib
import tracemalloc
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mgraph
from mgraph import DeviceSpec, InputError, MemoryLimitError, plan
from mgraph import device as devices
from mgraph.algorithms.apsp.candidates import products
from mgraph.algorithms.bfs.search import Search
from mgraph.algorithms.components.plan import LISTED
from mgraph.algorithms.registry import ALGORITHMS, PLANNED
from mgraph.arguments import size_in_words
from mgraph.device import HostDevice
from mgraph.errors import SlowPlanWarning
from mgraph.generate import random_matrix, rmat
from mgraph.matrices.floyd_warshall import FloydWarshall
from mgraph.planner import largest
from mgraph.planning.cut import balanced_ranges, even_ranges, fitting, grids, grouped, shares
from mgraph.planning.devices import USABLE
from mgraph.planning.network import HOP, Exchanged, gathered, traffic
from mgraph.planning.plan import Alternative, duration_in_words, warn_of_minutes
from mgraph.planning.rates import DEFAULT, EXCHANGE, PUBLISHED
from mgraph.planning.shape import Shape
from tests.support.memory import measured
from tests.support.parameters import exhaustive

GIB = 1 << 30
BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


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
    ranges = balanced_ranges(len(degrees), lambda v: int(indptr[v]), parts)
    check_cover(ranges, len(degrees), parts, 32)
    work = [int(indptr[last] - indptr[first]) + last - first for first, last in ranges]
    # A bound lies at most 32 vertices beyond the place that would cut the work evenly.
    assert max(work) <= sum(work) / parts + 1 + 32 * (1 + max(degrees, default=0))


@given(st.integers(0, 3000), st.integers(1, 12), st.sampled_from([32, 64, 96, 128]))
def test_plans_of_apsp_cover_the_matrix(n, parts, block):
    made = plan("apsp", n, devices=gpus(parts), method="blocked", block=block)
    high, wide = made.detail.grid
    assert high * wide == parts and len(made.ranges) == len(made.detail.columns) == parts
    check_cover(made.ranges[::wide], n, high, block)
    check_cover(made.detail.columns[:wide], n, wide, block)
    assert made.ranges == tuple(rows for rows in made.ranges[::wide] for _ in range(wide))
    assert made.detail.columns == made.detail.columns[:wide] * high
    assert made.detail.block == block and made.steps == 3 * -(-n // block)
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


def test_a_cut_takes_no_memory_of_the_graphs_size():
    n = 10**15
    for parts in (2, 3):
        ranges, edges, _ = shares(n, 5 * n, gpus(parts), None, None, lambda vertices, edges: 0)
        check_cover(ranges, n, parts, 32)
        assert sum(edges) == 5 * n and max(edges) - min(edges) <= 2 * 5 * 32


@given(st.integers(0, 500), st.lists(st.integers(0, 300), min_size=1, max_size=6), st.sampled_from([1, 32]))
def test_ranges_that_fit(n, room, multiple):
    """Even ranges where these fit; else the longest is as short as can be; else even ones again."""
    even = even_ranges(n, len(room), multiple)

    def fits(shard, first, last):
        return last - first <= room[shard]

    ranges = fitting(even, multiple, int, fits)
    check_cover(ranges, n, len(room), multiple)
    longest = max(last - first for first, last in ranges)
    if all(fits(shard, *even[shard]) for shard in range(len(room))):
        assert ranges == even
    elif all(fits(shard, *ranges[shard]) for shard in range(len(room))):
        # Less is not enough, as shards of that size show; the last range need not end on a multiple.
        reach = sum(min(most, longest - 1) // multiple * multiple for most in room)
        assert reach < n
    else:
        assert ranges == even
        assert sum(most // multiple * multiple for most in room) < n


#: Plans of every algorithm: its name, the numbers of vertices and edges, and options.
UNEQUAL = {
    **{name: (name, 10**6, 10**8, {}) for name in ALGORITHMS if name not in ("apsp", "betweenness", "list_rank")},
    "apsp, blocked": ("apsp", 8000, 0, {"method": "blocked"}),
    "apsp, derived": ("apsp", 8000, 80_000, {"predecessors": True, "exact": True}),
    "apsp, naive": ("apsp", 8000, 0, {"method": "naive"}),
    "apsp, squaring": ("apsp", 8000, 0, {"method": "squaring"}),
    "apsp, sssp": ("apsp", 8000, 80_000, {"method": "sssp"}),
    "closure": ("closure", 50_000, 10**6, {}),
    "bfs": ("bfs", 10**6, 10**8, {"predecessors": True}),
    "bfs, by level": ("bfs", 10**6, 10**8, {"method": "edge"}),
    "bfs_many": ("bfs_many", 10**6, 10**8, {"sources": 64}),
    "distances": ("distances", 90, 400, {}),
    "path_counts": ("path_counts", 90, 400, {}),
    "sssp": ("sssp", 10**6, 10**8, {"predecessors": True}),
    "list_rank": ("list_rank", 10**8, None, {"method": "wyllie"}),
}


@pytest.mark.parametrize("devices", [gpus, cpus])
@pytest.mark.parametrize("workers", [2, 4, 6])
@pytest.mark.parametrize(("algorithm", "n", "m", "options"), UNEQUAL.values(), ids=UNEQUAL)
def test_devices_of_unequal_memory(algorithm, n, m, options, workers, devices):
    """A device with less memory takes less if an equal part does not fit it, and the others share the rest."""
    many = devices(workers)
    even = plan(algorithm, n, m, many, **options)
    enough = [replace(spec, memory=2 * max(even.peak_bytes)) for spec in many]
    assert plan(algorithm, n, m, enough, **options).ranges == even.ranges

    # One device has room for a third of its part; the others take over the rest.
    fixed = plan(algorithm, n, m, devices(64), **options).peak_bytes[-1] if m or algorithm == "list_rank" else 0
    little = int((fixed + (max(even.peak_bytes) - fixed) / 3) / USABLE)
    uneven = [replace(spec, memory=little if i == 1 else spec.memory) for i, spec in enumerate(enough)]
    made = plan(algorithm, n, m, uneven, **options)
    assert all(peak <= USABLE * spec.memory for peak, spec in zip(made.peak_bytes, uneven, strict=True))
    high, wide = getattr(made.detail, "grid", (workers, 1))
    by_one = ("apsp", "distances", "list_rank", "path_counts")
    multiple = getattr(made.detail, "block", 0) or (1 if algorithm in by_one else 32)
    check_cover(made.ranges[::wide], n, high, multiple)
    sizes = [last - first for first, last in made.ranges]
    assert 0 < sizes[1] < max(sizes)

    none = [replace(spec, memory=little) for spec in many]
    with pytest.raises(MemoryLimitError, match=r"needs .* on (cpu|cuda:\d), which has"):
        plan(algorithm, n, m, none, **options)


def test_searches_of_many_vertices_send_lists():
    n, m = 1 << 24, 5 << 24
    made = plan("bfs", n, m, cpus(2))
    assert made.detail.listed == n // 8 // 2 // 16 // 4 - 1 == 16383
    assert "up to 16,383 vertices of a shard as a list" in made.explain(True)
    assert plan("bfs", 8 * n, m, cpus(2)).detail.listed == 16383  # a short message
    for other in (
        plan("bfs", n, m, cpus(1)),
        plan("bfs", n, m, cpus(2), method="pull"),
        plan("bfs", n, m, cpus(64)),
        plan("bfs", n, m, gpus(2)),
    ):
        assert other.detail.listed == 0 and "as a list" not in other.explain(True)
    assert plan("bfs", 16 * n, m, gpus(2)).detail.listed > 2**17


def test_grids_are_as_square_as_they_can_be():
    assert [grids(shards)[0] for shards in (1, 2, 3, 4, 5, 6, 8, 9, 12)] == [
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
    check_cover(made.ranges[:: made.detail.grid[1]], 34, made.detail.grid[0], made.detail.block)
    assert "no vertices" in made.explain(True)
    check_cover(plan("bfs", 34, 156, devices=gpus(8)).ranges, 34, 8, 32)


# The text of a plan


def test_explain_prints_each_fact():
    made = plan(
        "apsp", 100_000, 1_000_000, gpus(4), method="blocked", predecessors=True, dtype="int32", block=64, span=12
    )
    text = made.explain(True)
    for part in (
        "apsp, method 'blocked': 100,000 vertices, 1,000,000 directed edges",
        "distances int32, predecessors int32",
        "blocks of 64 pivots",
        "supersteps: 4,689, in spans of 12",
        "predicted time",
        "a grid of 2 x 2 shards",
        "alternatives:",
    ):
        assert part in text
    for spec, (first, last) in zip(made.devices, made.ranges, strict=True):
        (line,) = (line for line in text.splitlines() if line.startswith(f"{spec.name}:"))
        assert f"vertices {first:,} to {last - 1:,}" in line and "of 140.00 GiB" in line
    text = plan("bfs", 1000, 5000, cpus(1)).explain(True)
    assert "bfs, method 'hybrid'" in text and "as many as the graph has levels" in text
    assert "predecessors" not in text and "pivots" not in text


@pytest.mark.parametrize(
    ("m", "method", "name", "verdict"),
    [
        (6_000, "auto", "blocked", "chosen"),
        (6_000, "auto", "naive", "fits"),
        (6_000, "auto", "sssp", "fits; chosen only if at least 2 times as fast and 10 ms shorter"),
        (6_000, "naive", "sssp", "fits; method='naive' was requested"),
    ],
)
def test_explain_prints_the_verdict_on_each_alternative(m, method, name, verdict):
    lines = plan("apsp", 1000, m, gpus(1), method=method).explain(True).splitlines()
    alternatives = lines[lines.index("alternatives:") + 1 :]
    (line,) = (line for line in alternatives if line.split()[0] == name)
    assert line.endswith(f"  {verdict}")


def test_a_plan_says_how_large_the_result_is_and_where_it_goes():
    """2,000,000 x 2,000,000 distances need 3 GiB of each GPU, and 14.6 TiB of their hosts."""
    made = plan("apsp", 2_000_000, 12_000_000, gpus(4))
    assert made.method == "sssp" and made.result_bytes == 4 * 2_000_000**2
    assert "in the memory of the devices' hosts, in addition to the peaks; give host_memory" in made.explain(True)
    assert max(made.peak_bytes) < 4 << 30
    one = plan("apsp", 1000, 6000, gpus(1), method="sssp", predecessors=True)
    assert one.result_bytes == one.host_bytes == 8 * 1000**2 and "the host's memory" in one.result_place
    assert plan("apsp", 1000, devices=gpus(1), intermediate=True).result_bytes == 8 * 1000**2
    assert plan("bfs", 1000, 5000, cpus(1)).result_place == "in memory, a part of the peak"
    assert plan("closure", 1000, 5000, gpus(2)).result_bytes == 1000 * 32 * 4
    assert plan("distances", 1000, 5000, gpus(1), sources=7, targets=9, nearest=2).result_bytes == 7 * 2 * 8
    assert plan("distances", 1000, 5000, gpus(1), reduce="mean").result_bytes is None


def test_print_shows_what_explain_returns():
    made = plan("bfs", 1000, 5000, cpus(1))
    assert str(made) == made.explain() and repr(made).startswith("Plan(algorithm='bfs'")


def test_a_plan_says_why_it_was_chosen_in_short():
    fastest = plan("apsp", 30_000, 180_000, gpus(1), exact=True).explain().splitlines()
    assert fastest[1].startswith("why: the fastest of 4 that fit; 'blocked' takes ")
    assert fastest[2].startswith("where: cuda:0, peak ") and len(fastest) == 5
    named = plan("apsp", 30_000, 180_000, gpus(1), method="naive").explain()
    assert "why: 'sssp' takes " in named and "s, but method='naive' was requested" in named
    assert (
        plan("apsp", 100_000, 180_000, gpus(4), exact=True)
        .explain()
        .splitlines()[2]
        .startswith("where: 4 x cuda, peak ")
    )


def test_a_refusal_says_which_share_of_the_memory_plans_take():
    with pytest.raises(MemoryLimitError, match=r"has 140\.00 GiB free, and plans take at most 95% of it"):
        plan("apsp", 190_000, devices=gpus(1), method="naive")


def test_rows_that_leave_the_devices_are_compared_with_their_hosts():
    asked = ("apsp", 100_000, 600_000, "4xcuda")  # 37.3 GiB of rows
    options = {"memory": "16GiB", "method": "sssp"}
    assert plan(*asked, **options, host_memory="40GiB").method == "sssp"
    with pytest.raises(MemoryLimitError, match=r"9\.31 GiB of the memory of the host of cuda, of which 9\.00 GiB are"):
        plan(*asked, **options, host_memory="36GiB")
    assert plan(*asked, **options, host_memory="18GiB", gpus_per_node=1).method == "sssp"
    with pytest.raises(MemoryLimitError, match=r"of the host's memory, of which 30\.00 GiB are free"):
        plan("distances", 100_000, 600_000, "cuda", **options, host_memory="30GiB")


def test_devices_in_words():
    made = plan("apsp", 1000, devices="4xcuda", memory="16GiB")
    assert [(spec.name, spec.kind, spec.memory) for spec in made.devices] == [("cuda", "cuda", 16 << 30)] * 4
    assert len(plan("apsp", 1000, devices=["2xcpu", "cpu"]).devices) == 3
    assert len(plan("apsp", 1000, devices="3", memory=1 << 30).devices) == 3
    for wrong in ("0", "4xgpu", "x", "0xcpu", "cpux2"):
        with pytest.raises((InputError, mgraph.DeviceError)):
            plan("apsp", 1000, devices=wrong)


@pytest.mark.parametrize("seconds", [None, 30.0])
@pytest.mark.parametrize(
    ("algorithm", "degree", "options"),
    [
        ("apsp", None, {"method": "blocked"}),
        ("apsp", 6, {}),
        ("sssp", 8.5, {"predecessors": True}),
        ("distances", 4, {"sources": 100}),
        ("list_rank", None, {}),
    ],
)
def test_the_largest_that_fits(algorithm, degree, options, seconds):
    given = {"devices": "2xcuda", "memory": "16GiB", "host_memory": "64GiB", **options}
    best = largest(algorithm, degree, seconds=seconds, **given)
    assert best.disk_bytes == 0 and (seconds is None or best.seconds <= seconds)
    more = best.n + 1
    try:
        next_one = plan(algorithm, more, None if degree is None else int(degree * more), **given)
    except MemoryLimitError:
        return
    assert seconds is not None and next_one.seconds + getattr(next_one.detail, "preparation", 0) > seconds


def test_what_the_largest_does_not_take():
    with pytest.raises(InputError, match="degree must be a number of edges"):
        largest("bfs", "many")
    with pytest.raises(InputError, match="seconds must be a number of seconds"):
        largest("apsp", seconds=0)
    with pytest.raises(InputError, match="seconds must be a time"):
        largest("apsp", devices="cpu", seconds=1e-12)
    with pytest.raises(InputError, match="needs degree="):
        largest("bfs", devices="cpu")
    with pytest.raises(InputError, match="the memory of their hosts, which get the result: give host_memory="):
        largest("apsp", 6, "8xcuda", memory="140GiB")


def test_a_plan_says_whose_rates_it_takes():
    """Those of an H200, where a GPU of another model or of none was not measured."""
    for model, said in (("", True), ("NVIDIA H100", True), ("NVIDIA H200", False), ("Tesla V100-SXM2-16GB", False)):
        made = plan("bfs", 1000, 5000, mgraph.DeviceSpec("cuda", "cuda", 1 << 34, model=model))
        assert made.explain().endswith(", if each is as fast as an H200") == said
    assert "H200" not in plan("bfs", 1000, 5000, "cpu").explain()


def test_the_memory_of_this_machine_counts_for_one_gpu_alone():
    """Whatever this machine has free: what one GPU sends to its host is compared with that, of several with nothing."""
    given = {"method": "sssp", "memory": "140GiB"}
    with pytest.raises(MemoryLimitError, match=r"needs .* of this machine's memory, of which .* are free"):
        plan("apsp", 40_000_000, 240_000_000, "cuda", **given)
    sent = plan("apsp", 40_000_000, 240_000_000, "8xcuda", **given)
    assert "in the memory of the devices' hosts, in addition to the peaks; give host_memory" in sent.explain()
    assert "; give host_memory" in largest("apsp", 6, "8xcuda", seconds=60, **given).explain()
    assert largest("apsp", 6, "8xcuda", memory="140GiB", method="blocked").n > 500_000


def test_a_choice_that_costs_minutes_is_warned_of():
    made = plan("distances", 1000, 5000, cpus(1))

    def compared(hierarchy, sssp, preparation=0.0):
        ways = Alternative("hierarchy", 90.0, 1, hierarchy), Alternative("sssp", 300.0, 1, sssp)
        return replace(made, alternatives=ways, detail=replace(made.detail, preparation=preparation))

    with pytest.warns(
        SlowPlanWarning, match=r"'sssp' is predicted to take 300\.0 s, by 'hierarchy' 90\.0 s, .*pymetis"
    ):
        warn_of_minutes(compared("fits; only used if pymetis is installed", "chosen"))
    with pytest.warns(SlowPlanWarning, match=r"80\.0 s are to prepare .*method='sssp' takes 300\.0 s"):
        warn_of_minutes(compared("chosen", "fits", preparation=80.0))
    warn_of_minutes(compared("fits", "chosen"))  # no warning, which would be an error here
    warn_of_minutes(made)


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (999 << 10, "999 KiB"),
        (1020 << 10, "0.996 MiB"),
        (999 << 20, "999 MiB"),
        (1023 << 20, "1.00 GiB"),
        (1000 << 20, "0.98 GiB"),
        (5 << 40, "5.00 TiB"),
        (5 << 50, "5.00 PiB"),
    ],
)
def test_sizes_in_words(size, words):
    assert size_in_words(size) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (2e-6, "2 µs"),
        (0.5, "500.0 ms"),
        (999, "999.0 s"),
        (3600, "60.0 min"),
        (8000, "2.2 h"),
        (86400 * 2000, "2,000.0 days"),
    ],
)
def test_times_in_words(seconds, words):
    assert duration_in_words(seconds) == words


@given(st.integers(0, 1 << 50))
def test_sizes_are_printed_without_exponents(size):
    assert "e" not in size_in_words(size)


def test_spans_and_times_follow_the_size():
    small, large = (plan("apsp", n, devices=gpus(1)) for n in (4096, 131_072))
    assert small.span > large.span
    assert large.seconds / small.seconds > 1000
    alone, together = (plan("apsp", 131_072, devices=gpus(count)) for count in (1, 4))
    assert 3 < alone.seconds / together.seconds <= 4
    slow = plan("apsp", 4096, devices=cpus(1))
    assert slow.seconds > 10 * small.seconds
    assert plan("apsp", 4096, devices=gpus(1), predecessors=True).seconds > small.seconds


@pytest.mark.parametrize("predecessors", [False, True])
@pytest.mark.parametrize("cores", [2, 16])
@pytest.mark.parametrize(("n", "m"), [(20_000, 100_000), (50_000, 250_000), (60_000, 3_000_000)])
def test_searches_from_all_vertices_on_a_cpu_take_supersteps_of_seconds(n, m, cores, predecessors):
    made = plan("apsp", n, m, cpus(1, 1 << 40, cores), method="sssp", predecessors=predecessors)
    assert made.steps == -(-n // made.detail.batch)
    least = 4 * 64 * cores  # four slices for each core
    assert made.seconds / made.steps <= 4 or made.detail.batch == least
    if made.steps > 1:
        assert made.seconds / made.steps >= 2 and made.span == 1 and made.detail.batch % least == 0


@pytest.mark.parametrize("options", [{}, {"method": "bfs"}, {"reduce": "mean"}, {"method": "hierarchy"}])
def test_searches_from_many_sources_on_a_cpu_take_supersteps_of_seconds(options):
    roads = Shape(far=0.0, levels=4000)
    small, large = (
        plan("distances", n, 3 * n, cpus(1, 1 << 42, 2), sources=20_000, shape=roads, **options)
        for n in (20_000, 10_000_000)
    )
    assert large.detail.batch < small.detail.batch
    # Each core has four searches at least, or 64 that share reads.
    assert large.seconds / large.steps <= 4 or large.detail.batch in (4 * 2, 128 * 2, 4 * 64 * 2)


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


# Times of exchanges


def rows_of(file, *names):
    """Return the measured rows of some names."""
    rows = map(json.loads, (BENCHMARKS / "results" / file).read_text().splitlines())
    found = [row for row in rows if row["row"] in names]
    assert {row["row"] for row in found} == set(names)
    return found


def test_predicted_times_are_those_measured_on_one_to_four_gpus():
    measured = [(row["gpus"], row["n"], {}, row["seconds"]) for row in rows_of("apsp.jsonl", "scaling")]
    measured += [(2, row["n"], {}, row["two"]) for row in rows_of("engine.jsonl", "fw-two")]
    for row in rows_of("apsp.jsonl", "types"):
        labels = {name: row[name] for name in ("predecessors", "intermediate") if name in row}
        options = {"dtype": row["dtype"], "nonnegative": not row["negative"], **labels}
        measured.append((1, row["n"], options, row["seconds"]))
    assert {1, 2, 4} <= {count for count, *_ in measured}
    for count, n, options, seconds in measured:
        made = plan("apsp", n, devices=gpus(count), method="blocked", **options)
        assert made.seconds == pytest.approx(seconds, rel=0.15), (count, n, options)


def test_an_exchange_takes_what_the_link_and_the_network_take():
    n, block, link = 262_144, 128, DEFAULT["cuda"].link
    bytes_of = block * (4 * n // 8) + 64 * 1024  # a part of the pivots' rows, or columns, and their factored block
    on_one = plan("apsp", n, devices=gpus(64))
    assert on_one.detail.grid == (8, 8)
    assert on_one.detail.exchange == pytest.approx(3 * EXCHANGE["cuda"] + 2 * bytes_of / link)
    # A node of eight is a row of the grid: eight parts of the rows enter, and one of the columns is its own.
    rows = plan("apsp", n, devices=gpus(64), network=1e9)
    assert rows.detail.exchange == pytest.approx(3 * EXCHANGE["cuda"] + 8 * bytes_of / 1e9)
    # One of four is half a row.
    halves = plan("apsp", n, devices=gpus(64), network=1e9, gpus_per_node=4)
    assert halves.detail.exchange == pytest.approx(3 * EXCHANGE["cuda"] + 5 * bytes_of / 1e9)
    # One of six lies in two rows, now and then.
    across = plan("apsp", n, devices=gpus(64), network=1e9, gpus_per_node=6)
    assert across.detail.exchange == pytest.approx(3 * EXCHANGE["cuda"] + 8 * bytes_of / 1e9)
    # Sixteen are two rows, each of which receives its part once.
    two_rows = plan("apsp", n, devices=gpus(64), network=1e9, gpus_per_node=16)
    assert two_rows.detail.exchange == rows.detail.exchange
    # All on one node, or a network that is no bottleneck.
    for other in ({"network": 1e3, "gpus_per_node": 64}, {"network": 1e15}):
        assert plan("apsp", n, devices=gpus(64), **other).detail.exchange == on_one.detail.exchange
    assert plan("apsp", n // 8, devices=gpus(1), network=1.0).detail.exchange == 0


#: Plans over ranges of vertices, and the bytes of vectors of all vertices in each of their rounds.
OVER_RANGES = [
    ("bfs", {}, 12, 1 / 8),
    ("bfs_many", {"sources": 64}, 20, 8),
    ("sssp", {"method": "mask"}, 65, 4 + 1 / 8),
]


@pytest.mark.parametrize(("algorithm", "options", "rounds", "each"), OVER_RANGES)
def test_all_of_a_vector_enters_a_node_but_its_own_part(algorithm, options, rounds, each):
    n, network = 1 << 24, 1e9
    near = plan(algorithm, n, 16 * n, gpus(32), **options)
    far = plan(algorithm, n, 16 * n, gpus(32), network=network, **options)
    entering = rounds * each * n * 24 / 32
    assert near.detail.traffic is None and far.detail.traffic.entering == pytest.approx(entering, rel=1e-6)
    assert far.detail.traffic.seconds == pytest.approx(rounds * 2 * HOP["cuda"] + entering / network)
    assert far.seconds == pytest.approx(near.seconds + far.detail.traffic.seconds)
    # More devices do not receive less, nor do all on one node receive anything.
    more = plan(algorithm, n, 16 * n, gpus(64), network=network, **options)
    assert more.detail.traffic.seconds > far.detail.traffic.seconds
    one_node = plan(algorithm, n, 16 * n, gpus(32), network=1.0, gpus_per_node=32, **options)
    assert one_node.detail.traffic.seconds == one_node.detail.traffic.entering == 0
    assert one_node.seconds == near.seconds


@pytest.mark.parametrize("algorithm", ["bfs", "bfs_many", "sssp", "components"])
def test_a_plan_says_from_where_on_a_grid_would_exchange_less(algorithm):
    large = plan(algorithm, 1 << 28, 1 << 32, gpus(64), network=25e9).detail.traffic
    assert large.grid_from is not None and large.grid_from % 8 == 0
    assert f"exchange less from {large.grid_from:,} devices on" in (
        plan(algorithm, 1 << 28, 1 << 32, gpus(64), network=25e9).explain(True)
    )
    # Nodes of one device each, and a slower network, make grids pay earlier.
    single = plan(algorithm, 1 << 28, 1 << 32, gpus(64), network=1e9, gpus_per_node=1).detail.traffic
    assert single.grid_from < large.grid_from


def test_a_grid_never_pays_where_a_level_is_all_latency():
    small = plan("bfs", 1 << 10, 1 << 14, gpus(64), network=400e9)
    assert small.detail.traffic.grid_from is None and "not exchange less on any number of devices" in small.explain(
        verbose=True
    )


@pytest.mark.parametrize("n", [1 << 20, 1 << 24])  # of few vertices, or on many devices
def test_the_forests_of_all_devices_enter_a_node(n):
    found = plan("components", n, 16 * n, gpus(32), network=1e9).detail.traffic
    assert found.entering == 4 * n * (1 + 2 + 4 + 8 + 8)
    assert found.seconds == pytest.approx(5 * 2 * HOP["cuda"] + found.entering / 1e9)


def test_of_large_graphs_bits_and_parents_enter_a_node():
    n = 1 << 24
    found = plan("components", n, 16 * n, gpus(16), network=1e9).detail.traffic
    assert found.entering == pytest.approx(8 / 16 * (n / 8 + 8 * LISTED * n * 16))
    assert found.seconds == pytest.approx(4 * HOP["cuda"] + found.entering / 1e9)


def test_where_a_grid_begins_to_pay_follows_from_what_both_exchange():
    """Two nodes exchange the same either way; of four in a square half of the vector enters, not three quarters."""
    whole = Exchanged(1, 1e9)
    assert traffic(4, "cuda", 1e9, 1, gathered(whole), whole).grid_from == 4
    # A quarter of the vector takes as long as another collective: 60 µs.
    for bytes_of, first in ((4 * 60e-6 * 1e9 * 1.01, 4), (4 * 60e-6 * 1e9 * 0.99, 8)):
        whole = Exchanged(1, bytes_of)
        assert traffic(4, "cuda", 1e9, 1, gathered(whole), whole).grid_from == first


def test_an_exchange_hides_behind_the_update_when_looking_ahead():
    n, rates = 262_144, DEFAULT["cuda"]
    rounds = n // 128
    hidden = plan("apsp", n, devices=gpus(64), network=25e9)
    assert hidden.detail.look_ahead and hidden.detail.exchange < hidden.detail.update
    assert hidden.seconds == pytest.approx(rounds * (hidden.detail.update + rates.strips))
    slow = plan("apsp", n, devices=gpus(64), network=1e9)
    assert slow.seconds == pytest.approx(rounds * (slow.detail.exchange + rates.pivots + rates.strips))
    plain = plan("apsp", n, devices=gpus(64), network=25e9, block=96)
    assert not plain.detail.look_ahead
    assert plain.seconds == pytest.approx(-(-n // 96) * (plain.detail.update + plain.detail.exchange + rates.pivots))
    assert "at the same time" in hidden.explain(True) and "one after the other" in plain.explain(True)
    for method in ("squaring", "naive"):
        one, many = (plan("apsp", n, devices=gpus(64), method=method, **o) for o in ({}, {"network": 1e9}))
        assert many.seconds > one.seconds


def test_thousands_of_devices_take_a_few_lines():
    made = plan("apsp", 1_660_000, devices=gpus(4608), network=25e9)
    check_cover(made.ranges[:: made.detail.grid[1]], 1_660_000, made.detail.grid[0], made.detail.block)
    check_cover(made.detail.columns[: made.detail.grid[1]], 1_660_000, made.detail.grid[1], made.detail.block)
    assert len(made.peak_bytes) == 4608 and max(made.peak_bytes) < 3 * GIB
    assert min(made.peak_bytes) == made.peak_bytes[0] < max(made.peak_bytes)
    lines = made.explain(True).splitlines()
    (line,) = (line for line in lines if line.startswith("4,608 x cuda: 23,040 to 23,168 by 25,856 to 25,984 vertices"))
    assert line.endswith("of 140.00 GiB") and len(lines) < 14
    assert "20 x cuda: 6,400 vertices each" in plan("bfs", 128_000, 10**6, gpus(20)).explain(True)
    assert "20 x cuda: 6,400 vertices each" in plan("bfs_many", 128_000, 10**6, gpus(20), sources=64).explain(
        verbose=True
    )


def test_predictions_for_summit_are_above_what_was_published_there():
    published = tomllib.loads((BENCHMARKS / "published" / "summit.toml").read_text())["run"]
    assert len(published) == 2
    for run in published:
        specs = [DeviceSpec("V100", "cuda", 16 * 10**9, model="Tesla V100-SXM2-16GB")] * run["gpus"]
        for n in (run["gpus"] * 300, 8 * math.isqrt(run["gpus"]) * 6000):  # few vertices a GPU, and half its memory
            made = plan("apsp", n, devices=specs, network=run["network"], gpus_per_node=6, method="blocked")
            predicted = n**3 / made.seconds
            # The model ignores any other load of the network, so it must not predict less than was published.
            assert run["minplus_per_second"] < predicted < 1.35 * run["minplus_per_second"]
            assert predicted < run["minplus_per_second"] / run["share_of_peak"]


def test_a_model_has_the_rates_published_of_it():
    a_v100 = replace(gpus(1)[0], model="Tesla V100-SXM2-16GB")
    ratio = plan("apsp", 65_536, devices=a_v100).seconds / plan("apsp", 65_536, devices=gpus(1)).seconds
    figures = PUBLISHED[a_v100.model].minplus["nonnegative"], DEFAULT["cuda"].minplus["nonnegative"]
    assert ratio == pytest.approx(figures[1] / figures[0], rel=0.02)


# Plans that do not fit


@pytest.fixture
def small_host(monkeypatch):
    """Make a host with neither memory nor disk for a matrix that does not fit its GPU."""
    monkeypatch.setattr(HostDevice, "available_memory", lambda self: GIB)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(GIB, 0, GIB))


@pytest.mark.usefixtures("small_host")
def test_refusal_names_required_and_available_memory():
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
def test_an_exact_fit_is_planned():
    peak = plan("apsp", 50_000, devices=gpus(1)).peak_bytes[0]
    enough = int(peak / USABLE) + 1
    plan("apsp", 50_000, devices=gpus(1, memory=enough))
    with pytest.raises(MemoryLimitError):
        plan("apsp", 50_000, devices=gpus(1, memory=int(peak / USABLE) - 1))


@pytest.mark.usefixtures("small_host")
def test_the_advised_number_of_devices_is_enough():
    with pytest.raises(MemoryLimitError, match=r"about \d+ such devices") as refused:
        plan("apsp", 200_000, devices=gpus(1, memory=40 * GIB))
    count = int(str(refused.value).split("about ")[1].split()[0])
    plan("apsp", 200_000, devices=gpus(count, memory=40 * GIB))


def test_a_refusal_under_a_memory_limit_advises_to_raise_it():
    needs = dict(n=20_000, devices=gpus(1), memory_limit="1MiB", method="squaring")
    with pytest.raises(MemoryLimitError, match=r"which may take .*: raise memory_limit=, or a smaller type") as refused:
        plan("apsp", **needs)
    assert "such devices" not in str(refused.value)
    with pytest.raises(MemoryLimitError, match=r": raise memory_limit=, or it takes about \d+ such devices"):
        plan("apsp", **needs | {"n": 1_000_000})
    with pytest.raises(MemoryLimitError, match=r": raise memory_limit=$"):
        plan("bfs", 10**6, 10**7, gpus(1), memory_limit="1MiB")


def test_a_refusal_without_memory_advises_no_number_of_devices():
    with pytest.raises(MemoryLimitError, match="free memory on x or, if it is a Dask worker") as refused:
        plan("apsp", 64, devices=[DeviceSpec("x", "cuda", 0)])
    assert "such devices" not in str(refused.value)


def test_one_device_with_too_little_is_enough_to_refuse():
    """Unless the others can take its part."""
    devices = [*gpus(2), DeviceSpec("cuda:2", "cuda", GIB), DeviceSpec("x", "cuda", 99 * GIB)]
    with pytest.raises(MemoryLimitError, match="cuda:2"):
        plan("apsp", 330_000, devices=devices)
    made = plan("apsp", 250_000, devices=devices)
    assert all(peak <= USABLE * spec.memory for peak, spec in zip(made.peak_bytes, devices, strict=True))


@pytest.mark.parametrize("program", [FloydWarshall, Search])
def test_calls_are_refused_before_anything_is_allocated(monkeypatch, program):
    graph = rmat(10)
    graph.csc()
    monkeypatch.setattr(HostDevice, "available_memory", lambda self: 1 << 10)
    monkeypatch.setattr(program, "load", lambda *_: pytest.fail("loaded"))

    def refused():
        with pytest.raises(MemoryLimitError):
            if program is FloydWarshall:
                mgraph.apsp(graph, device="cpu")
            else:
                mgraph.bfs(graph, 0, device="cpu")

    refused()  # imports its modules
    tracemalloc.start()
    try:
        refused()
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("predecessors", [False, True])
@pytest.mark.parametrize("dtype", ["float32", *exhaustive("float64", "int32")])
def test_predicted_peak_of_apsp_is_the_measured_one(dtype, predecessors):
    n = 1024 if predecessors else 2048
    if dtype == "int32":  # the conversion takes some MiB
        n *= 2
    matrix = random_matrix(n, density=0.1, dtype=dtype)
    options = dict(device="cpu", dtype=dtype, predecessors=predecessors)
    mgraph.apsp(matrix, **options)  # compiles the kernels for a matrix of this size
    # The lesser of two calls, as allocations of other threads are traced too.
    (result, peak), (_, again) = (measured(lambda: mgraph.apsp(matrix, **options)) for _ in range(2))
    peak = min(peak, again)
    assert result.plan.peak_bytes[0] == pytest.approx(peak, rel=0.05)


def test_predicted_peak_of_apsp_of_edges_is_the_measured_one():
    graph = rmat(12)
    mgraph.apsp(graph, device="cpu")  # compiles
    result, peak = measured(lambda: mgraph.apsp(graph, device="cpu"))
    assert result.plan.peak_bytes[0] == pytest.approx(peak, rel=0.05)


@pytest.mark.parametrize("predecessors", [False, True, "any"])
def test_predicted_peak_of_bfs_is_the_measured_one(predecessors):
    graph = rmat(17, directed=True)
    graph.csc()
    mgraph.bfs(rmat(17, directed=True, seed=1), 0, device="cpu", predecessors=predecessors)  # compiles
    result, peak = measured(lambda: mgraph.bfs(graph, 1, device="cpu", predecessors=predecessors))
    # On the CPU the edges are the input's own arrays.
    edges = 2 * (4 * graph.m + 4 * (graph.n + 1))
    assert result.plan.peak_bytes[0] - edges == pytest.approx(peak, rel=0.05)


@pytest.mark.parametrize("targets", [None, range(0, 900, 2)])
@pytest.mark.parametrize("method", ["sssp", "hierarchy"])
def test_sparse_distances_take_the_predicted_peak_and_their_own_size(method, targets):
    graph = mgraph.generate.grid(30, 30, weights=(1, 99), seed=2, device="cpu")
    if method == "hierarchy":
        graph, method = mgraph.Hierarchy(graph, order=range(graph.n), device="cpu"), "auto"
    sources = np.arange(10_000) % 900
    mgraph.distances(graph, [0, 1], targets, sparse=True, method=method, device="cpu")  # compiles
    options = {"sparse": True, "method": method, "device": "cpu"}
    (result, peak), (_, again) = (measured(lambda: mgraph.distances(graph, sources, targets, **options)) for _ in "ab")
    peak, matrix = min(peak, again), result.distances
    assert matrix.nnz == 10_000 * (900 if targets is None else 450) and matrix.indices.dtype == np.int32
    size = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
    assert peak < result.plan.peak_bytes[0] + 1.02 * size


# Invalid arguments


@pytest.mark.parametrize(
    ("arguments", "options", "says"),
    [
        (("dijkstra", 10), {}, "algorithm must be 'apsp', 'betweenness', 'bfs', 'bfs_many', 'closure'"),
        (("apsp", -1), {}, "n must be an integer of 0 or more, got -1"),
        (("apsp", 1.5), {}, "n must be an integer of 0 or more, got 1.5"),
        (("apsp", True), {}, "n must be an integer of 0 or more, got True"),
        (("apsp", 10, -2), {}, "m must be an integer in [0, 4611686018427387905), got -2"),
        (("bfs", 10), {}, "m="),
        (("apsp", 10), {"method": "pull"}, "got 'pull'"),
        (("bfs", 10, 9), {"method": "blocked"}, "got 'blocked'"),
        (("apsp", 10), {"block": 48}, "block must be 32, 64, 96 or 128, got 48"),
        (("apsp", 10), {"dtype": "int8"}, "int8"),
        (("apsp", 10), {"dtype": "auto"}, "name a type"),
        (("closure", 10), {"method": "naive"}, "'blocked'"),
        (
            ("closure", 10),
            {"predecessors": True},
            "predecessors=True does not go with closure: it is for apsp, bfs, bfs_many, distances, sssp",
        ),
        (("bfs", 10, 9), {"predecessors": "all"}, "predecessors must be True, False or 'any', got 'all'"),
        (("sssp", 10, 9), {"predecessors": "any"}, "predecessors must be True or False, got 'any'"),
        (("apsp", 10), {"dtype": "words"}, "words"),
        (("apsp", 10), {"devices": 0}, "devices must be an integer in [1, 65537), got 0"),
        (
            ("apsp", 10),
            {"devices": "h100"},
            "as in '4xcuda', got 'h100': a GPU that is not in this machine is 'cuda' with memory='80GB', or",
        ),
        (("apsp", mgraph.generate.grid(2, 2)), {}, ": give its numbers, graph.n and graph.m"),
        (("apsp", 10), {"devices": []}, "devices must be a number, names or DeviceSpecs, got []"),
        (("apsp", 10), {"devices": 1.5}, "DeviceSpecs, got 1.5"),
        (("apsp", 10), {"devices": "tpu"}, "tpu"),
        (("apsp", 10), {"network": 0}, "bytes a second, more than 0, such as 25e9, got 0"),
        (
            ("apsp", 10),
            {"network": float("nan")},
            "network must be a number of bytes a second, more than 0, such as 25e9",
        ),
        (("apsp", 10), {"network": "25e9"}, "such as 25e9, got '25e9'"),
        (("apsp", 10), {"network": True}, "such as 25e9, got True"),
        (("list_rank", 10), {"network": 25e9}, "network=25000000000.0 does not go with list_rank: it is for apsp, bfs"),
        (("apsp", 10), {"gpus_per_node": 0}, "gpus_per_node must be an integer in [1, 4611686018427387905), got 0"),
        (("apsp", 10), {"span": "a"}, "span must be an integer of 1 or more, got 'a'"),
        (("apsp", 10), {"span": 1.5}, "span must be an integer of 1 or more, got 1.5"),
        (("apsp", 10), {"span": True}, "span must be an integer of 1 or more, got True"),
        (("apsp", 10), {"block": True}, "block must be an integer in [1, 4611686018427387905), got True"),
        (("apsp", 2), {"components": "ab"}, "components must be a sequence of integers"),
        (("apsp", 2), {"components": 2}, "components must be a sequence of integers"),
        (("apsp", 2), {"components": [2.0]}, "components must be a sequence of integers"),
        (("apsp", 2), {"components": [[1], [1, 2]]}, "components must be a sequence of integers"),
        (("apsp", 2), {"components": [1]}, "that add up to n=2, got [1]"),
        (("bfs", 10, 10), {"quads": "a"}, "quads must be an integer in [0, 4611686018427387905), got 'a'"),
        (("bfs", 10, 10), {"shape": 3}, "shape must be what mgraph.planning.shape.shape_of returns, got 3"),
        (("bfs", 10, 10), {"indptr": [0, 10]}, "indptr must be n + 1 = 11 integers, got [0, 10]"),
        (("bfs_many", 10, 10), {"sources": 0}, "sources must be an integer in [1, 4611686018427387905), got 0"),
        (
            ("bfs", 10, 10),
            {"dtype": "foo"},
            "dtype='foo' does not go with bfs: it is for apsp, distances, flows, pairs, sssp",
        ),
        (("bfs", 10, 10), {"dtype": np.dtype(float)}, "does not go with bfs"),
        (("bfs", 10, 10), {"intermediate": True}, "intermediate=True does not go with bfs: it is for apsp"),
        (("bfs", 10, 10), {"block": 7}, "block=7 does not go with bfs: it is for apsp, closure"),
        (("components", 10, 10), {"block": 33}, "block=33 does not go with components"),
        (("components", 10, 10), {"predecessors": True}, "predecessors=True does not go with components"),
        (("apsp", 10), {"sources": 5}, "sources=5 does not go with apsp: it is for betweenness, bfs_many"),
        (("sssp", 10, 10), {"shape": Shape(), "splitters": 3}, "splitters=3 does not go with sssp"),
    ],
)
def test_bad_arguments(arguments, options, says):
    with pytest.raises(InputError) as refused:
        plan(*arguments, **options)
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"algorithm": "apsp", "n": None}, r"n must be an integer of 0 or more, got None"),
        ({"algorithm": "bfs", "n": 2**33, "m": 5}, "n must be .* got 8589934592"),
        ({"algorithm": "apsp", "n": 10, "span": 0}, "span must be an integer of 1 or more, got 0"),
        ({"algorithm": "apsp", "n": 10, "devices": DeviceSpec("x", "tpu", 1 << 30)}, "tpu"),
        ({"algorithm": "apsp", "n": 10, "devices": DeviceSpec("x", "cpu", -5)}, "-5"),
    ],
)
def test_impossible_plans(arguments, message):
    with pytest.raises(InputError, match=message):
        plan(**arguments)


def test_default_options_are_accepted_by_every_algorithm():
    options = {name: given.default for name, given in inspect.signature(plan).parameters.items() if given.kind == 3}
    for algorithm in ALGORITHMS:
        assert plan(algorithm, 10, 20, np.int64(1), **options | {"components": [], "sources": np.int32(1)}).n == 10


@pytest.mark.parametrize(
    ("call", "planned"),
    [("transitive_closure", "closure"), ("connected_components", "components"), ("rank", "list_rank")],
)
def test_plans_by_the_names_of_calls(call, planned):
    assert plan(call, 100, 100, cpus(1)) == plan(planned, 100, 100, cpus(1))


def test_the_documented_algorithms_are_those_of_the_registry():
    listed = re.search(r"algorithm : .*?:\n(.*?)\.\n", plan.__doc__, re.DOTALL)[1]
    assert re.findall(r"\w+", listed) == list(PLANNED)


@pytest.mark.parametrize("network", [None, 25e9])
def test_shards_search_apart_where_levels_are_many_and_exchanges_cost_more_than_repeated_work(network):
    """GPUs of one host exchange within a launch; `alone` is then for those that cannot."""
    roads, social = Shape(far=0.01, levels=450.0), Shape(far=0.9, levels=6.0)
    sizes = {"roads": (264_346, 730_100), "small": (1 << 20, 31 << 20), "large": (1 << 26, 2 << 30)}

    def made(algorithm, name, shards):
        how = {"network": network, "gpus_per_node": 1} if network else {}
        return plan(algorithm, *sizes[name], gpus(shards), shape=roads if name == "roads" else social, **how)

    found = {
        (name, shards): (made("bfs", name, shards).method, made("sssp", name, shards).detail.alone)
        for name in sizes
        for shards in (1, 2)
    }
    assert found == {
        ("roads", 1): ("hybrid", 0),
        ("roads", 2): ("asynchronous" if network else "hybrid", 64),
        ("small", 1): ("hybrid", 0),
        ("small", 2): ("hybrid", 8),
        ("large", 1): ("hybrid", 0),
        ("large", 2): ("hybrid", 0 if network else 8),
    }
    assert made("bfs", "roads", 2).detail.meets == made("sssp", "roads", 2).detail.meets == (network is None)


@pytest.mark.parametrize("algorithm", ["bfs", "sssp"])
def test_gpus_of_several_hosts_do_not_meet(algorithm):
    sizes, how = (264_346, 730_100), {"shape": Shape(far=0.01, levels=450.0)}
    here, there = (replace(gpu, node=name) for gpu, name in zip(gpus(2), ("one", "another"), strict=True))
    assert plan(algorithm, *sizes, [here, here], **how).detail.meets
    apart = plan(algorithm, *sizes, [here, there], **how)
    assert not apart.detail.meets
    assert "exchanged: by NCCL, as not all GPUs share memory of one host" in apart.explain(verbose=True)
    assert apart.method == ("asynchronous" if algorithm == "bfs" else "nearfar")


@pytest.mark.parametrize("algorithm", ["bfs", "sssp"])
def test_memory_that_gpus_share_already_is_usable(algorithm):
    n, m = 1 << 28, 1 << 32
    peak = max(plan(algorithm, n, m, gpus(2)).peak_bytes)
    needed = devices.shared_bytes(n // 16 if algorithm == "bfs" else 4 * n, 2)
    free = [replace(gpu, memory=int((peak - needed) / USABLE) + 2) for gpu in gpus(2)]
    found = plan(algorithm, n, m, [replace(gpu, shared=8 << 30) for gpu in free])
    assert max(found.peak_bytes) == peak and found.detail.meets
    if algorithm == "bfs":
        assert plan(algorithm, n, m, free).method == "pull"  # which needs the edges by target only
    else:
        with pytest.raises(MemoryLimitError):
            plan(algorithm, n, m, free)


def test_launches_for_each_level_do_not_meet():
    """They exchange by NCCL after each, which the prediction has: with and without a network alike, but for its own."""
    n, m, how = 264_346, 730_100, {"shape": Shape(far=0.01, levels=640.0), "method": "queue"}
    there, beyond = plan("bfs", n, m, gpus(2), **how), plan("bfs", n, m, gpus(2), network=25e9, gpus_per_node=1, **how)
    assert not there.detail.meets
    assert there.seconds == pytest.approx(beyond.seconds - beyond.detail.traffic.seconds)


@pytest.mark.parametrize("algorithm", ["bfs", "sssp"])
def test_memory_is_shared_by_gpus_that_exchange_within_a_launch_only(algorithm):
    shape = Shape(far=0.01, levels=450.0)  # of which shortest paths run many rounds apart
    n, m, own = 264_346, 730_100, devices.shared_bytes(0, 8)  # the least that GPUs share
    few, apart = (
        plan(algorithm, n, m, gpus(8), shape=shape, method=method, **how)
        for how, method in (
            ({}, "auto"),
            ({"network": 25e9, "gpus_per_node": 1}, "hybrid" if algorithm == "bfs" else "auto"),
        )
    )
    many = plan(algorithm, n, m, gpus(512), shape=shape)
    assert few.detail.meets and not apart.detail.meets and not many.detail.meets
    assert "exchanged: by NCCL, as they are more than 8" in many.explain(verbose=True)
    assert max(few.peak_bytes) - max(apart.peak_bytes) >= own
    assert max(many.peak_bytes) < min(few.peak_bytes)


def test_a_search_says_one_way_of_exchanging():
    for within, how in ((True, {}), (False, {"network": 25e9, "gpus_per_node": 1})):
        lines = plan("bfs", 1 << 30, 1 << 31, gpus(2), method="hybrid", **how).explain(verbose=True)
        assert ("within the launch" in lines) == within
        assert ("as a list" in lines) == ("exchanged: by NCCL, as" in lines) == (not within)
