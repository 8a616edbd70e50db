"""Pins: the tools of MCP servers as somebody trusted them.

A pin holds everything that the model learns about a tool: name, description, schema, whether it only
reads. When a server changes one of these, the tool is off until an admin accepts the change: a
description is an instruction to the model, and could have been poisoned.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict


class ToolFacts(BaseModel):
    """The description of a tool by its server, or by us (`ours`).

    A `destructive` tool may delete or overwrite something, as its server says. That is a warning
    for people and no part of what is trusted: a server that leaves it out gets no more than before.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    description: str = ""
    input_schema: dict[str, Any]
    read_only: bool = False
    ours: bool = False
    destructive: bool = False

    @cached_property
    def fingerprint(self) -> str:
        """A hash of exactly these facts."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()

    @property
    def digest(self) -> str:
        """A short hash of exactly these facts, for a cache."""
        return self.fingerprint[:12]

    def is_like(self, other: ToolFacts) -> bool:
        """Return whether all that is trusted is the same."""
        return self.model_copy(update={"destructive": other.destructive}) == other


LIST_RESOURCES = ToolFacts(
    name="list_resources",
    description=(
        "List the resources of this server (files, records, documents): the address, name, type and "
        "size of each, 50 at a time."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "Words that the line must hold."},
            "offset": {"type": "integer", "minimum": 0, "description": "Resources to skip."},
        },
        "required": [],
        "additionalProperties": False,
    },
    read_only=True,
    ours=True,
)
READ_RESOURCE = ToolFacts(
    name="read_resource",
    description=(
        "Read a resource of this server by its address, as list_resources or another result gave it. "
        "A file becomes a handle, as with attached files."
    ),
    input_schema={
        "type": "object",
        "properties": {"uri": {"type": "string", "description": "Its whole address."}},
        "required": ["uri"],
        "additionalProperties": False,
    },
    read_only=True,
    ours=True,
)


class Pin(BaseModel):
    """One tool: the `accepted` facts, and those `offered` now if they differ. A tool that was added
    after the first listing has no accepted facts yet."""

    model_config = ConfigDict(frozen=True)

    accepted: ToolFacts | None = None
    offered: ToolFacts | None = None

    @property
    def usable(self) -> ToolFacts | None:
        """The facts to use; None while the tool is off."""
        return self.accepted if self.offered is None else None


class ServerPins(BaseModel):
    """The tools of one server, by name. `shown` are the fingerprints of offers at a personal server
    that the operator has read."""

    model_config = ConfigDict(frozen=True)

    version: int = 1
    tools: Mapping[str, Pin] = {}
    shown: tuple[str, ...] = ()

    @classmethod
    def first(cls, listed: Iterable[ToolFacts]) -> ServerPins:
        """Accept all tools of the first trusted listing: the operator configured the server on
        purpose."""
        return cls(tools={facts.name: Pin(accepted=facts) for facts in listed})

    def against(self, listed: Iterable[ToolFacts], *, trusted: bool = True) -> ServerPins:
        """Return these pins, updated by what the server lists now. An accepted tool stays pinned when
        it is no longer listed, because it may come back changed; others are forgotten.

        A listing that is not `trusted`, of one person's account, changes nothing that is accepted.
        """
        accepted = {name: pin for name, pin in self.tools.items() if pin.accepted}
        now = {facts.name: _pin(self.tools.get(facts.name), facts, trusted) for facts in listed}
        return self.model_copy(update={"tools": {**accepted, **now}})

    @property
    def is_accepted(self) -> bool:
        """Whether somebody has accepted any tool."""
        return any(pin.accepted for pin in self.tools.values())

    @property
    def changed(self) -> dict[str, Pin]:
        """The tools that are off until they are accepted."""
        return {name: pin for name, pin in self.tools.items() if pin.offered}

    def accept(self, names: Iterable[str]) -> ServerPins:
        """Return these pins with the offered facts of the named tools accepted. All must be `changed`."""
        accepted = {name: Pin(accepted=self.tools[name].offered) for name in names}
        return self.model_copy(update={"tools": {**self.tools, **accepted}})


def _pin(before: Pin | None, now: ToolFacts, trusted: bool) -> Pin:
    accepted = before.accepted if before else None
    if accepted and accepted.ours and now.ours:  # the new words are ours too
        return Pin(accepted=now)
    if accepted and accepted.is_like(now):
        return Pin(accepted=now if trusted else accepted)
    return Pin(accepted=accepted, offered=now)


class Reachability(BaseModel):
    """Whether a server was unreachable at the last attempt, and why. It is stored beside the pins,
    because the process that shows it is not the one that tried."""

    model_config = ConfigDict(frozen=True)

    version: int = 1
    down: bool
    why: str = ""


M = TypeVar("M", bound=BaseModel)


class Pins(Protocol):
    """Storage for pins and for the reachability of servers."""

    async def load(self, name: str, kind: type[M]) -> M | None:
        """Return the value stored under `name`, None if there is none. Raises CorruptValue."""

    async def save(self, name: str, value: BaseModel) -> None:
        """Store `value` under `name`, replacing the previous value."""

    async def change(
        self, name: str, kind: type[M], change: Callable[[M | None], M | None]
    ) -> None:
        """Store what `change` makes of the value under `name`, whoever else changes it meanwhile."""
