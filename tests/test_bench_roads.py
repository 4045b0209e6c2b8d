"""The benchmark of tables from a file of OpenStreetMap: what it prints, and what it refuses."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from mgraph.errors import WrongResultError
from mgraph_bench import road_tables

pytestmark = [pytest.mark.filterwarnings("ignore::DeprecationWarning:osmium")]


@pytest.fixture
def file(tmp_path):
    """Return a file of a street with three crossings."""
    pytest.importorskip("osmium")
    nodes = "".join(f'<node id="{each}" lat="60.0" lon="{24.9 + each / 500}"/>' for each in range(1, 6))
    ways = "".join(
        f'<way id="{each}"><nd ref="{each}"/><nd ref="{each + 1}"/><tag k="highway" v="primary"/></way>'
        for each in range(1, 5)
    )
    (tmp_path / "city.osm").write_text(f'<osm version="0.6">{nodes}{ways}</osm>')
    return tmp_path / "city.osm"


def test_each_line_is_a_row(file):
    done = CliRunner().invoke(road_tables.main, [str(file), "--points", "3", "--alone"])
    assert done.exit_code == 0, done.output
    known, row = map(json.loads, done.stdout.splitlines())
    assert (known["points"], row["library"], row["vertices"], row["links"]) == (3, "mgraph", 5, 8)
    assert row["preparing"] >= row["reading"] > 0 < row["seconds"]


def test_times_that_differ_are_no_rows():
    own = np.array([[0, 10.0], [20, np.nan]])
    assert road_tables.compared("pandana", own, own + 0.01)["differ"] == pytest.approx(0.01)
    assert road_tables.compared("osrm", own, 1.5 * own) == {"ratio": 1.5, "without_route": 1}
    for library, theirs in (("pandana", own + 1), ("pandana", np.nan_to_num(own)), ("osrm", 3 * own)):
        with pytest.raises(WrongResultError, match=library):
            road_tables.compared(library, own, theirs)
