"""Texts of refreshes."""

from __future__ import annotations

from bot.text.translation import Plural, Text

REFRESH = Text("Refresh figures")
REFRESH_HINT = Text("Reads them again; only you see what changed")
WORKING = Text("Checking those figures again. Only you see the result.")
BUSY = Text("Those figures were checked just now. Try again in a minute.")
CANNOT = Text("I no longer have the data of that answer. Ask the question again.")
CHANGED = Text("{changed} of {count} changed:")
UNCHANGED = Plural("Nothing changed in {count} figure.", "Nothing changed in {count} figures.")
SAME_BUT = Plural("No change found in {count} figure.", "No change found in {count} figures.")
NOT_READ = Text("{count} could not be read again:")
MORE = Text("and {count} more")
OTHERS = Plural(
    "Not checked: {count} figure that was calculated or read in a text.",
    "Not checked: {count} figures that were calculated or read in a text.",
)
PERIOD = Text(
    "The queries still use these dates: {dates}. For another period, ask the question again."
)
AS_OF = Text("As of {now}. The text of the answer is from {then} and may no longer fit.")
AS_OF_UNCHANGED = Text("As of {now}. The answer is from {then}.")
LAST_GOOD = Text("All figures were last checked {when}.")
POST = Text("Post it in the thread")
POSTED = Text("I posted it in the thread.")
KEEP = Text("Keep it up to date…")
OFTEN = {
    "0 9 * * 1-5": Text("Every weekday at 09:00"),
    "0 9 * * 1": Text("Every Monday at 09:00"),
    "0 9 1 * *": Text("On the 1st of each month at 09:00"),
}
POSTED_FOR = Text("Refreshed for {person}.")
POSTED_SCHEDULED = Text("Refreshed as {person} scheduled.")
NOTHING_TO_POST = Text(
    "This was posted already, or is more than a day old. Refresh the figures again."
)
SCHEDULED = Text(
    "I will check these figures {often} ({time_zone}) with your access. I post here when one of "
    "them has changed. You can cancel this in my Home tab."
)
TOO_MANY = Text("You have {count} schedules already. Cancel one in my Home tab first.")
ENDED = Text("I can no longer check the figures of this answer, so its schedule has ended.")
