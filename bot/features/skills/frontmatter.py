"""The YAML of a frontmatter, read strictly."""

from __future__ import annotations

from typing import Any

import yaml
from typing_extensions import override

_MOST_DEPTH = 10


class NotYaml(Exception):
    """A text is no YAML, or none that is taken; its text says why, and in which line of the file."""


class _Loader(yaml.BaseLoader):
    """Reads YAML as text, lists and maps, so that version 1.10 stays what it is, and nothing is made of
    a tag. Refuses aliases, by which a few lines become gigabytes, and depth."""

    _depth = 0

    @override
    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("it has an alias (*), which is not taken")
        if self._depth >= _MOST_DEPTH:
            raise yaml.YAMLError("it is nested too deeply")
        self._depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1


def read_yaml(text: str) -> Any:
    """Return YAML as Python values. Raises NotYaml."""
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506 - makes nothing but text, lists and maps
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # the last two of its reader
        raise NotYaml(_problem(error)) from None


def _problem(error: Exception) -> str:
    """Return what is wrong, and in which line of the file."""
    mark = getattr(error, "problem_mark", None)
    where = f"line {mark.line + 2}: " if mark else ""
    return where + (getattr(error, "problem", None) or " ".join(str(error).split()))
