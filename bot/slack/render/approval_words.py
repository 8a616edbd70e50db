"""Texts of approval cards and of the messages around them."""

from __future__ import annotations

PARKED = "Waiting"
WAITS_BEHIND = (
    "I have your question and will answer it after the earlier one in this thread. "
    "That may take a while; for an answer now, ask me outside this thread."
)
WAITS_FOR_YOUR_DECISION = (
    "I have your question and will answer it once you decide on the approval card in this thread."
)
WAITS_FOR_YOUR_PRESS = (
    "I have your question and will answer it once you press a button on the card that I sent you."
)
DESTRUCTIVE = ":warning: This may delete or overwrite something."
WAITING_FOR_INPUT = "Waiting for {person} to answer a question."
MENTION_ME = (
    "I am waiting for the decision above, so I do not answer messages here. To tell me something, "
    "such as a change, mention me."
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
RESTORED = (
    "I was restored from a backup of {since}. Check first that this has not been done since then."
)
OTHER_NAMES = "Other @names notify nobody."
MENTIONS_NOBODY = "@names here notify nobody. To notify a person, mention them in your question."
NO_ARGUMENTS = "It takes no details."
EMPTY_VALUE = "(empty)"
CUT_AT = " (beginning; {count:,} characters in all)"
HAS_HIDDEN = " (also contains invisible characters)"
ASKED_FOR = "{person} asked for it. "
YOU_MAY = "You can decide until {until}. Nothing happens unless you approve."
ONLY_MAY = "Only {people} can decide, until {until}. Nothing happens without approval."
STANDING = (
    "“Approve for this thread” also approves more of the same ({tool}, {same}) that {person} "
    "asks for here within {hours}."
)
STANDING_SAME = "same {fields}"
STANDING_ANY = "whatever the details"
VERDICTS = {
    "approved": "Approved by {by}",
    "standing": "Approved for this thread by {by}",
    "denied": ":no_entry: Denied by {by}",
    "expired": ":hourglass: Nobody decided in time, so it was not done",
    "withdrawn": ":black_square_for_stop: Cancelled: the run has ended",
}
MADE = {
    "begun": (":white_check_mark:", ""),
    "done": (":white_check_mark:", ", and done"),
    "failed": (":warning:", ", but it failed: see the answer"),
    "cut_off": (":warning:", ", but I was interrupted: it may or may not be done"),
    "never": (":black_square_for_stop:", ", but not done: the run had ended"),
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
    "To approve, press *Approve* on the card; it is still waiting. A typed “yes” could be meant for "
    "something else."
)
YES_TYPED_DIRECT = "To decide, press a button on the card that I sent you; it is still waiting."
ALREADY_DECIDED = "That was already decided{by}."
DECISION_REFUSED = {
    "unknown": "This approval no longer exists.",
    "forbidden": "You cannot decide about this.",
    "changed": "This call has changed since you saw it. Nothing was approved.",
    "decided": "That was already decided.",
    "expired": "It is too late: the time to decide is up.",
}
