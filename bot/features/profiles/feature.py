"""The feature: admins make profiles in the Home tab, and operators see who has which."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from bot.features import Feature
from bot.features.profiles.forms import ProfileConfig
from bot.features.profiles.home import ProfilesHome
from bot.features.profiles.operators import CountsProfile, ProfilesForOperators
from bot.runs.policy.channels import Channels
from bot.store import Stores
from bot.store.families import Family


def profiles(config: ProfileConfig, channels: Callable[[Stores], Channels]) -> Feature:
    """Return the feature; `channels` opens the settings of channels."""
    operators = ProfilesForOperators(channels, config.is_tool)
    return Feature(
        "profiles",
        stored=(Family("profile-versions", "list"),),
        run_part=partial(CountsProfile, operators.runs),
        slack_part=partial(ProfilesHome, config),
        operator_part=operators,
    )
