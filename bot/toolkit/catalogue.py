"""The catalogue of tools: core tools are in every request, the model acquires others on demand.

Tool definitions cost context, so a request carries only those that the model needs.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import groupby, islice
from typing import Any

from pydantic_core import to_json

from bot.core.errors import ToolDefinitionError
from bot.toolkit import hosted
from bot.toolkit.acquired_text import AcquiredText
from bot.toolkit.offering import INPUTS, Input, asks_for
from bot.toolkit.ranking import Ranking
from bot.toolkit.skill import GROUP, Skill
from bot.toolkit.tool import Tool

ACQUIRE = "acquire_tools"
RESERVED = frozenset({ACQUIRE, "complete_task", "checkpoint_and_restart", "dispatch_subagent"})
"""Names of tools that the agent itself provides."""

_CLEARLY = 1.0
"""Lowest score of a tool for a hint: the score of one word that no other tool has."""

_MOST_HINTS = 4
_MOST_OFFERED = 1_200  # bytes of definitions: a first request stays small

_LISTED = (
    "More tools, by group. Call one by its name if you know its arguments: it runs, or its schema "
    "comes back. Or get the schemas of all that you will need here, in one call.\n"
)
_COUNTED = (
    "More tools: search for what they do, then get them here by name, all in one call. Groups:\n"
)
_SKILLS = "skills, which say how work is done here: get the one that fits before you begin.\n"
_PROPERTIES = {
    "names": {"type": "array", "items": {"type": "string"}},
    "search": {
        "type": ["string", "null"],
        "description": "Words for what a tool should do.",
    },
}


@dataclass(frozen=True)
class Catalogue:
    """The tools of this deployment, in a fixed order so that the service's prompt cache holds.

    `acquire_tools` names up to `listed` tools by their groups, and `skills` with the beginning of their
    descriptions; if more than that are not core, it only counts them. `hosted` are the definitions of
    tools that the model service runs itself.
    """

    tools: tuple[Tool, ...]
    listed: int = 100
    hosted: tuple[dict[str, Any], ...] = ()
    skills: tuple[Skill, ...] = ()

    @classmethod
    def of(cls, tools: Iterable[Tool]) -> Catalogue:
        """Return a catalogue. Raises ToolDefinitionError for a duplicate or reserved name."""
        ordered = _ordered(tools)
        names = [tool.name for tool in ordered]
        if doubled := {name for name in names if names.count(name) > 1}:
            places = {tool.place for tool in ordered if tool.name in doubled}
            raise ToolDefinitionError(
                f"More than one tool is named {', '.join(sorted(doubled))}, in "
                f"{' and in '.join(sorted(places))}. Rename one of them."
            )
        if taken := sorted(RESERVED.intersection(names)):
            places = {tool.place for tool in ordered if tool.name in taken}
            raise ToolDefinitionError(
                f"Tool {', '.join(taken)} in {' and in '.join(sorted(places))}: the agent itself uses "
                "that name."
            )
        return cls(ordered)

    def needing(self, services: Mapping[type, str]) -> dict[str, str]:
        """Return the text of each tool that asks for one of these `services`, by the tool's name."""
        return {
            tool.name: services[kind]
            for tool in self.tools
            for kind in tool.services.values()
            if kind in services
        }

    def joined_by(self, others: Iterable[Tool]) -> Catalogue:
        """Return a catalogue that also has those of `others` whose names are free."""
        names = {tool.name for tool in self.tools}
        new = {tool.name: tool for tool in others if tool.name not in names}
        return self._with(Catalogue.of(new.values()).tools) if new else self

    def with_own(self, *tools: Tool) -> Catalogue:
        """Return a catalogue that also has `tools`, the agent's own, whose names are reserved."""
        return self._with(tools)

    def with_hosted(self, definitions: tuple[dict[str, Any], ...]) -> Catalogue:
        """Return a catalogue with `definitions` of hosted tools; the type of each is its name."""
        return replace(self, hosted=definitions)

    def with_skills(self, skills: Iterable[Skill]) -> Catalogue:
        """Return a catalogue that also has those of `skills` whose names are free."""
        names = {*RESERVED, *self._names}
        new = {skill.name: skill for skill in reversed([*skills]) if skill.name not in names}
        ordered = sorted((*self.skills, *new.values()), key=lambda skill: skill.name)
        return replace(self, skills=tuple(ordered)) if new else self

    def _with(self, tools: Iterable[Tool]) -> Catalogue:
        return replace(self, tools=_ordered((*self.tools, *tools)))

    def only(self, allowed: Iterable[str] | None) -> Catalogue:
        """Return the tools and skills whose name or group matches a pattern of `allowed`, in which `*`
        matches any letters and `a&b` what matches both, and the tools that these skills bring; None
        allows all. The name of a tool that is gone allows the one that replaces it."""
        if allowed is None:
            return self
        patterns = [pattern.split("&") for pattern in allowed]
        every_part = {part for parts in patterns for part in parts}

        def fits(name: str, group: str) -> bool:
            fitting = {  # each part once: a profile in a limited channel has thousands of patterns
                part
                for part in every_part
                if fnmatchcase(name, part) or fnmatchcase(group, part) or self.now(part) == name
            }
            return any(fitting.issuperset(parts) for parts in patterns)

        skills = tuple(skill for skill in self.skills if fits(skill.name, GROUP))
        brought = _brought(skills)
        return replace(
            self,
            tools=tuple(t for t in self.tools if t.name in brought or fits(t.name, t.group)),
            hosted=tuple(
                definition for definition in self.hosted if fits(definition["type"], hosted.GROUP)
            ),
            skills=skills,
        )

    def served_by(self, services: Collection[type]) -> Catalogue:
        """Return the tools that ask for no other services than these."""
        offered = set(services)
        served = (tool for tool in self.tools if offered.issuperset(tool.services.values()))
        return replace(self, tools=tuple(served))

    def without(self, names: Collection[str]) -> Catalogue:
        """Return the tools with other names than these."""
        return replace(self, tools=tuple(tool for tool in self.tools if tool.name not in names))

    def has(self, allowed: str) -> bool:
        """Return whether the name, group or pattern `allowed` matches any tool or skill, or a tool that
        is gone."""
        fitting = self.only([allowed])
        gone = any(fnmatchcase(name, allowed) for name in self._replacements)
        return bool(gone or fitting.tools or fitting.hosted or fitting.skills)

    def listing(self, most: int) -> Catalogue:
        """Return the same tools, up to `most` of which are listed by name."""
        return self if most == self.listed else replace(self, listed=most)

    @property
    def core(self) -> tuple[Tool, ...]:
        """The tools that every request carries."""
        return tuple(tool for tool in self.tools if tool.core)

    def get(self, name: str) -> Tool | None:
        return self._by_name.get(name)

    def now(self, name: str) -> str:
        """Return the name of the tool that replaces one that is gone; other names as they are."""
        tool = self._replacements.get(name)
        return tool.name if tool else name

    def names_of(self, name: str) -> list[str]:
        """Return the name of a tool, and those of the tools that it replaces."""
        tool = self.get(name)
        return [name, *(tool.replaces if tool else ())]

    def missing(self, name: str) -> str:
        """Return a sentence on a tool that does not exist: what replaces it, or similar names; "" if
        there are none."""
        if tool := self._replacements.get(name):
            return f"There is no tool {name} any more. Call {tool.name}: {tool.replaces[name]}"
        near = ", ".join(self.near(name))
        return f"There is no tool {name}. Similar names: {near}." if near else ""

    def skill(self, name: str) -> Skill | None:
        return next((skill for skill in self.skills if skill.name == name), None)

    def text_of(self, name: str) -> AcquiredText | None:
        """Return the text that comes with what the model acquires under this name; None without one."""
        entry = self.get(name) or self.skill(name)
        return entry.acquired_text if entry else None

    def near(self, name: str) -> list[str]:
        """Return up to three names of tools and skills that are similar to `name`."""
        return difflib.get_close_matches(name, self._names, n=3, cutoff=0.4)

    @cached_property
    def always(self) -> tuple[dict[str, Any], ...]:
        """Definitions that every request carries: core tools, hosted tools and `acquire_tools`."""
        core = (*(tool.definition() for tool in self.core), *self.hosted)
        return (*core, self.acquire_definition) if self._entries else core

    def acquired(self, names: Iterable[str]) -> tuple[dict[str, Any], ...]:
        """Return the definitions of tools that the model acquired, in the order of `names`.

        Names that are unknown by now are skipped: a tool may have been removed since.
        """
        acquired = (self.get(name) for name in names)
        return tuple(tool.definition() for tool in acquired if tool and not tool.core)

    @property
    def is_listed(self) -> bool:
        """Whether `acquire_tools` names every tool and skill; if not, the model searches them."""
        return len(self._entries) <= self.listed

    @cached_property
    def acquire_definition(self) -> dict[str, Any]:
        """The `acquire_tools` tool; its description lists the rest of the catalogue."""
        groups = {
            group: [tool.name for tool in members]
            for group, members in groupby(self._others, key=lambda each: each.group)
        }
        if self.is_listed:
            lines = [f"{group}: {', '.join(names)}" for group, names in groups.items()]
            if self.skills:
                lines.append(_SKILLS + "\n".join(skill.listed for skill in self.skills))
            return _acquire_tools(_LISTED + "\n".join(lines))
        sizes = [f"{group} ({len(names)})" for group, names in groups.items()]
        sizes += [f"{GROUP} ({len(self.skills)})"] if self.skills else []
        return _acquire_tools(_COUNTED + ", ".join(sizes))

    def search(self, words: str, most: int) -> list[Tool | Skill]:
        """Return up to `most` tools that are not core and skills that match `words`, the best first."""
        return [self._entries[place] for place in self._ranking.best(words, most)]

    def hints(self, words: str) -> list[Tool | Skill]:
        """Return up to four tools and skills that clearly match what a person wrote, the best first.

        A tool that changes something must share more than one word with the text.
        """
        fitting = (
            self._entries[match.place]
            for match in self._ranking.matches(words)
            if match.score >= _CLEARLY
            and (match.words > 1 or not _mutates(self._entries[match.place]))
        )
        return list(islice(fitting, _MOST_HINTS))

    def offers(self, words: str, inputs: Collection[Input]) -> list[str]:
        """Return the names of up to four tools that a request plainly needs: those whose act a person's
        `words` name, then those that only read and work on one of the `inputs`."""
        asked = [tool for tool in self._others if asks_for(words, tool.asked_as)]
        fitting = [*asked, *(self.get(name) for name in self.readers_of(inputs))]
        offered, room = dict[str, None](), _MOST_OFFERED
        for tool in filter(None, fitting):
            size = len(to_json(tool.definition()))
            if tool.name not in offered and size <= room and len(offered) < _MOST_HINTS:
                offered[tool.name], room = None, room - size
        return [*offered]

    def readers_of(self, inputs: Collection[Input]) -> tuple[str, ...]:
        """Return the names of the tools that only read and work on one of these, in the order of
        `INPUTS`."""
        present = (kind for kind in INPUTS if kind in inputs)
        return tuple(dict.fromkeys(name for kind in present for name in self._readers[kind]))

    @cached_property
    def _readers(self) -> dict[Input, list[str]]:
        readers = [tool for tool in self._others if not tool.mutates]
        return {
            kind: [tool.name for tool in readers if kind in tool.offered_with] for kind in INPUTS
        }

    @property
    def _names(self) -> list[str]:
        return [*(tool.name for tool in self.tools), *(skill.name for skill in self.skills)]

    @cached_property
    def _others(self) -> tuple[Tool, ...]:
        brought = _brought(self.skills)
        return tuple(tool for tool in self.tools if not tool.core and tool.name not in brought)

    @cached_property
    def _entries(self) -> tuple[Tool | Skill, ...]:
        return (*self._others, *self.skills)

    @cached_property
    def _by_name(self) -> dict[str, Tool]:
        return {tool.name: tool for tool in self.tools}

    @cached_property
    def _replacements(self) -> dict[str, Tool]:
        replaced = {name: tool for tool in self.tools for name in tool.replaces}
        return {name: tool for name, tool in replaced.items() if name not in self._by_name}

    @cached_property
    def _ranking(self) -> Ranking:
        return Ranking([entry.words for entry in self._entries])


def _brought(skills: Iterable[Skill]) -> frozenset[str]:
    """Return the names of the tools that are offered with these skills alone."""
    return frozenset(name for skill in skills for name in skill.brings)


def _mutates(entry: Tool | Skill) -> bool:
    return isinstance(entry, Tool) and entry.mutates


def _ordered(tools: Iterable[Tool]) -> tuple[Tool, ...]:
    return tuple(sorted(tools, key=lambda each: (each.group, each.name)))


def _acquire_tools(description: str) -> dict[str, Any]:
    return {
        "type": "function",
        "name": ACQUIRE,
        "description": description,
        "parameters": {
            "type": "object",
            "properties": _PROPERTIES,
            "required": list(_PROPERTIES),
            "additionalProperties": False,
        },
        "strict": True,
    }
