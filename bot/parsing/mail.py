"""E-mails as files (.eml, RFC 5322)."""

from __future__ import annotations

from email import policy
from email.message import EmailMessage, MIMEPart
from email.parser import BytesParser

from bot.parsing.pages import read_html
from bot.parsing.results import Document, Unreadable
from bot.parsing.text import clean

_HEADERS = ("From", "To", "Cc", "Date", "Subject")


def read_mail(data: bytes, name: str) -> Document:
    """What an e-mail says under its main headers; of its attachments only the names."""
    message = BytesParser(EmailMessage, policy=policy.default).parsebytes(data)
    heads = [f"{each}: {message[each]}" for each in _HEADERS if message[each]]
    body = message.get_body(("plain", "html"))
    if not heads or body is None:
        raise Unreadable(f"{name} is damaged: it is not readable as an e-mail.")
    attached = [part.get_filename() or "a file" for part in message.iter_attachments()]
    notes = [f"Attached to it, and not read: {', '.join(attached)}."] if attached else []
    text = "\n".join([*heads, "", _words(body, name)])
    return Document(clean(text), title=clean(message["Subject"] or ""), notes=notes)


def _words(body: MIMEPart, name: str) -> str:
    try:
        content = body.get_content()
    except LookupError:  # an encoding that nobody knows
        payload = body.get_payload(decode=True)
        content = payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""
    if body.get_content_subtype() == "plain":
        return str(content)
    return read_html(str(content).encode(), name).text
