"""A web page: fetched and quoted."""

from __future__ import annotations

import re

from . import data
from .findings import Findings
from .outputs import failed, parse_document, parse_tables, reason
from .passages import quote_from, summarise
from .view import View
from .words import has

MESSAGE = re.compile(r"/archives/[A-Z0-9]+/p\d+")
URL = re.compile(r"https?://[^\s<>|)\"']+")


def is_asked(view: View) -> bool:
    """Whether there is an address in the question, or in the message it is about."""
    return bool(_address(view))


def _address(view: View) -> str:
    """The address, which is not that of a message in Slack; "" without one."""
    quoted = "" if view.turn.files else view.turn.quoted
    every = (found[0].rstrip(".,;!?") for found in URL.finditer(f"{view.text} {quoted}"))
    return next((each for each in every if not MESSAGE.search(each)), "")


def answer(view: View, found: Findings) -> None:
    """Fetch the address in the question and quote what it says about the rest of the question."""
    url = _address(view)
    rest = URL.sub("", view.text)
    output = view.do("fetch_page", f"I fetch {url}.", url=url)
    if failed(output):
        found.summary = f"The page {url} could not be fetched."
        found.lower(reason(output), "low")
        return
    if parse_tables(output):
        data.from_reading(view, found, output)
        return
    document = parse_document(output)
    text = document.text if document else output
    title = document.source if document else url
    found.source(title, url, "The sentences quoted.")
    if has(rest, r"summar\w+|tl;?dr|overview|about|fetch|read|open|says?") or len(rest.split()) < 4:
        summarise(found, text, title)
    else:
        quote_from(found, rest, text, title)
