"""Compiled kernels are cached safely by processes that compile at the same time."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from numba.core.caching import IndexDataCacheFile

import mgraph
from mgraph.device.numba import caching
from mgraph.device.numba.caching import KernelFiles

#: The part of a script that defines two kernels.
TWO_KERNELS = """
from mgraph.device.numba.caching import njit
@njit(cache=True)
def twice(a):
    return 2 * a
@njit(cache=True)
def thrice(a):
    return 3 * a
"""


@pytest.fixture
def two(tmp_path):
    """The cache of one function, as two processes see it."""
    return [KernelFiles(str(tmp_path), "kernel", "stamp") for _ in range(2)]


def test_two_processes_that_save_at_once_do_not_mix_their_versions(two, monkeypatch):
    one, other = two
    write = one._save_data

    def late(name, data):  # the other one, which read the index when it was empty, saves before this one's data
        monkeypatch.setattr(other, "_load_index", dict)
        other.save("int32", "code for int32")
        write(name, data)

    monkeypatch.setattr(one, "_save_data", late)
    one.save("float64", "code for float64")
    monkeypatch.undo()
    assert other.load("int32") == "code for int32"
    assert other.load("float64") in (None, "code for float64")
    one.save("float64", "code for float64")
    assert [one.load(key) for key in ("int32", "float64")] == ["code for int32", "code for float64"]


def test_a_changed_source_does_not_find_the_old_code(tmp_path, monkeypatch):
    KernelFiles(str(tmp_path), "kernel", "old").save("int32", "old code")
    new = KernelFiles(str(tmp_path), "kernel", "new")
    monkeypatch.setattr(new, "_save_data", lambda name, data: None)  # ended before it wrote
    new.save("int32", "new code")
    assert new.load("int32") is None


def test_files_that_no_index_names_are_removed_when_they_are_old(tmp_path):
    def files(*suffixes):
        return {path.name for path in tmp_path.iterdir() if path.name.endswith(suffixes)}

    KernelFiles(str(tmp_path), "kernel", "old").save("int32", "old code")
    [left] = files(".nbc")
    others = {"kernel.2.nbc", f"{left}.tmp.0123456789abcdef", "kernel.nbi.tmp.0123456789abcdef"}
    others_own = {"kernel_alone.1.nbc", "kernel.py", f"another.{left}"}
    for name in others | others_own:
        (tmp_path / name).write_text("")
    new = KernelFiles(str(tmp_path), "kernel", "new")
    new.save("int32", "new code")
    [named] = files(".nbc") - others - others_own - {left}
    assert files("") == {"kernel.nbi", left, named} | others | others_own  # another process may be about to name them
    for path in tmp_path.iterdir():
        os.utime(path, (time.time() - caching.YOUNG - 1,) * 2)
    new.save("int64", "more code")
    assert files("") == {"kernel.nbi", named, *new._load_index().values()} | others_own
    assert new.load("int32") == "new code" and new.load("int64") == "more code"


def test_functions_of_other_packages_are_cached_by_numba(tmp_path):
    theirs = IndexDataCacheFile(str(tmp_path), "theirs", "stamp")
    theirs.save("int32", "code")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["theirs.1.nbc", "theirs.nbi"]


def test_kernels_are_found_again():
    call = "import mgraph, numba; mgraph.bfs(mgraph.Graph.from_edges([0], [1]), 0, device='cpu')"
    told = (
        "; from mgraph.device.numba.forks import KERNELS; print(sum(sum(k.stats.cache_hits.values()) for k in KERNELS))"
    )
    for _ in range(2):
        found = subprocess.run([sys.executable, "-c", call + told], capture_output=True, text=True, check=True)
    assert int(found.stdout) >= 1


def test_no_folder_for_the_cache_costs_only_time(tmp_path):
    script = tmp_path / "kernels.py"
    script.write_text(
        "from numba.core import caching\n"
        "caching.CacheImpl._locator_classes = []\n" + TWO_KERNELS + "print(twice(1), thrice(1))\n"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(mgraph.__file__).parents[1])}
    ran = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=False)
    assert ran.stdout.split() == ["2", "3"], ran.stderr
    assert ran.stderr.count("RuntimeWarning: compiled kernels cannot be kept: no folder can be written to") == 1


def test_a_cache_that_cannot_be_written_costs_only_time(tmp_path):
    script = tmp_path / "kernels.py"
    script.write_text(
        "import resource\n" + TWO_KERNELS + "resource.setrlimit(resource.RLIMIT_FSIZE, (999, resource.RLIM_INFINITY))\n"
        "print(twice(1), thrice(1))\n"
    )
    cache = tmp_path / "cache"
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(Path(mgraph.__file__).parents[1])}
    ran = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == ["2", "3"]
    assert ran.stderr.count("RuntimeWarning: compiled kernels cannot be kept in ") == 1
    assert str(cache) in ran.stderr and "File too large" in ran.stderr
    assert not [path for path in cache.rglob("*") if path.is_file() and path.suffix != ".nbi"]


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_a_damaged_file_is_replaced(suffix, tmp_path, monkeypatch):
    files = KernelFiles(str(tmp_path), "kernel", "stamp")
    files.save("int32", "code")
    [path] = (path for path in tmp_path.iterdir() if path.suffix == suffix)
    whole = path.read_bytes()
    flipped = [
        whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :] for place in range(len(whole))
    ]
    for damaged in [whole[:length] for length in range(len(whole))] + flipped + [whole + b"x", b"\x80\x04garbage"]:
        monkeypatch.setattr(caching, "warned", set())
        path.write_bytes(damaged)
        with pytest.warns(
            RuntimeWarning, match=f"cannot be read from .*{suffix}, and is compiled again: it is inc"
        ) as w:
            assert files.load("int32") is None
            files.save("int32", "code")
        assert len(w) == 1
        assert files.load("int32") == "code"


def test_a_file_that_cannot_be_opened_costs_only_time(tmp_path, monkeypatch):
    monkeypatch.setattr(caching, "warned", set())
    files = KernelFiles(str(tmp_path), "kernel", "stamp")
    (tmp_path / "kernel.nbi").mkdir()
    with pytest.warns(RuntimeWarning, match="kernel.nbi, and is compiled again: .*Is a directory"):
        assert files.load("int32") is None


def test_damaged_kernels_are_compiled_again(tmp_path):
    script = tmp_path / "kernels.py"
    script.write_text(
        TWO_KERNELS
        + "print(twice(1), thrice(1), sum(sum(each.stats.cache_hits.values()) for each in (twice, thrice)))\n"
    )
    cache = tmp_path / "cache"
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(Path(mgraph.__file__).parents[1])}

    def run():
        ran = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=True)
        return ran.stdout.split(), ran.stderr.count("RuntimeWarning")

    assert run() == (["2", "3", "0"], 0)
    for suffix in ("nbc", "nbi"):
        for path in cache.rglob(f"*.{suffix}"):
            os.truncate(path, path.stat().st_size // 2)
        assert run() == (["2", "3", "0"], 1)
        assert run() == (["2", "3", "2"], 0)


def test_kernels_lie_in_the_cache_folder_by_the_content_of_their_sources(tmp_path):
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": str(Path(mgraph.__file__).parents[1])}
    environment.pop("NUMBA_CACHE_DIR", None)
    module = "mgraph.kernels.bfs.host"
    folder = tmp_path / "mgraph" / "kernels"
    for version in range(4):
        (folder / f"{module}-{version:016x}").mkdir(parents=True)
        os.utime(folder / f"{module}-{version:016x}", (version, version))
    code = "import mgraph; mgraph.bfs(mgraph.Graph.from_edges([0], [1]), 0, device='cpu')"
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    [used] = {path.parent for path in folder.rglob("*.nbc") if path.parent.name.startswith(f"{module}-")}
    left = {path.name for path in folder.iterdir() if path.name.startswith(f"{module}-")}
    assert left == {used.name, f"{module}-{2:016x}", f"{module}-{3:016x}"}
