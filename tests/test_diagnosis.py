"""What is said where no GPU can be used, by stand-ins for CuPy; docs/install.md explains each message and no other."""

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from mgraph import device
from mgraph.cli import machine
from mgraph.device import cuda, diagnosis
from mgraph.errors import DeviceError
from tests.support.commands import invoke

PAGE = Path(__file__).parents[1] / "docs" / "install.md"


class Stub:
    """A CuPy of CUDA 13.1, whose parts may fail."""

    def __init__(self, *, driver=13010, count=1, major=9, headers=True, library=True):
        self.failing = {"driver": not library, "headers": not headers}
        self.properties = {"name": b"Some GPU", "major": major, "minor": 5}
        self.cuda = SimpleNamespace(runtime=self)
        self.driver, self.count = driver, count

    def driverGetVersion(self):
        if self.failing["driver"]:
            raise OSError("libcudart.so.13: cannot open shared object file")
        return self.driver

    def runtimeGetVersion(self):
        return 13010

    def getDeviceCount(self):
        if self.count is None:
            raise RuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected")
        return self.count

    def getDeviceProperties(self, index):
        return self.properties

    def RawModule(self, code, options):
        assert "#include <cuda_fp16.h>" in code

        def compiled():
            if self.failing["headers"]:
                raise RuntimeError('\n  x.cu(1): catastrophic error: cannot open source file "cuda_fp16.h"\n')

        return SimpleNamespace(compile=compiled)


@pytest.fixture
def problem(monkeypatch):
    """Return what `gpu_problem` says of a stand-in, on a system of a name."""

    def found(release="6.8.0-generic", **parts):
        stub = Stub(**parts)
        monkeypatch.setattr(diagnosis, "cupy", lambda: stub)
        monkeypatch.setattr(diagnosis, "gpu_count", lambda: int(stub.properties["major"] >= 8))
        monkeypatch.setattr(diagnosis.platform, "release", lambda: release)
        return device.gpu_problem()

    return found


def test_a_gpu_that_can_be_used(problem):
    assert problem() is None
    assert problem(driver=14000) is None


def test_the_driver(problem):
    assert problem(driver=0).startswith("there is no NVIDIA driver: install it")
    assert "install it in Windows" in problem(driver=0, release="5.15.153.1-microsoft-standard-WSL2")
    old = problem(driver=12040)
    assert "supports CUDA 12.4, and CuPy was built for CUDA 13.1" in old and "dask-mgraph[cuda12]" in old


def test_no_gpu(problem, monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert problem(count=0).startswith("CUDA finds no GPU (none is there): nvidia-smi")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert "no CUDA-capable device is detected; CUDA_VISIBLE_DEVICES is ''" in problem(count=None)


def test_what_is_installed(problem):
    assert "Some GPU has compute capability 7.5" in problem(major=7)
    assert "dask-mgraph[cuda13]" in problem(headers=False) and 'file "cuda_fp16.h")' in problem(headers=False)
    assert problem(library=False) == "CuPy cannot load CUDA: libcudart.so.13: cannot open shared object file"


def test_a_cupy_that_cannot_be_imported(monkeypatch, tmp_path):
    (tmp_path / "cupy.py").write_text("raise ImportError('a page\\nof text') from OSError('libfoo.so is missing')\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    cuda.cupy.cache_clear()
    try:
        with pytest.raises(DeviceError, match=r"cannot be imported \(libfoo.so is missing\): uninstall all"):
            cuda.cupy()
    finally:
        cuda.cupy.cache_clear()
        sys.modules.pop("cupy", None)


def explained():
    """The messages in the page's table, as regular expressions by their text."""
    table = PAGE.read_text().partition("## If no GPU is used")[2]
    shown = re.findall(r"^\| `(.*?)` \|", table, re.MULTILINE)
    return {text: re.compile(".*".join(map(re.escape, text.split("…")))) for text in shown}


def test_every_message_is_explained_and_no_other(problem, monkeypatch):
    said = [
        problem(driver=0),
        problem(driver=0, release="5.15-microsoft"),
        problem(driver=12040),
        problem(count=0),
        problem(major=7),
        problem(headers=False),
        problem(library=False),
    ]

    def info(problem=None, **installed):
        monkeypatch.setattr(device, "gpu_count", lambda: 0)
        monkeypatch.setattr(device, "gpu_problem", lambda: problem)

        def version(name):
            if installed.get(name.replace("-", "_")):
                return "1.0"
            if name.startswith("cupy") or name == "dask-cuda":
                raise machine.metadata.PackageNotFoundError(name)
            return "1.0"

        monkeypatch.setattr(machine.metadata, "version", version)
        shown = invoke("info")
        assert shown.exit_code == 0
        return shown.stdout.splitlines()

    def no_nccl():
        raise DeviceError("several GPUs need NCCL: pip install 'dask-mgraph[cuda13]'")

    monkeypatch.setattr(device, "nccl", no_nccl)
    broken = "a GPU needs CuPy, which cannot be imported (x): uninstall all packages named cupy"
    lines = [*info(), *info(broken, cupy_cuda13x=True), *info(cupy_cuda12x=True, cupy_cuda13x=True)]
    rows = explained()
    seen = {line: [text for text, pattern in rows.items() if pattern.match(line)] for line in (*said, *lines)}
    assert all(seen[message] for message in said)
    assert set(rows) == {text for texts in seen.values() for text in texts}
