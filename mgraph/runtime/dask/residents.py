"""The workers' side of calls, and of what stays there between them: parts of graphs, and vectors that were computed.

A group of workers has a session on each (`mgraph.runtime.dask.worker`), with one communicator. Graphs placed on the
group, and results, lie in it by name until they are dropped, or until the session's lease ends. A call is one message
to each worker and one answer back; its program runs in a thread of its own, so that the worker's event loop can carry
the messages between the shards. The scheduler passes the messages on, in turn (`mgraph.runtime.dask.turns`). A piece of
the input that is too large for a message is loaded by a task first.
"""

import asyncio
import contextlib
import gc
import time
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np
from distributed import Scheduler, get_worker
from distributed.diagnostics.plugin import WorkerPlugin
from distributed.protocol.pickle import dumps, loads
from distributed.worker import Worker

from ... import device as devices
from ...arguments import as_array
from ...arrays import Array, compact, unused_bytes
from ...errors import InputError
from ...graph import Compressed
from ...graph.checks import checked_weights, imbalance
from ...graph.source import Chunks, EdgeSource, checked_edges
from ...graph.vertex_range import PartWithVectors, VertexRange, Weigh, edges_of
from ...planning.cut import range_in_words
from ..checkpoints import Order, filled
from ..communicator import Communicator, Solo
from ..gathering import Gather
from ..numbering import Numbered, RawSource
from ..program import Accompanied, Program
from .comm import Aborted, DaskComm, Unreachable
from .counters import count_on
from .events import Event, ended, note
from .pulse import ANSWERED, PLACE
from .shared import Parcel, unpacked
from .tasks import Failure, reported
from .turns import forget_call, line_after, turns_on
from .watch import lost
from .worker import (
    Session,
    Spanned,
    WorkerInfo,
    at_work,
    joined,
    lease,
    lease_key,
    new_nccl,
    on_loop,
    sessions,
    sight_of,
)

NAME = "mgraph-residents"

#: The name of a vector that was computed of others.
VALUES = "values"

#: Supersteps that are run at a time where all are.
MOST = 1 << 20

#: Why a worker is lost that has come back at its former address.
RESTARTED = "it was restarted, and what it kept is gone"

#: The operations of workers that this module adds to Dask's.
RUN, ABORT = "mgraph_run", "mgraph_abort"


class Advance(NamedTuple):
    """Run a span of supersteps from number `first` on, at most `span` of them or all; write a checkpoint if ordered."""

    first: int
    span: int | None
    order: Order | None = None


class Fill(NamedTuple):
    """Fill the shard from a checkpoint, as `mgraph.runtime.checkpoints.filled`."""

    place: str
    number: int


class Identify(NamedTuple):
    """Return the fingerprint of the shard's part of the input."""


class InlinePiece(NamedTuple):
    """A piece of the input that goes with the request of a call; None may be one."""

    piece: Any


#: What a shard may be asked to do.
Work = Advance | Fill | Identify


@dataclass(frozen=True)
class Request:
    """What a call asks of each worker.

    Attributes
    ----------
    session, client, call : str
        The group's session, and the client and the name of the call.
    timeout : float
        Seconds that a worker may be silent.
    graph : str or None
        The name of the graph; None if the program takes vectors alone, or nothing.
    program : Program or None
        What to load first; None to go on with the call's program.
    work : Advance, Fill or Identify
        What to do.
    look : bool
        Whether to answer with the worker's memory too.
    freed : tuple of str
        What to forget first, by name.
    gather : Gather or None
        Makes the program's piece of the worker's part and the others'; None if the part is the piece.
    beside : mapping or None
        The call and the name of vectors that the program takes beside the part of the graph, by its names for them.
    sent : mapping
        The worker's parts of more such vectors.
    inline : InlinePiece or None
        The piece that the program loads; None if it lies here.
    carried : int
        The most bytes of vectors that go to the caller with the facts, in place of staying here.
    """

    session: str
    client: str
    call: str
    timeout: float
    graph: str | None
    program: Program | None
    work: Work
    look: bool
    freed: tuple[str, ...]
    gather: Gather | None = None
    beside: Mapping[str, tuple[str, str]] | None = None
    sent: Mapping[str, np.ndarray] = field(default_factory=dict)
    inline: InlinePiece | None = None
    carried: int = 0


class Answer(NamedTuple):
    """What a worker answers.

    Attributes
    ----------
    done : Spanned, or int or str
        What was done in the span, the superstep after `Fill` or in words what was wrong, or the fingerprint.
    facts : mapping
        The program's facts, small arrays by name. Facts, vectors and matrices are empty before it has ended.
    vectors : mapping
        The length and the type of each vector that stays on the worker, by name.
    matrices : mapping
        The type of each matrix, by name; its parts wait to be taken.
    timings : mapping
        Seconds of each part of the call, and of compiling and loading kernels.
    held : mapping
        Bytes of what the worker keeps of the graph, by name.
    sight : WorkerInfo or None
        The worker's devices and memory.
    meeting_way : str
        How kernels exchange data with those of other workers.
    """

    done: Spanned | int | str
    facts: Mapping[str, np.ndarray]
    vectors: Mapping[str, tuple[int, np.dtype]]
    matrices: Mapping[str, np.dtype]
    timings: Mapping[str, float]
    held: Mapping[str, int]
    sight: WorkerInfo | None
    meeting_way: str = ""

    @property
    def finished(self) -> bool:
        """Whether the program has ended."""
        return isinstance(self.done, Spanned) and self.done.finished


class Residents(WorkerPlugin):
    """Runs calls on what a worker's sessions keep."""

    name = NAME

    def setup(self, worker: Worker) -> None:
        """Become ready for calls."""
        self._worker = worker
        # One thread: calls have turns.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="mgraph-call")
        worker.handlers[RUN] = self.run
        worker.handlers[ABORT] = self.abort

    def teardown(self, worker: Worker) -> None:
        """Start no more calls; those that still come find no session."""
        self._thread.shutdown(wait=False)

    async def run(self, request: bytes) -> dict[str, Any]:
        """Run a call, or a span of it; return a pickled `Answer` or `Failure`, and whether it is an answer."""
        answer: Answer | Failure
        session = None
        try:
            asked: Request = loads(request)
            there = sessions(self._worker)
            session = checked(there.find(asked.session), self._worker)
            session.forget(asked.freed)
            if session.pulse is None:
                there.beat(asked.session, asked.client, asked.call, asked.timeout)
            answer = await asyncio.get_running_loop().run_in_executor(self._thread, self._run, session, asked)
        except Exception as error:
            answer = Failure(error, traceback.format_exc())
            error.__cause__ = error.__context__ = None
            error.with_traceback(None)
        failed = isinstance(answer, Failure)
        if session is not None and (isinstance(answer, Failure) or answer.finished):
            session.rest()
        if failed:
            gc.collect()  # of the frames that refer to the shard's arrays
        return {"answered": not failed, "answer": dumps(answer)}

    async def abort(self, session: str) -> None:
        """End what a session's shard waits for."""
        sessions(self._worker).abort(session)

    def load(self, s: Session, session: str, program: Program, piece: Any) -> None:
        """Load a shard in the thread of calls, and wait for that; called by a task."""
        self._thread.submit(self._load, s, session, program, lambda: piece).result()

    def _load(self, s: Session, session: str, program: Program, piece: Callable[[], Any]) -> None:
        s.program, s.compiled, s.seconds = program, dict.fromkeys(s.compiled, 0.0), {}
        with at_work(self._worker, s, "load"):
            s.comm = s.comm or connected(self._worker, s, session)
            s.state = program.load(s.rank, piece(), s.device)

    def _run(self, s: Session, asked: Request) -> Answer:
        worker, part = self._worker, None if asked.graph is None else s.kept[asked.graph]
        if asked.program is not None:
            self._load(s, asked.session, asked.program, lambda: _piece(s, part, asked))
        done = _done(worker, s, asked.work)
        s.matrices.clear()
        facts: dict[str, np.ndarray] = {}
        vectors: dict[str, Array] = {}
        if isinstance(done, Spanned) and done.finished:
            with at_work(worker, s, "collect"):
                s.stop_writing()
                named = getattr(s.program, "facts", ())
                for name, array in s.program.collect(s.state, s.connected()).items():
                    if name in named:
                        facts[name] = devices.to_host(array)
                    elif array.ndim == 2:
                        s.matrices[name] = array
                    else:
                        vectors[name] = array
                if vectors and asked.carried and _most_bytes(s, vectors) <= asked.carried:
                    facts |= {name: devices.to_host(array) for name, array in vectors.items()}
                    vectors = {}
                vectors = {name: compact(array) for name, array in vectors.items()}
            s.state = s.program = None
            if vectors:
                s.kept[asked.call] = vectors
        sight = sight_of(worker, s.device.kind) if asked.look else None
        shapes = {name: (len(array), np.dtype(array.dtype)) for name, array in vectors.items()}
        types = {name: np.dtype(array.dtype) for name, array in s.matrices.items()}
        timings = {**s.seconds, "compile": sum(s.compiled.values())}
        sizes = {} if part is None else part.sizes()
        return Answer(done, facts, shapes, types, timings, sizes, sight, s.comm.meeting_way if s.comm else "")


def _most_bytes(s: Session, vectors: Mapping[str, Array]) -> int:
    """Return the most bytes that a shard's vectors take, the same number on all."""
    most = s.device.xp.array([sum(array.nbytes for array in vectors.values())])
    s.connected().allreduce(most, "max")
    return int(most[0])


def _piece(s: Session, part: VertexRange | None, asked: Request) -> Any:
    """Return what a program loads: a part of a graph, vectors by name, or both; or what is gathered of these."""
    own: Any = part if asked.inline is None else asked.inline.piece
    if asked.beside is not None:
        vectors = {name: s.kept[call][vector] for name, (call, vector) in asked.beside.items()}
        vectors |= {name: s.device.asarray(vector) for name, vector in asked.sent.items()}
        own = vectors if part is None else PartWithVectors(part, vectors)
    return own if asked.gather is None else asked.gather(own, s.device, s.connected())


def _done(worker: Worker, s: Session, work: Work) -> Spanned | int | str:
    """Do what is asked of a shard; return what came of it."""
    match work:
        case Identify():
            with at_work(worker, s, "load"):
                return int(s.program.fingerprint(s.state, s.rank))
        case Fill(place, number):
            with at_work(worker, s, "load"):
                return filled(s.program, s.state, s.rank, place, number)
        case Advance(first, span, order):
            with at_work(worker, s, "solve", lambda: s.connected().gather_shards()):
                done = s.advance(first, span or MOST, order)
                while span is None and not done.finished:
                    done = s.advance(done.reached, MOST, None)
                return done


def connected(worker: Worker, session: Session, name: str) -> Communicator:
    """Return a communicator of a group; all of its workers call this at the same time."""
    if len(session.addresses) == 1:
        return Solo()
    comm = DaskComm(worker, name, session.addresses, session.rank, session.mailbox)
    return new_nccl(session, comm) if session.device.kind == "cuda" else comm


def stay(session: str) -> None:
    """Task: open a session, and be ready for its calls; it lives as long as the task's result is kept.

    A worker that was restarted has neither before Dask has made this again there.
    """
    lease(session)
    on_loop(get_worker(), _add, get_worker())


@reported
def join(session: str, old: str, rank: int, addresses: Sequence[str], kind: str) -> None:
    """Task: make a session that of a shard of a group; it keeps what an old one keeps, which it replaces.

    The old one knows that too until its lease ends, for the sake of reads that are under way.
    """
    worker = get_worker()
    there = sessions(worker)
    s = there.find(session)
    s.rank, s.addresses, s.device = rank, tuple(addresses), devices.find(kind)
    with contextlib.suppress(Aborted):
        s.kept = checked(there.find(old), worker).kept if old else s.kept


async def _add(worker: Worker) -> None:
    if NAME not in worker.plugins:
        await worker.plugin_add(Residents(), NAME, catch_errors=False)


def checked(session: Session, worker: Worker) -> Session:
    """Return a group's session, or raise WorkerLostError if Dask has made its lease again on a restarted worker."""
    if session.device is None:
        raise lost([worker.address], RESTARTED)
    return session


def own(session: str) -> Session:
    """Return a group's session on this worker; raises as `checked` does."""
    worker = get_worker()
    return checked(sessions(worker).find(session), worker)


@reported
def load(session: str, client: str, call: str, timeout: float, program: Program, count: int, *given: Any) -> None:
    """Task: load a shard of a call with a large piece, of so many parts; then come blocks of a matrix on workers."""
    worker, s = get_worker(), own(session)
    sessions(worker).beat(session, client, call, timeout)  # the request that follows finds it
    try:
        ended, blocks = partial(_has_ended, worker, session, s), given[count:]
        with contextlib.ExitStack() as reading:
            parts = [reading.enter_context(unpacked(part, s.device, ended)) for part in given[:count]]
            piece = Accompanied(*parts) if count > 1 else joined(parts[0], blocks)
            cast(Residents, worker.plugins[NAME]).load(s, session, program, piece)
    except BaseException:
        s.rest()
        raise


@reported
def received(session: str, parcel: Parcel) -> Any:
    """Task: return a piece that the client lends, in this worker's memory."""
    worker, s = get_worker(), own(session)
    with unpacked(parcel, devices.find("cpu"), partial(_has_ended, worker, session, s)) as found:
        return found


def _has_ended(worker: Worker, name: str, session: Session) -> bool:
    """Return whether a session waits for nothing any more."""
    return session.mailbox.aborted or sessions(worker).sessions.get(name) is not session


@reported
def place(session: str, name: str, part: VertexRange) -> Mapping[str, int]:
    """Task: keep a part of a graph on the session's device; return its bytes by name."""
    s = own(session)
    needed = 0 if s.device.kind == "cpu" else sum(part.sizes().values())  # in a CPU's memory it is already
    with s.device.active(), devices.allocating("a part of a graph", needed, s.device):
        s.kept[name] = part.on(s.device)
        s.device.synchronize()
    return s.kept[name].sizes()


@reported
def sizes(session: str, name: str, release: bool = False) -> Mapping[str, int]:
    """Task: return the bytes of a part of a graph and of what was derived from it, by name, or `release` the latter."""
    part: VertexRange = own(session).kept[name]
    if release:
        part.release()
    return part.sizes()


@reported
def keep(session: str, name: str, source: EdgeSource) -> None:
    """Task: keep a source of edges until they have been placed."""
    own(session).kept[name] = source


@reported
def keep_numbered(session: str, name: str, source: RawSource, call: str, n: int) -> None:
    """Task: keep a source whose ids a call has numbered; the call's part of all ids stays."""
    kept = own(session).kept
    kept[name] = Numbered(source, n, kept[call].pop("own"), kept[call].pop("numbers"))


@reported
def keep_chunks(
    session: str,
    name: str,
    source: Chunks,
    numbers: Sequence[int],
    src: Sequence[Any],
    dst: Sequence[Any],
    weights: Sequence[Any],
) -> None:
    """Task: check the chunks of a source that have been sent here, by their numbers, and keep them."""
    held = {
        number: checked_edges(tails, heads, lengths, source.weights_dtype, source.n, f"partition {number}")
        for number, tails, heads, lengths in zip(numbers, src, dst, weights, strict=True)
    }
    own(session).kept[name] = replace(source, held=held, asked=set())


@reported
def ranged(session: str, call: str, name: str, n: int, first: int, last: int, directed: bool) -> Mapping[str, int]:
    """Task: make the part of a graph of the arrays that a call has left; return its bytes by name."""
    kept = own(session).kept
    arrays = kept.pop(call)
    csc = Compressed(arrays["indptr"], arrays["indices"], arrays.get("weights"))
    unused = sum(unused_bytes(array) for array in csc if array is not None)
    kept[name] = VertexRange(n, first, last, csc, directed, unused)
    return kept[name].sizes()


class KnownWeights(NamedTuple):
    """What is known of the weights of a part.

    Attributes
    ----------
    sizes : mapping
        The bytes of the part, by name.
    m : int
        The number of its edges.
    dtype : dtype
        The type of the weights.
    least, most : int or float, or None
        The least and the greatest; None without edges.
    whole : bool
        Whether all are whole numbers.
    total : float
        Their sum.
    imbalance : int
        As `mgraph.graph.checks.imbalance` returns it; 0 of a directed graph.
    """

    sizes: Mapping[str, int]
    m: int
    dtype: np.dtype
    least: float | None
    most: float | None
    whole: bool
    total: float
    imbalance: int


@reported
def weighed(session: str, graph: str, name: str, given: Weigh | Callable[[Array, Array], Any] | Array) -> KnownWeights:
    """Task: give a part of a graph new weights, under a new name; return what is known of it.

    The weights are given as an array in the order of the part's edges, or as a function of the edges' ends, whose type
    may be known. Of a part without edges it is not, and `set_weight_dtype_if_empty` has to set it.
    """
    s = own(session)
    part: VertexRange = s.kept[graph]
    with s.device.active():
        if not callable(given):
            weights = _checked(given, len(part.compressed("csc").indices), part, s.device)
        elif hasattr(given, "dtype"):
            weights = part.weights_of(cast(Weigh, given))
        else:
            weights = _computed(given, part, s.device)
        made = part.with_weights(weights).finite()
        indices, weights = made.compressed("csc").indices, made.compressed("csc").weights
        assert weights is not None
        asymmetry = 0 if part.directed else sum(imbalance(edges) for edges in edges_of(made, s.device)) % 2**64
        least, most = (weights.min().item(), weights.max().item()) if len(weights) else (None, None)
        whole = weights.dtype.kind in "iu" or bool((weights % 1 == 0).all())
        s.device.synchronize()
    s.kept[name] = made
    return KnownWeights(
        made.sizes(), len(indices), np.dtype(weights.dtype), least, most, whole, float(weights.sum()), asymmetry
    )


@reported
def renamed(session: str, graph: str, name: str) -> Mapping[str, int]:
    """Task: keep a part of a graph under a second name; return the bytes of its arrays."""
    s = own(session)
    part: VertexRange = s.kept[graph]
    s.kept[name] = part
    return part.sizes()


@reported
def set_weight_dtype_if_empty(session: str, name: str, dtype: np.dtype) -> None:
    """Task: give a part without edges weights of a type, that of the other parts."""
    s = own(session)
    part: VertexRange = s.kept[name]
    if not len(part.compressed("csc").indices):
        with s.device.active():
            s.kept[name] = part.with_weights(s.device.xp.zeros(0, dtype))


def _computed(weights_of: Callable[[Array, Array], Any], part: VertexRange, device: devices.Device) -> Array:
    """Return what a user's function makes of the ends of a part's edges, some at a time."""

    def made(src: Array, dst: Array) -> Array:
        returned = weights_of(src, dst)
        weights = _array(returned, device)
        if weights.shape != src.shape:
            wanted = f"a function that returns an array of shape {src.shape}, a weight for each edge"
            raise InputError(argument="weights", value=weights.shape or returned, expected=wanted)
        return _checked(weights, len(src), part, device)

    found = [made(src, dst) for src, dst, _ in edges_of(part, device)]
    kinds = {np.dtype(weights.dtype) for weights in found}
    if len(kinds) > 1:
        names = sorted(dtype.name for dtype in kinds)
        raise InputError(argument="weights", value=", ".join(names), expected="a function that returns one type")
    return device.xp.concatenate(found) if found else device.xp.zeros(0, np.int32)


def _array(weights: Any, device: devices.Device) -> Array:
    return as_array(devices.to_host(weights) if device.kind == "cpu" else weights, "weights", device.xp)


def _checked(weights: Any, m: int, part: VertexRange, device: devices.Device) -> Array:
    """Return weights as a part keeps them, or raise InputError."""
    where = f" of those into the vertices {range_in_words((part.first, part.last))}"
    return checked_weights(_array(weights, device), m, where)


class RemoteVector(NamedTuple):
    """A vector that lies on a worker: the call that has made it, and its name there."""

    call: str
    vector: str


#: The names of the part, of the facts and of the ids of a published graph in its session.
PART, FACTS, IDS = "part", "facts", "ids"


class PublishedPart(NamedTuple):
    """What a published graph has on a worker.

    Attributes
    ----------
    fault : str
        What is wrong with the part, which other clients have had, too; "" if nothing is.
    sizes : mapping
        The bytes of the part, by name.
    facts : bytes or None
        The facts of the graph, on one worker.
    ids : tuple of int and dtype, or None
        The number and the type of the worker's ids, if they lie on the workers.
    """

    fault: str
    sizes: Mapping[str, int]
    facts: bytes | None
    ids: tuple[int, np.dtype] | None


@reported
def publish_part(
    session: str, name: str, ids: RemoteVector | None, publication: str, title: str, facts: bytes | None
) -> None:
    """Task: keep a part of a graph, and its ids if they lie here, in the session of a published graph, too."""
    kept, lent = own(session).kept, sessions(get_worker()).find(publication)
    lent.title = title
    lent.kept.update({PART: kept[name], FACTS: facts})
    if ids is not None:
        lent.kept[IDS] = kept[ids.call]


@reported
def attach_part(session: str, name: str, ids: str, publication: str, cut: tuple[int, int, int]) -> PublishedPart | None:
    """Task: keep the part of a published graph, and its ids under another name, in another session, too.

    `cut` is the part that it must be. Returns None if the worker has lost it.
    """
    s = own(session)
    kept = s.kept
    try:
        lent = sessions(get_worker()).find(publication).kept
        kept[name] = part = lent[PART]
    except (Aborted, InputError):  # the worker has been started again, perhaps with a new lease
        return None
    known = None
    if IDS in lent:
        kept[ids] = lent[IDS]
        known = len(lent[IDS][IDS]), np.dtype(lent[IDS][IDS].dtype)
    with s.device.active():
        return PublishedPart(part.fault(cut), part.sizes(), lent[FACTS], known)


@reported
def read(session: str, name: str, vector: str, where: slice) -> np.ndarray:
    """Task: return a part of a vector."""
    s = own(session)
    with s.device.active():
        part = s.kept[name][vector][where]
        return np.array(part) if s.device.kind == "cpu" else devices.to_host(part)


def whole(session: str, name: str, vector: str) -> np.ndarray:
    """Task: return a worker's part of a vector to a computation of Dask's, which knows no `Failure`."""
    found = read(session, name, vector, slice(None))
    if isinstance(found, Failure):
        gone = isinstance(found.error, Aborted)
        raise lost([get_worker().address], str(found.error)) if gone else found.error
    return found


@reported
def reduced(session: str, name: str, vector: str, function: Callable[[Array], Any]) -> Any:
    """Task: return what a function makes of a worker's part of a vector."""
    s = own(session)
    with s.device.active():
        return function(s.kept[name][vector])


@reported
def applied(session: str, call: str | None, function: Callable[..., Any], size: int, *operands: Any) -> Any:
    """Task: return what a function makes of vectors on this worker, arrays and numbers, in `size` bytes an element.

    With `call` the result, an array, is kept under that name, and its length and type are returned.
    """
    s = own(session)
    with s.device.active():
        here = [s.kept[each.call][each.vector] if isinstance(each, RemoteVector) else each for each in operands]
        # Arrays that come from elsewhere, and the result.
        needed = size * len(here[0]) + sum(each.nbytes for each in here[1:] if isinstance(each, np.ndarray))
        with devices.allocating(f"{function.__name__} of {len(here[0]):,} elements", needed, s.device):
            found = function(*(s.device.asarray(each) if getattr(each, "ndim", 0) else each for each in here))
        if call is None:
            return devices.to_host(found) if hasattr(found, "dtype") else found
        s.kept[call] = {VALUES: found}
        s.device.synchronize()
        return len(found), np.dtype(found.dtype)


@reported
def seen(session: str, name: str, look: Callable[[Array, Array], Any]) -> Any:
    """Task: return what a function makes of the edges of a part of a graph, by target."""
    s = own(session)
    with s.device.active():
        return look(*s.kept[name].layout("csc"))


@reported
def lightest(session: str, name: str) -> tuple[float, int, int] | None:
    """Task: return the least weight in a part of a graph, and the ends of the first edge that has it."""
    s = own(session)
    part: VertexRange = s.kept[name]
    with s.device.active():
        csc = part.compressed("csc")
        if csc.weights is None or not len(csc.weights):
            return None
        places = s.device.xp.flatnonzero(csc.weights == csc.weights.min())
        place = int(places[csc.indices[places].argmin()])
        end = part.first + int((csc.indptr <= place).sum()) - 1
        return csc.weights[place].item(), int(csc.indices[place]), end


@reported
def edges(session: str, name: str) -> Compressed:
    """Task: return the edges of a part of a graph, by target."""
    s = own(session)
    csc = s.kept[name].compressed("csc")
    return Compressed(*(None if part is None else devices.to_host(part) for part in csc))


def sight(kind: str, dask_worker: Worker) -> WorkerInfo:
    """Return the devices of a worker and the memory that they have now; for `tasks.asked`."""
    return sight_of(dask_worker, kind)


def drop(session: str, names: Sequence[str], dask_worker: Worker) -> None:
    """Forget graphs, and the vectors of calls; for `tasks.asked`."""
    with contextlib.suppress(Aborted):  # the session has ended, and took them along
        sessions(dask_worker).find(session).forget(names)


async def in_turn(
    client: str,
    call: str,
    session: str,
    requests: Mapping[str, bytes],
    event: Event,
    before: Collection[str],
    dask_scheduler: Scheduler,
) -> dict[str, dict[str, Any]]:
    """Pass a call on to the workers in its turn, and their answers back; runs on the scheduler.

    It logs the event of the call, and that it has ended; the client knows of failures.
    """
    count_on(dask_scheduler)
    line, answers = line_after(dask_scheduler, before), dict[str, dict[str, Any]]()
    try:
        if await line.take(call, client, list(requests)):
            note(dask_scheduler, event, call)
            began = time.monotonic()
            answers = await passed(client, call, session, requests, dask_scheduler)
        return answers  # none if its client is gone
    finally:
        if line.leave(call) and answers and all(answer["answered"] for answer in answers.values()):
            note(dask_scheduler, ended(time.monotonic() - began), call)
        forget_call(client, call, dask_scheduler)


async def passed(
    client: str, call: str, session: str, requests: Mapping[str, bytes], dask_scheduler: Scheduler
) -> dict[str, dict[str, Any]]:
    """Pass each worker its request in a call, and their answers back; if one fails, end the others' waits.

    Beside the beats it notes who has answered: a worker may end so soon that no beat says what it has sent.
    """
    noted: list[Any] = [PLACE, client, call, ANSWERED]
    line = turns_on(dask_scheduler)

    def ready(address: str) -> bool:
        """Whether a worker has the session's lease: a process that was started again does not know the operations."""
        held = dask_scheduler.tasks.get(lease_key(session, address))
        return held is not None and held.state == "memory"

    async def ask(address: str) -> dict[str, Any]:
        try:
            if address not in dask_scheduler.workers:
                raise lost([address])
            run = getattr(dask_scheduler.rpc(address), RUN)
            found: dict[str, Any] | None = await run(request=requests[address]) if ready(address) else None
            return found or {"answered": False, "answer": dumps(Failure(lost([address], RESTARTED), ""))}
        except Exception as error:  # or no shard would be told to stop
            known = Unreachable(str(error)) if isinstance(error, OSError) else None
            # Without the traceback: its frames would be made again where it is read, and keep those of the call there.
            return {"answered": False, "answer": dumps(Failure(known or error.with_traceback(None), ""))}

    asked = {address: asyncio.ensure_future(ask(address)) for address in requests}
    pending, aborted = set(asked.values()), False
    while pending:
        if call in line:  # else its client is gone, and its beats are forgotten
            dask_scheduler.set_metadata(keys=noted, value=[address for address, task in asked.items() if task.done()])
        done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        if pending and not aborted and not all(task.result()["answered"] for task in done):
            aborted = True
            waiting = [address for address, task in asked.items() if not task.done() and ready(address)]
            aborts = (getattr(dask_scheduler.rpc(address), ABORT)(session=session) for address in waiting)
            await asyncio.gather(*aborts, return_exceptions=True)
    return {address: task.result() for address, task in asked.items()}
