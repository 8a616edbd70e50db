"""The file of a backup: a header, pieces of JSON, and an end, one per line.

Each piece is compressed and sealed with `BOT_ENCRYPTION_KEYS` (Fernet). It says which backup it
belongs to and its number, and the end says how many pieces there were: a file that was cut, mixed
or reordered is found. Without keys the pieces are only encoded; the end then has a hash, which
finds accidents.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import sys
import tempfile
import zlib
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from bot.core.errors import ConfigurationError
from bot.core.ids import new_id

FORMAT = "slack-answer-bot backup"
VERSION = 2
"""Version 1 had no items with `more`."""

STDOUT = Path("-")
_PIECE = 4 * 2**20  # characters; a single key can take more
_LONGEST_PIECE = 512 * 2**20  # bytes, decompressed

Item = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Header:
    """The first line: which backup this is, and when it was made."""

    id: str
    made_at: datetime
    is_sealed: bool
    version: int = VERSION


class Sealing:
    """Seals pieces with the keys of the bot, or only encodes them without keys."""

    def __init__(self, keys: str) -> None:
        fernets = [Fernet(key.strip()) for key in keys.split(",") if key.strip()]
        self._box = MultiFernet(fernets) if fernets else None

    @property
    def is_sealed(self) -> bool:
        """Whether there are keys."""
        return self._box is not None

    def close(self, text: bytes) -> bytes:
        """Return `text`, compressed and sealed, as one line."""
        packed = zlib.compress(text, 6)
        return self._box.encrypt(packed) if self._box else base64.urlsafe_b64encode(packed)

    def open(self, line: bytes, *, is_sealed: bool) -> bytes:
        """Return what `close` was given. Raises ConfigurationError for anything else."""
        try:
            if not is_sealed:
                packed = base64.urlsafe_b64decode(line)
            elif self._box is None:
                raise ConfigurationError(
                    "The backup is sealed: set the BOT_ENCRYPTION_KEYS of then."
                )
            else:
                packed = self._box.decrypt(line)
            reader = zlib.decompressobj()
            text = reader.decompress(packed, _LONGEST_PIECE)
        except InvalidToken:
            raise ConfigurationError(
                "The backup is damaged, or sealed with other BOT_ENCRYPTION_KEYS."
            ) from None
        except (binascii.Error, zlib.error):
            raise ConfigurationError(_DAMAGED) from None
        return text


_DAMAGED = "The backup is damaged."


class ArchiveWriter:
    """A backup that is being written. `keys` counts what was added."""

    def __init__(self, file: IO[bytes], sealing: Sealing) -> None:
        self.header = Header(new_id("backup"), datetime.now(UTC), sealing.is_sealed)
        self.keys = 0
        self._file = file
        self._sealing = sealing
        self._pieces, self._checksum = 0, hashlib.sha256()
        first = {
            "format": FORMAT,
            "version": VERSION,
            "id": self.header.id,
            "made_at": self.header.made_at.isoformat(),
            "sealed": self.header.is_sealed,
        }
        file.write(json.dumps(first).encode() + b"\n")

    def add(self, items: Iterable[Item]) -> None:
        """Write items in pieces of a few megabytes, which is what reading takes of memory."""
        texts, size = list[str](), 0
        for item in items:
            self.keys += not item.get("more")
            texts.append(text := json.dumps(item))
            size += len(text)
            if size > _PIECE:
                self._write(texts)
                texts, size = [], 0
        if texts:
            self._write(texts)

    def _write(self, items: Sequence[str]) -> None:
        about = json.dumps({"backup": self.header.id, "number": self._pieces})
        text = f'{about[:-1]}, "items": [{", ".join(items)}]}}'.encode()
        self._checksum.update(text)
        self._file.write(self._sealing.close(text) + b"\n")
        self._pieces += 1

    def end(self) -> None:
        """Write the end, without which the backup is not whole."""
        end = {
            "backup": self.header.id,
            "pieces": self._pieces,
            "sha256": self._checksum.hexdigest(),
        }
        self._file.write(self._sealing.close(json.dumps(end).encode()) + b"\n")


@contextmanager
def new_archive(path: Path, sealing: Sealing) -> Generator[ArchiveWriter]:
    """Write a backup inside the context, to a new file that only this user can read.

    `STDOUT` means stdout. A file appears under its name when it is whole. Raises ConfigurationError
    when it exists or cannot be written.
    """
    try:
        with _stdout() if path == STDOUT else _new_file(path) as file:
            archive = ArchiveWriter(file, sealing)
            yield archive
            archive.end()
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written: {error.strerror}.") from None


@contextmanager
def _stdout() -> Generator[IO[bytes]]:
    if sys.stdout.isatty():
        raise ConfigurationError("A backup is not for reading: give a file, or pipe it somewhere.")
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()


@contextmanager
def _new_file(path: Path) -> Generator[IO[bytes]]:
    if path.exists():
        raise ConfigurationError(f"{path} exists already: give another name.")
    # A new file with a name of its own: nobody else can have made it or have it open.
    handle, unfinished = tempfile.mkstemp(".unfinished", f"{path.name}.", path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(unfinished).rename(path)
    finally:
        Path(unfinished).unlink(missing_ok=True)


def read_header(path: Path) -> Header:
    """Return the first line of a backup. Raises ConfigurationError for a file that is none."""
    try:
        with path.open("rb") as file:
            given = json.loads(file.readline(10_000))
        is_ours = given["format"] == FORMAT
        made_at = datetime.fromisoformat(given["made_at"]).astimezone(UTC)
        header = Header(str(given["id"]), made_at, bool(given["sealed"]), int(given["version"]))
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        raise ConfigurationError(f"{path} is no backup of this bot.") from None
    if not is_ours:
        raise ConfigurationError(f"{path} is no backup of this bot.")
    if header.version > VERSION:
        raise ConfigurationError(f"{path} was made by a newer version of the bot.")
    return header


@contextmanager
def naming(path: Path) -> Generator[None]:
    """Name the file in an error about a backup."""
    try:
        yield
    except ConfigurationError as error:
        text = str(error).replace("The backup", f"The backup {path}", 1)
        raise ConfigurationError(text) from None


def read_archive(path: Path, sealing: Sealing) -> Iterator[list[Item]]:
    """Yield the pieces of a backup in order.

    Raises ConfigurationError for a file that is damaged or not whole, which may show only at its
    end: read it once to check before anything is done with it.
    """
    header = read_header(path)
    number, checksum = 0, hashlib.sha256()
    with path.open("rb") as file:
        file.readline()
        for line in file:
            text = sealing.open(line.strip(), is_sealed=header.is_sealed)
            piece = _parsed(text)
            if piece.get("backup") != header.id:
                raise ConfigurationError(_DAMAGED)
            if "pieces" in piece:
                if piece["pieces"] != number or piece.get("sha256") != checksum.hexdigest():
                    raise ConfigurationError(_DAMAGED)
                if file.read(1):
                    raise ConfigurationError(_DAMAGED)
                return
            if piece.get("number") != number or not isinstance(piece.get("items"), list):
                raise ConfigurationError(_DAMAGED)
            checksum.update(text)
            number += 1
            yield piece["items"]
    raise ConfigurationError("The backup is not whole: its end is missing.")


def _parsed(text: bytes) -> dict[str, Any]:
    try:
        return dict(json.loads(text))
    except (ValueError, TypeError, RecursionError):
        raise ConfigurationError(_DAMAGED) from None
