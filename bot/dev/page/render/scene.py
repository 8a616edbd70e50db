"""The names around a message, for the renderers."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.dev.page.words import worded
from bot.dev.workspace.store.state import SLACKBOT


@dataclass(frozen=True)
class Scene:
    """Names as one viewer sees them. Every mapping is id → display name."""

    viewer: str = ""
    bot: str = ""
    locale: str = "en-US"
    is_admin: bool = False
    people: Mapping[str, str] = field(default_factory=dict)
    channels: Mapping[str, str] = field(default_factory=dict)
    archived: frozenset[str] = frozenset()  # channels that no picker offers

    def person(self, user_id: str) -> str:
        """Return the display name; the id itself for an unknown person."""
        return self.people.get(user_id, "Slackbot" if user_id == SLACKBOT else user_id)

    def say(self, text: str, /, **values: object) -> str:
        """Return the page's own words in the viewer's language."""
        return worded(text, self.locale, **values)
