"""Texts about personal accounts: connecting them, and who sees what they find."""

from __future__ import annotations

ASKED = {
    "none": (
        "To look in *{server}* I need your account. I will see what you can see, only when you ask."
    ),
    "needs_more": "{title} needs one more right in *{server}*: _{scopes}_.",
    "ended": "*{server}* has ended our connection (signed out, or an admin removed it).",
}
ASKED_SEVERAL = "{title} needs more rights in *{server}*: _{scopes}_."
CONNECT = "Connect {server}"
CONNECT_LABELS = {"needs_more": "Allow", "ended": "Connect again"}
GO_WITHOUT = "Go on without it"
FOR_QUESTION = "For your question in <#{channel}>."
CONNECT_TERMS = "The link is for you alone: do not pass it on. I wait until {until}."
NOTIFY = "{server} needs your account"
WAITING = "Waiting for {person} to connect {server}."
OUTCOMES = {
    "approved": ":white_check_mark: Connected",
    "standing": ":white_check_mark: Connected",
    "denied": ":fast_forward: I go on without it",
    "expired": ":hourglass: I went on without {server}, as it was not connected",
    "withdrawn": ":black_square_for_stop: Cancelled: the run has ended",
}
REFUSED = ":no_entry: You did not allow it. I go on without {server}"

SHARE = "The answer in {channel} will have what I find in your *{server}*. *Everybody there will see it.*"
SHARE_TERMS = (
    "I ask this once for each thread. You can decide until {until}; if you do not, only you see it."
)
SHARE_NOTIFY = "Everybody will see what I find in your {server}"
POST_IT, ONLY_ME = "Post it", "Only me"
WAITING_TO_SHARE = "Waiting for {person} to say who may see the answer."
SHARE_OUTCOMES = {
    "approved": ":white_check_mark: Everybody in the thread sees it",
    "standing": ":white_check_mark: Everybody in the thread sees it",
    "denied": ":lock: Only you see it",
    "expired": ":lock: Nobody decided in time, so only you see it",
    "withdrawn": ":black_square_for_stop: Cancelled: the run has ended",
}

CODE_NEEDED = "*{server}*: one more step. Type the six digits that your browser shows."
CODE_WARNING = (
    "Only if you pressed Connect yourself. Never tell the digits to anybody: they would use your "
    "account as theirs."
)
ENTER_CODE, CODE_TITLE, CODE_LABEL = "Type the code", "One more step", "The six digits for {server}"
WRONG_CODE = "That is not the code. You have one more try."
WRONG_CODE_SEVERAL = "That is not the code. You have {left} more tries."
NO_TRIES_LEFT = "This code is no longer valid. Close this, and press Connect again."
NOW_CONNECTED = "*{server}* is connected since {when}. I use it only when you ask me something."
NOW_CONNECTED_AS = (
    "*{server}* is connected as {name} since {when}. I use it only when you ask me something."
)
NOW_CONNECTED_NOTIFY = "{server} is connected"
NOT_ME = "That was not me"
DISOWNED_REVOKED = (
    "*{server}* is disconnected again, and it withdrew my access. Tell an admin, and look at what your "
    "account there allows."
)
DISOWNED = (
    "*{server}* is disconnected again: I have deleted my access. Tell an admin, and remove this app in "
    "the settings of your account there."
)
SUBMIT, CLOSE = "Done", "Close"
LINK_TITLE = "Connect an account"
LINK_TEXT = (
    "I will see what you can see in *{server}*, only when you ask. The link is for you alone: do not "
    "pass it on. It works for ten minutes."
)
PASTE_ADDRESS, PASTE_TITLE = "Paste the address", "Connect an account"
PASTE_LABEL = "The whole address that the browser cannot open"
PASTE_STEPS = (
    "1. Press Connect and allow it at {server}.\n2. Your browser then may say that a page cannot be "
    "reached. Copy the address of that page.\n3. Paste it here."
)
PASTE_FAILURES = {
    "address": "Copy the whole address from the address bar, on the page that cannot be opened.",
    "link": "This address is old or was used before. Press Connect again.",
    "person": "This address is of somebody else's link. Use your own.",
    "refused": "You did not allow it there.",
    "forbidden": "The bot's settings do not let you use it. Ask the bot's operator.",
    "changed": "It is switched off until an admin checks it.",
    "unreachable": "It does not answer right now. Try again in a few minutes.",
}
PASTE_FAILED = (
    "It could not be connected. Press Connect again; if that fails, ask the bot's operator."
)

HOME_ACCOUNTS = "Your accounts"
HOME_CONNECT, DISCONNECT, KEEP = "Connect", "Disconnect", "Keep it"
HOME_STATES = {
    "none": "not connected",
    "unconfirmed": "waits for the code that your browser shows",
    "connected": "connected since {when}",
    "needs_more": "wants one more right",
    "ended": "has ended our connection",
    "changed": "switched off until an admin checks it",
    "busy": "does not answer right now",
    "forbidden": "not for you",
}
HOME_CONNECTED_AS = "connected as {name}"
DISCONNECT_TITLE = "Disconnect {server}?"
DISCONNECT_TEXT = "I delete my access. Questions that need it ask you to connect again."
DELETED_NOT_REVOKED = (
    "I have deleted my access to {server}. It gives me no way to withdraw it there: to be sure, remove "
    "this app in the settings of your account."
)
