"""What is remembered: kept, told again, forgotten."""

from __future__ import annotations

import re

from ..conversation import Step
from ..findings import Findings
from ..outputs import failed, not_done, reason
from ..phrasing import bare, phrase
from ..view import View
from ..words import content, has

_CHANNEL = r"(?:this|the) channel"
_WHOM = rf"for (?P<{{}}>(?:everybody|everyone|(?:all of )?us)(?: here| in {_CHANNEL})?|the workspace|{_CHANNEL})\b"
REMEMBER = phrase(
    rf"(?:remember|note|keep in mind)(?: {_WHOM.format('whom')}| (?P<here>here|in {_CHANNEL})\b)?:?(?: that\b:?)?\s+(?!(?:to|for|me|when|what|how|who)\b)"
    rf"(?P<text>.+?)(?: {_WHOM.format('also')})?"
)
RECALL = phrase(
    r"what(?:['’]s| is| do you| have you) (?:remember(?:ed)?|known?)(?: (?:about|of) (?:me|us|this channel)| here)?"
)
FORGET_ALL = phrase(r"forget (?:everything|all)(?: (?:that )?you (?:know|remember)(?: about me)?)?")
FORGET = phrase(r"forget (?:that |about )?(?P<what>[^.;!?\n]+?)")
FORGET_LAST = phrase(r"forget (?:about )?(?:it|that|this)(?: again)?")
FORGET_OWN = "Forget everything you know about me"
ASKS = re.compile(r"(?:what|when|where|who|which|how|is|are|do|does)\b", re.IGNORECASE)
LINE = re.compile(
    r"^(?P<id>\w+) \((?P<scope>\w+), by [^,]+, (?P<day>[\d-]+)\): (?P<text>.+)$", re.M
)
KEPT = re.compile(r"Remembered as (?P<id>\w+)")
WHOSE = {"user": "about you", "channel": "for this channel", "workspace": "for everybody"}


def is_asked(view: View) -> bool:
    """Whether this is about something to keep in mind, or no longer."""
    return any(each.fullmatch(view.text) for each in (REMEMBER, RECALL, FORGET))


def answer(view: View, found: Findings) -> None:
    """Keep it, tell what is kept, or forget it."""
    said = view.text
    if RECALL.fullmatch(said):
        _recall(view, found)
    elif asked := REMEMBER.fullmatch(said):
        _remember(
            view, found, asked["text"].strip(), asked["whom"] or asked["here"] or asked["also"]
        )
    elif FORGET_LAST.fullmatch(said) and (last := _just_kept(view)):
        _forget_one(view, found, *last)
    elif asked := FORGET.fullmatch(said):
        _forget(view, found, None if FORGET_ALL.fullmatch(said) else asked["what"])


def _remember(view: View, found: Findings, text: str, whom: str | None) -> None:
    if whom:
        scope = "channel" if re.search("channel|us|here", whom, re.IGNORECASE) else "workspace"
        thought = "I keep this in mind, if I may."
        output = view.do("remember_for_others", thought, fresh=True, text=text, where=scope)
    else:
        scope = "user"
        output = view.do("remember", "I keep this in mind.", fresh=True, text=text)
    if not output.startswith("Remembered"):
        found.summary = not_done("It is not remembered", output)
    elif whom:
        found.summary = f"I will remember “{text}” {WHOSE[scope]}."
    else:
        found.summary = (
            f"I will remember “{text}” in direct messages with you. The Home tab shows what is "
            "remembered, and has it forgotten."
        )
        if not view.turn.place.startswith("#"):
            found.follow_ups.append("What do you know about me?")
        elif not has(text, "I|me|my"):
            found.follow_ups.append(f"Remember for this channel that {text}")


def _recall(view: View, found: Findings) -> None:
    if kept := _kept(view, found):
        number = "one thing" if len(kept) == 1 else f"{len(kept)} things"
        found.summary = f"I remember {number}:"
        found.points = [
            f"“{each['text']}”, {WHOSE.get(each['scope'], '')} since {each['day']}" for each in kept
        ]
        own = any(each["scope"] == "user" for each in kept)
        forget = f"Forget that {kept[0]['text']}"
        if own or FORGET.fullmatch(forget):
            found.follow_ups.append(FORGET_OWN if own else forget)


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


def _forget(view: View, found: Findings, what: str | None) -> None:
    """What has all of these words; without words all that is the asker's own."""
    if not (kept := _kept(view, found)):
        found.summary = f"I forgot nothing. {found.summary}"
        return
    said = set(content(what or ""))
    chosen = [
        each
        for each in kept
        if (said and said <= set(content(each["text"])))
        or (what is None and each["scope"] == "user")
    ]
    if not chosen:
        found.summary = "I forgot nothing: say it in the words of what is remembered, which are:"
        found.points = [f"“{each['text']}”" for each in kept]
        return
    for each in chosen:
        view.do("forget", f"I forget “{each['text']}”.", fresh=True, id=each["id"])
    told = ", ".join(f"“{each['text']}”" for each in chosen)
    found.summary = f"Forgotten: {told}."


def _kept_by(step: Step) -> tuple[str, str] | None:
    """The id and the words of what a step had remembered."""
    made = KEPT.match(step.output or "") if step.tool == "remember" else None
    return (made["id"], step.arguments["text"]) if made else None


def _just_kept(view: View) -> tuple[str, str] | None:
    """What the message before this one had remembered."""
    before = view.turns[-2].steps if view.turns[1:] else []
    return next(filter(None, map(_kept_by, before)), None)


def _forget_one(view: View, found: Findings, id_: str, text: str) -> None:
    output = view.do("forget", f"I forget “{text}”.", fresh=True, id=id_)
    gone = output.startswith("Forgotten")
    found.summary = f"Forgotten: “{text}”." if gone else not_done("It is not forgotten", output)


def is_known(view: View) -> bool:
    """Whether a question is about something that was remembered."""
    return not view.files and bool(ASKS.match(bare(view.text)) and _known(view))


def tell(view: View, found: Findings) -> None:
    """Say what was remembered of it."""
    first, *more = _known(view)
    found.summary = f"I was told: “{first}”."
    found.points = [f"“{each}”" for each in more]
    found.source("Memory", None, "What was remembered.")


def _known(view: View) -> list[str]:
    """What was remembered, elsewhere or here, that has every word of the question."""
    asked = set(content(view.text))
    return [each for each in remembered(view) if asked and asked <= set(content(each))]


def remembered(view: View) -> list[str]:
    """All that is remembered, elsewhere or here."""
    forgotten = {step.arguments.get("id") for step in view.steps if step.tool == "forget"}
    kept = (each for step in view.steps if (each := _kept_by(step)))
    here = [text for id_, text in kept if id_ not in forgotten]
    return list(dict.fromkeys([*view.remembered, *here]))
