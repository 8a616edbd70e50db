"""Outcomes as messages: any answer becomes messages that Slack takes, and nothing is lost."""

from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.app.tool_loading import tool_label
from bot.core.answers import Answer, Chart, Series, Source, Table
from bot.core.outcome import Rehearsal, RunStatus, StopReason, Totals
from bot.core.request import RepeatReason
from bot.features.feedback.feature import THUMBS
from bot.runs.outcomes import explain
from bot.settings import Settings
from bot.slack.ui import words
from bot.slack.ui.buttons import (
    DEEPER,
    DETAILS,
    MENU,
    REGENERATE,
    AnswerButton,
    without_actions,
)
from bot.slack.ui.charts import native_chart
from bot.slack.ui.outcome import MAX_PARTS, render
from bot.slack.ui.parts import Rendered
from bot.slack.ui.run_details import details_modal
from bot.text.translation import Text, reader
from tests.unit.slack.judge import accept_all, accept_view, shown_text
from tests.unit.slack.samples import CHART, REQUEST, TOTALS, answer, outcome


def kinds(rendered: Rendered) -> list[str]:
    return [block["type"] for part in rendered.parts for block in part.blocks]


def test_an_answer_reads_from_its_summary_to_what_it_took():
    rendered = render(outcome(), REQUEST, [THUMBS])
    accept_all(rendered)
    assert len(rendered.parts) == 1
    blocks = rendered.parts[0].blocks
    assert blocks[0] == {"type": "markdown", "text": "Sales rose by **12 %** to 4.2 M€."}
    assert kinds(rendered) == [
        "markdown", "markdown", "markdown", "table", "data_visualization", "markdown", "markdown",
        "actions", "actions", "context_actions", "context",
    ]  # fmt: skip
    assert blocks[-1]["elements"][0]["text"] == ("gpt-5 · 8.2 s · $0.0123")
    assert "1. [sales.csv](https://files.example/sales.csv) — the totals" in shown_text(rendered)
    assert f"**{words.GAPS()}**\n\n- No figures for May." in shown_text(rendered)


def test_a_dry_run_lists_what_was_not_done():
    """D6: with arguments, which mention nobody and make no links."""
    call = Rehearsal(
        tool="post_message", title="Post in #sales", arguments={"text": "<!here> https://x.example"}
    )
    rendered = render(outcome(rehearsed=(call,)), REQUEST)
    accept_all(rendered)
    text = shown_text(rendered)
    assert words.REHEARSED() in text
    assert "Post in #sales: post_message" in text.replace("\\", "")
    assert "<!here>" not in text


def test_code_that_calls_a_channel_calls_nobody_from_the_notification():
    rendered = render(outcome(answer(summary="`<!channel>`\n\n```\n<!here> <@U1>\n```")), REQUEST)
    assert "<" not in rendered.parts[0].text


def test_a_notification_names_links_without_the_signs_of_markdown():
    told = "The canvas [Launch *plan*](https://x.example/a) and **[one](https://x.example)**: a\\[0](1)"
    links = ["https://x.example/a", "https://x.example"]
    text = render(outcome(answer(summary=told), links=links), REQUEST).parts[0].text
    said = "The canvas Launch plan (x.example/a) and one (x.example): a[0](1)"
    assert said in text.replace("`", "")


def test_a_source_without_a_permitted_address_is_named_and_not_linked():
    source = Source(title="a page", url="https://made.up/x", supports="it")
    rendered = render(outcome(answer(sources=[source])), REQUEST)
    assert "1. a page (`made.up/x`) — it" in shown_text(rendered)


def test_a_follow_up_carries_its_question_and_thread():
    rendered = render(outcome(answer(follow_ups=["a", "b", "c", "d", " "])), REQUEST)
    actions, again = [b for b in rendered.parts[0].blocks if b["type"] == "actions"]
    assert [e["text"]["text"] for e in actions["elements"]] == ["a", "b", "c"]
    [menu] = again["elements"]
    labels = [e["text"]["text"] for e in menu["options"]]
    assert labels == [words.ASK_AGAIN(), words.LOOK_DEEPER(), words.DETAILS()]
    assert all(entry["description"]["text"] for entry in menu["options"])
    assert REQUEST.thread in actions["elements"][0]["value"]


def test_a_menu_holds_what_slacks_own_has_no_room_for_and_hides_no_single_entry():
    """M5: with the buttons of packages there may be more than five entries; where all but one go, as
    when the question was deleted, the last stands alone."""
    features = [AnswerButton(Text(f"More {n}"), f"more_{n}", lambda *_: "x") for n in range(3)]
    rendered = render(outcome(answer()), REQUEST, features)
    accept_all(rendered)
    [row] = [b for b in rendered.parts[0].blocks if MENU in str(b)]
    [menu] = row["elements"]
    assert (menu["type"], len(menu["options"])) == ("static_select", 6)
    gone = REGENERATE, DEEPER, *(feature.action for feature in features)
    [left] = without_actions([row], *gone)
    assert left["elements"][0]["action_id"] == DETAILS


NOTHING_BESIDE = answer(
    key_points=None,
    table=None,
    charts=None,
    sources=None,
    gaps=None,
    follow_ups=None,
    confidence=None,
)
ONE_TURN = Totals(
    model="gpt-5", turns=1, input_tokens=2_000, output_tokens=12, cost=0.001, seconds=1
)


@pytest.mark.parametrize(
    "text", ["Thanks", "Thank you so much, you have helped me a lot today!", "?"]
)
@pytest.mark.parametrize("confidence", [None, "high", "medium"])
def test_a_courtesy_is_a_line_with_thumbs_and_a_short_footer(text, confidence):
    """U10, U13: judged by the answer and not by the question; nothing is listed, doubted or offered."""
    line = NOTHING_BESIDE.model_copy(
        update={"summary": "You are welcome.", "confidence": confidence}
    )
    asked = REQUEST.model_copy(update={"text": text})
    rendered = render(outcome(line, totals=ONE_TURN), asked, [THUMBS])
    accept_all(rendered)
    assert kinds(rendered) == ["markdown", "context_actions", "context"]
    assert rendered.parts[0].blocks[-1]["elements"][0]["text"] == "gpt-5 · 1.0 s · $0.0010"


@pytest.mark.parametrize(
    ("changes", "totals"),
    [
        ({"follow_ups": ["And in June?"]}, ONE_TURN),
        ({"key_points": ["North grew."]}, ONE_TURN),
        ({"gaps": ["No figures for May."]}, ONE_TURN),
        ({"summary": "About 68 million."}, ONE_TURN),  # no digits, but looked up
        ({"summary": "4.2 M€."}, ONE_TURN),
        ({"summary": "One line.\n\nAnd another."}, ONE_TURN),
        ({"summary": "word " * 40}, ONE_TURN),
        ({}, TOTALS),
    ],
    ids=str,
)
def test_a_short_question_keeps_its_buttons(changes, totals):
    """U13: "revenue July" has few words and no question mark, and an answer worth going deeper into."""
    asked = REQUEST.model_copy(update={"text": "revenue July"})
    if changes.get("summary") == "About 68 million.":
        totals = ONE_TURN.model_copy(update={"tool_calls": 1})
    result = NOTHING_BESIDE.model_copy(update={"summary": "Rising."} | changes)
    rendered = render(outcome(result, totals=totals), asked, [THUMBS])
    accept_all(rendered)
    rows = [block for part in rendered.parts for block in part.blocks if block["type"] == "actions"]
    assert [each["action_id"] for each in rows[-1]["elements"]] == [MENU]
    assert "context_actions" in kinds(rendered)


def test_plain_text_is_not_doubted_where_nothing_was_looked_up():
    """C4: its confidence is no higher than medium, which nobody needs to read under a translation;
    what was looked up says so, and a low confidence is always said."""

    def said(**changes: Any) -> str:
        totals = TOTALS if changes.pop("looked_up", False) else ONE_TURN
        result = NOTHING_BESIDE.model_copy(
            update={"summary": "Good morning to all of you"} | changes
        )
        return shown_text(render(outcome(result, totals=totals), REQUEST))

    assert "I am fairly sure" not in said(confidence="medium")
    assert "I am fairly sure" in said(confidence="medium", looked_up=True)
    assert "I am not sure of this" in said(confidence="low")


def test_details_say_what_the_footer_leaves_out():
    """U10: turns, tool calls and tokens, in the reader's locale."""
    tools = {"calculate": 41, "read_file": 40} | {f"tool_{n}": n for n in range(1, 40)}
    label = partial(tool_label, Settings(_env_file=None))
    with reader("de-DE"):
        totals = TOTALS.model_copy(update={"tools": tools, "profile": "Support"})
        view = details_modal(totals, label)
        turns, calls = words.DETAIL_TURNS(), words.DETAIL_CALLS()
    accept_view(view, "modal")
    shown = str(view)
    for fact in (
        "Support",
        "gpt-5",
        "8,2 s",
        "0,0123",
        f"'*{turns}*\\n3'",
        f"'*{calls}*\\n5'",
        "11.000",
    ):
        assert fact in shown
    assert "… berechnen × 41; Eine Datei lesen × 40; tool 39 × 39" in shown
    assert "tool 1 " not in shown


def test_a_failure_is_one_sentence_and_a_retry_button():
    failed = outcome(
        status=RunStatus.FAILED,
        stop_reason=StopReason.MODEL_ERROR,
        note="The model service is overloaded. Try again in a few minutes.",
    ).model_copy(update={"result": None})
    rendered = render(failed, REQUEST)
    accept_all(rendered)
    assert kinds(rendered) == ["markdown", "actions", "context"]
    retry, details = rendered.parts[0].blocks[1]["elements"]
    assert (retry["value"], details["action_id"]) == (REQUEST.id, DETAILS)


def test_a_partial_answer_says_so_first():
    partial = outcome(
        status=RunStatus.PARTIAL, stop_reason=StopReason.MAX_TURNS, note="I ran out of turns."
    )
    rendered = render(partial, REQUEST)
    accept_all(rendered)
    assert ":warning: I ran out of turns." in rendered.parts[0].blocks[0]["elements"][0]["text"]


def test_an_answer_that_digging_did_not_better_is_whole():
    """One plain sentence, and no word of a missing part (G5)."""
    note = explain(StopReason.DIMINISHING_RETURNS, None, (), result=True)
    rendered = render(outcome(stop_reason=StopReason.DIMINISHING_RETURNS, note=note), REQUEST)
    accept_all(rendered)
    [said] = rendered.parts[0].blocks[0]["elements"]
    assert said["text"] == note == "I stopped because further steps found nothing new."


@pytest.mark.parametrize("found", [True, False])
def test_a_stopped_run_says_whether_it_had_found_something(found):
    stopped = outcome(status=RunStatus.CANCELLED, stop_reason=StopReason.CANCELLED_TOOLS)
    if not found:
        stopped = stopped.model_copy(update={"result": None})
    rendered = render(stopped, REQUEST)
    accept_all(rendered)
    expected = words.FOUND_SO_FAR() if found else words.NOTHING_FOUND_YET()
    assert expected in shown_text(rendered)
    assert ("Sales rose" in shown_text(rendered)) is found


def test_a_stopped_run_says_what_is_not_done():
    """What waited for a yes is named, and that nothing was found is no news beside it."""
    stopped = outcome(status=RunStatus.CANCELLED, stop_reason=StopReason.CANCELLED_TOOLS)
    off = ("Post in C0SALES001", "Look at https://a.example/C0SALES001")
    stopped = stopped.model_copy(update={"result": None, "note": "Stopped.", "called_off": off})
    stopped = stopped.model_copy(update={"links": frozenset({"https://a.example/C0SALES001"})})
    rendered = render(stopped, REQUEST)
    accept_all(rendered)
    said = rendered.parts[0].blocks[0]["elements"][0]["text"]
    assert said.endswith(
        "Stopped. Not done: Post in <#C0SALES001>; "
        "Look at <https://a.example/C0SALES001|https://a.example/C0SALES001>."
    )


def test_a_stopped_run_lists_what_it_had_found_and_written():
    stopped = outcome(
        status=RunStatus.CANCELLED,
        stop_reason=StopReason.CANCELLED_STREAMING,
        note="Stopped.",
        found=("Query: sales: 12 rows <!channel>", "Read https://evil.example/x"),
        draft="Sales rose by **12 %** [so](https://evil.example/y",
    ).model_copy(update={"result": None})
    rendered = render(stopped, REQUEST)
    accept_all(rendered)
    shown = shown_text(rendered)
    assert words.FOUND_SO_FAR() in shown
    assert "- Query: sales: 12 rows" in shown
    assert f"**{words.ANSWER_BEGUN()}**\n\nSales rose by **12 %**" in shown
    assert "https://evil" not in shown
    assert "<!channel" not in shown
    assert words.RETRY() in shown


def test_who_stopped_it_is_said_where_that_was_not_the_asker():
    stopped = outcome(
        status=RunStatus.CANCELLED, stop_reason=StopReason.CANCELLED_TOOLS, note="Stopped."
    )
    by_other = stopped.model_copy(update={"stopped_by": "U0OTHER001"})
    assert "Stopped by <@U0OTHER001>." in shown_text(render(by_other, REQUEST))
    assert (
        "U0OTHER001" not in render(by_other, REQUEST).parts[0].text
    )  # notifications show ids as such
    by_asker = stopped.model_copy(update={"stopped_by": REQUEST.user})
    assert "Stopped by" not in shown_text(render(by_asker, REQUEST))


def test_a_wide_and_long_table_is_shown_in_part_and_attached_whole():
    table = Table(
        caption="Everything",
        columns=[f"c{i}" for i in range(40)],
        rows=[[f"r{r}c{c}" for c in range(40)] for r in range(300)],
    )
    rendered = render(outcome(answer(table=table)), REQUEST)
    accept_all(rendered)
    [upload] = rendered.uploads
    assert upload.name == "everything.csv"
    lines = upload.data.decode("utf-8-sig").splitlines()
    assert len(lines) == 301
    assert lines[-1].startswith("r299c0,")
    assert "300 rows and 40 columns" in shown_text(rendered)


def test_a_cell_that_a_spreadsheet_would_run_is_text_in_the_file():
    rows = [['=HYPERLINK("https://evil.example")', "-5"]] * 120
    table = Table(caption="t", columns=["a", "b"], rows=rows)
    [upload] = render(outcome(answer(table=table)), REQUEST).uploads
    assert "'=HYPERLINK" in upload.data.decode()
    assert ",-5" in upload.data.decode()


@pytest.mark.parametrize(
    ("summary", "locale", "cell", "foot"),
    [
        ("North: 1234.", "en-US", "1,234.5", "8.2 s · $0.0123"),
        ("North: 1234.", "de-DE", "1.234,5", "8,2 s · 0,0123\u00a0$"),
        ("Das sind zusammen 1234.", "en-US", "1.234,5", "8,2 s · 0,0123\u00a0$"),
        ("C’est 1234 au total.", "ja-JP", "1\u202f234,5", "8,2 s · 0,0123\u00a0$"),
        ("It is 1234 in all.", "de-DE", "1,234.5", "8.2 s · $0.0123"),
        ("North: 1234.", "hi-IN", "1,234.5", "8.2 s · $0.0123"),
    ],
)
def test_figures_are_in_the_form_of_the_answers_language(
    summary: str, locale: str, cell: str, foot: str
):
    """K7: in tables and in the foot; prose, a native chart and the attached file keep what was written.
    Where the words do not tell the language, it is that of the question, or of who asked."""
    rows = [["North", "1,234.5"]] * 120
    table = Table(caption="t", columns=["Region", "Sales"], rows=rows)
    bare: dict[str, Any] = {"key_points": [], "gaps": [], "follow_ups": []}
    said = answer(summary=summary, table=table, **bare)
    asked = REQUEST.model_copy(update={"locale": locale, "text": "1234?"})
    rendered = render(outcome(said), asked)
    accept_all(rendered)
    blocks = {block["type"]: block for part in rendered.parts for block in part.blocks}
    assert blocks["table"]["rows"][1][1]["text"] == cell
    assert blocks["table"]["column_settings"][1]["align"] == "right"
    [series] = blocks["data_visualization"]["chart"]["series"]
    assert series["data"][1]["value"] == 12.5
    assert foot in shown_text(rendered)
    assert summary in shown_text(rendered)
    assert '"1,234.5"' in rendered.uploads[0].data.decode()


def test_ragged_and_empty_tables_do_no_harm():
    ragged = Table(caption="", columns=["a"], rows=[["1", "2"], [], [""]])
    accept_all(render(outcome(answer(table=ragged)), REQUEST))
    empty = Table(caption="nothing", columns=[], rows=[])
    assert "table" not in kinds(render(outcome(answer(table=empty)), REQUEST))


@pytest.mark.parametrize(
    "change",
    [
        {"labels": [f"l{i}" for i in range(21)], "series": [Series(name="s", values=[1.0] * 21)]},
        {"series": [Series(name="s", values=[None, 1.0])]},
        {"series": [Series(name=f"s{i}", values=[1.0, 2.0]) for i in range(7)]},
        {"labels": ["same", "same"]},
        {"kind": "pie", "series": [Series(name="s", values=[-1.0, 2.0])]},
    ],
)
def test_a_chart_that_slack_cannot_draw_is_an_image(change):
    chart = CHART.model_copy(update=change)
    rendered = render(outcome(charts={"chart_1": chart}), REQUEST)
    accept_all(rendered)
    assert "data_visualization" not in kinds(rendered)
    assert [upload.handle for upload in rendered.uploads] == ["art_png"]


def test_a_chart_without_image_is_shown_in_numbers():
    chart = CHART.model_copy(update={"labels": ["x", "x"], "image": ""})
    rendered = render(outcome(answer(table=None), charts={"chart_1": chart}), REQUEST)
    accept_all(rendered)
    assert "table" in kinds(rendered)
    assert "12.5" in shown_text(rendered)


def test_long_answers_are_split_and_longer_ones_attached():
    paragraph = "word " * 150
    three = "\n\n".join(f"{i} {paragraph}" for i in range(28))
    rendered = render(outcome(answer(summary=three)), REQUEST)
    accept_all(rendered)
    assert 2 <= len(rendered.parts) <= MAX_PARTS
    assert not rendered.uploads
    endless = "\n\n".join(f"{i} {paragraph}" for i in range(80))
    rendered = render(outcome(answer(summary=endless)), REQUEST)
    accept_all(rendered)
    assert rendered.uploads[0].name == "answer.md"
    assert "79 word" in rendered.uploads[0].data.decode()
    assert rendered.parts[0].blocks[0]["text"].startswith("0 word")


def test_a_heading_goes_with_what_it_stands_above():
    """Wherever a long answer is cut, and where the rest of it is a file."""
    part = "words " * 300
    text = "\n\n".join(f"## Part {number}\n\n{part}" for number in range(30))
    shown = render(outcome(answer(summary=text)), REQUEST)
    blocks = [b["text"] for p in shown.parts for b in p.blocks if b["type"] == "markdown"]
    headed = [each.strip().splitlines()[-1] for each in blocks]
    assert len(blocks) > 3
    assert not [line for line in headed if line.startswith("#")]


def test_code_that_is_cut_stays_code():
    code = "```python\n" + "\n".join(f"line_{i} = {i}" for i in range(900)) + "\n```"
    rendered = render(outcome(answer(summary=code)), REQUEST)
    accept_all(rendered)
    texts = [b["text"] for p in rendered.parts for b in p.blocks if b["type"] == "markdown"]
    pieces = [text for text in texts if "line_" in text]
    assert len(pieces) > 1
    assert all(t.startswith("```python\n") and t.endswith("\n```") for t in pieces)


def test_a_result_of_an_unknown_type_is_shown_as_the_data_it_is():
    strange = outcome({"verdict": "yes"}, response_type="Verdict")
    rendered = render(strange, REQUEST)
    accept_all(rendered)
    assert '"verdict": "yes"' in shown_text(rendered)


def test_native_charts_have_the_shape_that_slack_documents():
    assert native_chart(CHART) == {
        "type": "data_visualization",
        "title": "Sales by region",
        "chart": {
            "type": "bar",
            "series": [
                {
                    "name": "2026",
                    "data": [{"label": "North", "value": 10.0}, {"label": "South", "value": 12.5}],
                }
            ],
            "axis_config": {"categories": ["North", "South"]},
        },
    }


HOSTILE = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        ["", " ", "\x00", "\u202eevil", "a" * 5_000, "`" * 50, "```\nopen", "<!channel>", "| a |",
         "😀" * 600, "\n" * 30, "- " * 100, "> " * 60 + "deep", "[" * 400, "مرحبا", "https://x.yz/" + "q" * 3_500]
    ),
)  # fmt: skip
CELLS = st.lists(st.lists(HOSTILE, max_size=25), max_size=12)


@st.composite
def charts(draw):
    labels = draw(st.lists(HOSTILE, max_size=8))
    value = st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False))
    values = st.lists(value, min_size=len(labels), max_size=len(labels))
    series = st.builds(Series, name=HOSTILE, values=values)
    return Chart(
        title=draw(HOSTILE),
        kind=draw(st.sampled_from(["bar", "line", "area", "pie"])),
        labels=labels,
        series=draw(st.lists(series, max_size=8)),
        image=draw(st.sampled_from(["", "art_1"])),
    )


ANSWERS = st.builds(
    Answer,
    summary=HOSTILE,
    key_points=st.lists(HOSTILE, max_size=60),
    table=st.none()
    | st.builds(Table, caption=HOSTILE, columns=st.lists(HOSTILE, max_size=40), rows=CELLS),
    charts=st.lists(st.sampled_from(["chart_1", "chart_2", "chart_3", "gone"]), max_size=5),
    sources=st.lists(
        st.builds(Source, title=HOSTILE, url=st.none() | HOSTILE, supports=HOSTILE), max_size=20
    ),
    gaps=st.lists(HOSTILE, max_size=5),
    follow_ups=st.lists(HOSTILE, max_size=5),
    confidence=st.sampled_from(["high", "medium", "low"]),
)


@settings(max_examples=20, suppress_health_check=list(HealthCheck))
@given(
    ANSWERS,
    st.lists(charts(), min_size=3, max_size=3),
    st.sampled_from([RunStatus.SUCCESS, RunStatus.PARTIAL, RunStatus.CANCELLED, RunStatus.FAILED]),
    HOSTILE,
)
def test_any_answer_becomes_messages_that_slack_takes(result, three, status, note):
    drawn = {f"chart_{i}": chart for i, chart in enumerate(three, 1)}
    rendered = render(outcome(result, status=status, charts=drawn, note=note), REQUEST)
    accept_all(rendered)


@settings(max_examples=40)
@given(st.integers(1, 700), st.integers(0, 60), st.integers(0, 30))
def test_no_word_is_lost_however_long_the_answer(words_in_summary, points, gaps):
    def marked(kind: str, count: int) -> list[str]:
        return [f"{kind}{i}" for i in range(count)]

    result = answer(
        summary=" ".join(f"{w} " + "lorem ipsum " * 8 for w in marked("summary", words_in_summary)),
        key_points=marked("point", points),
        gaps=marked("gap", gaps),
    )
    rendered = render(outcome(result), REQUEST)
    accept_all(rendered)
    shown = set(shown_text(rendered).replace("\n", " ").split())
    expected = [
        *marked("summary", words_in_summary),
        *marked("point", points),
        *marked("gap", gaps),
    ]
    assert shown.issuperset(expected)


def test_what_was_refused_before_any_work_has_no_row_of_noughts():
    rendered = render(outcome(None, status=RunStatus.FAILED, totals=Totals(cost=0.0)), REQUEST)
    assert rendered.parts[0].blocks[-1]["elements"][0]["text"] == "$0.00"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"again": RepeatReason.REGENERATE}, "Another answer, for Ben &lt;3."),
        ({"again": RepeatReason.DEEPER}, "A deeper answer, for Ben &lt;3."),
        ({"again": RepeatReason.REGENERATE, "channel": "D1"}, ""),
        ({"again": RepeatReason.REGENERATE, "private": True}, ""),
        ({"again": RepeatReason.RETRY}, "Tried again, for Ben &lt;3."),
        ({"again": RepeatReason.RETRY, "channel": "D1"}, ""),
        ({"again": RepeatReason.EDITED}, ""),
        ({}, ""),
    ],
)
def test_who_had_it_answered_again_is_told_where_others_read_along(
    changes: dict[str, Any], told: str
) -> None:
    """By their name: nobody is called (U14). Whose budget it was is told of a failure, too."""
    request = REQUEST.model_copy(update={"author": "Ben <3", **changes})
    for status in (RunStatus.SUCCESS, RunStatus.PARTIAL, RunStatus.FAILED):
        said = shown_text(render(outcome(status=status), request))
        assert ("for Ben" in said) == bool(told)
        assert told in said
