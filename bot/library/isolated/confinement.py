"""Confinement of the isolated processes that parse untrusted data.

Such a process limits its own memory, time, network and files before it reads any data. The kernel
enforces the limits, so they hold while a C library blocks the interpreter.
"""

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
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bot.library.isolated import seccomp

_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_PROGRAMS = ("subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.fork", "pty.spawn")
_NETWORK = (
    "socket.__new__",
    "socket.connect",
    "socket.bind",
    "socket.sendmsg",
    "socket.sendto",
    "socket.getaddrinfo",
    "socket.gethost",
)

# Landlock, see linux/landlock.h. Its system calls have the same numbers on every architecture.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION, _PATH_BENEATH = 1, 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE = 1, 2, 4, 8, 1 << 14
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE  # the others are for directories
_BIND_TCP, _CONNECT_TCP = 1, 2
_ABSTRACT_SOCKETS, _SIGNALS = 1, 2
_COMPLETE_VERSION = 6
_RIGHTS_BY_VERSION = (13, 14, 15, 15, 16)
"""How many file system rights each Landlock version knows; later versions know 16 as well."""
_CAPABILITY_VERSION = 0x20080522
_OPEN_ANY_FILE = 0b110  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
_SYSTEM_PATHS = (
    "/usr",
    "/lib",
    "/lib64",
    "/nix/store",
    "/gnu/store",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/ssl/openssl.cnf",
    "/dev/null",
    "/dev/urandom",
    "/sys/devices/system/cpu",
    "/sys/fs/cgroup",
)
"""System files that libraries read."""
_NETWORK_PATHS = (
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/host.conf",
    "/etc/nsswitch.conf",
    "/etc/gai.conf",
    "/etc/services",
    "/etc/protocols",
    "/etc/passwd",
    "/etc/group",
    "/etc/ssl",
    "/etc/pki",
    "/etc/ca-certificates",
    "/etc/crypto-policies",
    "/etc/krb5.conf",
    "/etc/krb5.conf.d",
    "/run/systemd/resolve",
)
"""Files that a client of the network reads beside those: names of hosts, and certificates."""

_PROCESS_PATHS = ("/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/sys/vm")
"""What libraries read of /proc: nothing about other processes."""


def confine(
    *,
    memory: int,
    output: int,
    network: bool,
    parent: int,
    packages: list[str],
    data: str | None = None,
    readable: Sequence[str] = (),
) -> None:
    """Confine this process for the rest of its life.

    The process may not start programs, and it is killed when the process `parent` ends. Without
    `network` it has no network. It may use its working directory and the directory `data`, and read
    the directories of the `packages` and the `readable` files.

    `memory` is in bytes, and so is `output`, the largest file that the process may write.
    """
    for resource_id, limit in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, output),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):  # macOS refuses some
            resource.setrlimit(resource_id, (limit, limit))
    if sys.platform == "darwin":
        threading.Thread(target=_kill_above, args=(memory,), daemon=True).start()
    else:
        _die_with(parent)
    forbidden = _PROGRAMS if network else (*_PROGRAMS, *_NETWORK)
    if not network:
        _enter_empty_network()
    _restrict_files(packages, data, readable, network=network)
    _drop_capabilities(str(Path.cwd()), *packages, *sys.path, *readable, data=data)
    seccomp.install(network=network)

    def refuse(event: str, _: tuple[Any, ...]) -> None:
        if event.startswith(forbidden):
            raise PermissionError(f"{event} is not allowed in an isolated process")

    sys.addaudithook(refuse)


def allow(*, cpu: float, seconds: float) -> None:
    """Allow the next job `cpu` seconds of processor time and `seconds` of wall-clock time.

    The kernel ends a process that exceeds them (SIGXCPU, SIGALRM), whatever it is doing. With
    `seconds` 0 there is no wall-clock limit.
    """
    _, hard_limit = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time() + cpu), hard_limit))
    signal.setitimer(signal.ITIMER_REAL, seconds)


def _die_with(parent: int) -> None:
    """Have the kernel kill this process when `parent` ends."""
    # An idle process would notice that its input has ended, a busy one would not.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the parent died before the call above
        os._exit(1)


def _enter_empty_network() -> None:
    """Move into a network namespace without interfaces, if Linux allows it."""
    if sys.platform != "linux":
        return
    unshare, user, group = ctypes.CDLL(None).unshare, os.geteuid(), os.getegid()
    # Root may unshare the network directly, other users only in a user namespace of their own.
    if unshare(_CLONE_NEWNET) != 0 and unshare(_CLONE_NEWUSER | _CLONE_NEWNET) == 0:
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{user} {user} 1"),
            ("gid_map", f"{group} {group} 1"),
        ):
            Path("/proc/self", name).write_text(text)


def landlock_version() -> int:
    """Return the version of Landlock in this kernel, 0 or less if it has none."""
    if sys.platform != "linux":
        return 0
    return int(ctypes.CDLL(None).syscall(_CREATE_RULESET, None, 0, _VERSION))


def missing() -> list[str]:
    """Return what this machine lacks to close isolated processes, an empty list if nothing."""
    if sys.platform != "linux":
        return ["only Linux can close them"]
    version = landlock_version()
    reasons = []
    if version <= 0:
        reasons.append("this kernel, or a container's rules, has no Landlock")
    elif version < _COMPLETE_VERSION:
        reasons.append(f"this kernel has Landlock {version}, and {_COMPLETE_VERSION} closes more")
    if not seccomp.is_supported():
        reasons.append(f"system calls of {os.uname().machine} cannot be filtered here")
    return reasons


def _restrict_files(
    packages: list[str], data: str | None, readable: Sequence[str], *, network: bool
) -> None:
    """Forbid with Landlock the use of other files and processes, and running programs; without
    `network` also TCP and sockets that have no path.

    Does nothing on kernels without Landlock.
    """
    version = landlock_version()
    if version <= 0:
        return
    every_right = (1 << _RIGHTS_BY_VERSION[min(version, len(_RIGHTS_BY_VERSION)) - 1]) - 1
    tcp = _BIND_TCP if network else _BIND_TCP | _CONNECT_TCP
    scopes = _SIGNALS if network else _SIGNALS | _ABSTRACT_SOCKETS
    size = 8 if version < 4 else 16 if version < 6 else 24
    attributes = struct.pack("=QQQ", every_right, tcp, scopes)[:size]
    libc = ctypes.CDLL(None)
    ruleset = libc.syscall(_CREATE_RULESET, attributes, len(attributes), 0)
    roots = {str(Path(each).parent) for each in packages}
    libraries = (sys.prefix, sys.base_prefix, *(each for each in sys.path if each not in roots))
    more = (*_NETWORK_PATHS, *readable) if network else readable
    _allow_beneath(ruleset, (*packages, *libraries, *_SYSTEM_PATHS, *more), _READ_FILE | _READ_DIR)
    # A rule is for the inode, which /proc makes anew unless somebody holds it.
    _allow_beneath(ruleset, _PROCESS_PATHS, _READ_FILE | _READ_DIR, hold=True)
    _allow_beneath(ruleset, roots, _READ_DIR)  # the import system lists them
    # SQLite may write the index of a database's log even if the database is only read.
    _allow_beneath(ruleset, (".", *filter(None, (data,))), every_right & ~_EXECUTE)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.syscall(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _drop_capabilities(*needed: str, data: str | None) -> None:
    """Drop all capabilities of root. Those to open files of other users stay if the process needs them
    for one of the `needed` paths, and with `data`, which is another program's."""
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    header = struct.pack("=Ii", _CAPABILITY_VERSION, 0)
    held = ctypes.create_string_buffer(24)  # effective, permitted and inheritable; low, then high
    existing = [path for path in needed if os.path.exists(path)]  # noqa: PTH110 - never raises
    if libc.capget(header, held) == 0:
        _, permitted, *_ = struct.unpack("=6I", held)
        kept = permitted & _OPEN_ANY_FILE
        libc.capset(header, struct.pack("=6I", 0, kept, 0, 0, 0, 0))
        if data is None and all(os.access(path, os.R_OK, effective_ids=True) for path in existing):
            kept = 0
        libc.capset(header, struct.pack("=6I", kept, kept, 0, 0, 0, 0))


def _allow_beneath(ruleset: int, paths: Iterable[str], rights: int, *, hold: bool = False) -> None:
    for path in paths:
        with contextlib.suppress(OSError):  # not every machine has every path
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
            is_directory = stat.S_ISDIR(os.fstat(descriptor).st_mode)
            rule = struct.pack("=Qi", rights if is_directory else rights & _FILE_RIGHTS, descriptor)
            ctypes.CDLL(None).syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
            if not hold:
                os.close(descriptor)


def _kill_above(memory: int) -> None:
    """Kill this process when it uses more than `memory` bytes."""
    # macOS accepts RLIMIT_AS but does not enforce it.
    while resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < memory:
        time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGKILL)
