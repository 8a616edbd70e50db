"""C3: every response type becomes messages that Slack takes, says all, and links only what it may."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from bot.agent.builtin.complete_task import ResponseType
from bot.core.answers import (
    GIVEN,
    RESPONSE_TYPES,
    ActionItem,
    ActionItems,
    DraftReply,
    Moment,
    Source,
    Statement,
    ThreadSummary,
)
from bot.core.outcome import Outcome, RunStatus, StopReason
from bot.runs.results.result_markdown import SECTIONS
from bot.slack.ui import words
from bot.slack.ui.buttons import DETAILS
from bot.slack.ui.outcome import RENDERERS, render
from bot.slack.ui.parts import Rendered
from bot.text.source_marks import marks_rewritten
from tests.unit.slack.judge import accept_all, shown_text
from tests.unit.slack.samples import REQUEST, TOTALS
from tests.unit.slack.test_render import HOSTILE, kinds

LINK = "https://local.slack.com/archives/C1/p1700000000000100"
MADE_UP = "https://made.up/x?q=secret"

SUMMARY = ThreadSummary(
    about="The launch is **late**.",
    decisions=[Statement(text="Ben: we wait until Monday.", url=LINK)],
    open_questions=[Statement(text="Chloe asks who pays.", url=MADE_UP)],
    participants=["Ada Lovelace", "Ben_O <!channel>"],
    timeline=[Moment(when="2026-11-20 09:12", what="Ada reports the _bug_.")],
    sources=[Source(title="plan.pdf", url=LINK, supports="the date")],
    gaps=["The PDF has no text."],
)
ACTIONS = ActionItems(
    summary="Two things are to be done.",
    items=[
        ActionItem(task="Fix the *login* page", owner="Ben", due="2026-11-27", url=LINK),
        ActionItem(task="=SUM(A1)", owner=None, due=None, url=MADE_UP),
    ],
    gaps=["Who signs is unclear: ask Ada."],
)
DRAFT = DraftReply(
    draft="Hi Ben,\n\n- yes\n- no\n\n```\nx = 1\n```",
    tone="friendly <!here>",
    assumptions=["You agree with Monday."],
    sources=[],
    gaps=["The price is not known."],
)


def drawn(result: BaseModel | dict[str, Any], **changes: Any) -> Rendered:
    data = isinstance(result, dict)
    fields = {
        "run_id": "run_1",
        "status": RunStatus.SUCCESS,
        "stop_reason": StopReason.COMPLETED,
        "response_type": GIVEN if data else type(result).__name__,
        "result": result if isinstance(result, dict) else result.model_dump(),
        "totals": TOTALS,
        "links": frozenset({LINK}),
    }
    rendered = render(Outcome.model_validate(fields | changes), REQUEST)
    accept_all(rendered)
    return rendered


def texts(rendered: Rendered) -> list[str]:
    return [b["text"] for p in rendered.parts for b in p.blocks if b["type"] == "markdown"]


def test_every_response_type_has_a_renderer_for_slack_and_for_the_terminal():
    """C3: an answer of every type can be read wherever it is asked for."""
    assert set(RENDERERS) == set(SECTIONS) == set(RESPONSE_TYPES.values())


def test_a_thread_summary_says_where_it_stands_then_what_was_decided_and_what_is_open():
    assert texts(drawn(SUMMARY)) == [
        "The launch is **late**.",
        f"**Decided**\n\n- Ben: we wait until Monday. ([message]({LINK}))",
        "**Still open**\n\n- Chloe asks who pays. (message (`made.up/x?…`))",
        "**Timeline**\n\n- Nov 20, 2026, 9:12 AM — Ada reports the _bug_.",
        "**Participants:** Ada Lovelace, Ben_O @\u2060channel",
        f"**{words.GAPS()}**\n\n- The PDF has no text.",
        f"**Sources**\n\n1. [plan.pdf]({LINK}) — the date",
    ]


def test_an_empty_thread_summary_shows_no_empty_titles():
    empty: dict[str, Any] = {name: [] for name in ThreadSummary.model_fields} | {
        "about": "Nothing was said."
    }
    assert texts(drawn(ThreadSummary.model_validate(empty))) == ["Nothing was said."]


def test_action_items_are_a_table_whose_tasks_lead_to_their_messages():
    rendered = drawn(ACTIONS)
    [table] = [b for b in rendered.parts[0].blocks if b["type"] == "table"]
    assert [cell["text"] for cell in table["rows"][0]] == ["To do", "Who", "Due"]
    link = {"type": "link", "url": LINK, "text": "Fix the *login* page"}
    assert table["rows"][1][0]["elements"][0]["elements"] == [link]
    assert [cell["text"] for cell in table["rows"][1][1:]] == ["Ben", "Nov 27, 2026"]
    assert [cell["text"] for cell in table["rows"][2]] == ["=SUM(A1)", "–", "–"]
    assert f"| [Fix the \\*login\\* page]({LINK}) | Ben | Nov 27, 2026 |" in rendered.document
    assert "made.up" not in rendered.document


def test_without_action_items_there_is_no_table():
    assert kinds(drawn(ActionItems(summary="None.", items=[], gaps=[]))) == [
        "markdown", "actions", "context",
    ]  # fmt: skip


def test_more_action_items_than_a_table_takes_are_attached():
    items = [ActionItem(task=f"task {n}", owner="Ben", due=None, url=LINK) for n in range(150)]
    [upload] = drawn(ActionItems(summary="Many.", items=items, gaps=[])).uploads
    assert upload.data.decode().count("task ") == 150


def test_a_draft_stands_alone_in_a_block_to_copy():
    """K13: as it is typed in Slack, then what to check, and no more."""
    rendered = drawn(DRAFT)
    first, *rest = rendered.parts[0].blocks
    assert preformatted(first) == "Hi Ben,\n\n• yes\n• no\n\nx = 1"
    assert [block["type"] for block in rest] == ["markdown", "actions", "context"]
    points = "- You agree with Monday.\n- The price is not known."
    assert rest[0]["text"] == f"**{words.ASSUMPTIONS()}**\n\n{points}"
    assert "friendly" not in shown_text(rendered)
    assert [each["text"]["text"] for each in rest[1]["elements"]] == [
        "Shorter",
        "Friendlier",
        "Details",
    ]


def test_a_long_draft_is_whole():
    long = DRAFT.model_copy(update={"draft": "word " * 3_000 + "\n\n" + "line\n" * 900})
    blocks = [block for part in drawn(long).parts for block in part.blocks]
    texts = [preformatted(block) for block in blocks if block["type"] == "rich_text"]
    assert len(texts) > 2
    assert "".join(texts).count("word") == 3_000


def preformatted(block: Any) -> str:
    [part] = block["elements"]
    assert part["type"] == "rich_text_preformatted"
    return "".join(element["text"] for element in part["elements"])


def test_data_is_shown_as_json_and_carries_no_buttons_of_its_own():
    rendered = drawn({"total": 3, "follow_ups": ["<!channel>", "press me"]})
    shown = json.loads(texts(rendered)[0].removeprefix("```json\n").removesuffix("\n```"))
    assert shown == {"total": 3, "follow_ups": ["<!channel>", "press me"]}
    [row] = [b for part in rendered.parts for b in part.blocks if b["type"] == "actions"]
    assert [each["action_id"] for each in row["elements"]] == [DETAILS]  # a menu would hide it


def test_long_data_is_a_file_with_its_beginning_in_the_message():
    data = {"rows": [{"n": n, "text": "`" * n} for n in range(400)]}
    rendered = drawn(data)
    [upload] = rendered.uploads
    assert (upload.name, json.loads(upload.data)) == ("result.json", data)
    assert len(rendered.parts) == 1
    assert '"rows": [' in shown_text(rendered)


def test_a_partial_result_says_so_first_whatever_its_type():
    for result in (SUMMARY, ACTIONS, DRAFT):
        partial = drawn(result, status=RunStatus.PARTIAL, stop_reason=StopReason.MAX_TURNS)
        assert words.PARTIAL() in partial.parts[0].blocks[0]["elements"][0]["text"]


def test_a_result_of_another_version_is_shown_rather_than_lost():
    old = {"summary": "from before", "tasks": ["a"]}
    assert '"from before"' in shown_text(drawn(old, response_type="ActionItems"))


URL = st.none() | HOSTILE | st.just(LINK)
SOURCES = st.lists(st.builds(Source, title=HOSTILE, url=URL, supports=HOSTILE), max_size=9)
STATEMENTS = st.lists(st.builds(Statement, text=HOSTILE, url=URL), max_size=30)
TEXTS = st.lists(HOSTILE, max_size=20)
ANY = st.one_of(
    st.builds(
        ThreadSummary,
        about=HOSTILE,
        decisions=STATEMENTS,
        open_questions=STATEMENTS,
        participants=TEXTS,
        timeline=st.lists(st.builds(Moment, when=HOSTILE, what=HOSTILE), max_size=20),
        sources=SOURCES,
        gaps=TEXTS,
    ),
    st.builds(
        ActionItems,
        summary=HOSTILE,
        items=st.lists(
            st.builds(
                ActionItem,
                task=HOSTILE,
                owner=st.none() | HOSTILE,
                due=st.none() | HOSTILE,
                url=URL,
            ),
            max_size=130,
        ),
        gaps=TEXTS,
    ),
    st.builds(
        DraftReply, draft=HOSTILE, tone=HOSTILE, assumptions=TEXTS, sources=SOURCES, gaps=TEXTS
    ),
    st.dictionaries(HOSTILE, TEXTS | st.none() | st.integers(), max_size=9),
)


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(ANY, st.sampled_from([RunStatus.SUCCESS, RunStatus.PARTIAL, RunStatus.CANCELLED]))
def test_any_result_becomes_messages_that_slack_takes(result, status):
    rendered = drawn(result, status=status)
    assert "<!" not in "".join(part.text for part in rendered.parts)


@pytest.mark.parametrize("model", RESPONSE_TYPES.values())
def test_plain_text_fits_into_every_type_and_is_shown(model):
    """C4: nothing that the model said is lost."""
    wrapped = ResponseType(model, model.text_field).from_text("All that I know.")
    assert isinstance(wrapped, model)
    assert "All that I know." in shown_text(drawn(wrapped, status=RunStatus.PARTIAL))


def test_marks_name_sources_and_no_others() -> None:
    """K14: what is in code stays; a number without a source goes."""
    text = "One [1], two [2, 3] and none [9]; `a[1]` and [a link](x).\n~~~\na[1]\n~~~\n"
    marked = marks_rewritten(text, 3, lambda number: f"<{number}>")
    assert marked == "One <1>, two <2><3> and none; `a[1]` and [a link](x).\n~~~\na[1]\n~~~\n"
    assert marks_rewritten(text, 0, str) == text
