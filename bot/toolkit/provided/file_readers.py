"""Readers of files that features bring: `read_file` asks them before it reads a file itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from bot.core.request import FileRef
from bot.toolkit.provided.documents import DocumentText


@dataclass(frozen=True, slots=True)
class FileText:
    """What a reader made of a file. `url` opens it for a person, None if nothing does. `note` is the
    bot's own text about it, which the model reads outside the marks around what others wrote."""

    name: str
    text: DocumentText
    url: str | None = None
    note: str = ""


class FileReader(Protocol):
    """Reads a kind of file, in one run."""

    def reads(self, file: FileRef) -> bool:
        """Return whether the file is of this kind, by its name and media type."""

    async def read(self, file_id: str) -> FileText:
        """Read a file that the asker may see. Raises ToolError with a sentence for the model."""


@dataclass(frozen=True, slots=True)
class FileReaders:
    """The readers that features bring to a run."""

    readers: tuple[FileReader, ...] = ()

    def of(self, file: FileRef) -> FileReader | None:
        """Return the reader of a file; None for one that `read_file` reads itself."""
        return next((reader for reader in self.readers if reader.reads(file)), None)
