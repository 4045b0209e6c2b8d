"""Graphs read from files by Dask workers, each its share of the files' sections."""

import contextlib
import uuid
from collections.abc import Iterator
from functools import partial

from distributed import get_worker

from ...errors import ArgumentValue, FormatError, MissingFileError, parts_of
from ...io import EdgeFiles, Found, Request
from ..numbering import Moving, Numbering
from . import residents
from .building import placed, plan_of_building
from .group import Group, RemotePin
from .placement import Placement
from .remade import first_made
from .resident import Resident
from .survey import Cluster
from .tasks import reported


def read(request: Request, cluster: Cluster, line: str) -> Placement:
    """Return the graph of the edges in some files; every file is read where the workers are, none by the client.

    `line` is the line of Python that reads it again.
    """
    return first_made(partial(_read, request, line), cluster)


def _read(request: Request, line: str, group: Group) -> Placement:
    group.ready()
    shards = len(group.specs)
    [files] = group.one(0, survey, request)
    parts = group.each(scan, [(files, shard, shards) for shard in range(shards)])
    found = [parts[number % shards][number // shards] for number in range(files.chunks)]
    settled = files.settled(found)
    if not request.options.relabel:
        graph = placed(group, residents.keep, [(settled,)] * shards, line)
        graph.least = settled.least
        return graph
    return _relabelled(settled, request, group, line)


def _relabelled(files: EdgeFiles, request: Request, group: Group, line: str) -> Placement:
    """Return the graph of edges whose ids are numbered from 0, ascending; the ids lie beside its vertices."""
    shards, plan, name = len(group.specs), plan_of_building(group), uuid.uuid4().hex
    there = RemotePin(group, name)
    try:
        group.each(residents.keep, [(files,)] * shards, name)
        numbered = Resident(group, name, []).run(Numbering(), lambda shard: None, plan, None).arrays
    finally:
        there.close()
    ids, n = numbered["ids"], int(numbered["n"][0])
    try:
        if request.options.n not in (None, n):
            given = ArgumentValue("n", request.options.n)
            raise FormatError(f"{request.paths[0][0]} holds {n} distinct vertex ids, not ", given)
        call, _ = ids.place
        graph = placed(group, residents.keep_numbered, [(files, call, n)] * shards, line)
        moving = Resident(group, graph.name, graph.sizes, {"ids": ids})
        graph.ids = moving.run(Moving(graph.cut.ranges), lambda shard: None, plan, None).arrays["ids"]
    finally:
        ids.owner.close()
    return graph


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
        kind = MissingFileError if isinstance(error, MissingFileError) else OSError  # which has a class for each number
        words = f"{error.strerror or error}, on the worker {get_worker().address}"
        raise (kind(words) if error.errno is None else kind(error.errno, words, error.filename)) from error
    except FormatError as error:
        raise FormatError(*parts_of(error), f", on the worker {get_worker().address}") from error
