"""Every family declares its operations once, in its package or the `ops` of it; both twins are held to that."""

import importlib
import inspect
import pkgutil
import subprocess
import sys
import typing

import numpy as np
import pytest

import mgraph.kernels
from mgraph import device as devices
from mgraph.kernels import bfs, ceilings

FAMILIES = sorted(info.name for info in pkgutil.iter_modules(mgraph.kernels.__path__) if info.ispkg)

#: Families that have no twin for GPUs.
ONLY_HOST = ("bellman", "grouping", "histogram", "text", "trees")

#: Each family's twins.
TWINS = [
    (family, kind) for family in FAMILIES for kind in ("host", "cuda") if family not in ONLY_HOST or kind == "host"
]

#: Other public names of twins: the compiler's input, a setting for measurements, the hash that picks splitters, the
#: elimination that batches of small graphs share, and the unpacking of a way, which a test calls by itself.
BESIDE = {
    "cuda": {"SOURCE", "INSTANCES", "tiled"},
    "host": {"splitter", "eliminate_in_blocks", "unpack"},
}


def module(family, name):
    return importlib.import_module(f"mgraph.kernels.{family}.{name}")


def declared(family):
    """The declared operations and the types of the declared constants."""
    package = importlib.import_module(f"mgraph.kernels.{family}")
    ops = package if package.Operations.__module__ == package.__name__ else module(family, "ops")
    operations = {
        name: call for name, call in vars(ops.Operations).items() if inspect.isfunction(call) and name[0] != "_"
    }
    return operations, typing.get_type_hints(ops.Operations), getattr(ops, "HOST_ONLY", frozenset())


def own(twin):
    """The public names that a twin defines itself."""

    def is_own(value):
        function = inspect.unwrap(getattr(value, "py_func", value))
        return getattr(function, "__module__", None) == twin.__name__

    return {name: value for name, value in vars(twin).items() if name[0] != "_" and callable(value) and is_own(value)}


def parameters(operation, skipped=0):
    """The names, and the defaults, of an operation's parameters."""
    signature = inspect.signature(inspect.unwrap(getattr(operation, "py_func", operation)))
    return [(p.name, p.default) for p in signature.parameters.values()][skipped:]


def test_there_are_families():
    assert {"bfs", "minplus", "sssp"} <= set(FAMILIES)


@pytest.mark.parametrize(("family", "kind"), TWINS)
def test_a_twin_has_the_declared_operations(family, kind):
    operations, _, host_only = declared(family)
    twin = module(family, kind)
    expected = {name for name in operations if kind == "host" or name not in host_only}
    assert host_only <= set(operations)
    found = own(twin)
    assert expected <= set(found)
    helpers = {name for name in set(found) - expected if inspect.isclass(found[name])}
    assert set(found) - expected - helpers <= BESIDE[kind]
    for name in expected:
        assert parameters(found[name]) == parameters(operations[name], 1), f"{family}.{name}"


@pytest.mark.parametrize("family", [family for family, kind in TWINS if kind == "cuda"])
def test_launchers_have_the_declared_types(family):
    operations, _, host_only = declared(family)
    twin = module(family, "cuda")
    for name in set(operations) - host_only:
        hints, launcher = typing.get_type_hints(operations[name]), typing.get_type_hints(getattr(twin, name))
        assert {
            key: hint for key, hint in launcher.items() if hint != hints[key] and hints[key] is not typing.Any
        } == {}


@pytest.mark.parametrize(("family", "kind"), TWINS)
def test_a_twin_has_the_declared_constants(family, kind):
    _, constants, _ = declared(family)
    for name, kept in constants.items():
        assert isinstance(getattr(module(family, kind), name), typing.get_origin(kept) or kept), name


@pytest.mark.parametrize("family", FAMILIES)
def test_every_operation_says_what_it_does(family):
    operations, _, _ = declared(family)
    assert operations and all(inspect.getdoc(operation) for operation in operations.values())


def test_launchers_are_imported_without_a_gpu():
    script = f"""
        import importlib, sys
        for family in {[family for family, kind in TWINS if kind == "cuda"]}:
            importlib.import_module(f"mgraph.kernels.{{family}}.cuda")
        print("cupy" in sys.modules, "numba" in sys.modules)
    """
    script = inspect.cleandoc(script)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_a_recorder_is_notified_of_each_call():
    device = devices.HostDevice()
    table, total = np.arange(8, dtype=np.uint32), np.zeros(1, np.uint32)
    with devices.Recorder(device) as recorder:
        ceilings.on(device).reads(table, 5, total)
    ceilings.on(device).reads(table, 5, total)
    assert list(recorder.seconds()) == ["reads"] and len(recorder.operations) == 1
    assert bfs.on(device).CONTROL_WORDS == bfs.of_kind("cpu").CONTROL_WORDS != bfs.of_kind("cuda").CONTROL_WORDS
