"""Addresses that a run may link to: those that people wrote or tools returned.

A manipulated model can hide what it read in an address, so an address that it made up is never a
link, neither in an answer nor in a file.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from urllib.parse import urlsplit

from bot.core.request import Request

_LINK = re.compile(r"https?://[^\s<>\"'`|)\]]+")
_PAGE = re.compile(r"page=\d{1,4}")


def written_links(*requests: Request) -> list[str]:
    """Return the URLs that people wrote in requests; answers may contain them."""
    texts = (("" if each.suggested else each.text, each.quoted) for each in requests)
    return [link for each in texts for text in each for link in links_in(text)]


def links_in(text: str) -> list[str]:
    """Return the URLs in a text."""
    return [found.rstrip(".,;:!?") for found in _LINK.findall(text)]


class PermittedLinks:
    """The addresses that may be links.

    They are compared without their fragment; scheme and host are compared without case. A fragment
    that nobody provided is removed from the link, because the page's script could read it and send
    it away.
    """

    def __init__(self, allowed: Collection[str] = ()) -> None:
        self._allowed = {_normalized(url): url for url in sorted(allowed)}
        self._provided = frozenset(allowed)
        self._fragments = {url.partition("#")[2] for url in allowed}

    def permits(self, url: str) -> bool:
        """Return whether `url` may be a link."""
        return url.lower().startswith(("https://", "http://")) and _normalized(url) in self._allowed

    def as_provided(self, url: str) -> str:
        """Return a permitted address exactly as it was provided.

        Extra slashes, or the case of letters, could carry information.
        """
        document, _, fragment = url.partition("#")
        if document not in self._provided and url not in self._provided:
            document = self._allowed[_normalized(url)].partition("#")[0]
        keep_fragment = fragment and (fragment in self._fragments or _PAGE.fullmatch(fragment))
        return f"{document}#{fragment}" if keep_fragment else document


def _normalized(url: str) -> str:
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return url
    path = parts.path.rstrip("/")
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme.lower()}://{parts.netloc.lower()}{path}{query}"
