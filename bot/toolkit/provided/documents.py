"""The document service for tools: files of other people, read in a child process with limits."""

from __future__ import annotations

from typing import Protocol

from pydantic import BaseModel

from bot.library.documents.file_kinds import Kind as Kind
from bot.toolkit.tool import ToolResult


class DocumentText(BaseModel):
    """The text of a document, with the title and date that it states.

    `notes` say how it was read; `left_out` has a sentence for each part that was not read.
    `raw_sha256` is the hash of the file, in hex.
    """

    text: str
    title: str = ""
    date: str = ""
    pages: int | None = None
    notes: list[str] = []
    left_out: list[str] = []
    raw_sha256: str = ""


class ReadTable(BaseModel):
    """A table as Parquet; `name` is that of its sheet if the file has several.

    `notes` say how it was read; `left_out` has a sentence for each part that was not read.
    `raw_sha256` is the hash of the whole file, in hex.
    """

    name: str
    notes: list[str]
    left_out: list[str] = []
    data: bytes = b""
    raw_sha256: str = ""


class Documents(Protocol):
    """Reads files, and saves what they hold as artifacts of the current request's thread."""

    def kind_of(self, name: str, media_type: str, data: bytes) -> Kind:
        """Return the format of a file, by its first bytes, its name, and its media type.

        Raises ToolError, naming the formats that can be read, for any other.
        """

    async def read(
        self,
        data: bytes,
        kind: Kind,
        *,
        name: str,
        sheet: str | None = None,
        pages: str | None = None,
    ) -> DocumentText | list[ReadTable]:
        """Read a file: one `sheet` of a workbook or all, these `pages` of a PDF ("1-5,8") or all.

        Raises ToolError with a sentence on what is wrong with the file.
        """

    async def save(
        self,
        found: DocumentText | list[ReadTable],
        *,
        name: str,
        title: str = "",
        url: str | None = None,
        query: str | None = None,
        compact: bool = False,
        own: bool = False,
    ) -> ToolResult:
        """Save what was read, and return a text about it with its handles.

        Unless `compact`, that text has a profile of each table, or as much of a document as fits;
        with `query`, it has the passages with the most of these words. `own` is that of ToolResult.
        """
