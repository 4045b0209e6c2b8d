"""How a GPU divides the sweep of a hierarchy: a sweep by the division's arrays gives the same distances."""

import numpy as np
import pytest

from mgraph.kernels.hierarchy import cuda as hierarchy_kernels
from mgraph.kernels.hierarchy.columns import INFINITE, MOST_UPPER, NO_LEAF, ZERO, Columns, columns_of, with_labels
from mgraph.kernels.hierarchy.ops import Entries, Tree
from mgraph.kernels.hierarchy.pieces import AHEAD, GROUP, MOST, STACKS, division


def eliminated(matrix, order):
    """Return the tree and the entries of an order of elimination, postordered, and the lengths; by the textbook."""
    n = len(matrix)
    filled = np.minimum(matrix, matrix.T)[np.ix_(order, order)]
    for v in range(n):
        above = v + 1 + np.flatnonzero(np.isfinite(filled[v, v + 1 :]))
        through = filled[v, above][:, None] + filled[v, above]
        filled[np.ix_(above, above)] = np.minimum(filled[np.ix_(above, above)], through)
    parent = [next((u for u in range(v + 1, n) if np.isfinite(filled[v, u])), -1) for v in range(n)]
    children = [[v for v in range(n) if parent[v] == u] for u in range(n)]
    after, waiting = [], [v for v in range(n) if parent[v] < 0][::-1]
    while waiting:
        v = waiting.pop()
        if v < 0:
            after.append(~v)
        else:
            waiting += [~v, *reversed(children[v])]
    rank = np.argsort(after)
    filled = filled[np.ix_(after, after)]
    parent = np.array([-1 if parent[v] < 0 else rank[parent[v]] for v in after], np.int32)
    depth, size = np.zeros(n, np.int32), np.ones(n, np.int32)
    for v in range(n - 1, -1, -1):
        depth[v] = 0 if parent[v] < 0 else depth[parent[v]] + 1
    for v in range(n):
        if parent[v] >= 0:
            size[parent[v]] += size[v]
    upper = [v + 1 + np.flatnonzero(np.isfinite(filled[v, v + 1 :])) for v in range(n)]
    begin = np.concatenate([[0], np.cumsum([len(some) for some in upper])]).astype(np.int32)
    flat = np.concatenate(upper).astype(np.int32)
    lengths = np.concatenate([filled[v, some] for v, some in enumerate(upper)])
    return Tree(parent, depth, size), Entries(begin, flat, depth[flat]), lengths


def swept(tree, entries, lengths, chosen, labels_at_root):
    """Return the labels of the chosen vertices, from given ones of the roots, as the kernels compute them."""
    made = division(tree, entries, chosen)
    labels = np.full(len(made.vertices), np.nan)
    by = np.append(lengths, np.inf)[made.entry]
    place = {int(v): p for p, v in enumerate(made.vertices)}
    for p in range(made.steps[-1]):
        v = int(made.vertices[p])
        entry = range(entries.begin[v], entries.begin[v + 1])
        sums = [labels[place[int(entries.upper[e])]] + lengths[e] for e in entry]
        labels[p] = min([*sums, labels_at_root.get(v, np.inf)])
    for piece, after in zip(made.pieces[:-1], made.pieces[1:], strict=True):
        stack = np.full(STACKS[0], np.nan)
        stack[: after[2] - piece[2]] = labels[made.outer[piece[2] : after[2]]]
        group = piece[1]
        for p in range(piece[0], after[0]):
            own, more = made.rows[group, 0] & 0xFFFF, made.rows[group, 0] >> 16
            assert own - (after[2] - piece[2]) + piece[3] == tree.depth[made.vertices[p]]
            rows, lens = (part[group : group + more + 1].ravel()[1:] for part in (made.rows, by))
            sums = np.where(np.isinf(lens), np.inf, stack[rows] + lens)
            labels[p] = stack[own] = min(sums.min(), labels_at_root.get(int(made.vertices[p]), np.inf))
            group += more + 1
        assert group == after[1]
    return made, labels


def path(n):
    """Return a path and the order from one end to the other: a tree that is one branch."""
    matrix = np.full((n, n), np.inf)
    at = np.arange(n - 1)
    matrix[at, at + 1] = matrix[at + 1, at] = 1.0 + at % 7
    return matrix, np.arange(n)


def scattered(n, m, seed):
    """Return a random graph and a random order, which fills it up."""
    random = np.random.default_rng(seed)
    matrix = np.full((n, n), np.inf)
    src, dst = random.integers(0, n, (2, m))
    matrix[src, dst] = matrix[dst, src] = random.integers(1, 50, m)
    return matrix, random.permutation(n)


def star(n):
    """Return a star, whose rays are eliminated first: more vertices below one than a piece has."""
    matrix = np.full((n, n), np.inf)
    matrix[0, 1:] = matrix[1:, 0] = np.arange(1.0, n)
    return matrix, np.append(np.arange(1, n), 0)


@pytest.mark.parametrize(
    "graph",
    [path(1), path(70), path(1000), scattered(40, 60, 1), scattered(300, 500, 2), scattered(200, 0, 3), star(MOST + 9)],
    ids=["vertex", "path", "long path", "scattered", "filled", "no edges", "star"],
)
def test_a_sweep_by_pieces_gives_the_same_distances(graph):
    matrix, order = graph
    tree, entries, lengths = eliminated(matrix, order)
    n = len(matrix)
    roots = {int(v): float(k) for k, v in enumerate(np.flatnonzero(tree.parent < 0))}
    wanted = np.full(n, np.inf)
    for v in range(n - 1, -1, -1):
        at = slice(entries.begin[v], entries.begin[v + 1])
        wanted[v] = roots.get(v, (wanted[entries.upper[at]] + lengths[at]).min(initial=np.inf))
    random = np.random.default_rng(5)
    for share in (1.0, 0.2):
        chosen = random.random(n) < share
        for v in range(n):
            if chosen[v] and tree.parent[v] >= 0:
                chosen[tree.parent[v]] = True
        made, labels = swept(tree, entries, lengths, chosen, roots)
        assert sorted(made.vertices) == np.flatnonzero(chosen).tolist()
        assert np.array_equal(labels, wanted[made.vertices])
        assert all(stage.rows <= STACKS[0] for stage in made.stages)
        assert made.rows.shape == made.entry.shape == (made.pieces[-1, 1] + AHEAD, GROUP)
        assert np.array_equal(made.spans[:-1], np.stack([made.vertices, tree.size[made.vertices]], axis=1))
        assert np.array_equal(made.rows[made.heads, 0] >> 16, np.diff(made.heads, append=made.pieces[-1, 1]) - 1)


@pytest.mark.parametrize(
    "graph",
    [path(1), path(70), scattered(40, 60, 1), scattered(300, 500, 2), scattered(200, 0, 3), scattered(200, 60, 4)],
    ids=["vertex", "path", "scattered", "filled", "no edges", "few edges"],
)
def test_columns_add_up_to_the_same_distances(graph):
    tree, entries, lengths = eliminated(*graph)
    n, random = len(tree.parent), np.random.default_rng(6)
    roots = {int(v): float(k) for k, v in enumerate(np.flatnonzero(tree.parent < 0))}
    inner = with_labels(tree, entries)
    count = np.diff(entries.begin)
    assert np.array_equal(inner, (tree.size > 1) | (count > MOST_UPPER))
    made, labels = swept(tree, entries, lengths, inner, roots)
    wanted = swept(tree, entries, lengths, np.ones(n, bool), roots)
    wanted = wanted[1][np.argsort(wanted[0].vertices)]
    added = np.append(lengths, [0, 0])
    added[[INFINITE, ZERO]] = np.inf, 0
    for targets in (np.arange(n), random.integers(0, n, 2 * n), np.zeros(0, np.int64)):
        columns = columns_of(made.vertices, entries, targets)
        assert len(columns.first) == len(targets) + 1 and columns.first[-1] == len(columns.place) == len(columns.entry)
        assert np.array_equal(columns.leaf, np.where(inner[targets], NO_LEAF, targets))
        assert ((columns.place & 0x7FFFFFFF) < max(1, len(labels))).all()
        for j, (first, last) in enumerate(zip(columns.first[:-1], columns.first[1:], strict=True)):
            assert (columns.place[first:last] < 0).tolist() == [False] * (last - first - 1) + [True]
            places = columns.place[first:last] & 0x7FFFFFFF
            sums = [
                labels[p] + added[e] if p < len(labels) else added[e]
                for p, e in zip(places, columns.entry[first:last], strict=True)
            ]
            lone = entries.begin[targets[j]] == entries.begin[targets[j] + 1] and not inner[targets[j]]
            assert np.isinf(min(sums)) if lone else min(sums) == wanted[targets[j]]


def test_a_schedule_for_rows_passes_no_leaf(monkeypatch):
    monkeypatch.setattr(hierarchy_kernels, "cuda_attribute", lambda name: 227 << 10)
    tree, entries, *_ = eliminated(*scattered(300, 400, 7))
    n = len(tree.parent)
    chosen, leaves = np.ones(n, bool), np.flatnonzero((tree.size == 1) & (np.diff(entries.begin) <= MOST_UPPER))
    whole = hierarchy_kernels.schedule(tree, entries, chosen, None)
    rows = hierarchy_kernels.schedule(tree, entries, chosen, np.arange(n))
    assert sorted(whole.vertices) == list(range(n)) and len(leaves) > 50
    assert sorted(rows.vertices) == np.setdiff1d(np.arange(n), leaves).tolist()
    assert np.array_equal(Columns(*rows.parts[len(whole.parts) :]).leaf[leaves], leaves)


def test_a_long_path_has_pieces_of_each_stage_and_levels_above():
    tree, entries, *_ = eliminated(*path(1000))
    made = division(tree, entries, np.ones(1000, bool))
    assert [stage.rows for stage in made.stages] == list(STACKS)
    assert made.steps[-1] == 1000 - sum(STACKS) + len(STACKS)


def test_stacks_have_no_more_rows_than_fit():
    tree, entries, *_ = eliminated(*path(600))
    made = division(tree, entries, np.ones(600, bool), 100)
    assert [stage.rows for stage in made.stages] == [100, 100, 100, 64, 32]
    assert made.steps[-1] == 600 - 396 + 5


def test_a_large_subtree_is_cut_below_its_root():
    tree, entries, *_ = eliminated(*star(MOST + 9))
    made = division(tree, entries, np.ones(MOST + 9, bool))
    assert np.diff(made.pieces[:, 0]).max() <= MOST
    assert len(made.pieces) == 1 + 1 + MOST + 8
