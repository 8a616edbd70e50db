"""Streaming of unfinished Markdown: the part of a text that can be shown now and never taken back.

No link is allowed while a run works. A word is shown when it is complete, so that an address that
arrives in pieces cannot pass the gate. Code and links wait in the same way while their line may
still end them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.slack.edge.text import clean
from bot.slack.ui.links import Code, Link, LinkGate, Piece, Text, display_address
from bot.slack.ui.markdown import code_span, join_spans
from bot.text.mentions import Mention
from bot.text.redaction import redacted

_HALF_WORD = re.compile(r"\S+\Z")
_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")
_FENCE = re.compile(r"[ \t]*(?P<marks>```|~~~)[`~]*[ \t]*(?P<language>[\w+#.-]{0,30})")
_SPAN = r"(?<!`)(?P<ticks>`{1,2})(?!`)(?P<code>[^\n]{1,300}?)(?<!`)(?P=ticks)(?!`)"
_LINK = r"!?\[(?P<label>[^\[\]\n]{0,300})\]\(\s*<?(?P<url>[^\s()<>]{1,2000})>?[^()\n]{0,300}\)"
_CLOSED = re.compile(f"{_SPAN}|{_LINK}")
_OPEN = (re.compile(r"`[^\n]{0,310}\Z"), re.compile(r"!?\[[^\[\]\n]{0,300}\Z"))
# 2*3*4 and x**2 emphasise nothing (`bot.text.markdown`).
_SIGNS = r"(?<=[0-9A-Za-z])\*(?=[0-9A-Za-z]|\*[0-9])|(?<=[0-9A-Za-z]\*)\*(?=[0-9])"
# Emphasis, lists and headings are harmless; these open code, links, images, tags and entities.
_SPECIAL = re.compile(r"[\\`\[\]]|<(?=[A-Za-z/!?@#])|&(?=#?\w+;)|" + _SIGNS)


def streamable(text: str) -> str:
    """Return the part of `text` that is certain, as Markdown without links.

    The result for a longer text always begins with the result for a shorter one.
    """
    # The full stop keeps `clean` from stripping the space that says the last word is whole.
    whole = redacted(_HALF_WORD.sub("", clean(f"{text}.")))
    return join_spans(_blocks(whole))


def _blocks(text: str) -> Iterator[str]:
    """Yield prose, and fenced code line by line."""
    prose, fence = "", ""
    for line in _LINE.findall(text):
        found, is_whole = _FENCE.match(line), line.endswith("\n")
        if not is_whole and (found or not line.strip(" \t`~")):
            break  # the line may become the start or the end of a fence
        if found and fence in ("", found["marks"]):
            yield from _prose(prose)
            yield "```\n" if fence else f"```{found['language']}\n"
            prose, fence = "", "" if fence else found["marks"]
        elif fence:
            yield line.replace("```", "'''")
        else:
            prose += line
    yield from _prose(prose)


def _prose(text: str) -> Iterator[str]:
    """Yield all but the end of the last line that may still become code or a link."""
    last_line = _CLOSED.sub(_masked, text[text.rfind("\n") + 1 :])
    sure = last_line
    for opening in _OPEN:
        found = opening.search(sure)
        sure = sure[: found.start()] if found else sure
    return _inline(text[: len(text) - len(last_line) + len(sure)])


def _masked(found: re.Match[str]) -> str:
    """Mask a complete span in the search for open ones; a label may contain code but no link."""
    return ("x" if found["code"] else "]") * len(found[0])


def _inline(text: str) -> Iterator[str]:
    last = 0
    for found in _CLOSED.finditer(text):
        yield from _words(text[last : found.start()])
        if found["code"]:
            yield code_span(found["code"].strip())
        else:
            yield from _inline(found["label"])
            yield " ("
            yield code_span(display_address(found["url"]))
            yield ")"
        last = found.end()
    yield from _words(text[last:])


def _words(text: str) -> Iterator[str]:
    return map(_written, LinkGate().pieces(text))


def _written(piece: Piece) -> str:
    match piece:
        case Text(text):
            return _SPECIAL.sub(lambda found: f"\\{found[0]}", text)
        case Code(text):
            return code_span(text)
        case Link() | Mention():  # an empty gate permits none
            return ""
