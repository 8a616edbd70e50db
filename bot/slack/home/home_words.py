"""Texts of the Home tab and of the forms that open from it."""

from __future__ import annotations

from collections.abc import Mapping

HOME_HELLO = "Hello, I am {name}"
HOME_HOW = "How to ask"
HOME_EXAMPLES = "For example"
HOME_SETTINGS = "Your settings"
CHANGE = "Change"
PERSONAL_TITLE = "Your settings"
STYLE_LABEL = "How I should answer you"
STYLE_EXAMPLE = "For example: briefly, in Spanish, amounts in euros"
STYLE_HINT = "I follow this in every answer to you. Do not put secrets here."
STYLE_USUAL = "as usual"
PERSONAL_WHERE = "Where I answer what you ask about a message"
IN_THREAD_BUT_DRAFTS = "In the thread; a draft of a reply only to you"
DRAFTS_HINT = "A draft of a reply comes only to you, unless you choose otherwise in its form."
PERSONAL_MODEL = "Which model answers you"
MODEL_AS_CHANNEL = "The channel's model"
HOME_MEMORIES = "What I remember about you"
HOME_NO_MEMORIES = "Nothing yet."
HOME_REMEMBER = "Write to me directly: “Remember that …”."
NEWEST_MEMORIES = "These are the newest {shown} of {count}. Forget one to see older ones."
FORGET, FORGET_TITLE, FORGET_IT = "Forget", "Forget this?", "Forget it"
HOME_SCHEDULES = "What you scheduled"
HOME_ALL_SCHEDULES = "*Scheduled by people here,* soonest first:"
HOME_NEXT_SCHEDULES = "*Scheduled by people here,* the next {shown} of {count}:"
TO_BE_POSTED = "to be posted {when}"
MORE_TO_BE_POSTED = "{count} more are scheduled after these."
CANCEL, CANCEL_TITLE, CANCEL_IT, KEEP_IT = "Cancel", "Cancel this?", "Cancel it", "Keep it"
CANCEL_QUESTION = "“{text}” will no longer be asked."
CANCEL_QUESTION_OF = (
    "What was scheduled {often} will no longer be asked. If it is somebody else's, they are told "
    "that you cancelled it."
)
CANCEL_MESSAGE = "“{text}” will not be posted."
NOT_CANCELLED = "Not cancelled"
MESSAGE_GONE = "This message is no longer scheduled: it was already posted or cancelled, or is about to be posted."
MESSAGE_PERHAPS = (
    "I don't know whether this message was cancelled, because Slack did not respond. Press Cancel "
    "again to find out."
)
HOME_ADMIN = "For admins"
HOME_BUDGETS = "*Budgets:*"
HOME_NO_BUDGETS = (
    "*Budgets:* none are set. Your bot's operator can set them under `[budgets]` in `bot.toml`."
)
BUDGETS = {
    "thread": "A thread",
    "user_day": "A person, each day",
    "user_month": "A person, each month",
    "channel_day": "A channel, each day",
    "channel_month": "A channel, each month",
    "workspace_day": "Everybody together, each day",
    "workspace_month": "Everybody together, each month",
}
EVERYBODY = "Everybody"
WORKFLOWS = "Workflow steps"
HOME_SPENT = "*Spent,* highest first:"
HOME_MORE_SPENT = "and others; `bot usage` lists them all."
HOME_NOTHING_SPENT = "*Spent:* nothing yet this month."
HOME_TOOLS = "*Tools:* {count} in these groups: {groups}."
HOME_PAUSED = "I answer nothing until an admin resumes me."
HOME_REFUSED = "An admin can let you in, everywhere or in one channel."
HOME_SERVERS = "*MCP servers:*"
SERVER_DOWN = "{error} (`bot doctor` says why)"
SERVER_CHANGED = "changed, so off until the operator runs `bot mcp --accept {server}`: {names}"
PAUSE, RESUME = "Pause me", "Resume me"
PAUSE_TITLE = "Pause me for everybody?"
PAUSE_SURE = "Everybody who asks is told that I am paused, until an admin resumes me."
CHANNEL_SETTINGS = (
    "*Channel settings:* what I should know, who may ask, which tools I have and what I may spend "
    "in one channel."
)
CHANNELS_CHANGED = "Changed here so far: {channels}"
AND_MORE = " and {count} more"
PICK_CHANNEL = "Choose a channel"
SAVE, RESET = "Save", "Reset"
CHANNEL_INSTRUCTIONS = "What I should know about this channel"
CHANNEL_TOOLS = "The only tools I may use here"
TOOLS_HINT = (
    "Names of tools or groups, separated by commas; * matches any letters. Empty: all tools."
)
CHANNEL_PEOPLE = "The only people who may ask here"
CHANNEL_FOLLOW = "Replies in my threads that do not mention me"
FOLLOW = {
    "alone": "Answer without a mention while only one person is talking to me",
    "always": "Always answer",
    "never": "Answer only when I am mentioned",
}
CHANNEL_DURING_RUN = "Further messages while I work on a question"
DURING_RUN = {
    "steer": "Include them in the same answer",
    "queue": "Answer them separately, afterwards",
}
CHANNEL_CONFIRM = "What needs approval"
CONFIRM = {
    "everywhere": "As in other channels",
    "never": "Nothing",
    "sensitive": "Sensitive actions, such as posting in another channel",
    "always": "Everything that makes changes",
}
CHANNEL_EVIDENCE = "What answers say about the figures and quotes in them"
EVIDENCE = {
    "everywhere": "As in other channels",
    "off": "Nothing",
    "measure": "Nothing, but count what cannot be traced",
    "mark": "What could not be traced to what was read",
    "send_back": "The same, after asking the model once to look it up or compute it",
}
CHANNEL_MODEL = "Which model answers here"
CHANNEL_MODEL_HINT = "A person's own choice overrides this."
MODEL_AS_EVERYWHERE = "As in other channels: {model}"
CHANNEL_OTHERS = "Others who may ask here"
OTHERS = {"allow_guests": "Guests", "allow_external": "People from other organisations"}
CHANNEL_TURNS = "Maximum steps per question"
CHANNEL_COST = "Maximum dollars per question"
CHANNEL_DAY = "Maximum dollars per day for all questions here"
CHANNEL_MONTH = "Maximum dollars per month for all questions here"
CHANNEL_UNSEEN = "Channel settings"
CHANNEL_RESET = "Reset to bot.toml"
CHANNEL_RESET_SURE = "All changes made here are removed."
CHANNEL_RESET_DONE = (
    "This channel uses the settings of bot.toml again. Choose it again to change something."
)
HOME_LESSONS = "*Answers rated bad,* newest first:"
HOME_MORE_LESSONS = "{count} more after these."
LESSON_LINE = "“{comment}”\n<@{person}> {place}"
LESSON_UNSEEN = "In a private channel that you are not in. An admin who is in it can look into it."
LESSON_OPEN = "Look into it"
LESSON_TITLE = "A bad answer"
LESSON_ACCEPT = "Accept"
LESSON_ASKED, LESSON_ASKED_IN = " asked in ", "Asked in "
LESSON_ASKED_PRIVATE = "Asked in private:"
LESSON_NO_QUESTION = "The question is private, or no longer stored."
LESSON_ANSWER = "see the answer"
LESSON_WRONG = " wrote:"
LESSON_FIELDS = {
    "question": "Question of the evaluation case",
    "must_say": "What the answer must say",
    "must_not_say": "What the answer must not say",
    "instruction": "New instruction for the channel",
}
LESSON_HINTS = {
    "must_say": "One text or figure per line. A figure counts in any notation.",
    "must_not_say": "One text or figure per line.",
    "instruction": "Added to what I know about this channel once you accept.",
}
LESSON_SUGGEST, LESSON_TRY, LESSON_DISMISS = "Suggest", "Try before and after", "Dismiss"
LESSON_SUGGESTED = "Suggested by {model}: check every line before you accept it."
LESSON_NOTHING_YET = (
    "*Suggest* and *Try* ask the model, on your budget. A trial changes nothing. Nothing is changed "
    "until you press *Accept*."
)
LESSON_WORKING = ":hourglass: Working on it. The result comes here, or to you in a message."
LESSON_PROBLEM = ":warning: {problem}"
LESSON_BEFORE, LESSON_AFTER = "As it is", "With the new instruction"
LESSON_PASSES, LESSON_FAILS = "passes", "fails"
LESSON_COST = "This trial cost {cost}."
LESSON_TRIED = "As it is, the case {before}; with the new instruction it {after}."
LESSON_READY = "What you asked about the answer rated bad is in my Home tab. {result}"
LESSON_DRAFTED = "I have a suggestion."
LESSON_NOT_READY = "It did not work: {problem}"
LESSON_GONE = (
    "This rating is gone: its question was changed, deleted or erased, or it was dismissed."
)
LESSON_DISMISSED = "Dismissed. The rating itself stays in `bot feedback`."
LESSON_NEEDS_CASE = "Write a question here, and below what its answer must or must not say."
LESSON_EMPTY = "Write what the answer must say, or a new instruction. Or close this and dismiss it."
LESSON_TOO_LONG = "With it, the channel's instructions would be longer than 3,000 characters."
EMPTY_IS = "Empty: {}, as in other channels."
NO_BOUND = "no limit"
NO_PRICE = (
    "I don't know what my model costs, so I cannot enforce limits in dollars. Your bot's operator can set its "
    "price in bot.toml."
)
NO_SUCH_TOOL = "There is no tool or group of tools called {names}."
ONLY_PEOPLE = "Only people can ask: please leave bots out."
HOME_USAGE = "What your questions have cost"
HOME_USAGE_NOTE = "Cached tokens are not counted here; the line under an answer counts all tokens."
USED_BY = {
    "workspace_day": "today",
    "workspace_month": "this month",
    "channel_day": "today",
    "channel_month": "this month",
    "user_day": "today",
    "user_month": "this month",
}
USED = {"user_day": "Today", "user_month": "This month"}


def with_general(choices: Mapping[str, str], general: str) -> dict[str, str]:
    """Return the labels of choices; that of the general setting, "everywhere", names it."""
    usual, everywhere = choices[general], choices["everywhere"]
    return {**choices, "everywhere": f"{everywhere}: {usual[:1].lower()}{usual[1:]}"}
