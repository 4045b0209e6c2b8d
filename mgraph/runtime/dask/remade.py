"""What lies on workers and is made again when one of them is lost: graphs, and lists that were generated.

An `Origin` knows how something was made, and makes it again on the workers that there are. What the caller gave for it,
such as a graph or an array, is referred to weakly: without it, it cannot be made again. The handle that the caller has
stays (`Handle`).
"""

import logging
import threading
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from dask.base import is_dask_collection
from distributed import futures_of

from ...errors import MemoryLimitError, WorkerLostError, parts_of
from ..losses import retry_after_loss
from .events import again as made_again
from .events import tell
from .group import Group, group_of
from .survey import Cluster
from .watch import retries_of

_log = logging.getLogger(__name__)

#: Returns something that another thing is made of; None if it cannot be had any more.
Reference = Callable[[], Any]


class Made(Protocol):
    """What was made on workers."""

    origin: "Origin[Any] | None"


M = TypeVar("M", bound=Made)
T = TypeVar("T")


@dataclass(frozen=True)
class Recipe(Generic[M]):
    """How something is made of files, or of nothing, by any client; it can be sent.

    Attributes
    ----------
    build : callable
        Builds it, given a group.
    names : tuple or None
        The names of the workers that were chosen for it; None if all are used.
    """

    build: Callable[[Group], M]
    names: tuple[Any, ...] | None


class Origin(Generic[M]):
    """How something on workers was made.

    Parameters
    ----------
    make : callable
        Makes it on the workers that there are, of what the references return.
    sources : mapping
        A reference to each thing that it is made of, by what that is in words.
    recipe : Recipe, optional
        How other clients make it, if they can.
    """

    def __init__(
        self, make: Callable[..., M], sources: Mapping[str, Reference], recipe: Recipe[M] | None = None
    ) -> None:
        self._make, self._sources, self.recipe = make, sources, recipe

    @property
    def missing(self) -> str | None:
        """The first source that no longer exists, in words; None if it can be made again."""
        return next((words for words, source in self._sources.items() if source() is None), None)

    def again(self) -> M:
        """Return it, made again; what it is made of is made again before, if that is lost too."""
        found = [source() for source in self._sources.values()]
        for each in found:
            if isinstance(each, Handle):
                restore(each)
        made = self._make(*found)
        made.origin = made.origin or self
        return made


class Handle(ABC):
    """A handle of something on workers, which stays when that is made again."""

    def __init__(self) -> None:
        #: Held while it is made again.
        self._restoring = threading.Lock()

    @property
    @abstractmethod
    def _lies(self) -> tuple[Group, Origin[Any] | None]:
        """Where it lies, and how it was made if it can be made again."""

    @abstractmethod
    def _take(self, made: Any) -> None:
        """Refer to what was made again from now on."""


def first_made(build: Callable[..., M], cluster: Cluster, sources: Mapping[str, Any] | None = None) -> M:
    """Return what is built on a cluster's workers; if one is lost meanwhile, on those that there are then.

    Parameters
    ----------
    build : callable
        Builds it, given a group and the sources.
    cluster : Cluster
        The workers.
    sources : mapping, optional
        What the caller gave for it, by what that is in words.
    """
    there, given = cluster, sources or {}

    def again(loss: WorkerLostError) -> None:
        nonlocal there
        there = there.again()
        tell(there.client, made_again("a graph", len(there.addresses)))
        _log.warning("%s; building goes on, on %d workers", loss, len(there.addresses))

    return retry_after_loss(lambda: _made(build, there, given), again, lambda: retries_of(there.client))


def _made(build: Callable[..., M], cluster: Cluster, sources: Mapping[str, Any]) -> M:
    """Return what is built on a cluster's workers, with its origin."""
    names = tuple(sources)

    def make(*found: Any) -> M:
        return _made(build, cluster.again(), dict(zip(names, found, strict=True)))

    made = build(group_of(cluster), *sources.values())
    recipe = None if sources else Recipe(build, cluster.names)
    made.origin = Origin(make, {words: weakly(source) for words, source in sources.items()}, recipe)
    return made


def weakly(source: Any) -> Reference:
    """Return a weak reference; to nothing if there is none, or if Dask has parts of the source that may be lost."""
    if is_dask_collection(source) and futures_of(source):
        return _nothing
    try:
        reference = weakref.ref(source)
    except TypeError:  # such as of a list
        return _nothing
    return (lambda: at_hand(reference())) if isinstance(source, Handle) else reference


def _nothing() -> None:
    return None


def at_hand(handle: Handle | None) -> Handle | None:
    """Return a handle, or None if what it refers to is lost for ever."""
    return handle if handle is not None and (not lost(handle) or restorable([handle], groups_of([handle]))) else None


def lost(handle: Handle) -> bool:
    """Return whether a worker with a part of it is known to be lost."""
    return handle._lies[0].gone is not None


def groups_of(handles: Sequence[Handle]) -> list[Group]:
    """Return the group of workers on which each handle's graph or vector lies now."""
    return [handle._lies[0] for handle in handles]


def restorable(handles: Sequence[Handle], before: Sequence[Group]) -> bool:
    """Return whether what some handles refer to is lost, or another thread has made it again since it lay on `before`.

    All that is lost must be such that it can be made again.
    """
    made = any(now is not then for now, then in zip(groups_of(handles), before, strict=True))
    origins = [handle._lies[1] for handle in handles if lost(handle)]
    return (made or bool(origins)) and all(origin is not None and origin.missing is None for origin in origins)


def leave_out(handle: Handle) -> None:
    """Note that what a handle refers to is lost if it can be made again, and a worker has long been silent.

    A call with a client leaves such workers out when it begins; what cannot be made again waits for them.
    """
    group, origin = handle._lies
    if origin is not None and origin.missing is None:
        group.leave_out()


def restore(handle: Handle) -> None:
    """Make what a handle refers to again if a worker with a part of it was lost, and if that is possible."""
    with handle._restoring:
        group, origin = handle._lies
        if group.gone is None or origin is None:
            return
        before, began = repr(handle), time.monotonic()
        workers = ", ".join(group.gone.workers)
        try:
            handle._take(origin.again())
        except MemoryLimitError as error:
            text = f"{before} lost a part with the worker {workers}, and made again on the workers there are: "
            raise MemoryLimitError(text, *parts_of(error)) from error
        after = repr(handle)  # a record of the log must not keep the handle
    seconds, (found, _) = time.monotonic() - began, handle._lies
    tell(found.client, made_again(before, len(found.addresses)))
    _log.warning("lost the worker %s with a part of %s: made again in %.1f s, %s", workers, before, seconds, after)


def kept_up(handle: Handle, call: Callable[[], T]) -> T:
    """Return what a call with a handle returns; after a loss the handle's graph is made again, and the call too."""
    before: list[Group] = []

    def attempt() -> T:
        before[:] = groups_of([handle])
        leave_out(handle)
        return call()

    return retry_after_loss(
        attempt,
        lambda loss: restore(handle),
        lambda: retries_of(before[0].client),
        lambda: restorable([handle], before),
    )
