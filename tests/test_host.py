"""Constructs that the CPU's kernels must not contain."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import mgraph
import mgraph_bench
from tests.support.parameters import exhaustive

MODULES = sorted(path for package in (mgraph, mgraph_bench) for path in Path(package.__file__).parent.rglob("*.py"))


def reductions(source):
    """The lines of ``source`` where a parallel loop adds to a variable from outside it."""
    for loop in ast.walk(ast.parse(source)):
        if not (isinstance(loop, ast.For) and isinstance(loop.iter, ast.Call)):
            continue
        if getattr(loop.iter.func, "id", None) != "prange":
            continue
        within = [node for statement in loop.body for node in ast.walk(statement)]
        own = {
            name.id
            for node in within
            for target in (node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)])
            if isinstance(node, ast.Assign | ast.For) and target is not None
            for name in ast.walk(target)
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
        }
        for node in within:
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id not in own:
                yield node.lineno


@pytest.mark.parametrize("path", MODULES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_parallel_loop_reduces(path):
    """From Python 3.12 on, Numba cannot compile some reductions: "unexpected cycle in lookup()"."""
    assert not list(reductions(path.read_text()))


def test_a_reduction_is_seen():
    kernel = "def f(a):\n    s = 0\n    for i in prange(9):\n        t = 0\n        t += 1\n        s += a[i]\n"
    assert list(reductions(kernel)) == [6]


def unpacked(source):
    """The lines of functions with a parallel loop where an argument is unpacked."""
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef) or "prange(" not in ast.unparse(function):
            continue
        arguments = {argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)}
        for node in ast.walk(function):
            targets = node.targets if isinstance(node, ast.Assign) else []
            if any(isinstance(target, ast.Tuple | ast.List) for target in targets):
                if isinstance(node.value, ast.Name) and node.value.id in arguments:
                    yield node.lineno


@pytest.mark.parametrize("path", MODULES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_parallel_kernel_unpacks_an_argument(path):
    """Numba would remove a loop that only writes to an unpacked array (`mgraph.device.numba.caching.njit`)."""
    assert not list(unpacked(path.read_text()))


def test_an_unpacked_argument_is_seen():
    kernel = "def f(p):\n    a, b = p\n    for i in prange(9):\n        a[i] = 7\n"
    assert list(unpacked(kernel)) == [2]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NUMBA_NUM_THREADS", "0"),
        *exhaustive(
            ("NUMBA_NUM_THREADS", "many"),
            ("NUMBA_DISABLE_JIT", "1"),
            ("NUMBA_THREADING_LAYER", "bogus"),
            ("NUMBA_THREADING_LAYER_PRIORITY", "omp"),
        ),
    ],
)
def test_a_variable_with_which_numba_cannot_run_is_named(name, value):
    call = "import mgraph; mgraph.connected_components(mgraph.generate.rmat(3), device='cpu')"
    environment = {**os.environ, name: value}
    result = subprocess.run([sys.executable, "-c", call], capture_output=True, text=True, env=environment, timeout=800)
    *_, last = result.stderr.splitlines()
    assert last.startswith("mgraph.errors.InputError: ")
    assert name in last and repr(value) in last and "unset it" in last
