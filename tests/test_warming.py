"""Compiling ahead of the first call."""

import pytest

from mgraph import InputError
from mgraph.warming import warm_up


def test_the_kernels_of_a_call_are_compiled_ahead(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    seen = []
    warm_up(["components"], progress=lambda *counts: seen.append(counts))
    assert seen[-1][0] == seen[-1][1] == len(seen)
    assert list(tmp_path.rglob("*.nbc"))


def test_an_unknown_call_is_refused():
    with pytest.raises(InputError, match="got 'nothing'"):
        warm_up(["nothing"])
