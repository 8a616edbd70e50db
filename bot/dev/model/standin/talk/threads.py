"""A thread as a summary, as action items or as a draft reply: what its shortcuts ask for."""

from __future__ import annotations

from typing import Any

from ..conversation import COMPLETE
from ..findings import Findings
from ..outputs import reason
from ..texts.passages import cut, key_sentences
from ..view import View
from ..words import sentences
from .outcomes import Sentence, decided, unanswered
from .said import Said, messages_of, was_read
from .todo import KNOWN_BY, in_words, items_of

MOST_MOMENTS = 5
LONG = 6  # messages; of a shorter thread the rest of the summary says all
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
    found.fields = {"timeline": [], "items": [], "assumptions": [], "tone": "plain"}
    output = view.do("read_thread", "I read the whole thread first.", fresh=True, limit=200)
    written = [each for each in messages_of(output) if not each.repeats(view.text)]
    people = [each for each in written if not each.is_of_bot]
    messages = [each for each in people if not each.is_to_bot] or people
    if not messages:
        found.summary = "There is nothing to read in this thread."
        found.lower("No messages came back." if was_read(output) else reason(output), "low")
        return
    if kind == "summary":
        _summarise(found, written, messages)
    elif kind == "actions":
        _list(found, messages)
    else:
        _draft(found, messages, view)
    found.gaps.append(FIXED)


def _summarise(found: Findings, written: list[Said], messages: list[Said]) -> None:
    first, last = messages[0], messages[-1]
    found.summary = f"{first.author} began with {_quote(first)}"
    found.summary += f"{'.' * (found.summary[-2] not in '.!?…')} {_end(decided(messages), last)}"
    found.fields |= {
        "decisions": [_statement(each) for each in decided(messages)],
        "open_questions": [_statement(each) for each in unanswered(written)],
        "participants": list(dict.fromkeys(message.author for message in messages)),
        "timeline": _timeline(messages if len(messages) >= LONG else []),
    }
    number = f"{len(written)} message{'s' * (len(written) > 1)}"
    found.source(f"The thread, {number}", first.url, "All that was read.")


def _end(decisions: list[Sentence], last: Said) -> str:
    if decisions:
        message, sentence = decisions[-1]
        return f"The last decision there, by {message.author}: “{cut(sentence)}”"
    return f"The last word is {last.author}'s: {_quote(last)}"


def _quote(message: Said) -> str:
    return f"“{cut(next(iter(sentences(message.text)), message.text))}”"


def _statement(said: Sentence) -> dict[str, Any]:
    message, sentence = said
    return {"text": f"{message.author}: “{cut(sentence)}”", "url": message.url}


def _timeline(messages: list[Said]) -> list[dict[str, str]]:
    """The weightiest sentences with their times."""
    key = key_sentences("\n".join(message.text for message in messages), most=MOST_MOMENTS)
    first = ((m, next((s for s in sentences(m.text) if s in key), None)) for m in messages)
    return [{"when": m.at, "what": f"{m.author}: “{cut(said)}”"} for m, said in first if said]


def _list(found: Findings, messages: list[Said]) -> None:
    found.gaps.append(f"My rules know {KNOWN_BY}: not what is said in other words.")
    items = sorted(items_of(messages), key=lambda item: item.due or "9999")
    found.fields |= {
        "items": [
            {"task": item.task, "owner": item.owner, "due": item.due, "url": item.message.url}
            for item in items
        ]
    }
    if not items:
        found.summary = "I found no action items."
        return
    found.summary = f"I found {len(items)} action item{'s' * (len(items) > 1)}."
    if items[0].due:
        found.summary += f" {'The first' if items[1:] else 'It'} is due on **{in_words(items[0].due)}**: {items[0].task}."
    if orphans := sum(item.owner is None for item in items):
        found.gaps.append(f"Nobody has taken on {f'{orphans} of them' if items[1:] else 'it'}.")


def _draft(found: Findings, messages: list[Said], view: View) -> None:
    """A frame for the reply: whom it greets, and a place for one's own words."""
    pointed = view.turn.quoted or messages[-1].text
    about = next((each for each in messages if each.repeats(pointed)), messages[-1])
    question = next((each for each in sentences(pointed) if each.endswith("?")), None)
    _, _, instruction = view.text.partition("\n")
    own = instruction.strip() or (f"your answer to “{cut(question)}”" if question else "your reply")
    greeting = f"Hi {about.author.split()[0].capitalize()},\n\n"
    is_own = about.author == view.turn.author
    found.summary = f"{'' if is_own else greeting}[{own}]\n\nThanks!"
    found.fields |= {"draft": found.summary, "tone": "friendly and brief"}
    found.gaps.append("What you want to say is yours: replace what stands in [brackets].")
