"""What a run shows while it works: cards that follow its tools, whatever they are called."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.agent.events import (
    Event,
    FromSubagent,
    ReasoningDelta,
    RoomAwaited,
    TextDelta,
    TextWithdrawn,
    ToolEnded,
    ToolProgress,
    ToolRetried,
    ToolsAcquired,
    ToolStarted,
    TurnStarted,
)
from bot.slack.ui import words
from bot.slack.ui.buttons import Stops
from bot.slack.ui.progress import MAX_CARDS, Progress, advance, progress_part, status_line, view_of
from bot.text.translation import Text, reader
from tests.unit.slack.judge import accept

STOPS = Stops("T1", "C1", "1700000000.000100")


def after(*events: Event) -> Progress:
    progress = Progress()
    for event in events:
        progress = advance(progress, event)
    return progress


def test_before_the_first_tool_it_says_that_it_thinks():
    part = progress_part(Progress(), stops=STOPS)
    accept(part)
    assert part.blocks[0]["tasks"][0]["title"] == words.THINKING()
    assert status_line(Progress()) == words.STATUS_THINKING()


def test_cards_tell_what_is_running_and_what_came_of_the_others_without_an_alarm():
    """A failed look-up told the model something, and the run goes on; advice for the model is left
    out."""
    progress = after(
        TurnStarted(1, 20),
        ToolStarted("a", "read_thread", "Read the thread"),
        ToolStarted("b", "query", "Query sales"),
        ToolStarted("c", "fetch", "Fetch a page"),
        ToolEnded("a", "read_thread", True, "12 messages", 0.1),
        ToolEnded("b", "query", False, "no column profit. Write another query.", 0.2),
    )
    cards = progress_part(progress, stops=STOPS).blocks[0]["tasks"]
    assert [card["status"] for card in cards] == ["complete", "complete", "in_progress"]
    said = str(cards[1]["details"])
    assert words.STEP_FAILED(why="no column profit") in said
    assert "another query" not in said
    assert status_line(progress) == "is working: Fetch a page"


def test_who_denied_a_call_is_said_in_the_language_of_the_reader():
    """U9: the model is told in English, people are not."""
    progress = after(
        ToolStarted("a", "post", "Post"),
        ToolStarted("b", "post", "Post"),
        ToolEnded("a", "post", False, "Not done: Ben {x} denied it.", 0.1),
        ToolEnded("b", "post", False, "Not done: it was withdrawn.", 0.1),
    )
    with reader("ja-JP"):
        denied, withdrawn = progress_part(progress, stops=STOPS).blocks[0]["tasks"]
        assert "Ben {x} さん" in str(denied["details"])
        assert Text("it was withdrawn")() in str(withdrawn["details"])
    assert "denied it" not in str(denied)


def test_it_says_that_it_waits_for_room_in_a_budget():
    """O4: while other questions hold the rest of it; afterwards it works like any other."""
    waiting = after(TurnStarted(1, 20), RoomAwaited())
    part = progress_part(waiting, stops=STOPS)
    accept(part)
    assert part.text == part.blocks[0]["title"] == words.WAITING_FOR_ROOM()
    assert status_line(waiting) == words.STATUS_WAITING_FOR_ROOM()
    goes_on = progress_part(advance(waiting, RoomAwaited(ended=True)), stops=STOPS)
    assert goes_on.text == words.WORKING()


def test_text_that_was_withdrawn_is_not_shown():
    progress = after(TurnStarted(1, 20), TextDelta("half a "), TextWithdrawn())
    assert len(progress_part(progress, stops=STOPS).blocks) == 2
    again = after(TurnStarted(1, 20), TextDelta("old"), TurnStarted(2, 20), TextDelta("new"))
    assert again.thought == "new"


def test_a_running_step_tells_how_far_it_is_until_it_ends():
    """22.3: beside its title, which is cut before that is."""
    begun = (ToolStarted("a", "ask", f"Ask {'x' * 200}"), ToolProgress("a", "ask", "page 3", 0.3))
    progress = after(*begun)
    part = progress_part(progress, stops=STOPS)
    accept(part)
    assert part.blocks[0]["tasks"][0]["title"].endswith("… · 30 % · page 3")
    assert view_of(progress).tasks["step_0"]["title"].endswith("… · 30 % · page 3")
    ended = after(*begun, ToolEnded("a", "ask", True, "3 pages", 0.1))
    assert "30 %" not in str(progress_part(ended, stops=STOPS).blocks)


def test_a_step_that_is_tried_again_says_so_until_it_reports():
    """22.3: people see why it takes longer."""
    retried = after(ToolStarted("a", "ask", "Ask"), ToolRetried("a", "ask", 1, "OSError", 0.5))
    assert view_of(retried).tasks["step_0"]["title"] == f"Ask · {words.TRYING_AGAIN()}"
    reported = advance(retried, ToolProgress("a", "ask", "page 3"))
    assert view_of(reported).tasks["step_0"]["title"] == "Ask · page 3"


def test_a_helpers_running_step_tells_it_too():
    """22.3: in the line below the helper's card."""
    inner = (ToolStarted("b", "ask", "Ask the CRM"), ToolProgress("b", "ask", "page 3"))
    progress = after(
        ToolStarted("a", "dispatch", "Look"), *(FromSubagent("a", each) for each in inner)
    )
    assert "Ask the CRM · page 3" in str(progress_part(progress, stops=STOPS).blocks)
    assert view_of(progress).tasks["step_0"]["title"] == "Look ↳ … Ask the CRM · page 3"


@pytest.mark.parametrize(
    "text",
    [
        "<!channel> done",
        "<@U0ADA00001> done",
        "@here @channel",
        "see https://evil.example/x?q=1",
        "<https://evil.example|bank>",
        "write to ada@evil.example",
        "\x1b[2J\u202egpj.exe",
    ],
)
def test_what_a_tool_reports_makes_no_links_and_calls_nobody(text):
    """22.3: a tool may repeat what a page or a server told it."""
    progress = after(ToolStarted("a", "ask", "Ask"), ToolProgress("a", "ask", text))
    shown = progress_part(progress, stops=STOPS).blocks[0]["tasks"][0]["title"]
    assert shown == view_of(progress).tasks["step_0"]["title"]
    assert not [each for each in ("<", "@", "://", "\x1b", "\u202e", "?q=1") if each in shown]


@pytest.mark.parametrize(("steps", "earlier"), [(30, "18 earlier steps"), (13, "1 earlier step")])
def test_only_the_latest_steps_are_shown_and_the_others_counted(steps, earlier):
    progress = after(*(ToolStarted(f"c{i}", "t", f"Step {i}") for i in range(steps)))
    plan = progress_part(progress, stops=STOPS).blocks[0]
    assert len(plan["tasks"]) == MAX_CARDS
    assert plan["tasks"][-1]["title"] == f"Step {steps - 1}"
    assert plan["title"].endswith(f"· {earlier}")


def test_narration_makes_no_links_and_calls_nobody():
    progress = after(TextDelta("see https://evil.example/CANARY <!channel> <https://x.example|y>"))
    text = progress_part(progress, stops=STOPS).blocks[1]["elements"][0]["text"]
    assert "<" not in text
    assert "`evil.example/CANARY`" in text


ANY = st.one_of(st.text(max_size=80), st.sampled_from(["", "x" * 5_000, "\x00\u202e", "<!here>"]))
CALLS = st.sampled_from("abc")
EVENTS = st.one_of(
    st.builds(TurnStarted, st.integers(1, 20), st.just(20)),
    st.builds(TextDelta, ANY),
    st.builds(ReasoningDelta, ANY),
    st.just(TextWithdrawn()),
    st.builds(ToolStarted, CALLS, st.just("t"), ANY),
    st.builds(ToolProgress, CALLS, st.just("t"), ANY, st.none() | st.floats(0, 1)),
    st.builds(ToolEnded, CALLS, st.just("t"), st.booleans(), ANY, st.just(0.1)),
    st.builds(ToolsAcquired, st.just(("t",))),
)


@settings(max_examples=50)
@given(st.lists(EVENTS, max_size=40))
def test_any_run_can_be_shown(events):
    progress = after(*events)
    accept(progress_part(progress, stops=STOPS))
    assert len(status_line(progress)) <= 120
