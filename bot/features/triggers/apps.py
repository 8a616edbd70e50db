"""The other apps of a channel, which Slack names only in their messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from bot.features.triggers.forms import APP_ID
from bot.features.triggers.judging import Posted
from bot.slack.edge.text import one_line
from bot.slack.edge.workspaces import Slack

_LOOKED_AT = 100  # messages


async def apps_in(slack: Slack, channel: str) -> dict[str, str]:
    """Return the names of the apps that have posted in a channel lately, by their ids; with the id behind
    a name that several have, because anybody can name an app as another.

    Raises SlackApiError and TRANSPORT_ERRORS.
    """
    page = await slack.clients.reads.conversations_history(channel=channel, limit=_LOOKED_AT)
    names = dict[str, str]()
    for message in page["messages"]:
        profile, app = message.get("bot_profile") or {}, Posted.of(message, channel).app
        if app and message.get("bot_id") != slack.identity.bot:
            name = one_line(str(profile.get("name") or message.get("username") or ""))
            names.setdefault(app, name or app)
    uses = Counter(map(str.casefold, names.values()))
    return {
        app: name if uses[name.casefold()] == 1 else f"{name} ({app})"
        for app, name in names.items()
    }


def ids_of(named: Sequence[str], there: dict[str, str]) -> tuple[tuple[str, ...], list[str]]:
    """Return the ids of apps that are named by name or id, and the names that are no app's."""
    by_name = {name.casefold(): app for app, name in there.items()}
    ids, unknown = dict[str, None](), list[str]()
    for name in named:
        app = name if APP_ID.fullmatch(name) else by_name.get(name.casefold(), "")
        if app:
            ids[app] = None
        else:
            unknown.append(name)
    return tuple(ids), unknown
