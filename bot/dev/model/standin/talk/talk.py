"""What people said in a thread or a channel: a summary, what was decided, is to be done or open, and
what was said of a thing or by somebody."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..conversation import COMPLETE
from ..findings import Findings
from ..outputs import parse_document
from ..phrasing import ANYWHERE, Sentence, sentence
from ..texts.passages import cut, key_sentences
from ..view import View
from ..words import listed
from . import again
from .hearing import THREAD, Talk, talks
from .outcomes import decided, of_topic, unanswered
from .said import Said, of_days
from .todo import KNOWN_BY, items_of, told

LATELY = re.compile(r"\s+(?:lately|recently)$", re.IGNORECASE)
DAYS = re.compile(r"\s+(today|yesterday|this week|last week)$", re.IGNORECASE)
_WHICH = r"(?:(?:what|which|list|extract)(?: are)?(?: the)?|are there) (?:any )?"
_WHO = (
    r"(?P<who>(?!(?:any|every|some|people|the|we|you|they|it|this|that)\w*\b)\w[\w-]*(?: [\w-]+)?)"
)
_TOPIC = r"(?: about (?P<topic>.+))?"
FORMS = tuple(
    (kind, re.compile(form, re.IGNORECASE))
    for kind, form in (
        ("summary", r"(?:summari[sz]e|recap|sum up)(?: (?:it|this|that|everything))?(?P<open> and list what is (?:still )?open)?|tl;?dr|catch me up"),
        ("summary", r"(?:give me |make )?(?:a )?(?:short |quick )?(?:summary|recap)(?: of (?:this|it))?"),
        ("summary", r"what(?:'s| is) (?:new|going on|about|this about)|what did I miss"),
        ("summary", r"what (?:happened|(?:was|is|is being|has been) (?:said|discussed)|did (?:people|everybody|everyone|we) (?:say|write|discuss|talk about))"),
        ("decision", rf"what (?:was|is|has been|did we|have we) (?:decided?|agreed?){_TOPIC}"),
        ("decision", rf"{_WHICH}decisions(?: (?:are|were|there|made))*{_TOPIC}"),
        ("action item", rf"{_WHICH}(?:action items|to-?dos|next steps)(?: (?:are|there))*|who (?:does|has to do|should do|will do) what(?:,? (?:by|until) when)?"),
        ("action item", rf"what (?:do|does) {_WHO} (?:have|need) to do|what is (?:left )?to (?:do|be done)"),
        ("open question", rf"{_WHICH}(?:open|unanswered) questions(?: (?:are|there))*"),
        ("open question", r"(?:what|which questions) (?:is|are)(?: still)? (?:open|unanswered)"),
        ("said", rf"what did {_WHO} (?:say|write|ask){_TOPIC}|what did (?:people|we|anyone) say about (?P<of>.+)"),
        ("said", rf"did {_WHO} (?:say|write) (?:something|anything){_TOPIC}"),
        ("said", r"what (?:was|is|has been) (?:said|written|discussed) about (?P<topic>.+)"),
        ("said", r"what do (?:we|you|they) know about (?P<topic>(?!me$|us$|you$).+)"),
        ("said", r"(?:who|did (?:anyone|anybody|somebody|someone)) (?:mention(?:ed)?|(?:said|say|wrote|write) (?:something|anything) about) (?P<topic>.+)"),
    )
)  # fmt: skip
"""Whole sentences, without the place and the days they are about."""
SIGNS = {
    "decision": "a decision by “agreed”, “decided” or the like",
    "action item": KNOWN_BY,
    "open question": "a question by its question mark, and an answer by its words",
}
DATA = ("read_file", "query_table", "compare_tables", "search_artifact", "query_database")
WANTS_TALK = {"participants", "decisions", "action_items", "actions", "open_questions"}
MOST_QUOTED, MOST_SOURCES, MOST_OPEN = 10, 5, 4


@dataclass(frozen=True, slots=True)
class Asked:
    """What is wanted of a talk: its kind, where, of which days, of what and by whom."""

    kind: str = "summary"
    place: Sentence = ANYWHERE
    days: str = ""
    topic: str = ""
    who: str = ""
    open: bool = False
    """Whether a summary is to list what is open as well."""


def is_asked(view: View) -> bool:
    """Whether the question, or the type of its answer, is about what people said."""
    schema = view.offered.get(COMPLETE, {}).get("parameters") or {}
    if WANTS_TALK & set(schema.get("properties", {})):
        return True
    asked = _asked(view)
    if asked is None or view.turn.quoted:
        return False
    if asked.place.channel or asked.place.here:
        return True
    of_talk = asked.kind != "summary" and not (view.turn.files or _is_of_a_text(view))
    # "Summarise it" is said of a file as well.
    return of_talk or not (view.files or any(step.tool in DATA for step in view.earlier))


def _is_of_a_text(view: View) -> bool:
    """Whether the question before was one to a document, which may say what was decided, too."""
    last = next(iter(view.earlier), None)
    if last is None or last.tool not in ("read_file", "search_artifact"):
        return False
    return last.tool == "search_artifact" or parse_document(last.output or "") is not None


def _asked(view: View) -> Asked | None:
    place = sentence(view.text)
    if place.words.count("#") > 1:
        return None
    words = LATELY.sub("", place.rest)
    days = DAYS.search(words)
    words = DAYS.sub("", words) if view.turn.day else words
    for kind, form in FORMS:
        if said := form.fullmatch(words):
            parts = said.groupdict()
            who = parts.get("who") or ""
            who = view.turn.author if who.lower() == "i" else who
            topic = parts.get("topic") or parts.get("of") or ""
            return Asked(
                kind,
                place,
                days[1] if days else "",
                topic.strip("“”\"' ").removeprefix("the "),
                who,
                open=bool(parts.get("open")),
            )
    return None


def answer(view: View, found: Findings) -> None:
    """Of the first place where something of it was said."""
    asked = _asked(view) or Asked()
    looked = []
    for talk in talks(view, asked.place):
        if talk.refused:
            found.gaps.append(f"I could not read {talk.place}: {talk.refused}")
            continue
        messages = (
            of_days(talk.messages, asked.days, view.turn.day) if asked.days else talk.messages
        )
        looked.append(talk.place)
        if chosen := _chosen(asked, messages):
            _tell(found, asked, Talk(talk.place, messages), chosen)
            return
    of_thread = asked.kind == "summary" and THREAD in looked and not asked.days
    if of_thread and (turns := again.answered(view)):
        again.recount(found, turns)
    elif looked:
        _tell_nothing(found, asked, " or ".join(looked))
    else:
        found.summary = found.gaps.pop()


def _chosen(asked: Asked, messages: list[Said]) -> list[Said]:
    """The messages that are of what is asked."""
    chosen = of_topic(messages, asked.topic) if asked.topic else messages
    by_one = asked.who and asked.kind == "said"
    return [each for each in chosen if _is_by(asked.who, each.author)] if by_one else chosen


def _is_by(who: str, author: str) -> bool:
    return who.lower() in (author.lower(), author.partition(" ")[0].lower())


def _tell_nothing(found: Findings, asked: Asked, places: str) -> None:
    where = f"in {places}{f' {asked.days}' if asked.days else ''}"
    if asked.topic:
        by = f" by {asked.who}" if asked.who else ""
        found.summary = f"Besides questions to me, I found no message{by} {where} that has “{asked.topic}” in it."
    elif asked.who and asked.kind == "said":
        found.summary = f"Besides questions to me, {asked.who} wrote nothing {where}."
    else:
        found.summary = f"Besides questions to me, nobody wrote anything {where}."


def _tell(found: Findings, asked: Asked, talk: Talk, chosen: list[Said]) -> None:
    _gather(found, talk.messages)
    if asked.kind == "summary":
        _summarise(found, talk, asked)
    elif asked.kind == "said":
        _quote(found, asked, talk, chosen)
    else:
        _list(found, asked, talk, list(_lines(asked, chosen)))
    if number := sum(each.is_answered for each in talk.messages):
        found.gaps.append(f"The replies in {number} of its threads were not read.")


def _lines(asked: Asked, messages: list[Said]) -> Iterator[tuple[Said, str]]:
    """What is listed, with the message it stands in; of a decision about a thing the whole message."""
    if asked.kind == "action item":
        items = items_of(messages)
        if asked.who:
            items = [each for each in items if _is_by(asked.who, each.owner or "")]
        yield from ((each.message, told(each)) for each in items)
        return
    for each, said in decided(messages) if asked.kind == "decision" else unanswered(messages):
        yield each, f"{each.author}: “{cut(each.text if asked.topic else said)}”"


def _gather(found: Findings, messages: list[Said]) -> None:
    """What the type of the answer may want of a talk."""
    found.people = list(dict.fromkeys(each.author for each in messages))
    found.decisions = [f"{each.author}: “{cut(said)}”" for each, said in decided(messages)]
    found.actions = [
        {"text": each.task, "owner": each.owner, "due": each.due} for each in items_of(messages)
    ]
    found.questions = [f"{each.author}: “{cut(said)}”" for each, said in unanswered(messages)]


def _summarise(found: Findings, talk: Talk, asked: Asked) -> None:
    """The sentences that say most, the last decision, and what is open."""
    picked = key_sentences("\n".join(each.text for each in talk.messages), most=4)
    by = {each: m for m in reversed(talk.messages) for each in picked if each in m.text}
    number = "One message" if len(talk.messages) == 1 else f"{len(talk.messages)} messages"
    found.title = f"Summary of {talk.place}"
    found.summary = f"{number} by {listed(found.people[:6])} in {talk.place}."
    if found.decisions:
        found.summary += f" What was decided, by its words: {found.decisions[-1]}"
    # What is asked stands under "Still open" where it is.
    told = [each for each in picked if not each.endswith("?")]
    found.points = [
        f"{by[each].author}: “{cut(each)}”" if each in by else cut(each) for each in told
    ]
    found.points += _open(found, talk, asked)
    found.lower("The summary picks sentences by their words; it does not rephrase them.")
    _cite(found, [*(m for m, _ in decided(talk.messages)[-1:]), *(by[s] for s in told if s in by)])
    where = f"in {talk.place}" if talk.place.startswith("#") else "here"
    found.follow_ups = [f"What was decided {where}?", f"Which action items are there {where}?"]


def _open(found: Findings, talk: Talk, asked: Asked) -> list[str]:
    """The last questions that nobody answered; where it is asked for all that is open also what is to
    be done, or that there is nothing."""
    if not asked.open:
        if more := found.questions[:-MOST_OPEN]:
            found.gaps.append(f"There are more open questions, from before: {len(more)}.")
        return [f"Still open: {question}" for question in found.questions[-MOST_OPEN:]]
    found.gaps.append(f"I know {SIGNS['open question']}, and {SIGNS['action item']}.")
    items = items_of(talk.messages)
    tasks = [each.task.lower() for each in items]  # some are put as a question
    rest = [each for each in found.questions if not any(task in each.lower() for task in tasks)]
    still = [*rest, *map(told, items)]
    if len(still) > MOST_QUOTED:
        found.gaps.append(f"There are {len(still) - MOST_QUOTED} more.")
    return [f"Still open: {each}" for each in still[:MOST_QUOTED]] or [
        "Still open: nothing that I can tell."
    ]


def _list(found: Findings, asked: Asked, talk: Talk, lines: list[tuple[Said, str]]) -> None:
    number = f"{len(lines) or 'no'} {asked.kind}{'s' * (len(lines) != 1)}"
    about = f" about “{asked.topic}”" if asked.topic else f" of {asked.who}" if asked.who else ""
    found.summary = f"I found {number}{about} in {talk.place}{':' if lines else '.'}"
    found.points = [line for _, line in lines[:MOST_QUOTED]]
    if len(lines) > MOST_QUOTED:
        found.gaps.append(f"There are {len(lines) - MOST_QUOTED} more.")
    _cite(found, [message for message, _ in lines])
    found.lower(f"I know {SIGNS[asked.kind]}, not what is said in other words.")
    if asked.topic and not lines:
        found.follow_ups = [f"What was said about {asked.topic}?"]


def _quote(found: Findings, asked: Asked, talk: Talk, chosen: list[Said]) -> None:
    """The messages themselves, the newest last."""
    shown = chosen[-MOST_QUOTED:]
    if len(chosen) == 1:
        found.summary = f"{chosen[0].author} wrote in {talk.place}: “{cut(chosen[0].text)}”"
    else:
        about = f" about “{asked.topic}”" if asked.topic else ""
        by = f" by {chosen[0].author}" if asked.who else ""
        found.summary = f"{len(chosen)} messages{by}{about} in {talk.place}:"
        found.points = [f"{each.author}: “{cut(each.text)}”" for each in shown]
    if len(chosen) > len(shown):
        found.gaps.append(f"These are the last {len(shown)}.")
    _cite(found, shown)


def _cite(found: Findings, messages: list[Said]) -> None:
    for each in messages[:MOST_SOURCES]:
        found.source(f"{each.author}, {each.at}", each.url, f"“{cut(each.text)}”")
