"""The limits that a process for other people's data gives itself before it sees any. The kernel
enforces them: they hold while a library is busy in C and hears nothing."""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import resource
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

_PR_SET_PDEATHSIG = 1
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_PROGRAMS = ("subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.fork", "pty.spawn")
_NETWORK = (
    "socket.connect",
    "socket.bind",
    "socket.sendto",
    "socket.getaddrinfo",
    "socket.gethost",
)


def confine(*, memory: int, output: int, network: bool, parent: int) -> None:
    """Bound this process: `memory` and the size of a written file in bytes. It starts no program,
    ends when the process `parent` does, and without `network` it reaches nobody."""
    for what, limit in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, output),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):  # macOS refuses some
            resource.setrlimit(what, (limit, limit))
    if sys.platform == "darwin":
        threading.Thread(target=_end_beyond, args=(memory,), daemon=True).start()
    else:
        _end_with(parent)
    forbidden = _PROGRAMS if network else (*_PROGRAMS, *_NETWORK)
    if not network:
        _leave_the_network()

    def refuse(event: str, _: tuple[Any, ...]) -> None:
        if event.startswith(forbidden):
            raise PermissionError(f"{event} is not allowed in an isolated process")

    sys.addaudithook(refuse)


def allow(*, cpu: float, seconds: float) -> None:
    """Give the next job `cpu` seconds of computing and `seconds` by the clock. The kernel ends the
    process that takes more (SIGXCPU, SIGALRM), whatever it is busy with."""
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time() + cpu), most))
    signal.setitimer(signal.ITIMER_REAL, seconds)


def _end_with(parent: int) -> None:
    """Be killed when the parent dies. A process that waits sees its input end; one that works does
    not."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before it could be named
        os._exit(1)


def _leave_the_network() -> None:
    """Move into a network of this process alone, where Linux lets it."""
    if sys.platform != "linux":
        return
    unshare, user, group = ctypes.CDLL(None).unshare, os.geteuid(), os.getegid()
    # Root may do it at once; anybody else only inside a user namespace that maps their own id.
    if unshare(_CLONE_NEWNET) != 0 and unshare(_CLONE_NEWUSER | _CLONE_NEWNET) == 0:
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{user} {user} 1"),
            ("gid_map", f"{group} {group} 1"),
        ):
            Path("/proc/self", name).write_text(text)


def _end_beyond(memory: int) -> None:
    """Watch the memory in use: macOS takes RLIMIT_AS and does not keep it."""
    while resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < memory:
        time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGKILL)
