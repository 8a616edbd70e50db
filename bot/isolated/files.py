"""`python -m bot.parsing OPTIONS`: reads `input` in the working directory, writes `result.json`
and one Parquet file per table, and gives itself limits before it does.

OPTIONS is a JSON object: kind, name, sheet, pages, memory and output (bytes), cpu and seconds, parent
(process id).
`result.json` holds {"error": sentence}, or {"document": {…}}, or {"tables": [{name, notes, left_out}]}, the
table at index 2 being in `2.parquet`.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

from bot.core.confinement import allow, confine
from bot.parsing.results import Document, Sheet, Unreadable


def main(options: dict[str, Any]) -> None:
    """Read, and write what came of it."""
    confine(
        memory=options["memory"], output=options["output"], network=False, parent=options["parent"]
    )
    allow(cpu=options["cpu"], seconds=options["seconds"])
    try:
        result = _written(read(options))
    except PermissionError:
        # A reader needs neither network nor other programs; a file that makes it try is hostile.
        result = {"error": "The file made its reader do what no reader needs; it was not read."}
    except Unreadable as error:
        result = {"error": str(error)}
    except (MemoryError, RecursionError):
        result = {"error": f"{options['name']} needs more memory to be read than is allowed."}
    Path("result.json").write_text(json.dumps(result), encoding="utf-8")


def read(options: dict[str, Any]) -> list[Sheet] | Document:
    """What `input` holds. Raises Unreadable.

    Each reader's libraries are imported for their own kind only: some take half a second.
    """
    name, data = options["name"], Path("input").read_bytes()
    found: list[Sheet] | Document | Sheet
    match options["kind"]:
        case "csv":
            from bot.parsing.delimited import read_delimited

            found = read_delimited(data, name, Path("0.parquet"))
        case "json":
            from bot.parsing.records import read_json

            found = read_json(data, name)
        case "xlsx":
            from bot.parsing.office import read_workbook

            found = read_workbook(data, name, options["sheet"])
        case "docx":
            from bot.parsing.office import read_word

            found = read_word(data, name)
        case "pdf":
            from bot.parsing.pages import read_pdf

            found = read_pdf(data, name, options["pages"])
        case "mail":
            from bot.parsing.mail import read_mail

            found = read_mail(data, name)
        case "html":
            from bot.parsing.pages import read_html

            found = read_html(data, name)
        case "parquet":
            found = _checked_parquet(name, Path("0.parquet"))
        case _:
            found = _text(data, name)
    return [found] if isinstance(found, Sheet) else found


def _text(data: bytes, name: str) -> Document:
    from bot.parsing.text import decode

    text, encoding = decode(data)
    if not text.strip():
        raise Unreadable(f"{name} is empty.")
    return Document(text, notes=[] if encoding == "utf-8" else [f"Encoding: {encoding}."])


def _checked_parquet(name: str, to: Path) -> Sheet:
    """Write the same table to `to`, so that nobody else opens a file from outside; without numbers
    that are none, which make every sum one."""
    import duckdb

    from bot.parsing.tabular import connect, without_nan

    try:
        with connect() as connection:
            return Sheet("", [], [], notes=without_nan(connection, "read_parquet('input')", to))
    except duckdb.Error as error:
        raise Unreadable(f"{name} is damaged: it is not readable as Parquet.") from error


def _written(found: list[Sheet] | Document) -> dict[str, Any]:
    """Write the sheets whose reader did not; return what the bot is to know of them."""
    if isinstance(found, Document):
        return {"document": dataclasses.asdict(found)}
    from bot.parsing.tabular import write_parquet

    for index, sheet in enumerate(found):
        path = Path(f"{index}.parquet")
        if not path.exists():
            write_parquet(sheet, path)
    return {
        "tables": [
            {"name": sheet.name, "notes": sheet.notes, "left_out": sheet.left_out}
            for sheet in found
        ]
    }


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
