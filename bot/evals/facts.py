"""Facts that a result must or must not state."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator
from typing_extensions import override

_NUMBER = re.compile(
    r"(?<![\w.\-−])[-−]?[$€£]?\d{1,3}(?:[,\u202f\u00a0]\d{3})+(?:\.\d+)?(?!\d)"
    r"|(?<![\w.\-−])[-−]?[$€£]?\d+(?:\.\d+)?"
)
_SHARE = re.compile(r"\d+(\.\d+)? ?%")
_SCALE = re.compile(r"\s?(k|thousand|m|mn|million|bn|billion)\b", re.IGNORECASE)
_SCALES = {"k": 1e3, "t": 1e3, "m": 1e6, "b": 1e9}
_ROUNDING = 1e-9  # relative: what floats lose


class Fact(BaseModel):
    """A fact that a result states: exactly one of `text`, `regex`, `number` and `any_of`.

    `text` matches in any case and spacing, `number` in any notation; `within` is a distance from it
    or a share ("1%"). `any_of` is one of several facts. A bare text in a case file is `text`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str | None = Field(default=None, min_length=1)
    regex: re.Pattern[str] | None = None
    number: float | None = None
    within: float | str = 0.0
    any_of: tuple[AnyFact, ...] = ()

    @field_validator("within", mode="plain")
    @classmethod
    def _is_distance_or_share(cls, value: Any) -> float | str:
        if isinstance(value, str) and _SHARE.fullmatch(value):
            return value
        if isinstance(value, int | float) and value >= 0:
            return value
        raise ValueError('this is a distance such as 0.5, or a share such as "5%"')

    @model_validator(mode="after")
    def _is_one(self) -> Fact:
        ways = (self.text, self.regex, self.number, self.any_of or None)
        if sum(each is not None for each in ways) != 1:
            raise ValueError("a fact is one of text, regex, number and any_of")
        return self

    def is_in(self, words: str) -> bool:
        """Return whether `words` state the fact."""
        if self.any_of:
            return any(each.is_in(words) for each in self.any_of)
        if self.regex is not None:
            return self.regex.search(words) is not None
        if self.number is not None:
            return any(abs(each - self.number) <= self._tolerance for each in _numbers(words))
        return _plain(self.text or "") in _plain(words)

    @property
    def _tolerance(self) -> float:
        number = abs(self.number or 0.0)
        if isinstance(self.within, str):
            return number * float(self.within.rstrip(" %")) / 100
        return self.within + number * _ROUNDING

    @override
    def __str__(self) -> str:
        """Return the fact as the table of results shows it."""
        if self.any_of:
            return " or ".join(map(str, self.any_of))
        if self.regex is not None:
            return f"/{self.regex.pattern}/"
        if self.number is not None:
            return f"{self.number:,.10g}" + (f" ± {self.within}" if self.within else "")
        return f"“{self.text}”"


def _from_text(value: Any) -> Any:
    if isinstance(value, int | float | date):
        raise ValueError("a fact is a text, in quotes where it looks like a number or a date")  # noqa: TRY004 - pydantic's way to refuse
    return {"text": value} if isinstance(value, str) else value


AnyFact = Annotated[Fact, BeforeValidator(_from_text)]
"""A fact, or its text alone."""

Fact.model_rebuild()


def _plain(words: str) -> str:
    """Return `words` without differences in case, spacing and emphasis."""
    return " ".join(words.casefold().replace("*", "").replace("’", "'").split())


def _numbers(words: str) -> Iterator[float]:
    """Yield every number in the text, alone and multiplied by its unit ("1.2 million")."""
    for found in _NUMBER.finditer(words):
        value = float(re.sub(r"[^\d.]", "", found[0]))
        value = -value if found[0][0] in "-−" else value
        yield value
        if scale := _SCALE.match(words, found.end()):
            yield value * _SCALES[scale[1][0].lower()]
