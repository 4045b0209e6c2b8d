"""Every public name and method has an Examples section, and each example runs as it stands."""

import doctest
import inspect
import re
from functools import cached_property
from pathlib import Path

import pytest

import mgraph

#: Public names without an example, each with the reason.
WITHOUT = {
    "VersionError": "needs a worker with another version of mgraph",
    "WorkerLostError": "needs a worker that ends during a call",
    "MissingPackageError": "needs an environment without an optional package",
}


def exported():
    """Yield what the modules export, and what the reference names in addition."""
    for module in (mgraph, mgraph.cluster, mgraph.generate):
        yield from (getattr(module, name) for name in module.__all__)
    for page in Path(__file__).parents[1].glob("docs/api/*.rst"):
        for path in re.findall(r"^\.\. auto\w+:: mgraph\.([\w.]+)", page.read_text(), re.MULTILINE):
            found = mgraph
            for name in path.split("."):
                found = getattr(found, name)
            yield found


def documented():
    """Return the docstrings of the public functions and classes and of their methods and properties, by name."""
    found = {"mgraph": mgraph}
    for public in exported():
        if callable(public):
            found[public.__name__] = public
        for owner in inspect.getmro(public) if inspect.isclass(public) else ():
            if owner.__module__.startswith("mgraph"):
                members = {name: member for name, member in vars(owner).items() if not name.startswith("_")}
                for name, member in members.items():
                    if inspect.isroutine(member) or isinstance(member, (property, cached_property)):
                        found[f"{owner.__name__}.{name}"] = getattr(member, "__func__", member)  # whose text help shows
    return {name: inspect.cleandoc(object.__doc__ or "") for name, object in found.items()}


DOCUMENTED = documented()


@pytest.mark.parametrize("name", sorted(DOCUMENTED.keys() - WITHOUT.keys()))
def test_examples(name):
    text = DOCUMENTED[name]
    assert name == "mgraph" or re.search(r"^Examples\n--------\n", text, re.MULTILINE), f"{name} has no Examples"
    example = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
    assert example.examples, f"{name} has no example"
    for package in re.findall(r"^>>> import (\w+)", text, re.MULTILINE):
        pytest.importorskip(package)
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0


def test_names_without_an_example_are_public():
    assert WITHOUT.keys() <= DOCUMENTED.keys()
    assert not [name for name in WITHOUT if ">>>" in DOCUMENTED[name]]
