"""What a person approves is exactly what is sent (reliability 10, 20, 22, 23)."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.approvals import MOST_SHOWN, Approval, exact_arguments, holds_secret, laid_out
from bot.dev.workspace import ADA
from bot.slack.ui.approval import approval_modal
from bot.slack.ui.buttons import APPROVE, follow_up_buttons
from bot.slack.ui.links import LinkGate
from bot.slack.ui.markdown import safe_markdown
from bot.testing.artifacts import MemoryArtifacts
from bot.testing.conversation import MemoryConversation, asked
from bot.text.invisible_text import exact, readable
from bot.toolkit import ToolError
from tests.security.model import question, won_over
from tests.security.test_approving import cards, posted
from tests.support.deployment import deployed
from tests.support.tools import share

SALES = "C0SALES001"
UNSEEN = {
    "zero width": "\u200b", "joiner": "\u200d", "non-joiner": "\u200c", "word joiner": "\u2060",
    "soft hyphen": "\u00ad", "grapheme joiner": "\u034f", "Hangul filler": "\u3164",
    "half filler": "\uffa0", "Khmer vowel": "\u17b4", "Mongolian selector": "\u180b",
    "emoji selector": "\ufe0f", "text selector": "\ufe0e", "ideograph selector": "\U000e0100",
    "tag": "\U000e0041", "left to right": "\u200e", "override": "\u202e", "isolate": "\u2066",
    "Arabic mark": "\u061c", "byte order": "\ufeff", "annotation": "\ufff9", "invisible plus": "\u2064",
    "musical": "\U0001d173", "shorthand": "\U0001bca0", "noncharacter": "\ufdd0", "control": "\x01",
    "deprecated": "\u206a", "null": "\0", "delete": "\x7f",
}  # fmt: skip
DRAWN = [
    "❤️",
    "1️⃣",
    "👩🏽\u200d💻",
    "🧑\u200d🤝\u200d🧑",
    "🏳️\u200d🌈",
    "🤷🏽\u200d♀️",
    "می\u200cخواهم",
    "क्\u200dष",
]


@pytest.mark.parametrize("unseen", UNSEEN.values(), ids=UNSEEN)
def test_s6_invisible_characters_spell_nothing(unseen: str) -> None:
    """S6: wherever one stands, alone, doubled, behind an emoji or in a word."""
    for text in ("a{}b", "{}", "1{0}{0}2", "😀{}", "😀{}😀", "🏴{0}{0}x", "葛{}", "ab {} c"):
        spelt = exact(text.format(unseen))
        assert spelt == exact(text.replace("{0}", "{}").replace("{}", ""))


@pytest.mark.parametrize("text", DRAWN)
def test_s6_what_is_drawn_stays(text: str) -> None:
    """S6: joiners and selectors that emoji, Persian and Hindi need."""
    assert exact(text) == unicodedata.normalize("NFC", text)


@given(st.text(st.characters(exclude_categories=())))
def test_s5_there_is_one_form_of_what_looks_alike(text: str) -> None:
    """S5: the form is its own form, whatever it was made of."""
    assert exact(exact(text)) == exact(text)
    assert readable(exact(text)) == exact(text)
    exact(text).encode()


def test_s5_calls_that_look_alike_are_the_same_call() -> None:
    """S5: spaces, order, composition and empty ends."""
    one = exact_arguments({"b": "e\u0301 x", "a": [{"d": 1, "c": "x \n\n\n"}]})
    other = exact_arguments({"a": [{"c": "x\n", "d": 1}], "b": "é\u00a0x\u200b"})
    assert json.dumps(one) == json.dumps(other)


@pytest.mark.parametrize(
    "arguments",
    [
        {"password": "hunter2hunter2"},
        {"user": {"api_key": "abcdef0123456789"}},
        {"headers": [{"auth_token": "0123456789abcdef"}]},
    ],
)
def test_s5_a_card_never_hides_what_is_sent(arguments: dict[str, Any]) -> None:
    """S5: what looks like a secret only beside its name is refused, not hidden."""
    given = json.dumps(exact_arguments(arguments), sort_keys=True)
    assert holds_secret(given)


@pytest.mark.parametrize(
    "arguments",
    [
        {f"a{n:03}": f"value {n}" for n in range(151)},
        {f"a{n:03}": "x" * 900 for n in range(50)},
        {"list": [[n] for n in range(5_000)]},
        {"text": "x" * 49_000},
        {"text": "line\n" * 9_000},
        {f"odd name {n}": "x" for n in range(60)},
    ],
)
def test_s11_all_of_it_is_shown_or_it_is_refused(arguments: dict[str, Any]) -> None:
    """S11: "Show all" holds every letter within what Slack takes of a modal."""
    given = json.dumps(arguments, sort_keys=True, ensure_ascii=False)
    if len(laid_out(given)) > MOST_SHOWN:
        return
    approval = Approval(
        id="run_1:1", thread_key="T1:C1:1.0", tool="crm__set", title="x", arguments=given,
        sha256="x", requester="U1", approvers=("U1",), expires=2_000_000_000,
    )  # fmt: skip
    blocks = approval_modal(approval, lambda each: each)["blocks"]
    shown = json.dumps(blocks)
    assert len(blocks) <= 100
    for name, value in arguments.items():
        assert name in shown or name.replace("_", " ").capitalize() in shown
        texts = "".join(
            e["text"] for b in blocks for part in b["elements"] for e in part["elements"]
        )
        wanted = value if isinstance(value, str) else str(value[-1][0])
        assert "".join(wanted.split()) in "".join(texts.split())


async def test_s10_a_channel_that_looks_alike_is_drawn_as_what_it_is(redis_url: str) -> None:
    """S10: the card shows the channel's id as a mention, and a rename after it changes nothing."""
    async with deployed(won_over, redis_url) as bot:
        post = ("post_message", {"channel": "general", "text": "Hello", "thread": None})
        thread = await bot.ask(ADA, SALES, question(post))
        [card] = await bot.ws.until(lambda: cards(bot, thread))
        assert "<#C0GENERAL1>" in json.dumps(card["blocks"])
        bot.ws.channels["C0GENERAL1"].name = "general-old"
        other = bot.ws.channels[SALES]
        other.name = "general"
        await bot.ws.click(ADA, SALES, card["ts"], APPROVE)
        await bot.answered(SALES, thread)
        assert [
            each for each in posted(bot) if each["channel"] == SALES and each["text"] == "Hello"
        ] == []


@pytest.mark.parametrize(
    "name",
    ["a.html", "a.HTM", "a.xhtml", "a.svg", "a.xml", "a.mht", "a.js", "a.hta", "a.docm", "a.xlsm",
     "a.url", "a.lnk", "a.webloc", "a.desktop", "a.ps1", "a.bat", "a.vbs", "a.iqy", "a.txt.html",
     "a.html ", "a.html.", "a．html", "a.\u200bhtml", "a", "a.pdf.svg"],
)  # fmt: skip
async def test_s13_nothing_active_is_shared(name: str) -> None:
    """S13: neither written anew nor from what a server returned."""
    artifacts, conversation = MemoryArtifacts(), MemoryConversation()
    page = b"<svg onload=alert(1)>"
    kept = await artifacts.save(page, name=name, media_type="application/octet-stream")
    with asked():
        for given in ({"content": page.decode()}, {"handle": kept.handle}):
            with pytest.raises(ToolError):
                await share(
                    name,
                    conversation,
                    artifacts,
                    **given,
                )
    assert conversation.shared == []


def test_s14_what_a_follow_up_asks_is_shown() -> None:
    """S14: on the button, or before it acts; else there is none."""
    asks = ["Short?", "And " + "more " * 30 + "?", "x" * 400]
    first, second = follow_up_buttons(asks, thread="1.0", private=False)
    assert first["text"]["text"] == json.loads(first["value"])["question"] == "Short?"
    assert second["confirm"]["text"]["text"] == json.loads(second["value"])["question"]


@pytest.mark.parametrize(
    "label", ["<!channel>", "<!here|here>", "@everyone", "<!subteam^S1|@admins>", "@channel now"]
)
@pytest.mark.parametrize("kind", ["[{}](https://a.example)", "<https://a.example|{}>", "`{}`x {}"])
def test_s14_nobody_is_called_in_a_label(label: str, kind: str) -> None:
    """S14: in labels of links in all notations."""
    gate = LinkGate(frozenset({"https://a.example"}))
    for text in (
        safe_markdown(kind.format(label, label), gate),
        gate.mrkdwn(kind.format(label, label)),
    ):
        bare = text.replace("\\<", "").split("`")[-1]
        assert "<!" not in bare
        assert not any(f"@{name}" in bare for name in ("everyone", "channel", "here"))


@pytest.mark.parametrize("extra", ["/", "//", "?", "/?", "#x", "////#x", "/?#"])
def test_s14_a_link_is_exactly_the_one_that_was_allowed(extra: str) -> None:
    """S14: slashes and signs behind it could be counted by its host."""
    gate = LinkGate(frozenset({"https://a.example/page"}))
    for text in (f"[x](https://a.example/page{extra})", f"HTTPS://A.example/page{extra} x"):
        for written in (safe_markdown(text, gate), gate.mrkdwn(text)):
            assert f"page{extra}" not in written
