"""Questions of MCP servers at the terminal: one line for each field."""

from __future__ import annotations

import sys
from contextlib import suppress
from datetime import datetime

from bot.core.approvals import Approval, Decision, Verdict
from bot.features.server_questions.forms import AnswerError, FieldKind, FormField, Question
from bot.slack.ui.approval_kinds import TypedLine
from bot.text.invisible_text import escaped

_YES = ("y", "yes")
_TRUTH = {**dict.fromkeys(_YES, True), "n": False, "no": False}


async def answer_question(approval: Approval, typed_line: TypedLine) -> Decision:
    """Ask a server's question and return the decision.

    An answer that does not fit is asked again.
    """
    asked = Question.model_validate(approval.details)
    sys.stderr.write(f"\n{escaped(asked.server)} asks: {escaped(asked.message)}\n")
    prompt = "Answer? Never enter a password or key. [y/N] "
    if asked.url:
        prompt = f"Open this page: {escaped(asked.url)}\nAre you done there? [y/N] "
    if (await typed_line(prompt)).strip().lower() not in _YES:
        return Decision(verdict=Verdict.DENIED, by=approval.requester)
    while True:
        given = {field.name: await _typed(field, typed_line) for field in asked.form.fields}
        try:
            answer = asked.form.answer(given)
        except AnswerError as error:
            names = [field.label for field in asked.form.fields if field.name in error.fields]
            sys.stderr.write(f"This does not fit: {escaped(', '.join(names))}\n")
        else:
            return Decision(verdict=Verdict.APPROVED, by=approval.requester, answer=answer)


async def _typed(field: FormField, typed_line: TypedLine) -> object:
    """Return what is typed for a field; its default for an empty line."""
    label = f"{field.label} ({field.hint})" if field.hint else field.label
    choices = " / ".join(option.label for option in field.options)
    default = "" if field.default is None else f" [{field.default}]"
    kind = " [y/n]" if field.kind is FieldKind.YES_NO else f" ({choices})" if choices else ""
    typed = (await typed_line(f"{escaped(label)}{escaped(kind)}{escaped(default)}: ")).strip()
    if not typed:
        return [*field.default] if isinstance(field.default, tuple) else field.default
    values = {option.label.lower(): option.value for option in field.options}
    match field.kind:
        case FieldKind.YES_NO:
            return _TRUTH.get(typed.lower(), typed)
        case FieldKind.CHOICES:
            return [
                values.get(choice.strip().lower(), choice.strip()) for choice in typed.split(",")
            ]
        case FieldKind.MOMENT:
            with suppress(ValueError):
                return int(datetime.fromisoformat(typed).timestamp())
        case _:
            pass
    return values.get(typed.lower(), typed)
