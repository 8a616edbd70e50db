"""Pages that a browser shows during installation: plain HTML without external resources."""

from __future__ import annotations

from html import escape
from urllib.parse import quote

from bot.text.translation import Text, reader_locale

HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",  # the address contains the OAuth code
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
}

_FAILED = {
    "access_denied": (
        Text("Nothing was installed"),
        Text(
            "The permissions were not granted. If your workspace needs an admin's approval, "
            "ask an admin to open this page."
        ),
    ),
    "invalid_browser": (
        Text("Please start again"),
        Text(
            "This link was used before, is older than ten minutes, or was begun in another browser or "
            "with cookies off. If the bot is in Slack already, there is nothing left to do."
        ),
    ),
    "invalid_state": (
        Text("Please start again"),
        Text("This link was used before, or is older than ten minutes."),
    ),
    "missing_code": (Text("Please start again"), Text("Slack sent you back without what we need.")),
    "invalid_code": (
        Text("Please start again"),
        Text(
            "Slack did not accept this installation. Its link may have been used before. If it happens "
            "again, the bot's operator finds the reason in its log."
        ),
    ),
    "storage_error": (
        Text("Not installed yet"),
        Text(
            "The bot could not keep the installation, or could not reach Slack. Try again in a minute."
        ),
    ),
}
_ADD_TITLE, _ADD = Text("Add the bot to Slack"), Text("Add to Slack")
_ADD_TEXT = Text(
    "Slack will ask which workspace to add the bot to, and show what it may do there. It reads and "
    "writes only in conversations it is part of."
)
_INSTALLED, _OPEN, _START_AGAIN = Text("Installed"), Text("Open in Slack"), Text("Start again")
_IN_WORKSPACE = Text("The bot is in {name}.")
_IN_ORGANISATION = Text(
    "{name} has the bot. An admin of the organisation adds it to its workspaces."
)
_HOW_TO_BEGIN = Text(
    "Write to it directly, or invite it to a channel with /invite and mention it there."
)
_OTHERWISE = (
    Text("Nothing was installed"),
    Text("Slack ended the installation. Please start again."),
)

_PAGE = """<!doctype html>
<html lang="{language}"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<style>
body {{ font: 17px/1.5 system-ui, sans-serif; max-width: 34rem; margin: 15vh auto; padding: 0 1.5rem }}
h1 {{ font-size: 1.6rem; margin-bottom: .4rem }}
a, button {{ display: inline-block; margin-top: 1rem; padding: .6rem 1.2rem; border: 0; border-radius: .4rem; background: #4a154b; color: #fff; font: inherit; text-decoration: none; cursor: pointer }}
output {{ display: block; margin: 1rem 0; font: 600 2.2rem/1 ui-monospace, monospace; letter-spacing: .25em }}
@media (prefers-color-scheme: dark) {{ a, button {{ background: #7c3085 }} }}
</style></head>
<body><h1>{title}</h1><p>{text}</p>{more}</body></html>
"""


def install_page(url: str) -> str:
    """Return the first page; `url` is Slack's page that asks for consent."""
    return page(_ADD_TITLE(), _ADD_TEXT(), _link(url, _ADD()))


def installed_page(name: str, *, app: str, team: str) -> str:
    """Return the page after success. Without a `team` the app was installed for an organisation."""
    where = _IN_WORKSPACE if team else _IN_ORGANISATION
    text = f"{where(name=name)} {_HOW_TO_BEGIN()}"
    url = f"https://slack.com/app_redirect?app={quote(app)}{f'&team={quote(team)}' if team else ''}"
    return page(_INSTALLED(), text, _link(url, _OPEN()))


def failed_page(reason: str) -> str:
    """Return the page after a failure; `reason` is the error code of Bolt or Slack."""
    title, text = _FAILED.get(reason, _OTHERWISE)
    return page(title(), text(), _link("/slack/install", _START_AGAIN()))


def page(title: str, text: str, more: str = "") -> str:
    """Return a page; `more` is HTML."""
    language = reader_locale().partition("-")[0]
    return _PAGE.format(language=language, title=escape(title), text=escape(text), more=more)


def _link(url: str, text: str) -> str:
    return f'<a href="{escape(url)}">{escape(text)}</a>'
