"""Opaque ids. They reveal nothing but their prefix, so they may appear in Slack metadata."""

from __future__ import annotations

import secrets

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32: no i, l, o, u


def new_id(prefix: str, length: int = 16) -> str:
    """Return a new random id such as `run_7k2p…`, with `length` characters of 5 random bits each."""
    return f"{prefix}_{''.join(_ALPHABET[byte & 31] for byte in secrets.token_bytes(length))}"
