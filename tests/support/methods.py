"""Methods of calls, as the registry has them."""

from mgraph.algorithms.registry import ALGORITHMS


def methods(algorithm, device="cpu"):
    """Return the methods that an algorithm has on a device."""
    entry = ALGORITHMS[algorithm]
    return [method for method in entry.methods if device == "cpu" or method not in entry.cpu_only]


#: Searches that share a kernel for all levels, and those with a kernel for each level.
FUSED = ["hybrid", "frontier", "pull"]
BY_LEVEL = [method for method in methods("bfs", "cuda") if method not in [*FUSED, "asynchronous"]]

SPLITTERS = [method for method in methods("list_rank") if method.startswith("splitter")]
