"""Conversations as colleagues have them: what the bot knows of them without being told again."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

from bot.dev.model import ModelRequest, Reply, Script, call, finish, held, respond
from bot.dev.workspace import ADA, BEN, CHLOE, FakeFile
from bot.features.shortcuts.forms import ASK_ABOUT
from bot.settings import ModelSettings
from bot.slack.ui.buttons import STOP
from tests.support.runs import answer
from tests.support.slack import GENERAL, Place, bot_in_slack
from tests.unit.tools.test_files import pdf

DIRECT = "D0ADA00001"
CLAUSES = [
    *("Definitions", "Delivery", "Price and Payment", "Warranty", "Liability", "Termination"),
    *("Confidentiality", "Data Protection", "Insurance", "Audits", "Assignment", "Governing Law"),
]


def contract() -> bytes:
    """A contract of twelve clauses, set as a PDF is: no blank lines, clauses that go over pages."""
    lines = ["SUPPLY AGREEMENT", "between Halden AS and Norwind GmbH"]
    for number, title in enumerate(CLAUSES, 1):
        lines.append(f"{number}. {title}")
        for part in range(1, 5):
            lines.append(f"{number}.{part} The parties of the agreement agree for the purposes of")
            lines += [
                f"the {title.lower()} on what is in the annex to the agreement, and so on"
            ] * 4
            if (number, part) == (6, 2):
                lines.append("that either party may end it with notice of ninety days")
                lines.append("to the end of a quarter; (a) in writing, and (b) by a director.")
    pages = ["\n".join(lines[at : at + 40]) for at in range(0, len(lines), 40)]
    return pdf(*pages)


CSV = b"city,people\nLisbon,575739\nPorto,248769\n"


def output(items: list[dict[str, Any]]) -> str:
    """The output of the only call among the items of a request."""
    [found] = [str(each["output"]) for each in items if each.get("type") == "function_call_output"]
    return found


def heard(place: Place, request: int = -1) -> str:
    """The messages that a request carried, as one text."""
    items = place.api.requests[request].body["input"]
    return "\n".join(str(each["content"]) for each in items if "content" in each)


async def test_a_thread_is_known_from_the_first_mention_on_and_only_the_new_is_told(
    redis_url: str,
) -> None:
    """U2: what others wrote comes with the question, once, as data, with one call of Slack's API."""
    script = Script([finish(answer("Ben.")), finish(answer("Chloe."))])
    async with bot_in_slack(script, redis_url) as place:
        root = await place.slack.say(BEN, GENERAL, "The launch moves to Friday.")
        thread = root["ts"]
        report = FakeFile("report.csv", 1_000)
        await place.slack.say(CHLOE, GENERAL, "Numbers:", thread_ts=thread, files=[report])
        await place.slack.say(ADA, GENERAL, place.mention("who said it?"), thread_ts=thread)
        await place.answered(thread, "Ben.")
        first = heard(place)
        reads = [
            each.args
            for each in place.slack.effects
            if each.method == "conversations.replies" and "oldest" in each.args
        ]

        await place.slack.say(CHLOE, GENERAL, "Saturday suits me better.", thread_ts=thread)
        await place.slack.edit(BEN, GENERAL, thread, "The launch moves to Monday.")
        await place.slack.say(ADA, GENERAL, place.mention("and who is against?"), thread_ts=thread)
        await place.answered(thread, "Chloe.")
        second = heard(place)

    assert "Ben Okafor: The launch moves to Friday." in first
    assert "Chloe Martin: Numbers:" in first
    assert "report.csv" in first
    assert first.index("launch moves") < first.index("who said it?")
    assert "[data " in first
    assert len(reads) == 1
    assert "Chloe Martin: Saturday suits me better." in second
    assert "Ben Okafor (edited): The launch moves to Monday." in second
    assert "Numbers" not in second
    assert "who said it" not in second


async def test_a_direct_message_goes_on_where_the_last_one_ended(redis_url: str) -> None:
    """U1: questions and answers, what was saved, and the tools that were acquired."""
    acquire = call("acquire_tools", {"names": ["make_chart"]})

    def read(request: ModelRequest) -> Reply:
        return call("read_file", {"file_id": re.findall(r"file_id (F\w+)", str(request.items))[-1]})

    def chart(request: ModelRequest) -> Reply:
        handle = re.findall(r"Saved under (tbl_\w+)", str(request.items))[-1]
        columns = {"label_column": "city", "value_columns": ["people"]}
        return call("make_chart", {"handle": handle, "kind": "bar", "title": "People", **columns})

    script = Script(
        [
            respond(read),
            acquire,
            finish(answer("Lisbon and Porto.")),
            finish(answer("575,739.")),
            respond(chart),
            finish(answer("Here it is.")),
            respond(read),
            finish(answer("It says so.")),
        ]
    )
    async with bot_in_slack(script, redis_url) as place:

        async def ask(text: str, expected: str, **files: Any) -> str:
            asked = await place.slack.say(ADA, DIRECT, text, **files)
            await place.answered(asked["ts"], expected, channel=DIRECT)
            return heard(place)

        await ask("Which cities are these?", "Lisbon and Porto.", files=[("cities.csv", CSV)])
        second = await ask("And how many people live in the first?", "575,739.")
        await ask("and as a chart?", "Here it is.")
        drawn = place.api.requests[-1].body["input"]
        await ask("What does the file say?", "It says so.")
        opened = place.api.requests[-1].body["input"]

    assert "Which cities are these?" in second
    assert "Lisbon and Porto." in second
    assert '"summary"' not in second  # K14: as text, whose form the model takes over
    assert second.index("Which cities") < second.index("Lisbon and") < second.index("And how many")
    assert "chart" in output(drawn)
    assert "There is no" not in output(drawn)
    assert "Lisbon" in output(opened)


async def test_a_direct_message_is_answered_where_it_was_written(redis_url: str) -> None:
    """K8: below the question and in no thread; a thread below the answer knows it, and is answered there.
    What is written while the bot works is answered below itself, as nobody could tell what it answers."""
    release = asyncio.Event()
    script = Script(
        [
            finish(answer("Lisbon.")),
            finish(answer("Porto.")),
            held(finish(answer("Faro.")), release),
            finish(answer("Braga.")),
        ]
    )

    async with bot_in_slack(script, redis_url) as place:

        async def say(text: str, thread: str | None = None) -> str:
            return str((await place.slack.say(ADA, DIRECT, text, thread))["ts"])

        first = await place.answered(await say("Capital?"), "Lisbon.", channel=DIRECT)
        assert "thread_ts" not in first
        await say("And the second city?", first["ts"])
        below = await place.answered(first["ts"], "Porto.", channel=DIRECT)
        assert below["thread_ts"] == first["ts"]
        assert "Capital?" in heard(place)
        assert "Lisbon." in heard(place)

        slow = await say("And in the south?")
        await place.slack.until(lambda: len(place.api.requests) == 3)
        quick = await say("And in the north?")
        threaded = await place.answered(quick, "Braga.", channel=DIRECT)
        assert threaded["thread_ts"] == quick
        await place.slack.until(lambda: STOP in str(place.slack.messages(DIRECT)))
        release.set()
        assert "thread_ts" not in await place.answered(slow, "Faro.", channel=DIRECT)
        assert "chat.startStream" not in {
            effect.method for effect in place.slack.effects if effect.args.get("thread_ts") is None
        }


async def test_one_clause_of_a_contract_takes_two_calls_and_comes_whole(redis_url: str) -> None:
    """K5: the clause with its number and page, though every page has the common words of the
    question; another one later, from the one handle that there is."""

    def read(request: ModelRequest) -> Reply:
        [file_id] = set(re.findall(r"file_id (F\w+)", str(request.items)))
        question = "What is the notice for the end of the agreement?"
        return call("read_file", {"file_id": file_id, "query": question})

    def search(request: ModelRequest) -> Reply:
        [handle] = set(re.findall(r"doc_\w+", str(place.api.requests[1].body["input"])))
        return call("search_artifact", {"handle": handle, "query": "clause 11.3"})

    script = Script(
        [respond(read), finish(answer("Ninety.")), respond(search), finish(answer("Annex."))]
    )
    async with bot_in_slack(script, redis_url) as place:
        text = place.mention("How much notice to end it?")
        files = [("contract.pdf", contract())]
        asked = await place.slack.say(ADA, GENERAL, text, files=files)
        await place.answered(asked["ts"], "Ninety.")
        clause = output(place.api.requests[1].body["input"])
        await place.slack.say(ADA, GENERAL, place.mention("And 11.3?"), thread_ts=asked["ts"])
        await place.answered(asked["ts"], "Annex.")
        other = output(place.api.requests[3].body["input"])

    assert len(place.api.requests) == 4
    assert "[1 of 52 passages shown" in clause
    place_line = re.search(r"\n\[(pages? .*)\]\n6\. Termination\n", clause)
    assert place_line
    assert "lines 113–137 · SUPPLY AGREEMENT › 6 Termination" in place_line[1]
    assert place_line[1].endswith("best at page 3, line 119")
    assert "quarter; (a) in writing, and (b) by a director." in clause
    assert "6.4 The parties" in clause
    assert "7. Confidentiality" not in clause
    assert set(re.findall(r"(?:doc|out)_\w+", clause)) == set(re.findall(r"doc_\w+", clause))
    assert "· SUPPLY AGREEMENT › 11 Assignment" in other
    assert "11.3 The parties" in other


async def test_messages_are_a_table_and_are_cited_by_their_number(redis_url: str) -> None:
    """K15, K14: the channel's messages are counted with SQL, a figure of that is filled in, and the
    link of a message, which the model has not read, is derived from its number. Marks name sources."""
    handles = dict[str, str]()

    def query(request: ModelRequest) -> Reply:
        handles["messages"] = re.findall(r"handle: (tbl_\w+)", str(request.items[-1]))[0]
        sql = (
            "SELECT person, count(*) AS times, sum(reactions) AS liked FROM {} "
            "WHERE text LIKE '%late%' GROUP BY 1 ORDER BY 2 DESC"
        )
        table = handles["messages"]
        return call("query_table", {"sql": sql.format(table), "handles": [table]})

    def close(request: ModelRequest) -> Reply:
        counted = re.findall(r"handle: (tbl_\w+)", str(request.items[-1]))[0]
        message = f"{{{{{handles['messages']}.link[2]}}}}"
        result = answer(
            f"Ben wrote {{{{{counted}.times[1]}}}} times that it is late [1]: [see]({message}).",
            key_points=["Ada asked [2, 7]."],
            sources=[
                {"title": "Ben", "url": message, "supports": "It is late.", "quote": None},
                {"title": "Ada", "url": handles["messages"] + "[1]", "supports": "", "quote": None},
            ],
        )
        return finish(result)

    script = Script([call("read_channel", {"limit": 4}), respond(query), respond(close)])
    async with bot_in_slack(script, redis_url) as place:
        first = await place.slack.say(ADA, GENERAL, "Where is it?")
        second = await place.slack.say(BEN, GENERAL, "It is late, sorry")
        await place.slack.react(ADA, GENERAL, second["ts"], "eyes")
        await place.slack.say(BEN, GENERAL, "Still late:\nby 3 days")
        asked = await place.slack.say(ADA, GENERAL, place.mention("Who says late how often?"))
        message = await place.answered(asked["ts"], "Ben wrote 2 times")
        read = output(place.api.requests[1].body["input"])
        counted = output(place.api.requests[2].body["input"])

    assert "archives/" not in read
    assert "2 [" in read
    assert "Ben Okafor: It is late, sorry (reactions: eyes 1)" in read
    assert "Ben Okafor,2,1" in counted
    links = [
        place.slack.url + f"archives/{GENERAL}/p{ts['ts'].replace('.', '')}"
        for ts in (first, second)
    ]
    posted = "\n".join(block.get("text", "") for block in message["blocks"] if "text" in block)
    assert rf"late [\[1\]]({links[1]}): [see]({links[1]})." in posted
    assert rf"- Ada asked [\[2\]]({links[0]})." in posted


async def test_a_file_is_found_by_its_name_wherever_both_may_see_it(redis_url: str) -> None:
    """K10: in another channel, by a word of its name; a wrong name gets the true error, with near
    names of files that the asker may see, and none of a place that they are not in."""

    def read(name: str) -> Reply:
        return call("read_file", {"file_id": name})

    script = Script(
        [
            call("search_files", {"query": "cities"}),
            read("big cities.csv"),
            read("big citys.csv"),
            finish(answer("Found.")),
        ]
    )
    async with bot_in_slack(script, redis_url) as place:
        finance = place.slack.channels["C0FINANCE1"]
        finance.members = [BEN, place.slack.bot_user_id]
        await place.slack.say(BEN, finance.id, "", files=[("secret cities.csv", CSV)])
        await place.slack.say(BEN, "C0SALES001", "", files=[("Big Cities.csv", CSV)])
        asked = await place.slack.say(ADA, GENERAL, place.mention("Which cities?"))
        await place.answered(asked["ts"], "Found.")
        found, content, wrong = (output(each.body["input"]) for each in place.api.requests[1:4])

    assert re.search(r"F\w+ · Big Cities\.csv · 39 bytes · .*, Ben Okafor · #sales", found)
    assert "1 file · searched: the names of the newest 2 files where the bot is" in found
    assert "Lisbon,575739" in content
    assert "No file that all readers of the answer may see is called big citys.csv" in wrong
    assert "Similar: F" in wrong
    assert "Big Cities.csv" in wrong
    assert "secret" not in found + content + wrong


@pytest.mark.parametrize("stateless", [False, True])
async def test_an_answer_marks_the_one_that_it_corrects(redis_url: str, stateless: bool) -> None:
    """K12: counted back from the new one, as the model has them all; in the language of the old one, with
    its buttons and a link. A private correction, and one of nothing that is there, mark nothing."""
    first, summary = "Der Umsatz lag insgesamt bei rund vier Millionen.", "It was three million."
    script = Script(
        [
            finish(answer(first)),
            finish(answer("The costs were two.", corrects=2)),
            finish(answer(summary, corrects=2)),
            finish(answer("Only you read this.", corrects=1)),
            finish(answer("That is all.")),
        ]
    )
    async with bot_in_slack(script, redis_url, model=ModelSettings(stateless=stateless)) as place:
        slack = place.slack
        thread = (await slack.say(BEN, GENERAL, "The figures are out."))["ts"]

        def marked() -> dict[str, Any]:
            """The messages of the thread with a mark, by their ts."""
            messages = slack.messages(GENERAL, thread)
            return {m["ts"]: m for m in messages if "corrected_by" in str(m.get("blocks"))}

        async def ask(text: str, expected: str) -> dict[str, Any]:
            await slack.say(ADA, GENERAL, place.mention(text), thread_ts=thread)
            return await place.answered(thread, expected)

        old = await ask("Wie hoch war der Umsatz?", first)
        await ask("And the costs?", "costs were two")
        new = await ask("The revenue is without the South.", summary)
        await slack.until(marked)
        await slack.shortcut(ADA, ASK_ABOUT, channel=GENERAL, ts=thread)
        [modal] = await slack.until(lambda: slack.views(ADA))
        private = {"question": {"question": "And now?"}, "where": {"where": "me"}}
        await slack.submit(ADA, modal["id"], private)
        await ask("Is that all?", "That is all.")
        assert "Only you read this." in str([effect.args for effect in slack.effects])
        assert [*marked()] == [old["ts"]]
        line, *others = marked()[old["ts"]]["blocks"]
    assert others == old["blocks"]
    link = f"{slack.url}archives/{GENERAL}/p{new['ts'].replace('.', '')}"
    address = f"{link}?thread_ts={thread}&amp;cid={GENERAL}"
    assert line["elements"][0]["text"] == f":arrow_down: <{address}|Unten korrigiert>"


async def test_a_correction_in_a_direct_message_marks_the_answer_before_it(redis_url: str) -> None:
    """K12: though each question there begins a thread; if Slack refuses, the new answer stands as it is."""
    answers = [answer("Four."), answer("Five.", corrects=1), answer("Six.", corrects=1)]
    async with bot_in_slack(Script([*map(finish, answers)]), redis_url) as place:
        asked = await place.slack.say(ADA, DIRECT, "How many?")
        old = await place.answered(asked["ts"], "Four.", channel=DIRECT)
        await place.slack.until(lambda: not place.slack.status(DIRECT, asked["ts"]).text)

        def marks() -> list[str]:
            messages = place.slack.messages(DIRECT)
            return [m["ts"] for m in messages if "Corrected below" in str(m.get("blocks"))]

        asked = await place.slack.say(ADA, DIRECT, "Ben is here, too.")
        new = await place.answered(asked["ts"], "Five.", channel=DIRECT)
        await place.slack.until(marks)
        await place.slack.delete(ADA, DIRECT, new["ts"])
        asked = await place.slack.say(ADA, DIRECT, "And Chloe.")
        await place.answered(asked["ts"], "Six.", channel=DIRECT)
        assert marks() == [old["ts"]]
