"""The bot's own words in the language of whoever reads them, from gettext catalogues.

Each text is written in English where it is used, as a `Text`, and is translated when it is called:

    GREETING = Text("Hello, {name}")

    with reader(person.locale):
        GREETING(name="Ada")

The catalogues are in `bot/locales`, one for each language.
"""

from __future__ import annotations

import asyncio
import gettext
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.resources import files
from io import BytesIO

from babel.lists import format_list
from typing_extensions import override

from bot.text.locales import locale_of

_DEFAULT = "en-US"
_reader: ContextVar[str] = ContextVar("reader_locale", default=_DEFAULT)


async def load_catalogue(locale: str) -> None:
    """Read the catalogue for a reader outside the event loop: a tenth of a second, once a language."""
    language = language_of(locale)
    if language in languages() and language not in _loaded:
        _loaded[language] = await asyncio.to_thread(_read, language)


@contextmanager
def reader(locale: str) -> Iterator[None]:
    """Translate all texts in this context, and in tasks started in it, for a reader with `locale`."""
    token = _reader.set(locale)
    try:
        yield
    finally:
        _reader.reset(token)


def speak(locale: str) -> None:
    """Translate what follows in this task for a reader with `locale`, where no block can hold it."""
    _reader.set(locale)


def reader_locale() -> str:
    """Return the locale of the bot's own words and the figures in them, such as "de-DE".

    It is the reader's if the bot speaks their language, otherwise en-US.
    """
    return spoken_locale(_reader.get())


def spoken_locale(locale: str) -> str:
    """Return `locale` if the bot speaks its language, otherwise en-US."""
    return locale if language_of(locale) in (_ENGLISH, *languages()) else _DEFAULT


def browser_locale(accept_language: str) -> str:
    """Return the first language of this HTTP header that the bot speaks, else en-US."""
    wanted = [each.partition(";")[0].strip() for each in accept_language.split(",")]
    return next((each for each in wanted if each and spoken_locale(each) == each), _DEFAULT)


class Text:
    """A text that people see; `Text("…")` marks its English for translation.

    Calling it returns it in the reader's language, with the values in place of its {names}.
    """

    def __init__(self, english: str) -> None:
        self.english = english

    def __call__(self, **values: object) -> str:
        """Return the text for the current reader."""
        return _filled(_catalogue(_reader.get()).gettext(self.english), values)

    @override
    def __str__(self) -> str:
        return self()

    @override
    def __repr__(self) -> str:
        return f"Text({self.english!r})"


class Plural:
    """A text with a {count}: one form for one thing, another for several.

    A language may have fewer or more forms; its catalogue says which number takes which.
    """

    def __init__(self, one: str, several: str) -> None:
        self.one = one
        self.several = several

    def __call__(self, number: int, **values: object) -> str:
        """Return the form for a number of things, which replaces {count} unless `values` has it."""
        found = _catalogue(_reader.get()).ngettext(self.one, self.several, number)
        return _filled(found, {"count": number, **values})


def translated(english: str) -> str:
    """Return a text in the reader's language; for English that is not written as a `Text`."""
    # gettext has the header of the catalogue under "".
    return _catalogue(_reader.get()).gettext(english) if english else ""


def list_in_words(names: Sequence[str]) -> str:
    """Return names as a list in words: "a, b and c"."""
    locale = reader_locale()
    return format_list(names, locale="en_GB" if locale == _DEFAULT else locale_of(locale))


@cache
def languages() -> frozenset[str]:
    """Return the languages that have a catalogue, such as "de"; English needs none."""
    names = (each.name for each in files(_LOCALES).iterdir())
    return frozenset(name.removesuffix(".po") for name in names if name.endswith(".po"))


_loaded: dict[str, gettext.NullTranslations] = {}
_UNTRANSLATED = gettext.NullTranslations()
_LOCALES = "bot.locales"
_ENGLISH = "en"


def _filled(text: str, values: dict[str, object]) -> str:
    return text.format(**values) if values else text


def language_of(locale: str) -> str:
    """Return the code of a locale's language, such as "de"."""
    return locale.partition("-")[0].lower()


def _catalogue(locale: str) -> gettext.NullTranslations:
    language = language_of(locale)
    if language not in languages():
        return _UNTRANSLATED
    if language not in _loaded:
        _loaded[language] = _read(language)
    return _loaded[language]


def _read(language: str) -> gettext.NullTranslations:
    # Here: a bot whose readers all read English needs neither.
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    compiled = BytesIO()
    with files(_LOCALES).joinpath(f"{language}.po").open("rb") as file:
        write_mo(compiled, read_po(file, locale=language))
    compiled.seek(0)
    return gettext.GNUTranslations(compiled)
