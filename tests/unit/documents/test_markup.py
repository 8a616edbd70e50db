"""Web pages and e-mails lose nothing that people see in them."""

from __future__ import annotations

from email.message import EmailMessage

import pytest

from bot.library.documents.reading.pages import read_html, read_mail

SENTENCE = "The quick brown fox jumps over the lazy dog all day long, and on Sundays as well."


def test_what_stands_beside_the_main_text_is_read() -> None:
    """Lists, definitions and menus are no main text, but somebody may ask for what they say."""
    page = (
        f"<body><nav><a href='/'>Home</a> <a href='/x'>Prices</a></nav><p>{SENTENCE}</p>"
        f"<p>{SENTENCE[::-1]}</p><dl><dt>Fee</dt><dd>50 EUR</dd></dl>"
        "<ul><li>one<ul><li>inner</li></ul></li></ul><footer>Imprint</footer></body>"
    )
    main, beside = read_html(page.encode(), "p.html").text.split("[beside the main text]\n")
    assert SENTENCE in main
    assert SENTENCE not in beside
    for said in ("Home Prices", "Fee\n50 EUR", "inner", "Imprint"):
        assert said in main or said in beside


def test_cells_of_a_table_stay_apart() -> None:
    """Where no main text is found, 1 and 2 in a row are not 12."""
    page = b"<body><div><table><tr><td>1</td><td>2</td></tr></table></div></body>"
    assert "12" not in read_html(page, "p.html").text


def test_a_row_of_a_table_is_whole() -> None:
    """A list in a cell was in none, the header somewhere else, and short rows left out as said before."""
    rows = "".join(
        f"<tr><td>08.0{n}.2019</td><td><a href='#'>Works in street {n}</a></td>"
        f"<td><ul><li>Lane {n}</li><li>Road {n}</li></ul></td></tr>"
        for n in range(1, 7)
    )
    head = "<thead><tr><th>from</th><th>what</th><th>where</th></tr></thead>"
    page = (
        f"<body><p>{SENTENCE} From what where.</p><table>{head}<tbody>{rows}</tbody></table></body>"
    )
    lines = read_html(page.encode(), "p.html").text.splitlines()
    assert "from | what | where" in lines
    assert "08.03.2019 | Works in street 3 | Lane 3 Road 3" in lines
    assert sum("08.03.2019" in line for line in lines) == 1


def test_cells_that_span_rows_and_columns_keep_the_others_in_their_columns() -> None:
    page = (
        "<body><table><tr><th rowspan=2>Region<th colspan=2>2025<th rowspan='0'>Note</tr>"
        "<tr><th>H1<th>H2</tr><tr><td>North<td>1<td>2</tr><tr><td>South<td colspan=2>9</tr>"
        "</table></body>"
    )
    found = read_html(page.encode(), "p.html")
    assert found.text.splitlines() == [
        "Region | 2025 | | Note",
        "Region | H1 | H2 | Note",
        "North | 1 | 2 | Note",
        "South | 9 | | Note",
    ]
    assert "Cells that span several rows are repeated in each." in found.notes


def test_what_is_in_no_row_of_a_table_is_read() -> None:
    page = (
        "<body><table><caption>Fees</caption><thead><th>id<th>name</thead>"
        "<tr><td>1<td>x</tr></table> <table>{{rows}}<tr><td>a<br>b<td></tr></table></body>"
    )
    found = read_html(page.encode(), "p.html").text
    for said in ("Fees", "id | name", "1 | x", "{{rows}}", "a b |"):
        assert said in found


def test_the_same_line_twice_is_read_twice() -> None:
    """What finds the main text leaves out a line that it had: two fees of 12 EUR were one."""
    fees = "<p>Fee: 12 EUR</p><p>Thanks,</p>" * 2
    page = f"<body><p>{SENTENCE}</p>{fees}<p>{SENTENCE[::-1]}</p><ul><li>12 EUR</ul></body>"
    found = read_html(page.encode(), "p.html").text
    assert found.count("Fee: 12 EUR") == found.count("Thanks,") == 2
    assert found.count(SENTENCE) == 1


def test_a_term_is_read_though_its_word_is_in_the_text() -> None:
    """Of a list of variables the names were gone: each is a word of its description."""
    terms = "<dl><dt>tree:</dt><dd>id number of a tree</dd><dt>size:</dt><dd>size of it</dd></dl>"
    page = f"<body><p>{SENTENCE}</p>{terms}<p>{SENTENCE[::-1]}</p></body>"
    lines = read_html(page.encode(), "p.html").text.splitlines()
    assert any(line.strip("-* ") == "tree:" for line in lines)


def test_a_raised_figure_is_no_part_of_the_number_before() -> None:
    """The mark of a footnote made 19961 of the year 1996."""
    rows = "<tr><td>Born in 1996<sup>1</sup></td><td>10<sup>6</sup> EUR</td></tr>"
    page = f"<body><p>{SENTENCE} Since 1996<sup>2</sup>.</p><table>{rows}</table></body>"
    found = read_html(page.encode(), "p.html").text
    assert "Born in 1996¹ | 10⁶ EUR" in found
    assert "Since 1996²" in found


def mail(plain: str, html: str) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["Subject"] = "a@example.com", "Offer"
    message.set_content(plain)
    message.add_alternative(html, subtype="html")
    return message


def test_the_fuller_form_of_an_email_is_read() -> None:
    """Many programs send "your reader shows no HTML" as its plain text."""
    html = f"<p>{SENTENCE}</p><p>It costs 50 EUR.</p>"
    stub = read_mail(mail("This message needs HTML.", html).as_bytes(), "m.eml")
    assert "50 EUR" in stub.text
    plain = read_mail(mail(f"{SENTENCE}\n\nIt costs 50 EUR.", html).as_bytes(), "m.eml")
    assert plain.text.endswith(f"{SENTENCE}\n\nIt costs 50 EUR.\n")


def test_attachments_of_an_email_are_missing_from_all_that_is_made_of_it() -> None:
    message = mail("See the terms.", "<p>See the terms.</p>")
    message.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="terms.pdf")
    found = read_mail(message.as_bytes(), "m.eml")
    assert found.left_out == ["attached to it, and not read: terms.pdf"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso8859-2", "shift_jis", "koi8-r"])
def test_letters_of_a_page_are_those_that_it_declares(encoding: str) -> None:
    words = {"shift_jis": "東京タワー", "koi8-r": "Привет мир"}.get(encoding, "Dvořák a Łódź")
    head = "" if encoding.startswith("utf") else f'<meta charset="{encoding}">'
    page = (
        f"<html><head>{head}</head><body><p>{SENTENCE}</p><ul><li>{words}</li></ul></body></html>"
    )
    assert words in read_html(page.encode(encoding), "p.html").text


def test_letters_of_an_email_are_those_of_its_part() -> None:
    """What the page inside declares holds for another form of it."""
    page = f'<meta charset="iso-8859-1"><p>{SENTENCE}</p><p>Łódź</p>'
    message = EmailMessage()
    message["Subject"] = "x"
    message.set_content(page, subtype="html")
    assert "Łódź" in read_mail(message.as_bytes(), "m.eml").text
