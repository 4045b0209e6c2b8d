"""Plans of transitive closures by the blocked algorithm, a bit per pair."""

from dataclasses import dataclass

import numpy as np

from ...arguments import checked_choice
from ...arrays import chunk_rows
from ...graph.compressed import compressed_bytes
from ...kernels import closure as closure_kernels
from ...matrices.plan import MatrixDetail
from ...planning.cut import Ranges, fitting_grid, grids, span_of
from ...planning.devices import DeviceSpec, rates_of, speed_of
from ...planning.fit import fitted
from ...planning.kernels import Shapes, check_block, padded
from ...planning.plan import Plan
from ...planning.rates import EXCHANGE
from ...planning.remembered import remembered

#: Rate of the product of bits in pairs times pivots a second, of a GPU and of a CPU's core; and seconds that a round
#: takes for its pivots.
RATE = {"cuda": 3.0e15, "cpu": 1.9e12}
PIVOTS = {"cuda": 50e-6, "cpu": 300e-6}


@dataclass(frozen=True, kw_only=True)
class ClosureDetail(MatrixDetail):
    """A matrix of bits, 32 to a word: bit (i, j) says whether vertex i reaches vertex j."""

    def result(self, plan: Plan) -> str:
        """Return the form of the result."""
        return "reachability, a bit a pair"

    def result_bytes(self, plan: Plan) -> int | None:
        """Return the bytes of the words."""
        return plan.n * -(-plan.n // 32) * 4

    def layout(self, plan: Plan) -> tuple[Ranges, Ranges]:
        """Return the rows, and the columns of words, which hold 32 vertices each."""
        rows, columns = super().layout(plan)
        return rows, tuple((first // 32, -(-last // 32)) for first, last in columns)


@remembered
def planned(
    n: int,
    m: int,
    specs: tuple[DeviceSpec, ...],
    *,
    method: str = "auto",
    block: int | None = None,
    span: int | None = None,
    memory_limit: int | None = None,
    gathered: bool = False,
    directed: bool = True,
) -> Plan:
    """Plan a transitive closure by the blocked algorithm, a bit a pair.

    `gathered` says that each device first gathers the edges of a graph that lies on workers.
    """
    checked_choice("method", method, ("auto", "blocked"))
    kind, shards = specs[0].kind, len(specs)
    kernels = closure_kernels.of_kind(kind)
    check_block(block, kernels.BLOCKS)
    edges = (1 + directed) * compressed_bytes(n, m, 0) if gathered else 0
    if gathered and shards > 1 and kind == "cpu":
        edges += 4 * m // shards  # those of another worker, as they arrive
    block = int(kernels.DEFAULT_BLOCK if block is None else block)

    def peak(rows: int, width: int, sets: int = 2 if kind == "cuda" else 1) -> int:
        matrix = 4 * rows * padded(-(-width // 32), kind)
        made = kernels.panels(Shapes, np.uint32, rows, width, block)
        panels = sets * sum(array.nbytes for array in made) + 8 * rows
        # The edges of the shard's rows; of a dense matrix some rows at a time, as numbers and as booleans.
        loading = 4 * m * rows // max(n, 1) + 8 * (rows + 1) if m else 10 * min(rows, chunk_rows(width)) * width
        return edges + matrix + max(panels, loading)

    grid, bands, strips = fitting_grid(n, block, grids(shards), specs, memory_limit, peak)
    ranges, columns = tuple(band for band in bands for _ in strips), strips * grid[0]
    rounds = -(-n // block)
    high = max((last - first for first, last in bands), default=0)
    wide = max((last - first for first, last in strips), default=0)
    seconds, look_ahead = _seconds(high * wide * min(block, n), specs)
    made = Plan(
        algorithm="closure",
        method="blocked",
        n=n,
        m=m,
        dtype="bool",
        ranges=ranges,
        devices=specs,
        steps=3 * rounds,
        span=span or span_of(seconds / 3, 3),  # whole rounds
        peak_bytes=tuple(
            peak(band[1] - band[0], strip[1] - strip[0], 1 + look_ahead)
            for band, strip in zip(ranges, columns, strict=True)
        ),
        seconds=rounds * seconds,
        detail=ClosureDetail(grid=grid, columns=columns, computed="uint32", block=block, look_ahead=look_ahead),
    )
    return fitted(made, memory_limit)


def _seconds(products: int, specs: tuple[DeviceSpec, ...]) -> tuple[float, bool]:
    """Return the seconds of a round in which a device takes so many products of bits, and whether it looks ahead."""
    kind = specs[0].kind
    update = products / (RATE[kind] * speed_of(specs[0]).arithmetic * specs[0].cores)
    pivots = PIVOTS[kind] + (EXCHANGE[kind] if len(specs) > 1 else 0)
    # A round with look-ahead has twice the launches. The additional ones take as long as the pivots' part.
    look_ahead = kind == "cuda" and update > 2 * PIVOTS[kind]
    return (max(update, pivots) + rates_of(specs[0]).strips if look_ahead else update + pivots), look_ahead
