"""What a user reads while kernels are compiled."""

import io

import pytest

from mgraph.device import notice
from mgraph.device.clock import Announcement


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
    with said, said.listening(lambda begins: None):
        speaker.say()
    assert not stream.getvalue() and len(caplog.records) == 1  # the other listener says so
    with said:
        speaker.say()
    assert stream.getvalue().count("\n") == terminal


def test_the_line_comes_after_a_while(monkeypatch):
    said, heard = Announcement(), notice.threading.Event()
    monkeypatch.setattr(notice, "PATIENCE", 0.01)
    speaker = notice.Notice()
    monkeypatch.setattr(speaker, "say", heard.set)
    said.notify(speaker)
    with said:
        assert heard.wait(10)
