"""Opaque ids. They carry no meaning beyond their prefix, so they may stand in Slack metadata."""

from __future__ import annotations

import secrets

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32: no i, l, o, u


def new_id(prefix: str, length: int = 16) -> str:
    """A fresh id such as `run_7k2p…`: `length` characters of 5 random bits each."""
    return f"{prefix}_{''.join(_ALPHABET[byte & 31] for byte in secrets.token_bytes(length))}"
