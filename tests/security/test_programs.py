"""Programs of a model are hostile: nothing leaves, nobody waits, nothing stays (code.md, row 27)."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest

from bot.core.context import bound_request
from bot.core.errors import ToolError
from bot.features.programs.service import IsolatedPrograms
from bot.features.programs.settings import ProgramSettings
from bot.library.isolated import seccomp
from bot.library.isolated.confinement import landlock_version
from bot.testing.artifacts import MemoryArtifacts
from bot.testing.conversation import asked
from bot.toolkit.progress import bound_progress

pytestmark = pytest.mark.skipif(
    not seccomp.is_supported() or landlock_version() < 6, reason="needs a kernel that closes it"
)


def _others_may_run_python() -> bool:
    """Return whether the tests' Python is in folders that another user may enter."""
    path = Path(sys.executable).resolve()
    return all(folder.stat().st_mode & 0o001 for folder in (path, *path.parents))


needs_user = pytest.mark.skipif(not _others_may_run_python(), reason="needs Python for all users")


@pytest.mark.parametrize(
    "where",
    [
        "container",
        pytest.param("", marks=pytest.mark.heavy),
        pytest.param("user", marks=[pytest.mark.heavy, needs_user]),
        pytest.param("user container", marks=[pytest.mark.heavy, needs_user]),
    ],
)
async def test_a_hostile_program_gets_nowhere(where: str) -> None:
    """code: as root, as another user, and where no namespace can be made, 95 programs and native code
    read no file, secret or process, reach no address, and leave nothing for the next."""
    command = (sys.executable, "-m", "tests.support.program_attacks", *where.split())
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    output, _ = await process.communicate()
    found = json.loads(output)
    assert found["worked"] == []
    assert found["unharmed"]
    assert found["tried"] >= 80


async def test_stop_ends_a_program_and_what_it_left() -> None:
    """code, H1: Stop kills the process at once and removes its folder."""
    programs, before = IsolatedPrograms(ProgramSettings()), _left()
    with asked():
        program = "open('big', 'w').write('x')\nwhile True: pass"
        running = asyncio.create_task(programs.run(program, MemoryArtifacts()))
        while _left() == before:  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.02)
        began = time.monotonic()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    assert time.monotonic() - began < 5
    assert _left() == before


def _left() -> set[Path]:
    """Return the files that programs have written and nobody has removed."""
    return set(Path(tempfile.gettempdir()).glob("bot-work-*/job-*/big"))


async def test_one_person_takes_no_place_of_another() -> None:
    """code: who runs several programs waits for their own, and is told so; another goes on."""
    artifacts, programs = (
        MemoryArtifacts(),
        IsolatedPrograms(ProgramSettings(at_once=4, seconds=30)),
    )
    said = list[str]()
    with asked(), bound_progress(lambda text, _: said.append(text)):
        slow = [
            asyncio.create_task(programs.run("import time; time.sleep(20)", artifacts))
            for _ in range(3)
        ]
        while not said:  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.02)
    assert said == ["waits for a free place"]
    with asked() as context:
        other = context.request.model_copy(update={"user": "U2"})
        with bound_request(replace(context, request=other)):
            result = await programs.run("1 + 1", artifacts)
    assert "value\n2" in result.content
    assert not any(task.done() for task in slow)
    for task in slow:
        task.cancel()
    await asyncio.gather(*slow, return_exceptions=True)


async def test_a_long_wait_ends_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """code: who finds no place is told so, and nothing hangs."""
    artifacts, programs = MemoryArtifacts(), IsolatedPrograms(ProgramSettings(at_once=1))
    monkeypatch.setattr(programs, "_share", replace(programs._share, wait=0.2))
    with asked():
        slow = programs.run("import time; time.sleep(20)", artifacts)
        other = programs.run("import time; time.sleep(20)", artifacts)
        tasks = [asyncio.create_task(slow), asyncio.create_task(other)]
    [refused], [running] = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    with pytest.raises(ToolError, match="no place became free"):
        await refused
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
