"""Texts and workbooks: what rules can work out of them is worked out, the rest is quoted."""

from __future__ import annotations

import pytest

from bot.services.tables import tables
from tests.support.conversation import asked
from tests.unit.local.standin_kit import Thread

pytestmark = pytest.mark.heavy
"""The stand-in is frozen until a demo replaces it; the tests of the page run parts of it each time."""

LOG = """2026-11-20 10:00 INFO started
2026-11-20 10:01 ERROR [w-1] no answer of db
2026-11-20 10:02 WARN disk 81% full
2026-11-20 10:03 ERROR [w-2] no answer of db
2026-11-20 10:04 ERROR [w-1] bad gateway
"""


async def document(thread: Thread, name: str, text: str) -> str:
    """What read_file says of a text; its handle can be searched."""
    kept = await thread.artifacts.save(
        text.encode(), name=name, media_type="text/plain", prefix="doc"
    )
    return f"handle: {kept.handle} · 5 lines · source: {name}\n\n{text}"


@pytest.mark.parametrize(
    ("question", "summary"),
    [
        ("how many errors are in this log?", "app.log has **3 lines** with “ERROR”, of 5."),
        ("how many lines mention gateway?", "app.log has **1 line** with “gateway”, of 5."),
    ],
)
async def test_the_lines_of_a_log_are_counted(question: str, summary: str) -> None:
    """By the tool, all of them: not those that were shown."""
    thread = Thread()
    thread.outputs["read_file"] = [await document(thread, "app.log", LOG)]
    told = await thread.ask(question, "app.log")
    assert told.answer["summary"] == summary
    assert "search_artifact" in told.names


async def test_a_summary_becomes_a_file() -> None:
    """The form is no part of what is asked: the summary is made, and shared in that form."""
    thread = Thread()
    thread.outputs["read_file"] = [await document(thread, "app.log", LOG)]
    told = await thread.ask("summarise this as a pdf", "app.log")
    assert told.answer["summary"].startswith("app.log, in its own words:")
    assert told.given("share_file")["name"].endswith(".pdf")


async def test_two_texts_differ_where_they_differ() -> None:
    thread = Thread()
    before = "1. Term: 12 months.\n2. Fee: 400 euros.\n3. Law of Germany."
    after = "1. Term: 24 months.\n2. Fee: 400 euros.\n3. Law of Germany.\n4. No liability."
    thread.outputs["read_file"] = [
        await document(thread, "a.txt", before),
        await document(thread, "b.txt", after),
    ]
    told = await thread.ask("what changed between these two contracts?", "a.txt", "b.txt")
    assert told.answer["table"]["rows"] == [
        ["1. Term: 12 months.", "1. Term: 24 months."],
        ["–", "4. No liability."],
    ]


async def test_a_text_that_does_not_have_the_word_says_which() -> None:
    thread = Thread()
    thread.outputs["read_file"] = [await document(thread, "policy.txt", "Receipts within 30 days.")]
    told = await thread.ask("how many vacation days do I get?", "policy.txt")
    assert told.answer["summary"].startswith("policy.txt does not mention “vacation”.")


DIEMS = "# Travel\n\nCountry | Per diem\nGermany | 28 EUR\nFrance | 40 EUR\nJapan | 52 EUR\n\nKeep receipts."


@pytest.mark.parametrize(
    ("question", "told", "points"),
    [
        ("What is the per diem in Japan?", "“Japan | 52 EUR”, in the table that begins with", []),
        ("per diem for France and Germany?", "“Germany | 28 EUR”", ["“France | 40 EUR”"]),
        (
            "What are the per diems?",
            "“Country | Per diem”, and under it:",
            ["“Germany | 28 EUR”", "“France | 40 EUR”", "“Japan | 52 EUR”"],
        ),
    ],
)
async def test_a_row_of_a_table_is_told_and_not_its_head(
    question: str, told: str, points: list[str]
) -> None:
    """What is asked by a name and the word above its cell; without a name all rows are told."""
    thread = Thread()
    thread.outputs["read_file"] = [await document(thread, "policy.docx", DIEMS)]
    answer = (await thread.ask(question, "policy.docx")).answer
    assert answer["summary"].startswith(f"policy.docx says: {told}")
    assert answer["key_points"] == points


async def workbook() -> Thread:
    thread = Thread()
    sales = [["2026-01", "North", 10], ["2026-02", "North", 20], ["2026-02", "South", 5]]
    staff = [["Ada", "IT", 4000], ["Ben", "HR", 3000]]
    said = [
        await tables.save_rows(thread.artifacts, columns, rows, name=f"book.xlsx · {name}")
        for name, columns, rows in (
            ("Sales", ["month", "region", "amount"], sales),
            ("Staff", ["name", "department", "salary"], staff),
        )
    ]
    with asked("what is in it?"):
        described = [await tables.describe(thread.artifacts, each) for each in said]
    thread.outputs["read_file"] = ["\n\n".join(described)]
    return thread


async def test_the_sheets_of_a_workbook_are_told_before_one_is_asked() -> None:
    """The sheet that is named is asked, and its name is no value to look for."""
    thread = await workbook()
    told = await thread.ask("what is in this file?", "book.xlsx")
    assert told.answer["summary"] == "book.xlsx has **2 sheets**:"
    average = await thread.ask("what is the average salary in the Staff sheet?")
    assert "**3,500**" in average.answer["summary"]
    monthly = await thread.ask("amount in Sales by month")
    assert monthly.answer["table"]["rows"] == [["2026-01", "10"], ["2026-02", "25"]]


async def test_a_column_of_channels_is_no_channel_of_slack() -> None:
    thread = Thread()
    table = await tables.save_rows(
        thread.artifacts,
        ["campaign", "channel", "budget", "spent"],
        [["Spring", "Email", 500, 300], ["Summer", "Social", 800, 900]],
        name="plan.csv",
    )
    with asked("?"):
        thread.outputs["read_file"] = [await tables.describe(thread.artifacts, table)]
    told = await thread.ask("Which campaign is over budget?", "plan.csv")
    assert "do not understand “Which campaign is over budget”" in told.answer["summary"]
    told = await thread.ask("and what was spent per channel?")
    assert "Social** has the highest total spent: **900**" in told.answer["summary"]


async def test_of_a_short_message_what_it_says_is_the_answer() -> None:
    told = await Thread().ask(
        "When and where is this?", quoted="The offsite is on 12 May in Porto."
    )
    assert told.answer["summary"] == "The message says: “The offsite is on 12 May in Porto.”"


async def test_of_one_rule_its_neighbours_are_not_quoted() -> None:
    rules = "\n".join(f"- The rule number {n} says no {n}th cake." for n in range(1, 60))
    thread = Thread()
    thread.outputs["read_file"] = [await document(thread, "guide.md", rules)]
    one = await thread.ask("what does rule 17 say?", "guide.md")
    assert one.answer["summary"] == "guide.md says: “The rule number 17 says no 17th cake.”"
    assert one.answer["key_points"] == []


async def test_what_was_decided_stands_behind_decision() -> None:
    thread = Thread()
    minutes = "Minutes\nDecision: we hire two engineers in January.\nBen books the room."
    thread.outputs["read_file"] = [await document(thread, "minutes.docx", minutes)]
    told = await thread.ask("what was decided?", "minutes.docx")
    assert "“Decision: we hire two engineers in January.”" in told.answer["summary"]


async def test_a_heading_is_answered_with_what_stands_under_it() -> None:
    """In a text without Markdown too; and the pages of what is quoted are told."""
    text = (
        "title: Agreement\n\n[page 1 of 2]\nTermination\nEither party may end it in 90 days.\n"
        "Law\nGerman law applies.\n[page 2 of 2]\nRisks\n- no budget yet\nFees may rise by ten per cent."
    )
    thread = Thread()
    thread.outputs["read_file"] = [await document(thread, "a.pdf", text)]
    ended = (await thread.ask("when can it be terminated?", "a.pdf")).answer
    assert ended["summary"] == "a.pdf says: “Termination”, and under it:"
    assert ended["key_points"] == ["“Either party may end it in 90 days.”"]
    assert ended["sources"][0]["supports"] == "The passages quoted, on page 1."
    risks = (await thread.ask("list the risks")).answer
    assert risks["key_points"] == ["“no budget yet”", "“Fees may rise by ten per cent.”"]
    whole = (await thread.ask("summarise it")).answer
    assert whole["sources"][0]["supports"] == "The passages quoted, on pages 1 and 2."


async def test_what_is_ticked_off_is_not_open() -> None:
    thread = Thread()
    text = "# Launch\n## Open\n- [ ] Ben: ask legal\n- [x] Ada: book room\n- [ ] Zoe: print flyers"
    thread.outputs["read_file"] = [f"handle: doc_1 · 5 lines · source: notes.md\n\n{text}"]
    told = str((await thread.ask("what is still open?", "notes.md")).answer)
    assert "ask legal" in told
    assert "print flyers" in told
    assert "book room" not in told
    assert "book room" in str((await thread.ask("who books the room?")).answer)


@pytest.mark.parametrize(
    "order", ["make a to-do list from it", "draft a short message to the team about it"]
)
async def test_an_order_is_no_words_to_look_for_in_a_text(order: str) -> None:
    thread = Thread()
    head = "handle: doc_1 · 2 lines · source: plan.md"
    thread.outputs["read_file"] = [f"{head}\n\nThe team makes a list of risks.\nIt is short."]
    told = (await thread.ask(order, "plan.md")).answer
    assert told["summary"].startswith(f"My rules do not understand “{order}”")
    assert told["follow_ups"]
