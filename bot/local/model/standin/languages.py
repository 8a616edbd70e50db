"""Other languages than English are not understood, which is said in them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .findings import STAND_IN, Findings
from .view import View


@dataclass(frozen=True, slots=True)
class Language:
    """How a language is told, how it is greeted in, and that only English is known."""

    sign: re.Pattern[str]
    greeting: re.Pattern[str]
    hello: str
    only_english: str


_HOW_TO_GO_ON = "OPENAI_API_KEY"
KNOWN = (
    Language(
        re.compile(r"\b(?:nur|der|die|das|und|ist|war|wie|was|wer|wo|nach|nicht|ich|bitte|kannst|zeige?|mir|für|welche\w*|wieviele?|eine?n?|danke|hoch|fasse?|letzten?|hier|zusammen|mit|von|auf|sind|alle|noch|schon|offen\w*|gibt|haben|wir|wurden?|letzte[nrs]?|unsere?r?|den|hat|meisten|pro|bitte|umsatz|kunden?)\b", re.I),
        re.compile(r"\b(?:hallo|guten (?:tag|morgen|abend)|moin|servus)\b", re.I),
        "Hallo!",
        "Ich bin nur der Platzhalter für ein Modell und verstehe wenig mehr als Englisch. Mit "
        f"`{_HOW_TO_GO_ON}` antwortet ein richtiges Modell, auch auf Deutsch.",
    ),
    Language(
        re.compile(r"\b(?:seulement|le|la|les|des|une?|est|quel(?:le)?s?|combien|pour|dans|avec|par|je|vous|quoi|sont|nous|avons|ouvert\w*|comment|pourquoi|merci|font|fois|moi|sur|cette|ces|ici|derniers?|résume[rz]?)\b", re.I),
        re.compile(r"\b(?:bonjour|salut|bonsoir|coucou)\b", re.I),
        "Bonjour !",
        "Je ne suis que le remplaçant d'un modèle et ne comprends guère que l'anglais. Avec "
        f"`{_HOW_TO_GO_ON}`, un vrai modèle répond, aussi en français.",
    ),
    Language(
        re.compile(r"[¿¡]|\b(?:el|los|las|una?|es|qué|cuál|cuánt[oa]s?|cómo|por|para|con|gracias|puedes|clientes|hay|hubo|son|cuantos)\b", re.I),
        re.compile(r"\b(?:hola|buenos días|buenas)\b", re.I),
        "¡Hola!",
        "Solo soy el sustituto de un modelo y entiendo poco más que inglés. Con "
        f"`{_HOW_TO_GO_ON}` responde un modelo de verdad, también en español.",
    ),
    Language(
        re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]"),
        re.compile(r"こんにちは|おはよう|こんばんは"),
        "こんにちは。",
        f"私はモデルの代役で、英語しか分かりません。`{_HOW_TO_GO_ON}` を設定すると、本物のモデルが日本語でも答えます。",
    ),
)  # fmt: skip
ALSO_ENGLISH = {"pro", "hat", "den", "son", "was", "die", "war", "les", "par", "sur", "comment"}


def is_asked(view: View) -> bool:
    """Whether this is in another language than English."""
    return language(view.text) is not None


def answer(view: View, found: Findings) -> None:
    """Greet back, and say what is understood."""
    spoken = language(view.text)
    if spoken is None:
        found.summary = f"I only know English. I am {STAND_IN}."
        return
    hello = f"{spoken.hello} " if spoken.greeting.search(view.text) else ""
    found.summary = f"{hello}{spoken.only_english}"
    found.follow_ups = ["What can you do?"]


def language(text: str) -> Language | None:
    """The language of a text: the one of which it greets or has two common words; None for English."""
    for each in KNOWN:
        signs = {sign.lower() for sign in each.sign.findall(text)}
        signs = set() if signs <= ALSO_ENGLISH else signs
        enough = 1 if not re.search(r"[a-z]", text, re.I) else 2
        if each.greeting.search(text) or len(signs) >= enough:
            return each
    return None
