"""Texts of approval cards and of the messages around them."""

from __future__ import annotations

PARKED = "Waiting"
WAITS_BEHIND = (
    "I have your question, and answer it once I am done with what was asked in this thread before. "
    "That may take a while; to be answered now, ask me outside this thread."
)
WAITS_FOR_YOUR_DECISION = "I have your question, and answer it once you have decided on the card that waits in this thread."
MENTION_ME = (
    "I am waiting for a decision above, so I do not answer messages here. If a message is for me, "
    "a change for example, mention me."
)
APPROVAL_NEEDED = "Approval needed: {title}"
APPROVAL_ASKED = "{people}, approve this?\n{title}"
APPROVAL_ASKED_DIRECT = "Approve this?\n{title}"
APPROVE, APPROVE_THREAD, DENY = "Approve", "Approve for this thread", "Deny"
SHOW_ALL, SHOW_ALL_TITLE, SHOW_ALL_CLOSE = "Show all", "What would be done", "Close"
DETAILS = "Details"
ARGUMENTS = {
    "at": "When",
    "cron": "When",
    "section": "Part",
}
MENTIONS = ":bell: Mentions {people}."
OTHER_NAMES = "What else begins with @ is plain words and notifies nobody."
MENTIONS_NOBODY = "What begins with @ is plain words here: nobody is notified. People are, where you mention them in your question; whole channels never."
NO_ARGUMENTS = "It takes no details."
EMPTY_VALUE = "(empty)"
CUT_AT = " (beginning; {count:,} characters in all)"
HAS_HIDDEN = " (also holds characters that cannot be seen)"
ASKED_FOR = "{person} asked for it. "
YOU_MAY = "You can decide until {until}. Nothing happens unless you approve."
ONLY_MAY = "Only {people} can decide, until {until}. Nothing happens without approval."
STANDING = (
    "“Approve for this thread” also says yes to more of the same ({tool}, {same}) that {person} "
    "asks for here within {hours}."
)
STANDING_SAME = "same {fields}"
STANDING_ANY = "whatever the details"
VERDICTS = {
    "approved": "Approved by {by}",
    "standing": "Approved for this thread by {by}",
    "denied": ":no_entry: Denied by {by}",
    "expired": ":hourglass: Nobody decided in time, so it was not done",
    "withdrawn": ":black_square_for_stop: Off, and not done: I no longer work on this",
}
MADE = {
    "begun": (":white_check_mark:", ""),
    "done": (":white_check_mark:", ", and done"),
    "failed": (":warning:", ", but it failed: see the answer"),
    "cut_off": (":warning:", ", but I was interrupted: it may be done or not"),
    "never": (":black_square_for_stop:", ", but not done: I had stopped working on it"),
}
SETTLED = {
    "approved": "Approved: {title}",
    "standing": "Approved for this thread: {title}",
    "denied": "Denied: {title}",
    "expired": "Nobody decided in time: {title}",
    "withdrawn": "Not done: {title}",
}
"""The text of a decided card for screen readers and notifications."""
DENIED_BY_ITSELF = ":no_entry: Not done: {why}"
ONLY_THEY_MAY = "Only {people} can decide about this."
YES_TYPED = (
    "To say yes, press *Approve* on the card; it waits as it is. A typed yes could be meant for "
    "something else."
)
ALREADY_DECIDED = "That was decided already{by}."
DECISION_REFUSED = {
    "unknown": "I don't know that question, or not any more.",
    "forbidden": "You cannot decide about this.",
    "changed": "This is not what you were shown, so your press does not count.",
    "decided": "That was decided already.",
    "expired": "It is too late for that: the time to decide is up.",
}
