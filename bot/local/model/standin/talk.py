"""What was said in a thread or a channel: who, what, decided, still open."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from .conversation import COMPLETE
from .findings import Findings
from .outputs import failed, parse_tables, reason
from .passages import cut, key_sentences, quote_from
from .view import View
from .words import has, listed, sentences, stems

TALK = (
    r"threads?|channels?|conversation|discussion|discussed|messages|said|says?|say|mentioned|decided|decisions?|agreed|"
    r"catch me up|catch up|tl;?dr|action items?|to-?dos?|open questions?|still open|who (?:was|will|wrote)|did \w+ (?:write|post)|did i miss"
)
ABOUT_TALK = r"summar\w+|what|who|when|which|any|list|catch|tl;?dr|recap|extract|draft|action items?|open questions?|to-?dos?|did"
LINE = re.compile(
    r"^\[(?P<at>\d{4}-\d\d-\d\d[^\]]*)\] (?P<author>[^:\n]{1,80}): "
    r"(?P<text>.*(?:\n(?!\[\d{4}-).*)*)",
    re.M,
)
LINK = re.compile(r"\s*\(link: (?P<url>[^)\s]+)\)")
EXTRAS = re.compile(r"\s*\((?:files: [^)]*|\d+ replies)\)")
SUMMARY = (
    r"summar\w+|tl;?dr|catch|recap|did i miss|"
    r"(?:did|do|have|has) (?:people|everyone|everybody|anyone|we|they|you all) (?:say|said|write|written|talk|talked|discuss|discussed)(?!.*\babout\b)|"
    r"(?:was|is|'s) (?:said|discussed|going on|happening|new|up)(?!.*\babout\b)"
)
POINTED = r"about (?!this|it\b|the (?:thread|channel))\w+|who|when|which|did|any"
MOST_SOURCES, MOST_QUOTED = 5, 10
CHANNEL = re.compile(r"<#(?P<id>[A-Z0-9]+)(?:\|[^>]*)?>|#(?P<name>[\w-]+)")
DECIDED = r"decided|decision|agreed|we(?:'ll| will)|let's go|approved|settled"
TO_DO = r"i(?:'ll| will)|will|todo|action|please|needs? to|should|must"
KINDS = {
    "decision": r"decided|decisions?|agreed",
    "action item": r"action items?|to-?dos?|tasks",
    "open question": r"open questions?|still open|unanswered|(?:is|are|what's|and) open",
}
"""What may be asked for of a conversation, and the words for it."""
SIGNS = {
    "decision": "“agreed” or “decided”",
    "action item": "“will”, “please” or “should”",
    "open question": "a question mark at the end",
}
READ = ("read_file", "search_artifact", "query_table", "compare_tables")
OF_A_FILE = "it|file|document|report|contracts?|pdf|page|log|table|sheet|each|both"
BOT = re.compile(r"(?:.*\W)?bot", re.IGNORECASE)
TO_BOT = re.compile(r"@(?:\w+ )?\w*bot\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Said:
    """One message."""

    author: str
    at: str
    text: str
    url: str | None

    @property
    def is_of_bot(self) -> bool:
        """Whether no person wrote it."""
        return bool(BOT.fullmatch(self.author))

    def repeats(self, text: str) -> bool:
        """Whether it is that text, or holds it, wherever its lines end."""
        return " ".join(text.split()) in " ".join(self.text.split())


def is_asked(view: View) -> bool:
    """Whether the question, or the type of its answer, is about what people said."""
    wants_talk = {"participants", "decisions", "action_items", "actions", "open_questions"}
    schema = view.offered.get(COMPLETE, {}).get("parameters", {}).get("properties", {})
    text = re.sub(r"\bchannels?\b", "", view.text, flags=re.I) if _has_channels(view) else view.text
    asks = bool(CHANNEL.search(text)) or (has(text, TALK) and not _is_of_a_file(view))
    return bool(wants_talk & set(schema)) or (asks and has(view.text, ABOUT_TALK))


def _has_channels(view: View) -> bool:
    """Whether a table that was read has a column of channels: of sales, or of campaigns."""
    tables = (table for step in view.earlier for table in parse_tables(step.output or ""))
    return any("channel" in stems(name) for table in tables for name in table.columns)


def _is_of_a_file(view: View) -> bool:
    """Whether "it says" is said of a file that was read before, or of the message pointed at."""
    if has(view.text, "threads?|channels?"):
        return False
    if view.turn.quoted and has(view.text, "this|it"):
        return True
    read = view.files and view.earlier and view.earlier[0].tool in READ
    return bool(read) and has(view.text, OF_A_FILE)


def answer(view: View, found: Findings) -> None:
    """What was decided, is to be done or open; a summary; or the messages that speak of the question."""
    output, place = _read(view)
    messages = _people_only(view, output)
    if not messages:
        found.summary = f"Besides questions to me, nobody has written anything in {place} yet."
        if not place.startswith("#"):
            found.summary += " Name a channel, such as #general, to have me look there."
        if failed(output):
            found.summary = f"I could not read {place}."
            found.lower(reason(output), "low")
        return
    _gather(found, messages)
    if has(view.text, r"who\b.*\b(?:most|least|active|often)|how many (?:messages|posts)"):
        _tell_writers(view, found, messages, place)
    elif has(view.text, SUMMARY) or not has(
        view.text, f"{POINTED}|decided|decisions?|action items?|to-?dos?|open|say|said"
    ):
        _summary(found, messages, place)
        if has(view.text, r"(?:one|a single|two) (?:sentences?|lines?)|short(?:ly)?|brief(?:ly)?"):
            found.points.clear()
    elif kinds := [kind for kind, words in KINDS.items() if has(view.text, words)]:
        _list(found, kinds, place)
    else:
        _quote(view, found, messages, place)
    _sources(found, messages, place)


def messages_here(view: View) -> list[Said]:
    """What people said in this thread, or in the channel where the thread has just begun."""
    return _people_only(view, _read(view)[0])


def said_here(view: View) -> Iterator[tuple[str, list[Said]]]:
    """What people said in this thread, then what they did in its channel, each with its place."""
    told = view.do(
        "read_thread", "I look what was said of it in this thread.", fresh=True, limit=100
    )
    yield "this thread", _people_only(view, told)
    place = view.turn.place
    told = view.do("read_channel", f"I look what was said of it in {place}.", fresh=True, limit=100)
    yield place, _people_only(view, told)


def to_do(messages: list[Said]) -> list[str]:
    """The sentences that speak of something to be done, with who said them."""
    return [
        f"{cut(sentence)} ({message.author})"
        for message in messages
        for sentence in sentences(message.text)
        if has(sentence, TO_DO) and not sentence.endswith("?")
    ]


def messages_of(output: str) -> list[Said]:
    """The messages that read_thread or read_channel gave."""
    return [_said(line) for line in LINE.finditer(output)]


def _said(line: re.Match[str]) -> Said:
    link = LINK.search(line["text"])
    text = EXTRAS.sub("", LINK.sub("", line["text"])).strip()
    return Said(line["author"].strip(), line["at"], text, link["url"] if link else None)


def _read(view: View) -> tuple[str, str]:
    """What a tool read, and what the place is called; a thread that only asks is none to read."""
    channel = CHANNEL.search(view.text)
    if channel is None and not has(view.text, "channel"):
        output = view.do("read_thread", "I read this thread first.", fresh=True, limit=100)
        if (
            _people_only(view, output)
            or not view.turn.place.startswith("#")
            or has(view.text, "thread")
        ):
            return output, "this thread"
    named = (channel["id"] or channel["name"]) if channel else None
    place = view.turn.place if view.turn.place.startswith("#") else "the channel"
    if channel:
        is_id = not channel["name"] or re.fullmatch(r"[CGD][A-Z0-9]{8,}", channel["name"])
        place = "that channel" if is_id else f"#{channel['name']}"
    thought = f"I read the recent messages of {place}."
    return view.do("read_channel", thought, fresh=True, channel=named, limit=100), place


def _people_only(view: View, output: str) -> list[Said]:
    """Messages of people to people: not the bot's, and not what it was asked."""
    asked = {turn.text for turn in view.turns if turn.text}
    return [
        message
        for message in messages_of(output)
        if not (message.is_of_bot or TO_BOT.match(message.text))
        and not any(map(message.repeats, asked))
    ]


def _sources(found: Findings, messages: list[Said], place: str) -> None:
    """The messages that were quoted, with their links; else the place."""
    quoted = "\n".join([found.summary, *found.points])
    for message in messages:
        if any(cut(sentence) in quoted for sentence in sentences(message.text)):
            found.source(f"{message.author}, {message.at}", message.url, f"“{cut(message.text)}”")
    found.sources = found.sources[:MOST_SOURCES]
    if not found.sources:
        found.source(_named(place), None, "What was said there.")


def _named(place: str) -> str:
    return "This thread" if place == "this thread" else place.removeprefix("the ").capitalize()


def _gather(found: Findings, messages: list[Said]) -> None:
    found.people = list(Counter(message.author for message in messages))
    for message in messages:
        line = f"{message.author}: “{cut(message.text)}”"
        if has(message.text, DECIDED):
            found.decisions.append(line)
        if has(message.text, TO_DO):
            found.actions.append({"text": cut(message.text), "owner": message.author})
        if message.text.rstrip().endswith("?"):
            found.questions.append(line)


def _tell_writers(view: View, found: Findings, messages: list[Said], place: str) -> None:
    """Who wrote how often; of somebody who is named that alone."""
    wrote = Counter(message.author for message in messages).most_common(10)
    named = [(name, count) for name, count in wrote if _is_named(view, name)]
    name, count = (named or wrote)[0]
    told = "wrote" if named else "wrote most:"
    found.summary = f"**{name}** {told} {count} of {len(messages)} messages in {place}."
    found.caption, found.columns = "Messages besides questions to me", ["person", "messages"]
    found.rows = [[name, str(count)] for name, count in wrote]


def _list(found: Findings, kinds: list[str], place: str) -> None:
    """What was decided, is to be done or open; each with its kind where several are asked for."""
    lines = {
        "decision": found.decisions,
        "action item": [f"{each['owner']}: “{each['text']}”" for each in found.actions],
        "open question": found.questions,
    }
    for kind in kinds:
        number = {0: f"no {kind}", 1: f"one {kind}"}.get(
            len(lines[kind]), f"{len(lines[kind])} {kind}s"
        )
        end = ":" if lines[kind] and len(kinds) == 1 else "."
        found.summary = f"{found.summary} I found {number} in {place}{end}".strip()
        before = f"{kind.capitalize()}: " if len(kinds) > 1 else ""
        found.points += [f"{before}{line}" for line in lines[kind][:10]]
        if lines[kind]:
            found.lower(f"I go by words here, such as {SIGNS[kind]}.")


def _quote(view: View, found: Findings, messages: list[Said], place: str) -> None:
    """What speaks of the question; of one person's words only where one is named."""
    named = [m for m in messages if _is_named(view, m.author)]
    text = "\n".join(message.text for message in named or messages)
    names = "|".join(re.escape(part) for each in named for part in each.author.split())
    question = re.sub(rf"\b(?:{names})\b", " ", view.text, flags=re.I) if named else view.text
    quote_from(found, question, text, named[0].author if named else _named(place))
    if named and found.confidence == "low":
        found.gaps.clear()
        found.confidence = "high"
        found.summary, *found.points = (
            f"“{cut(each.text)}”" for each in reversed(named[-MOST_QUOTED:])
        )
        found.summary = f"{named[0].author} wrote in {place}: {found.summary}"
        if len(named) > MOST_QUOTED:
            found.gaps.append(f"These are the last {MOST_QUOTED} of {len(named)} messages.")


def _is_named(view: View, author: str) -> bool:
    return any(has(view.text, re.escape(part)) for part in author.split())


def _summary(found: Findings, messages: list[Said], place: str) -> None:
    picked = key_sentences("\n".join(message.text for message in messages), most=4)
    by = {sentence: m.author for m in messages for sentence in picked if sentence in m.text}
    number = "One message" if len(messages) == 1 else f"{len(messages)} messages"
    found.title = f"Summary of {place}"
    found.summary = f"{number} by {listed(found.people[:6])}. "
    if found.decisions:
        found.summary += f"What was decided: {found.decisions[-1]}"
    elif picked:
        found.summary += f"Most to the point: “{cut(picked[0])}” ({by.get(picked[0], 'someone')})"
    # What is asked again under "Still open" is not listed twice.
    found.points = [f"{by.get(s, 'Someone')}: “{cut(s)}”" for s in picked if not s.endswith("?")]
    found.points += [f"Still open: {question}" for question in found.questions[-2:]]
    found.lower("The summary picks messages by their words; it does not rephrase them.")
    where = f"in {place}" if place.startswith("#") else "here"  # also where it was asked elsewhere
    found.follow_ups = [f"What was decided {where}?", f"Which action items are {where}?"]
