"""Settings of reactions: `[reactions]` in bot.toml, and `reactions` in the settings of a channel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, StringConstraints

EmojiName = Annotated[str, StringConstraints(pattern=r"^[^\s:A-Z]{1,100}$")]
"""The name of an emoji without its colons, as Slack's events have it."""

Instruction = Annotated[str, StringConstraints(strip_whitespace=True, max_length=3_000)]

Instructions = Mapping[EmojiName, Instruction]
"""What is asked of a message by each emoji; "" asks nothing."""


class ChannelReactions(BaseModel):
    """What the settings of a channel say of the feature, which counts before `[reactions]`."""

    reactions: Instructions = {}
