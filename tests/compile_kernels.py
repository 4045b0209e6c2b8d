"""Compiles every kernel for this machine's GPU into CuPy's cache, several at a time.

Run ``python -m tests.compile_kernels`` before the tests marked ``gpu``, which otherwise compile one kernel after the
other.
"""

import importlib
import multiprocessing
import os
import sys
from concurrent.futures import ProcessPoolExecutor

from mgraph import device
from mgraph.device import cuda_function
from tests.kernel_resources import families

#: Prefixes of kernels that are compiled and launched with all blocks resident.
COOPERATIVE = {
    "betweenness_many.cu": "",
    "bfs.cu": "levels<",
    "hierarchy.cu": ("eliminate<", "eliminate_sets<", "sweep<"),
    "list_rank.cu": "jump",
    "minplus.cu": ("eliminate<", "through<"),
    "sssp_many.cu": "distances<",
    "strong.cu": ("find_giant<", "colour<"),
    "sssp.cu": "",
}


def cooperative(source: str, name: str) -> bool:
    """Return whether a kernel is launched with all blocks resident."""
    return source in COOPERATIVE and name.startswith(COOPERATIVE[source])


def compiled(source: str, name: str) -> str:
    """Compile one kernel; return its name."""
    with device.find("cuda").active():
        cuda_function(source, name, cooperative=cooperative(source, name))
    return name


def main() -> int:
    """Compile all kernels and print them."""
    work = [
        (importlib.import_module(f"mgraph.kernels.{source.removesuffix('.cu')}.cuda").SOURCE, name)
        for source, instances in families().items()
        for name in instances
    ]
    work.sort(key=lambda job: "update" not in job[1])  # the longest first
    spawn = multiprocessing.get_context("spawn")  # a process with CUDA in it cannot be forked
    with ProcessPoolExecutor(min(16, os.cpu_count() or 1), mp_context=spawn) as pool:
        for name in pool.map(compiled, *zip(*work, strict=True)):
            print(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
