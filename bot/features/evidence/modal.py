"""The modal of *Show evidence*: where each figure and quote of an answer comes from.

Each query or program is shown once, with the figures below it that come from its result.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from babel.numbers import format_decimal

from bot.features.evidence import words as texts
from bot.library.tracing.findings import Claim, Finding, Place, Unreadable, Verdict
from bot.library.tracing.writing import value_of
from bot.slack.ui import words
from bot.slack.ui.blocks import Block, actions, modal, plain_section, rich, rich_text, shortened
from bot.slack.ui.buttons import message_button
from bot.slack.ui.links import Code, Link, LinkGate
from bot.slack.ui.parts import context
from bot.text.locales import locale_of
from bot.text.translation import reader_locale

SHOW, PAGE = "show_evidence", "evidence_page"
"""Ids of actions."""

CLAIMS_OF_A_PAGE = 12
MOST_PLACES = 4  # of one claim
_OWN_LINK = re.compile(r" \(link: \S*$")  # of a message, which its name links to already
_PASSAGE = "#:~:text="  # in the address of words on a page
_MOST_CHARACTERS = 300  # of a claim or a formula
_MOST_OF_A_QUERY = 1_500


@dataclass(frozen=True, slots=True)
class ShownPlace:
    """A place in what was read, and the query of the call that read it. `place` is None if the
    viewer may not see it."""

    place: Place | None
    query: str = ""


@dataclass(frozen=True, slots=True)
class ShownClaim:
    """A claim of an answer with the places that the viewer gets to see."""

    finding: Finding
    places: tuple[ShownPlace, ...] = ()
    left_out: int = 0

    @property
    def best(self) -> ShownPlace:
        """The first place that the viewer may see."""
        return next((place for place in self.places if place.place), ShownPlace(None))


@dataclass(frozen=True, slots=True)
class EvidencePage:
    """A page of claims; pages count from 0. `line` is the line under the answer, "" without one."""

    run_id: str
    number: int
    pages: int
    line: str
    unreadable: Unreadable
    claims: Sequence[ShownClaim]


@dataclass(frozen=True, slots=True)
class _Origin:
    """What a group of claims comes from: a query or program, else a source."""

    tool: str = ""
    query: str = ""
    source: str = ""
    url: str = ""
    is_hidden: bool = False

    @classmethod
    def of(cls, shown: ShownPlace) -> _Origin:
        place = shown.place
        if place is None:
            return cls(is_hidden=True)
        return cls(place.tool, shown.query, place.source, place.url)


def is_found(finding: Finding) -> bool:
    """Return whether a claim has an origin, so that it stands below that."""
    return finding.verdict not in (Verdict.UNTRACED, Verdict.UNKNOWN)


def evidence_modal(page: EvidencePage, gate: LinkGate) -> Block:
    """Return the modal with a page.

    Texts are rich text: nothing in them becomes a link, a mention or a format; `gate` says which
    addresses may be links.
    """
    groups = dict[_Origin, list[ShownClaim]]()
    for claim in page.claims:
        if is_found(claim.finding):
            groups.setdefault(_Origin.of(claim.best), []).append(claim)
    missing = [claim for claim in page.claims if not is_found(claim.finding)]
    blocks: list[Block] = [
        *([plain_section(shortened(page.line, 2_900))] if page.line else []),
        context(texts.INTRO()).block,
        *(_group(origin, claims, gate) for origin, claims in groups.items()),
        *([_not_found(missing, page.unreadable)] if missing else []),
        *_paging(page),
    ]
    return modal(texts.TITLE(), blocks, close=words.CLOSE_ONLY())


def _group(origin: _Origin, claims: Sequence[ShownClaim], gate: LinkGate) -> Block:
    """Return a query or source with the claims that come from it."""
    if origin.is_hidden:
        head = [_text(texts.HIDDEN())]
    else:
        head = list(_linked(origin.source or _tool(origin.tool), origin.url, gate))
    elements = [_section(head)]
    if origin.query:
        query = _text(shortened(origin.query.strip(), _MOST_OF_A_QUERY))
        elements.append(rich("preformatted", query))
    elements.append(_list(list(_claim(claim, origin, gate)) for claim in claims))
    return rich_text(*elements)


def _not_found(claims: Sequence[ShownClaim], unreadable: Unreadable) -> Block:
    """Return the plain list of what was not found; `unreadable` says why it may still be right."""
    elements = [_section([_text(texts.NOT_FOUND(), bold=True)])]
    if any(claim.finding.verdict is Verdict.UNKNOWN for claim in claims):
        why = texts.UNREADABLE.get(unreadable, texts.NOT_SEARCHED)()
        elements.append(_section([_text(why)]))
    elements.append(_list([_text(_missing(claim.finding))] for claim in claims))
    return rich_text(*elements)


def _claim(claim: ShownClaim, origin: _Origin, gate: LinkGate) -> Iterator[Block]:
    """Yield a claim with its places: row, column and value, or the words of the line."""
    finding = claim.finding
    yield _text(_said(finding), bold=True)
    if finding.verdict is Verdict.WORKED_OUT:
        yield _text(f" · {_short(finding.formula) or texts.WORKED_OUT()}")
        for place_shown in dict.fromkeys(claim.places):
            if place := place_shown.place:
                yield _text(" · ")
                if _Origin.of(place_shown) != origin:
                    yield _text(f"{place.source or _tool(place.tool)}, ")
                yield from _where(place, gate)
        if claim.left_out:
            yield _text(f" · {texts.MORE_PLACES(count=claim.left_out)}")
        return
    if finding.verdict is Verdict.NEAR_QUOTE:
        yield _text(f" · {texts.NEAR_QUOTE()}")
    if finding.reason in texts.REASONS:
        yield _text(f" · {texts.REASONS[finding.reason]()}")
    if place := claim.best.place:
        yield _text(" · ")
        yield from _where(place, gate)
        if value := _value(finding, place):
            yield _text(f": {value}")


def _missing(found: Finding) -> str:
    """Return a claim that was not found, with the reason if there is one to tell."""
    reason = f" · {texts.REASONS[found.reason]()}" if found.reason in texts.REASONS else ""
    return f"{_said(found)}{reason}"


def _said(found: Finding) -> str:
    return f"“{_short(found.text)}”" if found.kind is Claim.QUOTE else _short(found.text)


def _value(found: Finding, place: Place) -> str:
    """Return what stands at a place: the cell, or the line around a figure.

    A number is written as the answer writes it, or in full where that rounds it.
    """
    if place.row or place.column:
        text = place.text or place.excerpt
        value = value_of(text)
        return text if value is None else _in_full(value, found.text)
    is_repeated = found.kind is Claim.QUOTE and found.verdict is Verdict.READ
    return "" if is_repeated else _OWN_LINK.sub("", place.excerpt)


def _in_full(value: Decimal, answer: str) -> str:
    """Return all digits of a number, written as in the `answer` if that has them all."""
    digits = f"{value.normalize():f}"
    if re.sub(r"\D", "", answer) == re.sub(r"\D", "", digits):
        return answer
    exact: str = format_decimal(
        value.normalize(), locale=locale_of(reader_locale()), decimal_quantization=False
    )
    return exact


def _where(place: Place, gate: LinkGate) -> Iterator[Block]:
    """Yield the place within its source: the name of a cell, or a link to a message or passage."""
    parts = (
        texts.PAGE(number=place.page) if place.page else "",
        texts.ROW(number=place.row) if place.row else "",
        texts.COLUMN(name=place.column) if place.column else "",
    )
    told = ", ".join(filter(None, parts)) or _unnamed(place)
    is_cell = place.row or place.column
    yield from _linked(told, "" if is_cell else place.link, gate)


def _unnamed(place: Place) -> str:
    """Return what a place without a page, row or column is."""
    if _PASSAGE in place.link:
        return texts.PASSAGE()
    is_message = not place.tool or place.link
    return texts.MESSAGE() if is_message else texts.LINE(number=place.line)


def _linked(label: str, address: str, gate: LinkGate) -> Iterator[Block]:
    if not address:
        yield _text(label)
        return
    for piece in gate.link(address, label):
        match piece:
            case Link(url, name):
                yield {"type": "link", "url": url, "text": name}
            case Code(text):
                yield _text(text, code=True)
            case _:
                yield _text(str(getattr(piece, "text", "")))


def _tool(tool: str) -> str:
    """Return the name of what was read without a source."""
    if not tool:
        return texts.WRITTEN()
    return texts.THE_THREAD() if tool == "read_thread" else tool.replace("_", " ")


def _paging(page: EvidencePage) -> list[Block]:
    if page.pages == 1:
        return []
    turns = ((texts.BACK(), "back", page.number - 1), (texts.NEXT(), "next", page.number + 1))
    elements = [
        message_button(label, f"{PAGE}_{name}", f"{page.run_id}:{number}")
        for label, name, number in turns
        if 0 <= number < page.pages
    ]
    told = texts.PAGE_OF(page=page.number + 1, pages=page.pages)
    return [actions(*elements), context(told).block]


def _list(items: Iterable[list[Block]]) -> Block:
    sections = [_section(item) for item in items]
    return {"type": "rich_text_list", "style": "bullet", "elements": sections}


def _section(elements: list[Block]) -> Block:
    return rich("section", *elements)


def _text(text: str, *, bold: bool = False, code: bool = False) -> Block:
    style = {"bold": True} if bold else {"code": True} if code else {}
    return {"type": "text", "text": text or " "} | ({"style": style} if style else {})


def _short(text: str) -> str:
    return shortened(" ".join(text.split()), _MOST_CHARACTERS)
