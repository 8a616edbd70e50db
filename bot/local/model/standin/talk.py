"""What was said in a thread or a channel: who, what, decided, still open."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from .findings import Findings
from .outputs import failed
from .passages import cut, key_sentences, quote_from
from .view import View
from .words import has, sentences

TALK = (
    r"threads?|channels?|conversation|discussion|discussed|messages|said|says?|decided|decisions?|"
    r"catch me up|catch up|tl;?dr|action items|who (?:is|was|will)"
)
ABOUT_TALK = r"summar\w+|what|who|when|which|any|list|catch|tl;?dr|recap|extract|draft"
LINE = re.compile(
    r"^\[(?P<at>\d{4}-\d\d-\d\d[^\]]*)\] (?P<author>[^:\n]{1,80}): "
    r"(?P<text>.*(?:\n(?!\[\d{4}-).*)*)",
    re.M,
)
LINK = re.compile(r"\s*\(link: (?P<url>[^)\s]+)\)")
EXTRAS = re.compile(r"\s*\((?:files: [^)]*|\d+ replies)\)")
SUMMARY = r"summar\w+|tl;?dr|catch|recap"
POINTED = r"about (?!this|it\b|the (?:thread|channel))\w+|who|when|which|did|any"
MOST_SOURCES = 5
CHANNEL = re.compile(r"<#(?P<id>[A-Z0-9]+)(?:\|[^>]*)?>|#(?P<name>[\w-]+)")
DECIDED = r"decided|decision|agreed|we(?:'ll| will)|let's go|approved|settled"
TO_DO = r"i(?:'ll| will)|will|todo|action|please|needs? to|should|must"


@dataclass(frozen=True, slots=True)
class Said:
    """One message."""

    author: str
    at: str
    text: str
    url: str | None


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
    messages = [said(line) for line in LINE.finditer(output)]
    # The request itself stands in the thread too.
    messages = [message for message in messages if view.text not in message.text]
    if not messages:
        found.summary = f"There is nothing to read in {place}."
        found.lower(output.split("\n", 1)[0] if failed(output) else "No messages came back.", "low")
        return
    _gather(found, messages)
    if has(view.text, SUMMARY) or not has(view.text, POINTED):
        _summary(found, messages, place)
    else:
        quote_from(found, view.text, "\n".join(m.text for m in messages), place)
    _sources(found, messages, place)


def said(line: re.Match[str]) -> Said:
    """A message as a line of read_thread or read_channel gives it."""
    link = LINK.search(line["text"])
    text = EXTRAS.sub("", LINK.sub("", line["text"])).strip()
    return Said(line["author"].strip(), line["at"], text, link["url"] if link else None)


def _sources(found: Findings, messages: list[Said], place: str) -> None:
    """The messages that were quoted, with their links; else the place."""
    quoted = "\n".join([found.summary, *found.points])
    for message in messages:
        if any(cut(sentence) in quoted for sentence in sentences(message.text)):
            found.source(f"{message.author}, {message.at}", message.url, f"“{cut(message.text)}”")
    found.sources = found.sources[:MOST_SOURCES]
    if not found.sources:
        found.source(place.removeprefix("the ").capitalize(), None, "What was said there.")


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
