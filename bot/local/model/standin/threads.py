"""A thread as a summary, as action items or as a draft reply: what its shortcuts ask for."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

from .conversation import COMPLETE
from .findings import Findings
from .outcomes import Sentence, decided, unanswered
from .outputs import reason
from .passages import cut, key_sentences
from .said import TO_BOT, Said, messages_of, was_read
from .todo import in_words, items_of
from .view import View
from .words import content, overlap, sentences

INNER = str.maketrans("“”", "‘’")
MOST_MOMENTS, MOST_ANSWERS = 5, 8
LONG = 6  # messages; of a shorter thread the rest of the summary says all
ASKED_BY_BUTTON = re.compile(r"[^:\n]+ asked:\s")
"""How the bot says what a shortcut asked, where that is asked in public."""
FIXED = "Sentences are picked by their words; nothing is rephrased or weighed."


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
        found.lower("No messages came back." if was_read(output) else reason(output), "low")
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


def _answered(output: str) -> list[tuple[Said, Said]]:
    """Messages that the bot wrote right after, each with that."""
    both = pairwise(each for each in messages_of(output) if not ASKED_BY_BUTTON.match(each.text))
    return [(asked, then) for asked, then in both if then.is_of_bot and not asked.is_of_bot]


def _summarise(found: Findings, messages: list[Said], answered: list[tuple[Said, Said]]) -> None:
    asked = [each for each, _ in answered]
    talked = [each for each in messages if each not in asked]
    begun = re.sub(r"(?<![.!?…])”$", "”.", _quote(messages[0]))
    found.summary = f"{messages[0].author} began with {begun} {_end(messages, answered)}"
    moments = _timeline(talked) if len(messages) >= LONG else []
    found.fields = {
        "decisions": [_statement(each) for each in decided(messages)],
        "open_questions": [_statement(q) for q in unanswered(messages) if q[0] not in asked],
        "participants": list(dict.fromkeys(message.author for message in messages)),
        "timeline": _in_order([*moments, *map(_moment, answered[-MOST_ANSWERS:])]),
    }
    number = f"{len(messages)} message{'s' * (len(messages) > 1)}"
    mine = f", and {len(answered)} of mine" if answered else ""
    found.source(f"The thread, {number}{mine}", messages[0].url, "All that was read.")


def _end(messages: list[Said], answered: list[tuple[Said, Said]]) -> str:
    if decisions := decided(messages):
        message, sentence = decisions[-1]
        return f"The last decision there, by {message.author}: “{cut(sentence)}”"
    if answered and answered[-1][0] == messages[-1]:
        return f"My last answer there is: {_quote(answered[-1][1])}"
    if len(messages) == 1:
        return "Nobody has replied yet."
    return f"The last word is {messages[-1].author}'s: {_quote(messages[-1])}"


def _quote(message: Said) -> str:
    return f"“{cut(next(iter(sentences(message.text)), message.text))}”"


def _statement(said: Sentence) -> dict[str, Any]:
    message, sentence = said
    return {"text": f"{message.author}: “{cut(sentence)}”", "url": message.url}


def _timeline(messages: list[Said]) -> list[tuple[str, str]]:
    """The weightiest sentences with their times."""
    key = key_sentences("\n".join(message.text for message in messages), most=MOST_MOMENTS)
    first = ((m, next((s for s in sentences(m.text) if s in key), None)) for m in messages)
    return [(m.at, f"{m.author}: “{cut(sentence)}”") for m, sentence in first if sentence]


def _moment(both: tuple[Said, Said]) -> tuple[str, str]:
    asked, then = both
    question = replace(asked, text=TO_BOT.sub("", asked.text).lstrip(" ,:"))
    told = _quote(then).translate(INNER)
    return asked.at, f"{asked.author} asked me {_quote(question)} I answered “{told[1:-1]}”"


def _in_order(moments: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """By time; the day stands with the first of it."""
    listed, day = [], ""
    for at, what in sorted(moments, key=lambda each: each[0]):
        on, _, clock = at.partition(" ")
        when, day = clock if on == day else at, on
        listed.append({"when": when, "what": what})
    return listed


def _list(found: Findings, messages: list[Said]) -> None:
    items = items_of(messages)
    items.sort(key=lambda item: item.due or "9999")
    found.fields = {
        "items": [
            {"task": item.task, "owner": item.owner, "due": item.due, "url": item.message.url}
            for item in items
        ]
    }
    if not items:
        found.summary = (
            "I found no action items. My rules know them by “I will”, “please”, “has to” or a name with a day: "
            "whether there are some in other words they cannot tell."
        )
        return
    found.summary = (
        f"There {'is 1 action item' if len(items) == 1 else f'are {len(items)} action items'}."
    )
    if items[0].due:
        found.summary += f" The first is due on **{in_words(items[0].due)}**: {items[0].task}."
    orphans = sum(item.owner is None for item in items)
    if orphans:
        found.gaps.append(f"Nobody has taken on {orphans} of them.")


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
