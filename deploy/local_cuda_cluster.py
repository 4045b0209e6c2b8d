"""Solve one graph on all GPUs of this machine: start a Dask worker for each, solve, check, print the plan.

    python deploy/local_cuda_cluster.py --vertices 20000

Without a GPU, it starts two CPU workers.
"""

import argparse

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

import mgraph
from mgraph.cluster import local_client
from mgraph.device import gpu_count


def main() -> None:
    """Solve all-pairs shortest paths of a random graph on this machine's workers."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--vertices", type=int, default=2000)
    arguments.add_argument("--degree", type=int, default=8, help="edges per vertex")
    arguments.add_argument("--workers", type=int, help="by default one for each GPU")
    given = arguments.parse_args()

    gpus = gpu_count()
    if not gpus:
        print("CuPy finds no GPU: using CPU workers")
    workers = given.workers or gpus or 2
    n, m = given.vertices, given.vertices * given.degree
    rng = np.random.default_rng(1)
    edges = rng.integers(0, n, (2, m))
    graph = sparse.coo_matrix((rng.integers(1, 100, m).astype(np.float32), edges), (n, n)).tocsr()

    # local_client starts LocalCUDACluster of dask-cuda with settings that suit mgraph. With its own options it would be
    #
    #     with LocalCUDACluster(
    #         CUDA_VISIBLE_DEVICES=[0, 1],        # which GPUs; by default all
    #         n_workers=2,                        # by default one for each GPU, and never more
    #         memory_limit="64GiB",               # host memory of each worker, beyond which Dask restarts it
    #         local_directory="/scratch",         # where Dask may write
    #         dashboard_address=":8787",          # ":0" takes any free port
    #     ) as cluster, Client(cluster) as client:
    with local_client(workers, "cuda" if gpus else "cpu") as client:
        # Options that matter: memory_limit="30GiB" leaves the rest of each GPU to others; worker_timeout="2 minutes" is
        # for machines that stall; predecessors=True also finds the paths, and takes twice the memory.
        result = mgraph.apsp(graph, client=client)
        print(result.plan.explain())
        print(", ".join(f"{part} {seconds:.3g} s" for part, seconds in result.timings.items()))
        rows = rng.integers(0, n, 3)
        for row, expected in zip(rows, dijkstra(graph, indices=rows), strict=True):
            np.testing.assert_allclose(result.distances.row(row), expected)
    print(f"rows {', '.join(map(str, rows))} agree with scipy's dijkstra")


# Workers import this file.
if __name__ == "__main__":
    main()
