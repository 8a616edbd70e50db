"""What people are told who may not do something to a rule, or whose rule stopped."""

from __future__ import annotations

from bot.text.translation import Text

OFF = Text("Rules are switched off here.")
NO_RULE = Text("That rule is gone.")
CHANGED = Text("Somebody has changed that rule meanwhile. Please look at it again.")
NOT_YOURS = Text("Only the owner of that rule and admins can do that.")
ONLY_APPROVERS = Text("Only admins, and people they have named for this channel, can do that.")
ONLY_CHANNELS = Text("A rule needs a channel that I am in. Please invite me there first.")
OWNER_ELSEWHERE = Text("The owner of a rule needs to be in its channel.")
TOO_MANY = Text("This channel has {count} rules already. Please remove one first.")
TOO_MUCH = Text(
    "That is more than rules may have here: {hour} runs an hour, {day} a day, and {dollars} a day."
)
APPS_NOT_ALLOWED = Text("Rules may not answer messages of these apps: {apps}")
BAD_PATTERN = Text("The pattern is no regular expression that I can read: {why}")
NOT_WAITING = Text("That rule does not wait for an approval.")

RESTS_LEFT = Text(
    "I paused your rule in {place} (“{text}”), because you are not in that channel. Join it, then resume "
    "the rule in my Home tab."
)
RESTS_REFUSED = Text(
    "I paused your rule in {place} (“{text}”), because you may not ask there. {why}"
)
RESTS_FAILED = Text(
    "I paused your rule in {place} (“{text}”), because it failed {count} times in a row. The last time: "
    "{why}"
)
MADE_OWNER = Text(
    "<@{by}> made you the owner of a rule in {place} (“{text}”). It now runs in your name and on your "
    "budget. You can pause or remove it in my Home tab."
)
CHANGED_BY = Text(
    "<@{by}> changed your rule in {place} (“{text}”). It runs in your name and on your budget. You can "
    "pause or remove it in my Home tab."
)
LEFT_OUT_MANY = Text(
    "Your rule in {place} (“{text}”) has given its answers of the hour or the day, so I leave out other "
    "messages until later. You can raise its limits in my Home tab."
)
LEFT_OUT_MONEY = Text(
    "Your rule in {place} (“{text}”) has spent its dollars of the day, so I leave out other messages until "
    "tomorrow. You can raise its limits in my Home tab."
)
LEFT_OUT_QUESTIONS = Text(
    "Your rule in {place} (“{text}”) leaves out messages about which the small model said nothing: its "
    "questions of the day or a budget are used up, or it did not answer."
)
LEFT_OUT_SLOW = Text(
    "Your rule in {place} (“{text}”) leaves out messages, because its pattern takes too long. You can "
    "make it simpler in my Home tab."
)
