"""Refreshes: what changed in the data behind an answer since it was given."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from pydantic import BaseModel, ConfigDict, Field


class FigureChange(BaseModel):
    """A figure of an answer, as the answer has it, and its value now.

    - `name`: what names it in a table: of the answer, else where it was read.
    - `now`: "" where there is none; `why` is then the reason, as a part of a sentence.
    - `claim`: the same for all places in which the answer has the figure; "" in results of earlier
      releases.
    - `sentence`: that of the answer with the figure, which begins at `start`; "" in tables, and in
      results of earlier releases.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    before: str
    now: str = ""
    why: str = ""
    sentence: str = ""
    start: int = 0
    claim: str = ""

    @property
    def has_changed(self) -> bool:
        return bool(self.now) and self.now != self.before


class Refreshed(BaseModel):
    """The result of a refresh. It never rewrites the answer.

    - `figures`: all places of figures that come from cells of tables, in the answer's order. `others`
      is the number of figures that come from calls in another way, and are not read again. A figure
      counts once, as in the line under the answer, however often the answer has it.
    - `answered_at`: when the answer's question was received. `at`: when the calls were made again.
    - `last_good`: when all figures were last read again, None if never.
    - `periods`: dates that the calls name and still ask about.
    - `problem`: why nothing was read again, in a sentence. `is_over`: nothing ever will be.
    """

    model_config = ConfigDict(frozen=True)

    version: int = 1
    run_id: str
    request_id: str
    user: str
    figures: tuple[FigureChange, ...] = ()
    others: int = 0
    answered_at: datetime
    at: datetime = Field(default_factory=lambda: datetime.now(UTC))
    last_good: datetime | None = None
    periods: tuple[str, ...] = ()
    problem: str = ""
    is_over: bool = False

    @property
    def changed(self) -> list[FigureChange]:
        return [figure for figure in self.figures if figure.has_changed]

    @property
    def count(self) -> int:
        """The number of figures."""
        return len(self._once(self.figures))

    @property
    def changed_count(self) -> int:
        """The number of figures that have changed in some place."""
        return len(self._once(self.changed))

    @property
    def unknown(self) -> list[FigureChange]:
        """The figures that could not be read again, each once."""
        return self._once(figure for figure in self.figures if not figure.now)

    @staticmethod
    def _once(figures: Iterable[FigureChange]) -> list[FigureChange]:
        """Return the first place of each figure."""
        first = dict[str, FigureChange]()
        for number, figure in enumerate(figures):
            first.setdefault(figure.claim or str(number), figure)
        return list(first.values())

    @property
    def is_good(self) -> bool:
        """Whether every figure was read again."""
        return bool(self.figures) and not self.problem and not self.unknown
