"""The conversation as the stand-in sees it: turns with their steps, and the tools on offer.

A skill is written as a plain sequence of `view.do(…)`. What was done before is looked up in the
conversation; the first thing that was not ends the skill with `Need`, and becomes the next call.
"""

from __future__ import annotations

import re
from typing import Any, Never

from ..request import ModelRequest
from .conversation import (
    COMPLETE,
    File,
    Step,
    Turn,
    answered_together,
    before_edit,
    open_turns,
    remembered,
    turns_of,
)
from .fill import fill
from .words import has

ACQUIRE = "acquire_tools"
CATALOGUE = re.compile(r"^[-*] (?P<name>\w+): (?P<summary>.+)$", re.M)
GROUP = re.compile(r"^\w+: (?P<names>\w+(?:, \w+)*)$", re.M)


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
        self._turns = answered_together(turns_of(request))
        self.open = open_turns(self._turns)
        self.turn = self.open[-1]
        self.remembered = remembered(request)
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
        return [*before_edit(self._turns[:last], self.turn), self.turn]

    @property
    def text(self) -> str:
        """The question."""
        return self.turn.text

    @property
    def steps(self) -> list[Step]:
        """Every step of the conversation, newest first."""
        return [step for turn in reversed(self.turns) for step in reversed(turn.steps)]

    @property
    def earlier(self) -> list[Step]:
        """The steps before this turn that did something, newest first."""
        own = self.turn.steps
        steps = (
            step
            for turn in reversed(self.turns)
            if turn.steps is not own
            for step in reversed(turn.steps)
        )
        return [step for step in steps if step.tool not in (ACQUIRE, COMPLETE)]

    @property
    def last_answer(self) -> dict[str, Any]:
        """What was answered before this turn, as `complete_task` was given it; {} when nothing was."""
        earlier = (step for turn in reversed(self.turns[:-1]) for step in reversed(turn.steps))
        return next((step.arguments for step in earlier if step.tool == COMPLETE), {})

    @property
    def quoted(self) -> str:
        """The message that was pointed at: with this turn, or before it, where this speaks of "it" and
        no figures were told since."""
        told = self.files or any(step.tool.startswith("query_") for step in self.earlier)
        before = "" if told or not has(self.text, "it|its|they") else self._quoted_before
        return self.turn.quoted or before

    @property
    def _quoted_before(self) -> str:
        return next((turn.quoted for turn in reversed(self.turns[:-1]) if turn.quoted), "")

    @property
    def files(self) -> list[File]:
        """Every file of the conversation, those of the newest message first."""
        return [file for turn in reversed(self.turns) for file in (*turn.files, *turn.above[::-1])]

    @property
    def closing(self) -> bool:
        """Whether the run must end now: it is forced to, or told to and has something to say."""
        notes = " ".join(self.turn.notes[-2:]).lower()
        if self.request.forced == COMPLETE or "complete_task now" in notes:
            return True
        return "complete_task soon" in notes and any(step.output for step in self.turn.steps)

    def knows(self, tool: str) -> bool:
        """Whether that tool is on offer or can be acquired."""
        return tool in self.offered or tool in self.catalogue

    def do(
        self,
        tool: str,
        thought: str,
        *,
        fresh: bool = False,
        also: tuple[str, ...] = (),
        **known: Any,
    ) -> str:
        """The output of calling the tool with what is known of its arguments.

        `fresh` outputs must be of this turn; `also` names tools that will be needed soon. Raises
        `Need` when the call is yet to be made, `Missing` when there is no such tool, `OutOfTurns`
        when the run has to end.
        """
        if tool not in self.offered:
            self._acquire(tool, also)
        arguments = fill(self.offered[tool].get("parameters") or {}, known)
        given = _given(arguments)
        for step in self.turn.steps if fresh else self.steps:
            if step.tool != tool or step.output is None or step.is_cancelled:
                continue
            if _given(step.arguments) == given:
                return step.output
        if self.closing:
            raise OutOfTurns(tool)
        raise Need(tool, arguments, thought)

    def _acquire(self, tool: str, also: tuple[str, ...]) -> Never:
        """Acquire it, or ask for it where not all are listed. Raises as `do` does."""
        steps = [step for step in self.turn.steps if step.tool == ACQUIRE]
        parameters = self.offered.get(ACQUIRE, {}).get("parameters") or {}
        if tool not in self.catalogue:
            words = tool.replace("_", " ")
            tried = any(step.arguments.get("search") == words for step in steps)
            if "search" not in parameters.get("properties", {}) or tried or self.closing:
                raise Missing(tool)
            wanted = {"names": [], "search": words}
            raise Need(ACQUIRE, wanted, f"I look for a tool that can {words}.")
        if any(tool in step.arguments.get("names", ()) for step in steps):
            raise Missing(tool)
        if self.closing:
            raise OutOfTurns(tool)
        names = [tool, *(each for each in also if each in self.catalogue)]
        thought = "I need another tool for this."
        raise Need(ACQUIRE, fill(parameters, {"names": names}), thought)


def _given(arguments: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in arguments.items() if value is not None}
