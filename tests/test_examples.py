"""The examples of the public calls run as they stand."""

import doctest
import inspect

import pytest

import mgraph

DOCUMENTED = {name: found for name in mgraph.__all__ if inspect.isfunction(found := getattr(mgraph, name))} | {
    "mgraph": mgraph,
    **{name: found for name in mgraph.generate.__all__ if inspect.isfunction(found := getattr(mgraph.generate, name))},
    "connect": mgraph.cluster.connect,
    "local_client": mgraph.cluster.local_client,
    "Graph": mgraph.Graph,
    "Keeping": mgraph.graph.views.Keeping,
    "Result": mgraph.Result,
    "MatrixResult": mgraph.results.MatrixResult,
}


@pytest.mark.parametrize("name", DOCUMENTED)
def test_examples(name):
    found = DOCUMENTED[name]
    finder = doctest.DocTestFinder(recurse=inspect.isclass(found))
    examples = [test for test in finder.find(found, name) if test.examples]
    assert examples, f"{name} has no example"
    for example in examples:
        assert doctest.DocTestRunner(verbose=False).run(example).failed == 0
