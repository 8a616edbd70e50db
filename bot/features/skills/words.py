"""Words of the skills that admins write."""

from __future__ import annotations

from bot.text.translation import Text

HOME_TITLE = Text("Skills")
HOME_SKILLS = Text("I know how these are done here. Name one in your question, or I choose it.")
HOME_MORE = Text("and {count} more")
ADMIN_SKILLS = Text(
    "*Skills:* how one kind of question is answered here. I read one when it is needed."
)
OF_OPERATOR = Text("From the operator: {names}")
CHOOSE = Text("Choose a skill")
NEW_SKILL = Text("New skill")
TITLE = Text("Skill")
SAVE, CLOSE = Text("Save"), Text("Close")
NAME = Text("Name")
NAME_HINT = Text("Small letters, digits and hyphens, such as refund-requests. It stays as it is.")
DESCRIPTION = Text("What it is for, and when to use it")
DESCRIPTION_HINT = Text(
    "I see only this before I choose the skill. Use the words that people ask with."
)
INSTRUCTIONS = Text("How it is done")
MORE_INSTRUCTIONS = Text("How it is done, part {number}")
INSTRUCTIONS_HINT = Text("Up to 20,000 characters in all parts. Slack has room for 3,000 in each.")
MORE_ROOM = Text("Add a part")
VERSION = Text("Version {number}, saved {when}")
EARLIER = Text("Bring back an earlier version")
BROUGHT_BACK = Text("This is version {number}. Press *Save* to use it again.")
DELETE = Text("Delete this skill")
DELETE_TITLE = Text("Delete this skill?")
DELETE_TEXT = Text("All versions of {name} are deleted.")
DELETE_IT, KEEP_IT = Text("Delete"), Text("Keep")
BAD_NAME = Text("Write up to 64 small letters, digits and single hyphens, such as refund-requests.")
NAME_TAKEN = Text("There is a tool or skill with this name, or one that looks like it.")
TOO_LONG = Text("All parts together may have 20,000 characters. These have {count}.")
IS_EMPTY = Text("Please fill this in.")
TOO_MANY = Text("There are {count} skills already. Delete one first.")
CHANGED_MEANWHILE = Text(
    "Somebody else saved this skill meanwhile. Copy your text, and open it again."
)
IS_GONE = Text("This skill was deleted.")
TRIED = Text("I tried the skill {name}:")
NOT_TRIED = Text("I could not try the skill {name}. {problem}")
MAKE_SKILL = Text("Make it a skill instead")
