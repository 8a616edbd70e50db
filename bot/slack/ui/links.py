"""The link gate: only addresses that people or tools provided are posted as links.

A manipulated model can hide what it read in an address, and a click, or Slack's own unfurling,
then sends it away. So every address in a text is found, in any notation. An address that is not
allowed is shown as code, which Slack does not link.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from bot.core.links import PermittedLinks
from bot.text.mentions import Mention, split

_ADDRESS = re.compile(
    r"<(?P<angle>[a-zA-Z][a-zA-Z0-9+.-]{0,20}:[^<>|\s]+)(?:\|(?P<label>[^<>\n]*))?>"
    r"|(?P<url>[a-zA-Z][a-zA-Z0-9+.-]{0,20}://[^\s<>|\"`]+)"
    r"|(?P<mail>[\w.+-]{1,64}@(?:[\w-]+\.)+[a-zA-Z]{2,24})"
    r"|(?P<script>\b(?:javascript|data|vbscript|file|slack):[^\s<>|\"`]+)"
    r"|(?P<bare>(?<!\w)(?:[\w-]{1,63}\.){1,8}(?:[a-zA-Z]{2,24}|xn--[\w-]{2,59})(?![\w@-])"
    r"(?::\d{1,5})?(?:[/?#][^\s<>|\"`]*)?)",
)
_FILE_NAME = re.compile(
    r"[\w.-]+\.(?:pdf|csv|tsv|xlsx?|xlsm|docx?|pptx?|odt|ods|txt|json|jsonl|xml|ya?ml|html?|log|png|jpe?g|gif|webp|"
    r"svg|heic|eml|ics|sql|toml|ini|parquet)",
    re.IGNORECASE,
)
"""Names that are no hosts: none of these suffixes is a top-level domain (IANA's list, 2026)."""
_BROADCAST = re.compile(r"<!(?P<name>[^<>|\n]*)(?:\|(?P<label>[^<>\n]*))?>")
_AT_ALL = re.compile(r"@(?=(?:here|channel|everyone|group)\b)", re.IGNORECASE)
_TRAILING = ".,;:!?'*_~…。、，"
_WORD_JOINER = "\u2060"


@dataclass(frozen=True, slots=True)
class Text:
    """Text without any address."""

    text: str


@dataclass(frozen=True, slots=True)
class Link:
    """An address that may be a link."""

    url: str
    label: str


@dataclass(frozen=True, slots=True)
class Code:
    """An address that may only be shown."""

    text: str


Piece = Text | Link | Code | Mention


class LinkGate:
    """The addresses that may be links, and the people and channels that may be mentioned.

    `mentioned` collects the mentions that occurred, in order.
    """

    def __init__(
        self, allowed: frozenset[str] = frozenset(), mentions: Sequence[Mention] = ()
    ) -> None:
        self._links = PermittedLinks(allowed)
        self._mentions = mentions
        self.mentioned: dict[Mention, None] = {}

    def permits(self, url: str) -> bool:
        """Return whether `url` may be posted as a link."""
        return self._links.permits(url)

    def pieces(self, text: str) -> Iterator[Piece]:
        """Split `text` into text, links, mentions, and addresses that may only be shown."""
        for part in split(without_broadcasts(text), self._mentions):
            if isinstance(part, Mention):
                self.mentioned[part] = None
                yield part
            else:
                yield from self._split_addresses(part)

    def _split_addresses(self, text: str) -> Iterator[Piece]:
        last = 0
        for found in _ADDRESS.finditer(text):
            address, rest = _trimmed(found)
            if found["mail"] or (found["bare"] and _FILE_NAME.fullmatch(address)):
                continue
            end = found.end() - len(rest)
            yield Text(text[last : found.start()])
            yield from self.link(address, found["label"] or address)
            last = end
        yield Text(text[last:])

    def link(self, url: str, label: str) -> Iterator[Piece]:
        """Yield a link with its label if it is permitted; else the label and the address as code."""
        label = without_broadcasts(label)
        if self.permits(url):
            provided = self._links.as_provided(url)
            label = provided if label.strip() == url else label
            yield Link(_quoted(provided), label)
            return
        if label and not _is_same_text(label, url):
            yield from self.pieces(label)
            yield Text(" (")
            yield Code(display_address(url))
            yield Text(")")
            return
        yield Code(display_address(url))

    def mrkdwn(self, text: str) -> str:
        """Return plain `text` as escaped mrkdwn in which only permitted addresses are links."""
        return "".join(_as_mrkdwn(piece) for piece in self.pieces(text))

    def plain(self, text: str) -> str:
        """Return plain `text` in which addresses that are not permitted are shown as code."""
        return "".join(_as_plain(piece) for piece in self.pieces(text))


def without_broadcasts(text: str) -> str:
    """Return `text` without mentions that notify a whole channel or group."""
    text = _BROADCAST.sub(lambda found: f"@{(found['label'] or found['name']).lstrip('@')}", text)
    return _AT_ALL.sub(f"@{_WORD_JOINER}", text)


def escape_mrkdwn(text: str) -> str:
    """Escape the three characters that are special in mrkdwn."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def display_address(url: str) -> str:
    """Return an address as text, without scheme, query and fragment."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return _code_safe(url)
    if not parts.netloc:
        bare, sign, _ = url.partition("?")
        return _code_safe(bare + ("?…" if sign else ""))
    hidden = "?…" if parts.query or parts.fragment else ""
    host = parts.netloc.rpartition("@")[2]
    return _code_safe(f"{host}{parts.path.rstrip('/')}{hidden}")


def _trimmed(found: re.Match[str]) -> tuple[str, str]:
    """Split a match into the address and the punctuation of the sentence that follows it."""
    if found["angle"]:
        return found["angle"], ""
    whole = found[0]
    address = whole.rstrip(_TRAILING)
    while address and address[-1] in ")]}" and _unbalanced(address):
        address = address[:-1].rstrip(_TRAILING)
    return (address, whole[len(address) :]) if address else (whole, "")


def _unbalanced(address: str) -> bool:
    closing = address[-1]
    opening = {")": "(", "]": "[", "}": "{"}[closing]
    return address.count(closing) > address.count(opening)


def _is_same_text(label: str, url: str) -> bool:
    return label.strip().rstrip("/") in (url.rstrip("/"), url.partition("://")[2].rstrip("/"))


def _quoted(url: str) -> str:
    """Escape every character that could end the address in Markdown or mrkdwn."""
    return quote(url, safe="%/:=&?~#+!$,;'@[]*-._", encoding="utf-8", errors="replace")


def _code_safe(text: str) -> str:
    return text.replace("`", "'")


def _as_plain(piece: Piece) -> str:
    match piece:
        case Text(text):
            return text
        case Code(text):
            return f"`{text}`"
        case Link(url, label):
            return url if _is_same_text(label, url) else f"{label} ({url})"
        case Mention():
            return piece.shown


def _as_mrkdwn(piece: Piece) -> str:
    match piece:
        case Text(text):
            # mrkdwn cannot escape a backtick; here it would open up the code spans of addresses.
            return _code_safe(escape_mrkdwn(text))
        case Code(text):
            return f"`{escape_mrkdwn(text)}`"
        case Link(url, label):
            clean_label = escape_mrkdwn(label).replace("|", "¦")
            return f"<{escape_mrkdwn(url)}|{clean_label}>"
        case Mention():
            return piece.markup
