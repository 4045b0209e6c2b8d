"""The workers that a scheduler knows, requested as a call does."""

from distributed import Client

from mgraph.runtime.dask.watch import Watch


def present(client: Client) -> set[str]:
    """Return the addresses of the workers that the scheduler knows.

    Raises
    ------
    SchedulerError
        If it does not answer.
    """
    watch = Watch(client)
    watch.check()
    return watch.there
