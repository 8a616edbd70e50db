"""Lets the stand-in model work with the real tools, without a server and without Slack."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema
from pydantic import SecretStr, ValidationError

import tools.artifacts
import tools.calculation
import tools.charts
import tools.clock
import tools.comparing
import tools.databases
import tools.files
import tools.shaping
import tools.sharing
import tools.tables
import tools.threads
import tools.web
from bot.agent.builtin.complete_task import ResponseType
from bot.core.answers import Answer
from bot.core.errors import ToolError
from bot.dev.model import ModelRequest
from bot.dev.model.standin import decide
from bot.dev.model.standin.view import View
from bot.services.databases import DatabaseConfig, SqlDatabases
from bot.services.tables import tables
from bot.toolkit import Artifacts, Conversation, Databases, ThreadMessage
from bot.toolkit.catalogue import Catalogue
from bot.toolkit.schema import without_nulls
from tests.support.artifacts import MemoryArtifacts
from tests.support.conversation import MemoryConversation, asked

MODULES = (
    tools.artifacts,
    tools.calculation,
    tools.charts,
    tools.clock,
    tools.comparing,
    tools.databases,
    tools.files,
    tools.shaping,
    tools.sharing,
    tools.tables,
    tools.threads,
    tools.web,
)
CATALOGUE = Catalogue.of(
    made.tool for module in MODULES for made in vars(module).values() if hasattr(made, "tool")
)
ANSWER = ResponseType(Answer, "summary").definition
SALES = [
    ["2025-01-10", "North", "Widget", 10, 95.0],
    ["2025-01-20", "South", "Gadget", 2, 40.0],
    ["2025-02-03", "North", "Gizmo", 4, 125.0],
    ["2025-02-11", "West", "Widget", 6, 57.0],
    ["2025-03-05", "South", "Widget", 1, 9.5],
    ["2024-12-24", "North", "Gadget", 3, 60.0],
]
COLUMNS = ["date", "region", "product", "units", "revenue"]
MOST_TURNS = 12


@dataclass
class Told:
    """What came of one question: the calls made, and the arguments of `complete_task`."""

    calls: list[tuple[str, dict[str, Any]]]
    answer: dict[str, Any]

    @property
    def names(self) -> list[str]:
        """Names of the tools called, in order."""
        return [name for name, _ in self.calls]

    def given(self, tool: str) -> dict[str, Any]:
        """The arguments of the last call of a tool."""
        return next(arguments for name, arguments in reversed(self.calls) if name == tool)


@dataclass
class Thread:
    """A thread with the stand-in. `outputs` replaces a tool's run by a fixed output; `notes` are
    put before the next answer as the program's own words; of more than `listed` tools it sees groups."""

    artifacts: MemoryArtifacts = field(default_factory=MemoryArtifacts)
    conversation: MemoryConversation = field(default_factory=MemoryConversation)
    databases: SqlDatabases = field(default_factory=lambda: SqlDatabases({}))
    finish: dict[str, Any] = field(default_factory=lambda: ANSWER)
    outputs: dict[str, list[str]] = field(default_factory=dict)
    extra: list[dict[str, Any]] = field(default_factory=list)
    items: list[dict[str, Any]] = field(default_factory=list)
    acquired: list[str] = field(default_factory=list)
    listed: int = 100
    place: str = "#sales"

    def said(self, author: str, text: str) -> None:
        """Somebody wrote in the thread before."""
        at = datetime(2026, 11, 20, 9, len(self.conversation.messages), tzinfo=UTC)
        ts = f"{len(self.conversation.messages) + 1}.0"
        link = f"https://slack.example/{ts}"
        self.conversation.messages.append(ThreadMessage(ts, at, author, text, url=link))

    async def ask(
        self, text: str, *files: str, above: str = "", quoted: str = "", note: str = ""
    ) -> Told:
        """Ask, and let the stand-in work until it completes the task; the file `above` was attached by
        somebody else before."""
        self.items.append(message(text, files, quoted, above=above, place=self.place))
        calls: list[tuple[str, dict[str, Any]]] = []
        for _ in range(MOST_TURNS):
            if note and calls:
                self.items.append({"role": "developer", "content": note})
            for name, arguments in self.think():
                if name == "complete_task":
                    return Told(calls, arguments)
                calls.append((name, arguments))
                self.items[-1]["output"] = await self._run(name, arguments, text)
        raise AssertionError(f"no end after {MOST_TURNS} turns: {calls}")

    def think(self, *, forced: bool = False) -> list[tuple[str, dict[str, Any]]]:
        """One reply; its calls are judged by their schemas and answered."""
        always = CATALOGUE.listing(self.listed).always
        offered = [*always, *CATALOGUE.acquired(self.acquired), *self.extra, self.finish]
        body: dict[str, Any] = {"model": "m", "tools": offered}
        if forced:
            body["tool_choice"] = {"type": "function", "name": "complete_task"}
        reply = decide(View(ModelRequest(body, list(self.items), None, offered, "")))
        made = []
        for draft in reply.items:
            if draft["type"] != "function_call":
                continue
            arguments = json.loads(draft["arguments"])
            schema = next(each["parameters"] for each in offered if each["name"] == draft["name"])
            jsonschema.Draft202012Validator(schema).validate(
                arguments
            )  # the tools' own: no doubt of it
            call_id = f"call_{len(self.items)}"
            self.items.append({**draft, "call_id": call_id})
            output = {"type": "function_call_output", "call_id": call_id, "output": "Accepted."}
            self.items.append(output)
            made.append((draft["name"], arguments))
        return made

    async def _run(self, name: str, arguments: dict[str, Any], text: str) -> str:
        if self.outputs.get(name):
            return self.outputs[name].pop(0)
        if name == "acquire_tools":
            self.acquired += arguments["names"]
            found = CATALOGUE.search(arguments.get("search") or "", 15)
            lines = [f"{each}: you can call it now." for each in arguments["names"]]
            return "\n".join([*lines, *(each.line for each in found)])
        if name == "read_file":
            with asked(text):
                return await self._sales()
        tool = CATALOGUE.get(name)
        assert tool is not None
        services: dict[type, object] = {
            Artifacts: self.artifacts,
            Conversation: self.conversation,
            Databases: self.databases,
        }
        with asked(text):
            try:
                given = tool.arguments.model_validate(without_nulls(tool.arguments, arguments))
                return (await tool.run(given, services)).content
            except (ToolError, ValidationError) as error:
                return str(error)

    async def _sales(self) -> str:
        """What read_file says of sales.csv, without the process it would start for it."""
        saved = await tables.save_rows(self.artifacts, COLUMNS, SALES, name="sales.csv")
        return await tables.describe(self.artifacts, saved)


def shop(path: Path) -> SqlDatabases:
    """A database of two tables, one referring to the other."""
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript("""
            CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, region TEXT);
            CREATE TABLE orders (id INTEGER PRIMARY KEY,
              customer_id INTEGER REFERENCES customers (id), amount REAL, ordered_on DATE,
              status TEXT);
            INSERT INTO customers VALUES (1, 'Ada', 'North'), (2, 'Bob', 'South');
            INSERT INTO orders VALUES (1, 1, 10.5, '2026-01-02', 'open'),
              (2, 1, 20, '2026-02-03', 'paid'), (3, 2, 5, '2026-02-04', 'open');
        """)
    return SqlDatabases({"shop": DatabaseConfig(url=SecretStr(f"sqlite:///{path}"))})


def message(
    text: str, files: tuple[str, ...], quoted: str, *, above: str = "", place: str = "#sales"
) -> dict[str, Any]:
    parts = [f"[Ada asks in {place}, 2026-11-21 09:00 UTC]"]
    if quoted:
        lines = "\n".join(f"> {each}" for each in quoted.split("\n"))
        parts.append(f"About this message:\n[data 1a2b3c4d]\n{lines}\n[end of data 1a2b3c4d]")
    parts.append(text)
    if files:
        listed = (f"- {name} (file_id F{n}, text/csv, 4 kB)" for n, name in enumerate(files, 1))
        parts.append("Attached files:\n" + "\n".join(listed))
    if above:
        marked = f"[data 1a2b3c4d]\n- {above} (file_id F9, text/csv, 4 kB)\n[end of data 1a2b3c4d]"
        parts.append(f"Files above in this thread:\n{marked}")
    return {"role": "user", "content": "\n\n".join(parts)}
