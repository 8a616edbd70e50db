"""The names in `.env`: one that is nearly a setting is most likely a slip, and nothing reads it."""

from __future__ import annotations

from difflib import get_close_matches

from pydantic_settings import DotEnvSettingsSource

from bot.ops.doctor.findings import Finding, warning
from bot.settings import Settings

_ALIKE = 0.85
_OTHERS = "otel_"
"""Read by OpenTelemetry, and alike among themselves."""


def examine_env_file() -> list[Finding]:
    """Names that belong to other programs are none of our business."""
    known = Settings.model_fields
    names = sorted(DotEnvSettingsSource(Settings).env_vars.keys() - known.keys())
    meant = {
        name: near[0].upper()
        for name in names
        if not name.startswith(_OTHERS) and (near := get_close_matches(name, known, 1, _ALIKE))
    }
    return [
        warning(f".env {name.upper()}", "is no setting, and is not read", f"did you mean {near}?")
        for name, near in meant.items()
    ]
