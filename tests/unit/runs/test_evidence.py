"""What a run keeps of its calls, and how its answer is traced to what the thread has read."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime

from bot.agent.prompts import request_message, thread_messages
from bot.core.chain import CallRecord, Item, LedgerEntry, ReportCheck
from bot.dev.model import ModelRequest, Reply, Script, call, finish, respond
from bot.dev.model.script import Respond
from bot.library.tracing.findings import Unreadable
from bot.library.tracing.outputs import Counts
from bot.runs.context.ledger_reader import LedgerReader
from bot.store import Stores
from bot.toolkit import Reads, Source, ThreadMessage, ToolResult, message_line, tool
from bot.toolkit.catalogue import ACQUIRE, Catalogue
from tests.support.redis import asked
from tests.support.runs import answer, bot_with
from tools.calculation import calculate
from tools.clock import current_time
from tools.messages import post_message

SALES = b"region,units\nNorth,4722\nSouth,3048\n"
THREAD = "T1:C1:1.0"
TOOLS = Catalogue.of([calculate.tool, current_time.tool, post_message.tool])


@tool(group="files", summary="Read a long list", core=True, safety=Reads(foreign=True))
async def long_list() -> ToolResult:
    """Read it."""
    lines = "\n".join(f"line {n}: {n * 7}" for n in range(20_000))
    return ToolResult(lines, (Source(title="The list", url="https://list.example/", supports=""),))


def handle(request: ModelRequest) -> str:
    """The handle of the last table that the model was given."""
    outputs = [i["output"] for i in request.body["input"] if i.get("type", "").endswith("output")]
    found: list[str] = re.findall(r"handle: (\w+)", "".join(outputs))
    return found[-1]


async def records(stores: Stores) -> dict[str, CallRecord]:
    """The record of each call in the ledger, by the name of its tool."""
    entries = await stores.ledger.entries(THREAD)
    items = [item for entry in entries for item in entry.items]
    names = {i["call_id"]: i["name"] for i in items if i.get("type") == "function_call"}
    return {names[each.call_id]: each for entry in entries for each in entry.calls}


async def test_the_ledger_keeps_what_each_call_read_and_made(stores: Stores) -> None:
    """23.2 23.5: the sources of a call, the tables it read and saved, and the hash of the raw file, so
    that a figure is traced to its file and the call can be repeated."""

    def query(request: ModelRequest) -> Reply:
        table = handle(request)
        sql = f"SELECT region, sum(units) AS units FROM {table} GROUP BY region"
        return call("query_table", {"sql": sql, "handles": [table]})

    replies: list[Reply | Respond] = [
        call(ACQUIRE, {"names": ["query_table"]}),
        call("read_file", {"file_id": "F1"}),
        respond(query),
        finish(answer()),
    ]
    async with bot_with(stores, Script(replies)) as bot:
        file = bot.conversation.attach("sales.csv", SALES)
        await bot.ask("Units?", files=(file,))
    kept = await records(stores)
    read, queried = kept["read_file"], kept["query_table"]
    assert [each.title for each in read.sources] == ["sales.csv"]
    assert [each.raw_sha256 for each in read.saved] == [hashlib.sha256(SALES).hexdigest()]
    assert queried.used == (read.saved[0].handle,)
    assert len(queried.saved) == 1
    assert {each.counts_as for each in (read, queried)} == {"read"}
    assert kept[ACQUIRE].counts_as == kept["complete_task"].counts_as == "none"
    kept_answer = await stores.runs.answer(bot.board.finished[0].run_id)
    assert kept_answer is not None
    assert kept_answer[0].text == "Units?"


async def test_the_ledger_keeps_the_handle_of_an_output_that_was_too_long(stores: Stores) -> None:
    """23.2 D7: the model reads a preview; all of it is an artifact that the call saved."""
    replies = [call("long_list", {}), finish(answer())]
    async with bot_with(stores, Script(replies), long_list.tool) as bot:
        await bot.ask("List?")
    record = (await records(stores))["long_list"]
    assert [each.handle[:4] for each in record.saved] == ["out_"]
    assert record.sources[0].url == "https://list.example/"


def ledger(*items: Item, calls: tuple[CallRecord, ...] = ()) -> LedgerEntry:
    return LedgerEntry(run_id="run_1", items=items, calls=calls)


def made(name: str, output: str, call_id: str = "c1", arguments: str = "{}") -> tuple[Item, Item]:
    """A call and its output."""
    called = {
        "type": "function_call",
        "call_id": call_id,
        "name": name,
        "arguments": arguments,
    }
    return called, {"type": "function_call_output", "call_id": call_id, "output": output}


def read(*entries: LedgerEntry) -> tuple[list[tuple[str, Counts, str]], str]:
    """What counts as evidence: tool, kind and text; and why some cannot be read."""
    reader = LedgerReader(TOOLS.get)
    found = reader.read_all(entries)
    return [(each.tool, each.counts, each.text) for each in found], reader.unreadable


def test_what_the_model_and_changes_say_is_no_evidence() -> None:
    """23.1: only outputs of tools that read or calculate, and what people wrote; not what the model
    said, what a change repeats, what was set aside or written again. A record counts before the tool
    of today, and entries from before there were records are read by the tool's marks."""
    items = (
        {"role": "assistant", "content": "It is 4,401."},
        {"role": "developer", "content": "About 4,401 tokens are left."},
        *made("calculate", "12", "c1", '{"expression":"3*4"}'),
        *made("post_message", "posted 4,401", "c2"),
        *made("complete_task", "Not taken: 4,401", "c3"),
        *made("gone_tool", "4,401", "c4"),
        *made("crm__deals", "[data ab12]\n77 deals\n[end of data ab12]", "c5"),
    )
    refused = ledger(
        *made("current_time", "Not done: 4,401", "c6"), calls=(CallRecord(call_id="c6"),)
    )
    put_away = ledger({"role": "user", "content": "4,401"}).model_copy(update={"abandoned": True})
    again = ledger({"role": "user", "content": "4,401"}).model_copy(update={"checkpoint": True})
    assert read(ledger(*items), refused, put_away, again) == (
        [
            ("calculate", Counts.CALCULATED, "12"),
            ("crm__deals", Counts.READ, "77 deals"),
        ],
        "",
    )


def test_what_people_wrote_is_evidence_without_our_marks() -> None:
    """23.1: the question counts as found, and what others wrote in the thread as read."""
    question = request_message(asked("Is it 90 days?"))
    news = thread_messages(asked(), ["Ada: we agreed on 90 days"], 0, is_first=True)
    found, unreadable = read(ledger(news, question))
    assert found[0] == ("read_thread", Counts.READ, "Ada: we agreed on 90 days")
    assert found[1][1] is Counts.PERSON
    assert "Is it 90 days?" in found[1][2]
    assert not unreadable


def test_what_the_bot_said_in_the_thread_before_is_no_evidence() -> None:
    """23.1: though it reads its own messages with the others; their lines stay, so that the others keep
    their numbers."""
    at = datetime(2026, 11, 23, tzinfo=UTC)
    said = [
        ThreadMessage(ts="1", at=at, author="Ada", text="About 90?"),
        ThreadMessage(
            ts="2", at=at, author="Answer Bot", text="It is 4,401.\nOr [4,402] (you): 7", own=True
        ),
        ThreadMessage(ts="3", at=at, author="Ben", text="You mean 4,403 (you): or so"),
    ]
    lines = [message_line(each, UTC) for each in said]
    own = CallRecord(call_id="c1", counts_as="read")
    output = "\n".join(["3 messages", *lines])
    for name in ("read_thread", "read_channel"):
        [(_, _, text)], _ = read(ledger(*made(name, output), calls=(own,)))
        assert text.splitlines() == ["3 messages", lines[0], "", "", lines[2]]


def test_what_cannot_be_searched_is_known() -> None:
    """23.1: images, what the service looked up itself, and a helper whose report was not traced:
    nothing is called untraced then."""
    image = {"role": "user", "content": [{"type": "input_image", "image_url": "attached-image:F1"}]}
    assert read(ledger(image))[1] == Unreadable.IMAGES
    assert read(ledger({"type": "web_search_call", "id": "ws_1"}))[1] == Unreadable.HOSTED
    report = made("dispatch_subagent", "It is 77.")
    assert read(ledger(*report))[1] == Unreadable.HELPERS
    assert read(ledger(*report, calls=(CallRecord(call_id="c1"),)))[1] == Unreadable.HELPERS
    checked = ReportCheck(untraced=("77",))
    traced = CallRecord(call_id="c1", counts_as="read", report=checked)
    assert read(ledger(*report, calls=(traced,)))[1] == Unreadable.NOTHING
