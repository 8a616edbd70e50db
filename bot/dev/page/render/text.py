"""Text on its way into HTML: undisplayable characters out, emoji shortcodes in."""

import re

from markupsafe import Markup, escape

from bot.dev.page.render.emoji import EMOJI

# Lone surrogates cannot be encoded, control characters cannot be displayed, and the mrkdwn renderer
# uses U+E000/E001 for its stash, so no message may contain any of them.
_UNDISPLAYABLE = re.compile("[\ud800-\udfff\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ue000\ue001]")
_SHORTCODE = re.compile(r":([a-z0-9_+-]{1,40})(?::skin-tone-[2-6])?:")


def clean(text: object) -> str:
    """Return a str that encodes to UTF-8 and has no characters that browsers cannot display."""
    if text is None:
        return ""
    return _UNDISPLAYABLE.sub("\ufffd", str(text))


def emoji(text: str) -> str:
    """Replace known shortcodes by their character."""
    return _SHORTCODE.sub(lambda m: EMOJI.get(m[1], m[0]), text)


def plain(value: object) -> Markup:
    """Return the text of a plain_text object or str, escaped, with emoji."""
    return escape(emoji(clean(text_of(value))))


def text_of(value: object) -> str:
    """Return the text of a text object of either kind; a str is its own text."""
    if isinstance(value, dict):
        value = value.get("text", "")
    return value if isinstance(value, str) else clean(value)


def safe_url(url: object) -> str | None:
    """Return the URL if a link may point there (http, https, mailto), else None."""
    address = clean(url).strip()
    return address if re.match(r"(?:https?://|mailto:)\S", address, re.IGNORECASE) else None


def link(url: object, label: Markup) -> Markup:
    """Return a link that opens a new tab and sends no referrer; just the label if it is unsafe."""
    address = safe_url(url)
    if address is None:
        return label
    return Markup('<a href="{}" target="_blank" rel="noopener noreferrer">{}</a>').format(
        address, label
    )
