"""The arguments of a plan for all pairs of shortest paths, with the costs that its candidates share.

`Request.exchange` is the model of communication between shards, on one node or, for planned machines, on many.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...dtypes import name_of
from ...graph.compressed import compressed_bytes
from ...kernels import minplus as minplus_kernels
from ...planning.devices import DeviceSpec, rates_of
from ...planning.rates import EXCHANGE, Rates
from ..batched_sssp import gathered_bytes


@dataclass(frozen=True, kw_only=True)
class Request:
    """Arguments of `mgraph.plan`, which describes them.

    For a graph that lies on workers, `gathered` says that each device gathers it, with weights of `weight_bytes` each.
    """

    n: int
    m: int
    specs: tuple[DeviceSpec, ...]
    dtype: np.dtype
    predecessors: bool
    intermediate: bool
    block: int | None
    span: int | None
    memory_limit: int | None
    nonnegative: bool
    exact: bool
    components: tuple[int, ...]
    network: float | None
    gpus_per_node: int
    weighted: bool = True
    directed: bool = True
    gathered: bool = False
    weight_bytes: int = 0

    @cached_property
    def kind(self) -> str:
        """The kind of the devices."""
        return self.specs[0].kind

    @cached_property
    def rates(self) -> Rates:
        """The rates of a device; all have the same."""
        return rates_of(self.specs[0])

    @cached_property
    def pivots(self) -> int:
        """Pivots eliminated at a time."""
        kernels = minplus_kernels.of_kind(self.kind)
        return int(kernels.DEFAULT_BLOCK if self.block is None else self.block)

    def cell(self, labelled: bool) -> tuple[np.dtype, int]:
        """Return the type to compute in, and the bytes of a distance with its label."""
        dtype = np.dtype(np.int32) if labelled and self.dtype == np.int16 else self.dtype
        return dtype, dtype.itemsize + 4 * labelled

    def gathered_bytes(self, lists: bool) -> int:
        """Return the bytes of the edges that a device gathers, and keeps until it has loaded its part of the work.

        With `lists` these are their ends and weights. Without, a search counts the ends itself, and needs the weights
        by target alone, but to find potentials by source too, in float64.
        """
        if not self.gathered:
            return 0
        if lists:
            return (1 + self.directed) * compressed_bytes(self.n, self.m, self.weight_bytes)
        return gathered_bytes(self.m, self.weight_bytes, self.directed, self.nonnegative)

    def product_seconds(self, rows: int, columns: int, depth: int, labelled: bool) -> float:
        """Predict the time of a (min, +) product."""
        dtype, _ = self.cell(labelled)
        name = "nonnegative" if self.nonnegative and dtype == np.float32 else name_of(dtype)
        per_core = (self.rates.labelled if labelled else self.rates.minplus)[name]
        return rows * columns * depth / (per_core * self.specs[0].cores)

    def exchange(self, grid: tuple[int, int], rows: int, columns: int = 0) -> float:
        """Predict the seconds in which every shard of a grid receives its part of the pivots' rows and columns.

        `rows` and `columns` are the bytes of such a part. In each column of the grid one shard broadcasts its part of
        the rows, in each row of the grid one shard its part of the columns. The model passes a message on from shard
        to shard in pieces: its length costs the time to receive it once, and the number of shards that it has reached
        doubles with every latency. All nodes receive at the same time, and each receives a part once, however many of
        its devices need it. Other traffic is left out. (`mgraph.runtime.communicator.Nccl` sends to each shard of a
        row or column instead. That is the same on grids of two rows and columns; on larger ones the owner's link
        carries every copy.)
        """
        high, wide = grid
        if high * wide == 1:
            return 0.0
        seconds = (rows * (high > 1) + columns * (wide > 1)) / self.rates.link
        if self.network is not None:
            # Shards are numbered along the grid's rows. `across` of them in a row, and `down` rows, are on one node.
            across = min(self.gpus_per_node, wide)
            down = min(high, -(-(wide - math.gcd(self.gpus_per_node, wide) + self.gpus_per_node) // wide))
            entering = across * rows * (high > down) + down * columns * (wide > across)
            seconds = max(seconds, entering / self.network)
        return EXCHANGE[self.kind] * (max(grid) - 1).bit_length() + seconds
