"""Settings of tracing: `[evidence]` in bot.toml, and per channel."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

EvidenceMode = Literal["off", "measure", "mark", "send_back"]
"""What happens with the claims of an answer: nothing; they are traced and counted; or readers are told
what they rest on too, and what code is sure is wrong goes back to the model once. "send_back" of
earlier releases means "mark"."""

DEFAULT_MODE: EvidenceMode = "mark"


class EvidenceSettings(BaseModel):
    """How answers are traced to what was read. `mode` applies where a channel sets none."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mode: EvidenceMode = DEFAULT_MODE
