"""Texts of the Home tab and of the forms that open from it."""

from __future__ import annotations

from bot.text.translation import Plural, Text

HOME_HELLO = Text("Hello, I am {name}")
HOME_HOW = Text("How to ask")
HOME_EXAMPLES = Text("For example")
HOME_SETTINGS = Text("Your settings")
CHANGE = Text("Change")
PERSONAL_TITLE = Text("Your settings")
STYLE_LABEL = Text("How I should answer you")
STYLE_EXAMPLE = Text("For example: briefly, in Spanish, amounts in euros")
STYLE_HINT = Text("I follow this in every answer to you. Do not put secrets here.")
STYLE_USUAL = Text("as usual")
PERSONAL_WHERE = Text("Answers about a message")
IN_THREAD_BUT_DRAFTS = Text("In the thread (drafts: only to you)")
DRAFTS_HINT = Text("Drafts of replies come only to you. You can choose otherwise in the form.")
PERSONAL_MODEL = Text("Model")
MODEL_AS_CHANNEL = Text("As in the channel")
HOME_ADMIN = Text("For admins")
HOME_BUDGETS = Text("*Budgets:*")
HOME_NO_BUDGETS = Text(
    "*Budgets:* none are set. Your bot's operator can set them under `[budgets]` in `bot.toml`."
)
BUDGETS = {
    "thread": Text("A thread"),
    "user_day": Text("A person, each day"),
    "user_month": Text("A person, each month"),
    "channel_day": Text("A channel, each day"),
    "channel_month": Text("A channel, each month"),
    "workspace_day": Text("Everybody together, each day"),
    "workspace_month": Text("Everybody together, each month"),
}
EVERYBODY = Text("Everybody")
WORKFLOWS = Text("Workflow steps")
HOME_SPENT = Text("*Spent,* highest first:")
HOME_MORE_SPENT = Text("and others; `bot usage` lists them all.")
HOME_NOTHING_SPENT = Text("*Spent:* nothing yet this month.")
HOME_TOOLS = Text("*Tools:* {count} in these groups: {groups}.")
HOME_PAUSED = Text("{name} paused me ({when}). Questions wait until an admin resumes me.")
HOME_REFUSED = Text("An admin can let you in, everywhere or in one channel.")
HOME_SERVERS = Text("*MCP servers:*")
TOOLS = Plural("{count} tool", "{count} tools")
SERVER_DOWN = Text("{error} (`bot doctor` says why)")
SERVER_ERRORS = Text("does not answer"), Text("cannot be reached")
"""The usual errors of a server, which are stored in English."""
SERVER_CHANGED = Text(
    "changed, so off until the operator runs `bot mcp --accept {server}`: {names}"
)
PAUSE, RESUME = Text("Pause the bot"), Text("Resume the bot")
PAUSE_TITLE = Text("Pause for everybody?")
PAUSE_SURE = Text("New questions wait. I answer them when an admin resumes me.")
CHANNEL_SETTINGS = Text(
    "*Channel settings:* instructions, people, tools and limits of one channel."
)
CHANNELS_CHANGED = Text("Channels with their own settings: {channels}")
AND_MORE = Text(" and {count} more")
PICK_CHANNEL = Text("Choose a channel")
SAVE, RESET = Text("Save"), Text("Reset")
CHANNEL_INSTRUCTIONS = Text("Instructions for this channel")
CHANNEL_TOOLS = Text("Allowed tools")
TOOLS_HINT = Text("Names of tools or groups, separated by commas; * matches any letters.")
TOOLS_EMPTY = Text("Empty: all tools.")
CHANNEL_PROFILE = Text("Profile")
CHANNEL_PROFILE_HINT = Text("What you do not change here follows the profile.")
NO_PROFILE = Text("No profile")
PROFILE_OF_FILE = Text("{profile}, as in bot.toml")
PROFILE_ELSEWHERE = Text("{profile}, as in other channels")
PROFILE_GONE = Text("The profile {profile} of this channel no longer exists. Choose another one.")
AS_IN_PROFILE = Text("As in the profile {profile}. A change applies to this channel only.")
DIFFERS_FROM_PROFILE = Text("Differs from the profile {profile}. Empty: as in the profile.")
MODEL_AS_PROFILE = Text("As in the profile {profile}: {model}")
CHANNEL_PEOPLE = Text("Allowed people")
PEOPLE_HINT = Text("Empty: as in other channels.")
CHANNEL_FOLLOW = Text("Replies without a mention")
FOLLOW = {
    "alone": Text("Answer while only one person is talking to me"),
    "always": Text("Always answer"),
    "never": Text("Answer only when I am mentioned"),
}
CHANNEL_DURING_RUN = Text("Messages sent while I work")
DURING_RUN = {
    "steer": Text("Include them in the same answer"),
    "queue": Text("Answer them separately, afterwards"),
}
CHANNEL_CONFIRM = Text("What needs approval")
AS_ELSEWHERE = Text("As in other channels")
CONFIRM = {
    "never": Text("Nothing"),
    "sensitive": Text("Sensitive actions, such as posting in another channel"),
    "always": Text("Every change"),
}
CHANNEL_MODEL = Text("Model")
CHANNEL_MODEL_HINT = Text("A person's own choice overrides this.")
MODEL_AS_EVERYWHERE = Text("As in other channels: {model}")
CHANNEL_OTHERS = Text("Also allowed")
CHANGED_MEANWHILE = Text(
    "Somebody else changed this meanwhile. Copy your text, and open the form again."
)
OTHERS = {"allow_guests": Text("Guests"), "allow_external": Text("People from other organisations")}
CHANNEL_TURNS = Text("Maximum steps per question")
CHANNEL_COST = Text("Maximum dollars per question")
CHANNEL_DAY = Text("Maximum dollars per day in this channel")
CHANNEL_MONTH = Text("Maximum dollars per month in this channel")
CHANNEL_UNSEEN = Text("Channel settings")
CHANNEL_RESET = Text("Reset to bot.toml")
CHANNEL_RESET_SURE = Text("All changes made here are removed.")
CHANNEL_RESET_DONE = Text(
    "This channel uses the settings of bot.toml again. Choose it again to change something."
)
EMPTY_IS = Text("Empty: {usual}, as in other channels.")
NO_BOUND = Text("no limit")
NO_PRICE = Text(
    "I don't know what my model costs, so I cannot enforce limits in dollars. Your bot's operator can set its "
    "price in bot.toml."
)
NO_SUCH_TOOL = Text("There is no tool or group of tools called {names}.")
ONLY_PEOPLE = Text("Only people can ask. Please leave bots out.")
HOME_USAGE = Text("Your usage")
HOME_USAGE_NOTE = Text(
    "Cached tokens are not counted here. *Details* under an answer counts all tokens."
)
USED_BY = {
    "workspace_day": Text("today"),
    "workspace_month": Text("this month"),
    "channel_day": Text("today"),
    "channel_month": Text("this month"),
    "user_day": Text("today"),
    "user_month": Text("this month"),
}
USED = {"user_day": Text("Today"), "user_month": Text("This month")}
