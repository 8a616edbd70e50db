"""People and channels: who somebody is, who is where, what a channel is for and what it keeps."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime

from ..findings import Findings
from ..outputs import failed, reason
from ..phrasing import sentence, shown_channel
from ..view import View
from ..words import has

PERSON = re.compile(
    r"(?:[Ww]ho(?: is|'s)|[Aa]bout) (?:<@)?@?(?P<name>[A-Z][\w.-]+(?: [A-Z][\w-]+)?)>?|[Ww]ho am (?P<me>I)|"
    r"[Ww]hat(?: is|'s) (?P<whose>[A-Z]\w+(?: [A-Z]\w+)?|my)(?:'s?)? (?:time ?zone|local time|title|role|job)"
)
MEMBERS = re.compile(
    r"who(?: is|'s| are) (?:here|in #)|how many people are(?: there)? (?:here|in #)|(?:list )?the members of #",
    re.IGNORECASE,
)
CHANNELS = re.compile(
    r"(?:which|what) (?:public )?channels (?:are there|do we have)|list (?:all |the )*(?:public )?channels|"
    r"(?:is there a|which|what) channel (?:is )?(?:for|about) (?:the )?(?P<about>[\w-]+)",
    re.IGNORECASE,
)
CHANNEL = re.compile(
    r"what(?: is|'s) #(?: (?:for|about))?|describe #|what(?: is|'s) the (?:topic|purpose) of #",
    re.IGNORECASE,
)
ITEMS = re.compile(
    r"(?:(?:which|what|list|the|list the) )?(?P<what>files|canvases|pins|pinned messages)(?: are)?(?: there)?(?: (?:here|in #))?|"
    r"what(?: is|'s) (?P<pinned>pinned)(?: (?:here|in #))?",
    re.IGNORECASE,
)
PROFILE = re.compile(
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
NOUNS = {
    "pins": ("pinned message", "pinned messages"),
    "files": ("file", "files"),
    "canvases": ("canvas", "canvases"),
}
MOST = 15


def is_asked(view: View) -> bool:
    """Whether this is about people, channels, or what a channel keeps."""
    return not view.turn.files and _skill(view) is not None and view.knows("find_people")


def answer(view: View, found: Findings) -> None:
    """Look it up and say it in words."""
    if skill := _skill(view):
        answer, asked = skill
        answer(view, found, asked)


def _skill(
    view: View,
) -> tuple[Callable[[View, Findings, re.Match[str]], None], re.Match[str]] | None:
    said = sentence(view.text)
    if said.here not in ("", "channel"):
        return None
    table = (
        (PERSON, _person), (MEMBERS, _members), (CHANNELS, _channels), (CHANNEL, _channel), (ITEMS, _items)
    )  # fmt: skip
    every = ((skill, pattern.fullmatch(said.words)) for pattern, skill in table)
    return next(((skill, asked) for skill, asked in every if asked), None)


def _person(view: View, found: Findings, asked: re.Match[str]) -> None:
    name = next(each for each in asked.groups() if each)
    is_me = name in ("my", "I")
    query = view.turn.author if is_me else name
    output = view.do("find_people", "I look in the directory.", query=query)
    people = list(PROFILE.finditer(output))
    if not people:
        found.summary = f"I found nobody in this workspace whose name or title has “{name}”."
        found.follow_ups = ["Who is in this channel?"]
        return
    first = people[0]
    is_there = f"in the time zone {first['zone']}, where it is {first['now']} now."
    found.summary = (
        f"You are {_who(first)}, {is_there}" if is_me else f"{_who(first)} is {is_there}"
    )
    if len(people) > 1 and not is_me:
        found.summary, found.points = f"{len(people)} people fit “{name}”:", _lines(people)
    found.source("The workspace's directory", None, "Names, titles and time zones.")


def _lines(people: list[re.Match[str]]) -> list[str]:
    return [f"{_who(each)}: {each['zone']}, {each['now']} there" for each in people[:MOST]]


def _who(person: re.Match[str]) -> str:
    """The name, and what else the profile says: "**Ben Okafor** (@ben, Buyer)"."""
    called = [f"@{person['name']}"] if person["real"] else []
    more = [*called, *filter(None, person["more"].split(" · "))]
    return f"**{person['real'] or person['name']}**" + (f" ({', '.join(more)})" if more else "")


def _members(view: View, found: Findings, _: re.Match[str]) -> None:
    if not (channel := _channel_meant(view)):
        found.summary = "This is a direct message between you and me."
        return
    place = shown_channel(channel)
    output = view.do("list_members", f"I look who is in {place}.", channel=channel)
    everybody = list(PROFILE.finditer(output))
    people = [each for each in everybody if " · bot" not in each["more"]]
    if not people:
        _failed(found, output, f"I could not see who is in {place}.")
        return
    number = "One person is" if len(people) == 1 else f"{len(people)} people are"
    found.summary = f"{number} in {place}{', and I am as well' * (len(everybody) > len(people))}:"
    found.points = _lines(people)
    found.source(f"Members of {place}", None, "Who is there.")


def _channels(view: View, found: Findings, asked: re.Match[str]) -> None:
    about = asked["about"]
    output = view.do("find_channels", "I look which channels there are.", query=about)
    rooms = [each for each in ROOM.finditer(output) if " · archived" not in each["more"]]
    if not rooms:
        topic = f" whose name, topic or purpose has “{about}”" if about else ""
        _failed(found, output, f"I found no public channel{topic}.")
        return
    are = "is **1** public channel" if len(rooms) == 1 else f"are **{len(rooms)}** public channels"
    found.summary = f"There {are}{f' for “{about}”' if about else ''}:"
    found.points = [f"**#{each['name']}**{_room(each['more'])}" for each in rooms[:MOST]]
    found.source("The workspace's channels", None, "Names and topics.")


def _room(more: str) -> str:
    facts = [
        each.removeprefix("topic: ").removeprefix("purpose: ") for each in more.split(" · ") if each
    ]
    facts = ["1 member" if each == "1 members" else each for each in facts]
    return f": {', '.join(facts)}" if facts else ""


def _channel(view: View, found: Findings, _: re.Match[str]) -> None:
    channel = _channel_meant(view)
    place = shown_channel(channel)
    output = view.do("describe_channel", f"I look at {place}.", channel=channel)
    room = ROOM.search(output)
    if room is None:
        _failed(found, output, f"I could not look at {place}.")
        return
    found.summary = f"**#{room['name']}**{_room(room['more'])}."
    found.follow_ups = [f"Who is in #{room['name']}?", f"Summarise #{room['name']}"]
    found.source(f"#{room['name']}", None, "Its topic, purpose and size.")


def _items(view: View, found: Findings, asked: re.Match[str]) -> None:
    what = (asked["what"] or "pins").lower().replace("pinned messages", "pins")
    channel = sentence(view.text).channel
    output = view.do("list_channel_items", f"I look at the {what}.", what=what, channel=channel)
    here = _channel_meant(view)
    place = shown_channel(here) if here else "this conversation"
    items = (
        [
            f"{each['by']}, {_when(each['at'])}: [{each['text']}]({each['url']})"
            for each in PIN.finditer(output)
        ]
        if what == "pins"
        else [
            f"**{each['name'].strip('`')}**, from {each['by']}, {_when(each['at'])}"
            for each in FILE.finditer(output)
        ]
    )
    one, many = NOUNS[what]
    if not items:
        _failed(found, output, f"There are no {many} in {place}.")
        return
    are = f"is 1 {one}" if len(items) == 1 else f"are {len(items)} {many}"
    found.summary, found.points = f"There {are} in {place}:", items[:MOST]
    if len(items) > MOST:
        found.gaps.append(f"These are the newest {MOST}.")
    found.source(place[:1].upper() + place[1:], None, f"The {many}.")


def _when(at: str) -> str:
    moment = datetime.fromisoformat(at)
    return f"{moment.day} {moment:%B} at {moment:%H:%M}"


def _channel_meant(view: View) -> str:
    """The channel that was named, else where this is; "" in a direct message."""
    here = view.turn.place if view.turn.place.startswith("#") else ""
    return sentence(view.text).channel or here


def _failed(found: Findings, output: str, told: str) -> None:
    found.summary = told
    if failed(output) and not has(reason(output), "0"):
        found.lower(reason(output), "low")
