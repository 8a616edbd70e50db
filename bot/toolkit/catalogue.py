"""All tools, and how the model comes to know them: a few at once, the others on demand (D1)."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import groupby
from typing import Any

from bot.core.errors import ToolDefinitionError
from bot.toolkit import hosted
from bot.toolkit.ranking import Ranking
from bot.toolkit.tool import Tool

ACQUIRE = "acquire_tools"
RESERVED = frozenset({ACQUIRE, "complete_task", "checkpoint_and_restart", "dispatch_subagent"})
"""Names that the agent offers itself."""

_DESCRIPTION = """\
Get more tools for this task. Ask for all you will need in one call; they stay available.
The tools that can be acquired, by group:
"""
_LONG_DESCRIPTION = """\
Get more tools for this task. Ask for all you will need in one call; they stay available.
There are too many to list: search for them, then acquire those you need by name. Some that may fit
are named after each request. The groups, with how many tools each has:
"""
_NAMES = {
    "type": "array",
    "items": {"type": "string"},
    "description": "Names from the list above.",
}
_KNOWN_NAMES = _NAMES | {"description": "Names of tools to acquire; may be []."}
_SEARCH = {
    "type": ["string", "null"],
    "description": "What tools should do or be about, in a few words; their lines are returned.",
}


@dataclass(frozen=True)
class Catalogue:
    """The tools of this deployment. Their order is fixed, so that what a request carries stays
    the same from turn to turn and the service's prompt cache holds. Of more than `listed` tools
    that are not always offered, only the groups are shown. `hosted` are definitions of tools that
    the model service runs itself."""

    tools: tuple[Tool, ...]
    listed: int = 60
    hosted: tuple[dict[str, Any], ...] = ()

    @classmethod
    def of(cls, tools: Iterable[Tool]) -> Catalogue:
        """Raises ToolDefinitionError when two tools share a name, or one takes a name of ours."""
        ordered = _ordered(tools)
        names = [each.name for each in ordered]
        if doubled := {name for name in names if names.count(name) > 1}:
            raise ToolDefinitionError(f"More than one tool is named {', '.join(sorted(doubled))}.")
        if taken := sorted(RESERVED.intersection(names)):
            raise ToolDefinitionError(f"Tool {', '.join(taken)}: the agent itself uses that name.")
        return cls(ordered)

    def joined_by(self, others: Iterable[Tool]) -> Catalogue:
        """With `others`, as far as their names are free."""
        names = {each.name for each in self.tools}
        new = {each.name: each for each in others if each.name not in names}
        return self._with(Catalogue.of(new.values()).tools) if new else self

    def with_own(self, *tools: Tool) -> Catalogue:
        """With `tools` of the agent itself, whose names no other may have."""
        return self._with(tools)

    def with_hosted(self, definitions: tuple[dict[str, Any], ...]) -> Catalogue:
        """With tools that the model service runs itself; each has its type for a name."""
        return replace(self, hosted=definitions)

    def _with(self, tools: Iterable[Tool]) -> Catalogue:
        return replace(self, tools=_ordered((*self.tools, *tools)))

    def only(self, allowed: Iterable[str] | None) -> Catalogue:
        """The tools whose name or group is `allowed`, `*` standing for any letters; None allows
        all."""
        if allowed is None:
            return self
        patterns = tuple(allowed)

        def fits(name: str, group: str) -> bool:
            return any(fnmatchcase(name, p) or fnmatchcase(group, p) for p in patterns)

        return replace(
            self,
            tools=tuple(each for each in self.tools if fits(each.name, each.group)),
            hosted=tuple(each for each in self.hosted if fits(each["type"], hosted.GROUP)),
        )

    def served_by(self, services: Collection[type]) -> Catalogue:
        """The tools that ask for nothing else than these."""
        served = (each for each in self.tools if set(each.services.values()) <= set(services))
        return replace(self, tools=tuple(served))

    def has(self, allowed: str) -> bool:
        """Whether a name, a group or a pattern fits any tool."""
        fitting = self.only([allowed])
        return bool(fitting.tools or fitting.hosted)

    def listing(self, most: int) -> Catalogue:
        """These tools, of which up to `most` are listed."""
        return self if most == self.listed else replace(self, listed=most)

    @property
    def core(self) -> tuple[Tool, ...]:
        """Those that are always offered."""
        return tuple(each for each in self.tools if each.core)

    def get(self, name: str) -> Tool | None:
        return self._by_name.get(name)

    def near(self, name: str) -> list[str]:
        """Up to three names that `name` may have meant."""
        return difflib.get_close_matches(name, [each.name for each in self.tools], n=3, cutoff=0.4)

    @cached_property
    def always(self) -> tuple[dict[str, Any], ...]:
        """Definitions that every request carries: the core tools, what the service runs itself, and
        `acquire_tools`."""
        core = (*(each.definition() for each in self.core), *self.hosted)
        return (*core, self.acquire_definition) if self._others else core

    def acquired(self, names: Iterable[str]) -> tuple[dict[str, Any], ...]:
        """Definitions of tools that were asked for, in that order; unknown names are passed over
        (a tool may have gone since)."""
        found = (self.get(name) for name in names)
        return tuple(each.definition() for each in found if each and not each.core)

    @property
    def is_long(self) -> bool:
        """Whether there are too many tools for a line of each."""
        return len(self._others) > self.listed

    @cached_property
    def acquire_definition(self) -> dict[str, Any]:
        """The `acquire_tools` tool; its description lists the rest of the catalogue."""
        if not self.is_long:
            lines = [
                line
                for group, members in groupby(self._others, key=lambda each: each.group)
                for line in (f"{group}:", *(each.line for each in members))
            ]
            return _acquire_tools(_DESCRIPTION + "\n".join(lines), names=_NAMES)
        sizes = Counter(each.group for each in self._others)
        groups = ", ".join(f"{name} ({size})" for name, size in sizes.items())
        return _acquire_tools(_LONG_DESCRIPTION + groups, names=_KNOWN_NAMES, search=_SEARCH)

    def search(self, words: str, most: int) -> list[Tool]:
        """Up to `most` tools that are not always offered, those that fit `words` best first."""
        return [self._others[place] for place in self._ranking.best(words, most)]

    @cached_property
    def _others(self) -> tuple[Tool, ...]:
        return tuple(each for each in self.tools if not each.core)

    @cached_property
    def _by_name(self) -> dict[str, Tool]:
        return {each.name: each for each in self.tools}

    @cached_property
    def _ranking(self) -> Ranking:
        return Ranking(
            [
                ((each.name, 3), (each.summary, 2), (each.group, 2), (each.description, 1))
                for each in self._others
            ]
        )


def _ordered(tools: Iterable[Tool]) -> tuple[Tool, ...]:
    return tuple(sorted(tools, key=lambda each: (each.group, each.name)))


def _acquire_tools(description: str, **properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "function",
        "name": ACQUIRE,
        "description": description,
        "parameters": {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        },
        "strict": True,
    }
