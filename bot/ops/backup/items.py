"""The items of a backup, checked before anything is done with them: Redis takes all that passes."""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from bot.core.errors import ConfigurationError
from bot.store.connection import PREFIX
from bot.store.families import Families, family_of

_LATEST = 1e12  # seconds since the epoch


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


class ItemCheck:
    """Checks all items of a backup in order."""

    def __init__(self, families: Families) -> None:
        self._families = families
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
            if not self._families.is_readable(item.key, item.type):
                raise ConfigurationError(
                    f"The backup is not made by `bot backup`: {family_of(item.key)} is no {item.type}."
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
