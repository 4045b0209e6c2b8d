"""A constant that a kernel and its launches share is written in both, and has one value."""

import contextlib
import importlib
import re
from pathlib import Path

import pytest

from mgraph import device as devices
from mgraph.device import peers
from mgraph.kernels.hierarchy.pieces import AHEAD
from tests.kernel_resources import families

KERNELS = Path(__file__).parents[1] / "kernels"
SHARED = {  # constants that are in both; a test that finds fewer does not read the sources
    "apsp_batch.cu": {"PIVOTS"},
    "bfs.cu": {"THREADS"},
    "bfs_by_level.cu": {"THIN", "THREADS"},
    "bfs_many.cu": {"THREADS"},
    "ceilings.cu": {"HELD", "READERS", "RESIDENT", "THREADS"},
    "closure.cu": {"SOLVERS"},
    "components.cu": {"PROBES"},
    "hierarchy.cu": {"FIRST", "RADII", "RESIDENT", "ROOM", "SQUARE", "THREADS", "TILE_BYTES", "TILE_SOURCES", "WARPS"},
    "list_rank.cu": {"JUMPERS", "THREADS"},
    "minplus.cu": {"BLOCK", "CHUNK", "GROUPS", "LANES", "SIDE"},
    "strong.cu": {"ROUNDS"},
}


def constants(source: str) -> dict[str, int]:
    """Return the integers that a source defines at file scope by numbers and by one another."""
    found: dict[str, int] = {}
    for names in re.findall(r"^constexpr (?:int|unsigned) (.*?);", source, re.MULTILINE | re.DOTALL):
        for definition in re.sub(r"//.*", "", names).split(","):
            name, value = definition.split("=")
            with contextlib.suppress(NameError, SyntaxError):  # one of a header, or of C++ alone
                found[name.strip()] = eval(value.replace("/", "//"), {}, found)
    return found


@pytest.mark.parametrize("source", sorted(families()))
def test_a_kernel_and_its_launches_agree(source):
    launches = vars(importlib.import_module(f"mgraph.kernels.{source.removesuffix('.cu')}.cuda"))
    defined = constants((KERNELS / source).read_text())
    shared = {name: launches.get(f"_{name}", launches.get(name)) for name in defined}
    shared = {name: value for name, value in shared.items() if isinstance(value, int)}
    assert shared == {name: defined[name] for name in shared}
    assert shared.keys() >= SHARED.get(source, set())


def test_kernels_and_hosts_divide_shared_memory_alike():
    shared = constants((KERNELS / "peers.cuh").read_text())
    assert shared["MOST_PEERS"] == devices.MOST_PEERS
    assert 2 * shared["PEERS_HEADER"] == peers.HEADER_WORDS  # words of 64 bits and of 32
    # Two lists from each shard.
    beyond = peers.shared_bytes(0, 8) - peers.shared_bytes(0, 2)
    assert beyond == 8 * 2 * (8 - 2) * shared["PEERS_LIST"]


def test_a_hierarchy_has_room_for_what_is_copied_in_vain():
    assert constants((KERNELS / "hierarchy.cu").read_text())["ROOM"] == AHEAD
