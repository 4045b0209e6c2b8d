"""Built-in rates are scaled to this CPU, and the measurement is kept, for every state of the cache."""

import json
import os
import threading
import time
from pathlib import Path

import pytest

from mgraph import cache_folder, device
from mgraph.calibrate import calibrate
from mgraph.errors import InputError
from mgraph.planner import plan
from mgraph.planning import probe
from mgraph.planning.devices import DeviceSpec
from mgraph.planning.probe import SAME, Speed
from mgraph.planning.rates import DEFAULT, forget, keep, rates

MODEL = device.HostDevice().model()


def speed(model, cores):
    """Return the relative speed of a CPU, by the user's cache folder."""
    return probe.speed_in(model, cores, cache_folder.cache_folder())


@pytest.fixture
def folder(cache_home):
    """The user's cache folder, which is empty."""
    return cache_home / "mgraph"


@pytest.fixture
def measurements(monkeypatch):
    """The numbers of cores of each measurement, all of which find a core half as fast as the reference's."""
    made = []
    half = Speed(*(figure / 2 for figure in probe.REFERENCE))
    monkeypatch.setattr(probe, "measured", lambda cores: (made.append(cores), half)[1])
    return made


def test_a_machine_is_measured_once_for_each_number_of_cores(folder, measurements):
    cores = os.cpu_count()
    assert speed("a CPU", 1) == speed("a CPU", 1) == Speed(0.5, 0.5, 0.5)
    forget()  # as in another process
    assert speed("a CPU", 1) == Speed(0.5, 0.5, 0.5) and measurements == [1]
    speed("another CPU", 1)
    assert speed("a CPU", cores) == speed("a CPU", cores + 100)  # than there are
    assert sorted(json.loads((folder / "probe.json").read_text())) == sorted(
        {"a CPU, 1 cores", "another CPU, 1 cores", f"a CPU, {cores} cores"}
    )


@pytest.mark.parametrize(
    "content",
    ["", "not JSON", "[]", "5", "null", "[" * 100_000, '{"a CPU, 1 cores": [1, 1, 1]}', '{"a CPU, 1 cores": null}']
    + [
        f'{{"a CPU, 1 cores": {{"speed": {figures}, "measured": NOW}}}}'
        for figures in (
            "[0, 0, 0]",
            "[1]",
            "5",
            '[1, 1, "fast"]',
            "[1, 1, NaN]",
            "[1, 1, 1e400]",
            f"[1, 1, 1{400 * '0'}]",
        )
    ]
    + [
        f'{{"a CPU, 1 cores": {{"speed": [1, 1, 1], "measured": {when}}}}}'
        for when in ("0", "NaN", "null", "1e12", f"1{400 * '0'}")
    ],
    ids=lambda content: content[:60] + content[-30:],
)
def test_a_broken_file_is_measured_again(folder, measurements, content):
    folder.mkdir()
    (folder / "probe.json").write_text(content.replace("NOW", str(time.time())))
    forget()
    assert speed("a CPU", 1) == Speed(0.5, 0.5, 0.5) and measurements == [1]
    [own] = json.loads((folder / "probe.json").read_text()).values()
    assert own["speed"] == [0.5, 0.5, 0.5] and 0 <= time.time() - own["measured"] < 60


def test_a_fifo_in_place_of_the_file_is_not_waited_for(folder, measurements):
    folder.mkdir(parents=True, exist_ok=True)
    os.mkfifo(folder / probe.FILE)
    assert probe.kept(folder) == {}


def test_a_measurement_counts_for_a_day(folder, measurements, monkeypatch):
    """It may have been made on a busy machine."""
    now = time.time()
    for hours, count in ((0, 1), (23, 1), (25, 2), (47, 2)):
        monkeypatch.setattr(time, "time", lambda hours=hours: now + 3600 * hours)
        forget()
        speed("a CPU", 1)
        assert len(measurements) == count


def no_home(monkeypatch):
    def fail():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", fail)
    forget()


def test_a_cache_folder_that_is_not_absolute_is_ignored(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    assert cache_folder.cache_folder.__wrapped__() == Path.home() / ".cache" / "mgraph"


def test_without_a_home_nothing_is_kept(measurements, monkeypatch):
    with monkeypatch.context() as patch:
        no_home(patch)
        assert plan("apsp", 100, devices="cpu").seconds > 0
        assert measurements
        with pytest.raises(InputError, match="no home directory to keep figures in: set XDG_CACHE_HOME"):
            keep("a CPU", DEFAULT["cpu"])
        with pytest.raises(InputError, match="no home directory"):
            calibrate("cpu")  # immediately, not after the whole measurement
    forget()


def test_a_file_that_cannot_be_written_leaves_nothing_behind(tmp_path, monkeypatch):
    """Nor do two that write at the same time share a temporary file, as processes of two containers may."""
    path = tmp_path / "a.json"
    monkeypatch.setattr(os, "getpid", lambda: 1)

    class Late(dict):
        def items(self):
            cache_folder.write_json(path, {"other": 1})
            return super().items()

    cache_folder.write_json(path, Late(own=2))
    assert json.loads(path.read_text()) == {"own": 2}
    with pytest.raises(TypeError):
        cache_folder.write_json(path, {"own": object()})
    assert [file.name for file in tmp_path.iterdir()] == ["a.json"]
    assert json.loads(path.read_text()) == {"own": 2}


def test_a_folder_that_cannot_be_written_to(folder, measurements):
    folder.write_text("a file")
    forget()
    assert speed("a CPU", 1) == speed("a CPU", 1) == Speed(0.5, 0.5, 0.5) and measurements == [1]


def test_disturbances_of_a_measurement_are_bounded(folder, monkeypatch):
    monkeypatch.setattr(probe, "measured", lambda cores: Speed(1.0, 1e30, probe.REFERENCE.reads))
    forget()
    assert speed("a CPU", 1) == Speed(0.1, 10.0, 1.0)


def test_rates_of_this_machine_are_scaled(folder, measurements):
    forget()
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
    assert threading.active_count() <= before  # those of earlier tests may end meanwhile
    assert SAME.searches == 1.0 and Speed(4.0, 7.0, 9.0).searches == 6.0
