"""The network interfaces that workers use: found by the address of each, and set for NCCL.

Dask listens on the interface that ``dask worker --interface`` names, or on that of the way to the scheduler. NCCL makes
a choice of its own to start communicators, and to send data where there is neither NVLink nor InfiniBand. It may take a
network that the other hosts cannot reach, and then hangs. So it is told to use Dask's interface, by which the workers
have reached each other, unless NCCL_SOCKET_IFNAME is set.
"""

import ipaddress
import logging
import os
import platform
import socket
from typing import NamedTuple

import psutil
from distributed.comm.addressing import get_address_host

_log = logging.getLogger(__name__)

#: The environment variable by which NCCL is told its interfaces; one after "=" is the exact name.
VARIABLE = "NCCL_SOCKET_IFNAME"


class Port(NamedTuple):
    """The network of a worker, as `mgraph.cluster.check_network` finds it.

    Attributes
    ----------
    address : str
        The worker's address.
    host : str
        The name of its host.
    interface : str or None
        The name of the interface that has the address; None where no network is used, and where it is not known.
    speed : float or None
        Bytes a second of the interface, as its driver says it.
    nccl : str or None
        The interfaces that NCCL is told to use, as NCCL_SOCKET_IFNAME has them; None where it chooses.
    """

    address: str
    host: str
    interface: str | None
    speed: float | None
    nccl: str | None


def port_of(address: str) -> Port:
    """Return the network of the worker at an address, on its host."""
    name = interface_of(address)
    there = psutil.net_if_stats().get(name or "")
    speed = there.speed * 1e6 / 8 if there is not None and 0 < there.speed < 65535 else None
    return Port(address, platform.node(), name, speed, os.environ.get(VARIABLE) or setting(name))


def interface_of(address: str) -> str | None:
    """Return the name of this host's interface that has the host of an address; None if none has."""
    if address.startswith("inproc://"):  # workers of one process use no network
        return None
    try:
        host = get_address_host(address)
        wanted = {ipaddress.ip_address(entry[4][0]) for entry in socket.getaddrinfo(host, None)}
    except (OSError, ValueError, NotImplementedError):
        return None
    for name, entries in psutil.net_if_addrs().items():
        for entry in entries:
            if entry.family in (socket.AF_INET, socket.AF_INET6):
                if ipaddress.ip_address(entry.address.partition("%")[0]) in wanted:
                    return name
    return None


def setting(interface: str | None) -> str | None:
    """Return what to set for NCCL; None where no other host could reach the interface, or there is none."""
    loopback = interface is None or any(
        entry.address in ("127.0.0.1", "::1") for entry in psutil.net_if_addrs().get(interface, ())
    )
    return None if loopback else f"={interface}"


def set_for_nccl(address: str) -> None:
    """Tell NCCL in this process to use the interface of a worker's address, unless it has been told another."""
    name = setting(interface_of(address))
    if name is not None and not os.environ.get(VARIABLE):
        os.environ[VARIABLE] = name
        _log.debug("NCCL uses the interface %s, as Dask does", name[1:])
