"""What the libraries of isolated processes do at work, one function for each. None may need a system call
that the filter refuses."""

from __future__ import annotations

import io
import shutil
import sqlite3
import tempfile
import threading
import time
import traceback
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def run() -> dict[str, str]:
    """Run all and return the errors by name."""
    errors = {}
    for work in _ALL:
        try:
            work()
        except Exception:  # noqa: BLE001 - reported
            errors[work.__name__] = traceback.format_exc()[-600:]
    return errors


def duckdb_spills_to_disk() -> None:
    import duckdb

    with duckdb.connect(config={"memory_limit": "30MB", "threads": 2}) as connection:
        connection.execute("SET temp_directory = 'spilled'")
        connection.execute("SET preserve_insertion_order = false")
        rows = "SELECT i, hash(i)::VARCHAR || 'x' AS t FROM range(300_000) r(i)"
        connection.execute(f"COPY ({rows} ORDER BY t) TO 'sorted.parquet' (FORMAT parquet)")
        sql = "SELECT count(*) FROM 'sorted.parquet'"
        assert connection.execute(sql).fetchone() == (300_000,)


def duckdb_reads_text() -> None:
    import duckdb

    Path("a.csv").write_text("a,b\n1,2020-01-01\n" * 1_000)
    Path("a.json").write_text('{"a": [1, {"b": 2}]}\n' * 1_000)
    with duckdb.connect("own.duckdb") as connection:
        connection.execute("CREATE TABLE t AS FROM read_csv('a.csv', all_varchar = true)")
        connection.execute("CREATE TABLE u AS FROM read_json('a.json')")
        connection.execute("CHECKPOINT")


def sqlite_writes_a_log() -> None:
    for mode in ("wal", "delete", "truncate"):
        with sqlite3.connect(f"{mode}.db") as connection:
            connection.execute(f"PRAGMA journal_mode = {mode}")
            connection.execute("CREATE TABLE t AS SELECT 1 AS a")
            connection.execute("VACUUM INTO ?", (f"{mode}-copy.db",))
        connection.close()


def workbooks() -> None:
    import openpyxl

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    for n in range(1_000):
        sheet.append([n, "text", n / 3])
    book.save("book.xlsx")
    assert openpyxl.load_workbook("book.xlsx").worksheets[0].max_row == 1_000


def documents() -> None:
    import docx

    document = docx.Document()
    document.add_paragraph("one")
    document.save("one.docx")
    assert docx.Document("one.docx").paragraphs[0].text == "one"


def pages() -> None:
    import pypdfium2

    pdf = pypdfium2.PdfDocument.new()
    pdf.new_page(200, 200)
    pdf.save("one.pdf")
    page = pypdfium2.PdfDocument("one.pdf")[0]
    assert page.get_textpage().get_text_range() == ""
    assert page.render().width == 200


def web_pages() -> None:
    import trafilatura

    text = "<p>" + "A sentence of a page that is long enough. " * 20 + "</p>"
    assert trafilatura.extract(f"<html><body><article>{text}</article></body></html>")


def linear_algebra() -> None:
    import numpy

    numbers = numpy.random.default_rng(1).random((300, 300))
    numpy.linalg.svd(numbers @ numbers)
    numpy.save("numbers.npy", numbers)
    assert numpy.load("numbers.npy", mmap_mode="r").shape == (300, 300)


def typesetting() -> None:
    import typst

    Path("one.typ").write_text("= One\n$x^2$")
    typst.compile("one.typ", output="one.pdf")


def archives() -> None:
    with zipfile.ZipFile("all.zip", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a/b", b"b" * 100_000)
    with zipfile.ZipFile("all.zip") as archive:
        archive.extractall("unpacked")
    shutil.rmtree("unpacked")


def copies() -> None:
    Path("from").write_bytes(b"x" * 100_000)
    for copy in (shutil.copy, shutil.copyfile):
        copy("from", "to")
        assert Path("to").read_bytes() == b"x" * 100_000
    Path("to").rename("moved")
    Path("moved").touch()
    Path("new").touch()
    assert Path("new").exists()


def temporary_files() -> None:
    with tempfile.TemporaryFile(dir=".") as file, tempfile.NamedTemporaryFile(dir=".") as named:
        file.write(b"x")
        named.write(b"x")
    with tempfile.SpooledTemporaryFile(max_size=1, dir=".") as spooled:
        spooled.write(b"xx")


def threads() -> None:
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(len, ["x"] * 100)) == 100
    ready = threading.Event()
    threading.Timer(0.01, ready.set).start()
    assert ready.wait(10)
    time.sleep(0.01)


def small_libraries() -> None:
    import jmespath
    import markdown_it
    import pint
    import regex

    assert jmespath.search("a[0].b", {"a": [{"b": 1}]}) == 1
    assert "<h1>" in markdown_it.MarkdownIt().render("# a")
    assert pint.UnitRegistry().Quantity(1, "km").to("m").magnitude == 1_000
    assert regex.search(r"(a+)b", "aaab", timeout=1)


def compiled_sheets() -> None:
    import python_calamine

    book = python_calamine.CalamineWorkbook.from_filelike(
        io.BytesIO(Path("book.xlsx").read_bytes())
    )
    assert len(book.get_sheet_by_index(0).to_python()) == 1_000


_ALL: tuple[Callable[[], None], ...] = (
    duckdb_spills_to_disk,
    duckdb_reads_text,
    sqlite_writes_a_log,
    workbooks,
    documents,
    pages,
    web_pages,
    linear_algebra,
    typesetting,
    archives,
    copies,
    temporary_files,
    threads,
    small_libraries,
    compiled_sheets,
)
