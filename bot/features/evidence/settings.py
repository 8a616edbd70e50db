"""Settings of tracing: `[evidence]` in bot.toml. A channel's own mode is in its settings."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from bot.core.findings import ConfiguredMode


class EvidenceSettings(BaseModel):
    """How answers are traced to what was read. `mode` applies where a channel sets none."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mode: ConfiguredMode = "mark"
