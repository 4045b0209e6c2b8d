"""What checkpoints and hierarchies hold is checked before compiled code sees it: see `tests.forge`."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


EVERYTHING = pytest.param(["--all"], marks=[pytest.mark.exhaustive, pytest.mark.timeout(3600)])


@pytest.mark.parametrize("options", [[], EVERYTHING], ids=str)
def test_forged_files_end_in_an_answer_or_an_error(options):
    """In another process, so that a signal ends that one."""
    command = [sys.executable, "-m", "tests.forge", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-2000:]
    assert "links, all" in done.stdout and "order, all" in done.stdout
