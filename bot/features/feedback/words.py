"""Words of ratings, and of the form in which an admin tries instructions."""

from __future__ import annotations

from bot.text.translation import Text

GOOD, BAD = Text("Good answer"), Text("Bad answer")
THANKS = Text("Thanks, noted.")
COMMENT_TITLE = Text("What went wrong?")
COMMENT_SUBMIT, COMMENT_SKIP = Text("Send"), Text("Skip")
COMMENT_LABEL = Text("Your comment")
COMMENT_HINT = Text("For example: the figures are from last year")
COMMENT_QUESTION = Text("Your question")
COMMENT_SHOW = Text("The bot's operators may read my question and the answer")
COMMENT_READERS = Text("The bot's operators read your comment and the question.")
COMMENT_PRIVATE = Text(
    "The bot's operators read your comment. They see your question and my answer only if you "
    "tick the box."
)

HOME_INSTRUCTIONS = Text(
    "*Instructions for a channel:* the same as in its settings. Here you can try them on a question first."
)
PICK_CHANNEL = Text("Choose a channel")
TITLE = Text("Instructions")
SAVE, CLOSE = Text("Save"), Text("Close")
INSTRUCTIONS = Text("Instructions for this channel")
TRIED = Text("I tried the instructions for {channel}:")
NOT_TRIED = Text("I could not try the instructions for {channel}. {problem}")
NO_PROPOSALS = Text(
    "I no longer make proposals from ratings. In my Home tab you can choose a channel, and try "
    "instructions for it on a question before you save them."
)
