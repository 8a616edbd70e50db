"""Texts of *Show evidence*, plain and short."""

from __future__ import annotations

from bot.library.tracing.findings import Reason, Unreadable
from bot.text.translation import Text

SHOW = Text("Show evidence")
TITLE = Text("Evidence")
INTRO = Text(
    "This shows where each figure and quote comes from, not that it is the right one for your "
    "question."
)
NOT_FOUND = Text("Not found in what I read")
NEAR_QUOTE = Text("not word for word")
WORKED_OUT = Text("worked out")
REASONS = {
    Reason.OTHER_UNIT: Text("found with another unit"),
    Reason.OTHER_SIGN: Text("found with another sign"),
    Reason.OTHER_ROW: Text("found in another row"),
    Reason.OTHER_SOURCE: Text("found in another source"),
    Reason.NOTHING_READ: Text("nothing was looked up"),
}
UNREADABLE = {
    Unreadable.IMAGES: Text("It may be in an image, which I cannot search."),
    Unreadable.HOSTED: Text(
        "It may be in what the model service looked up or computed itself, which I cannot search."
    ),
    Unreadable.HELPERS: Text("It may be in what a sub-task read, which was not kept."),
    Unreadable.ACCOUNTS: Text(
        "It may be in what an earlier answer found in somebody's own account."
    ),
    Unreadable.CUT: Text(
        "It may be in an earlier part of this thread, which was too long to search."
    ),
}
NOT_SEARCHED = Text("I could not search for it.")
WRITTEN = Text("what people wrote here")
THE_THREAD = Text("messages of this thread")
MESSAGE = Text("message")
PASSAGE = Text("passage")
HIDDEN = Text("in a place that I cannot show you right now")
PAGE, ROW, COLUMN, LINE = (
    Text("page {number}"),
    Text("row {number}"),
    Text("column {name}"),
    Text("line {number}"),
)
MORE_PLACES = Text("and {count} more")
PAGE_OF = Text("{page} of {pages}")
BACK, NEXT = Text("Back"), Text("Next")
GONE = Text("I no longer have the evidence of this answer.")
NOT_YOURS = Text("Only the person who asked can see the evidence of this answer.")
CHANNEL_EVIDENCE = Text("Note about figures and quotes")
MODES = {
    "off": Text("No note"),
    "measure": Text("No note, only counted for the operator"),
    "mark": Text("Where they come from, and clear errors"),
}
