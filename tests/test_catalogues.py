"""The bot's own words in each language."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from babel.messages.catalog import Message

from bot.core.schedule import often_of
from bot.text.translation import (
    Plural,
    Text,
    browser_locale,
    languages,
    reader,
    reader_locale,
    translated,
)
from tests.catalogues import LANGUAGES, catalogue, texts

_PLACEHOLDER = re.compile(r"\{[^{}]*\}")
_MARKUP = re.compile(r":[a-z_]+:|[*`]|<[@#{]|\n")


def strings(message: Message) -> tuple[str, ...]:
    found = message.string if isinstance(message.string, tuple) else (message.string,)
    return tuple(str(each or "") for each in found)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_is_translated(language: str) -> None:
    """A reader meets no English among their own words: nothing is missing and nothing is left over.
    `python -m tests.catalogues` adds what is new."""
    stored = {each.id: strings(each) for each in catalogue(language) if each.id}
    assert [each.id for each in texts() if not all(stored.get(each.id, ("",)))] == []
    assert stored.keys() - {each.id for each in texts()} == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_translation_keeps_values_markup_and_limits(language: str) -> None:
    """What is put into a text arrives in it, marks of Slack stay marks, and titles fit."""
    stored = {each.id: strings(each) for each in catalogue(language) if each.id}
    wrong = []
    for each in texts():
        forms = [each.several or each.english] * len(stored[each.id])
        for english, text in zip(forms, stored[each.id], strict=True):
            same_values = set(_PLACEHOLDER.findall(english)) == set(_PLACEHOLDER.findall(text))
            same_marks = Counter(_MARKUP.findall(english)) == Counter(_MARKUP.findall(text))
            fits = not each.most or len(text) <= each.most
            if not (same_values and same_marks and fits):
                wrong.append((english, text))
    assert wrong == []


def test_words_and_figures_are_in_one_language() -> None:
    """U9: a language that the bot does not speak gets English words with English figures, also one
    that is written from right to left, or that nobody knows."""
    assert languages() == set(LANGUAGES)
    greeting = Text("Retry")
    for locale in ("it-IT", "ar", "he-IL", "xx-YY", "", "de_", "../../etc"):
        with reader(locale):
            assert (greeting(), reader_locale()) == ("Retry", "en-US"), locale
    for locale, word in (("de-AT", "Erneut"), ("pt-BR", "Tentar"), ("es-LA", "Reintentar")):
        with reader(locale):
            assert reader_locale() == locale
            assert word in greeting()
    with reader("en-IN"):
        assert reader_locale() == "en-IN"
    assert greeting() == "Retry"


def test_nothing_is_translated_as_nothing() -> None:
    """gettext has the header of a catalogue under ""; nobody reads that as a reason on a card."""
    for language in ("en", *LANGUAGES):
        with reader(language):
            assert translated("") == ""


def test_a_text_that_nobody_translated_is_english() -> None:
    """Also with values and with counts; a value is never taken for a pattern."""
    with reader("ja-JP"):
        assert Text("Hello {name}, new")(name="{x} %s") == "Hello {x} %s, new"
        assert Plural("{count} thing", "{count} things")(1) == "1 thing"
        assert Plural("{count} thing", "{count} things")(7) == "7 things"


@pytest.mark.parametrize(
    ("header", "locale"),
    [
        ("de-DE,de;q=0.9,en;q=0.8", "de-DE"),
        ("it, fr-CA;q=0.7", "fr-CA"),
        ("en-GB", "en-GB"),
        ("", "en-US"),
        ("*", "en-US"),
        (";;;,,\x00" + "a" * 5_000, "en-US"),
    ],
)
def test_a_page_speaks_the_language_of_the_browser(header: str, locale: str) -> None:
    assert browser_locale(header) == locale


@pytest.mark.parametrize(
    ("locale", "cron", "said"),
    [
        ("en-US", "0 9 * * 1-5", "every Monday through Friday at 09:00"),
        ("de-DE", "0 9 * * 1-5", "jeden Montag bis Freitag um 09:00"),
        ("fr-FR", "0 9,17 * * 1,3", "chaque lundi et mercredi à 09:00 et 17:00"),
        ("es-ES", "30 8 * * *", "cada día a las 08:30"),
        ("pt-BR", "0 9 1 * *", "no dia 1 de cada mês às 09:00"),
        ("ja-JP", "0 9 * * 1", "毎週月曜日 09:00"),
        ("de-DE", "*/15 * * * *", "every 15th minute of every hour"),
    ],
)
def test_how_often_is_in_the_readers_language(locale: str, cron: str, said: str) -> None:
    """Days and times as they are said; a rare form is in English."""
    with reader(locale):
        assert often_of(cron) == said
