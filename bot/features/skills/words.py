"""Words of the skills that admins write."""

from __future__ import annotations

from bot.text.translation import Text

HOME_TITLE = Text("Skills")
HOME_SKILLS = Text("Ways of working that I know. Name one in your question, or I choose one.")
HOME_MORE = Text("and {count} more")
ADMIN_SKILLS = Text(
    "*Skills:* how a kind of work is done here. I load one when a question needs it."
)
OF_OPERATOR = Text("From the operator: {names}")
CHOOSE = Text("Choose a skill")
NEW_SKILL = Text("New skill")
SAVE, CLOSE = Text("Save"), Text("Close")
NAME = Text("Name")
NAME_HINT = Text(
    "Lower-case letters, digits and hyphens, such as refund-requests. It cannot be changed."
)
DESCRIPTION = Text("What it is for, and when to use it")
DESCRIPTION_HINT = Text(
    "This is all that I see before I choose the skill. Use the words that people ask with."
)
INSTRUCTIONS = Text("Instructions")
MORE_INSTRUCTIONS = Text("Instructions, part {number}")
INSTRUCTIONS_HINT = Text("Up to 20,000 characters in all parts. Slack has room for 3,000 in each.")
MORE_ROOM = Text("Add a part")
VERSION = Text("Version {number}, saved {when}")
EARLIER = Text("Bring back an earlier version")
BROUGHT_BACK = Text("This is version {number}. Press *Save* to use it again.")
DELETE = Text("Delete this skill")
DELETE_TITLE = Text("Delete this skill?")
DELETE_TEXT = Text("All versions of {name} are deleted.")
DELETE_IT, KEEP_IT = Text("Delete"), Text("Keep")
BAD_NAME = Text(
    "Use up to 64 lower-case letters, digits and single hyphens, such as refund-requests."
)
NAME_TAKEN = Text("A tool or skill has this name already, or one that looks like it.")
TOO_LONG = Text("All parts together may have 20,000 characters. They have {count}.")
IS_EMPTY = Text("Please fill this in.")
TOO_MANY = Text("There are {count} skills already. Delete one first.")
CHANGED_MEANWHILE = Text(
    "Somebody else saved this skill meanwhile. Copy your text, and open it again."
)
IS_GONE = Text("This skill was deleted.")
TRIED = Text("I tried the skill {name}:")
NOT_TRIED = Text("I could not try the skill {name}. {problem}")
MAKE_SKILL = Text("Make it a skill instead")
