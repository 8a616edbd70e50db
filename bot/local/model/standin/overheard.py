"""A short question that somebody here has answered already: "When is the launch?"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from . import asking, database, directory, placing, search, topics
from .continuing import known
from .findings import Findings
from .moments import DAYS
from .naming import lookup, unknown_words
from .outcomes import around, decided, of_topic, roots, topic
from .outputs import Table
from .passages import ASKING, cut
from .query import understand
from .said import Said
from .schemas import Listed, Section, joined, sections_of
from .talk import TALK, said_here
from .times import MONTHS
from .view import View
from .words import STOP, has, sentences, stem, tokens

QUESTION = re.compile(
    r"\W*(?:(?:and|but|so|ok|okay|hey)\W+)*(?:(?P<when>when|(?:which|what) (?:day|date|time|month|week))|who|whom|whose|what|where|which|whats|whos|wheres|whens)\b"
    r"(?!.*\b(?:you|i|me)\b)(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
AND = re.compile(r"\W*(?:and|but|so|what about|how about)\b", re.IGNORECASE)
"""How the question before is gone on with, of which its own source knows first."""
GOES_ON = re.compile(
    r"\W*(?:and|any\w*|how|why|tell me about|is|are|was|were|do|does|did|has|have|will)\b",
    re.IGNORECASE,
)
WHO_DOES = re.compile(
    r"\W*(?:(?:and|but|so|ok)\W+)*who (?!is|are|was|were|has|have|had|do|does|did)\w+ \w+",
    re.IGNORECASE,
)
LITTLE = frozenset(
    [
        "who",
        "whom",
        "what",
        "when",
        "where",
        "which",
        "the",
        "a",
        "an",
        "of",
        "to",
        "in",
        "on",
        "at",
        "for",
        "is",
        "are",
        "was",
        "were",
        "do",
        "does",
        "did",
        "has",
        "have",
        "will",
        "by",
    ]
)
TENTATIVE = r"propose|suggest|should|could|would|may|might|maybe|perhaps|think|probably"
OF_TIME = re.compile(
    rf"\d|\b(?:{'|'.join(DAYS)}|{'|'.join(MONTHS)}|today|tonight|tomorrow|noon|midnight|morning|afternoon|evening|"
    r"week|weekend|month|year|now|soon|later)\b",
    re.IGNORECASE,
)
FIGURES = "|".join(
    (
        *asking.AGGREGATES.values(), asking.DOWN, asking.UP, asking.CHART, asking.COMPARE, asking.PART, asking.OVER_TIME, asking.ONES,
        r"by|per|each|every|list|show|database|file|sheet|rows?|columns?",
    )
)  # fmt: skip
"""What is worked out rather than told by somebody."""
_AROUND = "finally today next currently"
AROUND = {*_AROUND.split(), *ASKING}
OWN = r"i|i'm|i've|i'll|my|we|our"
NO_DATABASE: tuple[Section, Listed | None] = (("", False, []), None)
LONGEST = 100  # characters of such a question
MOST_WORDS = 5
ENOUGH = 2  # words in common that tell more than a table's bare name


@dataclass(frozen=True, slots=True)
class Heard:
    """What answers a question: a sentence of a message, and where that stands."""

    message: Said
    sentence: str
    place: str
    decided_later: list[str]
    """What was decided afterwards in the same talk, where the sentence only proposes something."""


def is_said(view: View) -> bool:
    """Whether what was said here fits the question so well that no table is meant by its words."""
    elsewhere = search.is_asked(view) or directory.is_asked(view)
    asked = QUESTION.match(view.text)
    if elsewhere or has(view.text, f"{FIGURES}|{TALK}") or not is_asked(view):
        return False
    heard = _heard(view) if asked and _asked(view) else None
    if heard is None:
        return _is_talked_of(view)
    here = heard.place == "this thread" and not (view.files or AND.match(view.text))
    if here and _is_literal(view.text, heard.sentence):
        return True
    if not ((asked and asked["when"]) or len(_asked(view)) >= ENOUGH or here):
        return False
    return not database.is_asked(view) or bool(_unknown_to_database(view))


def _is_talked_of(view: View) -> bool:
    """Whether people spoke of all of it in this thread, and the database, which else would take it
    for a question to it, knows it not."""
    if view.files or AND.match(view.text) or not database.is_asked(view):
        return False
    _, messages = next(said_here(view))
    if not of_topic(messages, topic(view.text)):
        return False
    words = roots(" ".join(_unknown_to_database(view)))
    return bool(words) and any(words <= roots(each.text) for each in messages)


def _is_literal(question: str, sentence: str) -> bool:
    """Whether a sentence has every word of a question who does something, verbs of everyday too."""
    asked = {stem(word) for word in tokens(question) if word not in LITTLE}
    return bool(WHO_DOES.match(question)) and asked <= {stem(word) for word in tokens(sentence)}


def _unknown_to_database(view: View) -> list[str]:
    """What a question speaks of that is no table, column or name of a database."""
    sections = sections_of(view.do("list_databases", "I look at what databases there are."))
    (name, _, tables), listed = placing.fitting(view.text, sections) if sections else NO_DATABASE
    if listed is None:
        return topic(view.text)
    table, of = joined(listed, tables)
    unknown = _unknown(view, table)
    if unknown and (sql := lookup(view.text, unknown, table, of)):
        thought = f"I look whether {name} holds these names."
        view.do("query_database", thought, database=name, sql=sql, purpose="names it holds")
    return _unknown(view, table)


def _unknown(view: View, table: Table) -> list[str]:
    seen = known(view, table)
    return unknown_words(view.text, seen, understand(view.text, seen))


def is_asked(view: View) -> bool:
    """Whether a channel may hold the answer."""
    in_channel = view.turn.place.startswith("#") and not (view.turn.files or view.turn.quoted)
    if has(view.text, "you|your"):
        return False
    asks = QUESTION.match(view.text) or GOES_ON.match(view.text) or view.text.endswith("?")
    few = 0 < len(topic(view.text)) <= MOST_WORDS and len(view.text) <= LONGEST
    return in_channel and few and bool(asks) and view.knows("read_channel")


def answer(view: View, found: Findings) -> None:
    """The latest sentence that holds every word of the question; else what was said of its topic."""
    heard = _heard(view) if _asked(view) else None
    if heard is None:
        _tell_topic(view, found)
        return
    message = heard.message
    found.summary = f"{message.author} wrote in {heard.place}: “{cut(heard.sentence)}”"
    found.source(f"{message.author}, {message.at}", message.url, f"“{cut(message.text)}”")
    found.points = [f"Decided after that: {each}" for each in heard.decided_later]
    told = "I chose the sentence by the words it shares with the question."
    found.lower(told, "low" if has(heard.sentence, TENTATIVE) else "medium")
    if database.is_asked(view):
        found.gaps.append("If you meant the database, say “in the database”.")


def _tell_topic(view: View, found: Findings) -> None:
    """The messages of this thread, else of its channel, that speak of the same."""
    words = topic(view.text)
    for place, messages in said_here(view):
        if said := topics.tell(found, words, messages, place):
            for each in said[-topics.MOST :]:
                found.source(f"{each.author}, {each.at}", each.url, f"“{cut(each.text)}”")
            return
    found.puzzled(database=view.knows("list_databases"))


def _asked(view: View) -> set[str]:
    """The words that an answer has to hold."""
    asked = QUESTION.match(view.text)
    return _roots(asked["rest"]) if asked else set()


def _heard(view: View) -> Heard | None:
    """The latest that answers: of this thread, else of its channel."""
    asked, question = _asked(view), QUESTION.match(view.text)
    of_time = bool(question and question["when"])
    for place, messages in said_here(view):
        for message in reversed(messages):
            for sentence in reversed([message.text, *sentences(message.text)]):
                told = OF_TIME.search(sentence) or not of_time
                if (
                    told
                    and not _is_question(sentence)
                    and _tells(question, sentence)
                    and asked & _roots(sentence)
                    and asked <= _told(message, sentence)
                ):
                    later = _decided_after(message, messages)
                    tentative = has(sentence, TENTATIVE)
                    return Heard(message, sentence, place, later if tentative else [])
    return None


def _tells(question: re.Match[str] | None, sentence: str) -> bool:
    """Whether what "is" something is told as such: "who is the client?" by "the client is …"."""
    asked = (
        re.match(
            r"\W*(?:who|what)(?:'s| is| are| was| were) (?:(?:the|our|my|an?) )?(\w+)\W*$",
            question[0],
            re.I,
        )
        if question
        else None
    )
    return asked is None or has(
        sentence,
        rf"{re.escape(asked[1])}(?:'s| is| are| was| were| will|:|-| =)|(?:is|are|was|were) (?:the |our )?{re.escape(asked[1])}",
    )


def _is_question(sentence: str) -> bool:
    """Not a request, as "can you send it?"."""
    return sentence.endswith("?") and not has(sentence, "(?:can|could|would|will) you|please")


def _decided_after(message: Said, messages: list[Said]) -> list[str]:
    later = messages[messages.index(message) + 1 :]
    talk = around(messages, [message])
    return [f"{m.author}: “{cut(s)}”" for m, s in decided(later) if m in talk]


def _told(message: Said, sentence: str) -> set[str]:
    """The words of a sentence; who speaks of himself says his name as well."""
    return _roots(f"{sentence} {message.author}" if has(sentence, OWN) else sentence)


def _roots(text: str) -> set[str]:
    """The words that carry meaning, without their endings: "move", "moves" and "moving" are one."""
    return {
        stem(word).rstrip("e")
        for word in tokens(text)
        if len(word) > 1 and not {word, stem(word)} & (STOP | AROUND)
    }
