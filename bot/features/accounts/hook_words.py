"""What people and the model are told about personal accounts during a run."""

from __future__ import annotations

from bot.text.translation import Text

CONNECT_TITLE = Text("Connect {label}")
SHARE_TITLE = Text("Share what {label} has")

_WITHOUT = "Answer without it, and say so once in the result"
NO_PERSON = (
    f"Not done: nobody asked this, so there is no account of theirs at {{label}}. {_WITHOUT}."
)
FORBIDDEN = f"Not done: the settings do not let this person use {{label}}. {_WITHOUT}."
CHANGED = f"Not done: {{label}} is switched off until an admin checks it. {_WITHOUT}."
BUSY = f"Not done: {{label}} does not answer right now. {_WITHOUT}."
NOT_CONNECTED = (
    "Not done: the asker did not connect {label}, so nothing was looked up there. Do not call its "
    f"tools again. {_WITHOUT}."
)
STILL_UNUSABLE = f"Not done: the asker's account at {{label}} cannot be used, though they connected it. {_WITHOUT}."
IN_SCHEDULE = (
    "Not done: the account at {label} of the person who scheduled this is not connected. They are "
    f"told, and the schedule pauses. {_WITHOUT}."
)
IN_SUBAGENT = "Not done: the asker has to agree first, and helpers cannot ask. Call a tool of {label} yourself."
OVERTAKEN = "Not done: {why}."
LOST = "Not done: nobody knows any more what was decided about it. Call it again."
