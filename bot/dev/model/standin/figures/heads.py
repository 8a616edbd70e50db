"""How a question begins: the figure, the rows or the ranking that it asks for."""

from __future__ import annotations

from collections.abc import Callable

from . import builders, ranking
from .modifiers import CMP
from .patterns import Scan, pattern
from .query import Query

Build = Callable[[Scan], Query | None]

WORDS = {
    "CMP": CMP,
    "FIGURE": r"(?:{THE}(?:{AGG} (?:and {AGG} )?(?:of )?)?{THE}(?:{N:_})?{M:_}|{THE}(?:total )?(?:number|count) of (?:the |our )?{N:_})",
    "DOES": (
        r"(?:(?:has|have|had|made|makes?|sold|sells?|bought|buys?|ordered|orders?|spent|spends?|earned|earns?|generated|"
        r"generates|brought in|brings in|got|gets|is|was|are|were|did|does|performed|performs|paid|pays|opened|placed) |{D:_})"
    ),
    "SELLING": r"(?:selling |performing |sold |paying |spending )?",
    "PRICE": r"(?P<price>cheapest|most expensive|priciest|least expensive)",
    "END": r"(?P<end>last|latest|newest|most recent|first|oldest|earliest)",
    "SHARE": r"(?:share|percentage|percent|proportion|part)",
    "CHART": r"(?:(?:plot|chart|draw|graph|visuali[sz]e|show|make|create|give)(?: me)? )",
}  # fmt: skip
_LINES: tuple[tuple[str, Build], ...] = (
    (r"{ASK}{THE}(?:average|mean|avg) (?:{M}|(?:number of )?{N})(?:per|by|in a|a) {P}", builders.average_per_period),
    (r"{ASK}{THE}(?:average|mean|avg) {P}(?:{M}|(?:number of )?{N})", builders.average_per_period),
    (r"{ASK}{THE}(?:average|mean|avg) {M}(?:per|of an?|of each|for each) {N}", builders.average_per_row),
    (r"{ASK}{THE}{M}{SHARE}s? (?=(?:by|per|for each|of each) )", builders.shares),
    (r"(?:what|which|how much) {SHARE} of (?:the |our |all |total )*(?:{M}|{N})(?:(?:is|are|was|were|comes?|came|does|do|did|has|have|goes|went) )?(?:made |generated |still )?(?:from |by |in |for |of |on |to )?(?:the )?{V+}(?:have |make |make up |has |account for )?", builders.part),
    (r"(?:what is )?(?:the )?{SHARE} of (?:the |our |all |total )*(?:{M}|{N})(?:from |by |in |for |of |on )(?:the )?{V+}", builders.part),
    (r"(?:what is )?(?:the )?{V+}{SHARE} of (?:the |our |all |total )*(?:{M}|{N})", builders.part),
    (r"what {SHARE} of {M}(?:does|do|did) {V+}(?:have|make|make up) ", builders.part),
    (r"{ASK}{THE}(?P<super>{SUPER}) {M}", builders.extreme),
    (r"(?:which|what|who|how many|{ASK}(?:all |the |our )*)? ?{G}(?:that |who |which )?(?:{DOES}|with |having )?(?:a |an )?(?:{CMP}) {X}(?:(?:in |of )?(?:{N}|{M})|(?!<[a-z]*v))", ranking.bounded),
    (r"(?:which|what|list|show|how many)? ?{G}(?:that |who |which )?(?:{DOES}|with |having )?(?:a |an )?(?:total )?{M}(?:of )?(?:{CMP}) {X}", ranking.bounded),
    (r"how many (?:different |distinct |unique ){G}(?:are there |do we have |is there )?", builders.different),
    (r"(?:how many|{ASK}{THE}(?:total )?(?:number|count) of|count(?: the| all)?) (?:of )?(?:the |our )?(?P<v>{V+:_})?{N}(?:did {V:_})?(?:(?:are|is|were|was|do|did) (?:there|we have|we get) |(?:are|is|were|was|works?) (?=in |at |on ))?", builders.counted),
    (r"{ASK}{THE}counts? (?=by |per )", builders.rows_counted),
    (r"(?:how many|how much|{ASK}{THE}(?:total )?(?:number|count) of) (?:of )?(?:the )?(?P<v>{V+:_})?{M}", builders.summed),
    (r"how many (?:of )?(?:the )?{V+}", builders.pieces),
    (r"(?:how many|{ASK}{THE}(?:number|count) of) (?:the )?{G}(?:(?:are|is|were|was|do|did) (?:there|we have) |(?:bought|ordered|purchased) (?:a |an |the )?)?", builders.different),
    (r"how many {N}(?:did|do|does|has|have) (?:the )?{V+}(?:make|made|place|placed|have|had|open|opened|buy|bought|get|got) ", builders.of_whom),
    (r"how much {M}(?:did|do|does|has|have) (?:the )?{V+}(?:make|made|bring in|brought in|generate|generated|have|had|get|got) ", builders.money),
    (r"how much (?:money )?(?:did|do|have|has) (?:we|the company|the shop) (?:make|made|sell|sold|earn|earned|take|taken|get) ", builders.money),
    (r"how much (?:money )?(?:did|do|does|have|has) (?:the )?{V+}(?:(?:spend|spent|pay|paid|ordered|buy|bought|make|made|earn|earned|sell|sold|bring in|order) |{N:_})", builders.money),
    (r"what (?:did|do|does|has|have) (?:the )?{V+}(?:(?:order|ordered|buy|bought|purchase|purchased) |{N:_})", builders.bought),
    (r"(?:which|what) {GP}(?:{DOES})(?:by far )?(?:the |our )*(?P<super>{SUPER}) (?:(?P<agg>{AGG} ))?(?:number of )?(?:{M}|(?P<w>{V+:_})?{N}|{V+})?", ranking.ranked),
    (r"(?P<who>who) (?:{DOES})(?:the |our )*(?P<super>{SUPER}) (?:(?P<agg>{AGG} ))?(?:number of )?(?:{M}|(?P<w>{V+:_})?{N}|{V+})?", ranking.ranked),
    (r"(?:which|what) {GP}(?:is|are) (?:the )?(?P<super>most|least) (?:common|frequent) ", ranking.frequent),
    (r"{ASK}{THE}(?:{X})?(?P<super>most|least) (?:common|frequent) (?:{X:y})?{GP}", ranking.frequent),
    (r"who (?:{DOES})(?:a |an )?(?:{CMP}) {X}(?:{M})?", ranking.people_bounded),
    (r"who (?:is|are|was|were|works?) (?=in |at |from )", ranking.who),
    (r"{ASK}{THE}(?:{X})?(?P<super>{SUPER}) (?:{X:y})?{SELLING}{GP}(?:(?:by|in terms of|in|for|with the (?:most|highest)) (?:the )?(?P<agg>{AGG} )?(?:number of )?(?:{M}|{N}))?", ranking.ranked),
    (r"when (?:did we (?:sell|make|earn|have)|(?:was|were)(?: our| the)?(?: sales)?) (?:the )?(?P<super>{SUPER}) (?:{M})?", ranking.when),
    (r"(?:what|which (?:things|articles)) (?:sells?|sold|is selling|was sold) (?:the )?(?P<super>{SUPER}) ", ranking.sold),
    (r"{ASK}{THE}(?:{X})?{PRICE} (?:{X:y})?{GN}", ranking.priced),
    (r"(?:which|what) {GN}(?:is|are|was|were) (?:the )?{PRICE} ", ranking.priced),
    (r"(?:(?:when|what) (?:was|is|were) |{ASK})(?:the |our )*(?:{X})?{END} (?:{X:y})?(?P<v>{V+:_})?{N}", builders.latest),
    (r"{ASK}(?:the |our )*(?:{X})?(?P<super>{SUPER}) (?:{X:y})?(?:single |individual )?(?P<v>{V+:_})?{N}(?:(?:by|in) {M})?", builders.largest_rows),
    (r"(?:which|what) (?:{X})?{N}(?:is|are|was|were) (?:the )?(?P<super>{SUPER}) ", builders.largest_rows),
    (r"how (?:did|has|have|do|does) (?:the |our )*(?:number of )?(?:{M}|{N})(?:develop|change|evolve|go|grow|trend)(?:ed|d)? (?:over time )?", builders.course),
    (r"how (?:is|are|was|were) (?:the |our )*(?:number of )?(?:{M}|{N})(?:developing|changing|evolving|going|growing|trending) (?:over time )?", builders.course),
    (r"{ASK}(?:the )?(?:trend|development|course) (?:(?:of|in) (?:the |our )*(?:{M}|{N})|\Z)", builders.course),
    (r"(?:{CHART})?(?:the |our )*(?:{M}|{N})(?:over time|trend) ", builders.course),
    (r"(?:rank |{ASK})?(?:all |the |our )*{G}by (?:the |their )?(?P<agg>{AGG} )?(?:number of )?(?:{M}|{N})", ranking.by_figure),
    (r"compare (?P<figures>{FIGURE})(?:of|for|in|between|from) (?:the )?{V+}", builders.compared),
    (r"{ASK}{THE}(?:(?:in |of |for )?{T})?(?P<p>{P:_})?(?P<v>{V+:_})?(?P<figures>{FIGURE}(?:(?:, and|,|and|plus) {FIGURE})*)", builders.figures),
    (r"{ASK}(?:me )?(?:(?:the )?(?:whole|entire|full|complete) (?:table|file|list|sheet|data)|all (?:of )?(?:the |its )?rows) ", builders.all_rows),
    (r"(?:list|show|name|which|what)(?: me)?(?: are)? (?:all |of |the |our |different )*{G}(?:(?:are|is|were) there |do we have |there are )?", builders.listed),
    (r"{ASK}(?:all |the |our |of |any |first )*(?:{X})?(?P<p>{P:_})?(?P<v>{V+:_})?{N}(?:(?:are|is|were) there |do we have |there are )?", builders.rows),
)  # fmt: skip
HEADS = tuple((pattern(line, WORDS), build) for line, build in _LINES)
"""Tried in this order; the first with which the whole sentence is understood is taken."""
