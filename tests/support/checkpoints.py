"""Calls that checkpoint, stop and go on."""

from pathlib import Path

import numpy as np
import pytest

from mgraph.runtime.checkpoints import Resumable, Writer


class Stopped(Exception):
    pass


def complete(folder):
    """Return the manifests of the checkpoints in a folder, the oldest first."""
    return sorted(Path(folder).glob("checkpoint-0*.json"))


def written(folder, count=1, then=None):
    """Return a report of progress that stops a call, or calls `then`, once a folder has so many checkpoints."""
    called = []

    def progress(k, of):
        if len(complete(folder)) >= count and not called:
            called.append(k)
            if then is None:
                raise Stopped
            then()

    return progress


def write_at_once(patched):
    """Let checkpoints be written before their span ends, also from a copy: after the next span they are complete."""
    start = Writer.start

    def started(self):
        start(self)
        self.wait()

    patched.setattr(Writer, "start", started)


@pytest.fixture
def writing(request):
    """How checkpoints are written: at once, but in tests with `behind`; by other processes without a copy."""
    with pytest.MonkeyPatch.context() as patched:
        if "behind" not in request.fixturenames:
            write_at_once(patched)
        if {"gpus", "mortals"} & set(request.fixturenames):
            patched.setattr(Resumable, "COPIED", False)
        yield


@pytest.fixture
def behind():
    """For tests of what is written behind the computation."""


class Steps:
    """A report of progress that keeps the supersteps."""

    def __init__(self):
        self.seen = []

    def __call__(self, k, of):
        self.seen.append(k)


def equal(found, wanted, names):
    for name in names:
        np.testing.assert_array_equal(np.asarray(getattr(found, name)), np.asarray(getattr(wanted, name)), name)
