"""The system calls that an isolated process may make. The kernel enforces the list (seccomp).

Everything that is not listed fails, so what later kernels add is closed as well. Newer calls fail
as if the kernel did not have them, because libraries then use older ones, whose arguments this filter
can check.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_NUMBERS = """
read:0:63 write:1:64 readv:19:65 writev:20:66 pread64:17:67 pwrite64:18:68 preadv:295:69 pwritev:296:70
preadv2:327:286 pwritev2:328:287 lseek:8:62 close:3:57 close_range:436:436 open:2:- openat:257:56 creat:85:-
dup:32:23 dup2:33:- dup3:292:24 pipe:22:- pipe2:293:59 fcntl:72:25 ioctl:16:29 flock:73:32
stat:4:- lstat:6:- fstat:5:80 newfstatat:262:79 statx:332:291 statfs:137:43 fstatfs:138:44 access:21:-
faccessat:269:48 faccessat2:439:439 readlink:89:- readlinkat:267:78 getdents:78:- getdents64:217:61 getcwd:79:17
chdir:80:49 fchdir:81:50 umask:95:166 mkdir:83:- mkdirat:258:34 rmdir:84:- unlink:87:- unlinkat:263:35
rename:82:- renameat:264:38 renameat2:316:276 ftruncate:77:46 fallocate:285:47 fadvise64:221:223 fsync:74:82
fdatasync:75:83 sync_file_range:277:84 copy_file_range:326:285 sendfile:40:71
chmod:90:- fchmod:91:52 fchmodat:268:53 fchmodat2:452:452
getxattr:191:8 lgetxattr:192:9 fgetxattr:193:10 listxattr:194:11 llistxattr:195:12 flistxattr:196:13
setxattr:188:5 lsetxattr:189:6 fsetxattr:190:7 removexattr:197:14 lremovexattr:198:15 fremovexattr:199:16
poll:7:- ppoll:271:73 select:23:- pselect6:270:72 epoll_create:213:- epoll_create1:291:20 epoll_ctl:233:21
epoll_wait:232:- epoll_pwait:281:22 eventfd2:290:19 timerfd_create:283:85 timerfd_settime:286:86
timerfd_gettime:287:87 mmap:9:222 munmap:11:215 mprotect:10:226 mremap:25:216 madvise:28:233 brk:12:214
msync:26:227 mincore:27:232 get_mempolicy:239:236 arch_prctl:158:-
clone:56:220 futex:202:98 futex_waitv:449:449 set_robust_list:273:99 rseq:334:293 set_tid_address:218:96
sched_yield:24:124 sched_getaffinity:204:123 sched_getparam:143:121 sched_getscheduler:145:120
sched_get_priority_max:146:125 sched_get_priority_min:147:126
rt_sigaction:13:134 rt_sigprocmask:14:135 rt_sigreturn:15:139 rt_sigpending:127:136 rt_sigtimedwait:128:137
rt_sigsuspend:130:133 sigaltstack:131:132 pause:34:- kill:62:129 tgkill:234:131
getpid:39:172 getppid:110:173 gettid:186:178 getuid:102:174 geteuid:107:175 getgid:104:176 getegid:108:177
getresuid:118:148 getresgid:120:150 getgroups:115:158 getpgid:121:155 getpgrp:111:- getsid:124:156
getcpu:309:168 getpriority:140:141 uname:63:160 sysinfo:99:179 times:100:153 getrusage:98:165 getrlimit:97:163
setrlimit:160:164 prlimit64:302:261 prctl:157:167 getrandom:318:278 getitimer:36:102 setitimer:38:103 alarm:37:-
time:201:- gettimeofday:96:169 clock_gettime:228:113 clock_getres:229:114 clock_nanosleep:230:115
nanosleep:35:101 exit:60:93 exit_group:231:94 restart_syscall:219:128
socket:41:198 connect:42:203 getsockname:51:204 getpeername:52:205 getsockopt:55:209 setsockopt:54:208
sendto:44:206 recvfrom:45:207 sendmsg:46:211 recvmsg:47:212 sendmmsg:307:269 recvmmsg:299:243 shutdown:48:210
"""
"""Each call with its numbers on x86_64 and aarch64."""

_FOR_NETWORK = frozenset(
    (
        *(
            "socket",
            "connect",
            "getsockname",
            "getpeername",
            "getsockopt",
            "setsockopt",
            "shutdown",
        ),
        *("sendto", "recvfrom", "sendmsg", "recvmsg", "sendmmsg", "recvmmsg"),
    )
)
_PRETENDED = frozenset(("chmod", "fchmod", "fchmodat", "fchmodat2"))
"""Calls that succeed and do nothing, as copies of files need them: they change any file of the user,
and Landlock does not know them."""

_UNIFIED = 424
"""From this number on, calls have the same number on every architecture; they came after 2018."""

_INSTALL = {"x86_64": 317, "aarch64": 277}
_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32 = 0x40000000
_FILTER_MODE, _ALL_THREADS = 1, 1
_PR_SET_NO_NEW_PRIVS = 38

_LOAD, _AND, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_ALLOW, _KILL = 0x7FFF0000, 0x80000000
_NUMBER_OFFSET, _ARCHITECTURE_OFFSET, _ARGUMENTS_OFFSET = 0, 4, 16
_Instruction = tuple[int, int, int, int]
"""Operation, instructions to skip if true, if false, operand."""


@dataclass(frozen=True)
class _Condition:
    """The bits `mask` of an argument must be one of `values`."""

    argument: int
    values: tuple[int, ...]
    mask: int = 0xFFFFFFFF


_THREAD, _NAMESPACES = 0x10000, 0x7E020080
_TRUNCATE, _WRITE_ONLY, _READ_WRITE = 0x200, 1, 2
# Landlock before version 3 does not see that a file opened for reading is truncated.
_OPEN_FLAGS = (0, 1, 2, 3, _TRUNCATE | _WRITE_ONLY, _TRUNCATE | _READ_WRITE)
_OPEN_MASK = _TRUNCATE | 3
_FCNTL = (*range(8), 36, 37, 38, 1030)  # no F_SETOWN, F_SETSIG: they send signals to others
_IOCTL = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)  # is it a terminal, FIONBIO, FIOCLEX …
_PRCTL = (15, 16, 0x53564D41)  # names of threads and of memory


def _conditions(pid: int) -> dict[str, tuple[_Condition, ...]]:
    """Return what the arguments of some calls must be in the process `pid`."""
    own = (_Condition(0, (pid,)),)
    return {
        "clone": (_Condition(0, (_THREAD,), _THREAD | _NAMESPACES),),
        "fcntl": (_Condition(1, _FCNTL),),
        "ioctl": (_Condition(1, _IOCTL),),
        "kill": own,
        "tgkill": own,
        "open": (_Condition(1, _OPEN_FLAGS, _OPEN_MASK),),
        "openat": (_Condition(2, _OPEN_FLAGS, _OPEN_MASK),),
        "prctl": (_Condition(0, _PRCTL),),
        "prlimit64": (_Condition(0, (0, pid)),),
        # Unix, IPv4 and IPv6, as streams and datagrams.
        "socket": (_Condition(0, (1, 2, 10)), _Condition(1, (1, 2), 0xF)),
    }


def is_supported() -> bool:
    """Return whether this kernel and architecture can filter system calls."""
    if sys.platform != "linux" or _machine() is None:
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    # Without a program the kernel fails with EFAULT; with ENOSYS or EINVAL if it has no filters.
    libc.syscall(_INSTALL[os.uname().machine], _FILTER_MODE, 0, None)
    return ctypes.get_errno() == errno.EFAULT


def install(*, network: bool) -> bool:
    """Restrict this process to the listed calls for the rest of its life; only with `network` may it
    use sockets. Return whether the kernel does so."""
    machine = _machine()
    if sys.platform != "linux" or machine is None:
        return False
    program = list(_program(machine, os.getpid(), network=network))
    code = b"".join(struct.pack("=HBBI", *instruction) for instruction in program)
    buffer = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("@HP", len(program), ctypes.addressof(buffer))
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    return bool(libc.syscall(_INSTALL[machine], _FILTER_MODE, _ALL_THREADS, header) == 0)


def _machine() -> str | None:
    """Return the architecture, None for one whose calls are not listed here."""
    machine = os.uname().machine
    return machine if machine in _INSTALL and struct.calcsize("P") == 8 else None


def _program(machine: str, pid: int, *, network: bool) -> Iterator[_Instruction]:
    yield (_LOAD, 0, 0, _ARCHITECTURE_OFFSET)
    yield (_EQUAL, 1, 0, _ARCHITECTURE[machine])
    yield (_RETURN, 0, 0, _KILL)
    yield (_LOAD, 0, 0, _NUMBER_OFFSET)
    yield (_AT_LEAST, 0, 1, _X32)
    yield _failing(errno.ENOSYS)
    conditions = _conditions(pid)
    for name, number in _numbers(machine):
        if name not in _FOR_NETWORK or network:
            rule = [*_rule(name, conditions.get(name, ()))]
            yield (_EQUAL, 0, len(rule), number)
            yield from rule
    yield (_AT_LEAST, 0, 1, _UNIFIED)
    yield _failing(errno.ENOSYS)
    yield _failing(errno.EPERM)


def _numbers(machine: str) -> Iterator[tuple[str, int]]:
    for entry in _NUMBERS.split():
        name, x86_64, aarch64 = entry.split(":")
        number = x86_64 if machine == "x86_64" else aarch64
        if number != "-":
            yield name, int(number)


def _rule(name: str, conditions: Iterable[_Condition]) -> Iterator[_Instruction]:
    """Yield what decides about a call of this name."""
    if name in _PRETENDED:
        yield _failing(0)
        return
    # As on a file system without them. To reserve room would fill a disk before anybody looks.
    if "xattr" in name or name == "fallocate":
        yield _failing(errno.ENOTSUP)
        return
    for condition in conditions:
        yield (_LOAD, 0, 0, _ARGUMENTS_OFFSET + 8 * condition.argument)
        yield (_AND, 0, 0, condition.mask)
        for index, value in enumerate(condition.values):
            yield (_EQUAL, len(condition.values) - index, 0, value)
        yield _failing(errno.EPERM)
    yield (_RETURN, 0, 0, _ALLOW)


def _failing(code: int) -> _Instruction:
    """Return the instruction that has the call fail with `code`, or with 0 return 0."""
    return (_RETURN, 0, 0, 0x00050000 | code)
