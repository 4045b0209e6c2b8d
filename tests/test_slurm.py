"""The scripts of `deploy/` on a Slurm that the tests start here: a controller, and two nodes on this machine."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

import mgraph

DEPLOY = Path(__file__).parents[1] / "deploy"
MISSING = [name for name in ("munged", "slurmctld", "slurmd", "sbatch") if shutil.which(name) is None]

pytestmark = [
    pytest.mark.slurm,
    pytest.mark.skipif(bool(MISSING), reason=f"apt-get install slurm-wlm munge: there is no {', '.join(MISSING)}"),
    pytest.mark.skipif(os.geteuid() != 0, reason="slurmd needs root"),
]

CONFIGURATION = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName=a NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=1 RealMemory=1000
NodeName=b NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=1 RealMemory=1000
PartitionName=all Nodes=a,b Default=YES State=UP MaxTime=10
"""


def free_ports(count):
    with contextlib.ExitStack() as opened:
        sockets = [opened.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in sockets]


def wait_until(true, seconds=60):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.2)


class Slurm:
    """A running Slurm, as those who submit see it: its environment, and its commands."""

    def __init__(self, folder):
        python = Path(sys.executable).parent
        checkout = str(Path(__file__).parents[1])
        paths = [checkout, f"{checkout}/benchmarks", *filter(None, [os.environ.get("PYTHONPATH")])]
        self.environment = os.environ | {
            "SLURM_CONF": f"{folder}/slurm.conf",
            "PATH": f"{python}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join(paths),
        }

    def run(self, *command, **options):
        command = [str(part) for part in command]
        return subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=240, check=True, **options
        ).stdout.strip()

    def finished(self, script, *arguments, folder, options=()):
        """Submit a script, wait for its end and return how it ended, and its folder."""
        options = ["--cpus-per-task=1", "--time=5", *options]
        job = self.run("sbatch", "--parsable", *options, script, *arguments, cwd=folder)
        wait_until(lambda: not self.run("squeue", "--noheader", "--jobs", job), 240)
        facts = dict(word.partition("=")[::2] for word in self.run("scontrol", "show", "job", job).split())
        return facts["JobState"], folder / f"mgraph-{job}"


@pytest.fixture(scope="module")
def slurm():
    with contextlib.ExitStack() as started:
        # Short, as the paths of sockets must be.
        folder = Path(started.enter_context(tempfile.TemporaryDirectory(prefix="slurm-")))
        host = socket.gethostname().partition(".")[0]
        (folder / "slurm.conf").write_text(CONFIGURATION.format(folder=folder, host=host, ports=free_ports(3)))
        (folder / "munge.key").write_bytes(os.urandom(1024))
        (folder / "munge.key").chmod(0o400)
        folder.chmod(0o755)
        made = Slurm(folder)

        def start(*command):
            log = started.enter_context((folder / f"{command[0]}.log").open("ab"))
            process = subprocess.Popen(command, env=made.environment, stdout=log, stderr=log)
            started.callback(process.wait, 30)
            started.callback(process.terminate)

        files = {name: f"{folder}/munge.{name}" for name in ("socket", "pid", "log", "seed")}
        start(
            *("munged", "--foreground", "--force", f"--key-file={folder}/munge.key", f"--socket={files['socket']}"),
            *(f"--pid-file={files['pid']}", f"--log-file={files['log']}", f"--seed-file={files['seed']}"),
        )
        wait_until(Path(files["socket"]).exists)
        start("slurmctld", "-D", "-i", "-f", f"{folder}/slurm.conf")
        for node in "ab":
            start("slurmd", "-D", "-f", f"{folder}/slurm.conf", "-N", node)
        wait_until(lambda: idle(made) == 2)
        yield made
        made.run("scancel", "--user=root")
        wait_until(lambda: not made.run("squeue", "--noheader"))


def idle(slurm):
    with contextlib.suppress(subprocess.CalledProcessError):
        return slurm.run("sinfo", "--noheader", "--Node", "--format=%T").split().count("idle")


@pytest.fixture
def roads(tmp_path):
    """A file with edges, and the distances."""
    rng = np.random.default_rng(0)
    edges = np.stack([*rng.integers(0, 60, (2, 300)), rng.integers(1, 9, 300)], axis=1)
    np.savetxt(tmp_path / "roads.txt", edges, fmt="%d")
    return tmp_path / "roads.txt", mgraph.apsp(mgraph.read(tmp_path / "roads.txt"), device="cpu").distances


@pytest.mark.parametrize("nodes", [1, 2])
def test_a_job_on_cpu_nodes(slurm, roads, tmp_path, nodes):
    file, distances = roads
    script = DEPLOY / "slurm/cpu.sbatch"
    state, folder = slurm.finished(script, "apsp", file.name, folder=tmp_path, options=[f"--nodes={nodes}"])
    log = (folder / "job.log").read_text()
    assert state == "COMPLETED", log
    np.testing.assert_array_equal(np.load(folder / "result.npy"), distances)
    assert f"saved: {folder}/result.npy" in log and log.count("cpu of tcp://") == nodes
    assert {path.name for path in folder.glob("*.log")} == {
        *("job.log", "scheduler.log"), *(f"worker-{number}.log" for number in range(nodes))
    }  # fmt: skip


def test_a_job_fails_if_its_command_does(slurm, roads, tmp_path):
    script = DEPLOY / "slurm/cpu.sbatch"
    state, folder = slurm.finished(script, "sssp", "roads.txt", "--source", 60, folder=tmp_path)
    assert state == "FAILED"
    assert "--source must be an integer in [0, 60), got 60" in (folder / "job.log").read_text()


@pytest.mark.parametrize(("broken", "says"), [("scheduler", "the scheduler has ended"), ("worker", "all workers have")])
def test_a_job_fails_if_a_part_of_dask_does(slurm, roads, tmp_path, broken, says):
    (tmp_path / "bin").mkdir()
    dask = tmp_path / "bin/dask"
    dask.write_text(f'#!/bin/sh\n[ "$1" != {broken} ] || exit 7\nexec {sys.executable} -m dask "$@"\n')
    dask.chmod(0o755)
    path = f"--export=ALL,PATH={dask.parent}:{slurm.environment['PATH']}"
    script = DEPLOY / "slurm/cpu.sbatch"
    state, folder = slurm.finished(script, "apsp", "roads.txt", folder=tmp_path, options=[path])
    assert state == "FAILED" and says in (folder / "job.log").read_text()


def test_a_job_that_is_cancelled_leaves_no_process(slurm, roads, tmp_path):
    script = DEPLOY / "slurm/cpu.sbatch"
    options = ["--parsable", "--time=5", "--cpus-per-task=1"]
    job = slurm.run("sbatch", *options, script, "apsp", "roads.txt", cwd=tmp_path)
    folder = tmp_path / f"mgraph-{job}"
    log = folder / "scheduler.log"
    wait_until(lambda: log.exists() and "Register worker" in log.read_text())
    assert running(folder)
    slurm.run("scancel", job)
    wait_until(lambda: not slurm.run("squeue", "--noheader", "--jobs", job))
    wait_until(lambda: not running(folder))


def running(folder):
    """The processes that were told a job's folder."""
    found = [process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"])]
    return [command for command in found if any(str(folder) in argument for argument in command)]


def test_jobs_of_dask_jobqueue(slurm, roads, tmp_path):
    pytest.importorskip("dask_jobqueue")
    file, distances = roads
    options = ["--jobs", 2, "--cores", 1, "--memory", "900MiB", "--time", "00:05:00", "--out", "found.npy"]
    said = slurm.run(sys.executable, DEPLOY / "jobqueue.py", file.name, *options, cwd=tmp_path)
    np.testing.assert_array_equal(np.load(tmp_path / "found.npy"), distances)
    assert said.count("cpu of tcp://") == 2 and said.endswith("saved: found.npy")
