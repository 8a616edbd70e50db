"""*Show evidence* in Slack: the whole bot, a model that invents figures, and people who may see less."""

from __future__ import annotations

from typing import Any

from bot.core.answers import Source
from bot.core.chain import CallRecord, LedgerEntry
from bot.dev.model import Script, call, finish
from bot.dev.workspace import ADA, BEN, EVE, GUS
from bot.features.evidence import words as evidence_words
from bot.features.evidence.dialog import _calls
from bot.features.evidence.modal import CLAIMS_OF_A_PAGE, PAGE, SHOW
from bot.runs.policy.access import Policy
from tests.security.test_boundaries import press
from tests.security.test_forged import sent
from tests.support.deployment import Deployment, deployed
from tests.support.runs import answer
from tests.unit.slack.scene import button
from tests.unit.slack.test_evidence import text_of

GENERAL, SALES = "C0GENERAL1", "C0SALES001"
THREAD = call("read_thread", {})
INVENTED = finish(answer("Ada sold 4,722 umbrellas and 9,413 hats."))
LINE = "1 figure: found in the sources."


def words_of(view: dict[str, Any]) -> str:
    """All texts of a modal in one line."""
    return " ".join(text_of(view).split())


def claims_of(view: dict[str, Any]) -> list[str]:
    """The claims on a page: the first text of each item below a source."""
    blocks = [block for block in view["blocks"] if block["type"] == "rich_text"]
    lists = [part for block in blocks for part in block["elements"] if "list" in part["type"]]
    return [item["elements"][0]["text"] for part in lists for item in part["elements"]]


def shown(message: dict[str, Any]) -> str:
    return str(message["blocks"])


async def asked(bot: Deployment, channel: str = SALES, user: str = ADA) -> dict[str, Any]:
    """Somebody writes a figure, asks for it, and is answered: the message with the answer."""
    said = await bot.ws.say(user, channel, "We sold 4,722 umbrellas.")
    await bot.ask(user, channel, "How many?", thread=said["ts"])
    [message] = await bot.answered(channel, said["ts"])
    return message


async def opened(bot: Deployment, user: str, channel: str, message: dict[str, Any]) -> Any:
    """Somebody presses the button, and the modal opens."""
    await bot.ws.click(user, channel, message["ts"], SHOW)
    [view] = await bot.ws.until(lambda: bot.ws.views(user))
    return view


async def refused(bot: Deployment, user: str, channel: str, message: dict[str, Any]) -> str:
    """What is told to somebody whose press of the button, as Slack would send it, opens nothing."""
    pressed = press(bot, user, channel, message["ts"], button(message, SHOW))
    await sent(bot, pressed)
    told = await bot.ws.until(
        lambda: [e for e in bot.sent() if e.get("user") == user and "text" in e]
    )
    assert bot.ws.views(user) == []
    return str(told[-1]["text"])


async def test_what_was_found_is_said_and_each_place_shown(redis_url: str) -> None:
    """23.2 23.3: the line under the answer, and behind the button the message that a figure is from,
    what was not found, and the sentence that says what this cannot show."""
    async with deployed(Script([THREAD, INVENTED]), redis_url) as bot:
        message = await asked(bot)
        assert LINE in shown(message)
        assert "I could not" not in shown(message)
        view = await opened(bot, BEN, SALES, message)
        text = words_of(view)
        assert claims_of(view) == ["4,722", "9,413"]
        for part in (
            LINE, "We sold 4,722 umbrellas.", f"{evidence_words.NOT_FOUND()} 9,413",
            evidence_words.INTRO(),
        ):  # fmt: skip
            assert part in text
        assert "/archives/C0SALES001/p" in str(view)


async def test_evidence_is_paged(redis_url: str) -> None:
    """23.3: as many claims as a page holds; Next and Back redraw the modal."""
    figures = [f"{n:,}" for n in range(1_000, 1_000 + 2 * CLAIMS_OF_A_PAGE + 3)]
    said = f"We sold {', '.join(figures)} of them."
    script = Script([THREAD, finish(answer(said.replace("We", "They")))])
    async with deployed(script, redis_url) as bot:
        root = await bot.ws.say(ADA, SALES, said)
        await bot.ask(ADA, SALES, "How many?", thread=root["ts"])
        [message] = await bot.answered(SALES, root["ts"])
        view = await opened(bot, BEN, SALES, message)
        pages = [claims_of(view)]
        for name, told in (("next", "2 of 3"), ("next", "3 of 3"), ("back", "2 of 3")):
            await bot.ws.click_in_view(BEN, view["id"], f"{PAGE}_{name}")
            await bot.ws.until(lambda: [v for v in bot.ws.views(BEN) if told in text_of(v)])  # noqa: B023
            [view] = bot.ws.views(BEN)
            pages.append(claims_of(view))
        assert pages[0] + pages[1] + pages[2] == figures
        assert pages[1] == pages[3]
        assert len(pages[0]) == CLAIMS_OF_A_PAGE


async def test_who_may_not_ask_there_sees_no_evidence(redis_url: str) -> None:
    """23.3: a person outside of the channel, and a guest, though Slack sends a press of theirs; nor is
    there evidence of an answer that is not known."""
    async with deployed(Script([THREAD, INVENTED]), redis_url) as bot:
        message = await asked(bot)
        for user, why in ((GUS, "guest"), (EVE, "")):
            told = await refused(bot, user, GENERAL, message)
            assert why in told
        gone = button(message, SHOW) | {"value": "run_unknown"}
        await sent(bot, press(bot, BEN, SALES, message["ts"], gone))
        await bot.ws.until(lambda: evidence_words.GONE() in str([*bot.sent()]))


async def test_what_was_read_elsewhere_is_shown_to_those_who_see_that_place(redis_url: str) -> None:
    """23.3: a guest who is not in the other channel sees the claim, and neither its words nor where it
    is from, nor the figures from which it was worked out; a member sees all. The rights count at the
    press."""
    read = call("read_channel", {"channel": "#sales"})
    worked_out = finish(answer("Ada sold 4,722 umbrellas and 9,413 hats, 3,459 more than in May."))
    script = Script([call("acquire_tools", {"names": ["read_channel"]}), read, worked_out])
    policy = Policy(allow_guests=True)
    async with deployed(script, redis_url, access=policy) as bot:
        await bot.ws.say(ADA, SALES, "The secret plan: 4,722 umbrellas, in May 1,263.")
        thread = await bot.ask(ADA, GENERAL, "How many in #sales?")
        [message] = await bot.answered(GENERAL, thread)
        assert "9,413" in shown(message)
        for user, sees in ((BEN, True), (GUS, False)):
            text = text_of(await opened(bot, user, GENERAL, message))
            assert "4,722" in text
            assert "3,459" in text
            assert ("secret plan" in text) is sees
            assert ("1,263" in text) is sees
            assert (evidence_words.HIDDEN() in text) is not sees


async def test_the_evidence_of_a_private_answer_is_for_its_asker(redis_url: str) -> None:
    """23.3: not for others of the channel, whoever they are."""
    async with deployed(Script([THREAD, INVENTED]), redis_url) as bot:
        said = await bot.ws.say(ADA, SALES, "We sold 4,722 umbrellas.")
        await bot.ws.shortcut(BEN, "ask_about_message", channel=SALES, ts=said["ts"])
        [modal] = await bot.ws.until(lambda: bot.ws.views(BEN))
        wanted = {"question": {"question": "Of what?"}, "where": {"where": "me"}}
        await bot.ws.submit(BEN, modal["id"], wanted)

        def private() -> list[dict[str, Any]]:
            seen = bot.ws.messages(SALES, viewer=BEN)
            return [m for m in seen if m.get("is_ephemeral") and LINE in shown(m)]

        [message] = await bot.ws.until(private)
        assert await refused(bot, ADA, SALES, message) == evidence_words.NOT_YOURS()
        assert "4,722" in claims_of(await opened(bot, BEN, SALES, message))


def test_a_query_that_a_hook_replaced_is_shown_as_it_ran() -> None:
    arguments = '{"sql": "SELECT 1"}'
    made = {"type": "function_call", "call_id": "call_0", "name": "x", "arguments": arguments}
    record = CallRecord(call_id="call_0", counts_as="read", replaced='{"sql": "SELECT 2"}')
    asked = LedgerEntry(run_id="r", items=(made,))
    for records, query in (((), "SELECT 1"), ((record,), "SELECT 2")):
        ledger = [asked, LedgerEntry(run_id="r", items=(), calls=records)]
        assert _calls(ledger)["call_0"].query == query


def test_calls_under_the_same_id_are_seen_by_those_who_see_all_of_them() -> None:
    """S7: some model servers number the calls of each response anew, private ones too."""

    def entry(reader: str | None, url: str) -> LedgerEntry:
        made = {"type": "function_call", "call_id": "call_0", "name": "x", "arguments": "{}"}
        source = Source(title="x", url=url, supports="")
        record = CallRecord(call_id="call_0", counts_as="read", sources=(source,))
        return LedgerEntry(run_id="r", items=(made,), calls=(record,), bound_to=reader)

    for order in (slice(None), slice(None, None, -1)):
        ledger = [entry(ADA, "https://a.example"), entry(None, "https://b.example")][order]
        assert _calls(ledger)["call_0"].reader == ADA
        assert _calls(ledger)["call_0"].addresses == {"https://a.example", "https://b.example"}
    assert _calls([entry(ADA, "https://a.example"), entry(BEN, "https://b.example")])[
        "call_0"
    ].reader not in (None, ADA, BEN)
