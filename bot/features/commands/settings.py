"""Settings of commands around tool calls: `[hooks]` in bot.toml."""

from __future__ import annotations

import shutil
from fnmatch import fnmatchcase
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, field_validator

from bot.toolkit.tool import Tool

FILE = "{file}"


class Command(BaseModel):
    """A command around calls of tools that match `tool`, for files that match `files` (glob patterns).

    `run` is a program and its arguments, in which `{file}` is replaced by the path of the file.
    `timeout` is in seconds. Logs and the model read `name`, by default the name of the program.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(default="", max_length=60, pattern=r"^[^\r\n]*$")
    enabled: bool = True
    tool: str = Field(min_length=1)
    files: str = Field(default="*", min_length=1)
    run: tuple[str, ...] = Field(min_length=1)
    timeout: float = Field(default=10.0, gt=0, le=120)

    @property
    def program(self) -> str | None:
        """The path of the program, from the bot's folder or PATH; None if none there can be run."""
        path = shutil.which(self.run[0])
        return path and str(Path(path).absolute())

    def fits(self, tool: Tool) -> bool:
        """Return whether the command runs around calls of the tool."""
        return self.enabled and fnmatchcase(tool.name, self.tool)


class BeforeToolCommand(Command):
    """A command before a call: `[[hooks.before_tool]]` in bot.toml.

    Its file is the call as JSON, with `tool` and `arguments`. A non-zero exit code vetoes the call,
    and its output is the reason that the model reads.
    """


class AfterToolCommand(Command):
    """A command after a call: `[[hooks.after_tool]]` in bot.toml.

    It runs on each file that the tool made; its output is appended to the tool's output.
    """

    @field_validator("run")
    @classmethod
    def _names_the_file(cls, run: tuple[str, ...]) -> tuple[str, ...]:
        if not any(FILE in argument for argument in run[1:]):
            raise ValueError(f'must be a program and its arguments, one of them with "{FILE}"')
        return run


class HookSettings(BaseModel):
    """Commands around tool calls: `[hooks]` in bot.toml."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    before_tool: tuple[BeforeToolCommand, ...] = ()
    after_tool: tuple[AfterToolCommand, ...] = ()
