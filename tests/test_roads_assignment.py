"""User equilibrium: networks whose flows are known, limits of the links' times, files of TNTP and their faults."""

import gzip
import math
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from mgraph import FormatError, InputError, MissingFileError, OutputExistsError, VerificationError, roads
from tests.support.tntp import BRAESS, network_text, trips_text

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "tntp"

SIX = [[0, 0, 0, 6], [0] * 4, [0] * 4, [0] * 4]


@pytest.fixture
def file(tmp_path):
    """Write a text to a file, and return its path."""

    def write(text, name="town_net.tntp"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


@pytest.fixture
def network(file):
    """Return a network of links."""
    return lambda links, *sizes: roads.from_tntp(file(network_text(links, *sizes)))


def test_braess_network(network):
    found = roads.assignment(network(BRAESS, 4, 4), SIX, gap=1e-9)
    assert found.converged and found.gap <= 1e-9
    np.testing.assert_allclose(found.flows, [4, 2, 2, 4, 2], rtol=1e-4)
    np.testing.assert_allclose(found.costs, [40, 52, 52, 40, 12], rtol=1e-4)
    found.verify()


def test_sparse_demand_and_integers_are_a_demand(network):
    links = network(BRAESS, 4, 4)
    flows = roads.assignment(links, np.array(SIX, float)).flows
    for demand in (scipy.sparse.csr_array(SIX), np.array(SIX, np.int16)):
        assert np.array_equal(roads.assignment(links, demand).flows, flows)


def test_what_stays_in_a_zone_takes_no_link(network):
    demand = np.diag([5.0, 6, 7, 8])
    found = roads.assignment(network(BRAESS, 4, 4), demand)
    assert found.converged and not found.flows.any() and found.gaps.tolist() == [0]


def test_nodes_before_the_first_through_node_are_not_passed(network):
    links = [(1, 2, 1, 1, 1, 0, 0, 0), (2, 3, 1, 1, 1, 0, 0, 0), (1, 4, 1, 1, 9, 0, 0, 0), (4, 3, 1, 1, 9, 0, 0, 0)]
    demand = np.zeros((3, 3))
    demand[0, 2], demand[0, 1], demand[1, 2] = 4, 2, 1
    passed = roads.assignment(network(links, 4, 3, 1), demand)
    around = roads.assignment(network(links, 4, 3, 4), demand)
    assert passed.flows.tolist() == [6, 5, 0, 0]
    assert around.flows.tolist() == [2, 1, 4, 4]
    around.verify()


def test_a_route_does_not_return_to_its_own_zone(network):
    links = [(1, 3, 1, 1, 1, 0, 0, 0), (3, 1, 1, 1, 1, 0, 0, 0), (3, 2, 1, 1, 1, 0, 0, 0)]
    found = roads.assignment(network(links, 3, 2, 3), [[0, 2], [0, 0]])
    assert found.flows.tolist() == [2, 0, 2]


def streets(links, n, **options):
    """Return the links of a file as streets, with a capacity and times for each."""
    tail, head, capacity, length, time, b, power, toll = np.array(links, float).T
    columns = {"seconds": time, "metres": length, "capacity": capacity, "b": b, "power": power, "toll": toll}
    where = [[24.9 + 0.01 * node, 60.0] for node in range(n)]
    return roads.Network(tail.astype(int) - 1, head.astype(int) - 1, columns, where, **options), np.array(where)


def test_streets_with_capacities_are_a_network_with_zones(network):
    rng = np.random.default_rng(3)
    ends = [(a, b) for a in range(1, 13) for b in range(1, 13) if a != b and (rng.random() < 0.3 or b - a in (1, -11))]
    links = [(*pair, rng.integers(5, 20), 3, rng.uniform(1, 9), 0.15, 4, 0) for pair in ends]
    demand = rng.integers(0, 9, (12, 12)).astype(float)
    expected = roads.assignment(network(links, 12, 12), demand, gap=1e-8)
    made, where = streets(links, 12, ids=[f"n{node}" for node in range(12)])
    found = roads.assignment(made, demand, where, gap=1e-8)
    np.testing.assert_allclose(found.flows, expected.flows, rtol=1e-6, atol=1e-6)
    assert found.tail[0] == "n0" and found.to_pandas()["head"].tolist() == made.ids[made.head].tolist()
    found.verify()
    twice = np.zeros((14, 14))
    twice[:12, :12], twice[12:, 3] = demand, 1.5
    demand[5, 3] += 3
    again = roads.assignment(made, twice, where[[*range(12), 5, 5]], gap=1e-8)
    same = roads.assignment(made, scipy.sparse.coo_array(demand), made.ids.tolist(), gap=1e-8)
    np.testing.assert_allclose(again.flows, same.flows, rtol=1e-6, atol=1e-6)
    again.verify()


def test_pairs_that_a_sparse_demand_has_twice_add_up(network):
    links, pairs = network(BRAESS, 4, 4), ([2.0, 4.0], ([0, 0], [3, 3]))
    found = roads.assignment(links, scipy.sparse.coo_array(pairs, shape=(4, 4)))
    assert np.array_equal(found.flows, roads.assignment(links, SIX).flows)


def test_traffic_takes_no_turn_that_is_barred():
    # From 1 to 3 by 2; to turn there is barred but after the loop at 2.
    links = [(1, 2, 9, 1, 1, 0, 0, 0), (2, 3, 9, 1, 1, 0, 0, 0), (2, 2, 9, 1, 5, 0, 0, 0), (1, 3, 9, 1, 9, 0, 0, 0)]
    free, where = streets(links, 3)
    barred = streets(links, 3, barred=[[0, 1]])[0]
    closed = streets([*links[:2], (2, 2, 9, 1, np.inf, 0, 0, 0), links[3]], 3, barred=[[0, 1]])[0]
    for made, flows in ((free, [4, 4, 0, 0]), (barred, [4, 4, 4, 0]), (closed, [0, 0, 0, 4])):
        found = roads.assignment(made, [[0, 4], [0, 0]], where[[0, 2]])
        assert found.flows.tolist() == flows
        found.verify()
    assert found.costs.tolist() == [1, 1, np.inf, 9]


def test_streets_that_cannot_be_assigned(network):
    made, where = streets(BRAESS, 4)
    plain = roads.Network([0], [1], {"seconds": [1.0]}, where[:2])
    for given, zones, words in (
        (made, None, "zones must be the points"),
        (plain, where[:2], r"network must be links with a column 'capacity'.*capacity=True"),
        (made.with_turn_costs(left=3), where, "does not count what turns cost"),
        (network(BRAESS, 4, 4), where, "zones must be None"),
        (made, where + 20, r"of zones is .* away from the nearest road"),
    ):
        with pytest.raises(InputError, match=words):
            roads.assignment(given, SIX, zones)
    with pytest.raises(InputError, match=r"no route from zone c to zone a for a demand of 1"):
        roads.assignment(made, [[0, 0], [1, 0]], roads.Places(np.array([0, 3]), np.zeros(2), np.array(["a", "c"])))


def test_parallel_links_and_loops(network):
    links = [(1, 2, 1, 1, 1, 1, 1, 0), (1, 1, 1, 1, 0, 0, 0, 0), (1, 2, 1, 1, 1, 1, 1, 0), (1, 2, 1, 1, 9, 0, 0, 0)]
    found = roads.assignment(network(links, 2, 2), [[0, 20], [0, 0]])
    np.testing.assert_allclose(found.flows, [8, 0, 8, 4], rtol=1e-5)
    found.verify()


def test_limits_of_the_links_times(network):
    links = [
        (1, 2, 5, 0, 2, 0.5, 0, 0),  # a power of 0: 3 at any flow
        (1, 2, 0, 0, 4, 0, 4, 0),  # no growth, so no capacity is needed
        (1, 2, 0, 0, 1, 0.15, 4, 0),  # closed
        (1, 2, 0, 0, 0, 0.15, 4, 0),  # a time of 0 does not grow either
    ]
    found = roads.assignment(network(links, 2, 2), [[0, 10], [0, 0]])
    assert found.flows.tolist() == [0, 0, 0, 10]
    assert found.costs.tolist() == [3, 4, math.inf, 0]
    found.verify()


def test_powers_of_several_kinds(network):
    powers = [0, 0.5, 1, 2, 4, 4.924, 17]
    links = [(1, 2, 10, 0, 2, 0.15, power, 0) for power in powers]
    found = roads.assignment(network(links, 2, 2), [[0, 80], [0, 0]], gap=1e-7)
    np.testing.assert_allclose(
        found.costs, [2 * (1 + 0.15 * (flow / 10) ** p) for flow, p in zip(found.flows, powers, strict=True)]
    )
    used = found.costs[found.flows > 1e-6]
    assert found.converged and used.max() / found.costs.min() < 1 + 1e-4


def test_generalized_cost(network):
    links = network([(1, 2, 1, 7, 1, 0, 0, 3), (1, 2, 1, 2, 9, 0, 0, 1)], 2, 2)
    demand = [[0, 1], [0, 0]]
    assert roads.assignment(links, demand).flows.tolist() == [1, 0]
    tolled = roads.assignment(links, demand, toll_factor=5)
    assert (tolled.flows.tolist(), tolled.costs.tolist()) == ([0, 1], [16, 14])
    assert roads.assignment(links, demand, distance_factor=2).costs.tolist() == [15, 13]
    with pytest.raises(InputError, match=r"the link from node 1 to node 2 is -2 without traffic"):
        roads.assignment(links, demand, toll_factor=-1)


def test_demand_without_a_route_is_an_error(network):
    with pytest.raises(InputError, match=r"no route from zone 4 to zone 1 for a demand of 2, nor for 1 other pairs"):
        roads.assignment(network(BRAESS, 4, 4), [[0, 0, 0, 6], [0] * 4, [0] * 4, [2, 0, 3, 0]])


def test_iterations_end_a_call(network):
    told = []
    found = roads.assignment(
        network(BRAESS, 4, 4), SIX, gap=0, iterations=2, progress=lambda done, gap: told.append((done, gap))
    )
    assert not found.converged and len(found.gaps) == 2 and "not converged" in repr(found)
    assert told == list(enumerate(found.gaps.tolist(), start=1))


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"demand": [[0, 1]]}, "demand"),
        ({"demand": [[0, 1, 0, -1]] * 4}, "demand"),
        ({"demand": [[0, 1, 0, math.nan]] * 4}, "demand"),
        ({"demand": [["a"] * 4] * 4}, "demand"),
        ({"gap": -1}, "gap"),
        ({"gap": math.nan}, "gap"),
        ({"toll_factor": math.inf}, "toll_factor"),
        ({"toll_factor": 10**400}, "toll_factor"),
        ({"distance_factor": "1"}, "distance_factor"),
        ({"iterations": 0}, "iterations"),
        ({"network": "town_net.tntp"}, "network"),
    ],
)
def test_invalid_arguments(network, arguments, name):
    given = {"network": network(BRAESS, 4, 4), "demand": SIX, **arguments}
    with pytest.raises(InputError, match=rf"^{name} must be"):
        roads.assignment(given.pop("network"), given.pop("demand"), **given)


def test_a_result_is_saved_as_a_table_or_arrays(network, tmp_path):
    found = roads.assignment(network(BRAESS, 4, 4), SIX)
    found.save(tmp_path / "flows.npz")
    with np.load(tmp_path / "flows.npz") as arrays:
        assert sorted(arrays) == ["cost", "flow", "gaps", "head", "tail"]
        assert np.array_equal(arrays["flow"], found.flows) and arrays["tail"].tolist() == [1, 1, 2, 3, 2]
    with pytest.raises(OutputExistsError):
        found.save(tmp_path / "flows.npz")
    pytest.importorskip("pandas")
    found.save(tmp_path / "flows.csv")
    assert (tmp_path / "flows.csv").read_text().splitlines()[0] == "tail,head,flow,cost"
    assert found.to_pandas()["flow"].tolist() == found.flows.tolist()


@pytest.mark.parametrize(("rule", "changed"), [("flow", -1.0), ("conservation", 9.0)])
def test_verify_finds_a_wrong_flow(network, rule, changed):
    found = roads.assignment(network(BRAESS, 4, 4), SIX)
    found.flows[1] = changed
    with pytest.raises(VerificationError) as error:
        found.verify()
    assert error.value.rule == rule


def test_verify_finds_a_wrong_cost(network):
    found = roads.assignment(network(BRAESS, 4, 4), SIX)
    found.costs[2] += 1
    with pytest.raises(VerificationError, match="the cost of link 2"):
        found.verify()


def test_the_columns_of_a_file(network, file, tmp_path):
    text = network_text([(2, 1, 3, 4, 5, 0.15, 4, 6)], 3, 2, 3)
    (tmp_path / "town.tntp.gz").write_bytes(gzip.compress(text.encode()))
    for path in (file(text), tmp_path / "town.tntp.gz"):
        read = roads.from_tntp(path)
        assert (read.nodes, read.zones, read.first_through) == (3, 2, 2)
        assert [column.tolist() for column in read.links] == [[1], [0], [5], [0.15], [4], [3], [4], [6]]


LINKS = network_text(BRAESS, 4, 4)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no line <END OF METADATA>"),
        (LINKS[:60], "has no line <END OF METADATA>"),
        (LINKS[: LINKS.rfind("\t2\t3")], r"<NUMBER OF LINKS> is 5, but there are 4 links: is the file complete\?"),
        (LINKS[:-30], "line 11: a link is ten numbers"),
        (LINKS.replace("LINKS> 5", "LINKS> 4"), "line [0-9]+: <NUMBER OF LINKS> is 4, but there are more"),
        (LINKS.replace("LINKS> 5", "LINKS> five"), "line 4: <NUMBER OF LINKS> must be an integer"),
        (LINKS.replace("NODES> 4", "NODES> 99999999999"), "line 2: <NUMBER OF NODES> must be an integer"),
        (LINKS.replace("NODES> 4", "NODES> 3"), "<NUMBER OF ZONES> is 4, but there are 3 nodes"),
        (LINKS.replace("NODE> 1", "NODE> 9"), "<FIRST THRU NODE> is 9, but there are 4 nodes"),
        (LINKS.replace("\t1\t2\t", "\t1\t5\t"), "line 8: term_node must be a node in 1 to 4, got 5"),
        (LINKS.replace("\t1\t2\t", "\t0\t2\t"), "line 8: init_node must be a node in 1 to 4, got 0"),
        (LINKS.replace("\t1\t2\t", "\t1.5\t2\t"), "line 8: init_node must be a node"),
        (LINKS.replace("\t1\t3\t1\t", "\t1\t3\t-1\t"), "line 9: capacity must be a number of 0 or more, got -1"),
        (LINKS.replace("\t1\t3\t1\t", "\t1\t3\t1e999\t"), "line 9: capacity must be a number of 0 or more, got inf"),
        (LINKS.replace("\t50\t", "\tnan\t"), "line 9: a link is ten numbers"),
        (LINKS.replace("\t50\t", "\tx\t"), "line 9: a link is ten numbers"),
        (LINKS.replace("\t50\t", "\t5\x000\t"), "line 9: a text file expected"),
        (LINKS + ("1" * 20 + " ") * 10 + "x\n", "a link is ten numbers"),
        ("a graph\n" + LINKS, "line 1: expected <NAME> and a value"),
    ],
)
def test_broken_networks(file, text, message):
    with pytest.raises(FormatError, match=message):
        roads.from_tntp(file(text))


TRIPS = trips_text([[0, 5, 2], [3, 0, 0], [1, 4, 0]])


def test_trips(file):
    assert roads.read_trips(file(TRIPS)).tolist() == [[0, 5, 2], [3, 0, 0], [1, 4, 0]]
    without = re.sub("<TOTAL[^\n]*\n", "", TRIPS)
    assert roads.read_trips(file(without)).sum() == 15


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TRIPS[: TRIPS.rfind("Origin")], r"<TOTAL OD FLOW> is 15, but the trips add up to 10: is the file complete\?"),
        (TRIPS[:-5], "line 10: expected 'Origin 1', or trips"),
        (TRIPS.replace("Origin 3", "Origin 4"), "line 9: origin 4 is not a zone: there are 3"),
        (TRIPS.replace("Origin 3", "Origin 0"), "line 9: origin 0 is not a zone"),
        (TRIPS.replace("Origin 3", "Origin 2"), "line 10: trips from 2 to 1 are given a second time"),
        (TRIPS.replace(" 3 : 2.0", " 7 : 2.0"), "line 6: destination 7 is not a zone"),
        (TRIPS.replace("5.0000", "-5.0"), "line 6: -5.0 trips to 2: a number of 0 or more expected"),
        (TRIPS.replace("5.0000", "1e999"), "line 6: inf trips to 2"),
        (TRIPS.replace("5.0000", "five"), "line 6: expected 'Origin 1', or trips"),
        (TRIPS + "1:11111111;" * 10 + "x\n", "expected 'Origin 1', or trips"),
        (TRIPS.replace("Origin 1\n", ""), "line 5: expected 'Origin 1', not"),
        (TRIPS.replace("FLOW> 15", "FLOW> many"), "line 2: <TOTAL OD FLOW> must be a number"),
    ],
)
def test_broken_trips(file, text, message):
    with pytest.raises(FormatError, match=message):
        roads.read_trips(file(text))


def test_a_file_that_is_not_there(tmp_path):
    for read in (roads.from_tntp, roads.read_trips):
        with pytest.raises(MissingFileError):
            read(tmp_path / "none.tntp")


@pytest.mark.parametrize("name", ["SiouxFalls", "Anaheim"])
def test_best_known_flows(name):
    if not DATA.is_dir():
        pytest.skip(f"there is no {DATA}")
    network, demand = roads.from_tntp(DATA / f"{name}_net.tntp"), roads.read_trips(DATA / f"{name}_trips.tntp")
    found = roads.assignment(network, demand)
    best = np.loadtxt(DATA / f"{name}_flow.tntp", skiprows=1)
    assert found.converged and found.gap <= 1e-6
    assert np.array_equal(np.stack([found.tail, found.head]), best[:, :2].T)
    assert np.abs(found.flows - best[:, 2]).sum() <= 1e-3 * best[:, 2].sum()
    found.verify()
