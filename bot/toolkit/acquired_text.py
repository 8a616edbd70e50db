"""The text that comes with something that the model acquires."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AcquiredText:
    """A text that enters the conversation when the model acquires its entry of the catalogue, and that is
    put back wherever a chain begins anew (`bot/agent/acquired.py`).

    `Catalogue.text_of` returns it, for a tool and for any entry without a function: whatever the
    catalogue returns one for needs nothing else to be told and kept.

    - `make` returns the text for the services of the run, within `seconds`. It may raise ToolError.
    - `is_data`: it may hold words of others, and is marked as such. Any other text is told as an
      instruction, in the bot's own voice.
    - `digest`: of the text where it is known before; a conversation with another digest is told the
      new text. "" for a text that is made once for each chain.
    """

    make: Callable[[Mapping[type, object]], Awaitable[str]]
    seconds: float = 30.0
    is_data: bool = True
    digest: str = ""
