"""All tools, and how the model comes to know them: a few at once, the others on demand (D1)."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import groupby
from typing import Any

from bot.core.errors import ToolDefinitionError
from bot.toolkit.tool import Tool

ACQUIRE = "acquire_tools"
RESERVED = frozenset({ACQUIRE, "complete_task", "checkpoint_and_restart", "dispatch_subagent"})
"""Names that the agent offers itself."""

_DESCRIPTION = """\
Get more tools for this task. Ask for all you will need in one call; they stay available.
The tools that can be acquired, by group:
"""


@dataclass(frozen=True)
class Catalogue:
    """The tools of this deployment. Their order is fixed, so that what a request carries stays
    the same from turn to turn and the service's prompt cache holds."""

    tools: tuple[Tool, ...]

    @classmethod
    def of(cls, tools: Iterable[Tool]) -> Catalogue:
        """Raises ToolDefinitionError when two tools share a name, or one takes a name of ours."""
        ordered = tuple(sorted(tools, key=lambda each: (each.group, each.name)))
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
        return Catalogue.of((*self.tools, *new.values())) if new else self

    def only(self, allowed: Iterable[str] | None) -> Catalogue:
        """The tools whose name or group is `allowed`, `*` standing for any letters; None allows
        all."""
        if allowed is None:
            return self
        patterns = tuple(allowed)
        named = (
            each
            for each in self.tools
            if any(fnmatchcase(each.name, p) or fnmatchcase(each.group, p) for p in patterns)
        )
        return Catalogue(tuple(named))

    @property
    def core(self) -> tuple[Tool, ...]:
        """Those that are always offered."""
        return tuple(each for each in self.tools if each.core)

    def get(self, name: str) -> Tool | None:
        return next((each for each in self.tools if each.name == name), None)

    def near(self, name: str) -> list[str]:
        """Up to three names that `name` may have meant."""
        return difflib.get_close_matches(name, [each.name for each in self.tools], n=3, cutoff=0.4)

    @cached_property
    def always(self) -> tuple[dict[str, Any], ...]:
        """Definitions that every request carries: the core tools and `acquire_tools`."""
        core = tuple(each.definition() for each in self.core)
        return core if len(core) == len(self.tools) else (*core, self.acquire_definition)

    def acquired(self, names: Iterable[str]) -> tuple[dict[str, Any], ...]:
        """Definitions of tools that were asked for, in that order; unknown names are passed over
        (a tool may have gone since)."""
        found = (self.get(name) for name in names)
        return tuple(each.definition() for each in found if each and not each.core)

    @cached_property
    def acquire_definition(self) -> dict[str, Any]:
        """The `acquire_tools` tool; its description lists the rest of the catalogue."""
        others = [each for each in self.tools if not each.core]
        lines = [
            line
            for group, members in groupby(others, key=lambda each: each.group)
            for line in (f"{group}:", *(f"- {each.name}: {each.summary}" for each in members))
        ]
        return {
            "type": "function",
            "name": ACQUIRE,
            "description": _DESCRIPTION + "\n".join(lines),
            "parameters": {
                "type": "object",
                "properties": {
                    "names": {
                        "type": "array",
                        "items": {"type": "string"},
                        "description": "Names from the list above.",
                    }
                },
                "required": ["names"],
                "additionalProperties": False,
            },
            "strict": True,
        }
