"""Sections shared by the renderers: texts, lists, sources and titles."""

from __future__ import annotations

from bot.core.answers import Source, Statement
from bot.core.outcome import Outcome
from bot.runs.results.source_places import PlacedSource, placed
from bot.slack.ui.links import LinkGate
from bot.slack.ui.markdown import safe_markdown, safe_text
from bot.slack.ui.parts import Piece, joined, markdown_pieces, written


def opening(markdown: str, gate: LinkGate, *, otherwise: str) -> list[Piece]:
    """Return the first text of a result, or `otherwise` if it is empty."""
    return markdown_pieces(markdown, gate) or markdown_pieces(otherwise, gate)


def points(texts: list[str], gate: LinkGate) -> list[Piece]:
    """Return a list of Markdown texts without the empty ones."""
    return listed([safe_markdown(text, gate) for text in texts])


def statements(texts: list[Statement], gate: LinkGate, *, label: str) -> list[Piece]:
    """Return a list of statements, each with a link named `label` to its message."""
    lines = []
    for each in texts:
        text = safe_markdown(each.text, gate)
        link = f" ({linked(label, each.url, gate)})" if each.url and text.strip() else ""
        lines.append(text + link)
    return listed(lines)


def sources(named: list[Source], outcome: Outcome, gate: LinkGate) -> list[Piece]:
    """Return a numbered list of sources with the place in each, what it supports, and its quote."""
    found = enumerate(placed(named, outcome), 1)
    lines = [_source(number, source, gate) for number, source in found]
    return joined(lines, between="\n")


def listed(safe: list[str]) -> list[Piece]:
    """Return a list of safe Markdown texts without the empty ones."""
    items = [_item("- ", text) for text in safe if text.strip()]
    return joined([item for item in items if item.strip("- \n")], between="\n")


def linked(title: str, url: str, gate: LinkGate) -> str:
    """Return the title as a link, or with its address as code if the gate refuses it."""
    label = title.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    return safe_markdown(f"[{label}](<{_angle_safe(url)}>)", gate).replace("\n", " ")


def titled(title: str, pieces: list[Piece]) -> list[Piece]:
    """Return the pieces under a title; nothing if there are none."""
    if not pieces:
        return []
    first = pieces[0]
    return [written(f"**{title}**\n\n{first.plain}"), *pieces[1:]]


def _source(number: int, source: PlacedSource, gate: LinkGate) -> str:
    title = " ".join(source.title.split()) or source.url or "?"
    name = linked(title, source.url, gate) if source.url else safe_text(title, gate)
    place = f", {safe_text(source.place, gate)}" if source.place else ""
    supports = safe_text(source.supports, gate)
    quote = f": “{safe_text(source.quote, gate)}”" if source.quote else ""
    return f"{number}. {name}{place}{f' — {supports}' if supports else ''}{quote}"


def _item(mark: str, text: str) -> str:
    return mark + text.replace("\n", "\n" + " " * len(mark))


def _angle_safe(url: str) -> str:
    return "".join(url.split()).replace("<", "%3C").replace(">", "%3E").replace("\\", "%5C")
