"""Entries: what a run has read, as the check takes it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bot.core.answers import Source


class EntryKind(StrEnum):
    """What an entry counts as."""

    READ = "read"  # the output of a tool that reads
    PERSON = "person"  # a message of a person; its `text` is what they wrote
    CALCULATED = "calculated"  # the output of a tool that only computes from its arguments
    NONE = "none"  # no evidence: changes, refusals, our own words; what it made is none either


@dataclass(frozen=True, slots=True)
class Entry:
    """One output of a run, in the order in which the model read it.

    - `text`: exactly what the model read, without data marks.
    - `arguments`: the call's arguments as JSON, "" for a message. They never are evidence.
    - `sources`: those of the tool's result. `made`, `used`: handles of the artifacts that the call
      saved and read. What was made of something that is no evidence is none either.
    - `link`: the address of a message.
    - `untraced`: for the report of a sub-agent, the claims that its own check could not trace, as
      written; they count as nowhere read.
    """

    call_id: str
    tool: str
    text: str
    kind: EntryKind = EntryKind.READ
    arguments: str = ""
    sources: tuple[Source, ...] = ()
    made: tuple[str, ...] = ()
    used: tuple[str, ...] = ()
    link: str = ""
    untraced: tuple[str, ...] = ()
