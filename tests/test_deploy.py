"""What `deploy/` holds is well-formed: by the linters that are installed, and by the command that it calls."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.support.commands import main_command

DEPLOY = Path(__file__).parents[1] / "deploy"
CLUSTERS = ["cluster.yaml", "gpu-cluster.yaml"]
TEXTS = sorted(path for path in DEPLOY.rglob("*") if path.is_file() and path.suffix != ".pyc")


def manifest(name):
    return yaml.safe_load((DEPLOY / "kubernetes" / name).read_text())


def linted(*command):
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("script", sorted((DEPLOY / "slurm").iterdir()), ids=lambda path: path.name)
def test_batch_scripts(script):
    linted("bash", "-n", str(script))
    linted("shellcheck", str(script))


def test_batch_scripts_differ_in_their_workers_alone():
    """Only cpu.sbatch is run by tests, and what both do was written twice."""
    cpu, gpu = (
        re.sub(r" *\\\n *", " ", (DEPLOY / "slurm" / f"{kind}.sbatch").read_text()).splitlines()
        for kind in ("cpu", "gpu")
    )
    commands = [line for line in set(cpu) ^ set(gpu) if line.startswith("#SBATCH") or not line.startswith("#")]
    assert {re.split(r"[ =]", line.removeprefix("#SBATCH "))[0] for line in commands} == {
        "--gpus-per-node",
        "memory",
        "mgraph",
        "srun",
    }


def test_the_image():
    linted("hadolint", str(DEPLOY / "Dockerfile"))


def test_the_unit(tmp_path):
    # The check looks for the program, too.
    text = (DEPLOY / "dask-scheduler.service").read_text().replace("/opt/mgraph/bin/dask", "/bin/true")
    (tmp_path / "dask-scheduler.service").write_text(text)
    linted("systemd-analyze", "verify", "--man=no", str(tmp_path / "dask-scheduler.service"))


@pytest.mark.parametrize("name", CLUSTERS)
def test_clusters_of_kubernetes(name):
    """The operator makes the pods of these, and names the scheduler's service by the cluster."""
    cluster, job = manifest(name), manifest("job.yaml")
    assert (cluster["apiVersion"], cluster["kind"]) == ("kubernetes.dask.org/v1", "DaskCluster")
    called = cluster["metadata"]["name"]
    scheduler, workers = cluster["spec"]["scheduler"], cluster["spec"]["worker"]
    assert scheduler["service"]["selector"]["dask.org/cluster-name"] == called
    assert scheduler["spec"]["containers"][0]["image"] == workers["spec"]["containers"][0]["image"]
    [command] = job["spec"]["template"]["spec"]["containers"]
    port = scheduler["service"]["ports"][0]["port"]
    assert f"--scheduler=tcp://{called}-scheduler:{port}" in command["args"]
    assert f"--wait-for-workers={workers['replicas']}" in command["args"]


@pytest.mark.parametrize("name", ["job.yaml", "data.yaml", *CLUSTERS])
def test_manifests_fit_their_schemas(name):
    validate = pytest.importorskip("kubernetes_validate").validate
    given = manifest(name)
    if name not in CLUSTERS:
        validate(given, "1.30", strict=True)
        return
    for part in ("scheduler", "worker"):
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": part}, "spec": given["spec"][part]["spec"]}
        validate(pod, "1.30", strict=True)
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "scheduler"}}
    validate(service | {"spec": given["spec"]["scheduler"]["service"]}, "1.30", strict=True)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_options_exist(path):
    """Each option that a command of mgraph is given somewhere is one of its own."""
    text = path.read_text().replace("\\\n", " ")
    if path.name == "job.yaml":
        text = " ".join(manifest("job.yaml")["spec"]["template"]["spec"]["containers"][0]["args"])
    scripts = r"(?:mgraph|(?:cpu|gpu)\.sbatch) "
    for name, words in re.findall(scripts + r"(apsp|sssp|info|plan)\b([^#\n]*)", text):
        known = {option for parameter in main_command(name).params for option in parameter.opts}
        assert set(re.findall(r" (--[a-z-]+)", words)) <= known, name
    for words in re.findall(r'mgraph "\$1"(.*)', text):
        known = {option for parameter in main_command("apsp").params for option in parameter.opts}
        options = re.findall(r" (--[a-z-]+)", words)
        assert options and set(options) <= known
