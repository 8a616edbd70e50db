"""Which file a question means, where a conversation has several."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..conversation import File
from ..texts.images import IMAGE
from ..view import View
from ..words import has, overlap, stems

TABLE = re.compile(r"\.(?:csv|tsv|xlsx?|parquet|json)$", re.IGNORECASE)
FIGURES = r"how many|total|average|sum|count|chart|plot|per|by|rows?|highest|lowest|most|least|top"


def is_named(view: View) -> bool:
    """Whether the message names a file of this conversation."""
    return any(
        re.search(rf"(?<!\w){re.escape(file.name)}(?!\w)", view.text, re.I) for file in view.files
    )


def meant(text: str, files: Sequence[File]) -> File:
    """The file that is named, else a table by words for figures, an image last."""
    return max(files, key=lambda file: _likely(text, file))


def of_thread(view: View) -> list[File]:
    """The files that stand earlier in this thread, the newest first."""
    if not view.knows("read_thread"):
        return []
    output = view.do("read_thread", "The file may stand earlier in this thread.", limit=50)
    pairs = re.findall(r"([\w.\-]+\.\w{2,7}) \(?(?:file_id )?(F[A-Z0-9]{6,})\b", output)
    return [File(file_id, name.strip()) for name, file_id in reversed(pairs)]


def _likely(text: str, file: File) -> tuple[float, int]:
    kind = (
        0 if IMAGE.search(file.name) else 2 if TABLE.search(file.name) and has(text, FIGURES) else 1
    )
    return overlap(stems(text), stems(file.name)), kind
