"""Texts about personal accounts: connecting them, and who sees what they find."""

from __future__ import annotations

from bot.text.translation import Text

ASKED = {
    "none": (
        Text(
            "To look in *{server}* I need your account. I will see what you can see, only when you ask."
        )
    ),
    "needs_more": Text("{title} needs one more permission in *{server}*: _{scopes}_."),
    "ended": Text("*{server}* has ended our connection (signed out, or an admin removed it)."),
}
ASKED_SEVERAL = Text("{title} needs more permissions in *{server}*: _{scopes}_.")
CONNECT = Text("Connect {server}")
CONNECT_LABELS = {"needs_more": Text("Allow"), "ended": Text("Connect again")}
GO_WITHOUT = Text("Go on without it")
FOR_QUESTION = Text("For your question in <#{channel}>.")
CONNECT_TERMS = Text("The link is for you alone: do not pass it on. I wait until {until}.")
NOTIFY = Text("{server} needs your account")
WAITING = Text("Waiting for {person} to connect {server}.")
OUTCOMES = {
    "approved": Text(":white_check_mark: Connected"),
    "standing": Text(":white_check_mark: Connected"),
    "denied": Text(":fast_forward: I go on without it"),
    "expired": Text(":hourglass: I went on without {server}, as it was not connected"),
    "withdrawn": Text(":black_square_for_stop: Cancelled: work on this question has ended"),
}
REFUSED = Text(":no_entry: You did not allow it. I go on without {server}")

SHARE = Text(
    "The answer in {channel} will contain what I find in your *{server}*. *Everybody there will "
    "see it.*"
)
SHARE_TERMS = Text(
    "You can decide until {until}. After that, only you see the answer. I ask this once for each "
    "thread."
)
SHARE_NOTIFY = Text("Everybody will see what I find in your {server}")
POST_IT, ONLY_ME = Text("Post it"), Text("Only me")
WAITING_TO_SHARE = Text("Waiting for {person} to say who may see the answer.")
SHARE_OUTCOMES = {
    "approved": Text(":white_check_mark: Everybody in the thread sees it"),
    "standing": Text(":white_check_mark: Everybody in the thread sees it"),
    "denied": Text(":lock: Only you see it"),
    "expired": Text(":lock: Nobody decided in time, so only you see it"),
    "withdrawn": Text(":black_square_for_stop: Cancelled: work on this question has ended"),
}

CODE_NEEDED = Text("*{server}*: one more step. Type the six digits that your browser shows.")
CODE_WARNING = Text(
    "Only if you pressed Connect yourself. Never tell the digits to anybody: they would use your "
    "account as theirs."
)
ENTER_CODE, CODE_TITLE, CODE_LABEL = (
    Text("Type the code"),
    Text("One more step"),
    Text("The six digits for {server}"),
)
WRONG_CODE = Text("That is not the code. You have one more try.")
WRONG_CODE_SEVERAL = Text("That is not the code. You have {left} more tries.")
NO_TRIES_LEFT = Text("This code is no longer valid. Close this, and press Connect again.")
NOW_CONNECTED = Text(
    "*{server}* is connected since {when}. I use it only when you ask me something."
)
NOW_CONNECTED_AS = Text(
    "*{server}* is connected as {name} since {when}. I use it only when you ask me something."
)
NOW_CONNECTED_NOTIFY = Text("{server} is connected")
NOT_ME = Text("That was not me")
DISOWNED_REVOKED = Text(
    "*{server}* is disconnected and has withdrawn my access. Tell an admin, and check which apps "
    "your account there allows."
)
DISOWNED = Text(
    "*{server}* is disconnected: I have deleted my access. Tell an admin, and remove this app in "
    "the settings of your account there."
)
SUBMIT, CLOSE = Text("Done"), Text("Close")
LINK_TITLE = Text("Connect an account")
LINK_TEXT = Text(
    "I will see what you can see in *{server}*, only when you ask. The link is for you alone: do not "
    "pass it on. It works for ten minutes."
)
PASTE_ADDRESS, PASTE_TITLE = Text("Paste the address"), Text("Connect an account")
PASTE_LABEL = Text("The whole address that the browser cannot open")
PASTE_STEPS = Text(
    "1. Press Connect and allow it at {server}.\n2. Your browser then may say that a page cannot be "
    "reached. Copy the address of that page.\n3. Paste it here."
)
PASTE_FAILURES = {
    "address": Text(
        "Copy the whole address from the address bar, on the page that cannot be opened."
    ),
    "link": Text("This address is old or was used before. Press Connect again."),
    "person": Text("This address belongs to somebody else's link. Use your own."),
    "refused": Text("You did not allow it there."),
    "forbidden": Text("The bot's settings do not let you use it. Ask the bot's operator."),
    "admin": Text("Only admins connect it, as it is for everybody. Ask one of them."),
    "taken": Text("Another admin has connected or disconnected it meanwhile. Look at my Home tab."),
    "changed": Text("It is switched off until an admin checks it."),
    "unreachable": Text("It does not answer right now. Try again in a few minutes."),
}
PASTE_FAILED = Text(
    "It could not be connected. Press Connect again. If that fails, ask the bot's operator."
)

HOME_ACCOUNTS = Text("Your accounts")
HOME_CONNECT, DISCONNECT, KEEP = Text("Connect"), Text("Disconnect"), Text("Keep it")
HOME_STATES = {
    "none": Text("not connected"),
    "unconfirmed": Text("waits for the code that your browser shows"),
    "connected": Text("connected since {when}"),
    "needs_more": Text("needs one more permission"),
    "ended": Text("has ended our connection"),
    "changed": Text("switched off until an admin checks it"),
    "busy": Text("does not answer right now"),
    "forbidden": Text("not for you"),
}
HOME_WORKSPACE = Text("Accounts for everybody")
CONNECT_AGAIN = Text("Connect again")
WORKSPACE_CONNECTED_BY = Text("connected by {person} since {when}")
WORKSPACE_STATES = {
    **HOME_STATES,
    "none": Text("not connected: an admin has to connect it"),
    "unconfirmed": Text("not connected: an admin has to connect it"),
    "needs_more": Text("needs one more permission: an admin has to connect it again"),
    "ended": Text("has ended the connection: an admin has to connect it again"),
}
NO_ADMIN_NOW = {
    "member": Text(
        "{person}, who connected it, is an admin no longer. It goes on until an admin disconnects it."
    ),
    "left": Text(
        "{person}, who connected it, has left. It goes on until the service or an admin ends it: connect "
        "it again with an account that stays."
    ),
}
WORKSPACE_TERMS = Text(
    "Everybody who may ask me can then read what this account sees in *{server}*, and changes are approved "
    "as always. Use an account that was made for that. The link is for you alone: do not pass it on. It "
    "works for ten minutes."
)
WORKSPACE_NOW_CONNECTED = Text(
    "*{server}* is connected for everybody here since {when}. My Home tab shows that you did it."
)
WORKSPACE_DISCONNECT_TEXT = Text(
    "I delete my access. For everybody here I then answer without it, until an admin connects it again."
)
ASK_ADMINS = {
    "none": Text(
        "I was asked something for which I need *{server}*, and nobody has connected it for this workspace. "
        "You are an admin, and can do that."
    ),
    "ended": Text(
        "*{server}* has ended the connection of this workspace. I answer without it, until an admin connects "
        "it again."
    ),
    "needs_more": Text(
        "For something that I was asked, *{server}* wants one more permission of this workspace's account: "
        "_{scopes}_. An admin can connect it again with that."
    ),
}
HOME_CONNECTED_AS = Text("connected as {name}")
DISCONNECT_TITLE = Text("Disconnect {server}?")
DISCONNECT_TEXT = Text("I delete my access. When a question needs it, I ask you to connect again.")
DELETED_REVOKED_LATER = Text(
    "I have deleted my access to {server}. It does not answer right now. I keep trying for a day "
    "to withdraw my access there."
)
DELETED_NOT_REVOKED = Text(
    "I have deleted my access to {server}. I cannot withdraw it there. To be sure, remove this "
    "app in the settings of your account."
)
NOT_REVOKED = {"later": DELETED_REVOKED_LATER, "never": DELETED_NOT_REVOKED}
