"""The examples of the public calls run as they stand."""

import doctest
import inspect

import pytest

import mgraph

CALLS = {name: found for name in mgraph.__all__ if inspect.isfunction(found := getattr(mgraph, name))}


@pytest.mark.parametrize("name", ["mgraph", "Graph", *CALLS])
def test_examples(name):
    found = mgraph if name == "mgraph" else getattr(mgraph, name)
    finder = doctest.DocTestFinder(recurse=inspect.isclass(found))
    examples = [test for test in finder.find(found, name) if test.examples]
    assert examples, f"{name} has no example"
    for example in examples:
        assert doctest.DocTestRunner(verbose=False).run(example).failed == 0
