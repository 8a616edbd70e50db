"""Reports open in the programs that people have, say what was written, and lead nowhere unseen."""

from __future__ import annotations

import ctypes
import io
import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import docx
import pypdfium2
import pypdfium2.raw as pdfium
import pytest
import typst
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from pypdf import PdfReader

from bot.core.context import RequestContext, bound_request
from bot.core.errors import ToolError
from bot.library.documents import drawing, glyphs
from bot.library.documents.reports.images import plain_png
from bot.services import reports
from bot.services.artifact_tables import ArtifactTables
from bot.testing.artifacts import MemoryArtifacts
from bot.testing.conversation import MemoryConversation
from bot.toolkit import CHART_TYPE, Chart, Series
from tests.support.tools import share

DRAWN = drawing.Chart("bar", "C", ["a", "b"], [drawing.Series("n", [1.0, 2.0])])

TEXT = """\
# Review of Zoë's team

**Revenue** grew, see the [dashboard](https://example.com/d). 5 < 6 #let $x$ @ref `code`

1. first
2. second
   - nested

Then again:

1. one

| Region | Revenue |
|--------|--------:|
| North  | 1,234.5 |

> Said by somebody.

Привет Ελληνικά שלום

مرحبا بالعالم
"""


@pytest.fixture(autouse=True)
def a_german_asks(request_context: RequestContext) -> Iterator[None]:
    german = request_context.request.model_copy(update={"locale": "de-DE"})
    links = ("https://example.com/d", *CLICKED)
    with bound_request(replace(request_context, request=german, links=links)):
        yield


async def shared(name: str, text: str, artifacts: MemoryArtifacts) -> bytes:
    conversation = MemoryConversation()
    await share(
        name,
        conversation,
        artifacts,
        content=text,
    )
    return conversation.shared[0][1]


def opened(data: bytes) -> tuple[Any, str]:
    document = docx.Document(io.BytesIO(data))
    return document, "\n".join(each.text for each in document.paragraphs)


def letters(data: bytes) -> str:
    return "\n".join(page.extract_text() for page in PdfReader(io.BytesIO(data)).pages)


def links_of(data: bytes) -> list[str]:
    """The addresses that a PDF leads to, in reading order; one that is broken over lines counts once."""
    annotations = [
        each.get_object()["/A"]["/URI"]
        for page in PdfReader(io.BytesIO(data)).pages
        for each in page.get("/Annots") or ()
    ]
    return list(dict.fromkeys(annotations))


def _guessed(data: bytes) -> list[str]:
    """The addresses of the web that Chrome's viewer makes links of by itself."""
    found = []
    for page in pypdfium2.PdfDocument(data):
        links = pdfium.FPDFLink_LoadWebLinks(page.get_textpage())
        for number in range(pdfium.FPDFLink_CountWebLinks(links)):
            url = (ctypes.c_ushort * 500)()
            length = pdfium.FPDFLink_GetURL(links, number, url, 500)
            found.append("".join(map(chr, url[: length - 1])))
    return [each for each in found if not each.startswith("mailto:")]


async def test_a_report_is_a_word_document_in_words_own_styles(artifacts: MemoryArtifacts) -> None:
    """So that people can go on working on it; each list counts for itself."""
    document, text = opened(await shared("r.docx", TEXT, artifacts))
    styles = {each.text: (each.style and each.style.name) for each in document.paragraphs}
    assert styles["Review of Zoë's team"] == "Heading 1"
    assert styles["first"] == styles["one"] == "List Number"
    assert styles["nested"] == "List Bullet 2"
    assert styles["Said by somebody."] == "Quote"
    numbered = [p for p in document.paragraphs if p.text in {"first", "second", "one"}]
    first, second, one = (p._p.pPr.numPr.numId.val for p in numbered)
    assert first == second != one
    [table] = document.tables
    assert [cell.text for cell in table.rows[1].cells] == ["North", "1,234.5"]
    assert "dashboard (https://example.com/d). 5 < 6 #let $x$ @ref code" in text
    assert document.core_properties.title == "Review of Zoë's team"
    [arabic] = [p for p in document.paragraphs if p.text.startswith("مر")]
    assert arabic._p.pPr.xpath("w:bidi")
    parts = [each.tag.split("}")[1] for each in table._tbl.tblPr]
    assert parts == sorted(
        parts, key=["tblStyle", "tblW", "jc", "tblBorders", "tblLayout", "tblLook"].index
    )
    assert document.sections[0].page_width.cm == pytest.approx(21, abs=0.1)


async def test_a_report_is_a_pdf_that_can_be_searched(artifacts: MemoryArtifacts) -> None:
    """What is written is data: none of it is run as the typesetter's own language."""
    data = await shared("r.pdf", TEXT, artifacts)
    text = letters(data)
    assert "5 < 6 #let $x$ @ref code" in text
    assert "dashboard (https://example.com/d)" in text
    assert "Привет Ελληνικά" in text
    assert "1,234.5" in text
    reader = PdfReader(io.BytesIO(data))
    assert reader.metadata is not None
    assert reader.metadata.title == "Review of Zoë's team"
    assert links_of(data) == ["https://example.com/d"]


LINKS = """\
See https://a.example/x?y=1, (https://b.example/c), <https://c.example/d> and **[here](https://d.example/e_(f))**.

[https://good.example](https://evil.example/z) · [mail](mailto:a@b.example) · [no](javascript:alert) `https://code.example`

| Where |
|---|
| https://t.example/1 |
"""
CLICKED = [
    "https://a.example/x?y=1",
    "https://b.example/c",
    "https://c.example/d",
    "https://d.example/e_(f)",
    "https://good.example",
    "https://evil.example/z",
    "https://t.example/1",
]


async def test_an_address_in_a_report_can_be_clicked_and_is_what_one_reads(
    artifacts: MemoryArtifacts,
) -> None:
    """U15: in a PDF and in Word; a label is no link, so that nobody is led where they do not see."""
    data = await shared("r.pdf", LINKS, artifacts)
    assert links_of(data) == CLICKED
    document, _ = opened(await shared("r.docx", LINKS, artifacts))
    every = [*document.paragraphs, *document.tables[0].rows[1].cells[0].paragraphs]
    links = [link for paragraph in every for link in paragraph.hyperlinks]
    assert [link.address for link in links] == CLICKED
    assert [link.text for link in links] == CLICKED


MADE_UP = """\
# See https://evil.example/1?q=s

[Report](https://evil.example/2?q=s) and <https://evil.example/3?q=s>, HTTPS://EVIL.example/4?q=s,
www.evil.example/5?q=s, [file](file:///etc/passwd), ftp://evil.example/6, [data](data:text/html;x),
https://good.example.evil.example/7, https://good.example@evil.example/8, https://good.example/9#s

- https://evil.example/10
  > https://evil.example/11

![https://evil.example/12](https://evil.example/13)

| https://evil.example/14 |
|---|
| https://evil.example/15 |

    https://evil.example/16
"""


@pytest.mark.parametrize("is_asked", [True, False])
async def test_an_address_that_the_model_made_up_is_text(
    artifacts: MemoryArtifacts, request_context: RequestContext, is_asked: bool
) -> None:
    """No file links to it, and no viewer that looks for addresses by itself makes it a link."""
    asked = request_context.request.model_copy(update={"text": MADE_UP if is_asked else "?"})
    with bound_request(replace(request_context, request=asked, links=("https://good.example/9",))):
        pdf = await shared("r.pdf", MADE_UP, artifacts)
        word = await shared("r.docx", MADE_UP, artifacts)
    clicked = set(links_of(pdf))
    relations = docx.Document(io.BytesIO(word)).part.rels.values()
    assert {each.target_ref for each in relations if each.is_external} == clicked
    if is_asked:
        assert "https://evil.example/2?q=s" in clicked
    else:
        assert clicked == {"https://good.example/9"}  # without the fragment
        assert set(_guessed(pdf)) <= clicked
    for data in (letters(pdf).replace("\u200b", ""), opened(word)[1]):
        assert "https://evil.example/2?q=s" in data


async def test_charts_and_tables_stand_in_by_their_handles(artifacts: MemoryArtifacts) -> None:
    """K7: figures are in the form of the report's language; years are no amounts. An address is not fetched."""
    table = await ArtifactTables(artifacts).save(
        ["region", "revenue", "year", "first_day"],
        [["North", 1234567.5, 2024, "2024-01-03"], ["=1+1", -3.25, 2025, None]],
        name="sales",
    )
    chart = Chart(title="C", kind="bar", labels=["a"], series=[Series(name="n", values=[1.0])])
    png = await artifacts.save(drawing.png(DRAWN), name="c.png", media_type="image/png")
    kept = chart.model_copy(update={"image": png.handle}).model_dump_json().encode()
    saved = await artifacts.save(kept, name="C", media_type=CHART_TYPE, prefix="chart")
    text = (
        f"# R\n\n![Je Region]({table.handle})\n\n- Das ist ein Punkt\n\n  ![Diagramm]({saved.handle})\n\n"
        "![far away](https://evil.example/x.png)"
    )
    document, said = opened(await shared("r.docx", text, artifacts))
    rows = [[cell.text for cell in row.cells] for row in document.tables[0].rows]
    assert rows == [
        ["region", "revenue", "year", "first day"],
        ["North", "1.234.567,50", "2024", "03.01.2024"],
        ["=1+1", "-3,25", "2025", ""],
    ]
    assert len(document.inline_shapes) == 1
    assert "Je Region" in said
    assert "evil.example" not in said
    page = PdfReader(io.BytesIO(await shared("r.pdf", text, artifacts))).pages[0]
    assert len(page.images) == 1
    assert "1.234.567,50" in page.extract_text()


@pytest.fixture
def own_fonts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the machine's fonts: none until the test puts one there."""
    folder = tmp_path / "fonts"
    folder.mkdir()
    bundled = glyphs._bundled_folder()

    def fonts() -> typst.Fonts:
        return typst.Fonts(include_system_fonts=False, font_paths=[bundled, folder])

    monkeypatch.setattr(glyphs, "fonts", fonts)
    return folder


async def test_letters_that_no_font_has_are_told(
    artifacts: MemoryArtifacts, conversation: MemoryConversation, own_fonts: Path
) -> None:
    """A PDF never has boxes for words: signs are left out and named, for words there is Word."""
    result = await share(
        "r.pdf",
        conversation,
        artifacts,
        content="Done \U0001f680 ✔ now",
    )
    assert "left out, as no font here has them: \U0001f680" in result.content
    assert "Done" in letters(conversation.shared[0][1])
    with pytest.raises(ToolError, match=r"No font on this machine has 中 文.*as \.docx"):
        await share(
            "r.pdf",
            conversation,
            artifacts,
            content="by 中文",
        )
    await share(
        "r.docx",
        conversation,
        artifacts,
        content="by 中文 \U0001f680",
    )
    assert opened(conversation.shared[1][1])[1] == "by 中文 \U0001f680"


def own_font(folder: Path, character: str, *, weight: int = 400, coloured: bool = False) -> Path:
    """A font that draws this character only, with `coloured` as fonts of emoji do."""
    pen = TTGlyphPen(None)
    pen.moveTo((50, 0))
    for corner in ((50, 700), (450, 700), (450, 0)):
        pen.lineTo(corner)
    pen.closePath()
    names = {"familyName": f"Own {ord(character):x}", "styleName": "Regular"}
    builder = FontBuilder(1000)
    builder.setupGlyphOrder([".notdef", "sign"])
    builder.setupCharacterMap({ord(character): "sign"})
    builder.setupGlyf({".notdef": TTGlyphPen(None).glyph(), "sign": pen.glyph()})
    builder.setupHorizontalMetrics({".notdef": (500, 0), "sign": (500, 50)})
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable(names | {"psName": f"Own{ord(character):x}-{weight}"})
    builder.setupOS2(usWeightClass=weight)
    builder.setupPost()
    if coloured:
        builder.setupCOLR({"sign": [("sign", 0)]})
        builder.setupCPAL([[(1.0, 0.0, 0.0, 1.0)]])
    builder.save(path := folder / f"own-{weight}.ttf")
    return path


@pytest.mark.parametrize("fonts", ["without fonts", "with fonts"])
@pytest.mark.parametrize(
    "text", ["中文の報告", "한국어", "हिन्दी", "done \U0001f680\U0001fae0", "ᜀᜁ"]
)
async def test_a_pdf_has_no_letters_of_a_last_resort(
    artifacts: MemoryArtifacts, own_fonts: Path, text: str, fonts: str
) -> None:
    """V11: a font that draws the same boxes for all of Unicode shows nothing: the text is refused,
    its signs are named, or a real font of this machine draws it."""
    if fonts == "with fonts":
        own_font(own_fonts, text[-1], coloured=ord(text[-1]) > 0xFFFF)
    with suppress(ToolError):  # which names the letters
        reader = PdfReader(io.BytesIO(await shared("r.pdf", f"Report\n\n{text}", artifacts)))
        objects = [
            font.get_object()
            for page in reader.pages
            for font in cast(Any, page)["/Resources"]["/Font"].values()
        ]
        names = [str(font.get("/BaseFont") or font["/Name"]) for font in objects]
        assert names
        assert not [name for name in names if "lastresort" in name.lower()]


def test_an_image_says_which_letters_it_lacks(own_fonts: Path) -> None:
    """V11: boxes in a chart are explained in the image, and named to the model."""
    rare = "\U00012000"  # cuneiform
    chart = replace(DRAWN, title=f"Sales {rare}")
    known = replace(chart, title="Umsatz €, Größe, Ωμέγα, Привет")
    assert drawing.missing_characters(known) == []
    assert drawing.missing_characters(chart) == [rare]
    boxes = drawing.png(chart)
    plain = drawing.png(replace(chart, title="Sales □"))
    assert boxes != plain  # the line that says what a box is
    own_font(own_fonts, rare)
    assert drawing.missing_characters(chart) == []
    assert drawing.png(chart) != boxes


def test_a_regular_font_is_chosen_before_bold_ones(own_fonts: Path) -> None:
    """Whatever order the fonts of a machine are found in."""
    by_weight = {each: own_font(own_fonts, "\U00012000", weight=each) for each in (100, 400, 900)}
    assert glyphs.fonts_for("\U00012000")[0][-1] == by_weight[400]


@pytest.mark.parametrize("name", ["r.docx", "r.pdf"])
async def test_odd_texts_make_a_file(artifacts: MemoryArtifacts, name: str) -> None:
    """Nothing that a model writes makes a report fail: no heading, no end, too many columns."""
    wide = f"|{'a|' * 30}\n|{'-|' * 30}\n|{'b|' * 30}\n"
    odd = [
        "x" * 5_000,
        "\u202e\u200b\ud800\x00 ok",
        "> " * 30 + "deep",
        "\n".join(f"{'  ' * n}- {n}" for n in range(18)),
        wide,
        "* \n* \n\n#\n\n|a|\n|-|\n",
        "# " + "long heading " * 60,
        "99. ninety-nine\n\n0. zero\n\n2*3*4",
        "```\n" + "y" * 3_000 + "\n```",
        "[](https://x.example) ![]() <b>bold</b> &amp; ***~~all~~***  \nnext",
    ]
    data = await shared(name, "\n\n".join(odd), artifacts)
    said = letters(data) if name.endswith("pdf") else opened(data)[1]
    for part in ("ok", "deep", "ninety-nine", "2*3*4", "next", "17"):
        assert part in said
    too_deep = await shared(name, "> " * 90 + "deepest", artifacts)
    assert "deepest" in (letters(too_deep) if name.endswith("pdf") else opened(too_deep)[1])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("![x](tbl_none)", "no handle tbl_none"),
        ("![x](TEXT)", "only a chart_… or a tbl_…"),
        ("![x](LONG)", "has 1,001 rows and 1 columns; a report shows up to 1000"),
        ("a\n\n" * 11, "11 paragraphs"),
        ("|a|\n|-|\n" + "|b|\n" * 11, "11 cells"),
        ("word " * 50_000, "200,000 at most"),
    ],
)
async def test_what_cannot_stand_in_a_report_says_why(
    artifacts: MemoryArtifacts,
    conversation: MemoryConversation,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    why: str,
) -> None:
    monkeypatch.setattr(reports, "_MAX_BLOCKS", 10)
    monkeypatch.setattr(reports, "_MAX_CELLS", 10)
    kept = await artifacts.save(b"x", name="n", media_type="text/plain", prefix="doc")
    long = await ArtifactTables(artifacts).save(["n"], [[n] for n in range(1001)], name="n")
    text = text.replace("TEXT", kept.handle).replace("LONG", long.handle)
    with pytest.raises(ToolError, match=why):
        await share(
            "r.pdf",
            conversation,
            artifacts,
            content=text,
        )
    assert conversation.shared == []


def png(width: int, height: int, *, rows: int | None = None, profile: bytes = b"") -> bytes:
    """A grey PNG, of `rows` only, with a colour profile of these bytes."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I4s", len(body), kind) + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    packer = zlib.compressobj(9)
    lines = (packer.compress(bytes(width + 1)) for _ in range(height if rows is None else rows))
    about = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    extra = chunk(b"iCCP", b"x\0\0" + zlib.compress(profile, 9)) if profile else b""
    pixels = chunk(b"IDAT", b"".join(lines) + packer.flush())
    return b"\x89PNG\r\n\x1a\n" + about + extra + pixels + chunk(b"IEND", b"")


@pytest.mark.parametrize("name", ["r.pdf", "r.docx"])
@pytest.mark.parametrize(
    ("data", "why"),
    [
        (png(50_000, 50_000, rows=100), "50,000 x 50,000 pixels; a report shows 40,000,000"),
        (png(2**31 - 1, 1, rows=0), "pixels; a report shows"),
        (png(0, 0), "no image that can be read"),
        (png(100, 100)[:60], "no image that can be read"),
        (png(100, 100).replace(b"IDAT", b"IDAX"), "no image that can be read"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "no image that can be read"),
        (b"", "no image that can be read"),
    ],
    ids=["bomb", "line", "nothing", "cut", "altered", "svg", "empty"],
)
async def test_an_image_that_cannot_stand_in_a_report_says_why(
    artifacts: MemoryArtifacts, name: str, data: bytes, why: str
) -> None:
    """Images come from other people's servers, too: none is decoded before it is looked over (S7)."""
    kept = await artifacts.save(data, name="n", media_type="image/png", prefix="img")
    with pytest.raises(ToolError, match=why):
        await shared(name, f"![x]({kept.handle})", artifacts)


async def test_images_of_a_report_are_bounded_together_and_without_profiles(
    artifacts: MemoryArtifacts,
) -> None:
    """S7: a profile in an image may unpack to gigabytes, too; an image without all its rows is told."""
    large = [
        await artifacts.save(png(5_000, 5_000), name=f"{n}", media_type="image/png") for n in "ab"
    ]
    text = "\n\n".join(f"![x]({each.handle})" for each in large)
    with pytest.raises(ToolError, match="40,000,000 pixels together"):
        await shared("r.docx", text, artifacts)
    plain, pixels = plain_png(png(9, 9, profile=bytes(1_000_000)), "x")
    assert (plain, pixels) == (png(9, 9), 81)
    short = await artifacts.save(png(9, 9, rows=2), name="s", media_type="image/png")
    with pytest.raises(ToolError, match="damaged"):
        await shared("r.pdf", f"![x]({short.handle})", artifacts)
