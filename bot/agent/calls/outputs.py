"""The output of a call, and the step that people see of it."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, replace

from pydantic import BaseModel, ConfigDict

from bot.core.chain import CallRecord, Item
from bot.core.outcome import Rehearsal, StopReason
from bot.toolkit.tool import Tool

ACCEPTED = "Accepted."
"""The output of a `complete_task` call whose result was taken."""

_FOR_THE_MODEL = ("handle: ", "source: ", "id: ")


class Step(BaseModel):
    """A successful call. `title` and `detail` are one line each, for people; `agent` is the id of
    the call that dispatched the sub-agent of the step, "" for a step of the run itself."""

    model_config = ConfigDict(frozen=True)

    tool: str
    title: str
    detail: str = ""
    agent: str = ""


@dataclass(frozen=True, slots=True)
class CallOutput:
    """The output of one call.

    - `result`: set only by a valid `complete_task`; `blocked` and `ends` are verdicts of stop hooks.
    - `cancelled`: a person stopped the run before the call was done.
    - `refused`: the call was not run. `rehearsed`: what the call would have done without dry run.
    - `personal`: the run has read what only the asker may see, so other people see no detail of it.
    - `unknown`: a change may or may not have been made.
    - `restart`: the text with which a fresh chain begins.
    - `mark`: set if the text comes from outside. `note`: our own remark on it.
    - `title`: the call in one line for people, "" if it is not shown. `inner`: a sub-agent's steps.
    - `record`: what the ledger keeps with the output; None for a call that gave nothing."""

    call_id: str
    tool: str
    text: str
    ok: bool = True
    cancelled: bool = False
    blocked: bool = False
    ends: StopReason | None = None
    acquired: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    restart: str = ""
    mark: str = ""
    note: str = ""
    title: str = ""
    inner: tuple[Step, ...] = ()
    refused: bool = False
    rehearsed: Rehearsal | None = None
    personal: bool = False
    unknown: bool = False
    result: BaseModel | None = None
    record: CallRecord | None = None

    @property
    def kept(self) -> CallRecord:
        """Return what the ledger keeps with the output."""
        return self.record or CallRecord(call_id=self.call_id)

    @property
    def steps(self) -> tuple[Step, ...]:
        """Return the successful steps: those of the call's sub-agent, then the call itself."""
        if not (self.ok and self.title) or self.rehearsed:
            return self.inner
        return (*self.inner, self.step)

    @property
    def step(self) -> Step:
        """Return the call as a step, successful or not."""
        return Step(tool=self.tool, title=self.title, detail=self.detail)

    @property
    def detail(self) -> str:
        """Return the first line for people, without the parts that only the model has a use for."""
        if self.personal:
            return ""
        parts = (self.note or self.text).split("\n", 1)[0].removeprefix("result: ").split(" · ")
        return " · ".join(part for part in parts if not part.startswith(_FOR_THE_MODEL))[:200]

    @property
    def frame(self) -> str:
        """Return all of the output but its text: our remark, and the marks around it."""
        return self._framed("")

    def item(self) -> Item:
        """Return the output as the service takes it."""
        output = self._framed(self.text)
        return {"type": "function_call_output", "call_id": self.call_id, "output": output}

    def _framed(self, text: str) -> str:
        marked = mark_as_data(text, self.mark) if self.mark else text
        return f"{self.note}\n{marked}" if self.note else marked


def new_mark() -> str:
    """Return a random code that the author of a text cannot know, and so cannot close the mark."""
    return secrets.token_hex(4)


def mark_for(tool: Tool) -> str:
    """Return the mark for one output of `tool`; "" where the words are ours."""
    return new_mark() if tool.foreign else ""


def mark_as_data(text: str, mark: str) -> str:
    """Return `text` marked as data, as the model's instructions describe it."""
    return f"[data {mark}]\n{text}\n[end of data {mark}]"


_MARK = re.compile(r"\[((?:end of )?data \w+)\]")
_MARKED = re.compile(r"\[data (\w+)\]\n(.*)\n\[end of data \1\]", re.DOTALL)


def without_marks(text: str) -> str:
    """Return `text` so that nothing in it passes for a mark: it may be handed on as if it had any."""
    return _MARK.sub(r"(\1)", text)


def marked_text(text: str, *, anywhere: bool = False) -> str:
    """Return the text between the marks at the end of an output, or `anywhere` in it; "" if there
    is none."""
    found = _MARKED.search(text)
    return found[2] if found and (anywhere or found.end() == len(text)) else ""


def cancelled_result(output: CallOutput) -> CallOutput:
    """Return `output` for a run that was stopped while its result was judged."""
    text = "Cancelled by the user before it was accepted."
    return replace(output, text=text, ok=False, cancelled=True, result=None)


def cancelled_output(call: Item) -> CallOutput:
    """Return the output of a call that a person stopped before it was done."""
    text = "Cancelled by the user before it finished."
    return CallOutput(call["call_id"], call["name"], text, ok=False, cancelled=True)
