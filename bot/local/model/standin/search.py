"""What was said elsewhere in the workspace, and what the web has."""

from __future__ import annotations

import re

from . import tools, topics
from .findings import Findings
from .outcomes import topic
from .outputs import failed, reason
from .passages import cut
from .said import TO_BOT
from .talk import CHANNEL, said_here
from .view import View
from .words import has

MESSAGES = re.compile(
    r"\b(?:search|find|look for|where|(?:has|did) (?:anyone|anybody|someone|people|they|we))\b.*?(?:\b(?:messages?|threads?|slack|channels|conversations?|everywhere)\b.*?\b(?:for|about|with|on|mentioning)\b|"
    r"\b(?:(?:we|anyone|anybody|someone|people|they) )?(?:talk(?:ed)?|spoke|said|say|write|mention(?:ed|s)?|discuss(?:ed)?|wrote|heard?)\b(?: (?:about|anything about|of|on|something about))?)\s+(?P<query>.+)|"
    r"^\W*(?:(?:please|can you|hey|hi)\W+)*(?:search|look)(?: (?:in )?(?:slack|everywhere))? for (?P<bare>.+)",
    re.IGNORECASE,
)
WEB = re.compile(
    r"\b(?:search|look up|browse|check)\b.*\b(?:web|internet|online)\b(?:\s+(?:for|about)?\s*(?P<query>.+))?|^\W*(?:google|bing)\b\s*(?P<words>.+)",
    re.IGNORECASE,
)
ANYONE = r"anyone|anybody|someone|somebody|people"
NEWS = r"weather|news|stock price|share price|exchange rate"
FOUND = re.compile(
    r"^\[(?P<at>[^\]]+)\] #(?P<channel>\S+) (?P<author>[^:]+): (?P<text>.+) \((?P<url>http\S+)\)$",
    re.M,
)
RESULT = re.compile(r"^\d+\. (?P<title>.+) — (?P<url>\S+)\n\s+(?P<said>.+)$", re.M)
MOST = 8


def is_ordered(view: View) -> bool:
    """Whether Slack is to be searched in so many words, whatever was asked before."""
    asked = MESSAGES.search(view.text)
    return bool(asked and asked["bare"]) and is_asked(view)


def is_asked(view: View) -> bool:
    """Whether something is to be looked for in Slack or on the web."""
    if view.turn.files or has(view.text, "this thread|this channel|here"):
        return False
    asked = MESSAGES.search(view.text)
    slack = asked and not (asked["bare"] and view.files) and view.knows("search_messages")
    return _is_of_the_web(view) or bool(slack)


def answer(view: View, found: Findings) -> None:
    """Search, and quote what was found with its place."""
    if _is_of_the_web(view):
        _web(view, found)
    else:
        _messages(view, found)


def _is_of_the_web(view: View) -> bool:
    """Whether only the web has it: no tool of a deployer's does."""
    wants_news = (
        has(view.text, NEWS) and not CHANNEL.search(view.text) and tools.fitting(view) is None
    )
    return wants_news or bool(WEB.search(view.text))


def _messages(view: View, found: Findings) -> None:
    asked = MESSAGES.search(view.text)
    words = (asked["query"] or asked["bare"]) if asked else view.text
    query = words.strip(" ?.!\"'“”")
    place, said = next(said_here(view)) if has(view.text, ANYONE) else ("", [])
    here = topics.tell(found, topic(query), said, place)
    if here:
        found.summary = f"Of “{query}” this was said in {place}:"
        for one in here[-topics.MOST :]:
            found.source(f"{one.author}, {one.at}", one.url, f"“{cut(one.text)}”")
        return
    output = view.do("search_messages", f"I search Slack for “{query}”.", query=query)
    messages = [each for each in FOUND.finditer(output) if not TO_BOT.match(each["text"])]
    if not messages:
        nobody = f"Nobody did in {place}, and " if said else ""
        found.summary = f"{nobody}I found no message about “{query}” in public channels."
        if failed(output):
            found.lower(reason(output), "low")
        return
    number = "one message" if len(messages) == 1 else f"{len(messages)} messages"
    found.summary = f"I found {number} about “{query}”:"
    for each in messages[:MOST]:
        found.points.append(f"{each['author']} in **#{each['channel']}**: “{each['text']}”")
        found.source(f"{each['author']} in #{each['channel']}", each["url"], "What was said.")


def _web(view: View, found: Findings) -> None:
    if not view.knows("search_web"):
        found.summary = (
            "I cannot look this up: no web search is set up here. An operator names a provider (Brave, Tavily or "
            "SearXNG) under `[web_search]` in `bot.toml`. A page whose address you give me I can read."
        )
        return
    asked = WEB.search(view.text)
    query = (asked and (asked["query"] or asked["words"])) or view.text
    output = view.do("search_web", "I search the web.", query=query.strip(" ?.!"))
    results = list(RESULT.finditer(output))
    if not results:
        found.summary = f"The web search found nothing about “{query}”."
        if failed(output):
            found.lower(reason(output), "low")
        return
    found.summary = f"The first of {len(results)} results: “{results[0]['said']}”"
    for each in results[:MOST]:
        found.points.append(f"[{each['title']}]({each['url']})")
        found.source(each["title"], each["url"], "An excerpt of the page.")
    found.lower("These are excerpts; I have not read the pages.")
