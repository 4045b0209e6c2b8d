"""Schedulers that use TLS, with the right certificates, with others and with none; and one without TLS."""

import gc
import shutil
import subprocess

import numpy as np
import pytest
from distributed import LocalCluster, Security

from mgraph.errors import InputError, SchedulerError
from mgraph.runtime.dask import connect
from mgraph.runtime.dask.connect import tls_security
from tests.support.cluster_calls import check_apsp
from tests.support.clusters import CLUSTER_WARNINGS, QUIET, present
from tests.support.commands import failed, invoke, misused, ok
from tests.support.ports import free_port

pytestmark = CLUSTER_WARNINGS

#: A key and a certificate that is its own CA.
OPENSSL = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=mgraph"


@pytest.fixture(autouse=True)
def collected():
    """A connection that TLS refuses leaves Dask's socket to the garbage collector, whose warning this test ignores."""
    yield
    gc.collect()


@pytest.fixture(scope="module")
def pems(tmp_path_factory):
    """The certificates and keys of two clusters that do not trust each other."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make certificates with")
    folder = tmp_path_factory.mktemp("tls")
    for name in ("ours", "other"):
        files = ["-keyout", folder / f"{name}.key", "-out", folder / f"{name}.crt"]
        subprocess.run([*OPENSSL.split(), *files], check=True, capture_output=True)
    return folder


def client_security(pems, name="ours"):
    return tls_security(pems / f"{name}.crt", pems / f"{name}.crt", pems / f"{name}.key")


@pytest.fixture(scope="module")
def encrypted(pems):
    """The address of a scheduler, with a worker, that uses TLS."""
    files = {"cert": str(pems / "ours.crt"), "key": str(pems / "ours.key")}
    roles = {f"tls_{role}_{what}": path for role in ("client", "scheduler", "worker") for what, path in files.items()}
    security = Security(require_encryption=True, tls_ca_file=files["cert"], **roles)
    with LocalCluster(
        1, threads_per_worker=1, processes=False, memory_limit=0, protocol="tls://", security=security, **QUIET
    ) as made:
        yield made.scheduler_address


@pytest.fixture(scope="module")
def plain():
    """The address of a scheduler, with a worker, that does not."""
    with LocalCluster(1, threads_per_worker=1, processes=False, memory_limit=0, protocol="tcp://", **QUIET) as made:
        yield made.scheduler_address


@pytest.mark.parametrize("cut", [0, len("tls://")])
def test_the_right_certificates(encrypted, pems, cut):
    """Also with an address that does not say `tls://`."""
    with connect(encrypted[cut:], security=client_security(pems)) as client:
        assert len(present(client)) == 1
        check_apsp(client, 70, np.float32, True)


def test_the_command_line(encrypted, pems):
    tls = ["--tls-ca-file", pems / "ours.crt", "--tls-cert", pems / "ours.crt", "--tls-key", pems / "ours.key"]
    ok("components", "--rmat", "4", "--scheduler", encrypted, *tls)
    message = failed(invoke("components", "--rmat", "4", "--scheduler", encrypted), 1)
    assert message.endswith(
        "uses TLS: give its CA file, a certificate and the key to it by --tls-ca-file, --tls-cert and --tls-key"
    )


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--tls-key", "ours.key"], "go with --scheduler or --scheduler-file"),
        (["--tls-key", "ours.key", "--scheduler", "tls://localhost:1"], "give --tls-ca-file and --tls-cert together"),
        (["--tls-cert", "ours.crt", "--scheduler", "tls://localhost:1"], "give --tls-ca-file and --tls-cert together"),
    ],
)
def test_options_that_lack_others(pems, monkeypatch, options, problem):
    monkeypatch.chdir(pems)
    assert problem in misused(invoke("components", "--rmat", "4", *options))


@pytest.mark.parametrize("scheme", ["tls://", "tcp://", ""])
def test_tls_without_certificates(encrypted, scheme):
    address = scheme + encrypted.removeprefix("tls://")
    with pytest.raises(SchedulerError, match=rf"the scheduler at {address} uses TLS: give its CA file"):
        connect(address, timeout=30)


def test_tls_with_an_address_of_plain_tcp(encrypted, pems):
    address = encrypted.replace("tls://", "tcp://")
    with pytest.raises(SchedulerError, match=r"uses TLS: write its address with tls://"):
        connect(address, timeout=30, security=client_security(pems))


@pytest.mark.parametrize("ca", ["ours", "other"])
def test_certificates_of_another_cluster(encrypted, pems, ca):
    """Refused by the client, which knows another CA, or by the scheduler."""
    security = tls_security(pems / f"{ca}.crt", pems / "other.crt", pems / "other.key")
    with pytest.raises(SchedulerError, match="do not trust each other's certificates"):
        connect(encrypted, timeout=30, security=security)


@pytest.mark.parametrize("scheme", ["tls://", "tcp://", ""])
def test_certificates_for_a_scheduler_without_tls(plain, pems, scheme):
    address = scheme + plain.removeprefix("tcp://")
    with pytest.raises(SchedulerError, match=r"does not use TLS: leave security= out, and write its address with tcp"):
        connect(address, timeout=30, security=client_security(pems))


def test_an_address_of_tls_for_a_scheduler_without_it(plain):
    with pytest.raises(SchedulerError, match="does not use TLS"):
        connect(plain.replace("tcp://", "tls://"), timeout=30)


def test_a_scheduler_that_does_not_answer_with_tls(pems):
    for scheme in ("tls://", "tcp://"):
        with pytest.raises(SchedulerError, match="no scheduler answers at"):
            connect(f"{scheme}127.0.0.1:{free_port()}", timeout=1, security=client_security(pems))


def test_invalid_certificates(pems, tmp_path):
    for path, problem in ((tmp_path / "none.pem", "No such file"), (pems / "ours.key", "cannot be used")):
        with pytest.raises(InputError, match=problem):
            connect("tls://127.0.0.1:1", security=tls_security(path, pems / "ours.crt", pems / "ours.key"))
    with pytest.raises(InputError, match=r"must be a distributed\.Security, got True"):
        connect("tls://127.0.0.1:1", security=True)
