"""What is remembered: kept, told again, forgotten."""

from __future__ import annotations

import re

from . import schedules
from .findings import Findings
from .outputs import failed, not_done, reason
from .view import View
from .words import content, has, overlap

REMEMBER = re.compile(
    r"^\W*(?:please )?(?:remember|note|keep in mind|memori[sz]e)(?: that|:)?\s+(?P<text>.+)",
    re.I | re.S,
)
FOR_ALL = re.compile(
    r"\bfor (?:(?:everybody|everyone|all(?: of us)?|us) in )?(?:everybody|everyone|all|us|the (?:channel|team|workspace)|"
    r"this (?:channel|workspace))\b:?",
    re.IGNORECASE,
)
RECALL = re.compile(
    r"\bwhat (?:do|can|did) you (?:remember|know about (?:me|us|this))|\bdo you remember\b|\bwhat(?: is|'s)? remembered",
    re.I,
)
FORGET = re.compile(
    r"^\W*(?:please )?(?:forget|don't remember|delete (?:the|my|your|all) memor\w+)\b(?P<what>.*)",
    re.I | re.S,
)
AFTERWARDS = re.compile(r"[.!;]\s+(?!(?:please|thanks|thank you)\b)\w", re.IGNORECASE)
"""Where a message goes on with another sentence."""
LINE = re.compile(
    r"^(?P<id>\w+) \((?P<scope>\w+), by [^,]+, (?P<day>[\d-]+)\): (?P<text>.+)$", re.M
)
KEPT = re.compile(r"Remembered as (?P<id>\w+)")
ASKS = re.compile(r"^\W*(?:what|when|where|who|which|how|is|are|do|does)\b", re.I)
WHOSE = {"user": "about you", "channel": "for this channel", "workspace": "for everybody"}


def is_asked(view: View) -> bool:
    """Whether this is about something to keep in mind, or no longer."""
    return any(each.search(view.text) for each in (REMEMBER, RECALL, FORGET))


def is_known(view: View) -> bool:
    """Whether a question speaks of something that was remembered."""
    return not view.files and bool(ASKS.search(view.text) and _known(view))


def tell(view: View, found: Findings) -> None:
    """Say what was remembered of it."""
    known = _known(view)
    found.summary = f"I was told: “{known[0]}”."
    found.points = [f"“{each}”" for each in known[1:]]
    found.source("Memory", None, "What was remembered.")


def _known(view: View) -> list[str]:
    """What was remembered, elsewhere or here, that has most words of the question."""
    asked = content(view.text)
    forgotten = {step.arguments.get("id") for step in view.steps if step.tool == "forget"}
    kept = ((KEPT.match(step.output or ""), step) for step in view.steps if step.tool == "remember")
    here = [step.arguments["text"] for made, step in kept if made and made["id"] not in forgotten]
    return [
        each
        for each in dict.fromkeys([*view.remembered, *here])
        if asked and overlap(asked, content(each)) >= max(min(2, len(asked)), len(asked) / 2)
    ]


def answer(view: View, found: Findings) -> None:
    """Keep it, tell what is kept, or forget it."""
    if RECALL.search(view.text):
        _recall(view, found)
        if has(view.text, "schedule[ds]?|reminders?"):
            schedules.answer(view, also := Findings())
            found.add(also)
    elif asked := FORGET.search(view.text):
        _forget(view, found, asked["what"])
    elif asked := REMEMBER.search(view.text):
        _remember(view, found, asked["text"].strip())


def _remember(view: View, found: Findings, text: str) -> None:
    if FOR_ALL.search(text):
        _remember_for_others(view, found, _alone(text))
        return
    output = view.do("remember", "I keep this in mind.", fresh=True, text=text)
    if not output.startswith("Remembered"):
        found.summary = "I could not remember this."
        found.lower(reason(output), "low")
        return
    found.summary = (
        f"I will remember “{text.rstrip('.')}” in direct messages with you. The Home tab shows what is "
        "remembered, and has it forgotten."
    )
    found.follow_ups.append("What do you know about me?")


def _remember_for_others(view: View, found: Findings, text: str) -> None:
    wide = has(view.text, "workspace|everybody|everyone") and not has(
        view.text, "(?:in|for) (?:the|this) channel"
    )
    where = "workspace" if wide else "channel"
    output = view.do(
        "remember_for_others", "I keep this in mind, if I may.", fresh=True, text=text, where=where
    )
    if output.startswith("Remembered"):
        found.summary = f"I will remember “{text.rstrip('.')}” {WHOSE[where]}."
    else:
        found.summary = not_done("It is not remembered", output)


def _alone(text: str) -> str:
    """The fact without whom it is for."""
    return " ".join(FOR_ALL.sub("", text).split()).removeprefix("that ")


def _recall(view: View, found: Findings) -> None:
    kept = _kept(view, found)
    if kept:
        number = "one thing" if len(kept) == 1 else f"{len(kept)} things"
        found.summary = f"I remember {number}:"
        found.points = [
            f"“{each['text']}”, {WHOSE.get(each['scope'], '')} since {each['day']}" for each in kept
        ]
        found.follow_ups.append("Forget everything you know about me")


def _kept(view: View, found: Findings) -> list[re.Match[str]]:
    """What is remembered here; says so when it is nothing."""
    output = view.do("recall", "I look at what is remembered here.", fresh=True)
    kept = list(LINE.finditer(output))
    if not kept:
        found.summary = "Nothing is remembered here."
        if view.turn.place.startswith("#"):
            found.summary += " What I remember about you I tell in a direct message only."
        if failed(output) and not output.startswith("Nothing"):
            found.lower(reason(output), "low")
    return kept


def _forget(view: View, found: Findings, what: str) -> None:
    if AFTERWARDS.search(what):
        found.summary = (
            "I took nothing of this: “forget” is about what I remember, and one message can do that or ask "
            "something. If you mean the question before, ask anew as a whole what you want now."
        )
        return
    kept = _kept(view, found)
    if not kept:
        found.summary = "There is nothing to forget: nothing is remembered here."
        return
    said = content(what)
    chosen = [each for each in kept if overlap(said, content(each["text"])) >= 1]
    if has(what, "everything|all"):
        chosen = [each for each in kept if each["scope"] == "user"]
    elif not chosen and has(what, "that|it|this|last"):
        said_last = next(
            (s.arguments.get("text") for s in view.earlier if s.tool == "remember"), None
        )
        chosen = [each for each in kept if each["text"] == said_last]
    if not chosen:
        found.summary = "I found nothing like that in what is remembered. It holds:"
        found.points = [f"“{each['text']}”" for each in kept]
        return
    for each in chosen:
        view.do("forget", f"I forget “{each['text']}”.", fresh=True, id=each["id"])
    told = ", ".join(f"“{each['text']}”" for each in chosen)
    found.summary = f"Forgotten: {told}."
