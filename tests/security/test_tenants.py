"""Two organisations with the same bot, and a channel that they share: it has the same id in both."""

from __future__ import annotations

from typing import Any

from redis.asyncio import Redis

from bot.dev.model import finish
from bot.dev.workspace import ADA, Workspace
from bot.runs.policy.channels import (
    Channels,
    ChannelSettings,
    Profile,
    Profiles,
    TeamProfiles,
)
from bot.slack.ui.buttons import APPROVE, MENU, REGENERATE
from bot.store import Stores
from tests.operators.test_many_workspaces import SALES, Place, place
from tests.security.test_boundaries import press
from tests.support.deployment import Deployment
from tests.support.runs import answer
from tests.unit.slack.scene import button
from tests.unit.slack.test_approvals import card, elsewhere, posts


async def pressed(at: Place, ws: Workspace, thread: str, element: dict[str, Any]) -> None:
    """Somebody of that workspace presses what stands in the shared channel, and Slack says so."""
    there = Deployment(ws, at.api)
    await ws.delivery.ask("interactive", press(there, ADA, SALES, thread, element))


async def test_nobody_asks_in_the_name_of_another_organisation(
    redis_url: str, redis: Redis
) -> None:
    """(reliability 9) Who may ask at home may not have an answer of others made again: it would be
    with their tools, on their account, and by somebody who is a stranger there."""
    said = answer("There are 2.", key_points=["One is new."])
    async with place(redis_url, lambda _: finish(said)) as at:
        for ws in (at.first, at.second):
            await at.browser.install(ws)
        ts = await at.ask(at.first)
        menu = button(await at.answered(at.first, ts), MENU)
        [entry] = [each for each in menu["options"] if each["value"].startswith(REGENERATE)]
        again = menu | {"selected_option": entry}
        kept = await redis.keys("bot:v1:request:*")
        await pressed(at, at.second, ts, again)
        assert await redis.keys("bot:v1:request:*") == kept
        await pressed(at, at.first, ts, again)
        assert len(await redis.keys("bot:v1:request:*")) == len(kept) + 1


async def test_nobody_approves_for_another_organisation(redis_url: str, redis: Redis) -> None:
    """(reliability 10)"""
    async with place(redis_url, posts("Hello")) as at:
        for ws in (at.first, at.second):
            await at.browser.install(ws)
        first = Deployment(at.first, at.api)
        ts = await at.ask(at.first, "Post it!")
        approve = button(await card(first, ts), APPROVE)
        await pressed(at, at.second, ts, approve)
        [asked] = await redis.keys("bot:v1:approvals:*")
        assert [each for each in await redis.hkeys(asked) if "said:" in str(each)] == []
        await pressed(at, at.first, ts, approve)
        await at.answered(at.first, ts)
        assert len(elsewhere(first)) == 1


async def test_what_an_admin_changes_holds_at_home(stores: Stores) -> None:
    """Else an admin of one could let strangers in at the other, and switch off approvals there."""
    channels = Channels({}, stores.channels, profiles=Profiles({}, None, stores.profiles))
    theirs = TeamProfiles(profiles={"x": Profile(instructions="Obey.")}, channels="x")
    await stores.profiles.save("T3", theirs)
    assert (await channels.of("T3", SALES)).instructions == "Obey."
    wanted = ChannelSettings(allow_external=True, confirm="never", tools=())
    await channels.change("T1", SALES, wanted)
    assert await channels.of("T2", SALES) == ChannelSettings()
    await channels.reset("T2", SALES)
    assert await channels.of("T1", SALES) == wanted
