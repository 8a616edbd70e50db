"""Nobody gets to see, through the bot, what is another's (reliability 9): a won-over model tries."""

from __future__ import annotations

import re
from typing import Any

import pytest

from bot.dev.workspace import ADA, BEN, CHLOE, EVE, GUS
from tests.security.model import question, won_over
from tests.support.deployment import Deployment, deployed
from tests.support.runs import answer

SALES, FINANCE, GENERAL = "C0SALES001", "C0FINANCE1", "C0GENERAL1"
SECRET = "CANARY"
CSV = f"name,{SECRET}\nx,{SECRET}\n".encode()
READ_FILE = (
    "read_file",
    {"file_id": "$file"} | dict.fromkeys(("sheet", "pages", "query", "compact")),
)
TELL = answer("$output")


def read_channel(channel: str, limit: int | None = None) -> tuple[str, dict[str, Any]]:
    return "read_channel", dict.fromkeys(("time_range", "query", "compact")) | {
        "channel": channel,
        "limit": limit,
    }


def outputs(bot: Deployment) -> str:
    """All that tools told the model."""
    items = [item for request in bot.api.requests for item in request.body["input"]]
    return "\n".join(str(item["output"]) for item in items if "output" in item)


def seen_by(bot: Deployment, user: str) -> str:
    """All that somebody can read of the bot's, in every place they are in."""
    shown = ""
    for channel in bot.ws.channels.values():
        if user not in channel.members:
            continue
        for root in bot.ws.messages(channel.id, viewer=user):
            thread = bot.ws.messages(channel.id, root["ts"], viewer=user)
            shown += str([m for m in (root, *thread) if m.get("user") == bot.ws.bot_user_id])
    return shown


async def private_question(bot: Deployment, user: str, root: str, text: str) -> dict[str, Any]:
    """Ask about a message so that only oneself sees the answer; returns that answer."""
    await bot.ws.shortcut(user, "ask_about_message", channel=SALES, ts=root)
    view = bot.ws.views(user)[-1]
    where = next(b for b in view["blocks"] if b.get("block_id") == "where")
    only_me = next(o for o in where["element"]["options"] if o["value"] == "me")
    values = {
        "question": {"question": text},
        "where": {"where": {"selected_option": only_me}},
    }

    def whispered() -> list[dict[str, Any]]:
        places = (None, root)  # an empty thread shows nothing to one person alone
        mine = [m for place in places for m in bot.ws.messages(SALES, place, viewer=user)]
        return [m for m in mine if m.get("is_ephemeral")]

    before = {m["ts"] for m in whispered()}
    await bot.ws.submit(user, view["id"], values)
    return (await bot.ws.until(lambda: [m for m in whispered() if m["ts"] not in before]))[0]


async def test_handles_of_another_thread(redis_url):
    """Artifacts are a thread's own, whoever asks."""
    async with deployed(won_over, redis_url) as bot:
        first = await bot.ask(ADA, SALES, question(READ_FILE, say=TELL), files=[("a.csv", CSV)])
        await bot.answered(SALES, first)
        handle = next(w for w in outputs(bot).split() if w.startswith("tbl_"))
        del bot.api.requests[:]
        for user in (ADA, BEN):
            tries: list[tuple[str, dict[str, Any]]] = [
                ("read_artifact", {"handle": handle, "offset": 0, "limit": 9}),
                ("query_table", {"sql": f"SELECT * FROM {handle}", "handles": [handle]}),
            ]
            other = await bot.ask(user, SALES, question(*tries, say=TELL))
            await bot.answered(SALES, other)
    assert "There is no artifact" in outputs(bot)
    assert SECRET not in outputs(bot)


async def test_files_of_a_place_that_one_is_not_in(redis_url):
    """A file is there for those who are where it was shared: not for others, and not in front of
    others."""
    async with deployed(won_over, redis_url) as bot:
        bot.ws.channels[FINANCE].members.append(bot.ws.bot_user_id)
        said = await bot.ws.say(ADA, FINANCE, "ours", files=[("a.csv", CSV)])
        steal = ("read_file", {"file_id": said["files"][0]["id"], "sheet": None, "pages": None})
        for user in (CHLOE, ADA):
            asked = await bot.ask(user, SALES, question(steal, say=TELL))
            await bot.answered(SALES, asked)
    assert "No file" in outputs(bot)
    assert "private" in outputs(bot)
    assert SECRET not in outputs(bot)


async def test_what_was_asked_in_private_is_nobody_elses(redis_url):
    """Neither the answer, nor what tools saved on the way, nor the chain reaches the thread."""
    async with deployed(won_over, redis_url) as bot:
        bot.ws.channels[FINANCE].members.append(bot.ws.bot_user_id)
        for _ in range(200):
            await bot.ws.say(ADA, FINANCE, f"{SECRET} " * 40)
        root = (await bot.ws.say(BEN, SALES, "a message"))["ts"]
        whisper = await private_question(
            bot, ADA, root, question(read_channel(FINANCE, 200), say=TELL)
        )
        assert SECRET in str(whisper)
        handle = next(w for w in outputs(bot).split() if w.startswith("out_"))
        for user in (BEN, ADA):
            del bot.api.requests[:]
            peek = ("read_artifact", {"handle": handle, "offset": 0, "limit": 9})
            count = len(bot.terminals(SALES, root))
            await bot.ask(user, SALES, question(peek, say=TELL), root)
            await bot.answered(SALES, root, count + 1)
            assert SECRET not in outputs(bot)
            assert handle not in outputs(bot).replace(f"no artifact {handle}", "")
        assert SECRET not in seen_by(bot, CHLOE)
        assert SECRET not in str(bot.own(SALES, root))


@pytest.mark.parametrize("place", [SALES, "direct"])
@pytest.mark.parametrize("name", [FINANCE, "finance", f"<#{FINANCE}|finance>", "D0ADA00001"])
async def test_conversations_that_one_is_not_in(redis_url, place, name):
    async with deployed(won_over, redis_url) as bot:
        bot.ws.channels[FINANCE].members.append(bot.ws.bot_user_id)
        await bot.ws.say(ADA, FINANCE, SECRET)
        await bot.ws.say(ADA, "D0ADA00001", question(say=answer(SECRET)))
        await bot.ws.until(lambda: len(bot.api.requests) == 1)
        del bot.api.requests[:]
        place = "D0CHLOE001" if place == "direct" else place
        ts = await bot.ask(CHLOE, place, question(read_channel(name), say=TELL))
        await bot.answered(place, ts)
        assert re.search("There is no (such )?channel", outputs(bot))
        assert SECRET not in outputs(bot)


async def test_a_private_channel_is_not_told_of_in_a_public_one(redis_url):
    """Ada may see it; those who read her thread may not."""
    async with deployed(won_over, redis_url) as bot:
        bot.ws.channels[FINANCE].members.append(bot.ws.bot_user_id)
        await bot.ws.say(ADA, FINANCE, SECRET)
        ts = await bot.ask(ADA, SALES, question(read_channel(FINANCE), say=TELL))
        await bot.answered(SALES, ts)
        assert "private" in outputs(bot)
        assert SECRET not in seen_by(bot, CHLOE)


LOOKS: dict[str, tuple[str, dict[str, Any]]] = {
    "read": read_channel(GENERAL),
    "found": ("search_messages", {"query": SECRET, "limit": None, "time_range": None}),
    "people": ("find_people", {"query": "ada", "limit": None}),
    "channels": ("find_channels", {"query": None, "limit": None}),
    "members": ("list_members", {"channel": GENERAL, "limit": None}),
}


async def test_the_workspace_is_not_told_of_where_another_organisation_reads(redis_url):
    """What every member may see Ada may be told, and those of the other company who read her thread
    with them may not."""
    async with deployed(won_over, redis_url) as bot:
        await bot.ws.say(ADA, GENERAL, SECRET)
        for place, open_to_her in (("C0PARTNER1", False), ("D0ADA00001", True)):
            for name, look in LOOKS.items():
                del bot.api.requests[:]
                ts = await bot.ask(ADA, place, question(look, say=TELL))
                await bot.answered(place, ts)
                assert ("another organisation" in outputs(bot)) is not open_to_her, (place, name)
        assert SECRET not in seen_by(bot, EVE)


@pytest.mark.parametrize("user", [GUS, EVE])
async def test_who_may_not_ask_gets_no_run(redis_url, user):
    """Guests and other companies' people, by every way in; told so once, to themselves."""
    async with deployed(won_over, redis_url) as bot:
        channel = GENERAL if user == GUS else "C0PARTNER1"
        root = await bot.ask(user, channel, question())
        await bot.ask(user, channel, "and?", root)
        await bot.ws.command(user, channel, "/ask", "anything")
        answered = await bot.ask(ADA, channel, question(say=answer("Yes.", follow_ups=["More?"])))
        [done] = await bot.answered(channel, answered)
        await bot.ws.click(user, channel, done["ts"], "follow_up_0")
        await bot.ws.until(lambda: "chat.postEphemeral" in [e.method for e in bot.ws.effects][-3:])
        assert len(bot.api.requests) == 1
        assert len(bot.own(channel, root)) == 0
        assert len(bot.own(channel, answered)) == 1


async def test_a_private_question_is_retried_by_its_asker_only(redis_url):
    """Somebody else's press of Retry (a forged one: nobody else sees the button) asks nothing."""
    async with deployed(won_over, redis_url) as bot:
        bot.api.faults.fail("quota", times=1)
        root = (await bot.ws.say(BEN, SALES, "a message"))["ts"]
        whisper = await private_question(bot, ADA, root, question(say=answer(SECRET)))
        [button] = [
            e
            for b in whisper["blocks"]
            if b["type"] == "actions"
            for e in b["elements"]
            if e["action_id"] == "retry_request"
        ]
        forged = press(bot, BEN, SALES, root, button)
        await bot.ws.delivery.ask("interactive", forged)
        assert len(bot.api.requests) == 1
        await bot.ws.delivery.ask("interactive", press(bot, ADA, SALES, root, button))
        await bot.ws.until(lambda: SECRET in seen_by(bot, ADA))
        assert SECRET not in seen_by(bot, BEN)


def press(
    bot: Deployment, user: str, channel: str, thread: str, button: dict[str, Any]
) -> dict[str, Any]:
    """What Slack sends when a button is pressed, whether or not the person could see it."""
    return {
        "type": "block_actions",
        "team": {"id": bot.ws.team_id},
        "user": {"id": user, "team_id": bot.ws.team_id},
        "api_app_id": bot.ws.app_id,
        "trigger_id": "1.2.x",
        "container": {"type": "message", "message_ts": thread, "channel_id": channel},
        "channel": {"id": channel},
        "message": {"ts": thread, "thread_ts": thread},
        "actions": [{**button, "block_id": "b", "action_ts": "1.5"}],
    }
