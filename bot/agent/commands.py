"""Commands that look at what tools wrote: a linter, a validator, a formatter (D10).

What they print is appended to the tool's output, so that the model can correct itself.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import tempfile
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from pydantic import BaseModel, ConfigDict, Field, field_validator
from typing_extensions import override

from bot.agent.hooks import Hooks
from bot.toolkit.artifacts import Artifact, Artifacts
from bot.toolkit.processes import process_group
from bot.toolkit.tables import PARQUET, clean
from bot.toolkit.tool import Tool, ToolResult

log = logging.getLogger(__name__)

_FILE = "{file}"
_MOST_PRINTED = 4_000
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class Command(BaseModel):
    """One of `[[hooks.after_tool]]` in bot.toml: when a tool whose name fits `tool` made an
    artifact whose name fits `files` (patterns as in a shell), `run` gets it as the file `{file}`.
    `timeout` in seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tool: str = Field(min_length=1)
    files: str = Field(default="*", min_length=1)
    run: tuple[str, ...]
    timeout: float = Field(default=10.0, gt=0, le=120)

    @field_validator("run")
    @classmethod
    def _names_the_file(cls, run: tuple[str, ...]) -> tuple[str, ...]:
        if not any(_FILE in each for each in run[1:]):
            raise ValueError(f'must be a program and its arguments, one of them with "{_FILE}"')
        return run


class AfterTool(Hooks):
    """Runs the commands of one run's tools; each artifact is looked at once."""

    def __init__(self, commands: Sequence[Command], artifacts: Artifacts) -> None:
        self._commands = commands
        self._artifacts = artifacts
        self._seen: set[str] = set()

    @override
    async def after_tool(self, tool: Tool, arguments: BaseModel, result: ToolResult) -> str:
        commands = [each for each in self._commands if fnmatchcase(tool.name, each.tool)]
        if not commands:
            return ""
        new = [each for each in result.handles if each not in self._seen]
        self._seen.update(new)
        said = [await self._looked_at(handle, commands) for handle in new]
        return "\n".join(filter(None, said))

    async def _looked_at(self, handle: str, commands: Sequence[Command]) -> str:
        artifact = await self._artifacts.find(handle)
        name = _file_name(artifact)
        fitting = [each for each in commands if fnmatchcase(name, each.files)]
        if not fitting:
            return ""
        data = await self._artifacts.read(handle)
        with tempfile.TemporaryDirectory(prefix="bot-look-", ignore_cleanup_errors=True) as folder:
            path = Path(folder) / name
            await asyncio.to_thread(path.write_bytes, data)
            said = [await _said(command, path) for command in fitting]
        return "\n".join(filter(None, said))


def _file_name(artifact: Artifact) -> str:
    """The artifact's name as that of a file here; a table is Parquet, whatever it was read from."""
    name = PurePosixPath(clean(artifact.name).replace("\\", "/")).name.strip(". ")[
        -60:
    ]  # of up to four bytes each
    table = artifact.media_type == PARQUET and not name.endswith(".parquet")
    return f"{name or artifact.handle}{'.parquet' if table else ''}"


async def _said(command: Command, path: Path) -> str:
    """What one command says of the file; "" when it prints nothing and is content."""
    shown = " ".join(command.run).replace(_FILE, path.name)
    try:
        async with asyncio.timeout(command.timeout):
            code, printed = await _run(command, path)
    except TimeoutError:
        return f"[{shown}: stopped after {command.timeout:g} s]"
    except OSError:
        log.exception("a command of hooks.after_tool cannot be run", extra={"run": command.run})
        return f"[{shown}: could not be run]"
    if not printed and not code:
        return ""
    return f"[{shown}: exit code {code}]\n{printed}".rstrip()


async def _run(command: Command, path: Path) -> tuple[int, str]:
    """Its exit code, and the beginning of what it printed."""
    arguments = tuple(each.replace(_FILE, str(path)) for each in command.run[1:])
    kept = b""
    async with process_group(
        (command.run[0], *arguments),
        cwd=path.parent,
        env=_environment(path.parent),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    ) as process:
        assert process.stdout is not None  # noqa: S101 - which it is by the line above
        while part := await process.stdout.read(65_536):
            kept += part[: max(0, _MOST_PRINTED + 1 - len(kept))]
        code = await process.wait()
    return code, _readable(kept, path)


def _environment(folder: Path) -> dict[str, str]:
    """Where programs are, and none of this process's secrets."""
    home = {"HOME": str(folder), "TMPDIR": str(folder)}
    return {"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", "NO_COLOR": "1"} | home


def _readable(printed: bytes, path: Path) -> str:
    """As text, cut where it is long, with the file called by its name."""
    cut = "\n[… cut]" if len(printed) > _MOST_PRINTED else ""
    text = _COLOUR.sub("", printed[:_MOST_PRINTED].decode("utf-8", "replace"))
    return (clean(text).replace(f"{path.parent}/", "") + cut).strip()
