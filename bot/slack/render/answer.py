"""An `Answer` as messages: summary first, then what supports it."""

from __future__ import annotations

from bot.core.answers import Answer, Source
from bot.core.outcome import Outcome
from bot.slack.render import words
from bot.slack.render.charts import chart_pieces
from bot.slack.render.links import LinkGate
from bot.slack.render.markdown import safe_markdown, safe_text
from bot.slack.render.parts import Piece, Upload, context, joined, markdown_pieces, written
from bot.slack.render.tables import table_pieces


def answer_pieces(
    answer: Answer, outcome: Outcome, gate: LinkGate
) -> tuple[list[Piece], list[Upload]]:
    """Everything the answer says, in reading order, and the files that belong to it."""
    pieces = _text(answer.summary, gate) or _text(words.NO_TEXT, gate)
    pieces += _points(answer.key_points, gate)
    uploads: list[Upload] = []
    if answer.table:
        more, files = table_pieces(answer.table, gate)
        pieces, uploads = pieces + more, uploads + files
    for handle in dict.fromkeys(answer.charts):
        more, files = chart_pieces(handle, outcome.charts.get(handle), gate)
        pieces, uploads = pieces + more, uploads + files
    pieces += _titled(words.GAPS, _points(answer.gaps, gate))
    pieces += _titled(words.SOURCES, _sources(answer.sources, gate))
    if answer.confidence in words.CONFIDENCE:
        pieces.append(context(words.CONFIDENCE[answer.confidence]))
    return pieces, _named_apart(uploads)


def _text(markdown: str, gate: LinkGate) -> list[Piece]:
    return markdown_pieces(markdown, gate)


def _points(points: list[str], gate: LinkGate) -> list[Piece]:
    items = [_item("- ", safe_markdown(point, gate)) for point in points if point.strip()]
    return joined([item for item in items if item.strip("- \n")], between="\n")


def _sources(sources: list[Source], gate: LinkGate) -> list[Piece]:
    lines = [_source(number, source, gate) for number, source in enumerate(sources, 1)]
    return joined(lines, between="\n")


def _source(number: int, source: Source, gate: LinkGate) -> str:
    title = " ".join(source.title.split()) or source.url or "?"
    name = safe_text(title, gate)
    if source.url:
        name = _linked(title, source.url, gate)
    supports = safe_text(source.supports, gate)
    return f"{number}. {name}{f' — {supports}' if supports else ''}"


def _linked(title: str, url: str, gate: LinkGate) -> str:
    label = title.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    return safe_markdown(f"[{label}](<{_angle_safe(url)}>)", gate).replace("\n", " ")


def _angle_safe(url: str) -> str:
    return "".join(url.split()).replace("<", "%3C").replace(">", "%3E").replace("\\", "%5C")


def _item(mark: str, text: str) -> str:
    return mark + text.replace("\n", "\n" + " " * len(mark))


def _titled(title: str, pieces: list[Piece]) -> list[Piece]:
    if not pieces:
        return []
    first = pieces[0]
    return [written(f"**{title}**\n\n{first.plain}"), *pieces[1:]]


def _named_apart(uploads: list[Upload]) -> list[Upload]:
    """Files of one message with names of their own, so that each can be told to be up."""
    seen: dict[str, int] = {}
    named = []
    for upload in uploads:
        seen[upload.name] = count = seen.get(upload.name, 0) + 1
        stem, dot, suffix = upload.name.rpartition(".")
        name = upload.name if count == 1 else f"{stem}-{count}{dot}{suffix}"
        named.append(Upload(name, upload.data, upload.handle))
    return named
