"""The locale in which an answer is written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from babel import Locale

from bot.core.outcome import Outcome
from bot.core.request import Request
from bot.text.languages import locale_for
from bot.text.locales import locale_of

_OF_OTHERS = frozenset(
    {"sources", "charts", "participants", "confidence", "columns", "rows", "url", "handle", "quote"}
)
"""Fields of results that others worded, or nobody."""


def answer_locale(request: Request, result: Any = None) -> Locale | None:
    """Return the locale of the answer's numbers; None where the caller's own schema wants plain ones.

    It is that of the `result` (JSON), as far as it is written.
    """
    if request.response_schema is not None:
        return None
    return locale_of(locale_of_result(request, result))


def locale_of_result(request: Request, result: Any, draft: str = "") -> str:
    """Return the locale of the message with a result (JSON), or with what is there of it: that of its
    own words if their language is plain, else that of the question."""
    words = "\n".join(_texts(result)) or draft
    return locale_for((words,), reader=request.spoken_locale)


def locale_of_message(outcome: Outcome, request: Request) -> str:
    """Return the locale of the message with an outcome; earlier versions stored none."""
    return outcome.locale or locale_of_result(request, outcome.result, outcome.draft)


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for part in value:
                yield from _texts(part)
        case dict():
            for name, part in value.items():
                if name not in _OF_OTHERS:
                    yield from _texts(part)
        case _:
            pass
