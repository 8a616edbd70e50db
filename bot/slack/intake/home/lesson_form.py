"""The modal in which an admin looks into an answer that was rated bad: what to learn from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.core.errors import MalformedPayload
from bot.core.ids import new_id
from bot.core.lessons import MAX_LINES, CaseRun, Lesson, LessonCase, Trial
from bot.slack.edge.client import Identity
from bot.slack.edge.text import clean, one_line
from bot.slack.ui import home_words, words
from bot.slack.ui.links import LinkGate
from bot.slack.ui.parts import Block, context, shortened, text_object

LESSON_FORM = "lesson_form"
SUGGEST, TRY_CASE, DISMISS = "suggest_lesson", "try_lesson_case", "dismiss_lesson"

QUESTION, MUST_SAY, MUST_NOT_SAY = "question", "must_say", "must_not_say"
INSTRUCTION = "instruction"
_MAX_QUESTION, _MAX_TEXT, _MAX_LINE = 3_000, 1_500, 300  # characters
_MAX_SAID, _MAX_COMMENT = 400, 600


class LessonTarget(BaseModel):
    """The lesson of a modal, stored in its metadata.

    `form` is part of the ids of its inputs: a new one makes Slack show new values in them.
    """

    model_config = ConfigDict(frozen=True)

    lesson: str
    form: str = ""


class Proposal(BaseModel):
    """What an admin made of a lesson: a case, and an instruction for the channel."""

    model_config = ConfigDict(frozen=True)

    case: LessonCase
    instruction: str


def lesson_form(lesson: Lesson, link: str, *, working: str = "") -> Block:
    """Return the modal, filled in with the proposals. `link` leads to the answer.

    While a job is under way, `working` says so, and there are no buttons that start another.
    """
    form = new_id("form", 6)
    case = lesson.case
    fields = [
        _text(QUESTION, form, case.question, _MAX_QUESTION),
        _text(MUST_SAY, form, "\n".join(case.must_say), _MAX_TEXT),
        _text(MUST_NOT_SAY, form, "\n".join(case.must_not_say), _MAX_TEXT),
        *([_text(INSTRUCTION, form, lesson.instruction, _MAX_TEXT)] if has_channel(lesson) else []),
    ]
    notes = [
        home_words.LESSON_PROBLEM.format(problem=_safe(lesson.problem)) if lesson.problem else "",
        home_words.LESSON_SUGGESTED(model=_safe(lesson.suggested_by))
        if lesson.suggested_by
        else "",
        working,
    ]
    return {
        "type": "modal",
        "callback_id": LESSON_FORM,
        "private_metadata": LessonTarget(lesson=lesson.name, form=form).model_dump_json(),
        "title": text_object(home_words.LESSON_TITLE()),
        "submit": text_object(home_words.LESSON_ACCEPT()),
        "close": text_object(words.CLOSE_ONLY()),
        "blocks": [
            _asked(lesson, link),
            *_comments(lesson),
            *(context(note).block for note in notes if note),
            *(_trial(lesson.trial) if lesson.trial else []),
            *fields,
            *([] if working else [_buttons()]),
            context(home_words.LESSON_NOTHING_YET()).block,
        ],
    }


def link_to(lesson: Lesson, identity: Identity) -> str:
    """Return the address of the answer."""
    return identity.message_link(lesson.channel, lesson.answer or lesson.thread, lesson.thread)


def has_channel(lesson: Lesson) -> bool:
    """Return whether the lesson is about a channel, which can have instructions."""
    return not lesson.channel.startswith("D")


def target_of(view: Mapping[str, Any]) -> LessonTarget:
    """Return the lesson of a modal. Raises MalformedPayload for metadata of another origin."""
    try:
        return LessonTarget.model_validate_json(view.get("private_metadata") or "")
    except ValidationError:
        raise MalformedPayload("a modal with metadata that is not ours") from None


def proposal_of(view: Mapping[str, Any]) -> Proposal:
    """Return the input of a modal, submitted or still open. Raises MalformedPayload."""
    form = target_of(view).form
    values = (view.get("state") or {}).get("values") or {}

    def typed(name: str) -> str:
        return clean(str((values.get(_block(name, form), {}).get(name) or {}).get("value") or ""))

    def lines(name: str) -> tuple[str, ...]:
        every = (each.strip()[:_MAX_LINE] for each in typed(name).splitlines())
        return tuple(filter(None, every))[:MAX_LINES]

    case = LessonCase(
        question=typed(QUESTION), must_say=lines(MUST_SAY), must_not_say=lines(MUST_NOT_SAY)
    )
    return Proposal(case=case, instruction=typed(INSTRUCTION)[:_MAX_TEXT])


def field_error(view: Mapping[str, Any], name: str, sentence: str) -> dict[str, str]:
    """Return the errors of a submission, shown at the field `name`."""
    return {_block(name, target_of(view).form): sentence}


def trial_line(trial: Trial) -> str:
    """Return the result of a trial in one line, as mrkdwn."""
    before, after = map(_verdict, (trial.before, trial.after))
    return home_words.LESSON_TRIED(before=before, after=after)


def _asked(lesson: Lesson, link: str) -> Block:
    """Return who asked what, as rich text: nothing in it becomes a link, a mention or a format."""
    elements: list[Block] = [_text_of(home_words.LESSON_ASKED_PRIVATE())]
    if not lesson.private:
        who: list[Block] = [{"type": "user", "user_id": lesson.asker}] if lesson.asker else []
        elements = [
            *who,
            _text_of(home_words.LESSON_ASKED() if who else home_words.LESSON_ASKED_IN()),
            {"type": "channel", "channel_id": lesson.channel},
            _text_of(" · "),
            {"type": "link", "url": link, "text": home_words.LESSON_ANSWER()},
        ]
    parts = [{"type": "rich_text_section", "elements": elements}]
    if lesson.question:
        parts.append(_quote(shortened(lesson.question, _MAX_COMMENT)))
    else:
        hidden = home_words.LESSON_NO_QUESTION()
        parts.append({"type": "rich_text_section", "elements": [_text_of(f"\n{hidden}")]})
    return {"type": "rich_text", "elements": parts}


def _comments(lesson: Lesson) -> list[Block]:
    parts: list[Block] = []
    for user, comment in lesson.comments.items():
        who = [{"type": "user", "user_id": user}, _text_of(home_words.LESSON_WRONG())]
        parts += [
            {"type": "rich_text_section", "elements": who},
            _quote(shortened(comment, _MAX_COMMENT)),
        ]
    return [{"type": "rich_text", "elements": parts}] if parts else []


def _trial(trial: Trial) -> list[Block]:
    """Return both runs of the case, each with the beginning of its answer."""
    runs = [(home_words.LESSON_BEFORE(), trial.before)]
    if trial.instruction:
        runs.append((home_words.LESSON_AFTER(), trial.after))
    parts: list[Block] = []
    for title, run in runs:
        label = {**_text_of(f"{title}: "), "style": {"bold": True}}
        result = _text_of("; ".join((_verdict(run), *run.reasons)))
        parts += [
            {"type": "rich_text_section", "elements": [label, result]},
            _quote(one_line(run.said, _MAX_SAID) or "…"),
        ]
    costs = [run.cost for _, run in runs]
    cost = "" if None in costs else f"${sum(each or 0.0 for each in costs):.4f}"
    notes = [context(home_words.LESSON_COST(cost=cost)).block] if cost else []
    return [{"type": "rich_text", "elements": parts}, *notes]


def _verdict(run: CaseRun) -> str:
    return home_words.LESSON_PASSES() if run.passed else home_words.LESSON_FAILS()


def _text(name: str, form: str, value: str, most: int) -> Block:
    field: Block = {
        "type": "plain_text_input",
        "action_id": name,
        "multiline": True,
        "max_length": most,
    }
    if value:
        field["initial_value"] = shortened(value, most)
    hint = home_words.LESSON_HINTS.get(name)
    return {
        "type": "input",
        "block_id": _block(name, form),
        "optional": True,
        "label": text_object(home_words.LESSON_FIELDS[name]()),
        "element": field,
        **({"hint": text_object(hint())} if hint else {}),
    }


def _block(name: str, form: str) -> str:
    return f"{name}-{form}"


def _buttons() -> Block:
    labels = {
        SUGGEST: home_words.LESSON_SUGGEST(),
        TRY_CASE: home_words.LESSON_TRY(),
        DISMISS: home_words.LESSON_DISMISS(),
    }
    return {
        "type": "actions",
        "elements": [
            {"type": "button", "action_id": action, "text": text_object(label), "value": action}
            for action, label in labels.items()
        ],
    }


def _quote(text: str) -> Block:
    return {"type": "rich_text_quote", "elements": [_text_of(text)]}


def _text_of(text: str) -> Block:
    return {"type": "text", "text": text}


def _safe(text: str) -> str:
    return LinkGate().mrkdwn(one_line(text, 400))
