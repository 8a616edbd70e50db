"""Other people's data is worked on in processes that end when they should (S2, reliability 21)."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from bot.library.isolated import ProcessLost, Refused, wire
from bot.library.isolated.confinement import landlock_version
from bot.library.isolated.pool import isolated, warm_processes
from bot.library.isolated.process import IsolatedLimits, IsolatedProcess, Reach
from bot.library.isolated.scratch import remove_abandoned_folders

JOBS = "tests.support.jobs"
LIMITS = IsolatedLimits(memory=300_000_000, cpu=1.0, seconds=10.0)


async def gone(pid: int) -> None:
    async with asyncio.timeout(20):
        while _answers(pid):  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.01)


def _answers(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_a_job_gives_its_value_with_its_types() -> None:
    async with isolated(JOBS, LIMITS) as process:
        value = [1, 2.5, "ä\ud800", None, True, b"\x00", 10**30]
        assert await process.call("echo", value=value) == value
        with pytest.raises(Refused, match="not like this"):
            await process.call("refuse", why="not like this")
        with pytest.raises(RuntimeError, match=r"ZeroDivisionError at .*broken"):
            await process.call("broken")
        assert await process.call("echo", value="still there") == "still there"


@pytest.mark.parametrize(
    ("job", "raised"),
    [
        ("fill", ProcessLost),
        ("compute", TimeoutError),
        ("match", TimeoutError),
        ("die", ProcessLost),
    ],
)
async def test_the_kernel_bounds_a_job(job: str, raised: type[Exception]) -> None:
    """Memory, computing, a hostile pattern that holds the interpreter, and a crash each end that
    process only."""
    began = time.monotonic()
    async with isolated(JOBS, LIMITS) as process:
        pid = process.pid
        with pytest.raises(raised):
            await process.call(job)
    await gone(pid)
    assert time.monotonic() - began < 30


async def test_stop_kills_what_is_being_done_at_once() -> None:
    """H1: a cancelled call leaves no process, and none that it started."""
    started: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def works() -> None:
        async with isolated(JOBS, LIMITS) as process:
            started.set_result(process.pid)
            await process.call("sleep", seconds=600)

    task = asyncio.create_task(works())
    pid = await started
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task}, timeout=20)
    assert task.cancelled()
    await gone(pid)


async def test_it_knows_no_secret_and_reaches_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("PGPASSWORD", "secret")
    ours = os.dup(0)
    os.set_inheritable(ours, True)
    try:
        async with isolated(JOBS, LIMITS) as process:
            about = await process.call("about")
    finally:
        os.close(ours)
    assert "secret" not in str(about["environment"])
    assert len(about["files"]) <= 5  # its standard streams and their copies
    assert about["connect"].startswith(("PermissionError", "OSError"))
    assert about["program"].startswith("PermissionError")


@pytest.mark.skipif(landlock_version() <= 0, reason="needs Landlock")
async def test_what_was_taken_over_sees_only_its_own_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S2: a flaw in a library must not give away the host: neither its files nor what the bot itself
    holds, and no program is run and no process ended."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "table").write_text("table")
    env = Path(__file__).parents[3] / "pyproject.toml"  # beside it an operator's .env would lie
    out_of_sight = (tmp_path / "secret", env, f"/proc/{os.getpid()}/environ", "/etc/passwd")
    async with isolated(JOBS, LIMITS, Reach(data=tmp_path / "data")) as process:
        assert await process.call("read", path=str(tmp_path / "data" / "table")) == "table"
        for path in out_of_sight:
            with pytest.raises(RuntimeError, match="PermissionError"):
                await process.call("read", path=str(path))
        for path in (tmp_path / "secret", tmp_path / "new", Path(os.__file__).with_name("new")):
            with pytest.raises(RuntimeError, match="PermissionError"):
                await process.call("write", path=str(path))
        await process.call("write", path="new")
        await process.call("execute", program=sys.executable)
        assert await process.call("echo", value="still Python") == "still Python"
        if landlock_version() >= 6:
            assert await process.call("signal", pid=os.getpid()) == -1
    async with isolated(JOBS, LIMITS, Reach(network=True)) as process:
        with pytest.raises(RuntimeError, match="PermissionError"):
            await process.call("read", path=f"/proc/{os.getpid()}/environ")
        await process.call("execute", program=sys.executable)
        assert await process.call("echo", value="still Python") == "still Python"


async def test_it_stays_warm_within_one_run_and_for_one_person() -> None:
    async def pid_for(user: str) -> int:
        async with isolated(JOBS, LIMITS, owner=user) as process:
            return process.pid

    async with warm_processes():
        first = await pid_for("U0ADA00001")
        assert await pid_for("U0ADA00001") == first
        other = await pid_for("U0BOB00001")
        assert other != first
        assert await pid_for("U0ADA00001") == first
    await gone(first)
    await gone(other)
    async with warm_processes():
        assert await pid_for("U0ADA00001") != first


async def test_a_stopped_one_is_not_used_again() -> None:
    async with warm_processes():
        async with isolated(JOBS, LIMITS) as process:
            with pytest.raises(TimeoutError):
                await process.call("compute")
            pid = process.pid
        async with isolated(JOBS, LIMITS) as again:
            assert again.pid != pid


async def test_one_that_died_idle_is_not_lent_again() -> None:
    """S2: when memory is short the kernel ends idle processes; who asks next does not notice."""
    async with warm_processes():
        for how in (signal.SIGKILL, signal.SIGSTOP):
            async with isolated(JOBS, LIMITS) as process:
                os.kill(process.pid, how)
            async with isolated(JOBS, LIMITS) as again:
                assert await again.call("echo", value=1) == 1


async def test_one_that_is_lent_as_its_run_ends_ends_too() -> None:
    """H1: Stop ends a run while a call of it still works; nothing is left for nobody to use."""
    is_lent, may_return = asyncio.Event(), asyncio.Event()

    async def works() -> int:
        async with isolated(JOBS, LIMITS) as process:
            is_lent.set()
            await may_return.wait()
            return process.pid

    async with warm_processes():
        working = asyncio.create_task(works())
        await is_lent.wait()
    may_return.set()
    await gone(await working)


async def test_time_to_start_is_nobodys_time() -> None:
    """S2: on a slow machine a process takes seconds to be there; that is not the query's fault."""
    limits = IsolatedLimits(memory=300_000_000, cpu=1.0, seconds=1.0)
    async with isolated("tests.support.slow_jobs", limits) as process:
        assert await process.call("echo", value=1) == 1


async def test_few_are_kept_idle() -> None:
    """Memory of idle processes does not grow with the runs."""
    async with warm_processes():
        limits = [IsolatedLimits(seconds=10.0 + n) for n in range(10)]
        processes: list[IsolatedProcess] = []
        for each in limits:
            async with isolated(JOBS, each) as process:
                processes.append(process)
        await gone(processes[0].pid)
        await gone(processes[1].pid)
        assert all(_answers(each.pid) for each in processes[2:])


async def test_a_link_it_left_is_not_followed(tmp_path: Path) -> None:
    """What was taken over must not have the bot read the host's files for it."""
    (tmp_path / "secret").write_text("secret")
    async with isolated(JOBS, LIMITS) as process:
        (process.folder / "result").symlink_to(tmp_path / "secret")
        with pytest.raises(OSError, match=r"link|loop"):
            process.read("result")
        # Nor waited for, nor taken into the bot's memory whatever its size.
        os.mkfifo(process.folder / "pipe")
        with pytest.raises(OSError, match="not a plain file"):
            process.read("pipe")
        await process.call("leave", name="large", size=400_000_000)
        with pytest.raises(Refused, match="ask for less"):
            process.read("large")
        # What the bot puts there goes to no file of the host's.
        process.write("result", b"new")
    assert (tmp_path / "secret").read_text() == "secret"


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"$type": "os.system", "$value": "x"}',
        b'{"$type": ["bytes"], "$value": "00"}',
        b'{"$type": "Decimal", "$value": "x"}',
        b'{"$type": "bytes", "$value": "x"}',
        b"\xff\xff",
        b"",
    ],
)
def test_a_reply_that_was_forged_is_no_value(body: bytes) -> None:
    """What was taken over may say anything: it is told apart, and makes nothing of ours run."""
    with pytest.raises(ValueError):  # noqa: PT011 - any of them
        wire.unpack(body)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_it_dies_with_the_bot(
    how: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S2: also in the midst of a computation that hears nothing. The next bot removes its files, and
    none of a bot that lives."""
    code = (
        "import asyncio\n"
        "from bot.library.isolated.pool import isolated\n"
        "from bot.library.isolated.process import IsolatedLimits\n"
        "async def main():\n"
        f"    async with isolated({JOBS!r}, IsolatedLimits(cpu=500, seconds=500)) as process:\n"
        "        print(process.pid, flush=True)\n"
        "        await process.call('compute')\n"
        "asyncio.run(main())\n"
    )
    command = [sys.executable, "-c", code]
    environment: dict[str, Any] = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    environment["TMPDIR"] = str(tmp_path)
    (tmp_path / "another's").mkdir()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as bot:
        assert bot.stdout is not None
        pid = int(bot.stdout.readline())
        time.sleep(0.5)  # into the computation; earlier is as good
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        remove_abandoned_folders()
        assert len([*tmp_path.iterdir()]) == 2
        bot.send_signal(how)
        bot.wait(20)
    asyncio.run(gone(pid))
    remove_abandoned_folders()
    assert [each.name for each in tmp_path.iterdir()] == ["another's"]
