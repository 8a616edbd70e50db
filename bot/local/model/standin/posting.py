"""Messages for a channel: posted now or later, once somebody has approved them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise

from .findings import Findings
from .moments import ONCE, PASSED, Now, has_passed, in_words
from .outputs import not_done
from .view import View
from .words import content, has, overlap

MOST_LINES = 20
CHANNEL = re.compile(r"(?:<#(?P<id>[A-Z0-9]+)(?:\|[^>]*)?>|#(?P<name>[\w-]+))")
VERB = r"post|put|announce|publish|say|write|send|share|tell|message|forward|let"
WANTED = re.compile(
    rf"^\W*(?:(?:please|pls|ok|okay|hey|hi|hello|so|great|thanks|alright|right|then|well|also|just|(?:can|could|would|will) you|"
    rf"i(?: want|'d like| would like) you to|schedule an?(?: message| post)?|now|and)\W+)*(?:{VERB}|schedule)\b",
    re.I,
)
QUOTED = re.compile(r"(?<![\w])(?:\"([^\"]+)\"|“([^”]+)”|‘([^’]+)’|'(.+?)'(?!\w))", re.DOTALL)
AFTER = re.compile(r"(?:^\W*(?:that|know(?: that)?|saying|:|,|-|–)|:)\s*(?P<text>.+)", re.DOTALL)
LAST = r"(?:it|this|that|the (?:result|answer|summary|table|chart|figures))"
POLITE = re.compile(
    r"^\W*(?:(?:please|thanks|thank you|now|too|as well|then)\b\W*)*$", re.IGNORECASE
)
PERSON = re.compile(
    rf"^\W*(?:please )?(?:(?:{VERB}|DM|dm|email|e-mail|call)\b(?: an?)?(?: direct| private)?(?: message| dm| note| e-?mail)?(?: to)?|let)\s+"
    r"@?(?!me\b|us\b|I\b)(?P<who>[A-Z]\w+)\b.*(?:\b(?:that|saying|know|about)\b|:|\bhi\b|\bhello\b)|^\W*(?:please )?(?:dm|ping|notify) (?!me\b|us\b)@?(?P<whom>\w+)",
)
DESCRIBED = re.compile(
    r"\W*(?:the|an?|our|my|your|his|her|their|these|those|all|this|that|something|anything)\b(?!.*\b(?:is|are|was|were|has|have|will|can)\b)",
    re.IGNORECASE,
)
"""Words that name what is to be posted rather than being it: "the summary of this thread"."""
NOT_FOR = re.compile(r"\b(?:of|about|from|for)\s*$", re.IGNORECASE)
"""What stands before a channel that is spoken of: "write a summary of #sales"."""
NEXT = re.compile(
    r"\s*(?P<joint>(?:[,;]\s*)?(?:and(?:\s+(?:then|also))?|then|also)\s+|[,;]\s+)", re.IGNORECASE
)
NEXT_PLACE = re.compile(
    r"(?P<joint>\s*[,;.]?\s*\b(?:and|then)\s+(?:then\s+|also\s+)?)(?:in|to|into)\s+$", re.IGNORECASE
)
"""What stands between a message for one channel and one for another: behind the first, or before the second."""
LIST = re.compile(
    r"\b(?:which|what|list|show)\b.*\bmessages?\b.*\b(?:wait\w*|scheduled|later|posted)\b|\bscheduled messages\b",
    re.I,
)
CANCEL = re.compile(r"\b(?:cancel|delete|remove|stop|unschedule)\b.*\bmessages?\b", re.IGNORECASE)
WAITING = re.compile(
    r"^(?P<id>\w+) · (?P<when>\w+ [\d-]+ [\d:]+) in (?P<place>.+?) · (?P<text>.+)$", re.M
)


@dataclass(frozen=True, slots=True)
class Message:
    """What is to be posted and where; `around` are the other words, which may say when."""

    channel: str
    text: str
    around: str
    is_named: bool = False
    """Whether `text` only names what to post, as "the summary of this thread"."""


def is_asked(view: View) -> bool:
    """Whether a message is to go somewhere, or one that waits is asked about."""
    if LIST.search(view.text) or PERSON.search(view.text):
        return True
    return _is_cancelled(view) or bool(_messages(view))


def answer(view: View, found: Findings) -> None:
    """Post it, have it posted later, or tell what waits."""
    messages = _messages(view)
    if _is_cancelled(view):
        _cancel(view, found)
    elif LIST.search(view.text):
        _list(view, found)
    elif not messages:
        _to_a_person(view, found)
    for message in messages:
        _send(view, part := Findings(), message)
        found.add(part)


def _send(view: View, found: Findings, message: Message) -> None:
    """Now or at the time that was said."""
    if message.is_named:
        found.summary = _asked_for(message)
    elif once := ONCE.search(message.around):
        _later(view, found, message, once)
    elif over := PASSED.search(message.around):
        found.summary = has_passed(f"“{over[0]}”")
    else:
        _now(view, found, message)


def _asked_for(message: Message) -> str:
    if not message.text:
        return (
            f"Nothing was posted yet: say what, as in “post 'We ship today' in {message.channel}”."
        )
    return (
        f"Nothing was posted: I cannot tell which words “{message.text}” stands for. Put the words in quotation "
        f"marks, or ask me for it first and then say “post that to {message.channel}”."
    )


def _messages(view: View) -> list[Message]:
    """What is to be posted where; a channel without words of its own gets those of the others, or
    the last answer."""
    if not WANTED.search(view.text):
        return []
    last = _last(view)
    parts = [part if WANTED.search(part) else f"post {part}" for part in _parts(view.text)]
    read = [message for part in parts if (message := _message(part, last))]
    said = next((each.text for each in read if each.text), last)
    if not all(each.text for each in read):  # one message for all of them, at one time
        read = [replace(each, around=" ".join(one.around for one in read)) for each in read]
    return [each if each.text else replace(each, text=said, is_named=not said) for each in read]


def _last(view: View) -> str:
    """The last answer as a message: what was found, not that nothing was."""
    last = view.last_answer
    if not (last.get("sources") or last.get("table")):
        return ""
    rows = [", ".join(row) for row in (last.get("table") or {}).get("rows", ())]
    lines = [*(last.get("key_points") or ()), *rows]
    return "\n".join(
        [str(last.get("summary") or ""), *(f"• {line}" for line in lines[:MOST_LINES])]
    )


def _parts(text: str) -> list[str]:
    """A message for several channels, taken apart: "hi in #general and bye in #random"."""
    masked = QUOTED.sub(lambda quoted: "_" * len(quoted[0]), text)
    parts, start = [], 0
    for one, other in pairwise(CHANNEL.finditer(masked)):
        between = masked[one.end() : other.start()]
        cut = None if ":" in masked[start : one.end()] else NEXT.match(between)
        if cut := cut or NEXT_PLACE.search(between):
            parts.append(text[start : one.end() + cut.start()])
            start = one.end() + cut.end("joint")
    return [*parts, text[start:]]


def _message(text: str, last: str) -> Message | None:
    """The channel and the words: in quotation marks, after the channel, or before it; of "it" those
    of the `last` answer; "" where there are none. A time within the words is no time to post at."""
    channel = CHANNEL.search(QUOTED.sub(lambda quoted: "_" * len(quoted[0]), text))
    if channel is None or NOT_FOR.search(text[: channel.start()]):
        return None
    where = channel["id"] or f"#{channel['name']}"
    if quoted := [next(filter(None, each)) for each in QUOTED.findall(text)]:
        return Message(where, " and ".join(quoted), QUOTED.sub(" ", text), len(quoted) > 1)
    before, after = text[: channel.start()], text[channel.end() :]
    said = after.lstrip(" ,")
    when = ""
    if first := ONCE.match(said) or PASSED.match(said):  # when to post it, before the words
        when, after = first[0], said[first.end() :]
    if told := AFTER.search(after):
        return Message(where, _clean(told["text"]), f"{before} {when}")
    inside = re.sub(WANTED, "", before, count=1)
    inside = re.sub(r"\s*\b(?:to|in|into|on|with)\s*(?:the\s+)?(?:channel\s+)?$", "", inside)
    if not inside.strip():
        words = POLITE.sub("", _clean(after))
        return Message(where, words, when, _is_name(words))
    if re.fullmatch(rf"\W*{LAST}\W*(?:over|with)?\W*", inside, re.IGNORECASE):
        return Message(where, last or "that", f"{when} {after}", is_named=not last)
    words = _clean(inside)
    is_told = len(words) > 1 and not has(words, r"what|who|about")
    return Message(where, words, f"{when} {after}", _is_name(words)) if is_told else None


def _is_name(words: str) -> bool:
    return bool(DESCRIBED.match(words))


def _clean(text: str) -> str:
    text = re.sub(r"[\s,]+(?:please|thanks)\W*$", "", text.strip(" ,:-–"), flags=re.IGNORECASE)
    return re.sub(r"^(?:saying|that|a message|a post|a note|:)\s+", "", text).strip()


def _now(view: View, found: Findings, message: Message) -> None:
    name = message.channel
    output = view.do(
        "post_message", f"I post it in {name}, if I may.", fresh=True, channel=name, text=message.text
    )  # fmt: skip
    if not output.startswith("posted"):
        found.summary = not_done(f"It was not posted in {name}", output)
        return
    found.summary = f"It is posted in **{name}**."
    link = re.search(r"link: (\S+)", output)
    found.source(f"Message in {name}", link and link[1], "What was posted.")


def _later(view: View, found: Findings, message: Message, once: re.Match[str]) -> None:
    name = message.channel
    text = message.text
    now = Now.of(view)
    at = now.moment(once)
    if at <= now.at:
        found.summary = has_passed(in_words(at))
        return
    output = view.do(
        "schedule_message", f"I have it posted in {name} later, if I may.", fresh=True, channel=name,
        text=text, at=at.isoformat(timespec="minutes"),
    )  # fmt: skip
    if not output.startswith("scheduled"):
        found.summary = not_done(f"It will not be posted in {name}", output)
        return
    found.summary = f"“{text}” will be posted in **{name}** on **{in_words(at)}**."
    found.follow_ups = ["Which messages wait to be posted?", "Cancel that message"]


def _to_a_person(view: View, found: Findings) -> None:
    named = PERSON.search(view.text)
    who = (named["who"] or named["whom"]) if named else "somebody"
    found.summary = (
        f"I do not write to people directly, so nothing was sent to {who}. I can post in a channel that "
        "I am in, and a mention there reaches them."
    )
    found.follow_ups = ["What can you do?"]


def _waiting(view: View, found: Findings) -> list[re.Match[str]]:
    output = view.do("list_scheduled_messages", "I look at what waits to be posted.", fresh=True)
    waiting = list(WAITING.finditer(output))
    if not waiting:
        found.summary = "No message of yours waits to be posted."
    return waiting


def _list(view: View, found: Findings) -> None:
    if waiting := _waiting(view, found):
        found.summary = (
            "One message waits:" if len(waiting) == 1 else f"{len(waiting)} messages wait:"
        )
        found.points = [f"“{each['text']}” in {each['place']}, {each['when']}" for each in waiting]
        found.follow_ups = ["Cancel that message"] if len(waiting) == 1 else []


def _is_cancelled(view: View) -> bool:
    """Whether a message that waits is to be cancelled; with "it" alone, the one just spoken of."""
    if CANCEL.search(view.text) and has(view.text, "scheduled|waiting|cancel|unschedule"):
        return True
    last = view.earlier[0].tool if view.earlier else ""
    return last in ("schedule_message", "list_scheduled_messages") and has(
        view.text, "cancel|unschedule"
    )


def _cancel(view: View, found: Findings) -> None:
    waiting = _waiting(view, found)
    if not waiting:
        return
    said = content(view.text)
    named = [each for each in waiting if overlap(said, content(each["text"])) >= 1]
    chosen = named[0] if named else waiting[0] if len(waiting) == 1 else None
    if chosen is None:
        found.summary = "Which of these shall I cancel? Name it by its words."
        found.points = [f"“{each['text']}” in {each['place']}, {each['when']}" for each in waiting]
        return
    text = chosen["text"]
    output = view.do(
        "cancel_scheduled_message", f"I cancel “{text}”.", fresh=True, id=chosen["id"], text=text.rstrip("…")
    )  # fmt: skip
    if output.startswith("cancelled"):
        found.summary = f"Cancelled: “{text}” will not be posted."
    else:
        found.summary = not_done("It is not cancelled", output)
