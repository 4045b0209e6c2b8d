"""What all tests share: the skipping of GPU tests where there is no GPU, and the record of a run on one.

``python -m pytest --gpu-record=PATH`` writes what the tests marked ``gpu`` did, on which device, with which
versions and which kernels, as JSON.
"""

import hashlib
import json
import os
import platform
import subprocess
import tempfile
from collections import Counter
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

import pytest
from hypothesis import settings

from mgraph import __version__, device

ROOT = Path(__file__).parents[1]

settings.register_profile("ci", deadline=None, max_examples=50, derandomize="CI" in os.environ)
settings.load_profile("ci")


def pytest_addoption(parser):
    parser.addoption("--gpu-record", type=Path, metavar="PATH", help="write what the gpu tests did to PATH, as JSON")


def pytest_configure(config):
    # What a user has calibrated shall not change what is tested.
    cache = tempfile.TemporaryDirectory(prefix="mgraph-cache-")
    config.add_cleanup(cache.cleanup)
    os.environ["XDG_CACHE_HOME"] = cache.name
    path = config.getoption("gpu_record")
    if path is None:
        return
    if not device.gpu_count():
        raise pytest.UsageError("--gpu-record needs a GPU: a record of skipped tests would say nothing")
    config.pluginmanager.register(GpuRecord(path.absolute()))


def pytest_collection_modifyitems(items):
    if device.gpu_count():
        return
    for item in items:
        if item.get_closest_marker("gpu"):
            item.add_marker(pytest.mark.skip(reason="no GPU that CuPy can use"))


class GpuRecord:
    """The outcomes of the tests marked ``gpu``, written when the session ends."""

    def __init__(self, path):
        self.path = path
        self.outcomes = {}

    def pytest_collection_finish(self, session):
        for item in session.items:
            if item.get_closest_marker("gpu"):
                self.outcomes[item.nodeid] = "not run"

    def pytest_collectreport(self, report):
        # A module that cannot be imported hides which of its tests are marked.
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
