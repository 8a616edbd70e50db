"""The modal of *Show evidence*: where each figure and quote of an answer comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.core.findings import Finding, Place, Unreadable, Verdict
from bot.slack.render import evidence_words as texts
from bot.slack.render import words
from bot.slack.render.buttons import EVIDENCE_PAGE, button
from bot.slack.render.links import Code, Link, LinkGate
from bot.slack.render.parts import Block, context, shortened, text_object

CLAIMS_OF_A_PAGE = 8
MOST_PLACES = 4  # of one claim
_OWN_LINK = re.compile(r" \(link: \S*$")  # of a message, which its name links to already
_MOST_CHARACTERS = 300  # of a claim, a formula or a query


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


@dataclass(frozen=True, slots=True)
class EvidencePage:
    """A page of claims; pages count from 0. `line` is the line under the answer."""

    run_id: str
    number: int
    pages: int
    line: str
    unreadable: Unreadable
    has_untraced: bool
    claims: Sequence[ShownClaim]


def evidence_modal(page: EvidencePage, gate: LinkGate) -> Block:
    """Return the modal with a page.

    Texts are rich text: nothing in them becomes a link, a mention or a format; `gate` says which
    addresses may be links.
    """
    intro = texts.INTRO_UNTRACED() if page.has_untraced else texts.INTRO()
    blocks: list[Block] = [
        {"type": "section", "text": text_object(shortened(page.line, 2_900))},
        context(intro).block,
        *(_claim(each, page.unreadable, gate) for each in page.claims),
        *_paging(page),
    ]
    return {
        "type": "modal",
        "title": text_object(texts.TITLE()),
        "close": text_object(words.CLOSE_ONLY()),
        "blocks": blocks,
    }


def _claim(claim: ShownClaim, unreadable: Unreadable, gate: LinkGate) -> Block:
    found = claim.finding
    head = [
        _text(_short(found.text), bold=True),
        _text(f" · {texts.VERDICTS[found.verdict]()}"),
        *([_text(f" · {_short(found.formula)}")] if found.formula else []),
    ]
    elements = [_section(head)]
    if why := _why(found, unreadable):
        elements.append(_section([_text(why)]))
    for each in claim.places:
        elements += _place(each, gate)
    if claim.left_out:
        elements.append(_section([_text(texts.MORE_PLACES(count=claim.left_out))]))
    return {"type": "rich_text", "elements": elements}


def _why(found: Finding, unreadable: Unreadable) -> str:
    if found.verdict is Verdict.UNKNOWN:
        return texts.UNREADABLE.get(unreadable, texts.NOT_SEARCHED)()
    return texts.REASONS[found.reason]() if found.reason else ""


def _place(shown: ShownPlace, gate: LinkGate) -> Iterator[Block]:
    """Yield the lines about one place: where it is, what was asked for there, and what it says."""
    place = shown.place
    if place is None:
        yield _section([_text(texts.HIDDEN())])
        return
    where = _where(place)
    yield _section([*_named(place, gate), *([_text(f", {where}")] if where else [])])
    if shown.query:
        query = [_text(texts.ASKED_FOR()), _text(_short(shown.query), code=True)]
        yield _section(query)
    if place.excerpt:
        said = _OWN_LINK.sub("", place.excerpt)
        yield {"type": "rich_text_quote", "elements": [_text(said)]}


def _named(place: Place, gate: LinkGate) -> Iterator[Block]:
    name = place.source or _tool(place)
    if not (address := place.link or place.url):
        yield _text(name)
        return
    for piece in gate.link(address, name):
        match piece:
            case Link(url, label):
                yield {"type": "link", "url": url, "text": label}
            case Code(text):
                yield _text(text, code=True)
            case _:
                yield _text(str(getattr(piece, "text", "")))


def _tool(place: Place) -> str:
    """Return the name of a place without a source."""
    if not place.tool:
        return texts.WRITTEN()
    return texts.THE_THREAD() if place.tool == "read_thread" else place.tool.replace("_", " ")


def _where(place: Place) -> str:
    parts = (
        texts.PAGE(number=place.page) if place.page else "",
        texts.ROW(number=place.row) if place.row else "",
        texts.COLUMN(name=place.column) if place.column else "",
    )
    told = ", ".join(filter(None, parts))
    is_message = not place.tool or place.link
    return told or ("" if is_message else texts.LINE(number=place.line))


def _paging(page: EvidencePage) -> list[Block]:
    if page.pages == 1:
        return []
    turns = ((texts.BACK(), "back", page.number - 1), (texts.NEXT(), "next", page.number + 1))
    elements = [
        button(label, f"{EVIDENCE_PAGE}_{name}", f"{page.run_id}:{number}")
        for label, name, number in turns
        if 0 <= number < page.pages
    ]
    told = texts.PAGE_OF(page=page.number + 1, pages=page.pages)
    return [{"type": "actions", "elements": elements}, context(told).block]


def _section(elements: list[Block]) -> Block:
    return {"type": "rich_text_section", "elements": elements}


def _text(text: str, *, bold: bool = False, code: bool = False) -> Block:
    style = {"bold": True} if bold else {"code": True} if code else {}
    return {"type": "text", "text": text or " "} | ({"style": style} if style else {})


def _short(text: str) -> str:
    return shortened(" ".join(text.split()), _MOST_CHARACTERS)
