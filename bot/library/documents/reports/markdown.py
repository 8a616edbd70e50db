"""Markdown to the blocks of a report. An image with a handle as its address is a figure; nothing is
fetched. Addresses of links are written out and can be clicked, their labels cannot, so that no link
hides where it leads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from markdown_it.tree import SyntaxTreeNode

from bot.library.documents.commonmark import MAX_NESTING, parser
from bot.library.documents.reports.blocks import (
    Alignment,
    Block,
    Code,
    Figure,
    Heading,
    Listing,
    Paragraph,
    Quote,
    Rule,
    Run,
    Runs,
    Table,
    Text,
)

_MAX_DEPTH = 6
"""Nested lists and quotes that fit on a page."""
_ALIGNMENTS: dict[str, Alignment] = {"text-align:right": "end", "text-align:center": "center"}

_ADDRESS = re.compile(r"https?://[^\s<>\"]+")
_NOT_AT_END = ".,;:!?)]}'’”»"

_PARSER = parser()


def parse_blocks(markdown: str) -> tuple[Block, ...]:
    """Return the blocks of a CommonMark text with tables and ~~strikethrough~~."""
    tokens = _PARSER.parse(markdown)
    if any(token.level >= MAX_NESTING for token in tokens):  # the parser drops deeper levels
        lines = (line.strip() for line in markdown.split("\n"))
        return tuple(Paragraph(runs=(Run(text=line),)) for line in lines if line)
    return tuple(_blocks(SyntaxTreeNode(tokens), 0))


def _blocks(parent: SyntaxTreeNode, depth: int) -> Iterator[Block]:
    for node in parent.children:
        match node.type:
            case "heading":
                yield Heading(level=int(node.tag[1]), runs=_runs(node))
            case "paragraph":
                yield _figure(node) or Paragraph(runs=_runs(node))
            case "fence" | "code_block":
                yield Code(text=node.content.rstrip("\n"))
            case "bullet_list" | "ordered_list" | "blockquote" | "list_item" if depth >= _MAX_DEPTH:
                yield from _blocks(node, depth)
            case "bullet_list" | "ordered_list":
                yield _list(node, depth + 1)
            case "blockquote":
                yield Quote(blocks=tuple(_blocks(node, depth + 1)))
            case "table":
                yield _table(node)
            case "hr":
                yield Rule()
            case _:
                pass


def _figure(paragraph: SyntaxTreeNode) -> Figure | None:
    """Return the figure if the paragraph is a single image, else None."""
    [inline] = paragraph.children
    if len(inline.children) != 1 or inline.children[0].type != "image":
        return None
    [image] = inline.children
    return Figure(handle=str(image.attrs["src"]), caption=image.content)


def _list(node: SyntaxTreeNode, depth: int) -> Listing:
    items = tuple(tuple(_blocks(item, depth)) for item in node.children)
    ordered = node.type == "ordered_list"
    return Listing(ordered=ordered, start=int(node.attrs.get("start", 1)), items=items)


def _table(node: SyntaxTreeNode) -> Table:
    head, *bodies = node.children
    heading = head.children[0].children
    return Table(
        heading=tuple(Text(runs=_runs(cell)) for cell in heading),
        rows=tuple(
            tuple(Text(runs=_runs(cell)) for cell in row.children)
            for body in bodies
            for row in body.children
        ),
        alignments=tuple(_ALIGNMENTS.get(str(c.attrs.get("style")), "start") for c in heading),
    )


@dataclass(frozen=True, slots=True)
class _Format:
    bold: bool = False
    italic: bool = False
    strike: bool = False

    def run(self, text: str) -> Run:
        return Run(text=text, bold=self.bold, italic=self.italic, strike=self.strike)

    def address(self, text: str) -> Run:
        """Return an address, as a link if it is one of the web."""
        return self.run(text).model_copy(update={"is_link": bool(_ADDRESS.fullmatch(text))})


def _runs(node: SyntaxTreeNode) -> Runs:
    return tuple(run for inline in node.children for run in _inline(inline, _Format()))


def _inline(node: SyntaxTreeNode, style: _Format) -> Iterator[Run]:
    for each in node.children:
        match each.type:
            case "text" | "image":
                yield from _with_links(each.content, style)
            case "softbreak":
                yield style.run(" ")
            case "hardbreak":
                yield style.run("\n")
            case "code_inline":
                yield Run(text=each.content, code=True)
            case "strong":
                yield from _inline(each, replace(style, bold=True))
            case "em":
                yield from _inline(each, replace(style, italic=True))
            case "s":
                yield from _inline(each, replace(style, strike=True))
            case "link":
                yield from _link(each, style)
            case _:
                pass


def _link(node: SyntaxTreeNode, style: _Format) -> Iterator[Run]:
    label, address = tuple(_inline(node, style)), str(node.attrs["href"])
    if "".join(run.text for run in label) == address:
        yield style.address(address)
        return
    yield from label
    yield style.run(" (")
    yield style.address(address)
    yield style.run(")")


def _with_links(text: str, style: _Format) -> Iterator[Run]:
    """Yield the text, with the addresses in it as links."""
    end = 0
    for found in _ADDRESS.finditer(text):
        address = found[0].rstrip(_NOT_AT_END)
        if before := text[end : found.start()]:
            yield style.run(before)
        yield style.address(address)
        end = found.start() + len(address)
    if text[end:]:
        yield style.run(text[end:])
