"""Digests of the sources of kernels: which kernels a row ran, and whether they have changed since.

A digest is of the code that runs on the device, not of its launches in Python.
"""

import ast
import functools
import hashlib
import importlib
import importlib.util
import pkgutil
import re
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

import mgraph.kernels
from mgraph.device.compile import compilation

#: Where the code of kernels for CPUs lies. A kernel contains what it calls of these.
_PARTS = ("mgraph.kernels.", "mgraph.device.numba.")

#: States of a row's kernels.
SAME, CHANGED, UNKNOWN = "same", "changed since", "not recorded"

#: Families that no call of an algorithm runs: they check its result, and measure a device.
_BESIDE_CALLS = {"bellman", "ceilings", "certificates"}


def packages() -> set[str]:
    """Return the packages of all families of kernels that calls may run."""
    found = pkgutil.iter_modules(mgraph.kernels.__path__, "mgraph.kernels.")
    return {family.name for family in found if family.ispkg and not _beside_calls(family.name)}


def digests(families: Iterable[str], kind: str) -> dict[str, str]:
    """Return a digest of the source of each family's kernels, by the name of its file.

    Parameters
    ----------
    families : iterable of str
        Packages, such as ``"mgraph.kernels.bfs"``.
    kind : {"cpu", "cuda"}
        The kind of device.
    """
    names = (_name(family, kind) for family in sorted(families))
    return {name: digest for name in names if name is not None and (digest := _digest(name)) is not None}


def state(row: dict[str, Any]) -> str:
    """Return whether the kernels of a row are those of today, in a word; "" of another library."""
    if row.get("run", {}).get("peer"):
        return ""
    known = row.get("kernels") or {}
    if row.get("kind") == "case":
        known = {name: digest for name, digest in known.items() if not _beside_calls(name)}
    if not known:
        return UNKNOWN
    return SAME if all(_digest(name) == digest for name, digest in known.items()) else CHANGED


def _beside_calls(name: str) -> bool:
    """Return whether a package or a file of kernels is one that no call runs."""
    return not _BESIDE_CALLS.isdisjoint(re.split(r"[./]", name))


def _name(family: str, kind: str) -> str | None:
    """Return the name of the file of a family's kernels, None if it has none for a kind of device."""
    if importlib.util.find_spec(module := f"{family}.{'cuda' if kind == 'cuda' else 'host'}") is None:
        return None
    if kind == "cpu":
        return module
    source = getattr(importlib.import_module(module), "SOURCE", None)
    return None if source is None else f"kernels/{source}"


@functools.cache
def _digest(name: str) -> str | None:
    """Return the digest of a file of kernels with all that it includes; None if it is not there."""
    try:
        if name.endswith(".cu"):
            code = compilation(name.removeprefix("kernels/"), ())["code"]
            text = re.sub(r"\s*(//.*)?\n", "\n", code).encode()  # other comments are the same kernel
        else:
            text = b"".join(_sources(importlib.import_module(name), set()))
    except (OSError, ImportError):
        return None
    return hashlib.sha256(text).hexdigest()[:16]


def _sources(module: ModuleType, seen: set[str]) -> Iterator[bytes]:
    """Yield the source of a module and of those parts of kernels that it imports, each once."""
    seen.add(module.__name__)
    assert module.__spec__ is not None and module.__spec__.origin is not None
    with open(module.__spec__.origin, "rb") as file:
        text = file.read()
    yield text
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            base = importlib.util.resolve_name("." * node.level + (node.module or ""), module.__spec__.parent)
            for name in (base, *(f"{base}.{alias.name}" for alias in node.names)):
                if name.startswith(_PARTS) and name not in seen and _is_module(name):
                    yield from _sources(importlib.import_module(name), seen)


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # a name of a module that is no package
        return False
