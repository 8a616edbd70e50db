"""Words of the step."""

from __future__ import annotations

from bot.text.translation import Text

COSTLY_SCHEMA = Text(
    "The input “JSON schema” takes too long to check. Make it simpler, or leave it empty for an "
    "ordinary answer."
)
NO_JSON = Text("The input “JSON schema” is not valid JSON. Leave it empty for an ordinary answer.")
