"""Reasoning is handed out sealed, so that a client which alters it is found out."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets


class Seal:
    """Seals text with a key of this server; a client must carry the result verbatim."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(16)

    def close(self, text: str) -> str:
        """The sealed form of `text`."""
        body = base64.urlsafe_b64encode(text.encode("utf-8", "surrogatepass")).decode()
        return f"gAAAA{self._mark(body)}.{body}"

    def verifies(self, sealed: str) -> bool:
        """Whether `sealed` left this server just so."""
        mark, _, body = sealed.removeprefix("gAAAA").partition(".")
        return hmac.compare_digest(mark.encode(), self._mark(body).encode())

    def open(self, sealed: str) -> str:
        """The text inside."""
        body = sealed.partition(".")[2]
        return base64.urlsafe_b64decode(body).decode("utf-8", "surrogatepass")

    def _mark(self, body: str) -> str:
        return hmac.new(self._key, body.encode(), hashlib.sha256).hexdigest()[:24]
