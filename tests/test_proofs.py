"""Every array and fact of every result is proved by a rule, or named as not proved: each element is changed in turn.

What is tested is derived from what the results declare: a new array or fact fails until it is in ``PROOFS``, and until
a case here has it.
"""

import dataclasses
import inspect
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import mgraph
from mgraph import DistributedGraph, Graph, VerificationError
from mgraph.algorithms.registry import ALGORITHMS
from mgraph.results import Result
from tests.support.calls import BY_CALL, of_a_graph
from tests.support.clusters import CLUSTER_WARNINGS, cluster
from tests.support.devices import poison
from tests.support.formats import result_of

pytestmark = CLUSTER_WARNINGS

#: Where a result is solved and verified.
PLACES = ["cpu", "workers", pytest.param("cuda", marks=pytest.mark.gpu)]

#: Rules that may be broken at any vertex to which a path leads from the one that was changed.
FAR = {"cycle", "intermediate", "connected", "lightest"}

#: How many elements of an array are changed on workers, and to how many values each.
MOST = 3

#: The fields of every result, which say how it was computed.
COMMON = {"plan", "timings"}


@pytest.fixture(scope="module", params=PLACES)
def placed(request):
    """A function that returns a graph where it is to be solved, and the arguments that say so."""
    if request.param != "workers":
        if request.param == "cuda":
            poison()
        yield lambda graph: (graph, {"device": request.param})
        return
    with cluster(2, processes=False) as client:
        graphs = []

        def on_workers(graph):
            graphs.append(DistributedGraph.from_graph(graph, client, device="cpu"))
            return graphs[-1], {}

        yield on_workers
        for graph in graphs:
            graph.close()


def lines(dtype=np.int32):
    """Return a tree with a triangle, an edge beside it and a vertex alone: one shortest path for each pair."""
    edges = [(0, 1, 3), (1, 2, 5), (2, 3, 2), (3, 4, 7), (2, 5, 4), (5, 6, 2), (5, 7, 3), (6, 7, 4), (8, 9, 6)]
    src, dst, weights = np.array(edges).T
    weights = weights.astype(dtype) / 3 if np.dtype(dtype).kind == "f" else weights
    return Graph.from_edges(src, dst, weights.astype(dtype), n=11, directed=False)


def integers(array, place, n):
    """Return numbers that an element is not: vertices, the next ones, and those beyond all vertices."""
    info, right = np.iinfo(array.dtype), int(array[place])
    numbers = {right + 1, right - 1, right ^ 1, 0, n // 2, n - 1, n, -1, -9999, info.max, info.min}
    return [number for number in sorted(numbers) if info.min <= number <= info.max and number != right]


def floats(array, place, n):
    right = array[place]
    numbers = [right + 1, right - 1, right * 2, right / 2, 0.0, np.inf, -np.inf, np.nan]
    return [number for number in numbers if not (number == right or (np.isnan(number) and np.isnan(right)))]


@contextmanager
def changed(result, name):
    """Yield a copy of a result with an array or a fact of its own, and its elements: a NumPy array that can be changed.

    What is no array is made anew from the elements by the function that is yielded, too.
    """
    found = getattr(result, name)
    if hasattr(found, "indptr"):
        copy = found.copy()
        yield lambda: dataclasses.replace(result, **{name: copy}), copy.data
        return
    found = found.to_numpy() if hasattr(found, "to_numpy") else found
    array = np.array(found.get() if hasattr(found, "get") else found)
    make = {int: int, tuple: lambda array: tuple(array.tolist())}.get(type(found), lambda array: array)
    yield lambda: dataclasses.replace(result, **{name: make(array)}), array


def some(values, most):
    """Return up to `most` values, evenly spaced, the first and the last included; None is all."""
    places = range(len(values)) if most is None else np.linspace(0, len(values) - 1, most).astype(int)
    return [values[i] for i in sorted(set(places))]


def fields(kind):
    """Return the names of the arrays and facts of a result that are its own."""
    own = {field.name for field in dataclasses.fields(kind) if not field.name.startswith("_")}
    return own - COMMON


def concrete(kind=Result):
    for each in kind.__subclasses__():
        yield from concrete(each)
        if each.__module__.startswith("mgraph.algorithms"):
            yield each


KINDS = sorted(set(concrete()), key=lambda kind: kind.__name__)


def small(graph):
    """Return two graphs of a batch: a path of three vertices and an edge, of the lengths of another graph's edges."""
    lengths = graph.coo().weights if isinstance(graph, Graph) else np.array([3, 5, 7], np.int32)
    edge = Graph.from_edges([0], [1], lengths[2:3], directed=False)
    return [Graph.from_edges([0, 1], [1, 2], lengths[:2], directed=False), edge]


def scaled(result):
    """Return the same numbers of paths with exponents, as if some exceeded float64."""
    counts, exponents = np.frexp(result.counts)
    return dataclasses.replace(result, counts=counts, exponents=exponents)


#: A list of as many elements as there are vertices, and an element alone.
SUCCESSORS = np.array([3, 7, 0, 1, 5, 10, 4, 7, 2, 9, 8])

#: Calls by the result's name and what they return, on a graph and with arguments that say where to run.
CASES = {
    **{result_of(ALGORITHMS[BY_CALL[call.__name__]]).__name__: call for call in of_a_graph()},
    "BfsResult": lambda graph, **where: mgraph.bfs(graph, 0, **where),
    "BfsResult, predecessors": lambda graph, **where: mgraph.bfs(graph, sources=[0, 8], predecessors=True, **where),
    "BfsResult, limit": lambda graph, **where: mgraph.bfs(graph, 0, limit=3, predecessors="any", **where),
    "BfsManyResult": lambda graph, **where: mgraph.bfs_many(graph, [3, 0, 8], predecessors=True, **where),
    "SsspResult": lambda graph, **where: mgraph.sssp(graph, 0, **where),
    "SsspResult, predecessors": lambda graph, **where: mgraph.sssp(graph, sources=[0, 7], predecessors=True, **where),
    "ApspResult, predecessors": lambda graph, **where: mgraph.apsp(graph, predecessors=True, **where),
    "ApspResult, intermediate": lambda graph, **where: mgraph.apsp(graph, intermediate=True, **where),
    "DistancesResult": lambda graph, **where: mgraph.distances(graph, [0, 9], predecessors=True, **where),
    "DistancesResult, targets": lambda graph, **where: mgraph.distances(
        graph, [4, 0], [7, 1, 9, 4, 7], predecessors=True, **where
    ),
    "DistancesResult, nearest": lambda graph, **where: mgraph.distances(
        graph, [4, 8], nearest=3, predecessors=True, **where
    ),
    "DistancesResult, measures": lambda graph, **where: mgraph.distances(
        graph,
        [4, 8],
        reduce=[
            "eccentricity",
            "mean",
            "out_closeness",
            "out_harmonic",
            "reached",
            ("within", [4, 9]),
            ("histogram", [0, 4, 9]),
        ],
        **where,
    ),
    "DistancesResult, closeness": lambda graph, **where: mgraph.distances(
        graph, [4, 8], reduce=["closeness", "harmonic"], **where
    ),
    "DistancesResult, sparse": lambda graph, **where: mgraph.distances(graph, [4, 8], limit=9, sparse=True, **where),
    "ClosureResult, irreflexive": lambda graph, **where: mgraph.transitive_closure(graph, reflexive=False, **where),
    "ApspBatchResult": lambda graph, **where: mgraph.apsp_batch(small(graph), predecessors=True, **where),
    "BetweennessResult": lambda graph, **where: mgraph.betweenness(graph, [0, 4, 9], **where),
    "EdgeBetweennessResult": lambda graph, **where: mgraph.betweenness(graph, [8, 4], edges=True, **where),
    "PathCountsResult": lambda graph, **where: mgraph.path_counts(graph, [4, 0, 9], **where),
    "PathCountsResult, limit": lambda graph, **where: mgraph.path_counts(graph, [0], limit=3, **where),
    "PathCountsResult, hops": lambda graph, **where: mgraph.path_counts(graph, [7], weight=False, **where),
    "PathCountsResult, scaled": lambda graph, **where: scaled(mgraph.path_counts(graph, [0, 8], **where)),
    "DistanceHistogram": lambda graph, **where: mgraph.distance_histogram(graph, **where),
    "ListRankResult": lambda graph, **where: mgraph.list_rank(SUCCESSORS, **where),
}


def rows(kind):
    """Return the arguments by which all rows are verified."""
    return {"rows": None} if "rows" in kind.verify.__annotations__ else {}


def near(graph, result, name, place, array, right):
    """Return the vertices at which a rule may be broken by a changed element."""
    *_, last = place
    if name in ("distances", "predecessors") and getattr(result, "targets", None) is not None:
        last = int(result.targets[last])
    elif name == "predecessors" and isinstance(result, mgraph.DistancesResult) and result.nearest is not None:
        last = int(result.nearest[place])
    if kind_of(result, name) == "fact":
        return {None, right}
    if isinstance(result, mgraph.ApspBatchResult):
        return {last} if name == "lengths" else {0, 1, 2}
    if isinstance(result, mgraph.ClosureResult):
        return {None, *(bit for bit in range(32) if (int(array[place]) ^ int(right)) >> bit & 1)}
    if isinstance(result, mgraph.SpanningForestResult):
        return {last, last + 1}
    if isinstance(result, mgraph.ListRankResult):
        return {last, *np.flatnonzero(SUCCESSORS == last).tolist()}
    starts = {int(start) for start in getattr(result, "sources", ())}
    src, dst, _ = graph.coo()
    users = np.argwhere(array == last)[:, -1].tolist()
    return {last, *dst[src == last].tolist(), *users, *starts}


def kind_of(result, name):
    return "fact" if name not in result.arrays and not hasattr(getattr(result, name), "indptr") else "array"


@pytest.mark.parametrize("kind", KINDS)
def test_each_array_and_fact_has_rules_or_is_named_as_not_proved(kind):
    assert set(kind.PROOFS) == fields(kind)
    own = {*kind.ARRAYS, *kind.FACTS} & fields(kind)
    assert all(kind.PROOFS[name] for name in own)


def test_each_rule_is_tested():
    """Of each array and fact with rules, a case changes the elements."""
    shown = {kind.__name__: set() for kind in KINDS}
    for name, call in CASES.items():
        result = call(lines(), device="cpu")
        assert type(result).__name__ == name.split(",")[0]
        shown[type(result).__name__] |= {name for name in fields(type(result)) if getattr(result, name) is not None}
    for kind in KINDS:
        assert shown[kind.__name__] == set(kind.PROOFS), kind


@pytest.mark.parametrize("dtype", ["int32", "float64"])
@pytest.mark.parametrize("name", CASES)
def test_a_changed_element_is_refused(name, dtype, placed):
    graph = lines(np.dtype(dtype))
    lying, where = placed(graph)
    most = None if where else MOST
    result = CASES[name](lying, **where)
    every = rows(type(result))
    inputs = {mgraph.ListRankResult: SUCCESSORS, mgraph.ApspBatchResult: small(lying)}
    solved = inputs.get(type(result), lying)
    result.verify(solved, **every)
    tried = 0
    for attribute, rules in type(result).PROOFS.items():
        if not rules or getattr(result, attribute) is None:
            continue
        with changed(result, attribute) as (remade, array):
            for place in some(list(np.ndindex(array.shape)), most):
                right = array[place]
                others = (floats if array.dtype.kind == "f" else integers)(array, place, graph.n)
                if attribute == "intermediate" and dtype == "float64":  # in floats it need not be the highest one
                    others = [other for other in others if not 0 <= other < graph.n]
                for wrong in some(others, most):
                    array[place] = wrong
                    allowed = near(graph, result, attribute, place or (0,), array, right)
                    with pytest.raises(VerificationError) as caught:
                        remade().verify(solved, **every)
                        pytest.fail(f"{attribute}{place} is {wrong}, not {right}, and nothing is said")
                    assert caught.value.rule in rules, (attribute, place, right, wrong)
                    assert caught.value.vertex in allowed or caught.value.rule in FAR, (
                        attribute,
                        place,
                        right,
                        wrong,
                        str(caught.value),
                    )
                    tried += 1
                array[place] = right
            remade().verify(solved, **every)
    assert tried


@pytest.mark.parametrize("name", CASES)
def test_an_array_of_another_shape_or_type_is_refused(name):
    graph = lines()
    result = CASES[name](graph, device="cpu")
    inputs = {mgraph.ListRankResult: SUCCESSORS, mgraph.ApspBatchResult: small(graph)}
    given = inputs.get(type(result), graph)
    sparse = hasattr(getattr(result, "distances", None), "indptr")
    arrays = {"distances": result.distances} if sparse else result.arrays
    for attribute, array in arrays.items():
        if sparse:
            others = [array[:-1], array[:, :-1], array.astype(np.complex128)]
        else:
            others = [array[:-1], np.concatenate([array, array[:1]]), array[..., None], array[None]]
            others += [np.zeros(array.shape, kind) for kind in (np.complex128, np.uint64, np.float16, bool, object)]
        for other in others:
            with pytest.raises((VerificationError, mgraph.InputError)) as caught:
                dataclasses.replace(result, **{attribute: other}).verify(given)
                pytest.fail(f"{attribute} of {other.dtype} and shape {other.shape}: nothing is said")
            assert getattr(caught.value, "rule", "shape") in ("shape", attribute), (attribute, other.dtype, other.shape)


def test_sources_of_negative_weights_are_proved():
    """A source is at distance 0, or nearer by way of another, but not farther and not unreached."""
    graph = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], [2, -5, 1, 2], n=6)
    result = mgraph.sssp(graph, sources=[0, 2, 4, 5], device="cpu")
    assert result.distances.tolist() == [0, 2, -3, -2, 0, 0]
    result.verify()
    for vertex, wrong in ((0, 2**31 - 1), (2, 0), (2, 5), (2, -4), (4, 1), (4, -1), (5, 3), (5, 2**31 - 1)):
        changed = result.distances.copy()
        changed[vertex] = wrong
        with pytest.raises(VerificationError) as caught:
            dataclasses.replace(result, distances=changed).verify(graph)
        assert caught.value.rule in ("source", "edge", "tight", "path"), (vertex, wrong)
    nothing = np.full(6, 2**31 - 1, np.int32)
    with pytest.raises(VerificationError, match=r"vertex 0 breaks the rule .source..*it has distances 2147483647"):
        dataclasses.replace(result, distances=nothing, nearest=np.full(6, -9999, np.int32)).verify(graph)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_right_results_of_weights_that_cancel_pass(dtype, placed):
    """Sums of large numbers of both signs leave errors that are large beside a distance."""
    rng = np.random.default_rng(3)
    for n in (5, 30, 30, 100):
        ends = np.sort(rng.integers(0, n, (2, 4 * n)), axis=0)
        src, dst = ends[:, ends[0] < ends[1]]
        weights = rng.choice([1e6, -1e6, 1, 0.1, -0.3, 1e-3], len(src)).astype(dtype)
        graph = Graph.from_edges(src, dst, weights, n=n)
        lying, where = placed(graph)
        for method in ("blocked", "johnson", "squaring"):
            mgraph.apsp(lying, method=method, **where).verify(lying)
        mgraph.apsp(lying, predecessors=True, **where).verify(lying)
        mgraph.apsp(lying, intermediate=True, **where).verify(lying)
        for method in ("johnson", "hierarchy"):
            found = mgraph.distances(lying, [0, 1], method=method, predecessors=True, **where)
            found.verify(lying)
            other = np.array(found.distances.to_numpy() if hasattr(found.distances, "to_numpy") else found.distances)
            other[1, int(np.isfinite(other[1]).nonzero()[0][-1])] += 3e4
            with pytest.raises(VerificationError):
                dataclasses.replace(found, distances=other).verify(lying)
        if where.get("device") == "cpu":
            mgraph.apsp_batch([graph, graph], predecessors=True, device="cpu").verify([graph, graph])


def test_paths_of_intermediate_vertices_have_an_end():
    """Of floats, parts of a path may have greater intermediate vertices; a path that leads into itself is refused."""
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], np.array([1, 1e-9, 1], np.float32), directed=False)
    result = mgraph.apsp(graph, intermediate=True, device="cpu")
    result.verify(graph, rows=None)
    result.intermediate[0, 3], result.intermediate[0, 1] = 1, 2  # as long, but for 1e-9: 0 to 1 by 2, 0 to 2 by 1
    with pytest.raises(VerificationError) as caught:
        result.verify(graph, rows=None)
    assert caught.value.rule == "intermediate"
    with pytest.raises(mgraph.RoundingError):
        result.path(0, 3)


@pytest.mark.parametrize("dtype", [None, "int32", "int64", "float32", "float64"])
def test_forests_of_many_equal_weights_are_right_and_others_refused(dtype):
    rng = np.random.default_rng(7)
    for n, m, directed in ((2, 1, False), (30, 20, True), (40, 200, False), (300, 2000, True)):
        src, dst = rng.integers(0, n, (2, m))
        weights = None if dtype is None else (rng.integers(-2, 3, m) / 2).astype(dtype)
        graph = Graph.from_edges(src, dst, weights, n=n, directed=directed)
        result = mgraph.minimum_spanning_forest(graph, device="cpu")
        result.verify()
        if not len(result.src):
            continue
        fewer = {name: array[1:] for name, array in result.arrays.items()}
        with pytest.raises(VerificationError) as caught:
            dataclasses.replace(result, **fewer).verify(graph)
        assert caught.value.rule == "connected"
    no_edge = mgraph.minimum_spanning_forest(Graph.from_edges([], [], n=3), device="cpu")
    no_edge.verify(Graph.from_edges([1], [1], n=3))
    with pytest.raises(VerificationError) as caught:
        no_edge.verify(Graph.from_edges([2], [1], n=3))
    assert (caught.value.rule, caught.value.vertex) == ("connected", 1)


def test_another_forest_as_light_is_refused():
    """Of equal weights, the edges with the lesser ends are the answer."""
    square = Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 3], [1, 1, 1, 1], directed=False)
    result = mgraph.minimum_spanning_forest(square, device="cpu")
    other = dataclasses.replace(result, src=np.array([0, 1, 2], np.int32), dst=np.array([1, 2, 3], np.int32))
    with pytest.raises(VerificationError) as caught:
        other.verify(square)
    assert (caught.value.rule, caught.value.vertex) == ("lightest", 0)


def test_right_batches_of_all_forms_pass(placed):
    _, where = placed(lines())
    rng = np.random.default_rng(5)
    dense = rng.integers(1, 9, (3, 6, 6)).astype(np.float32)
    dense[rng.random(dense.shape) < 0.5] = np.inf
    signed = np.where(np.isfinite(dense) & (dense > 7), dense, np.triu(dense - 5, 1)).astype(np.float32)
    signed[:, *np.tril_indices(6, -1)] = np.inf
    lengths = [6, 0, 4]
    edges, batch = rng.integers(0, 5, (2, 9)), np.array([0, 0, 0, 0, 0, 2, 2])
    for given in (
        {"graphs": np.isfinite(dense), "lengths": lengths},
        {"graphs": dense},
        {"graphs": dense, "lengths": lengths},
        {"graphs": signed, "lengths": lengths},
        {"edge_index": edges, "batch": batch},
        {"edge_index": edges, "batch": batch, "weights": rng.integers(0, 3, 9)},
    ):
        result = mgraph.apsp_batch(**given, predecessors=True, **where)
        result.verify(**given, rows=None)
        result.verify(**given)
        assert np.isfinite(np.asarray(result.distances, float)).any()
    mgraph.apsp_batch(edge_index=np.zeros((2, 0), int), batch=[], **where).verify(
        edge_index=np.zeros((2, 0), int), batch=[]
    )


def test_right_results_on_random_graphs_pass(placed):
    """Ties, zeros, loops, several edges between two vertices, and rounding: what is right is accepted."""
    rng = np.random.default_rng(8)
    for directed, dtype in ((True, np.int32), (False, np.float32), (True, np.float64)):
        src, dst = rng.integers(0, 40, (2, 120))
        weights = (rng.integers(0, 4, 120) * (1 if dtype == np.int32 else 0.1)).astype(dtype)
        graph = Graph.from_edges(src, dst, weights, n=40, directed=directed)
        lying, where = placed(graph)
        mgraph.apsp(lying, predecessors=True, **where).verify(lying)
        mgraph.apsp(lying, intermediate=True, **where).verify(lying)
        for method in ("blocked", "sssp", "johnson"):
            mgraph.apsp(lying, predecessors=True, method=method, **where).verify(lying)
        mgraph.distances(lying, [3, 9], predecessors=True, **where).verify(lying)
        mgraph.distances(lying, [3, 9], nearest=5, predecessors=True, limit=2, **where).verify(lying)
        mgraph.distances(lying, [3, 9], [1, 4, 1], predecessors=True, **where).verify(lying)
        mgraph.transitive_closure(lying, reflexive=False, **where).verify(lying, rows=None)
        mgraph.minimum_spanning_forest(lying, **where).verify(lying)


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_matrices_prove_predecessors_and_intermediate_vertices(device):
    """A dense matrix is looked at itself, where it lies."""
    rng = np.random.default_rng(9)
    matrix = rng.integers(0, 30, (40, 40)).astype(np.int32)
    matrix[rng.random(matrix.shape) < 0.8] = np.iinfo(np.int32).max
    graph = Graph.from_distances(matrix)
    assert graph.dense is not None
    for name, wrong, rule in (("predecessors", 40, "tree"), ("intermediate", -1, "intermediate")):
        result = mgraph.apsp(graph, **{name: True}, device=device)
        result.verify(graph, rows=None)
        reached = np.isfinite(np.where(matrix == np.iinfo(np.int32).max, np.inf, 0))
        i, j = np.argwhere(reached & ~np.eye(40, dtype=bool))[7]
        array = np.array(getattr(result, name))
        array[i, j] = wrong
        with pytest.raises(VerificationError) as caught:
            dataclasses.replace(result, **{name: array}).verify(graph, rows=None)
        assert (caught.value.rule, caught.value.vertex) == (rule, j)


def test_paths_with_edges_that_rounding_swallows():
    """Two paths to vertices as far away end in each other: each is right, but together they are no tree."""
    src, dst = [2, 0, 6, 0, 1, 0, 6, 3, 3, 6, 5, 5, 0, 4], [1, 4, 3, 0, 6, 6, 5, 4, 3, 4, 5, 4, 6, 1]
    powers = np.array([5, -2, -3, 7, -8, -8, -8, 0, 1, 1, 7, -5, 6, -3])
    graph = mgraph.Graph.from_edges(src, dst, weights=(10.0**powers).astype(np.float32), n=7, directed=False)
    found = mgraph.apsp(graph, intermediate=True, device="cpu")
    found.verify(graph, rows=None)
    assert found.path(2, 4)[-1] == 4
    found.intermediate[2, 4] = 2
    with pytest.raises(VerificationError, match="'intermediate'"):
        found.verify(graph, rows=None)


def test_the_documents_have_the_rules_of_all_results():
    calls = {}
    for name in mgraph.__all__:
        call = getattr(mgraph, name)
        if inspect.isfunction(call):
            calls[str(inspect.signature(call).return_annotation).strip("\"'")] = name
    # A result that is derived from another one is of the same call.
    called = {kind: next(calls[each.__name__] for each in kind.__mro__ if each.__name__ in calls) for kind in KINDS}
    expected = {
        f"| `{called[kind]}` | `{name}` | {', '.join(f'`{rule}`' for rule in rules) or 'not proved'} |"
        for kind in KINDS
        for name, rules in kind.PROOFS.items()
    }
    text = (Path(__file__).parents[1] / "docs" / "calls.md").read_text()
    section = text[text.index("| result | array or fact | rules |") :].split("\n\n")[0]
    assert set(section.splitlines()[2:]) == expected


def test_wrong_results_of_further_kinds_are_refused():
    """An unsigned infinity, stored zeros, integers as ids, exact zeros and distances, arrays that are lost."""
    unsigned = np.array([[0, 255], [3, 0]], np.uint8)
    result = mgraph.apsp(unsigned, device="cpu")
    result.verify(unsigned)
    result.distances[0, 1] = 255
    with pytest.raises(VerificationError):
        result.verify(unsigned)

    graph = Graph.from_edges([0, 1, 3], [1, 2, 4], [5, 0, 2], n=6)
    sparse = mgraph.distances(graph, [0, 1], sparse=True, device="cpu")
    fewer = sparse.distances.copy()
    fewer.eliminate_zeros()
    with pytest.raises(VerificationError):
        dataclasses.replace(sparse, distances=fewer).verify(graph)

    for last in (0, -1, 9):  # after a proof, whose matrix SciPy remembers as one
        again = mgraph.distances(graph, [0, 1], sparse=True, device="cpu")
        again.verify(graph)
        again.distances.indptr[2] = last
        with pytest.raises(VerificationError, match="shape"):
            again.verify(graph)

    named = Graph.from_edges([0, 1, 2], [1, 2, 3], [5, 1, 2], ids=[10, 1, 0, 7])
    by_id, by_number = mgraph.sssp(named, 10, ids=True, device="cpu"), mgraph.sssp(named, 0, ids=False, device="cpu")
    for result, other in ((by_id, (0,)), (by_number, (10,)), (by_id, None), (by_id, ((10,),))):
        with pytest.raises(VerificationError) as caught:
            dataclasses.replace(result, sources=other).verify(named)
        assert caught.value.rule == "source"

    cancelling = Graph.from_edges([0, 1, 3], [1, 2, 4], np.array([1e6, -1, 2], np.float32), n=5)
    result = mgraph.apsp(cancelling, device="cpu")
    result.distances[3, 3] = -7
    with pytest.raises(VerificationError):
        result.verify(cancelling)

    one, other = (Graph.from_edges([0, 1], [1, 2], np.array(each, np.float32)) for each in ([1e6, -1], [1, 2]))
    batch = mgraph.apsp_batch([one, other], predecessors=True, device="cpu")
    batch.verify([one, other])
    batch.distances[1, 0] = [0, -4, 3]
    with pytest.raises(VerificationError, match="graph 1"):
        batch.verify([one, other])

    long = Graph.from_edges([0, 1], [1, 2], [1e10, 1e10])
    result = mgraph.distances(long, [0], [2], device="cpu")
    result.distances[0, 0] += 15
    with pytest.raises(VerificationError, match="distances of source 0 at place 0 is"):
        result.verify(long)

    eccentric = mgraph.distances(long, [0], reduce="eccentricity", device="cpu")
    for wrong in (
        dataclasses.replace(eccentric, mean=np.array([7.0])),
        dataclasses.replace(eccentric, eccentricity=None),
        dataclasses.replace(mgraph.distances(long, [0], device="cpu"), targets=np.array([2, 1, 0])),
        dataclasses.replace(mgraph.distances(long, [0], [2], device="cpu"), targets=None),
    ):
        with pytest.raises(VerificationError):
            wrong.verify(long)


def test_right_results_of_further_kinds_pass():
    """Edges of length 0 in a hierarchy, arrays of another type, sums beyond the type, short edges that vanish."""
    edges = [(6, 2, 0.2), (2, 4, 0.2), (0, 9, 0.0), (8, 0, 0.1), (2, 8, 0.4), (5, 3, 0.2), (3, 9, 0.0)]
    graph = Graph.from_edges(*map(list, zip(*edges, strict=True)), n=10)
    mgraph.distances(graph, method="hierarchy", device="cpu").verify(graph)

    apart = Graph.from_edges([0], [1], [3], n=4)
    for dtype in (np.float64, np.dtype(">f8"), np.int32):
        mgraph.distances(apart, [0, 3], out=np.empty((2, 4), dtype), device="cpu").verify(apart)
        mgraph.distances(apart, [0, 3], [0, 1, 2], out=np.empty((2, 3), dtype), device="cpu").verify(apart)

    for dtype, most in ((np.float32, 3e38), (np.float64, 1.6e308)):
        beyond = Graph.from_edges([0, 1], [1, 2], np.array([most, most], dtype))
        mgraph.apsp(beyond, intermediate=True, device="cpu").verify(beyond)
        mgraph.distances(beyond, reduce="mean", device="cpu").verify(beyond)
        mgraph.apsp(beyond, method="johnson", predecessors=True, device="cpu").verify(beyond)

    src, dst, weights = zip(
        *[(1, 4, 0.1), (2, 3, 1e-30), (2, 6, 1), (3, 5, 1e-9), (2, 1, 0.1), (0, 4, 0.1)], strict=True
    )
    vanishing = Graph.from_edges(src, dst, np.array(weights, np.float32), n=7, directed=False)
    result = mgraph.apsp(vanishing, intermediate=True, method="blocked", device="cpu")
    result.verify(vanishing, rows=None)
    for i, j in np.ndindex(7, 7):
        path = result.path(i, j)
        assert len(path) == len(set(path)) <= 7 and path[0] == i and path[-1] == j


def test_predecessors_of_a_hierarchy_where_short_edges_vanish():
    """A path to a far vertex may pass others by longer ways than their own, which are not to be replaced by it."""
    edges = [(0, 9, 1e-8), (1, 4, 1), (7, 10, 0), (11, 4, 1 / 3), (4, 1, 0), (3, 11, 1e20), (0, 10, 1 / 3), (8, 5, 1)]
    edges += [(10, 3, 0), (9, 10, 0.1), (1, 9, 1), (1, 5, 0.1), (2, 3, 1e20)]
    graph = Graph.from_edges(*map(list, zip(*edges, strict=True)), n=12)
    result = mgraph.distances(graph, method="hierarchy", predecessors=True, device="cpu")
    result.verify(graph, rows=None)
    assert result.path(0, 10) == [0, 9, 10]
