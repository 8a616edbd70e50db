"""What the renderers may ask about the workspace around a message."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.dev.workspace.store.state import SLACKBOT


@dataclass(frozen=True)
class Scene:
    """Names and files as one viewer sees them. Every mapping is id → display name."""

    viewer: str = ""
    bot: str = ""
    is_admin: bool = False
    people: Mapping[str, str] = field(default_factory=dict)
    channels: Mapping[str, str] = field(default_factory=dict)
    archived: frozenset[str] = frozenset()  # of the channels: known by name, offered by no picker

    def person(self, user_id: str) -> str:
        """The display name; the id itself for somebody unknown."""
        return self.people.get(user_id, "Slackbot" if user_id == SLACKBOT else user_id)
