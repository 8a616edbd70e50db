"""What native code in an isolated process would try. `python -m tests.support.attacks WHERE` tries it.

A process that stands for the bot starts one that is confined as the bot's own are, and prints what worked
there, by name. WHERE holds words: `user` (as another user than root), `container` (no namespaces can be
made), `old` (a kernel without Landlock), `network` (a process with network).
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import platform
import resource
import shutil
import signal
import socket
import struct
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bot.library.isolated import confinement, seccomp

_NOBODY = 65534
_X86 = platform.machine() == "x86_64"
_ROOT = Path(__file__).parents[2]
_libc = ctypes.CDLL(None, use_errno=True)


def main(where: set[str]) -> dict[str, object]:
    """Return what worked, and whether the process that stands for the bot is as it was."""
    folder = Path(tempfile.mkdtemp())
    (folder / "own").mkdir()
    (folder / "other").mkdir()
    for name in ("secret", "other/input"):
        (folder / name).write_text("secret")
    if "user" in where and os.geteuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, _NOBODY, _NOBODY)
        os.setgroups([])
        os.setresgid(_NOBODY, _NOBODY, _NOBODY)
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)
        _libc.prctl(4, 1, 0, 0, 0)  # dumpable, as a process that was started as this user
    refuse_earlier(where)
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_UNIX) as by_path,
        socket.socket(socket.AF_UNIX) as abstract,
    ):
        by_path.bind(str(folder / "socket"))
        by_path.listen()
        abstract.bind(f"\0{folder.name}")
        abstract.listen()
        before, port = state(folder), tcp.getsockname()[1]
        read, write = os.pipe()
        bot = os.getpid()
        child = os.fork()
        if child == 0:
            try:
                os.chdir(folder / "own")
                (folder / "own" / "file").write_text("own")
                packages = [str(_ROOT / "bot"), str(_ROOT / "tests")]
                limits: dict[str, Any] = {"memory": 2**30, "output": 2**29}
                network = "network" in where
                confinement.confine(
                    **limits, network=network, parent=bot, packages=packages, data=None
                )
                found = _Attacks(bot, folder, port).worked()
                os.write(write, json.dumps(found).encode())
            except BaseException:  # noqa: BLE001 - it must end here
                traceback.print_exc()
            finally:
                os._exit(0)
        os.close(write)
        with os.fdopen(read) as reply:
            worked = json.loads(reply.read() or '["it died"]')
        os.waitpid(child, 0)
        unharmed = state(folder) == before
        shutil.rmtree(folder)
        return {"worked": worked, "unharmed": unharmed}


def refuse_earlier(where: set[str]) -> None:
    """Have the kernel refuse what containers refuse, and older kernels do not know."""
    numbers = [272, 308] if _X86 else [97, 268]  # unshare, setns
    numbers = numbers if "container" in where else []
    numbers += [444, 445, 446] if "old" in where else []
    if not numbers:
        return
    code = [(0x20, 0, 0, 0)]
    for number in numbers:
        code += [(0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | (38 if number > 400 else 1))]
    code.append((0x06, 0, 0, 0x7FFF0000))
    packed = b"".join(struct.pack("=HBBI", *each) for each in code)
    buffer = ctypes.create_string_buffer(packed, len(packed))
    header = struct.pack("@HP", len(code), ctypes.addressof(buffer))
    _libc.prctl(38, 1, 0, 0, 0)
    assert _libc.syscall(317 if _X86 else 277, 1, 0, header) == 0


def state(folder: Path) -> list[object]:
    info = (folder / "secret").stat()
    xattrs = os.listxattr(folder / "secret")
    limits = [resource.getrlimit(each) for each in range(16)]
    threads = len([*Path("/proc/self/task").iterdir()])
    scheduling = (os.sched_getaffinity(0), os.sched_getscheduler(0), os.getpriority(0, 0))
    return [info.st_mode, info.st_mtime, info.st_uid, xattrs, limits, threads, *scheduling]


class _Attacks:
    """One method for each attack; it returns whether it worked."""

    def __init__(self, bot: int, folder: Path, port: int) -> None:
        self.bot, self.folder, self.port = bot, folder, port
        self.secret = str(folder / "secret").encode()

    def worked(self) -> list[str]:
        worked = []
        for name in sorted(name for name in vars(_Attacks) if name.startswith("try_")):
            attempt: Callable[[], bool] = getattr(self, name)
            try:
                if attempt():
                    worked.append(name.removeprefix("try_"))
            except (OSError, PermissionError):
                pass
        return worked

    def _call(self, x86_64: int, aarch64: int, *arguments: object) -> bool:
        """Make a system call, past Python and the C library."""
        return bool(_libc.syscall(x86_64 if _X86 else aarch64, *arguments) >= 0)

    # The network

    def _socket(self, family: int, kind: int, protocol: int = 0) -> bool:
        return bool(_libc.socket(family, kind, protocol) >= 0)

    def try_socket_of_any_other_family(self) -> bool:
        known = {socket.AF_UNIX, socket.AF_INET, socket.AF_INET6}
        kinds = (1, 2, 3, 5)
        return any(self._socket(f, kind) for f in range(46) if f not in known for kind in kinds)

    def try_raw_socket(self) -> bool:
        return self._socket(2, 3, 1) or self._socket(10, 3, 58)

    def try_tcp(self) -> bool:
        file = _libc.socket(2, 1, 0)
        address = struct.pack("=H", 2) + struct.pack("!H4s8x", self.port, b"\x7f\0\0\1")
        return file >= 0 and bool(_libc.connect(file, address, len(address)) == 0)

    def try_tcp_listening(self) -> bool:
        file = _libc.socket(2, 1, 0)
        address = struct.pack("=H", 2) + struct.pack("!H4s8x", 0, b"\x7f\0\0\1")
        return file >= 0 and bool(
            _libc.bind(file, address, len(address)) == 0 or _libc.listen(file, 1) == 0
        )

    def try_udp(self) -> bool:
        file = _libc.socket(2, 2, 0)
        address = struct.pack("=H", 2) + struct.pack("!H4s8x", self.port, b"\x7f\0\0\1")
        return file >= 0 and bool(_libc.sendto(file, b"x", 1, 0, address, len(address)) == 1)

    def try_socketpair(self) -> bool:
        pair = (ctypes.c_int * 2)()
        return any(_libc.socketpair(1, kind, 0, pair) == 0 for kind in (1, 2, 5))

    def _unix(self, path: bytes) -> bool:
        address = struct.pack("=H", 1) + path
        file = _libc.socket(1, 1, 0)
        return bool(file >= 0 and _libc.connect(file, address, len(address)) == 0)

    def try_unix_socket_by_path(self) -> bool:
        return self._unix(bytes(self.folder / "socket") + b"\0")

    def try_abstract_unix_socket(self) -> bool:
        return self._unix(b"\0" + self.folder.name.encode())

    # Files

    def try_read_outside(self) -> bool:
        paths = (self.secret, bytes(self.folder / "other" / "input"), b"/etc/passwd", b"/root")
        return any(_libc.open(path, os.O_RDONLY) >= 0 for path in paths)

    def try_write_outside(self) -> bool:
        made = _libc.open(bytes(self.folder / "new"), os.O_WRONLY | os.O_CREAT, 0o600)
        return bool(made >= 0 or _libc.open(self.secret, os.O_WRONLY) >= 0)

    def try_list_other_folder(self) -> bool:
        return any(
            _libc.open(bytes(path), os.O_RDONLY | os.O_DIRECTORY) >= 0
            for path in (self.folder, self.folder / "other")
        )

    def try_truncate(self) -> bool:
        library = str(Path(os.__file__)).encode()
        return bool(
            _libc.truncate(self.secret, 6) == 0
            or _libc.open(library, os.O_RDONLY | os.O_TRUNC | 0o40000000) >= 0
        )

    def try_chmod(self) -> bool:
        _libc.chmod(self.secret, 0o777)
        _libc.fchmodat(-100, self.secret, 0o777, 0)
        self._call(452, 452, -100, self.secret, 0o777, 0)
        _libc.chmod(b"file", 0o4777)
        return Path(self.folder, "secret").stat().st_mode & 0o777 == 0o777 or bool(
            Path("file").stat().st_mode & 0o4000
        )

    def try_chown(self) -> bool:
        return bool(
            _libc.chown(self.secret, os.getuid(), os.getgid()) == 0
            or _libc.lchown(self.secret, os.getuid(), os.getgid()) == 0
        )

    def try_utime(self) -> bool:
        _libc.utimes(self.secret, None)
        _libc.utimensat(-100, self.secret, struct.pack("=4q", 1, 0, 1, 0), 0)
        return Path(self.folder, "secret").stat().st_mtime == 1

    def try_setxattr(self) -> bool:
        return bool(
            _libc.setxattr(self.secret, b"user.x", b"x", 1, 0) == 0
            or _libc.lsetxattr(self.secret, b"trusted.x", b"x", 1, 0) == 0
            or self._call(463, 463, -100, self.secret, 0, b"user.x", None, 0)
        )

    def try_file_attributes(self) -> bool:
        file = _libc.open(str(Path(os.__file__)).encode(), os.O_RDONLY)
        return bool(file >= 0 and _libc.ioctl(file, 0x40086602, struct.pack("=q", 0x40)) == 0)

    def try_links(self) -> bool:
        return bool(
            _libc.symlink(self.secret, b"link") == 0
            or _libc.link(self.secret, b"hard") == 0
            or _libc.link(b"file", b"again") == 0
            or _libc.mkfifo(b"pipe", 0o600) == 0
            or _libc.mknod(b"device", 0o20600, 0x103) == 0
        )

    def try_rename_outside(self) -> bool:
        return bool(
            _libc.rename(b"file", bytes(self.folder / "moved")) == 0
            or _libc.rename(self.secret, b"taken") == 0
            or _libc.unlink(bytes(self.folder / "other" / "input")) == 0
        )

    def try_watch_files(self) -> bool:
        return self._call(294, 26, 0) or self._call(300, 262, 0, 0)  # inotify, fanotify

    def try_file_handles(self) -> bool:
        handle = ctypes.create_string_buffer(struct.pack("=Ii", 128, 0) + bytes(128))
        mount = ctypes.c_int()
        return self._call(303, 264, -100, self.secret, handle, ctypes.byref(mount), 0)

    # Other processes

    def try_fork(self) -> bool:
        if _libc.fork() == 0 or _libc.syscall(56 if _X86 else 220, 17, 0, 0, 0, 0) == 0:
            os._exit(0)
        arguments = struct.pack("=11Q", 0, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0)
        made = _libc.syscall(435, arguments, len(arguments))
        if made == 0:
            os._exit(0)
        return Path("/proc/self/task").is_dir() and bool(
            Path(f"/proc/self/task/{os.getpid()}/children").read_text()
        )

    def try_run_program(self) -> bool:
        kind = ctypes.c_char_p * 2
        for program in (b"/bin/true", b"/usr/bin/su", sys.executable.encode()):
            _libc.execve(program, kind(program, None), kind(None, None))
        return False  # it would not come back: "it died"

    def try_signal(self) -> bool:
        return bool(
            _libc.kill(self.bot, 0) == 0
            or _libc.kill(-1, 0) == 0
            or self._call(234, 131, self.bot, self.bot, 0)
            or self._call(200, 130, self.bot, 0)
            or self._call(129, 138, self.bot, 0, bytes(128))
            or self._call(424, 424, _libc.syscall(434, self.bot, 0), 0, None, 0)
        )

    def try_signal_through_pipe(self) -> bool:
        """A pipe whose owner is the bot would send it a signal once it can be read."""
        read, write = os.pipe()
        set_owner = _libc.fcntl(read, 8, self.bot) == 0
        set_signal = _libc.fcntl(read, 10, signal.SIGURG) == 0
        _libc.ioctl(read, 0x5452, ctypes.byref(ctypes.c_int(1)))
        os.write(write, b"x")
        return bool(set_owner or set_signal)

    def try_limits_of_bot(self) -> bool:
        limit = struct.pack("=QQ", 100_000, 100_000)
        return self._call(302, 261, self.bot, resource.RLIMIT_CPU, limit, None)

    def try_scheduling_of_bot(self) -> bool:
        mask = struct.pack("=Q", 1)
        return bool(
            self._call(203, 122, self.bot, 8, mask)
            or _libc.setpriority(0, self.bot, 19) == 0
            or self._call(251, 30, 1, self.bot, 3 << 13)  # ioprio_set
            or self._call(144, 119, self.bot, 5, struct.pack("=i", 0))
        )

    def try_trace(self) -> bool:
        return bool(_libc.ptrace(16, self.bot, 0, 0) == 0 or _libc.ptrace(0, 0, 0, 0) == 0)

    def try_memory_of_bot(self) -> bool:
        buffer = ctypes.create_string_buffer(8)
        ours = struct.pack("=QQ", ctypes.addressof(buffer), 8)
        return bool(
            self._call(310, 270, self.bot, ours, 1, ours, 1, 0)
            or self._call(311, 271, self.bot, ours, 1, ours, 1, 0)
            or _libc.open(f"/proc/{self.bot}/mem".encode(), os.O_RDONLY) >= 0
            or self._call(312, 272, self.bot, os.getpid(), 1, 0, 0)  # kcmp
        )

    def try_files_of_bot(self) -> bool:
        names = ("environ", "cmdline", "fd", "root/etc/passwd", "cwd", "maps", "status")
        return any(_libc.open(f"/proc/{self.bot}/{name}".encode(), 0) >= 0 for name in names)

    def try_list_processes(self) -> bool:
        return bool(
            _libc.open(b"/proc", os.O_RDONLY | os.O_DIRECTORY) >= 0
            or _libc.open(b"/proc/1/cmdline", os.O_RDONLY) >= 0
        )

    def try_descriptor_of_bot(self) -> bool:
        return self._call(438, 438, _libc.syscall(434, self.bot, 0), 0, 0)

    def try_leave_the_session(self) -> bool:
        return bool(_libc.setsid() >= 0 or _libc.setpgid(0, 0) == 0)

    def try_outlive_the_bot(self) -> bool:
        return bool(_libc.prctl(1, 0, 0, 0, 0) == 0)

    def try_be_dumped(self) -> bool:
        return bool(_libc.prctl(4, 1, 0, 0, 0) == 0)

    # Memory and the kernel

    def try_shared_memory(self) -> bool:
        return bool(
            _libc.shmget(0, 4096, 0o1600) >= 0
            or self._call(319, 279, b"x", 0)  # memfd_create
            or self._call(447, 447, 0)  # memfd_secret
            or _libc.semget(0, 1, 0o1600) >= 0
            or _libc.msgget(0, 0o1600) >= 0
            or self._call(240, 180, b"/x", 0o102, 0o600, None)  # mq_open
        )

    def try_keys(self) -> bool:
        return bool(
            self._call(250, 219, 0, -3, 1)
            or self._call(248, 217, b"user", b"x", b"x", 1, -3)
            or self._call(249, 218, b"user", b"x", None, 0)
        )

    def try_rings_faults_and_events(self) -> bool:
        zeros = bytes(256)
        return bool(
            self._call(425, 425, 1, ctypes.create_string_buffer(256))  # io_uring_setup
            or self._call(323, 282, 1)  # userfaultfd
            or self._call(298, 241, zeros, 0, -1, -1, 0)  # perf_event_open
            or self._call(321, 280, 0, zeros, 64)  # bpf
            or self._call(206, 0, 1, ctypes.byref(ctypes.c_ulong()))  # io_setup
        )

    def try_namespaces(self) -> bool:
        kinds = (0x20000, 0x10000000, 0x40000000, 0x20000000, 0x10020000)
        return any(_libc.unshare(kind) == 0 for kind in kinds)

    def try_mounts(self) -> bool:
        return bool(
            _libc.mount(b"none", b".", b"tmpfs", 0, None) == 0
            or _libc.umount2(b"/proc", 2) == 0
            or _libc.chroot(b".") == 0
            or self._call(428, 428, -100, b"/", 1)  # open_tree
            or self._call(430, 430, b"tmpfs", 0)  # fsopen
        )

    def try_be_somebody_else(self) -> bool:
        header, data = struct.pack("=Ii", 0x20080522, 0), struct.pack("=6I", 6, 6, 0, 0, 0, 0)
        return bool(
            _libc.setuid(os.getuid()) == 0
            or _libc.setresuid(1, 1, 1) == 0
            or _libc.setgroups(0, None) == 0
            or _libc.capset(header, data) == 0
            or _libc.personality(0) >= 0
        )

    def try_the_machine(self) -> bool:
        return bool(
            _libc.sethostname(b"x", 1) == 0
            or self._call(103, 116, 10, None, 0) is True  # syslog
            or self._call(159, 171, struct.pack("=26q", *[0] * 26)) is True  # adjtimex
        )

    def try_any_other_call(self) -> bool:
        """Each number that is not on the list, also those of calls that are yet to come. Who calls 335 or
        336, which are for probes, is ended by the kernel before any filter."""
        listed = {335, 336} | {number for _, number in seccomp._numbers(platform.machine())}
        numbers = [number for number in range(700) if number not in listed]
        return any(self._is_let_through(number) for number in numbers)

    def try_any_other_argument(self) -> bool:
        """Each command of calls of which only some are on the list."""
        fcntl, ioctl, prctl = (72, 16, 157) if _X86 else (25, 29, 167)
        requests = (*range(0x5400, 0x5480), *range(0x8900, 0x8960), 0x40086602, 0x40049409, 0xAE01)
        return (
            any(self._is_let_through(fcntl, 0, n) for n in range(1100) if n not in seccomp._FCNTL)
            or any(self._is_let_through(ioctl, 0, n) for n in requests if n not in seccomp._IOCTL)
            or any(self._is_let_through(prctl, n) for n in range(100) if n not in seccomp._PRCTL)
        )

    def _is_let_through(self, number: int, *arguments: int) -> bool:
        """Whether the kernel looks at a call: the filter refuses with these two errors."""
        ctypes.set_errno(0)
        rest = [-1] * (6 - len(arguments))
        done = _libc.syscall(number, *map(ctypes.c_long, (*arguments, *rest)))
        return bool(done >= 0 or ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS))

    def try_fill_the_disk_at_once(self) -> bool:
        """Reserving takes no time: a hundred gigabytes before anybody has looked at the folder."""
        made = 0
        for number in range(200):
            file = _libc.open(f"large-{number}".encode(), os.O_WRONLY | os.O_CREAT, 0o600)
            size = ctypes.c_long(2**29 - 1)
            made += self._call(285, 47, file, 0, ctypes.c_long(0), size)
            _libc.close(file)
            Path(f"large-{number}").unlink()
        return made > 0

    def try_old_calls(self) -> bool:
        """The numbers of x32 mean the same calls on kernels that have them."""
        return _X86 and _libc.syscall(0x40000000 + 41, 2, 1, 0) >= 0

    def try_loosen_the_filter(self) -> bool:
        allow_all = struct.pack("=HBBI", 6, 0, 0, 0x7FFF0000)
        buffer = ctypes.create_string_buffer(allow_all, 8)
        header = struct.pack("@HP", 1, ctypes.addressof(buffer))
        return self._call(317, 277, 1, 0, header) and seccomp.is_supported()

    def try_wait_for_children_of_bot(self) -> bool:
        return bool(_libc.waitpid(-1, None, 1) >= 0)


if __name__ == "__main__":
    print(json.dumps(main(set(sys.argv[1:]))))  # noqa: T201
