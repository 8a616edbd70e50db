"""Words of corrections."""

from __future__ import annotations

from bot.text.translation import Text

CORRECTED = Text("Corrected below")
