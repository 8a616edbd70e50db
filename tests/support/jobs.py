"""Jobs for the tests of isolated processes."""

from __future__ import annotations

import ctypes
import fcntl
import os
import re
import socket
import subprocess
import time
from pathlib import Path

from bot.services.isolated import Refused


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
