"""Rendering of any outcome as its final messages: the entry point of this package."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from bot.core.answers import (
    RESPONSE_TYPES,
    ActionItems,
    Answer,
    DraftReply,
    Notice,
    Result,
    ThreadSummary,
    stored_name,
)
from bot.core.outcome import Outcome, RunStatus
from bot.core.request import Request
from bot.runs.context.answer_locale import locale_of_message
from bot.runs.results.result_trust import trust_in, with_trust
from bot.slack.edge.text import clean, one_line
from bot.slack.ui import words
from bot.slack.ui.arguments import CHANNEL
from bot.slack.ui.blocks import Block, actions
from bot.slack.ui.buttons import (
    AnswerButton,
    answer_buttons,
    follow_up_buttons,
    raise_buttons,
    retry_buttons,
)
from bot.slack.ui.drafts import posted_draft
from bot.slack.ui.links import LinkGate, escape_mrkdwn
from bot.slack.ui.markdown import safe_text
from bot.slack.ui.parts import (
    PART_SIZE,
    Part,
    Piece,
    Rendered,
    RenderedResult,
    Upload,
    context,
    joined,
    local_day,
    local_time,
    markdown_pieces,
    packed,
    universal_time,
)
from bot.slack.ui.results import (
    action_pieces,
    answer_pieces,
    data_pieces,
    draft_pieces,
    listed,
    summary_pieces,
    titled,
)
from bot.slack.ui.run_details import footer, has_details
from bot.text.translation import list_in_words, reader

MAX_PARTS = 4
DOCUMENT = "answer.md"

_ONE_LINE = 160  # characters

Renderer = Callable[[Any, Outcome, LinkGate, str], RenderedResult]
"""Render an instance of the registered response type; the last argument is the locale of the answer."""

RENDERERS: dict[type[Result], Renderer] = {
    Answer: answer_pieces,
    Notice: answer_pieces,
    ThreadSummary: summary_pieces,
    ActionItems: action_pieces,
    DraftReply: draft_pieces,
}
"""The renderer of each response type. Results of other types are shown as data."""


@dataclass(frozen=True, slots=True)
class Frame:
    """The pieces above and below a result; `trust` says how far to rely on it."""

    above: list[Piece]
    below: list[Piece]
    trust: list[Piece] = field(default_factory=list)


def render(
    outcome: Outcome,
    request: Request,
    buttons: Sequence[AnswerButton] = (),
    *,
    size: int = PART_SIZE,
) -> Rendered:
    """Return the final messages of a run, with at most about `size` characters each.

    They are in the language of the answer. `buttons` are those of features.
    """
    with reader(locale_of_message(outcome, request)):
        return _rendered(outcome, request, buttons, size)


def _rendered(
    outcome: Outcome, request: Request, buttons: Sequence[AnswerButton], size: int
) -> Rendered:
    outcome = _cleaned(with_trust(outcome))
    frame = _frame(outcome, request, LinkGate(outcome.links), buttons)
    # The question is not in the thread, and even the asker forgets it.
    if request.private and not _is_draft(outcome):
        frame.above.insert(0, context(words.ASKED_ALONE(question=_question(request))))
    frame.above[:0] = _scheduled(request)
    if request.is_by_rule:
        frame.below.append(context(words.BY_RULE(person=escape_mrkdwn(request.author))))
    if request.late:
        frame.above.insert(0, context(words.LATE()))
    return _framed(frame, outcome, request, size)


def scheduled_line(
    user: str, name: str, scheduled: datetime, due: datetime, text: str
) -> tuple[str, Piece]:
    """Return the line that says who scheduled a question, when, and for which time.

    Also return it as mrkdwn, which mentions its person.
    """
    made, at = int(scheduled.timestamp()), int(due.timestamp())
    line = words.SCHEDULED_BY(
        person=f"<@{user}>",
        day=local_day(made),
        when=local_time(at),
        question=LinkGate().mrkdwn(one_line(text)),
    )
    plain = words.SCHEDULED_BY(
        person=name,
        day=universal_time(made)[:10],
        when=universal_time(at),
        question=one_line(text),
    )
    return line, context(line, plain)


def _scheduled(request: Request) -> list[Piece]:
    if request.scheduled is None or request.due is None:
        return []
    _, line = scheduled_line(
        request.user, request.author, request.scheduled, request.due, request.text
    )
    return [line]


def below_schedule(part: Part, request: Request) -> Part:
    """Return the message of a run that goes on, below the line of the schedule that asked, if any."""
    lines = [piece.block for piece in _scheduled(request)]
    return Part([*lines, *part.blocks], part.plain) if lines else part


def render_shared(outcome: Outcome, request: Request) -> Rendered:
    """Return a private answer as its asker shares it in the thread.

    It has no buttons, because they would continue the private conversation.
    """
    with reader(locale_of_message(outcome, request)):
        return _rendered_shared(outcome, request)


def _rendered_shared(outcome: Outcome, request: Request) -> Rendered:
    outcome = _cleaned(with_trust(outcome))
    request = request.model_copy(update={"private": False})
    frame = _frame(outcome, request, LinkGate(outcome.links))
    question = _question(request)
    shared, plain = (
        words.SHARED_BY(person=person, question=question)
        for person in (f"<@{request.user}>", request.author)
    )
    frame.above.insert(0, context(shared, plain))
    foot = frame.below[-1:]
    return _framed(Frame(frame.above, foot, frame.trust), outcome, request, PART_SIZE)


def render_draft(outcome: Outcome, request: Request) -> list[Part]:
    """Return a draft as its asker has it posted: what they were shown, and who had it posted."""
    outcome = _cleaned(outcome)
    reply = DraftReply.model_validate(outcome.result)
    gate = LinkGate(outcome.links, request.mentioned)
    by = context(words.ASKED_BY(person=request.user))
    return packed([*posted_draft(reply.draft, gate), by])


def _question(request: Request) -> str:
    return LinkGate().mrkdwn(one_line(request.text))


def _framed(frame: Frame, outcome: Outcome, request: Request, size: int) -> Rendered:
    locale = locale_of_message(outcome, request)
    pieces, uploads = _result(outcome, LinkGate(outcome.links), locale)
    parts = packed([*frame.above, *pieces, *frame.trust, *frame.below], size)
    document = "\n\n".join(part.plain for part in parts)
    if len(parts) > MAX_PARTS:
        parts, attached = _with_document(frame, pieces, document, size)
        uploads = [attached, *uploads]
    return Rendered(parts, uploads, document)


def _cleaned(outcome: Outcome) -> Outcome:
    """Remove invisible characters from all texts that a model or a tool wrote."""
    links = outcome.links  # compared with addresses, and posted exactly as they were given
    return outcome.map_texts(clean).model_copy(update={"links": links})


def _with_document(
    frame: Frame, pieces: list[Piece], document: str, size: int
) -> tuple[list[Part], Upload]:
    """Return the beginning of the answer, and the whole of it as a file."""
    note = joined([words.FILE_INSTEAD(name=DOCUMENT)])
    first = packed([*frame.above, *pieces], size - 500)[0]
    kept = [Piece(block, "") for block in first.blocks]
    parts = packed([*kept, *note, *frame.trust, *frame.below], size)
    whole = Part(parts[0].blocks, f"{first.plain}\n\n{note[0].plain}")
    return [whole, *parts[1:]], Upload(DOCUMENT, document.encode("utf-8", errors="replace"))


def _frame(
    outcome: Outcome, request: Request, gate: LinkGate, of_features: Sequence[AnswerButton] = ()
) -> Frame:
    note = gate.mrkdwn(outcome.note)
    facts = (footer(outcome.totals), _accounts(outcome, request))
    foot = context(" · ".join([*filter(None, facts), *outcome.warnings]))
    # Above Retry: a retry is refused as well until somebody raises the budget.
    raising = [_bare(raise_buttons(outcome.over))] if outcome.over else []
    again = retry_buttons(request.id, has_details=has_details(outcome.totals))
    retry = [*raising, _bare(again)]
    buttons = (
        [*raising, *_answer_buttons(outcome, request, of_features)] if outcome.result else retry
    )
    below = [*_dry_run_calls(outcome, gate), *buttons, foot]
    trust = _trust(outcome, gate)
    match outcome.status:
        case RunStatus.SUCCESS:
            remark = [context(note)] if note else []
            return Frame([*_reason_for_repeat(request), *remark], below, trust)
        case RunStatus.PARTIAL:
            warning = context(f":warning: {note or words.PARTIAL()}")
            return Frame([*_reason_for_repeat(request), warning], below, trust)
        case RunStatus.CANCELLED:
            partial = _partial_results(outcome, gate)
            lead = _lead(outcome, gate)
            plain = f"{note or words.STOPPED()} {lead}"
            if outcome.stopped_by not in ("", request.user):
                note = words.STOPPED_BY(person=outcome.stopped_by)
            stopped = context(f":black_square_for_stop: {note or words.STOPPED()} {lead}", plain)
            return Frame([stopped, *partial], [*retry, foot], trust)
        case RunStatus.FAILED:
            sentence = markdown_pieces(outcome.note, gate) or joined([words.FAILED()])
            left_out = _dry_run_calls(outcome, gate)
            return Frame([*_reason_for_repeat(request), *sentence], [*left_out, *retry, foot])


def _trust(outcome: Outcome, gate: LinkGate) -> list[Piece]:
    """Return the one line that says how far to rely on the result, if any."""
    trust = trust_in(outcome)
    sentences = [*trust.warnings, *([trust.line] if trust.line else [])]
    if not sentences:
        return []
    sign = ":warning: " if trust.warnings else ""
    line = sign + " ".join(gate.mrkdwn(sentence) for sentence in sentences)
    return [context(line, " ".join(safe_text(sentence, gate) for sentence in sentences))]


def _accounts(outcome: Outcome, request: Request) -> str:
    """Say whose accounts were used, "" if none."""
    if not outcome.accounts:
        return ""
    names = escape_mrkdwn(list_in_words([clean(account) for account in outcome.accounts]))
    if request.is_for_one:
        return words.YOUR_ACCOUNTS(accounts=names)
    return words.OWN_ACCOUNTS(person=escape_mrkdwn(request.author), accounts=names)


def _reason_for_repeat(request: Request) -> list[Piece]:
    """Say why there is another answer, and for whom if several people read the thread."""
    if request.replaces:
        return [context(words.REVISED())]
    alone = request.private or request.channel.startswith("D")
    if request.again is None or alone or request.again not in words.ANSWERED_AGAIN:
        return []
    person = escape_mrkdwn(request.author)
    return [context(words.ANSWERED_AGAIN[request.again](person=person))]


def _lead(outcome: Outcome, gate: LinkGate) -> str:
    """Say what a stopped run will not do, and introduce what it had found."""
    off = "; ".join(CHANNEL.sub(r"<#\1>", gate.mrkdwn(title)) for title in outcome.called_off)
    sentences = [words.CALLED_OFF(titles=off)] if off else []
    if outcome.result or outcome.found or outcome.draft:
        return " ".join([*sentences, words.FOUND_SO_FAR()])
    return " ".join(sentences) or words.NOTHING_FOUND_YET()


def _partial_results(outcome: Outcome, gate: LinkGate) -> list[Piece]:
    """Return the results and the draft of a stopped run."""
    steps = listed([safe_text(step, gate) for step in outcome.found])
    return [*steps, *titled(words.ANSWER_BEGUN(), markdown_pieces(outcome.draft, gate))]


def _dry_run_calls(outcome: Outcome, gate: LinkGate) -> list[Piece]:
    """Return the calls that a dry run left out, with their arguments."""
    lines = [
        f"{call.title}: {call.tool} {json.dumps(call.arguments, ensure_ascii=False)}"
        for call in outcome.rehearsed
    ]
    return titled(words.REHEARSED(), listed([safe_text(line, gate) for line in lines]))


def _answer_buttons(
    outcome: Outcome, request: Request, of_features: Sequence[AnswerButton]
) -> list[Piece]:
    known = outcome.response_type in RESPONSE_TYPES
    # From a direct message, the thread of the question is out of reach.
    questions = [] if request.kept_private else _follow_ups(outcome)
    is_line, is_draft = _is_plain_line(outcome), _is_draft(outcome)
    follow_ups = follow_up_buttons(
        questions,
        thread=request.reply_to or "",
        private=request.private,
        response_type=stored_name(DraftReply if is_draft else Answer),
    )
    placed = defaultdict[str, list[Block]](list)
    for button in of_features:
        placed[button.place] += button.under(outcome, request)
    row = answer_buttons(
        request.id,
        [*placed["first"], *(follow_ups if is_draft else ())],
        placed["beside"],
        placed["menu"],
        again=known and not (outcome.changed or is_line or is_draft),
        has_details=has_details(outcome.totals) and not is_line,
    )
    above = actions(*follow_ups) if follow_ups and not is_draft else None
    return [_bare(block) for block in (above, row, *placed["below"]) if block]


def _is_draft(outcome: Outcome) -> bool:
    return outcome.result is not None and outcome.response_type == stored_name(DraftReply)


def _follow_ups(outcome: Outcome) -> list[str]:
    if _is_draft(outcome):
        return [words.SHORTER(), words.FRIENDLIER()]
    questions = (outcome.result or {}).get("follow_ups")
    is_listed = outcome.response_type in RESPONSE_TYPES and isinstance(questions, list)
    return (
        [question for question in questions if isinstance(question, str)]
        if is_listed and questions
        else []
    )


def _is_plain_line(outcome: Outcome) -> bool:
    """Return whether the answer is no more than a line of words, such as "You are welcome".

    Then nothing was looked up, and there is no figure to check: it has no row of buttons.
    """
    if outcome.status is not RunStatus.SUCCESS or outcome.response_type != stored_name(Answer):
        return False
    result = outcome.result or {}
    beside = {Answer.text_field, "confidence"}
    line = str(result.get(Answer.text_field))
    is_bare = not (
        outcome.totals.tool_calls or any(result[name] for name in result.keys() - beside)
    )
    has_figure = any(map(str.isdigit, line))
    return is_bare and len(line) <= _ONE_LINE and "\n" not in line and not has_figure


def _result(outcome: Outcome, gate: LinkGate, locale: str) -> RenderedResult:
    if outcome.result is None:
        return [], []
    model = RESPONSE_TYPES.get(outcome.response_type)
    if model is None:
        return data_pieces(outcome.result)
    try:
        result = model.model_validate(outcome.result)
    except ValidationError:
        # The record is of another version. Show its data rather than lose it.
        return data_pieces(outcome.result)
    return RENDERERS[model](result, outcome, gate, locale)


def _bare(block: Block) -> Piece:
    return Piece(block, "")
