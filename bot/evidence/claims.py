"""Claims: the pieces of an answer that are traced, each with what the words around it say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bot.core.findings import Operation, Place, Reason, Verdict
from bot.evidence.characters import folded
from bot.evidence.fields import AnswerField, FieldKind
from bot.evidence.indexing import IndexedOutput
from bot.evidence.mentions import Mention
from bot.evidence.notations import Mark, Reading, mark_of
from bot.evidence.quotes import Quote, is_long_enough, quotes
from bot.evidence.tokens import Kind, Token, tokens
from bot.evidence.units import Unit

MOST_CLAIMS = 200
_SMALL = 12
_BLANKED = re.compile(r"```.*?(?:```|\Z)|<[@#!][^>\n]{1,80}>", re.DOTALL)
_PLACEHOLDER = re.compile(r"\[[^\]\n]{1,80}\](?!\()")
_LIST_MARK = re.compile(r"(?:^|\n)\s*\d{1,3}[.)]\s")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=\S)|[。！？\n]+|;\s")
_APPROXIMATE = re.compile(
    r"(?:about|around|roughly|approximately|approx\.|some|nearly|almost|over|more than|under|less than|"
    r"ca\.|circa|rund|etwa|ungefähr|knapp|fast|über|gut|mehr als|weniger als|environ|près de|presque|"
    r"plus de|moins de|quelque|un[oa]s|alrededor de|casi|cerca de|aproximadamente|más de|menos de|"
    r"quase|mais de|~|≈|約|およそ)[\s\xa0*]*(?:[€$£¥₹]|[A-Z]{3}\s)?$",
    re.IGNORECASE,
)


_NUMBER_WORDS = """
two three four five six seven eight nine ten eleven twelve
zwei drei vier fünf sechs sieben acht neun zehn elf zwölf
deux trois quatre cinq six sept huit neuf dix onze douze
dos tres cuatro cinco seis siete ocho nueve diez once doce
dois três quatro cinco seis sete oito nove dez onze doze
"""
NUMBER_WORDS = {
    word: number
    for line in _NUMBER_WORDS.split("\n")
    for number, word in enumerate(line.split(), 2)
}
"""Small numbers in words, by which figures may be multiplied: "for five years"."""


@dataclass(slots=True)
class Claim:
    """A claim: a token or a quote of a field, and what tracing has found so far.

    `group` is the field, or the row of a table: what belongs together. `is_small`: it is not
    checked, but others may follow from it. `significant` is the number of its digits. `value` is
    the exact value, as it was read or computed, with its sign; None before. `source` is where.
    """

    part: AnswerField
    group: str
    token: Token | None = None
    quote: Quote | None = None
    sentence: str = ""
    is_approximate: bool = False
    is_small: bool = False
    significant: int = 0
    verdict: Verdict = Verdict.UNTRACED
    reason: Reason | None = Reason.NOT_FOUND
    places: tuple[Place, ...] = ()
    source: tuple[IndexedOutput, Mention] | None = None
    value: float | None = None
    operation: Operation | None = None
    formula: str = ""

    @property
    def text(self) -> str:
        return self.quote.text if self.quote else self.token.text if self.token else ""

    @property
    def start(self) -> int:
        """Where it begins in its field."""
        return self.quote.start if self.quote else self.token.start if self.token else 0

    @property
    def unit(self) -> Unit | None:
        return self.token.unit if self.token else None

    @property
    def is_traced(self) -> bool:
        return self.verdict is not Verdict.UNTRACED

    def has_sign(self, sign: str) -> bool:
        return self.token is not None and self.token.sign == sign

    def found(self, verdict: Verdict, *places: Place) -> None:
        """Take a verdict other than untraced."""
        self.verdict, self.reason, self.places = verdict, None, places

    def names_in(self, names: Iterable[str]) -> set[str]:
        """Return those of the names that its sentence holds as whole words."""
        return {
            each
            for each in names
            if each in self.sentence
            and re.search(rf"(?<!\w){re.escape(each)}(?:s|es|n|en)?(?!\w)", self.sentence)
        }

    def windows(self, *, exact: bool = False) -> Iterator[tuple[float, float]]:
        """Yield the least and greatest value that each meaning of a figure stands for.

        That is half of its last written digit to either side, or, from three digits on, a digit cut
        off; after "about" half of its last digit that is not zero. `exact` leaves out digits cut
        off.
        """
        for reading in self.token.readings if self.token else ():
            step = _last_digit(reading) if self.is_approximate else reading.step
            slack = 1e-6 * step + 1e-13 * reading.value
            may_be_cut = not exact and not self.is_approximate and reading.value / step >= 100
            above = step * 0.999 if may_be_cut else step / 2
            yield reading.value - step / 2 - slack, reading.value + above + slack

    @property
    def is_whole(self) -> bool:
        """Whether a figure is written without decimals and scale."""
        return self.token is not None and all(each.step == 1 for each in self.token.readings)


def _significant(token: Token) -> int:
    """Return the number of digits of a figure, zeros included: 3 for 665k and 42.8."""
    least = min((each.value / each.step for each in token.readings), default=0)
    return len(str(round(least)))


def _last_digit(reading: Reading) -> float:
    """Return the value of the last digit that is not zero."""
    step = reading.step
    while (
        step < reading.value
        and abs(reading.value / (step * 10) - round(reading.value / (step * 10))) < 1e-9
    ):
        step *= 10
    return step


def claims_of(fields: Sequence[AnswerField]) -> list[Claim]:
    """Return the claims of an answer, the first 200.

    Small bare numbers in prose are marked `is_small`: they are not checked, but others may follow
    from them.
    """
    digits = [
        each.digits for field in fields for each in tokens(field.text) if each.kind is Kind.FIGURE
    ]
    mark, found = mark_of(digits), list[Claim]()
    for each in fields:
        for claim in _claims(each, mark):
            if len(found) == MOST_CLAIMS:
                return found
            found.append(claim)
    return found


def _claims(given: AnswerField, mark: Mark) -> Iterator[Claim]:
    is_cell = given.kind is FieldKind.CELL
    group = given.path.rpartition(".")[0] if is_cell else given.path
    if given.kind is FieldKind.ADDRESS:
        yield Claim(given, group, Token(Kind.ADDRESS, 0, len(given.text), given.text.strip()))
        return
    if given.kind is FieldKind.QUOTE:
        if is_long_enough(given.text):
            yield Claim(given, group, quote=Quote(0, len(given.text), given.text.strip(' "“”„«»')))
        return
    text = _BLANKED.sub(lambda match: " " * len(match[0]), given.text)
    if given.path.startswith("draft"):
        text = _PLACEHOLDER.sub(lambda match: " " * len(match[0]), text)
    for quote in quotes(text):
        yield Claim(given, group, quote=quote, sentence=folded(quote.text))
        text = text[: quote.start] + " " * (quote.end - quote.start) + text[quote.end :]
    marks = {match.end() for match in _LIST_MARK.finditer(text)}
    ends = [0, *(match.start() + 1 for match in _SENTENCE.finditer(text)), len(text)]
    for token in tokens(text, mark=mark):
        if token.end + 2 in marks or (token.end + 1 in marks and given.kind is FieldKind.PROSE):
            continue
        start = max(each for each in ends if each <= token.start)
        end = min(each for each in ends if each >= token.end)
        yield Claim(
            given,
            group,
            token,
            sentence=folded(text[start:end]),
            is_approximate=bool(_APPROXIMATE.search(text, max(0, token.start - 24), token.start)),
            is_small=_is_small(given, token, text),
            significant=_significant(token),
        )


def _is_small(given: AnswerField, token: Token, text: str) -> bool:
    """Return whether it is a bare number up to 12 in prose that is not bold."""
    is_bold = text[token.start - 2 : token.start] == "**" or text[token.end : token.end + 2] == "**"
    is_little = token.is_bare and int(token.digits) <= _SMALL and token.readings[0].value <= _SMALL
    return token.kind is Kind.FIGURE and is_little and given.kind is FieldKind.PROSE and not is_bold
