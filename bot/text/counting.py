"""Counts in words."""

from __future__ import annotations


def counted(count: int | str, noun: str) -> str:
    """Return a number with its noun: "1 step", "2 steps"."""
    return f"{count} {noun}{'' if str(count) == '1' else 's'}"
