"""Text that people do not see and a model reads: taken out wherever somebody else's words come in, and
made visible on a terminal."""

from __future__ import annotations

import re

# Embeddings, overrides and isolates (U+202A–202E, U+2066–2069) reorder what is shown; U+200B,
# U+2060–2064, U+FEFF and the tag characters (U+E0000–E007F) hide text from people. Joiners, and
# the left-to-right and right-to-left marks, belong to ordinary Arabic, Hebrew, Indic and emoji.
_INVISIBLE = re.compile(
    "[\u202a-\u202e\u2066-\u2069\u200b\u2060-\u2064\ufeff\u00ad\u180e\U000e0000-\U000e007f]"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# Tag characters spell the flags of England, Scotland and Wales; there they follow U+1F3F4.
_TAG_FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007e]{2,6}\U000e007f")


def without_unseen(text: str) -> str:
    """`text` without characters that hide text, or change the order in which it is shown."""
    if text.isascii():
        return text
    flags = _TAG_FLAG.findall(text)
    pieces = [_INVISIBLE.sub("", piece) for piece in _TAG_FLAG.split(text)]
    return pieces[0] + "".join(flag + piece for flag, piece in zip(flags, pieces[1:], strict=True))


def for_terminal(text: str) -> str:
    """`text` of several lines for a terminal: what would move its cursor or change its colours stands
    there as its escape."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def escaped(text: str) -> str:
    """`text` for one line of a terminal: what cannot be printed stands there as its escape, so that
    nothing moves the cursor, changes a colour, begins a line or hides."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
