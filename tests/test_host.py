"""Constructs that the CPU's kernels must not contain."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import mgraph
import mgraph_bench

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


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NUMBA_NUM_THREADS", "0"),
        ("NUMBA_NUM_THREADS", "many"),
        ("NUMBA_DISABLE_JIT", "1"),
        ("NUMBA_THREADING_LAYER", "bogus"),
        ("NUMBA_THREADING_LAYER_PRIORITY", "omp"),
    ],
)
def test_a_variable_with_which_numba_cannot_run_is_named(name, value):
    call = "import mgraph; mgraph.connected_components(mgraph.generate.rmat(3), device='cpu')"
    environment = {**os.environ, name: value}
    result = subprocess.run([sys.executable, "-c", call], capture_output=True, text=True, env=environment, timeout=200)
    *_, last = result.stderr.splitlines()
    assert last.startswith("mgraph.errors.InputError: ")
    assert name in last and repr(value) in last and "unset it" in last


def unpacked_and_written(source):
    """The arrays that a parallel loop writes at its own index, unpacked from a tuple or a field."""
    found = []
    for function in (each for each in ast.walk(ast.parse(source)) if isinstance(each, ast.FunctionDef)):
        parts = set()
        for one in (each for each in ast.walk(function) if isinstance(each, ast.Assign)):
            [target] = one.targets if len(one.targets) == 1 else [None]
            if isinstance(target, ast.Tuple):
                parts |= {ast.unparse(name) for name in target.elts}
            elif isinstance(target, ast.Name) and isinstance(one.value, ast.Attribute | ast.Subscript):
                parts.add(target.id)
        for loop in (each for each in ast.walk(function) if isinstance(each, ast.For)):
            if ast.unparse(loop.iter).startswith("prange("):
                index = ast.unparse(loop.target)
                for one in (each for each in ast.walk(loop) if isinstance(each, ast.Subscript)):
                    array = ast.unparse(one.value)
                    if isinstance(one.ctx, ast.Store) and ast.unparse(one.slice) == index:
                        found += [f"{function.name}: {array}[{index}]"] if array in parts or "." in array else []
    return found


def test_no_parallel_loop_writes_what_numba_would_drop():
    """Numba drops such writes: it does not see that the array is the caller's."""
    example = "def f(pair):\n    a, b = pair\n    for v in prange(9):\n        a[v] = b[v]"
    assert unpacked_and_written(example) == ["f: a[v]"]
    found = {str(path): unpacked_and_written(path.read_text()) for path in MODULES}
    assert not any(found.values()), found
