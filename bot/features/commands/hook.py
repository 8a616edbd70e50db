"""Operators' commands around tool calls: before a call to veto it, after a call to check its files.

The model reads what a command prints, such as a linter's findings, and can correct itself.
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

from pydantic import BaseModel
from typing_extensions import override

from bot.agent.hooks.chain import Hooks, Permission
from bot.core.approvals import canonical
from bot.core.context import current_request
from bot.core.errors import ToolError
from bot.core.run_log import NOTICE, holds_words, run_log
from bot.features.commands.settings import FILE, AfterToolCommand, BeforeToolCommand, Command
from bot.library.documents.cells import clean
from bot.library.isolated.process_group import process_group
from bot.library.isolated.scratch import scratch_folder
from bot.text.redaction import redacted
from bot.toolkit.provided.artifacts import Artifact, Artifacts
from bot.toolkit.provided.tables import TABLE_TYPE
from bot.toolkit.tool import Tool, ToolResult

log = logging.getLogger(__name__)

_CALL = "call.json"
_MOST_PRINTED = 4_000
_LONGEST_FILE_NAME = 255
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class Commands(Hooks):
    """A hook that runs the operator's commands around the tool calls of one run.

    A command before a call vetoes it when the command fails to start or times out, because nothing
    has checked the call. A command after a call only reports such a failure.
    """

    def __init__(
        self,
        before: Sequence[BeforeToolCommand],
        after: Sequence[AfterToolCommand],
        artifacts: Artifacts,
    ) -> None:
        self._before = before
        self._after = after
        self._artifacts = artifacts
        self._began: dict[str, datetime] = {}  # start of each call in progress, by idempotency key

    @override
    async def before_tool(self, tool: Tool, arguments: BaseModel) -> Permission:
        self._began[current_request().idempotency_key] = datetime.now(UTC)
        commands = [command for command in self._before if command.fits(tool)]
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
        commands = [command for command in self._after if command.fits(tool)]
        reports = []
        for handle in dict.fromkeys(result.handles) if commands else ():
            artifact = await self._artifacts.find(handle)
            if (
                began is None or artifact.created >= began
            ):  # files that the tool only read are not checked
                reports += [report async for report in self._check_file(artifact, tool, commands)]
        return "\n".join(filter(None, reports))

    async def _check_file(
        self, artifact: Artifact, tool: Tool, commands: Sequence[Command]
    ) -> AsyncIterator[str]:
        name = _file_name(artifact)
        fitting = [command for command in commands if fnmatchcase(name, command.files)]
        data = await self._artifacts.read(artifact.handle) if fitting else b""
        for command in fitting:
            yield (await _run_on_file(command, tool, name, data)).report(command, name)

    async def _file_names(self, arguments: Any) -> AsyncIterator[str]:
        """Yield possible file names in a call: its short texts, and the names behind its handles."""
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
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def _file_name(artifact: Artifact) -> str:
    """Return the artifact's name as a file name; a table is Parquet, whatever it was read from."""
    name = PurePosixPath(clean(artifact.name).replace("\\", "/")).name.strip(". ")[
        -60:
    ]  # of up to four bytes each
    table = artifact.media_type == TABLE_TYPE and not name.endswith(".parquet")
    return f"{name or artifact.handle}{'.parquet' if table else ''}"


@dataclass(frozen=True, slots=True)
class _CommandResult:
    """The result of a command: its exit code and output, or in `trouble` why it has none."""

    code: int | None
    printed: str = ""
    trouble: str = ""

    def report(self, command: Command, file: str) -> str:
        """Return what the model reads after a call; "" when the command has no complaint."""
        shown = " ".join(command.run).replace(FILE, file)
        shown = f"{command.name}: {shown}" if command.name else shown
        if self.trouble:
            return f"[{shown}: {self.trouble}]"
        if not self.printed and not self.code:
            return ""
        return f"[{shown}: exit code {self.code}]\n{self.printed}".rstrip()

    def veto(self, command: Command) -> str:
        """Return the reason for a veto, which the model reads."""
        name = _name_of(command)
        if self.trouble:
            return f"{name}, which checks this call, {self.trouble}."
        return self.printed or f"{name} refused it (exit code {self.code})."


def _name_of(command: Command) -> str:
    return command.name or PurePosixPath(command.run[0]).name


async def _run_on_file(command: Command, tool: Tool, name: str, data: bytes) -> _CommandResult:
    """Run a command on `data`, as a file `name` in a temporary folder, and log its result."""
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
    result = ran.trouble or f"exit code {ran.code}"
    output = f" · {ran.printed.splitlines()[0]}" if ran.printed and holds_words() else ""
    line = "%s · hook %s around %s · %s, %.1f s%s"
    values = (current_request().run_id, _name_of(command), tool.name, result, seconds, output)
    run_log.log(NOTICE, line, *values)


async def _run(command: Command, tool: Tool, path: Path) -> _CommandResult:
    """Run the program. Return its exit code and the beginning of its output."""
    arguments = tuple(argument.replace(FILE, str(path)) for argument in command.run[1:])
    kept = b""
    async with process_group(
        (command.program or command.run[0], *arguments),
        cwd=path.parent,
        env=_environment(path) | {"HOOK_TOOL": tool.name, "HOOK_NAME": _name_of(command)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    ) as process:
        assert process.stdout is not None  # noqa: S101 - set by stdout=PIPE
        while part := await process.stdout.read(65_536):
            kept += part[: max(0, _MOST_PRINTED + 1 - len(kept))]
        code = await process.wait()
    return _CommandResult(code, redacted(_readable(kept, path)))


def _environment(path: Path) -> dict[str, str]:
    """Return a minimal environment, without the secrets of this process."""
    folder = str(path.parent)
    own = {"HOME": folder, "TMPDIR": folder, "HOOK_FILE": str(path)}
    return {"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", "NO_COLOR": "1"} | own


def _readable(printed: bytes, path: Path) -> str:
    """Return the output as text: truncated, and without the path of the temporary folder."""
    cut = "\n[… cut]" if len(printed) > _MOST_PRINTED else ""
    text = _COLOUR.sub("", printed[:_MOST_PRINTED].decode("utf-8", "replace"))
    return (clean(text).replace(f"{path.parent}/", "") + cut).strip()
