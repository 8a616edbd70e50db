"""E-mails as files (.eml, RFC 5322)."""

from __future__ import annotations

from email import policy
from email.message import EmailMessage, MIMEPart
from email.parser import BytesParser

from bot.services.parsing.pages import read_html
from bot.services.parsing.results import Document, Unreadable
from bot.services.parsing.text import clean

_HEADERS = ("From", "To", "Cc", "Date", "Subject")


def read_mail(data: bytes, name: str) -> Document:
    """What an e-mail says under its main headers; of its attachments only the names."""
    message = BytesParser(EmailMessage, policy=policy.default).parsebytes(data)
    heads = [f"{each}: {message[each]}" for each in _HEADERS if message[each]]
    bodies = [message.get_body((kind,)) for kind in ("plain", "html")]
    words = [_words(body, name) for body in bodies if body is not None]
    if not heads or not words:
        raise Unreadable(f"{name} is damaged: it is not readable as an e-mail.")
    attached = [part.get_filename() or "a file" for part in message.iter_attachments()]
    gaps = [f"attached to it, and not read: {', '.join(attached)}"] if attached else []
    text = "\n".join([*heads, "", _fuller(words)])
    return Document(clean(text), title=clean(message["Subject"] or ""), left_out=gaps)


def _fuller(words: list[str]) -> str:
    """The plain text, unless it says much less than the HTML, as "your reader shows no HTML" does."""
    plain, *others = words
    return max(words, key=len) if any(len(other) > 2 * len(plain) for other in others) else plain


def _words(body: MIMEPart, name: str) -> str:
    try:
        content = body.get_content()
    except LookupError:  # an encoding that nobody knows
        payload = body.get_payload(decode=True)
        content = payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""
    if body.get_content_subtype() == "plain":
        return str(content)
    try:
        return read_html(str(content), name).text
    except Unreadable:
        return ""
