"""Texts of refreshes."""

from __future__ import annotations

from bot.text.translation import Plural, Text

REFRESH = Text("Refresh")
WORKING = Text("I am reading the figures of that answer again. Only you will see what I find.")
BUSY = Text(
    "That answer is being refreshed already, or was just now. Please try again in a minute."
)
CANNOT = Text("I no longer have what that answer was made of. Ask again instead.")
CHANGED = Text("{changed} of {count} changed:")
UNCHANGED = Plural("Nothing changed in {count} figure.", "Nothing changed in {count} figures.")
SAME_BUT = Plural("No change found in {count} figure.", "No change found in {count} figures.")
NOT_READ = Text("{count} could not be read again:")
MORE = Text("and {count} more")
OTHERS = Plural(
    "{count} figure that was worked out or read in a text is not refreshed.",
    "{count} figures that were worked out or read in a text are not refreshed.",
)
PERIOD = Text(
    "The queries name these dates and still ask about them: {dates}. Ask again for another period."
)
AS_OF = Text("As of {now}; the answer is of {then}. Its words are unchanged and may no longer fit.")
LAST_GOOD = Text("All figures were last read again {when}.")
POST = Text("Post it in the thread")
KEEP = Text("Keep it up to date…")
OFTEN = {
    "0 9 * * 1-5": Text("Every weekday at 9:00"),
    "0 9 * * 1": Text("Every Monday at 9:00"),
    "0 9 1 * *": Text("On the 1st of each month at 9:00"),
}
POSTED_FOR = Text("Refreshed for {person}.")
POSTED_SCHEDULED = Text("Refreshed as {person} scheduled.")
NOTHING_TO_POST = Text(
    "There is nothing to post any more: it was posted, or is a day old. Press Refresh again."
)
SCHEDULED = Text(
    "I will read the figures again {often} ({time_zone}) in your name, and post here when one of them "
    "changed. Cancel it in my Home tab."
)
TOO_MANY = Text("You have {count} schedules already. Cancel one in my Home tab first.")
ENDED = Text("I can no longer read the figures of this answer again, so its schedule has ended.")
ASK_AGAIN = Text("Ask again")
SCHEDULED_TEXT = Text("Keep the figures up to date: {question}")
