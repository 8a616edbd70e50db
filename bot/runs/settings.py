"""Settings of runs: tables of bot.toml."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, NonNegativeInt

from bot.core.request import Request


class DirectSettings(BaseModel):
    """How direct messages are answered: `[direct]` in bot.toml.

    The first two bound what one knows of those before; 0 switches it off. `profile` is the name of
    the profile that answers, "" for none; unset for that of channels.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    remember_minutes: NonNegativeInt = 240
    remember_tokens: NonNegativeInt = 4_000
    profile: str | None = None

    def remembers(self, request: Request) -> bool:
        """Return whether the exchange of `request` may be handed on to the next direct message."""
        is_on = bool(self.remember_minutes and self.remember_tokens)
        return is_on and request.channel.startswith("D") and not request.private
