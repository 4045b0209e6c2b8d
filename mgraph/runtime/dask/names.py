"""The public calls for published graphs: to get one by its name, to list the names, to forget one."""

from distributed import Client

from . import publication
from .graph import DistributedGraph


def resident(name: str, client: Client, *, worker_timeout: float | str | None = None) -> DistributedGraph:
    """Return the graph that was published under a name, by whichever client.

    Nothing of the graph moves: its edges stay where they lie, and several clients can use them at the same time. If one
    of its workers is lost, and it was read or generated, also with random weights, the first client that uses it makes
    it again, on the workers that are left or come back; the others then use that.

    Parameters
    ----------
    name : str
        The name, as of `mgraph.DistributedGraph.publish`.
    client : distributed.Client
        A client of the scheduler that has the name.
    worker_timeout : float or str, optional
        Seconds that a worker may be silent before a call ends, as of calls with ``client=``.

    Returns
    -------
    DistributedGraph
        Closing it leaves the published graph as it is.

    Raises
    ------
    InputError
        If no graph has the name; the message lists the names. If a worker is lost, and the files of the graph are those
        of another graph by now.
    WorkerLostError
        If a worker that has a part of the graph is gone or has been started again, and the graph cannot be made again;
        or if workers are lost more often than ``mgraph.retries`` of Dask's configuration allows.
    MemoryLimitError
        If the graph is made again, and does not fit the workers that are left.
    SchedulerError
        If the scheduler does not answer.
    VersionError
        If a worker has another version of mgraph.

    See Also
    --------
    mgraph.cluster.published : The names of all published graphs.
    mgraph.cluster.unpublish : Forget a name.

    Examples
    --------
    >>> from distributed import Client
    >>> import mgraph
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     mgraph.generate.grid(3, 4, client=client, device="cpu").publish("roads")
    ...     with Client(client.scheduler.address, set_as_default=False) as other:
    ...         mgraph.bfs(mgraph.resident("roads", other), 0).distances.max()
    5
    """
    return DistributedGraph(publication.found(name, client, worker_timeout))


def published(client: Client, *, worker_timeout: float | str | None = None) -> list[str]:
    """Return the names of the published graphs, in order.

    Parameters
    ----------
    client : distributed.Client
        A client of the scheduler.
    worker_timeout : float or str, optional
        Seconds that the scheduler may take to answer; by default as of calls with ``client=``.

    Returns
    -------
    list of str

    Raises
    ------
    InputError
        If `client` is not a synchronous client.
    SchedulerError
        If the scheduler does not answer.

    Examples
    --------
    >>> from distributed import Client
    >>> import mgraph
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     mgraph.generate.grid(3, 4, client=client, device="cpu").publish("roads")
    ...     mgraph.cluster.published(client)
    ['roads']
    """
    return publication.published(client, worker_timeout)


def unpublish(name: str, client: Client, *, worker_timeout: float | str | None = None) -> None:
    """Forget the name of a published graph.

    The workers free the edges, once no client has the graph any more.

    Parameters
    ----------
    name : str
        The name.
    client : distributed.Client
        A client of the scheduler that has the name.
    worker_timeout : float or str, optional
        Seconds that the scheduler may take to answer; by default as of calls with ``client=``.

    Raises
    ------
    InputError
        If no graph has the name; the message lists the names.
    SchedulerError
        If the scheduler does not answer.

    Examples
    --------
    >>> from distributed import Client
    >>> import mgraph
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     mgraph.generate.grid(3, 4, client=client, device="cpu").publish("roads")
    ...     mgraph.cluster.unpublish("roads", client)
    ...     mgraph.cluster.published(client)
    []
    """
    publication.unpublish(name, client, worker_timeout)
