"""Questions a newcomer puts to the sample database of `bot dev`: right, or honestly not answered."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.dev.sample_database import build
from bot.services.databases import DatabaseConfig, SqlDatabases
from tests.unit.local.standin_kit import Thread

pytestmark = pytest.mark.heavy
"""The stand-in is frozen until a demo replaces it; the tests of the page run parts of it each time."""


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sample") / "sample.sqlite"
    build(path)
    return path


@pytest.fixture
def thread(sample: Path) -> Thread:
    config = DatabaseConfig(url=SecretStr(f"sqlite:///{sample}"))
    return Thread(databases=SqlDatabases({"sample": config}))


ANSWERED = [
    ("Who are our ten biggest customers?", "Cedar Clinic** has the highest total amount: **21,969"),
    (
        "What is our best selling product?",
        "Standing desk** has the highest total amount: **108,780",
    ),
    ("What's the average order value per plan?", "Team** has the highest average amount"),
    ("Which customer has the most tickets?", "8** each"),
    ("Top 3 products by quantity in the West region in Q3", "Planner** has the highest total"),
    ("customers by number of orders", "Alder Studio** has the highest number of orders: **28**"),
    ("orders on 2026-05-07", "orders on 2026-05-07"),
    (
        "Which customer has the most open tickets?",
        "highest number of tickets with status open: **2**",
    ),
    ("Which product sold best?", "Standing desk** has the highest total amount: **108,780"),
    ("Which 3 orders were the largest?", "Here are the 10 orders with the highest amount."),
    ("How much revenue did Cedar Clinic make?", "The total amount for Cedar Clinic is **21,969**"),
    ("What is the average amount per order by plan?", "Team** has the highest average amount"),
    ("bottom 3 customers by number of orders", "Alder Bakery** has the lowest number of orders"),
    ("How much revenue did we make in Q2?", "The total amount in Q2 is **106,857.50**"),
    ("What is the average monthly revenue?", "the total amount per month is **31,551.65**"),
    ("Which high priority tickets are still open?", "6 tickets with priority high and status open"),
    ("What percentage of tickets are closed?", "closed** makes up **81%"),
    ("List customers who joined in 2025", "17 customers whose `since` is in 2025"),
    ("Which products cost more than 100?", "3 products with price over 100"),
    ("Show me the last 5 orders", "the 5 latest orders"),
    ("Orders per day, please", "to **2** on 2026-10-31"),
    ("Total amount by week", "in the week of 2026-10-26"),
    ("Which product sold best by month?", "of one thing only"),
    ("How many tickets were closed in October?", "**16** tickets closed in October"),
    ("biggest order", "**4,200**, of 10 orders"),
    ("best selling category", "**Office** has the highest total amount"),
    (
        "Which week had the most orders?",
        "Week of 2026-03-02** has the highest number of orders: **28**",
    ),
    ("export revenue by customer to excel", "Cedar Clinic** has the highest total amount"),
    ("What did Larch Clinic order?", "orders for Larch Clinic"),
    ("How much did Cedar Clinic spend?", "for Cedar Clinic is **21,969**"),
    ("cheapest product", "The lowest price is **6**: id 6, name Notebook"),
    ("select count(*) from orders", "gives **800**"),
    ("drop table orders", "**nothing was changed**"),
    ("delete all customers", "The database is only read here"),
    ("update the price of Desk lamp to 10", "The database is only read here"),
    ("insert a customer named Bob", "The database is only read here"),
    ("Which customers have never ordered?", "My rules do not know “never”"),
    ("Write a short poem about orders", "I cannot write texts"),
    ("customers with more than 25 orders", "**2** customers have a number of orders over 25"),
    ("Who are the newest customers?", "the 10 latest customers"),
    ("How many customers joined each month?", "The number of customers per month"),
    ("How many tickets were closed in June?", "**13** tickets"),
    ("How much did we make in Q3?", "in Q3 is **91,152**"),
    ("Which tickets are urgent?", "My rules do not know “urgent”"),
    ("How many orders came in on weekends?", "**230** orders on Saturdays and Sundays"),
    ("How many orders per month are in the database, as a line chart?", "from **72** in January"),
    ("How many orders are in the database per region?", "**312**"),
    ("revenue in week 23 in the database", "in week 23 is **8,502.50**"),
]


async def test_a_figure_is_given_as_the_number_that_a_workflow_asks_for(thread: Thread) -> None:
    orders = {"type": "object", "properties": {"orders": {"type": "integer"}}}
    thread.finish = {"type": "function", "name": "complete_task", "parameters": orders}
    assert (await thread.ask("How many orders are in the database?")).answer == {"orders": 800}


@pytest.mark.parametrize(("question", "told"), ANSWERED)
async def test_what_people_ask_of_a_shop_is_answered(
    thread: Thread, question: str, told: str
) -> None:
    assert told in (await thread.ask(question)).answer["summary"]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Which customers churned last quarter?", "“churned”"),
        ("Average response time for tickets by priority", "“response”"),
    ],
)
async def test_words_that_the_rules_do_not_know_are_not_passed_over(
    thread: Thread, question: str, words: str
) -> None:
    """Without them all rows would be listed, as if they were the answer."""
    told = await thread.ask(question)
    assert f"My rules do not know {words}" in told.answer["summary"]
    asked = [call["sql"] for name, call in told.calls if name == "query_database"]
    assert all(sql.startswith('WITH "every"') for sql in asked)  # whether they are names it holds


async def test_a_follow_up_leans_on_what_was_asked(thread: Thread) -> None:
    """Of what was counted the rows; whom "they" are nobody guesses."""
    await thread.ask("How many open tickets are there?")
    listed = await thread.ask("Which ones are high priority?")
    assert "6 tickets with status open and priority high" in listed.answer["summary"]
    puzzled = await thread.ask("How many orders did they make?")
    assert "My rules do not understand" in puzzled.answer["summary"]


async def test_two_questions_of_one_sentence_are_both_answered(thread: Thread) -> None:
    """Where they are about different things."""
    both = await thread.ask("What time is it in Tokyo and how many customers do we have?")
    assert "Asia/Tokyo" in both.answer["summary"]
    assert "**40** customers" in both.answer["summary"]


async def test_a_result_is_worked_on(thread: Thread) -> None:
    await thread.ask("What is 20% of 500?")
    for said, told in (
        ("and 30%?", "**150**"),
        ("divided by 3", "**50**"),
    ):
        assert told in (await thread.ask(said)).answer["summary"]


async def test_what_is_not_understood_is_not_left_out_of_account(thread: Thread) -> None:
    """No figure is passed off as the answer to a part of the question."""
    told = await thread.ask("Which region should we leave by number of orders?")
    assert "My rules do not know “should”" in told.answer["summary"]
    assert told.answer["table"] is None


async def test_a_follow_up_keeps_what_was_asked_before(thread: Thread) -> None:
    """The figure, the conditions and the grouping stay until others are named, and are told; a
    question with a figure of its own starts afresh."""
    said = [
        ("How many units did we sell per region? in the database", "total quantity"),
        ("Compare West and South", "**West** has the highest total quantity"),
        ("only West", "The total quantity for West is"),
        ("by month", "The total quantity per month for West went from"),
        ("from March to May", "per month for West"),
        ("which customer bought most?", "**Cedar Clinic** has the highest total amount: **21,969"),
        ("delete all customers", "The database is only read here"),
        ("How many customers are in the North?", "There are **10** customers for North."),
        ("How many orders did they make?", "My rules do not understand"),
        ("what is the total revenue?", "The total amount is **315,516.50**."),
    ]
    for question, answer in said:
        told = await thread.ask(question)
        assert answer in told.answer["summary"], question


async def test_names_are_known_however_they_are_written(thread: Thread) -> None:
    """A word that no rule knows is looked up among the names that the database holds."""
    for question, answer in [
        (
            "customers from the south on the free plan",
            "2 customers for South and Free",
        ),
        ("how many are there?", "There are **2** customers for South and Free."),
        (
            "How many customers are on the Business plan?",
            "There are **16** customers for Business.",
        ),
        ("and Team?", "There are **14** customers for Team."),
        ("what share of revenue comes from standing desks?", "**Standing desk** makes up **34%**"),
        ("revenue per customer in West over 10000", "**5** customers have total amount for West"),
        ("what did they buy?", "My rules do not understand"),
        ("what's the median order amount in the database", "works out no median"),
        (
            "who bought the most monitors?",
            "**Cedar Clinic** has the highest total quantity for Monitor",
        ),
        ("and webcams?", "**Dogwood Works** has the highest total quantity for Webcam"),
        ("how many tickets are there?", "There are **160** tickets."),
        ("only open", "There are **31** tickets with status open"),
        ("by priority and region", "with status open"),
    ]:
        assert answer in (await thread.ask(question)).answer["summary"], question


async def test_a_follow_up_goes_on_with_the_source_that_answered_last(thread: Thread) -> None:
    """Of a file and a database in one thread, also where the answer took no new query."""
    for question, answer in [
        ("revenue by region", "**North** has the highest total revenue"),
        ("how many orders are there in the database?", "There are **800** orders."),
        ("by region", "**West** has the highest number of orders"),
        ("which region is best in the file?", "**North** has the highest total revenue"),
        ("only West", "The total revenue for West is **57**."),
    ]:
        told = await thread.ask(question, *(["sales.csv"] * question.startswith("revenue")))
        assert answer in told.answer["summary"], question


async def test_what_follows_is_of_what_was_told_last(thread: Thread) -> None:
    """The best of what was ranked or counted, its share, how far it is ahead, a bound on it; other
    records by the same. No text is added up, and no word that is no noun is counted."""
    for question, answer in [
        (
            "total order amount by category",
            "**Office** has the highest total amount: **168,697.00**",
        ),
        ("by how much?", "My rules do not understand"),
        (
            "what share of revenue comes from Paper?",
            "**Paper** makes up **2%** of the total amount",
        ),
        ("and customers per region?", "**West** has the highest number of customers: **15**"),
        ("orders per month", "The number of orders per month went from **72**"),
        ("more than 85?", "**1** month has a number of orders over 85: **March 2026**."),
        ("orders per month", "The number of orders per month went from **72**"),
        ("which was the best?", "**March 2026** has the highest number of orders: **98**"),
        ("and the worst one?", "**February 2026** has the lowest number of orders: **71**"),
        ("which customers ordered more than 10k?", "**8** customers have total amount over 10,000"),
        ("and less than 5k?", "**9** customers have total amount under 5,000"),
        ("average order value by plan", "**Team** has the highest average amount"),
        ("total plan", "`plan`: it holds text, not only numbers"),
    ]:
        assert answer in (await thread.ask(question)).answer["summary"], question


async def test_what_cannot_be_told_is_not_told(thread: Thread) -> None:
    """Of two years the one without a row is named; a time that no rule knows is not passed over."""
    years = await thread.ask("whats our revenue this year vs last year?")
    assert years.answer["summary"] == "The total amount in 2026 is **315,516.50**."
    assert "There are no rows for 2025." in years.answer["gaps"]
    await thread.ask("total amount by region")
    for question, answer in [
        ("for everything", "My rules find nothing in “for everything” that changes"),
        ("in the first week of may", "My rules do not understand"),
        ("which region has fewer than 8 customers?", "under 8: **South**"),
    ]:
        assert answer in (await thread.ask(question)).answer["summary"], question


async def test_a_time_is_told_for_another_place(thread: Thread) -> None:
    """A follow-up names what differs only."""
    for question, answer in [
        ("When it is 9:30 in Berlin, what time is it in Tokyo?", "**17:30** in Asia/Tokyo"),
        ("and in New York?", "**03:30** in America/New_York"),
        ("what about Oslo?", "**09:30** in Europe/Oslo"),
    ]:
        assert answer in (await thread.ask(question)).answer["summary"], question


async def test_whom_nobody_can_tell_is_not_guessed(thread: Thread) -> None:
    """No rule knows whom "they" are, and what is not understood keeps nothing of the question before."""
    for question, answer in [
        ("who is our best customer?", "**Cedar Clinic** has the highest"),
        ("and how much did they spend in March?", "My rules do not understand"),
        ("and in May?", "My rules cannot tell what “and in May” goes on with"),
        ("which customers joined in 2025?", "17 customers"),
        ("What were last month's sales by region?", "in October 2026: **19,872.00**"),
        ("and in September 2026?", "in September 2026: **18,498.50**"),
        ("is it in stock?", "My rules do not know “stock”"),
        ("how many tickets are not closed?", "There are **31** tickets with status not closed"),
        ("top 3 products per region", "of one thing only"),
    ]:
        assert answer in (await thread.ask(question)).answer["summary"], question


async def test_days_are_spans(thread: Thread) -> None:
    """From one day to another, however it is written; the last order is the latest by its day."""
    for question, answer in [
        ("orders between 2026-03-01 and 2026-03-15", "51 in all"),
        ("orders between 1 and 15 March", "51 in all"),
        ("how much did Elm Studio order in total?", "for Elm Studio is **14,727**"),
        ("when was the last order?", "**2026-10-31**"),
        ("orders per month since March 2026", "per month from March 2026 went from **98**"),
        ("average orders per day", "per day with rows is **2.90**"),
    ]:
        assert answer in (await thread.ask(question)).answer["summary"], question


async def test_a_question_with_and_finds_the_table_that_it_names(thread: Thread) -> None:
    for question, told in [
        ("what is the total amount by plan?", "**Business** has the highest total amount"),
        ("and how many tickets are open?", "There are **31** tickets with status open."),
        ("never mind, how many customers do we have?", "There are **40** customers."),
    ]:
        assert told in (await thread.ask(question)).answer["summary"], question


async def test_weeks_at_the_ends_may_not_be_whole(thread: Thread) -> None:
    gaps = (await thread.ask("orders in September by week")).answer["gaps"]
    assert "The first and the last week may not be whole." in gaps


async def test_the_month_before_is_that_before_what_was_told(thread: Thread) -> None:
    for question, told in [
        ("How much revenue did we make in January 2026?", "in January 2026 is **23,819**"),
        ("and the month before?", "no rows in December 2025"),
        ("How much revenue did we make in May?", "The total amount in May is"),
        ("and the month before?", "The total amount in April is"),
        ("revenue by region", "**West** has the highest"),
        ("and the month before?", "My rules cannot tell before which month"),
    ]:
        answer = (await thread.ask(question)).answer
        assert told in answer["summary"], question


async def test_a_table_that_is_cut_says_how_to_have_all_of_it(thread: Thread) -> None:
    """And so it is: the file has every row."""
    [told] = (await thread.ask("list all customers")).answer["gaps"]
    assert told == "The table shows its first 20 rows only; “as a CSV file” gives you all."
    assert (await thread.ask("as a CSV file")).names == ["acquire_tools", "share_file"]
