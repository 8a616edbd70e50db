"""Words of the pages on which people connect an account."""

from __future__ import annotations

from bot.core.accounts import ConnectFailure, Whom
from bot.core.text.invisible_text import without_invisible

CONTINUE = "Continue"
GO_ON = "Go on"
TRY_LATER = "The bot cannot answer right now. Try again in a minute."

_NO_HANDLE = dict.fromkeys(map(ord, "@()＠（）"))

_OLD_LINK = (
    "This link is old",
    "It was used before, or nobody used it in time. Ask again in Slack, and use the new button.",
)
_FAILURES = {
    ConnectFailure.LINK: _OLD_LINK,
    ConnectFailure.BROWSER: (
        "Please start again",
        "This was begun in another browser, or cookies are off. Press the button in Slack again.",
    ),
    ConnectFailure.PERSON: (
        "This is not your link",
        "It was made for somebody else in Slack. Nothing was connected. Ask the bot yourself, and use "
        "your own button.",
    ),
    ConnectFailure.PROOF: (
        "Nothing was connected",
        "Slack could not tell who you are. Press the button in Slack again.",
    ),
    ConnectFailure.FORBIDDEN: (
        "Nothing was connected",
        "The bot's settings do not let you use this service. Ask the bot's operator.",
    ),
    ConnectFailure.CHANGED: (
        "Switched off",
        "This service has changed where people sign in. It is off until an admin has checked it. "
        "Ask the bot's operator.",
    ),
    ConnectFailure.SERVER: (
        "Nothing was connected",
        "The service's answer cannot be used. Try again; if it happens again, ask the bot's operator, "
        "who finds the reason in the log.",
    ),
    ConnectFailure.UNREACHABLE: (
        "Nothing was connected yet",
        "The service does not answer right now. Try again in a few minutes.",
    ),
    ConnectFailure.REFUSED: (
        "Nothing was connected",
        "You did not allow it. You can close this page; the bot goes on without it.",
    ),
    ConnectFailure.ADDRESS: (
        "This is not the right address",
        "Copy the whole address from the browser's address bar, on the page that could not be opened.",
    ),
}


def failure(why: ConnectFailure) -> tuple[str, str]:
    """Return a title and a sentence that say what happened and what to do next."""
    return _FAILURES[why]


def before_leaving(label: str, host: str, whom: Whom) -> tuple[str, str]:
    """Return the title and text of the page before somebody goes to a service."""
    # People choose their names: one must not end in a handle of somebody else, nor turn theirs around.
    name = without_invisible(whom.name).translate(_NO_HANDLE).strip()
    handle = f" (@{whom.handle})" if whom.handle else ""
    return (
        f"Connect {label} for {name}{handle} in {whom.workspace}?",
        f"You go to {host} and sign in there. The bot can then use your {label} account when "
        f"{name} asks it to in Slack. Stop if that is not you.",
    )


def leaving(host: str) -> tuple[str, str]:
    """Return the title and text of the page that sends the browser on."""
    return "One moment", f"You are going to {host}."


def connected(label: str, whom: Whom) -> tuple[str, str]:
    """Return the title and text of the last page."""
    return (
        f"{label} is connected for {whom.name}",
        "You can close this page and go back to Slack.",
    )


def finish_code(label: str, whom: Whom) -> tuple[str, str, str]:
    """Return the title, the text before and the text after the finish code."""
    return (
        "One more step",
        f"Type this code in Slack, where {whom.name} asked to connect {label}:",
        "Tell it to nobody. Somebody who sent you a link and asks for the code wants to use your "
        "account as theirs.",
    )
