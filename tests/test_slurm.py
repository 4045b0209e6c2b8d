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
from tests.support.ports import free_port

DEPLOY = Path(__file__).parents[1] / "deploy"
MISSING = [name for name in ("munged", "slurmctld", "slurmd", "sbatch") if shutil.which(name) is None]

pytestmark = [
    pytest.mark.slurm,
    pytest.mark.timeout(900),  # jobs wait for their turns
    pytest.mark.skipif(bool(MISSING), reason=f"apt-get install slurm-wlm munge: there is no {', '.join(MISSING)}"),
    pytest.mark.skipif(os.geteuid() != 0, reason="slurmd needs root"),
]

CONFIGURATION = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=2
NodeName=a NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=1 RealMemory=1000
NodeName=b NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=1 RealMemory=1000
PartitionName=all Nodes=a,b Default=YES State=UP MaxTime=10
"""


def wait_until(true, seconds=200):
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
        return self.ended(job), folder / f"mgraph-{job}"

    def ended(self, job):
        """Wait for the end of a job and return how it ended."""
        wait_until(lambda: not self.run("squeue", "--noheader", "--jobs", job), 240)
        return self.facts(job)["JobState"]

    def facts(self, job):
        """Return what Slurm knows of a job."""
        return dict(word.partition("=")[::2] for word in self.run("scontrol", "show", "job", job).split())

    def cut(self, job):
        """Send a job the signal that it gets before its time limit."""
        self.run("scancel", "--batch", "--signal=USR1", job)


@pytest.fixture(scope="module")
def slurm():
    with contextlib.ExitStack() as started:
        # Short, as the paths of sockets must be.
        folder = Path(started.enter_context(tempfile.TemporaryDirectory(prefix="slurm-")))
        host = socket.gethostname().partition(".")[0]
        (folder / "slurm.conf").write_text(
            CONFIGURATION.format(folder=folder, host=host, ports=[free_port() for _ in range(3)])
        )
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


@pytest.fixture
def slow(tmp_path):
    """The arguments of a command with hundreds of spans and checkpoints, and the distances."""
    (tmp_path / "path.txt").write_text("".join(f"{vertex} {vertex + 1} {1 + vertex % 7}\n" for vertex in range(999)))
    options = ["--method", "naive", "--span", 1, "--checkpoint", "kept", "--checkpoint-every", 0]
    distances = mgraph.apsp(mgraph.read(tmp_path / "path.txt"), device="cpu").distances
    return ["apsp", "path.txt", *options], distances


def newest(folder):
    """The number of the last complete checkpoint in a folder; 0 if there is none."""
    return max((int(path.stem.partition("-")[2]) for path in folder.glob("checkpoint-[0-9]*.json")), default=0)


def test_a_job_that_is_cut_short_goes_on_by_itself(slurm, slow, tmp_path):
    arguments, distances = slow
    options = ["--parsable", "--time=10", "--cpus-per-task=1"]
    job = slurm.run("sbatch", *options, DEPLOY / "slurm/cpu.sbatch", *arguments, cwd=tmp_path)
    folder = tmp_path / f"mgraph-{job}"
    for restarts in range(1, 3):
        before = newest(tmp_path / "kept")
        wait_until(lambda before=before: newest(tmp_path / "kept") > before, 240)
        slurm.cut(job)
        wait_until(lambda restarts=restarts: slurm.facts(job)["Restarts"] == str(restarts))
    state, log = slurm.ended(job), (folder / "job.log").read_text()
    assert state == "COMPLETED", log
    assert slurm.facts(job)["Restarts"] == "2"
    np.testing.assert_array_equal(np.load(folder / "result.npy"), distances)
    said = [line for line in log.splitlines() if line.startswith(("cut short", "run ", "saved"))]
    cut = "cut short: queued again to go on from the last checkpoint"
    assert said == [cut, "run 2 of this job:", cut, "run 3 of this job:", f"saved: {folder}/result.npy"]
    assert (folder / "scheduler.log").read_text().count("Scheduler at:") == 3
    for number in range(2):
        assert (folder / f"worker-{number}.log").read_text().count("Start worker at:") == 3


def test_a_job_is_queued_again_so_often_only(slurm, slow, tmp_path):
    arguments, distances = slow
    script = DEPLOY / "slurm/cpu.sbatch"
    options = ["--parsable", "--time=10", "--cpus-per-task=1", "--export=ALL,MGRAPH_RESTARTS=0"]
    job = slurm.run("sbatch", *options, script, *arguments, cwd=tmp_path)
    wait_until(lambda: newest(tmp_path / "kept"), 240)
    slurm.cut(job)
    assert slurm.ended(job) == "FAILED"
    log = (tmp_path / f"mgraph-{job}/job.log").read_text()
    assert "not queued again after 0 restarts: submit the same arguments to go on from the last checkpoint\n" in log
    state, folder = slurm.finished(script, *arguments, folder=tmp_path)
    assert state == "COMPLETED"
    np.testing.assert_array_equal(np.load(folder / "result.npy"), distances)


@pytest.mark.parametrize(
    ("checkpoint", "code", "state"),
    [(["--checkpoint=kept"], 0, "COMPLETED"), (["--checkpoint", "kept"], 1, "FAILED"), ([], 0, "COMPLETED")],
    ids=["result", "error", "no checkpoints"],
)
def test_a_job_that_need_not_run_again_is_not_queued_again(slurm, tmp_path, checkpoint, code, state):
    """A command in the place of mgraph ends with a code of its own after SIGTERM, or without it."""
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin/mgraph"
    ended = f"kill $!; exit {code}" if checkpoint else "exit 9"
    command.write_text(f"#!/bin/bash\ntrap '{ended}' TERM\ntouch begun\nsleep {100 if checkpoint else 5} &\nwait\n")
    command.chmod(0o755)
    path = f"--export=ALL,PATH={command.parent}:{slurm.environment['PATH']}"
    options = ["--parsable", "--time=5", "--cpus-per-task=1", "--nodes=1", path]
    job = slurm.run("sbatch", *options, DEPLOY / "slurm/cpu.sbatch", "apsp", "none.txt", *checkpoint, cwd=tmp_path)
    wait_until((tmp_path / "begun").exists)
    slurm.cut(job)
    assert slurm.ended(job) == state
    assert slurm.facts(job)["Restarts"] == "0"


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


def test_jobs_of_dask_jobqueue_go_on_from_a_checkpoint(slurm, roads, tmp_path):
    """Without resume=True, the call would refuse the folder."""
    pytest.importorskip("dask_jobqueue")
    file, distances = roads
    options = {"method": "naive", "span": 1, "checkpoint": tmp_path / "kept", "checkpoint_every": 0}
    mgraph.apsp(mgraph.read(file), device="cpu", progress=lambda *_: time.sleep(0.01), **options)
    assert newest(tmp_path / "kept")
    jobs = ["--jobs", 1, "--cores", 1, "--memory", "900MiB", "--time", "00:05:00", "--checkpoint", tmp_path / "kept"]
    slurm.run(sys.executable, DEPLOY / "jobqueue.py", file, *jobs, cwd=tmp_path)
    np.testing.assert_array_equal(np.load(tmp_path / "distances.npy"), distances)
