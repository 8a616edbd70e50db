"""Texts of *Show evidence*, plain and short."""

from __future__ import annotations

from bot.core.findings import Reason, Verdict

TITLE = "Evidence"
INTRO = (
    "Each of these stands in what I read, or follows from it by plain arithmetic. That it is the right "
    "figure for your question I cannot prove this way."
)
INTRO_UNTRACED = (
    "Where a figure or quote stands in what I read, you see the place. That it is the right one for "
    "your question I cannot prove this way. What I could not trace is not necessarily wrong."
)
VERDICTS = {
    Verdict.READ: "read",
    Verdict.WORKED_OUT: "worked out",
    Verdict.NEAR_QUOTE: "not word for word",
    Verdict.UNTRACED: "not traced",
    Verdict.UNKNOWN: "not checked",
}
REASONS = {
    Reason.NOT_FOUND: "It is not in what I read, and does not follow from it.",
    Reason.OTHER_UNIT: "The number is in what I read, with another unit.",
    Reason.OTHER_SIGN: "The number is in what I read, with another sign.",
    Reason.OTHER_ROW: "The number is in what I read, but not in that row.",
    Reason.OTHER_SOURCE: "These words are in what I read, but not in that source.",
}
UNREADABLE = {
    "images": "It may be in an image, which I cannot search.",
    "hosted": "It may be in what the model service looked up or computed itself, which I cannot search.",
    "helpers": "It may be in what a helper read, which was not kept.",
    "accounts": "It may be in what an earlier answer found in somebody's own account.",
    "cut": "It may be in an earlier part of this thread, which was too long to search.",
}
NOT_SEARCHED = "It could not be looked for."
WRITTEN = "what people wrote here"
THE_THREAD = "a message of this thread"
HIDDEN = "in a place that you cannot open, or that I could not check now"
CALCULATED = "calculated from these"
PAGE, ROW, COLUMN, LINE = "page {0}", "row {0}", "column {0}", "line {0}"
MORE_PLACES = "and {count} more"
ASKED_FOR = "Asked for: "
PAGE_OF = "{page} of {pages}"
BACK, NEXT = "Back", "Next"
GONE = "I no longer have what this answer rests on."
NOT_YOURS = "Only the person who asked can see what this answer rests on."
