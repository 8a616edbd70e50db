"""The outputs of the bot's tools, as far as the plans need them."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass

_HEAD = re.compile(r"^handle: (?P<handle>\w+)[^<\n]*(?:<(?P<url>[^>\n]+)>)?.*$", re.M)
_COLUMNS = re.compile(r"^columns: (.+)$", re.M)
_NUMBER = re.compile(r"INT|DOUBLE|FLOAT|DECIMAL|REAL", re.IGNORECASE)
_MESSAGE = re.compile(
    r"^(?:(?P<number>\d+) )?\[(?P<when>\d{4}-[\d: -]+)\] (?P<author>[^:\n]+): (?P<text>.*?)"
    r"(?: \(files: [^\n]*?\))?(?: \(\d+ replies\))?(?: \(reactions: [^\n]*?\))?(?: \(link: (?P<url>\S+)\))?$",
    re.M,
)
_PLAIN = re.compile(r"[A-Za-z][A-Za-z _-]*[A-Za-z]")  # needs no quotes in a reference
_SCHEMA = re.compile(r"^(?P<table>\w+)\((?P<columns>\w+ .*)\)$", re.M)


@dataclass(frozen=True)
class Table:
    """A table behind a handle: its columns with their types, and the rows that the output shows."""

    handle: str
    columns: dict[str, str]
    rows: list[list[str]]

    @property
    def numbers(self) -> list[str]:
        """The columns of numbers."""
        return [name for name, kind in self.columns.items() if _NUMBER.search(kind)]

    @property
    def words(self) -> list[str]:
        """The columns of text."""
        return [name for name, kind in self.columns.items() if "CHAR" in kind or kind == "TEXT"]

    @property
    def others(self) -> list[str]:
        """The columns of anything but numbers."""
        return [name for name in self.columns if name not in self.numbers]

    def reference(self, column: str, number: int) -> str:
        """Return a reference to a cell of the row with this number, from 1, which code fills in.

        It names the row by its first cell, as a model would, where that is plain and there once.
        """
        keys = [row[0].casefold() for row in self.rows]
        first, key = next(iter(self.columns)), self.rows[number - 1][0]
        is_named = keys.count(key.casefold()) == 1 and all(map(_PLAIN.fullmatch, (first, key)))
        row = f"{first}={key}" if is_named and column != first else str(number)
        name = column if _PLAIN.fullmatch(column) else f"c{[*self.columns].index(column) + 1}"
        return f"{{{{{self.handle}.{name}[{row}]}}}}"


@dataclass(frozen=True)
class Message:
    """A message of a thread or channel."""

    when: str
    author: str
    text: str
    url: str | None

    @property
    def quote(self) -> str:
        """The text with its author."""
        return f"{self.author}: {self.text}"


def read_table(output: str) -> Table | None:
    """Return the first table that an output describes, if any."""
    head, columns = _HEAD.search(output), _COLUMNS.search(output)
    if not head or not columns:
        return None
    pairs = [each.rpartition(" ") for each in columns[1].split(", ")]
    shown = output[columns.end() :].strip("\n").splitlines()
    rows = list(csv.reader(line for line in shown if not line.startswith(("[", "note: "))))
    kinds = {name: kind for name, _, kind in pairs if name}
    return Table(head["handle"], kinds, [row for row in rows[1:] if row])


def read_handle(output: str) -> str | None:
    """Return the first handle that an output names, if any."""
    head = _HEAD.search(output)
    return head["handle"] if head else None


def read_address(output: str) -> str | None:
    """Return the address of the page an output was read from, if it has one."""
    head = _HEAD.search(output)
    return head["url"] if head else None


def read_messages(output: str) -> list[Message]:
    """Return the messages that an output lists, the oldest first."""
    handle, messages = read_handle(output), list[Message]()
    for found in _MESSAGE.finditer(output):
        facts = found.groupdict()
        number = facts.pop("number")
        if number and handle:
            facts["url"] = f"{{{{{handle}.link[{number}]}}}}"
        messages.append(Message(**facts))
    return messages


def read_schema(output: str) -> dict[str, list[str]]:
    """Return the tables of the databases that an output lists, each with its columns."""
    return {
        each["table"]: [column.split()[0] for column in each["columns"].split(", ")]
        for each in _SCHEMA.finditer(output)
    }


def first_lines(output: str, count: int) -> list[str]:
    """Return the first lines of a document or note, without what only a model has a use for."""
    skipped = ("handle: ", "columns: ", "title: ", "date: ", "note: ", "[", "#")
    lines = [line.strip() for line in output.splitlines()]
    return [line[:300] for line in lines if line and not line.startswith(skipped)][:count]
