"""A request as a brain sees it: what a real model would see, and nothing else."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .replies import Item

if TYPE_CHECKING:
    from .chains import Stored


@dataclass(frozen=True)
class ModelRequest:
    """One judged request; `input` holds this request's own items, `items` the whole chain's."""

    body: dict[str, Any]
    input: list[Item]
    parent: Stored | None
    tools: list[dict[str, Any]]
    tools_text: str

    @property
    def model(self) -> str:
        """Name of the model asked for."""
        return str(self.body.get("model", ""))

    @property
    def instructions(self) -> str:
        """Instructions of this request; earlier ones are not carried over."""
        return self.body.get("instructions") or ""

    @cached_property
    def items(self) -> list[Item]:
        """All items of the conversation, oldest first."""
        return [*(self.parent.conversation() if self.parent else ()), *self.input]

    @property
    def forced(self) -> str | None:
        """Name of the function that `tool_choice` forces, if it does."""
        choice = self.body.get("tool_choice")
        if isinstance(choice, dict) and choice.get("type") == "function":
            return str(choice["name"])
        return None

    @property
    def stored(self) -> bool:
        """Whether the response is kept (the default)."""
        return self.body.get("store") is not False

    @cached_property
    def text(self) -> str:
        """Everything said in the conversation, instructions included."""
        return "\n".join([self.instructions, *(item_text(item) for item in self.items)])

    @property
    def last_words(self) -> str:
        """The end of the conversation, short enough for an error message."""
        return item_text(self.input[-1])[-120:] if self.input else ""


def item_text(item: Item) -> str:
    """The words of one item."""
    content = item.get("content", item.get("output", item.get("arguments", "")))
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return json.dumps(content, ensure_ascii=False)
    return "\n".join(str(part.get("text", part.get("refusal", ""))) for part in content)
