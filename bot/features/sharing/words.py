"""Words of sharing."""

from __future__ import annotations

from bot.text.translation import Text

CANNOT_SHARE = Text("I no longer have that answer. Please ask again.")
SHARING = Text(
    "Posting it in the thread. If it is not there in two minutes, press the button again."
)
SHARE = Text("Post it in the thread")
SHARE_HINT = Text("Everybody there sees this answer, with your name")
POST_DRAFT = Text("Post in thread")
POST_TITLE = Text("Post this?")
POST_TEXT = Text(
    "I post the text of the block in the thread, unchanged. It is my message, with your name below."
)
ONLY_ASKER = Text("Only <@{person}> can post this draft.")
