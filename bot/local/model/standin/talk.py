"""What was said in a thread or a channel: who, what, decided, still open."""

from __future__ import annotations

import re
from collections.abc import Iterator

from . import topics
from .conversation import COMPLETE
from .findings import Findings
from .listings import MOST_SOURCES, gather, is_named, source, tell_kinds, tell_summary, tell_writers
from .outcomes import of_topic, roots, topic
from .outputs import parse_document, parse_tables, reason
from .passages import cut
from .replies import tell_unread, with_replies
from .said import Said, messages_of, of_days, was_read
from .view import View
from .words import has, listed, sentences, stems

TALK = (
    r"threads?|channels?|conversation|discussion|discussed|messages|said|says?|say|mentioned|decided?|decisions?|agreed?|"
    r"catch me up|catch up|tl;?dr|action items?|to-?dos?|open questions?|still open|what is open|next steps|who does what|left to do|(?:have|has|needs?)(?: \w+)? to do|who (?:was|will|wrote|asked what|participated|took part)|did i miss|what happened(?= here| in |\W*$)|what(?:'s| is) new|any news(?= in| here)|"
    r"(?:did|does) (?!(?:he|she|it|they|this|that)\b)\w+ (?:write|post|ask|say|think|mean|want)|(?:first|last|latest) message"
)
ABOUT_TALK = r"summar\w+|what|who|when|which|any|list|catch|tl;?dr|recap|extract|draft|action items?|open questions?|to-?dos?|did|count|how many|was|were"
SUMMARY = (
    r"summar\w+|tl;?dr|catch|recap|did i miss|"
    r"(?:did|do|have|has) (?:people|everyone|everybody|anyone|we|they|you all) (?:say|said|write|written|talk|talked|discuss|discussed)(?!.*\babout\b)|"
    r"(?:was|is|'s) (?:said|discussed|going on|happening|new|up)(?!.*\babout\b)|any news"
)
POINTED = r"about (?!this|it\b|the (?:thread|channel))\w+|who|when|which|did|any"
MOST_QUOTED = 10
CHANNEL = re.compile(r"<#(?P<id>[A-Z0-9]+)(?:\|[^>]*)?>|#(?P<name>[\w-]+)")
KINDS = {
    "decision": r"decided?|decisions?|agreed?|outcomes?|conclusions?",
    "action item": r"action items?|to-?dos?|tasks|next steps|deadlines?|who does what|left to do|be done|is due|"
    r"(?:have|has|needs?)(?: \w+)? to do",
    "open question": r"open (?:questions?|points?|issues?)|still open|unanswered|not (?:been )?(?:answered|decided|agreed)|undecided|"
    r"(?:is|are|what's|and) open",
}
"""What may be asked for of a conversation, and the words for it."""
READ = ("read_file", "search_artifact", "query_table", "compare_tables")
DATA = (*READ, "query_database")
OF_A_FILE = "it|file|document|report|contracts?|pdf|page|log|table|sheet|each|both"
WHO_WHAT = re.compile(r"\bwho (?P<how>said|wrote|asked) what\b", re.IGNORECASE)
FIRST_OR_LAST = re.compile(
    r"\b(?P<which>first|last|latest) message\b|\b(?:write|wrote|post|posted|say|said) (?P<ended>first|last)\b",
    re.IGNORECASE,
)
SPEAKING = r"say|said|write|wrote|written|post|posted|mention|mentioned|talk|talked|spoke|bring up|brought up|raised?"
WHAT_SAID = rf"(?:what|anything|something|everything)\b.*\b(?:{SPEAKING}|ask|asked)|(?:{SPEAKING}|ask|asked)(?: about)? (?:anything|something)|quote"
"""What the words themselves answer."""
OF_ONE = re.compile(
    rf"\b(?:did|does|has) (?P<who>[A-Z][\w-]+)(?: [A-Z]\w+)? (?:ever )?(?:{SPEAKING})\b"
)
WHO_SAID = rf"(?:who|did|has|have)\b.*\b(?:{SPEAKING})"
ABOUT = re.compile(
    r"\babout (?!this|it\b|the (?:thread|channel|conversation|discussion)\b)(?P<what>\w.*)",
    re.IGNORECASE,
)
TO_SUM_UP = re.compile(
    r"\W*(?:(?:please|can|could|you|give|me|us|a|an|quick|short|brief|the|make|write)\W+)*(?:summar(?:y|ies|i[sz]e)|recap|sum (?:it|this|that) up|"
    r"minutes)(?:\W+(?:this|it|that|please|in|one|two|sentences?|short|everything|all))*\W*",
    re.IGNORECASE,
)
COUNTED = r"who (?:participated|took part)|who (?:wrote|posted|spoke|talked)(?= in | here|\W*$)|who\b.*\b(?:most|least|active|often)|how many (?:messages|posts|people)|(?:by|per) (?:person|people|user|author)"


def is_asked(view: View) -> bool:
    """Whether the question, or the type of its answer, is about what people said."""
    wants_talk = {"participants", "decisions", "action_items", "actions", "open_questions"}
    schema = view.offered.get(COMPLETE, {}).get("parameters", {}).get("properties", {})
    text = re.sub(r"\bchannels?\b", "", view.text, flags=re.I) if _has_channels(view) else view.text
    if (
        view.earlier and view.earlier[0].tool in DATA
    ):  # "who was the first?" of those that were listed
        text = re.sub(r"\bwho (?:was|will)\b", "", text, flags=re.IGNORECASE)
    asks = bool(CHANNEL.search(text)) or (has(text, TALK) and not _is_of_a_file(view))
    if wants_talk & set(schema) or (asks and has(view.text, ABOUT_TALK)):
        return True
    # Of data that were asked before, these may be columns and values.
    of_kind = has(text, "|".join(KINDS.values())) or TO_SUM_UP.fullmatch(text)
    brought = view.files or view.turn.quoted
    return bool(of_kind) and not (brought or any(step.tool in DATA for step in view.earlier))


def _has_channels(view: View) -> bool:
    """Whether a table that was read has a column of channels: of sales, or of campaigns."""
    tables = (table for step in view.earlier for table in parse_tables(step.output or ""))
    return any("channel" in stems(name) for table in tables for name in table.columns)


def _is_of_a_file(view: View) -> bool:
    """Whether "it says" is said of a file that was read before, or of the message pointed at."""
    if has(view.text, "threads?|channels?"):
        return False
    if view.turn.quoted and has(view.text, "this|that|it|he|she"):
        return True
    read = view.files and any(step.tool in READ for step in view.earlier[:4])
    if not read or has(view.text, OF_A_FILE):
        return bool(read)
    document = parse_document(next(s for s in view.earlier if s.tool in READ).output or "")
    words = roots(" ".join(topic(view.text)))
    return bool(document and words <= roots(document.text))


def answer(view: View, found: Findings) -> None:
    """What was decided, is to be done or open; a summary; or the messages that speak of the question."""
    if len(set(CHANNEL.findall(view.text))) > 1:
        found.summary = "I read one channel at a time: ask of the one first, then of the other."
        return
    output, place = _read(view)
    if not was_read(output):
        found.summary = f"I could not read {place}: {reason(output)}"
        return
    if how := WHO_WHAT.search(view.text):
        only_questions = how["how"].lower() == "asked"
        topics.tell_each(found, messages_of(output), place, only_questions=only_questions)
        found.source(_named(place), None, "What was said there.")
        return
    messages = _people_only(view, messages_of(output))
    if place != "this thread":
        messages = _people_only(view, with_replies(view, messages))
    if not messages:
        found.summary = f"Besides questions to me, nobody has written anything in {place} yet."
        if not place.startswith("#"):
            found.summary += " Name a channel, such as #general, to have me look there."
        return
    messages, when = of_days(messages, view.text, view.turn.day)
    if not messages:
        found.summary = f"Nobody has written anything in {place} {when}."
        return
    gather(found, messages)
    _tell(view, found, messages, place)
    tell_unread(found, messages)
    _sources(found, messages, place)


def _tell(view: View, found: Findings, messages: list[Said], place: str) -> None:
    """By what the question asks of the talk."""
    kinds = [kind for kind, words in KINDS.items() if has(view.text, words)]
    words = _topic(view, [*found.people, place])
    named = [m for m in messages if is_named(view, m.author)]
    if one := FIRST_OR_LAST.search(view.text):
        first = (one["which"] or one["ended"]).lower() == "first"
        message = (named or messages)[0 if first else -1]
        found.summary = f"{message.author} wrote in {place} on {message.at}: “{cut(message.text)}”"
    elif has(view.text, COUNTED):
        tell_writers(view, found, messages, place)
    elif kinds == ["decision"] and words:
        topics.tell_decision(found, words, messages, place)
    elif named and has(view.text, SUMMARY):
        gather(found, named)
        tell_summary(found, named, place)
    elif (has(view.text, SUMMARY) and not words) or not (
        kinds or words or named or has(view.text, POINTED)
    ):
        tell_summary(found, messages, place)
        if has(view.text, r"(?:one|a single|two) (?:sentences?|lines?)|short(?:ly)?|brief(?:ly)?"):
            found.points.clear()
    elif kinds and (kinds != ["decision"] or not named):
        tell_kinds(view, found, kinds, place)
    else:
        _quote(view, found, messages, place)


def _topic(view: View, names: list[str]) -> list[str]:
    """What a question about a talk wants of it, besides the whole of it."""
    if has(view.text, SUMMARY):
        about = ABOUT.search(view.text)
        return topic(about["what"], names) if about else []
    kinds = "|".join((*KINDS.values(), COUNTED, "first|last|latest"))
    text = CHANNEL.sub(" ", view.text)
    return topic(re.sub(rf"\b(?:{kinds})\b", " ", text, flags=re.IGNORECASE), names)


def messages_here(view: View) -> list[Said]:
    """What people said in this thread, or in the channel where the thread has just begun."""
    return _people_only(view, messages_of(_read(view)[0]))


def said_here(view: View) -> Iterator[tuple[str, list[Said]]]:
    """What people said in this thread, then what they did in its channel, each with its place."""
    told = view.do(
        "read_thread", "I look what was said of it in this thread.", fresh=True, limit=100
    )
    yield "this thread", _people_only(view, messages_of(told))
    place = view.turn.place
    told = view.do("read_channel", f"I look what was said of it in {place}.", fresh=True, limit=100)
    messages = _people_only(view, messages_of(told))
    yield place, _people_only(view, with_replies(view, messages))


def _read(view: View) -> tuple[str, str]:
    """What a tool read, and what the place is called; a thread that only asks is none to read, nor
    one that does not speak of what is asked about."""
    channel = CHANNEL.search(view.text)
    if channel is None and not has(view.text, "channel"):
        output = view.do("read_thread", "I read this thread first.", fresh=True, limit=100)
        said = _people_only(view, messages_of(output))
        listed_all = has(view.text, f"{KINDS['action item']}|{KINDS['open question']}")
        words = [] if listed_all else _topic(view, [each.author for each in said])
        only_here = not view.turn.place.startswith("#") or has(view.text, "thread")
        if only_here or (said and (not words or of_topic(said, words))):
            return output, "this thread"
    named = (channel["id"] or channel["name"]) if channel else None
    place = view.turn.place if view.turn.place.startswith("#") else "the channel"
    if channel:
        is_id = not channel["name"] or re.fullmatch(r"[CGD][A-Z0-9]{8,}", channel["name"])
        place = "that channel" if is_id else f"#{channel['name']}"
    thought = f"I read the recent messages of {place}."
    return view.do("read_channel", thought, fresh=True, channel=named, limit=100), place


def _people_only(view: View, messages: list[Said]) -> list[Said]:
    """Messages of people to people: not the bot's, and not what it was asked."""
    asked = {turn.text for turn in (*view.turns, *view.open) if turn.text}
    return [
        message
        for message in messages
        if not (message.is_of_bot or message.is_to_bot) and not any(map(message.repeats, asked))
    ]


def _sources(found: Findings, messages: list[Said], place: str) -> None:
    """The messages that were quoted, with their links; else the place."""
    quoted = "\n".join([found.summary, *found.points])
    for message in messages:
        if any(cut(sentence) in quoted for sentence in sentences(message.text)):
            source(found, message)
    found.sources = found.sources[:MOST_SOURCES]
    if not found.sources:
        found.source(_named(place), None, "What was said there.")


def _named(place: str) -> str:
    return "This thread" if place == "this thread" else place.removeprefix("the ").capitalize()


def _quote(view: View, found: Findings, messages: list[Said], place: str) -> None:
    """What speaks of the question; of one person's words only where one is named."""
    named = [m for m in messages if is_named(view, m.author)]
    words = _topic(view, [each.author for each in named])
    if not named:
        _quote_all(view, found, words, messages, place)
        return
    authors = list(dict.fromkeys(each.author for each in named))
    who = listed(authors)
    asked = [m for m in named if "?" in m.text] if has(view.text, "ask|asked") else named
    is_plain = has(view.text, WHAT_SAID)
    on = (of_topic(asked, words) if words else asked) or ([] if is_plain else named)
    if not on:
        others = topics.tell(found, words, messages, place)
        about = f" about “{' '.join(words)}”" if words else ""
        found.summary = (
            f"{who} {'asked' if asked != named else 'wrote'} nothing{about} in {place}"
            + (", but this was said of it:" if others else ".")
        )
        return
    quoted = list(reversed(on[-MOST_QUOTED:]))
    if len(authors) > 1:
        found.summary = f"This is what {who} wrote in {place}:"
        found.points = [f"{each.author}: “{cut(each.text)}”" for each in quoted]
    else:
        found.summary = f"{who} wrote in {place}: “{cut(quoted[0].text)}”"
        found.points = [f"“{cut(each.text)}”" for each in quoted[1:]]
    if not is_plain:
        found.summary = f"I cannot tell that by rules. {found.summary}"
        found.lower("I choose messages by their words, and do not weigh what they mean.", "low")
    if len(on) > MOST_QUOTED:
        found.gaps.append(f"These are the last {MOST_QUOTED} of {len(on)} messages.")


def _quote_all(
    view: View, found: Findings, words: list[str], messages: list[Said], place: str
) -> None:
    """Everybody's messages that speak of it."""
    said = topics.tell(found, words, messages, place)
    if said and (who := OF_ONE.search(view.text)):
        found.summary = (
            f"I found nothing that {who['who']} wrote of it in {place}, but this was said:"
        )
    elif not said:
        found.summary = (
            f"I found nothing about “{' '.join(words)}” in {place}."
            if words
            else "I cannot tell that by rules. Name a word of it, as in “What was said about the budget?”."
        )
        found.lower("Only words that the question shares with messages were looked for.", "low")
    elif has(view.text, f"{WHO_SAID}|{WHAT_SAID}"):
        found.summary = f"This was said of “{' '.join(words)}” in {place}:"
        if len(said) == 1:
            found.summary, found.points = (
                f"{said[0].author} wrote in {place}: “{cut(said[0].text)}”",
                [],
            )
