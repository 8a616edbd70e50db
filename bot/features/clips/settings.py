"""Settings of clips: `[clips]` in bot.toml."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from bot.core.chain import Usage


class ClipPrice(BaseModel):
    """The price of a transcription in US dollars: a `minute` of sound, or a million tokens of `input`
    and `output`. With a price of a minute tokens cost nothing more."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    minute: float = Field(default=0.0, ge=0)
    input: float = Field(default=0.0, ge=0)
    output: float = Field(default=0.0, ge=0)

    def of(self, seconds: float, usage: Usage) -> float:
        """Return the price in dollars of a transcription of so many seconds."""
        if self.minute:
            return self.minute * seconds / 60
        return (self.input * usage.input_tokens + self.output * usage.output_tokens) / 1_000_000


_KNOWN = {
    "gpt-transcribe": ClipPrice(minute=0.0045),
    "whisper-1": ClipPrice(minute=0.006),
    "gpt-4o-transcribe": ClipPrice(input=6.0, output=10.0),
    "gpt-4o-transcribe-diarize": ClipPrice(input=6.0, output=10.0),
    "gpt-4o-mini-transcribe": ClipPrice(input=3.0, output=5.0),
}
"""Prices of OpenAI's page in November 2026; all input tokens are counted as sound."""


class ClipSettings(BaseModel):
    """How the model service writes down what is said in clips.

    Without a `model` only Slack's own transcripts are read. `price` is needed for models other than
    OpenAI's if a budget is in dollars.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = ""
    price: ClipPrice | None = None

    @property
    def known_price(self) -> ClipPrice | None:
        """The price of the model; None if it is not known."""
        return self.price or _KNOWN.get(self.model)

    @property
    def is_unpriced(self) -> bool:
        """Whether clips are transcribed at a price that is not known."""
        return bool(self.model) and self.known_price is None
