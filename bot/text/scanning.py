"""Scanning: a quick look whether a text holds a pattern at all, before it is looked for in detail."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from pydantic_core import SchemaValidator, core_schema


def scanner(pattern: str) -> Callable[[str], bool]:
    """Return a function that says whether a text holds a match of `pattern`. It looks at each character
    once, whatever the pattern.

    The pattern is one of Rust's regex, with which pydantic checks texts: it looks neither ahead nor
    behind. It is compiled when it is first needed. Half a surrogate pair in a text counts as "?".
    """

    @cache
    def holding() -> SchemaValidator:
        return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))

    return lambda text: holding().isinstance_python(text.encode(errors="replace"))
