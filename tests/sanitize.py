"""Runs every family of kernels on small inputs under NVIDIA's compute-sanitizer and records what it finds.

    python -m tests.sanitize [--out FILE]

memcheck finds accesses out of bounds, racecheck hazards in shared memory, synccheck barriers that not all threads
reach. Each family of kernels runs by itself under each; the exit status says whether anything was found. Whether the
results are right is for the tests.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import mgraph
from mgraph import device as devices
from mgraph.generate import grid, linked_list, random_matrix, rmat
from mgraph.graph import Compressed

TOOLS = ("memcheck", "racecheck", "synccheck")
SECONDS = 400


def graphs() -> list[mgraph.Graph]:
    """Return small graphs with hubs, with few neighbours everywhere, and directed ones with a long way."""
    star = mgraph.Graph.from_edges(np.zeros(3000, int), np.arange(1, 3001), directed=False)
    path = mgraph.Graph.from_edges(np.arange(120), np.arange(120) + 1)
    steps = np.arange(1, 8)[:, None]  # rows of up to 14, of which a thin level soon has too many
    ring = mgraph.Graph.from_edges(
        np.tile(np.arange(3000), 7), ((np.arange(3000) + 59 * steps) % 3000).ravel(), directed=False
    )
    indptr, indices, _ = rmat(8, directed=True).csr()
    wide = mgraph.Graph(256, csr=Compressed(indptr.astype(np.int64), indices, None))
    wide.csc()
    wide._views["csc.indptr", "cpu"] = wide._views["csc.indptr", "cpu"].astype(np.int64)
    leaves = np.arange(3, 1503)  # of three hubs, each of which is met late from another
    hubs = mgraph.Graph.from_edges(np.repeat(np.arange(3), 1500), np.tile(leaves, 3), directed=False)
    return [rmat(9), star, grid(24, 20, weights=None), path, ring, wide, hubs]


def minplus() -> None:
    """All-pairs shortest paths on the matrix, by every method and type."""
    for dtype in ("float32", "float64", "int32", "int16"):
        matrix = random_matrix(150, density=0.3, dtype=dtype, high=90)
        for method in ("blocked", "naive", "squaring"):
            mgraph.apsp(matrix, device="cuda", dtype=dtype, method=method)
            mgraph.apsp(matrix, device="cuda", dtype=dtype, method=method, predecessors=True)
        mgraph.apsp(matrix, device="cuda", dtype=dtype, method="blocked", intermediate=True)


def sssp_many() -> None:
    """All-pairs shortest paths by searches."""
    for dtype in ("float32", "float64", "int32"):
        for graph in graphs()[:3:2]:
            mgraph.apsp(graph, device="cuda", dtype=dtype, method="sssp", predecessors=True)


def closure() -> None:
    """Transitive closure."""
    for n in (90, 700):
        ends = np.random.default_rng(n).integers(0, n, (2, 2 * n))
        mgraph.transitive_closure(mgraph.Graph.from_edges(*ends, n=n), device="cuda")


def bfs() -> None:
    """Searches by the default's methods."""
    for graph in graphs():
        for method in ("hybrid", "frontier", "pull"):
            mgraph.bfs(graph, 1, device="cuda", method=method, predecessors=True)
            mgraph.bfs(graph, sources=[1, 2], device="cuda", method=method, predecessors=True)


def bfs_by_level() -> None:
    """Searches by the other published methods."""
    for graph in graphs():
        for method in ("edge", "vertex", "mask", "privatized", "scan"):
            mgraph.bfs(graph, 1, device="cuda", method=method, predecessors=graph.n < 600)


def bfs_many() -> None:
    """Searches from many sources."""
    for graph in (graphs()[0], graphs()[-1]):
        for sources in (3, 70, 300):
            mgraph.bfs_many(graph, list(range(sources)), device="cuda", predecessors=True)


def sssp() -> None:
    """Shortest paths from one source by every method and type, some edges of weight zero."""
    for graph in graphs()[:4]:
        src, dst, _ = graph.coo()
        for dtype in ("float32", "float64", "int32"):
            weights = np.random.default_rng(1).integers(0, 5, len(src)).astype(dtype)
            weighted = mgraph.Graph.from_edges(src, dst, weights, n=graph.n)
            for method in ("nearfar", "bellman-ford", "mask"):
                mgraph.sssp(weighted, 1, device="cuda", method=method, predecessors=True)


def components() -> None:
    """Connected components by every method, of directed graphs too, by all blocks and by few."""
    for graph in graphs():
        for method in ("afforest", "shiloach-vishkin"):
            mgraph.connected_components(graph, device="cuda", method=method)
            with devices.find("cuda").limited(2):
                mgraph.connected_components(graph, device="cuda", method=method)


def list_rank() -> None:
    """List ranking by every method: a list, many lists, trees."""
    random = np.random.default_rng(2)
    tree = np.minimum((random.random(4000) * np.arange(4000)).astype(int), np.arange(4000))
    for succ in (linked_list(20_000), np.arange(5000) // 2 * 2, tree):
        for method in ("wyllie", "splitter64", "splitter48"):
            mgraph.list_rank(succ, device="cuda", method=method)


def ceilings() -> None:
    """What a device does at best, of every type: whole blocks, and a last one of some words."""
    device = devices.find("cuda")
    kernels, xp = device.kernels("ceilings"), device.xp
    for dtype in (np.float32, np.float64, np.int32, np.int16):
        for nonnegative in (False, True)[: 2 if dtype == np.float32 else 1]:
            kernels.relaxations(xp.ones(10_000, dtype), dtype(3), dtype(2), dtype(90), 9, nonnegative)
    kernels.reads(xp.arange(1 << 12, dtype=np.uint32), 10_000, xp.zeros(1, np.uint32))
    device.synchronize()


FAMILIES: dict[str, Callable[[], None]] = {
    run.__name__: run
    for run in (minplus, sssp_many, closure, bfs, bfs_by_level, bfs_many, sssp, components, list_rank, ceilings)
}


def found(tool: str, family: str) -> dict[str, object]:
    """Return what a tool says of a family's run."""
    sanitizer = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    command = [sanitizer, "--tool", tool, "--error-exitcode", "9", sys.executable, "-m", "tests.sanitize"]
    try:
        done = subprocess.run(
            [*command, "--family", family], capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return {"tool": tool, "family": family, "clean": False, "said": [f"no end within {SECONDS} s"]}
    said = [line.removeprefix("=========").strip() for line in done.stdout.splitlines() if line.startswith("=====")]
    errors = [line for line in done.stderr.splitlines() if line.strip()]
    # CuPy's own kernels are not looked into: that of nonzero() has hazards that do no harm.
    places = set(re.findall(r"access at (?:\w+ )*?([\w:]+)(?:[<(].*?)?\+0x", done.stdout))
    ended = "returned an error" not in done.stdout and "Traceback" not in done.stderr
    if tool == "racecheck" and ended and places and all(place.startswith("cupy_") for place in places):
        return {"tool": tool, "family": family, "clean": True, "said": [f"0 hazards but in {', '.join(places)}"]}
    clean = done.returncode == 0 and any(" 0 " in line for line in said[-1:])
    return {
        "tool": tool, "family": family, "clean": clean, "said": said[-1:] if clean else said[:40] + errors[-5:]
    }  # fmt: skip


def main() -> int:
    """Run all families under all tools, or one as it is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", choices=FAMILIES, help="only run this family, without a tool")
    parser.add_argument("--out", type=Path, help="write what was found to this file")
    arguments = parser.parse_args()
    if arguments.family:
        FAMILIES[arguments.family]()
        return 0
    work = [(tool, family) for family in FAMILIES for tool in TOOLS]
    with ThreadPoolExecutor(min(14, os.cpu_count() or 1)) as pool:
        results = list(pool.map(lambda job: found(*job), work))
    for result in results:
        print(json.dumps(result) if not result["clean"] else f"{result['tool']} {result['family']}: {result['said']}")
    if arguments.out:
        from tests.conftest import environment, kernel_digests

        record = {**environment(), "runs": results, "kernels": kernel_digests()}
        arguments.out.write_text(json.dumps(record, indent=2) + "\n")
    return 0 if all(result["clean"] for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
