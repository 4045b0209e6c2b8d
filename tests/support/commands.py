"""The command line, run in this process."""

import contextlib

import click
from click.testing import CliRunner

from mgraph.cli import main


def main_command(name):
    """Return a command of the command line, which is imported when it is asked for."""
    return main.get_command(click.Context(main), name)


def invoke(*arguments):
    """Run the command line in this process."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def ok(*arguments):
    """Run the command line in this process and return what it prints; fail if it does not succeed."""
    result = invoke(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def failed(result, code):
    """Check that the command failed with the expected code, and return its one-line error.

    It follows the plan if the call had begun.
    """
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    *plan, line = result.stderr.splitlines()
    assert line.startswith("mgraph: error: ") and (not plan or ", method " in plan[0])
    return line


def misused(result):
    """Check that click refused the call, and return its message."""
    assert result.exit_code == 2 and result.stdout == ""
    assert "Usage:" in result.stderr and "Traceback" not in result.stderr
    return " ".join(result.stderr.split())


def mgraph_command(*words, cwd=".", code=0):
    """Run the command line in a folder, and return how it ended; fail if not with this code."""
    with contextlib.chdir(cwd):
        ended = invoke(*words)
    assert ended.exit_code == code, ended.output
    return ended
