"""The tests use the library's public names alone, and share theirs in `tests/support`."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TESTS = ROOT / "tests"

#: A private attribute of another object, or one that a test replaces. The methods of Dask's client are not mgraph's.
USED = re.compile(
    r"""(?<!\bself)(?<!\bcls)\.(_[A-Za-z]\w*)|(?:setattr|getattr)\((?!Client\b)[^"']+,\s*["'](_[A-Za-z]\w*)["']"""
)

#: Names of Numba's cache, which ours overrides.
NUMBAS = {"_load_index", "_save_data", "_locator_classes"}


def private(path):
    """The private names that a module of the library defines: functions, classes, variables and attributes."""
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name


@pytest.fixture(scope="module")
def private_names():
    found = {name for path in ROOT.glob("mgraph/**/*.py") for name in private(path)}
    return {name for name in found if re.fullmatch(r"_[A-Za-z].*(?<!_)", name)} - NUMBAS


def used(text):
    """The private names that a test uses, in code and in the scripts that it runs."""
    yield from (one or other for one, other in USED.findall(text))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mgraph"):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize(
    "name", sorted(str(path.relative_to(TESTS)) for path in [*TESTS.glob("*.py"), *TESTS.glob("support/*.py")])
)
def test_a_test_uses_public_names_alone(name, private_names):
    assert not private_names & set(used((TESTS / name).read_text()))


@pytest.mark.parametrize(
    "line", ["from mgraph.results import {}", "results.{}(3)", "monkeypatch.setattr(results, '{}', None)"]
)
def test_a_private_name_is_seen(line, private_names):
    assert "_row_sources" in private_names
    assert list(used(line.format("_row_sources"))) == ["_row_sources"]


def test_no_test_imports_from_another():
    imported = re.compile(r"^\s*from (tests\.)?test_\w+ import|^\s*from tests import .*\btest_", re.MULTILINE)
    assert not [path.name for path in TESTS.glob("**/*.py") if imported.search(path.read_text())]
