"""Values as they were read from the store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Stored(Generic[M]):
    """A value together with its stored bytes, by which a later change of it is noticed."""

    value: M
    stored: bytes
