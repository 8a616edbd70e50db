"""Where a text mentions those whom the asker mentioned (reliability 11)."""

from __future__ import annotations

import re

import pytest

from bot.slack.ui.links import LinkGate
from bot.slack.ui.markdown import safe_markdown
from bot.text.mentions import Mention, has_other_names, split

BEN, BENNY = Mention(id="U1", shown="@Ben"), Mention(id="U2", shown="@Ben.O")
ROOM = Mention(id="C1", shown="#random")
ALL = (BEN, BENNY, ROOM)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Hi @Ben, **@Ben.O** and _#random_!", "Hi <@U1>, **<@U2>** and _<#C1>_!"),
        ("(@Ben)", "(<@U1>)"),
        ("- @Ben\n- b", "- <@U1>\n- b"),
        ("@Benny #random-ish x@Ben", r"@Benny #random-ish x@Ben"),
        ("`@Ben`", "`@Ben`"),
        ("<@U1> <#C1>", r"\<@U1> \<#C1>"),
        ("&#64;Ben", "<@U1>"),
    ],
)
def test_names_become_mentions_as_the_asker_wrote_them(text: str, written: str) -> None:
    assert safe_markdown(text, LinkGate(frozenset(), ALL)) == written


@pytest.mark.parametrize("shown", ["@channel", "@Here Now", "@Ben <!channel>"])
def test_a_name_that_would_call_everybody_calls_nobody(shown: str) -> None:
    """Not even whose it is, and nobody is told that it does."""
    gate = LinkGate(frozenset(), [Mention(id="U1", shown=shown)])
    assert not re.search("@here|@channel|<", safe_markdown(f"Hi {shown}", gate), re.IGNORECASE)
    assert not gate.mentioned


def test_a_name_of_several_is_nobodys() -> None:
    other = Mention(id="U3", shown="@Ben")
    assert BEN not in split("Hi @Ben", (BEN, other))
    assert BEN in split("Hi @Ben", (BEN, BEN))


@pytest.mark.parametrize(
    ("text", "others"),
    [("Hi @Ben", False), ("Hi @Chris", True), ("a@b.example", False), ("<!here>", True)],
)
def test_what_else_looks_like_a_mention_is_known(text: str, others: bool) -> None:
    assert has_other_names(text, (BEN,)) is others
