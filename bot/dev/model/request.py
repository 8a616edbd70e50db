"""A request as a brain sees it: the same things that a real model would see."""

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
    """A checked request; `input` holds its own items, `items` those of the whole chain."""

    body: dict[str, Any]
    input: list[Item]
    parent: Stored | None
    tools: list[dict[str, Any]]
    tools_text: str

    @property
    def model(self) -> str:
        """The name of the requested model."""
        return str(self.body.get("model", ""))

    @property
    def instructions(self) -> str:
        """The instructions of this request; those of earlier requests are not carried over."""
        return self.body.get("instructions") or ""

    @cached_property
    def items(self) -> list[Item]:
        """All items of the conversation, oldest first."""
        return [*(self.parent.conversation() if self.parent else ()), *self.input]

    @property
    def forced(self) -> str | None:
        """The name of the function that `tool_choice` forces, if any."""
        choice = self.body.get("tool_choice")
        if isinstance(choice, dict) and choice.get("type") == "function":
            return str(choice["name"])
        return None

    @property
    def stored(self) -> bool:
        """Whether the response is stored, which is the default."""
        return self.body.get("store") is not False

    @cached_property
    def text(self) -> str:
        """All text of the conversation, instructions included."""
        return "\n".join([self.instructions, *(item_text(item) for item in self.items)])

    @property
    def last_words(self) -> str:
        """The end of the conversation, short enough for an error message."""
        return item_text(self.input[-1])[-120:] if self.input else ""


def item_text(item: Item) -> str:
    """Return the text of one item."""
    content = item.get("content", item.get("output", item.get("arguments", "")))
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return json.dumps(content, ensure_ascii=False)
    return "\n".join(str(part.get("text", part.get("refusal", ""))) for part in content)
