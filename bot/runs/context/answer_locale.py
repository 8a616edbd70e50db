"""The locale in which an answer writes its numbers."""

from __future__ import annotations

import re

from babel import Locale

from bot.core.request import Request
from bot.text.locales import locale_of

_WORDS = {
    "en": "the and of is are was what how which many much did does to for with in",
    "de": "der die das und ist sind war wie was welche viele viel im mit von für hat wurde",
    "fr": "le la les et est sont quel quelle combien dans des du pour avec que qui",
    "es": "el los las y es son cuál cuánto cuántos qué en del para con por cómo",
    "pt": "o os as e é são qual quanto quantos que em do da para com não como",
}
_USUAL = {language: frozenset(words.split()) for language, words in _WORDS.items()}
_KANA = re.compile(r"[\u3040-\u30ff]")
_WORD = re.compile(r"[^\W\d_]+")
_LONGEST = 2_000


def answer_locale(request: Request) -> Locale | None:
    """Return the locale of the answer's numbers; None where the caller's own schema wants plain ones."""
    if request.response_schema is not None:
        return None
    return _language_of(request.text, request.locale)


def _language_of(question: str, locale: str) -> Locale:
    """Return the locale in which an answer to a question writes its numbers: the asker's, unless the
    question is plainly in another language."""
    own = locale_of(locale)
    if _KANA.search(question[:_LONGEST]):
        return own if own.language == "ja" else Locale("ja")
    words = [word.casefold() for word in _WORD.findall(question[:_LONGEST])]
    hits = {name: sum(word in usual for word in words) for name, usual in _USUAL.items()}
    best = max(hits, key=lambda name: (hits[name], name == own.language))
    if best == own.language or hits[best] < 2 or hits[best] <= hits.get(own.language, 0):
        return own
    return Locale("en", "US") if best == "en" else Locale(best)
