"""Ports that stay free until a test listens at them."""

import contextlib
import random
import socket


def free_port() -> int:
    """Return a port at which nothing listens, of those that a system gives to no connection.

    Whoever listens there can end and start again, while other processes start.
    """
    own = random.SystemRandom()  # tests seed the common one
    while True:
        port = own.randrange(10_000, 32_000)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
