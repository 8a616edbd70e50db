"""A thread as a summary, as action items or as a draft reply: what its shortcuts ask for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from typing import Any

from .conversation import COMPLETE
from .findings import Findings
from .moments import DAYS, to_next
from .outputs import failed, reason
from .passages import cut, key_sentences
from .talk import Said, messages_of
from .view import View
from .words import content, has, overlap, sentences

DECIDED = r"decided|decision|agreed|let's (?:go|do|ship|wait)|approved|settled"
WHEN = rf"today|tonight|tomorrow|(?:next )?(?:{'|'.join(DAYS)})|next week|end of (?:the )?(?:week|month)"
DUE = re.compile(
    rf"(?<!\s)\s*+,?\s*+\b(?:(?:by|until|before|on|due)\s+)?(?P<when>{WHEN}|\d{{4}}-\d\d-\d\d)\b",
    re.I,
)
MINE = re.compile(r"\bI(?:['’]ll| will| am going to|['’]m going to) (?P<task>.+)", re.I)
THEIRS = re.compile(
    r"@?\b(?P<who>[A-Z]\w+)(?: \w+)?,? (?:will|please|can you|could you|has to|needs to|must|to) "
    r"(?:please )?(?P<task>.+)"
)
NOBODYS = re.compile(
    r"(?:\b(?:somebody|someone|we) (?:needs? to|must|should|ha(?:s|ve) to)|^(?:please|todo:?|action:?)) "
    r"(?P<task>.+)",
    re.I,
)
NEXT = re.compile(
    r"(?:[,;]\s*(?:and |but )?|\s+and )"
    r"(?=I(?:['’]ll| will| am going to|['’]m going to) |@?[A-Z]\w+(?: [A-Z]\w+)? (?:will|has to|needs to|must) )"
)
"""Where one sentence goes on with what somebody else does."""
NO_NAMES = frozenset(
    {"We", "It", "That", "This", "They", "He", "She", "You", "There", "What", "Who", "I"}
)
MOST_MOMENTS = 5
LONG = 6  # messages; of a shorter thread the rest of the summary says all
FIXED = "Sentences are picked by their words; nothing is rephrased or weighed."


@dataclass(frozen=True, slots=True)
class Item:
    """Something to do."""

    task: str
    owner: str | None
    due: str | None
    url: str | None


def is_asked(view: View) -> bool:
    """Whether the type of the answer is one of the three."""
    return wanted(view) is not None


def wanted(view: View) -> str | None:
    """Which of the three kinds of result is asked for, if any is, by the fields it has."""
    parameters = view.offered.get(COMPLETE, {}).get("parameters") or {}
    names = set(parameters.get("properties", {}))
    kinds = {
        "summary": {"about", "decisions", "timeline"},
        "actions": {"summary", "items"},
        "draft": {"draft", "tone"},
    }
    return next((kind for kind, fields in kinds.items() if fields <= names), None)


def answer(view: View, found: Findings) -> None:
    """Read the thread and fill in the fields of the result."""
    kind = wanted(view)
    output = view.do("read_thread", "I read the whole thread first.", fresh=True, limit=200)
    messages = of_people(view, output)
    if not messages:
        found.summary = "There is nothing to read in this thread."
        found.lower(reason(output) if failed(output) else "No messages came back.", "low")
        return
    if kind == "summary":
        _summarise(found, messages, _answered(output))
    elif kind == "actions":
        _list(found, messages)
    else:
        _draft(found, messages, view)
    found.gaps.append(FIXED)


def of_people(view: View, output: str) -> list[Said]:
    """What people said in a thread that was read, the question left out."""
    return [
        message
        for message in messages_of(output)
        if not (message.is_of_bot or message.repeats(view.text))
    ]


def _answered(output: str) -> list[Said]:
    """Messages that the bot wrote right after."""
    return [asked for asked, then in pairwise(messages_of(output)) if then.is_of_bot]


def _summarise(found: Findings, messages: list[Said], answered: list[Said]) -> None:
    decisions = list(_sentences(messages, DECIDED))
    questions = [each for each in _unanswered(messages) if each[0] not in answered]
    begun = re.sub(r"(?<![.!?…])”$", "”.", _quote(messages[0]))
    found.summary = f"{messages[0].author} began with {begun} {_end(messages)}"
    found.fields = {
        "decisions": [_statement(message, sentence) for message, sentence in decisions],
        "open_questions": [_statement(message, sentence) for message, sentence in questions],
        "participants": list(dict.fromkeys(message.author for message in messages)),
        "timeline": _timeline(messages) if len(messages) >= LONG else [],
    }
    found.source(
        f"The thread, {len(messages)} message{'s' * (len(messages) > 1)}",
        messages[0].url,
        "All that was read.",
    )


def _end(messages: list[Said]) -> str:
    decided = [*_sentences(messages, DECIDED)]
    if decided:
        message, sentence = decided[-1]
        return f"What holds now is what {message.author} wrote: “{cut(sentence)}”"
    if len(messages) == 1:
        return "Nobody has replied yet."
    return f"The last word is {messages[-1].author}'s: {_quote(messages[-1])}"


def _quote(message: Said) -> str:
    return f"“{cut(next(iter(sentences(message.text)), message.text))}”"


def _sentences(messages: list[Said], pattern: str) -> Iterator[tuple[Said, str]]:
    for message in messages:
        for sentence in sentences(message.text):
            if has(sentence, pattern) and not sentence.endswith("?"):
                yield message, sentence


def _unanswered(messages: list[Said]) -> Iterator[tuple[Said, str]]:
    """Questions of whose words nobody else, and no decision, speaks later on."""
    for place, message in enumerate(messages):
        later = [
            m.text
            for m in messages[place + 1 :]
            if m.author != message.author or has(m.text, DECIDED)
        ]
        for sentence in sentences(message.text):
            asked = content(sentence)
            if sentence.endswith("?") and not any(overlap(asked, content(t)) >= 1 for t in later):
                yield message, sentence


def _statement(message: Said, sentence: str) -> dict[str, Any]:
    return {"text": f"{message.author}: “{cut(sentence)}”", "url": message.url}


def _timeline(messages: list[Said]) -> list[dict[str, Any]]:
    """The weightiest sentences with their times; the day stands with the first of it."""
    key = key_sentences("\n".join(message.text for message in messages), most=MOST_MOMENTS)
    moments, day = [], ""
    for message in messages:
        sentence = next((s for s in sentences(message.text) if s in key), None)
        if sentence is None:
            continue
        on, _, at = message.at.partition(" ")
        when, day = at if on == day else message.at, on
        moments.append({"when": when, "what": f"{message.author}: “{cut(sentence)}”"})
    return moments


def _list(found: Findings, messages: list[Said]) -> None:
    items = [item for message in messages for item in _items(message)]
    items.sort(key=lambda item: item.due or "9999")
    found.fields = {
        "items": [
            {"task": item.task, "owner": item.owner, "due": item.due, "url": item.url}
            for item in items
        ]
    }
    if not items:
        found.summary = "There are no action items: nobody took anything on or was asked to."
        return
    found.summary = (
        f"There {'is 1 action item' if len(items) == 1 else f'are {len(items)} action items'}."
    )
    if items[0].due:
        found.summary += f" The first is due on **{_in_words(items[0].due)}**: {items[0].task}."
    orphans = sum(item.owner is None for item in items)
    if orphans:
        found.gaps.append(f"Nobody has taken on {orphans} of them.")


def _items(message: Said) -> Iterator[Item]:
    before = ""
    for sentence in (clause for each in sentences(message.text) for clause in NEXT.split(each)):
        if mine := MINE.search(sentence):
            yield _item(mine["task"], message.author, message, before)
        elif (theirs := THEIRS.search(sentence)) and theirs["who"] not in NO_NAMES:
            yield _item(theirs["task"], theirs["who"], message, before)
        elif nobodys := NOBODYS.search(sentence):
            yield _item(nobodys["task"], None, message, before)
        before = sentence


def _item(task: str, owner: str | None, message: Said, before: str) -> Item:
    due = DUE.search(task)
    bare = (DUE.sub("", task, count=1) if due else task).strip(" .,!?;:")
    if before and has(bare, r"it|this|that|them"):
        bare = f"{bare} ({before.strip(' .!')})"
    return Item(
        task=cut(bare[:1].upper() + bare[1:]),
        owner=owner,
        due=_day(due["when"].lower(), message.at) if due else None,
        url=message.url,
    )


def _day(when: str, said_at: str) -> str:
    """The day that was meant, as a date, counted from when it was said."""
    day = date.fromisoformat(said_at[:10])
    if when in ("today", "tonight"):
        return day.isoformat()
    if when == "tomorrow":
        return (day + timedelta(days=1)).isoformat()
    name = when.removeprefix("next ")
    if name in DAYS:
        return (day + to_next(name, day)).isoformat()
    return when


def _in_words(due: str) -> str:
    """A day as people write it; as it stands where it is no date."""
    try:
        day = date.fromisoformat(due)
    except ValueError:
        return due
    return f"{day:%A}, {day.day} {day:%B}"


def _draft(found: Findings, messages: list[Said], view: View) -> None:
    """A frame for the reply: whom it greets, what others said of it, a place for one's own words."""
    pointed = view.turn.quoted or messages[-1].text
    about = next(
        (m for m in messages if " ".join(m.text.split()) in " ".join(pointed.split())), None
    )
    about = about or messages[-1]
    question = next((s for s in sentences(pointed) if s.endswith("?")), None)
    known = _known(question, about, messages) if question else None
    _, _, instruction = view.text.partition("\n")
    own = instruction.strip() or (f"your answer to “{cut(question)}”" if question else "your reply")
    lines = [f"Hi {about.author.split()[0].capitalize()},", f"[{own}]", "Thanks!"]
    if known:
        lines.insert(1, f"{known.author} wrote on this: {_quote(known)}")
        found.fields["assumptions"] = [f"What {known.author} wrote still holds, and answers it."]
        found.source(f"{known.author}, {known.at}", known.url, _quote(known))
    found.summary = "\n\n".join(lines)
    found.fields |= {"draft": found.summary, "tone": "friendly and brief"}
    found.gaps.append("What you want to say is yours: replace what stands in [brackets].")


def _known(question: str, about: Said, messages: list[Said]) -> Said | None:
    """What somebody else said with the most words of the question."""
    asked = content(question)
    others = [m for m in messages if m.author != about.author]
    best = max(others, key=lambda m: overlap(asked, content(m.text)), default=None)
    return best if best and overlap(asked, content(best.text)) >= 1 else None
