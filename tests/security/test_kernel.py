"""Isolated processes are closed by the kernel: what code that took one over can still do (A7, row 27)."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError

from bot.core.check import Level
from bot.library.isolated import ProcessLost, Refused, seccomp, wire
from bot.library.isolated.confinement import landlock_version
from bot.library.isolated.pool import isolated
from bot.library.isolated.process import IsolatedLimits, Reach, UsageLimits
from bot.library.isolated.process_group import process_group
from bot.library.isolated.proof import open_ways
from bot.library.isolated.scratch import foreign_scratch_folder, remove_folder
from bot.ops.doctor.machine import open_line
from bot.services.isolated_interpreters import IsolatedInterpreters
from bot.store.embedded import embedded_redis, running_redis

JOBS = "tests.support.jobs"

needs_linux = pytest.mark.skipif(not seccomp.is_supported(), reason="needs seccomp")
needs_landlock = pytest.mark.skipif(landlock_version() < 6, reason="needs Landlock 6")

# Without Landlock, files of the same user are open; /proc/PID/mem too, where no user namespace is.
_WITHOUT_LANDLOCK = {
    *("files_of_bot", "list_other_folder", "list_processes", "memory_of_bot"),
    *("read_outside", "rename_outside", "write_outside"),
}
# /etc/passwd is what a client of PostgreSQL reads; sockets without a path are not Landlock's there.
_WITH_NETWORK = {"abstract_unix_socket", "read_outside", "tcp", "udp", "unix_socket_by_path"}


@needs_linux
@pytest.mark.parametrize(
    ("where", "allowed"),
    [
        pytest.param("", set(), marks=needs_landlock),
        pytest.param("user", set(), marks=needs_landlock),
        pytest.param("container", set(), marks=needs_landlock),
        pytest.param("user container", set(), marks=needs_landlock),
        pytest.param("network", _WITH_NETWORK, marks=needs_landlock),
        ("old user container", _WITHOUT_LANDLOCK),
    ],
)
async def test_native_code_gets_nowhere(where: str, allowed: set[str]) -> None:
    """reliability 27: as root, as another user, and where no namespace can be made, system calls of
    its own reach no socket, file, process or mode outside its folder, and leave the bot as it was."""
    command = (sys.executable, "-m", "tests.support.attacks", *where.split())
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    output, _ = await process.communicate()
    found = json.loads(output)
    assert set(found["worked"]) <= allowed
    assert found["unharmed"]


@needs_linux
async def test_what_is_open_is_said() -> None:
    """reliability 27: an isolated process tries what it must not do; one line of `bot doctor` says what
    worked and what this kernel lacks, and what needs it closed can ask the same."""
    code = (
        "import asyncio, json\n"
        "from bot.library.isolated.confinement import missing\n"
        "from bot.library.isolated.proof import open_ways\n"
        "from tests.support.attacks import refuse_earlier\n"
        "refuse_earlier({'old'})\n"
        "print(json.dumps([missing(), asyncio.run(open_ways())]))"
    )
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=pipe)
    lacking, ways = json.loads((await process.communicate())[0])
    assert lacking == ["this kernel, or a container's rules, has no Landlock"]
    files = [
        "read other files of its user",
        "write other files of its user",
        "list other processes",
    ]
    assert ways == files
    line = open_line(lacking, ways)
    assert line.level == Level.WARNING
    assert "no Landlock" in line.text
    assert "can read other files of its user, write other files" in line.text
    assert "run the bot on Linux" in line.fix
    if landlock_version() >= 6:
        assert await open_ways() == []
        assert open_line([], []).level == Level.OK


@pytest.mark.parametrize("network", [False, True])
async def test_libraries_work_under_the_filter(network: bool) -> None:
    """reliability 27: the filter refuses nothing that the work itself needs."""
    limits = IsolatedLimits(memory=2**31, cpu=100, seconds=100)
    async with isolated("tests.support.workloads", limits, Reach(network=network)) as process:
        assert await process.call("run") == {}


async def test_a_process_that_left_the_group_holds_nobody_up(tmp_path: Path) -> None:
    """reliability 27: it keeps the pipes open; the bot goes on."""
    code = (
        "import os, sys, time\n"
        "if os.fork() == 0: os.setsid(); print(os.getpid(), flush=True); time.sleep(600)\n"
        "time.sleep(600)"
    )
    command = (sys.executable, "-c", code)
    pipe = asyncio.subprocess.PIPE
    async with process_group(command, cwd=tmp_path, env={}, stdin=pipe, stdout=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        grandchild = int(await process.stdout.readline())
        process.stdin.write(bytes(10_000_000))
        began = time.monotonic()
    try:
        assert time.monotonic() - began < 10
        assert process.returncode == -signal.SIGKILL
    finally:
        os.kill(grandchild, signal.SIGKILL)


@needs_linux
@pytest.mark.parametrize(
    ("job", "arguments"),
    [
        ("fill_folder", {"kept": True}),
        ("fill_folder", {"kept": False}),
        ("make_files", {}),
        ("make_nested_folders", {}),
        ("start_threads", {}),
    ],
)
async def test_what_the_kernel_does_not_limit_is_watched(job: str, arguments: Any) -> None:
    """reliability 27: a process ends when its folder or its number of threads grows too far, also when
    its files have no name any more; and what the bot puts there is not its doing."""
    usage = UsageLimits(folder=3_000_000, files=100, threads=20)
    limits = IsolatedLimits(usage=usage, seconds=60.0)
    async with isolated(JOBS, limits) as process:
        process.write("input", bytes(5_000_000))
        folder = process.folder
        await process.call("echo", value=1)
        await asyncio.sleep(0.6)  # two looks
        await process.call("echo", value=1)
        with pytest.raises(ProcessLost):
            await process.call(job, **arguments)
    assert not folder.exists()


async def test_a_folder_is_removed_however_it_was_left(tmp_path: Path) -> None:
    """reliability 27: 1,500 nested folders, names like the ones used in removing, no rights, links; and
    nothing outside is touched."""
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o755)
    (outside / "file").write_text("kept")
    descriptor = os.open(tmp_path, os.O_RDONLY)
    os.mkdir("job", dir_fd=descriptor)
    for name in ("link", "moved-1"):
        (tmp_path / "job" / name).symlink_to(outside)
    (tmp_path / "job" / "moved-2" / "moved-3").mkdir(parents=True)
    for _ in range(1_500):
        inner = os.open("job", os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = inner
        os.mkdir("job", dir_fd=descriptor)
        os.mkdir("moved-0", dir_fd=descriptor)
    os.mkdir("closed", mode=0, dir_fd=descriptor)
    os.close(descriptor)
    await asyncio.to_thread(remove_folder, tmp_path / "job")
    assert not (tmp_path / "job").exists()
    assert (outside / "file").read_text() == "kept"
    assert outside.stat().st_mode & 0o777 == 0o755


async def test_removing_many_files_holds_nobody_up() -> None:
    """reliability 27: the event loop goes on meanwhile."""
    async with foreign_scratch_folder("test-") as folder:
        await asyncio.to_thread(_make_files, folder, 10_000)
        longest, last = 0.0, time.monotonic()
        is_over = asyncio.Event()

        async def look() -> None:
            nonlocal longest, last
            while not is_over.is_set():
                last = time.monotonic()
                await asyncio.sleep(0.001)
                longest = max(longest, time.monotonic() - last)

        looking = asyncio.create_task(look())
        await asyncio.sleep(0)
    is_over.set()
    await looking
    assert not folder.exists()
    assert longest < 0.15


def _all_arguments() -> str:
    texts = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has just ended
            texts.append(process.read_text(errors="replace"))
    return "\n".join(texts)


def _make_files(folder: Path, number: int) -> None:
    for each in range(number):
        (folder / str(each)).touch()


async def test_only_plain_files_of_the_folder_are_read(tmp_path: Path) -> None:
    """reliability 27: no name leads out of it, and a second name of another file is none of its own."""
    (tmp_path / "result").write_text("secret")
    async with isolated(JOBS) as process:
        (process.folder / "folder").symlink_to(tmp_path)
        os.link(tmp_path / "result", process.folder / "result")
        for name in (
            "folder/result",
            "../result",
            "..",
            ".",
            "",
            "/etc/passwd",
            "result",
            "folder",
        ):
            with pytest.raises(OSError, match=r"name|plain|links|directory|Is a|No such"):
                process.read(name)
        with pytest.raises(OSError, match="name"):
            process.write("folder/new", b"")
        process.write("result", b"own")
        assert process.read("result") == b"own"
        process.folder.rename(tmp_path / "moved")
        process.folder.symlink_to(tmp_path)
        with pytest.raises(OSError, match=r"directory|links"):
            process.read("result")
        process.folder.unlink()
    assert (tmp_path / "result").read_text() == "secret"


@pytest.mark.parametrize(
    "size", [5_000_000, 40_000_000, 2**40], ids=["more than allowed", "large", "endless"]
)
async def test_a_forged_reply_costs_little(size: int) -> None:
    """reliability 27: native code writes what it likes; the bot does not take it all."""
    async with isolated(JOBS, IsolatedLimits(seconds=10.0)) as process:
        with pytest.raises(ProcessLost, match="too large"):
            await process.call("forge", size=size)


@pytest.mark.parametrize("number", ["1E+999999999", "-1E-999999999", "1E+200000"])
def test_a_forged_number_costs_little(number: str) -> None:
    """reliability 27: its arithmetic would take the bot's interpreter for minutes."""
    with pytest.raises(ValueError, match="digits"):
        wire.unpack(json.dumps({"value": {"$type": "Decimal", "$value": number}}).encode())
    for real in ("NaN", "Infinity", "0E-200000", "1E+131071", "1E-16383", "-0.10"):
        frame = wire.pack({"value": Decimal(real)})[wire.HEADER.size :]
        assert str(wire.unpack(frame)["value"]) == real


async def test_long_results_come_in_parts() -> None:
    """reliability 27: decoding a long list lets others have their turn, and changes nothing in it."""
    rows = [[n, str(n), None, "ä\ud800"] for n in range(50_000)]
    async with isolated(JOBS, IsolatedLimits(reply=40_000_000)) as process:
        for value in (rows, {"columns": ["a"], "rows": rows}, [], [1], [1, 2], {"rows": 1}):
            assert await process.call("echo", value=value) == value
        text = "ä\ud800\n" * 2_000_000
        assert await process.call("echo", value=text) == text
        with pytest.raises(Refused, match="too large"):
            await process.call("echo", value=["x" * 5_000_000, 1])
        assert await process.call("echo", value="it goes on") == "it goes on"


async def test_all_lines_of_a_long_text_may_match() -> None:
    """reliability 27: the limit of a reply has room for what its jobs return."""
    found = await IsolatedInterpreters().matching_lines("x\n" * 700_000, "x")
    assert found == list(range(700_000))


async def test_the_embedded_redis_wants_a_password(tmp_path: Path) -> None:
    """reliability 27: a process of this user may find its socket; the password is in no argument and no
    environment, and in files that isolated processes cannot read. Operators' commands know it."""
    async with embedded_redis(tmp_path / "redis") as url:
        path = url.partition("@")[2]
        async with Redis(unix_socket_path=path) as stranger:
            with pytest.raises(RedisError, match="uthenticat"):
                await stranger.ping()
        password = url.removeprefix("unix://:").partition("@")[0]
        files = [tmp_path / "redis" / "address", Path(path).with_name("redis.conf")]
        for file in files:
            assert password in file.read_text()
            assert file.stat().st_mode & 0o777 == 0o600
        assert password not in await asyncio.to_thread(_all_arguments)
        found = running_redis(tmp_path / "redis")
        assert found == url
        async with Redis.from_url(found) as operator:
            assert await operator.ping()
        if landlock_version() > 0:
            for network in (False, True):
                async with isolated(JOBS, reach=Reach(network=network)) as child:
                    for file in files:
                        with pytest.raises(RuntimeError, match="PermissionError"):
                            await child.call("read", path=str(file))
                    assert password not in str(await child.call("about"))
