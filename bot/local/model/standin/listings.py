"""Lists made of a talk: who wrote how often, and what was decided, is to be done or open."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from . import topics
from .findings import Findings
from .outcomes import decided, unanswered
from .passages import cut, key_sentences
from .said import Said
from .todo import DUE, items_of, told
from .view import View
from .words import has, listed

MOST_SOURCES, MOST_LISTED = 5, 20
KNOWN_BY = {
    "decision": f"a decision by {topics.SIGNS}",
    "action item": "what is to be done by “I will”, “please”, “has to” or a name with a day",
    "open question": "a question by its question mark, and an answer by its words",
}


def gather(found: Findings, messages: list[Said]) -> None:
    """What any question about a talk, or the type of its answer, may want of it."""
    found.people = list(Counter(message.author for message in messages))
    that_decide = dict.fromkeys(message for message, _ in decided(messages))
    found.decisions = [f"{each.author}: “{cut(each.text)}”" for each in that_decide]
    items = items_of(messages)
    found.actions = [
        {
            "text": each.task,
            "owner": each.owner,
            "due": each.due,
            "line": told(each),
            "said": each.message,
        }
        for each in items
    ]
    found.questions = [f"{each.author}: “{cut(asked)}”" for each, asked in unanswered(messages)]


def tell_summary(found: Findings, messages: list[Said], place: str) -> None:
    """The sentences that say most, what was decided, and what is open."""
    picked = key_sentences("\n".join(message.text for message in messages), most=4)
    by = {sentence: m.author for m in messages for sentence in picked if sentence in m.text}
    number = "One message" if len(messages) == 1 else f"{len(messages)} messages"
    found.title = f"Summary of {place}"
    found.summary = f"{number} by {listed(found.people[:6])}. "
    if found.decisions:
        found.summary += f"What was decided, by its words: {found.decisions[-1]}"
    elif picked:
        found.summary += f"Most to the point: “{cut(picked[0])}” ({by.get(picked[0], 'someone')})"
    # What is asked again under "Still open" is not listed twice.
    found.points = [f"{by.get(s, 'Someone')}: “{cut(s)}”" for s in picked if not s.endswith("?")]
    found.points += [f"Still open: {question}" for question in found.questions[-2:]]
    found.lower("The summary picks messages by their words; it does not rephrase them.")
    where = f"in {place}" if place.startswith("#") else "here"  # also where it was asked elsewhere
    found.follow_ups = [f"What was decided {where}?", f"Which action items are {where}?"]


def tell_writers(view: View, found: Findings, messages: list[Said], place: str) -> None:
    """Who wrote how often; of somebody who is named that alone."""
    wrote = Counter(message.author for message in messages).most_common(10)
    named = [(name, count) for name, count in wrote if is_named(view, name)]
    least = has(view.text, "least|fewest|quietest")
    count = (min if least else max)(number for _, number in named or wrote)
    names = [f"**{name}**" for name, number in named or wrote if number == count]
    how = "wrote" if named else f"wrote {'fewest' if least else 'most'}:"
    each = " each" if len(names) > 1 else ""
    found.summary = f"{listed(names)} {how} {count}{each} of {len(messages)} messages in {place}."
    found.caption, found.columns = "Messages besides questions to me", ["person", "messages"]
    found.rows = [[name, str(count)] for name, count in wrote]


def tell_kinds(view: View, found: Findings, kinds: list[str], place: str) -> None:
    """What was decided, is to be done or open; each with its kind where several are asked for."""
    todo = _todo(view, found)
    if "action item" in kinds and (due := DUE.search(view.text)):
        found.summary = f"My rules do not choose them by “{due[0].strip()}”."
    lines = {
        "decision": found.decisions,
        "action item": [each["line"] for each in todo],
        "open question": found.questions,
    }
    for kind in kinds:
        number = {0: f"no {kind}", 1: f"one {kind}"}.get(
            len(lines[kind]), f"{len(lines[kind])} {kind}s"
        )
        end = ":" if lines[kind] and len(kinds) == 1 else "."
        found.summary = f"{found.summary} I found {number} in {place}{end}".strip()
        for each in todo[:MOST_SOURCES] if kind == "action item" else ():
            source(found, each["said"])
        before = f"{kind.capitalize()}: " if len(kinds) > 1 else ""
        found.points += [f"{before}{line}" for line in lines[kind][:MOST_LISTED]]
        if len(lines[kind]) > MOST_LISTED:
            found.gaps.append(f"There are {len(lines[kind]) - MOST_LISTED} more {kind}s.")
        found.lower(f"I know {KNOWN_BY[kind]}, not what is said in other words.")


def _todo(view: View, found: Findings) -> list[dict[str, Any]]:
    """All that is to be done; of one person's alone where one is named, or asks for his own."""
    asker = view.turn.author if has(view.text, "i|my|me") else ""
    names = {*found.people, *(each["owner"] for each in found.actions if each["owner"])}
    first = asker.split()[:1]
    persons = {name for name in names if name.split()[:1] == first or is_named(view, name)}
    if not (persons or asker):
        return found.actions
    return [each for each in found.actions if each["owner"] in persons]


def is_named(view: View, author: str) -> bool:
    """Whether a question names somebody, be it by one of several names; who asks names himself by "I"."""
    if author == view.turn.author and has(
        view.text, "(?:did|do|have|was|am) i|i (?:said|wrote|asked)|mine"
    ):
        return True
    return any(has(view.text, re.escape(part)) for part in author.split())


def source(found: Findings, message: Said) -> None:
    """Name a message as a source."""
    found.source(f"{message.author}, {message.at}", message.url, f"“{cut(message.text)}”")
