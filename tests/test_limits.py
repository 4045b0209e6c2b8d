"""Limits of a process are read correctly from recorded trees, and real limits are respected."""

import importlib.util
import inspect
import json
import os
import subprocess
import sys
import textwrap
import uuid
from collections import namedtuple
from pathlib import Path

import psutil
import pytest

import mgraph
from mgraph import limits
from mgraph.algorithms.registry import ALGORITHMS
from mgraph.errors import MemoryLimitError
from mgraph.matrices import floyd_warshall
from mgraph.planning import fit
from mgraph.runtime import solving
from tests.support.parameters import exhaustive

MIB, GIB = 1 << 20, 1 << 30

NO_LIMITS = """\
Limit                     Soft Limit           Hard Limit           Units     
Max cpu time              unlimited            unlimited            seconds   
Max data size             unlimited            unlimited            bytes     
Max address space         unlimited            unlimited            bytes     
"""

STATUS = "Name:\tpython\nVmPeak:\t  700000 kB\nVmSize:\t  512000 kB\nVmData:\t  102400 kB\n"

#: 20 GiB available of a machine.
MEMINFO = "MemTotal:       24691280 kB\nMemFree:         1000000 kB\nMemAvailable:   20971520 kB\n"

ROOT_MOUNT = "23 1 254:0 / / rw,relatime - ext4 /dev/root rw\n"

#: Mounts by systemd of version 2, and of both versions; by Docker in a container of version 1, and of version 2.
UNIFIED = ROOT_MOUNT + "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:9 master:2 - cgroup2 cgroup2 rw,nsdelegate\n"
HYBRID = (
    ROOT_MOUNT
    + "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    + "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:10 - cgroup cgroup rw,cpu,cpuacct\n"
    + "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    + "40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd\n"
    + "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
)
DOCKER_1 = (
    "600 500 0:60 / / rw,relatime master:200 - overlay overlay rw,lowerdir=/l\n"
    "610 600 0:61 / /sys/fs/cgroup rw,nosuid - tmpfs tmpfs rw,mode=755\n"
    "611 610 0:29 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro,nosuid master:10 - cgroup cgroup rw,cpu,cpuacct\n"
    "612 610 0:32 /docker/abc /sys/fs/cgroup/memory ro,nosuid master:12 - cgroup cgroup rw,memory\n"
)

#: "No limit" of version 1: the largest multiple of a page.
NONE_1 = 9223372036854771712


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """Return a function that makes a tree of files, in which Numba has run, and returns its root."""
    monkeypatch.setattr(limits, "NUMBA_PAGES", 0)
    monkeypatch.setattr(limits, "NUMBA_ADDRESSES", 0)
    monkeypatch.setattr(limits, "THREAD_ADDRESSES", 0)

    def make(groups, mounts, **files):
        tree = {
            "proc/self/cgroup": groups,
            "proc/self/mountinfo": mounts,
            "proc/self/limits": NO_LIMITS,
            "proc/self/status": STATUS,
            "proc/meminfo": MEMINFO,
        }
        for path, text in (tree | files).items():
            file = tmp_path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return str(tmp_path)

    return make


def v1(folder, limit, usage, idle):
    """Return the files of a group of version 1; its own idle pages are fewer than those of all below it."""
    folder = f"sys/fs/cgroup/memory{folder}"
    return {
        f"{folder}/memory.limit_in_bytes": f"{limit}\n",
        f"{folder}/memory.usage_in_bytes": f"{usage}\n",
        f"{folder}/memory.stat": f"cache 9\ninactive_file 7\ntotal_cache 99\ntotal_inactive_file {idle}\n",
    }


def v2(folder, limit, usage, idle, high="max"):
    """Return the files of a group of version 2."""
    folder = f"sys/fs/cgroup{folder}"
    return {
        f"{folder}/memory.max": f"{limit}\n",
        f"{folder}/memory.high": f"{high}\n",
        f"{folder}/memory.current": f"{usage}\n",
        f"{folder}/memory.stat": f"anon 5\nfile 6\ninactive_anon 1\nactive_file 2\ninactive_file {idle}\n",
    }


def test_without_limits_free_memory_is_the_machines(recorded):
    root = recorded("0::/user.slice\n", UNIFIED, **v2("/user.slice", "max", 3 * GIB, 0))
    assert limits.available_memory(root) == 20 * GIB
    assert limits.address_space(root) >= 1 << 60


def test_a_container_of_version_1(recorded):
    groups = "12:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc\n1:name=systemd:/docker/abc\n"
    root = recorded(groups, DOCKER_1, **v1("", 1536 * MIB, 700 * MIB, 100 * MIB))
    assert limits.available_memory(root) == (1536 - 700 + 100) * MIB


def test_a_container_of_version_2_sees_its_group_as_the_top(recorded):
    root = recorded("0::/\n", UNIFIED, **v2("", 1536 * MIB, 1000 * MIB, 300 * MIB))
    assert limits.available_memory(root) == (1536 - 1000 + 300) * MIB


@pytest.mark.parametrize("tight", ["/user.slice", "/user.slice/user-0.slice", "/user.slice/user-0.slice/run.scope"])
def test_every_group_above_counts_in_version_2(recorded, tight):
    own = "/user.slice/user-0.slice/run.scope"
    files = v2("/user.slice", "max", 2 * GIB, 0)
    files |= v2("/user.slice/user-0.slice", 16 * GIB, 2 * GIB, 0)
    files |= v2(own, "max", GIB, 0)
    assert limits.available_memory(recorded(f"0::{own}\n", UNIFIED, **files)) == 14 * GIB
    files |= v2(tight, 3 * GIB, 2 * GIB, 512 * MIB)
    assert limits.available_memory(recorded(f"0::{own}\n", UNIFIED, **files)) == 1536 * MIB


@pytest.mark.parametrize("tight", ["", "/jobs", "/jobs/7"])
def test_every_group_above_counts_in_version_1_beside_an_empty_version_2(recorded, tight):
    groups = "5:memory:/jobs/7\n2:cpu,cpuacct:/\n0::/jobs/7\n"
    files = {}
    for folder in ("", "/jobs", "/jobs/7"):
        files |= v1(folder, NONE_1, 2 * GIB, 0)
    assert limits.available_memory(recorded(groups, HYBRID, **files)) == 20 * GIB
    files |= v1(tight, 3 * GIB, 2 * GIB, 512 * MIB)
    assert limits.available_memory(recorded(groups, HYBRID, **files)) == 1536 * MIB


def test_version_2_bounds_memory_where_version_1_is_mounted_for_others(recorded):
    mounts = HYBRID.replace("/sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory", "/m rw - tmpfs tmpfs rw")
    files = {path.replace("cgroup/", "cgroup/unified/", 1): text for path, text in v2("/a", GIB, MIB, 0).items()}
    assert limits.available_memory(recorded("2:cpu,cpuacct:/a\n0::/a\n", mounts, **files)) == GIB - MIB


def test_memory_beyond_the_high_mark_does_not_count(recorded):
    root = recorded("0::/a\n", UNIFIED, **v2("/a", 2 * GIB, GIB // 2, 0, high=GIB))
    assert limits.available_memory(root) == GIB // 2


def test_a_group_named_as_the_host_sees_it(recorded):
    """If the mount shows another part of the tree than the name, its top is the nearest visible group."""
    root = recorded("4:memory:/kubepods/pod1/abc/deeper\n", DOCKER_1, **v1("", GIB, 0, 0))
    assert limits.available_memory(root) == GIB


def test_a_group_below_that_of_the_mount(recorded):
    files = v1("", 4 * GIB, 0, 0) | v1("/deeper", GIB, 0, 0)
    assert limits.available_memory(recorded("4:memory:/docker/abc/deeper\n", DOCKER_1, **files)) == GIB


def test_a_group_outside_of_what_is_mounted_is_no_limit(recorded):
    root = recorded("0::/../other\n", UNIFIED, **v2("", GIB, 0, 0))
    assert limits.available_memory(root) == 20 * GIB


def test_a_mount_point_with_a_blank(recorded):
    mounts = ROOT_MOUNT + r"31 23 0:28 / /sys/fs/my\040groups rw - cgroup2 cgroup2 rw" + "\n"
    files = {path.replace("cgroup", "my groups"): text for path, text in v2("/a", GIB, 0, 0).items()}
    assert limits.available_memory(recorded("0::/a\n", mounts, **files)) == GIB


@pytest.mark.parametrize("name", [b"caf\xe9", "a\u2028b\u00a0c\x1cd".encode()], ids=["not UTF-8", "blanks of Unicode"])
def test_a_mount_point_of_any_bytes(recorded, tmp_path, name):
    """Neither its own line nor those of other mounts are lost."""
    root = recorded("0::/a\n", "", **v2("/a", GIB, 0, 0))
    line = b"50 23 8:1 / /mnt/%b rw - ext4 /dev/sdb rw\n" % name
    (tmp_path / "proc/self/mountinfo").write_bytes(line + UNIFIED.encode())
    assert limits.available_memory(root) == GIB
    limits.groups_of.cache_clear()
    moved = UNIFIED.encode().replace(b"/sys/fs/cgroup", b"/sys/fs/" + name)
    (tmp_path / "proc/self/mountinfo").write_bytes(moved)
    os.rename(tmp_path / "sys/fs/cgroup", os.fsencode(tmp_path) + b"/sys/fs/" + name)
    assert limits.available_memory(root) == GIB


def test_a_limit_that_is_set_later_counts(recorded):
    root = recorded("0::/a/b\n", UNIFIED)
    assert limits.available_memory(root) == 20 * GIB
    recorded("0::/a/b\n", UNIFIED, **v2("/a", GIB, 0, 0))
    assert limits.available_memory(root) == GIB


def test_a_group_that_uses_more_than_its_limit_leaves_nothing(recorded):
    assert limits.available_memory(recorded("0::/a\n", UNIFIED, **v2("/a", GIB, 2 * GIB, 0))) == 0


def test_files_that_cannot_be_read_are_no_limit(recorded, tmp_path):
    root = recorded("0::/a\n", UNIFIED, **v2("/a", GIB, GIB // 2, 0))
    assert limits.available_memory(root) == GIB // 2
    for name in ("memory.max", "memory.high", "memory.current", "memory.stat"):
        (tmp_path / "sys/fs/cgroup/a" / name).unlink()
    assert limits.available_memory(root) == 20 * GIB
    for path in ("proc/self/cgroup", "proc/self/mountinfo", "proc/self/limits"):
        (tmp_path / path).write_text("nonsense\n: \n::\n - - -\n")
    assert limits.available_memory(root) == 20 * GIB
    assert limits.cores(root) == limits.cores_allowed()


def test_other_systems_use_psutil(monkeypatch, tmp_path):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: namedtuple("Memory", "available")(3 * GIB))
    monkeypatch.setattr(limits, "NUMBA_PAGES", 0)
    assert limits.available_memory(str(tmp_path)) == 3 * GIB
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 5)
    assert limits.cores(str(tmp_path)) == 5


def bound(limit):
    """Return the file of a resource limit of a GiB."""
    assert f"{limit:26}unlimited" in NO_LIMITS
    return {"proc/self/limits": NO_LIMITS.replace(f"{limit:26}unlimited", f"{limit:26}{GIB:<9}")}


@pytest.mark.parametrize(("limit", "used"), [("Max address space", 500 * MIB), ("Max data size", 100 * MIB)])
def test_resource_limits_less_what_is_used(recorded, limit, used):
    root, left = recorded("0::/\n", UNIFIED, **bound(limit)), GIB - used
    assert limits.available_memory(root) == limits.own_memory(root) == left
    assert limits.shared_memory(root) == 20 * GIB
    assert limits.address_space(root) == (left if limit == "Max address space" else limits.NO_LIMIT)


def test_memory_is_reserved_for_numba(recorded, monkeypatch):
    monkeypatch.setattr(limits, "NUMBA_PAGES", 100 * MIB)
    monkeypatch.setattr(limits, "NUMBA_ADDRESSES", 200 * MIB)
    monkeypatch.setattr(limits, "THREAD_ADDRESSES", 10 * MIB)
    monkeypatch.setattr(limits, "cores_allowed", lambda: 4)
    monkeypatch.setitem(sys.modules, "numba", type(sys)("numba"))
    sys.modules["numba"].threading_layer = lambda: "omp"
    addresses = bound("Max address space")
    ran = limits.threading.Event()
    monkeypatch.setattr(limits, "NUMBA_RAN", ran)
    assert limits.available_memory(recorded("0::/\n", UNIFIED)) == 20 * GIB - 100 * MIB
    assert limits.available_memory(recorded("0::/\n", UNIFIED, **addresses)) == GIB - 700 * MIB
    del sys.modules["numba"].threading_layer  # as another thread imports it
    assert limits.available_memory(recorded("0::/\n", UNIFIED, **addresses)) == GIB - 730 * MIB
    monkeypatch.delitem(sys.modules, "numba")
    assert limits.available_memory(recorded("0::/\n", UNIFIED, **addresses)) == GIB - 730 * MIB
    ran.set()
    assert limits.available_memory(recorded("0::/\n", UNIFIED)) == 20 * GIB
    assert limits.available_memory(recorded("0::/\n", UNIFIED, **addresses)) == GIB - 530 * MIB


@pytest.mark.parametrize(
    ("own", "above", "count"),
    [("max 100000", "max 100000", 8), ("200000 100000", "max 100000", 2), ("max 100000", "150000 100000", 2)],
)
def test_cores_of_version_2(recorded, monkeypatch, own, above, count):
    monkeypatch.setattr(limits, "cores_allowed", lambda: 8)
    files = {"sys/fs/cgroup/a/b/cpu.max": f"{own}\n", "sys/fs/cgroup/a/cpu.max": f"{above}\n"}
    assert limits.cores(recorded("0::/a/b\n", UNIFIED, **files)) == count


@pytest.mark.parametrize(("quota", "count"), [(-1, 8), (50000, 1), (250000, 3), (1600000, 8)])
def test_cores_of_version_1(recorded, monkeypatch, quota, count):
    monkeypatch.setattr(limits, "cores_allowed", lambda: 8)
    folder = "sys/fs/cgroup/cpu,cpuacct"
    files = {f"{folder}/cpu.cfs_quota_us": f"{quota}\n", f"{folder}/cpu.cfs_period_us": "100000\n"}
    assert limits.cores(recorded("3:cpu,cpuacct:/docker/abc\n", DOCKER_1, **files)) == count


def test_cores_are_those_that_it_may_run_on(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 5, 7}, raising=False)
    assert limits.cores_allowed() == 3 >= limits.cores()


def test_a_folder_in_memory(recorded, tmp_path):
    device = os.stat(tmp_path).st_dev
    mount = f"50 23 {os.major(device)}:{os.minor(device)} / /tmp rw - {{}} x rw\n"
    assert limits.is_memory(tmp_path, recorded("", UNIFIED + mount.format("tmpfs")))
    assert not limits.is_memory(tmp_path, recorded("", UNIFIED + mount.format("ext4")))


def test_the_host_device_and_its_description_go_by_the_limits(monkeypatch):
    monkeypatch.setattr(limits, "available_memory", lambda: 123 * MIB)
    monkeypatch.setattr(limits, "cores", lambda: 3)
    [spec] = mgraph.plan("bfs", 10, 20, "cpu").devices
    assert (spec.memory, spec.cores) == (123 * MIB, 3)


def on_disk(n, memory):
    return mgraph.plan("apsp", n, devices=mgraph.DeviceSpec("cpu", "cpu", memory), method="blocked")


def test_a_file_in_memory_counts_as_memory(monkeypatch):
    monkeypatch.setattr(limits, "available_memory", lambda: 200 * MIB)
    monkeypatch.setattr(limits, "is_memory", lambda folder: False)
    assert on_disk(8192, 128 * MIB).disk_bytes
    monkeypatch.setattr(limits, "is_memory", lambda folder: True)
    with pytest.raises(MemoryLimitError, match=r"needs 256 MiB in .*, which is in memory \(set TMPDIR"):
        on_disk(8192, 128 * MIB)
    monkeypatch.setattr(limits, "available_memory", lambda: 500 * MIB)
    assert on_disk(8192, 128 * MIB).disk_bytes


def test_a_mapped_file_takes_address_space(monkeypatch):
    monkeypatch.setattr(limits, "is_memory", lambda folder: False)
    monkeypatch.setattr(limits, "address_space", lambda: 300 * MIB)
    with pytest.raises(MemoryLimitError, match="needs 256 MiB of address space, which RLIMIT_AS bounds"):
        on_disk(8192, 128 * MIB)


#: Printed by a fresh process: the threads of Numba where cores are few, after the code of `first`.
THREADS = """\
import os
from mgraph import limits
limits.cores_allowed = lambda: 64
limits.cores = lambda: 2
{first}
before = dict(os.environ)
import mgraph.device.numba, numba, numpy as np
assert os.environ == before  # which child processes inherit

@numba.njit(parallel=True)
def kernel(a):
    for i in numba.prange(len(a)):
        a[i] += 1
kernel(np.zeros(3))

@numba.njit
def later(a):
    return a
later(1)  # for which Numba looks at the environment again
print(numba.get_num_threads())
"""


@pytest.mark.parametrize(
    ("first", "threads"),
    [("", 2), *exhaustive(("import numba", 2), ("os.environ['NUMBA_NUM_THREADS'] = '3'", 3))],
    ids=["", "Numba is imported before", "told by the environment"],
)
def test_numba_has_no_more_threads_than_there_are_cores(first, threads):
    if first == "import numba" and limits.cores_allowed() < 2:
        pytest.skip("Numba has one thread here")
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_NUM_THREADS"}
    assert run(THREADS.format(first=first), environment) == [str(threads)]


def test_a_limit_of_threads_leaves_no_more_than_there_are_cores():
    script = """
        from mgraph import device, limits
        from mgraph.kernels import bfs as bfs_kernels
        limits.cores_allowed = lambda: 64
        limits.cores = lambda: 1
        with device.find("cpu").limited(2):
            bfs_kernels.on(device.find("cpu"))
        import numba
        print(numba.get_num_threads())
    """
    assert run(script, {name: value for name, value in os.environ.items() if name != "NUMBA_NUM_THREADS"}) == ["1"]


TASKS = """
from types import SimpleNamespace
from mgraph import device, limits
limits.cores_allowed = lambda: 64
limits.cores = lambda: {cores}
from mgraph.runtime.dask import worker
session = worker.Session()
session.device = device.find("cpu")
for task in range(2):
    with worker.at_work(SimpleNamespace(state=SimpleNamespace(nthreads=4)), session, "solve"):
        import mgraph.device.numba, numba
        print(numba.get_num_threads(), numba.config.NUMBA_NUM_THREADS)
"""


@pytest.mark.parametrize("cores", [1, *exhaustive(2)])
def test_tasks_of_a_worker_have_no_more_threads_than_cores(cores):
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_NUM_THREADS"}
    assert run(TASKS.format(cores=cores), environment) == 2 * [f"{cores} {cores}"]


def test_numba_has_run_once_a_kernel_is_loaded_or_compiled():
    """Until then memory is reserved for it, also after calls of Python helpers beside the kernels."""
    script = """
        import numpy as np
        import mgraph
        from mgraph import device, limits
        from mgraph.kernels import bfs as bfs_kernels
        bfs_kernels.on(device.find("cpu")).quads_needed(4)
        print(limits.NUMBA_RAN.is_set())
        mgraph.bfs(mgraph.Graph.from_edges([0, 1], [1, 2]), 0, device="cpu")
        print(limits.NUMBA_RAN.is_set())
    """
    assert run(script) == ["False", "True"]


def run(script, environment=None, *, group=None):
    """Return the lines that a script prints, run in a control group of memory if one is given."""
    command = [sys.executable, "-c", textwrap.dedent(script)]
    if group is not None:
        command = ["sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec "$@"', str(group), *command]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=800)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def group():
    """A control group of memory below that of this process, which a script can enter."""
    above = next((limits.Group(*g) for g in limits.groups("memory", limits.ROOT)), None)
    if above is None or importlib.util.find_spec("resource") is None:
        pytest.skip("no control group of memory to be seen")
    made = Path(above.folder) / f"mgraph-{uuid.uuid4().hex}"
    try:
        made.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made in {above.folder}: {error.strerror}")
    try:
        if not (made / limits.FILES["memory", above.version]).exists():
            pytest.skip(f"{above.folder} gives its groups no controller of memory")
        yield made
    finally:
        made.rmdir()


#: Bytes that the interpreter's own table of strings may take in one piece, at any moment, when it doubles.
TABLE = 2 << 20

#: Leaves a process half of what a call's plan needs, prints the outcome and what NumPy and Python had allocated by
#: then; then leaves it enough, and prints what the call returns.
HALF = """
    import json, resource, sys, tracemalloc
    import numpy as np
    import mgraph
    from mgraph import limits

    def leave(size):
        if {how!r} == "address space":
            used = limits.bytes_used("VmSize:", limits.ROOT)
            return resource.setrlimit(resource.RLIMIT_AS, (used + int(size), resource.RLIM_INFINITY))
        group = limits.groups("memory", limits.ROOT)[0]
        path = f"{{group.folder}}/{{limits.FILES['memory', group.version]}}"
        open(path, "w").write(str(1 << 40))
        open(path, "w").write(str((1 << 40) - limits.left_by(group) + int(size)))

    def made(n, m):
        rng = np.random.default_rng(0)
        return mgraph.Graph.from_edges(rng.integers(0, n, m), rng.integers(0, n, m), rng.random(m, np.float32), n=n)

    few, many = made({n}, 20_000), made(1 << 21, 1 << 20)
    calls = dict(
        naive=lambda graph: mgraph.apsp(graph, method="naive", device="cpu").distances[0],
        apsp=lambda graph: mgraph.apsp(graph, method="blocked", device="cpu").distances[0],
        sssp=lambda graph: mgraph.sssp(graph, 0, device="cpu").distances,
    )
    for name, graph in dict({names}).items():
        calls[name](made(40, 100))  # compiled
        graph.csr()
        pairs = dict(naive="naive", apsp="blocked")
        plan = ("apsp" if name in pairs else "sssp", graph.n, graph.m)
        [need] = mgraph.plan(*plan, "cpu", method=pairs.get(name, "auto")).peak_bytes
        leave(need / 2)
        tracemalloc.start()
        try:
            ended = calls[name](graph)
        except mgraph.MemoryLimitError as error:
            ended = str(error)
        allocated = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        leave(1.3 * need + (200 << 20))
        right = mgraph.sssp(graph, 0, device="cpu").distances
        ended = ended if isinstance(ended, str) else f"right: {{np.allclose(ended, right)}}"
        print(json.dumps([name, need, allocated, ended, np.allclose(calls[name](graph), right)]))
"""


@pytest.mark.parametrize(
    ("how", "names"),
    [*exhaustive(("address space", "naive=few, apsp=few, sssp=many")), ("group", "naive=few, sssp=many")],
)
def test_half_of_the_memory_that_is_needed_is_refused_before_allocation(how, names, request):
    limited = request.getfixturevalue("group") if how == "group" else None
    for line in run(HALF.format(how=how, n=2000, names=names), group=limited):
        name, need, allocated, ended, right = json.loads(line)
        assert right
        assert f"needs {fit.size_in_words(need)} " in ended and " on cpu, which has " in ended
        assert allocated < need / 20 + TABLE
        if name == "apsp":  # its out-of-core plan needs room for a file
            assert "of address space, which RLIMIT_AS bounds" in ended


#: Leaves less address space than Numba's libraries take, and prints why they cannot be loaded.
CROWDED = """
    import resource
    import mgraph
    mgraph.bfs  # what mgraph itself needs is imported before
    from mgraph import limits
    most = limits.bytes_used("VmSize:", limits.ROOT) + (60 << 20)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    try:
        import mgraph.device.numba
    except mgraph.MemoryLimitError as error:
        print(error)
"""


def test_numba_without_room_is_refused_by_what_it_needs():
    [line] = run(CROWDED)
    assert line.startswith("Numba needs 320 MiB of address space") and line.endswith("raise its limit (ulimit -v)")


#: Starts workers in a group of 1.5 GiB, and prints the memory that a plan assumes for them.
WORKERS = """
    import json, sys
    from mgraph import limits
    from mgraph.cluster import Cluster, local_client
    if __name__ == "__main__":
        group = limits.groups("memory", limits.ROOT)[0]
        with open(f"{group.folder}/{limits.FILES['memory', group.version]}", "w") as file:
            file.write(str(1536 << 20))
        with local_client(2, "cpu") as client:
            print(json.dumps([limits.left_by(group), *(spec.memory for spec in Cluster(client, "cpu").specs)]))
"""


def test_workers_share_the_memory_of_a_container(group):
    [line] = run(WORKERS, group=group)
    left, *shares = json.loads(line)
    assert len(shares) == 2
    for share in shares:
        assert 0.5 * (left - 64 * MIB) / 2 < share + limits.NUMBA_PAGES <= (left + 64 * MIB) / 2


def out_of_memory(*_, **__):
    raise MemoryError("Unable to allocate 9.31 GiB")


TRIANGLE = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0])
OVERRUN = (
    r"apsp of 3 vertices ran out of memory \(Unable to allocate 9.31 GiB\): its plan needs [\d.]+ .iB of the "
    r"[\d.]+ .iB that cpu had free; [\d.]+ .iB of this process's memory are free now"
)


def test_an_allocation_that_fails_is_reported_with_the_plans_numbers(monkeypatch):
    monkeypatch.setattr(floyd_warshall.FloydWarshall, "step", out_of_memory)
    with pytest.raises(MemoryLimitError, match=OVERRUN):
        mgraph.apsp(TRIANGLE, method="blocked", block=32, device="cpu")


@pytest.mark.parametrize("name", ALGORITHMS)
def test_memory_that_runs_out_while_the_input_is_prepared(name, monkeypatch):
    entry = ALGORITHMS[name]
    through = inspect.unwrap(mgraph.distances).__globals__  # by which paths are counted
    for names in (inspect.unwrap(entry.call).__globals__, vars(solving), through):
        for door in names.keys() & {"executor", "runner_of", "runner_of_vector"}:
            monkeypatch.setitem(names, door, out_of_memory)
    words = (
        rf"({entry.call.__name__}|distances) ran out of memory while its input was prepared "
        r"\(Unable to allocate 9.31 GiB\): [\d.]+ .iB of this"
    )
    with pytest.raises(MemoryLimitError, match=words) as caught:
        entry.run(next(entry.samples("auto")), "auto", "cpu")
    assert isinstance(caught.value.__cause__, MemoryError)
