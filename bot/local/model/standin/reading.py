"""Reads the file that a question is about."""

from __future__ import annotations

from . import images
from .choosing import meant, of_thread
from .findings import Findings
from .outputs import failed, unreadable
from .view import View


def read_for(view: View, found: Findings) -> str | None:
    """What reading the file gave; None when there is no file to read."""
    files = view.turn.files or view.files
    if not files:
        files = of_thread(view)
    if not files:
        found.summary = "I see no file in this thread. Attach one and ask again."
        found.confidence = "low"
        return None
    file = meant(view.text, files)
    if images.IMAGE.search(file.name):
        images.tell(found, [file])
        return None
    output = view.do("read_file", f"I read {file.name} first.", file_id=file.id)
    if failed(output):
        found.summary = unreadable(file.name, output)
        return None
    return output
