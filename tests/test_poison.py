"""No result depends on memory that nobody has written: see `tests.poison`. The calls are those of the registry."""

import inspect
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from mgraph import device as devices
from mgraph.algorithms.registry import ALGORITHMS
from mgraph.errors import InputError
from tests.poison import BYTES, environment, poisoned, start
from tests.support.clusters import CLUSTER_WARNINGS, cluster

pytestmark = [*CLUSTER_WARNINGS, pytest.mark.usefixtures("writing")]


ROOT = Path(__file__).parents[1]
METHODS = [(name, method) for name, entry in ALGORITHMS.items() for method in (entry.methods or ("auto",))]
ON_GPUS = [(name, method) for name, method in METHODS if method not in ALGORITHMS[name].cpu_only]

#: Samples of a method that every change needs.
FEW = 1

few = pytest.mark.parametrize("few", [FEW, pytest.param(1000, marks=pytest.mark.exhaustive)])


@pytest.fixture(scope="module")
def workers():
    """Clients of one to three workers in this process, by their number."""
    with ExitStack() as stack:
        yield {count: stack.enter_context(cluster(count, processes=False)) for count in (1, 2, 3)}


def arrays(result):
    """Return the arrays of a result on the host, by name."""
    found = result.arrays.items()
    return {name: each.to_numpy() if hasattr(each, "to_numpy") else devices.to_host(each) for name, each in found}


def called(entry, method, sample, **on):
    """Return the result of a call, or None if it refuses."""
    options = {"method": method} if entry.methods else {}
    try:
        return entry.call(sample.given, **options, **sample.options, **on)
    except InputError:
        return None


def check(name, method, few, device, places, folder, poison=BYTES):
    """Compare the samples of a method in poisoned memory, at each place and resumed there, with those in clean memory.

    Places are options of a call. One that refuses a place does so in clean memory, too.
    """
    entry = ALGORITHMS[name]
    kept = "checkpoint" in inspect.signature(entry.call).parameters
    samples = list(entry.samples(method))
    for number, sample in enumerate(samples[:: max(1, len(samples) // few)][:few]):
        clean = called(entry, method, sample, device=device)
        wanted, span = arrays(clean), max(1, (clean.plan.steps or 1) // 4)
        for byte in poison:
            for label, on in places.items():
                runs = [{}]
                if kept:
                    saved = {"checkpoint": folder / f"{number}-{byte}-{label}", "span": span}
                    begun = saved | {"checkpoint_every": 0}
                    runs = [{}, begun, saved | {"resume": True}] if not on else [begun, saved | {"resume": True}]
                for options in runs:
                    with poisoned(byte):
                        result = called(entry, method, sample, device=device, **on, **options)
                        found = wanted if result is None else arrays(result)
                    assert result or not called(entry, method, sample, device=device, **on, **options)
                    for key, array in wanted.items():
                        words = f"{key}, {label}, {options}, memory full of {byte:#x}"
                        if sample.options.get(key) == "any":  # on a GPU they differ from run to run
                            assert result is None or result.verify(sample.given) is None, words
                        elif on and name == "betweenness":  # workers add up other parts
                            np.testing.assert_allclose(found[key], array, rtol=1e-12, atol=1e-15, err_msg=words)
                        else:
                            np.testing.assert_array_equal(found[key], array, words)


# On workers all samples of a search would take minutes.
@pytest.mark.parametrize("few", [FEW, pytest.param(6, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize(("name", "method"), METHODS)
def test_calls(workers, tmp_path, name, method, few):
    counts = [2] if few == FEW else workers
    places = {"direct": {}} | {f"on {count}": {"client": workers[count]} for count in counts}
    check(name, method, few, "cpu", places, tmp_path)


@few
@pytest.mark.parametrize("byte", BYTES)
def test_compiled_code(byte, few):
    verified([sys.executable, "-m", "tests.poison", str(byte), str(few)], byte)


@pytest.mark.exhaustive
@pytest.mark.parametrize("byte", BYTES)
def test_digests(byte):
    verified([sys.executable, "-m", "tests.digests", "compare", "--poison", str(byte)], byte)


def verified(command, byte):
    done = subprocess.run(command, env=environment(byte), cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]


@pytest.mark.gpu
@few
@pytest.mark.parametrize(("name", "method"), ON_GPUS)
def test_a_gpu(tmp_path, name, method, few):
    check(name, method, few, "cuda", {"direct": {}}, tmp_path)


@pytest.mark.gpu
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("byte", BYTES)
def test_gpus(gpus, tmp_path, byte):
    gpus.run(start, byte)
    for name, method in ON_GPUS:
        check(name, method, FEW, "cuda", {"on GPUs": {"client": gpus}}, tmp_path / name / method, [byte])


def test_new_memory_is_poisoned(device):
    where = devices.find(device)
    for byte in BYTES:
        with poisoned(byte):
            made = (
                where.xp.empty(5),
                where.xp.empty_like(where.xp.zeros((2, 3), np.int16)),
                where.pinned((7,), np.float32),
            )
        for array in made:
            assert set(devices.to_host(array).tobytes()) == {byte}
