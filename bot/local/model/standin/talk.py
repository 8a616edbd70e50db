"""What was said in a thread or a channel: who, what, decided, still open."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from .findings import Findings
from .outputs import failed
from .passages import cut, key_sentences, quote_from
from .view import View
from .words import has

TALK = (
    r"threads?|channels?|conversation|discussion|discussed|messages|said|decided|decisions?|"
    r"catch me up|catch up|tl;?dr|action items|who (?:is|was|will)"
)
ABOUT_TALK = r"summar\w+|what|who|when|which|any|list|catch|tl;?dr|recap|extract|draft"
LINE = re.compile(
    r"^(?:- )?\[?(?P<at>\d{4}-\d\d-\d\d[^\]A-Za-z]*(?:UTC|Z)?[^\]:A-Za-z]*)\]?\s+"
    r"(?P<author>[^:\n<>\[\]]{1,60}?)(?: \([^)]*\))?(?: · [^:\n]*| <[^>]*>)?:\s(?P<text>.*(?:\n(?!(?:- )?\[?\d{4}-).*)*)",
    re.M,
)
CHANNEL = re.compile(r"<#(?P<id>[A-Z0-9]+)(?:\|[^>]*)?>|#(?P<name>[\w-]+)")
DECIDED = r"decided|decision|agreed|we(?:'ll| will)|let's go|approved|settled"
TO_DO = r"i(?:'ll| will)|will|todo|action|please|needs? to|should|must"


@dataclass(frozen=True, slots=True)
class Said:
    """One message."""

    author: str
    text: str


def answer(view: View, found: Findings) -> None:
    """An extractive summary, or the messages that speak of what was asked."""
    channel = CHANNEL.search(view.text)
    in_channel = channel is not None or has(view.text, "channel")
    place = "the channel" if in_channel else "this thread"
    if in_channel:
        named = (channel["id"] or channel["name"]) if channel else None
        output = view.do(
            "read_channel", "I read the channel's recent messages.", fresh=True, channel=named,
            limit=100,
        )  # fmt: skip
    else:
        output = view.do("read_thread", "I read this thread first.", fresh=True, limit=100)
    messages = [Said(m["author"].strip(), m["text"].strip()) for m in LINE.finditer(output)]
    if not messages:
        found.summary = f"There is nothing to read in {place}."
        found.lower(output.split("\n", 1)[0] if failed(output) else "No messages came back.", "low")
        return
    link = re.search(r"https?://[^\s>|]+", output)
    found.source(
        place.removeprefix("the ").capitalize(), link[0] if link else None, "The messages quoted."
    )
    _gather(found, messages)
    if has(view.text, r"summar\w+|tl;?dr|catch|recap|what (?:was|is|has been) (?:said|discussed)"):
        _summary(found, messages, place)
    else:
        quote_from(found, view.text, "\n".join(m.text for m in messages), place)


def _gather(found: Findings, messages: list[Said]) -> None:
    counted = Counter(message.author for message in messages)
    found.people = list(counted)
    for message in messages:
        line = f"{message.author}: “{cut(message.text)}”"
        if has(message.text, DECIDED):
            found.decisions.append(line)
        if has(message.text, TO_DO):
            found.actions.append({"text": cut(message.text), "owner": message.author})
        if message.text.rstrip().endswith("?"):
            found.questions.append(line)


def _summary(found: Findings, messages: list[Said], place: str) -> None:
    picked = key_sentences("\n".join(message.text for message in messages), most=4)
    by = {sentence: m.author for m in messages for sentence in picked if sentence in m.text}
    people = ", ".join(found.people[:6])
    found.title = f"Summary of {place}"
    found.summary = f"{len(messages)} messages by {people}. "
    if found.decisions:
        found.summary += f"Decided: {found.decisions[-1]}"
    elif picked:
        found.summary += f"Most to the point: “{cut(picked[0])}” ({by.get(picked[0], 'someone')})"
    found.points = [f"{by.get(s, 'Someone')}: “{cut(s)}”" for s in picked]
    found.points += [f"Still open: {question}" for question in found.questions[-2:]]
    found.lower("The summary picks messages by their words; it does not rephrase them.")
