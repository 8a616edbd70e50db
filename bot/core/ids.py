"""Opaque ids. They reveal nothing but their prefix, so they may appear in Slack metadata."""

from __future__ import annotations

import re
import secrets

HANDLE = re.compile(r"\b(?:tbl|doc|img|chart|file|out|mcp|art)_[0-9a-z]{6,16}\b")
"""The handle of an artifact inside a text, such as `tbl_7k2p9x1m`."""

_ALPHABET = 8 * b"0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32: no i, l, o, u
"""The character of each byte."""


def new_id(prefix: str, length: int = 16) -> str:
    """Return a new random id such as `run_7k2p…`, with `length` characters of 5 random bits each."""
    return f"{prefix}_{secrets.token_bytes(length).translate(_ALPHABET).decode()}"
