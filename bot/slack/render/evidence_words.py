"""Texts of *Show evidence*, plain and short."""

from __future__ import annotations

from bot.core.findings import Reason, Unreadable, Verdict
from bot.core.text.translation import Text

TITLE = Text("Evidence")
INTRO = Text(
    "Each of these stands in what I read, or follows from it by plain arithmetic. That it is the right "
    "figure for your question I cannot prove this way."
)
INTRO_UNTRACED = Text(
    "Where a figure or quote stands in what I read, you see the place. That it is the right one for "
    "your question I cannot prove this way. What I could not trace is not necessarily wrong."
)
VERDICTS = {
    Verdict.READ: Text("read"),
    Verdict.WORKED_OUT: Text("worked out"),
    Verdict.NEAR_QUOTE: Text("not word for word"),
    Verdict.UNTRACED: Text("not traced"),
    Verdict.UNKNOWN: Text("not checked"),
}
REASONS = {
    Reason.NOT_FOUND: Text("It is not in what I read, and does not follow from it."),
    Reason.OTHER_UNIT: Text("The number is in what I read, with another unit."),
    Reason.OTHER_SIGN: Text("The number is in what I read, with another sign."),
    Reason.OTHER_ROW: Text("The number is in what I read, but not in that row."),
    Reason.OTHER_SOURCE: Text("These words are in what I read, but not in that source."),
}
UNREADABLE = {
    Unreadable.IMAGES: Text("It may be in an image, which I cannot search."),
    Unreadable.HOSTED: Text(
        "It may be in what the model service looked up or computed itself, which I cannot search."
    ),
    Unreadable.HELPERS: Text("It may be in what a helper read, which was not kept."),
    Unreadable.ACCOUNTS: Text(
        "It may be in what an earlier answer found in somebody's own account."
    ),
    Unreadable.CUT: Text(
        "It may be in an earlier part of this thread, which was too long to search."
    ),
}
NOT_SEARCHED = Text("It could not be looked for.")
WRITTEN = Text("what people wrote here")
THE_THREAD = Text("a message of this thread")
HIDDEN = Text("in a place that you cannot open, or that I could not check now")
CALCULATED = Text("calculated from these")
PAGE, ROW, COLUMN, LINE = (
    Text("page {number}"),
    Text("row {number}"),
    Text("column {name}"),
    Text("line {number}"),
)
MORE_PLACES = Text("and {count} more")
ASKED_FOR = Text("Asked for: ")
PAGE_OF = Text("{page} of {pages}")
BACK, NEXT = Text("Back"), Text("Next")
GONE = Text("I no longer have what this answer rests on.")
NOT_YOURS = Text("Only the person who asked can see what this answer rests on.")
