"""People, channels and linked messages: within what the person who asked may see (reliability 9)."""

from __future__ import annotations

import random
import re
from collections.abc import AsyncGenerator

import pytest

from bot.core.context import RequestContext, bound_request
from bot.core.errors import ToolError
from bot.core.request import Entry, Request
from bot.dev.workspace import ADA, BEN, CHLOE, GUS, Workspace
from bot.services.artifact_documents import ArtifactDocuments
from bot.services.artifact_tables import ArtifactTables
from bot.slack.providers.channel_access import ReachableChannels
from bot.slack.providers.conversation import SlackConversation
from bot.slack.providers.directory import SlackDirectory
from bot.testing.artifacts import MemoryArtifacts
from tests.support.lag import loop_lag
from tests.unit.slack.rig import Rig, not_noted, wired
from tools.directory import find_channels, find_people, list_members
from tools.files import read_file, search_files
from tools.search import search_messages

TABLES = ArtifactTables(MemoryArtifacts())
GENERAL, FINANCE, SALES = "C0GENERAL1", "C0FINANCE1", "C0SALES001"


class Lookup:
    """The directory, and a conversation, for somebody's question in #general."""

    def __init__(self, ws: Workspace, rig: Rig) -> None:
        self.ws = ws
        channels = ReachableChannels(rig.slack)
        self.directory = SlackDirectory(rig.slack, channels)
        self.conversation = SlackConversation(rig.slack, channels, not_noted)

    def by(self, user: str, action_token: str = "", thread: str = "1.0"):
        request = Request(
            entry=Entry.MENTION,
            team=self.ws.team_id,
            channel=GENERAL,
            thread=thread,
            ts=thread,
            user=user,
            text="?",
            action_token=action_token,
        )
        return bound_request(RequestContext(request=request, run_id="run_1"))


@pytest.fixture
async def look(ws: Workspace) -> AsyncGenerator[Lookup]:
    async with wired(ws) as rig:
        yield Lookup(ws, rig)


async def test_people_are_found_by_name(look: Lookup) -> None:
    """With what is needed to name them and to know whether they are awake; asked of Slack once."""
    with look.by(ADA):
        said = await find_people("okafor", look.directory)
        await find_people("ada", look.directory)
        with pytest.raises(ToolError, match="No people fit"):
            await find_people("nobody of that name", look.directory)
    assert said.splitlines()[1].startswith(f"{BEN} · Ben Okafor")
    assert len([e for e in look.ws.effects if e.method == "users.list"]) == 1


async def test_channels_are_found_and_private_ones_are_not(look: Lookup) -> None:
    with look.by(ADA):
        said = await find_channels(look.directory)
        assert (await look.directory.channel("#sales")).members
    assert "#general" in said
    assert FINANCE not in said


async def test_a_guest_cannot_look_through_the_workspace(look: Lookup) -> None:
    with look.by(GUS), pytest.raises(ToolError, match="Guests and people from outside"):
        await look.directory.people()


async def test_who_is_in_a_private_channel_is_not_told_in_a_public_one(look: Lookup) -> None:
    with look.by(ADA):
        assert "Ben Okafor" in await list_members("general", look.directory, limit=20)
        with pytest.raises(ToolError):
            await look.directory.members(FINANCE, limit=20)


async def test_a_link_leads_to_its_thread(look: Lookup) -> None:
    """And a reaction gets on its message; a link to elsewhere, or to what they may not see, leads
    nowhere."""
    root = await look.ws.say(BEN, GENERAL, "The plan")
    reply = await look.ws.say(ADA, GENERAL, "Agreed", thread_ts=root["ts"])
    base = f"{look.conversation._identity.url}archives"
    url = f"{base}/{GENERAL}/p{reply['ts'].replace('.', '')}?thread_ts={root['ts']}&cid={GENERAL}"
    with look.by(ADA):
        found = await look.conversation.linked(url, limit=10)
        await look.conversation.react(url, "eyes")
        await look.conversation.react(url, "eyes")
        for wrong in ("https://evil.example/archives/C0GENERAL1/p1700000000000000", f"{base}/x"):
            with pytest.raises(ToolError, match="no link to a message of this workspace"):
                await look.conversation.linked(wrong, limit=10)
        with pytest.raises(ToolError):
            await look.conversation.linked(f"{base}/{FINANCE}/p1700000000000000", limit=10)
    assert [each.text for each in found] == ["The plan", "Agreed"]
    message = look.ws.store.get(GENERAL, reply["ts"])
    assert message is not None
    [reaction] = message["reactions"]
    assert reaction["name"] == "eyes"


SECRET = "The turtle budget is secret"


async def _turtles(ws: Workspace) -> str:
    """Two public messages, one in a channel without the bot, and a private one where it is."""
    ws.channels[FINANCE].members = list({*ws.channels[FINANCE].members, ADA, ws.bot_user_id})
    ws.channels[SALES].members = [m for m in ws.channels[SALES].members if m != ws.bot_user_id]
    await ws.say(BEN, SALES, "Turtle budget of sales")
    await ws.say(ADA, FINANCE, SECRET)
    said = await ws.say(BEN, GENERAL, "The turtle budget is 40")
    return f"{ws.url}archives/{GENERAL}/p{said['ts'].replace('.', '')}"


async def test_slack_searches_all_public_channels_in_the_askers_name(look: Lookup) -> None:
    """The bot need not be in them; each result is a source, nothing private is among them."""
    url = await _turtles(look.ws)
    with look.by(ADA, look.ws.new_action_token(ADA)):
        found = await search_messages("turtle budget", look.directory, TABLES)
        none = await search_messages("turtle", look.directory, TABLES, time_range="/2020-01-01")
    assert "searched: Slack's search over all public channels" in found.content
    assert "Turtle budget of sales" in found.content
    assert url in [each.url for each in found.sources]
    assert SECRET not in found.content
    assert none.content.startswith("0 messages")


@pytest.mark.parametrize("why", ["no token", "expired", "forged", "no scope", "not enabled"])
async def test_without_slacks_search_the_bots_own_public_channels_are_searched(
    look: Lookup, why: str
) -> None:
    """And the result says so, and of how much: nobody takes it for the whole workspace."""
    url = await _turtles(look.ws)
    token = {"no token": "", "forged": "1.2.3"}.get(why, look.ws.new_action_token(ADA))
    if why == "expired":
        look.ws.clock.advance(3600)
    if why == "no scope":
        look.ws.state.missing_scopes.add("search:read.public")
    look.ws.state.search_enabled = why != "not enabled"
    with look.by(ADA, token):
        found = await search_messages("TURTLE budget", look.directory, TABLES)
    assert "only the last 200 messages" in found.content
    assert [each.url for each in found.sources] == [url]
    assert SECRET not in found.content
    assert "of sales" not in found.content


async def test_a_guest_cannot_search_nor_a_private_result_get_through(look: Lookup) -> None:
    """Even where Slack's search would answer; what it says of a channel is not relied on."""
    await _turtles(look.ws)
    with look.by(GUS, look.ws.new_action_token(GUS)), pytest.raises(ToolError, match="Guests"):
        await search_messages("turtle", look.directory, TABLES)
    assert not [e for e in look.ws.effects if e.method == "assistant.search.context"]
    names = await look.directory._search._public_names({GENERAL, FINANCE})
    assert set(names) == {GENERAL}


async def test_long_file_names_keep_nobody_waiting(look: Lookup) -> None:
    """K10: any member can upload files of any name; the near ones are looked for beside the loop."""
    dice = random.Random(1)

    def word(length: int) -> str:
        return "".join(dice.choices("ab", k=length))

    for _ in range(8):
        files = [(f"{word(200)}.txt", b"x") for _ in range(50)]
        await look.ws.say(BEN, SALES, "", files=files)
    with look.by(ADA):
        async with loop_lag() as lag:
            found = await search_files(word(195), look.conversation)
    assert "0 files" in found.content
    assert lag.longest < 0.3


async def test_no_namesake_is_read_in_the_place_of_a_file(look: Lookup) -> None:
    """K10: the file of the channel comes before newer ones elsewhere; among several elsewhere the model
    names one by its id, and a name that only has the words in it is none."""

    async def read(name: str) -> str:
        documents = ArtifactDocuments(MemoryArtifacts())
        return (await read_file(name, look.conversation, documents)).content

    for user, channel, name, amount in (
        (BEN, GENERAL, "budget.csv", 100),
        (CHLOE, SALES, "budget.csv", 999),
        (BEN, SALES, "costs.csv", 200),
        (CHLOE, SALES, "costs.csv", 998),
        (CHLOE, SALES, "plan.csv of mallory.csv", 666),
        (BEN, SALES, "only.csv", 300),
    ):
        data = f"item,eur\nrent,{amount}\n".encode()
        await look.ws.say(user, channel, "", files=[(name, data)])
    question = await look.ws.say(ADA, GENERAL, "?")
    with look.by(ADA, thread=question["ts"]):
        assert "rent,100" in await read("budget.csv")
        assert "rent,300" in await read("only.csv")
        with pytest.raises(ToolError, match=r"2 files are called costs\.csv") as several:
            await read("costs.csv")
        with pytest.raises(ToolError, match=r"is called plan\.csv.*Similar: F.*mallory"):
            await read("plan.csv")
    assert re.findall(r"(\w+ \w+) · #sales", str(several.value)) == ["Chloe Martin", "Ben Okafor"]
