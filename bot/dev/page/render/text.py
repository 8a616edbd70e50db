"""Text on its way into HTML: undisplayable characters out, emoji shortcodes in."""

import re

from markupsafe import Markup, escape

from bot.dev.page.render.emoji import EMOJI

# Lone surrogates cannot be encoded, control characters cannot be displayed, and U+E000/E001 mark
# the stash of the mrkdwn renderer, so none of them may come in with a message.
_UNDISPLAYABLE = re.compile("[\ud800-\udfff\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ue000\ue001]")
_SHORTCODE = re.compile(r":([a-z0-9_+-]{1,40})(?::skin-tone-[2-6])?:")


def clean(text: object) -> str:
    """A str that encodes to UTF-8 and holds nothing a browser would choke on."""
    if text is None:
        return ""
    return _UNDISPLAYABLE.sub("\ufffd", str(text))


def emoji(text: str) -> str:
    """Known shortcodes as their character; unknown ones as they stand."""
    return _SHORTCODE.sub(lambda m: EMOJI.get(m[1], m[0]), text)


def plain(value: object) -> Markup:
    """The text of a plain_text object, or of a str, escaped, with emoji drawn."""
    return escape(emoji(clean(text_of(value))))


def text_of(value: object) -> str:
    """The text inside a text object of either kind; a str is its own text."""
    if isinstance(value, dict):
        value = value.get("text", "")
    return value if isinstance(value, str) else clean(value)


def safe_url(url: object) -> str | None:
    """The URL if a link may point there (http, https, mailto), else None."""
    address = clean(url).strip()
    return address if re.match(r"(?:https?://|mailto:)\S", address, re.IGNORECASE) else None


def link(url: object, label: Markup) -> Markup:
    """A link that opens in a new tab and tells the target nothing; just the label if unsafe."""
    address = safe_url(url)
    if address is None:
        return label
    return Markup('<a href="{}" target="_blank" rel="noopener noreferrer">{}</a>').format(
        address, label
    )
