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

HOME_INSTRUCTIONS = Text("*Instructions for a channel:* try them on a question, then save them.")
PICK_CHANNEL = Text("Choose a channel")
TITLE = Text("Instructions")
SAVE, CLOSE = Text("Save"), Text("Close")
INSTRUCTIONS = Text("Instructions for this channel")
QUESTION = Text("A question to try them on")
MUST_SAY, MUST_NOT_SAY = Text("What the answer must say"), Text("What the answer must not say")
MUST_SAY_HINT = Text("One text or figure per line. A figure counts in any notation.")
MUST_NOT_SAY_HINT = Text("One text or figure per line.")
TRY = Text("Try before and after")
NOTHING_YET = Text(
    "*Try before and after* asks the question twice: with the saved instructions and with yours. "
    "It uses your budget. Nothing changes until you press *Save*."
)
WORKING = Text(":hourglass: Working on it. The result comes here, or to you in a message.")
PROBLEM = ":warning: {problem}"
BEFORE, AFTER = Text("With the saved instructions"), Text("With the new instructions")
PASSES, FAILS = Text("passes"), Text("fails")
COST = Text("This trial cost {cost}.")
TRIED = Text("I tried the instructions for {channel}:")
NOT_TRIED = Text("I could not try the instructions for {channel}. {problem}")
NEEDS_CASE = Text("Write a question here, and below what its answer must or must not say.")
GAVE_UP = Text("This failed several times, so I gave up.")
NO_PROPOSALS = Text(
    "I no longer make proposals from ratings. In my Home tab you can choose a channel, and try "
    "instructions for it on a question before you save them."
)
