"""Solve one graph on jobs of a Slurm cluster, which this script submits: each job is one Dask worker.

    python deploy/jobqueue.py roads.gr.gz --jobs 4 --cores 16 --memory 64GiB --time 01:00:00
    python deploy/jobqueue.py roads.gr.gz --jobs 4 --cores 16 --memory 64GiB --time 01:00:00 --gpu

Needs dask-jobqueue (``pip install dask-jobqueue``), and a host that may submit jobs and that the nodes can reach. The
environment must be on storage that all nodes share. The workers' logs go to the folder given by --logs.

With --checkpoint FOLDER, on storage that all nodes share, the same line goes on from the last checkpoint after this
script or its jobs have ended, for example at their time limit.
"""

import argparse

from dask_jobqueue import SLURMCluster
from distributed import Client

import mgraph


def main() -> None:
    """Submit the jobs, wait until all their workers have joined, solve, and save the distances."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("graph", help="the file with the graph")
    arguments.add_argument("--out", default="distances.npy", help="where to save the distances")
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("--cores", type=int, default=4, help="of each job")
    arguments.add_argument("--memory", default="8GiB", help="of each job; the worker keeps to it")
    arguments.add_argument("--time", default="01:00:00", help="the time limit of each job")
    arguments.add_argument("--partition", help="by default Slurm's own default")
    arguments.add_argument("--interface", help="the network interface to use, such as ib0")
    arguments.add_argument("--checkpoint", metavar="FOLDER", help="where to write checkpoints, and to go on from one")
    arguments.add_argument("--logs", default="mgraph-logs")
    arguments.add_argument("--gpu", action="store_true", help="a GPU for each job")
    given = arguments.parse_args()

    cluster = SLURMCluster(
        queue=given.partition,
        cores=given.cores,
        processes=1,  # a worker uses all cores of its job
        memory=given.memory,
        walltime=given.time,
        interface=given.interface,
        log_directory=given.logs,
        # With one GPU a job, Slurm hides the others from its worker.
        job_extra_directives=["--gpus=1"] if given.gpu else [],
        scheduler_options={"dashboard_address": ":0"},
    )
    with cluster, Client(cluster) as client:
        cluster.scale(jobs=given.jobs)
        # Queued jobs may start much later: Dask's setting mgraph.wait-timeout says how long this waits, 10 minutes by
        # default (DASK_MGRAPH__WAIT_TIMEOUT="2 hours" in the environment).
        result = mgraph.apsp(
            mgraph.read(given.graph),
            client=client,
            device="cuda" if given.gpu else "cpu",
            wait_for_workers=given.jobs,
            checkpoint=given.checkpoint,
            resume=given.checkpoint is not None,  # begins anew where there is no checkpoint
        )
        result.distances.save(given.out, overwrite=True)
        print(result.plan.explain())
        print(f"saved: {given.out}")


if __name__ == "__main__":
    main()
