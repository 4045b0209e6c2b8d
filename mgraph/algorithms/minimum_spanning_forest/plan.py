"""Plans of minimum spanning forests."""

from dataclasses import dataclass
from typing import Any, ClassVar

from ...arguments import checked_choice
from ...dtypes import offset_type
from ...kernels import spanning_forest as spanning_forest_kernels
from ...planning.cut import shares, span_of
from ...planning.devices import DeviceSpec, rates_of
from ...planning.fit import fitted
from ...planning.plan import Detail, Plan
from ...planning.rates import EXCHANGE
from ...planning.remembered import remembered
from ...planning.shape import Shape
from .keys import WEIGHTS_AT_A_TIME, WORK_BYTES

#: What `mgraph.minimum_spanning_forest` can do.
METHODS = ("boruvka",)

#: Number of rounds, as measured for Kronecker graphs of 2^20 to 2^24 vertices on an H200 (benchmarks/NOTES.md,
#: kernels/spanning_forest.cu); of other graphs assumed.
ROUNDS = 6

#: Bytes of an edge's key, of which a round on a GPU reads each once.
KEY_BYTES = 4

#: Reads from anywhere in memory for a vertex in a round on a GPU, and the share of them that shards divide: fitted to
#: Kronecker graphs of 2^20 to 2^26 vertices, New York and a grid on one H200 and two (benchmarks/NOTES.md).
VERTEX_READS, DIVIDED_READS = 22, 0.8

#: The same on a CPU, per edge and per vertex, and in addition per vertex if all edges lead far: `Shape.far`. Assumed.
CPU_EDGE_READS, CPU_VERTEX_READS, CPU_FAR_READS = 0.25, 2, 4

#: Launches of kernels and copies in a round. Assumed.
LAUNCHES = 7

#: Bytes that shards exchange per component in a round: `best` and `ends` of the kernels' `Components`.
EXCHANGED = 12

#: The vertices above which these are exchanged of the components that are left only: NVLink takes some 40 µs for 12
#: bytes of each of so many, a GPU about as long to select what is left. Assumed. LEFT is the share of all vertices that
#: these are, added up over the rounds: 0.03 of a Kronecker graph, 0.04 of a random one of degree 6, 0.4 of a grid.
MANY, LEFT = 1 << 20, 0.1


@dataclass(frozen=True)
class ForestDetail(Detail):
    """The fields of a spanning forest's plan.

    Attributes
    ----------
    selects : bool
        Whether shards select the components that are left after a round, and exchange the minima of these only.
    """

    selects: bool = False

    values: ClassVar[str] = "edges"

    def result_bytes(self, plan: Plan) -> int | None:
        """Return the bytes of both ends of the most edges that a forest has."""
        return 8 * max(0, plan.n - 1)


@remembered
def planned(
    n: int,
    m: int,
    specs: tuple[DeviceSpec, ...],
    *,
    method: str = "auto",
    span: int | None = None,
    directed: bool = True,
    indptr: Any = None,
    memory_limit: int | None = None,
    shape: Shape | None = None,
    a_weight: int = 0,
    converted: bool = False,
    distinct: bool = False,
) -> Plan:
    """Plan a minimum spanning forest: rounds over all edges, by ranges of the vertices.

    Parameters
    ----------
    a_weight : int
        Bytes of a weight of a directed graph whose shards derive their edges by source.
    converted : bool
        Whether keys are computed: of weights that are not of int32.
    distinct : bool
        Whether keys are places in a table of the distinct weights, of 64 bits, which every shard has.
    """
    checked_choice("method", method, ("auto", *METHODS))
    kind, shards = specs[0].kind, len(specs)
    offset, lists = offset_type(m).itemsize, 2 if directed else 1
    kernels = spanning_forest_kernels.of_kind(kind)

    def peak(own: int, own_edges: int) -> int:
        rows = own + n * (lists - 1)
        incident = lists * 8 * own_edges + offset * (rows + lists) + 4 * kernels.hub_capacity(own_edges)
        incident += (lists - 1) * a_weight * own_edges
        making = WORK_BYTES[kind] * min(own_edges, WEIGHTS_AT_A_TIME[kind]) if converted else 0
        table = 8 * m if distinct else 0
        # Before there are keys, weights are sorted, of which a shard keeps the distinct ones: its own, then all.
        sorting = 17 * m + 8 * own_edges * (shards > 1) - 4 * lists * own_edges if distinct else 0
        # Of each vertex the component, the parent, the bound and the end; of each row a choice. Shards select the
        # components that are left, in 8 bytes a vertex. Of each edge of the forest 12 bytes, and to sort them 41 more.
        rounds = 20 * n + 8 * rows + max(making, 8 * n * (shards > 1))
        return incident + table + 12 * n + max(rounds, 41 * n, sorting - table * (shards == 1))

    ranges, edges, peaks = shares(n, m, specs, memory_limit, indptr, peak)
    seconds = ROUNDS * _seconds_of_round(n, lists * max(edges), specs, shape or Shape())
    plan = Plan(
        algorithm="minimum_spanning_forest",
        method="boruvka",
        n=n,
        m=m,
        dtype="int32",
        ranges=ranges,
        devices=specs,
        steps=None,
        span=span or span_of(seconds / ROUNDS),
        peak_bytes=peaks,
        seconds=seconds,
        detail=ForestDetail(selects=shards > 1 and n > MANY),
    )
    return fitted(plan, memory_limit)


def _seconds_of_round(n: int, most: int, specs: tuple[DeviceSpec, ...], shape: Shape) -> float:
    """Predict the seconds of a round, in which a shard reads at most `most` edges."""
    kind, able = specs[0].kind, rates_of(specs[0])
    if kind == "cuda":
        own = n * (1 - DIVIDED_READS + DIVIDED_READS / len(specs))
        each = KEY_BYTES * most / able.memory + VERTEX_READS * own / able.search
    else:
        reads = CPU_EDGE_READS * most + (CPU_VERTEX_READS + CPU_FAR_READS * shape.far) * n
        each = reads / (able.search * specs[0].cores)
    components = n if n <= MANY else n * (1 + LEFT) / ROUNDS
    exchange = 0 if len(specs) == 1 else 2 * EXCHANGE[kind] + EXCHANGED * components / able.link
    return each + LAUNCHES * able.launch + exchange
