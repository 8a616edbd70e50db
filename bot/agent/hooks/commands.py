"""Commands that operators have run around tools: one before may veto the call, one after looks at the
files that a tool wrote, such as a linter.

What a command prints goes to the model, so that it can correct itself.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator
from typing_extensions import override

from bot.agent.hooks.chain import Hooks, Permission
from bot.core.approvals import canonical
from bot.core.context import current_request
from bot.core.errors import ToolError
from bot.core.run_log import NOTICE, holds_words, run_log
from bot.core.text.redaction import redacted
from bot.services.processes.process_group import process_group
from bot.services.processes.scratch import scratch_folder
from bot.services.tables.tables import PARQUET, clean
from bot.toolkit.artifacts import Artifact, Artifacts
from bot.toolkit.tool import Tool, ToolResult

log = logging.getLogger(__name__)

_FILE = "{file}"
_CALL = "call.json"
_MOST_PRINTED = 4_000
_LONGEST_FILE_NAME = 255
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class Command(BaseModel):
    """A command around the tools whose name fits `tool`, as far as their files fit `files` (patterns
    as in a shell). `run` is a program and its arguments, in which `{file}` stands for the path of the
    file it gets. `timeout` in seconds. `name` is what logs and the model read; by default the
    program's."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(default="", max_length=60, pattern=r"^[^\r\n]*$")
    enabled: bool = True
    tool: str = Field(min_length=1)
    files: str = Field(default="*", min_length=1)
    run: tuple[str, ...] = Field(min_length=1)
    timeout: float = Field(default=10.0, gt=0, le=120)

    def fits(self, tool: Tool) -> bool:
        """Whether the command is for calls of the tool."""
        return self.enabled and fnmatchcase(tool.name, self.tool)


class BeforeToolCommand(Command):
    """One of `[[hooks.before_tool]]` in bot.toml: its file is the call as JSON, with `tool` and
    `arguments`. With an exit code other than 0 the call is not made, and what it printed is why."""


class AfterToolCommand(Command):
    """One of `[[hooks.after_tool]]` in bot.toml: it gets each file that the tool made, and what it
    prints is appended to the tool's output."""

    @field_validator("run")
    @classmethod
    def _names_the_file(cls, run: tuple[str, ...]) -> tuple[str, ...]:
        if not any(_FILE in each for each in run[1:]):
            raise ValueError(f'must be a program and its arguments, one of them with "{_FILE}"')
        return run


class Commands(Hooks):
    """Runs the commands around one run's tools. A command before a call that cannot be run, or takes
    too long, vetoes it: nobody looked at the call. One after it only says so, as the call was
    made."""

    def __init__(
        self,
        before: Sequence[BeforeToolCommand],
        after: Sequence[AfterToolCommand],
        artifacts: Artifacts,
    ) -> None:
        self._before = before
        self._after = after
        self._artifacts = artifacts
        self._began: dict[str, datetime] = {}  # of calls in progress, by their keys

    @override
    async def before_tool(self, tool: Tool, arguments: BaseModel) -> Permission:
        self._began[current_request().idempotency_key] = datetime.now(UTC)
        commands = [each for each in self._before if each.fits(tool)]
        if not commands:
            return None
        call = canonical(arguments)
        names = [name async for name in self._file_names(json.loads(call))]
        data = json.dumps({"tool": tool.name, "arguments": json.loads(call)}).encode()
        for command in commands:
            if command.files == "*" or any(fnmatchcase(name, command.files) for name in names):
                ran = await _run_on_file(command, tool, _CALL, data)
                if ran.code != 0:
                    return f"Not done: {ran.veto(command)}"
        return None

    @override
    async def after_tool(self, tool: Tool, arguments: BaseModel, result: ToolResult) -> str:
        began = self._began.pop(current_request().idempotency_key, None)
        commands = [each for each in self._after if each.fits(tool)]
        said = []
        for handle in dict.fromkeys(result.handles) if commands else ():
            artifact = await self._artifacts.find(handle)
            if began is None or artifact.created >= began:  # what was only read is not looked at
                said += [each async for each in self._check_file(artifact, tool, commands)]
        return "\n".join(filter(None, said))

    async def _check_file(
        self, artifact: Artifact, tool: Tool, commands: Sequence[Command]
    ) -> AsyncIterator[str]:
        name = _file_name(artifact)
        fitting = [each for each in commands if fnmatchcase(name, each.files)]
        data = await self._artifacts.read(artifact.handle) if fitting else b""
        for command in fitting:
            yield (await _run_on_file(command, tool, name, data)).report(command, name)

    async def _file_names(self, arguments: Any) -> AsyncIterator[str]:
        """Yield what may be names of files in a call: its short texts, and the names of the files
        whose handles it holds."""
        for text in _texts(arguments):
            yield PurePosixPath(text.replace("\\", "/")).name
            with suppress(ToolError):
                yield _file_name(await self._artifacts.find(text))


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts in JSON that may name a file."""
    if isinstance(value, str):
        if 0 < len(value) <= _LONGEST_FILE_NAME and "\n" not in value:
            yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)


def _file_name(artifact: Artifact) -> str:
    """Return the artifact's name as a file name; a table is Parquet, whatever it was read from."""
    name = PurePosixPath(clean(artifact.name).replace("\\", "/")).name.strip(". ")[
        -60:
    ]  # of up to four bytes each
    table = artifact.media_type == PARQUET and not name.endswith(".parquet")
    return f"{name or artifact.handle}{'.parquet' if table else ''}"


@dataclass(frozen=True, slots=True)
class _CommandResult:
    """What became of a command: its exit code and what it printed, or why it has none."""

    code: int | None
    printed: str = ""
    trouble: str = ""

    def report(self, command: Command, file: str) -> str:
        """Return what the model reads after a call; "" when the command is content."""
        shown = " ".join(command.run).replace(_FILE, file)
        shown = f"{command.name}: {shown}" if command.name else shown
        if self.trouble:
            return f"[{shown}: {self.trouble}]"
        if not self.printed and not self.code:
            return ""
        return f"[{shown}: exit code {self.code}]\n{self.printed}".rstrip()

    def veto(self, command: Command) -> str:
        """Return why a call is not made."""
        name = _name_of(command)
        if self.trouble:
            return f"{name}, which checks this call, {self.trouble}."
        return self.printed or f"{name} refused it (exit code {self.code})."


def _name_of(command: Command) -> str:
    return command.name or PurePosixPath(command.run[0]).name


async def _run_on_file(command: Command, tool: Tool, name: str, data: bytes) -> _CommandResult:
    """Run a command on `data`, as a file of that name in a folder of its own; log what came out."""
    began = time.monotonic()
    with scratch_folder("hook-") as folder:
        path = folder / name
        try:
            await asyncio.to_thread(path.write_bytes, data)
            async with asyncio.timeout(command.timeout):
                ran = await _run(command, tool, path)
        except TimeoutError:
            ran = _CommandResult(None, trouble=f"stopped after {command.timeout:g} s")
        except OSError:
            log.exception("a command of hooks cannot be run", extra={"run": command.run})
            ran = _CommandResult(None, trouble="could not be run")
    _log(command, tool, ran, time.monotonic() - began)
    return ran


def _log(command: Command, tool: Tool, ran: _CommandResult, seconds: float) -> None:
    how = ran.trouble or f"exit code {ran.code}"
    said = f" · {ran.printed.splitlines()[0]}" if ran.printed and holds_words() else ""
    line = "%s · hook %s around %s · %s, %.1f s%s"
    given = (current_request().run_id, _name_of(command), tool.name, how, seconds, said)
    run_log.log(NOTICE, line, *given)


async def _run(command: Command, tool: Tool, path: Path) -> _CommandResult:
    """Return its exit code, and the beginning of what it printed."""
    arguments = tuple(each.replace(_FILE, str(path)) for each in command.run[1:])
    kept = b""
    async with process_group(
        (command.run[0], *arguments),
        cwd=path.parent,
        env=_environment(path) | {"HOOK_TOOL": tool.name, "HOOK_NAME": _name_of(command)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    ) as process:
        assert process.stdout is not None  # noqa: S101 - which it is by the line above
        while part := await process.stdout.read(65_536):
            kept += part[: max(0, _MOST_PRINTED + 1 - len(kept))]
        code = await process.wait()
    return _CommandResult(code, redacted(_readable(kept, path)))


def _environment(path: Path) -> dict[str, str]:
    """Return where programs are and which file it is, and none of this process's secrets."""
    folder = str(path.parent)
    own = {"HOME": folder, "TMPDIR": folder, "HOOK_FILE": str(path)}
    return {"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", "NO_COLOR": "1"} | own


def _readable(printed: bytes, path: Path) -> str:
    """As text, cut where it is long, with the file called by its name."""
    cut = "\n[… cut]" if len(printed) > _MOST_PRINTED else ""
    text = _COLOUR.sub("", printed[:_MOST_PRINTED].decode("utf-8", "replace"))
    return (clean(text).replace(f"{path.parent}/", "") + cut).strip()
