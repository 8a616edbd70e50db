"""One file: our reading beside those of others, and which differences are known."""

from __future__ import annotations

import fnmatch
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath

from tests.values import others
from tests.values.comparing import (
    Difference,
    compare,
    compare_json,
    compare_profiles,
    compare_rows,
    compare_texts,
)
from tests.values.reading import Reading, ours

_KNOWN = Path(__file__).with_name("known.toml")


@dataclass(frozen=True)
class Known:
    """A difference that is right: `difference` is searched for in `column: what`, `file` is a glob."""

    difference: str
    reason: str
    file: str = "*"


@dataclass(frozen=True)
class Checked:
    """What came of a file: `told` are differences that our notes name, `silent` unexplained ones."""

    file: str
    refusal: str = ""
    told: list[str] = field(default_factory=list)
    known: list[Known] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)

    @property
    def outcome(self) -> str:
        """The worst that came of it."""
        if self.silent:
            return "silent"
        return (
            "refused"
            if self.refusal
            else "known"
            if self.known
            else "told"
            if self.told
            else "same"
        )


@cache
def known_differences() -> list[Known]:
    return [Known(**each) for each in tomllib.loads(_KNOWN.read_text("utf-8"))["known"]]


def check(file: str, data: bytes) -> Checked:
    """Read one file by all readers, and sort what differs."""
    reading = ours(data, PurePosixPath(file).name)
    checked = Checked(file, refusal=reading.refusal)
    for each in _differences(file, data, reading):
        line = f"{each.column}: {each.what}"
        reason = next(
            (
                known
                for known in known_differences()
                if fnmatch.fnmatch(file, known.file) and re.search(known.difference, line)
            ),
            None,
        )
        if each.is_told:
            checked.told.append(line)
        elif reason:
            checked.known.append(reason)
        else:
            checked.silent.append(line)
    return checked


def _differences(file: str, data: bytes, reading: Reading) -> Iterator[Difference]:
    if reading.refusal:
        return
    suffix = PurePosixPath(file).suffix.lower()
    try:
        if not reading.tables:
            yield from _of_text(suffix, data, reading)
            return
        sheets = others.rows_of(data, file)
    except Exception as error:  # noqa: BLE001 - whatever another reader stumbles over is no news
        yield Difference("", f"the other reader failed: {type(error).__name__}: {error}")
        return
    for table in reading.tables:
        rows = sheets.get(table.name) or next(iter(sheets.values()))
        found = list(compare(table, rows))
        yield from found
        is_even = not any(each.column == "" for each in found) and "were odd" not in " ".join(
            table.notes
        )
        if suffix in {".csv", ".tsv"} and is_even:
            yield from compare_profiles(table, others.profile(data, file))


def _of_text(suffix: str, data: bytes, reading: Reading) -> Iterator[Difference]:
    is_page = suffix in {".html", ".htm"}
    if is_page or suffix in {".docx", ".pdf", ".eml"}:
        words = others.words_of(data, f"x{suffix}")
        yield from compare_texts(reading.text, words, is_page=is_page)
    if is_page:
        yield from compare_rows(reading.text, others.page_rows(data))
    if suffix in {".json", ".jsonl", ".ndjson"}:
        yield from compare_json(reading.text, others.json_value(data))
