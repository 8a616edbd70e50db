"""Words around the questions of the model."""

from __future__ import annotations

from bot.slack.ui import approval_words
from bot.text.translation import Text

ELSE = Text("Something else…")
ANSWER = Text("Answer…")
SEND = Text("Send")
CHOOSE = Text("Choose at least one option, or press “Something else…”.")

FORM_TITLE = Text("Your answer")
CLOSE = Text("Not now")
NO_WORDS = Text("Write your answer first.")

WAITING = Text("Waiting for {person} to answer.")
WAITS_FOR_YOUR_ANSWER = Text("I have your question and will answer it once you answer mine.")
ANSWERED = Text(":white_check_mark: Answered by {by}")
VERDICTS = {
    "denied": Text(":fast_forward: I go on without an answer"),
    "expired": Text(":hourglass: Nobody answered in time. I assume: {otherwise}"),
    "withdrawn": approval_words.VERDICTS["withdrawn"],
}
