"""The gpu marker and the record of a run, in separate sessions with faked GPUs."""

import hashlib
import json
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy
import pytest

import mgraph

pytest_plugins = ["pytester"]

FAKED = """
import sys
from types import ModuleType, SimpleNamespace

from mgraph import device
from mgraph.device import lookup

cupy = ModuleType("cupy")
cupy.__version__ = "99.1"
cupy.cuda = SimpleNamespace(
    runtime=SimpleNamespace(
        getDeviceProperties=lambda index: {"name": b"Toy GPU"},
        driverGetVersion=lambda: 13010,
        runtimeGetVersion=lambda: 12090,
    )
)
sys.modules["cupy"] = cupy
device.gpu_count = lookup.gpu_count = lambda: 2
"""

NO_GPU = """
from mgraph import device
from mgraph.device import lookup

device.gpu_count = lookup.gpu_count = lambda: 0
"""

TESTS = """
import pytest

@pytest.fixture
def broken():
    raise OSError

@pytest.fixture
def untidy():
    yield
    raise OSError

@pytest.mark.gpu
class TestMarked:
    @pytest.mark.parametrize("n", [1, 2])
    def test_good(self, n): pass
    def test_bad(self): assert False
    def test_skipped(self): pytest.skip("not here")
    def test_broken(self, broken): pass
    def test_untidy(self, untidy): pass

def test_unmarked(): assert False
"""


@pytest.fixture
def session(pytester, monkeypatch):
    """A function that runs the toy tests under this suite's conftest, with a plugin loaded before it."""
    monkeypatch.setenv("PYTHONPATH", str(Path(mgraph.__file__).parents[1]))
    tests = pytester.mkdir("tests")
    (tests / "conftest.py").write_text((Path(__file__).parent / "conftest.py").read_text())
    (tests / "test_toy.py").write_text(TESTS)
    pytester.makeini("[pytest]\nmarkers = gpu\nfilterwarnings = error")

    def run(plugin, *arguments):
        pytester.makepyfile(plugin=plugin)
        return pytester.runpytest_subprocess("-p", "plugin", "-p", "no:cacheprovider", "-p", "no:zarr", *arguments)

    return run


def test_the_record(session, pytester):
    kernels = {"kernels/toy.cu": b"kernel", "kernels/parts/shared.cuh": b"part", "kernels/notes.md": b"no"}
    for name, content in kernels.items():
        path = pytester.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    session(FAKED, "--gpu-record=records/run.json").assert_outcomes(passed=3, failed=2, skipped=1, errors=2)

    record = json.loads((pytester.path / "records" / "run.json").read_text())
    written = datetime.fromisoformat(record["date"])
    assert written.utcoffset() == timedelta(0)
    assert abs(datetime.now(UTC) - written) < timedelta(minutes=5)
    assert record["tests"] == {
        "tests/test_toy.py::TestMarked::test_good[1]": "passed",
        "tests/test_toy.py::TestMarked::test_good[2]": "passed",
        "tests/test_toy.py::TestMarked::test_bad": "failed",
        "tests/test_toy.py::TestMarked::test_skipped": "skipped",
        "tests/test_toy.py::TestMarked::test_broken": "error",
        "tests/test_toy.py::TestMarked::test_untidy": "error",
    }
    counts = {name: record[name] for name in ("passed", "failed", "skipped", "errors")}
    assert counts == {"passed": 2, "failed": 1, "skipped": 1, "errors": 2}
    assert record["kernels"] == {
        "kernels/parts/shared.cuh": hashlib.sha256(b"part").hexdigest(),
        "kernels/toy.cu": hashlib.sha256(b"kernel").hexdigest(),
    }
    described = {name: record[name] for name in ("device", "devices", "driver", "cuda runtime", "cupy")}
    assert described == {"device": "Toy GPU", "devices": 2, "driver": "13.1", "cuda runtime": "12.9", "cupy": "99.1"}
    assert record["numpy"] == numpy.__version__
    assert {"numba", "python", "mgraph", "dask", "distributed"} <= record.keys()
    assert record["commit"] is None


def test_the_commit(session, pytester):
    git = ["git", "-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false"]
    subprocess.run([*git, "init", "--quiet"], cwd=pytester.path, check=True)
    subprocess.run([*git, "commit", "--quiet", "--allow-empty", "-m", "m"], cwd=pytester.path, check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], cwd=pytester.path, capture_output=True, text=True)
    session(FAKED, "--gpu-record=run.json")
    assert json.loads((pytester.path / "run.json").read_text())["commit"] == head.stdout.strip()


@pytest.mark.exhaustive
def test_a_module_that_fails_to_import_is_an_error(session, pytester):
    (pytester.path / "tests" / "test_unimportable.py").write_text("import no_such_module")
    session(FAKED, "--gpu-record=run.json")
    record = json.loads((pytester.path / "run.json").read_text())
    outcomes = record["tests"]
    assert outcomes.pop("tests/test_unimportable.py") == "error"
    assert set(outcomes.values()) == {"not run"}
    assert (record["passed"], record["errors"]) == (0, 1 + len(outcomes))


@pytest.mark.exhaustive
def test_a_session_cut_short(session, pytester):
    session(FAKED, "--gpu-record=run.json", "--exitfirst")
    record = json.loads((pytester.path / "run.json").read_text())
    assert record["tests"]["tests/test_toy.py::TestMarked::test_untidy"] == "not run"
    assert (record["passed"], record["failed"], record["errors"]) == (2, 1, 3)


@pytest.mark.exhaustive
def test_the_record_of_several_processes(session, pytester):
    session(FAKED, "--gpu-record=alone.json", "-m", "gpu")
    session(FAKED, "--gpu-record=run.json", "-m", "gpu", "-n", "2")
    alone, shared = (json.loads((pytester.path / name).read_text()) for name in ("alone.json", "run.json"))
    assert shared["tests"] == alone["tests"]
    assert [shared[name] for name in ("passed", "failed", "errors")] == [2, 1, 2]
    result = session(FAKED, "--gpu-record=other.json", "-n", "2")
    result.stderr.fnmatch_lines(["*--gpu-record with -n needs -m gpu*"])


def test_no_record_without_a_gpu(session, pytester):
    result = session(NO_GPU, "--gpu-record=run.json")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--gpu-record needs a GPU*"])
    assert not (pytester.path / "run.json").exists()


def test_marked_tests_are_skipped_without_a_gpu(session):
    result = session(NO_GPU, "-rs")
    result.assert_outcomes(skipped=6, failed=1)
    result.stdout.fnmatch_lines(["SKIPPED*no GPU that CuPy can use"])
