"""Networks of streets: files of OpenStreetMap, tables beside NetworkX, routes, isochrones, frames and the commands."""

import bz2
import gzip
import itertools
import json
import subprocess
import sys
import zlib

import networkx
import numpy as np
import pandas
import pytest
from click.testing import CliRunner

import mgraph
from mgraph import roads
from mgraph.cli import main
from mgraph.roads import isochrones, osm, table
from mgraph.roads.turns import Rules
from tests.support.memory import measured

pytestmark = [pytest.mark.filterwarnings("ignore::DeprecationWarning:osmium")]
SIDE, STEP = 7, 0.002
MODES = ("drive", "bike", "walk")


def text_of(nodes, ways):
    """Return a file of OpenStreetMap: nodes as id -> (lon, lat, tags), ways as (refs, tags)."""

    def tags(given):
        return "".join(f'<tag k="{key}" v="{value}"/>' for key, value in given.items())

    lines = [
        f'<node id="{each}" version="1" lat="{lat}" lon="{lon}">{tags(own)}</node>'
        for each, (lon, lat, own) in nodes.items()
    ]
    for number, (refs, own) in enumerate(ways, 1):
        inner = "".join(f'<nd ref="{ref}"/>' for ref in refs)
        lines.append(f'<way id="{number}" version="1">{inner}{tags(own)}</way>')
    return f'<?xml version="1.0"?><osm version="0.6">{"".join(lines)}</osm>'


def line(count):
    return {each: (24.9 + STEP * each, 60.0, {}) for each in range(1, count + 1)}


def read(folder, nodes, ways, mode="drive", **options):
    path = folder / "town.osm"
    path.write_text(text_of(nodes, ways))
    return roads.read_osm(path, mode, **options)


def town(side=SIDE, cut=3):
    """Return a grid of streets, some one-way, some for cars or feet alone, with ids beyond 32 bits."""
    rng, first = np.random.default_rng(5), 1 << 40
    nodes = {
        first + side * row + column: (24.9 + STEP * column, 60 + STEP * row / 2, {})
        for row in range(side)
        for column in range(side)
    }
    kinds = ("residential", "primary", "footway", "cycleway", "tertiary", "unclassified")
    ways = []
    for k in range(side):
        row, column = [first + side * k + j for j in range(side)], [first + side * j + k for j in range(side)]
        for refs in (row[: cut + 1], row[cut:], column[: cut + 2], column[cut + 1 :]):
            own = {"highway": str(rng.choice(kinds)), "oneway": str(rng.choice(["yes", "no", "-1"]))}
            ways.append((refs, own | ({"maxspeed": "20 mph"} if rng.random() < 0.3 else {})))
    return nodes, ways


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return the town as a file of each format."""
    osmium = pytest.importorskip("osmium")
    folder = tmp_path_factory.mktemp("town")
    text = text_of(*town())
    (folder / "town.osm").write_text(text)
    (folder / "town.osm.xml.gz").write_bytes(gzip.compress(text.encode()))
    with osmium.SimpleWriter(str(folder / "town.osm.pbf")) as writer:
        for each in osmium.FileProcessor(str(folder / "town.osm")):
            writer.add(each)
    return folder


@pytest.fixture(scope="module")
def network(files):
    return roads.read_osm(files / "town.osm.pbf", "walk")


def every(network):
    return roads.Places(np.arange(network.graph.n), np.zeros(network.graph.n), network.ids)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["town.osm.pbf", "town.osm.xml.gz"])
def test_tables_equal_those_of_networkx(files, name, mode):
    network = roads.read_osm(files / name, mode)
    graph = networkx.MultiDiGraph()
    graph.add_nodes_from(range(network.graph.n))
    graph.add_weighted_edges_from(zip(network.tail, network.head, network.links["seconds"], strict=True))
    found = network.table(every(network))
    expected = np.full((network.graph.n,) * 2, np.nan)
    for source, row in networkx.all_pairs_dijkstra_path_length(graph):
        expected[source, list(row)] = list(row.values())
    np.testing.assert_allclose(found.seconds, expected, rtol=1e-12)
    assert (np.isnan(found.metres) == np.isnan(expected)).all()
    assert network.ids.min() >= 1 << 40


@pytest.mark.parametrize("mode", MODES)
def test_ten_thousand_pairs_of_a_file_equal_those_of_networkx(tmp_path, mode):
    pytest.importorskip("osmium")
    network = read(tmp_path, *town(16, 8), mode, geometry=False)
    graph = networkx.MultiDiGraph()
    graph.add_nodes_from(network.ids.tolist())
    ends = network.ids[network.tail].tolist(), network.ids[network.head].tolist()
    graph.add_weighted_edges_from(zip(*ends, network.links["seconds"], strict=True))
    rng = np.random.default_rng(7)
    starts, ends = (rng.permutation(network.ids)[:100].tolist() for _ in range(2))
    found = network.table(starts, ends, ids=True).seconds
    lengths = {start: networkx.single_source_dijkstra_path_length(graph, start) for start in starts}
    expected = np.array([[lengths[start].get(end, np.nan) for end in ends] for start in starts])
    assert found.size == 10_000 and np.isfinite(found).sum() > 1000
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_streets_without_their_geometry_are_straight(tmp_path):
    pytest.importorskip("osmium")
    nodes = line(3) | {2: (24.904, 60.01, {})}
    bent, straight = (
        read(tmp_path, nodes, [([1, 2, 3], {"highway": "road"})], geometry=each) for each in (True, False)
    )
    assert (len(bent.shape(1)), len(straight.shape(1))) == (3, 2)
    np.testing.assert_array_equal(straight.shape(1), bent.shape(1)[[0, 2]])
    assert all(straight.links[name].tolist() == column.tolist() for name, column in bent.links.items())


@pytest.mark.parametrize(
    ("tags", "mode", "expected"),
    [
        ({"highway": "residential"}, "drive", {(1, 3), (3, 1)}),
        ({"highway": "residential", "oneway": "yes"}, "drive", {(1, 3)}),
        ({"highway": "residential", "oneway": "-1"}, "drive", {(3, 1)}),
        ({"highway": "motorway"}, "drive", {(1, 3)}),
        ({"highway": "residential", "junction": "roundabout"}, "drive", {(1, 3)}),
        ({"highway": "residential", "oneway": "yes", "oneway:bicycle": "no"}, "bike", {(1, 3), (3, 1)}),
        ({"highway": "residential", "oneway": "yes", "cycleway": "opposite_lane"}, "bike", {(1, 3), (3, 1)}),
        ({"highway": "residential", "oneway": "yes"}, "walk", {(1, 3), (3, 1)}),
        ({"highway": "residential", "access": "no", "foot": "yes"}, "walk", {(1, 3), (3, 1)}),
        ({"highway": "footway", "bicycle": "designated"}, "bike", {(1, 3), (3, 1)}),
        ({"highway": "steps"}, "walk", {(1, 3), (3, 1)}),
        ({"highway": "road", "oneway": "true"}, "drive", {(1, 3)}),
        ({"highway": "road", "oneway": "1"}, "bike", {(1, 3)}),
        ({"highway": "road", "oneway": "reverse"}, "drive", {(3, 1)}),
        ({"highway": "motorway", "oneway": "no"}, "drive", {(1, 3), (3, 1)}),
        ({"highway": "road", "junction": "roundabout", "oneway": "-1"}, "drive", {(3, 1)}),
        ({"highway": "road", "junction": "circular"}, "bike", {(1, 3)}),
        ({"highway": "road", "junction": "roundabout"}, "walk", {(1, 3), (3, 1)}),
        ({"highway": "road", "motor_vehicle:backward": "no"}, "drive", {(1, 3)}),
        ({"highway": "road", "motor_vehicle:backward": "no"}, "bike", {(1, 3), (3, 1)}),
        ({"highway": "road", "vehicle:forward": "no", "bicycle:forward": "yes"}, "bike", {(1, 3), (3, 1)}),
        ({"highway": "road", "vehicle:forward": "no", "bicycle:forward": "yes"}, "drive", {(3, 1)}),
        ({"highway": "road", "oneway": "yes", "bicycle:backward": "yes"}, "bike", {(1, 3), (3, 1)}),
        ({"highway": "road", "motor_vehicle": "forestry;destination"}, "drive", {(1, 3), (3, 1)}),
        ({"highway": "footway", "bicycle": "yes;designated"}, "bike", {(1, 3), (3, 1)}),
        ({"highway": "road", "oneway": "reversible"}, "bike", {(1, 3), (3, 1)}),
        ({"highway": "road", "oneway": "reversible"}, "walk", {(1, 3), (3, 1)}),
        ({"highway": "motorway", "oneway": "reversible", "motorcar:forward": "yes"}, "drive", {(1, 3)}),
        ({"highway": "road", "oneway": "alternating"}, "drive", {(1, 3), (3, 1)}),
        ({"highway": "road", "junction": "roundabout", "oneway": "alternating"}, "bike", {(1, 3), (3, 1)}),
    ],
)
def test_tags_say_which_directions_are_open(tmp_path, tags, mode, expected):
    pytest.importorskip("osmium")
    network = read(tmp_path, line(3), [([1, 2, 3], tags)], mode)
    pairs = zip(network.ids[network.tail].tolist(), network.ids[network.head].tolist(), strict=True)
    assert set(pairs) == expected


@pytest.mark.parametrize(
    ("tags", "mode"),
    [
        ({"highway": "residential", "motor_vehicle": "private"}, "drive"),
        ({"highway": "road", "motor_vehicle": "agricultural; forestry"}, "drive"),
        ({"highway": "road", "vehicle:forward": "no", "vehicle:backward": "no"}, "drive"),
        ({"route": "ferry"}, "drive"),
        ({"highway": "footway"}, "drive"),
        ({"highway": "motorway"}, "walk"),
        ({"highway": "steps"}, "bike"),
        ({"highway": "pedestrian", "area": "yes"}, "walk"),
        ({"highway": "proposed"}, "walk"),
        ({"waterway": "river"}, "drive"),
    ],
)
def test_a_file_without_a_street_of_the_mode_is_refused(tmp_path, tags, mode):
    pytest.importorskip("osmium")
    with pytest.raises(mgraph.InputError, match=f"no street for mode='{mode}'"):
        read(tmp_path, line(3), [([1, 2, 3], tags)], mode)


@pytest.mark.parametrize(
    ("limit", "speed"), [("50", 50), ("30 mph", 48.28032), ("walk", 5), ("0", 30), ("none", 30), ("40;60", 40)]
)
def test_the_limit_of_speed(tmp_path, limit, speed):
    pytest.importorskip("osmium")
    network = read(tmp_path, line(2), [([1, 2], {"highway": "residential", "maxspeed": limit})])
    np.testing.assert_allclose(network.links["metres"] / network.links["seconds"] * 3.6, speed)


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ({"highway": "residential"}, (600, 600)),
        ({"highway": "motorway"}, (4000,)),
        ({"highway": "primary", "lanes": "4"}, (3000, 3000)),
        ({"highway": "primary", "lanes": "1"}, (1500, 1500)),
        ({"highway": "primary", "lanes": "3", "oneway": "yes"}, (4500,)),
        ({"highway": "secondary", "lanes": "3", "lanes:forward": "2", "lanes:backward": "1"}, (2000, 1000)),
        ({"highway": "secondary", "lanes": "many", "lanes:forward": "0"}, (1000, 1000)),
        ({"highway": "residential", "oneway": "-1", "lanes": "2"}, (1200,)),
    ],
)
def test_the_capacity_is_that_of_the_lanes(tmp_path, tags, expected):
    pytest.importorskip("osmium")
    assert tuple(read(tmp_path, line(2), [([1, 2], tags)], capacity=True).links["capacity"].tolist()) == expected


def test_the_streets_of_a_file_carry_traffic(files):
    network = roads.read_osm(files / "town.osm.pbf", capacity=True, component="strong")
    zones = network.nearest(network.coordinates[:: max(1, network.graph.n // 6)])
    found = roads.assignment(network, np.full((len(zones.ids),) * 2, 300.0), zones, gap=1e-4)
    assert found.converged and (found.flows > 0).any()
    found.verify()
    with pytest.raises(mgraph.InputError, match="capacity must be False for mode='walk'"):
        roads.read_osm(files / "town.osm.pbf", "walk", capacity=True)


def test_the_command_assigns_trips_to_streets(files, tmp_path):
    (tmp_path / "zones.csv").write_text("id,lon,lat\nhome,24.9,60.0\nwork,24.91,60.004\n")
    (tmp_path / "trips.csv").write_text("origin,destination,trips\nhome,work,700\nwork,home,20.5\n")
    town = str(files / "town.osm.pbf")
    words = ["roads", "assign", town, str(tmp_path / "trips.csv"), "--zones", str(tmp_path / "zones.csv"), "--turns"]
    done = CliRunner().invoke(main, [*words, "--out", str(tmp_path / "flows.csv"), "--json"])
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    assert (facts["zones"], facts["demand"], facts["converged"]) == (2, 720.5, True)
    network = roads.read_osm(town, component="strong", turns=True, capacity=True)
    places = network.nearest([[24.9, 60.0], [24.91, 60.004]])
    expected = roads.assignment(network, [[0, 700], [20.5, 0]], places)
    assert pandas.read_csv(tmp_path / "flows.csv").flow.tolist() == expected.flows.tolist() and expected.flows.any()
    assert CliRunner().invoke(main, ["roads", "assign", town, town, "--turns"]).exit_code == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("origin,destination\na,b\n", "no columns origin, destination and trips"),
        ("origin,destination,trips\na,c,1\n", "line 2: 'c' is not the id of a zone"),
        ("origin,destination,trips\na,b,1\na,b,1\n", "line 3: trips from 'a' to 'b' are given a second time"),
        ("origin,destination,trips\na,b,-1\n", "line 2: expected trips as a number of 0 or more, got '-1'"),
        ("origin,destination,trips\na,b,many\n", "line 2: expected trips"),
        ("origin,destination,trips\na,b\n", "line 2: expected trips"),
        ("origin,destination,trips\na\n", "line 2: None is not the id"),
    ],
)
def test_demand_in_a_file_is_checked(tmp_path, text, words):
    (tmp_path / "trips.csv").write_text(text)
    with pytest.raises(mgraph.FormatError, match=words):
        roads.read_demand(tmp_path / "trips.csv", ["a", "b"])
    with pytest.raises(mgraph.MissingFileError):
        roads.read_demand(tmp_path / "none.csv", ["a", "b"])


def test_zones_of_one_id_are_refused(tmp_path):
    (tmp_path / "trips.csv").write_text("origin,destination,trips\n1,2,5\n")
    with pytest.raises(mgraph.InputError, match="zones must be ids of which no two are alike, got '1'"):
        roads.read_demand(tmp_path / "trips.csv", [1, 2, "1"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id,lon,lat\na,24.9,60\nb,24.9,60\na,24.9,60\n", "line 4: the id 'a' is given a second time"),
        ("lon,lat,id\n24.9,60,a\n24.9,60\n", "line 3: expected an id, got None"),
        ("id,lon,lat\n,24.9,60\n", "line 2: expected an id, got ''"),
        ("id,lon,lat\na,24,9,60,1\n", "line 2: '60' is one field more than the first line names"),
        ("id,lon,lat\na,24.9\n", "line 2: expected two numbers"),
        ("id,lon,lat\na,24.9,inf\n", "line 2: expected two numbers"),
        ("id,lon,latitude\na,24.9,60\n", "no columns lon and lat"),
        ("lon,lat,Lon\n24.9,60,24.8\n", "has two columns 'lon'"),
        ("id,lon,lat\n", "has no points below its first line"),
    ],
)
def test_points_in_a_file_are_checked(tmp_path, text, words):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(mgraph.FormatError, match=words):
        roads.read_points(tmp_path / "a.csv")


def test_ids_of_points_keep_the_zeros_in_front(tmp_path):
    (tmp_path / "a.csv").write_text("id, lon, lat\n00100, 24.9, 60\n200, 24.91, 60,,\n")
    points, ids = roads.read_points(tmp_path / "a.csv")
    assert ids.tolist() == ["00100", "200"] and points.tolist() == [[24.9, 60], [24.91, 60]]
    (tmp_path / "trips.csv").write_text("origin,destination,trips\n00100,200,5\n")
    assert roads.read_demand(tmp_path / "trips.csv", ids).tolist() == [[0, 5], [0, 0]]
    (tmp_path / "a.csv").write_text("id,lon,lat\n100,24.9,60\n")
    assert roads.read_points(tmp_path / "a.csv")[1].tolist() == [100]


def test_lengths_are_those_on_the_sphere(tmp_path):
    pytest.importorskip("osmium")
    network = read(tmp_path, {1: (0, 0, {}), 2: (1, 0, {})}, [([1, 2], {"highway": "primary"})])
    np.testing.assert_allclose(network.links["metres"], np.radians(1) * 6_371_008.8)


def test_ways_are_cut_at_crossings_and_where_nodes_are_missing(tmp_path):
    pytest.importorskip("osmium")
    street = {"highway": "residential", "oneway": "yes"}
    nodes = line(6)
    del nodes[5]
    nodes[7] = (24.9, 60.01, {})
    network = read(tmp_path, nodes, [([1, 2, 2, 3, 4, 5, 6], street), ([7, 3], street)])
    pairs = sorted(zip(network.ids[network.tail].tolist(), network.ids[network.head].tolist(), strict=True))
    assert pairs in ([(1, 3), (3, 4), (7, 3)], [(1, 2), (2, 3), (3, 4), (7, 3)])
    assert (network.links["metres"] > 0).all()


def test_a_closed_way_is_a_loop_with_its_length(tmp_path):
    pytest.importorskip("osmium")
    nodes = {1: (24.9, 60.0, {}), 2: (24.91, 60.0, {}), 3: (24.905, 60.01, {}), 4: (24.89, 60.0, {})}
    street = {"highway": "residential"}
    network = read(tmp_path, nodes, [([1, 2, 3, 1], street), ([4, 1], street)])
    loops = network.tail == network.head
    assert sorted(network.ids.tolist()) == [1, 4] and loops.sum() == 2
    np.testing.assert_allclose(network.shape(int(np.argmax(loops)))[[0, -1]], [[24.9, 60.0]] * 2)


def test_deleted_objects_are_left_out(tmp_path):
    pytest.importorskip("osmium")
    text = text_of(line(4), [([1, 2], {"highway": "road"}), ([2, 3, 4], {"highway": "road"})])
    path = tmp_path / "town.osm"
    for gone, kept in (('<way id="1" ', [2, 4]), ('<node id="4" ', [1, 2, 3])):
        path.write_text(text.replace(gone, f'{gone}visible="false" '))
        assert roads.read_osm(path).ids.tolist() == kept


def test_streets_that_change_their_direction(tmp_path):
    pytest.importorskip("osmium")
    ways = [([1, 2], {"highway": "road"}), ([2, 3], {"highway": "road", "oneway": "alternating"})]
    ways.append(([3, 4], {"highway": "road", "oneway": "reversible"}))
    drive, walk = (read(tmp_path, line(4), ways, mode) for mode in ("drive", "walk"))
    assert (drive.ids.tolist(), walk.ids.tolist()) == ([1, 2, 3], [1, 2, 3, 4])
    speeds = (drive.links["metres"] / drive.links["seconds"] * 3.6).round(9).tolist()
    assert sorted(speeds) == [12.0, 12.0, 30.0, 30.0]
    assert np.ptp(walk.links["metres"] / walk.links["seconds"]) < 1e-9


@pytest.mark.parametrize("quote", ["'", '"'])
@pytest.mark.parametrize("suffix, between", [(".osm", ">\n<"), (".osm.gz", "><"), (".osm.bz2", f">{' ' * 300_000}<")])
def test_what_was_deleted_in_josm_is_left_out(tmp_path, quote, suffix, between):
    pytest.importorskip("osmium")
    text = text_of(line(4), [([1, 2], {"highway": "road"}), ([2, 3, 4], {"highway": "road"})])
    text = text.replace("<osm ", '<osm generator="JOSM" ').replace("><", between).replace('"', quote)
    path = tmp_path / f"town{suffix}"
    for gone, kept in ((f"<way id={quote}1{quote} ", [2, 4]), (f"<node id={quote}4{quote} ", [1, 2, 3])):
        content = text.replace(gone, f"{gone}action={quote}delete{quote} visible={quote}true{quote} ").encode()
        assert content != text.encode()
        content = content.replace(between.encode(), b"><", 1)  # JOSM names itself at the beginning
        path.write_bytes({".gz": gzip.compress, ".bz2": bz2.compress}.get(path.suffix, bytes)(content))
        assert roads.read_osm(path).ids.tolist() == kept


def test_a_bollard_stops_cars_alone(tmp_path):
    pytest.importorskip("osmium")
    nodes = line(5)
    nodes[3] = (*nodes[3][:2], {"barrier": "bollard"})
    ways = [([1, 2, 3, 4, 5], {"highway": "residential"})]
    ends = [[nodes[1][:2]], [nodes[5][:2]]]
    assert np.isnan(read(tmp_path, nodes, ways).table(*ends).seconds).all()
    assert read(tmp_path, nodes, ways, "walk").table(*ends).seconds.item() > 0


def test_an_extract_by_a_box_and_by_a_polygon(files):
    west, south, east, north = box = (24.899, 59.999, 24.9051, 60.0041)
    ring = [(west, south), (east, south), (east, north), (west, north)]
    boxed, cut = (roads.read_osm(files / "town.osm", "walk", extract=each) for each in (box, ring))
    assert 0 < boxed.graph.n < SIDE * SIDE
    assert boxed.ids.tolist() == cut.ids.tolist() and boxed.links["metres"].tolist() == cut.links["metres"].tolist()
    with pytest.raises(mgraph.InputError, match="within the extract"):
        roads.read_osm(files / "town.osm", "walk", extract=(0, 0, 1, 1))
    for wrong in ((5, 0, 1, 1), (385_000, 6_671_000, 386_000, 6_672_000), np.add(ring, [385_000, 6_671_000])):
        with pytest.raises(mgraph.InputError, match=r"extract must be .* in degrees"):
            roads.read_osm(files / "town.osm", "walk", extract=wrong)


def test_an_extract_that_geopandas_does_not_unite(files):
    class Shapes:
        crs = None

        def union_all(self):
            raise RuntimeError("TopologyException: side location conflict")

    with pytest.raises(mgraph.InputError, match=r"extract must be .*its shapes: TopologyException"):
        roads.read_osm(files / "town.osm", extract=Shapes())


def test_an_extract_of_geopandas(files):
    geopandas, shapely = (pytest.importorskip(name) for name in ("geopandas", "shapely"))
    west, south, middle, east, north = 24.899, 59.999, 24.902, 24.9051, 60.0041
    halves = [shapely.box(west, south, middle + 0.001, north), shapely.box(middle, south, east, north)]
    boxed = roads.read_osm(files / "town.osm", "walk", extract=(west, south, east, north))
    series = geopandas.GeoSeries(halves, crs=4326)
    for given in (series, series.to_frame("geometry"), series.to_crs(3857), geopandas.GeoSeries(halves)):
        found = roads.read_osm(files / "town.osm", "walk", extract=given)
        assert found.ids.tolist() == boxed.ids.tolist()
    for wrong in (series.boundary, series[:0]):
        with pytest.raises(mgraph.InputError, match=r"extract must be .* in degrees"):
            roads.read_osm(files / "town.osm", "walk", extract=wrong)


@pytest.mark.parametrize("name", ["town.osm.pbf", "town.osm", "town.osm.xml.gz"])
def test_a_file_cut_short_is_refused(files, tmp_path, name):
    whole = (files / name).read_bytes()
    (tmp_path / name).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(mgraph.FormatError, match="not a complete file"):
        roads.read_osm(tmp_path / name)


@pytest.mark.parametrize("more", [1, 2, 3])
def test_a_file_cut_where_a_block_begins_is_refused(files, tmp_path, more):
    whole = (files / "town.osm.pbf").read_bytes()
    assert whole[4:15] == b"\x0a\x09OSMHeader"
    second = 4 + whole[3] + whole[16]
    assert b"\x0a\x07OSMData" in whole[second : second + 20]
    for end in (second, len(whole)):
        (tmp_path / "town.osm.pbf").write_bytes(whole[:end] + whole[second : second + more])
        with pytest.raises(mgraph.FormatError, match="not a complete file"):
            roads.read_osm(tmp_path / "town.osm.pbf")


@pytest.mark.parametrize("size", [b"\xff" * 20 + b"\x7f", b"\xff" * 8 + b"\x7f", b"\xff\xff\xff\xff\x07"])
def test_a_block_that_is_too_large_is_refused(tmp_path, size):
    pytest.importorskip("osmium")
    header = b"\x0a\x09OSMHeader\x18" + size
    (tmp_path / "town.osm.pbf").write_bytes(len(header).to_bytes(4, "big") + header + b"zzzz")
    with pytest.raises(mgraph.FormatError, match="not a complete file"):
        roads.read_osm(tmp_path / "town.osm.pbf")


def varint(number):
    return bytes([number & 127 | (number > 127) << 7]) + (varint(number >> 7) if number > 127 else b"")


def rewritten(whole, change, packed):
    """A file .pbf with each block of data changed, and compressed or not."""
    found, at = b"", 0
    while at < len(whole):
        size = int.from_bytes(whole[at : at + 4], "big")
        kind, length = whole[at + 4 :][2 : 2 + whole[at + 5]], 0
        for place, byte in enumerate(whole[at + 4 + whole[at + 5] + 3 : at + 4 + size]):
            length |= (byte & 127) << 7 * place
        block = whole[at + 4 + size : at + 4 + size + length]
        if kind == b"OSMData":
            data = change(zlib.decompress(block[block.index(b"\x78") :]))
            field = b"\x1a" + varint(len(zlib.compress(data))) + zlib.compress(data)
            block = b"\x10" + varint(len(data)) + field if packed else b"\x0a" + varint(len(data)) + data
        header = b"\x0a" + varint(len(kind)) + kind + b"\x18" + varint(len(block))
        found += len(header).to_bytes(4, "big") + header + block
        at += 4 + size + length
    return found


@pytest.mark.parametrize("packed", [False, True])
def test_a_string_that_osmium_would_crash_of_is_refused(files, tmp_path, packed):
    whole, path = (files / "town.osm.pbf").read_bytes(), tmp_path / "town.osm.pbf"
    path.write_bytes(rewritten(whole, bytes, packed))
    same, other = roads.read_osm(path), roads.read_osm(files / "town.osm.pbf")
    assert np.array_equal(same.ids, other.ids) and same.graph.m == other.graph.m
    for place in range(len("highway")):
        spoiled = b"highway"[:place] + b"\0" + b"highway"[place + 1 :]
        path.write_bytes(rewritten(whole, lambda data, to=spoiled: data.replace(b"highway", to), packed))
        with pytest.raises(mgraph.FormatError, match="a string has a NUL"):
            roads.read_osm(path)


def test_texts_of_tags_that_cannot_be_decoded_are_refused(files, tmp_path):
    whole, path = (files / "town.osm.pbf").read_bytes(), tmp_path / "town.osm.pbf"
    path.write_bytes(rewritten(whole, lambda data: data.replace(b"residential", b"residentia\xff"), True))
    with pytest.raises(mgraph.FormatError, match="a text of it cannot be decoded"):
        roads.read_osm(path)


@pytest.mark.parametrize("compression", ["lzma", "none at all", "two"])
def test_a_block_whose_strings_cannot_be_looked_at_is_refused(files, tmp_path, compression):
    whole, path = (files / "town.osm.pbf").read_bytes(), tmp_path / "town.osm.pbf"
    second = 4 + whole[3] + whole[16]
    begin = whole[: second + 4]
    header, block = whole[second + 4 : second + 4 + whole[second + 3]], whole[second + 4 + whole[second + 3] :]
    at = block.index(b"\x1a")
    if compression == "lzma":
        block = block[:at] + b"\x22" + block[at + 1 :]
    elif compression == "none at all":
        block = block[:at] + b"\x18" * (len(block) - at)
    else:
        block = b"\x0a\x00" + block
        header = header[: header.index(b"\x18")] + b"\x18" + varint(len(block))
        begin = begin[:-4] + len(header).to_bytes(4, "big")
    path.write_bytes(begin + header + block)
    with pytest.raises(mgraph.FormatError, match="not a complete file"):
        roads.read_osm(path)


def test_a_file_of_josm_with_elements_that_lie_deep_takes_no_memory(tmp_path):
    pytest.importorskip("osmium")
    (tmp_path / "deep.osm.gz").write_bytes(gzip.compress(b'<osm version="0.6" generator="JOSM">' + b"<a>" * 8_000_000))
    code = f"""
import resource
import mgraph
from mgraph import roads
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    roads.read_osm({str(tmp_path / "deep.osm.gz")!r})
except mgraph.FormatError:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(ran.stdout) < 200 << 10  # KiB; Expat would keep 84 bytes for each of the elements


@pytest.mark.parametrize("content", [b"<way " * 200_000, b" " * (1 << 24), b"<way" + b" a='" * 10**6 + b">"])
def test_a_file_of_josm_is_read_in_linear_time(tmp_path, content):
    pytest.importorskip("osmium")
    (tmp_path / "town.osm.gz").write_bytes(gzip.compress(b"<osm version='0.6' generator='JOSM'>" + content))
    with pytest.raises(mgraph.FormatError, match="not a complete file"):
        roads.read_osm(tmp_path / "town.osm.gz")


@pytest.mark.parametrize("turns", [False, True])
@pytest.mark.parametrize("length", [2, 10])
def test_a_network_takes_no_more_memory_than_is_checked_before(length, turns):
    side = 64
    grid = np.arange(1, side * side + 1).reshape(side, side)
    rows = [
        row[start : start + length] for way in (grid, grid.T) for row in way for start in range(0, side, length - 1)
    ]
    rows = [row for row in rows if len(row) > 1]
    refs, counts = np.concatenate(rows), np.array([len(row) for row in rows])
    ways = osm.Ways(refs, counts, np.full((len(rows), 2), 30.0), np.arange(len(rows)))
    nodes = osm.Nodes(grid.ravel(), np.random.default_rng(1).uniform(20, 21, (side * side, 2)))
    rules = Rules([], back=False) if turns else None
    made = osm.network_of(ways, nodes, rules)  # once before, to have all modules
    _, peak = measured(lambda: osm.network_of(ways, nodes, rules))
    assert len(made.tail) == 4 * side * (side - 1)
    most = osm.bytes_of_network(len(refs), len(refs), turns)
    assert 0.4 * most < peak < most


def test_a_file_whose_streets_do_not_fit_the_memory_is_refused(files, monkeypatch):
    nodes = osm.bytes_of_nodes(np.array([1, 1 << 30, 1 << 34]))
    assert nodes == 3 * (64 + (1 << 22))
    for name in ("bytes_of_nodes", "bytes_of_network"):
        with monkeypatch.context() as patch:
            patch.setattr(osm, name, lambda *_: 1 << 60)
            with pytest.raises(
                mgraph.MemoryLimitError, match=r"reading .* streets from .*town\.osm needs .* an extract"
            ):
                roads.read_osm(files / "town.osm")


@pytest.mark.parametrize("first", [-9, (1 << 62) + 1])
def test_nodes_of_an_editor_have_ids_of_any_size(tmp_path, first):
    pytest.importorskip("osmium")
    nodes = {first: (24.9, 60.0, {}), first + 1: (24.91, 60.0, {}), 3: (24.92, 60.0, {}), 4: (24.93, 60.0, {})}
    network = read(tmp_path, nodes, [([first, first + 1, 3], {"highway": "residential"})])
    assert network.ids.tolist() == sorted([first, 3])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<osm",
        "<html></html>",
        '<osm version="0.6"><way id="x"/></osm>',
        '<osm version="0.6"><way id="1"><nd ref="1"/><nd ref="2"/><tag k="highway" v="road"/></way>'
        '<node id="1" lat="60" lon="2S1"/></osm>',
    ],
)
def test_what_is_not_a_file_of_openstreetmap(tmp_path, text):
    pytest.importorskip("osmium")
    (tmp_path / "town.osm").write_text(text)
    with pytest.raises(mgraph.FormatError, match="not a complete file of OpenStreetMap"):
        roads.read_osm(tmp_path / "town.osm")


def test_an_error_of_the_caller_is_not_one_of_the_file(files, monkeypatch):
    monkeypatch.setattr(osm, "STEP", 1)

    def fail(*_):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        roads.read_osm(files / "town.osm.pbf", progress=fail)


@pytest.mark.parametrize(
    "ways", [[([1], {"highway": "residential"})], [([], {"highway": "residential"})], [([8, 9], {"highway": "road"})]]
)
def test_ways_of_less_than_two_nodes_are_no_streets(tmp_path, ways):
    pytest.importorskip("osmium")
    with pytest.raises(mgraph.InputError, match="no street"):
        read(tmp_path, line(3), ways)
    assert len(read(tmp_path, line(3), [*ways, ([1, 2], {"highway": "road"})]).tail) == 2


def test_streets_without_length(tmp_path):
    pytest.importorskip("osmium")
    nodes = {1: (24.9, 60.0, {}), 2: (24.9, 60.0, {}), 3: (24.91, 60.0, {})}
    street = {"highway": "residential"}
    network = read(tmp_path, nodes, [([1, 2], street), ([2, 3], street)])
    places = network.nearest([[24.9, 60.0], [24.91, 60.0]], on="edges")
    found = network.table(places)
    np.testing.assert_allclose(found.metres, [[0, 555.975], [555.975, 0]], rtol=1e-5)
    assert network.with_turn_costs(5, 5, 5).table(places).seconds.tolist() == found.seconds.tolist()
    assert len(network.isochrones(places, [1000]).to_geojson(streets=True)["features"]) == 2


def test_a_one_way_loop_is_gone_round(tmp_path):
    pytest.importorskip("osmium")
    nodes = {1: (24.9, 60.0, {}), 2: (24.91, 60.0, {}), 3: (24.905, 60.01, {})}
    network = read(tmp_path, nodes, [([1, 2, 3, 1], {"highway": "residential", "oneway": "yes"})])
    places = network.nearest([[24.902, 60.0], [24.906, 60.0]], on="edges")
    there, back = network.table(places).metres[[0, 1], [1, 0]]
    np.testing.assert_allclose([there, there + back], [222.39, network.links["metres"][0]], rtol=1e-4)
    assert network.route(places.row(1), places.row(0)).totals["metres"] == pytest.approx(back)


def test_streets_across_the_date_line(tmp_path):
    pytest.importorskip("osmium")
    nodes = {1: (179.999, 0, {}), 2: (-179.999, 0, {}), 3: (-179.99, 0, {})}
    network = read(tmp_path, nodes, [([1, 2, 3], {"highway": "residential"})])
    np.testing.assert_allclose(network.links["metres"], np.radians(0.011) * 6_371_008.8)
    places = network.nearest([[180.0, 0.0001], [-180, 0], [-179.9995, 0]], on="edges")
    np.testing.assert_allclose(network.table(places).metres[0], [0, 0, 55.6], rtol=1e-3, atol=1e-6)
    route = network.route(places.row(0), places.row(2))
    np.testing.assert_allclose(np.diff(route.points[:, 0] % 360), 0.0005, rtol=1e-6)
    (area,) = network.isochrones(places.row(0), [20]).polygons[0][0]
    across = area[0][:, 0] % 360
    np.testing.assert_allclose([across.min(), across.max()], [179.9985, 180.002], atol=5e-4)


def test_points_at_a_pole_are_near(tmp_path):
    pytest.importorskip("osmium")
    nodes = {1: (0, 89.9999, {}), 2: (180, 89.9999, {})}
    network = read(tmp_path, nodes, [([1, 2], {"highway": "track", "foot": "yes"})], "walk")
    np.testing.assert_allclose(network.links["metres"], 2 * np.radians(0.0001) * 6_371_008.8, rtol=1e-6)
    places = network.nearest([[77, 90], [90, 89.9999]], on="edges")
    np.testing.assert_allclose(places.metres, [0, 11.119], atol=1e-2)
    np.testing.assert_allclose(places.shares, 0.5, atol=1e-6)
    (area,) = network.isochrones(places.row(0), [60]).polygons[0][0]
    assert np.ptp(area[0][:, 0]) == 360 and area[0][:, 1].max() <= 90 and area[0][:, 1].min() > 89.99


def test_networks_are_checked():
    where, one = [[24.9, 60.0], [24.91, 60.0]], {"metres": [1.0]}
    for coordinates, shapes, name in (
        ([[24.9, 60.0], [np.nan, 60.0]], None, "coordinates"),
        (where, (np.zeros((1, 2)), [0, 1]), "shapes"),
        (where, (np.zeros((2, 2)), [0, 9]), "shapes"),
        (where, (np.zeros((2, 2)), [0.0, 2.0]), "shapes"),
        (where, (np.full((2, 2), np.nan), [0, 2]), "shapes"),
    ):
        with pytest.raises(mgraph.InputError, match=f"{name} must be"):
            roads.Network([0], [1], one, coordinates, shapes=shapes)
    made = roads.Network([0], [1], one, where)
    assert made.table([], where, "metres").metres.shape == (0, 2)


def test_files_that_are_not_there_or_have_another_suffix(tmp_path):
    with pytest.raises(mgraph.MissingFileError):
        roads.read_osm(tmp_path / "no.osm.pbf")
    with pytest.raises(mgraph.InputError, match="path must be a file that ends with"):
        roads.read_osm(tmp_path / "no.gr")


def test_points_are_checked(network):
    with pytest.raises(mgraph.InputError, match=r"row 1\) of origins is .* away .* limit=5000"):
        network.table([network.coordinates[0], [0, 0]])
    with pytest.raises(mgraph.InputError, match="longitude first"):
        network.nearest([[60.17, 124.9]])
    with pytest.raises(mgraph.InputError, match="weight must be"):
        network.table([network.coordinates[0]], weight="miles")


def test_columns_of_points_are_told_by_their_names(network):
    points = pandas.DataFrame(network.coordinates[[3, 9]][:, ::-1], columns=["lat", "lon"], index=["a", "b"])
    places = network.nearest(points.assign(name="shop"))
    assert places.vertices.tolist() == [3, 9] and places.ids.tolist() == ["a", "b"]


def test_points_that_are_something_else_are_told_what_to_write(network):
    with pytest.raises(mgraph.InputError, match=r"integers are ids with ids=True$"):
        network.route(*map(int, network.ids[:2]))
    with pytest.raises(mgraph.InputError, match="away from the nearest road: give the longitude first"):
        network.nearest(network.coordinates[:1, ::-1])


def test_a_route_has_its_totals_as_attributes(network):
    route = network.route(*network.coordinates[[0, 5]])
    assert (route.seconds, route.metres) == (route.totals["seconds"], route.totals["metres"])
    assert repr(route) == f"<Route: {len(route.links)} links, metres {route.metres:,.1f}, seconds {route.seconds:,.1f}>"
    with pytest.raises(AttributeError, match=r"no 'minutes': it has .* and the totals metres, seconds"):
        route.minutes  # noqa: B018


def test_text_is_the_id_of_a_vertex():
    where = pandas.DataFrame({"lon": [24.94, 24.95, 24.96], "lat": [60.17] * 3}, index=["Rome", "Pisa", "Genoa"])
    streets = pandas.DataFrame({"from": ["Rome", "Pisa"], "to": ["Pisa", "Genoa"], "seconds": [7.0, 8.0]})
    named = roads.from_frames(where, streets)
    table = named.table(["Rome", "Pisa"], pandas.Index(["Genoa"]))
    assert table.to_pandas().to_numpy().tolist() == [["Rome", "Genoa", 15.0], ["Pisa", "Genoa", 8.0]]
    assert named.route("Rome", "Genoa").ids.tolist() == ["Rome", "Pisa", "Genoa"]
    assert named.nearest_of("Rome", ["Genoa", "Pisa"], k=1).weights.tolist() == [[7.0]]
    places = named.nearest(["Pisa"])
    assert (places.vertices.tolist(), places.metres.tolist(), places.ids.tolist()) == ([1], [0.0], ["Pisa"])
    with pytest.raises(mgraph.InputError, match="origins must be an id of the graph, got 'Roma': 'Rome' is one"):
        named.table(["Roma"])
    unnamed = roads.Network([0], [1], {"seconds": [7]}, [[24.94, 60.17], [24.95, 60.17]])
    with pytest.raises(mgraph.InputError, match=r"origin must be an integer in .*: the graph has no ids"):
        unnamed.route("Rome", "Pisa")


def test_integers_are_ids_where_the_caller_says_so(network):
    first, second, third = network.ids[[0, 9, 20]].tolist()
    where = network.coordinates[[0, 9, 20]]
    expected = network.table(where[:1], where).seconds
    for ends in ([first, second, third], np.array([first, second, third]), pandas.Series([first, second, third])):
        found = network.table([first], ends, ids=True)
        assert found.seconds.tolist() == expected.tolist() and found.destinations.ids.tolist() == list(ends)
    assert network.route(first, third, ids=True).ids[[0, -1]].tolist() == [first, third]
    assert network.nearest([second], ids=True).vertices.tolist() == [9]
    assert network.nearest_of([first], [third], ids=True).weights.tolist() == [[expected[0, 2]]]
    assert network.isochrones([first], [60], ids=True).places.ids.tolist() == [first]
    assert network.table(where, ids=True).seconds.shape == (3, 3)  # points stay points
    with pytest.raises(mgraph.InputError, match=r"origins must be of shape \(k, 2\).* or ids"):
        network.table([first, second, third])
    with pytest.raises(mgraph.InputError, match="origins must be an id of the graph, got 7"):
        network.table([7], ids=True)
    with pytest.raises(mgraph.InputError, match="ids must be"):
        network.table([first], ids=1)
    unnamed = roads.Network([0], [1], {"seconds": [7]}, [[24.94, 60.17], [24.95, 60.17]])
    with pytest.raises(mgraph.InputError, match="ids=True needs a graph with ids"):
        unnamed.table([0], ids=True)


def test_nearest_vertices_are_those_of_a_search_of_all(network):
    points = np.random.default_rng(2).uniform([24.9, 60], [24.912, 60.006], (50, 2))
    across = np.radians(network.coordinates - points[:, None]) * [np.cos(np.radians(60.003)), 1]
    metres = 6_371_008.8 * np.hypot(*across.T).T
    found = network.nearest(points)
    np.testing.assert_allclose(found.metres, metres.min(axis=1), rtol=1e-3)
    assert (found.vertices == metres.argmin(axis=1)).mean() > 0.9


def test_the_route_has_the_sums_of_the_table_and_its_geometry(network):
    ends = network.coordinates[0], network.coordinates[-1]
    found, table = network.route(*ends), network.table([ends[0]], [ends[1]])
    np.testing.assert_allclose(
        [found.totals["seconds"], found.totals["metres"]], [table.seconds.item(), table.metres.item()]
    )
    assert (network.head[found.links[:-1]] == network.tail[found.links[1:]]).all()
    assert found.points[[0, -1]].tolist() == [list(ends[0]), list(ends[1])]
    assert json.dumps(found.to_geojson())


def point_at(shape, share):
    """Return the point at a share of a line, or the points at several."""
    steps = np.append(0, np.cumsum(np.hypot(*(np.diff(shape, axis=0) * [np.cos(np.radians(shape[0, 1])), 1]).T)))
    return np.stack([np.interp(share * steps[-1], steps, column) for column in shape.T], axis=-1)


def point_of(network, places, row):
    return point_at(network.shape(int(places.links[row])), places.shares[row])


def random_places(network, count, seed):
    """Return positions on few links, so that some share a street, and on the ends of links."""
    rng = np.random.default_rng(seed)
    links, shares = rng.choice(len(network.tail), count), rng.random(count)
    links[: count // 2] = links[0]
    shares[-4:] = [0, 1, 0, 1]
    return roads.Places(network.tail[links], np.zeros(count), np.arange(count), links, shares)


def split(network, places):
    """Return a graph of NetworkX whose links are cut at places, and the vertex of each place."""

    def street(link):
        shape = network.shape(link).tolist()
        return str(min(shape, shape[::-1]))

    graph = networkx.DiGraph()
    graph.add_nodes_from(range(network.graph.n))
    names, cuts = [], {}
    for place, (link, share) in enumerate(zip(places.links.tolist(), places.shares.tolist(), strict=True)):
        ends = {0: int(network.tail[link]), 1: int(network.head[link])}
        names.append(ends.get(share, ("place", place)))
        if share not in ends:
            cuts.setdefault(street(link), []).append((network.shape(link)[0].tolist(), share, names[-1]))
    for link, (tail, head) in enumerate(zip(network.tail.tolist(), network.head.tolist(), strict=True)):
        begin = network.shape(link)[0].tolist()
        own = [(share if first == begin else 1 - share, name) for first, share, name in cuts.get(street(link), ())]
        stops = [(0, tail), *sorted(own), (1, head)]
        for (share, name), (next_share, next_name) in itertools.pairwise(stops):
            seconds = network.links["seconds"][link] * (next_share - share)
            known = graph.get_edge_data(name, next_name, {"weight": np.inf})
            graph.add_edge(name, next_name, weight=min(seconds, known["weight"]))
    return graph, names


@pytest.mark.parametrize("mode", MODES)
def test_routes_between_positions_are_those_of_split_links(files, mode):
    network = roads.read_osm(files / "town.osm.pbf", mode)
    places = random_places(network, 24, len(mode))
    graph, names = split(network, places)
    lengths = dict(networkx.all_pairs_dijkstra_path_length(graph))
    expected = np.array([[lengths[start].get(end, np.nan) for end in names] for start in names])
    found = network.table(places)
    assert np.isnan(expected).any() == (mode != "walk")
    np.testing.assert_allclose(found.seconds, expected, rtol=1e-9, atol=1e-9)
    for start in range(0, 24, 3):
        for end in range(24):
            route = network.route(places.row(start), places.row(end))
            np.testing.assert_allclose(route.totals["seconds"], expected[start, end], rtol=1e-9, atol=1e-9)
            if np.isfinite(expected[start, end]):
                np.testing.assert_allclose(route.totals["metres"], found.metres[start, end], rtol=1e-9, atol=1e-9)
                assert (network.head[route.links[:-1]] == network.tail[route.links[1:]]).all()
                ends = [point_of(network, places, each) for each in (start, end)]
                if len(route.points) > 1:
                    np.testing.assert_allclose(route.points[[0, -1]], ends, atol=1e-9)
    near = network.nearest_of(places, places.row(5), k=1)
    np.testing.assert_allclose(near.weights[:, 0], expected[:, 5], rtol=1e-9, atol=1e-9)


def test_tables_are_the_same_some_rows_at_a_time(files, monkeypatch):
    network = roads.read_osm(files / "town.osm.pbf", "bike")
    places = random_places(network, 24, 4)
    whole, near = network.table(places), network.nearest_of(places, places, k=2)
    monkeypatch.setattr(table, "ROWS", 5)
    monkeypatch.setattr(table, "AT_A_TIME", 1)
    found = network.table(places)
    np.testing.assert_allclose(found.seconds, whole.seconds, rtol=1e-12)
    np.testing.assert_allclose(found.metres, whole.metres, rtol=1e-12)
    assert network.nearest_of(places, places, k=2).facilities.tolist() == near.facilities.tolist()


@pytest.mark.parametrize("span", [0.02, 0.5])
def test_an_area_takes_no_more_memory_than_is_checked_before(span, monkeypatch):
    rng, checked = np.random.default_rng(1), []
    lines = [[24, 60] + span * rng.random((3, 2)) for _ in range(200)]
    isochrones.area_around(lines[:2], 50)
    needs = isochrones.bytes_of_area
    monkeypatch.setattr(isochrones, "bytes_of_area", lambda *given: checked.append(needs(*given)) or checked[-1])
    _, peak = measured(lambda: isochrones.area_around(lines, 50))
    assert 0.5 * checked[0] < peak < checked[0]
    monkeypatch.setattr(isochrones, "bytes_of_area", lambda *_: 1 << 60)
    with pytest.raises(mgraph.MemoryLimitError, match="the grid of an area needs"):
        isochrones.area_around(lines, 50)


class Stopped(Exception):
    pass


def test_progress_is_told_and_may_end_a_call(files, monkeypatch):
    monkeypatch.setattr(osm, "STEP", 5)
    told = []
    network = roads.read_osm(files / "town.osm.pbf", "walk", progress=lambda *steps: told.append(steps))
    ways, nodes = ([each for each in told if (each[1] is None) == unknown] for unknown in (True, False))
    assert ways == [(each, None) for each in range(5, len(town()[1]) + 1, 5)][: len(ways)] and ways
    assert nodes[-1] == (nodes[-1][1],) * 2 and [each for each, _ in nodes] == sorted({each for each, _ in nodes})
    monkeypatch.setattr(table, "ROWS", 5)
    monkeypatch.setattr(table, "AT_A_TIME", 1)
    where, told = network.coordinates[:12], []
    network.table(where, progress=lambda *steps: told.append(steps))
    network.nearest_of(where, where[:2], progress=lambda *steps: told.append(steps))
    assert told == [(5, 12), (10, 12), (12, 12)] * 2
    told.clear()
    network.isochrones(where[:2], [30], progress=lambda *steps: told.append(steps))
    assert told == [(1, 2), (2, 2)]

    def stop(*_):
        raise Stopped

    for call in (
        lambda: network.table(where, progress=stop),
        lambda: roads.read_osm(files / "town.osm.pbf", "walk", progress=stop),
        lambda: network.isochrones(where, [30], progress=stop),
    ):
        with pytest.raises(Stopped):
            call()


def test_isochrones_from_positions_reach_what_split_links_say(files):
    network = roads.read_osm(files / "town.osm.pbf", "bike")
    places = random_places(network, 6, 1)
    graph, names = split(network, places)
    for row, (reached,) in enumerate(network.isochrones(places, [75]).reached):
        seconds = networkx.single_source_dijkstra_path_length(graph, names[row])
        starts = np.array([seconds.get(each, np.inf) for each in network.tail.tolist()])
        from_tail = reached.begins == 0
        shares = np.clip((75 - starts) / network.links["seconds"], 0, 1)
        assert reached.links[from_tail].tolist() == np.flatnonzero(shares).tolist()
        np.testing.assert_allclose(reached.shares[from_tail], shares[shares > 0], rtol=1e-9)
        if 0 < places.shares[row] < 1:
            assert (places.links[row], places.shares[row]) in zip(reached.links, reached.begins, strict=True)


def test_the_nearest_positions_are_those_of_a_search_of_all(files):
    town = roads.read_osm(files / "town.osm.pbf", "bike")
    rng = np.random.default_rng(4)
    bent = [np.array([town.shape(link)[0], *rng.uniform([24.9, 60], [24.912, 60.006], (3, 2))]) for link in range(9)]
    begins = np.arange(0, 37, 4)
    crooked = roads.Network(
        town.tail[:9], town.head[:9], {"metres": np.ones(9)}, town.coordinates, shapes=(np.concatenate(bent), begins)
    )
    points = rng.uniform([24.897, 59.998], [24.915, 60.008], (60, 2))
    scale = 6_371_008.8 * np.radians(1) * np.array([np.cos(np.radians(60.003)), 1])
    for network in (town, crooked):
        found = network.nearest(points, on="edges")
        dense = np.concatenate(
            [point_at(network.shape(link), np.linspace(0, 1, 1001)) for link in range(len(network.tail))]
        )
        away = np.stack([np.hypot(*((dense - point) * scale).T) for point in points])
        np.testing.assert_allclose(found.metres, away.min(axis=1), rtol=2e-3, atol=0.3)
        at = [point_of(network, found, row) for row in range(len(points))]
        np.testing.assert_allclose(np.linalg.norm((at - points) * scale, axis=1), found.metres, rtol=2e-3, atol=0.3)
        ends = np.where(found.shares <= 0.5, network.tail[found.links], network.head[found.links])
        assert found.vertices.tolist() == ends.tolist()


def test_positions_are_checked(network):
    nothing = roads.Network([], [], {"metres": []}, [[24.9, 60.0]])
    with pytest.raises(mgraph.InputError, match="on must be 'vertices' of a network without links"):
        nothing.nearest([[24.9, 60.0]], on="edges")
    with pytest.raises(mgraph.InputError, match="on must be"):
        network.nearest([[24.9, 60.0]], on="streets")
    with pytest.raises(mgraph.InputError, match=r"row 0\) of points is .* away .* limit=5"):
        network.nearest([[24.85, 60.0]], on="edges", limit=5)
    assert len(network.nearest([[24.85, 60.0]], limit=10**400).vertices) == 1
    with pytest.raises(mgraph.InputError, match="along must be a sequence of columns"):
        network.table([[24.9, 60.0]], [[24.9, 60.0]], along=False)
    places = network.nearest([[24.9, 60.0]], on="edges")
    for wrong in (places._replace(links=np.array([10**6])), places._replace(shares=np.array([np.nan]))):
        with pytest.raises(mgraph.InputError, match="origins must be places of this network"):
            network.table(wrong)
    assert len(network.nearest(np.empty((0, 2)), on="edges").links) == 0


def test_the_nearest_facilities_are_those_of_the_table(network):
    facilities = network.coordinates[[3, 11, 30]]
    found, table = network.nearest_of(every(network), facilities, k=2), network.table(every(network), facilities)
    np.testing.assert_allclose(found.weights, np.sort(table.seconds, axis=1)[:, :2])
    assert (np.isnan(found.weights) == (found.facilities < 0)).all()


def test_tables_as_dataframes_and_files(network, tmp_path):
    points = pandas.DataFrame(network.coordinates[:2], index=["a", "b"])
    found = network.table(network.nearest(points))
    frame = found.to_pandas()
    assert list(frame) == ["origin", "destination", "seconds", "metres"] and frame.origin.tolist() == list("aabb")
    assert found.to_pandas(wide=True).loc["a", "b"] == found.seconds[0, 1]
    found.save(tmp_path / "t.parquet")
    pandas.testing.assert_frame_equal(pandas.read_parquet(tmp_path / "t.parquet"), frame)


def test_isochrones_reach_what_the_table_says(network, tmp_path):
    found = network.isochrones([network.coordinates[0]], [120, 60])
    seconds = network.table([network.coordinates[0]], every(network)).seconds[0]
    for limit, reached in zip([60, 120], found.reached[0], strict=True):
        whole = reached.links[reached.shares == 1]
        longest = (seconds[network.tail] + network.links["seconds"])[whole]
        assert (longest <= limit).all()
        inside = np.flatnonzero(seconds[network.tail] + network.links["seconds"] <= limit)
        assert sorted(whole.tolist()) == inside.tolist()
    features = found.to_geojson()["features"]
    assert [each["properties"]["limit"] for each in features] == [120, 60]
    assert all(each["geometry"]["coordinates"] for each in features)
    found.save(tmp_path / "areas.geojson")
    assert json.loads((tmp_path / "areas.geojson").read_text())["type"] == "FeatureCollection"
    assert len(found.plot().patches) == 2


@pytest.mark.parametrize("limits", [[0], [5, np.inf], [np.nan], [-1]])
def test_limits_of_isochrones_are_checked(network, limits):
    with pytest.raises(mgraph.InputError, match="limits must be"):
        network.isochrones([network.coordinates[0]], limits)


def test_the_streets_that_are_reached_are_lines(network, tmp_path):
    found = network.isochrones([network.coordinates[0]], [60, 120])
    features = found.to_geojson(streets=True)["features"]
    for feature, reached in zip(features, reversed(found.reached[0]), strict=True):
        lines = feature["geometry"]["coordinates"]
        assert len(lines) == len(reached.links)
        for line_, link, begin, end in zip(lines, reached.links, reached.begins, reached.shares, strict=True):
            np.testing.assert_allclose(line_[0], point_at(network.shape(link), begin), atol=1e-12)
            np.testing.assert_allclose(line_[-1], point_at(network.shape(link), end), atol=1e-12)
    found.save(tmp_path / "streets.geojson", streets=True)
    assert json.loads((tmp_path / "streets.geojson").read_text())["features"] == features


def test_maps_of_folium(network, tmp_path):
    pytest.importorskip("folium")
    ends = network.coordinates[0], network.coordinates[-1]
    found = network.isochrones([ends[0]], [60, 120])
    for drawn, layers in ((found, "MultiPolygon"), (network.route(*ends), "LineString")):
        drawn.explore().save(tmp_path / "map.html")
        assert layers in (tmp_path / "map.html").read_text()
    none = roads.Network([], [], {"seconds": []}, network.coordinates[:2]).route(*network.coordinates[:2])
    none.explore().save(tmp_path / "none.html")


def test_areas_and_streets_as_geopandas(network, tmp_path):
    geopandas = pytest.importorskip("geopandas")
    found = network.isochrones([network.coordinates[0]], [60, 120])
    areas, streets = found.to_geopandas(), found.to_geopandas(streets=True)
    assert areas.geom_type.tolist() == ["MultiPolygon"] * 2 and streets.geom_type.tolist() == ["MultiLineString"] * 2
    assert areas.geometry.covers(streets.geometry).all()
    found.save(tmp_path / "areas.parquet")
    assert geopandas.read_parquet(tmp_path / "areas.parquet").equals(areas)


def test_points_of_geopandas_in_metres_are_turned_into_degrees(network):
    geopandas = pytest.importorskip("geopandas")
    where = network.coordinates[[3, 9, 30]]
    series = geopandas.GeoSeries.from_xy(*where.T, index=["a", "b", "c"], crs=4326).to_crs(3067)
    for points in (series, series.to_frame("geometry")):
        places = network.nearest(points)
        assert places.vertices.tolist() == [3, 9, 30] and places.ids.tolist() == ["a", "b", "c"]
        assert (places.metres < 1e-3).all()


def test_networks_of_osmnx_and_of_frames_have_the_distances_of_networkx(network):
    streets = networkx.MultiDiGraph()
    for each, (x, y) in zip(network.ids.tolist(), network.coordinates.tolist(), strict=True):
        streets.add_node(each, x=x, y=y)
    ids, metres = network.ids, network.links["metres"]
    for tail, head, length in zip(ids[network.tail], ids[network.head], metres, strict=True):
        streets.add_edge(int(tail), int(head), length=float(length), name="x")
    nodes = pandas.DataFrame(network.coordinates, index=ids, columns=["x", "y"])
    edges = pandas.DataFrame({"u": ids[network.tail], "v": ids[network.head], "length": metres})
    expected = networkx.floyd_warshall_numpy(streets, weight="length")
    expected[np.isinf(expected)] = np.nan
    for made in (roads.from_osmnx(streets), roads.from_frames(nodes, edges)):
        assert made.ids.tolist() == ids.tolist()
        np.testing.assert_allclose(made.table(every(made), weight="metres").metres, expected)


def test_streets_of_both_directions_in_frames():
    nodes = pandas.DataFrame({"x": [24.9, 24.91, 24.92], "y": [60.0] * 3, "nodeID": [5, 6, 7]})
    edges = pandas.DataFrame({"node_start": [5, 6], "node_end": [6, 7], "mm_len": [3.0, 4.0]})
    both, one, some = (roads.from_frames(nodes, edges, twoway) for twoway in (True, False, edges.mm_len > 3))
    assert (len(both.tail), len(one.tail), len(some.tail)) == (4, 2, 3)
    assert both.table([5], [7], "metres", ids=True).metres.tolist() == [[7]]
    assert some.table([7], [5, 6], "metres", ids=True).metres.tolist() == [[pytest.approx(np.nan, nan_ok=True), 4]]
    numbered = roads.from_frames(nodes, edges.assign(osmid=[1, 2], version=3, lanes=[1, 2]))
    assert list(numbered.links) == ["metres", "lanes"]
    for wrong in ("yes", [True], None):
        with pytest.raises(mgraph.InputError, match="twoway must be a truth value"):
            roads.from_frames(nodes, edges, wrong)


class Line:
    """A line of Shapely, as far as a geometry is read."""

    def __init__(self, *coords):
        self.coords = coords


def test_lines_that_are_drawn_from_the_head_to_the_tail_are_turned():
    where = [(24.9, 60.0), (24.91, 60.0), (24.92, 60.0)]
    nodes = pandas.DataFrame(where, columns=["x", "y"], index=[5, 6, 7])
    bend = (24.903, 60.003)
    lines = [Line(where[1], bend, where[0]), Line(where[1], where[2]), Line(where[2], bend, where[2]), None]
    edges = pandas.DataFrame({"u": [5, 6, 7, 7], "v": [6, 7, 7, 6], "length": 10.0, "geometry": lines})
    made = roads.from_frames(nodes, edges, twoway=[True, False, False, False])
    shapes = [made.shape(link).tolist() for link in range(5)]
    there = [list(where[0]), list(bend), list(where[1])]
    assert shapes[0] == there and shapes[4] == there[::-1] and shapes[3] == [list(where[2]), list(where[1])]
    place = made.nearest([where[0]], on="edges")
    assert place.vertices.tolist() == [0] and made.table(place, [where[0]], "metres").metres.tolist() == [[0]]


def test_frames_of_momepy_are_turned_into_degrees(network):
    geopandas, momepy = (pytest.importorskip(name) for name in ("geopandas", "momepy"))
    shapely = pytest.importorskip("shapely")
    streets = np.flatnonzero(network.tail < network.head)
    lines = [shapely.LineString(network.shape(link)) for link in streets.tolist()]
    drawn = geopandas.GeoDataFrame(geometry=lines, crs=4326).to_crs(3067)
    made = roads.from_frames(*momepy.nx_to_gdf(momepy.gdf_to_nx(drawn)), twoway=True)
    assert len(made.tail) == 2 * len(streets)
    places = made.nearest(network.coordinates)
    np.testing.assert_allclose(places.metres, 0, atol=1e-3)
    expected = network.table(network.coordinates, weight="metres").metres
    np.testing.assert_allclose(made.table(places, weight="metres").metres, expected, rtol=5e-3)
    np.testing.assert_allclose(made.shape(len(streets)), made.shape(0)[::-1])


def test_frames_are_checked():
    nodes = pandas.DataFrame({"x": [24.9, 24.91], "y": [60.0, 60.0]}, index=[7, 9])
    with pytest.raises(mgraph.InputError, match="the id of a node, got 8"):
        roads.from_frames(nodes, pandas.DataFrame({"u": [7], "v": [8], "length": [1.0]}))
    with pytest.raises(mgraph.InputError, match="numbers on all edges"):
        roads.from_frames(nodes, pandas.DataFrame({"u": [7], "v": [9], "name": ["a"]}))
    with pytest.raises(mgraph.InputError, match="numbers of 0 or more"):
        roads.from_frames(nodes, pandas.DataFrame({"u": [7], "v": [9], "length": [-1.0]}))
    edges = pandas.DataFrame({"u": [7, 9], "v": [9, 7], "length": [1.0, 2.0]})
    for name, values in (("capacity", [np.nan, 5]), ("toll", [-1, 5]), ("travel_time", [None, 5]), ("b", ["x", 5])):
        with pytest.raises(mgraph.InputError, match=rf"edges\['{name}'\] must be numbers of 0 or more.* in row 0"):
            roads.from_frames(nodes, edges.assign(**{name: pandas.Series(values, dtype=object)}))
    others = edges.assign(grade=[-0.1, 0.1], lanes=[2, np.nan], toll=["yes", None], capacity=7)
    assert list(roads.from_frames(nodes, others).links) == ["metres", "capacity"]


def test_the_commands(files, tmp_path):
    (tmp_path / "a.csv").write_text("id,lon,lat\nx,24.9,60.0\ny,24.904,60.002\n")
    town, points, out = str(files / "town.osm.pbf"), str(tmp_path / "a.csv"), tmp_path / "t.csv"
    words = ["roads", "table", town, "--mode", "walk", "--origins", points, "--out", str(out)]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    assert pandas.read_csv(out).origin.tolist() == list("xxyy")
    assert done.stderr.startswith("memory: ") and " free\n" in done.stderr
    quietly = CliRunner().invoke(main, [*words, "--overwrite", "--quiet"])
    assert (quietly.exit_code, quietly.output) == (0, "")
    assert CliRunner().invoke(main, words).exit_code == 2  # the file exists
    areas = tmp_path / "i.geojson"
    words = [
        "roads",
        "isochrones",
        town,
        "--mode",
        "walk",
        "--points",
        points,
        "--limits",
        "60,90",
        "--out",
        str(areas),
    ]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    assert len(json.loads(areas.read_text())["features"]) == 4
    (tmp_path / "far.csv").write_text("lon,lat\n0,0\n")
    words = ["roads", "table", town, "--origins", points, "--destinations", str(tmp_path / "far.csv")]
    done = CliRunner().invoke(main, [*words, "--out", str(tmp_path / "no.csv")])
    assert done.exit_code == 2 and "(row 0) of --destinations is" in done.stderr
    assert not (tmp_path / "no.csv").exists()
    (tmp_path / "empty.csv").write_text("id,lon,lat\n")
    for option in ("--origins", "--destinations"):
        words = ["roads", "table", town, "--origins", points, option, str(tmp_path / "empty.csv")]
        failed = CliRunner().invoke(main, [*words, "--out", str(tmp_path / "no.csv")])
        assert failed.exit_code == 1 and "empty.csv has no points below its first line" in failed.output
        assert not (tmp_path / "no.csv").exists()
    words = ["roads", "table", town, "--origins", points, "--turn-seconds", "1,2", "--out", str(tmp_path / "no.csv")]
    assert "--turn-seconds must be three numbers" in CliRunner().invoke(main, words).stderr
