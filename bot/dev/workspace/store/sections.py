"""The content of a canvas: sections, each of which can be edited.

The limits are those of docs.slack.dev/surfaces/canvases and
docs.slack.dev/reference/methods/canvases.edit.
"""

import re
import secrets
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token

from bot.dev.workspace.errors import SlackFault

SIZE_MAX = 1024**2
HEADING_MAX = 3
CELLS_MAX = 300

_PARSER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
_CHECKBOX = re.compile(r"^\[[ xX]\]\s+")
_LIST_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")


@dataclass
class Section:
    """A section of a canvas: a heading, paragraph, list item, table or block of code."""

    markdown: str
    id: str = field(default_factory=lambda: f"temp:C:{secrets.token_hex(14)}")

    @property
    def heading(self) -> str:
        """The level of the heading, "h1" to "h3"; "" for anything else."""
        marks = re.match(r"(#{1,3})\s", self.markdown)
        return f"h{len(marks[1])}" if marks else ""

    @property
    def text(self) -> str:
        """The text as people read it, without markup."""
        return _CHECKBOX.sub("", "".join(map(_plain, _PARSER.parse(self.markdown))))


@dataclass
class Canvas:
    """The content of a canvas; its `File` has the title and the channels it is shared in."""

    sections: list[Section]

    @property
    def markdown(self) -> str:
        """The whole text."""
        written = ""
        for before, section in zip([None, *self.sections], self.sections, strict=False):
            close = before and _is_item(before) and _is_item(section)
            written += ("\n" if close else "\n\n") * bool(before) + section.markdown
        return written


def sections_of(markdown: str, failure: str) -> list[Section]:
    """Return the sections of a text.

    Raises SlackFault `failure` for a text that a canvas cannot hold; its `detail` says why.
    """
    if len(markdown.encode()) > SIZE_MAX:
        raise SlackFault(failure, detail=f"'content' error: over {SIZE_MAX} bytes")
    tokens, lines = _PARSER.parse(markdown), markdown.split("\n")
    _check(tokens, failure)
    spans = [each.map for each in tokens if each.map and _begins_section(each)]
    ends = [
        *(start for start, _ in spans[1:]),
        len(lines),
    ]  # an empty text has no span, but one end
    return [
        Section("\n".join(lines[start : min(end, following)]).rstrip())
        for (start, end), following in zip(spans, ends, strict=False)
    ]


def _begins_section(token: Token) -> bool:
    """Whether a section begins here: at any list item, and at any other top-level block."""
    if token.type == "list_item_open":
        return True
    return token.level == 0 and token.nesting >= 0 and not token.type.endswith("list_open")


def _check(tokens: list[Token], failure: str) -> None:
    quoted = cells = 0
    for token in tokens:
        line = token.map[0] + 1 if token.map else 0
        quoted += {"blockquote_open": 1, "blockquote_close": -1}.get(token.type, 0)
        cells = 0 if token.type == "table_open" else cells + (token.type in ("th_open", "td_open"))
        problem = ""
        if token.type == "heading_open" and int(token.tag[1]) > HEADING_MAX:
            problem = f"Unsupported heading level ({token.tag})"
        elif quoted and token.type in ("bullet_list_open", "ordered_list_open", "table_open"):
            problem = "Unsupported block type (List) within block quote"
        elif cells > CELLS_MAX:
            problem = f"Tables have at most {CELLS_MAX} cells"
        if problem:
            raise SlackFault(failure, detail=f"'content' error: line {line}: {problem}")


def _is_item(section: Section) -> bool:
    return _LIST_ITEM.match(section.markdown) is not None


def _plain(token: Token) -> str:
    if token.type == "inline":
        return "".join(map(_plain, token.children or []))
    return " " if token.type == "softbreak" else token.content
