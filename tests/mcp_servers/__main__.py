"""The table of MCP servers that others wrote: `python -m tests.mcp_servers [--cache FOLDER]`.

Installs `@modelcontextprotocol/server-everything` from npm and `fastmcp` from PyPI into the folder, if
they are not there, and calls their tools with our client as a run does; two people connect accounts at
a protected server. Needs npm and uv. Exit code 1 if a call ends in another way than expected."""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from bot.core.approvals import Approval, ApprovalRecord, Ask, Decision, PersonNeeded, Verdict
from bot.core.context import bound_request
from bot.core.errors import ToolError
from bot.features.server_questions.feature import AskerQuestions
from bot.mcp import McpServer, McpServers, open_mcp_servers
from bot.testing.conversation import asked
from bot.testing.tools import run_tool
from bot.toolkit.asking import bound_asking
from tests.mcp_servers.accounts import tried_accounts

M = TypeVar("M", bound=BaseModel)
EVERYTHING = "@modelcontextprotocol/server-everything"
SHOP = Path(__file__).with_name("fastmcp_server.py")


class MemoryPins:
    """Pins of this run alone."""

    def __init__(self) -> None:
        self._values: dict[str, BaseModel] = {}

    async def load(self, name: str, kind: type[M]) -> M | None:
        value = self._values.get(name)
        return value if isinstance(value, kind) else None

    async def save(self, name: str, value: BaseModel) -> None:
        self._values[name] = value

    async def change(
        self, name: str, kind: type[M], change: Callable[[M | None], M | None]
    ) -> None:
        if (changed := change(await self.load(name, kind))) is not None:
            await self.save(name, changed)


@dataclass(frozen=True)
class Case:
    """A call, what its result holds, and what its asker answers if they are asked."""

    tool: str
    arguments: dict[str, Any]
    holds: str
    answer: dict[str, Any] | None = None


CASES = {
    "everything": (
        Case("echo", {"message": "hello"}, "Echo: hello"),
        Case("get-sum", {"a": 2, "b": 3}, "5"),
        Case("get-structured-content", {"location": "Chicago"}, "temperature"),
        Case("get-tiny-image", {}, "saved as mcp_"),
        Case("get-resource-links", {"count": 2}, "read_resource reads the addresses"),
        Case("get-resource-reference", {"resourceType": "Text", "resourceId": 1}, "Resource 1"),
        Case("trigger-long-running-operation", {"duration": 1, "steps": 2}, "completed"),
        Case("list_resources", {}, "demo://resource/static/document/features.md"),
        Case("list_resources", {"query": "dynamic"}, "a pattern"),
        Case("read_resource", {"uri": "demo://resource/dynamic/text/1"}, "Resource 1"),
        Case("read_resource", {"uri": "demo://resource/dynamic/blob/1"}, "handle: doc_"),
        Case("read_resource", {"uri": "demo://nowhere"}, "The MCP server everything says"),
        Case("trigger-elicitation-request", {}, "Name: Ada", {"name": "Ada"}),
        Case("trigger-elicitation-request", {}, "declined"),
        Case("simulate-research-query", {"topic": "x"}, "not offered"),
        Case("trigger-sampling-request", {"prompt": "x"}, "not offered"),
        Case("get-roots-list", {}, "not offered"),
    ),
    "shop": (
        Case("list_orders", {}, "4 rows × 2 columns"),
        Case("order", {"item": "pens"}, "size=2", {"size": 2}),
        Case("order", {"item": "pens"}, "decline"),
        Case("pack", {}, "packed"),
        Case("list_resources", {}, "shop://prices.csv"),
        Case("read_resource", {"uri": "shop://prices.csv"}, "2 rows × 2 columns"),
        Case("read_resource", {"uri": "shop://items/pen"}, "pen is in stock."),
    ),
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mcp_servers", description=__doc__)
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "slack-answer-bot")
    try:
        servers = installed(parser.parse_args().cache / "mcp-servers")
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"The servers could not be installed: {error}", file=sys.stderr)
        return 1
    python = Path(servers["shop"].command or "")
    return max(asyncio.run(tried(servers)), asyncio.run(tried_at_protected_server(python)))


async def tried_at_protected_server(python: Path) -> int:
    """Print a line for each step with personal accounts. Return 1 if one is not as expected."""
    found = await tried_accounts(python)
    for expected, was in found.items():
        said = "as expected" if was == expected else f"NOT as expected: {was!r}"
        print(f"{'protected':11} {expected:32} {said}", flush=True)
    return int(any(expected != was for expected, was in found.items()))


def installed(folder: Path) -> dict[str, McpServer]:
    """Install the servers. Raises OSError and CalledProcessError."""
    npm, python = folder / "npm", folder / "fastmcp" / "bin" / "python"
    if not (program := npm / "node_modules" / ".bin" / "mcp-server-everything").exists():
        npm.mkdir(parents=True, exist_ok=True)
        _run("npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", npm, EVERYTHING)
    if not python.exists():
        _run("uv", "venv", "-q", "--python", sys.executable, python.parents[1])
        _run("uv", "pip", "install", "-q", "--python", python, "fastmcp")
    common: dict[str, Any] = {"questions": "live", "timeout": 20}
    return {
        "everything": McpServer(command=str(program), **common),
        "shop": McpServer(command=str(python), args=(str(SHOP),), **common),
    }


async def tried(servers: dict[str, McpServer]) -> int:
    """Print a line for each call. Return 1 if one ends in another way than expected."""
    wrong = 0
    async with open_mcp_servers(servers, MemoryPins(), questions=AskerQuestions()) as opened:
        for status in await opened.live_statuses():
            print(
                f"{status.name}: {len(status.usable)} tools, hidden: {status.hidden} {status.error}"
            )
        for server, cases in CASES.items():
            for case in cases:
                found = await result_of(opened, f"{server}__{case.tool}", case)
                is_right = case.holds in found
                wrong += not is_right
                said = "as expected" if is_right else f"NOT {case.holds!r}: {found[:300]!r}"
                print(f"{server:11} {case.tool:32} {said}", flush=True)
    return min(wrong, 1)


async def result_of(servers: McpServers, name: str, case: Case) -> str:
    """Return what the model would read of a call, answers of its asker included."""
    tool = next((each for each in await servers.tools() if each.name == name), None)
    if tool is None:
        return "not offered"

    async def ask(_: Ask) -> Decision:
        return decision

    verdict = Verdict.DENIED if case.answer is None else Verdict.APPROVED
    decision = Decision(verdict=verdict, by="U1", answer=case.answer)
    answers: tuple[ApprovalRecord, ...] = ()
    with asked() as context, bound_asking(ask):
        while True:
            try:
                with bound_request(replace(context, answers=answers)):
                    return (await run_tool(tool, case.arguments)).content
            except ToolError as error:
                return str(error)
            except PersonNeeded as needed:
                answers = (*answers, ApprovalRecord(_approval(needed.ask), decision))


def _approval(ask: Ask) -> Approval:
    return Approval(
        kind=ask.kind,
        id="run:input-1:response:call",
        thread_key="T1:C1:1.0",
        tool=ask.subject,
        title=ask.title,
        arguments=json.dumps(ask.details),
        sha256="",
        requester="U1",
        approvers=("U1",),
        expires=2_000_000_000,
    )


def _run(*command: str | Path) -> None:
    subprocess.run([str(each) for each in command], check=True)


if __name__ == "__main__":
    sys.exit(main())
