"""What the demo says and understands, in the six languages of the bot."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from .examples import CASES

_WORDS: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("words.yaml").read_text("utf-8"))
_QUESTIONS: dict[str, dict[str, str]] = {
    case["name"]: {"en": case["question"], **_WORDS["questions"].get(case["name"], {})}
    for case in CASES
}
_SUGGESTED = ("a-percentage", "a-time-elsewhere", "a-message-to-approve")

LANGUAGES = ("en", "de", "fr", "es", "pt", "ja")
_COMMON = {
    "en": "the is are what who where when why how and for with of to do does can you i show please "
    "hello thanks post remember summarise list draft every there was which this",
    "de": "der die das den dem ist sind wie was wer wann und für mit von je es auf nicht ein eine ich "
    "du mir dir dich zeig zeige fasse frag poste welche bitte danke hallo wurde spät entwirf",
    "fr": "le les des du de que est et pour avec dans qui quel quelle quelles un une je ce cette fais montre "
    "résume retiens chaque combien merci bonjour publie que sais rédige à",
    "es": "el los las del de que es y para con qué quién cuál cuáles cuánto cuántos un una me este haz resume "
    "recuerda cada hola gracias publica muestra redáctame se en siguen cuando por",
    "pt": "o os as do da das de que e gosto pode para com quem qual quais quanto quantos um uma me você por no na nos foi "
    "faça resuma lembre-se olá obrigado publique mostre escreva em toda desta são",
}
_LETTERS = {"de": "äß„", "fr": "œè«", "es": "¿¡ñ", "pt": "ãõ"}
_KANA = re.compile(r"[\u3040-\u30ff]")
_WORD = re.compile(r"[\w-]+")

NAMES = {
    "revenue": r"umsatz\w*|chiffre d.affaires|ingresos|receita|売上",
    "region": r"région|región|região|地域",
    "product": r"produkt\w*|produit|producto|produto|製品|商品",
    "units": r"stückzahl|unités|unidades|数量",
    "priority": r"priorität|priorité|prioridad|prioridade|優先度",
    "customers": r"kunden|clients|clientes|顧客",
    "orders": r"bestellungen|commandes|pedidos|注文",
    "products": r"produkte|produits|productos|produtos",
    "tickets": r"チケット|chamados",
}
"""Names of columns and tables of the samples, and what they are called in other languages."""


def language_of(text: str) -> str:
    """Return the language of a question by its commonest words; English if none tells."""
    if _KANA.search(text):
        return "ja"
    words = _WORD.findall(text.lower())
    hits = {name: sum(word in usual.split() for word in words) for name, usual in _COMMON.items()}
    for name, letters in _LETTERS.items():
        hits[name] += sum(letter in text.lower() for letter in letters)
    return max(hits, key=lambda name: hits[name])


def say(language: str, name: str, /, **values: object) -> str:
    """Return a sentence of words.yaml."""
    return str(_WORDS[name][language]).format(**values)


def follow_up(language: str, name: str, /, **values: object) -> str:
    """Return a question that an answer suggests."""
    return str(_WORDS["follow_ups"][name][language]).format(**values)


def questions(language: str) -> list[str]:
    """Return the example questions."""
    return [asked[language] for asked in _QUESTIONS.values()]


def suggested(language: str) -> list[str]:
    """Return three questions that need no file or thread, one of them with an approval."""
    return [_QUESTIONS[name][language] for name in _SUGGESTED]


def example(name: str, language: str) -> str:
    """Return the question of a case."""
    return _QUESTIONS[name][language]
