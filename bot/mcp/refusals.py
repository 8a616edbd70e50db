"""What went wrong at a server, in words without data of its own."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError

from bot.core.errors import ToolError

_MAX_MESSAGE = 2_000  # characters of a server's own words


class Refused(ToolError):
    """The server refused the bot's credentials before it did anything."""


def refusal(statuses: Sequence[int]) -> str:
    """Return a sentence if the server refused the bot with one of these HTTP statuses; "" otherwise."""
    if 401 in statuses:
        return "wants you to sign in (401): its entry in bot.toml needs valid `headers`"
    if 403 in statuses:
        return "does not let the bot in (403): the account in its `headers` has no right to it"
    return ""


def first_error(error: BaseException) -> BaseException:
    """Return the first error inside exception groups, which anyio uses."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def describe_error(error: BaseException) -> str:
    """Describe the first error without data from the server: a response that cannot be parsed may
    hold anybody's data."""
    error = first_error(error)
    if isinstance(error, ValidationError):
        return f"its answer does not fit the protocol ({error.title})"
    if isinstance(error, FileNotFoundError):
        return f"there is no program {error.filename}"
    return shorten(f"{type(error).__name__}: {error}")


def shorten(text: str) -> str:
    """Return a server's own words, cut to a length that people can read."""
    return text if len(text) <= _MAX_MESSAGE else f"{text[:_MAX_MESSAGE]}…"
