"""A small matrix solved in one launch, by the Floyd-Warshall algorithm (``kernels/minplus.cu``, `eliminate`).

The result is that of `mgraph.matrices.floyd_warshall` to the last bit. Solving a small matrix takes less time than
launching one phase of that, or a pass that encodes weights or decodes distances. So one launch does all of these.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import device as devices
from ..arrays import Array
from ..dtypes import band, distance_range, kernel_infinity, out_of_range
from ..errors import NegativeCycleError
from ..graph import StoredMatrix
from ..kernels import minplus as minplus_kernels
from ..kernels.minplus import Bounds
from ..planning.plan import Plan
from ..runtime.checkpoints import Piece, fingerprint_of
from ..runtime.communicator import Communicator
from .distance_matrix import NO_CYCLE, Part, empty, fill, finished, named, raise_negative_cycle
from .plan import MatrixDetail
from .resumable import ResumableMatrix


@dataclass
class SmallMatrix:
    """The state.

    Attributes
    ----------
    piece : Part
        The input.
    given : array, shape (n, n)
        The weights: the input itself, or those that were written to `D`.
    D, P : array, shape (n, n)
        The distances, and labels if there are any: predecessors or intermediate vertices.
    board, found : array
        What the launch needs beside them, and what it reports.
    """

    device: devices.Device
    kernels: minplus_kernels.Operations
    piece: Part
    given: Array
    D: Array
    P: Array | None
    bounds: Bounds
    board: tuple[Array, Array | None]
    found: Array


class AtOnce(ResumableMatrix):
    """The Floyd-Warshall algorithm on one device, in one superstep."""

    def __init__(self, plan: Plan[MatrixDetail], nonnegative: bool) -> None:
        self.plan = plan
        self.detail = plan.detail
        self.nonnegative = nonnegative

    def load(self, shard: int, piece: Part, device: devices.Device) -> SmallMatrix:
        """Return the state with nothing solved."""
        n, dtype, dense = self.plan.n, np.dtype(self.detail.computed), piece.dense
        kernels = minplus_kernels.on(device)
        D = empty(n, n, dtype, device)
        P = empty(n, n, np.int32, device) if self.detail.labelled else None
        given, encoded = D, False
        if dense is not None and dense.dtype == dtype and not isinstance(dense, StoredMatrix):
            if not isinstance(dense, np.ndarray) and devices.of(dense) is device:
                given = dense
            else:
                device.copy(D, np.ascontiguousarray(dense) if isinstance(dense, np.ndarray) else dense)
        else:
            fill(D, None, piece, (0, 0), device, self.plan)
            encoded = True
        board = kernels.board(device.xp, dtype, n, P is not None)
        found = device.xp.zeros(4, np.int32)
        return SmallMatrix(device, kernels, piece, given, D, P, self._bounds(encoded), board, found)

    def _bounds(self, encoded: bool) -> Bounds:
        """Return the bounds of weights, unless they are `encoded` already, and of distances."""
        dtype = np.dtype(self.detail.computed)
        if dtype.kind == "f":
            return Bounds(0, 0, 0, 0)
        least, greatest = distance_range(dtype, self.nonnegative)
        most = np.iinfo(dtype).max if encoded else band(np.dtype(self.plan.dtype))
        unreached = int(kernel_infinity(dtype)) + (0 if self.nonnegative else 2 * least)
        return Bounds(int(most), least, greatest, unreached)

    def step(self, state: SmallMatrix, first: int, limit: int, comm: Communicator) -> int:
        """Eliminate all pivots."""
        if first:
            return 0
        s = state
        s.kernels.eliminate(s.given, s.D, s.P, self.plan.predecessors, s.bounds, s.board, s.found)
        return 1

    def collect(self, state: SmallMatrix, comm: Communicator) -> dict[str, Array]:
        """Return the result, or raise what the launch has found."""
        D, P, device = state.D, state.P, state.device
        _, cycle, weight, distance = devices.to_host(state.found).tolist()
        if weight:
            fill(D, None, state.piece, (0, 0), device, self.plan)  # it says which
        if cycle:
            raise NegativeCycleError(NO_CYCLE - cycle)
        if D.dtype.kind == "f" and not self.nonnegative:  # rounding
            raise_negative_cycle(device.xp.full(1, NO_CYCLE, np.int32), comm, D)
            return finished(D, P, self.plan, self.nonnegative)
        if distance:
            raise out_of_range(np.dtype(D.dtype), self.nonnegative)
        return named(D, P, self.plan, self.nonnegative)

    def fingerprint(self, state: SmallMatrix, shard: int) -> int:
        """Return the fingerprint of the matrix that is given."""
        return fingerprint_of([Piece("distances", state.given, (0, 0))])

    def pieces(self, state: SmallMatrix, shard: int) -> list[Piece]:
        """Return nothing: there is no superstep to go on from."""
        return []

    def resume_details(self) -> dict[str, Any]:
        """Return the supersteps of a round, and the pivots that it eliminates."""
        return {"supersteps": 1, "pivots": self.plan.n}
