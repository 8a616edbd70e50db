"""The conversations of one person, as the sidebar lists them."""

from typing import Any

from bot.dev.workspace import Channel, Person, Workspace

Json = dict[str, Any]

LANGUAGES = {
    "en-US": "English",
    "de-DE": "Deutsch",
    "es-ES": "Español",
    "fr-FR": "Français",
    "ja-JP": "日本語",
    "pt-BR": "Português",
}
"""The languages that a person may choose in Slack's preferences, by locale; Slack has more."""


def visible(ws: Workspace, user: str) -> list[Channel]:
    """Return the person's conversations: channels first, in the workspace's order."""
    own = [c for c in ws.channels.values() if user in c.members and not c.archived]
    return sorted(own, key=lambda channel: channel.is_direct)


def title(ws: Workspace, channel: Channel | None, viewer: str) -> str:
    """Return the title of the conversation for this person."""
    if channel is None:
        return "No conversation"
    name = name_of(ws, channel, viewer)
    return name if channel.is_direct else f"#{name}"


def name_of(ws: Workspace, channel: Channel, viewer: str) -> str:
    """Return the name of a conversation; a direct message has the names of the others in it."""
    if not channel.is_direct:
        return channel.name
    everyone = ws.state.everyone()
    others = [member for member in channel.members if member != viewer]
    return ", ".join(everyone[m].real_name if m in everyone else m for m in others)


def other_in(channel: Channel, viewer: str) -> str:
    """Return the first other member of a conversation, or the viewer without one."""
    return next((member for member in channel.members if member != viewer), viewer)


def sidebar(ws: Workspace, user: str) -> Json:
    """Return values for the template: the agent, channels, direct messages, people to act as."""
    own = visible(ws, user)
    own_dm = ws.state.direct(user)
    others = [c for c in own if c.is_direct and c is not own_dm]

    def listed(channel: Channel) -> Json:
        return {
            "id": channel.id,
            "name": name_of(ws, channel, user),
            "private": channel.kind == "private",
            "person": other_in(channel, user),
        }

    return {
        "dm": listed(own_dm) if own_dm else None,
        "channels": [listed(c) for c in own if not c.is_direct],
        "direct": [listed(c) for c in others],
        "languages": LANGUAGES,
        "language": _language_of(ws.people[user]),
        "people": [_person(each) for each in ws.people.values() if not each.is_deactivated],
    }


def _language_of(person: Person) -> str:
    """Return the person's locale, or that of the list with the same language."""
    same = (locale for locale in LANGUAGES if locale[:2] == person.locale[:2])
    return next(same, person.locale)


def _person(person: Person) -> Json:
    """Return a person to act as, with a note on their role."""
    notes = {
        "guest": person.is_guest,
        "external": person.is_external,
        "admin": person.is_admin,
        "app": person.is_bot,
    }
    note = next((note for note, applies in notes.items() if applies), "")
    return {"id": person.id, "name": person.real_name, "note": note}
