"""C3: the stand-in model fills a thread's summary, action items and draft reply from what was said."""

from typing import Any

import pytest

from bot.agent.builtin.complete_task import ResponseType
from bot.core.answers import RESPONSE_TYPES
from tests.unit.local.standin_kit import Thread, Told

pytestmark = pytest.mark.heavy
"""The stand-in is frozen until a demo replaces it; the tests of the page run parts of it each time."""


@pytest.fixture
def thread() -> Thread:
    """Three people on a launch; 20 November 2026 is a Friday."""
    made = Thread()
    made.said("Ada Lovelace", "Shall we launch the shop on Monday?")
    made.said("Ben Okafor", "The login page fails on Safari. I'll fix it by Wednesday.")
    made.said("Chloe Martin", "Who tells the customers about the new date?")
    made.said("Ada Lovelace", "We agreed that the launch of the shop moves to Friday.")
    made.said("Ben Okafor", "Fine with me.")
    made.said("Ada Lovelace", "@Chloe please send the invoice to ACME. We need to book a room.")
    return made


async def told(thread: Thread, name: str, text: str, quoted: str = "") -> Told:
    model = RESPONSE_TYPES[name]
    thread.finish = ResponseType(model, model.text_field).definition
    told = await thread.ask(text, quoted=quoted)
    model.model_validate(told.answer)
    return told


async def test_a_thread_is_summarised(thread: Thread) -> None:
    """Who took part, what holds now, what nobody answered, each with its message."""
    ended = await told(thread, "ThreadSummary", "Summarise this thread.")
    assert ended.names == ["read_thread"]
    answer = ended.answer
    assert "Ada Lovelace began with “Shall we launch the shop on Monday?”" in answer["about"]
    assert "moves to Friday" in answer["about"]
    assert answer["decisions"] == [
        {
            "text": "Ada Lovelace: “We agreed that the launch of the shop moves to Friday.”",
            "url": "https://slack.example/4.0",
        }
    ]
    assert [each["url"] for each in answer["open_questions"]] == ["https://slack.example/3.0"]
    assert answer["participants"] == ["Ada Lovelace", "Ben Okafor", "Chloe Martin"]
    assert [each["when"] for each in answer["timeline"]][:2] == [
        "2026-11-20 09:00",
        "2026-11-20 09:01",
    ]


async def test_what_the_bot_answered_is_not_open(thread: Thread) -> None:
    """A question right before its answer is no open one."""
    thread.said("Ben Okafor", "How many parcels are late?")
    thread.said("Answer Bot", "28 parcels are.")
    answer = (await told(thread, "ThreadSummary", "Summarise this thread.")).answer
    assert [each["url"] for each in answer["open_questions"]] == ["https://slack.example/3.0"]


async def test_action_items_have_owners_and_dates(thread: Thread) -> None:
    """Taken on, asked of somebody, or of nobody; the first to be due comes first."""
    ended = await told(thread, "ActionItems", "List the action items of this thread.")
    items: list[dict[str, Any]] = ended.answer["items"]
    assert [(i["task"], i["owner"], i["due"]) for i in items] == [
        ("Fix it (The login page fails on Safari)", "Ben Okafor", "2026-11-25"),
        ("Send the invoice to ACME", "Chloe Martin", None),
        ("Book a room", None, None),
    ]
    assert items[0]["url"] == "https://slack.example/2.0"
    assert "3 action items" in ended.answer["summary"]


async def test_no_action_items_are_made_up(thread: Thread) -> None:
    """Talk alone is no task."""
    thread.conversation.messages.clear()
    thread.said("Ada Lovelace", "What a fine day. Will it rain?")
    thread.said("Ben Okafor", "We should add monitoring. I can do that until Monday.")
    thread.said("Ben Okafor", "I am out next week. Marta prefers Monday. Demand rises by Friday.")
    ended = await told(thread, "ActionItems", "List the action items of this thread.")
    assert ended.answer["items"] == []
    assert "no action items" in ended.answer["summary"]


async def test_a_draft_greets_the_author_and_uses_what_others_said(thread: Thread) -> None:
    """The frame of a reply; what only the asker can say is a placeholder."""
    quoted = "Shall we launch the shop on Monday?"
    ended = await told(thread, "DraftReply", "Draft a reply to this message for me.", quoted)
    assert ended.answer["draft"].startswith("Hi Ada,")
    assert "[your answer to “Shall we launch" in ended.answer["draft"]
    assert ended.answer["tone"] == "friendly and brief"


async def test_a_draft_follows_the_instruction(thread: Thread) -> None:
    """What the person wrote in the modal has its place in the draft."""
    text = "Draft a reply to this message for me.\n\nsay no, kindly"
    ended = await told(thread, "DraftReply", text, "Who tells the customers about the new date?")
    assert ended.answer["draft"].startswith("Hi Chloe,")
    assert "[say no, kindly]" in ended.answer["draft"]


@pytest.mark.parametrize(
    ("first", "asked"),
    [
        ("Chloe Martin", "@Ben can you send the new date to all customers by Friday?"),
        ("Ben Okafor", "Who tells the press?"),
    ],
)
async def test_the_bot_answers_nothing_that_people_ask_each_other(first: str, asked: str) -> None:
    """What it says of their questions leaves them open."""
    thread = Thread()
    thread.said(first, "We launch in May.")
    thread.said("Chloe Martin", asked)
    thread.said("Answer Bot", "Chloe Martin: “Agreed.”")
    thread.said("Answer Bot", f"I found 1 action item. Send the new date to all customers: {asked}")
    ended = await told(thread, "ThreadSummary", "Summarise this thread.")
    assert [each["text"] for each in ended.answer["open_questions"]] == [f"Chloe Martin: “{asked}”"]


async def test_one_action_item_is_no_first_of_several() -> None:
    thread = Thread()
    thread.said("Ada Lovelace", "I'll book the room by Friday.")
    ended = await told(thread, "ActionItems", "List the action items of this thread.")
    due = "It is due on **Friday, 27 November**"
    assert ended.answer["summary"] == f"I found 1 action item. {due}: Book the room."


async def test_what_a_message_does_not_say_its_thread_may(thread: Thread) -> None:
    """ "Ask about this" is often asked of the first message of a discussion."""
    quoted = "Shall we launch the shop on Monday?"
    ended = await thread.ask("Who fixes the login page?", quoted=quoted)
    assert ended.names == ["read_thread"]
    assert ended.answer["summary"] == "Ben Okafor: “The login page fails on Safari.”"
    assert ended.answer["sources"][0]["url"] == "https://slack.example/1.0"
    ended = await thread.ask("What about the zebra?", quoted="Nothing of it here.")
    assert "The thread" not in str(ended.answer["sources"])


async def test_a_message_that_only_asks_is_no_answer() -> None:
    """What was asked of it may be said in its thread."""
    asked = "The Globex renewal: who signs?"
    alone, thread = Thread(), Thread()
    told = await alone.ask("Who signs?", quoted=asked)
    assert told.answer["summary"].startswith("I found nothing in the message that answers this")
    thread.said("Chloe Martin", asked)
    thread.said("Ben Okafor", "I sign it on Monday.")
    told = await thread.ask("Who signs?", quoted=asked)
    assert told.answer["summary"] == "Ben Okafor: “I sign it on Monday.”"
    told = await thread.ask("Who signs the Globex renewal?", quoted=asked)
    assert "only a question" in told.answer["summary"]
    assert told.answer["key_points"] == ["It goes on: Ben Okafor: “I sign it on Monday.”"]


async def test_one_sentence_may_give_several_people_something_to_do() -> None:
    thread = Thread()
    thread.said(
        "Ben", "Launch in March. @Chloe will tell the agency, I will update the plan by Friday."
    )
    ended = await told(thread, "ActionItems", "List the action items of this thread.")
    items: list[dict[str, Any]] = ended.answer["items"]
    assert [(i["task"], i["owner"]) for i in items] == [
        ("Update the plan", "Ben"),
        ("Tell the agency", "Chloe"),
    ]
    ended = await told(thread, "ThreadSummary", "Summarise this thread.")
    assert "“Launch in March.” The last word" in ended.answer["about"]


@pytest.fixture
def offsite() -> Thread:
    """A proposal, an objection, and what was agreed in words that do not name the matter."""
    made = Thread()
    made.said("Ben Okafor", "We should decide on the offsite. I propose Lisbon in May.")
    made.said("Chloe Martin", "Lisbon is fine, but May clashes. June 8-10 works better.")
    made.said("Ben Okafor", "ok agreed: Lisbon, June 8-10. Chloe books the hotel by Friday.")
    made.said("Ben Okafor", "TODO @Dana Kim: update the roadmap page. Budget is 12k, ok?")
    made.said("Chloe Martin", "Yes. But legal has to check it, who knows them?")
    return made


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("what did we decide about the hotel?", "Ben Okafor: “ok agreed: Lisbon, June 8-10. Chloe"),
        ("what did we decide about the roadmap?", "I found no decisions about “roadmap”"),
        ("what did Chloe say about the budget?", "I found no message by Chloe in this thread"),
        ("what did Chloe say?", "Chloe Martin: “Yes. But legal has to check it"),
        ("what was said about Lisbon?", "3 messages about “Lisbon” in this thread:"),
        ("what do we know about Lisbon?", "3 messages about “Lisbon” in this thread:"),
        ("who mentioned Lisbon?", "Chloe Martin: “Lisbon is fine, but May clashes."),
        (
            "who has to do what until when?",
            "**Dana**: Update the roadmap page (said by Ben Okafor)",
        ),
        ("what are the action items?", "**Dana**: Update the roadmap page (said by Ben Okafor)"),
        ("which questions are still open?", "Chloe Martin: “But legal has to check it, who knows"),
        ("what was decided today?", "nobody wrote anything in this thread today"),
        ("when is the offsite?", "I cannot answer this"),
        ("did Ben agree?", "I cannot answer this"),
        ("how often was Lisbon mentioned?", "I cannot answer this"),
    ],
)
async def test_what_came_of_a_talk_is_told_as_far_as_words_tell(
    offsite: Thread, question: str, said: str
) -> None:
    """A proposal is no decision; what rules cannot tell they decline."""
    answer = (await offsite.ask(question)).answer
    shown = "\n".join([answer["summary"], *answer["key_points"]])
    assert said in shown
    assert "Budget is 12k" not in shown or "open" not in question


@pytest.mark.parametrize(
    ("said", "owner", "task", "due"),
    [
        ("- Ben: draft the contract by Monday", "Ben Okafor", "Draft the contract", "2026-11-23"),
        ("Ben, please send the invoice by 5 Dec.", "Ben Okafor", "Send the invoice", "2026-12-05"),
        ("I'll order 20 tomorrow.", "Ada Lovelace", "Order 20", "2026-11-21"),
        ("We need to book a room.", None, "Book a room", None),
    ],
)
async def test_tasks_are_known_as_people_write_them(
    said: str, owner: str | None, task: str, due: str | None
) -> None:
    """A heading, a yes or a note before a colon is nobody's task."""
    thread = Thread()
    thread.said("Ben Okafor", "Yes, will do. Note: the office is closed.")
    thread.said("Ada Lovelace", f"Action items from today:\n{said}")
    ended = await told(thread, "ActionItems", "List the action items of this thread.")
    [item] = ended.answer["items"]
    assert (item["owner"], item["task"], item["due"]) == (owner, task, due)


async def test_a_channel_that_could_not_be_read_is_not_told_to_be_empty() -> None:
    thread = Thread()
    refused = "That conversation is private, and others read this thread. Say that you can look."
    for question in ("what was decided", "what is discussed", "when is the launch"):
        thread.outputs["read_channel"] = [refused]
        answer = (await thread.ask(f"{question} in #finance?")).answer
        assert answer["summary"].startswith("I could not read #finance: That conversation is")
        assert "nobody" not in answer["summary"]


async def test_a_bot_that_found_nothing_has_answered_nothing() -> None:
    """The one who asked is still waiting for somebody."""
    thread = Thread()
    thread.said("Ada Lovelace", "Who signs the Initech contract?")
    thread.said("Answer Bot", "Ada Lovelace asked:\n> Who signs?")
    thread.said("Answer Bot", "I found nothing in the message that answers this, only a question.")
    ended = await told(thread, "ThreadSummary", "Summarise this thread.")
    assert "Who signs the Initech contract?" in str(ended.answer["open_questions"])


async def test_what_was_chosen_is_not_open_and_what_is_open_has_its_day() -> None:
    """A decision for one of the options answers the question that they were given for."""
    thread = Thread()
    thread.said("Ada Lovelace", "Offsite: where do we go? Options are Lisbon and Prague.")
    thread.said("Ben Okafor", "I prefer Lisbon. Is there a budget?")
    thread.said("Ada Lovelace", "I will book the hotel by Friday. Ben, can you ask legal?")
    thread.said("Ben Okafor", "Will do. Decision: Lisbon, 14 to 16 January.")
    answer = (await thread.ask("summarise this thread and list what is still open")).answer
    assert [each for each in answer["key_points"] if each.startswith("Still open")] == [
        "Still open: Ben Okafor: “Is there a budget?”",
        "Still open: **Ada Lovelace**: Book the hotel, by Friday, 27 November",
        "Still open: **Ben Okafor**: Ask legal (said by Ada Lovelace)",
    ]


async def test_it_is_the_message_that_was_asked_about_before(thread: Thread) -> None:
    """Not the bot, whose cost is asked for in like words; other questions are not held to it."""
    costs = "The contract with Globex ends on 2027-03-31 and costs 1,200 EUR a month."
    await thread.ask("When does it end?", quoted=costs)
    told = await thread.ask("what does it cost?")
    assert told.answer["summary"] == f"The message says: “{costs}”"
    assert "A stand-in costs nothing" in (await thread.ask("what did you cost?")).answer["summary"]
    await thread.ask("total revenue by region", "sales.csv")
    assert (await thread.ask("show it as a chart")).answer["charts"]
