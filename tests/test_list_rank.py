"""Ranks follow the lists by every method, and invalid lists are named in errors."""

import tracemalloc
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mgraph
from mgraph import DeviceSpec, InputError
from mgraph import device as devices
from mgraph.algorithms.list_rank import plan as list_rank_plan
from mgraph.algorithms.list_rank import program
from mgraph.algorithms.list_rank.plan import SHORT_LIST, SPACING, WALKS
from mgraph.algorithms.list_rank.program import Walking
from mgraph.generate import linked_list
from mgraph.kernels import list_rank as list_rank_kernels
from mgraph.kernels.list_rank.host import splitter
from mgraph.planner import plan
from mgraph.runtime.direct import Direct
from tests.support.devices import poison
from tests.support.graphs import linked_lists, rings
from tests.support.methods import SPLITTERS, methods
from tests.support.parameters import exhaustive
from tests.support.properties import check_cycle, check_ranks, completions


def check(succ, device, spans=(None, 1)):
    for method in methods("list_rank", device):
        for span in spans:
            result = mgraph.list_rank(succ, method=method, device=device, span=span)
            check_ranks(succ, result.ranks)
            assert result.plan.method == method


@given(st.lists(st.integers(1, 400), min_size=1, max_size=12), st.integers(0, 2**32))
def test_several_lists(device, lengths, seed):
    check(linked_lists(lengths, seed), device)


@given(st.integers(1, 300), st.integers(0, 2**32))
def test_trees(n, seed):
    # A successor with a lower number, so that all ends at roots.
    random = np.random.default_rng(seed)
    check(np.maximum(np.arange(n) - random.integers(0, 6, n), 0), "cpu")


@pytest.mark.parametrize("n", [1, 2, 3, 31, 32, 33, 1000, 1023, 1024, 1025, 300_001])
def test_one_list(n, device):
    succ = linked_list(n)
    check(succ, device)
    ranks = devices.to_host(mgraph.list_rank(succ, device=device).ranks)
    assert np.array_equal(np.sort(ranks), np.arange(n))


def shapes():
    n = 200_000
    numbers = np.arange(n)
    yield "in order", np.minimum(numbers + 1, n - 1)
    yield "in reverse order", np.maximum(numbers - 1, 0)
    yield "every second", np.where(numbers + 2 < n, numbers + 2, numbers)
    yield "by strides of a power of two", np.where(numbers + 1024 < n, numbers + 1024, numbers)
    yield "single elements", numbers
    yield "pairs", numbers | 1
    yield "short lists", linked_lists([5] * (n // 5))
    yield "one long list among short ones", linked_lists([n // 2, *[3] * (n // 6)])


def test_shapes(device):
    for _, succ in shapes():
        check(succ, device, spans=(None,))


def test_a_tree_as_wide_as_it_is_deep(device):
    n = 60_000  # a path of half of the elements, and the other half all above its beginning
    succ = np.maximum(np.arange(n) - 1, 0)
    succ[n // 2 :] = n // 2 - 1
    check(succ, device, spans=(None,))


def gpu_threads():
    return [DeviceSpec("cuda:0", "cuda", 1 << 37, processors=p) for p in (16, 132)]


@pytest.mark.parametrize(("threads", "blocks"), [(2048, 264), (1536, 132), (1024, 132)])
def test_all_blocks_that_jump_are_resident(threads, blocks, monkeypatch):
    from mgraph.kernels.list_rank import cuda as ranking

    attributes = {"MultiProcessorCount": 132, "MaxThreadsPerMultiProcessor": threads}
    launched = []
    monkeypatch.setattr(ranking, "cuda_attribute", attributes.__getitem__)
    monkeypatch.setattr(
        ranking, "cuda_function", lambda *_, **__: lambda grid, block, _: launched.append((grid, block))
    )
    for words in (10**6, 1500, 1, 0):
        ranking.jump(None, 0, words, 0, 3, np.zeros(4, np.uint32))
    assert launched == [((blocks,), (1024,)), ((2,), (1024,)), ((1,), (1024,))]


def test_splitters_are_picked_for_the_device():
    n = 1 << 24
    few, many = (plan("list_rank", n, devices=spec).detail.spacing for spec in gpu_threads())
    assert few == 16 * many and n // many >= WALKS * 132 * 2048 > n // (2 * many)
    assert plan("list_rank", 1 << 31, devices=gpu_threads()[1]).detail.spacing == SPACING
    assert "splitters" in plan("list_rank", n, devices="cpu").explain(True)


@pytest.mark.parametrize(
    ("n", "splitters", "spacing"),
    [
        (10_000, 10_000, 1),
        (10_000, 5001, 1),
        (10_000, 5000, 2),
        (10_000, 100, 64),
        (10_000, np.int64(5), SPACING),
        (10_000, 1 << 40, 1),
        (2**32 - 1, 2**21, SPACING),
        (0, 7, 1),
    ],
)
def test_splitters_may_be_chosen(n, splitters, spacing):
    for spec in (*gpu_threads(), DeviceSpec("cpu", "cpu", 1 << 42, 2), [DeviceSpec("cpu", "cpu", 1 << 42, 2)] * 3):
        for method in ("auto", *SPLITTERS):
            made = plan("list_rank", n, devices=spec, method=method, splitters=splitters)
            assert made.detail.spacing == spacing and made.method == ("splitter64" if method == "auto" else method)
            assert f"splitters: {-(-n // spacing):,}, one among {spacing:,} elements" in made.explain(True)


@pytest.mark.parametrize("n", [1 << 26, 64_000_000])
def test_few_splitters_take_what_a_study_took_or_are_refused(n):
    for spec in gpu_threads():
        assert plan("list_rank", n, devices=spec, splitters=256).detail.spacing == 1 << (n // 256).bit_length() - 1
        for method, least in (("splitter64", n // 2**19 + 1), ("splitter48", n // 2**11 + 1)):
            assert plan("list_rank", n, devices=spec, method=method, splitters=least).n == n
            expected = f"^splitters must be {least} or more for {n} elements by '{method}', got {least - 1}$"
            with pytest.raises(InputError, match=expected):
                plan("list_rank", n, devices=spec, method=method, splitters=least - 1)


@pytest.mark.parametrize("splitters", [10, 300, 20_000, 1_000_000])
@pytest.mark.parametrize("method", ["auto", *SPLITTERS])
def test_any_number_of_splitters(method, splitters, device):
    for succ in (linked_lists([20_000]), linked_lists([1, 9_000, 20, 3_000]), linked_lists([7] * 900)):
        result = mgraph.list_rank(succ, method=method, splitters=splitters, device=device)
        check_ranks(succ, result.ranks)
        assert (
            result.plan.detail.spacing
            == plan("list_rank", len(succ), devices=device, splitters=splitters).detail.spacing
        )


@pytest.mark.parametrize("splitters", [0, -1, True, 2.0, "many"])
def test_invalid_splitters(splitters):
    with pytest.raises(InputError, match=f"splitters must be an integer of 1 or more, got {splitters!r}"):
        mgraph.list_rank([0], splitters=splitters, device="cpu")


def test_splitters_of_other_methods():
    for method in ("sequential", "wyllie"):
        with pytest.raises(InputError, match=f"method='{method}' has no splitters"):
            mgraph.list_rank([0], method=method, splitters=1, device="cpu")
    with pytest.raises(InputError, match="splitters=2 does not go with components: it is for list_rank"):
        plan("components", 5, 5, devices="cpu", splitters=2)


@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.sampled_from(["auto", *methods("list_rank")]))
def test_plans_cover_the_elements(n, shards, method):
    made = plan("list_rank", n, devices=[DeviceSpec("cpu", "cpu", 1 << 42, 2)] * shards, method=method)
    assert (made.ranges[0][0], made.ranges[-1][1], len(made.ranges)) == (0, n, shards)
    assert all(before[1] == after[0] for before, after in pairwise(made.ranges))
    assert (made.detail.spacing > 0) == made.method.startswith("splitter") and made.detail.spacing <= SPACING
    assert not made.detail.spacing & (made.detail.spacing - 1)
    assert len(made.peak_bytes) == shards and min(made.peak_bytes) >= 4 * n


@pytest.mark.parametrize("shift", [0, 1, 5, 10])
@pytest.mark.parametrize("n", [1, 17, 1024, 5000])
def test_each_stratum_has_a_splitter(n, shift):
    strata = -(-n // (1 << shift))
    places = [splitter.py_func(stratum, shift, n) for stratum in range(strata)]
    assert [place >> shift for place in places] == list(range(len(places)))
    assert all(0 <= place < n for place in places)


def walked(succ, method, spacing, device="cpu"):
    """Run the splitters with a spacing of one's own; return the ranks and whether the kernels failed."""
    made = plan("list_rank", len(succ), devices=device, method=method)
    made = replace(made, detail=replace(made.detail, spacing=spacing))
    place = devices.find(device)
    outcome = Direct(place).run(Walking(made), lambda shard: place.asarray(succ.astype(np.int32)), made, None)
    return devices.to_host(outcome.arrays["ranks"]), bool(outcome.arrays["failed"].any())


@pytest.mark.parametrize("method", SPLITTERS)
@pytest.mark.parametrize("spacing", [1, 2, 64, 1024])
def test_spacings(method, spacing, device):
    for lengths in ([30_000], [1, 9_000, 20, 3_000], [7] * 900):
        succ = linked_lists(lengths)
        ranks, failed = walked(succ, method, spacing, device)
        assert not failed
        check_ranks(succ, ranks)


@pytest.mark.parametrize("method", SPLITTERS)
@pytest.mark.parametrize(("few", "way"), [(1, "few"), (1 << 40, "many")])
def test_few_or_many_elements_that_no_walk_passes(few, way, method, device, monkeypatch):
    monkeypatch.setattr(program, "FEW", few)
    with devices.Recorder(devices.find(device)) as recorder:
        for lengths in ([30_000], [1] * 3000, [7] * 900, [1, 9_000, 20, 3_000], [2] * 5000 + [50_000]):
            succ = linked_lists(lengths)
            for spacing in (4, 64):
                ranks, failed = walked(succ, method, spacing, device)
                assert not failed
                check_ranks(succ, ranks)
    assert set(completions(recorder)) == {way}


def test_the_limit_of_few_elements(device):
    n = 256 * 64
    with devices.Recorder(devices.find(device)) as recorder:
        for singles in (100, 1000):  # half of them are not splitters
            walked(linked_lists([n - singles, *[1] * singles]), "splitter64", 2, device)
    assert completions(recorder) == ["few", "many"]


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_elements_without_a_rank_are_listed(dtype, device):
    place = devices.find(device)
    kernels = list_rank_kernels.on(place)
    random = np.random.default_rng(5)
    for n, share in ((0, 0), (1, 1), (255, 0.5), (70_000, 0), (70_000, 1e-3), (200_000, 1e-4), (200_000, 1)):
        ranks = np.where(random.random(n) < share, -1, random.integers(0, 9, n)).astype(dtype)
        expected = 1000 + np.flatnonzero(ranks < 0)
        for room in (len(expected), len(expected) + 5, len(expected) // 2, 0):
            unranked = place.asarray(np.full(room, -7, dtype))
            control = place.asarray(np.zeros(kernels.CONTROL_WORDS, np.uint64))
            succ = place.asarray(np.arange(1000 + n).astype(dtype))
            kernels.sift(succ, place.asarray(ranks), 1000, unranked, control)
            assert int(control[kernels.UNRANKED]) == len(expected) and not int(control[kernels.TANGLED])
            if room >= len(expected):
                found = devices.to_host(unranked)
                assert np.array_equal(np.sort(found[: len(expected)]), expected)
                assert (found[len(expected) :] == -7).all()


@pytest.mark.parametrize("few", [1, 1 << 40])
def test_cycles_that_no_walk_passes(few, device, monkeypatch):
    monkeypatch.setattr(program, "FEW", few)
    check_cycle(rings(60_000, 20_000), "splitter64", device)
    check_cycle(rings(60_000, 30_000), "splitter48", device)
    succ = linked_lists([40_000, 1, 500, 1])
    a, b = np.flatnonzero(succ == np.arange(len(succ)))[:2]
    succ[a], succ[b] = b, a
    check_cycle(succ, "splitter64", device)


@pytest.mark.parametrize("method", SPLITTERS)
def test_one_splitter_on_a_cycle_of_all(method, device):
    assert walked(rings(100, 1), method, 128, device)[1]


@pytest.mark.parametrize("method", SPLITTERS)
def test_a_walk_that_is_too_long_gives_up_and_the_result_is_right(method, device):
    # All elements that are not splitters in one run: a list, but not a random one.
    n, spacing = 20_000, 4
    splitters = {splitter.py_func(stratum, 2, n) for stratum in range(n // spacing)}
    order = np.array([i for i in range(n) if i not in splitters] + sorted(splitters))
    order = np.concatenate([order[-1:], order[:-1]])
    succ = np.empty(n, np.int32)
    succ[order[:-1]], succ[order[-1]] = order[1:], order[-1]
    assert walked(succ, method, spacing, device)[1]


# Invalid lists


@st.composite
def successors(draw):
    """Return arbitrary successors; most lists end, or run into a cycle, after few or many elements."""
    n = draw(st.integers(1, 500))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    succ = random.integers(0, n, n)
    forward = random.random(n) < draw(st.sampled_from([0, 0.9, 1]))
    succ = np.where(forward, np.minimum(succ, np.arange(n)), succ)
    return np.where(random.random(n) < draw(st.sampled_from([0.01, 0.3])), np.arange(n), succ)


def check_any(succ, device):
    end = succ
    for _ in range(len(succ).bit_length()):
        end = end[end]
    for method in methods("list_rank", device):
        if (succ[end] == end).all():
            check_ranks(succ, mgraph.list_rank(succ, method=method, device=device).ranks)
        else:
            check_cycle(succ, method, device)


@given(successors())
def test_any_successors(device, succ):
    check_any(succ, device)


@pytest.mark.parametrize("method", methods("list_rank"))
def test_cycles(method, device):
    if method not in methods("list_rank", device):
        pytest.skip("one core of a CPU")
    for n in (2, 10, 3000, 120_000):
        check_cycle(rings(n, 1), method, device)
    check_cycle(rings(60_000, 20_000), method, device)
    # A ring of two among lists, which has a splitter only by chance, so at several places.
    for seed in range(4):
        succ = linked_lists([40_000, 1, 500], seed)
        a, b = np.flatnonzero(succ == np.arange(len(succ)))[:2]
        succ[a], succ[b] = b, a
        check_cycle(succ, method, device)


@pytest.mark.parametrize("method", methods("list_rank"))
def test_a_list_that_runs_into_a_cycle(method, device):
    if method not in methods("list_rank", device):
        pytest.skip("one core of a CPU")
    n = 50_000
    succ = np.minimum(np.arange(n) + 1, n - 1)
    for back in (2, 3, 700):
        succ[-1] = n - back
        check_cycle(succ, method, device)
    check_cycle(np.where(np.arange(n) == 0, 1, 0), method, device)  # all but one point to an end of a ring of two


@pytest.mark.parametrize(
    ("succ", "words"),
    [
        ([1, 5, 2], r"succ must be integers in \[0, 3\), got 5 at element 1"),
        ([1, -1, 2], "got -1 at element 1"),
        (np.array([0, 2**40]), "got 1099511627776 at element 1"),
        (np.array([2**63], np.uint64), "got 9223372036854775808 at element 0"),
        ([0.0, 1.0], "float64"),
        ([True], "bool"),
        ([[0]], r"of shape \(n,\), .*got \(1, 1\)"),
        (3, r"of shape \(n,\), .*got \(\)"),
    ],
)
def test_invalid_lists(succ, words):
    with pytest.raises(InputError, match=words):
        mgraph.list_rank(succ, device="cpu")


@pytest.mark.parametrize("method", methods("list_rank"))
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_a_successor_that_is_no_element_is_named(method, dtype, device):
    """First read by a walk, or only when elements left over are listed; it may be the beginning of a list."""
    if method not in methods("list_rank", device):
        pytest.skip("one core of a CPU")
    random = np.random.default_rng(11)
    for lengths in ([1], [5], [60_000], [1] * 3000, [2] * 5000 + [50_000]):
        for wrong in (-1, -(2**31), sum(lengths), 2**31 - 1):
            succ = linked_lists(lengths).astype(dtype)
            where = int(random.integers(len(succ)))
            succ[where] = wrong
            with pytest.raises(
                InputError, match=rf"succ must be integers in \[0, {len(succ)}\), got {wrong} at element {where}"
            ):
                mgraph.list_rank(succ, method=method, device=device)


@pytest.mark.parametrize("method", SPLITTERS)
@pytest.mark.parametrize("few", [1, 1 << 40])
@pytest.mark.parametrize("spacing", [4, 1024])
def test_successors_out_of_range_are_never_followed(method, few, spacing, device, monkeypatch):
    """At a splitter, at an element that a walk passes, and at one that none passes."""
    monkeypatch.setattr(program, "FEW", few)
    for lengths in ([3000], [1, 2, 4000], [3] * 900):
        for where in range(0, sum(lengths), 601):
            for wrong in (-1, -(2**31), sum(lengths), 2**31 - 1):
                succ = linked_lists(lengths)
                succ[where] = wrong
                assert walked(succ, method, spacing, device)[1]


def test_an_unknown_method():
    with pytest.raises(InputError, match="sideways"):
        mgraph.list_rank([0], method="sideways", device="cpu")
    with pytest.raises(InputError, match="one core of a CPU"):
        plan("list_rank", 5, devices=DeviceSpec("cuda:0", "cuda", 1 << 30), method="sequential")


# Types, places, plans


def test_the_result_is_the_array_of_the_ranks():
    result = mgraph.list_rank([1, 2, 2, 3], device="cpu")
    assert np.asarray(result) is result.ranks
    assert np.array(result).tolist() == [2, 1, 0, 0] and np.array(result) is not result.ranks
    assert np.asarray(result, np.float64).dtype == np.float64
    with pytest.raises(ValueError, match="copy"):
        np.array(result, np.float64, copy=False)
    assert np.array(result, copy=False) is result.ranks
    assert (np.add(result, 1) == [3, 2, 1, 1]).all() and np.argmax(result) == 0
    assert len(result) == 4 and list(result) == [2, 1, 0, 0]
    assert result[1] == 1 and result[-2:].tolist() == [0, 0] and result[result.ranks > 0].tolist() == [2, 1]


@pytest.mark.gpu
def test_the_result_is_the_array_of_the_ranks_on_a_gpu():
    result = mgraph.list_rank(linked_list(100, device="cuda"))
    assert len(result) == 100 and type(result[:5]) is type(result.ranks) and int(result[5]) == int(result.ranks[5])


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.uint64])
def test_types_of_successors(dtype, device):
    check(np.array([3, 0, 2, 3, 1], dtype), device)


def test_views_of_arrays(device):
    succ = np.repeat(linked_list(5000), 2)[::2]
    succ.flags.writeable = False
    check(succ, device)


def test_no_elements(device):
    for method in methods("list_rank", device):
        result = mgraph.list_rank([], method=method, device=device)
        assert result.ranks.shape == (0,) and result.ranks.dtype == np.int32


@pytest.mark.parametrize(
    "method", ["splitter64", *exhaustive(*(m for m in methods("list_rank", "cuda") if m != "splitter64"))]
)
def test_numbers_of_64_bits(method, device, monkeypatch):
    """As from 2**31 elements on, at a size that fits."""
    made = replace(plan("list_rank", 70_000, devices=device, method=method), dtype="int64")
    monkeypatch.setattr(list_rank_plan, "planned", lambda *_, **__: made)
    succ = linked_lists([60_000, 10_000])
    ranks = devices.to_host(mgraph.list_rank(succ, device=device).ranks)
    assert ranks.dtype == np.int64
    check_ranks(succ, ranks.astype(np.int32))


def test_auto_and_progress():
    seen = []
    short = mgraph.list_rank(linked_list(SHORT_LIST["cpu"]), device="cpu")
    long = mgraph.list_rank(
        linked_list(SHORT_LIST["cpu"] + 1), device="cpu", span=1, progress=lambda *at: seen.append(at)
    )
    assert (short.plan.method, long.plan.method) == ("sequential", "splitter64")
    assert seen[:4] == [(1, 4), (2, 4), (3, 4), (4, 4)]


@pytest.mark.parametrize(
    ("method", "splitters"),
    [*((method, None) for method in methods("list_rank")), *((method, 1 << 20) for method in SPLITTERS)],
)
def test_a_plan_knows_its_peak_memory(method, splitters):
    succ = linked_list(1 << 20).astype(np.int64)
    mgraph.list_rank(succ, method=method, splitters=splitters, device="cpu")  # compiles at first use
    made = plan("list_rank", len(succ), devices="cpu", method=method, splitters=splitters)
    tracemalloc.start()
    mgraph.list_rank(succ, method=method, splitters=splitters, device="cpu")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 0.95 < peak / made.peak_bytes[0] < 1.05


def test_too_long_a_list():
    with pytest.raises(mgraph.MemoryLimitError, match="splitter48"):
        plan("list_rank", 1 << 28, devices=DeviceSpec("cuda:0", "cuda", 1 << 30))
    with pytest.raises(InputError, match="n must be at most 4,294,967,295, as elements are numbered in uint32"):
        plan("list_rank", 1 << 32, devices=DeviceSpec("cuda:0", "cuda", 1 << 40))
    assert plan("list_rank", 1 << 31, devices=DeviceSpec("cuda:0", "cuda", 1 << 40)).dtype == "int64"


@pytest.mark.gpu
@pytest.mark.parametrize("method", methods("list_rank", "cuda"))
def test_cupy_in_cupy_out(method):
    poison()
    succ = linked_list(1 << 22, device="cuda")
    result = mgraph.list_rank(succ, method=method)
    assert result.plan.devices[0].kind == "cuda" and type(result.ranks) is type(succ)
    check_ranks(succ, result.ranks)
    here = mgraph.list_rank(devices.to_host(succ), method=method, device="cuda")
    assert isinstance(here.ranks, np.ndarray) and np.array_equal(here.ranks, result.ranks.get())
