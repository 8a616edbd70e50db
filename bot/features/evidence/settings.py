"""Settings of tracing: `[evidence]` in bot.toml, and `evidence` in the settings of a channel."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict


def _as_mark(mode: Any) -> Any:
    """Read "send_back", a mode of earlier releases, as "mark", which does the same now."""
    return "mark" if mode == "send_back" else mode


EvidenceMode = Literal["off", "measure", "mark"]
"""What happens with the claims of an answer: nothing; they are traced and counted; or readers are told
where they come from too, and what code is sure is wrong goes back to the model once."""

ConfiguredMode = Annotated[EvidenceMode, BeforeValidator(_as_mark)]
"""A mode as bot.toml or a channel's settings have it."""


class ChannelEvidence(BaseModel):
    """What the settings of a channel say of the feature; None for the mode of `[evidence]`."""

    evidence: ConfiguredMode | None = None


class EvidenceSettings(BaseModel):
    """How answers are traced to what was read. `mode` applies where a channel sets none."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mode: ConfiguredMode = "mark"
