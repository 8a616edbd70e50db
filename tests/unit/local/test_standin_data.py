"""Without a key, `bot dev` still answers questions about a spreadsheet with the right numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.agent.calls.outputs import cancelled
from bot.agent.prompts import request_message
from bot.core.request import Again
from bot.services.tables import tables
from tests.support.conversation import asked
from tests.unit.local.standin_kit import Thread, message, shop
from tests.unit.slack.samples import REQUEST

pytestmark = pytest.mark.heavy
"""The stand-in is frozen until a demo replaces it; the tests of the page run parts of it each time."""

CHART = "handle: chart_1 · bar chart · 3 labels × 1 series · source: sales.csv\nimage: img_1"


@pytest.fixture
def thread() -> Thread:
    return Thread()


QUESTIONS = [
    ("What is the total revenue by region?", [["North", "280.00"], ["West", "57.00"], ["South", "49.50"]]),
    ("average units per product", [["Widget", "5.67"], ["Gizmo", "4.00"], ["Gadget", "2.50"]]),
    ("Top 2 products by revenue", [["Widget", "161.50"], ["Gizmo", "125.00"]]),
    ("Which region had the lowest revenue?", [["South", "49.50"], ["West", "57.00"], ["North", "280.00"]]),
    ("monthly revenue in 2025", [["2025-01", "135.00"], ["2025-02", "182.00"], ["2025-03", "9.50"]]),
    ("revenue by quarter", [["2024-Q4", "60.00"], ["2025-Q1", "326.50"]]),
    ("How many orders per region?", [["North", "3"], ["South", "2"], ["West", "1"]]),
    ("sum and average of units by region", [["North", "17", "5.67"], ["West", "6", "6.00"], ["South", "3", "1.50"]]),
    ("total revenue and number of orders by product", [["Widget", "161.50", "3"], ["Gizmo", "125.00", "1"], ["Gadget", "100.00", "2"]]),
    ("units by product excluding Widget", [["Gadget", "5"], ["Gizmo", "4"]]),
    ("total revenue per product for region North", [["Gizmo", "125"], ["Widget", "95"], ["Gadget", "60"]]),
]  # fmt: skip


@pytest.mark.parametrize(("question", "rows"), QUESTIONS)
async def test_groups_are_worked_out_with_sql(
    thread: Thread, question: str, rows: list[list[str]]
) -> None:
    """The file is read, query_table acquired and asked, and its rows quoted with their source."""
    told = await thread.ask(question, "sales.csv")
    assert told.names == ["read_file", "acquire_tools", "query_table"]
    assert told.answer["table"]["rows"] == rows
    assert rows[0][1].removesuffix(".00") in told.answer["summary"].replace(",", "")
    assert [source["title"] for source in told.answer["sources"]] == ["sales.csv"]
    assert told.answer["confidence"] == "high"


async def test_a_tool_that_is_not_listed_is_looked_for() -> None:
    """With more tools than are listed a person without a key is answered just the same (D1)."""
    told = await Thread(listed=3).ask("What is the total revenue by region?", "sales.csv")
    assert told.names == ["read_file", "acquire_tools", "acquire_tools", "query_table"]
    assert told.answer["table"]["rows"][0] == ["North", "280.00"]


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("How many rows are there?", "6"),
        ("revenue between January and February in 2025", "317"),
        ("revenue since February 2025", "191.50"),
        ("revenue before March 2025", "377"),
        ("revenue on February 3", "125"),
        ("units in the second half", "3"),
        ("How many products are there?", "3"),
        ("what was the highest revenue?", "125"),
        ("total revenue in 2025 for product Widget", "161.50"),
        ("How much revenue in North in January?", "95"),
        ("What is the median of units?", "3.50"),
        ("How many different products are there?", "3"),
        ('sum of units for "Gizmo"', "4"),
        ("How many orders over 50 in revenue?", "4"),
        ("How many orders where units > 3?", "3"),
        ("revenue for North, South", "329.50"),
        ("how many units of gizmos were sold in the North?", "4"),
        ("What share of revenue comes from West?", "15%"),
    ],
)
async def test_single_figures(thread: Thread, question: str, value: str) -> None:
    """One figure stands in the summary."""
    told = await thread.ask(question, "sales.csv")
    assert f"**{value}**" in told.answer["summary"]
    assert "share_file" not in told.names
    assert (told.answer["table"] is None) == ("share" not in question)


STAFF = [
    ["Anna", "Sales", 52, 30, 8.5, True, "2023-05-01", 1001],
    ["Bernd", "Sales", 61, 41, 9.5, False, "2024-02-01", 1002],
    ["Carla", "Support", 95, 50, 7.0, True, "2025-03-01", 1003],
]


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("highest salary in sales", "**61**"),  # a department, and no word for rows
        ("total by team", "cannot tell which figure is meant"),
        ("total price", "cannot add up `unit_price`"),
        ("how many customers", "do not understand"),  # of a column of numbers that name them
        ("how many remote", "do not understand"),
        ("salary since March", "do not understand"),  # of which year?
        ("by team", "**Sales** has the highest number of rows: **2**"),
    ],
)
async def test_what_may_be_meant_otherwise_is_not_guessed(question: str, told: str) -> None:
    thread = Thread()
    columns = ["name", "team", "salary", "age", "unit_price", "remote", "hired", "customer"]
    saved = await tables.save_rows(thread.artifacts, columns, STAFF, name="staff.csv")
    with asked(question):
        thread.outputs["read_file"] = [await tables.describe(thread.artifacts, saved)]
    assert told in (await thread.ask(question, "staff.csv")).answer["summary"]


async def test_what_goes_on_with_rows_or_with_nothing(thread: Thread) -> None:
    """Rows stay rows when they are sorted; "them" after a question that was declined is what was told."""
    await thread.ask("what is in this file?", "sales.csv")
    for question, answer in [
        ("Show me the orders with revenue over 90", "orders with revenue over 90"),
        ("sorted by units", "orders with the highest units"),
        ("What about the moon?", "do not know “moon”"),
        ("Export them as CSV", "orders with the highest units"),
        ("regions with revenue over 50", "2** regions have total revenue"),
        ("and units over 5", "do not know what is bounded"),
    ]:
        assert answer in (await thread.ask(question)).answer["summary"]


async def test_labels_stay_as_they_are_written_and_months_in_their_order(thread: Thread) -> None:
    """Text that looks like a number is none; a line over months goes as time does, in any language."""
    rows = [["2025-12", "01.10", 3], ["2026-01", "01.10", 2], ["2026-02", "01.2", 4]]
    saved = await tables.save_rows(
        thread.artifacts, ["Monat", "Stand", "Menge"], rows, name="m.csv"
    )
    with asked(""):
        thread.outputs["read_file"] = [await tables.describe(thread.artifacts, saved)]
    told = await thread.ask("Menge per Stand", "m.csv")
    assert told.answer["table"]["rows"] == [["01.10", "5"], ["01.2", "4"]]
    drawn = await thread.ask("Menge per Monat as a line chart")
    assert [row[0] for row in drawn.answer["table"]["rows"]] == ["2025-12", "2026-01", "2026-02"]


async def test_what_some_have_in_common_is_not_added_up(thread: Thread) -> None:
    told = await thread.ask("How many different products are there by region?", "sales.csv")
    assert "different values in product" in told.answer["summary"]
    assert not any("together" in point for point in told.answer["key_points"])


async def test_times_with_a_zone_are_a_column_like_any_other(thread: Thread) -> None:
    """Its type is three words more; the first rows are the first of the file, the latest are not."""
    rows = [[1, "2026-05-04T15:00:00Z"], [2, "2026-01-02T00:00:00Z"], [3, "2026-11-03T01:00:00Z"]]
    saved = await tables.save_rows(thread.artifacts, ["order_id", "created_at"], rows, name="o.csv")
    with asked(""):
        thread.outputs["read_file"] = [await tables.describe(thread.artifacts, saved)]
    first = await thread.ask("list the first 2 rows", "o.csv")
    assert first.answer["table"]["columns"] == ["order id", "created at"]
    assert [row[0] for row in first.answer["table"]["rows"]] == ["1", "2"]
    latest = await thread.ask("the latest order")
    assert "2026-11-03 01:00" in latest.answer["summary"]


async def test_a_chart_of_a_part_says_so(thread: Thread) -> None:
    rows = [[f"a{n}", n] for n in range(60)]
    saved = await tables.save_rows(thread.artifacts, ["place", "units"], rows, name="p.csv")
    with asked(""):
        thread.outputs["read_file"] = [await tables.describe(thread.artifacts, saved)]
    thread.outputs["make_chart"] = [CHART]
    told = await thread.ask("units by place as a bar chart", "p.csv")
    assert "The chart shows the first 50 of 60." in told.answer["gaps"]


async def test_who_is_answered_with_a_name(thread: Thread) -> None:
    """ "Who sold most" is not answered with a figure alone."""
    thread.outputs["read_file"] = [
        "handle: tbl_1 · 3 rows × 2 columns · source: team.csv\ncolumns: name VARCHAR, salary INTEGER\n"
        "profile:\ncolumn,distinct,min,max\nname,3,Anna,Carla\nsalary,3,52,61\nfirst 1 rows:\nname,salary\nAnna,52"
    ]
    thread.outputs["query_table"] = [
        "handle: tbl_2 · 3 rows × 2 columns · source: team.csv\ncolumns: name VARCHAR, salary INTEGER\n"
        "name,salary\nBernd,61\nCarla,58\nAnna,52"
    ]
    told = await thread.ask("Who earns most?", "team.csv")
    assert "GROUP BY" in told.given("query_table")["sql"]
    assert "**Bernd**" in told.answer["summary"]


async def test_a_report_of_an_answer_is_of_that_answer(thread: Thread) -> None:
    """The word alone asks for an overview; beside a question it is only the form."""
    told = await thread.ask("Which region sold most? Give me a PDF report too", "sales.csv")
    assert "region" in told.given("query_table")["sql"]
    assert "region" in told.answer["table"]["columns"]


async def test_rows_can_be_listed(thread: Thread) -> None:
    """A bound on the figure picks rows."""
    told = await thread.ask("Show me the rows with revenue over 90", "sales.csv")
    assert {row[2] for row in told.answer["table"]["rows"]} == {"Widget", "Gizmo"}


async def test_a_file_without_a_question_is_described(thread: Thread) -> None:
    """Attached without words: what it holds, and nothing is queried."""
    told = await thread.ask("(no words)", "sales.csv")
    assert told.names == ["read_file"]
    assert "**6 rows**" in told.answer["summary"]
    assert told.answer["follow_ups"]


async def test_columns_of_one_name_are_told_apart(thread: Thread) -> None:
    """Somebody who asks for the amount is told that there are two, and which one it was."""
    rows = [["A", 10, 20], ["B", 30, 40]]
    saved = await tables.save_rows(
        thread.artifacts, ["Name", "Amount", "Amount_2"], rows, name="d.csv"
    )
    note = "note: Columns of the same name: the later ones are called Amount_2.\n"
    with asked(""):
        thread.outputs["read_file"] = [f"{await tables.describe(thread.artifacts, saved)}\n{note}"]
    told = (await thread.ask("total amount by name", "d.csv")).answer
    assert told["gaps"] == [
        "The file has 2 columns `Amount`: this is the first. I call the other `Amount_2`."
    ]
    assert (await thread.ask("total Amount_2 by name")).answer["gaps"] == []


async def test_rows_are_not_offered_to_be_counted_one_by_one(thread: Thread) -> None:
    """By what is different in each row nothing can be counted; a figure of each can be told."""
    rows = [["CRM", "Ben", "late", 40], ["App", "Ada", "late", 25], ["Intranet", "Ben", "done", 9]]
    columns = ["Project", "Owner", "Status", "Budget"]
    saved = await tables.save_rows(thread.artifacts, columns, rows, name="p.csv")
    with asked(""):
        thread.outputs["read_file"] = [await tables.describe(thread.artifacts, saved)]
    listed = await thread.ask("which projects are late?", "p.csv")
    assert listed.answer["follow_ups"][0] == "And by Owner?"
    told = await thread.ask("total budget by owner")
    assert "And by Project?" in told.answer["follow_ups"]


async def test_many_rows_or_levels_are_not_offered_one_by_one(thread: Thread) -> None:
    """After an average, and for somebody who was not understood; nor what hardly ever comes twice."""
    rows = [[f"R{n}", "AB"[n % 2], n % 5, f"Comment {n % 30}"] for n in range(40)]
    columns = ["Respondent", "Team", "Score", "Comment"]
    saved = await tables.save_rows(thread.artifacts, columns, rows, name="s.csv")
    with asked(""):
        thread.outputs["read_file"] = [await tables.describe(thread.artifacts, saved)]
    told = await thread.ask("average score", "s.csv")
    assert told.answer["follow_ups"] == ["And by Team?"]
    declined = await thread.ask("score of the weather")
    assert declined.answer["follow_ups"][0] == "Average Score by Team"


async def test_a_file_above_in_the_thread_is_what_a_question_is_about(tmp_path: Path) -> None:
    """Rather than a database; not of what asks for a database, or for no figures, or below an image."""
    thread = Thread(databases=shop(tmp_path / "shop.db"))
    told = await thread.ask("What is the total revenue by region?", above="sales.csv")
    assert told.given("read_file")["file_id"] == "F9"
    assert told.answer["table"]["rows"][0] == ["North", "280.00"]
    for question in ("what is in this file?", "total revenue by region in the file above"):
        told = await thread.ask(question)
        assert [each["title"] for each in told.answer["sources"]] == ["sales.csv"]
    for question, tool in (
        ("how many customers are in the database?", "query_database"),
        ("what is 18% of 24,350?", "calculate"),
    ):
        other = Thread(databases=thread.databases)
        assert tool in (await other.ask(question, above="sales.csv")).names
    picture = Thread(databases=thread.databases)
    told = await picture.ask("how many customers are there?", above="shot.png")
    assert "query_database" in told.names


async def test_a_thread_of_follow_ups(thread: Thread) -> None:
    """Each follow-up changes the query before it; the file is read once, the tool acquired once."""
    thread.outputs["make_chart"] = [CHART]
    await thread.ask("total revenue by region", "sales.csv")
    by_product = await thread.ask("and by product?")
    assert by_product.names == ["query_table"]
    assert by_product.answer["table"]["rows"][0] == ["Widget", "161.50"]
    north = await thread.ask("actually only for the region North please")
    assert north.answer["table"]["rows"] == [["Gizmo", "125"], ["Widget", "95"], ["Gadget", "60"]]
    average = await thread.ask("what about the average?")
    assert "average revenue for North" in average.answer["summary"]
    drawn = await thread.ask("as a line chart")
    assert drawn.names == ["acquire_tools", "make_chart"]
    assert drawn.given("make_chart")["kind"] == "line"
    assert drawn.answer["charts"] == ["chart_1"]
    corrected = await thread.ask("no, I meant South")
    assert "average revenue for South" in corrected.answer["summary"]
    whole = await thread.ask("show me the whole table")
    assert len(whole.answer["table"]["rows"]) == 6
    assert whole.answer["summary"] == "Here are all 6 rows."
    fresh = await thread.ask("How many rows are there?")
    assert "**6**" in fresh.answer["summary"]


async def test_a_chart_is_drawn_from_the_result(thread: Thread) -> None:
    """The chart gets the result's handle and columns, and both tools are acquired at once."""
    thread.outputs["make_chart"] = [CHART]
    told = await thread.ask("plot monthly revenue", "sales.csv")
    assert told.names == ["read_file", "acquire_tools", "query_table", "make_chart"]
    assert told.given("acquire_tools")["names"][:2] == ["query_table", "make_chart"]
    chart = told.given("make_chart")
    assert (chart["kind"], chart["label_column"]) == ("line", "month")
    assert chart["value_columns"] == ["total revenue"]
    assert chart["handle"].startswith("tbl_")


async def test_two_groups_become_the_lines_of_one_chart(thread: Thread) -> None:
    """Months stand along the axis, each region is a line, and the table is as wide as that."""
    told = await thread.ask("line chart of revenue per month for each region", "sales.csv")
    chart = told.given("make_chart")
    assert (chart["label_column"], chart["series_column"]) == ("month", "region")
    assert len(told.answer["charts"]) == 1
    assert told.answer["table"]["columns"] == ["month", "North", "South", "West"]
    assert told.answer["table"]["rows"][0] == ["2024-12", "60.00", "", ""]
    assert "**North** has the highest total revenue: **280.00**" in told.answer["summary"]
    points = told.answer["key_points"]
    assert "North: from 60.00 in December 2024 to **125.00** in February 2025 (+108%)" in points


async def test_what_is_compared_stands_side_by_side(thread: Thread) -> None:
    told = await thread.ask("compare revenue of North and South by month", "sales.csv")
    assert told.answer["table"]["columns"] == ["month", "North", "South"]
    assert "Shares: North 85%, South 15%" in told.answer["key_points"]


async def test_a_course_says_how_much_it_changed(thread: Thread) -> None:
    told = await thread.ask("monthly revenue in 2025", "sales.csv")
    assert told.answer["summary"] == (
        "The total revenue per month in 2025 went from **135.00** in January 2025 to **9.50** in "
        "March 2025 (-93%)."
    )
    assert "Highest in February 2025: **182.00**" in told.answer["key_points"]


async def test_the_few_largest_rows_are_listed(thread: Thread) -> None:
    """Numbers in words count, too."""
    told = await thread.ask("show me the two biggest orders by revenue", "sales.csv")
    assert [row[4] for row in told.answer["table"]["rows"]] == ["125", "95"]
    assert told.answer["summary"] == "Here are the 2 orders with the highest revenue."


async def test_the_card_of_a_query_says_what_it_finds_out(thread: Thread) -> None:
    told = await thread.ask("What is the total revenue by region?", "sales.csv")
    assert told.given("query_table")["purpose"] == "total revenue by region"


async def test_a_result_is_shared_as_a_file(thread: Thread) -> None:
    """ "Export that" shares the rows of the query before."""
    await thread.ask("total revenue by region", "sales.csv")
    told = await thread.ask("export that as csv")
    assert told.names == ["acquire_tools", "share_file"]
    [(name, data, _)] = thread.conversation.shared
    assert name == "Total revenue by region.csv"
    assert b"North" in data
    told = await thread.ask("and as a pdf report")
    assert told.names == ["share_file"]
    name, data, _ = thread.conversation.shared[-1]
    assert (name, data[:5]) == ("Total revenue by region.pdf", b"%PDF-")
    assert "![" in told.given("share_file")["content"]


async def test_a_wrong_column_is_corrected_once(thread: Thread) -> None:
    """A near match named by the tool is tried; a second refusal becomes an honest gap."""
    wrong = 'Binder Error: column "revenue" not found.\nSimilar columns: units.'
    thread.outputs["query_table"] = [wrong]
    told = await thread.ask("total revenue by region", "sales.csv")
    assert told.names.count("query_table") == 2
    assert 'sum("units")' in told.given("query_table")["sql"]
    thread.outputs["query_table"] = [wrong, "It failed again."]
    failed = await thread.ask("total revenue by product", "sales.csv")
    assert failed.answer["confidence"] == "low"
    assert "It failed again." in failed.answer["gaps"]


@pytest.mark.parametrize(
    ("question", "gap"),
    [
        ("Which products should we drop?", "“should” and “drop”"),
        ("What would revenue be if we raised prices?", "“raised” and “prices”"),
        ("cumulative revenue by month", "“cumulative”"),
    ],
)
async def test_what_the_rules_do_not_know_is_said(thread: Thread, question: str, gap: str) -> None:
    """A figure is not passed off as the answer to all of the question."""
    told = await thread.ask(question, "sales.csv")
    assert f"My rules do not know {gap}" in told.answer["summary"]
    assert "query_table" not in told.names


async def test_a_cross_table_is_told_by_its_rows(thread: Thread) -> None:
    """What all together are called is what was added up."""
    told = await thread.ask("total units by region and product", "sales.csv")
    assert "All 3 regions together: **26**" in told.answer["key_points"]
    assert told.answer["summary"].startswith("**North** has the highest")


async def test_an_average_per_period_is_of_what_each_has_in_all(thread: Thread) -> None:
    told = await thread.ask("average revenue per quarter", "sales.csv")
    assert "per quarter is **193.25**" in told.answer["summary"]
    await thread.ask("average revenue per month")
    told = await thread.ask("and in 2025?")
    assert "per month is **108.83**" in told.answer["summary"]


BOUNDED = [
    ("products with more than 4 units", "**2** products have total units over 4: **Widget** and **Gadget**"),
    ("rows with units between 3 and 6", "Here are all 3 rows"),
    ("which product has the highest revenue per unit?", "do not understand"),
    ("what sells best in the South?", "**Gadget** has the highest"),
    ("compare January with March 2025", "from **135.00**"),
    ("sort the rows by date", "earliest rows"),
    ("top 10% by revenue", "do not know “%”"),
    ("delete the West rows", "never change them"),
    ("total revenue of sales with more than 5 units", "with units over 5 is **152**"),
    ("biggest single sale in the South", "The highest revenue for South is **40**"),
    ("when was the first sale?", "The earliest date is **2024-12-24**"),
    ("when did we sell the most?", "**February 2025** has the highest"),
    ("average product by region", "no sum, average or highest of `product`: it holds text"),
    ("which region has the highest product?", "no sum, average or highest of `product`: it holds text"),
    ("second best region", "do not know “second”"),
    ("how many days had no sales?", "do not understand"),
    ("top 2 products in each region", "of one thing only"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "told"), BOUNDED)
async def test_what_is_bounded_sorted_or_set_apart(
    thread: Thread, question: str, told: str
) -> None:
    answer = (await thread.ask(question, "sales.csv")).answer
    assert told in str([answer["summary"], answer["gaps"]])


async def test_a_question_turned_round_is_not_answered_as_if_it_were_not(thread: Thread) -> None:
    told = await thread.ask("Which products are not selling?", "sales.csv")
    assert "My rules do not understand" in told.answer["summary"]
    assert "query_table" not in told.names


async def test_a_name_that_is_not_in_the_data(thread: Thread) -> None:
    """It is said; no figure is made up."""
    told = await thread.ask("total revenue for Atlantis by product", "sales.csv")
    assert "My rules do not know “Atlantis”" in told.answer["summary"]
    assert "query_table" not in told.names


async def test_a_corrupt_file(thread: Thread) -> None:
    """The tool's own sentence is the answer, and nothing about it is uncertain."""
    thread.outputs["read_file"] = ["sales.csv could not be read: it is damaged."]
    told = await thread.ask("total revenue", "sales.csv")
    assert told.answer["summary"] == "sales.csv could not be read: it is damaged."
    assert told.answer["confidence"] == "high"


async def test_a_document_is_quoted(thread: Thread) -> None:
    """A question to a text is answered with the sentence that speaks of it."""
    thread.outputs["read_file"] = [
        "handle: doc_1 · 3 lines · source: policy.pdf\n\nRefunds take five days.\n"
        "The office opens at nine.\nParking is free on Sundays."
    ]
    told = await thread.ask("When does the office open?", "policy.pdf")
    assert "“The office opens at nine.”" in told.answer["summary"]
    assert told.answer["sources"][0]["title"] == "policy.pdf"


async def test_of_several_files_the_one_that_is_meant_is_read(thread: Thread) -> None:
    """A table by words for figures, never an image; later the one that is named."""
    handbook = (
        "handle: doc_1 · 1 lines · source: handbook.pdf\n\nSection 5 says: audits are monthly."
    )
    told = await thread.ask("total revenue?", "note.png", "handbook.pdf", "sales.csv")
    assert "**386.50**" in told.answer["summary"]
    thread.outputs["read_file"] = [handbook]
    then = await thread.ask("and what does the handbook say about audits?")
    assert "audits are monthly" in then.answer["summary"]
    picture = await thread.ask("what does the note say?")
    assert "cannot tell what is in an image" in picture.answer["summary"]


async def test_a_long_document_is_searched(thread: Thread) -> None:
    """What stands beyond the beginning that was shown is found, its sentence made whole."""
    thread.outputs["read_file"] = [
        "handle: doc_1 · 900 lines · source: policy.pdf\n\nRefunds take five days.\n"
        "[lines 1–1 of 900 shown; read_artifact with handle doc_1 and offset 1 reads on]"
    ]
    thread.outputs["search_artifact"] = [
        "handle: doc_1 · 1 of 900 lines match\n616- For visitors:\n617: The office opens\n618- at nine."
    ]
    told = await thread.ask("When does the office open?", "policy.pdf")
    assert "The office opens at nine." in told.answer["summary"]


async def test_numbers_that_name_a_row_stay_as_they_are(thread: Thread) -> None:
    """Order 1024 is not 1,024; LATE and late are told once."""
    saved = await tables.save_rows(
        thread.artifacts,
        ["Order No.", "Amount", "Status"],
        [[1024, 2048.0, "late"], [1025, 1024.0, "LATE"]],
        name="orders.csv",
    )
    with asked("List the 2 biggest late orders"):
        thread.outputs["read_file"] = [await tables.describe(thread.artifacts, saved)]
    told = await thread.ask("List the 2 biggest late orders", "orders.csv")
    assert [row[0] for row in told.answer["table"]["rows"]] == ["1024", "1025"]
    assert "late and" not in told.answer["table"]["caption"].lower()


async def test_the_unit_of_a_column_is_no_part_of_its_name(thread: Thread) -> None:
    """Lead times in days are figures, not days; months told in letters are names."""
    saved = await tables.save_rows(
        thread.artifacts,
        ["Supplier", "Month", "Lead time (days)", "Rating"],
        [["FastSteel", "Jul", 30, 3.1], ["ChipCo", "Aug", 65, 3.9]],
        name="suppliers.csv",
    )
    with asked("Which supplier has the longest lead time?"):
        described = await tables.describe(thread.artifacts, saved)
    thread.outputs["read_file"] = [described, described]
    told = await thread.ask("Which supplier has the longest lead time?", "suppliers.csv")
    assert told.answer["summary"].startswith("**ChipCo** has the highest total Lead time (days)")
    by_month = await thread.ask("Rating by month", "suppliers.csv")
    assert by_month.answer["table"]["columns"] == ["Month", "total Rating"]


async def test_pages_are_named_where_a_document_has_them(thread: Thread) -> None:
    """A reader finds the sentence again."""
    thread.outputs["read_file"] = [
        "handle: doc_1 · 3 pages · source: policy.pdf\n\n[page 1 of 3]\nRefunds take five days.\n\n"
        "[page 2 of 3]\nThe office opens at nine.\n\n[page 3 of 3]\nParking is free on Sundays."
    ]
    told = await thread.ask("When does the office open?", "policy.pdf")
    assert told.answer["sources"][0]["supports"] == "The passages quoted, on page 2."


async def test_what_was_stopped_is_done_again_for_an_edited_question(thread: Thread) -> None:
    """Neither the output of a cancelled call nor the words about the edit are part of it."""
    thread.items.append(message("What is the total revenue by region?", ("sales.csv",), ""))
    [(name, _)] = thread.think()
    thread.items[-1]["output"] = cancelled(thread.items[-2]).text
    edited = REQUEST.model_copy(
        update={"again": Again.EDITED, "text": "What is the total revenue by product?"}
    )
    words = str(request_message(edited)["content"]).split("\n\n", 1)[1]  # the kit has a head, too
    told = await thread.ask(words, "sales.csv")
    assert told.names[0] == name == "read_file"
    assert "Widget" in told.answer["summary"]
    assert "revenue" in told.answer["summary"]


@pytest.mark.parametrize(
    ("first", "then", "rows"),
    [
        ("revenue by product", "show me a pie chart", [["Widget", "161.50"], ["Gizmo", "125.00"], ["Gadget", "100.00"]]),
        ("Which products have more than 5 units?", "as a bar chart", [["Widget", "17"]]),
        ("revenue by product", "only products with more than 5 units", [["Widget", "17"]]),
    ],
)  # fmt: skip
async def test_what_follows_leans_on_what_was_asked(
    thread: Thread, first: str, then: str, rows: list[list[str]]
) -> None:
    """A form alone, and a bound on what was told."""
    await thread.ask(first, "sales.csv")
    told = await thread.ask(then)
    assert told.answer["table"]["rows"] == rows


async def test_a_whole_question_starts_afresh_and_a_part_goes_on(thread: Thread) -> None:
    """What has a figure of its own is of all rows, which is told after one of some; "all" drops what was
    narrowed; what changes nothing is no answer."""
    for question, answer in [
        ("show me the rows for North in January", "There is one row for North in January"),
        ("total revenue", "The total revenue is **386.50**."),
        ("only North", "The total revenue for North is **280**."),
        ("all regions", "The total revenue is **386.50**."),
        ("all of it", "My rules find nothing in “all of it” that changes"),
        ("plot units per month for West", "The total units for West in February"),
        ("by mood", "My rules do not know “mood”"),
        ("and in May?", "cannot tell what “and in May” goes on with"),
    ]:
        told = await thread.ask(question, *(["sales.csv"] * question.startswith("show")))
        assert answer in told.answer["summary"], question
        if question == "total revenue":
            assert "This is of all rows" in told.answer["key_points"][0]


async def test_what_was_told_is_changed_as_it_is_said(thread: Thread) -> None:
    """Groups are sorted, bounded and drawn as they stand, and a share goes on."""
    for question, answer in [
        ("revenue by month sorted by revenue", "**February 2025** has the highest total revenue"),
        ("units by region", "**North** has the highest total units"),
        ("only above 5k", "No region has total units over 5,000."),
        ("what % of revenue is widgets?", "**Widget** makes up **42%**"),
        ("and gadgets?", "**Gadget** makes up **26%**"),
        ("compare North and South", "That is 5.66 times as much, or 230.50 more."),
    ]:
        told = await thread.ask(question, *(["sales.csv"] * question.startswith("revenue")))
        assert answer in told.answer["summary"], question


async def test_the_file_of_a_forwarded_message_is_read(thread: Thread) -> None:
    """It is named in what is forwarded, beside its words; the question is the one of the note."""
    shared = (
        "[Forwarded: Ada, https://slack.example/p1]\nTotal by region?\n[file F0123ABC, sales.csv]"
    )
    told = await thread.ask("What is the total revenue by product?", quoted=shared)
    assert told.given("read_file")["file_id"] == "F0123ABC"
    assert told.answer["table"]["caption"] == "Total revenue by product"
