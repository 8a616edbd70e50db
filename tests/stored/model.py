"""The model of a recording, and of the test that goes on with it.

Each question has a tag, such as `[table-1]`, and the word in the tag says what the model does about it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any

from bot.dev.model import ModelRequest, Reply, call, calls, finish, held
from tests.faults.conversation import asked_in, since_result
from tests.support.runs import answer

Call = tuple[str, dict[str, Any]]

POSTS = {
    "approve": "We ship on *Friday*.",
    "deny": "We ship on *Sunday*.",
    "long": "\n".join(
        f"{n}. A line of a long message that has to be read whole." for n in range(60)
    ),
}
MEMORY = "The umbrella warehouse is in Ghent."
PLANS: Mapping[str, list[Call]] = {
    "table": [("read_file", {"file_id": "sales.csv"})],
    "again": [("query_table", {"sql": "SELECT sum(amount) FROM $table", "handles": ["$table"]})],
    **{
        kind: [("post_message", {"channel": "general", "text": text})]
        for kind, text in POSTS.items()
    },
    "remember": [("remember", {"text": MEMORY})],
    "schedule": [("schedule_prompt", {"text": "[due-1] What is new?", "cron": "0 9 * * *"})],
    "later": [("schedule_message", {"channel": "general", "text": "Later.", "at": "$tomorrow"})],
    "middle": [("calculate", {"expression": "6 * 7"})],
    "cut": [("remember", {"text": "The run was cut off here."})],
    "tickets": [("tickets_list_tickets", {})],
    "sold": [
        ("query_database", {"database": "shop", "sql": "SELECT region, revenue FROM sales"}),
        ("calculate", {"expression": "220919.5 / 200000 * 100 - 100"}),
    ],
    "notes": [("notes__connect_account", {})],
    "account": [("notes__read_notes", {})],
}
SAYS = {
    "sold": "North sold 220,919.50, which is 10.46 % over 200,000.",
    "rated": "These are the figures of last year.",
}


class Model:
    """Calls the tools of a question's plan one after the other, then answers with its tag and with
    `word`. A question whose kind is in `holds` waits before the model's response of that number."""

    def __init__(self, word: str, holds: Mapping[str, int]) -> None:
        self.word = word
        self.tomorrow = ""
        self.seen: list[tuple[str, ModelRequest]] = []
        """Each request with the tags of the questions that it is about."""
        self._holds = holds
        self._for_ever = asyncio.Event()

    def asked(self, tag: str) -> list[ModelRequest]:
        """The requests that are about a question."""
        return [request for tags, request in self.seen if tag in tags]

    def __call__(self, request: ModelRequest) -> Reply:
        items = since_result(request.items)
        tags = asked_in(items) or asked_in(request.items)[-1:]
        kinds = [tag.partition("-")[0] for tag in tags]
        kind = next(
            (each for each in kinds if each in PLANS), kinds[0]
        )  # of messages joined in one run
        called = [each["name"] for each in items if each.get("type") == "function_call"]
        self.seen.append((" ".join(tags), request))
        reply = self._next(request, kind, tags, called)
        return held(reply, self._for_ever) if self._holds.get(kind) == len(called) else reply

    def _next(self, request: ModelRequest, kind: str, tags: list[str], called: list[str]) -> Reply:
        offered = {tool.get("name") for tool in request.tools}
        for number, (name, arguments) in enumerate(PLANS.get(kind, ()), start=1):
            if name in called:
                continue
            if name not in offered and called.count("acquire_tools") < number:
                return call("acquire_tools", {"names": [name]})
            return calls((name, self._filled(arguments, request)))
        follow_ups = ["[follow-1] And then?"] if kind == "table" else []
        said = " ".join(f"[{tag}]" for tag in tags)
        text = " ".join((f"{self.word}: {said}", SAYS.get(kind, "")))
        return finish(answer(text.strip(), follow_ups=follow_ups))

    def _filled(self, arguments: dict[str, Any], request: ModelRequest) -> dict[str, Any]:
        found = re.findall(r"tbl_\w+", request.text)
        table = found[-1] if found else ""

        def fill(value: Any) -> Any:
            if isinstance(value, list):
                return [fill(each) for each in value]
            text = str(value).replace("$table", table).replace("$tomorrow", self.tomorrow)
            return text if isinstance(value, str) else value

        return {name: fill(value) for name, value in arguments.items()}
