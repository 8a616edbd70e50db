"""Jobs for the tests of isolated processes."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import re
import socket
import stat
import subprocess
import threading
import time
from pathlib import Path

from bot.library.isolated import Refused, wire


def echo(value: object) -> object:
    return value


def refuse(why: str) -> None:
    raise Refused(why)


def broken() -> float:
    return 1 / 0


def fill() -> int:
    return len(bytearray(2**40))


def compute() -> None:
    while True:
        pass


def match() -> bool:
    return bool(re.match("(a+)+$", "a" * 60 + "!"))


def die() -> None:
    os.abort()


def sleep(seconds: float) -> None:
    time.sleep(seconds)


def leave(name: str, size: int) -> None:
    """Leave a file of `size` bytes."""
    with Path(name).open("wb") as file:
        file.truncate(size)


def read(path: str) -> str:
    return Path(path).read_text()


def write(path: str) -> None:
    Path(path).write_text("written")


def execute(program: str) -> int:
    """Run a program as code that was taken over would, past what Python forbids."""
    ctypes.CDLL(None).execl(program.encode(), program.encode(), None)
    return ctypes.get_errno()


def signal(pid: int) -> int:
    """Return what the kernel says to a signal for another process."""
    return int(ctypes.CDLL(None).kill(pid, 0))


def about() -> dict[str, object]:
    def tried(work: object) -> str:
        try:
            work()  # type: ignore[operator]
        except OSError as error:
            return f"{type(error).__name__}: {error}"
        return "done"

    def is_open(file: int) -> bool:
        """Whether it can be read or written, unlike a descriptor that only stands for a path."""
        is_path = getattr(os, "O_PATH", 0)
        return tried(lambda: os.fstat(file)) == "done" and not (
            fcntl.fcntl(file, fcntl.F_GETFL) & is_path
        )

    return {
        "environment": dict(os.environ),
        "files": [file for file in range(100) if is_open(file)],
        "connect": tried(lambda: socket.create_connection(("127.0.0.1", 9), 1)),
        "program": tried(lambda: subprocess.run(["true"], check=False)),
    }


def fill_folder(kept: bool) -> None:
    """Write a file, which has no name any more unless it is `kept`, and go on."""
    with Path("large").open("wb") as file:
        if not kept:
            Path("large").unlink()
        file.write(b"x" * 10_000_000)
        file.flush()
        time.sleep(60)


def make_files() -> None:
    for number in range(200):
        Path(f"file-{number}").touch()
    time.sleep(60)


def make_nested_folders() -> None:
    for _ in range(3_000):
        Path("folder").mkdir()
        os.chdir("folder")
    time.sleep(60)


def start_threads() -> None:
    for _ in range(50):
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    time.sleep(60)


def forge(size: int) -> None:
    """Write a reply of our own: `size` bytes of empty lists, a frame at a time."""
    for file in range(3, 100):
        with contextlib.suppress(OSError):
            if stat.S_ISFIFO(os.fstat(file).st_mode) or stat.S_ISSOCK(os.fstat(file).st_mode):
                while size > 0:
                    body = b'{"part": [' + b"[]," * 300_000 + b"[]]}"
                    os.write(file, wire.HEADER.pack(min(size, len(body))) + body)
                    size -= len(body)
    time.sleep(60)
