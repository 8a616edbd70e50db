"""Any outcome as the messages of its terminal: the one entrance to what is in this folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from bot.core.answers import (
    RESPONSE_TYPES,
    ActionItems,
    Answer,
    Chart,
    DraftReply,
    Result,
    ThreadSummary,
    stored_name,
)
from bot.core.outcome import Outcome, Rehearsal, RunStatus
from bot.core.request import Request
from bot.core.text.redaction import each_text
from bot.slack.incoming.text import clean, one_line
from bot.slack.render import words
from bot.slack.render.action_items import action_pieces
from bot.slack.render.answer import answer_pieces
from bot.slack.render.arguments import CHANNEL
from bot.slack.render.buttons import (
    again_buttons,
    feedback_buttons,
    follow_up_buttons,
    raise_buttons,
    retry_button,
)
from bot.slack.render.data import data_pieces
from bot.slack.render.draft_reply import draft_pieces
from bot.slack.render.footer import footer
from bot.slack.render.links import LinkGate, escape_mrkdwn
from bot.slack.render.markdown import safe_text
from bot.slack.render.parts import (
    PART_SIZE,
    Block,
    Drawn,
    Part,
    Piece,
    Rendered,
    Upload,
    context,
    joined,
    markdown_pieces,
    packed,
)
from bot.slack.render.sections import listed, titled
from bot.slack.render.thread_summary import summary_pieces

MAX_PARTS = 4
DOCUMENT = "answer.md"

_FEW_WORDS = 5
_QUESTION_MARKS = "?？؟"
_ONE_LINE = 160  # characters

Renderer = Callable[[Any, Outcome, LinkGate, str], Drawn]
"""Takes an instance of the response type it is registered for, and last the reader's locale."""

RENDERERS: dict[type[Result], Renderer] = {
    Answer: answer_pieces,
    ThreadSummary: summary_pieces,
    ActionItems: action_pieces,
    DraftReply: draft_pieces,
}
"""How each response type is drawn. One without an entry is shown as the data it is."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around a result: above it, and below it."""

    above: list[Piece]
    below: list[Piece]


def render(outcome: Outcome, request: Request, *, size: int = PART_SIZE) -> Rendered:
    """The terminal of a run; `size` is how much goes into one message, in characters."""
    outcome = _cleaned(outcome)
    frame = _frame(outcome, request, LinkGate(outcome.links))
    if request.private:  # nobody sees the question: neither who asked it, after a while
        frame.above.insert(0, context(words.ASKED_ALONE.format(question=_question(request))))
    if request.late:
        frame.above.insert(0, context(words.LATE))
    return _framed(frame, outcome, request, size)


def render_shared(outcome: Outcome, request: Request) -> Rendered:
    """An answer that one person saw alone, as that person shows it to all in its thread: without
    buttons, which would ask on in private."""
    outcome = _cleaned(outcome)
    frame = _frame(outcome, request, LinkGate(outcome.links))
    question = _question(request)
    shared, plain = (
        words.SHARED_BY.format(person=person, question=question)
        for person in (f"<@{request.user}>", request.author)
    )
    frame.above.insert(0, context(shared, plain))
    foot = frame.below[-1:]
    return _framed(Frame(frame.above, foot), outcome, request, PART_SIZE)


def _question(request: Request) -> str:
    return LinkGate().mrkdwn(one_line(request.text))


def _framed(frame: Frame, outcome: Outcome, request: Request, size: int) -> Rendered:
    pieces, uploads = _result(outcome, LinkGate(outcome.links), request.locale)
    parts = packed([*frame.above, *pieces, *frame.below], size)
    document = "\n\n".join(part.plain for part in parts)
    if len(parts) > MAX_PARTS:
        parts, attached = _with_document(frame, pieces, document, size)
        uploads = [attached, *uploads]
    return Rendered(parts, uploads, document)


def _cleaned(outcome: Outcome) -> Outcome:
    """What a model or a tool wrote may hold anything; nothing unseen is passed on."""
    charts = {
        handle: Chart.model_validate(each_text(chart.model_dump(), clean))
        for handle, chart in outcome.charts.items()
    }
    changes = {
        "result": each_text(outcome.result, clean),
        "note": clean(outcome.note),
        "found": tuple(map(clean, outcome.found)),
        "draft": clean(outcome.draft),
        "called_off": tuple(map(clean, outcome.called_off)),
        "charts": charts,
        "rehearsed": tuple(map(_cleaned_call, outcome.rehearsed)),
    }
    return outcome.model_copy(update=changes)


def _cleaned_call(call: Rehearsal) -> Rehearsal:
    changes = {"title": clean(call.title), "arguments": each_text(call.arguments, clean)}
    return call.model_copy(update=changes)


def _with_document(
    frame: Frame, pieces: list[Piece], document: str, size: int
) -> tuple[list[Part], Upload]:
    """The beginning of the answer, with all of it in a file."""
    note = joined([words.FILE_INSTEAD.format(name=DOCUMENT)])
    first = packed([*frame.above, *pieces], size - 500)[0]
    kept = [Piece(block, "") for block in first.blocks]
    shown = packed([*kept, *note, *frame.below], size)
    whole = Part(shown[0].blocks, f"{first.plain}\n\n{note[0].plain}")
    return [whole, *shown[1:]], Upload(DOCUMENT, document.encode("utf-8", errors="replace"))


def _frame(outcome: Outcome, request: Request, gate: LinkGate) -> Frame:
    note = gate.mrkdwn(outcome.note)
    foot = context(" · ".join([footer(outcome.totals, request.locale), *outcome.warnings]))
    raising = [_bare(raise_buttons(outcome.over))] if outcome.over else []
    below = [*_rehearsed(outcome, gate), *_answer_buttons(outcome, request), *raising, foot]
    match outcome.status:
        case RunStatus.SUCCESS:
            remark = [context(note)] if note else []
            return Frame([*_occasion(request), *remark], below)
        case RunStatus.PARTIAL:
            return Frame([context(f":warning: {note or words.PARTIAL}")], below)
        case RunStatus.CANCELLED:
            found = _found(outcome, gate)
            lead = _lead(outcome, gate)
            plain = f"{note or words.STOPPED} {lead}"
            if outcome.stopped_by not in ("", request.user):
                note = words.STOPPED_BY.format(person=outcome.stopped_by)
            stopped = context(f":black_square_for_stop: {note or words.STOPPED} {lead}", plain)
            return Frame([stopped, *found], [_bare(retry_button(request.id)), foot])
        case RunStatus.FAILED:
            sentence = markdown_pieces(outcome.note, gate) or joined([words.FAILED])
            left_out = _rehearsed(outcome, gate)
            return Frame(sentence, [*left_out, _bare(retry_button(request.id)), *raising, foot])


def _occasion(request: Request) -> list[Piece]:
    """Why there is another answer; where several people read along, for whom."""
    if request.replaces:
        return [context(words.REVISED)]
    alone = request.private or request.channel.startswith("D")
    if request.again is None or alone or request.again not in words.ANSWERED_AGAIN:
        return []
    person = escape_mrkdwn(request.author)
    return [context(words.ANSWERED_AGAIN[request.again].format(person=person))]


def _lead(outcome: Outcome, gate: LinkGate) -> str:
    """What is not done any more, and what follows."""
    off = "; ".join(CHANNEL.sub(r"<#\1>", gate.mrkdwn(title)) for title in outcome.called_off)
    said = [words.CALLED_OFF.format(titles=off)] if off else []
    if outcome.result or outcome.found or outcome.draft:
        return " ".join([*said, words.FOUND_SO_FAR])
    return " ".join(said) or words.NOTHING_FOUND_YET


def _found(outcome: Outcome, gate: LinkGate) -> list[Piece]:
    """What a run that was stopped had found, and what it had begun to write."""
    steps = listed([safe_text(step, gate) for step in outcome.found])
    return [*steps, *titled(words.ANSWER_BEGUN, markdown_pieces(outcome.draft, gate))]


def _rehearsed(outcome: Outcome, gate: LinkGate) -> list[Piece]:
    """What a dry run left out, with its arguments."""
    lines = [
        f"{each.title}: {each.tool} {json.dumps(each.arguments, ensure_ascii=False)}"
        for each in outcome.rehearsed
    ]
    return titled(words.REHEARSED, listed([safe_text(line, gate) for line in lines]))


def _answer_buttons(outcome: Outcome, request: Request) -> list[Piece]:
    if not outcome.result:
        return [_bare(retry_button(request.id))]
    asked = outcome.result.get("follow_ups") if outcome.response_type in RESPONSE_TYPES else None
    questions = [q for q in asked if isinstance(q, str)] if isinstance(asked, list) else []
    follow_ups = follow_up_buttons(questions, thread=request.thread, private=request.private)
    small_talk = _is_small_talk(outcome, request)
    is_draft = outcome.response_type == stored_name(DraftReply)  # to be posted by the person
    again = again_buttons(
        request.id,
        again=outcome.response_type in RESPONSE_TYPES and not (outcome.changed or small_talk),
        share=request.private and not is_draft,
    )
    blocks = (follow_ups, again, None if small_talk else feedback_buttons(outcome.run_id))
    return [_bare(block) for block in blocks if block]


def _is_small_talk(outcome: Outcome, request: Request) -> bool:
    """As "Thanks!" and "You are welcome": a few words that ask nothing, and a line for which nothing
    was looked up. There is nothing in it to work out anew or to judge."""
    asks = any(mark in request.text for mark in _QUESTION_MARKS)
    said_little = len(request.text.split()) <= _FEW_WORDS and not asks
    whole = outcome.status is RunStatus.SUCCESS and outcome.response_type == stored_name(Answer)
    if not (said_little and whole) or outcome.totals.tool_calls:
        return False
    beside = {Answer.text_field, "follow_ups", "confidence"}
    parts = [part for name, part in (outcome.result or {}).items() if name not in beside]
    line = str((outcome.result or {}).get(Answer.text_field))
    return len(line) <= _ONE_LINE and "\n" not in line and not any(parts)


def _result(outcome: Outcome, gate: LinkGate, locale: str) -> Drawn:
    if outcome.result is None:
        return [], []
    model = RESPONSE_TYPES.get(outcome.response_type)
    if model is None:
        return data_pieces(outcome.result, locale)
    try:
        result = model.model_validate(outcome.result)
    except ValidationError:
        # A record from another version: what it holds is shown rather than lost.
        return data_pieces(outcome.result, locale)
    return RENDERERS[model](result, outcome, gate, locale)


def _bare(block: Block) -> Piece:
    return Piece(block, "")
