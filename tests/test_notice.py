"""What a user reads while kernels are compiled."""

import contextlib
import io

import pytest

from mgraph.device import notice
from mgraph.device.clock import COMPILING, Announcement
from mgraph.device.numba import numba


class Stream(io.StringIO):
    """Standard error, which may be a terminal."""

    def __init__(self, terminal):
        super().__init__()
        self.isatty = lambda: terminal


@pytest.mark.parametrize("terminal", [True, False])
def test_a_line_on_a_terminal_while_kernels_are_compiled(terminal, monkeypatch, caplog):
    said, stream = Announcement(), Stream(terminal)
    monkeypatch.setattr(notice, "COMPILING", said)
    monkeypatch.setattr(notice, "is_child", lambda: False)
    monkeypatch.setattr(notice.sys, "stderr", stream)
    caplog.set_level("INFO", "mgraph")
    speaker = notice.Notice()
    said.notify(speaker)
    speaker.say()
    assert not stream.getvalue() and not caplog.records  # nothing is compiled any more
    said.begin("bfs")
    with said.listening(lambda what: None):
        speaker.say()
    assert not stream.getvalue() and len(caplog.records) == 1  # the other listener says so
    said.end()
    for family in ("sssp", "sssp", "minplus"):  # each is said once
        said.begin(family, waiting=2)
        speaker.say()
        said.end()
    lines = stream.getvalue().splitlines()
    assert len(lines) == (2 if terminal else 0) and len(caplog.records) == 3
    for words in ("(bfs, number 1)", "(sssp, number 2 of 4)", "(minplus, number 4 of 6)"):
        assert words in caplog.text


@pytest.mark.parametrize("listeners", [0, 1])
def test_a_command_says_so_in_a_log_too(listeners, monkeypatch):
    said, stream = Announcement(), Stream(False)
    monkeypatch.setattr(notice, "COMPILING", said)
    monkeypatch.setattr(notice, "is_child", lambda: False)
    monkeypatch.setattr(notice.sys, "stderr", stream)
    speaker = notice.Notice()
    said.notify(speaker)
    with contextlib.ExitStack() as stack:
        for _ in range(listeners):  # the bar of a command is shown on terminals only
            stack.enter_context(said.listening(lambda what: None))
        with speaker.everywhere():
            said.begin("bfs")
            speaker.say()
            said.end()
        said.begin("sssp")
        speaker.say()
        said.end()
    assert stream.getvalue().count("compiling kernels") == 1 and "(bfs, number 1)" in stream.getvalue()


def test_what_workers_compile_is_said():
    said, heard = Announcement(), []
    with said.listening(heard.append):
        said.hear("bfs, number 1, on a worker")
        said.hear("bfs, number 1, on a worker")
        said.begin("sssp")
        said.end()
        said.hear("")
    assert heard == ["bfs, number 1, on a worker", "sssp, number 1", "bfs, number 1, on a worker", ""]


def test_kernels_of_other_packages_are_not_said():
    heard = []
    with COMPILING.listening(heard.append):
        numba.njit(lambda: 1)()
    assert not heard


def test_the_line_comes_after_a_while(monkeypatch):
    said, heard = Announcement(), notice.threading.Event()
    monkeypatch.setattr(notice, "PATIENCE", 0.01)
    speaker = notice.Notice()
    monkeypatch.setattr(speaker, "say", heard.set)
    said.notify(speaker)
    with said:
        assert heard.wait(10)
