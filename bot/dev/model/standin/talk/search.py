"""What was said elsewhere in the workspace, and what the web has."""

from __future__ import annotations

import re

from ..findings import Findings
from ..outputs import failed, reason
from ..phrasing import phrase, sentence
from ..view import View
from .said import TO_BOT

_POSTS = r"(?:(?:any|all|the|our|some|old|recent) )*(?:messages?|posts?|threads?|conversations?|discussions?)\b"
_ABOUT = r"(?:about|on|with|for|mentioning|containing|regarding|that (?:mention|contain|talk about|are about))"
MESSAGES = phrase(
    rf"(?:(?:search|look)(?: in)?(?: slack| (?:the )?messages)? for|find)(?: me)? {_POSTS} {_ABOUT} (?P<about>.+?)|"
    rf"search {_POSTS} {_ABOUT} (?P<words>.+?)|"
    rf"(?:search|look)(?: in)?(?: slack| (?:the )?messages)? for (?!{_POSTS})(?P<query>.+?)(?: messages| posts)?|"
    r"where did (?:we|anyone|anybody|people) talk about (?P<of>.+?)|"
    r"has (?:anyone|anybody|somebody|someone) (?:mentioned|talked about|said (?:something|anything) about) (?P<said>.+?)"
)
BY_SOMEBODY = phrase(
    rf"(?:(?:search|look)(?: in)?(?: slack)?(?: for)?|find)(?: me)? {_POSTS}(?: (?:from|by|of|sent|written) .+)?"
)
WEB = phrase(
    r"(?:search|look on) (?:the )?(?:web|internet) for (?P<query>.+?)|(?<!and )google (?P<words>(?-i:[^A-Z\n]).+?)|(?P<question>.+?)[.?!] search the web"
)
FOUND = re.compile(
    r"^\[(?P<at>[^\]]+)\] #(?P<channel>\S+) (?P<author>[^:]+): (?P<text>.+) \((?P<url>http\S+)\)$",
    re.M,
)
SEARCHED = re.compile(r"· searched: (?P<where>.+?) · times in ")
ARTICLE = re.compile(r"\A(?:the|an?|our) (?=\w)", re.IGNORECASE)
RESULT = re.compile(r"^\d+\. (?P<title>.+) — (?P<url>\S+)\n\s+(?P<said>.+)$", re.M)
MOST = 8


def is_asked(view: View) -> bool:
    """Whether something is to be looked for in Slack or on the web."""
    if view.turn.files or "#" in sentence(view.text).words:
        return False
    in_slack = MESSAGES.fullmatch(view.text) or BY_SOMEBODY.fullmatch(view.text)
    return bool((in_slack and view.knows("search_messages")) or WEB.fullmatch(view.text))


def answer(view: View, found: Findings) -> None:
    """Search, and quote what was found with its place; of whom messages are by it is no search."""
    web = WEB.fullmatch(view.text)
    asked = web or MESSAGES.fullmatch(view.text)
    if asked is None:
        found.summary = (
            "I did not search: my rules look for the words of a message, not for who wrote it. “Search for "
            "budget” is understood, and “What did Ben say?” of one thread or channel."
        )
    else:
        query = next(each for each in asked.groups() if each)
        (_web if web else _messages)(view, found, ARTICLE.sub("", query, count=1).strip("\"'“”"))


def _messages(view: View, found: Findings, query: str) -> None:
    output = view.do("search_messages", f"I search Slack for “{query}”.", query=query)
    messages = [
        each
        for each in FOUND.finditer(output)
        if not (TO_BOT.match(each["text"]) or each["text"] == view.text)
    ]
    if where := SEARCHED.search(output):
        found.gaps.append(
            f"I looked in this: {where['where']}. Private channels are never searched."
        )
    if not messages:
        found.summary = (
            f"Besides questions to me, I found no message about “{query}” where I looked."
        )
        found.follow_ups = [f"What was said about {query} here?"]
        if failed(output):
            found.summary = f"I did not search for “{query}”: {reason(output)}"
        return
    number = "one message" if len(messages) == 1 else f"{len(messages)} messages"
    found.summary = f"I found {number} about “{query}”:"
    for each in messages[:MOST]:
        found.points.append(f"{each['author']} in **#{each['channel']}**: “{each['text']}”")
        found.source(f"{each['author']} in #{each['channel']}", each["url"], "What was said.")


def _web(view: View, found: Findings, query: str) -> None:
    if not view.knows("search_web"):
        found.summary = (
            "I cannot look this up: no web search is set up here. An operator names a provider (Brave, Tavily or "
            "SearXNG) under `[web_search]` in `bot.toml`. A page whose address you give me I can read."
        )
        return
    output = view.do("search_web", "I search the web.", query=query)
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
