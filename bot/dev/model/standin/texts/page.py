"""A web page: fetched and quoted."""

from __future__ import annotations

import re

from ..figures import data
from ..findings import Findings
from ..outputs import failed, parse_document, parse_tables, reason
from ..phrasing import GIST
from ..view import View
from .passages import quote_from, summarise

URL = re.compile(r"https?://[^\s<>|)\"']+(?<![.,;!?])")
MESSAGE = re.compile(r"/archives/[A-Z0-9]+/p\d+")


def is_asked(view: View) -> bool:
    """Whether there is an address in the question, which is not that of a message in Slack."""
    return _address(view) is not None


def _address(view: View) -> str | None:
    return next((each for each in URL.findall(view.text) if not MESSAGE.search(each)), None)


def answer(view: View, found: Findings) -> None:
    """Fetch the address in the question and quote what it says about the rest of the question."""
    url = _address(view)
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
    title = document.source if document else url or ""
    found.source(title, url, "The sentences quoted.")
    rest = re.sub(r"[\s:?<>]+", " ", URL.sub("", view.text)).strip()
    if GIST.fullmatch(rest):
        summarise(found, text, title)
    else:
        quote_from(found, rest, text, title)
