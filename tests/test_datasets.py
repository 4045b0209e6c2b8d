"""Well-known graphs: downloaded from a server of the test's own, checked, kept; or generated."""

import gzip
import hashlib
import http.server
import threading
from contextlib import contextmanager

import pytest

import mgraph
from mgraph import datasets
from tests.support.commands import invoke

pytest.importorskip("pooch")

ROADS = gzip.compress(b"c roads\np sp 3 2\na 1 2 7\na 2 3 5\n")
EDGES = gzip.compress(b"0 1\n1 2\n")


class Server(http.server.BaseHTTPRequestHandler):
    """Serves what `files` holds, and counts the requests."""

    files: dict[str, bytes] = {}  # noqa: RUF012
    requests = 0

    def do_GET(self):
        type(self).requests += 1
        content = self.files.get(self.path)
        self.send_response(404 if content is None else 200)
        self.end_headers()
        self.wfile.write(content or b"")

    def log_message(self, *_):
        pass


@contextmanager
def serving(**files):
    """Yield the address of a server that has these files."""

    class Handler(Server):
        pass

    Handler.files = {f"/{name}.gz": content for name, content in files.items()}
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", Handler
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def offered(monkeypatch, address, name, n, m, sha256=None):
    monkeypatch.setitem(datasets.DATASETS, name, datasets.Dataset(f"{address}/{name}.gz", n, m, "a test", sha256))


def sum_of(content):
    return hashlib.sha256(content).hexdigest()


def test_a_download_is_checked_and_kept(monkeypatch, tmp_path):
    with serving(edges=EDGES) as (address, server):
        offered(monkeypatch, address, "edges", 3, 2, sum_of(EDGES))
        path = datasets.fetch("edges", tmp_path)
        assert path == tmp_path / "edges.gz" and mgraph.read(path).m == 2
        assert datasets.fetch("edges", tmp_path) == path and server.requests == 1
        path.write_bytes(b"damaged")
        assert datasets.fetch("edges", tmp_path).read_bytes() == EDGES and server.requests == 2
    assert datasets.fetch("edges", tmp_path) == path  # without a server
    assert [each.name for each in tmp_path.iterdir()] == ["edges.gz"]


def test_a_wrong_file_is_refused(monkeypatch, tmp_path):
    with serving(edges=EDGES) as (address, _):
        offered(monkeypatch, address, "edges", 3, 2, sum_of(ROADS))
        with pytest.raises(mgraph.FormatError, match="is not the expected file"):
            datasets.fetch("edges", tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_checksum_that_is_not_known_is_recorded(monkeypatch, tmp_path):
    with serving(roads=ROADS) as (address, server):
        offered(monkeypatch, address, "roads", 3, 2)
        with pytest.warns(UserWarning, match=sum_of(ROADS)):
            path = datasets.fetch("roads", tmp_path)
        note = tmp_path / "roads.gz.sha256"
        assert note.read_text() == f"{sum_of(ROADS)}  roads.gz\n"
        assert datasets.fetch("roads", tmp_path) == path and server.requests == 1
        server.files["/roads.gz"] = gzip.compress(b"p sp 3 2\na 1 2 8\na 2 3 5\n")
        assert datasets.fetch("roads", tmp_path) == path
        path.unlink()
        with pytest.raises(mgraph.FormatError, match="is not the expected file"):
            datasets.fetch("roads", tmp_path)


@pytest.mark.parametrize(
    ("content", "problem"),
    [(ROADS[:-9], "ended before"), (gzip.compress(b"p sp 9 2\n"), "3 vertices and 2 edges"), (b"<html>", "gzip")],
    ids=["cut", "of other sizes", "a page"],  # not the bytes: they hold the time, which differs between processes
)
def test_a_file_that_is_not_whole_is_refused(monkeypatch, tmp_path, content, problem):
    with serving(roads=content) as (address, _):
        offered(monkeypatch, address, "roads", 3, 2)
        with pytest.raises(mgraph.FormatError, match=problem):
            datasets.fetch("roads", tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_file_that_was_put_there_is_taken(monkeypatch, tmp_path):
    with serving() as (address, _):
        offered(monkeypatch, address, "edges", 3, 2, sum_of(EDGES))
        with pytest.raises(mgraph.MissingFileError, match=r"cannot be downloaded \(HTTPError"):
            datasets.fetch("edges", tmp_path)
    with pytest.raises(mgraph.MissingFileError, match=r"cannot be downloaded \(ConnectionError") as caught:
        datasets.fetch("edges", tmp_path)
    assert f"put it at {tmp_path / 'edges.gz'}" in str(caught.value) and caught.value.filename.startswith("http")
    (tmp_path / "edges.gz").write_bytes(EDGES)
    assert datasets.fetch("edges", tmp_path).read_bytes() == EDGES
    (tmp_path / "edges.gz").write_bytes(ROADS)
    with pytest.raises(mgraph.MissingFileError, match="its checksum is not the expected one"):
        datasets.fetch("edges", tmp_path)


def test_generated_graphs(tmp_path):
    path = datasets.fetch("graph500-5", tmp_path)
    graph, expected = mgraph.read(path), mgraph.generate.rmat(5)
    assert (graph.n, graph.m) == (expected.n, expected.m)
    assert all((a == b).all() for a, b in zip(graph.coo()[:2], expected.coo()[:2], strict=True))
    before = path.stat().st_mtime_ns
    assert datasets.fetch("graph500-5", tmp_path).stat().st_mtime_ns == before


@pytest.mark.parametrize("name", ["roads", 3, "graph500-", "graph500-5x"])
def test_names_that_do_not_exist(name, tmp_path):
    with pytest.raises(mgraph.InputError, match=r"name must be roads-ny, .* or graph500-SCALE, got"):
        datasets.fetch(name, tmp_path)


def test_without_a_home(monkeypatch):
    monkeypatch.setattr(datasets, "cache_folder", lambda: None)
    with pytest.raises(mgraph.InputError, match="give a folder"):
        datasets.fetch("facebook")


def test_the_list_of_graphs():
    for name, dataset in datasets.DATASETS.items():
        assert dataset.url.startswith("http") and dataset.file.endswith(".gz") and dataset.n > 0 and dataset.m > 0
        assert dataset.sha256 is None or (len(dataset.sha256) == 64 and int(dataset.sha256, 16))
        assert dataset.sha256 is not None or name.startswith("roads-")  # whose first line has their size
    assert len({dataset.url for dataset in datasets.DATASETS.values()}) == len(datasets.DATASETS)


@pytest.mark.filterwarnings("default:no checksum")
def test_commands(monkeypatch, tmp_path):
    listed = invoke("datasets", "list")
    assert listed.exit_code == 0
    assert all(f"\n{name} " in f"\n{listed.stdout}" for name in datasets.DATASETS)
    with serving(roads=ROADS) as (address, _):
        offered(monkeypatch, address, "roads", 3, 2)
        fetched = invoke("datasets", "fetch", "roads", "--folder", str(tmp_path))
    assert (fetched.exit_code, fetched.stdout) == (0, f"{tmp_path / 'roads.gz'}\n")
    assert fetched.stderr.startswith("mgraph: warning: no checksum") and fetched.stderr.count("\n") == 1
    offered(monkeypatch, address, "gone", 3, 2)
    failed = invoke("datasets", "fetch", "gone", "--folder", str(tmp_path))
    assert failed.exit_code == 1 and failed.stdout == "" and failed.stderr.count("\n") == 1
    assert failed.stderr.startswith(f"mgraph: error: {address}/gone.gz: cannot be downloaded")


@pytest.mark.parametrize(("name", "file"), [("graph500-4", "graph500-4.npz"), ("roads-ny", "USA-road-d.NY.gr.gz")])
def test_a_folder_in_the_place_of_the_file(name, file, tmp_path):
    (tmp_path / file).mkdir()
    with pytest.raises(mgraph.InputError, match="is not a file"):
        datasets.fetch(name, tmp_path)
