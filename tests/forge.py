"""Forged checkpoints and hierarchies: files whose checksums are right, and whose elements are not.

    python -m tests.forge [--all]

A whole array, or an element of it, becomes a number at the end of some range. Then a call goes on from the checkpoint,
or loads the hierarchy: it ends in an answer or in an error of mgraph's, within `SECONDS`. The checkpoints are those of
every call, method and first sample of the registry; with `--all` of every sample, and with more forgeries.
"""

import argparse
import inspect
import io
import json
import re
import shutil
import signal
import tempfile
import warnings
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np

import mgraph
from mgraph.algorithms.registry import ALGORITHMS
from mgraph.errors import CheckpointError, FormatError, MgraphError
from mgraph.runtime.checkpoints import Resumable

#: Seconds within which a call ends: the system ends the process after these.
SECONDS = 60


class Stopped(Exception):
    """The call has written a checkpoint."""


def values(n: int, dtype: np.dtype) -> Iterator[int]:
    """Yield the numbers at the ends of ranges, each once, as near as a type has it; in the upper half of words, too."""
    every = [-(2**63), -1, 0, n - 1, n, 2**31, 2**63 - 1]
    if dtype == np.uint64:
        every += [n - 1 << 32, n << 32, 2**32 - 1 << 32]
    if dtype.kind in "iu":
        every = [min(max(each, np.iinfo(dtype).min), np.iinfo(dtype).max) for each in every]
    yield from dict.fromkeys(every)


def forgeries(array: np.ndarray, n: int, everything: bool) -> Iterator[tuple[str, np.ndarray]]:
    """Yield what an array is forged to, and in words how."""
    rng = np.random.default_rng(0)
    numbers = list(values(n, array.dtype))
    for number in numbers:
        yield f"all {number}", np.full_like(array, number)
        for place in rng.integers(0, array.size, 4 if everything else 1):
            changed = array.copy()
            changed.flat[place] = number
            yield f"number {place} is {number}", changed
    for seed in range(8 if everything else 1):
        rng = np.random.default_rng(seed)
        drawn = np.array(numbers, np.float64 if array.dtype.kind == "f" else object)[
            rng.integers(0, len(numbers), array.shape)
        ].astype(array.dtype)
        yield f"drawn by {seed}", np.where(rng.random(array.shape) < 0.2, drawn, array)


def outcome(label: str, call: Callable[[], object]) -> None:
    """Make a call that is ended if it takes too long, and print how it ends."""
    print(label, end=": ", flush=True)
    signal.alarm(SECONDS)
    try:
        call()
    except (CheckpointError, FormatError) as error:
        assert re.search(r"\.(bin|json|npz)", str(error)), "no file is named"
        print(type(error).__name__, error)
    except MgraphError as error:
        print(type(error).__name__, error)
    else:
        print("an answer")
    finally:
        signal.alarm(0)


def checkpoints(everything: bool, folder: Path) -> None:
    """Forge what each call keeps."""
    for name, entry in ALGORITHMS.items():
        if "checkpoint" not in inspect.signature(entry.call).parameters:
            continue
        for method in entry.methods or ("auto",):
            for number, sample in enumerate(islice(entry.samples(method), None if everything else 1)):
                saved = folder / f"{name}-{method}-{number}"
                options = {**sample.options, "device": "cpu", "checkpoint": saved}
                options |= {"method": method} if entry.methods else {}

                def stop(k: int, of: int | None, saved: Path = saved) -> None:
                    if any(saved.glob("checkpoint-0*.json")):
                        raise Stopped

                try:
                    entry.call(sample.given, checkpoint_every=0, span=1, progress=stop, **options)
                    shutil.rmtree(saved, ignore_errors=True)  # it ends before a checkpoint is worth it
                except Stopped:
                    call = partial(entry.call, sample.given, resume=True, **options)
                    resume(f"{name} {method} {number}", saved, everything, call)
                except MgraphError as error:
                    print(name, method, number, type(error).__name__)


def resume(label: str, saved: Path, everything: bool, call: Callable[[], object]) -> None:
    """Forge each whole of a checkpoint, and go on from it."""
    files = {path: path.read_bytes() for path in saved.iterdir()}
    [path] = saved.glob("checkpoint-0*.json")
    manifest = json.loads(files[path])
    first = {stored["name"]: stored for stored in reversed(manifest["files"])}
    for stored in first.values():
        shape = [end - begin for begin, end in stored["part"]]
        array = np.frombuffer(files[saved / stored["file"]], stored["dtype"]).reshape(shape)
        for how, changed in forgeries(array, manifest["call"]["n"], everything):
            shutil.rmtree(saved)
            saved.mkdir()
            for each, content in files.items():
                each.write_bytes(content)
            raw = changed.tobytes()
            (saved / stored["file"]).write_bytes(raw)
            forged = json.loads(files[path])
            next(each for each in forged["files"] if each["file"] == stored["file"])["crc32"] = zlib.crc32(raw)
            del forged["crc32"]
            forged["crc32"] = zlib.crc32(json.dumps(forged, sort_keys=True).encode())
            path.write_text(json.dumps(forged))
            outcome(f"{label}, {stored['name']}, {how}", call)


def hierarchies(everything: bool, folder: Path) -> None:
    """Forge each array of a hierarchy's file."""
    grid = mgraph.generate.grid(6, 7, weights=(1, 9), device="cpu")
    for dtype in ("float32", "int32"):
        path = folder / f"{dtype}.npz"
        mgraph.Hierarchy(grid, np.arange(grid.n), dtype=dtype, device="cpu").save(path)
        with np.load(path) as found:
            arrays = dict(found)
        for name, array in arrays.items():
            for how, changed in forgeries(array, grid.n, everything):
                content = io.BytesIO()
                np.savez(content, **(arrays | {name: changed}))
                path.write_bytes(content.getvalue())
                outcome(f"hierarchy of {dtype}, {name}, {how}", partial(used, path))


def used(path: Path) -> None:
    """Load a hierarchy, and ask it for distances, measures and a path."""
    roads = mgraph.Hierarchy.load(path, device="cpu")
    roads.distances([0, 5])
    roads.distances([0, 5], [3, 9], reduce=["mean"])
    roads.path(0, 5)


def main() -> None:
    """Forge all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="every sample, and more forgeries")
    everything = parser.parse_args().all
    warnings.simplefilter("ignore")
    Resumable.COPIED = False  # a checkpoint is complete when its span is
    with tempfile.TemporaryDirectory() as folder:
        checkpoints(everything, Path(folder))
        hierarchies(everything, Path(folder))


if __name__ == "__main__":
    main()
