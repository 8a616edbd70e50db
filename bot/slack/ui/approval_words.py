"""Texts of approval cards and of the messages around them."""

from __future__ import annotations

from bot.text.translation import Plural, Text

PARKED = Text("Waiting for {person} to decide")
PARKED_FOR_OTHERS = Text("Waiting for a decision on the card")
WAITS_BEHIND = Text(
    "I have your question and will answer it after the earlier one in this thread. That may take "
    "a while. For an answer now, ask me outside this thread."
)
WAITS_FOR_YOUR_DECISION = Text(
    "I have your question and will answer it once you decide on the approval card in this thread."
)
WAITS_FOR_YOUR_PRESS = Text(
    "I have your question and will answer it once you press a button on the card that I sent you."
)
DESTRUCTIVE = Text(":warning: This may delete or overwrite something.")
RULE_ASKS = Text("A rule of {person} asks for this, set off by <{url}|a message> in {channel}.")
MENTION_ME = Text(
    "I am waiting for the decision above and do not answer messages here. To change something, "
    "mention me."
)
APPROVAL_NEEDED = Text("Approval needed: {title}")
APPROVAL_ASKED = Text("{people}, approve this?\n{title}")
APPROVAL_ASKED_DIRECT = Text("Approve this?\n{title}")
APPROVE, APPROVE_THREAD, DENY = Text("Approve"), Text("Approve for this thread"), Text("Deny")
SHOW_ALL, SHOW_ALL_TITLE, SHOW_ALL_CLOSE = (
    Text("Show all"),
    Text("What would be done"),
    Text("Close"),
)
DETAILS = Text("Details")
ARGUMENTS = {
    "apps": Text("These apps, too"),
    "at": Text("When"),
    "canvas": Text("Canvas"),
    "change": Text("Kind of change"),
    "channel": Text("Channel"),
    "comment": Text("Comment"),
    "compact": Text("Shortened"),
    "content": Text("Content"),
    "cron": Text("When"),
    "emoji": Text("Emoji"),
    "handle": Text("What is shared"),
    "id": Text("ID"),
    "instruction": Text("What I do then"),
    "kind": Text("Kind"),
    "limit": Text("At most"),
    "name": Text("Name"),
    "people": Text("These people"),
    "query": Text("Search for"),
    "question": Text("Question to a small model"),
    "recent": Text("Not older than"),
    "remind": Text("Reminder only"),
    "section": Text("Part"),
    "sheets": Text("Sheets"),
    "site": Text("Website"),
    "text": Text("Text"),
    "thread": Text("Thread"),
    "title": Text("Title"),
    "url": Text("Address"),
    "where": Text("Where"),
    "words": Text("Words"),
}
"""The labels of the arguments of our own tools that people may be asked to approve."""
SERVERS_WORDS = Text("Names and labels here are those of the server {server}, in its own words.")
A_CHANNEL = Text("a channel")
HOURS = Plural("{count} hour", "{count} hours")
MENTIONS = Text(":bell: Mentions {people}.")
RESTORED = Text(
    "I was restored from a backup of {since}. Check first that this has not been done since then."
)
OTHER_NAMES = Text("Other @names notify nobody.")
MENTIONS_NOBODY = Text(
    "@names here notify nobody. To notify a person, mention them in your question."
)
NO_ARGUMENTS = Text("No details.")
EMPTY_VALUE = Text("(empty)")
CUT_AT = Text(" (beginning; {count} characters in all)")
HAS_HIDDEN = Text(" (also contains invisible characters)")
ASKED_FOR = Text("{person} asked for it. ")
YOU_MAY = Text("You can decide until {until}. Nothing happens unless you approve.")
ONLY_MAY = Text("Only {people} can decide, until {until}. Nothing happens without approval.")
STANDING = Text(
    "“Approve for this thread” also approves more like this ({same}) that {person} asks for here "
    "within {hours}."
)
STANDING_SAME = Text("same: {fields}")
PEOPLE_MENTIONED = Text("people mentioned")
STANDING_ANY = Text("whatever the details")
VERDICTS = {
    "denied": Text(":no_entry: Denied by {by}"),
    "expired": Text(":hourglass: Nobody decided in time, so it was not done"),
    "withdrawn": Text(":black_square_for_stop: Cancelled: work on this question has ended"),
}
_APPROVED = {
    "begun": Text(":white_check_mark: Approved by {by}"),
    "done": Text(":white_check_mark: Approved by {by}. Done."),
    "failed": Text(":warning: Approved by {by}. It failed: see the answer."),
    "cut_off": Text(":warning: Approved by {by}. I was interrupted: check whether it was done."),
    "never": Text(
        ":black_square_for_stop: Approved by {by}. Not done: work on the question had ended."
    ),
}
_STANDING = {
    "begun": Text(":white_check_mark: Approved for this thread by {by}"),
    "done": Text(":white_check_mark: Approved for this thread by {by}. Done."),
    "failed": Text(":warning: Approved for this thread by {by}. It failed: see the answer."),
    "cut_off": Text(
        ":warning: Approved for this thread by {by}. I was interrupted: check whether it was done."
    ),
    "never": Text(
        ":black_square_for_stop: Approved for this thread by {by}. Not done: work on the question "
        "had ended."
    ),
}
ALLOWED = {"approved": _APPROVED, "standing": _STANDING}
"""What became of an approved call, by the verdict and how far the call came."""
SETTLED = {
    "approved": Text("Approved: {title}"),
    "standing": Text("Approved for this thread: {title}"),
    "denied": Text("Denied: {title}"),
    "expired": Text("Nobody decided in time: {title}"),
    "withdrawn": Text("Not done: {title}"),
}
"""The text of a decided card for screen readers and notifications."""
DENIED_BY_ITSELF = Text(":no_entry: Not done: {why}")
ONLY_THEY_MAY = Text("Only {people} can decide about this.")
YES_TYPED = Text(
    "To approve, press *Approve* on the card. A typed “yes” could be meant for something else."
)
YES_TYPED_DIRECT = Text("To decide, press a button on the card that I sent you.")
DECIDED_BY = Text("That was already decided by <@{person}>.")
DECISION_REFUSED = {
    "unknown": Text("This approval no longer exists."),
    "forbidden": Text("You cannot decide about this."),
    "changed": Text("Nothing was approved: this is no longer the call that you saw. Ask again."),
    "decided": Text("That was already decided."),
    "expired": Text("It is too late: the time to decide is up."),
}
