"""Sealed reasoning, with which the server notices a client that alters it."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets


class Seal:
    """A seal with a key of this server; a client must send the sealed text back unchanged."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(16)

    def close(self, text: str) -> str:
        """Return the sealed form of `text`."""
        body = base64.urlsafe_b64encode(text.encode("utf-8", "surrogatepass")).decode()
        return f"gAAAA{self._mark(body)}.{body}"

    def verifies(self, sealed: str) -> bool:
        """Whether `sealed` is unchanged since this server made it."""
        mark, _, body = sealed.removeprefix("gAAAA").partition(".")
        return hmac.compare_digest(mark.encode(), self._mark(body).encode())

    def open(self, sealed: str) -> str:
        """Return the text inside."""
        body = sealed.partition(".")[2]
        return base64.urlsafe_b64decode(body).decode("utf-8", "surrogatepass")

    def _mark(self, body: str) -> str:
        return hmac.new(self._key, body.encode(), hashlib.sha256).hexdigest()[:24]
