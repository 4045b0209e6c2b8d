"""Verifiers: right results pass, wrong ones do not."""

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mgraph
import mgraph.cluster
from mgraph import device as devices
from mgraph.algorithms import bellman
from mgraph.algorithms.apsp import verify as apsp
from mgraph.algorithms.registry import ALGORITHMS
from mgraph.errors import WrongResultError
from mgraph.generate import grid, linked_list, random_matrix, rmat, weighted
from mgraph_bench import inputs
from mgraph_bench.case import Bench
from mgraph_bench.suite import Case


def check(algorithm, *given, **options):
    return ALGORITHMS[algorithm].check(*given, **options)


@functools.cache
def pairs(dense):
    """Return a graph or a matrix of 512 vertices, and all its pairs."""
    data = random_matrix(512, low=1, high=9) if dense else weighted(grid(16, 32), (1, 9), "float32")
    return data, mgraph.apsp(data, device="cpu").distances


class TestChecks:
    """Each verifier accepts the right result, and refuses one that differs in one place."""

    @pytest.mark.parametrize("change", [1, -1])
    def test_levels(self, change):
        graph = rmat(8)
        distances = mgraph.bfs(graph, 5, device="cpu").distances.copy()
        assert check("bfs", graph, {"distances": distances}, 5) == "Bellman's equations and paths"
        farthest = int(distances.argmax())
        distances[farthest] += change
        with pytest.raises(WrongResultError, match=f"vertex {farthest}|from vertex 5"):
            check("bfs", graph, {"distances": distances}, 5)

    def test_a_vertex_left_unreached_is_found(self):
        graph = rmat(8)
        distances = mgraph.bfs(graph, 5, device="cpu").distances.copy()
        distances[int(distances.argmax())] = -1
        with pytest.raises(WrongResultError):
            check("bfs", graph, {"distances": distances}, 5)

    @pytest.mark.parametrize("dtype", ["float32", "int32"])
    def test_shortest_paths(self, dtype):
        graph = weighted(rmat(8), (1, 20), dtype)
        distances = mgraph.sssp(graph, 3, device="cpu").distances.copy()
        check("sssp", graph, {"distances": distances}, 3)
        reached = np.flatnonzero((distances > 0) & (distances < 1000))
        distances[reached[-1]] += 1
        with pytest.raises(WrongResultError):
            check("sssp", graph, {"distances": distances}, 3)

    @pytest.mark.parametrize("at_a_time", [1 << 26, 100])
    def test_all_pairs_of_a_matrix(self, monkeypatch, at_a_time):
        monkeypatch.setattr(bellman, "AT_A_TIME", at_a_time)
        matrix = random_matrix(40, density=0.3, seed=3)
        distances = mgraph.apsp(matrix, device="cpu").distances.copy()
        check("apsp", matrix, {"distances": distances})
        distances[0, 7] *= np.float32(0.99)
        with pytest.raises(WrongResultError, match="from vertex 0"):
            check("apsp", matrix, {"distances": distances})

    @pytest.mark.parametrize("at_a_time", [1 << 26, 50])
    def test_all_pairs_of_a_graph(self, monkeypatch, at_a_time):
        monkeypatch.setattr(bellman, "AT_A_TIME", at_a_time)
        graph = weighted(rmat(6), (1, 9), "float32")
        distances = mgraph.apsp(graph, device="cpu").distances.copy()
        check("apsp", graph, {"distances": distances})
        there = np.isfinite(distances[-1])
        there[-1] = False
        distances[-1, there.argmax() if there.any() else 0] = 0
        with pytest.raises(WrongResultError):
            check("apsp", graph, {"distances": distances})

    def test_components(self):
        graph = rmat(7)
        count, labels = mgraph.connected_components(graph, device="cpu")
        check("components", graph, {"labels": labels, "count": count})
        everything = np.zeros_like(labels)
        with pytest.raises(WrongResultError, match="SciPy counts"):
            check("components", graph, {"labels": everything, "count": 1})
        other = labels.copy()
        other[int(graph.coo().src[0])] = graph.n - 1
        with pytest.raises(WrongResultError):
            check("components", graph, {"labels": other, "count": count})

    @pytest.mark.parametrize("sums", [1 << 30, 1])
    def test_searches_from_many(self, monkeypatch, sums):
        monkeypatch.setattr(bellman, "SUMS", sums)
        graph, sources = rmat(6), [*range(0, 60, 2)]
        distances = mgraph.bfs_many(graph, sources, device="cpu").distances.copy()
        rows = "all" if sums > 1 else "4"
        assert (
            check("bfs_many", graph, {"distances": distances}, sources)
            == f"Bellman's equations and paths of {rows} rows"
        )
        distances[-1, 7] += 1
        with pytest.raises(WrongResultError, match="from vertex 58 the distance of vertex 7"):
            check("bfs_many", graph, {"distances": distances}, sources)

    @pytest.mark.parametrize("reflexive", [True, False])
    def test_closures(self, reflexive):
        random = np.random.default_rng(5)
        graph = mgraph.Graph.from_edges(*random.integers(0, 50, (2, 60)), n=50)
        result = mgraph.transitive_closure(graph, reflexive=reflexive, device="cpu")
        assert check("closure", graph, {"reachable": result}) == "all rows as SciPy searches"
        reachable = result.to_dense()

        class Wrong:
            def rows(self, first, last):
                return wrong[first:last]

        for place in (7, 50 * 49 + 3, 51 * 20):
            wrong = reachable.copy()
            wrong.flat[place] ^= True
            with pytest.raises(WrongResultError, match="reaches vertex"):
                check("closure", graph, {"reachable": Wrong()})

    def test_ranks(self):
        succ = linked_list(50)
        ranks = mgraph.list_rank(succ, device="cpu").ranks.copy()
        check("list_rank", succ, {"ranks": ranks})
        for wrong in (ranks + 1, np.where(ranks == 20, 21, ranks)):
            with pytest.raises(WrongResultError, match="has rank"):
                check("list_rank", succ, {"ranks": wrong})

    @given(st.integers(0, 2**32), st.integers(-(2**31), 2**31 - 1))
    @settings(deadline=None, max_examples=60)
    def test_a_wrong_value_at_any_place_is_found(self, place, value):
        graph = weighted(rmat(6), (1, 9))
        v, source = place % graph.n, int(graph.coo().src[0])
        count, labels = mgraph.connected_components(graph, device="cpu")
        succ = linked_list(graph.n)
        for algorithm, data, arrays, name in (
            ("bfs", graph, {"distances": mgraph.bfs(graph, source, device="cpu").distances}, "distances"),
            ("sssp", graph, {"distances": mgraph.sssp(graph, source, device="cpu").distances}, "distances"),
            ("components", graph, {"labels": labels, "count": count}, "labels"),
            ("list_rank", succ, {"ranks": mgraph.list_rank(succ, device="cpu").ranks}, "ranks"),
        ):
            check(algorithm, data, arrays, source)
            wrong = arrays[name].copy()
            wrong[v] = value
            if wrong[v] != arrays[name][v]:
                with pytest.raises(WrongResultError):
                    check(algorithm, data, arrays | {name: wrong}, source)

    @given(st.integers(0, 3), st.integers(0, 3), st.sampled_from([1e-3, 0.5, -3.0, np.inf]))
    @settings(deadline=None, max_examples=40)
    def test_no_wrong_tile_of_all_pairs_passes(self, i, j, more):
        for data in (random_matrix(128, low=1, high=9), weighted(grid(8, 16), (1, 9), "float32")):
            distances = mgraph.apsp(data, device="cpu").distances.copy()
            distances[32 * i : 32 * i + 32, 32 * j : 32 * j + 32] += np.float32(more)
            with pytest.raises(WrongResultError):
                check("apsp", data, {"distances": distances})

    @given(st.integers(0, 2**18 - 1), st.sampled_from([0.01, 0.5, -0.5, np.inf, np.nan]), st.booleans())
    @settings(deadline=None, max_examples=25)
    def test_no_wrong_element_of_all_pairs_passes(self, place, more, dense):
        data, distances = pairs(dense)
        wrong = distances.copy()
        wrong.flat[place] += np.float32(more)
        with pytest.raises(WrongResultError, match=f"from vertex {place // 512} "):
            check("apsp", data, {"distances": wrong})

    @pytest.mark.parametrize("dense", [False, True])
    def test_of_large_matrices_sampled_rows_and_the_diagonal_are_verified(self, monkeypatch, dense):
        data, distances = pairs(dense)
        assert "Bellman's equations and paths of all rows" in check("apsp", data, {"distances": distances})
        each = 512**2 if dense else 512 + data.m
        monkeypatch.setattr(bellman, "SUMS", 9 * each)
        monkeypatch.setattr(apsp, "TILE", 100)
        monkeypatch.setattr(apsp, "ELEMENTS", 2048)
        assert "Bellman's equations and paths of 9 rows" in check("apsp", data, {"distances": distances})
        for i in (0, 301, 511):
            wrong = distances.copy()
            wrong[i, i] = 1e-3
            with pytest.raises(WrongResultError, match=f"from vertex {i} the distance of vertex {i} is 0.001"):
                check("apsp", data, {"distances": wrong}, names=["diagonal"])
        wrong = distances.copy()
        wrong[int(np.linspace(0, 511, 9)[5]), 77] += 1
        with pytest.raises(WrongResultError, match="from vertex 319 "):
            check("apsp", data, {"distances": wrong}, names=["rows"])

    def test_a_matrix_is_verified_on_its_device(self, monkeypatch):
        class Elsewhere(type(devices.find("cpu"))):
            kind = "cuda"

            def asarray(self, array):
                return array.copy()

        random = np.random.default_rng(3)
        matrix = np.where(random.random((70, 70)) < 0.2, random.integers(1, 9, (70, 70)), np.inf).astype(np.float32)
        np.fill_diagonal(matrix, np.inf)
        rows = random.integers(0, 40, (3, 70)).astype(float)
        here, there = np.full((2, 2, 3, 70), np.inf)
        bellman.through_matrix(matrix, rows, *here)
        monkeypatch.setattr(bellman, "AT_A_TIME", 70 * 16)
        monkeypatch.setattr(devices, "of", lambda array: Elsewhere())
        bellman.through_matrix(matrix, rows, *there)
        assert np.array_equal(here, there)
        sums = rows[:, :, None] + matrix
        assert np.array_equal(here[0], sums.min(axis=1))
        sums[rows[:, :, None] >= rows[:, None, :]] = np.inf
        assert np.array_equal(here[1], sums.min(axis=1))

    def test_only_requested_checks_run(self):
        graph = rmat(5)
        count, labels = mgraph.connected_components(graph, device="cpu")
        wrong = {"labels": labels, "count": count + 1}
        assert check("components", graph, wrong, names=["labels"]) == "equal across edges"
        with pytest.raises(WrongResultError, match="SciPy counts"):
            check("components", graph, wrong, names=["count"])

    def test_labels_below_zero_are_refused(self):
        star = inputs.star(5)
        with pytest.raises(WrongResultError, match="vertex 0 has label -1"):
            check("components", star, {"labels": np.full(5, -1), "count": 1})

    @pytest.mark.parametrize("algorithm", ["bfs", "sssp"])
    def test_the_end_of_a_long_path_is_verified_as_strictly(self, algorithm):
        n = 300_000
        path = mgraph.Graph.from_edges(np.arange(n - 1), np.arange(1, n), n=n)
        distances = np.arange(n, dtype=np.int32 if algorithm == "bfs" else np.float32)
        check(algorithm, path, {"distances": distances}, 0)
        distances[-1] += 1
        with pytest.raises(WrongResultError, match="from vertex 0 the distance of vertex 299999 is 300000"):
            check(algorithm, path, {"distances": distances}, 0)

    def test_rounding_is_accepted(self):
        random = np.random.default_rng(4)
        src, dst = random.integers(0, 500, (2, 3000))
        graph = mgraph.Graph.from_edges(src, dst, random.random(3000, np.float32) * 1000, n=500)
        for dtype in ("float32", "float64"):
            distances = mgraph.sssp(graph, 0, dtype=dtype, device="cpu").distances
            check("sssp", graph, {"distances": distances}, 0)
            check("sssp", graph, {"distances": distances.astype(np.float64)}, 0)

    def test_a_label_is_the_label_of_its_own_vertex(self):
        pairs = mgraph.Graph.from_edges([1, 3], [2, 4], n=5, directed=False)
        labels = np.array([0, 1, 1, 3, 3], np.int32)
        check("components", pairs, {"labels": labels, "count": 3})
        with pytest.raises(WrongResultError, match="vertex 2 is a label, but has label 1"):
            check("components", pairs, {"labels": np.array([0, 1, 1, 2, 2], np.int32), "count": 3})

    def test_labels_of_all_pairs(self):
        matrix = random_matrix(64, density=0.3, high=90)
        for asked, name in (({"predecessors": True}, "predecessors"), ({"intermediate": True}, "intermediate")):
            found = dict(mgraph.apsp(matrix, method="blocked", device="cpu", **asked).arrays)
            check("apsp", matrix, found)
            for wrong in (np.full_like(found[name], 7), np.full_like(found[name], -9999)):
                with pytest.raises(WrongResultError):
                    check("apsp", matrix, found | {name: wrong})

    def test_predecessors_of_all_pairs_of_a_sparse_graph(self):
        graph = weighted(rmat(7), (1, 9))
        found = dict(mgraph.apsp(graph, predecessors=True, device="cpu").arrays)
        check("apsp", graph, found)
        wrong = found["predecessors"].copy()
        i, j = np.argwhere((wrong >= 0) & (found["distances"] > 9))[0]
        wrong[i, j] = i  # from which no edge is as long
        with pytest.raises(WrongResultError, match="tree edge"):
            check("apsp", graph, found | {"predecessors": wrong})

    def test_float64_is_held_to_its_own_precision(self):
        path = mgraph.Graph.from_edges([0, 1], [1, 2], [1_000_000.1, 2_000_000.2], n=3)
        right = mgraph.sssp(path, 0, dtype="float64", device="cpu").distances
        check("sssp", path, {"distances": right}, 0)
        with pytest.raises(WrongResultError):
            check("sssp", path, {"distances": right + np.array([0, 0, 0.1])}, 0)
        matrix = random_matrix(64, dtype="float64", high=90)
        wide = mgraph.apsp(matrix, device="cpu").distances
        check("apsp", matrix, {"distances": wide})
        with pytest.raises(WrongResultError):
            check("apsp", matrix, {"distances": wide.astype(np.float32).astype(np.float64)})

    def test_large_numbers_that_cancel_are_accepted(self):
        random = np.random.default_rng(3)
        shifts = random.uniform(-1000, 1000, 100)
        matrix = (random.uniform(0, 1, (100, 100)) + shifts[:, None] - shifts).astype(np.float32)
        np.fill_diagonal(matrix, 0)
        check("apsp", matrix, {"distances": mgraph.apsp(matrix, device="cpu").distances})

    def test_a_result_must_equal_the_verified_one(self):
        n = 300_000
        path = mgraph.Graph.from_edges(np.arange(n - 2), np.arange(1, n - 1), n=n, directed=False)
        shared, case = Bench(), Case("small", "components", {})
        labels = np.zeros(n, np.int32)
        labels[-1] = n - 1
        assert shared.prove(case, path, "a", {"labels": labels, "count": 2}, None).startswith("equal across")
        assert shared.prove(case, path, "b", {"labels": labels.copy(), "count": 2}, None) == "equal to a"
        for wrong in ({"labels": labels, "count": 1}, {"labels": labels - (labels > 0), "count": 2}):
            with pytest.raises(WrongResultError):
                shared.prove(case, path, "c", wrong, None)


#: An unreachable vertex in int32.
NOT = 2**31 - 1


class TestEveryDistanceNeedsAPath:
    """Vertices that explain each other's distances by edges of length zero are not accepted."""

    @pytest.mark.parametrize(
        ("edges", "right", "wrong"),
        [
            pytest.param([(0, 3, 1), (1, 2, 0), (2, 1, 0)], [0, NOT, NOT, 1], [0, 5, 5, 1], id="unreached cycle"),
            pytest.param([(0, 1, 1), (2, 2, 0)], [0, 1, NOT], [0, 1, 7], id="unreached self-loop"),
            pytest.param([(0, 1, 5), (1, 2, 0), (2, 1, 0)], [0, 5, 5], [0, 3, 3], id="reached cycle"),
            pytest.param([(0, 1, 5), (1, 1, 0)], [0, 5], [0, 4], id="reached self-loop"),
            pytest.param([(0, 1, 2), (1, 2, 3), (2, 1, -3)], [0, 2, 5], [0, 1, 4], id="negative weight"),
            pytest.param([(0, 1, 1), (2, 3, -4), (3, 2, 4)], [0, 1, NOT, NOT], [0, 1, 9, 5], id="unreached, negative"),
            pytest.param([(0, 1, 3), (1, 0, -3)], [0, 3], [0, 2], id="through the source"),
        ],
    )
    @pytest.mark.parametrize("at_a_time", [1 << 26, 1])
    def test_cycles_of_length_zero(self, monkeypatch, edges, right, wrong, at_a_time):
        monkeypatch.setattr(bellman, "AT_A_TIME", at_a_time)
        graph = mgraph.Graph.from_edges(*np.array(edges, np.int32).T, n=len(right))
        check("sssp", graph, {"distances": np.array(right, np.int32)}, 0)
        with pytest.raises(WrongResultError, match="from vertex 0"):
            check("sssp", graph, {"distances": np.array(wrong, np.int32)}, 0)

    def test_floats_hide_no_short_cycle_far_away(self):
        graph = mgraph.Graph.from_edges([0, 1, 2], [3, 2, 1], np.float32([1, 1e-3, 1e-3]))
        check("sssp", graph, {"distances": np.float32([0, np.inf, np.inf, 1])}, 0)
        with pytest.raises(WrongResultError, match=r"the distance of vertex 1 is 1.*, but no path is that long"):
            check("sssp", graph, {"distances": np.float32([0, 1e8, 1e8, 1])}, 0)

    def test_a_negative_cycle_through_the_source(self):
        graph = mgraph.Graph.from_edges([0, 1], [1, 0], np.int32([1, -2]))
        for wrong in ([0, 1], [-1, 0]):
            with pytest.raises(WrongResultError, match=r"the distance of vertex 0 is .* by way of its neighbours"):
                check("sssp", graph, {"distances": np.array(wrong, np.int32)}, 0)

    def test_large_integers_are_compared_exactly(self):
        graph = mgraph.Graph.from_edges([0], [1], np.int32([2**28 - 1]))
        check("sssp", graph, {"distances": np.int32([0, 2**28 - 1])}, 0)
        with pytest.raises(WrongResultError, match="from vertex 0 the distance of vertex 1"):
            check("sssp", graph, {"distances": np.int32([0, 2**28 - 2])}, 0)

    def test_a_search_with_a_huge_distance_for_an_unreached_vertex(self):
        graph = mgraph.Graph.from_edges([0], [1], n=3)
        with pytest.raises(WrongResultError, match="from vertex 0 the distance of vertex 2"):
            check("bfs", graph, {"distances": np.int32([0, 1, NOT])}, 0)

    @given(st.data())
    @settings(deadline=None, max_examples=150)
    def test_exactly_the_right_distances_are_accepted(self, data):
        n = data.draw(st.integers(1, 5))
        vertex, weight = st.integers(0, n - 1), st.integers(-1, 2)
        edges = data.draw(st.lists(st.tuples(vertex, vertex, weight), min_size=1, max_size=9))
        right = [0, *[np.inf] * (n - 1)]
        for _ in range(n):
            for u, v, length in edges:
                right[v] = min(right[v], right[u] + length)
        negative = any(right[u] + length < right[v] for u, v, length in edges)
        near = st.sampled_from([-1, 0, 0, 0, 1, np.inf])
        claimed = [v + data.draw(near) if np.isfinite(v) else data.draw(st.sampled_from([np.inf, 0, 2])) for v in right]
        graph = mgraph.Graph.from_edges(*np.array(edges).T, n=n)
        given = {"distances": np.float32(claimed)}
        if claimed == right and not negative:
            check("sssp", graph, given, 0)
        else:
            with pytest.raises(WrongResultError):
                check("sssp", graph, given, 0)

    @pytest.mark.parametrize("dense", [False, True])
    @pytest.mark.parametrize("at_a_time", [1 << 26, 10])
    def test_rows_of_all_pairs(self, monkeypatch, dense, at_a_time):
        monkeypatch.setattr(bellman, "AT_A_TIME", at_a_time)
        monkeypatch.setattr(bellman, "SUMS", 1)  # the first, the last and two rows between
        matrix = np.full((8, 8), np.inf, np.float32)
        matrix[[0, 1, 2, 4, 5, 7], [1, 2, 1, 5, 4, 4]] = [1, 0, 0, -2, 2, 3]
        given = matrix if dense else mgraph.Graph.from_distances(matrix).to_scipy()
        distances = mgraph.apsp(given, device="cpu").distances
        data = matrix if dense else mgraph.Graph.from_scipy(given)
        check("apsp", data, {"distances": distances})
        for row, columns, values in ((0, [1, 2], [0.5, 0.5]), (0, [4, 5], [6, 4]), (7, [4, 5], [2, 0])):
            wrong = distances.copy()
            wrong[row, columns] = values
            with pytest.raises(WrongResultError, match=f"from vertex {row} .* but no path is that long"):
                check("apsp", data, {"distances": wrong}, names=["rows"])
