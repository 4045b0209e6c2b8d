"""`mgraph.csgraph`: SciPy's own tests, run on it, and comparisons with SciPy on random input."""

import math
from pathlib import Path
from types import ModuleType

import pytest
from scipy.sparse import csgraph as scipy_csgraph

#: SciPy's test files for what mgraph computes.
FILES = ("shortest_path", "traversal", "spanning_tree", "connected_components", "conversions")

#: SciPy's cases that fail, each with the reason.
EXPECTED: dict[str, str] = {}

FOLDER = Path(scipy_csgraph.__file__).with_name("tests")


def on_mgraph(text):
    """Return the text of one of SciPy's test files with mgraph's module in place of SciPy's."""
    for old, new in (
        (
            "from scipy.sparse import csgraph, csr_array",
            "from mgraph import csgraph\nfrom scipy.sparse import csr_array",
        ),
        ("scipy.sparse.csgraph", "mgraph.csgraph"),
        ("from .._laplacian", "from mgraph.csgraph"),
        ("from .._min_spanning_tree", "from mgraph.csgraph"),
    ):
        text = text.replace(old, new)
    return text


def scipys_tests():
    """Yield the name and the function of each of SciPy's tests."""
    for stem in FILES:
        path = FOLDER / f"test_{stem}.py"
        if path.exists():  # some distributions leave the tests out
            module = ModuleType(stem)
            exec(compile(on_mgraph(path.read_text()), path, "exec"), vars(module))
            for name, value in vars(module).items():
                if name.startswith("test_"):
                    yield f"test_scipy_{stem}_{name.removeprefix('test_')}", value


SCIPYS = dict(scipys_tests())
globals().update({name: pytest.mark.filterwarnings("default")(function) for name, function in SCIPYS.items()})


@pytest.fixture(autouse=True)
def expected_failure(request):
    """Mark SciPy's cases that are known to fail."""
    if request.node.name in EXPECTED:
        request.applymarker(pytest.mark.xfail(reason=EXPECTED[request.node.name], strict=True))


def test_nearly_all_of_scipys_cases_pass():
    def cases(function):
        marks = [mark for mark in getattr(function, "pytestmark", ()) if mark.name == "parametrize"]
        return math.prod(len(mark.args[1]) for mark in marks)

    count = sum(map(cases, SCIPYS.values()))
    assert count > 90
    assert len(EXPECTED) <= 0.03 * count
