"""The limits that a process for other people's data gives itself before it sees any. The kernel
enforces them: they hold while a library is busy in C and hears nothing."""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import resource
import signal
import stat
import struct
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_PROGRAMS = ("subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.fork", "pty.spawn")
_NETWORK = (
    "socket.connect",
    "socket.bind",
    "socket.sendto",
    "socket.getaddrinfo",
    "socket.gethost",
)

# Landlock, see linux/landlock.h. Its calls have the same numbers on every architecture.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION, _PATH_BENEATH = 1, 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE = 1, 2, 4, 8, 1 << 14
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
_ABSTRACT_SOCKETS, _SIGNALS = 1, 2
_RIGHTS = (13, 14, 15, 15, 16)
"""How many rights on files each version knows; later ones know as many as the last here."""
_CAPABILITY_VERSION = 0x20080522
_OPEN_ANY_FILE = 0b110  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
_SYSTEM = (
    *("/usr", "/lib", "/lib64", "/nix/store", "/gnu/store", "/etc/ld.so.cache"),
    *("/etc/localtime", "/etc/mime.types", "/etc/ssl/openssl.cnf", "/dev/null", "/dev/urandom"),
    # Of other processes it shows what everybody may know, once they cannot be traced.
    *("/proc", "/sys/devices/system/cpu", "/sys/fs/cgroup"),
)
"""What libraries read of the machine."""


def confine(
    *, memory: int, output: int, network: bool, parent: int, packages: list[str], data: str | None
) -> None:
    """Bound this process: `memory` and the size of a written file in bytes. It starts no program,
    ends when the process `parent` does, and without `network` it reaches nobody, and no files but
    its working directory, those of the `packages` and in the folder `data`."""
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
    _leave_the_files(packages, data, everything=network)
    _drop_capabilities()

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


def landlock_version() -> int:
    """Return which version of Landlock the kernel has; 0 or less without it."""
    if sys.platform != "linux":
        return 0
    return int(ctypes.CDLL(None).syscall(_CREATE_RULESET, None, 0, _VERSION))


def _leave_the_files(packages: list[str], data: str | None, *, everything: bool) -> None:
    """Lose sight of all files that are not needed, of what other processes hold, and of the means to
    run a program, where Linux lets it. With `everything` files stay in sight."""
    version = landlock_version()
    if version <= 0:
        return
    every_right = (1 << _RIGHTS[min(version, len(_RIGHTS)) - 1]) - 1
    handled = _EXECUTE if everything else every_right
    scopes = _SIGNALS if everything else _SIGNALS | _ABSTRACT_SOCKETS
    attributes = struct.pack("=QQQ", handled, 0, scopes)[: 24 if version >= 6 else 8]
    libc = ctypes.CDLL(None)
    ruleset = libc.syscall(_CREATE_RULESET, attributes, len(attributes), 0)
    if not everything:
        roots = {str(Path(each).parent) for each in packages}
        libraries = (sys.prefix, sys.base_prefix, *(each for each in sys.path if each not in roots))
        _allow_beneath(ruleset, (*packages, *libraries, *_SYSTEM), _READ_FILE | _READ_DIR)
        _allow_beneath(ruleset, roots, _READ_DIR)  # where packages are looked for
        # A database that is only read may still need its log's index written.
        _allow_beneath(ruleset, (".", *filter(None, (data,))), every_right & ~_EXECUTE)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.syscall(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _drop_capabilities() -> None:
    """Have of root's powers, if this is root, none but to open files of other users."""
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    header = struct.pack("=Ii", _CAPABILITY_VERSION, 0)
    held = ctypes.create_string_buffer(24)  # effective, permitted and inheritable; low, then high
    if libc.capget(header, held) == 0:
        _, permitted, *_ = struct.unpack("=6I", held)
        kept = permitted & _OPEN_ANY_FILE
        libc.capset(header, struct.pack("=6I", kept, kept, 0, 0, 0, 0))


def _allow_beneath(ruleset: int, paths: Iterable[str], rights: int) -> None:
    for path in paths:
        with contextlib.suppress(OSError):  # not on every machine
            opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
            is_folder = stat.S_ISDIR(os.fstat(opened).st_mode)
            rule = struct.pack("=Qi", rights if is_folder else rights & _OF_FILES, opened)
            ctypes.CDLL(None).syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
            os.close(opened)


def _end_beyond(memory: int) -> None:
    """Watch the memory in use: macOS takes RLIMIT_AS and does not keep it."""
    while resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < memory:
        time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGKILL)
