"""Compiled kernels are kept safely by processes that compile at the same time."""

import subprocess
import sys

import pytest
from numba.core.caching import IndexDataCacheFile

import mgraph.host  # noqa: F401  which changes how Numba names its files


@pytest.fixture
def two(tmp_path):
    """The same function's cache, as two processes see it."""
    return [IndexDataCacheFile(str(tmp_path), "kernel", "stamp") for _ in range(2)]


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
    IndexDataCacheFile(str(tmp_path), "kernel", "old").save("int32", "old code")
    new = IndexDataCacheFile(str(tmp_path), "kernel", "new")
    monkeypatch.setattr(new, "_save_data", lambda name, data: None)  # ended before it wrote
    new.save("int32", "new code")
    assert new.load("int32") is None


def test_kernels_are_found_again():
    call = "import mgraph, numba; mgraph.bfs(mgraph.Graph.from_edges([0], [1]), 0, device='cpu')"
    told = "; from mgraph.host import bfs; print(sum(bfs._levels.stats.cache_hits.values()))"
    for _ in range(2):
        found = subprocess.run([sys.executable, "-c", call + told], capture_output=True, text=True, check=True)
    assert int(found.stdout) >= 1
