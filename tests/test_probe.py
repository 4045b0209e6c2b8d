"""Built-in rates are scaled to the CPU at hand, and what was measured is kept: whatever state the cache is in."""

import json
import os
import threading

import pytest

from mgraph import device, probe
from mgraph.plan import DeviceSpec, plan
from mgraph.probe import SAME, Speed
from mgraph.rates import DEFAULT, rates

MODEL = device.HostDevice().model()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The user's cache folder, in which nothing is kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "mgraph"


@pytest.fixture
def measurements(monkeypatch):
    """The numbers of cores of each measurement, all of which find a core half as fast as the reference's."""
    made = []
    half = Speed(*(figure / 2 for figure in probe.REFERENCE))
    monkeypatch.setattr(probe, "measured", lambda cores: (made.append(cores), half)[1])
    return made


def test_a_machine_is_measured_once_for_each_number_of_cores(folder, measurements):
    cores = os.cpu_count()
    assert probe.speed("a CPU", 1) == probe.speed("a CPU", 1) == Speed(0.5, 0.5, 0.5)
    probe._speed.cache_clear()  # as in another process
    assert probe.speed("a CPU", 1) == Speed(0.5, 0.5, 0.5) and measurements == [1]
    probe.speed("another CPU", 1)
    assert probe.speed("a CPU", cores) == probe.speed("a CPU", cores + 100)  # than there are
    assert sorted(json.loads((folder / "probe.json").read_text())) == sorted(
        {"a CPU, 1 cores", "another CPU, 1 cores", f"a CPU, {cores} cores"}
    )


@pytest.mark.parametrize(
    "content",
    ["", "not JSON", "[]", "5", "null", '{"a CPU, 1 cores": [0, 0, 0]}', '{"a CPU, 1 cores": [1]}', "[" * 100_000]
    + [f'{{"a CPU, 1 cores": {figures}}}' for figures in ('[1, 1, "fast"]', "[1, 1, NaN]", "[1, 1, 1e400]", "null")],
)
def test_a_broken_file_is_measured_anew(folder, measurements, content):
    folder.mkdir()
    (folder / "probe.json").write_text(content)
    probe._speed.cache_clear()
    assert probe.speed("a CPU", 1) == Speed(0.5, 0.5, 0.5) and measurements == [1]
    assert json.loads((folder / "probe.json").read_text()) == {"a CPU, 1 cores": [0.5, 0.5, 0.5]}


def test_a_folder_that_cannot_be_written_to(folder, measurements):
    folder.write_text("a file")
    probe._speed.cache_clear()
    assert probe.speed("a CPU", 1) == probe.speed("a CPU", 1) == Speed(0.5, 0.5, 0.5) and measurements == [1]


def test_what_disturbs_a_measurement_is_bounded(folder, monkeypatch):
    monkeypatch.setattr(probe, "measured", lambda cores: Speed(1.0, 1e30, probe.REFERENCE.reads))
    probe._speed.cache_clear()
    assert probe.speed("a CPU", 1) == Speed(0.1, 10.0, 1.0)


def test_rates_of_this_machine_are_scaled(folder, measurements):
    probe._speed.cache_clear()
    own, builtin = rates("cpu", MODEL), DEFAULT["cpu"]
    for name in ("minplus", "labelled"):
        assert getattr(own, name) == {kind: rate / 2 for kind, rate in getattr(builtin, name).items()}
    assert (own.memory, own.search) == pytest.approx((builtin.memory / 2, builtin.search / 2))
    assert rates("cpu", "another model") == builtin and rates("cuda", MODEL) == DEFAULT["cuda"]
    here, elsewhere = (DeviceSpec("cpu", "cpu", 1 << 34, 1, model) for model in (MODEL, ""))
    for algorithm in ("closure", "list_rank"):
        assert plan(algorithm, 20_000, devices=here).seconds > 1.8 * plan(algorithm, 20_000, devices=elsewhere).seconds


def test_a_measurement():
    before = threading.active_count()
    found = probe.measured(2)
    assert all(figure > 1e5 for figure in found)
    assert threading.active_count() == before
    assert SAME.searches == 1.0 and Speed(4.0, 7.0, 9.0).searches == 6.0
