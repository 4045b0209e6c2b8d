"""Turns that are barred: beside a search of states of NetworkX, and the restrictions of OpenStreetMap's files."""

import itertools

import networkx
import numpy as np
import pandas
import pytest
from click.testing import CliRunner

import mgraph
from mgraph import roads
from mgraph.cli import main

pytestmark = [pytest.mark.filterwarnings("ignore::DeprecationWarning:osmium")]


def random_network(seed, costs=None):
    """Return a network without parallel links, some of whose turns are barred, and these."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 9))
    every = rng.permutation(n * n)[: int(rng.integers(2, 3 * n))]
    tail, head = every // n, every % n
    follow = [(first, second) for first in range(len(tail)) for second in np.flatnonzero(tail == head[first]).tolist()]
    barred = [pair for pair in follow if rng.random() < 0.4]
    columns = {"seconds": rng.uniform(1, 9, len(tail)), "metres": rng.uniform(10, 90, len(tail))}
    columns["seconds"][rng.random(len(tail)) < 0.05] = np.inf
    where = rng.uniform([24.9, 60], [24.92, 60.01], (n, 2))
    network = roads.Network(tail, head, columns, where, barred=barred)
    return network if costs is None else network.with_turn_costs(**costs), {tuple(map(int, pair)) for pair in barred}


def turn_cost(network, first, second, costs):
    """Return what a turn costs by the angle between the two straight lines."""
    scale = [np.cos(np.radians(60)), 1]
    before, after = (
        (network.coordinates[network.head[link]] - network.coordinates[network.tail[link]]) * scale
        for link in (first, second)
    )
    if not (before.any() and after.any()):
        return 0
    if network.tail[first] == network.head[second]:
        return costs["back"]
    others = (network.tail == network.head[first]) & (network.head != network.tail[first])
    if others.sum() < 2:
        return 0
    angle = np.degrees(np.angle(complex(*after) / complex(*before)))
    return costs["left"] if angle > 45 else costs["right"] if angle < -45 else 0


def random_places(network, seed):
    """Return all vertices, as ends of links, and positions on links, some of which share a street."""
    rng, n = np.random.default_rng(seed), network.graph.n
    vertices = network.nearest(network.coordinates)
    links = rng.choice(len(network.tail), 9)
    links[:4] = links[0]
    none = np.zeros(9)
    return vertices, roads.Places(network.tail[links], none, np.arange(n, n + 9), links, rng.random(9))


def states(network, barred, vertices, positions, costs=None):
    """Return a graph of NetworkX with the two ends of each link as vertices, and those that places begin and end at."""
    graph, pairs = networkx.DiGraph(), list(zip(network.tail.tolist(), network.head.tolist(), strict=True))
    cuts = {link: [] for link in range(len(pairs))}
    for place, (link, share) in enumerate(zip(positions.links.tolist(), positions.shares.tolist(), strict=True)):
        tail, head = pairs[link]
        cuts[link].append((share, ("at", place, link)))
        if tail != head and (head, tail) in pairs:
            back = pairs.index((head, tail))
            cuts[back].append((1 - share, ("at", place, back)))
    for link, (tail, head) in enumerate(pairs):
        stops = [(0, ("in", link)), *sorted(cuts[link]), (1, ("out", link))]
        for (share, name), (next_share, next_name) in itertools.pairwise(stops):
            graph.add_edge(name, next_name, weight=network.links["seconds"][link] * (next_share - share))
            for at in (name, next_name):
                if at[0] == "at":
                    graph.add_edge(("from", "place", at[1]), at, weight=0)
                    graph.add_edge(at, ("to", "place", at[1]), weight=0)
        graph.add_edge(("from", "vertex", tail), ("in", link), weight=0)
        graph.add_edge(("out", link), ("to", "vertex", head), weight=0)
        for other, (begin, _) in enumerate(pairs):
            if begin == head and (link, other) not in barred:
                cost = 0 if costs is None else turn_cost(network, link, other, costs)
                graph.add_edge(("out", link), ("in", other), weight=cost)
    for vertex in vertices.vertices.tolist():
        graph.add_edge(("from", "vertex", vertex), ("to", "vertex", vertex), weight=0)
    return graph


COSTS = {"left": 5, "right": 2, "back": 11}


@pytest.mark.parametrize("costs", [None, COSTS])
@pytest.mark.parametrize("seed", range(8))
def test_routes_with_barred_turns_are_those_of_a_search_of_states(seed, costs):
    network, barred = random_network(seed, costs)
    both = random_places(network, seed)
    graph = states(network, barred, *both, costs)
    lengths = dict(networkx.all_pairs_dijkstra_path_length(graph))
    named = [
        [(kind, row) for row in range(len(each.ids))] for kind, each in zip(("vertex", "place"), both, strict=True)
    ]
    for (starts, left), (ends, right) in itertools.product(zip(both, named, strict=True), repeat=2):
        expected = np.array([[lengths[("from", *a)].get(("to", *b), np.inf) for b in right] for a in left])
        expected[np.isinf(expected)] = np.nan
        found = network.table(starts, ends)
        np.testing.assert_allclose(found.seconds, expected, rtol=1e-9, atol=1e-9)
        near = network.nearest_of(starts, ends, k=2)
        np.testing.assert_allclose(near.weights, np.sort(expected)[:, :2], rtol=1e-9, atol=1e-9)
        for start, end in itertools.product(range(0, len(left), 4), range(len(right))):
            route = network.route(starts.row(start), ends.row(end))
            sums = [route.totals[name] for name in ("seconds", "metres")]
            wanted = [found.seconds[start, end], found.metres[start, end]]
            np.testing.assert_allclose(sums, wanted, rtol=1e-9, atol=1e-9)
            assert not barred & set(itertools.pairwise(route.links.tolist()))
            assert (network.head[route.links[:-1]] == network.tail[route.links[1:]]).all()


@pytest.mark.parametrize("costs", [None, COSTS])
@pytest.mark.parametrize("seed", range(4))
def test_isochrones_with_barred_turns_are_those_of_a_search_of_states(seed, costs):
    network, barred = random_network(seed, costs)
    vertices, positions = random_places(network, seed)
    graph, limit = states(network, barred, vertices, positions, costs), 11
    for places, kind in ((vertices, "vertex"), (positions, "place")):
        for row, (reached,) in enumerate(network.isochrones(places, [limit]).reached):
            start = "from", kind, row
            seconds = networkx.single_source_dijkstra_path_length(graph, start) if start in graph else {}
            entered = np.array([seconds.get(("in", link), np.inf) for link in range(len(network.tail))])
            seconds = network.links["seconds"]
            shares = np.where(np.isinf(seconds), 0, np.clip((limit - entered) / np.minimum(seconds, 1e9), 0, 1))
            from_tail = reached.begins == 0
            assert reached.links[from_tail].tolist() == np.flatnonzero(shares).tolist()
            np.testing.assert_allclose(reached.shares[from_tail], shares[shares > 0], rtol=1e-9)


def test_no_barred_turn_is_as_no_rule_of_turns():
    network, _ = random_network(3)
    plain, free = (
        roads.Network(network.tail, network.head, network.links, network.coordinates, barred=each)
        for each in (None, [])
    )
    for name in ("seconds", "metres"):
        np.testing.assert_allclose(
            getattr(free.table(network.coordinates), name), getattr(plain.table(network.coordinates), name)
        )


def test_the_largest_component_keeps_its_barred_turns():
    where = [[24.9, 60.0], [24.91, 60.0], [24.92, 60.0], [24.93, 60.0], [24.94, 60.0]]
    network = roads.Network([0, 2, 3], [1, 3, 4], {"seconds": [1, 2, 3]}, where, barred=[[1, 2]])
    kept = network.largest_component()
    assert kept.table(where[2:4], where[3:]).seconds.tolist() == [[2.0, pytest.approx(np.nan, nan_ok=True)], [0.0, 3.0]]


@pytest.mark.parametrize("barred", [[[0, 5]], [[-1, 0]], [0, 1], [[0.5, 1]]])
def test_barred_turns_are_checked(barred):
    with pytest.raises(mgraph.InputError, match="barred must be"):
        roads.Network([0, 1], [1, 0], {"seconds": [1, 1]}, [[24.9, 60.0], [24.91, 60.0]], barred=barred)


# A crossing of nodes 1 (west), 2 (north), 3 (east) and 4 (south) around 5. Way k leads from node k to 5, way 6 from
# node 3 to 7, all in both directions.
WHERE = {1: (24.89, 60.0), 2: (24.9, 60.01), 3: (24.91, 60.0), 4: (24.9, 59.99), 5: (24.9, 60.0), 7: (24.92, 60.0)}
CROSSING = [(1, (1, 5)), (2, (2, 5)), (3, (3, 5)), (4, (4, 5)), (6, (3, 7))]
NORTH, EAST, SOUTH = (1, 2), (1, 3), (1, 4)


def crossing(folder, relations, mode="drive", **options):
    """Return the network of the crossing with relations as (tags, members as (role, type, id))."""
    pytest.importorskip("osmium")

    def tags(given):
        return "".join(f'<tag k="{key}" v="{value}"/>' for key, value in given.items())

    lines = [f'<node id="{each}" version="1" lat="{lat}" lon="{lon}"/>' for each, (lon, lat) in WHERE.items()]
    for number, refs in CROSSING:
        inner = "".join(f'<nd ref="{ref}"/>' for ref in refs)
        lines.append(f'<way id="{number}" version="1">{inner}{tags({"highway": "residential"})}</way>')
    for number, (own, members) in enumerate(relations, 1):
        inner = "".join(f'<member type="{kind}" ref="{ref}" role="{role}"/>' for role, kind, ref in members)
        lines.append(f'<relation id="{number}" version="1">{inner}{tags({"type": "restriction"} | own)}</relation>')
    path = folder / "crossing.osm"
    path.write_text(f'<?xml version="1.0"?><osm version="0.6">{"".join(lines)}</osm>')
    return roads.read_osm(path, mode, **({"turns": True} | options))


def straight(network):
    """Return the pairs of nodes between which a route crosses node 5 at once, and no other."""
    nodes = [1, 2, 3, 4]
    places = network.nearest([WHERE[node] for node in nodes])
    found = set()
    for (row, start), (column, end) in itertools.product(enumerate(nodes), repeat=2):
        if network.route(places.row(row), places.row(column)).ids.tolist() == [start, 5, end]:
            found.add((start, end))
    return found


ALL = {(start, end) for start in (1, 2, 3, 4) for end in (1, 2, 3, 4) if start != end}


def members(source, target, via=("node", 5)):
    return [("from", "way", source), ("via", *via), ("to", "way", target)]


@pytest.mark.parametrize(
    ("tags", "mode", "missing"),
    [
        ({"restriction": "no_left_turn"}, "drive", {NORTH}),
        ({"restriction": "only_left_turn"}, "drive", {EAST, SOUTH}),
        ({"restriction": "no_left_turn"}, "bike", {NORTH}),
        ({"restriction": "no_left_turn", "except": "psv;bicycle"}, "bike", set()),
        ({"restriction": "no_left_turn", "except": "psv;bicycle"}, "drive", {NORTH}),
        ({"restriction:bicycle": "no_left_turn"}, "drive", set()),
        ({"restriction:motor_vehicle": "only_left_turn"}, "drive", {EAST, SOUTH}),
        ({"restriction:conditional": "no_left_turn @ (07:00-09:00)"}, "drive", set()),
        ({"restriction": "no_left_turn"}, "walk", set()),
        ({"restriction:foot": "no_left_turn"}, "walk", {NORTH}),
        ({"restriction": "give_way"}, "drive", set()),
        ({"restriction": "no_left_turn", "except": "psv; bicycle"}, "bike", set()),
        ({"restriction": "no_left_turn", "hour_on": "07:00", "hour_off": "09:00"}, "drive", set()),
        ({"type": "route", "restriction": "no_left_turn"}, "drive", set()),
    ],
)
def test_restrictions_of_turns(tmp_path, tags, mode, missing):
    found = straight(crossing(tmp_path, [(tags, members(1, 2))], mode))
    assert found == ALL - missing


def test_restrictions_of_several_ways_by_ways_and_of_what_is_not_there(tmp_path):
    rule = {"restriction": "no_entry"}
    several = [("from", "way", 1), ("from", "way", 3), ("via", "node", 5), ("to", "way", 2)]
    assert straight(crossing(tmp_path, [(rule, several)])) == ALL - {(1, 2), (3, 2)}
    by_way, elsewhere, nowhere = members(1, 2, ("way", 3)), members(1, 2, ("node", 77)), members(1, 99)
    relations = [(rule, by_way), (rule, elsewhere), ({"restriction": "only_left_turn"}, nowhere), (rule, [])]
    assert straight(crossing(tmp_path, relations)) == ALL


def test_a_ban_of_turning_back_on_a_way_leaves_the_way_on(tmp_path):
    rule = {"restriction": "no_u_turn"}
    assert crossing(tmp_path, [(rule, members(3, 3))]).route(WHERE[5], WHERE[3]).ids.tolist() == [5, 3]
    nodes = "".join(f'<node id="{each}" lat="60" lon="{24.9 + each / 100}"/>' for each in range(5))
    nodes += '<node id="5" lat="60.01" lon="24.92"/>'
    street, side = ("".join(f'<nd ref="{each}"/>' for each in refs) for refs in ((1, 2, 3), (2, 5)))
    ways = "".join(f'<way id="{k}">{refs}<tag k="highway" v="road"/></way>' for k, refs in ((1, street), (2, side)))
    inner = "".join(
        f'<member type="{kind}" ref="{ref}" role="{role}"/>' for role, kind, ref in members(1, 1, ("node", 2))
    )
    tags = '<tag k="type" v="restriction"/><tag k="restriction" v="no_u_turn"/>'
    path = tmp_path / "street.osm"
    path.write_text(f'<osm version="0.6">{nodes}{ways}<relation id="1">{inner}{tags}</relation></osm>')
    network = roads.read_osm(path, turns=True)
    assert network.route(1, 3, ids=True).ids.tolist() == [1, 2, 3]


def test_cars_turn_back_only_where_a_street_ends(tmp_path):
    bans = [({"restriction": "only_straight_on"}, members(1, 3))]
    found = crossing(tmp_path, bans)
    assert found.route(WHERE[1], WHERE[2]).ids.tolist() == [1, 5, 3, 7, 3, 5, 2]
    walked = crossing(tmp_path, [({"restriction:foot": "only_straight_on"}, members(1, 3))], "walk")
    assert walked.route(WHERE[1], WHERE[2]).ids.tolist() == [1, 5, 3, 5, 2]
    plain = crossing(tmp_path, bans, turns=False)
    assert plain.route(WHERE[1], WHERE[2]).ids.tolist() == [1, 5, 2]


def test_a_barred_turn_back_leaves_no_way(tmp_path):
    bans = [
        ({"restriction": "only_straight_on"}, members(1, 3)),
        ({"restriction": "no_u_turn"}, members(6, 6, ("node", 7))),
    ]
    found = crossing(tmp_path, bans)
    assert np.isnan(found.table([WHERE[1]], [WHERE[2]]).seconds).all()
    assert found.route(WHERE[1], WHERE[7]).ids.tolist() == [1, 5, 3, 7]


def test_turns_cost_by_their_side_and_bends_nothing(tmp_path):
    plain = crossing(tmp_path, [], turns=False)
    costly = plain.with_turn_costs(left=6, right=3, back=20)
    places = plain.nearest([WHERE[node] for node in (1, 2, 3, 4)])
    added = costly.table(places).seconds - plain.table(places).seconds
    # West, north, east and south lie clockwise: the next one is on the left of who comes, the last one on the right.
    np.testing.assert_allclose(added, [[0, 6, 0, 3], [3, 0, 6, 0], [0, 3, 0, 6], [6, 0, 3, 0]], atol=1e-9)
    np.testing.assert_allclose(costly.table(places, weight="metres").metres, plain.table(places).metres)
    route = costly.route(WHERE[1], WHERE[2])
    assert route.totals["seconds"] == pytest.approx(costly.table(places).seconds[0, 1])
    where = [[24.9, 60.0], [24.91, 60.0], [24.91, 60.01]]
    bend = roads.Network([0, 1, 1, 2], [1, 0, 2, 1], {"seconds": [1, 1, 1, 1]}, where)
    assert bend.with_turn_costs(6, 3, 20).table(where).seconds.tolist() == bend.table(where).seconds.tolist()


def test_turning_back_costs_where_a_restriction_makes_one_turn_back(tmp_path):
    rules = crossing(tmp_path, [({"restriction": "only_straight_on"}, members(1, 3))], component="weak")
    costly = rules.with_turn_costs(back=20).largest_component()
    (free,), (found,) = (each.table([WHERE[1]], [WHERE[2]]).seconds for each in (rules, costly))
    np.testing.assert_allclose(found, free + 20)
    assert costly.route(WHERE[1], WHERE[2]).ids.tolist() == [1, 5, 3, 7, 3, 5, 2]


@pytest.mark.parametrize("costs", [{"left": -1}, {"back": np.nan}, {"right": "3"}, {"weight": "miles"}])
def test_costs_of_turns_are_checked(costs):
    network = roads.Network([0, 1], [1, 0], {"seconds": [1, 1]}, [[24.9, 60.0], [24.91, 60.0]])
    with pytest.raises(mgraph.InputError, match=f"{next(iter(costs))} must be"):
        network.with_turn_costs(**costs)


def test_links_without_length_have_no_side():
    where = [[24.9, 60.0], [24.9, 60.0], [24.91, 60.0], [24.9, 60.01]]
    network = roads.Network([0, 1, 1, 1], [1, 2, 3, 0], {"seconds": [1, 1, 1, 1]}, where)
    assert network.with_turn_costs(6, 3, 20).table(where[:1], where[2:]).seconds.tolist() == [[2, 2]]


def test_turns_is_a_flag(tmp_path):
    with pytest.raises(mgraph.InputError, match="turns must be"):
        crossing(tmp_path, [], turns="yes")


def test_the_command_honours_turns(tmp_path):
    crossing(tmp_path, [({"restriction": "no_left_turn"}, members(1, 2))])
    points = "".join(f"{node},{lon},{lat}\n" for node, (lon, lat) in WHERE.items())
    (tmp_path / "a.csv").write_text("id,lon,lat\n" + points)
    words = ["roads", "table", str(tmp_path / "crossing.osm"), "--origins", str(tmp_path / "a.csv")]
    seconds = []
    for name, options in (("t.csv", ["--turns"]), ("plain.csv", []), ("c.csv", ["--turn-seconds", "0,4,0"])):
        done = CliRunner().invoke(main, [*words, "--out", str(tmp_path / name), *options])
        assert done.exit_code == 0, done.output
        seconds.append(pandas.read_csv(tmp_path / name).set_index(["origin", "destination"]).seconds)
    longer = [each[each > seconds[1] + 1e-6] for each in seconds]
    assert set(longer[0].index) == {(1, 2)}
    assert {(1, 4), (2, 1), (3, 2), (4, 3)} <= set(longer[2].index) <= {(1, 4), (2, 1), (3, 2), (4, 3), (7, 2), (4, 7)}
    done = CliRunner().invoke(main, [*words, "--out", str(tmp_path / "no.csv"), "--turn-seconds", "1,2"])
    assert done.exit_code == 2 and "turn-seconds must be three numbers" in done.output


def test_a_place_behind_on_the_same_street_is_reached_by_a_round():
    where = [[24.9, 60.0], [24.91, 60.0], [24.905, 60.01], [24.89, 59.99]]
    columns = {"seconds": [8, 5, 7, np.inf], "metres": [80, 50, 70, 1]}
    network = roads.Network([0, 1, 2, 0], [1, 2, 0, 3], columns, where).with_turn_costs(left=3, right=2, back=9)
    rows = np.arange(3)
    places = roads.Places(rows * 0, rows * 0.0, rows, links=np.array([0, 0, 3]), shares=np.array([0.25, 0.75, 0.5]))
    found = network.table(places)
    near = network.nearest_of(places.row(1), places.row(0))
    route = network.route(places.row(1), places.row(0))
    # Two crossings lead on in one way; the third turn is one to the left.
    assert route.totals == {"seconds": found.seconds[1, 0], "metres": found.metres[1, 0]}
    assert near.weights.tolist() == [[found.seconds[1, 0]]] and found.metres[1, 0] == 160
    assert found.seconds[1, 0] == 2 + 5 + 7 + 3 + 2
    np.testing.assert_allclose(found.seconds[:2, :2], [[0, 4], [19, 0]])
    assert np.isnan(found.seconds[2, :2]).all() and np.isnan(found.seconds[:2, 2]).all()
