"""`checkpoint_and_restart`: the model summarises a long conversation and starts a new one.

`context_pressure` decides when it is offered.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.agent import prompts
from bot.agent.builtin.complete_task import describe_errors
from bot.agent.calls.outputs import CallOutput
from bot.core.chain import Item
from bot.toolkit.schema import strict_schema
from bot.toolkit.size import Room

NAME = "checkpoint_and_restart"

_DESCRIPTION = (
    "The context is nearly full and there is time to go on: put the conversation away and go on "
    "with a fresh one that holds the request as it was asked, and what you write here. Everything "
    "else is gone then, outputs of tools too; the tools you acquired and saved handles stay. Call "
    "it alone. If little is left to do, call complete_task instead."
)


class Checkpoint(BaseModel):
    """What goes along."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    summary: str = Field(
        min_length=1,
        description="What was asked before in this thread and what you did and found out so far, "
        "with what did not work.",
    )
    key_data: list[str] = Field(
        description="Every number, name, handle, address, date and quotation that the result will "
        "rest on, each with what it is and the source it came from."
    )
    remaining_goals: list[str] = Field(description="What is left to do, in order.")

    @property
    def text(self) -> str:
        """As the model reads it again."""
        data = "\n".join(f"- {fact}" for fact in self.key_data)
        goals = "\n".join(f"- {goal}" for goal in self.remaining_goals)
        return f"{self.summary}\n\nKey data\n{data}\n\nLeft to do\n{goals}"


DEFINITION: dict[str, Any] = {
    "type": "function",
    "name": NAME,
    "description": _DESCRIPTION,
    "parameters": strict_schema(Checkpoint, owner=NAME),
    "strict": True,
}


def answered(call: Item, *, alone: bool, most_tokens: int = 0) -> CallOutput:
    """Return the output of a call. A checkpoint beside other calls is refused, because the model
    has not read their outputs yet. One of more than `most_tokens` (0: any number) loses its middle,
    and says so."""
    if not alone:
        text = "Not done: read the outputs of the calls beside it first, then call it alone."
        return CallOutput(call["call_id"], NAME, text, ok=False)
    try:
        given = Checkpoint.model_validate_json(call["arguments"])
    except ValidationError as error:
        text = f"The checkpoint is not valid:\n{describe_errors(error)}\nCorrect it and call again."
        return CallOutput(call["call_id"], NAME, text, ok=False)
    notes = given.text
    if most_tokens:
        notes = _within(notes, most_tokens)
    text = prompts.checkpoint(notes)
    return CallOutput(call["call_id"], NAME, "Kept. A fresh conversation begins.", restart=text)


def _within(text: str, tokens: int) -> str:
    """Return `text` in about so many tokens. What is too long loses its middle: the end is what is left
    to do."""
    characters = Room(len(text), tokens).characters_of(text)
    if len(text) <= characters:
        return text
    head, tail = characters * 2 // 3, characters // 3
    cut = len(text) - head - tail
    return f"{text[:head]}\n[… {cut:,} characters left out …]\n{text[-tail:]}"
