"""The Home tab: what everybody sees there, and what admins change."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from functools import partial
from typing import Any

from bot.app.features import all_features
from bot.core.budgets import Account, Budget, Pause, Spent
from bot.core.schedule import MOST, Schedule
from bot.dev.model import Script, call, finish
from bot.dev.workspace import ADA, BEN, GUS, Workspace
from bot.dev.workspace.blocks import check_view
from bot.features.home import home_words
from bot.features.home.settings_forms import RESET
from bot.features.home.view import CHANNEL, PAUSE, RESUME, SETTINGS, AdminView, home_view
from bot.features.memories.home import FORGET, memory_blocks
from bot.features.schedules.home import all_schedules, own_scheduled
from bot.features.schedules.message import ScheduledMessage
from bot.features.shortcuts.forms import ASK_ABOUT
from bot.mcp import McpServer, ServerStatus
from bot.runs.policy.access import Policy
from bot.runs.policy.budgets import Budgets, BudgetUse
from bot.runs.policy.preferences import Preferences
from bot.settings import ChannelTable, Settings
from bot.store import Position, open_stores
from bot.text.translation import reader
from bot.toolkit import Memory, MemoryScope
from tests.support.deployment import Deployment, deployed
from tests.support.runs import answer
from tests.unit.slack.rig import listening

GENERAL = "C0GENERAL1"


def answers(count: int) -> Script:
    return Script([finish(answer())] * count)


async def home(bot: Deployment, user: str, text: str) -> dict[str, Any]:
    """Somebody's Home tab, once it holds `text`."""
    await bot.ws.open_home(user)
    await bot.ws.until(lambda: text in str(bot.ws.home(user)))
    found = bot.ws.home(user)
    assert found is not None
    return found


async def form(bot: Deployment) -> dict[str, Any]:
    """The settings of a channel, opened by an admin."""
    view = await home(bot, ADA, "For admins")
    await bot.ws.click_in_view(ADA, view["id"], CHANNEL, value=GENERAL)
    await bot.ws.until(lambda: bot.ws.views(ADA))
    return bot.ws.views(ADA)[-1]


def filled(**changes: Any) -> dict[str, Any]:
    values: dict[str, Any] = {"instructions": "Answer in Latin.", "tools": "time, read_*"}
    return {name: {name: value} for name, value in (values | changes).items()}


async def test_who_may_not_ask_is_told_so_instead_of_how_to(redis_url: str) -> None:
    """A guest, unless guests are let in."""
    for policy, told in ((Policy(), False), (Policy(allow_guests=True), True)):
        async with deployed(answers(0), redis_url, access=policy) as bot:
            shown = str(await home(bot, GUS, "Hello, I am"))
            assert ("How to ask" in shown) is told
            assert ("questions from guests" in shown) is not told
            assert ("Your usage" in shown) is told  # they have none


async def test_only_admins_see_the_board_of_admins(redis_url: str) -> None:
    """What others spent is nobody else's business."""
    async with deployed(answers(1), redis_url) as bot:
        thread = await bot.ask(BEN, GENERAL, "hello?")
        await bot.answered(GENERAL, thread)
        board = await home(bot, ADA, f"<#{GENERAL}>")
        assert f"<@{BEN}>" in str(board)
        assert "For admins" not in str(await home(bot, BEN, "Hello, I am"))


async def test_an_admin_pauses_the_bot_and_lets_it_go_on(redis_url: str) -> None:
    async with deployed(answers(1), redis_url) as bot:
        view = await home(bot, ADA, PAUSE)
        await bot.ws.click_in_view(ADA, view["id"], PAUSE)
        view = await home(bot, ADA, RESUME)
        thread = await bot.ask(BEN, GENERAL, "hello?")
        await bot.ws.until(lambda: "paused by Ada" in bot.ws.status(GENERAL, thread).text)
        told = str(await home(bot, BEN, "Ada Lovelace paused me"))  # before they ask in vain
        assert "Questions wait until an admin resumes me." in told
        await bot.ws.click_in_view(ADA, view["id"], RESUME)
        await home(bot, ADA, PAUSE)
        [message] = await bot.answered(GENERAL, thread)
        assert "Two." in str(message)


async def test_what_an_admin_says_of_a_channel_holds_for_the_next_run(redis_url: str) -> None:
    """Instructions, tools, what is asked about; another admin finds them in the form."""
    async with deployed(answers(1), redis_url) as bot:
        view = await form(bot)
        changes = filled(confirm="always", evidence="off", turns="9", day="0.5", month="12.25")
        assert await bot.ws.submit(ADA, view["id"], changes) == {}
        thread = await bot.ask(BEN, GENERAL, "hello?")
        await bot.answered(GENERAL, thread)
        request = bot.api.requests[0].body
        assert request["instructions"].endswith("Answer in Latin.\n")
        assert "calculate" not in {each["name"] for each in request["tools"]}
        again = await form(bot)
        assert "Answer in Latin." in str(again)
        fields = {b["block_id"]: b["element"] for b in again["blocks"] if "element" in b}
        chosen = [fields[name]["initial_option"]["value"] for name in ("confirm", "evidence")]
        assert chosen == ["always", "off"]
        values = [fields[name]["initial_value"] for name in ("turns", "day", "month")]
        assert values == ["9", "0.5", "12.25"]


async def test_a_choice_of_a_room_that_is_not_there_is_not_offered_and_kept(redis_url: str) -> None:
    """Rooms: the bot without evidence asks for no mode, and a save loses none that was stored."""
    async with Workspace.open() as ws:
        rooms = [room for room in all_features(Settings(_env_file=None)) if room.name == "home"]
        async with listening(ws, features=rooms) as rig:
            name = f"{ws.team_id}:{GENERAL}"
            await rig.stores.channels.save(name, ChannelTable(evidence="off"))
            await ws.open_home(ADA)
            home_of_ada = await ws.until(lambda: ws.home(ADA))
            assert home_of_ada
            await ws.click_in_view(ADA, home_of_ada["id"], CHANNEL, value=GENERAL)
            [*_, view] = await ws.until(lambda: ws.views(ADA))
            assert {"follow", "evidence"} & {each.get("block_id") for each in view["blocks"]} == {
                "follow"
            }
            assert await ws.submit(ADA, view["id"], {"turns": {"turns": "9"}}) == {}
            stored = await rig.stores.channels.load(name, ChannelTable)
            assert stored == ChannelTable(evidence="off", limits={"turns": 9})


async def test_a_form_that_was_open_takes_nothing_back(redis_url: str) -> None:
    """R1: meanwhile another admin accepted an instruction. What Ada left as it was stays as it is
    now; what she changed holds, and she is told where both changed the same."""
    async with deployed(answers(0), redis_url) as bot, open_stores(redis_url) as stores:
        view = await form(bot)
        name = f"{bot.ws.team_id}:{GENERAL}"
        await stores.channels.save(name, ChannelTable(instructions="Use the new price list."))
        await asyncio.sleep(1.1)  # a process may take settings of a second ago for new
        assert await bot.ws.submit(ADA, view["id"], {"turns": {"turns": "9"}}) == {}
        kept = await stores.channels.load(name, ChannelTable)
        assert kept
        assert kept.instructions == "Use the new price list."
        assert kept.limits == {"turns": 9}
        view = await form(bot)
        newer = kept.model_copy(update={"instructions": "Use the newest one."})
        await stores.channels.save(name, newer)
        await asyncio.sleep(1.1)
        mine = {"instructions": {"instructions": "Use the old one."}}
        answered = await bot.ws.submit(ADA, view["id"], mine)
        assert answered["errors"] == {"instructions": home_words.CHANGED_MEANWHILE()}
        assert await stores.channels.load(name, ChannelTable) == newer


async def test_a_tool_that_does_not_exist_is_said_beside_its_field(redis_url: str) -> None:
    async with deployed(answers(0), redis_url) as bot:
        view = await form(bot)
        answered = await bot.ws.submit(ADA, view["id"], filled(tools="time, teleport"))
        assert "teleport" in answered["errors"]["tools"]


async def test_a_channel_is_not_given_to_the_bot_alone(redis_url: str) -> None:
    """Then nobody could ask there."""
    async with deployed(answers(0), redis_url) as bot:
        for other in (bot.ws.bot_user_id, "USLACKBOT"):
            view = await form(bot)
            people = {
                "people": {"people": {"type": "multi_users_select", "selected_users": [other]}}
            }
            answered = await bot.ws.submit(ADA, view["id"], filled(tools="") | people)
            assert "Only people" in answered["errors"]["people"]


async def test_tools_of_servers_can_be_named_and_dollars_bound_only_what_has_a_price(
    redis_url: str,
) -> None:
    """Also of a server that has not answered yet; money that nobody counts would bound nothing."""
    settings = {
        "openai_model": "nobody-knows",
        "mcpServers": {"clock": McpServer(command="no-such-program")},
    }
    async with deployed(answers(0), redis_url, **settings) as bot:
        view = await form(bot)
        wrong = filled(tools="clock__conv*, clock", day="5")
        answered = await bot.ws.submit(ADA, view["id"], wrong)
        assert answered["errors"].keys() == {"day"}
        assert "price" in answered["errors"]["day"]
        assert await bot.ws.submit(ADA, view["id"], filled(tools="clock", day="")) == {}


async def test_who_may_ask_too_stays_as_everywhere_unless_it_is_said(redis_url: str) -> None:
    """An admin who saves something else shuts out nobody that the configuration lets in."""
    async with deployed(answers(1), redis_url, access=Policy(allow_guests=True)) as bot:
        view = await form(bot)
        assert await bot.ws.submit(ADA, view["id"], filled(tools="")) == {}
        thread = await bot.ask(GUS, GENERAL, "hello?")
        await bot.answered(GENERAL, thread)


async def test_changes_of_a_channel_are_taken_back(redis_url: str) -> None:
    """Back to what bot.toml says; the Home tab tells which channels were changed, and the audit log
    what was (15)."""
    async with deployed(answers(0), redis_url) as bot:
        view = await form(bot)
        await bot.ws.submit(ADA, view["id"], filled())
        await bot.ws.until(lambda: f"own settings: <#{GENERAL}>" in str(bot.ws.home(ADA)))
        view = await form(bot)
        await bot.ws.click_in_view(ADA, view["id"], RESET)
        await bot.ws.until(lambda: "Latin" not in str(bot.ws.views(ADA)))
        await bot.ws.until(lambda: f"own settings: <#{GENERAL}>" not in str(bot.ws.home(ADA)))
        async with open_stores(redis_url) as stores:
            log = [each.entry async for each in stores.audit.read(bot.ws.team_id)]
    assert [(each.who, each.channel, each.what) for each in log if each] == [
        (ADA, GENERAL, "channel settings: instructions, tools"),
        (ADA, GENERAL, "channel settings reset"),
    ]


async def test_nobody_else_changes_a_channel(redis_url: str) -> None:
    """A modal sent by somebody who has ceased to be an admin, and forged clicks, change nothing."""
    async with deployed(answers(1), redis_url) as bot:
        view = await form(bot)
        bot.ws.people[ADA].is_admin = False
        await bot.ws.submit(ADA, view["id"], filled())
        thread = await bot.ask(BEN, GENERAL, "hello?")
        await bot.answered(GENERAL, thread)
        assert "Latin" not in bot.api.requests[0].body["instructions"]


async def test_people_have_forgotten_what_was_remembered_of_them(redis_url: str) -> None:
    """The button is theirs alone: another person's press forgets nothing of theirs."""
    script = Script(
        [
            call("acquire_tools", {"names": ["remember"]}),
            call("remember", {"text": "Ben likes short answers."}),
            finish(answer()),
        ]
    )
    async with deployed(script, redis_url) as bot:
        direct = bot.ws.state.direct(BEN)
        assert direct is not None
        await bot.ws.say(BEN, direct.id, "Remember that I like short answers.")
        await bot.ws.until(lambda: len(bot.api.requests) == 3)
        view = await home(bot, BEN, "short answers")
        assert "'accessibility_label': 'Forget: Ben likes short answers.'" in str(
            view
        )  # unlike others
        assert "short answers" not in str(await home(bot, ADA, "For admins"))
        await bot.ws.click_in_view(BEN, view["id"], FORGET)
        await bot.ws.until(lambda: "short answers" not in str(bot.ws.home(BEN)))


async def test_what_people_set_for_themselves_holds_for_their_questions_alone(
    redis_url: str,
) -> None:
    """How they want to be answered goes with each question; where shortcuts answer is chosen for
    them. Others are answered as ever."""
    async with deployed(answers(2), redis_url) as bot:
        view = await home(bot, BEN, "Your settings")
        await bot.ws.click_in_view(BEN, view["id"], SETTINGS)
        [form] = await bot.ws.until(lambda: bot.ws.views(BEN))
        wanted = {"style": {"style": "In <Latin>."}, "where": {"where": "me"}}
        assert await bot.ws.submit(BEN, form["id"], wanted) == {}
        await bot.ws.until(lambda: "In &lt;Latin&gt;." in str(bot.ws.home(BEN)))
        for user, told in ((BEN, True), (ADA, False)):
            thread = await bot.ask(user, GENERAL, "hello?")
            await bot.answered(GENERAL, thread)
            assert ("In <Latin>." in bot.api.requests[-1].body["instructions"]) is told
            await bot.ws.shortcut(user, ASK_ABOUT, channel=GENERAL, ts=thread)
            [modal] = await bot.ws.until(partial(bot.ws.views, user))
            where = modal["blocks"][-1]["element"]["initial_option"]["value"]
            assert where == ("me" if told else "thread")


def test_a_tab_with_all_there_can_be_is_one_that_slack_takes() -> None:
    """A hundred blocks, 3,000 characters each: with too much of anything nothing would be shown."""
    where = {"team": "T1", "channel": "C0GENERAL1", "thread": "1.2", "user": BEN}
    planned = Schedule.model_validate({**where, "text": "<&>" * 600, "next_at": 4_000_000_000})
    kept = Memory(scope=MemoryScope.USER, text="<&>" * 166, by=BEN)
    many = [each.model_copy(update={"id": f"m{n}"}) for n, each in enumerate([kept] * 90)]
    later = [each.model_copy(update={"id": f"s{n}"}) for n, each in enumerate([planned] * MOST)]
    waits = {"team": "T1", "channel": "C0GENERAL1", "user": BEN, "post_at": 4_000_000_000}
    waiting = [ScheduledMessage.model_validate({**waits, "text": "&lt;`" * 999})] * 90
    waiting = [each.model_copy(update={"id": f"w{n}"}) for n, each in enumerate(waiting)]
    pause = Pause(by="U1", name="<Ada>", at=datetime.now(UTC))
    board = AdminView(
        budgets=Budgets(),
        spent=[],
        tools={f"group_{n}": n for n in range(400)},
        servers=[ServerStatus(f"server_{n}", error="It did not answer. " * 20) for n in range(60)],
        sections=all_schedules(
            [each.model_copy(update={"id": f"a{n}"}) for n, each in enumerate(later * 9)]
        ),
        changed=[f"C{n:010}" for n in range(500)],
    )
    style = Preferences(style="<&>" * 160)
    account = Account(budget=Budget.USER_DAY, holder=f"T1:{BEN}", period="2026-11-21")
    usage = [BudgetUse(Position(account, Spent(), None), None)]
    view = home_view(
        "Bot",
        usage,
        style,
        board,
        pause=pause,
        sections=[*memory_blocks(many, may_ask=True), *own_scheduled(later, waiting)],
    )
    check_view(view, "home")
    assert "the newest 40 of 90." in str(view)


def test_what_people_spent_is_not_hidden_by_many_channels() -> None:
    """Of each budget the highest are shown, and it is said that there are more; steps of workflows
    have no person and no channel."""
    spent = [
        BudgetUse(
            Position(Account(budget=each, holder=f"T1:{holder}", period=""), Spent(), None), None
        )
        for each, holders in (
            (Budget.CHANNEL_MONTH, [f"C{n}" for n in range(100)]),
            (Budget.CHANNEL_DAY, ["workflow"]),
            (Budget.USER_DAY, [BEN, "workflow"]),
        )
        for holder in holders
    ]
    board = AdminView(Budgets(), spent, {}, [])
    shown = str(home_view("Bot", [], Preferences(), board, "en-US"))
    assert f"<@{BEN}>: $0.00, 0 tokens today" in shown
    assert "Workflow steps: $0.00, 0 tokens today" in shown
    assert "<@workflow>" not in shown
    assert "<#workflow>" not in shown
    assert "<#C4>" in shown
    assert "<#C5>" not in shown
    assert "bot usage" in shown


def test_why_a_server_has_no_tools_is_in_the_language_of_the_admin() -> None:
    """U9: it is stored in English."""
    down = [ServerStatus("gone", error="cannot be reached")]
    board = AdminView(Budgets(), [], {}, down, [])
    with reader("de-DE"):
        view = str(home_view("Bot", [], Preferences(), board))
    assert "ist nicht erreichbar" in view
    assert "cannot be reached" not in view
