"""conftest.py decides how many processes run the tests, which are skipped, and when a session takes too long."""

import os
import re
from pathlib import Path

import pytest

import mgraph

pytest_plugins = ["pytester"]

TESTS = """
import os
import pytest

@pytest.mark.exhaustive
@pytest.mark.parametrize("n", [1, 2])
def test_more(n): pass

@pytest.mark.parametrize("n", range(4))
def test_always(n): assert "PYTEST_XDIST_WORKER" in os.environ
"""

#: A test and a file that need a package, which stands beside them only if it is created.
LACKING = {
    "test_needs": "import pytest\ndef test_needs(): pytest.importorskip('optional')\ndef test_other(): pass",
    "test_file": "import pytest\npytest.importorskip('optional')\ndef test_one(): pass\ndef test_two(): pass",
}

#: Fakes a machine of two cores without a GPU, and a time limit of zero for all tests together.
TWO_CORES = """
import os
from mgraph import device
from mgraph.device import lookup

device.gpu_count = lookup.gpu_count = lambda: 0
os.sched_getaffinity = lambda pid: {0, 1}

def pytest_plugin_registered(plugin):
    if hasattr(plugin, "MINUTES"):
        plugin.MINUTES = 0
"""


@pytest.fixture
def session(pytester, monkeypatch):
    """A function that runs the toy tests under this suite's conftest."""
    for name in [name for name in os.environ if name.startswith("PYTEST_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PYTHONPATH", str(Path(mgraph.__file__).parents[1]))
    monkeypatch.setenv("CI", "true")
    tests = pytester.mkdir("tests")
    (tests / "conftest.py").write_text((Path(__file__).parent / "conftest.py").read_text())
    (tests / "test_toy.py").write_text(TESTS)
    options = "addopts = -ra -p no:benchmark\nmarkers =\n gpu\n exhaustive\nfilterwarnings = error"
    pytester.makeini(f"[pytest]\ntestpaths = tests\n{options}")
    pytester.makepyfile(plugin=TWO_CORES)
    return lambda *options: pytester.runpytest_subprocess("-p", "plugin", *options)


def test_all_tests(session):
    found = session()
    found.assert_outcomes(passed=4, skipped=2)
    text = found.stdout.str()
    assert "4 workers" in text
    assert re.search(r"SKIPPED \[2\].*exhaustive: python -m pytest -m exhaustive", text)
    assert re.search(r"ERROR: the tests took [0-9.]+ minutes; they may take 0", text)
    assert found.ret == pytest.ExitCode.TESTS_FAILED


def test_the_exhaustive_ones_of_a_named_file(session):
    found = session("tests/test_toy.py", "-m", "exhaustive")
    found.assert_outcomes(passed=2, deselected=4)
    assert "workers" not in found.stdout.str() and "minutes" not in found.stdout.str()
    assert found.ret == pytest.ExitCode.OK


@pytest.mark.exhaustive
def test_what_lacked_a_package_runs_where_it_is_installed(session, pytester):
    assert "--lacking needs a run of all tests before it" in session("--lacking").stderr.str()
    for name, text in LACKING.items():
        (pytester.path / "tests" / f"{name}.py").write_text(text)
    session("-n1").assert_outcomes(passed=5, skipped=4)
    pytester.makepyfile(optional="")
    session("-n1", "--lacking").assert_outcomes(passed=3)
