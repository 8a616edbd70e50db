"""What operators see of profiles: lines of `bot doctor`, and how many runs each profile ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from prometheus_client import Counter
from typing_extensions import override

from bot.core.check import Check, ok, warning
from bot.core.outcome import Outcome
from bot.features import OperatorPart
from bot.features.profiles.home import uses_of
from bot.runs.policy.channels import Channels, Profiles
from bot.runs.run import Run
from bot.runs.run_parts import RunPart
from bot.store import Stores
from bot.store.connection import PREFIX

_FAMILIES = ("channel-edits", "profiles")  # whose keys name workspaces
_SUBJECT = "profiles"
_FIX = "choose another in the Home tab, or in bot.toml, or make a profile of that name"


class ProfilesForOperators(OperatorPart):
    """The lines of `bot doctor`, and the metric. `channels` opens the settings of channels."""

    def __init__(
        self, channels: Callable[[Stores], Channels], is_tool: Callable[[str], bool]
    ) -> None:
        self._channels, self._is_tool = channels, is_tool
        self.runs = Counter(
            "bot_profile_runs", "Runs that ended, by profile.", ["profile"], registry=None
        )
        self.metrics = (self.runs,)

    @override
    async def checks(self, stores: Stores | None) -> Sequence[Check]:
        """Return which channels have each profile, and what is wrong with profiles."""
        if stores is None:
            return ()
        channels = self._channels(stores)
        if channels.profiles is None:
            return ()
        teams = await _teams(stores) or [""]  # before anything is changed in Slack
        checks = list[Check]()
        for team in teams:
            checks += await self._checks_of(channels, channels.profiles, team)
        return list(dict.fromkeys(checks))

    async def _checks_of(self, channels: Channels, profiles: Profiles, team: str) -> list[Check]:
        known, own = await profiles.of(team), await profiles.own(team)
        used, missing = await uses_of(channels, team)
        lines = [
            f"{name}: {', '.join(used.get(name, ())) or 'no channel'}" for name in known.profiles
        ]
        checks = [ok(_SUBJECT, "; ".join(lines))] if lines else []
        for place, channel in (("channels without one", ""), ("direct messages", "D")):
            if name := (await channels.layers(team, channel)).missing_default:
                missing[place] = name
        checks += [
            warning(
                _SUBJECT,
                f"answers in {place} should follow the profile {name}, which is gone",
                _FIX,
            )
            for place, name in missing.items()
        ]
        for name in sorted(own.profiles.keys() & profiles.configured.keys()):
            text = f"{name} is in bot.toml and was made in Slack, too: that of bot.toml applies"
            checks.append(warning(_SUBJECT, text, "rename the one in bot.toml, or remove it there"))
        for name, profile in own.profiles.items():
            if unknown := [tool for tool in profile.tools or () if not self._is_tool(tool)]:
                text = f"{name}: there is no tool or group of tools {', '.join(unknown)}"
                checks.append(warning(_SUBJECT, text, "change its tools in the Home tab"))
        return checks


class CountsProfile(RunPart):
    """Counts the run by its profile."""

    def __init__(self, runs: Counter, run: Run) -> None:
        self._runs, self._name = runs, run.channel.profile

    @override
    async def on_end(self, outcome: Outcome) -> None:
        if self._name:
            self._runs.labels(self._name).inc()


async def _teams(stores: Stores) -> list[str]:
    """Return the workspaces in which admins have changed channels or profiles."""
    teams, cursor = set[str](), -1
    while cursor:
        scan = ("SCAN", max(cursor, 0), "MATCH", f"{PREFIX}:*", "COUNT", 500)
        cursor, keys = await stores.redis.call(*scan)
        for key in keys:
            parts = key.decode().removeprefix(f"{PREFIX}:").split(":")
            if parts[0] in _FAMILIES and len(parts) > 1:
                teams.add(parts[1])
    return sorted(teams)
