"""What is different in one channel."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from bot.app.tool_loading import catalogue
from bot.core.outcome import StopReason
from bot.dev.model import Script, call, finish
from bot.runs.policy.channels import (
    ChannelLayers,
    Channels,
    ChannelSettings,
    Profile,
    ProfileFields,
)
from bot.settings import ChannelTable
from bot.store import Stores
from bot.toolkit import current_request, tool
from tests.support.runs import answer, bot_with

CHANNEL = "C1"
ADD = call("calculate", {"expression": "1+1"})


async def test_the_model_is_told_what_an_admin_wrote_for_the_channel(stores: Stores) -> None:
    """The bot's own instructions stand before them, so that the service's cache holds."""
    rules = {CHANNEL: ChannelTable(instructions="Answer in Latin.")}
    async with bot_with(stores, Script([finish(answer())]), channels=rules) as bot:
        await bot.ask("Hello?")
    told = bot.api.requests[0].body["instructions"]
    assert told.endswith("In this channel\nAnswer in Latin.\n")
    assert told.startswith("You are")


async def test_only_the_tools_of_the_channel_exist_there(stores: Stores) -> None:
    """By name, by group, by pattern; a call of another is refused by code, not by the model."""
    rules = {CHANNEL: ChannelTable(tools=("time", "read_*"))}
    script = Script([ADD, finish(answer())])
    async with bot_with(stores, script, channels=rules) as bot:
        await bot.ask("1+1?")
    assert "calculate" not in str(bot.api.requests[0].body["tools"])
    assert bot.outputs()[0].startswith("There is no tool calculate.")


async def test_limits_of_the_channel_replace_single_ones(stores: Stores) -> None:
    """G1: settable per channel; what is not named stays as everywhere."""
    rules = {CHANNEL: ChannelTable(limits={"turns": 2})}
    script = Script([ADD, finish(answer())])
    async with bot_with(stores, script, channels=rules) as bot:
        outcome = await bot.ask("1+1?")
    assert outcome.stop_reason is StopReason.MAX_TURNS
    assert len(bot.api.requests) == 2


async def test_what_an_admin_changes_counts_at_once_and_field_by_field(stores: Stores) -> None:
    configured = {CHANNEL: ChannelTable(instructions="Be brief.", follow="never")}
    channels = Channels(configured, stores.channels, ChannelTable)
    await stores.channels.save(f"T1:{CHANNEL}", ChannelTable(follow="always"))
    here = await channels.of("T1", CHANNEL)
    assert (here.instructions, here.follow) == ("Be brief.", "always")
    await stores.channels.forget(f"T1:{CHANNEL}")
    assert await channels.of("T1", CHANNEL) == configured[CHANNEL]


async def test_damaged_changes_are_set_aside(stores: Stores) -> None:
    """Reliability 8: the channel goes on as configured."""
    channels = Channels({CHANNEL: ChannelTable(follow="never")}, stores.channels)
    await stores.redis.call("SET", stores.redis.key("channel-edits", "T1", CHANNEL), "{")
    assert (await channels.of("T1", CHANNEL)).follow == "never"
    kept = await stores.redis.call("EXISTS", stores.redis.key("channel-edits", "T1", CHANNEL))
    assert not kept


TOOLS = catalogue()
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "title": st.sampled_from(("", "Support", "Sales")),
    "instructions": st.sampled_from(("", "Be brief.", "Be kind.")),
    "style": st.sampled_from(("", "In Latin.")),
    "tools": st.sampled_from((None, (), ("time",), ("read_*", "data"))),
    "model": st.sampled_from(("", "fast")),
}
OTHERS: dict[str, st.SearchStrategy[Any]] = {
    "profile": st.sampled_from(("", "support", "gone")),
    "people": st.sampled_from((None, ("U1",))),
    "confirm": st.sampled_from((None, "always")),
    "follow": st.sampled_from(("alone", "never")),
}


def some(
    kind: type[ProfileFields], values: dict[str, st.SearchStrategy[Any]]
) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries({}, optional=values).map(lambda given: kind(**given))


def offered(settings: ChannelSettings) -> set[str]:
    return {tool.name for tool in TOOLS.only(settings.tools).tools}


@given(
    some(ChannelSettings, VALUES | OTHERS),
    some(Profile, VALUES),
    some(ChannelSettings, VALUES | OTHERS),
    some(ChannelSettings, VALUES | OTHERS),
    some(ChannelSettings, VALUES | OTHERS),
)
def test_each_setting_is_that_of_the_last_who_says_it(
    general: ChannelSettings,
    profile: Profile,
    configured: ChannelSettings,
    edits: ChannelSettings,
    wanted: ChannelSettings,
) -> None:
    """First all channels, then the profile, bot.toml about the channel, and its admins. A profile says
    nothing of who may ask or what needs approval, and allows no tool that is not there without it.
    What an admin saves is what holds then, and only what differs is stored."""
    names = {"support": profile}
    layers = ChannelLayers(general, configured, edits, names, (general.own_profile,))
    chosen = (edits.own_profile, configured.own_profile, general.own_profile)
    named = next((name for name in chosen if name in ("", "support")), "")
    own = profile if named else Profile()
    for name in type(general).model_fields:
        said = [each for each in (general, own, configured, edits) if name in each.model_fields_set]
        if name == "profile" or (name in ("title", "tools") and said and said[-1] is own):
            continue
        expected = getattr(said[-1] if said else ChannelSettings(), name)
        if name == "title" and named and (not said or said[-1] is general):
            expected = "support"
        assert getattr(layers.settings, name) == expected, name
    assert layers.settings.profile == named
    first = next((name for name in chosen[:2] if name is not None), "")
    assert layers.missing_profile == ("gone" if first == "gone" else "")
    if not (edits.model_fields_set | configured.model_fields_set) & {"tools"}:
        assert offered(layers.settings) <= offered(general)
    wanted = wanted.model_copy(update={"profile": "support"})
    stored = layers.without_edits("support").edits_of(wanted)
    usual = (general.own_profile,)
    assert ChannelLayers(general, configured, stored, names, usual).settings == wanted


def test_a_limit_that_does_not_exist_is_refused() -> None:
    """A slip in bot.toml is one line that names it."""
    with pytest.raises(ValidationError, match="turn_count"):
        ChannelTable(limits={"turn_count": 3})


async def test_own_tools_know_what_is_configured_for_the_channel(stores: Stores) -> None:
    """D9: `extra` of the channel, also in a thread of a tool's; elsewhere it is empty."""

    @tool(group="own", summary="Says where it is", core=True)
    def project() -> str:
        "Says."
        return f"project {dict(current_request().extra)}"

    rules = {CHANNEL: ChannelTable(extra={"project": "apollo"})}
    script = Script([call("project", {}), finish(answer())])
    async with bot_with(stores, script, project.tool, channels=rules) as bot:
        await bot.ask("Which project?")
    assert bot.outputs() == ["project {'project': 'apollo'}"]
