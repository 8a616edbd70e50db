"""Blocks that Slack would refuse are refused, with a pointer to the problem."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slack_sdk.errors import SlackApiError

from bot.dev.workspace import SlackFault
from bot.dev.workspace.blocks import check_blocks, check_view
from bot.dev.workspace.store.state import Json

PLAIN = {"type": "plain_text", "text": "x"}


def plain(length: int) -> Json:
    return {"type": "plain_text", "text": "x" * length}


def mrkdwn(length: int) -> Json:
    return {"type": "mrkdwn", "text": "x" * length}


def button(**more) -> Json:
    return {"type": "button", "action_id": "a", "text": PLAIN, **more}


def actions(*elements: Json) -> Json:
    return {"type": "actions", "elements": list(elements)}


def option(value: str = "v", text: Json = PLAIN) -> Json:
    return {"text": text, "value": value}


def raw(text: str = "x") -> Json:
    return {"type": "raw_text", "text": text}


def rich(*elements: Json) -> Json:
    return {
        "type": "rich_text",
        "elements": [{"type": "rich_text_section", "elements": list(elements)}],
    }


def task(name: str = "1", status: str = "complete") -> Json:
    return {"type": "task_card", "task_id": name, "title": "x", "status": status}


def chart(**more) -> Json:
    body = {"type": "pie", "segments": [{"label": "a", "value": 1}]}
    return {"type": "data_visualization", "title": "t", "chart": body, **more}


def plot(labels: list[str]) -> Json:
    series = [{"name": "s", "data": [{"label": label, "value": 1} for label in labels]}]
    return {"type": "bar", "series": series, "axis_config": {"categories": ["a", "b"]}}


THUMB = {"text": PLAIN, "value": "v"}
THUMBS = {
    "type": "feedback_buttons",
    "action_id": "f",
    "positive_button": THUMB,
    "negative_button": THUMB,
}
MENU = {"type": "static_select", "action_id": "s", "options": [option()]}
CHECKS = {
    "type": "checkboxes",
    "action_id": "c",
    "options": [option()],
    "initial_options": [option()],
}

GOOD: list[Json] = [
    {"type": "section", "text": mrkdwn(3000), "fields": [mrkdwn(2000)] * 10, "accessory": button(), "expand": True},
    {"type": "header", "text": plain(150)},
    {"type": "divider"},
    {"type": "markdown", "text": "x" * 12_000},
    {"type": "image", "image_url": "https://example.com/a.png", "alt_text": "a"},
    {"type": "context", "elements": [mrkdwn(5), {"type": "image", "image_url": "https://e.com/a", "alt_text": "a"}]},
    {"type": "context_actions", "elements": [THUMBS]},
    actions(*({**button(), "action_id": str(n)} for n in range(25))),
    actions({"type": "static_select", "action_id": "s", "options": [option()] * 100}),
    actions({**MENU, "initial_option": option()}, CHECKS),
    {"type": "table", "rows": [[raw()] * 20] * 100, "column_settings": [{"align": "right"}, None]},
    chart(),
    chart(chart=plot(["a", "b"])),
    {"type": "plan", "title": "p", "tasks": [task("1"), task("2", "error")]},
    {**task(), "details": rich({"type": "text", "text": "x"}), "sources": [{"type": "url", "url": "https://e.com", "text": "e"}]},
    rich({"type": "text", "text": "x", "style": {"bold": True}}, {"type": "user", "user_id": "U1"}),
]  # fmt: skip


@pytest.mark.parametrize("block", GOOD, ids=lambda b: b["type"])
def test_what_slack_takes_is_taken(block):
    check_blocks([block])


BAD: list[tuple[Json, str]] = [
    ({"type": "nonsense"}, "/blocks/0"),
    ({"text": PLAIN}, "/blocks/0"),
    ({"type": "section"}, "/blocks/0"),
    ({"type": "section", "text": PLAIN, "colour": "red"}, "/blocks/0/colour"),
    ({"type": "section", "text": mrkdwn(3001)}, "/blocks/0/text/text"),
    ({"type": "context", "elements": [mrkdwn(3001)]}, "/blocks/0/elements/0/text"),
    ({"type": "section", "text": mrkdwn(0)}, "/blocks/0/text/text"),
    ({"type": "section", "fields": [mrkdwn(1)] * 11}, "/blocks/0/fields"),
    ({"type": "section", "fields": [mrkdwn(2001)]}, "/blocks/0/fields/0"),
    ({"type": "section", "text": PLAIN, "block_id": "x" * 256}, "/blocks/0/block_id"),
    ({"type": "header", "text": plain(151)}, "/blocks/0/text"),
    ({"type": "header", "text": mrkdwn(1)}, "/blocks/0/text/type"),
    ({"type": "markdown", "text": ""}, "/blocks/0/text"),
    ({"type": "markdown", "text": "x" * 12_001}, "/blocks/0/text"),
    ({"type": "image", "image_url": "https://example.com/a.png"}, "/blocks/0/alt_text"),
    ({"type": "image", "alt_text": "a"}, "/blocks/0"),
    ({"type": "context", "elements": []}, "/blocks/0/elements"),
    ({"type": "context", "elements": [mrkdwn(1)] * 11}, "/blocks/0/elements"),
    ({"type": "context", "elements": [button()]}, "/blocks/0/elements/0"),
    ({"type": "context_actions", "elements": [button()]}, "/blocks/0/elements/0/type"),
    (actions(), "/blocks/0/elements"),
    (actions(*({**button(), "action_id": str(n)} for n in range(26))), "/blocks/0/elements"),
    (actions(button(), button()), "/blocks/0"),
    (actions(button(text=plain(76))), "/blocks/0/elements/0/text"),
    (actions(button(value="x" * 2001)), "/blocks/0/elements/0/value"),
    (actions(button(url="x" * 3001)), "/blocks/0/elements/0/url"),
    (actions(button(action_id="x" * 256)), "/blocks/0/elements/0/action_id"),
    (actions(button(style="pretty")), "/blocks/0/elements/0/style"),
    (actions({"type": "static_select", "action_id": "s"}), "/blocks/0/elements/0"),
    (actions({"type": "static_select", "action_id": "s", "options": [option()] * 101}), "/blocks/0/elements/0/options"),
    (actions({"type": "static_select", "action_id": "s", "options": [option("x" * 151)]}), "/blocks/0/elements/0/options/0/value"),
    (actions({"type": "static_select", "action_id": "s", "options": [option(text=plain(76))]}), "/blocks/0/elements/0/options/0/text"),
    (actions({"type": "plain_text_input", "action_id": "i"}), "/blocks/0/elements/0"),
    ({"type": "input", "label": PLAIN, "element": {"type": "plain_text_input", "action_id": "i"}}, "/blocks/0/type"),
    ({"type": "table", "rows": [[raw()]] * 101}, "/blocks/0/rows"),
    ({"type": "table", "rows": [[raw()] * 21]}, "/blocks/0/rows/0"),
    ({"type": "table", "rows": [[raw("x" * 5_001)]] * 2}, "/blocks/0"),
    ({"type": "table", "rows": [[raw("")]]}, "/blocks/0/rows/0/0/text"),
    ({"type": "table", "rows": [[raw()], [raw(), raw()]]}, "/blocks/0"),
    (chart(title="x" * 51), "/blocks/0/title"),
    (chart(chart={"type": "donut"}), "/blocks/0/chart"),
    (chart(chart={"type": "pie", "segments": []}), "/blocks/0/chart/segments"),
    (chart(chart=plot(["a", "c"])), "/blocks/0/chart"),
    (task(status="done"), "/blocks/0/status"),
    ({"type": "plan", "title": "p", "tasks": [task("1"), task("1")]}, "/blocks"),
    ({**task(), "details": "words"}, "/blocks/0/details"),
    (chart(chart=plot(["a", "b", "b"])), "/blocks/0/chart"),
    (actions({**MENU, "initial_option": option("other")}), "/blocks/0/elements/0"),
    (actions({**MENU, "options": [option(text=mrkdwn(1))]}), "/blocks/0/elements/0/options/0/text/type"),
    (actions({**CHECKS, "type": "radio_buttons"}), "/blocks/0/elements/0"),
    (actions({**CHECKS, "initial_options": [option("other")]}), "/blocks/0/elements/0"),
    (rich({"type": "text"}), "/blocks/0/elements/0/elements/0"),
    ({"type": "rich_text", "elements": [{"type": "text", "text": "x"}]}, "/blocks/0/elements/0"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("block", "pointer"), BAD, ids=[f"{n}-{b.get('type')}" for n, (b, _) in enumerate(BAD)]
)
def test_what_slack_refuses_is_refused_and_pointed_at(block, pointer):
    with pytest.raises(SlackFault) as raised:
        check_blocks([block])
    assert raised.value.error == "invalid_blocks"
    assert any(
        f"[json-pointer:{pointer}]" in m
        for m in raised.value.details["response_metadata"]["messages"]
    )


@pytest.mark.parametrize(
    "blocks",
    [
        [{"type": "divider"}] * 51,
        [{"type": "divider", "block_id": "same"}] * 2,
        [{"type": "markdown", "text": "x" * 6001}] * 2,
        [{"type": "table", "rows": [[raw()]]}] * 2,
        [chart()] * 3,
        [task("1"), {"type": "plan", "title": "p", "tasks": [task("1")]}],
        ["words"],
    ],
)
def test_rules_across_blocks(blocks):
    with pytest.raises(SlackFault):
        check_blocks(blocks)


FIELD = {"type": "plain_text_input", "action_id": "i"}
INPUT = {"type": "input", "label": PLAIN, "element": FIELD}
MODAL = {"type": "modal", "title": PLAIN, "submit": PLAIN, "blocks": [INPUT]}


def test_a_good_view_is_taken():
    check_view({**MODAL, "callback_id": "x" * 255, "private_metadata": "x" * 3000}, "modal")
    check_view({"type": "home", "blocks": [{"type": "divider"}] * 100}, "home")


@pytest.mark.parametrize(
    "change",
    [
        {"title": plain(25)},
        {"submit": plain(25)},
        {"close": plain(25)},
        {"submit": None},
        {"title": None},
        {"private_metadata": "x" * 3001},
        {"callback_id": "x" * 256},
        {"blocks": []},
        {"blocks": [{"type": "divider"}] * 101},
        {"blocks": [{"type": "table", "rows": [[raw()]]}]},
        {"type": "home"},
        {"colour": "red"},
        {"blocks": [{**INPUT, "element": {**FIELD, "max_length": 2, "initial_value": "abc"}}]},
        {"blocks": [{**INPUT, "element": {**FIELD, "focus_on_load": True}}] * 2},
        {"blocks": [{"type": "section", "text": mrkdwn(3000)}] * 90},
    ],
)
def test_a_bad_view_is_refused(change):
    with pytest.raises(SlackFault):
        check_view({**MODAL, **change}, "modal")


async def test_a_message_with_bad_blocks_is_not_posted(ws, client):
    with pytest.raises(SlackApiError) as raised:
        await client.chat_postMessage(channel="C0GENERAL1", text="x", blocks=[{"type": "nonsense"}])
    assert raised.value.response["error"] == "invalid_blocks"
    assert ws.messages("C0GENERAL1") == []


async def test_the_blocks_of_attachments_are_checked_as_well(ws, client):
    bad = [{"blocks": [{"type": "nonsense"}]}]
    with pytest.raises(SlackApiError, match="invalid_blocks"):
        await client.chat_postMessage(channel="C0GENERAL1", text="x", attachments=bad)


KEYS = st.sampled_from(
    [
        "type",
        "text",
        "elements",
        "blocks",
        "fields",
        "rows",
        "tasks",
        "action_id",
        "block_id",
        "accessory",
        "chart",
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@given(base=st.sampled_from(GOOD), key=KEYS, value=JSON)
def test_any_json_is_taken_or_refused(base, key, value):
    """The checks never crash, whatever an app sends."""
    for blocks in ([{**base, key: value}], [value], [base, base]):
        with suppress(SlackFault):
            check_blocks(blocks)
        with suppress(SlackFault):
            check_view({"type": "home", "blocks": blocks}, "home")
