"""Letters of files in legacy encodings: names of countries in their own language, from CLDR (V3)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from babel import Locale

from bot.library.documents.reading.text import decode

PAGES = {
    "da": "cp1252 cp850", "de": "cp1252 cp850 mac_roman", "fr": "cp1252 cp850 mac_roman", "es": "cp1252 cp850",
    "sv": "cp1252", "nb": "cp1252", "is": "cp1252", "pt": "cp1252 cp850", "fi": "cp1252", "it": "cp1252", "nl": "cp1252",
    "pl": "cp1250 iso8859-2", "cs": "cp1250 iso8859-2 cp852", "hu": "cp1250 iso8859-2 cp852", "ro": "cp1250",
    "hr": "cp1250", "sk": "cp1250", "sl": "cp1250", "ru": "cp1251 koi8_r cp866 iso8859-5", "uk": "cp1251 koi8_u",
    "bg": "cp1251", "el": "cp1253 iso8859-7", "tr": "cp1254", "he": "cp1255", "ar": "cp1256", "lt": "cp1257",
    "lv": "cp1257", "et": "cp1257", "vi": "cp1258", "ja": "cp932 euc_jis_2004", "zh": "gb18030", "zh_Hant": "big5",
    "ko": "cp949", "th": "cp874",
}  # fmt: skip
KNOWN = {
    ("da", "cp850", None): "Danish of MS-DOS; its letters are common ones of other code pages",
    ("da", "cp850", 12): "as above",
    ("cs", "cp852", 12): "a dozen names",
    ("ro", "cp1250", 12): "a dozen names; letters with comma below are not in the code page",
    ("et", "cp1257", None): "three letters outside of Estonian tell it from cp1252",
}
"""What is read with wrong letters, and why that is not to be told from so little. The note says so."""


def files() -> Iterator[tuple[str, str, int | None, str]]:
    """Language, code page, number of names (None: all that there are) and the text."""
    for language, pages in PAGES.items():
        names = [
            each for each in sorted(Locale.parse(language).territories.items()) if len(each[0]) == 2
        ]
        for count in (12, None):
            lines = [
                f"{code},{name.replace(',', '')},{n}"
                for n, (code, name) in enumerate(names[:count])
            ]
            for page in pages.split():
                text = "\n".join(["code,name,n", *lines, ""])
                yield language, page, count, text.encode(page, "ignore").decode(page)


def test_letters_are_right_or_the_note_says_that_they_may_be_wrong() -> None:
    wrong = {}
    for language, page, count, text in files():
        found, note = decode(text.encode(page))
        if found != text:
            assert "may be wrong" in note or "for example in: " in note
            wrong[language, page, count] = note
    assert wrong.keys() <= KNOWN.keys()


@pytest.mark.parametrize(
    ("text", "page"),
    [
        ("© 2024 Foo\nprice £5\n", "cp1252"),
        ("1 °C, 5 µm\n", "cp1252"),
        ("navn,by\nSøren Kjærgård,Århus\nJørgen,København\n", "cp1252"),
        ("jméno,n\nDvořák,9\n", "cp1250"),
        ("name\nŁódź\nŻywiec\n", "cp1250"),
        ("город,n\nМосква,1\n", "cp1251"),
        ("a,b\n" * 60_000 + "Łódź,Wrocław\nŻywiec,Gdańsk\n", "cp1250"),
    ],
)
def test_a_few_words_are_enough(text: str, page: str) -> None:
    """Also signs alone, and letters that come late in a file."""
    assert decode(text.encode(page))[0] == text


@pytest.mark.parametrize(
    ("text", "page"), [("Česká republika,1\n", "cp1250"), ("Malmö\n", "cp850")]
)
def test_words_of_every_reading_are_there_to_be_looked_at(text: str, page: str) -> None:
    """Too few letters to tell the encoding: nobody is left to believe that they are right."""
    found, note = decode(f"a,b\n{text}".encode(page))
    wrong = found.splitlines()[1].split(",")[0].split()[0]
    assert wrong in note


def test_a_guess_is_called_one() -> None:
    """A few letters may be of two languages; the words are there to be looked at."""
    _, note = decode("ort,n\nKøln,9\n".encode("cp1252"))
    assert "which may be wrong" in note


def test_letters_that_are_others_in_central_europe_are_doubted() -> None:
    """È of Windows-1252 is Č of Windows-1250: Česká republika was Èeská republika without a doubt."""
    assert "may be wrong" in decode("zemì\nÈeská republika\n".encode("cp1252"))[1]
    assert "may be wrong" not in decode("Straße\nMünchen\n".encode("cp1252"))[1]
