"""Profiles: how the bot answers, under a name, for any number of channels."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from bot.app.tool_loading import catalogue
from bot.core.check import Check, Level
from bot.core.errors import ConfigurationError
from bot.dev.model import ModelRequest, Reply, finish
from bot.dev.workspace import ADA, BEN
from bot.dev.workspace.events import interactivity
from bot.features.home.view import CHANNEL
from bot.features.profiles.forms import DELETE
from bot.features.profiles.home import CHANGE, CHOOSE, NEW
from bot.features.skills.settings import SkillSettings
from bot.model import ModelChoice
from bot.ops.doctor.features import examine_features
from bot.runs.policy.access import Policy
from bot.runs.policy.channels import ChannelSettings
from bot.settings import (
    ChannelTable,
    ModelSettings,
    ProfileTable,
    StoredProfiles,
    load_settings,
)
from bot.slack.ui.buttons import DETAILS, MENU
from bot.store import open_stores
from tests.support.deployment import Deployment, configured, deployed
from tests.support.runs import answer
from tests.unit.slack.test_home import home

GENERAL, SALES = "C0GENERAL1", "C0SALES001"
HANDBOOK, PRICES = "Answer from the handbook.", "Use the new price list."


def brain(_: ModelRequest) -> Reply:
    return finish(answer("Done.", key_points=["It was easy."]))


async def asked(bot: Deployment, channel: str) -> dict[str, Any]:
    """What the model is sent for a question in a channel."""
    thread = await bot.ask(BEN, channel, "How does that work?")
    await bot.answered(channel, thread)
    return bot.api.requests[-1].body


async def opened(bot: Deployment, action: str, value: str | None = None) -> dict[str, Any]:
    """The modal that an admin opens in the Home tab; all others are closed."""
    for view in reversed(bot.ws.views(ADA)):
        await bot.ws.close_view(ADA, view["id"])
    view = await home(bot, ADA, value or action)
    await bot.ws.click_in_view(ADA, view["id"], action, value=value)
    return (await bot.ws.until(lambda: bot.ws.views(ADA)))[-1]


MANY = tuple(tool.name for tool in catalogue().tools)
"""Tools that, joined with the three patterns of a profile, fill more than a field of a form."""


def written(**fields: str) -> dict[str, Any]:
    """What somebody writes into a form, or chooses."""
    return {name: {name: value} for name, value in fields.items()}


def options(form: dict[str, Any], name: str) -> list[str]:
    """The values that a form offers in a field."""
    [field] = [block for block in form["blocks"] if block.get("block_id") == name]
    return [option["value"] for option in field["element"]["options"]]


async def doctor(bot: Deployment, redis_url: str, **settings: Any) -> list[Check]:
    """What `bot doctor` says of profiles."""
    checks = examine_features(configured(bot.ws, bot.api, redis_url, **settings))
    found = await checks.pop("profiles")
    for other in checks.values():
        other.close()  # type: ignore[attr-defined]
    return found


async def test_a_channel_follows_its_profile_in_all_that_it_does_not_say_itself(
    redis_url: str, tmp_path: Path
) -> None:
    """From bot.toml, then from the Home tab: edited, the next question follows; restored; deleted, the
    channel is like one without, and its form and `bot doctor` say so."""
    refunds = tmp_path / "refunds" / "SKILL.md"
    refunds.parent.mkdir()
    refunds.write_text("---\nname: refunds\ndescription: Refunds\n---\nRefund at once.", "utf-8")
    settings: dict[str, Any] = {
        "profiles": {
            "support": ProfileTable(
                title="Support",
                instructions=HANDBOOK,
                model="fast",
                tools=("time", "*time*", "current_*"),
            )
        },
        "channels": {
            "default": ChannelTable(tools=("time", "math", "skills", *MANY)),
            GENERAL: ChannelTable(profile="support", style="In Latin."),
        },
        "skills": SkillSettings(paths=(tmp_path,)),
        "model": ModelSettings(choices=(ModelChoice(name="fast", model="gpt-6-mini"),)),
    }
    async with deployed(brain, redis_url, **settings) as bot:
        sent = await asked(bot, GENERAL)
        assert f"In this channel\n{HANDBOOK}\n" in sent["instructions"]
        assert "How answers here are written\nIn Latin.\n" in sent["instructions"]
        assert sent["model"] == "gpt-6-mini"
        assert "calculate" not in str(sent["tools"])
        assert HANDBOOK not in (await asked(bot, SALES))["instructions"]

        # An admin has it answer in another channel, with instructions of that channel's own.
        form = await opened(bot, CHANNEL, SALES)
        assert form["blocks"][0]["block_id"] == "profile"
        assert await bot.ws.submit(ADA, form["id"], written(profile="profile:support")) == {}
        form = await opened(bot, CHANNEL, SALES)
        assert "As in the profile Support" in str(form)
        assert "Differs from" not in str(form)
        assert "time&time" not in str(form)  # its tools are no text to change
        assert await bot.ws.submit(ADA, form["id"], written(instructions=PRICES)) == {}
        sent = await asked(bot, SALES)
        assert PRICES in sent["instructions"]
        assert sent["model"] == "gpt-6-mini"
        form = await opened(bot, CHANNEL, SALES)
        assert "Differs from the profile Support. Empty: as in the profile." in str(form)
        await bot.ws.submit(ADA, form["id"], written(instructions=""))

        # She makes one, and takes it for both channels.
        form = await opened(bot, NEW)
        new = written(name="desk", title="Front *desk*", instructions="Be brief.")
        new |= written(tools="math, skills", load="refunds")
        assert await bot.ws.submit(ADA, form["id"], new) == {}
        for channel in (GENERAL, SALES):
            form = await opened(bot, CHANNEL, channel)
            await bot.ws.submit(ADA, form["id"], written(profile="profile:desk"))
            sent = await asked(bot, channel)
            assert "Be brief." in sent["instructions"]
            assert ("In Latin." in sent["instructions"]) is (channel == GENERAL)
            assert HANDBOOK not in sent["instructions"]
            assert "calculate" in str(sent["tools"])
            assert "Refund at once." in str(sent["input"])
        form = await opened(bot, CHANGE, "desk")
        await bot.ws.submit(ADA, form["id"], written(instructions="Be kind."))
        assert "Be kind." in (await asked(bot, SALES))["instructions"]
        form = await opened(bot, CHANGE, "desk")
        [_, earlier] = options(form, "earlier")
        await bot.ws.submit(ADA, form["id"], written(earlier=earlier))
        assert "Be brief." in (await asked(bot, SALES))["instructions"]
        [listed] = await doctor(bot, redis_url, **settings)
        assert listed.text == f"support: no channel; desk: {GENERAL}, {SALES}"

        # Another answers direct messages; who it was is in the details of an answer.
        form = await opened(bot, CHOOSE)
        await bot.ws.submit(
            ADA, form["id"], written(channels="profile:desk", direct="profile:support")
        )
        direct = bot.ws.state.direct(BEN)
        assert direct
        thread = str((await bot.ws.say(BEN, direct.id, "Hello?"))["ts"])
        [message] = await bot.answered(direct.id, thread)
        assert HANDBOOK in bot.api.requests[-1].body["instructions"]
        blocks = [block for part in bot.own(direct.id, thread) for block in part["blocks"]]
        elements = [element for block in blocks for element in block.get("elements", ())]
        [menu] = [element for element in elements if element.get("action_id") == MENU]
        [details] = [each["value"] for each in menu["options"] if DETAILS in each["value"]]
        await bot.ws.click(BEN, direct.id, message["ts"], MENU, value=details)
        assert "*Profile*\\nSupport" in str(await bot.ws.until(lambda: bot.ws.views(BEN)))

        form = await opened(bot, CHANGE, "desk")
        await bot.ws.click_in_view(ADA, form["id"], DELETE)
        await bot.ws.until(lambda: "is deleted" in str(bot.ws.views(ADA)))
        assert HANDBOOK in (await asked(bot, GENERAL))["instructions"]  # as bot.toml says
        sent = await asked(bot, SALES)
        assert "In this channel" not in sent["instructions"]
        assert "calculate" in str(sent["tools"])
        assert "none (desk was chosen, and is gone)" in str(await home(bot, ADA, CHOOSE))
        form = await opened(bot, CHANNEL, SALES)
        assert "The profile desk of this channel no longer exists" in str(form)
        wrong = [check for check in await doctor(bot, redis_url, **settings) if check.fix]
        assert {check.level for check in wrong} == {Level.WARNING}
        assert [check.text for check in wrong] == [
            f"answers in {place} should follow the profile desk, which is gone"
            for place in (GENERAL, SALES, "channels without one")
        ]

        async with open_stores(redis_url) as stores, Redis.from_url(redis_url) as redis:
            log = [each.entry async for each in stores.audit.read(bot.ws.team_id)]
            await stores.erasure.person(ADA)  # who made them: they are the workspace's
            assert await stores.profiles.load(bot.ws.team_id, StoredProfiles)
            await stores.erasure.workspace(bot.ws.team_id)
            assert not [key async for key in redis.scan_iter("bot:v1:profile*")]
    changes = [entry.what for entry in log if entry and "profile" in entry.what]
    assert changes[:2] == [
        "channel settings: profile",
        "profile desk: instructions, load, title, tools",
    ]
    assert changes[-2:] == [
        "profiles for all: channels desk, direct messages support",
        "profile desk: deleted",
    ]


async def test_a_profile_permits_nothing_and_only_admins_change_it(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has no field of what is permitted, in bot.toml, in the form or in Redis; and a form that
    somebody else sends, or an invented one, changes nothing."""
    of_channels_alone = ChannelSettings.model_fields.keys() - ProfileTable.model_fields.keys()
    assert of_channels_alone >= {
        *("people", "allow_guests", "allow_external", "confirm"),
        *("limits", "budgets", "extra", "follow", "during_run", "profile"),
    }
    wrong = {
        "[profiles.x]\nconfirm = 'never'": "profiles.x.confirm: there is no such key",
        "[profiles.x]\nmodel = 'dear'": "profiles.x.model: there is no choice dear",
        "[profiles.'Help desk']": "profiles.Help desk: a name has up to 30",
        f"[profiles.x]\ninstructions = '{'x' * 100_000}'": "profiles.x.instructions",
    }
    monkeypatch.setenv("BOT_CONFIG", str(tmp_path / "bot.toml"))
    for text, problem in wrong.items():
        (tmp_path / "bot.toml").write_text(text, "utf-8")
        with pytest.raises(ConfigurationError, match=problem):
            load_settings(_env_file=None)
    monkeypatch.undo()

    settings = {
        "profiles": {"ours": ProfileTable(instructions=HANDBOOK)},
        "access": Policy(confirm="always"),
        "channels": {"default": ChannelTable(tools=("time",), people=(ADA, BEN))},
    }
    async with deployed(brain, redis_url, **settings) as bot:
        team = bot.ws.team_id

        async def stored() -> set[str]:
            """The names of the profiles that are stored."""
            async with open_stores(redis_url) as stores:
                own = await stores.profiles.load(team, StoredProfiles)
            return {*own.profiles} if own else set()

        async def sent(form: dict[str, Any], **fields: str) -> dict[str, Any]:
            """Send a form as a client would that checks nothing."""
            view = copy.deepcopy(form)
            values: dict[str, Any] = {
                block["block_id"]: {block["block_id"]: {"value": None}}
                for block in view["blocks"]
                if block["type"] == "input"
            }
            for name, value in fields.items():
                values[name] = {name: {"value": value, "selected_option": {"value": value}}}
            view["state"] = {"values": values}
            payload = interactivity.submission(bot.ws, ADA, view)
            return await bot.ws.delivery.ask("interactive", payload)

        form = await opened(bot, NEW)
        for name in ("", "Desk", "../x", "__proto__", "a:b", "<!channel>", "x" * 31, "ours", "é"):
            assert (await sent(form, name=name)).get("errors", {}).keys() == {"name"}
        assert "teleport" in (await sent(form, name="x", tools="teleport"))["errors"]["tools"]
        await sent(form, name="x", instructions="x" * 100_000)
        await sent(form, name="x", title="x" * 61)
        assert await stored() == set()

        # A hostile title is text, and its tools are a selection.
        title = "<!channel> *\u202eAdmin* <https://evil.example|x>"
        await sent(form, name="x", title=title, instructions="Approve all.", tools="time, math")
        board = await home(bot, ADA, "&lt;!channel&gt; *Admin* &lt;https://evil.example|x&gt;")
        shown = [block["text"]["text"] for block in board["blocks"] if "text" in block]
        assert not [text for text in shown if "<!channel>" in text or "<https:" in text]
        choice = await opened(bot, CHOOSE)
        await bot.ws.submit(ADA, choice["id"], written(channels="profile:x"))
        body = await asked(bot, GENERAL)
        assert "Approve all." in body["instructions"]
        assert "calculate" not in str(body["tools"])
        assert "current_time" in str(body["tools"])

        # Two admins at once: the second is told, and takes nothing back.
        form = await opened(bot, CHANGE, "x")
        stale = copy.deepcopy(form)
        await bot.ws.submit(ADA, form["id"], written(instructions="Be kind."))
        assert (await sent(stale, instructions="Be rude.")).get("errors")
        ours = copy.deepcopy(stale)
        ours["private_metadata"] = ours["private_metadata"].replace('"x"', '"ours"')
        form = await opened(bot, CHANGE, "x")
        bot.ws.people[ADA].is_admin = False
        await sent(ours, instructions="Be rude.")
        await sent(form, instructions="Be rude.")
        await bot.ws.click_in_view(ADA, form["id"], DELETE)
        bot.ws.people[ADA].is_admin = True
        await sent(ours, instructions="Be rude.")
        instructions = (await asked(bot, GENERAL))["instructions"]
        assert "Be kind." in instructions
        assert "Be rude." not in instructions
        assert await stored() == {"x"}
        async with open_stores(redis_url) as stores:
            log = [each.entry async for each in stores.audit.read(team)]
    assert len([entry for entry in log if entry and not entry.ok and entry.what == "profiles"]) == 3
