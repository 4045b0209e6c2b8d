"""The registry: its entries agree with the calls and the planner, and their samples are solved correctly."""

import dataclasses
import inspect

import numpy as np
import pytest

import mgraph
from mgraph.algorithms.registry import ALGORITHMS
from mgraph.errors import InputError, WrongResultError

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
    with pytest.raises(InputError, match="method='no such' is not known"):
        mgraph.plan(name, 1000, 5000, "cpu", method="no such")


@pytest.mark.parametrize("name", [name for name, entry in ALGORITHMS.items() if entry.needs_edges])
def test_a_plan_that_needs_edges(name):
    with pytest.raises(InputError, match="needs m=, the number of edges"):
        mgraph.plan(name, 1000, devices="cpu")


@pytest.mark.parametrize("name", ALGORITHMS)
def test_verifiers_refuse_wrong_results(name):
    entry = ALGORITHMS[name]
    sample = next(entry.samples("auto"))
    found = entry.arrays(entry.run(sample, "auto", "cpu"))
    wrong = {key: spoiled(value) for key, value in found.items()}
    with pytest.raises(WrongResultError):
        entry.check(sample.given, wrong, sample.start)


def spoiled(value):
    """The same with the least element one greater; of a closure, that the first vertex reaches the second."""
    if isinstance(value, mgraph.ClosureResult):
        words = value.words.copy()
        words[0, 0] ^= 2
        return dataclasses.replace(value, words=words)
    changed = np.array(value)
    changed.flat[changed.argmin()] += 1
    return changed


@pytest.mark.exhaustive
@pytest.mark.parametrize(("name", "method"), METHODS)
def test_samples(name, method):
    """The runs of compute-sanitizer on GPUs give right results on the CPU."""
    entry = ALGORITHMS[name]
    for sample in entry.samples(method):
        result = entry.run(sample, method, "cpu")
        assert method in ("auto", result.plan.method)
        assert entry.check(sample.given, entry.arrays(result), sample.start)
