"""Graphs read from files by Dask workers, each its share of the files' sections."""

import contextlib
from collections.abc import Iterator

from distributed import get_worker

from ...errors import FormatError, MissingFileError, parts_of
from ...io import EdgeFiles, Found, Request
from . import residents
from .building import placed
from .driver import Cluster
from .group import group_of
from .placement import Placement
from .tasks import reported


def read(request: Request, cluster: Cluster) -> Placement:
    """Return the graph of the edges in some files; every file is read where the workers are, none by the client."""
    group = group_of(cluster)
    group.ready()
    shards = len(group.specs)
    [files] = group.one(0, survey, request)
    parts = group.each(scan, [(files, shard, shards) for shard in range(shards)])
    found = [parts[number % shards][number // shards] for number in range(files.chunks)]
    settled = files.settled(found)
    return placed(group, residents.keep, [(settled,)] * shards)


@reported
def survey(session: str, request: Request) -> EdgeFiles:
    """Task: list the files and look at how the first edges are written."""
    with naming_the_worker():
        return request.survey()


@reported
def scan(session: str, files: EdgeFiles, shard: int, shards: int) -> list[Found]:
    """Task: read a shard's sections; return what they hold."""
    with naming_the_worker():
        return files.scan(range(shard, files.chunks, shards))


@contextlib.contextmanager
def naming_the_worker() -> Iterator[None]:
    """Let errors of opening and reading files name the worker, as others may see the files."""
    try:
        yield
    except OSError as error:
        where, reason = f"on the worker {get_worker().address}", error.strerror or str(error)
        if isinstance(error, MissingFileError):
            raise MissingFileError(error.errno, f"{reason}, {where}", error.filename) from error
        raise FormatError(f"{error.filename}: {reason}, {where}") from error
    except FormatError as error:
        raise FormatError(*parts_of(error), f", on the worker {get_worker().address}") from error
