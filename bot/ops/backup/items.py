"""The items of a backup, checked before anything is done with them: Redis takes all that passes."""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from bot.core.errors import ConfigurationError
from bot.ops.backup.archive import Item
from bot.store.connection import PREFIX

_LATEST = 1e12  # seconds since the epoch
LEFT_OUT = {
    "probe",  # written to see whether Redis takes writes
    "install-lock",  # held for seconds
    "lock",
    "oauth-states-used",
    "account-flow",  # a connection under way in a browser, as the next two
    "account-proof",
    "account-ticket",
    "account-revocation",  # tokens that are gone within a day
    "account-revocations",
    "line-renewed",
    "receivers",  # processes that run now
    "keyrings",
    "catch-up",  # how far Slack's history was searched: after a restore it is searched again
}
"""Families that no backup holds, and no restore writes."""

_BY_TYPE = {
    "hash": (
        "account-changes approvals figures held memories run schedule-failures scheduled-messages "
        "schedules spent"
    ),
    "list": "audit-beside ledger mailbox",
    "set": (
        "account-tickets artifacts begun earlier-threads installed lesson-teams participants "
        "responses threads to-delete"
    ),
    "zset": "lessons recent-runs schedules-due stale-statuses undelivered",
    "stream": "audit",
    "string": (
        "account account-audiences account-client account-tries artifact artifact-bytes attempts "
        "audit-head audit-person audit-refusals caller-state cancelled claim format install "
        "install-org lease lesson mcp-pins parked paused preferences raise refresh refresh-good "
        "refreshing refused request restored run-of schedule-claim sharing standing submitted written"
    ),
}
TYPES = {family: kind for kind, families in _BY_TYPE.items() for family in families.split()}
"""What Redis calls the values of each family; of others, which older versions had, any is taken."""

_INDEXES = {"channel-edits": (1, "set"), "feedback": (0, "zset")}
"""Families of strings with keys that list them: how many parts the name of such a key has, its type."""


def _base64(text: str) -> str:
    base64.b64decode(text, validate=True)  # raises a ValueError
    return text


def _text(text: str) -> str:
    text.encode()  # raises a ValueError for half a surrogate pair
    return text


def _score(score: float) -> float:
    if math.isnan(score):
        raise ValueError("not a number")
    return score


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


_Text = Annotated[str, AfterValidator(_text)]


class _Bytes(_Part):
    base64: Annotated[str, AfterValidator(_base64)]


_Raw = _Text | _Bytes
_EntryId = Annotated[str, Field(pattern=r"^\d{1,18}-\d{1,18}$")]
_Fields = Annotated[dict[_Text, _Raw], Field(min_length=1)]


class _Item(_Part):
    key: Annotated[_Text, Field(pattern=f"^{PREFIX}:")]
    until: Annotated[float, Field(gt=0, lt=_LATEST)] | None
    more: bool = False


class _String(_Item):
    type: Literal["string"]
    value: _Raw
    more: Literal[False] = False


class _Hash(_Item):
    type: Literal["hash"]
    value: dict[_Text, _Raw]


class _List(_Item):
    type: Literal["list"]
    value: list[_Raw]


class _Set(_Item):
    type: Literal["set"]
    value: list[_Text]


class _SortedSet(_Item):
    type: Literal["zset"]
    value: dict[_Text, Annotated[float, AfterValidator(_score)]]


class _Stream(_Item):
    type: Literal["stream"]
    value: list[Annotated[tuple[_EntryId, _Fields], Field(strict=False)]]


_AnyItem = _String | _Hash | _List | _Set | _SortedSet | _Stream
_ITEMS: TypeAdapter[list[_AnyItem]] = TypeAdapter(
    list[Annotated[_AnyItem, Field(discriminator="type")]]
)


def family(key: str) -> str:
    """Return the kind of a key: the part after the prefix."""
    return key.removeprefix(f"{PREFIX}:").partition(":")[0]


def is_readable(item: Item) -> bool:
    """Return whether the item has the type of its family: what reads it fails for ever with another."""
    kind, *name = item["key"].removeprefix(f"{PREFIX}:").split(":")
    if kind in LEFT_OUT:
        return True
    if kind in _INDEXES:
        parts, of_index = _INDEXES[kind]
        return bool(item["type"] == (of_index if len(name) == parts else "string"))
    return bool(item["type"] == TYPES.get(kind, item["type"]))


class ItemCheck:
    """Checks all items of a backup in order."""

    def __init__(self) -> None:
        self._types: dict[str, str] = {}
        self._last_entries: dict[str, tuple[int, ...]] = {}

    def check(self, items: Sequence[Any]) -> None:
        """Check the next items. Raises ConfigurationError unless all can be written to Redis."""
        try:
            valid = _ITEMS.validate_python(items)
        except ValidationError as error:
            [first, *_] = error.errors(include_input=False, include_url=False)
            raise ConfigurationError(
                f"The backup is damaged, or not made by `bot backup`: {first['msg']}."
            ) from None
        for item in valid:
            if not is_readable({"key": item.key, "type": item.type}):
                raise ConfigurationError(
                    f"The backup is not made by `bot backup`: {family(item.key)} is no {item.type}."
                )
            known = self._types.get(item.key)
            if item.more and known != item.type:
                raise ConfigurationError(
                    "The backup is damaged: the beginning of a value is missing."
                )
            self._types[item.key] = item.type
            if isinstance(item, _Stream):
                self._check_order(item)

    def _check_order(self, stream: _Stream) -> None:
        last = self._last_entries.get(stream.key, (0, 0)) if stream.more else (0, 0)
        for entry_id, _ in stream.value:
            number = tuple(map(int, entry_id.split("-")))
            if number <= last:
                raise ConfigurationError("The backup is damaged: a log in it is not in order.")
            last = number
        self._last_entries[stream.key] = last
