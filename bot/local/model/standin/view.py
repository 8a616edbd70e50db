"""The conversation as the stand-in sees it: turns with their steps, and the tools on offer.

A skill is written as a plain sequence of `view.do(…)`. What was done before is looked up in the
conversation; the first thing that was not ends the skill with `Need`, and becomes the next call.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Never

from ..request import ModelRequest, item_text
from .fill import fill
from .words import content, overlap

ACQUIRE = "acquire_tools"
COMPLETE = "complete_task"
HEADER = re.compile(r"^\[(?P<author>.+?) (?:asks|replies|says) in (?P<place>.+?), .+?\]\s*")
FILE = re.compile(r"^- (?P<name>.+?) \(file_id (?P<id>[^,)]+)(?:, (?P<type>[^,)]+))?.*\)$", re.M)
QUOTED = re.compile(r"^About this message:\n((?:>.*\n?)+)", re.M)
CUT = re.compile(r"\[The message was [\d,]+ characters long; [^\]]*\]\s*$")
CATALOGUE = re.compile(r"^[-*] (?P<name>\w+): (?P<summary>.+)$", re.M)
GROUP = re.compile(r"^\w+: (?P<names>\w+(?:, \w+)*)$", re.M)
_MARKS = re.compile(r"\[data (\w+)\]\n(.*)\n\[end of data \1\]", re.DOTALL)
REMEMBERED = "[Remembered from other conversations"
AGAIN = re.compile(r"\(You have answered this before.*?\)\s*", re.S)
CANCELLED = re.compile(r"\ACancelled\b", re.IGNORECASE)
EDITED = re.compile(r"\(This is an edit of what was asked before.*?\)\s*", re.S)
ALSO_ACQUIRED = 1.5
MOST_ACQUIRED = 4


@dataclass(frozen=True, slots=True)
class File:
    """A file that a message lists."""

    id: str
    name: str


@dataclass(slots=True)
class Step:
    """A call and, once it was answered, its output."""

    tool: str
    arguments: dict[str, Any]
    output: str | None = None

    @property
    def is_cancelled(self) -> bool:
        """Whether somebody stopped it: then its output is none."""
        return bool(CANCELLED.match(self.output or ""))


@dataclass(slots=True)
class Turn:
    """What a person said, and what was done about it. `notes` come from the program itself;
    `edited` says that it takes the place of what was asked before."""

    text: str
    quoted: str = ""
    files: list[File] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    edited: bool = False

    @property
    def is_over(self) -> bool:
        """Whether it was answered, or stopped."""
        stopped = any(step.is_cancelled for step in self.steps)
        return stopped or bool(self.steps and self.steps[-1].tool == COMPLETE)


class Need(Exception):
    """The next call to make."""

    def __init__(self, tool: str, arguments: dict[str, Any], thought: str) -> None:
        super().__init__(tool)
        self.tool = tool
        self.arguments = arguments
        self.thought = thought


class Missing(Exception):
    """No tool for this is on offer, nor in the catalogue."""


class OutOfTurns(Exception):
    """The run has to end before the next call."""


class View:
    """One request, read. `open` are the turns that wait for an answer, `turn` the one looked at."""

    def __init__(self, request: ModelRequest) -> None:
        self.request = request
        self._turns = _turns(request)
        self.open = _open(self._turns)
        self.turn = self.open[-1]
        self.offered = {tool["name"]: tool for tool in request.tools if "name" in tool}
        self.catalogue = {
            name: summary for name, summary in self._listed().items() if name not in self.offered
        }

    def _listed(self) -> dict[str, str]:
        """The tools that can be acquired: where they are many the description names them at most,
        and what some do stands in notes and in what a search found."""
        described = self.offered.get(ACQUIRE, {}).get("description", "")
        notes = (note for turn in self._turns for note in turn.notes if ACQUIRE in note)
        steps = (step for turn in self._turns for step in turn.steps if step.tool == ACQUIRE)
        told = "\n".join((described, *notes, *(step.output or "" for step in steps)))
        named = ", ".join(GROUP.findall(described)).split(", ")
        return {name: name for name in named if name} | dict(CATALOGUE.findall(told))

    @property
    def turns(self) -> list[Turn]:
        """The conversation up to the turn that is looked at."""
        last = next(n for n, turn in enumerate(self._turns) if turn is self.turn)
        return self._turns[: last + 1]

    @property
    def text(self) -> str:
        """The question."""
        return self.turn.text

    @property
    def steps(self) -> list[Step]:
        """Every step of the conversation, newest first."""
        return [step for turn in reversed(self.turns) for step in reversed(turn.steps)]

    @property
    def files(self) -> list[File]:
        """Every file of the conversation, those of the newest message first."""
        return [file for turn in reversed(self.turns) for file in turn.files]

    @property
    def closing(self) -> bool:
        """Whether the run must end now: it is forced to, or told to and has something to say."""
        notes = " ".join(self.turn.notes[-2:]).lower()
        if self.request.forced == COMPLETE or "complete_task now" in notes:
            return True
        return "complete_task soon" in notes and any(step.output for step in self.turn.steps)

    def knows(self, role: str) -> bool:
        """Whether a tool for `role` is on offer or can be acquired."""
        return self._resolve(role) is not None

    def do(
        self,
        role: str,
        thought: str,
        *,
        fresh: bool = False,
        also: tuple[str, ...] = (),
        **known: Any,
    ) -> str:
        """The output of calling the tool for `role` with what is known of its arguments.

        `fresh` outputs must be of this turn; `also` names roles that will be needed soon. Raises
        `Need` when the call is yet to be made, `Missing` when there is no such tool, `OutOfTurns`
        when the run has to end.
        """
        name = self._resolve(role) or self._search(role)
        if name not in self.offered:
            self._acquire(name, also)
        arguments = fill(self.offered[name].get("parameters") or {}, known)
        given = _given(arguments)
        for step in self.turn.steps if fresh else self.steps:
            if step.tool != name or step.output is None or step.is_cancelled:
                continue
            if _given(step.arguments) == given:
                return step.output
        if self.closing:
            raise OutOfTurns(role)
        raise Need(name, arguments, thought)

    def _search(self, role: str) -> Never:
        """Ask which tools there are for `role`, where they are not all listed. Raises `Need`."""
        parameters = self.offered.get(ACQUIRE, {}).get("parameters") or {}
        words = role.replace("_", " ")
        tried = (step.arguments.get("search") for step in self.turn.steps if step.tool == ACQUIRE)
        if "search" not in parameters.get("properties", {}) or words in tried or self.closing:
            raise Missing(role)
        raise Need(ACQUIRE, {"names": [], "search": words}, f"I look for a tool that can {words}.")

    def _acquire(self, name: str, also: tuple[str, ...]) -> None:
        tried = [step for step in self.turn.steps if step.tool == ACQUIRE]
        if any(name in step.arguments.get("names", ()) for step in tried):
            raise Missing(name)
        if self.closing:
            raise OutOfTurns(name)
        soon = [
            found for role in also if (found := self._resolve(role)) in self.catalogue and found
        ]
        names = list(dict.fromkeys([name, *soon, *self._also(name)]))
        parameters = self.offered[ACQUIRE].get("parameters") or {}
        thought = f"For this I need {' and '.join(names)}, which I have to ask for first."
        raise Need(ACQUIRE, fill(parameters, {"names": names}), thought)

    def _also(self, name: str) -> list[str]:
        """Other tools of the catalogue that the words of the question speak of."""
        asked = content(self.text)
        scores = {
            other: 2 * overlap(asked, content(other)) + overlap(asked, content(summary)) / 2
            for other, summary in self.catalogue.items()
            if other != name
        }
        ranked = sorted(scores, key=lambda other: -scores[other])
        return [other for other in ranked if scores[other] >= ALSO_ACQUIRED][:MOST_ACQUIRED]

    def _resolve(self, role: str) -> str | None:
        names = [*self.offered, *self.catalogue]
        if role in names:
            return role
        near = get_close_matches(role, names, n=1, cutoff=0.75)
        return near[0] if near else None


def _given(arguments: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in arguments.items() if value is not None}


def _turns(request: ModelRequest) -> list[Turn]:
    turns: list[Turn] = []
    calls: dict[str, Step] = {}
    for item in request.items:
        kind, role = item.get("type", "message"), item.get("role")
        if kind == "message" and role == "user":
            if not item_text(item).startswith(REMEMBERED):
                turns.append(_read(item_text(item)))
        elif not turns:
            turns.append(Turn(""))
        if kind == "message" and role in ("developer", "system"):
            turns[-1].notes.append(item_text(item))
        elif kind == "function_call":
            step = Step(item["name"], _arguments(item["arguments"]))
            calls[item["call_id"]] = step
            turns[-1].steps.append(step)
        elif kind == "function_call_output" and item["call_id"] in calls:
            calls[item["call_id"]].output = _MARKS.sub(r"\2", item_text(item))
    return turns or [Turn("")]


def _open(turns: list[Turn]) -> list[Turn]:
    """What was said since the last answer, or since it was edited: with the steps in common."""
    first = len(turns) - 1
    while first and not turns[first - 1].is_over and not turns[first].edited:
        first -= 1
    waiting = turns[first:]
    steps = [step for turn in waiting for step in turn.steps]
    notes = [note for turn in waiting for note in turn.notes]
    for turn in waiting:
        turn.steps, turn.notes = steps, notes
    return waiting


def _arguments(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _read(text: str) -> Turn:
    """A user's message, taken apart into words, quotation and files."""
    text = HEADER.sub("", text, count=1)
    files = [File(found["id"], found["name"]) for found in FILE.finditer(text)]
    text = FILE.sub("", text).replace("Attached files:", "")
    text, edits = EDITED.subn("", AGAIN.sub("", CUT.sub("", text)))
    quoted = QUOTED.search(text)
    said = "\n".join(line.lstrip("> ") for line in quoted[1].splitlines()) if quoted else ""
    return Turn(QUOTED.sub("", text).strip(), said, files, edited=bool(edits))
