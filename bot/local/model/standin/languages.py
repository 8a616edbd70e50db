"""Other languages: questions about figures are understood in some, all others are answered politely."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .findings import STAND_IN, Findings
from .view import View
from .words import has


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
        re.compile(r"\b(?:nur|der|die|das|und|ist|war|wie|was|wer|wo|nach|nicht|ich|bitte|kannst|zeige?|mir|für|welche\w*|wieviele?|eine?n?|danke|hoch|fasse?|letzten?|hier|zusammen|mit|von|auf|sind|alle|noch|schon|offen\w*|gibt|haben|wir|wurden?|letzte[nrs]?|unsere?r?)\b", re.I),
        re.compile(r"\b(?:hallo|guten (?:tag|morgen|abend)|moin|servus)\b", re.I),
        "Hallo!",
        "Ich bin nur der Platzhalter für ein Modell und verstehe wenig mehr als Englisch. Mit "
        f"`{_HOW_TO_GO_ON}` antwortet ein richtiges Modell, auch auf Deutsch.",
    ),
    Language(
        re.compile(r"\b(?:seulement|le|la|les|des|une?|est|quel(?:le)?s?|combien|pour|dans|avec|par|je|vous|quoi|comment|pourquoi|merci|font|fois|moi|sur|cette|ces|ici|derniers?|résume[rz]?)\b", re.I),
        re.compile(r"\b(?:bonjour|salut|bonsoir|coucou)\b", re.I),
        "Bonjour !",
        "Je ne suis que le remplaçant d'un modèle et ne comprends guère que l'anglais. Avec "
        f"`{_HOW_TO_GO_ON}`, un vrai modèle répond, aussi en français.",
    ),
    Language(
        re.compile(r"[¿¡]|\b(?:el|los|las|una?|es|qué|cuál|cuánt[oa]s?|cómo|por|para|con|gracias|puedes)\b", re.I),
        re.compile(r"\b(?:hola|buenos días|buenas)\b", re.I),
        "¡Hola!",
        "Solo soy el sustituto de un modelo y apenas entiendo inglés. Con "
        f"`{_HOW_TO_GO_ON}` responde un modelo de verdad, también en español.",
    ),
    Language(
        re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]"),
        re.compile(r"こんにちは|おはよう|こんばんは"),
        "こんにちは。",
        f"私はモデルの代役で、英語しか分かりません。`{_HOW_TO_GO_ON}` を設定すると、本物のモデルが日本語でも答えます。",
    ),
)  # fmt: skip
FIGURES = {
    "umsätze?n?|umsatz|erlöse?|chiffre d'affaires|revenus?|ventas|ingresos": "revenue",
    "wie viele|combien d[e']|cuánt[oa]s": "how many",
    "wie hoch (?:war|ist)|quel(?:le)? est|cuál es": "what is", "gesamt\\w*|insgesamt|summe|total(?:e)?|suma": "total",
    "durchschnitt\\w*|moyenne|promedio|media": "average", "nach|pro|je|par|por": "by",
    "regionen|région(?:s)?|regiones|región": "region", "produkte?n?|produits?|productos?": "product", "monate?n?|mois|mes(?:es)?": "month",
    "(?:als |en |un )?(?:diagramm|graphique|gráfico)": "as a chart", "welche[rs]?|quelle?s?|qué": "which",
    "höchste[nr]?|meisten?|plus élevée?|mayor": "highest", "niedrigste[nr]?|wenigsten?|plus bas(?:se)?|menor": "lowest",
    "januar|janvier|enero": "January", "februar|février|febrero": "February", "märz|mars|marzo": "March",
    "avril|abril": "April", "mai|mayo": "in May", "juni|juin|junio": "June", "juli|juillet|julio": "July",
    "nur|seulement|sólo|solo": "only", "für|pour|para": "for",
    "der|die|das|den|dem|le|la|les|du|el|los|las|war|waren|était|son|sont|fue|fueron|bitte|mir|zeige?|montre|muestra": "",
    "im|in|en": "in", "und|et|y": "and", "tabelle|tableau": "table", "zeilen|lignes|filas": "rows",
}  # fmt: skip
"""Words of questions about figures, in English."""
ENGLISH = "the|is|are|of|what|who|how|when|did|does|do|we|our|you|my|with"
FIGURES_IN = re.compile(
    r"\b(?:monat(?:e|en)?|produkte?n?|regionen|diagramm|produits?|productos?|regiones|mois|graphique|gráfico|umsatz|umsätze|erlöse?|revenus? par|ventes|wie viele|durchschnitt\w*|chiffre d'affaires|combien|ventas|ingresos|cuánt[oa]s)\b",
    re.I,
)


def is_asked(view: View) -> bool:
    """Whether this is in another language than English."""
    return language(view.text) is not None


def is_half_known(view: View) -> bool:
    """Whether words of it stay foreign that no figure is worked out without."""
    spoken = language(view.text) or (KNOWN[0] if FIGURES_IN.search(view.text) else None)
    return bool(spoken and spoken.sign.search(in_english(view.text))) and not has(
        view.text, ENGLISH
    )


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
        enough = 1 if not re.search(r"[a-z]", text, re.I) else 2
        if each.greeting.search(text) or len(signs) >= enough:
            return each
    return None


def in_english(text: str) -> str:
    """A question about figures with its words in English; an English one as it is."""
    if language(text) is None and not FIGURES_IN.search(text):
        return text
    for words, english in FIGURES.items():
        text = re.sub(rf"(?<!\w)(?:{words})(?!\w)", english, text, flags=re.IGNORECASE)
    return text
