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
