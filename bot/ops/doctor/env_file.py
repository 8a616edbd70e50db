"""Check of `.env`: names that are almost a setting, most likely misspelt; nothing reads them."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from pydantic_settings import DotEnvSettingsSource

from bot.core.check import Check, warning
from bot.settings import Settings

_ALIKE = 0.85
_OTHERS = "otel_"
"""Names that OpenTelemetry reads; many of them resemble each other."""


def examine_env_file(read: Iterable[str] = ()) -> list[Check]:
    """Warn about misspelt settings, except names of other programs and those that tools `read`."""
    known = Settings.model_fields
    others = DotEnvSettingsSource(Settings).env_vars.keys() - known.keys()
    names = sorted(others - {each.lower() for each in read})
    meant = {
        name: near[0].upper()
        for name in names
        if not name.startswith(_OTHERS) and (near := get_close_matches(name, known, 1, _ALIKE))
    }
    return [
        warning(
            f".env {name.upper()}",
            "is not a setting, so it is ignored",
            f"did you mean {near}?",
        )
        for name, near in meant.items()
    ]
