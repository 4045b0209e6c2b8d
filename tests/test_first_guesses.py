"""What somebody types who has read the front page only: it works, or the error says what does."""

import re

import networkx as nx
import pytest
from click.testing import CliRunner

import mgraph
from mgraph.cli import main

COLUMNS = ["--source-column", "from", "--target-column", "to", "--weight-column", "km"]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "roads.csv"
    path.write_text("from,to,km\nUlm,Bonn,420\nUlm,Kiel,880\nBonn,Kiel,300\nKiel,Rome,1500\n")
    return str(path)


def run(*words):
    return CliRunner().invoke(main, [*words])


@pytest.mark.parametrize(
    ("words", "row"),
    [
        (["--source", "Ulm", "--target", "Rome"], ["Ulm", "2220"]),
        (["--source", "Ulm", "--source", "Bonn", "--target", "Kiel"], ["Bonn", "300"]),
    ],
)
def test_distances_of_named_vertices(table, words, row):
    found = run("distances", table, *COLUMNS, *words)
    assert found.exit_code == 0, found.output
    assert found.stdout.splitlines()[-1].split() == row


def test_measures_and_betweenness_of_named_vertices(table):
    measured = run("measures", table, *COLUMNS, "--source", "Ulm", "--eccentricity")
    assert "eccentricity: 2220 to 2220" in measured.output
    passed = run("betweenness", table, *COLUMNS, "--source", "Ulm", "--json")
    assert passed.exit_code == 0, passed.output


def test_a_name_in_place_of_a_file_is_pointed_to_the_option_for_one(table):
    found = run("distances", table, *COLUMNS, "--sources", "Ulm")
    assert found.exit_code == 1
    assert "there is no such file: 'Ulm'; one vertex is --source Ulm" in found.output
    both = run("distances", table, *COLUMNS, "--sources", table, "--source", "Ulm")
    assert "give only one of --source and --sources" in both.output


def test_pairs_of_named_vertices(table, tmp_path):
    pytest.importorskip("pymetis")
    prepared = str(tmp_path / "roads.npz")
    assert run("hierarchy", table, *COLUMNS, "--undirected", "--out", prepared).exit_code == 0
    found = run("pairs", prepared, "--source", "Ulm", "--target", "Rome")
    assert "greatest distance: 2220" in found.output
    assert "give either --targets LIST or --target V" in run("pairs", prepared, "--source", "Ulm").output


def test_the_greatest_betweenness_is_at_a_vertex_by_name(table):
    assert ", vertex 0, which FILE calls Bonn" in run("betweenness", table, *COLUMNS, "--undirected").output
    found = run("betweenness", table, *COLUMNS, "--undirected", "--edges").output
    assert re.search(r", edge \d to \d, which FILE calls \w+ to \w+", found)


@pytest.mark.parametrize(
    ("word", "there"),
    [
        ("diameter", "mgraph measures --eccentricity"),
        ("closeness", "mgraph measures --closeness"),
        ("harmonic-closeness", "mgraph measures --harmonic"),
        ("apsp-batch", "mgraph.apsp_batch, a call of Python"),
        ("shortest-path", "mgraph sssp --source V --target V --predecessors"),
    ],
)
def test_calls_that_are_options_elsewhere(word, there):
    found = run(word, "roads.gr")
    assert found.exit_code == 2
    assert f"No such command '{word}': it is {there}" in found.output


@pytest.mark.parametrize(
    ("name", "there"),
    [("diameter", "plan 'distances'"), ("hierarchy", "by the method 'hierarchy'"), ("apsp-batch", "needs its graphs")],
)
def test_plans_of_calls_without_plans_of_their_own(name, there):
    with pytest.raises(mgraph.errors.InputError, match=there):
        mgraph.plan(name, 100, 300, "cpu")
    found = run("plan", name, "--n", "100", "--m", "300")
    assert found.exit_code == 2 and there in found.output


def test_a_name_in_another_case_is_pointed_to_the_id():
    roads = mgraph.Graph.from_edges([0, 1], [1, 2], ids=["Ulm", "Bonn", " Kiel"])
    for word, meant in (("ulm", "'Ulm'"), ("Kiel", "' Kiel'")):
        with pytest.raises(mgraph.errors.InputError, match=f"an id of the graph, got '{word}': {meant} is one"):
            mgraph.bfs(roads, word, device="cpu")
    with pytest.raises(mgraph.errors.InputError, match=r"an id of the graph, got 'Rome'$"):
        mgraph.bfs(roads, "Rome", device="cpu")


def test_parquet_with_names_says_how_to_read_names(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = tmp_path / "roads.parquet"
    pandas.DataFrame({"from": ["Ulm"], "to": ["Bonn"]}).to_parquet(path)
    with pytest.raises(mgraph.errors.FormatError, match="names, or ids of any kind, are read by source= and target="):
        mgraph.read(path)
    assert mgraph.read(path, source="from", target="to").n == 2


def test_dense_networkx_graphs_count_by_their_edges():
    from mgraph.networkx import should_run

    dense, sparse = nx.complete_graph(40), nx.path_graph(40)
    assert should_run("closeness_centrality", (dense,), {}) is True
    assert "this one has 40" in should_run("closeness_centrality", (sparse,), {})
    assert should_run("betweenness_centrality", (dense,), {"k": 2}) is not True


def test_the_time_of_a_hierarchy_counts_its_order():
    pytest.importorskip("pymetis")
    town = mgraph.generate.grid(40, 40, weights=(1, 9))
    detail = mgraph.distances(town, range(40), range(40), method="hierarchy", device="cpu").plan.detail
    assert 0 < detail.ordering < detail.preparation
    again = mgraph.distances(town, range(40), range(40), method="hierarchy", device="cpu").plan.detail
    assert again.preparation == 0


def test_a_search_says_that_its_file_counts_from_one(tmp_path):
    path, plain = tmp_path / "roads.gr", tmp_path / "roads.txt"
    path.write_text("p tw 3 2\n1 2\n2 3\n")
    plain.write_text("0 1\n1 2\n")
    found = run("sssp", str(path), "--source", "1")
    assert "source: 1, counting from 0; FILE counts from 1: there it is 2" in found.stdout
    assert "source: 1, counting from 0\n" in run("sssp", str(plain), "--source", "1").stdout
    assert "counts" not in run("sssp", str(path), "--relabel", "--ids", "--source", "2").stdout
