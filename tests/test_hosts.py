"""Workers on several hosts: their interfaces, checks of the network, and calls. Network namespaces stand for hosts."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import uuid
from types import SimpleNamespace

import dask
import psutil
import pytest
from distributed import Client, LocalCluster

import mgraph
from mgraph.cluster import check_network
from mgraph.runtime.dask import interfaces
from mgraph.runtime.dask.network import Link, bandwidth_of
from tests.support.commands import invoke

#: Runs where the scheduler is. Workers cannot reach each other until the host between them forwards what they send.
SCRIPT = """
import json, sys
from pathlib import Path
from distributed import Client, LocalCluster
import mgraph

with LocalCluster(n_workers=0, processes=False, protocol="tcp", host="10.77.1.1", scheduler_port=8786,
                  dashboard_address=":0") as cluster, Client(cluster) as client:
    print("ready", flush=True)
    client.wait_for_workers(2, timeout=60)
    apart = mgraph.cluster.check_network(client)
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    joined = mgraph.cluster.check_network(client)
    placed = mgraph.generate.rmat(8, client=client)
    found = mgraph.bfs(placed, 5, predecessors=True)
    found.verify(placed)
    expected = mgraph.bfs(mgraph.generate.rmat(8), 5, device="cpu")
    same = (found.distances.to_numpy() == expected.distances).all()
    print(json.dumps({
        "apart": [link._asdict() for link in apart.broken],
        "joined": [link._asdict() for link in joined.links],
        "ports": [port._asdict() for port in joined.ports],
        "words": apart.explain(),
        "same": bool(same),
    }), flush=True)
    client.shutdown()
"""


@contextlib.contextmanager
def hosts():
    """Yield the names of three network namespaces: the first has a link to each of the others."""
    tag = uuid.uuid4().hex[:6]
    names = [f"mgraph-{tag}-{i}" for i in range(3)]

    def ip(*words):
        subprocess.run(["ip", *words], check=True, capture_output=True, text=True, timeout=10)

    try:
        for name in names:
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
        for i in (1, 2):
            ends = f"mg{tag}{i}a", f"mg{tag}{i}b"
            ip("link", "add", ends[0], "netns", names[0], "type", "veth", "peer", "name", ends[1], "netns", names[i])
            for name, end, last in ((names[0], ends[0], 1), (names[i], ends[1], 2)):
                ip("-n", name, "address", "add", f"10.77.{i}.{last}/24", "dev", end)
                ip("-n", name, "link", "set", end, "up")
            ip("-n", names[i], "route", "add", "default", "via", f"10.77.{i}.1")
        # A new namespace forwards what it is sent if this machine does.
        ip("netns", "exec", names[0], "sh", "-c", "echo 0 > /proc/sys/net/ipv4/ip_forward")
        yield names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True, timeout=10, check=False)


@pytest.fixture
def three_hosts():
    if shutil.which("ip") is None or os.geteuid() != 0:
        pytest.skip("network namespaces need root and the command ip")
    with contextlib.ExitStack() as stack:
        try:
            names = stack.enter_context(hosts())
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            pytest.skip(f"no network namespaces here: {getattr(error, 'stderr', error)}")
        yield names


def inside(name, *words, **options):
    """Start Python in a network namespace."""
    command = ["ip", "netns", "exec", name, sys.executable, *words]
    return subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


@pytest.mark.exhaustive
def test_workers_on_two_hosts(three_hosts):
    between, *ends = three_hosts
    worker = ("-m", "distributed.cli.dask_worker", "tcp://10.77.1.1:8786", "--no-nanny", "--nthreads", "1")
    with contextlib.ExitStack() as started:

        def start(name, *words):
            process = inside(name, *words)
            started.callback(process.communicate)
            started.callback(process.kill)
            return process

        client = start(between, "-c", SCRIPT)
        assert client.stdout.readline() == "ready\n", client.communicate()
        for name in ends:
            start(name, *worker, "--no-dashboard", "--death-timeout", "60")
        out, errors = client.communicate(timeout=120)
        assert out, errors
        found = json.loads(out)
    here, there = (f"10.77.{i}.2" for i in (1, 2))
    pairs = {(here, there), (there, here)}
    hosts_of = [
        tuple(link[end].split("//")[1].split(":")[0] for end in ("source", "target")) for link in found["apart"]
    ]
    assert set(hosts_of) == pairs and all(link["problem"] for link in found["apart"])
    assert f"tcp://{here}" in found["words"] and "cannot be reached: " in found["words"]
    assert all(link["latency"] > 0 and link["bandwidth"] > 0 for link in found["joined"]) and len(found["joined"]) == 2
    assert [port["interface"][-2:] for port in found["ports"]] == ["1b", "2b"]
    assert [port["nccl"] for port in found["ports"]] == [f"={port['interface']}" for port in found["ports"]]
    assert found["same"]


@pytest.fixture(scope="module")
def cluster():
    options = {"n_workers": 3, "threads_per_worker": 1, "processes": False, "protocol": "tcp"}
    with LocalCluster(**options, dashboard_address=":0") as cluster:
        yield cluster


def test_every_pair_is_measured_both_ways(cluster):
    with Client(cluster) as client:
        network = check_network(client, "cpu")
        addresses = {port.address for port in network.ports}
        assert network.kind == "cpu" and len(addresses) == 3 and network.broken == ()
        ways = {(link.source, link.target) for link in network.links}
        assert ways == {(one, other) for one in addresses for other in addresses if one != other}
        assert all(link.latency > 0 and link.bandwidth > 0 and link.problem is None for link in network.links)
        assert {port.interface for port in network.ports} == {interfaces.interface_of("tcp://127.0.0.1:1")}
        with pytest.raises(mgraph.InputError, match="device"):
            check_network(client, "cuda:0")


def test_of_many_ways_the_slowest_are_shown():
    names = [f"tcp://10.0.0.{i}:4000" for i in range(9)]
    pairs = [(one, other) for one in names for other in names if one != other]
    links = [Link(*pair, 1e-6 * (i + 1), 1024.0**2 * (i + 1), None) for i, pair in enumerate(pairs)]
    words = mgraph.cluster.Network("cpu", (), tuple(links)).explain().splitlines()
    assert len(words) == 12
    assert words[0] == "latency of 72 ways: 1 µs to 72 µs; the slowest:" and words[1].endswith(": 72 µs, 72 MiB/s")
    assert words[6] == "bandwidth of 72 ways: 72 MiB/s to 1 MiB/s; the slowest:"
    assert words[7].endswith(": 1 µs, 1 MiB/s")
    broken = [*links[:-1], Link(*pairs[-1], None, None, "refused")]
    [line] = mgraph.cluster.Network("cpu", (), tuple(broken)).explain().splitlines()
    assert line == f"{names[8]} to {names[7]}: cannot be reached: refused"


def test_one_worker_has_no_links_and_workers_of_one_process_no_interface():
    with Client(n_workers=1, processes=False, dashboard_address=":0") as client:
        network = check_network(client, "cpu")
        assert len(network.ports) == 1 and network.links == () and network.ports[0].interface is None


def test_a_bandwidth_is_credible_where_the_way_back_happens_to_be_slow():
    assert bandwidth_of(1 << 20, 4e-3, 2e-3) == (1 << 20) / 3e-3
    assert bandwidth_of(1 << 20, 4e-3, 20e-3) == (1 << 20) / 2e-3


def test_info_shows_the_network(cluster):
    address = cluster.scheduler_address
    ran = invoke("info", "--scheduler", address, "--device", "cpu")
    assert ran.exit_code == 0 and len(ran.stdout.splitlines()) == 3 + 6
    assert " to tcp://127.0.0.1:" in ran.stdout and "/s" in ran.stdout
    ran = invoke("info", "--scheduler", address, "--json")
    found = json.loads(ran.stdout)
    assert found["kind"] == "cpu" and len(found["links"]) == 6 and found["workers"][0]["host"]


def test_info_waits_for_workers(cluster):
    command = ["info", "--device", "cpu", "--scheduler", cluster.scheduler_address, "--wait-for-workers"]
    assert invoke(*command, "3").exit_code == 0
    with dask.config.set({"mgraph.wait-timeout": 0}):
        ran = invoke(*command, "4")
    assert ran.exit_code == 1 and "has 3 workers after 0 s, not --wait-for-workers 4: start more" in ran.stderr


def test_info_ends_with_an_error_where_a_worker_is_out_of_reach(cluster, monkeypatch):
    broken = mgraph.cluster.Network("cpu", (), (Link("tcp://a:1", "tcp://b:1", None, None, "refused"),))
    monkeypatch.setattr(mgraph.cluster, "check_network", lambda *_: broken)
    ran = invoke("info", "--scheduler", cluster.scheduler_address)
    assert ran.exit_code == 1 and ran.stdout == "tcp://a:1 to tcp://b:1: cannot be reached: refused\n"


@pytest.mark.parametrize("option", [["--device", "cpu"], ["--tls-cert", __file__], ["--worker-timeout", "5"]])
def test_options_of_workers_need_a_scheduler(option):
    ran = invoke("info", *option)
    assert ran.exit_code == 2 and "--scheduler" in ran.stderr


def _interfaces(monkeypatch, **addresses):
    known = {name: [SimpleNamespace(family=socket.AF_INET, address=address)] for name, address in addresses.items()}
    monkeypatch.setattr(psutil, "net_if_addrs", lambda: known)


def test_nccl_is_told_the_interface_that_dask_uses(monkeypatch):
    _interfaces(monkeypatch, lo="127.0.0.1", eth0="10.0.0.5", ib0="10.1.0.5")
    monkeypatch.setenv(interfaces.VARIABLE, "")
    interfaces.set_for_nccl("tcp://127.0.0.1:4000")  # on one host NCCL needs no advice
    interfaces.set_for_nccl("inproc://10.9.9.9/1/2")
    assert not os.environ[interfaces.VARIABLE]
    assert interfaces.port_of("tcp://10.1.0.5:4000").nccl == "=ib0"
    interfaces.set_for_nccl("tcp://10.1.0.5:4000")
    assert os.environ[interfaces.VARIABLE] == "=ib0"
    interfaces.set_for_nccl("tcp://10.0.0.5:4000")  # what is set stays
    assert os.environ[interfaces.VARIABLE] == "=ib0"
    assert interfaces.port_of("tcp://10.0.0.5:4000")[2:] == ("eth0", None, "=ib0")
