"""Words of rules: in the Home tab, its forms and cards, and what people are told of a rule."""

from bot.features.triggers.rules import Rest, RuleState
from bot.text.translation import Plural, Text

TITLE = Text("Rules")
NEW_TITLE = Text("New rule")
HOME_HINT = Text(
    "A rule has me answer by myself when somebody posts something in a channel. An admin approves it "
    "first."
)
HOME_WAITING = Text("*Rules that wait for your approval:*")
HOME_ALL = Text("*Rules of all channels:*")
MORE = Text("{count} more are not shown here.")
IN_CHANNEL = Text("*Rules in this channel,* which you find in the Home tab:")
OPEN = Text("Open")
IN_FORM, ANSWER, REST = Text("Rules here"), Text("They answer"), Text("They rest")

SAYS = Text("When {who} posts {what} in {channel}: {instruction}")
SAYS_HERE = Text("When {who} posts {what} here: {instruction}")
ANYBODY, SOMETHING = Text("anybody"), Text("something")
APP = Text("the app {name}")
QUOTED = Text("“{text}”")
MATCHING = Text("text that matches {pattern}")
BOTH = Text("{words} in {matching}")

STATES = {
    RuleState.WAITING: Text("waits for approval"),
    RuleState.ON: Text("on"),
    RuleState.PAUSED: Text("paused"),
}
RESTS = {
    Rest.PERSON: Text("paused"),
    Rest.ADMIN: Text("paused by an admin"),
    Rest.OWNER_GONE: Text("rests: the account of its owner has ended"),
    Rest.OWNER_LEFT: Text("rests: its owner is not in the channel"),
    Rest.OWNER_REFUSED: Text("rests: its owner may not ask there"),
    Rest.FAILED: Text("rests: it failed several times in a row"),
}
STATE, OWNER, LIMITS, TODAY = Text("State"), Text("Owner"), Text("Limits"), Text("Today")
LIMITED = Text(
    "{hour} answers an hour, {day} and {dollars} a day, for messages up to {minutes} minutes old"
)
USED = Plural("{count} answer, {dollars}", "{count} answers, {dollars}")

CHANNEL, WHO = Text("Channel"), Text("Who posts")
FROM_ANYBODY, FROM_THESE = Text("Anybody"), Text("Only these people")
FROM_APPS = Text("Only apps")
PEOPLE, APPS = Text("These people"), Text("These apps, too")
APPS_HINT = Text(
    "Names or ids, separated by commas. An app must have posted in the channel lately."
)
WORDS = Text("Words")
WORDS_HINT = Text("Separated by commas; one of them is enough. Empty: any text.")
PATTERN = Text("Pattern")
PATTERN_HINT = Text("A regular expression for a line of the text. Leave it empty if in doubt.")
QUESTION = Text("Question to a small model")
QUESTION_HINT = Text(
    "Asked about each message that fits so far, such as: Is this about an outage? Each time costs a "
    "little."
)
INSTRUCTION = Text("What I do then")
INSTRUCTION_HINT = Text("Such as: Look up the runbook and answer. I answer in the thread.")
ALSO, REPLIES, AGAIN = (
    Text("Also"),
    Text("Replies in threads"),
    Text("More than once in a thread"),
)
OWNER_HINT = Text("I answer with the rights of the owner, and on their budget.")
MINUTES, PER_HOUR, PER_DAY, DOLLARS = (
    Text("Messages up to so many minutes old"),
    Text("Answers an hour, at most"),
    Text("Answers a day, at most"),
    Text("Dollars a day, at most"),
)
CHECK_SUBMIT = Text("Next")

NOBODY = Text("Choose people, or name apps.")
NAMED_PEOPLE = Text("You chose people below: choose “{these}”, or leave them out.")
NO_SUCH_APP = Text("{names} has not posted there lately.")
APPS_THERE = Text("These apps have: {names}.")
NO_INSTRUCTION = Text("Write what I do then.")
MOST = Text("At most {most}.")
NOT_RIGHT = Text("A rule cannot be so. Shorten it, or leave something out.")
ONLY_PEOPLE = Text("Name apps in the field below, and leave me out.")

LOOK = Text("Look at last messages")
LOOK_FIRST = Text(
    "It is not on yet. Look first which of the last {count} messages it would have answered."
)
LOOK_COSTS = Text(
    "A look asks the small model about each message that fits, for at most {dollars} of the budget of the "
    "rule."
)
LOOKING = Text("I look at the last messages of the channel…")
WOULD = Text("It would have answered {hits} of the last {count} messages:")
WOULD_NONE = Text("It would have answered none of the last {count} messages.")
NO_MESSAGES = Text("I see no messages there yet.")
UNASKED = Plural(
    "I did not ask the model about {count} message: what it may spend is used up, or it did not answer.",
    "I did not ask the model about {count} messages: what it may spend is used up, or it did not answer.",
)
LOOKING_COST = Text("Looking at them cost {dollars}.")
BY_WORD, BY_PATTERN = Text("it has {word}"), Text("it matches the pattern")
BY_MODEL, BY_POSTER = Text("the model says yes"), Text("any text counts")
LOOKED = Text("I looked at the last messages for this rule, which you find in my Home tab: {rule}")

SWITCH_ON, ASK_APPROVAL = Text("Switch on"), Text("Ask for approval")
CHANGE, PAUSE, RESUME = Text("Change"), Text("Pause"), Text("Resume")
REMOVE, REMOVE_RULE, REMOVE_SURE, KEEP = (
    Text("Remove"),
    Text("Remove this rule?"),
    Text("I no longer answer by it. Answers that I gave stay."),
    Text("Keep it"),
)
IS_REMOVED = Text("The rule is removed.")
ASKED = Text("I asked {people}.")
ASKED_BEFORE = Text("I have asked already. Admins find the rule in my Home tab, too.")
ASKED_NOBODY = Text("Ask an admin: they find the rule in my Home tab.")

CARD_ASKS = Text("{person} asks for a rule:")
CARD_APPROVE, CARD_DECLINE = Text("Approve"), Text("Decline")
CARD_APPROVED = Text("{person} approved this rule. It is on.")
CARD_DECLINED = Text("{person} declined this rule.")
TOLD_APPROVED = Text("<@{by}> approved your rule in {place} (“{text}”). It is on.")
TOLD_DECLINED = Text("<@{by}> declined your rule in {place} (“{text}”), so I removed it.")

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
