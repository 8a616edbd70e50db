"""Other languages than English are not understood, which is said in them."""

from __future__ import annotations

import re

from ..findings import Findings
from ..view import View

_GERMAN = "hallo du dir geht der das und ist wie wer wo nicht ich bitte kannst zeige für viele wieviele eine danke fasse mit von auf sind noch offen gibt haben wir"
_FRENCH = "bonjour salut le la des une est quel quelle combien pour dans avec je vous ça beaucoup sont nous merci moi cette ces résume"
_SPANISH = "hola el los las una es qué cuál cuántos cómo por para con gracias puedes hay"
KNOWN = (
    (frozenset(_GERMAN.split()), "Ich bin nur der Platzhalter für ein Modell und verstehe wenig mehr als Englisch. Mit `OPENAI_API_KEY` antwortet ein richtiges Modell, auch auf Deutsch."),
    (frozenset(_FRENCH.split()), "Je ne suis que le remplaçant d'un modèle et ne comprends guère que l'anglais. Avec `OPENAI_API_KEY`, un vrai modèle répond, aussi en français."),
    (frozenset(_SPANISH.split()), "Solo soy el sustituto de un modelo y entiendo poco más que inglés. Con `OPENAI_API_KEY` responde un modelo de verdad, también en español."),
)  # fmt: skip
"""Common words that English has not, and what is said to them."""
GREETINGS = frozenset({"hallo", "bonjour", "salut", "hola"})
"""Words that are enough alone."""
KANA = re.compile(r"[\u3040-\u30ff]")
JAPANESE = "私はモデルの代役で、英語しか分かりません。`OPENAI_API_KEY` を設定すると、本物のモデルが日本語でも答えます。"


def is_asked(view: View) -> bool:
    """Whether this is in another language than English."""
    return language(view.text) is not None


def answer(view: View, found: Findings) -> None:
    """Say what is understood."""
    found.summary = language(view.text) or ""
    found.follow_ups = ["What can you do?"]


def language(text: str) -> str | None:
    """What is said in the language of a text, of which it has a greeting or two common words; None
    for English."""
    if KANA.search(text):
        return JAPANESE
    words = set(re.findall(r"[^\W\d_]+", text.lower()))
    told = (said for signs, said in KNOWN if len(words & signs) > 1 or words & signs & GREETINGS)
    return next(told, None)
