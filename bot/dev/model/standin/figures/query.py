"""What a question asks of a table."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .filters import Filter
from .times import one_before

Figure = tuple[str, str | None]
"""An aggregate and the column it is of; None for the rows themselves."""


@dataclass(frozen=True)
class Query:
    """What is asked of a table; None or nothing where the question is silent."""

    measure: str | None = None
    aggregate: str | None = None
    groups: tuple[str, ...] = ()
    period: str | None = None
    filters: tuple[Filter, ...] = ()
    descending: bool | None = None
    limit: int | None = None
    chart: str | None = None
    """The kind of chart; "auto" where none was named."""
    listing: bool = False
    sort: str | None = None
    """The column in whose order rows, or the groups made by it, are to stand."""
    part: tuple[str, ...] = ()
    """The values whose share of the whole is asked for."""
    shares: bool = False
    """Whether the share of each group in the whole is asked for."""
    noun: str = "rows"
    having: tuple[Filter, ...] = ()
    """Bounds of the figure of each group."""
    per_period: bool = False
    """Whether the average of what each period has in all is asked for."""
    more: tuple[Figure, ...] = ()
    """Further figures of the same rows."""
    widened: tuple[str, ...] = ()
    """Columns, conditions on which are dropped; "*" for all."""
    file: str = ""
    """The kind of file that the result is to be shared as, as "csv"."""

    back: str = ""
    """The period, as "month", the one before which is asked for."""

    @property
    def silent(self) -> bool:
        """Whether nothing is asked but a form, for which there must be something."""
        return replace(self, chart=None, file="") == Query()

    @property
    def plain(self) -> Query:
        """What is asked, whatever its form."""
        return replace(self, chart=None, file="", shares=False, widened=())

    @property
    def course(self) -> bool:
        """Whether the figures follow each other in time, as those of weekdays do not."""
        return self.period not in (None, "weekday")

    @property
    def told_by(self) -> int:
        """By how many things the figures are told apart."""
        return len(self.groups) + (self.period is not None)

    def then(self, new: Query) -> Query:
        """This query, changed by what the next question names."""
        if new.back and (earlier := one_before(self.filters, new.back)):
            return replace(self, filters=earlier).then(replace(new, back=""))
        if self.listing and new.measure and new.descending is not None and not new.told_by:
            new = replace(new, measure=None, sort=new.measure)  # "sorted by revenue"
        filters = (*self._kept(new), *new.filters)
        if self.part and not new.told_by:
            return self._of_another_part(new)
        grouped = bool(new.told_by)
        pinned = {each.of for each in new.filters if each.is_pinned(self.groups, self.period)}
        groups = tuple(each for each in self.groups if each not in pinned)
        one = not (groups or self.period or grouped or self.listing)
        ranked = new.descending is not None
        counts = new.aggregate == "count"
        figure = new.measure or new.aggregate
        return replace(
            new,
            filters=filters,
            measure=new.measure or (None if counts else self.measure),
            aggregate=new.aggregate or self._aggregate(new, one=one),
            groups=new.groups if grouped or new.listing else groups,
            period=new.period if grouped or new.listing else self.period,
            descending=new.descending if ranked or grouped or one else self.descending,
            limit=new.limit or (None if grouped or one else self.limit),
            listing=new.listing or (self.listing and not (grouped or figure)),
            sort=new.sort or (None if grouped or ranked else self.sort),
            having=new.having or (() if grouped or figure else self.having),
            per_period=new.per_period or (self.per_period and not (grouped or figure)),
            noun=self.noun if new.noun == "rows" else new.noun,
            more=new.more or (() if figure else self.more),
            part=(),
            widened=(),
        )

    def _aggregate(self, new: Query, *, one: bool) -> str | None:
        """What goes on to be worked out; of what was ranked by no figure that was named, its total."""
        if new.measure:
            return None if self.aggregate in ("count", "distinct") else self.aggregate
        return self.aggregate or ("sum" if one and not self.measure else None)

    def _kept(self, new: Query) -> tuple[Filter, ...]:
        """The conditions that the next question leaves as they are."""
        return tuple(
            old
            for old in self.filters
            if not any(old.replaced_by(each) for each in new.filters)
            and not old.is_pinned(new.groups, new.period)
            and not {old.of, "*"} & {*new.widened}
        )

    def _of_another_part(self, new: Query) -> Query:
        """The share of another value, or the same in another time or place."""
        others = (each for each in new.filters if each.column == self.groups[0])
        other = next(others, None)
        rest = tuple(each for each in new.filters if each is not other)
        part = other.values if other else self.part
        return replace(
            self, part=part, filters=(*self._kept(new), *rest), chart=new.chart, file=new.file
        )
