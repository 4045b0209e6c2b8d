"""Shared by all tests: which tests run, in how many processes, for how long, and the record of a run on a GPU.

- Tests marked ``gpu`` are skipped where there is no GPU, tests marked ``exhaustive`` or ``slurm`` unless
  ``-m`` names that mark.
- ``python -m pytest`` without arguments runs the tests in several processes where pytest-xdist is installed.
- In CI the same command fails when it takes far longer than it should.
- ``python -m pytest --lacking`` runs only what the last run skipped for want of a package.
- ``python -m pytest --gpu-record=PATH`` writes what the tests marked ``gpu`` did, on which device, with which
  versions and which kernels, as JSON.
"""

import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

import dask
import pytest
from hypothesis import HealthCheck, settings

from mgraph import __version__, device
from mgraph.cache_folder import cache_folder
from mgraph.device import memory
from mgraph.limits import cores
from mgraph.planning import probe, remembered
from mgraph.planning.rates import forget

pytest.register_assert_rewrite("tests.support")

pytest_plugins = ["tests.support.devices"]

ROOT = Path(__file__).parents[1]

#: Maximum number of test processes: each holds clusters and compiled kernels in memory.
PROCESSES = 4

#: Minutes that all tests may take in CI on two cores or more. It catches a test that hangs or grows, on slow machines
#: too; the job itself is ended after 60.
MINUTES = 40

settings.register_profile(
    "ci",
    deadline=None,
    max_examples=50,
    derandomize="CI" in os.environ,
    # A test's fixtures serve all its examples.
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
settings.load_profile("ci")


def pytest_addoption(parser):
    parser.addoption("--gpu-record", type=Path, metavar="PATH", help="write what the gpu tests did to PATH, as JSON")
    parser.addoption("--lacking", action="store_true", help="run only what the last run skipped for want of a package")


def is_worker(config):
    """Whether pytest-xdist started this process to run a part of the tests."""
    return hasattr(config, "workerinput")


def names_no_file(config):
    """Whether the command line names no test files."""
    return config.args_source is pytest.Config.ArgsSource.TESTPATHS


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Share the tests between processes, before pytest-xdist reads between how many.

    Named files run in this process, as they start sooner. So does everything under ``--pdb``, and if there is a GPU,
    unless ``-n`` says how many processes share it.
    """
    if is_worker(config) or not config.pluginmanager.hasplugin("xdist"):
        return
    if config.option.numprocesses and config.getoption("gpu_record") and config.option.markexpr != "gpu":
        raise pytest.UsageError("--gpu-record with -n needs -m gpu: only the other processes see the marks")
    # Two more than there are cores, as many tests wait rather than compute.
    processes = min(cores() + 2, PROCESSES) if cores() > 1 else 1
    alone = config.option.usepdb or device.gpu_count() or not names_no_file(config)
    if config.option.numprocesses is None and processes > 1 and not alone:
        config.option.numprocesses = processes
        config.option.dist = "worksteal"


def pytest_configure(config):
    if config.option.lacking and config.cache.get(Lacking.KEY, None) is None:
        raise pytest.UsageError("--lacking needs a run of all tests before it")
    # A user's calibration must not change the tests. Compiled kernels, which lie by the content of their sources, may.
    users, cache = cache_folder(), tempfile.TemporaryDirectory(prefix="mgraph-cache-")
    config.add_cleanup(cache.cleanup)
    os.environ["XDG_CACHE_HOME"] = cache.name
    forget()
    if users is not None:
        (users / "kernels").mkdir(parents=True, exist_ok=True)
        cache_folder().mkdir()
        (cache_folder() / "kernels").symlink_to((users / "kernels").resolve())
    # Tests change what plans depend on, and what is free, between one call and the next.
    memory.RECENT, remembered.REMEMBERED_PLANS = 0, 0
    if not device.gpu_count():
        fork_workers()
    # Nor may the machine's speed or load change which plan is chosen.
    model, counts = device.HostDevice().model(), range(1, (os.cpu_count() or 1) + 1)
    same = probe.CachedSpeed(probe.SAME, time.time())
    probe.keep(cache_folder(), {f"{model}, {count} cores": same for count in counts})
    everything = names_no_file(config) and not (
        config.option.markexpr or config.option.keyword or config.option.lacking
    )
    if everything and not is_worker(config) and hasattr(config, "cache"):
        config.pluginmanager.register(Lacking(config.cache))
    if "CI" in os.environ and cores() > 1 and everything and not is_worker(config):
        config.pluginmanager.register(TimeLimit(60 * MINUTES))
    path = config.getoption("gpu_record")
    if path is None or is_worker(config):
        return
    if not device.gpu_count():
        raise pytest.UsageError("--gpu-record needs a GPU: a record of skipped tests would say nothing")
    config.pluginmanager.register(GpuRecord(path.absolute()))


def fork_workers():
    """Have workers forked from one process that has imported Dask, also those of commands that the tests start.

    Dask spawns them by default, and each imports it anew, for a second. CUDA cannot be used in a fork.
    """
    chosen = {
        "worker.multiprocessing-method": "forkserver",
        # A busy machine takes longer to start a worker again than Dask waits.
        "deploy.lost-worker-timeout": "10 minutes",
        # Dask's profiler reads the frames of other threads, which has crashed Python 3.11.2.
        "worker.profile.enabled": False,
    }
    for name, value in chosen.items():
        os.environ["DASK_DISTRIBUTED__" + name.upper().replace(".", "__").replace("-", "_")] = str(value)
        dask.config.set({f"distributed.{name}": value})


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session):
    """Import the fixtures of clusters once pytest listens to logs: Dask's loggers otherwise get handlers of their own.

    A cluster that silences these would silence pytest's as well.
    """
    for name in ("checkpoints", "clusters", "files", "residents"):
        session.config.pluginmanager.import_plugin(f"tests.support.{name}")


def pytest_collection_modifyitems(config, items):
    gpu = device.gpu_count() > 0
    exhaustive = config.getoption("gpu_record") or "exhaustive" in config.option.markexpr
    for item in items:
        if item.get_closest_marker("gpu") and not gpu:
            item.add_marker(pytest.mark.skip(reason="no GPU that CuPy can use"))
        if item.get_closest_marker("slurm") and "slurm" not in config.option.markexpr:
            item.add_marker(pytest.mark.skip(reason="slurm: python -m pytest -m slurm"))
        if item.get_closest_marker("exhaustive") and not exhaustive:
            item.add_marker(pytest.mark.skip(reason="exhaustive: python -m pytest -m exhaustive"))
    if config.option.lacking:
        lacking = set(config.cache.get(Lacking.KEY, []))
        chosen = [item for item in items if not lacking.isdisjoint((item.nodeid, item.nodeid.partition("::")[0]))]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(chosen)])
        items[:] = chosen


@pytest.fixture
def cache_home(monkeypatch, tmp_path):
    """The folder in which the user's caches are, which is empty."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    forget()
    yield tmp_path
    forget()


@pytest.fixture(autouse=True, scope="module")
def dasks_scheduler():
    """Set Dask's default scheduler as before: clients that are not closed in the reverse order leave theirs."""
    with dask.config.set(scheduler=dask.config.get("scheduler", None)):
        yield


@pytest.fixture(autouse=True)
def closed_figures():
    """Close the figures that a test or an example opened: Matplotlib warns of the twenty-first."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


class Lacking:
    """Keeps, for ``--lacking``, which tests and whole files this session skipped for want of a package."""

    KEY = "mgraph/lacking"
    REASON = re.compile("could not import|is not installed")

    def __init__(self, cache):
        self.cache = cache
        self.skipped = set()

    def pytest_runtest_logreport(self, report):
        if report.skipped and self.REASON.search(str(report.longrepr)):
            self.skipped.add(report.nodeid)

    pytest_collectreport = pytest_runtest_logreport

    def pytest_sessionfinish(self):
        self.cache.set(self.KEY, sorted(self.skipped))


class TimeLimit:
    """Fails a session that takes longer than so many seconds, once all its tests have run."""

    def __init__(self, seconds):
        self.seconds = seconds
        self.started = time.monotonic()
        self.told = None

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session):
        taken = time.monotonic() - self.started
        if taken > self.seconds:
            self.told = f"the tests took {taken / 60:.1f} minutes; they may take {self.seconds / 60:g}: see --durations"
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        if self.told:
            terminalreporter.write_line(f"ERROR: {self.told}", red=True)


class GpuRecord:
    """The outcomes of the tests marked ``gpu``, written when the session ends."""

    def __init__(self, path):
        self.path = path
        self.outcomes = {}

    def pytest_collection_finish(self, session):
        for item in session.items:
            if item.get_closest_marker("gpu"):
                self.outcomes[item.nodeid] = "not run"

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids):
        self.outcomes |= dict.fromkeys(set(ids) - self.outcomes.keys(), "not run")

    def pytest_collectreport(self, report):
        # Of a module that cannot be imported, it is not known which tests are marked.
        if report.failed:
            self.outcomes[report.nodeid] = "error"

    def pytest_runtest_logreport(self, report):
        if report.nodeid not in self.outcomes:
            return
        if report.failed:
            self.outcomes[report.nodeid] = "failed" if report.when == "call" else "error"
        elif report.skipped or report.when == "call":
            self.outcomes[report.nodeid] = report.outcome

    def pytest_sessionfinish(self):
        counts = Counter(self.outcomes.values())
        record = {
            **environment(),
            "passed": counts["passed"],
            "failed": counts["failed"],
            "skipped": counts["skipped"],
            # A session that was cut short has not passed.
            "errors": counts["error"] + counts["not run"],
            "tests": self.outcomes,
            "kernels": kernel_digests(),
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(record, indent=2) + "\n")


def environment():
    """Return the device, the versions and the commit that a record belongs to."""
    cupy = device.find("cuda:0").xp
    runtime = cupy.cuda.runtime
    return {
        "device": runtime.getDeviceProperties(0)["name"].decode(),
        "devices": device.gpu_count(),
        "driver": cuda_version(runtime.driverGetVersion()),
        "cuda runtime": cuda_version(runtime.runtimeGetVersion()),
        "cupy": cupy.__version__,
        "python": platform.python_version(),
        "mgraph": __version__,
        **{name: version(name) for name in ("numpy", "numba", "dask", "distributed")},
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
    }


def cuda_version(number):
    """Return CUDA's number of a version, e.g. 13010, as ``"13.1"``."""
    return f"{number // 1000}.{number % 1000 // 10}"


def version(name):
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def commit():
    """Return the commit that was tested, marked where files differ from it."""
    describe = ["git", "describe", "--always", "--abbrev=40", "--dirty", "--exclude=*"]
    try:
        git = subprocess.run(describe, cwd=ROOT, capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return git.stdout.strip() if git.returncode == 0 else None


def kernel_digests():
    return {
        path.relative_to(ROOT).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted((ROOT / "kernels").rglob("*"))
        if path.suffix in (".cu", ".cuh", ".h")
    }
