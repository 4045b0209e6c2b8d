"""The (min, +) kernels, one family for the CPU and one for GPUs, against Floyd and Warshall's three loops in NumPy."""

import itertools

import numpy as np
import pytest

from mgraph import device as devices
from mgraph.dtypes import band, distance_dtype, distance_range, infinity, kernel_infinity
from mgraph.errors import DistanceOverflowError, InputError
from mgraph.graph.weights import decode, encode
from mgraph.kernels import minplus as minplus_kernels
from mgraph.kernels.minplus import Bounds, Panels
from tests.support.parameters import exhaustive

TYPES = [np.float32, np.float64, np.int32, np.int16]
LABELS = [None, "predecessors", "intermediates"]
#: int16 is computed without labels.
CASES = [(dtype, labels) for dtype in TYPES for labels in LABELS if dtype != np.int16 or labels is None]
#: Types that are always tested on views; the CPU's kernels are compiled again for these.
VIEWED = [(np.float32, "predecessors"), (np.int16, None)]
NO_CYCLE = np.iinfo(np.int32).max
#: Less than any distance: it shows if a kernel reads an element that was never written.
POISON = -77


def random_matrix(n, dtype, seed, *, negative=False, density=0.3):
    """Return distances as the kernels take them, without a negative cycle; sums of the floats round."""
    random = np.random.default_rng(seed)
    weights = random.random((n, n)) if np.dtype(dtype).kind == "f" else random.integers(1, 100, (n, n))
    if negative:  # a potential makes weights negative and keeps the weight of cycles
        potential = random.integers(0, 50, n)
        weights = np.ceil(weights * 8) + potential[:, None] - potential[None, :]
    matrix = weights.astype(dtype)
    matrix[random.random((n, n)) > density] = kernel_infinity(np.dtype(dtype))
    np.fill_diagonal(matrix, 0)
    return matrix


def first_labels(matrix, labels):
    if labels is None:
        return None
    P = np.full(matrix.shape, -9999, np.int32)
    if labels == "predecessors":
        edges = (matrix < kernel_infinity(matrix.dtype)) & ~np.eye(len(matrix), dtype=bool)
        P[edges] = np.nonzero(edges)[0]
    return P


def unblocked(matrix, labels):
    """Return the distances and labels of the three loops, and M, R and C: d[i, k] at the time of the lesser."""
    d, p = matrix.copy(), first_labels(matrix, labels)
    in_time = np.empty_like(d)
    for k in range(len(d)):
        in_time[k, k:], in_time[k:, k] = d[k, k:], d[k:, k]
        sums = d[:, k, None] + d[None, k, :]
        falls = sums < d
        d[falls] = sums[falls]
        if p is not None:
            p[falls] = (np.broadcast_to(p[k], p.shape) if labels == "predecessors" else np.full_like(p, k))[falls]
    return d, p, in_time


def on(device, array):
    """Return a copy of a matrix with the leading dimension that the device wants, poisoned beyond its columns."""
    leading = -(-array.shape[1] // device.row_alignment) * device.row_alignment
    copy = device.xp.full((len(array), leading), POISON, array.dtype)[:, : array.shape[1]]
    copy[...] = device.xp.asarray(array)
    return copy


def poisoned_panels(device, kernels, dtype, rows, columns, block):
    panels = kernels.panels(device.xp, np.dtype(dtype), rows, columns, block)
    for panel in panels:
        panel.fill(POISON)
    return panels


def poisoned_labels(device, R, labels):
    return device.xp.full(R.shape, POISON, np.int32) if labels == "predecessors" else None


def blocked(device, matrix, labels, block, nonnegative):
    """Return distances and labels by one shard's rounds."""
    kernels, xp, n = minplus_kernels.on(device), device.xp, len(matrix)
    D = on(device, matrix)
    P = None if labels is None else on(device, first_labels(matrix, labels))
    M, R, C = poisoned_panels(device, kernels, matrix.dtype, n, n, block)
    panels = Panels(M, R, poisoned_labels(device, R, labels), C)
    cycle = xp.full(1, NO_CYCLE, np.int32)
    for pivot in range(0, n, block):
        b = min(block, n - pivot)
        kernels.factor(D, pivot, pivot, pivot, b, M, cycle)
        kernels.solve_rows(D, P, pivot, pivot, b, panels)
        kernels.solve_columns(D, pivot, b, panels)
        kernels.update(D, P, panels, pivot, b, nonnegative)
    assert int(cycle[0]) == NO_CYCLE
    return devices.to_host(D), None if P is None else devices.to_host(P)


@pytest.mark.parametrize(("dtype", "labels"), CASES)
@pytest.mark.parametrize("negative", [False, True])
def test_every_bit_and_label_of_the_three_loops(dtype, labels, negative, hardware):
    for n, block in [(1, 32), (70, 32), (129, 64), (131, 96), (257, 128), (301, 128)]:
        matrix = random_matrix(n, dtype, n, negative=negative, density=4 / n + 0.05)
        assert (matrix < 0).any() == (negative and n > 1)
        distances, expected, _ = unblocked(matrix, labels)
        D, P = blocked(hardware, matrix, labels, block, not negative)
        assert np.array_equal(D, distances)
        if labels is not None:
            assert np.array_equal(P, expected)


@pytest.mark.parametrize("dtype", TYPES)
def test_panels_hold_the_values_of_their_time(dtype, hardware):
    kernels, xp = minplus_kernels.on(hardware), hardware.xp
    n, b, row, column = 150, 41, 64, 32
    matrix = random_matrix(n, dtype, 7)
    # The pivots' block comes first in the three loops, and stands elsewhere in the matrix.
    rows = np.r_[row : row + b, 0:row, row + b : n]
    columns = np.r_[column : column + b, 0:column, column + b : n]
    first = matrix[np.ix_(rows, columns)]
    np.fill_diagonal(first, 0)
    matrix[np.ix_(rows, columns)] = first
    _, _, in_time = unblocked(first, None)
    M, R, C = poisoned_panels(hardware, kernels, dtype, n, n, 64)
    cycle = xp.full(1, NO_CYCLE, np.int32)
    D = on(hardware, matrix)
    kernels.factor(D, row, column, 1000, b, M, cycle)
    kernels.solve_rows(D, None, row, 1000, b, Panels(M, R, None, C))
    kernels.solve_columns(D, column, b, Panels(M, R, None, C))
    assert np.array_equal(devices.to_host(M)[:b, :b], in_time[:b, :b])
    # Below the diagonal a row has been relaxed through the pivots before it, unlike M's entries there.
    upper = np.arange(n) >= np.arange(b)[:, None]
    assert np.array_equal(devices.to_host(R)[:b, columns][upper], in_time[:b][upper])
    values = devices.to_host(C)[:b, :n]
    if values.dtype != matrix.dtype:  # a word that holds an int16 twice
        assert np.array_equal(values >> 16, values << 16 >> 16)
        values = (values >> 16).astype(dtype)
    assert np.array_equal(values[:, rows][upper], in_time.T[:b][upper])
    assert np.array_equal(devices.to_host(D), matrix)


@pytest.mark.parametrize(("dtype", "labels"), [*VIEWED, *exhaustive(*(case for case in CASES if case not in VIEWED))])
def test_a_grid_of_views(dtype, labels, hardware):
    """Four parts of one matrix, each with its own panels, which are parts of larger ones, too."""
    kernels, xp = minplus_kernels.on(hardware), hardware.xp
    n, block, margin = 203, 32, 16
    matrix = random_matrix(n, dtype, 11, density=0.1)
    distances, expected, _ = unblocked(matrix, labels)

    def framed(inner):
        frame = xp.full((n + 2 * margin, 256), POISON, inner.dtype)
        frame[margin : margin + n, margin : margin + n] = xp.asarray(inner)
        return frame

    whole = framed(matrix)
    whole_labels = None if labels is None else framed(first_labels(matrix, labels))
    tops, lefts = [(0, 96), (96, n)], [(0, 64), (64, n)]

    def part(frame, r, c):
        (top, bottom), (left, right) = tops[r], lefts[c]
        return frame if frame is None else frame[margin + top : margin + bottom, margin + left : margin + right]

    M = poisoned_panels(hardware, kernels, dtype, 1, 1, block)[0]
    R, C = [], []
    for left, right in lefts:
        width = kernels.padded(right - left)
        panel = poisoned_panels(hardware, kernels, dtype, 1, 3 * width, block)[1]
        R.append(panel[:, width : 2 * width])
    for top, bottom in tops:
        height = kernels.padded(bottom - top)
        panel = poisoned_panels(hardware, kernels, dtype, 3 * height, 1, block)[2]
        C.append(panel[:, height : 2 * height])
    label_panels = [
        None if labels != "predecessors" else xp.full((len(r), 3 * r.shape[1]), POISON, np.int32)[:, : r.shape[1]]
        for r in R
    ]
    cycle = xp.full(1, NO_CYCLE, np.int32)
    for pivot in range(0, n, block):
        b = min(block, n - pivot)
        r = next(i for i, (low, high) in enumerate(tops) if low <= pivot < high)
        c = next(i for i, (low, high) in enumerate(lefts) if low <= pivot < high)
        row, column = pivot - tops[r][0], pivot - lefts[c][0]
        kernels.factor(part(whole, r, c), row, column, pivot, b, M, cycle)
        for k in range(2):
            D, P = part(whole, r, k), part(whole_labels, r, k)
            panels = Panels(M, R[k], label_panels[k], C[k])
            kernels.solve_rows(D, P, row, pivot, b, panels)
            kernels.solve_columns(part(whole, k, c), column, b, panels)
        for i, j in itertools.product(range(2), repeat=2):
            D, P = part(whole, i, j), part(whole_labels, i, j)
            kernels.update(D, P, Panels(M, R[j], label_panels[j], C[i]), pivot, b, True)
    inner = slice(margin, margin + n)
    assert np.array_equal(devices.to_host(whole[inner, inner]), distances)
    if labels is not None:
        assert np.array_equal(devices.to_host(whole_labels[inner, inner]), expected)
    for frame in (whole, whole_labels):
        if frame is not None:  # a row's last 16 bytes may be written whole; nothing else around the parts
            frame = devices.to_host(frame)
            frame[inner, margin : -(-(margin + n) // 8) * 8] = POISON
            assert (frame == POISON).all()


@pytest.mark.parametrize(("dtype", "labels"), CASES)
def test_one_pivot_at_a_time(dtype, labels, hardware):
    kernels, xp, n = minplus_kernels.on(hardware), hardware.xp, 75
    matrix = random_matrix(n, dtype, 3, density=0.1)
    distances, expected, _ = unblocked(matrix, labels)
    D = on(hardware, matrix)
    P = None if labels is None else on(hardware, first_labels(matrix, labels))
    M, R, C = poisoned_panels(hardware, kernels, dtype, n, n, 1)
    panel_labels = poisoned_labels(hardware, R, labels)
    cycle = xp.full(1, NO_CYCLE, np.int32)
    for pivot in range(n):
        kernels.factor(D, pivot, pivot, pivot, 1, M, cycle)
        kernels.solve_rows(D, P, pivot, pivot, 1, Panels(M, R, panel_labels, C))
        kernels.through(D, P, pivot, R, panel_labels, pivot, 1, cycle)
    assert int(cycle[0]) == NO_CYCLE
    assert np.array_equal(devices.to_host(D), distances)
    if labels is not None:
        assert np.array_equal(devices.to_host(P), expected)


@pytest.mark.parametrize(("dtype", "labels"), [*VIEWED, *exhaustive(*(case for case in CASES if case not in VIEWED))])
@pytest.mark.parametrize("negative", [False, True])
def test_many_pivots_in_one_launch(dtype, labels, negative, hardware):
    """The pivots' rows are those of the matrix itself, which the launch changes."""
    kernels = minplus_kernels.on(hardware)
    for n, at_a_time in [(1, 1), (5, 2), (75, 75), (300, 128), (600, 600)]:
        matrix = random_matrix(n, dtype, n, negative=negative, density=4 / n + 0.05)
        distances, expected, _ = unblocked(matrix, labels)
        D = on(hardware, matrix)
        P = None if labels is None else on(hardware, first_labels(matrix, labels))
        cycle = hardware.xp.full(1, NO_CYCLE, np.int32)
        for first in range(0, n, at_a_time):
            own = slice(first, min(n, first + at_a_time))
            rows, row_labels = D[own], P[own] if labels == "predecessors" else None
            kernels.through(D, P, first, rows, row_labels, 1000 + first, own.stop - first, cycle)
        assert int(cycle[0]) == NO_CYCLE
        assert np.array_equal(devices.to_host(D), distances)
        if labels == "predecessors":
            assert np.array_equal(devices.to_host(P), expected)
        elif labels is not None:
            assert np.array_equal(devices.to_host(P), np.where(expected < 0, expected, expected + 1000))


def eliminated(device, matrix, labels, *, in_place=False, most=None, nonnegative=True):
    """Return distances, labels and what was found of a small matrix that is solved in one launch."""
    kernels, n, dtype = minplus_kernels.on(device), len(matrix), matrix.dtype
    given = on(device, matrix)
    D = given if in_place else device.xp.full_like(given, POISON)
    P = None if labels is None else on(device, np.full(matrix.shape, POISON, np.int32))
    board = kernels.board(device.xp, dtype, n, labels is not None)
    for array in board:
        if array is not None:
            array.fill(POISON)
    bounds = Bounds(0, 0, 0, 0)
    if dtype.kind == "i":
        least, greatest = distance_range(dtype, nonnegative)
        unreached = kernel_infinity(dtype) + (0 if nonnegative else 2 * least)
        bounds = Bounds(np.iinfo(dtype).max if most is None else most, least, greatest, unreached)
    found = device.xp.zeros(4, np.int32)
    kernels.eliminate(given, D, P, labels == "predecessors", bounds, board, found)
    _, cycle, weight, distance = devices.to_host(found).tolist()
    return devices.to_host(D), None if P is None else devices.to_host(P), NO_CYCLE - cycle, (weight, distance)


def sizes_at_once(device):
    """Return numbers of vertices that one launch takes, the most among them."""
    kernels = minplus_kernels.of_kind(device.kind)
    sizes = [1, 2, 31, 32, 33, 45, 64, 65, 100, 129, 256, 301, 400, 511, 512]
    cores = devices.cuda_attribute("MultiProcessorCount") if device.kind == "cuda" else 1
    return [n for n in sizes if kernels.at_once(n, cores)]


@pytest.mark.parametrize(("dtype", "labels"), CASES)
@pytest.mark.parametrize("negative", [False, True])
def test_a_small_matrix_in_one_launch(dtype, labels, negative, hardware):
    for n in sizes_at_once(hardware):
        matrix = random_matrix(n, dtype, n, negative=negative, density=4 / n + 0.05)
        distances, expected, _ = unblocked(matrix, labels)
        decode(distances, expected, devices.find("cpu"), not negative)
        missing = matrix == kernel_infinity(matrix.dtype)
        raw = np.where(missing, infinity(matrix.dtype), matrix)  # as users give it
        raw[np.arange(0, n, 3), np.arange(0, n, 3)] = 7  # counts as 0
        for given, in_place in ((matrix, True), (raw, True), (raw, False)):
            D, P, cycle, faults = eliminated(hardware, given, labels, in_place=in_place, nonnegative=not negative)
            assert cycle == NO_CYCLE and faults == (0, 0)
            assert np.array_equal(D, distances)
            assert labels is None or np.array_equal(P, expected)


def test_a_negative_zero_in_one_launch(hardware):
    matrix = np.array([[-0.0, -0.0], [np.inf, -0.0]], np.float32)
    assert not np.signbit(eliminated(hardware, matrix, None)[0]).any()


@pytest.mark.parametrize("dtype", [np.int32, np.int16])
def test_numbers_out_of_bounds_in_one_launch(dtype, hardware):
    _, greatest = distance_range(np.dtype(dtype), True)
    most = band(np.dtype(dtype))
    for n in (2, sizes_at_once(hardware)[-1]):
        matrix = np.full((n, n), np.iinfo(dtype).max, dtype)
        np.fill_diagonal(matrix, most)  # more than the bound, but on the diagonal
        matrix[n - 1, 0] = most
        assert eliminated(hardware, matrix, None, most=most)[3] == (0, 0)
        assert eliminated(hardware, matrix, None, most=most - 1)[3] == (1, 0)
        matrix[n - 1, 0] = -most
        assert not eliminated(hardware, matrix, None, most=most, nonnegative=False)[3][0]
        assert eliminated(hardware, matrix, None, most=most - 1, nonnegative=False)[3][0]
    path = np.full((8, 8), np.iinfo(dtype).max, dtype)
    path[np.arange(7), np.arange(1, 8)] = most
    steps = greatest // most
    assert 1 < steps < 7
    assert eliminated(hardware, path[: steps + 1, : steps + 1].copy(), None)[3] == (0, 0)
    assert eliminated(hardware, path[: steps + 2, : steps + 2].copy(), None)[3] == (0, 1)


@pytest.mark.parametrize("dtype", TYPES)
def test_the_first_pivot_of_negative_weight_in_one_launch(dtype, hardware):
    n = sizes_at_once(hardware)[-1]
    matrix = random_matrix(n, dtype, 5)
    matrix[n // 2, n // 2 + 5], matrix[n // 2 + 5, n // 2] = 3, -4
    matrix[n - 1, n - 1] = -1
    with np.errstate(over="ignore"):  # walks along the cycle, ever shorter
        _, _, in_time = unblocked(matrix, None)
    assert eliminated(hardware, matrix, None, nonnegative=False)[2] == int(np.argmax(in_time.diagonal() < 0)) > 0


@pytest.mark.parametrize("dtype", TYPES)
def test_a_launch_ends_at_the_first_pivot_of_negative_weight(dtype, hardware):
    kernels = minplus_kernels.on(hardware)
    matrix = random_matrix(120, dtype, 5)
    matrix[70, 75], matrix[75, 70] = 3, -4  # seen when 75 is reached, unless a shorter way back is found before
    matrix[80, 80] = -1
    _, _, in_time = unblocked(matrix, None)
    first = int(np.argmax(in_time.diagonal() < 0))
    assert 0 < first <= 75
    D, cycle = on(hardware, matrix), hardware.xp.full(1, NO_CYCLE, np.int32)
    for start in (0, 60):  # later pivots do not hide the first one
        kernels.through(D, None, start, D[start : start + 60], None, start, 60, cycle)
    assert int(cycle[0]) == first


@pytest.mark.parametrize("dtype", TYPES)
def test_the_first_pivot_of_negative_weight(dtype, hardware):
    kernels, xp = minplus_kernels.on(hardware), hardware.xp
    matrix = random_matrix(120, dtype, 5)
    matrix[70, 75], matrix[75, 70] = 3, -4  # seen when 75 is reached
    matrix[80, 80] = -1
    D, cycle = on(hardware, matrix), xp.full(1, NO_CYCLE, np.int32)
    M = poisoned_panels(hardware, kernels, dtype, 120, 120, 64)[0]
    _, _, in_time = unblocked(matrix[64:, 64:], None)
    first = 64 + int(np.argmax(in_time.diagonal() < 0))
    assert first in range(65, 76)
    kernels.factor(D, 64, 64, 1064, 56, M, cycle)
    assert int(cycle[0]) == 1000 + first
    kernels.factor(D, 64, 64, 2064, 56, M, cycle)  # an earlier finding is kept
    assert int(cycle[0]) == 1000 + first


@pytest.mark.parametrize(
    ("dtype", "offsets"),
    [
        *((dtype, np.int32) for dtype in TYPES),
        (np.float32, np.int64),
        *exhaustive(*((dtype, np.int64) for dtype in TYPES[1:])),
    ],
)
def test_scatter_takes_the_least_of_parallel_edges(dtype, offsets, hardware):
    xp = hardware.xp
    random = np.random.default_rng(4)
    n, edges = 90, 700
    src, dst = np.sort(random.integers(0, n, edges)), random.integers(0, n // 4, edges)
    order = np.lexsort((dst, src))
    src, dst = src[order], dst[order].astype(np.int32)
    weights = random.integers(-50, 100, edges).astype(dtype)
    expected = np.full((n, n), kernel_infinity(np.dtype(dtype)), dtype)
    np.minimum.at(expected, (src, dst), weights)
    D = on(hardware, np.full((n, n), kernel_infinity(np.dtype(dtype)), dtype))
    indptr = np.searchsorted(src, np.arange(n + 1)).astype(offsets)
    minplus_kernels.on(hardware).scatter(D, *map(xp.asarray, (indptr, dst, weights)))
    assert np.array_equal(devices.to_host(D), expected)


@pytest.mark.parametrize("dtype", [np.dtype(np.int16), np.dtype(np.int32)])
def test_the_range_of_integer_distances(dtype, hardware):
    xp, beyond, none = hardware.xp, int(kernel_infinity(dtype)), infinity(dtype)
    most = beyond - band(dtype) - 1
    D = xp.asarray(np.array([[0, most, beyond]], dtype))
    decode(D, None, hardware, True)
    assert devices.to_host(D).tolist() == [[0, most, none]]
    for value in (most + 1, beyond - 1):
        wider = "int32" if dtype == np.int16 else "float64"
        with pytest.raises(DistanceOverflowError, match=f"{dtype.name}, which holds 0 to {most}: use dtype='{wider}'"):
            decode(xp.asarray(np.array([[0, value]], dtype)), None, hardware, True)
    least, most = distance_range(dtype, nonnegative=False)
    D = xp.asarray(np.array([[least, most, beyond + 2 * least, beyond]], dtype))
    P = xp.asarray(np.array([[5, 6, 7, 8]], np.int32))
    decode(D, P, hardware, False)
    assert devices.to_host(D).tolist() == [[least, most, none, none]]
    assert devices.to_host(P).tolist() == [[5, 6, -9999, -9999]]
    for value in (most + 1, least - 1, most + band(dtype), beyond + 2 * least - 1):
        with pytest.raises(DistanceOverflowError, match=dtype.name):
            decode(xp.asarray(np.array([[0, value]], dtype)), None, hardware, False)
    for value in (most + 1, least - 1, most + band(dtype), beyond - 1):
        with pytest.raises(DistanceOverflowError, match=dtype.name):
            decode(xp.asarray(np.array([[0, value]], dtype)), None, hardware, False, lowered=False)


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize(("rows", "columns"), [(1, 300_000), (301, 517), (70_000, 3)])
def test_decoding_parts_of_a_matrix(rows, columns, nonnegative, hardware):
    """Every element is checked, those outside the part are not, and a single wrong one is found anywhere."""
    xp, random, int32 = hardware.xp, np.random.default_rng(3), np.dtype(np.int32)
    beyond = int(kernel_infinity(int32))
    least, _ = distance_range(int32, nonnegative)
    whole = random.integers(least, band(int32), (rows, columns + 3)).astype(np.int32)
    unreached = random.random(whole.shape) < 0.3
    whole[unreached] = beyond
    labels = random.integers(0, 99, whole.shape).astype(np.int32)
    matrix, P = xp.asarray(whole), xp.asarray(labels)
    decode(matrix[:, :columns], P[:, :columns], hardware, nonnegative)
    unreached[:, columns:] = False
    assert np.array_equal(devices.to_host(matrix), np.where(unreached, infinity(int32), whole))
    assert np.array_equal(devices.to_host(P), np.where(unreached, -9999, labels))
    for place in ((0, 0), (rows - 1, columns - 1), (rows // 2, columns // 2)):
        matrix = xp.asarray(np.zeros((rows, columns), np.int32))
        matrix[place] = beyond - band(int32) if nonnegative else least - 1
        with pytest.raises(DistanceOverflowError):
            decode(matrix, None, hardware, nonnegative)


def test_a_path_that_is_cut_off_is_noticed(hardware):
    """Chains of the largest weights: either every distance is right, or decode raises."""
    for weight, hops in [(4096, 2), (4096, 3), (4095, 3), (4095, 4), (1000, 12), (1000, 13), (1000, 40), (1, 300)]:
        matrix = np.full((hops + 1, hops + 1), kernel_infinity(np.dtype(np.int16)), np.int16)
        np.fill_diagonal(matrix, 0)
        matrix[np.arange(hops), np.arange(1, hops + 1)] = weight
        D = hardware.xp.asarray(blocked(hardware, matrix, None, 32, True)[0])
        if weight * hops > 12286:
            with pytest.raises(DistanceOverflowError, match="12286"):
                decode(D, None, hardware, True)
        else:
            decode(D, None, hardware, True)
            assert devices.to_host(D)[0].tolist() == [weight * k for k in range(hops + 1)]


@pytest.mark.parametrize("source", [np.int16, np.int32, np.int64])
def test_weights_in_int16(source, hardware):
    xp, none = hardware.xp, np.iinfo(source).max
    out = xp.full(4, POISON, np.int16)
    encode(xp.asarray(np.array([4096, -4096, 7, none], source)), out, hardware, diagonal=-4)
    assert devices.to_host(out).tolist() == [4096, -4096, 7, 2**14 - 1]
    for weight in (4097, -4097, none):
        with pytest.raises(DistanceOverflowError, match=f"{weight}.*int16.*4096.*int32"):
            encode(xp.asarray(np.array([weight, 1], source)), out[:2], hardware)


@pytest.mark.parametrize(
    ("source", "dtype"),
    [("int8", "float32"), ("uint16", "int16"), ("int32", "int32"), ("int32", "float64"), ("int64", "int32"),
     ("uint64", "float32")],
)  # fmt: skip
def test_encoding_integers(source, dtype, hardware):
    """For any order of the elements, nothing outside them is written, and the last one that is too large is named."""
    xp, random, none = hardware.xp, np.random.default_rng(8), np.iinfo(source).max
    given = random.integers(-90 if source[0] == "i" else 0, 91, (301, 420)).astype(source)
    given[random.random(given.shape) < 0.2] = none
    expected = np.where(given == none, kernel_infinity(np.dtype(dtype)), given.astype(np.float64)).astype(dtype)
    for values in (
        xp.asarray(given),
        xp.asarray(np.asfortranarray(given)),
        xp.asarray(given.repeat(2, axis=1))[:, ::2],
    ):
        out = xp.full((301, 424), POISON, dtype)
        encode(values, out[:, :420], hardware, diagonal=420)
        assert np.array_equal(devices.to_host(out)[:, :420], expected)
        assert (devices.to_host(out)[:, 420:] == np.full(1, POISON, dtype)).all()
    if source == dtype:
        values = xp.asarray(given.copy())
        encode(values, values, hardware, diagonal=420)
        assert np.array_equal(devices.to_host(values), expected)
    most = band(np.dtype(dtype)) if dtype[0] == "i" else none
    if most < none:
        given[0, 0], given[300, 7], given[300, 6] = most, most + 2, most + 1
        with pytest.raises(DistanceOverflowError, match=str(most + 2)):
            encode(xp.asarray(given), xp.empty(given.shape, dtype), hardware, diagonal=420)


def test_the_type_of_distances():
    assert distance_dtype(np.dtype(np.int32), "int16") == np.int16
    with pytest.raises(InputError, match="int16, got 'int8'"):
        distance_dtype(None, "int8")
    with pytest.raises(InputError, match="fractions"):
        distance_dtype(np.dtype(np.float64), np.int16)
