"""The settings of channels, from bot.toml and from what admins changed in Slack."""

from __future__ import annotations

from bot.runs.policy.channels import Channels, Profiles
from bot.settings import ChannelTable, Settings, StoredProfiles
from bot.store import Stores


def channel_policy(settings: Settings, stores: Stores) -> Channels:
    """Return the settings of every channel."""
    profiles = Profiles(settings.profiles, settings.direct.profile, stores.profiles, StoredProfiles)
    return Channels(settings.channels, stores.channels, ChannelTable, profiles)
