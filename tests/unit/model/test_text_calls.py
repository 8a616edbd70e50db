"""Thoughts and calls that a model server leaves in the text of a reply."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent.builtin.complete_task import announces_work
from bot.core.chain import NO_USAGE
from bot.model.text_calls import StreamedText, TextCall, parts_of, understood
from bot.model.types import ModelResponse

OFFERED = {"calculate", "read_file", "complete_task"}
ARGUMENTS = {"expression": "6*7"}
JSON = json.dumps(ARGUMENTS)
CALL = json.dumps({"name": "calculate", "arguments": ARGUMENTS})
CALLS = {
    "hermes": f"<tool_call>\n{CALL}\n</tool_call>",
    "hermes, not closed": f"<tool_call>\n{CALL}",
    "after words": f"I will look at that.\n<tool_call>\n{CALL}\n</tool_call>",
    "after a thought": f"<think>Hm, six times seven.</think>\n<tool_call>{CALL}</tool_call>",
    "qwen coder": "<tool_call>\n<function=calculate>\n<parameter=expression>\n6*7\n</parameter>\n</function>\n</tool_call>",
    "llama": f"<function=calculate>{JSON}</function>",
    "llama, python tag": '<|python_tag|>{"name": "calculate", "parameters": {"expression": "6*7"}}',
    "mistral": f"[TOOL_CALLS] [{CALL}]",
    "mistral, new": f"[TOOL_CALLS]calculate[ARGS]{JSON}",
    "kimi": f"<|tool_calls_section_begin|><|tool_call_begin|>functions.calculate:0<|tool_call_argument_begin|>{JSON}<|tool_call_end|>",
    "deepseek": f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>calculate\n```json\n{JSON}\n```<｜tool▁call▁end｜>",
    "anthropic": '<function_calls><invoke name="calculate"><parameter name="expression">6*7</parameter></invoke></function_calls>',
    "bare": CALL,
    "parameters": json.dumps({"name": "calculate", "parameters": ARGUMENTS}),
    "arguments as text": json.dumps({"name": "calculate", "arguments": JSON}),
    "as the API has it": json.dumps({"type": "function", "function": {"name": "calculate", "arguments": JSON}}),
    "a list": f"[{CALL}]",
    "in an object": json.dumps({"tool_calls": [{"function": {"name": "calculate", "arguments": ARGUMENTS}}]}),
    "fenced": f"```json\n{CALL}\n```",
    "fenced with tildes": f"~~~json\n{CALL}\n~~~",
    "fenced after words": f"Let me calculate.\n\n```json\n{CALL}\n```",
    "python": 'calculate(expression="6*7")',
    "python, a list": '[calculate(expression="6*7")]',
    "harmony": f"<|channel|>analysis<|message|>Six times seven.<|end|><|start|>assistant<|channel|>commentary to=functions.calculate <|constrain|>json<|message|>{JSON}<|call|>",
}  # fmt: skip


@pytest.mark.parametrize("kind", CALLS)
def test_a_call_in_text_is_a_call(kind: str) -> None:
    """C4: in the formats of models whose server does not parse them."""
    read = parts_of(CALLS[kind], OFFERED)
    assert [(call.name, json.loads(call.arguments)) for call in read.calls] == [
        ("calculate", ARGUMENTS)
    ]
    assert not read.words


@pytest.mark.parametrize("kind", CALLS)
def test_nobody_reads_a_call_or_a_thought_while_it_arrives(kind: str) -> None:
    """C4 I4: at most the words before it."""
    for size in (1, 3, 1_000):
        stream, text = StreamedText(), CALLS[kind]
        shown = "".join(stream.more(text[n : n + size]) for n in range(0, len(text), size))
        assert shown.strip() in ("", "I will look at that.", "Let me calculate.\n\n```json") or (
            kind in ("python", "python, a list", "fenced after words")
        )
        assert "<" not in shown


def test_several_calls_and_a_result_are_read() -> None:
    """C4: a result in any wrapping is the result."""
    both = f"<tool_call>{CALL}</tool_call><tool_call>{CALL.replace('6*7', '1')}</tool_call>"
    assert len(parts_of(both, OFFERED).calls) == 2
    done = json.dumps({"name": "complete_task", "arguments": {"summary": "Two."}})
    assert parts_of(done, OFFERED).calls == (TextCall("complete_task", '{"summary": "Two."}'),)


UNREADABLE = (
    "<tool_call>\nsomething odd\n</tool_call>",
    '{"name": "no_such_tool", "arguments": {}}',
    "<tool_call>" + '{"name": "calculate", "argum',
    '[TOOL_CALLS] [{"name": "launch", "arguments": {}}]',
    "<function=",
)


@pytest.mark.parametrize("text", UNREADABLE)
def test_what_looks_like_a_call_is_no_answer(text: str) -> None:
    """C4: what cannot be read, and what names no offered tool."""
    read = parts_of(text, OFFERED)
    assert read.is_unreadable
    assert not read.calls


ANSWERS = (
    "Two.",
    "Use `calculate(expression)` for that; 2 < 3.",
    'The file holds {"name": "Ada", "arguments": "none"} and more.',
    '{"summary": "Two.", "key_points": []}',
    "A list: [1, 2] (see below)",
    "Generics are written List<Tool>; a <function> element does not exist… (really)",
    "```python\nprint('hello')\n```",
)


@pytest.mark.parametrize("text", [*ANSWERS[:5], ANSWERS[6]])
def test_an_answer_stays_as_it_is(text: str) -> None:
    """C4: no words are lost where nothing is a call."""
    assert parts_of(text, OFFERED).words == text
    stream = StreamedText()
    shown = "".join(stream.more(letter) for letter in text)
    assert text.startswith(shown) or shown == ""


THOUGHTS = (
    "<think>Hm.</think>\n\nTwo.",
    "<thinking>\nHm.\n</thinking>Two.",
    "<think></think><think>Again.</think>Two.",
    "[THINK]Hm.[/THINK]Two.",
    "The template opened it.</think>\nTwo.",
    "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Two.<|return|>",
)


@pytest.mark.parametrize("text", THOUGHTS)
def test_thoughts_are_dropped(text: str) -> None:
    """C4: before text counts as an answer."""
    assert parts_of(text, OFFERED).words == "Two."


def test_thoughts_do_not_stream() -> None:
    """I4: what follows them does."""
    for text in THOUGHTS[:4]:
        stream = StreamedText()
        assert "".join(stream.more(letter) for letter in text).strip() == "Two."


def test_a_thought_that_is_cut_is_no_answer() -> None:
    assert parts_of("<think>Hm, I wonder", OFFERED).words == ""


@given(
    st.text(alphabet=st.sampled_from("<>|[]{}()`/ abt\"'=,:\nTOLthinkcalfunr_｜▁"), max_size=200)
)
def test_any_text_is_read(text: str) -> None:
    """G3: whatever a server sends."""
    read = parts_of(text, OFFERED)
    assert all(call.name in OFFERED for call in read.calls)
    stream = StreamedText()
    assert text.startswith("".join(stream.more(letter) for letter in text)[:0])


def test_hostile_text_is_read_in_time() -> None:
    """C4: nothing in it is quadratic without bound."""
    began = time.process_time()
    for piece in (
        "<tool_call>",
        "{",
        '{"',
        "<think>",
        "<|channel|>",
        "```",
        "[TOOL_CALLS]",
        "<function=a>",
        "(",
        "a ",
    ):
        parts_of(piece * (100_000 // len(piece)), OFFERED)
        stream = StreamedText()
        for _ in range(2_000):
            stream.more(piece)
    assert time.process_time() - began < 8


def test_a_response_is_rewritten_and_says_so() -> None:
    """B2: the service's own copy has no such call, so that its chain cannot be continued with an
    output of it."""
    content = [{"type": "output_text", "text": CALLS["hermes"]}]
    item = {"type": "message", "role": "assistant", "content": content}
    response = ModelResponse("resp_1", (item,), NO_USAGE)
    made = understood(response, OFFERED)
    assert (made.rewritten, made.unreadable, made.text) == (True, False, "")
    assert [call["name"] for call in made.calls] == ["calculate"]


@pytest.mark.parametrize(
    "text",
    [
        "Let me check that for you.",
        "Sure! I'll look into the file now.",
        "Ich schaue mir das an.",
        "Einen Moment, bitte.",
        "Die Datei ist da. Jetzt schaue ich hinein.",
        "Je vais regarder cela.",
        "Voy a revisar el archivo.",
        "Vou verificar isso agora.",
        "確認しますので、少々お待ちください。",
    ],
)
def test_an_announcement_is_no_answer(text: str) -> None:
    """C4 (L8): in the six languages."""
    assert announces_work(text)


@pytest.mark.parametrize(
    "text",
    ["Paris.", "Let me know if 3 pm works.", "You're welcome!", "Gern geschehen.", "I'll be brief: 42.", "Which file do you mean?", "Let me explain?"],
)  # fmt: skip
def test_small_talk_is_an_answer(text: str) -> None:
    assert not announces_work(text)
