"""Outputs: what a model has read, as tracing takes it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

_FIGURE = re.compile(r"^handle: (fig_[0-9a-z]{6,16})$", re.MULTILINE)


class Counts(StrEnum):
    """What an output counts as. Values are stored."""

    READ = "read"  # the output of a tool that reads
    PERSON = "person"  # a message of a person; its `text` is what they wrote
    CALCULATED = "calculated"  # the output of a tool that only computes from its arguments
    NONE = (
        "none"  # of a tool that changes something: evidence for that, but not what was made of it
    )


@dataclass(frozen=True, slots=True)
class Source:
    """A source of an output: its title and its address, "" without one."""

    title: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class Output:
    """One output, in the order in which the model read it.

    - `text`: exactly what the model read. `arguments`: the call's arguments as JSON, "" for a
      message; what stands in them is no evidence when it comes back.
    - `made`, `used`: handles of what the call saved and read. Other handles that a text names are
      the words of strangers.
    - `link`: the address of a message.
    - `untraced`: claims of a report that were traced to nothing, as it writes them.
    """

    call_id: str
    text: str
    tool: str = ""
    arguments: str = ""
    counts: Counts = Counts.READ
    sources: tuple[Source, ...] = ()
    made: tuple[str, ...] = ()
    used: tuple[str, ...] = ()
    link: str = ""
    untraced: tuple[str, ...] = ()

    @property
    def figure(self) -> str:
        """The handle of the single figure that a calculation gave, "" without one."""
        named = _FIGURE.search(self.text) if self.counts is Counts.CALCULATED else None
        return named[1] if named else ""

    @property
    def handles(self) -> tuple[str, ...]:
        """The handles that a reference may name."""
        return (*self.made, *self.used, *([self.figure] if self.figure else []))
