"""The registry: its entries agree with the calls and the planner, and their samples are solved correctly."""

import dataclasses
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import mgraph
from mgraph.algorithms.bellman import as_float
from mgraph.algorithms.registry import ALGORITHMS
from mgraph.errors import InputError, WrongResultError
from mgraph_bench import suite
from tests import digests
from tests.faults.cases import sampled

DOCS = Path(__file__).parents[1] / "docs"
METHODS = [(name, method) for name, entry in ALGORITHMS.items() for method in ("auto", *entry.methods)]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_entries_match_their_calls(name):
    entry = ALGORITHMS[name]
    parameters = inspect.signature(entry.call).parameters
    assert entry.name == name and getattr(mgraph, entry.call.__name__) is entry.call
    assert bool(entry.methods) == ("method" in parameters)
    assert not entry.start or entry.start in parameters
    assert set(entry.cpu_only) <= set(entry.methods)
    for sample in entry.samples("auto"):
        assert sample.options.keys() <= parameters.keys() and (sample.start is not None) == bool(entry.start)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_methods_are_those_that_plans_know(name):
    for method in ALGORITHMS[name].methods:
        assert mgraph.plan(name, 1000, 5000, "cpu", method=method).method == method
    with pytest.raises(InputError, match=r"method must be .*, got 'no such'"):
        mgraph.plan(name, 1000, 5000, "cpu", method="no such")


@pytest.mark.parametrize(
    ("name", "method"), [(name, each) for name, entry in ALGORITHMS.items() for each in entry.skipping]
)
def test_methods_that_skip_edges_have_no_bound_of_traffic(name, method):
    entry = ALGORITHMS[name]
    sample = next(entry.samples(method))
    result = entry.run(sample, method, "cpu")
    found = entry.measured(sample.given, result.plan, entry.arrays(result))
    others = entry.measured(sample.given, None, entry.arrays(result))
    assert method in entry.methods and found.bytes is None and others.bytes > 0 and found.amount == others.amount


@pytest.mark.parametrize("name", [name for name, entry in ALGORITHMS.items() if entry.needs_edges])
def test_a_plan_that_needs_edges(name):
    with pytest.raises(InputError, match="needs m=, the number of edges"):
        mgraph.plan(name, 1000, devices="cpu")


class Read(dict):
    """A result's arrays, and the names of those that a check read."""

    def __init__(self, arrays):
        super().__init__(arrays)
        self.names = set()

    def __getitem__(self, name):
        self.names.add(name)
        return super().__getitem__(name)


def solved(name):
    """The first and the last sample of an algorithm, each with the arrays of its right result."""
    entry = ALGORITHMS[name]
    first, *_, last = entry.samples("auto")
    for sample in (first, last):
        yield sample, entry.arrays(entry.run(sample, "auto", "cpu"))


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_check_refuses_every_array_that_is_wrong(name):
    """Every check by itself refuses a result if any one array that it reads is wrong, and every array is read."""
    entry = ALGORITHMS[name]
    for sample, found in solved(name):
        proved = set()
        for check in entry.checks:
            right = Read(found)
            assert entry.check(sample.given, right, sample.start, [check])
            assert right.names, f"check {check!r} reads nothing"
            proved |= right.names
            for array in right.names:
                with pytest.raises(WrongResultError):
                    entry.check(
                        sample.given, found | {array: with_first_row_wrong(found[array])}, sample.start, [check]
                    )
                    pytest.fail(f"check {check!r} accepts wrong {array!r}")
        assert proved == found.keys()


@pytest.mark.parametrize("name", ALGORITHMS)
def test_all_checks_together_refuse_any_wrong_element(name):
    entry = ALGORITHMS[name]
    for sample, found in solved(name):
        for array, value in found.items():
            for place, wrong in with_one_element_wrong(value):
                with pytest.raises(WrongResultError):
                    entry.check(sample.given, found | {array: wrong}, sample.start)
                    pytest.fail(f"the checks accept {array!r} with element {place} wrong")


def with_first_row_wrong(value):
    """The same with each finite element of the first row, or the least element of a vector, one greater.

    Of a closure, the first vertex reaches what it did not reach, and nothing else.
    """
    if isinstance(value, mgraph.ClosureResult):
        words = value.words.copy()
        words[0] ^= np.uint32(0xFFFFFFFF)
        return dataclasses.replace(value, words=words)
    changed = np.array(value)
    if changed.ndim == 2:
        changed[0] += np.isfinite(as_float(changed[0]))
    else:
        changed.flat[changed.argmin()] += 1
    return changed


def with_one_element_wrong(value):
    """Yield places in an array, and the array with only the element there wrong: one greater, or one less."""
    if isinstance(value, mgraph.ClosureResult):
        n = len(value.words)
        for row in (0, n - 1):  # sampled whatever the number of rows
            for column in (0, n // 2, n - 1):
                words = value.words.copy()
                words[row, column // 32] ^= np.uint32(1 << column % 32)
                yield (row, column), dataclasses.replace(value, words=words)
        return
    array = np.array(value)
    finite = np.flatnonzero(np.isfinite(as_float(array)))
    for place in {0, array.size - 1, int(array.argmin()), *np.random.default_rng(4).choice(finite, 5)} & set(finite):
        for by in (1, -1):
            changed = array.copy()
            changed.flat[place] += by
            yield np.unravel_index(place, array.shape), changed


@pytest.mark.exhaustive
@pytest.mark.parametrize(("name", "method"), METHODS)
def test_samples(name, method):
    """The runs of compute-sanitizer on GPUs give right results on the CPU."""
    entry = ALGORITHMS[name]
    for sample in entry.samples(method):
        result = entry.run(sample, method, "cpu")
        assert method in ("auto", result.plan.method)
        assert entry.check(sample.given, entry.arrays(result), sample.start)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_digests_and_faults_take_an_algorithm_by_its_samples(name):
    """As they do for one that has no cases of its own there."""
    for case, call in digests.samples(ALGORITHMS[name]).items():
        assert "error" not in digests.outcome(call, {"device": "cpu"}), case
    case = sampled(name)
    assert np.size(case.result(case.call(device="cpu")))


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_is_measured_by_a_suite(name):
    assert name in {case.algorithm for each in suite.names() for case in suite.load(each).cases()}


@pytest.mark.parametrize("page", ["plan.md", "memory.md"])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_is_in_the_documents(name, page):
    """Its call is in `calls.md`; its methods and memory are in pages of their own, or in its section there."""
    call = ALGORITHMS[name].call.__name__
    calls = (DOCS / "calls.md").read_text()
    assert re.search(rf"`(mgraph\.)?{call}[`(]", calls)
    if not re.search(rf"`(mgraph\.)?{call}[`(]", (DOCS / page).read_text()):
        (section,) = (text for text in calls.split("\n## ") if f"\n`mgraph.{call}(" in text)
        said = {"plan.md": [f'"{method}"' for method in ALGORITHMS[name].methods], "memory.md": ["bytes a vertex"]}
        assert all(word in section for word in said[page])
