"""The bot's commands, and code, in processes of their own, forked from one that has the bot loaded: to load it
takes longer than most commands do, and a hundred tests start one."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

from bot.__main__ import main

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["__main__", "tests.support.loaded", __name__])


@dataclass(frozen=True, slots=True)
class Command:
    """One that was started, as `asyncio.subprocess.Process` has it."""

    _process: BaseProcess

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """None while it runs, the signal's number below zero if one ended it."""
        return self._process.exitcode

    async def wait(self) -> int:
        """Until it ends; returns its code."""
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self._process.sentinel, ended.set)
        try:
            await ended.wait()
        finally:
            loop.remove_reader(self._process.sentinel)
        assert self.returncode is not None
        return self.returncode

    def join(self) -> None:
        """As `wait`, outside an event loop."""
        self._process.join()

    def send_signal(self, what: signal.Signals) -> None:
        if self.returncode is None:
            os.kill(self.pid, what)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def start(
    *arguments: str,
    environment: Mapping[str, str],
    folder: Path,
    out: Path,
    err: Path,
    stdin: Path = Path(os.devnull),
) -> Command:
    """`bot <arguments>` in `folder`, with nothing but `environment`; what it says is added to `out`
    and `err`, and it reads `stdin`."""
    process = _CONTEXT.Process(target=_run, args=(arguments, environment, folder, out, err, stdin))
    process.start()
    return Command(process)


def _run(
    arguments: tuple[str, ...],
    environment: Mapping[str, str],
    folder: Path,
    out: Path,
    err: Path,
    stdin: Path,
) -> None:
    _begin(environment, folder, out, err)
    sys.stdin = stdin.open()
    sys.argv = ["bot", *arguments]
    main()


def start_code(code: str, *, environment: Mapping[str, str], out: Path, err: Path) -> Command:
    """Python code, as `start` does it with a command."""
    process = _CONTEXT.Process(target=_run_code, args=(code, environment, Path.cwd(), out, err))
    process.start()
    return Command(process)


def said_by(code: str) -> str:
    """Run Python code in a process of its own, which must end well; return what it wrote to stderr."""
    with tempfile.TemporaryDirectory() as folder:
        err = Path(folder) / "err"
        started = start_code(code, environment=os.environ.copy(), out=Path(folder) / "out", err=err)
        started.join()
        said = err.read_text("utf-8")
    assert started.returncode == 0, said
    return said


def _run_code(
    code: str, environment: Mapping[str, str], folder: Path, out: Path, err: Path
) -> None:
    _begin(environment, folder, out, err)
    exec(code, {"__name__": "__main__"})


def _begin(environment: Mapping[str, str], folder: Path, out: Path, err: Path) -> None:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whatever the terminal of the tests does with it
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None  # it is found anew
    os.chdir(folder)
    for path, stream in ((out, sys.stdout), (err, sys.stderr)):
        with path.open("ab") as file:
            os.dup2(file.fileno(), stream.fileno())
