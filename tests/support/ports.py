"""Ports for servers that tests start."""

from __future__ import annotations

import random
import socket

_BELOW_EPHEMERAL = range(20_000, 32_000)
"""Connections take theirs from 32,768 on (Linux) or 49,152 on (macOS): of these they take none in
the moment between this look and the server's start."""


def free_port() -> int:
    """A port that nobody listened on a moment ago."""
    for port in random.sample(_BELOW_EPHEMERAL, 100):
        try:
            with socket.create_server(("127.0.0.1", port)):
                return port
        except OSError:
            continue
    raise RuntimeError("no port is free")
