"""What an answer of the stand-in says of its own limits: rows and days that lack, and what stays open."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from bot.services.tables import tables
from tests.support.conversation import asked
from tests.unit.local.standin_kit import Thread

POLICY = (
    "Travel policy\n"
    "Flights are booked by the assistant at least two weeks before the journey begins, and\n"
    "never in business class.\n"
    "Meals cost 40 euros a day at most.\n"
    "Receipts are handed in within 30 days of the journey."
)


async def sheet(
    rows: list[list[object]],
    columns: tuple[str, ...] = ("name", "amount", "day"),
    name: str = "spent.csv",
) -> Thread:
    """A thread in which a file is read, of names, amounts and days unless it is said."""
    thread = Thread()
    with asked("what was spent?"):
        saved = await tables.save_rows(thread.artifacts, columns, rows, name=name)
        thread.outputs["read_file"] = [await tables.describe(thread.artifacts, saved)] * 9
    return thread


async def test_rows_without_a_figure_are_told_of() -> None:
    thread = await sheet([["Ada", 5, "2026-01-02"], ["Ben", None, "2026-01-03"]])
    told = await thread.ask("total amount", "spent.csv")
    assert "1 of 2 rows has no `amount` and counts for nothing." in told.answer["gaps"]


async def test_a_file_without_rows_has_none() -> None:
    told = await (await sheet([])).ask("what is the total amount?", "spent.csv")
    assert told.answer["summary"] == "spent.csv has no rows, only the names of its columns."


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("amount by quarter", "2026-Q2 has figures up to 3 April only."),
        ("amount by year", "2026 has figures up to 3 April only."),
        ("amount by month", "April 2026 has figures up to 3 April only."),
    ],
)
async def test_a_period_that_is_not_over_is_not_taken_for_whole(question: str, part: str) -> None:
    first = date(2026, 1, 2)
    thread = await sheet([["Ada", 9, str(first + timedelta(7 * week))] for week in range(14)])
    told = await thread.ask(question, "spent.csv")
    assert part in told.answer["gaps"]
    assert not any("from" in gap for gap in told.answer["gaps"])


async def test_where_nothing_is_of_the_time_asked_for_the_days_there_are_are_told() -> None:
    thread = await sheet([["Ada", 9, "2026-01-02"], ["Ben", 5, "2026-03-04"]])
    told = await thread.ask("total amount in May 2031", "spent.csv")
    assert told.answer["summary"] == "spent.csv has no rows in May 2031."
    assert "Its dates go from 2 January 2026 to 4 March 2026." in told.answer["gaps"]


@pytest.mark.parametrize("days", [("2026-01-01", "2026-02-01"), ("2026-01-02", "2026-02-03")])
async def test_days_that_are_rare_or_firsts_of_months_tell_no_end(days: tuple[str, str]) -> None:
    thread = await sheet([["Ada", 9, day] for day in days])
    told = await thread.ask("amount by month", "spent.csv")
    assert not any("only" in gap for gap in told.answer["gaps"])


@pytest.mark.parametrize("question", ["most common name", "count by name", "who has the most?"])
async def test_rows_are_counted_where_there_is_no_figure_or_more_than_one(question: str) -> None:
    columns: tuple[str, ...] = ("name", "hours", "cost")
    thread = await sheet([["Ada", 3, 50], ["Ben", 5, 40], ["Ada", 2, 10]], columns)
    told = await thread.ask(question, "spent.csv")
    assert "**Ada** has the highest number of rows: **2**" in told.answer["summary"]
    is_assumed = "No column was named, so I counted the rows." in told.answer["gaps"]
    assert is_assumed == (question == "who has the most?")


async def test_the_first_few_come_with_those_equal_to_the_last() -> None:
    rows: list[list[object]] = [["Ada", 9], ["Ben", 5], ["Cy", 5], ["Dee", 1]]
    thread = await sheet([[*row, "2026-01-02"] for row in rows])
    for question in ("top 2 names by amount", "the 2 largest rows"):
        told = await thread.ask(question, "spent.csv")
        assert [row[0] for row in told.answer["table"]["rows"]] == ["Ada", "Ben", "Cy"]
        assert "The last of them are equal, so these are 3." in told.answer["key_points"]


@pytest.mark.parametrize(
    ("question", "points"),
    [
        ("Summarise the policy in 2 bullet points", 2),
        ("summarise it in three bullets", 3),
    ],
)
async def test_a_summary_has_as_many_points_as_are_wanted(question: str, points: int) -> None:
    """Of whole sentences, wherever the lines of the page end."""
    thread = Thread()
    head = "handle: doc_1 · 5 lines · source: policy.txt"
    thread.outputs["read_file"] = [f"{head}\n\n{POLICY}"]
    told = await thread.ask(question, "policy.txt")
    assert len(told.answer["key_points"]) == points
    assert all(point.endswith(".") for point in told.answer["key_points"])


async def test_a_task_is_not_taken_for_a_word_to_look_for() -> None:
    thread = Thread()
    thread.outputs["read_file"] = [f"handle: doc_1 · 5 lines · source: policy.txt\n\n{POLICY}"]
    told = await thread.ask("summarise the risks", "policy.txt")
    assert told.answer["summary"].startswith("My rules do not understand")


async def test_all_that_is_open_is_listed_where_it_is_asked_for() -> None:
    """A reply that knows no answer is none; what is settled in the same breath is."""
    thread = Thread()
    thread.said("Ben Okafor", "Who checks the dietary needs? And do we invite the contractors?")
    thread.said("Chloe Martin", "Contractors: no idea. I'll get two quotes by Friday.")
    thread.said("Chloe Martin", "Who pays? We agreed that marketing pays.")
    thread.said("Ben Okafor", "Chloe, could you please check the redirects until 1 December?")
    told = await thread.ask("Summarise this thread and list what is still open")
    still = [each for each in told.answer["key_points"] if each.startswith("Still open: ")]
    assert still == [
        "Still open: Ben Okafor: “Who checks the dietary needs?”",
        "Still open: Ben Okafor: “And do we invite the contractors?”",
        "Still open: **Chloe Martin**: Get two quotes, by Friday, 27 November",
        "Still open: **Chloe Martin**: Check the redirects, by Tuesday, 1 December (said by Ben Okafor)",
    ]


async def test_that_nothing_is_open_is_said_where_it_is_asked_for() -> None:
    thread = Thread()
    thread.said("Ben Okafor", "The hotel is booked.")
    told = await thread.ask("Summarise this thread and list what is still open")
    assert "Still open: nothing that I can tell." in told.answer["key_points"]


async def test_the_row_of_a_table_answers_as_well_as_a_sentence() -> None:
    """ "Ask" is said in the question for what is asked about."""
    thread = Thread()
    text = "Above that ask your manager first.\nTopic | Contact\nPayroll | Greta Lindqvist"
    thread.outputs["read_file"] = [f"handle: doc_1 · 3 lines · source: guide.docx\n\n{text}"]
    told = await thread.ask("who do I ask about payroll?", "guide.docx")
    assert "Greta Lindqvist" in told.answer["summary"]


@pytest.mark.parametrize(
    ("question", "gaps"),
    [
        ("total amount", 1),
        ("total amount for EUR", 0),
        ("total amount by currency", 1),
        ("how many rows are there?", 0),
    ],
)
async def test_amounts_of_several_currencies_are_not_passed_off_as_one(
    question: str, gaps: int
) -> None:
    thread = Thread()
    with asked(question):
        rows: list[list[object]] = [["Ada", 5, "EUR"], ["Ben", 7, "USD"]]
        saved = await tables.save_rows(
            thread.artifacts, ["name", "amount", "currency"], rows, name="a.csv"
        )
        thread.outputs["read_file"] = [await tables.describe(thread.artifacts, saved)]
    told = await thread.ask(question, "a.csv")
    assert sum("currency" in gap for gap in told.answer["gaps"]) == gaps


async def test_which_has_the_most_is_asked_of_what_was_told() -> None:
    thread = await sheet([["Ada", 9, "2026-01-02"], ["Ben", 7, "2026-02-02"]])
    await thread.ask("amount by month", "spent.csv")
    await thread.ask("only January")
    told = await thread.ask("which name has the most?")
    assert told.answer["summary"].startswith("The total amount for Ada in January is **9**")


async def test_another_form_is_of_the_last_answer_also_after_a_question_that_was_declined() -> None:
    """More than a form is asked for with all that it is about."""
    thread = await sheet([["Ada", 9, "2026-01-02"], ["Ben", 7, "2026-02-02"]])
    await thread.ask("amount by name", "spent.csv")
    await thread.ask("why is that?!")
    told = await thread.ask("what did they buy?")
    assert told.answer["summary"].startswith("My rules")
    declined = await thread.ask("only January")
    assert declined.answer["summary"].startswith("My rules cannot tell")
    shared = await thread.ask("export it as csv")
    assert "share_file" in shared.names
    assert shared.answer["table"]["caption"] == "Total amount by name"
    assert any("the last question that I understood" in gap for gap in shared.answer["gaps"])


async def test_a_heading_is_quoted_with_what_stands_under_it() -> None:
    thread = Thread()
    text = "# Release notes\n## 2.4\n- Dark mode\n- Login on Safari\n## 2.3\n- Faster search"
    thread.outputs["read_file"] = [f"handle: doc_1 · 6 lines · source: notes.md\n\n{text}"]
    told = await thread.ask("what is new in 2.4?", "notes.md")
    assert told.answer["summary"] == "notes.md says: “2.4”, and under it:"
    assert told.answer["key_points"] == ["“Dark mode”", "“Login on Safari”"]


async def test_a_name_is_no_order_to_search_the_web() -> None:
    thread = await sheet([["Google Ads", 9, "2026-01-02"], ["LinkedIn", 7, "2026-02-02"]])
    await thread.ask("amount by name", "spent.csv")
    told = await thread.ask("and Google Ads?")
    assert told.answer["summary"] == "The total amount for Google Ads is **9**."


AGREEMENT = (
    "3. Availability\nFor every full hour below that, 5% of the fee is credited.\n4. Support\n"
    "Support is reachable on weekdays from 8:00 to 18:00.\n5. Fees\nThe fee is payable in 14 days.\n"
    "6. Term\nThe agreement ends unless it is extended; it may be terminated in writing."
)


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("when can we terminate?", "it may be terminated in writing"),
        ("when do we have to pay?", "The fee is payable"),
        ("What does the agreement say about support hours?", "Support is reachable"),
    ],
)
async def test_other_forms_of_a_word_are_found(question: str, quoted: str) -> None:
    """What stands under a heading of the thing comes first; the name of the text is no thing in it."""
    thread = Thread()
    head = "handle: doc_1 · 8 lines · source: agreement.pdf"
    thread.outputs["read_file"] = [f"{head}\n\n{AGREEMENT}"]
    told = await thread.ask(question, "agreement.pdf")
    assert told.answer["summary"].startswith("agreement.pdf says: “")
    assert quoted in told.answer["summary"]


@pytest.mark.parametrize(
    "order", ["send me this every Friday at 16:00", "remind us of this on Thursday at 9"]
)
async def test_a_schedule_of_this_is_not_made(order: str) -> None:
    """By then nobody knows what "this" was; how a question and a reminder are put is said."""
    told = (await Thread().ask(order)).answer
    assert told["summary"].startswith("Nothing was scheduled")
    assert "Remind me" in told["summary"]


async def test_per_cent_is_not_added_up() -> None:
    """The note of who read the file says that it was written so."""
    thread = Thread()
    with asked("which margin?"):
        rows: list[list[object]] = [["Li", 12, -5], ["Li", 15, 3], ["Kim", 9, 1]]
        columns = ["rep", "margin", "price (EUR)"]
        saved = await tables.save_rows(thread.artifacts, columns, rows, name="m.csv")
        note = "Read as numbers: price (EUR) (€(5.00) as -5.00), margin (12% as 12)."
        said = await tables.describe(thread.artifacts, saved, notes=[note])
        thread.outputs["read_file"] = [said]
    told = await thread.ask("who has the highest margin?", "m.csv")
    assert told.answer["summary"].startswith("**Li** has the highest margin: **15**")
    assert "`margin` is in per cent." in told.answer["key_points"]
    units = ["`margin` is in per cent.", "`price (EUR)` is in €."]
    assert (await thread.ask("list all rows", "m.csv")).answer["key_points"] == units
    told = await thread.ask("average margin and total price (EUR)")
    assert told.answer["key_points"] == units
    high = (await thread.ask("rows with margin above 10%")).answer
    assert [row[1] for row in high["table"]["rows"]] == ["12", "15"]
    about = (await thread.ask("what is in this file?")).answer
    assert "`margin` (in %): 9 to 15, 3 different values" in about["key_points"]


async def test_a_summary_begins_with_the_title_and_leaves_tables_out_as_it_says() -> None:
    thread = Thread()
    text = "# Handover: warehouse move\nThe lease of the old hall ends in May.\nTask | Owner\nPacking of the hall | Paula Reis"
    thread.outputs["read_file"] = [f"handle: doc_1 · 4 lines · source: a.md\n\n{text}"]
    told = (await thread.ask("What is this project about?", "a.md")).answer
    assert told["summary"].startswith("a.md, in its own words: Handover: warehouse move: The lease")
    assert "Packing" not in str(told["key_points"]) + told["summary"]
    assert "There is a table in it, which the summary leaves out." in told["gaps"]


@pytest.mark.parametrize(
    "columns", [("opened", "closed", "status"), ("opened_at", "closed_at", "status")]
)
@pytest.mark.parametrize(
    ("question", "summary"),
    [
        ("how many tickets are open?", "There is **1** ticket with status open."),
        ("how many tickets are closed?", "There are **2** tickets with status closed."),
        ("how many tickets were closed in October?", "There is **1** ticket closed in October."),
        ("tickets opened per month", "The number of tickets per month went from **2**"),
        ("closed tickets per month", "My rules"),
        ("closed tickets in October", "My rules"),
    ],
)
async def test_what_is_open_or_closed_is_not_when_it_was(
    columns: tuple[str, ...], question: str, summary: str
) -> None:
    """A value and the name of a date may be one word; where both could be meant none is guessed."""
    rows: list[list[object]] = [
        ["2026-09-01", "2026-10-03", "closed"],
        ["2026-09-05", None, "open"],
        ["2026-10-09", "2026-11-02", "closed"],
    ]
    thread = await sheet(rows, columns, "tickets.csv")
    told = await thread.ask(question, "tickets.csv")
    assert told.answer["summary"].startswith(summary)
    if "per month" in question:
        told = await thread.ask("and closed?")
        assert told.answer["summary"].startswith("My rules")
