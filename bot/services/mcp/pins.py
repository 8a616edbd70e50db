"""What a server's tools were when somebody trusted them.

A tool is pinned by all that the model is told of it: name, description, schema, whether it only
reads. When a server says something else, that tool is off until an admin accepts the change: a
description is an instruction to the model, and may have been poisoned since.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict


class ToolFacts(BaseModel):
    """What a server says of one of its tools."""

    model_config = ConfigDict(frozen=True)

    name: str
    description: str = ""
    input_schema: dict[str, Any]
    read_only: bool = False

    @cached_property
    def digest(self) -> str:
        """A short name for exactly these facts."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:12]


class Pin(BaseModel):
    """One tool: what was accepted, and what the server says now where that differs. A tool that
    came later has nothing accepted yet."""

    model_config = ConfigDict(frozen=True)

    accepted: ToolFacts | None = None
    offered: ToolFacts | None = None

    @property
    def usable(self) -> ToolFacts | None:
        """The facts to work with; None while the tool is off."""
        return self.accepted if self.offered is None else None


class ServerPins(BaseModel):
    """The tools of one server, by name."""

    model_config = ConfigDict(frozen=True)

    version: int = 1
    tools: Mapping[str, Pin] = {}

    @classmethod
    def first(cls, listed: Iterable[ToolFacts]) -> ServerPins:
        """The operator named this server: what it lists at first is accepted."""
        return cls(tools={each.name: Pin(accepted=each) for each in listed})

    def against(self, listed: Iterable[ToolFacts]) -> ServerPins:
        """Return these pins, given what the server lists now. A tool that was accepted stays pinned
        when it is not listed any more, as it may come back as another; of one that was not,
        nothing is kept."""
        accepted = {name: pin for name, pin in self.tools.items() if pin.accepted}
        now = {each.name: _pin(self.tools.get(each.name), each) for each in listed}
        return self.model_copy(update={"tools": {**accepted, **now}})

    @property
    def changed(self) -> dict[str, Pin]:
        """The tools that are off until they are accepted."""
        return {name: pin for name, pin in self.tools.items() if pin.offered}

    def accept(self, names: Iterable[str]) -> ServerPins:
        """With what the server offers now of the named tools, each of which `changed`."""
        taken = {name: Pin(accepted=self.tools[name].offered) for name in names}
        return self.model_copy(update={"tools": {**self.tools, **taken}})


def _pin(before: Pin | None, now: ToolFacts) -> Pin:
    accepted = before.accepted if before else None
    return Pin(accepted=accepted, offered=None if now == accepted else now)


class Reach(BaseModel):
    """Whether a server could not be reached when somebody tried last: its tools are known all the
    same, and the process that tells people of it is another."""

    model_config = ConfigDict(frozen=True)

    version: int = 1
    down: bool
    why: str = ""


M = TypeVar("M", bound=BaseModel)


class Pins(Protocol):
    """Where pins, and whether a server can be reached, are kept."""

    async def load(self, name: str, kind: type[M]) -> M | None:
        """What is kept under `name`; None before it was seen. Raises CorruptValue."""

    async def save(self, name: str, value: BaseModel) -> None:
        """Keep it in the place of that before."""
