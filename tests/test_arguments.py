"""Booleans and sizes of memory are checked in the same way by every call."""

import inspect

import numpy as np
import pytest

import mgraph
from mgraph.algorithms.registry import ALGORITHMS
from mgraph.arguments import checked_bytes, checked_flag
from tests.support.calls import arguments
from tests.support.commands import invoke

GRAPH = mgraph.Graph.from_edges([0, 1], [1, 2], [3, 4])

#: Calls with arguments by position.
FIRST = {
    **{entry.call: arguments(name) for name, entry in ALGORITHMS.items()},
    mgraph.apsp_batch: ([GRAPH],),
    mgraph.plan: ("apsp", 3),
    mgraph.read: ("missing.txt",),
    mgraph.generate.rmat: (3,),
    mgraph.Graph.from_edges: ([0], [1]),
    mgraph.Graph.from_scipy: (np.zeros((1, 1)),),
}

FLAGS = [
    (call, name)
    for call in FIRST
    for name, parameter in inspect.signature(call).parameters.items()
    if str(parameter.annotation).removesuffix(" | None") in ("bool", "<class 'bool'>")
]


def test_flags_are_found():
    assert len(FLAGS) >= 12 and {"predecessors", "intermediate", "reflexive", "directed"} <= {name for _, name in FLAGS}


@pytest.mark.parametrize(("call", "name"), FLAGS, ids=lambda part: getattr(part, "__name__", part))
def test_flags_are_true_or_false(call, name):
    from scipy import sparse

    first = (sparse.eye_array(2),) if call == mgraph.Graph.from_scipy else FIRST[call]
    none_is_fine = inspect.signature(call).parameters[name].default is None
    for value in ("yes", "no", "", 0, 1, 1.0, [], np.array([True, False]), *(() if none_is_fine else (None,))):
        with pytest.raises(mgraph.InputError, match=f"{name} must be True or False"):
            call(*first, **{name: value})


def test_booleans_of_numpy():
    assert checked_flag("x", np.True_) is True and checked_flag("x", np.False_) is False
    result = mgraph.apsp(GRAPH, predecessors=np.True_, device="cpu")
    assert result.path(0, 2) == [0, 1, 2]


@pytest.mark.parametrize(
    ("value", "size"),
    [
        (1, 1), (np.int64(5), 5), (1e9, 10**9), (np.float32(1024), 1024), ("1", 1), ("150000000000", 150 * 10**9),
        ("1e9", 10**9), ("1.5e11", 150 * 10**9), ("1KB", 1000), ("1k", 1000), ("1KiB", 1024), ("1.5 GiB", 3 << 29),
        ("2gib", 2 << 30), ("3TB", 3 * 10**12), (" 8 M ", 8 * 10**6), ("7B", 7), ("9007199254740993", 2**53 + 1),
    ],
)  # fmt: skip
def test_sizes_of_memory(value, size):
    found = checked_bytes("memory_limit", value)
    assert found == size and type(found) is int


@pytest.mark.parametrize(
    "value",
    [0, -1, 0.0, 0.5, 1.5, -1e9, np.nan, np.inf, True, np.True_, "", "0", "-1", "0.2", "GiB", "1 XB", "1GiBB", "1e999",
     "much", b"1", None, [1], "9" * 5000],
)  # fmt: skip
def test_invalid_sizes_of_memory(value):
    with pytest.raises(mgraph.InputError, match="memory_limit must be a number of bytes, 1 or more"):
        checked_bytes("memory_limit", value)


def test_memory_limits_of_the_library_and_the_command_line():
    for value in ("1GiB", 1e9, 10**9, np.int32(10**9)):
        assert mgraph.apsp(GRAPH, memory_limit=value, device="cpu").distances[0, 2] == 7
        assert mgraph.plan("apsp", 3, devices="cpu", memory_limit=value).n == 3
    for value in (0, "0", -1, "much", True):
        with pytest.raises(mgraph.InputError, match="memory_limit must be a number of bytes, 1 or more"):
            mgraph.apsp(GRAPH, memory_limit=value, device="cpu")
    for value in ("0", "0.4", "much"):
        refused = invoke("apsp", "--rmat", "3", "--memory-limit", value)
        assert refused.exit_code == 2 and "a number of bytes, 1 or more" in refused.stderr, refused.stderr
        assert "None" not in refused.stderr
    given = invoke("apsp", "--rmat", "3", "--memory-limit", "1.5GiB", "--device", "cpu")
    assert given.exit_code == 0


@pytest.mark.parametrize("ids", [[5], [1, 2, 3, 4], [[1, 2, 3]], np.array([0.5, 1, 2]), "abc", ["a", "b", None], 7])
def test_ids_are_one_per_vertex(ids):
    with pytest.raises(mgraph.InputError, match="ids"):
        mgraph.Graph.from_edges([0, 1], [1, 2], ids=ids)


def test_ids_are_kept_as_int64():
    for ids in ([10, 20, 30], np.array([10, 20, 30], np.uint8), range(10, 40, 10)):
        kept = mgraph.Graph.from_edges([0, 1], [1, 2], ids=ids).ids
        assert kept.dtype == np.int64 and kept.tolist() == [10, 20, 30]
    assert mgraph.Graph.from_edges([], [], ids=[]).ids.shape == (0,)


def test_advised_types_of_distances_exist():
    """Before, 'auto' advised int16, and int16 advised 'auto'."""
    for dtype in ("auto", "int16", "int8", "x", object):
        with pytest.raises(mgraph.InputError, match=r"^dtype must be float32, float64 or int32, got "):
            mgraph.sssp(GRAPH, 0, dtype=dtype, device="cpu")
    for dtype in ("float32", "float64", "int32", ">f4", ">f8", ">i4"):
        assert mgraph.sssp(GRAPH, 0, dtype=dtype, device="cpu").distances[2] == 7


class Deceptive(int):
    """An integer that compares as if it were in every range."""

    def __lt__(self, other):
        return False

    __gt__ = __lt__


def test_integers_are_compared_by_their_values():
    with pytest.raises(mgraph.InputError, match=r"source must be an integer in \[0, 3\)"):
        mgraph.bfs(GRAPH, Deceptive(10**9), device="cpu")


#: More elements than any memory holds, of arrays and ranges that take few bytes themselves.
LONG = 1 << 40


@pytest.mark.parametrize(
    "values",
    [
        np.broadcast_to(np.int64(1), LONG),
        np.broadcast_to(np.int64(-1), LONG),
        np.broadcast_to(np.float64(0.5), LONG),
        range(LONG),
        range(1 << 70),
    ],
    ids=["vertices", "negative", "fractions", "a range", "a range beyond any length"],
)
@pytest.mark.parametrize(
    "call",
    [
        lambda values: mgraph.bfs(GRAPH, sources=values),
        lambda values: mgraph.bfs_many(GRAPH, values),
        lambda values: mgraph.sssp(GRAPH, sources=values),
        lambda values: mgraph.distances(GRAPH, values),
        lambda values: mgraph.distances(GRAPH, [0], values),
        lambda values: GRAPH.vertices_of(values),
    ],
    ids=["bfs", "bfs_many", "sssp", "sources", "targets", "vertices_of"],
)
def test_more_vertices_than_fit_memory_are_refused_before_they_are_read(call, values):
    with pytest.raises(mgraph.MemoryLimitError, match=r"a list of [\d,]+ (sources|targets|ids) needs"):
        call(values)


def test_more_edges_than_fit_memory_are_refused_before_they_are_read():
    ends = np.broadcast_to(np.int64(1), LONG)
    with pytest.raises(mgraph.MemoryLimitError, match="sorting 1,099,511,627,776 edges needs"):
        mgraph.Graph.from_edges(ends, ends)


@pytest.mark.parametrize("writable", [True, False])
def test_distances_are_written_to_arrays_that_can_be(writable):
    rows = np.zeros((1, GRAPH.n), np.int32)
    rows.flags.writeable = writable
    if writable:
        assert mgraph.distances(GRAPH, [0], out=rows, device="cpu").distances is rows
    else:
        with pytest.raises(mgraph.InputError, match="out is read-only: give an array that can be written to"):
            mgraph.distances(GRAPH, [0], out=rows, device="cpu")


@pytest.mark.parametrize("values", [np.ma.array([0, 1], mask=[False, True]), np.ma.array([0, 9], mask=[False, True])])
def test_masked_vertices_and_ids(values):
    """What lies under a mask is no vertex."""
    for call in (mgraph.distances, mgraph.bfs_many, mgraph.betweenness):
        with pytest.raises(mgraph.InputError, match="sources must be an array without masked elements"):
            call(GRAPH, sources=values, device="cpu")
    with pytest.raises(mgraph.InputError, match="ids must be an array without masked elements"):
        mgraph.Graph.from_edges([0], [1], ids=values)
    whole = np.ma.array([0, 1], mask=False)
    assert mgraph.distances(GRAPH, whole, device="cpu").distances.tolist() == [[0, 3, 7], [2**31 - 1, 0, 4]]
