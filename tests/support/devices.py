"""The devices that tests run on, each with poisoned memory."""

import pytest

from mgraph import device as devices
from tests.support.parameters import DEVICES


def poison():
    """Poison the memory that CuPy allocates next, so that an element that no kernel writes shows."""
    xp = devices.find("cuda").xp
    garbage = [xp.full(1 << bits, 0x41, xp.uint8) for bits in (27, 24, 22, 20, 18, 16, 14, 9)]
    del garbage


@pytest.fixture(params=DEVICES)
def device(request):
    """The name of a device."""
    if request.param == "cuda":
        poison()
    return request.param


@pytest.fixture
def hardware(device):
    """A device, as kernels take it."""
    return devices.find(device)
