"""A job: what people do, what the model does about it, and what comes of that. Jobs are YAML files."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, model_validator

from bot.evals.cases import AnyFact, CaseFile

PEOPLE = ("ada", "ben", "chloe", "gus", "eve")
FILES = Path(__file__).parents[1] / "evals"
"""The folder of the files that jobs attach: those of the evaluation cases."""

Call = tuple[str, dict[str, Any]]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


def _as_turn(value: Any) -> Any:
    """Return a turn from its short form: {tool: arguments}, or a list of those in one response."""
    if isinstance(value, list):
        return {"calls": value}
    if isinstance(value, dict):
        own = {key: value[key] for key in value if key in Turn.model_fields}
        calls = [{key: value[key]} for key in value if key not in own]
        return own | {"calls": [*own.get("calls", ()), *calls]}
    return value


class Turn(_Part):
    """What the model does in one response, as a strong model would with what it is offered.

    Tools that it cannot call yet are acquired first. `answer` is the result, as text or by its
    fields; with `beside` it stands in one response with the calls before it where `complete_task`
    permits that. `text` is prose without a call. `ask` is a question to the person, with options.
    `first_of` are turns of which the first is taken whose tools there are. `meanwhile` is what
    people do before the response arrives.
    """

    calls: tuple[dict[str, dict[str, Any]], ...] = ()
    answer: str | dict[str, Any] | None = None
    beside: bool = False
    text: str | None = None
    ask: dict[str, Any] | None = None
    first_of: tuple[AnyTurn, ...] = ()
    meanwhile: tuple[AnyAct, ...] = ()

    @cached_property
    def called(self) -> list[Call]:
        """The calls, each a name with its arguments."""
        return [item for call in self.calls for item in call.items()]


AnyTurn = Annotated[Turn, BeforeValidator(_as_turn)]


def _as_act(value: Any) -> Any:
    """Return an act from its short form, in which a name stands before what that person says."""
    if isinstance(value, dict):
        for name in PEOPLE:
            if name in value:
                rest = {key: value[key] for key in value if key != name}
                return rest | {"by": name, "say": value[name]}
    return value


class Act(_Part):
    """What one person does, and what is seen then.

    A message goes to the thread that was begun, unless `fresh`; the first one of a channel mentions
    the bot unless `mention` says otherwise. `press` is the label of a button in the newest message
    that has it; `edit` and `delete` concern the person's newest message; `shortcut` the newest
    message of the place; `submit` the open form. `step` are the inputs of a workflow's step.

    `model` are the turns that follow. `sees` are facts that `who` (else the actor) then finds in
    what the bot has shown them; `never` are facts that stand nowhere there. With `below`, the newest
    message of the conversation is the bot's. With `optional`, there may be no such button, and the
    model need not be asked.
    """

    by: str = "ada"
    say: str | None = None
    files: tuple[CaseFile, ...] = ()
    place: str | None = None
    fresh: bool = False
    mention: bool | None = None
    press: str | None = None
    edit: str | None = None
    delete: bool = False
    react: str | None = None
    shortcut: str | None = None
    command: str | None = None
    submit: dict[str, Any] | None = None
    step: dict[str, Any] | None = None
    home: bool = False
    schedules_fire: bool = False
    model: tuple[AnyTurn, ...] = ()
    who: str | None = None
    sees: tuple[AnyFact, ...] = ()
    never: tuple[AnyFact, ...] = ()
    below: bool = False
    optional: bool = False


AnyAct = Annotated[Act, BeforeValidator(_as_act)]


class Expect(_Part):
    """Bounds of the whole job: model calls, input tokens and requests to Slack at most; the `tools`
    that run, in order, without `acquire_tools` and `complete_task`."""

    calls: int | None = None
    tokens: int | None = None
    slack: int | None = None
    tools: tuple[str, ...] | None = None


class Job(_Part):
    """One job. `place` is a channel or "dm"; `before` are messages of people there or, by `in`,
    elsewhere; `people` are changes of people by name; `settings` are those of the bot; `beside` are
    servers that run beside it. `quick` jobs are the short form of the suite."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    rows: tuple[str, ...] = ()
    place: str = "sales"
    quick: bool = False
    before: tuple[AnyAct, ...] = ()
    people: dict[str, dict[str, Any]] = {}
    settings: dict[str, Any] = {}
    databases: dict[str, CaseFile] = {}
    beside: tuple[Literal["library", "searches"], ...] = ()
    canvases: dict[str, str] = {}
    acts: tuple[AnyAct, ...]
    expect: Expect = Expect()

    @model_validator(mode="after")
    def _begins(self) -> Job:
        if not self.acts:
            raise ValueError("nobody does anything")
        return self


Turn.model_rebuild()
Act.model_rebuild()
_JOBS = TypeAdapter(list[Job])


def read_jobs(folder: Path = Path(__file__).parent) -> list[Job]:
    """Return the jobs of all files of a folder, in the order of names of files."""
    return list(_read(sorted(folder.glob("*.yaml"))))


class _Loader(yaml.SafeLoader):
    """YAML in which a date is the text that it looks like."""


_Loader.add_constructor("tag:yaml.org,2002:timestamp", lambda _, node: node.value)


def _read(files: Iterable[Path]) -> Iterable[Job]:
    for file in files:
        read = yaml.load(file.read_text("utf-8"), _Loader)
        yield from _JOBS.validate_python(read, context=FILES)
