"""The cases: what is asked, with what at hand, and what must come of it."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    model_validator,
)

from bot.core.outcome import RunStatus
from bot.evals.facts import AnyFact


def _beside(path: Path, info: ValidationInfo) -> Path:
    """A file in the folder of the case; validation is given that as its context."""
    assert isinstance(info.context, Path)  # noqa: S101 - whoever reads cases gives it
    found = info.context / path
    if not found.is_file():
        raise ValueError(f"there is no file {path}")
    return found


Beside = Annotated[Path, AfterValidator(_beside)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Said(_Part):
    """A message that somebody wrote before; without `at`, a minute after the one before it."""

    author: str = Field(min_length=1)
    text: str
    at: datetime | None = None
    files: tuple[Beside, ...] = ()


class Expect(_Part):
    """What a good run does. `used` and `not_used` are names of tools or patterns ("read_*"); a list
    within `used` means one of these. `cites` are parts of titles or addresses of its sources."""

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
    """What a run may take; one that needs more is ended, and has failed. Cost in dollars."""

    turns: int = Field(default=12, ge=1)
    seconds: float = Field(default=180, gt=0)
    cost: float | None = Field(default=None, gt=0)


class Walkthrough(_Part):
    """One way to the answer, played instead of a model to prove that files, tools and checks are
    right. Each call is {tool: {argument: value}}; "$1" in a value is the first handle or id
    that a tool returned. An `answer` is the text of the result, or its fields by name; without one the
    result is what the tools returned. `bot dev --script` plays it as well."""

    calls: tuple[dict[str, dict[str, Any]], ...] = ()
    answer: str | dict[str, Any] | None = None


class Case(_Part):
    """One question; those of `before` are asked first, in the same thread, and only the last answer is
    judged. Files stand beside the file of the case. With `bounded` the run is stopped after
    the first turn in which tools ran: cheap, and enough to see what a model chooses. `canvases` are
    Markdown by channel, `web` excerpts of pages by address, which every search finds."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    question: str = Field(min_length=1)
    before: tuple[str, ...] = ()
    files: tuple[Beside, ...] = ()
    databases: dict[str, Beside] = {}
    thread: tuple[Said, ...] = ()
    channels: dict[str, tuple[Said, ...]] = {}
    canvases: dict[str, str] = {}
    web: dict[str, str] = {}
    response: Literal["Answer", "ThreadSummary", "ActionItems", "DraftReply"] = "Answer"
    response_schema: dict[str, Any] | None = Field(default=None, alias="schema")
    bounded: bool = False
    expect: Expect
    limits: CaseLimits = CaseLimits()
    walkthrough: Walkthrough = Walkthrough()
