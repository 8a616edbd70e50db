"""Settings of runs: tables of bot.toml."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, NonNegativeInt

from bot.core.request import Request


class DirectSettings(BaseModel):
    """What a direct message knows of the ones before: `[direct]` in bot.toml; 0 switches it off."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    remember_minutes: NonNegativeInt = 240
    remember_tokens: NonNegativeInt = 4_000

    def remembers(self, request: Request) -> bool:
        """Return whether the exchange of `request` may be handed on to the next direct message."""
        is_on = bool(self.remember_minutes and self.remember_tokens)
        return is_on and request.channel.startswith("D") and not request.private
