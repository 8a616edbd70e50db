"""People and channels: who somebody is, who is where, what a channel is for and what it keeps."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime

from .findings import Findings
from .outputs import failed, reason
from .talk import CHANNEL
from .view import View
from .words import has, plural

WHO = re.compile(
    r"\b(?:(?:W|w)ho(?: is|'s| are|s| am)|(?:T|t)ell me about|(?:F|f)ind|(?:L|l)ook up|profile of|contact (?:of|for))\s+@?(?P<name>[A-Z][\w.-]+(?: [A-Z][\w-]+)?\b(?!['’]s)|me\b|I\b|<@\w+>)",
)
PROFILE = re.compile(
    r"(?:\bwhat(?:'s| is)|\bshow(?: me)?)\s+@?(?P<whose>[A-Z]\w+(?: [A-Z]\w+)?|my)(?:'s|s')?\s+(?:time ?zone|local time|title|profile|role|job|name)\b|"
    r"\b(?:what time|how late) is it (?:for|at)\s+@?(?P<where>[A-Z]\w+(?: [A-Z]\w+)?)",
)
FIND = re.compile(
    r"\bfind (?:people|someone|somebody|anyone|a person|users)(?: (?:in|with|from|named|called|who))* (?P<word>\w+)",
    re.I,
)
ADMINS = re.compile(
    r"\bwho (?:is|are) (?:the |an |our )?(?:admins?|administrators?|owners?)\b", re.IGNORECASE
)
_THERE = r"(?:<?#|here\b|(?:this|the|that|our) (?:channel|group|room|conversation)\b)"
IS_IN = re.compile(
    rf"\b(?:is|are) @?(?P<who>[A-Z]\w+)(?: [A-Z]\w+)? (?:already |also |still )?(?:in|on|a member of) {_THERE}"
)
MADE = re.compile(
    r"(?=.*(?:\bchannel\b|#\w)).*\b(?:who|when|how old)\b.*\b(?:created?|made|opened|owns?|old)\b",
    re.IGNORECASE,
)
MEMBERS = re.compile(
    rf"\bwho(?: all)?(?: is|'s| are) (?:(?:in|on|a member of) {_THERE}|(?:in|here)\W*$)|\b(?:list|show|which) (?:the )?(?:members|people)\b|"
    rf"\bhow many (?:members|people)(?: (?:are|does))?(?: there)?(?: in)? {_THERE}|\bmembers of {_THERE}",
    re.I,
)
PEOPLE = re.compile(
    r"\b(?:who works here|(?:list|show)(?: me)? (?:all |every )(?:people|users|members))\b",
    re.IGNORECASE,
)
CHANNELS = re.compile(
    r"\b(?:which|what|list|show|how many)(?: me)?(?: all| the| public| private)* channels\b",
    re.IGNORECASE,
)
CHANNEL_FOR = re.compile(
    r"\b(?:is there|are there|do we have|which|what|find|any)\b.*\bchannels?\b.*\b(?:about|for|on|named|called)\s+(?:the )?(?P<about>[\w-]+)\W*$",
    re.IGNORECASE,
)
THEIRS = r"private|archived|you|i|we|(?:am|are|is) \w+ (?:a member|in)"
TOPIC = re.compile(
    r"\b(?:what(?: is|'s)(?! (?:new|happening|going|said|up))|describe|topic of|purpose of|about)\b.*(?:#[\w-]+|\bthis channel)(?:\s+(?:for|about))?\W*$",
    re.IGNORECASE,
)
ITEMS = re.compile(
    r"\b(?:which|what|list|show|any|are there)\b.*?\b(?P<what>files|canvases|pins|pinned|documents)\b(?!.*\b(?:say|says|in common|hold|contain)\b)",
    re.IGNORECASE,
)
PERSON = re.compile(
    r"^(?P<id>[UW]\w+) · (?P<name>[^·\n]+?)(?: \((?P<real>[^)]+)\))?(?P<more>(?: · [^·\n]+)*) · (?P<zone>[^·\n,]+), (?P<now>\w+ [\d:]+) there$",
    re.M,
)
ROOM = re.compile(r"^#(?P<name>\S+) \w+(?P<more>.*)$", re.M)
FILE = re.compile(
    r"^(?P<id>F\w+) · (?P<name>.+?)(?: · (?P<size>[\d,]+) bytes)? · (?P<at>[\d-]+ [\d:]+), (?P<by>.+)$",
    re.M,
)
PIN = re.compile(
    r"^\[(?P<at>[^\]]+)\] (?P<by>[^:]+): (?P<text>.*?)(?: \(file: .*\))? \((?P<url>http\S+)\)$",
    re.M,
)
MOST = 15


def is_asked(view: View) -> bool:
    """Whether this is about people, channels, or what a channel keeps."""
    return not view.turn.files and _skill(view.text) is not None and view.knows("find_people")


def is_of_channel(view: View) -> bool:
    """Whether it is about a channel that is named, which no table is."""
    return bool(CHANNEL.search(view.text)) and is_asked(view)


def answer(view: View, found: Findings) -> None:
    """Look it up and say it in words."""
    skill = _skill(view.text)
    if skill is not None:
        skill(view, found)


def _skill(text: str) -> Callable[[View, Findings], None] | None:
    """What the question is about, the narrowest first."""
    table = (
        (ITEMS, _items), (ADMINS, _admins), (PROFILE, _person),
        (FIND, _person), (CHANNEL_FOR, _channels), (CHANNELS, _channels), (MADE, _made), (IS_IN, _is_member), (TOPIC, _channel),
        (PEOPLE, _members), (MEMBERS, _members), (WHO, _person),
    )  # fmt: skip
    return next((skill for pattern, skill in table if pattern.search(text)), None)


def _person(view: View, found: Findings) -> None:
    asked = next((m for each in (PROFILE, FIND, WHO) if (m := each.search(view.text))), None)
    name = next((each for each in asked.groupdict().values() if each), "") if asked else ""
    is_me = name.lower() in ("me", "my", "i")
    output = view.do(
        "find_people",
        "I look in the directory.",
        query=view.turn.author if is_me else name.strip("<@>"),
    )
    people = list(PERSON.finditer(output))
    if not people:
        found.summary = f"I found nobody in this workspace whose name or title has “{name}”."
        found.follow_ups = ["Who is in this channel?"]
        return
    told = [_described(each) for each in people[:MOST]]
    found.summary = told[0]
    if is_me:
        found.summary = f"You are {_name(people[0])}{_facts(people[0])}. Your time zone is {people[0]['zone']}, where it is {people[0]['now']}."
    elif len(told) > 1:
        found.summary, found.points = f"{len(people)} people fit “{name}”:", told
    elif has(view.text, "title|role|job") and not _facts(people[0]):
        found.summary = f"The profile of {_name(people[0])} names no title."
    found.source("The workspace's directory", None, "Names, titles and time zones.")


def _described(person: re.Match[str]) -> str:
    return f"{_name(person)}{_facts(person)} is in the time zone {person['zone']}, where it is {person['now']} now."


def _name(person: re.Match[str]) -> str:
    real = person["real"] or person["name"]
    return f"**{real}**" + (f" (@{person['name']})" if person["real"] else "")


def _facts(person: re.Match[str]) -> str:
    facts = [each for each in (person["more"] or "").split(" · ") if each]
    return f", {', '.join(facts)}," if facts else ""


def _admins(_: View, found: Findings) -> None:
    found.summary = (
        "My tools do not tell me who the admins are. Slack shows it in a person's profile, and the Home tab "
        "offers an admin's settings to admins only."
    )


def _made(_: View, found: Findings) -> None:
    found.summary = (
        "My tools tell a channel's topic, purpose and members, not who made it or when. Slack shows that under the "
        "channel's name, in About."
    )


def _is_member(view: View, found: Findings) -> None:
    asked, place = IS_IN.search(view.text), _place(view)
    who = asked["who"] if asked else ""
    output = view.do("list_members", f"I look who is in {place}.", channel=place)
    people = [each for each in PERSON.finditer(output) if has(each[0], re.escape(who))]
    if not PERSON.search(output):
        _failed(found, output, f"I could not see who is in {place}.")
        return
    found.summary = (
        f"Yes: {_name(people[0])} is in {place}."
        if people
        else f"No: I see nobody called {who} in {place}."
    )
    found.source(f"Members of {place}", None, "Who is there.")


def _members(view: View, found: Findings) -> None:
    place = _place(view)
    if len(set(CHANNEL.findall(view.text))) > 1:
        found.summary = (
            "I look at one channel at a time: ask “Who is in #general?”, then of the other."
        )
        return
    if place is None:
        found.summary = "This is a direct message between you and me."
        return
    output = view.do("list_members", f"I look who is in {place}.", channel=place)
    everybody = list(PERSON.finditer(output))
    people = [each for each in everybody if " · bot" not in each["more"]]
    if not people:
        _failed(found, output, f"I could not see who is in {place}.")
        return
    number = "One person is" if len(people) == 1 else f"{len(people)} people are"
    found.summary = f"{number} in {place}{', and I am as well' * (len(everybody) > len(people))}:"
    found.points = [
        f"{_name(each)}{_facts(each).rstrip(',')}: {each['zone']}, {each['now']} there"
        for each in people[:MOST]
    ]
    found.source(f"Members of {place}", None, "Who is there.")


def _channels(view: View, found: Findings) -> None:
    asked = CHANNEL_FOR.search(view.text)
    if not asked and has(view.text, THEIRS):
        found.summary = "My tools list the public channels, no others, and not who is in which. Of one channel I can tell who is there."
        found.follow_ups = ["Which public channels are there?", "Who is in #general?"]
        return
    about = asked["about"] if asked else None
    output = view.do("find_channels", "I look which channels there are.", query=about)
    rooms = [each for each in ROOM.finditer(output) if " · archived" not in each["more"]]
    if not rooms:
        if about and not failed(output):
            found.summary = f"I found no public channel whose name, topic or purpose has “{about}”."
        else:
            _failed(found, output, "I could not list the channels.")
        return
    found.summary = f"There {'is **1** public channel' if len(rooms) == 1 else f'are **{len(rooms)}** public channels'}{f' for “{about}”' * bool(about)}:"
    found.points = [f"**#{each['name']}**{_room(each['more'])}" for each in rooms[:MOST]]
    found.source("The workspace's channels", None, "Names and topics.")


def _room(more: str) -> str:
    facts = [
        each.removeprefix("topic: ").removeprefix("purpose: ") for each in more.split(" · ") if each
    ]
    facts = ["1 member" if each == "1 members" else each for each in facts]
    return f": {', '.join(facts)}" if facts else ""


def _channel(view: View, found: Findings) -> None:
    place = _place(view) or ""
    output = view.do("describe_channel", f"I look at {place}.", channel=place)
    room = ROOM.search(output)
    if room is None:
        _failed(found, output, f"I could not look at {place}.")
        return
    found.summary = f"**#{room['name']}**{_room(room['more'])}."
    found.follow_ups = [f"Who is in #{room['name']}?", f"Summarise #{room['name']}"]
    found.source(f"#{room['name']}", None, "Its topic, purpose and size.")


def _items(view: View, found: Findings) -> None:
    asked = ITEMS.search(view.text)
    what = asked["what"].lower() if asked else "files"
    what = {"pinned": "pins", "documents": "files"}.get(what, what)
    channel = CHANNEL.search(view.text)
    output = view.do(
        "list_channel_items", f"I look at the {what}.", what=what, channel=channel and (channel["id"] or channel["name"])
    )  # fmt: skip
    place = _place(view) or "this conversation"
    items = (
        [_pinned(each) for each in PIN.finditer(output)]
        if what == "pins"
        else [_kept(each) for each in FILE.finditer(output)]
    )
    noun = {"pins": "pinned message", "files": "file", "canvases": "canvas"}[what]
    if not items:
        _failed(found, output, f"There are no {_many(noun)} in {place}.")
        return
    found.summary = f"There {f'is 1 {noun}' if len(items) == 1 else f'are {len(items)} {_many(noun)}'} in {place}:"
    found.points = items[:MOST]
    if len(items) > MOST:
        found.gaps.append(f"These are the newest {MOST}.")
    found.source(place[:1].upper() + place[1:], None, f"The {_many(noun)}.")


def _many(noun: str) -> str:
    return "canvases" if noun == "canvas" else plural(noun)


def _pinned(pin: re.Match[str]) -> str:
    return f"{pin['by']}, {_when(pin['at'])}: [{pin['text']}]({pin['url']})"


def _kept(file: re.Match[str]) -> str:
    size = int(file["size"].replace(",", "")) if file["size"] else 0
    told = f", {size / 1000:,.0f} kB" if size >= 1000 else f", {size} bytes" if size else ""
    return f"**{file['name'].strip('`')}**{told}, from {file['by']}, {_when(file['at'])}"


def _when(at: str) -> str:
    moment = datetime.fromisoformat(at)
    return f"{moment.day} {moment:%B} at {moment:%H:%M}"


def _place(view: View) -> str | None:
    """The channel that was named, else where this is; None in a direct message."""
    if channel := CHANNEL.search(view.text):
        return f"#{channel['name']}" if channel["name"] else channel["id"]
    return view.turn.place if view.turn.place.startswith("#") else None


def _failed(found: Findings, output: str, told: str) -> None:
    found.summary = told
    if failed(output) and not has(reason(output), "0"):
        found.lower(reason(output), "low")
