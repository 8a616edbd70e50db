"""E-mails as files (.eml, RFC 5322)."""

from __future__ import annotations

from email import policy
from email.message import EmailMessage, MIMEPart
from email.parser import BytesParser

from bot.library.documents.cells import clean
from bot.library.documents.reading.pages import read_html
from bot.library.documents.results import Document, Unreadable

_HEADERS = ("From", "To", "Cc", "Date", "Subject")


def read_mail(data: bytes, name: str) -> Document:
    """Return the main headers and the text of an e-mail; attachments are named, not read."""
    message = BytesParser(EmailMessage, policy=policy.default).parsebytes(data)
    headers = [f"{each}: {message[each]}" for each in _HEADERS if message[each]]
    bodies = [message.get_body((kind,)) for kind in ("plain", "html")]
    words = [_body_text(body, name) for body in bodies if body is not None]
    if not headers or not words:
        raise Unreadable(f"{name} is damaged: it is not readable as an e-mail.")
    attached = [part.get_filename() or "a file" for part in message.iter_attachments()]
    gaps = [f"attached to it, and not read: {', '.join(attached)}"] if attached else []
    text = "\n".join([*headers, "", _better_body(words)])
    return Document(clean(text), title=clean(message["Subject"] or ""), left_out=gaps)


def _better_body(words: list[str]) -> str:
    """Return the plain text, or the HTML's if that is much longer: "your reader shows no HTML"."""
    plain, *others = words
    return max(words, key=len) if any(len(other) > 2 * len(plain) for other in others) else plain


def _body_text(body: MIMEPart, name: str) -> str:
    try:
        content = body.get_content()
    except LookupError:  # an unknown encoding
        payload = body.get_payload(decode=True)
        content = payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""
    if body.get_content_subtype() == "plain":
        return str(content)
    try:
        return read_html(str(content), name).text
    except Unreadable:
        return ""
