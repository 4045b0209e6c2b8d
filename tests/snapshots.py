"""What a user sees of the library, as text: a change that only moves code leaves it as it was.

    python -m tests.snapshots FOLDER

Writes to a folder, in which `diff -r` then shows what a change did:

- `names.txt`: the signature and the docstring of every public name, and of its public methods;
- `commands.txt`: the help of every command;
- `plans.txt`: the plan of every algorithm and method for some sizes and devices, each field and `explain()`;
- `files.txt`: the files of a wheel.

`tests.digests` does the same for results, and `tests.kernel_resources` for kernels.
"""

import dataclasses
import inspect
import itertools
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import click

import mgraph
from mgraph.algorithms.registry import ALGORITHMS
from mgraph.cli import main
from mgraph.errors import MgraphError
from mgraph.planning import probe

GIB = 1 << 30

#: A CPU, a GPU, a small GPU, and the GPUs of a host.
DEVICES = {
    "a CPU": [mgraph.DeviceSpec("cpu", "cpu", 64 * GIB)],
    "a GPU": [mgraph.DeviceSpec("cuda:0", "cuda", 76 * GIB)],
    "a small GPU": [mgraph.DeviceSpec("cuda:0", "cuda", GIB // 4)],
    "4 GPUs": [mgraph.DeviceSpec(f"cuda:{i}", "cuda", 76 * GIB) for i in range(4)],
}

SIZES = ((5, 8), (1000, 8000), (30_000, 100_000), (1 << 20, 1 << 24))


def names() -> Iterator[str]:
    """Yield every public name with its signature and docstring."""
    for module in (mgraph, mgraph.cluster, mgraph.csgraph, mgraph.generate, mgraph.datasets, mgraph.roads):
        for name in sorted(getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]):
            value = getattr(module, name)
            yield from _described(f"{module.__name__}.{name}", value)
            if inspect.isclass(value):
                for method in sorted(each for each in dir(value) if not each.startswith("_")):
                    yield from _described(f"{module.__name__}.{name}.{method}", inspect.getattr_static(value, method))


def _described(name: str, value: object) -> Iterator[str]:
    value = getattr(value, "__func__", getattr(value, "fget", value))
    if not callable(value):
        return
    try:
        signature = str(inspect.signature(value))
    except ValueError:  # a class of C
        signature = ""
    yield f"{name}{signature}\n{inspect.getdoc(value) or ''}\n"


def commands(command: click.Command = main, words: tuple[str, ...] = ("mgraph",)) -> Iterator[str]:
    """Yield the help of every command."""
    context = click.Context(command, info_name=" ".join(words))
    yield f"$ {' '.join(words)} --help\n{command.get_help(context)}\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None:
                yield from commands(below, (*words, name))


def plans() -> Iterator[str]:
    """Yield the plans of every algorithm, by every method, or the error where there is none."""
    for (name, entry), (n, m), (place, devices) in itertools.product(ALGORITHMS.items(), SIZES, DEVICES.items()):
        for method in ("auto", *entry.methods):
            heading = f"== {name}, {method}, {n:,} vertices, {m:,} edges, {place}"
            options = {"method": method} if entry.methods else {}
            try:
                plan = mgraph.plan(name, n, m if entry.needs_edges else None, devices, host_memory=256 * GIB, **options)
            except (MgraphError, TypeError) as error:
                yield f"{heading}\n{type(error).__name__}: {error}\n"
                continue
            fields = [f"{field.name}: {getattr(plan, field.name)}" for field in dataclasses.fields(plan)]
            yield "\n".join([heading, *fields, plan.explain(True), ""])


def files() -> Iterator[str]:
    """Yield the names of a wheel's files."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, "."], check=True)
        (wheel,) = Path(folder).glob("*.whl")
        yield from sorted(ZipFile(wheel).namelist())


if __name__ == "__main__":
    # Plans depend on the machine's speed and cores, which differ from one run to the next.
    probe.speed_in = lambda model, cores, folder: probe.SAME
    (folder,) = map(Path, sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    for written in (names, commands, plans, files):
        (folder / f"{written.__name__}.txt").write_text("\n".join(written()) + "\n")
