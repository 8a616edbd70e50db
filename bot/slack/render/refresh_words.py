"""Texts of refreshes."""

from __future__ import annotations

WORKING = "I am reading the figures of that answer again. Only you will see what I find."
BUSY = "That answer is being refreshed already, or was just now. Please try again in a minute."
CANNOT = "I no longer have what that answer was made of. Ask again instead."
CHANGED = "{changed} of {count} changed:"
UNCHANGED = "Nothing changed in {figures}."
SAME_BUT = "No change found in {figures}."
NOT_READ = "{count} could not be read again:"
MORE = "and {count} more"
PERIOD = (
    "The queries name these dates and still ask about them: {dates}. Ask again for another period."
)
AS_OF = "As of {now}; the answer is of {then}. Its words are unchanged and may no longer fit."
LAST_GOOD = "All figures were last read again {when}."
POST = "Post it in the thread"
KEEP = "Keep it up to date…"
OFTEN = {
    "0 9 * * 1-5": "Every weekday at 9:00",
    "0 9 * * 1": "Every Monday at 9:00",
    "0 9 1 * *": "On the 1st of each month at 9:00",
}
POSTED_FOR = "Refreshed for {person}."
POSTED_SCHEDULED = "Refreshed as {person} scheduled."
NOTHING_TO_POST = (
    "There is nothing to post any more: it was posted, or is a day old. Press Refresh again."
)
SCHEDULED = (
    "I will read the figures again {often} ({time_zone}) in your name, and post here when one of them "
    "changed. Cancel it in my Home tab."
)
TOO_MANY = "You have {count} schedules already. Cancel one in my Home tab first."
SCHEDULED_TEXT = "Keep the figures up to date: {question}"
