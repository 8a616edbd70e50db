"""The same files read by others: csv, json, calamine, mammoth, pdfminer and pandas. Packages are
imported where they are used: only the full form installs all of them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import PurePosixPath
from typing import Any

Rows = list[list[Any]]


def rows_of(data: bytes, name: str) -> dict[str, Rows]:
    """All rows by sheet, the header among them and nothing left out: text of CSV files, typed cells
    of the others."""
    match PurePosixPath(name).suffix:
        case ".xlsx" | ".xlsm":
            return _workbook(data)
        case ".json" | ".jsonl" | ".ndjson":
            return {"": _records(data)}
        case ".parquet":
            import pyarrow.parquet as pq

            table = pq.read_table(io.BytesIO(data))
            cells = [column.to_pylist() for column in table.columns]
            return {"": [table.column_names, *map(list, zip(*cells, strict=True))]}
        case _:
            return {"": _delimited(_decoded(data))}


def words_of(data: bytes, name: str) -> str:
    """The text of a document."""
    if name.endswith(".docx"):
        import mammoth

        return str(mammoth.extract_raw_text(io.BytesIO(data)).value)
    from pdfminer.high_level import extract_text

    return str(extract_text(io.BytesIO(data)))


def _decoded(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        from charset_normalizer import from_bytes

        return str(from_bytes(data).best())


def _delimited(text: str) -> Rows:
    """The delimiter is the one that makes most rows as wide as the first one."""
    csv.field_size_limit(10_000_000)
    read = [list(csv.reader(io.StringIO(text, newline=""), delimiter=each)) for each in ",;\t|"]
    return max(read, key=lambda rows: sum(len(row) == len(rows[0]) > 1 for row in rows if rows))


def _workbook(data: bytes) -> dict[str, Rows]:
    from python_calamine import CalamineWorkbook

    book = CalamineWorkbook.from_object(io.BytesIO(data))
    return {
        name: book.get_sheet_by_name(name).to_python(skip_empty_area=False)
        for name in book.sheet_names
    }


def _records(data: bytes) -> Rows:
    """The objects of a list, of the one list in an object, or of the lines; [] where there are none."""
    text = data.decode("utf-8-sig")
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        value = [json.loads(line) for line in text.splitlines() if line.strip()]
    if isinstance(value, dict):
        lists = [each for each in value.values() if isinstance(each, list)]
        value = lists[0] if len(lists) == 1 else None
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        return []
    keys = list(dict.fromkeys(key for each in value for key in each))
    return [keys, *([each.get(key) for key in keys] for each in value)]


def profile(data: bytes, name: str) -> dict[str, tuple[int, str, float]]:
    """What pandas says of each column of a CSV file: values that are there, type and sum; nothing
    where it is not installed."""
    try:
        import pandas as pd
    except ImportError:
        return {}

    tab = "\t" if name.endswith(".tsv") else ","
    frame = pd.read_csv(io.StringIO(_decoded(data)), sep=tab, low_memory=False)
    return {
        str(column): (
            int(cells.notna().sum()),
            str(cells.dtype),
            float(cells.sum()) if cells.dtype.kind in "iuf" else 0.0,
        )
        for column, cells in frame.items()
    }
