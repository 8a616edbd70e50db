"""Whatever people type is taken: bad input is cleaned, and ordinary text of any language is not."""

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.slack.edge.text import MAX_QUESTION, cap, clean, decode, mentions_from, question_from
from bot.slack.message.message_contents import said_in


async def name_of(user: str) -> str:
    return {"U1": "Ada"}.get(user, user)


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("a\x00b\x07c", "abc"),
        ("line\r\nline\u2028line", "line\nline\nline"),
        ("\u202ereversed\u202c", "reversed"),
        ("\u2066isolated\u2069", "isolated"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("lone \ud800 surrogate", "lone \N{REPLACEMENT CHARACTER} surrogate"),
        ("e\u0301", "é"),
        ("tag\U000e0041\U000e0042s", "tags"),
        ("  spaces  ", "spaces"),
    ],
)
def test_what_people_cannot_see_is_taken_out(typed, kept):
    assert clean(typed) == kept


@pytest.mark.parametrize(
    "typed",
    [
        "👩\u200d👩\u200d👧 family",  # joiners inside emoji
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f flag of England",
        "مرحبا بالعالم",
        "שלום עולם",
        "می\u200cخواهم",  # a non-joiner that Persian spelling needs
        "क्\u200dष",
        "日本語 ไทย Ελληνικά",
        "tabs\tand\nlines",
        "price\u00a0list",
    ],
)
def test_ordinary_text_is_left_as_it_is(typed):
    assert clean(typed) == unicodedata.normalize("NFC", typed)


async def test_slacks_markup_reads_as_people_see_it():
    text = (
        "<@U1> and <@U2|ben> in <#C1|general>: &lt;b&gt; &amp; <https://x.example/?a=1&amp;b=2|this> "
        "<https://y.example> <mailto:a@b.example|a@b.example> <!here> <!subteam^S1|@sales> "
        "<!date^1700000000^{date}|14 Nov> 1 < 2"
    )
    assert await decode(text, name_of) == (
        "@Ada and @ben in #general: <b> & this (https://x.example/?a=1&b=2) "
        "https://y.example a@b.example @here @sales 14 Nov 1 < 2"
    )


async def test_who_is_mentioned_is_known_as_the_question_shows_it():
    """Neither the bot, nor everybody, nor what somebody typed in angle brackets of their own, nor who
    is given a name there."""
    text = "<@B1> ask <@U1>, <@U4>, <@U2|Ada>, <@U1> in <#C1|general> &lt;@U3&gt; <!here> <!subteam^S1|@sales>"
    found = await mentions_from(text, bot="B1", name_of=name_of)
    assert [(each.id, each.shown) for each in found] == [
        ("U1", "@Ada"),
        ("U4", "@U4"),
        ("C1", "#general"),
    ]


async def test_the_bots_own_mention_is_not_part_of_the_question():
    asked = await question_from("<@B1> hello <@B1>", bot="B1", name_of=name_of)
    assert asked == "hello"


def test_a_very_long_question_is_cut_and_the_model_is_told():
    capped = cap("x" * 100_000)
    assert capped.startswith("x" * MAX_QUESTION)
    assert "60,000 were cut off" in capped
    assert cap("x" * MAX_QUESTION) == "x" * MAX_QUESTION


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_comes_out_encodable_and_stays_as_it_came_out(text):
    once = clean(text)
    once.encode("utf-8")
    assert clean(once) == once


KEYS = st.sampled_from(
    [
        "type",
        "text",
        "elements",
        "blocks",
        "attachments",
        "fields",
        "rows",
        "message_blocks",
        "message",
        "is_share",
        "bot_id",
        "title",
        "value",
        "url",
        "user_id",
        "fallback",
    ]
)
KINDS = st.sampled_from(["section", "context", "rich_text", "rich_text_list", "table", "header"])
SENT = st.recursive(
    st.none() | st.booleans() | st.integers() | KINDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=15,
)


@given(message=st.dictionaries(KEYS, SENT, max_size=6))
def test_a_message_of_any_form_is_read(message: dict[str, Any]) -> None:
    """Other apps send what they like; an event that breaks us would come again and again."""
    assert isinstance(said_in(message), str)


def test_no_depth_of_lists_is_too_much():
    """Slack nests none; whoever found a way to would have a message delivered again and again."""
    deep: dict[str, Any] = {"type": "rich_text_list", "elements": []}
    for _ in range(2_000):
        deep = {"type": "rich_text_list", "elements": [deep]}
    text = {"type": "rich_text_section", "elements": [{"type": "text", "text": "seen"}]}
    lists = {"type": "rich_text_list", "elements": [text, deep]}
    said = said_in({"bot_id": "B1", "blocks": [{"type": "rich_text", "elements": [lists]}]})
    assert said.splitlines()[0] == "• seen"
