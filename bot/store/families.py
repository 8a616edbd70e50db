"""Families of keys: what a backup needs to know of what is stored.

The keys `bot:v1:<family>:…` are one family. Those of a feature are listed by the feature. Families
of which nothing is known, as of one that is gone, are kept in backups with any type.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from bot.store.connection import PREFIX

Kind = Literal["string", "hash", "list", "set", "zset", "stream"]
"""What Redis calls a type of values."""


@dataclass(frozen=True, slots=True)
class Family:
    """A family of keys whose values are of one `kind`.

    - `grows`: values are only added. A backup reads it after the others, so that whatever these name
      is there.
    - `is_brief`: no backup holds it, and no restore writes it.
    - `index`: keys with so many parts after the family list the others, as values of this kind.
    """

    name: str
    kind: Kind = "string"
    grows: bool = False
    is_brief: bool = False
    index: tuple[int, Kind] | None = None


def family_of(key: str) -> str:
    """Return the family of a key: the part after the prefix."""
    return key.removeprefix(f"{PREFIX}:").partition(":")[0]


class Families:
    """Some families by name, those of the bot among them."""

    def __init__(self, more: Iterable[Family] = ()) -> None:
        self._families = {family.name: family for family in (*OWN, *more)}
        self.names = frozenset(self._families)
        self.brief = frozenset(each.name for each in self._families.values() if each.is_brief)
        self.growing = frozenset(each.name for each in self._families.values() if each.grows)

    def is_readable(self, key: str, kind: str) -> bool:
        """Return whether a value has the type of its family: what reads it fails for ever with
        another."""
        family = self._families.get(family_of(key))
        if family is None or family.is_brief:
            return True
        if family.index and key.removeprefix(f"{PREFIX}:").count(":") == family.index[0]:
            return kind == family.index[1]
        return kind == family.kind


def _all(kind: Kind, names: str) -> list[Family]:
    return [Family(name, kind) for name in names.split()]


OWN = (
    *_all("hash", "approvals figures held run schedule-failures schedules spent"),
    *_all("list", "mailbox"),
    *_all("set", "begun earlier-threads installed participants responses threads to-delete"),
    *_all("zset", "recent-runs schedules-due stale-statuses undelivered"),
    *_all("string", "attempts audit-person audit-refusals caller-state cancelled claim format"),
    *_all("string", "install install-org lease mcp-pins parked paused preferences profiles raise"),
    *_all(
        "string",
        "refused request restored run-of schedule-claim sharing standing submitted written",
    ),
    Family("channel-edits", index=(1, "set")),
    Family("ledger", "list", grows=True),
    Family("artifact", grows=True),
    Family("artifact-bytes", grows=True),
    Family("artifacts", "set", grows=True),
    Family("audit", "stream", grows=True),
    Family("audit-head", grows=True),
    Family("audit-beside", "list", grows=True),
    Family("probe", is_brief=True),  # written to see whether Redis takes writes
    Family("install-lock", is_brief=True),  # held for seconds
    Family("lock", is_brief=True),
    Family("oauth-states-used", is_brief=True),
    Family("line-renewed", is_brief=True),
    Family("receivers", is_brief=True),  # processes that run now
    Family("keyrings", is_brief=True),
    Family("catch-up", is_brief=True),  # how far history was searched: it is searched again
)
"""The families of the bot itself."""
