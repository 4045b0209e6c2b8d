"""Graphs that workers read from files are those that are read here, bit for bit, and errors are the same."""

import gzip
import lzma
import os

import numpy as np
import pytest
from test_building import check as check_built
from test_cluster import cluster, pytestmark  # noqa: F401  (the mark works here too)
from test_resident import names_kept, same, wait_until

import mgraph
from mgraph.errors import FormatError, InputError, MissingFileError
from mgraph.io import edge_files


@pytest.fixture(scope="module", params=[1, 3])
def client(request):
    """Workers in this process."""
    with cluster(request.param, processes=False) as made:
        yield made


@pytest.fixture(autouse=True)
def short_sections(monkeypatch):
    """Cut files into sections of a few lines."""
    monkeypatch.setattr(edge_files, "SECTION", (64, 256))


@pytest.fixture
def write(tmp_path):
    def written(content, name="edges.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written


def check(client, path, **options):
    """Compare a graph that workers read with the same one read here; return the latter."""
    expected = mgraph.read(path, **options)
    check_built(mgraph.read(path, **options, client=client, device="cpu"), expected, client)
    return expected


def lines(m=300, n=90, weights=None, separator=" ", seed=4):
    """The text of random edges, with loops and parallel ones."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, n, m), rng.integers(0, n, m)]
    if weights is not None:
        columns.append(rng.integers(-9, 50, m) if weights == "integers" else rng.random(m))
    return "".join(separator.join(map(str, row)) + "\n" for row in zip(*(c.tolist() for c in columns), strict=True))


@pytest.mark.parametrize("weights", [None, "integers", "floats"])
@pytest.mark.parametrize("directed", [None, False])
def test_edge_lists(client, write, weights, directed):
    path = write("# a comment\n\n" + lines(weights=weights))
    graph = check(client, path, directed=directed)
    assert graph.weighted == (weights is not None)
    with mgraph.read(path, directed=directed, client=client, device="cpu") as placed:
        same(mgraph.bfs(placed, 3), mgraph.bfs(graph, 3, device="cpu"))


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("", {}),
        ("", {"n": 5, "weighted": True}),
        ("# nothing\n", {}),
        ("0 1", {}),
        ("\ufeff0 1\r\n1 2\r\n", {}),
        ("0,1,2\n" * 40 + "1,2,0.5\n" + "2,0,inf\n" * 40, {}),
        ("0 1 7\n" * 9 + "0 9 inf\n", {}),
        ("0\t1\tfriend\n" * 30, {"weighted": False}),
        (lines(), {"n": 200}),
        ("#" * 500 + "\n" + lines(), {}),
        ("\ufeff# from a site\n90 300\n" + lines(), {"n": 90}),
        ("# from a site\n" * 30 + "91 300\n" + lines(), {"n": 91}),
        ("90 299\n" + lines(), {"n": 300}),
        ("7 3\n" + "0 1\n" * 30, {"n": 8}),
        ("0 1\n" + "# \n" * 100 + "1 2\n", {}),
    ],
)
def test_texts(client, write, text, options):
    check(client, write(text), **options)


@pytest.mark.parametrize("start", (0, 61, 62, 63, 64))
def test_lines_at_the_ends_of_sections(client, write, start):
    check(client, write("#" * start + "\n" + "".join(f"{u} {u + 1}\n" for u in range(40))))


@pytest.mark.parametrize(("pack", "suffix"), [(gzip.compress, ".gz"), (lzma.compress, ".xz"), (gzip.compress, "")])
def test_compressed(client, write, pack, suffix):
    check(client, write(pack(lines(weights="integers").encode()), "edges.txt" + suffix))


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("0 1\n" * 40 + "0 x\n" + "1 1\n" * 40 + "y\n", {}),
        ("0 1\n" * 40 + "0 1 2\n", {}),
        ("0 1\n" * 40 + "0 2147483648\n", {}),
        ("0 1\n" * 40 + "0 9\n", {"n": 5}),
        ("0 1 2\n" * 40 + "0 1 nan\n", {}),
        ("0 1 2 3\n", {}),
        ("0 1\n" * 4, {"weighted": True}),
        ("5 40\n" + "0 1\n" * 40, {}),
        ("0 1\n1 1\n2 40\n" + "0 1\n" * 38, {}),
        ("5 39\n" + "0 1\n" * 40, {"n": 5}),
        ("0 1\n" * 40 + "\0\n", {}),
    ],
)
def test_errors_are_those_of_reading_here(client, write, text, options):
    path = write(text)
    with pytest.raises(FormatError) as here:
        mgraph.read(path, **options)
    with pytest.raises(FormatError) as there:
        mgraph.read(path, **options, client=client, device="cpu")
    assert str(here.value) in str(there.value)
    wait_until(lambda: names_kept(client) == [])


def test_an_error_names_the_bytes(client, write):
    path = write("0 1\n" * 40 + "0 x\n" + "0 1\n" * 40)
    with pytest.raises(FormatError, match=r"edges.txt, line 41: .* in '0 x'.* \(in bytes \d+ to \d+\)"):
        mgraph.read(path, client=client, device="cpu")


def test_files_that_a_worker_cannot_read(client, write, tmp_path):
    with pytest.raises(MissingFileError, match=r"no such file, on the worker inproc://.*: '/.*none.txt'"):
        mgraph.read(tmp_path / "none.txt", client=client, device="cpu")
    with pytest.raises(FormatError, match="is a folder"):
        mgraph.read(tmp_path, client=client, device="cpu")
    check(client, write(lines()))


def test_arguments(write, client):
    path = write("0 1\n")
    with pytest.raises(InputError, match="device is for workers"):
        mgraph.read(path, device="cpu")
    with pytest.raises(InputError, match=r"client must be a distributed\.Client"):
        mgraph.read(path, client="tcp://10.0.0.1:8786")
    with path.open("rb") as file, pytest.raises(InputError, match="path must be a path that the workers can read"):
        mgraph.read(file, client=client)


def test_relative_paths_are_of_this_process(client, write, monkeypatch):
    path = write(lines())
    monkeypatch.chdir(path.parent)
    check(client, os.path.basename(path))
