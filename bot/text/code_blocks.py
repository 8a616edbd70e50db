"""Patterns for code in the Markdown that people and models write, for those who leave it out."""

from __future__ import annotations

FENCED = r"```.*?(?:```|\Z)|^[ \t]*~~~.*?(?:^[ \t]*~~~[~ \t]*$|\Z)"
"""A block of code, which may be open at the end. For `re.DOTALL | re.MULTILINE`."""

SPAN = r"`[^`\n]*`"
"""Code within a line."""
