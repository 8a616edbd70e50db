"""Messages for a channel: posted now or later, once somebody has approved them."""

from __future__ import annotations

import re

from ..findings import Findings
from ..outputs import not_done
from ..phrasing import CHANNEL, LEAD, as_markdown, channel_of, in_quotes, phrase, shown_channel
from ..view import View
from . import pending
from .moments import ONCE, has_passed, in_words, moment, no_time, now

MOST_LINES = 20
_VERB = r"(?:post|put|announce|publish|send|share|say|write|schedule)(?: an? (?:message|post))?"
_IN = rf"(?:in|to|into|on) (?:the )?(?:channel )?(?P<channel>{CHANNEL})"
_WHEN = rf"(?:,? (?:for )?(?P<when>{ONCE}))?"
_LAST = r"(?P<last>it|this|that|the (?:answer|result|summary))"
WAYS = (
    phrase(rf"{_VERB} {in_quotes('text')} {_IN}{_WHEN}"),
    phrase(rf"{_VERB} {_IN}{_WHEN}(?:[:,]|,? saying)? {in_quotes('text')}"),
    phrase(rf"{_VERB} {_IN}{_WHEN}(?::|,? saying|,? that) ?(?P<text>.+)"),
    phrase(
        rf"(?:tell|message) (?P<channel>{CHANNEL})(?:(?: that)? {in_quotes('said')}|(?: that|:) (?P<text>.+))"
    ),
    phrase(rf"{_VERB} {_LAST} {_IN}{_WHEN}"),
    phrase(rf"{_VERB} (?P<text>[^#:\"“]+?) {_IN}{_WHEN}"),
)
EARLY = re.compile(
    rf"{LEAD}(?:(?P<first>{ONCE}),? (?:please )?(?P<verb>{_VERB})|"
    rf"(?P<order>{_VERB}) (?P<then>{ONCE})(?=:? [\"“'‘]|,? (?:in|to|into|on) (?:the )?(?:channel )?[#<]))",
    re.IGNORECASE,
)
"""A time that stands before what is to be posted, and where."""
MEANT = phrase(
    rf"(?:{ONCE},? )?(?:post|announce|publish|send|share|schedule|tell|message)\b(?! (?:me|us)\b).*"
    rf"(?:\b(?:in|to|into|on) (?:the )?(?:channel )?|\b(?:tell|message) ){CHANNEL}.*"
)
"""An order to post something, also where it is not understood."""
PERSON = re.compile(
    r"(?i:please )?(?i:tell|dm|ping|notify|write to|send a (?:direct )?message to) @?(?P<who>[A-Z]\w+|<@\w+>)(?: .+|: .+)",
    re.DOTALL,
)
DESCRIBED = re.compile(
    r"(?:the|an?|our|my|your|his|her|their|these|those|all|this|that|it|them|something|anything|what|who|how|everything)\b",
    re.IGNORECASE,
)
"""Words that may name what is to be posted rather than being it: "the summary of this thread"."""
LIST = phrase(
    r"(?:which|what) (?:messages (?:wait|are (?:scheduled|waiting))|waits|is waiting)(?: to be posted)?|(?:list|show)(?: me)?(?: the| my)? scheduled messages"
)
CANCEL = phrase(
    r"(?:cancel|delete|unschedule) (?:the|that|my)(?: scheduled)? message(?: “(?P<text>.+)”)?"
)
CANCEL_IT = phrase(r"cancel (?:it|that|this)")


def is_asked(view: View) -> bool:
    """Whether a message is to go somewhere, or one that waits is asked about."""
    if _is_cancelled(view) or LIST.fullmatch(view.text) or PERSON.fullmatch(view.text):
        return True
    return _way(view.text) is not None or bool(MEANT.fullmatch(view.text))


def answer(view: View, found: Findings) -> None:
    """Post it, have it posted later, or tell what waits."""
    if _is_cancelled(view):
        cancel(view, found)
    elif LIST.fullmatch(view.text):
        _list(view, found)
    elif asked := _way(view.text):
        _send(view, found, asked)
    elif person := PERSON.fullmatch(view.text):
        found.summary = (
            f"I do not write to people directly, so nothing was sent to {person['who']}. I can post in a channel "
            "that I am in, and a mention there reaches them."
        )
    else:
        found.summary = (
            "Nothing was posted: my rules do not understand it as it is put. They post in one channel at a time: "
            "`post 'We ship today' in #general`, or `post 'We ship today' in #general tomorrow at 9`."
        )


def _way(text: str) -> re.Match[str] | None:
    order, early = _apart(text)
    asked = next((asked for way in WAYS if (asked := way.fullmatch(order))), None)
    return None if asked and early and asked.groupdict().get("when") else asked


def _apart(text: str) -> tuple[str, str]:
    """An order without the time that stands first in it, and that time."""
    early = EARLY.match(text)
    if early is None:
        return text, ""
    verb = early["verb"] or early["order"]
    return f"{verb}{text[early.end() :]}", early["first"] or early["then"]


def _send(view: View, found: Findings, asked: re.Match[str]) -> None:
    """Now or at the time that was said."""
    given = asked.groupdict()
    when = given.get("when") or _apart(view.text)[1]
    name = channel_of(given["channel"])
    words = as_markdown(given.get("text") or given.get("said") or "")
    text = (_last(view) if given.get("last") else words).strip()
    if not text:
        found.summary = f"Nothing was posted, as there is no answer to post yet. Say what: `post 'We ship today' in {name}`."
    elif asked.re is WAYS[-1] and DESCRIBED.match(text):
        found.summary = (
            f"Nothing was posted: I cannot tell whether “{text}” are the words themselves. Put them in quotation "
            f"marks, or ask me for it first and then say “post that in {name}”."
        )
    elif when:
        _later(view, found, name, text, when)
    else:
        _now(view, found, name, text)


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


def _now(view: View, found: Findings, name: str, text: str) -> None:
    place = shown_channel(name)
    output = view.do(
        "post_message", f"I post it in {place}, if I may.", fresh=True, channel=name, text=text
    )
    if not output.startswith("posted"):
        found.summary = not_done(f"It was not posted in {place}", output)
        return
    found.summary = f"It is posted in **{place}**."
    link = re.search(r"link: (\S+)", output)
    found.source(f"Message in {place}", link and link[1], "What was posted.")


def _later(view: View, found: Findings, name: str, text: str, when: str) -> None:
    start = now(view)
    at = moment(when, start)
    if at is None or at <= start:
        found.summary = has_passed(at) if at else no_time(when)
        return
    place = shown_channel(name)
    output = view.do(
        "schedule_message", f"I have it posted in {place} later, if I may.", fresh=True, channel=name,
        text=text, at=at.isoformat(timespec="minutes"),
    )  # fmt: skip
    if not output.startswith("scheduled"):
        found.summary = not_done(f"It will not be posted in {place}", output)
        return
    found.summary = f"“{text}” will be posted in **{place}** on **{in_words(at)}**."
    found.follow_ups = ["Which messages wait to be posted?", "Cancel that message"]


def _waiting(view: View, found: Findings) -> pending.Lines:
    waiting = pending.messages(view, found)
    if not waiting:
        here = " that I can tell of here" if found.gaps else ""
        found.summary = f"No message of yours waits to be posted{here}."
    return waiting


def _list(view: View, found: Findings) -> None:
    if waiting := _waiting(view, found):
        pending.tell(found, (), waiting)


def _is_cancelled(view: View) -> bool:
    """Whether a message that waits is to be cancelled; "it" is the one just spoken of."""
    last = view.earlier[0].tool if view.earlier else ""
    is_of_it = last in ("schedule_message", "list_scheduled_messages")
    return bool(CANCEL.fullmatch(view.text) or (is_of_it and CANCEL_IT.fullmatch(view.text)))


def cancel(view: View, found: Findings) -> None:
    """The one that was named, or the only one that waits."""
    waiting = _waiting(view, found)
    if not waiting:
        return
    asked = CANCEL.fullmatch(view.text)
    beginning = ((asked and asked["text"]) or "").rstrip("…").lower()
    named = [each for each in waiting if pending.one_line(each).lower().startswith(beginning)]
    if len(named) != 1:
        found.summary = "Which of these shall I cancel?"
        pending.show(found, (), waiting)
        return
    text = named[0]["text"]
    output = view.do(
        "cancel_scheduled_message", f"I cancel “{text}”.", fresh=True, id=named[0]["id"], text=text.rstrip("…")
    )  # fmt: skip
    if output.startswith("cancelled"):
        found.summary = f"Cancelled: “{text}” will not be posted."
    else:
        found.summary = not_done("It is not cancelled", output)
