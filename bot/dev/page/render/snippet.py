"""The part of a long text that was searched for."""

import re

from markupsafe import Markup, escape

_LENGTH = 160  # characters
_BEFORE = 50  # of them, what leads to the first word


def snippet(text: str, query: str) -> Markup:
    """One piece of the text, with the words of the query marked: its beginning, or where the first
    of them stands if that is further down."""
    wanted = "|".join(map(re.escape, sorted(query.split(), key=len, reverse=True)))
    pattern = re.compile(rf"(?<!\w)(?:{wanted})", re.IGNORECASE)
    first = pattern.search(text) if wanted else None
    start = 0 if first is None or first.end() < _LENGTH else text.find(" ", first.start() - _BEFORE)
    start = min(max(start, 0), first.start() if first else 0)
    piece = text[start : start + _LENGTH]
    if start + _LENGTH < len(text):
        piece = piece.rpartition(" ")[0] or piece
    marked, end = Markup(), 0
    for found in pattern.finditer(piece) if wanted else ():
        marked += escape(piece[end : found.start()]) + Markup("<mark>{}</mark>").format(found[0])
        end = found.end()
    before, after = "… " if start else "", " …" if start + len(piece) < len(text) else ""
    return escape(before) + marked + escape(piece[end:]) + escape(after)
