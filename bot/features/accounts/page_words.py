"""Words of the pages on which people connect an account."""

from __future__ import annotations

from bot.features.accounts.account import ConnectFailure, Whom
from bot.text.invisible_text import without_invisible
from bot.text.translation import Text

CONTINUE = Text("Continue")
GO_ON = Text("Go on")
TRY_LATER = Text("The bot cannot answer right now. Try again in a minute.")

_CONNECT = Text("Connect {label} for {name} in {workspace}?")
_BEFORE = Text(
    "You go to {host} and sign in there. The bot can then use your {label} account when {name} asks "
    "it to in Slack. Stop if that is not you."
)
_CONNECT_WORKSPACE = Text("Connect {label} for everybody in {workspace}?")
_BEFORE_WORKSPACE = Text(
    "This link is for {name}. You go to {host} and sign in there. Everybody who may ask the bot can then read "
    "in Slack what this {label} account sees, also once you have left. Use an account that was made for that. "
    "Stop if you are not {name}."
)
_ONE_MOMENT, _LEAVING = Text("One moment"), Text("You are going to {host}.")
_CONNECTED = Text("{label} is connected for {name}")
_GO_BACK = Text("You can close this page and go back to Slack.")
_ONE_MORE = Text("One more step")
_TYPE_CODE = Text("Type this code in Slack, where {name} asked to connect {label}:")
_TELL_NOBODY = Text(
    "Tell it to nobody. Somebody who sent you a link and asks for the code wants to use your account "
    "as theirs."
)

_NO_HANDLE = dict.fromkeys(map(ord, "@()＠（）"))

_OLD_LINK = (
    Text("This link is old"),
    Text("It was used already or is too old. Ask again in Slack, and use the new button."),
)
_FAILURES = {
    ConnectFailure.LINK: _OLD_LINK,
    ConnectFailure.BROWSER: (
        Text("Please start again"),
        Text(
            "This was begun in another browser, or cookies are off. Press the button in Slack again."
        ),
    ),
    ConnectFailure.PERSON: (
        Text("This is not your link"),
        Text(
            "It was made for somebody else in Slack. Nothing was connected. Ask the bot yourself, and use "
            "your own button."
        ),
    ),
    ConnectFailure.PROOF: (
        Text("Nothing was connected"),
        Text("Slack could not tell who you are. Press the button in Slack again."),
    ),
    ConnectFailure.FORBIDDEN: (
        Text("Nothing was connected"),
        Text("The bot's settings do not let you use this service. Ask the bot's operator."),
    ),
    ConnectFailure.CHANGED: (
        Text("Switched off"),
        Text(
            "The sign-in address of this service has changed. The service is off until an admin has "
            "checked that. Ask the bot's operator."
        ),
    ),
    ConnectFailure.SERVER: (
        Text("Nothing was connected"),
        Text(
            "I cannot use the answer of the service. Try again. If it fails again, ask the bot's "
            "operator: the log has the reason."
        ),
    ),
    ConnectFailure.UNREACHABLE: (
        Text("Nothing was connected yet"),
        Text("The service does not answer right now. Try again in a few minutes."),
    ),
    ConnectFailure.REFUSED: (
        Text("Nothing was connected"),
        Text("You did not allow it. The bot goes on without it. You can close this page."),
    ),
    ConnectFailure.ADMIN: (
        Text("Nothing was connected"),
        Text("Only admins connect this service, as it is for everybody. Ask one of them."),
    ),
    ConnectFailure.TAKEN: (
        Text("Nothing was connected"),
        Text(
            "Another admin has connected or disconnected this service meanwhile. The bot's Home tab in Slack "
            "shows how it is now."
        ),
    ),
    ConnectFailure.ADDRESS: (
        Text("This is not the right address"),
        Text(
            "Copy the whole address from the browser's address bar, on the page that could not be opened."
        ),
    ),
}


def failure(why: ConnectFailure) -> tuple[str, str]:
    """Return a title and a sentence that say what happened and what to do next."""
    title, sentence = _FAILURES[why]
    return title(), sentence()


def before_leaving(
    label: str, host: str, whom: Whom, *, for_workspace: bool = False
) -> tuple[str, str]:
    """Return the title and text of the page before somebody goes to a service."""
    # People choose their names: one must not end in a handle of somebody else, nor turn theirs around.
    name = without_invisible(whom.name).translate(_NO_HANDLE).strip()
    handle = f" (@{whom.handle})" if whom.handle else ""
    if for_workspace:
        title = _CONNECT_WORKSPACE(label=label, workspace=whom.workspace)
        return title, _BEFORE_WORKSPACE(name=f"{name}{handle}", host=host, label=label)
    title = _CONNECT(label=label, name=f"{name}{handle}", workspace=whom.workspace)
    return title, _BEFORE(host=host, label=label, name=name)


def leaving(host: str) -> tuple[str, str]:
    """Return the title and text of the page that sends the browser on."""
    return _ONE_MOMENT(), _LEAVING(host=host)


def connected(label: str, whom: Whom) -> tuple[str, str]:
    """Return the title and text of the last page."""
    return _CONNECTED(label=label, name=whom.name), _GO_BACK()


def finish_code(label: str, whom: Whom) -> tuple[str, str, str]:
    """Return the title, the text before and the text after the finish code."""
    return _ONE_MORE(), _TYPE_CODE(name=whom.name, label=label), _TELL_NOBODY()
