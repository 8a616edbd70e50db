"""Several files at once: what each of them holds, or from which one an answer is."""

from __future__ import annotations

from ..conversation import File
from ..findings import Findings
from ..outputs import parse_document, parse_tables, reason
from ..phrasing import GIST
from ..texts.images import IMAGE
from ..texts.passages import cut, key_sentences
from ..view import View
from .shaping import rows_and_columns

MOST_FILES = 5


def told(view: View, found: Findings) -> bool:
    """A line for each file, where a message brings several and asks what they are; else False."""
    files = view.turn.files
    if len(files) < 2 or not GIST.fullmatch(view.text):
        return False
    found.summary = f"These are **{len(files)} files**:"
    found.points = [_in_a_line(view, found, file) for file in files[:MOST_FILES]]
    if len(files) > MOST_FILES:
        found.gaps.append(f"These are the first {MOST_FILES} of them.")
    found.follow_ups = [f"What is in {file.name}?" for file in files[:3]]
    return True


def tell_source(view: View, found: Findings) -> None:
    """Of several files that came at once, which one the answer is from."""
    latest = next((turn.files for turn in reversed(view.turns) if turn.files), ())
    if len(latest) > 1:
        looked_at = ", ".join(each["title"] for each in found.sources) or "one of them"
        found.gaps.append(f"I look at one file at a time, and this is from {looked_at}.")


def _in_a_line(view: View, found: Findings, file: File) -> str:
    if IMAGE.search(file.name):
        return f"`{file.name}`: an image, of which a stand-in model can tell nothing"
    output = view.do("read_file", f"I read {file.name}.", file_id=file.id)
    document, tables = parse_document(output), parse_tables(output)
    if document:
        found.source(document.source, document.url, "What it says.")
        return f"`{file.name}`: {' '.join(map(cut, key_sentences(document.text)[:1]))}"
    if not tables:
        why = reason(output)
        return f"`{file.name}`{why.removeprefix(file.name) if why.startswith(file.name) else f': {why}'}"
    found.source(tables[0].source, tables[0].url, "Its rows and columns.")
    return "; ".join(rows_and_columns(f"`{table.source}`", table) for table in tables)
