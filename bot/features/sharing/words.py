"""Words of sharing."""

from __future__ import annotations

from bot.text.translation import Text

CANNOT_SHARE = Text("I no longer have that answer. Please ask again.")
SHARING = Text(
    "Posting it in the thread. If it is not there in two minutes, please press the button again."
)
SHARE = Text("Post it in the thread")
