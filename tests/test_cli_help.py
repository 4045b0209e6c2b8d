"""The help of every command has an example; each that needs no other machine runs, in a folder with its files."""

import re
import shlex
import subprocess
import sys
from shutil import which

import click
import numpy as np
import pytest
from click.testing import CliRunner

from mgraph.algorithms.registry import ALGORITHMS, PLANNED
from mgraph.cli import main
from mgraph.cli.commands import MODULES
from tests.support.commands import invoke, ok
from tests.support.tntp import BRAESS, network_text, trips_text

#: Commands whose examples are not run, each with the reason.
NOT_RUN = {
    "bench": "measures for minutes",
    "bench graph500": "measures for minutes",
    "bench report": "needs two folders of measurements",
    "calibrate": "needs a GPU, and measures for a minute",
    "info": "needs a scheduler",
    "load": "needs a scheduler",
    "resume": "needs a folder of checkpoints and a scheduler",
    "run": "needs a script, and is run by tests/test_report.py",
    "unload": "needs a scheduler",
}


def commands(group=main, words=()):
    """Yield every command and group by the words that call it."""
    yield " ".join(words), group
    if isinstance(group, click.Group):
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if not command.hidden:
                yield from commands(command, (*words, name))


COMMANDS = dict(commands())


def example(name):
    """Return the words of a command's example after ``mgraph``, from its help."""
    text = invoke(*name.split(), "--help").stdout
    before, found, line = text.partition("Example: mgraph ")
    assert found and line.count("\n") == 1, f"mgraph {name} --help has no example in one line"
    assert before.startswith("Usage: ")
    return shlex.split(line)


def test_the_module_of_each_command_is_known():
    offered = [each for entry in ALGORITHMS.values() for each in (entry.command, *entry.further_commands) if each]
    made = {each.name for each in offered}
    assert main.commands.keys() == MODULES.keys() | made and not MODULES.keys() & made


def test_a_command_is_imported_without_the_others():
    program = """
import sys, click
from mgraph.cli import main
main(["--version"], standalone_mode=False)
assert main.get_command(click.Context(main), "run").name == "run"
print(*sorted(name.removeprefix("mgraph.cli.") for name in sys.modules if name.startswith("mgraph.cli.")))
print(*sorted(sys.modules.keys() & {"numpy", "mgraph.graph", "importlib.metadata", "importlib.resources"}))
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert said.splitlines()[1:] == ["commands interrupts messages script", ""]


def test_the_help_of_an_algorithm_imports_no_bars_masked_arrays_or_processes():
    program = "import sys; from mgraph.cli import main; main(['apsp', '--help'], standalone_mode=False); " + (
        "print(*sys.modules.keys() & {'tqdm', 'numpy.ma', 'multiprocessing', 'asyncio', 'scipy', 'numba', 'dask'})"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert said.splitlines()[-1] == ""


def test_commands_that_are_not_run_exist():
    assert NOT_RUN.keys() <= COMMANDS.keys()
    assert {"", "apsp", "datasets", "datasets fetch", "completion"} <= COMMANDS.keys()


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - {"bench run"}))
def test_the_help_has_an_example_of_the_command(name):
    words = example(name)
    assert words[: len(name.split())] == name.split()


def test_a_plan_calls_algorithms_by_the_names_of_their_commands():
    said = " ".join(invoke("plan", "--help").stdout.split())
    shown = re.search(r"the name of a command, (.*?), or of its call", said)[1].split(", ")
    assert len(shown) == len(PLANNED) and set(shown) <= COMMANDS.keys()
    assert not re.search("|".join(name for name in PLANNED if "_" in name), said)


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - {"bench run", *NOT_RUN}))
def test_the_example_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arcs = "".join(f"a {v} {v + 1} 3\na {v + 1} {v} 4\n" for v in range(1, 100))
    for file in ("roads.gr", "morning.gr", "evening.gr"):
        (tmp_path / file).write_text(f"p sp 100 198\n{arcs}")
    for file in ("calls.txt", "friends.txt"):
        (tmp_path / file).write_text("7 9\n9 11\n20 21\n")
    (tmp_path / "a.txt").write_text("0\n5\n")
    (tmp_path / "b.txt").write_text("7\n90\n")
    (tmp_path / "demand.txt").write_text("0 7 2.5\n5 90 1\n")
    np.save(tmp_path / "successors.npy", [1, 2, 2])
    (tmp_path / "town_net.tntp").write_text(network_text(BRAESS, 4, 4))
    (tmp_path / "town_trips.tntp").write_text(trips_text([[0, 0, 0, 6], [0] * 4, [0] * 4, [0] * 4]))
    nodes = "".join(f'<node id="{each}" lat="60.0" lon="{24.9 + each / 1000}"/>' for each in (1, 2, 3))
    street = '<nd ref="1"/><nd ref="2"/><nd ref="3"/><tag k="highway" v="residential"/>'
    (tmp_path / "city.osm").write_text(f'<osm version="0.6">{nodes}<way id="1">{street}</way></osm>')
    for file in ("a.csv", "b.csv"):
        (tmp_path / file).write_text("lon,lat\n24.901,60.0\n24.903,60.0\n")
    words = example(name)
    if "roads.npz" in words and name != "hierarchy":
        ok("hierarchy", "roads.gr", "--out", "roads.npz", "--quiet")
    done = invoke(*words)
    assert done.exit_code == 0, done.output
    assert done.stdout
    if "--out" in words:
        assert (tmp_path / words[words.index("--out") + 1]).stat().st_size


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_of_a_shell(shell, tmp_path):
    script = invoke("completion", shell).stdout
    assert "_MGRAPH_COMPLETE" in script and f"{shell}_complete" in script
    if which(shell) is None:
        pytest.skip(f"{shell} is not installed, so its script was not read by it")
    (tmp_path / "script").write_text(script)
    checked = subprocess.run([shell, "-n", tmp_path / "script"], capture_output=True, text=True, timeout=800)
    assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.parametrize(
    ("line", "expected"),
    [("mgraph dat", {"datasets"}), ("mgraph datasets fetch roads-b", {"roads-bay", "roads-bay-time"})],
)
def test_what_is_completed(line, expected, monkeypatch):
    monkeypatch.setenv("_MGRAPH_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split()) - 1))
    shown = CliRunner().invoke(main, prog_name="mgraph").stdout
    assert {each.partition(",")[2] for each in shown.split()} == expected
