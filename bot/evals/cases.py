"""Evaluation cases: a question, the material to answer it, and the expected result."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    model_validator,
)

from bot.core.answers import RESPONSE_TYPES
from bot.core.outcome import RunStatus
from bot.evals.facts import AnyFact


def _in_case_folder(path: Path, info: ValidationInfo) -> Path:
    """Return `path` within the folder of the case, which is the context of the validation."""
    assert isinstance(info.context, Path)  # noqa: S101 - `read_cases` passes it
    found = info.context / path
    if not found.is_file():
        raise ValueError(f"there is no file {path}")
    return found


def _response_type(name: str) -> str:
    if name not in RESPONSE_TYPES:
        raise ValueError(f"must be one of {', '.join(RESPONSE_TYPES)}")
    return name


CaseFile = Annotated[Path, AfterValidator(_in_case_folder)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Said(_Part):
    """An earlier message; without `at`, sent a minute after the message before it."""

    author: str = Field(min_length=1)
    text: str
    at: datetime | None = None
    files: tuple[CaseFile, ...] = ()


class Expect(_Part):
    """What a good run does.

    `used` and `not_used` are names or patterns of tools ("read_*"); a list within `used` means any of
    them. `cites` are parts of the titles or addresses of the result's sources.
    """

    status: RunStatus = RunStatus.SUCCESS
    facts: tuple[AnyFact, ...] = ()
    absent: tuple[AnyFact, ...] = ()
    cites: tuple[str, ...] = ()
    used: tuple[str | tuple[str, ...], ...] = ()
    not_used: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _expects_something(self) -> Expect:
        if not (self.facts or self.absent or self.cites or self.used or self.not_used):
            raise ValueError("expects nothing: give facts, absent, cites, used or not_used")
        return self


class CaseLimits(_Part):
    """Limits of a run, which ends and fails beyond them; `cost` is in dollars."""

    turns: int = Field(default=12, ge=1)
    seconds: float = Field(default=180, gt=0)
    cost: float | None = Field(default=None, gt=0)


class Walkthrough(_Part):
    """One way to the answer, played instead of a model to test files, tools and checks.

    Each call is {tool: {argument: value}}; "$1" in a value is the first handle or id that a tool
    returned. `answer` is the text of the result, or its fields by name; without it the result is
    what the tools returned. `bot dev --script` plays walkthroughs, too.
    """

    calls: tuple[dict[str, dict[str, Any]], ...] = ()
    answer: str | dict[str, Any] | None = None


class Case(_Part):
    """One question with its expected answer.

    The questions of `before` are asked first in the same thread; only the last answer is judged.
    Paths of files are relative to the file of the case. With `bounded`, the run stops after the
    first turn in which tools ran: cheap, and enough to see which tools a model chooses. `canvases`
    are Markdown by channel; `web` are excerpts of pages by address, which every search finds.
    `instructions` are those of the channel. A `live` case asks the databases of bot.toml instead of
    its own.
    """

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    question: str = Field(min_length=1)
    before: tuple[str, ...] = ()
    files: tuple[CaseFile, ...] = ()
    databases: dict[str, CaseFile] = {}
    thread: tuple[Said, ...] = ()
    channels: dict[str, tuple[Said, ...]] = {}
    canvases: dict[str, str] = {}
    web: dict[str, str] = {}
    response: Annotated[str, AfterValidator(_response_type)] = "Answer"
    response_schema: dict[str, Any] | None = Field(default=None, alias="schema")
    instructions: str = ""
    live: bool = False
    bounded: bool = False
    expect: Expect
    limits: CaseLimits = CaseLimits()
    walkthrough: Walkthrough = Walkthrough()
