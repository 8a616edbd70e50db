"""Everything in a message is drawn safely: nothing becomes markup, script or a request."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lxml import html as lxml_html  # type: ignore[import-untyped]  # has no types of its own

import bot
from bot.dev.page.examples import SAMPLES
from bot.dev.page.render import Renderer, Scene
from bot.dev.page.render.axes import labelled, short, ticks
from bot.dev.page.render.markdown import markdown
from bot.dev.page.render.mrkdwn import mrkdwn
from bot.dev.page.render.tables import read_table
from bot.dev.page.sidebar import LANGUAGES
from bot.dev.page.words import WORDS
from bot.dev.workspace.blocks.elements import ActionElement, FeedbackButtons, InputElement
from bot.dev.workspace.blocks.layout import AnyBlock

RENDERER = Renderer()
SCENE = Scene(
    viewer="U1",
    bot="UBOT",
    people={"U1": "Ada <b>", "U2": "Ben", "UBOT": "Bot"},
    channels={"C1": "general"},
)
EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&"


def plain(text: str) -> dict[str, str]:
    return {"type": "plain_text", "text": text}


def mark(text: str) -> dict[str, str]:
    return {"type": "mrkdwn", "text": text}


def rich(text: str, **style: bool) -> dict[str, Any]:
    piece = {"type": "text", "text": text, **({"style": style} if style else {})}
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [piece]}]}


def options(*names: str) -> list[dict[str, Any]]:
    return [{"text": plain(name), "value": name.lower()} for name in names]


def button(text: str = "Go", **more) -> dict[str, Any]:
    return {"type": "button", "action_id": "go", "text": plain(text), "value": "v", **more}


def drawn(*blocks: object) -> lxml_html.HtmlElement:
    return lxml_html.fragment_fromstring(RENDERER.blocks(blocks, SCENE), create_parent="div")


def words(*blocks: object) -> str:
    return " ".join(drawn(*blocks).text_content().split())


THUMBS = {
    "type": "feedback_buttons",
    "action_id": "go",
    "positive_button": {"text": plain("Good"), "value": "good"},
    "negative_button": {"text": plain("Bad"), "value": "bad"},
}
BLOCKS: dict[str, tuple[dict[str, Any], str]] = {
    "section": ({"text": mark(f"*hi* {EVIL}"), "fields": [plain("left"), mark("right")]}, "left"),
    "header": ({"text": plain("Title")}, "Title"),
    "divider": ({}, ""),
    "context": ({"elements": [mark("a note")]}, "a note"),
    "actions": ({"elements": [button()]}, "Go"),
    "context_actions": ({"elements": [THUMBS]}, ""),
    "input": (
        {"label": plain("Question"), "element": {"type": "plain_text_input", "action_id": "q"}},
        "Question",
    ),
    "markdown": ({"text": "# Big\n\n- one"}, "Big"),
    "rich_text": ({"elements": rich("rich words")["elements"]}, "rich words"),
    "table": ({"rows": [[{"type": "raw_text", "text": "H"}], [rich("cell")]]}, "cell"),
    "data_visualization": (
        {"title": "Shares", "chart": {"type": "pie", "segments": [{"label": "A", "value": 1}]}},
        "Shares",
    ),
    "task_card": (
        {"task_id": "1", "title": "Read file", "status": "complete", "output": rich("60 rows")},
        "60 rows",
    ),
    "plan": (
        {"title": "The plan", "tasks": [{"task_id": "1", "title": "Step", "status": "error"}]},
        "Step",
    ),
}


@pytest.mark.parametrize("kind", BLOCKS)
def test_every_block_type_shows_its_words_and_carries_no_markup_of_its_own(kind):
    fields, expected = BLOCKS[kind]
    root = drawn({"type": kind, "block_id": "b", **fields})
    assert expected in " ".join(root.text_content().split())
    assert "cannot draw" not in root.text_content()
    assert not root.xpath("//script | //*[@onerror] | //*[@style]")


def test_a_block_nobody_knows_is_visible_as_such():
    assert "hologram" in words({"type": "hologram"})
    assert "unsupported element: laser" in words(
        {"type": "actions", "elements": [{"type": "laser"}]}
    )


def test_text_from_a_message_never_becomes_markup():
    """Script tags appear on the page as text."""
    for block in (
        {"type": "header", "text": plain(EVIL)},
        {"type": "section", "text": mark(EVIL.replace("<", "&lt;").replace(">", "&gt;"))},
        {"type": "section", "text": mark(EVIL)},
        {"type": "markdown", "text": EVIL},
        {"type": "actions", "elements": [button(EVIL, value=EVIL)]},
        {"type": "table", "rows": [[{"type": "raw_text", "text": EVIL}]] * 2},
        {"type": "plan", "title": EVIL, "tasks": [{"title": EVIL, "status": "pending"}]},
        {
            "type": "data_visualization",
            "title": EVIL,
            "chart": {"type": "pie", "segments": [{"label": EVIL, "value": 1}]},
        },
    ):
        root = drawn(block)
        assert "alert(1)" in root.text_content(), block
        assert not root.xpath("//script | //img[@src='x']"), block


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "/relative",
        " javascript:alert(1)",
    ],
)
def test_only_web_and_mail_addresses_become_links(url):
    pieces = [
        str(mrkdwn(f"<{url}|click>", SCENE)),
        str(markdown(f"[click]({url})", SCENE)),
        RENDERER.blocks([{"type": "actions", "elements": [button(url=url)]}], SCENE),
        RENDERER.blocks(
            [
                {
                    "type": "rich_text",
                    "elements": [
                        {
                            "type": "rich_text_section",
                            "elements": [{"type": "link", "url": url, "text": "click"}],
                        }
                    ],
                }
            ],
            SCENE,
        ),
        RENDERER.blocks(
            [{"type": "task_card", "title": "t", "sources": [{"url": url, "text": "click"}]}], SCENE
        ),
    ]
    assert all("<a" not in piece or "<a>" in piece for piece in pieces)


def test_no_image_is_loaded_from_outside():
    root = drawn({"type": "markdown", "text": "![b](https://elsewhere.example/pixel.png)"})
    assert not root.xpath("//img")


def test_what_cannot_be_encoded_is_replaced_everywhere():
    """A page with a lone surrogate in any text encodes to UTF-8."""
    bad = "a\ud800b\x00c"
    blocks = [
        {"type": "header", "text": plain(bad)},
        {"type": "markdown", "text": bad},
        {"type": "section", "text": mark(f"*{bad}* <https://x.example/{bad}|{bad}>")},
        {"type": "table", "rows": [[{"type": "raw_text", "text": bad}], [rich(bad)]]},
        {"type": "actions", "block_id": bad, "elements": [button(bad, value=bad)]},
        {"type": bad},
    ]
    encoded = RENDERER.blocks(blocks, SCENE).encode("utf-8")
    assert b"a\xef\xbf\xbdb" in encoded
    assert b"\x00" not in encoded


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("*bold* _it_ ~no~", "<strong>bold</strong> <em>it</em> <del>no</del>"),
        ("2*3*4 snake_case_name a*b", "2*3*4 snake_case_name a*b"),
        ("* not bold *", "* not bold *"),
        ("`*raw* <@U2>`", "<code>*raw* &lt;@U2&gt;</code>"),
        ("```\na < b\n*x*\n```", "<pre>a &lt; b\n*x*</pre>"),
        ("```\na\n```\n> b", "<pre>a</pre><blockquote>b</blockquote>"),
        ("&lt;b&gt; &amp;amp;", "&lt;b&gt; &amp;amp;"),
        ("<@U2> <@U9> <@U9|who>", '<span class="mention">@Ben</span> <span class="mention">@U9</span> <span class="mention">@who</span>'),
        ("<@U1>", '<span class="mention">@Ada &lt;b&gt;</span>'),
        ("<#C9>", '<span class="channel">🔒 private channel</span>'),
        ("<#C9|lost>", '<span class="channel">#lost</span>'),
        (
            "<#C1>",
            '<a class="channel" href="/?channel=C1" data-do="open" data-channel-link="C1">#general</a>',
        ),
        ("<!here>", '<span class="mention broadcast">@here</span>'),
        ("<!subteam^S1|@team> <!date^1^{date}|today>", '<span class="mention">@team</span> <time data-ts="1" data-day>today</time>'),
        ("&gt; one\n&gt; *two*\nthree", "<blockquote>one<br><strong>two</strong></blockquote>three"),
        ("a\nb", "a<br>b"),
        (":tada: :nope: 10:30:15", "🎉 :nope: 10:30:15"),
    ],
)  # fmt: skip
def test_mrkdwn(source, expected):
    assert str(mrkdwn(source, SCENE)) == expected


def test_links_open_elsewhere_and_keep_their_ampersands():
    html = str(mrkdwn("<https://x.example/?a=1&amp;b=2|the *site*>", SCENE))
    assert 'href="https://x.example/?a=1&amp;b=2"' in html
    assert 'rel="noopener noreferrer"' in html
    assert ">the *site*</a>" in html
    bare = str(mrkdwn("see https://x.example/(a_b). Yes", SCENE))
    assert 'href="https://x.example/(a_b)"' in bare
    assert bare.endswith("</a>. Yes")


def test_long_and_odd_text_stays_quick():
    """100,000 characters of unclosed formatting are rendered in time."""
    for piece in ("*", "_a", "<", "`", "```", "&gt; ", "~", "<@", "[", "|", "\u202e", ":a"):
        assert mrkdwn(piece * (100_000 // len(piece)), SCENE)


def test_markdown_knows_tables_strikethrough_and_mentions():
    html = str(markdown("| a | b |\n|---|---:|\n| 1 | <@U2> |\n\n~~old~~ :tada:", SCENE))
    assert '<td class="align-right"><span class="mention">@Ben</span></td>' in html
    assert "<s>old</s> 🎉" in html
    assert str(markdown(r"\<@U2> \<\!here>", SCENE)) == "<p>&lt;@U2&gt; &lt;!here&gt;</p>\n"


def test_a_chart_draws_each_series_and_lists_its_numbers():
    series = [
        {
            "name": name,
            "data": [{"label": m, "value": v} for m, v in zip(("Jan", "Feb"), values, strict=True)],
        }
        for name, values in (("West", (10, -5)), ("North", (7.5, None)))
    ]
    for kind, mark_of_one in (("bar", "//rect"), ("line", "//circle"), ("area", "//circle")):
        root = drawn(
            {
                "type": "data_visualization",
                "title": "T",
                "chart": {"type": kind, "series": series, "axis_config": {"x_label": "Month"}},
            }
        )
        assert len(root.xpath(mark_of_one)) == 3, kind
        assert [li.text_content().strip() for li in root.xpath("//ul[@class='legend']/li")] == [
            "West",
            "North",
        ]
        assert [cell.text_content() for cell in root.xpath("//th | //td")] == [
            "Month",
            "West",
            "North",
            "Jan",
            "10.00",
            "7.50",
            "Feb",
            "-5.00",
            "–",
        ]


def test_a_pie_shows_shares():
    segments = [{"label": "A", "value": 3}, {"label": "B", "value": 1}]
    root = drawn(
        {"type": "data_visualization", "title": "T", "chart": {"type": "pie", "segments": segments}}
    )
    first = root.xpath("//ul[@class='legend']/li[1]/span")
    assert [span.text_content() for span in first] == ["A", "3", "75%"]


def test_names_below_a_chart_are_cut_and_then_left_out():
    """Long names below bars are cut; of many days only those that fit are shown."""
    customers = ("Smith, Jones & Co", "Acme Limited", "Nordic Steel AB", "Müller GmbH", "Bolt")
    cut = ["Smith, Jone…", "Acme Limited", "Nordic Stee…", "Müller GmbH", "Bolt"]
    assert [name for _, name in labelled(customers, 500)] == cut
    shown = labelled([f"2026-01-{day:02}" for day in range(1, 29)], 550)
    assert 2 < len(shown) < 10
    assert shown[0][0] == 0


def test_a_chart_that_cannot_be_drawn_says_so():
    block = {"type": "data_visualization", "title": "T"}
    assert "cannot draw a chart" in words(block | {"chart": {"type": "radar"}})
    assert "No numbers" in words(block | {"chart": {"type": "bar", "series": []}})


@given(st.floats(-1e12, 1e12), st.floats(-1e12, 1e12))
def test_axis_ticks_are_few_round_and_span_the_values(a, b):
    low, high = min(a, b), max(a, b)
    found = ticks(low, high)
    step = found[1] - found[0]
    assert found[0] <= low + step * 1e-6
    assert found[-1] >= high - step * 1e-6
    assert 2 <= len(found) <= 13
    assert min(abs(tick) for tick in found) < step * 1e-6


def test_axis_numbers_are_short():
    assert [short(n) for n in (0, 1200, 15_000, 2_500_000, -40_000, 0.25)] == [
        "0",
        "1,200",
        "15k",
        "2.5M",
        "-40k",
        "0.25",
    ]


def test_table_columns_align_by_what_they_hold():
    rows = [["Name", "Sum", "Share"], ["West", "€1,200", "12%"], ["North", "€900"]]
    table = read_table({"rows": [[{"type": "raw_text", "text": t} for t in row] for row in rows]})
    assert table.align == ["align-left", "align-right", "align-right"]
    assert table.rows[1][2].content == ""
    asked = read_table(
        {"rows": [[{"type": "raw_text", "text": "a"}]], "column_settings": [{"align": "center"}]}
    )
    assert asked.align == ["align-center"]


ELEMENTS: list[dict[str, Any]] = [
    {"type": "static_select", "action_id": "go", "options": options("A", "B")},
    {"type": "datepicker", "action_id": "go", "initial_date": "2026-11-28"},
    {"type": "datetimepicker", "action_id": "go"},
    {"type": "email_text_input", "action_id": "go"},
    {"type": "url_text_input", "action_id": "go"},
    button(style="primary", confirm={"title": plain("Sure?"), "text": mark("Really")}),
    {"type": "conversations_select", "action_id": "go", "initial_conversation": "C1"},
    {"type": "multi_users_select", "action_id": "go", "initial_users": ["U2"]},
    {"type": "number_input", "action_id": "go", "is_decimal_allowed": False, "initial_value": "3"},
    {"type": "radio_buttons", "action_id": "go", "options": options("A", "B")},
    {"type": "checkboxes", "action_id": "go", "options": options("A", "B")},
    {"type": "plain_text_input", "action_id": "go", "multiline": True, "initial_value": "so far"},
    {"type": "overflow", "action_id": "go", "options": options("A", "B")},
    THUMBS,
]  # fmt: skip


@pytest.mark.parametrize("element", ELEMENTS, ids=lambda element: element["type"])
def test_every_element_carries_what_a_click_sends(element):
    kind = "input" if "input" in element["type"] else "actions"
    held = {"element": element, "label": plain("L")} if kind == "input" else {"elements": [element]}
    found = drawn({"type": kind, "block_id": "b1", **held}).xpath(
        "//*[@data-block-id='b1'][@data-action-id='go']"
    )
    assert found
    assert all(one.get("data-kind") == element["type"] for one in found)


def test_initial_values_are_filled_in():
    by_type = {element["type"]: element for element in ELEMENTS}
    [option] = options("B")
    filled_in = [
        (by_type["conversations_select"], "//option[@selected]/@value", "C1"),
        (by_type["static_select"] | {"initial_option": option}, "//option[@selected]/@value", "b"),
        (by_type["multi_users_select"], "//input[@checked]/@value", "U2"),
        (by_type["datepicker"], "//input/@value", "2026-11-28"),
        (by_type["plain_text_input"], "//textarea/text()", "so far"),
    ]
    for element, path, expected in filled_in:
        root = drawn({"type": "input", "label": plain("L"), "block_id": "b", "element": element})
        assert root.xpath(path) == [expected], element["type"]


def types_of(*models: Any) -> Iterator[str]:
    """Yield the types of blocks or elements that models of the workspace take."""
    for model in models:
        yield from get_args(model.model_fields["type"].annotation)


def test_the_page_draws_whatever_the_bot_can_send():
    """A type that the bot's code writes is drawn by a test above. The workspace has a model of each
    type that it takes, and refuses all others."""
    blocks = types_of(*get_args(get_args(AnyBlock)[0]))
    unions = (get_args(union)[0] for union in (ActionElement, InputElement))
    elements = types_of(FeedbackButtons, *(model for union in unions for model in get_args(union)))
    known = {*blocks, *elements}
    folder = Path(bot.__file__).parent
    files = (path for path in folder.rglob("*.py") if folder / "dev" not in path.parents)
    trees = [ast.parse(path.read_text("utf-8")) for path in files]
    objects = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Dict))
    values = (value for node in objects for each in node.values for value in ast.walk(each))
    sent = {value.value for value in values if isinstance(value, ast.Constant)} & known
    assert {"static_select", "datepicker", "plan", "data_visualization"} <= sent
    assert sent <= BLOCKS.keys() | {element["type"] for element in ELEMENTS}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "text", "elements", "url", "value", "label"]), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip
KEYS = sorted(
    {key for fields, _ in BLOCKS.values() for key in fields}
    | {"accessory", "column_settings", "sources", "details"}
)


@example("section", {"accessory": {"type": []}})
@settings(max_examples=60)
@given(st.sampled_from(sorted(BLOCKS)), st.dictionaries(st.sampled_from(KEYS), JSON, max_size=6))
def test_a_block_of_the_wrong_shape_does_not_break_the_page(kind, fields):
    RENDERER.blocks([{**fields, "type": kind}], SCENE).encode()


def test_the_page_says_its_own_words_in_each_language_that_it_offers() -> None:
    """What templates say, and what samples hold, has a translation."""
    templates = (Path(bot.__file__).parent / "dev/page/templates").rglob("*.html")
    said = {
        text
        for template in templates
        for _, text in re.findall(r"scene\.say\((['\"])(.+?)\1[,) ]", template.read_text("utf-8"))
    }
    assert len(said) > 40
    languages = {locale[:2] for locale in LANGUAGES} - {"en"}
    assert {
        text for text in (*said, *SAMPLES.values()) if set(WORDS.get(text, ())) != languages
    } == set()
