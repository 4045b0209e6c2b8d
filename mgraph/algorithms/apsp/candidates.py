"""The candidates for all pairs of shortest paths: a plan of each way, with its predicted time and peak memory."""

import bisect
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ... import device as devices
from ...arrays import chunk_rows
from ...dtypes import name_of
from ...kernels import minplus as minplus_kernels
from ...planning.cut import Ranges, fitting_grid, fitting_rows, grids, grouped, sources_of, span_of, span_within
from ...planning.devices import USABLE, host_memory, usable
from ...planning.kernels import Shapes, padded
from ...planning.plan import Detail, Plan
from ..batched_sssp import CORE_SOURCES, batch_size, derivation_seconds, relaxing_seconds, searches_bytes
from .detail import AllPairsDetail, SourcesDetail
from .request import Request

#: Assumed size of a CPU's caches in bytes.
CACHE = 16 << 20

#: Supersteps of a round of blocked Floyd-Warshall. Only between rounds can it look ahead, and be kept.
PHASES = 3

#: Strips on the device at a time out of core, if they fit: one is computed, one arrives, one leaves.
BUFFERS = 3


def _plan_of(
    request: Request, method: str, *, detail: Detail, step_seconds: float, whole: int = 1, span: int = 0, **facts: Any
) -> Plan:
    """Return a plan with the fields that all methods share.

    A span that neither the request nor `span` gives takes about a second, in multiples of `whole`.
    """
    return Plan(
        algorithm="apsp",
        method=method,
        n=request.n,
        m=request.m,
        dtype=name_of(request.dtype),
        predecessors=request.predecessors,
        devices=request.specs,
        span=request.span or span or span_of(step_seconds, whole),
        detail=detail,
        **facts,
    )


def _detail_of(request: Request, *, derived: bool = False, **facts: Any) -> AllPairsDetail:
    """Return the detail of a method on the matrix, with the fields about labels."""
    labelled = request.intermediate or (request.predecessors and not derived)
    computed, _ = request.cell(labelled)
    return AllPairsDetail(
        computed=name_of(computed), labelled=labelled, intermediate=request.intermediate, derived=derived, **facts
    )


def _rows(request: Request, multiple: int, peak: Callable[[int], int]) -> Ranges:
    """Cut the rows of the matrix for the devices; ``peak(rows)`` are the bytes that a device needs for its rows."""
    return fitting_rows(request.n, multiple, request.specs, request.memory_limit, peak)


def blocked(request: Request, derived: bool) -> Plan:
    """Plan the blocked algorithm, the matrix in the devices' memory; in one launch, if it is small."""
    alone = len(request.specs) == 1 and request.block is None and request.span is None and not derived
    if alone and minplus_kernels.of_kind(request.kind).at_once(request.n, request.specs[0].processors):
        return at_once(request)
    n, block, r = request.n, request.pivots, request.rates
    shards = len(request.specs)
    labelled = request.intermediate or (request.predecessors and not derived)
    rounds = -(-n // block)
    look_ahead = looks_ahead(request.kind, block, rounds)

    def peak(rows: int, columns: int) -> int:
        edges = request.m * rows * columns // max(n, 1) ** 2
        return _matrix_bytes(request, rows, columns, labelled, 1 + look_ahead, edges, derived)

    grid, bands, strips = fitting_grid(
        n, block, [(shards, 1)] if derived else grids(shards), request.specs, request.memory_limit, peak
    )
    ranges = tuple(band for band in bands for _ in strips)
    columns = strips * grid[0]
    high = max((last - first for first, last in bands), default=0)
    wide = max((last - first for first, last in strips), default=0)
    update = request.product_seconds(high, wide, min(block, n), labelled)
    M, R, C = _panel_sizes(request, high, wide, labelled, block)
    exchange = request.exchange(grid, M + R, M + C)
    pivots = r.pivots + exchange
    seconds = max(update, pivots) + r.strips if look_ahead else update + pivots
    shapes = [(band[1] - band[0], strip[1] - strip[0]) for band in bands for strip in strips]
    peaks = {shape: peak(*shape) for shape in set(shapes)}
    derivation = derivation_seconds(request.m, n, request.specs[0], request.weighted) / shards if derived else 0
    return _plan_of(
        request,
        "blocked",
        ranges=ranges,
        steps=3 * rounds,
        step_seconds=seconds / 3,
        whole=PHASES,
        peak_bytes=tuple(peaks[shape] for shape in shapes),
        seconds=rounds * seconds + derivation,
        detail=_detail_of(
            request,
            derived=derived,
            grid=grid,
            columns=columns,
            block=block,
            look_ahead=look_ahead,
            update=update,
            exchange=exchange,
        ),
    )


#: Predicted seconds of a round of `eliminate` on a GPU, in which it takes `ROUND` pivots (benchmarks/NOTES.md).
AT_ONCE_ROUND = 5e-6
ROUND = 32


def at_once(request: Request) -> Plan:
    """Plan the solve of a small matrix in one launch, with the same result as `blocked`."""
    n = request.n
    kernels, labelled = minplus_kernels.of_kind(request.kind), request.intermediate or request.predecessors
    dtype, _ = request.cell(labelled)
    values, labels = kernels.board(Shapes, dtype, n, labelled)
    board = values.nbytes + (0 if labels is None else labels.nbytes)
    arithmetic = request.product_seconds(n, n, n, labelled) * request.specs[0].cores
    seconds = request.rates.launch + (AT_ONCE_ROUND * -(-n // ROUND) if request.kind == "cuda" else arithmetic)
    return _plan_of(
        request,
        "blocked",
        ranges=((0, n),),
        steps=1,
        step_seconds=seconds,
        peak_bytes=(_matrix_bytes(request, n, n, labelled, 0, request.m) + board,),
        seconds=seconds,
        detail=_detail_of(request, grid=(1, 1), columns=((0, n),), at_once=True),
    )


def looks_ahead(kind: str, block: int, rounds: int) -> bool:
    """Whether to look ahead: where launches overlap, and a block consists of whole tiles of every type.

    Then the next pivots are not written while they are read.
    """
    return kind == "cuda" and block % 128 == 0 and rounds > 1


def _matrix_bytes(
    request: Request, rows: int, columns: int, labelled: bool, sets: int, edges: int, derived: bool = False
) -> int:
    """Return the bytes that a shard of the matrix allocates, with `sets` sets of panels, loaded from `edges` edges."""
    dtype, cell = request.cell(labelled)
    matrix = rows * padded(columns, request.kind) * cell
    panels = sets * _panel_bytes(request, rows, columns, labelled, request.pivots)
    conversion = _conversion_bytes(request, rows, columns, labelled)
    lists = edges * (4 + 2 * dtype.itemsize) + 8 * (rows + 1) if edges else 0
    narrow = rows * columns * 2 if request.dtype == np.int16 and dtype != np.int16 else 0
    after = rows * columns * 4 + request.m * (4 + dtype.itemsize) + 8 * (request.n + 1) if derived else 0
    gathered = request.gathered_bytes(lists=True)
    return matrix + gathered + max(panels + after, panels + narrow + conversion if narrow else 0, conversion, lists)


def _conversion_bytes(request: Request, rows: int, columns: int, labelled: bool) -> int:
    """Return the bytes of the temporaries that encode or narrow a matrix; less than 1 MiB counts as 0."""
    dtype, _ = request.cell(labelled)
    each = 12 if dtype.kind == "i" else dtype.itemsize if request.kind == "cuda" else 0
    size = min(rows, chunk_rows(columns)) * columns * each
    return size if size >= 1 << 20 else 0


def _panel_bytes(request: Request, rows: int, columns: int, labelled: bool, block: int) -> int:
    return sum(_panel_sizes(request, rows, columns, labelled, block))


def _panel_sizes(request: Request, rows: int, columns: int, labelled: bool, block: int) -> tuple[int, int, int]:
    """Return the bytes of the pivots' factored block, of their rows with labels, and of their columns."""
    dtype, _ = request.cell(labelled)
    M, R, C = minplus_kernels.of_kind(request.kind).panels(Shapes, dtype, rows, columns, block)
    labels = 4 * R.size if labelled and request.predecessors else 0
    return M.nbytes, R.nbytes + labels, C.nbytes


def by_component(request: Request) -> Plan:
    """Plan one blocked solve for each group of components, on one device."""
    groups = grouped(request.components)
    labelled = request.intermediate or request.predecessors
    alone = [blocked(replace(request, n=size, components=()), derived=False) for size in sorted(set(groups))]
    by_size = {made.n: made for made in alone}
    whole = request.n * padded(request.n, request.kind) * (request.dtype.itemsize + 4 * labelled)
    seconds = sum(by_size[size].seconds + 30 * request.rates.launch for size in groups)
    detail = _detail_of(
        request,
        grid=(1, 1),
        columns=((0, request.n),),
        block=request.pivots,
        look_ahead=any(made.detail.look_ahead for made in alone),
        groups=groups,
    )
    return _plan_of(
        request,
        "blocked",
        ranges=((0, request.n),),
        steps=len(groups),
        step_seconds=1,
        peak_bytes=(whole + max(made.peak_bytes[0] for made in alone),),
        seconds=seconds,
        detail=detail,
    )


def out_of_core(request: Request) -> Plan:
    """Plan a solve in strips of rows, of which few are on the device at a time."""
    n, r = request.n, request.rates
    labelled = request.intermediate or request.predecessors
    _, cell = request.cell(labelled)
    row = padded(n, request.kind) * cell
    strips = _Strips(request, labelled, row, usable(request.specs[0], request.memory_limit))
    layout = next(strips.layouts(), (request.pivots, request.pivots, 1))
    block, strip, buffers = layout
    count = -(-n // strip)
    look_ahead = looks_ahead(request.kind, block, strip // block)
    compute = request.product_seconds(n, n, n, labelled) + count * -(-n // block) * (
        r.strips if look_ahead else r.pivots
    )
    outside = n * n * (cell + (2 if labelled and request.dtype == np.int16 else 0))
    on_disk = request.kind == "cpu" or outside > USABLE * host_memory(request.specs[0])
    transfer = count * n * row / (r.disk if on_disk else r.copy)
    seconds = max(compute, transfer) + 2 * strip / n * transfer / count if buffers > 1 else compute + 2 * transfer
    return _plan_of(
        request,
        "blocked",
        ranges=((0, n),),
        steps=count * count,
        step_seconds=seconds / count**2,
        span=span_within(seconds / count**2, count),
        peak_bytes=(strips.peak(*layout),),
        seconds=seconds,
        host_bytes=0 if on_disk else outside,
        disk_bytes=outside if on_disk else 0,
        detail=_detail_of(
            request,
            grid=(1, 1),
            columns=((0, n),),
            block=block,
            look_ahead=look_ahead,
            strip=strip,
            buffers=buffers,
        ),
    )


class _Strips(NamedTuple):
    """Strips of rows on a device out of core.

    Attributes
    ----------
    request : Request
        The arguments of the plan.
    labelled : bool
        Whether distances have labels.
    row, most : int
        Bytes of a row, and those that are free.
    """

    request: Request
    labelled: bool
    row: int
    most: int

    def peak(self, block: int, strip: int, buffers: int) -> int:
        """Return the peak bytes of the device."""
        request, n, labelled = self.request, self.request.n, self.labelled
        rounds = -(-strip // block) * _panel_bytes(request, 0, n, labelled, block)
        conversion = _conversion_bytes(request, min(strip, n), n, labelled)
        panels = rounds + _panel_bytes(request, strip, 0, labelled, block)
        return request.gathered_bytes(lists=True) + buffers * strip * self.row + max(panels, conversion)

    def largest(self, block: int, buffers: int) -> int:
        """Return the largest strip of whole blocks that fits, of two or more; 0 if none does."""
        blocks = range(1, -(-self.request.n // (2 * block)) + 1)
        return block * bisect.bisect_right(
            blocks, self.most, key=lambda count: self.peak(block, block * count, buffers)
        )

    def layouts(self) -> Iterator[tuple[int, int, int]]:
        """Yield blocks, strips and the strips on the device that fit, the fastest first."""
        n, pivots = self.request.n, self.request.pivots
        smaller = [block for block in minplus_kernels.of_kind(self.request.kind).BLOCKS if block < pivots]
        for block in [pivots] if self.request.block else [pivots, *reversed(smaller)]:
            for buffers in (BUFFERS, 1):
                strip = self.largest(block, buffers)
                if strip:
                    # As few strips as fit, all of about the same height.
                    yield block, math.ceil(n / -(-n // strip) / block) * block, buffers


def by_source(request: Request, method: str, *, to_file: bool = False) -> Plan:
    """Plan a single-source run from every vertex; its rows may go to a temporary file as they are found."""
    n, r, spec, shards = request.n, request.rates, request.specs[0], len(request.specs)
    shifted = method == "johnson" and request.dtype == np.float32

    def peak(rows: int) -> int:
        kept = request.dtype, request.predecessors
        return request.gathered_bytes(lists=False) + device_bytes(
            n,
            request.m,
            rows,
            *kept,
            kind=request.kind,
            home="file" if to_file else "cpu",
            directed=request.directed,
            shifted=shifted,
        )

    ranges = _rows(request, 1, peak)
    computed = np.dtype(np.float64) if shifted else request.dtype
    most = max(last - first for first, last in ranges)
    batch = batch_size(n, computed, request.kind)
    result = n * (request.dtype.itemsize + 4 * request.predecessors)

    def step_seconds(sources: int) -> float:
        """Predict the seconds of a superstep of some sources."""
        passed = relaxing_seconds(n, request.m, sources, spec, request.weighted)
        if request.predecessors and request.kind == "cpu":
            passed += derivation_seconds(request.m, sources, spec, request.weighted)
        # Rows are copied to pages that the host has yet to allocate, which halves the rate.
        moved = 2 * sources * result / r.copy + (sources * result / r.disk if to_file else 0)
        return max(passed, moved) + r.launch

    if request.kind == "cpu":
        # Rows stay where they are computed, so more sources take no more memory, unless they are shifted.
        batch = sources_of(min(batch, most) if shifted else most, CORE_SOURCES * spec.cores, step_seconds)
    together = max(1, min(batch, most))
    steps, rest = divmod(most, together)
    seconds = steps * step_seconds(together) + (step_seconds(rest) if rest else 0)
    return _plan_of(
        request,
        method,
        ranges=ranges,
        steps=steps + (rest > 0),
        step_seconds=step_seconds(together),
        peak_bytes=tuple(peak(last - first) for first, last in ranges),
        seconds=seconds,
        host_bytes=n * result if request.kind == "cuda" and shards == 1 and not to_file else 0,
        disk_bytes=n * result if to_file else 0,
        detail=SourcesDetail(batch=min(batch, n), computed=name_of(computed)),
    )


def device_bytes(
    n: int,
    m: int,
    rows: int,
    dtype: np.dtype,
    predecessors: bool,
    *,
    kind: str,
    home: str,
    directed: bool = True,
    shifted: bool = False,
) -> int:
    """Return the peak bytes of a shard of `FromEverySource` on its device.

    Parameters
    ----------
    n, m : int
        Number of vertices, and of stored directed edges.
    rows : int
        Number of the shard's sources.
    dtype : dtype
        The type of the distances.
    predecessors : bool
        Whether predecessors are computed.
    kind, home : {"cpu", "cuda", "file"}
        The kind of device that computes, and what holds the result: such a device, or a temporary file.
    directed : bool
        Whether the edges are stored both by source and by target.
    shifted : bool
        Whether the search is in float64 whatever the result's type.
    """
    computed = np.dtype(np.float64) if shifted else dtype
    batch = min(rows, batch_size(n, computed, kind))
    kept = rows if home == kind else 0 if kind == "cpu" else devices.SLOTS * batch
    searches = searches_bytes(n, m, batch, computed, dtype, kind=kind, directed=directed)
    return searches + kept * n * (dtype.itemsize + 4 * predecessors)


def squaring(request: Request) -> Plan:
    """Plan repeated squaring."""
    n, block = request.n, request.pivots
    labelled = request.predecessors
    _, cell = request.cell(labelled)

    def peak(rows: int) -> int:
        return _matrix_bytes(request, rows, n, labelled, 1, request.m) + rows * padded(n, request.kind) * cell

    ranges = _rows(request, block, peak)
    high = max((last - first for first, last in ranges), default=0)
    needed = products(n, request.nonnegative)
    _, R, _ = _panel_sizes(request, 0, n, labelled, block)
    exchange = request.exchange((len(request.specs), 1), R)
    step_seconds = request.product_seconds(high, n, min(block, n), labelled) + request.rates.pivots + exchange
    steps = needed * -(-n // block)
    return _plan_of(
        request,
        "squaring",
        ranges=ranges,
        steps=steps,
        step_seconds=step_seconds,
        peak_bytes=tuple(peak(last - first) for first, last in ranges),
        seconds=steps * step_seconds,
        detail=_detail_of(
            request, grid=(len(ranges), 1), columns=((0, n),) * len(ranges), block=block, products=needed
        ),
    )


#: Seconds per pivot in a launch on a GPU beside the update: a barrier of the grid, and the loads that wait for it.
PIVOT_BARRIER = 2.5e-6


def naive(request: Request) -> Plan:
    """Plan a pass over the matrix for each pivot: on one GPU in one launch, with a barrier between them."""
    n = request.n
    labelled = request.intermediate or request.predecessors

    def peak(rows: int) -> int:
        return _matrix_bytes(request, rows, n, labelled, 0, request.m)

    ranges = _rows(request, 1, peak)
    high = max((last - first for first, last in ranges), default=0)
    dtype, cell = request.cell(labelled)
    exchange = request.exchange((len(request.specs), 1), n * cell)
    r, cores = request.rates, request.specs[0].cores
    if request.kind == "cpu":
        # A pass does little work per element read, so it is slower than a product. A matrix that is larger than the
        # caches is read from memory and written back in every pass.
        product = 1 / request.product_seconds(1, 1, 1, labelled)
        moved = 2 * high * n * cell if high * n * cell > CACHE else 0
        step_seconds = max(high * n / ((0.7 if labelled else 0.5) * product), moved / (r.memory * cores))
    else:  # few elements are written, those that fall; a pass waits for its loads, so it reads at about half the rate
        step_seconds = 1.5 * high * n * dtype.itemsize / (r.memory * cores)
    alone_on_gpu = request.kind == "cuda" and len(request.specs) == 1
    step_seconds += (PIVOT_BARRIER if alone_on_gpu else 2 * r.launch) + exchange
    return _plan_of(
        request,
        "naive",
        ranges=ranges,
        steps=n,
        step_seconds=step_seconds,
        peak_bytes=tuple(peak(last - first) for first, last in ranges),
        seconds=n * step_seconds,
        detail=_detail_of(request, grid=(len(ranges), 1), columns=((0, n),) * len(ranges)),
    )


def products(n: int, nonnegative: bool) -> int:
    """Return the number of (min, +) squarings that cover every path, and every negative cycle if there may be one."""
    edges = n - 1 if nonnegative else n
    return max(0, (edges - 1).bit_length()) if edges > 0 else 0
