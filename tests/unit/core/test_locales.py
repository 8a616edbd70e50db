"""Numbers and days are written as their reader writes them, and no figure changes its value."""

from __future__ import annotations

from importlib.resources import files

import pytest
from babel.messages.pofile import read_po

from bot.text.languages import language_in, locale_for
from bot.text.locales import day, day_and_time, figures, in_cents, money, number

THIN, WIDE = "\u202f", "\u00a0"


@pytest.mark.parametrize(
    ("locale", "amount", "dollars", "cents", "date"),
    [
        ("en-US", "1,234,567.5", "$1,234.50", "$0.0123", "Mar 1, 2026"),
        ("de-DE", "1.234.567,5", f"1.234,50{WIDE}$", f"0,0123{WIDE}$", "01.03.2026"),
        ("fr-FR", f"1{THIN}234{THIN}567,5", f"1{THIN}234,50{WIDE}$", f"0,0123{WIDE}$", "1 mars 2026"),
        ("hi-IN", "12,34,567.5", "$1,234.50", "$0.0123", "1 मार्च 2026"),
        ("es-LA", "1,234,567.5", "$1,234.50", "$0.0123", "1 mar 2026"),
        ("no such", "1,234,567.5", "$1,234.50", "$0.0123", "Mar 1, 2026"),
    ],
)  # fmt: skip
def test_numbers_and_days_are_those_of_the_locale(
    locale: str, amount: str, dollars: str, cents: str, date: str
) -> None:
    """Slack's names of locales are understood, its own es-LA too; an unknown one is en-US."""
    assert number(1234567.5, locale) == amount
    assert (money(1234.5, locale), money(0.0123, locale)) == (dollars, cents)
    assert day("2026-03-01", locale) == date
    assert day("next week", locale) == "next week"


@pytest.mark.parametrize(
    ("iso", "shown"),
    [
        ("2026-03-01 14:05", "01.03.2026, 14:05"),
        ("2026-03-01", "01.03.2026"),
        ("2026-03-01 about noon", "2026-03-01 about noon"),
        ("on 2026-03-01", "on 2026-03-01"),
        ("14:05", "14:05"),
        ("", ""),
    ],
)
def test_moments_are_those_of_the_locale(iso: str, shown: str) -> None:
    """What a model wrote otherwise stays as it wrote it."""
    assert day_and_time(iso, "de-DE") == shown


@pytest.mark.parametrize(
    ("locale", "shown"),
    [
        ("en-US", ["$1,234,567.50", "-0.5%", "10042", "3.5–4.25 ms", "2.0"]),
        ("de-DE", ["$1.234.567,50", "-0,5%", "10042", "3,5–4,25 ms", "2.0"]),
        ("fr-FR", [f"$1{THIN}234{THIN}567,50", "-0,5%", "10042", "3,5–4,25 ms", "2.0"]),
        ("hi-IN", ["$12,34,567.50", "-0.5%", "10042", "3.5–4.25 ms", "2.0"]),
    ],
)
def test_cells_that_are_figures_are_rewritten(locale: str, shown: list[str]) -> None:
    """What names the row, what is prose, what is a version and what was not grouped stays."""
    heading = ["No.", "Revenue", "Share", "Order", "Time", "Version", "Note"]
    row = ["1.5", "$1,234,567.50", "-0.5%", "10042", "3.5–4.25 ms", "2.0", "about 1,500.5 or 2.5.1"]
    assert figures([heading, row], locale) == [heading, ["1.5", *shown, row[-1]]]


@pytest.mark.parametrize(
    ("cells", "shown"),
    [
        (["1.234", "5"], ["1.234", "5"]),
        (["1.234", "0.5"], ["1,234", "0,5"]),
        (["1,234", "5"], ["1.234", "5"]),
        (["1.234,5", "1.5"], ["1.234,5", "1.5"]),
        (["12,5 %", "1,234"], ["12,5 %", "1,234"]),
        (["1 234", "1.5"], ["1 234", "1.5"]),
        (["10.0.0.1", "2026-03-01", "12:30"], ["10.0.0.1", "2026-03-01", "12:30"]),
    ],
)
def test_a_figure_that_may_mean_two_things_stays_as_it_is(
    cells: list[str], shown: list[str]
) -> None:
    """A German reader never sees a thousandth or a thousandfold of what was meant."""
    rows = [["", "n"], *(["", cell] for cell in cells)]
    assert [row[1] for row in figures(rows, "de-DE")[1:]] == shown


def test_money_of_a_column_has_cents_throughout() -> None:
    """Where one amount has them; numbers without a currency stay as they were written."""
    rows = [["Item", "Price", "Cost", "Rate"], ["$1", "$1,234.5", "7 €", "4.5"]]
    rows.append(["b", "-$100", "(1,000.25 €)", "4.15"])
    assert in_cents(rows) == [
        ["Item", "Price", "Cost", "Rate"],
        ["$1", "$1,234.50", "7.00 €", "4.5"],
        ["b", "-$100.00", "(1,000.25 €)", "4.15"],
    ]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("What were last month's sales by region?", "en"),
        ("And as a chart?", "en"),
        ("Umsatz nach Region", "de"),
        ("Danke!", "de"),
        ("Qu'est-ce qui a été décidé ?", "fr"),
        ("¿Cuánto vendimos en marzo?", "es"),
        ("Las ventas subieron un 12 % en marzo", "es"),
        ("As vendas subiram 12 % em março", "pt"),
        ("3月の売上はいくらですか", "ja"),
        ("`SELECT the FROM of` https://example.com/the/of/and", ""),
        ("Le vendite sono aumentate del 12% a marzo", ""),
        ("Hoeveel hebben we verkocht in maart per regio?", ""),
        ("Сколько мы продали в марте?", ""),
        ("812?", ""),
    ],
)
def test_a_language_is_known_by_its_commonest_words(text: str, language: str) -> None:
    """K7: neighbouring languages are not taken for those that the bot speaks; code tells nothing."""
    assert language_in(text) == language


def test_the_bots_own_texts_are_in_their_languages() -> None:
    """K7: sentences of the catalogues, as texts whose language is known: nearly none is mistaken."""
    for language, home in {"de": "de-DE", "fr": "fr-FR", "es": "es-ES", "pt": "pt-BR"}.items():
        with files("bot.locales").joinpath(f"{language}.po").open("rb") as file:
            catalogue = read_po(file)
        texts = [str(message.string) for message in catalogue if message.id]
        sentences = [text for text in texts if len(text.split()) >= 8]
        wrong = [text for text in sentences if locale_for((text,), reader="ja-JP") != home]
        assert len(wrong) < 0.05 * len(sentences), wrong
