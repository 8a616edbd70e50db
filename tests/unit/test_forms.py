"""Forms in which people answer servers: what is shown, what is refused, what is sent back (22.10)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.approvals import Approval, ApprovalRecord, Decision
from bot.core.errors import MalformedPayload
from bot.dev.workspace.blocks import check_blocks, check_view
from bot.features.server_questions.cards import (
    ANSWER_NO,
    ANSWER_YES,
    DECLINE_INPUT,
    VISIT_PAGE,
    input_modal,
    input_part,
    pressed_answer,
)
from bot.features.server_questions.forms import (
    AnswerError,
    FieldKind,
    Form,
    FormError,
    Question,
    page_address,
)
from bot.features.server_questions.hook import INPUT
from bot.features.server_questions.questions import answer_of
from bot.features.server_questions.terminal import answer_question
from bot.slack.ui.approval import PressedCard, Shown


def form(required: tuple[str, ...] = (), **fields: Any) -> Form:
    return Form.of({"type": "object", "properties": fields, "required": list(required)})


EVERY = form(
    required=("name", "size"),
    name={"type": "string", "minLength": 2, "maxLength": 10, "default": "Ada"},
    mail={"type": "string", "format": "email"},
    site={"type": "string", "format": "uri"},
    day={"type": "string", "format": "date", "default": "2026-12-01"},
    at={"type": "string", "format": "date-time"},
    size={"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
    weight={"type": "number", "minimum": 0.5},
    sure={"type": "boolean", "default": False},
    kind={"type": "string", "enum": ["a", "b"], "enumNames": ["A!", "B!"], "default": "b"},
    more={"type": "array", "items": {"anyOf": [{"const": "x", "title": "X"}]}, "default": ["x"]},
    note={"anyOf": [{"type": "string"}, {"type": "null"}], "title": "Anything else?"},
)


def approval(question: Question) -> Approval:
    return Approval(
        kind=INPUT,
        id="run_1:input-1:resp:call",
        thread_key="T1:C1:1.0",
        tool="town question 1.1",
        title="A question of town",
        arguments=json.dumps(question.model_dump(mode="json")),
        sha256="abc",
        requester="U1",
        approvers=("U1",),
        expires=2_000_000_000,
    )


def drawn(question: Question) -> dict[str, Any]:
    """The card and the modal of a question, which Slack must take."""
    asked = approval(question)
    check_blocks(input_part(ApprovalRecord(asked)).blocks)
    opened = PressedCard(
        shown=Shown(id=asked.id, sha256="abc"), channel="D1", message="1.0", at="1.5"
    )
    modal = input_modal(asked, opened)
    check_view(modal, "modal")
    return modal


def test_an_answer_is_sent_as_the_schema_wants_it() -> None:
    """Numbers are numbers, a moment is in UTC; what was left empty is left out."""
    given = {
        "name": "Ben",
        "mail": "b@x.org",
        "site": "https://x.org",
        "day": "2026-12-01",
        "at": 1_800_000_000,
        "size": "4",
        "weight": "0.5",
        "sure": False,
        "kind": "a",
        "more": ["x"],
        "note": "",
    }
    sent = {key: value for key, value in given.items() if key != "note"}
    exact = {"size": 4, "weight": 0.5, "at": "2027-01-15T08:00:00+00:00"}
    assert EVERY.answer(given) == sent | exact


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("name", "A"),
        ("name", "A" * 11),
        ("mail", "nobody"),
        ("site", "x.org"),
        ("day", "2026-02-30"),
        ("at", "soon"),
        ("at", "9" * 30),
        ("size", "1.5"),
        ("size", "10"),
        ("size", "9" * 5_000),
        ("weight", "nan"),
        ("weight", "inf"),
        ("weight", "0.4"),
        ("sure", "yes"),
        ("kind", "c"),
        ("more", ["x", "y"]),
        ("note", "x" * 3_001),
    ],
)
def test_what_does_not_fit_is_named(field: str, value: Any) -> None:
    """Whatever Slack checked before: its payload could be forged."""
    with pytest.raises(AnswerError) as caught:
        EVERY.answer({"name": "Ada", "size": "1"} | {field: value})
    assert caught.value.fields == (field,)


@pytest.mark.parametrize(
    "asked",
    [
        {"apiKey": {"type": "string"}},
        {"a": {"type": "string", "title": "Your password"}},
        {"a": {"type": "string", "title": "The one-time code that we sent"}},
        {"token": {"type": "string"}},
        {"a": {"type": "string", "title": "Your GitHub token"}},
        {"recoveryCode": {"type": "string"}},
        {"a": {"type": "string", "title": "2FA code"}},
        {"a": {"type": "string", "title": "Passwort"}},
        {"a": {"type": "string", "title": "CVV2"}},
        {"card": {"type": "string", "title": "Credit card number"}},
        {"a": {"type": "string", "format": "password"}},
    ],
)
def test_secrets_are_not_asked_for(asked: dict[str, Any]) -> None:
    """S8: they would be typed into a chat, and kept where others may read them later."""
    with pytest.raises(FormError, match="nobody types into a chat"):
        form(**asked)
    assert form(pins={"type": "integer", "title": "How many pins"}).fields
    assert not form(max_tokens={"type": "string"}, issue_key={"type": "string"}).is_yes_no
    for harmless in ("Palabra clave", "Code postal", "Passport number", "Boarding pass"):
        assert form(value={"type": "string", "title": harmless}).fields


def test_a_warning_not_to_give_secrets_is_no_question_for_them() -> None:
    """S8: MCP's reference server and many help desks say so."""
    warning = "Describe the problem. Please do not include passwords or API keys!"
    assert form(a={"type": "string", "description": warning}).fields


@pytest.mark.parametrize(
    "part",
    [
        {"type": "object", "properties": {}},
        {"type": "array", "items": {"type": "string"}},
        {"type": "array", "items": {"enum": [str(n) for n in range(11)]}},
        {"type": "string", "enum": [str(n) for n in range(101)]},
        {"type": "string", "enum": ["x" * 501]},
        {"type": "string", "enum": [1]},
        {"type": "integer", "minimum": 5, "maximum": 4},
        {"type": "number", "minimum": 0, "maximum": -1},
        {"type": "integer", "minimum": 0.1, "maximum": 0.9},
        {"type": "string", "minLength": 9, "maxLength": 8},
        {"type": "string", "minLength": 5_000},
        {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 3},
        {"$ref": "#/x"},
        "text",
        {},
    ],
)
def test_a_form_that_cannot_be_shown_is_refused(part: Any) -> None:
    """Never a part of a form: the server would take it for the whole."""
    with pytest.raises(FormError):
        form(a=part)


def test_slack_takes_every_form() -> None:
    """Of every kind of field, filled in or not, with words of any length."""
    long = {"type": "string", "title": "x" * 9_000, "description": "y" * 9_000, "minLength": 3_000}
    odd = {"type": "string", "enum": ["v" * 400, " "], "enumNames": ["n" * 400], "default": "z"}
    fields = {"n" * 300: long, "\u202e": odd, "": {"type": "string", "maxLength": 0}}
    more = Form.of({"properties": fields})
    for asked in (EVERY, more, form(), form(sure={"type": "boolean"})):
        drawn(Question(server="town", message="m" * 1_000, form=asked))
    drawn(Question(server="s" * 200, message="", url=f"https://{'a' * 60}.example/{'p' * 1_900}"))


_KEYS = st.sampled_from(
    [
        "type",
        "enum",
        "oneOf",
        "anyOf",
        "items",
        "default",
        "title",
        "format",
        "minimum",
        "maxLength",
    ]
) | st.text(max_size=4)
_PARTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=10)
@given(st.dictionaries(st.text(max_size=5), _PARTS, max_size=4), st.data())
def test_no_schema_breaks_the_form(properties: dict[str, Any], data: st.DataObject) -> None:
    """A server may send anything: it is refused, or becomes a form that Slack takes."""
    try:
        asked = Form.of({"properties": properties, "required": data.draw(st.lists(st.text()))})
    except FormError:
        return
    drawn(Question(server="town", message="?", form=asked))


_BOUND = st.none() | st.integers(-9, 9) | st.floats(-9, 9) | st.just(5_000)
_KIND = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["string", "integer", "number", "boolean", "array"]),
        "items": st.just({"enum": ["x", "y"]}),
        "default": st.sampled_from([[], ["x"], "", "x", "mailto:x", 0, -3, 1e-9, 1e300, True]),
    },
    optional={
        "format": st.sampled_from(["uri", "email", "date"]),
        "enum": st.lists(st.sampled_from("xyz"), min_size=1, max_size=3),
        **dict.fromkeys(
            ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"), _BOUND
        ),
    },
)


@settings(max_examples=40)
@given(_KIND)
def test_whatever_a_field_allows_can_be_filled_in(part: dict[str, Any]) -> None:
    """(22.10) Slack takes bounds that contradict each other, and defaults that are empty or odd, for
    a mistake of ours: nobody could answer. What is filled in already is the server's own value."""
    try:
        field = form(a=part).fields[0]
    except FormError:
        return
    modal = drawn(Question(server="town", message="?", form=Form(fields=(field,))))
    shown = modal["blocks"][1]["element"].get("initial_value")
    if field.kind in (FieldKind.NUMBER, FieldKind.INTEGER) and shown is not None:
        assert float(shown) == part["default"]


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://pay.example.com/x?y=1", "pay.example.com"),
        ("https://pay.example.com:8443/x", "pay.example.com:8443"),
        ("https://PAY.example.com", "pay.example.com"),
        ("https://xn--pypal-4ve.com/", "xn--pypal-4ve.com"),
    ],
)
def test_the_host_of_a_page_is_shown_whole(url: str, host: str) -> None:
    """In letters that cannot be taken for others."""
    assert Question(server="town", message="", url=page_address(url)).host == host


@pytest.mark.parametrize(
    "url",
    [
        "http://pay.example.com",
        "https://good.example.com@evil.example",
        "https://pay.example.com\\@evil.example",
        "https://127.0.0.1/x",
        "https://[::1]/x",
        "https://2130706433/",
        "https://0x7f.1/",
        "https://localhost/",
        "https://metadata.google.internal/",
        "https://printer.local/",
        "https://раypal.com/",
        "javascript:alert(1)",
        "https://pay.example.com/\u202egnp.exe",
        "https://pay.example.com/ x",
        "https://pay.example.com:99999/",
        f"https://pay.example.com/{'x' * 2_000}",
        "",
    ],
)
def test_an_address_that_misleads_is_refused(url: str) -> None:
    """S13: names in front of the host, machines in the network, letters that look like others."""
    with pytest.raises(FormError):
        page_address(url)


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        (["n"], None),
        (["y", "", "", "", "", "", "4", "", "y", "A!", "x", "Hi"], "4"),
        (["y", "A", *[""] * 10, "Ben", *[""] * 10], "again"),
    ],
)
async def test_a_question_at_the_terminal(
    lines: list[str], answer: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line for each field, empty for what is filled in already; what does not fit is asked again."""
    left, prompts = iter(lines), list[str]()

    async def typed(prompt: str) -> str:
        prompts.append(prompt)
        return next(left)

    asked = approval(Question(server="town", message="Who\x1b[2J are you?", form=EVERY))
    decision = await answer_question(asked, typed)
    assert "\x1b" not in "".join((*prompts, capsys.readouterr().err))
    assert next(left, None) is None
    if answer is None:
        assert not decision.allows
    elif answer == "4":
        assert decision.answer == {
            "name": "Ada",
            "day": "2026-12-01",
            "size": 4,
            "sure": True,
            "kind": "a",
            "more": ["x"],
            "note": "Hi",
        }
    else:
        assert decision.answer
        assert decision.answer["name"] == "Ben"


def test_a_yes_or_no_takes_one_press() -> None:
    """Going on without an answer is no "no"; where nothing is to be filled in, no is a refusal. A
    button that the card does not have answers nothing (S3)."""
    yes_no = approval(Question(server="town", message="?", form=form(a={"type": "boolean"})))
    assert pressed_answer(yes_no, ANSWER_YES) == {"a": True}
    assert pressed_answer(yes_no, ANSWER_NO) == {"a": False}
    assert pressed_answer(yes_no, DECLINE_INPUT) is None
    assert pressed_answer(approval(Question(server="town", message="?")), ANSWER_YES) == {}
    for other in (
        Question(server="town", message="?", form=EVERY),
        Question(server="town", message="?", url="https://pay.example.com"),
    ):
        with pytest.raises(MalformedPayload):
            pressed_answer(approval(other), ANSWER_YES)


def test_a_page_is_opened_from_a_modal_that_names_its_host() -> None:
    """The card has no link to press by accident; the modal says where it leads and who named it."""
    asked = Question(server="town", message="Pay <!channel>", url="https://pay.example.com/f?p=1")
    card = str(input_part(ApprovalRecord(approval(asked))).blocks)
    assert "The page is on pay.example.com" in card
    assert asked.url not in card
    modal = drawn(asked)
    assert "You go to pay.example.com. The server town named this page" in str(modal)
    [link] = [b["elements"][0] for b in modal["blocks"] if b["type"] == "actions"]
    assert (link["action_id"], link["url"]) == (VISIT_PAGE, asked.url)


@pytest.mark.parametrize(
    ("decision", "result"),
    [
        ({"verdict": "approved", "by": "U1", "answer": {"a": 1}}, ("accept", {"a": 1})),
        ({"verdict": "denied", "by": "U1"}, ("decline", None)),
        ({"verdict": "denied", "comment": "the question was edited"}, ("cancel", None)),
        ({"verdict": "expired"}, ("cancel", None)),
        ({"verdict": "withdrawn"}, ("cancel", None)),
    ],
)
def test_a_server_learns_whether_a_person_refused(
    decision: dict[str, Any], result: tuple[str, Any]
) -> None:
    """A refusal is one only if a person pressed it."""
    sent = answer_of(Decision.model_validate(decision), Question(server="town", message="?"))
    assert (sent.action, sent.content) == result
