"""Questions that MCP servers ask during a call, from the server to the asker and back."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.core.approvals import Approval, ApprovalKind, Decision, Verdict
from bot.dev.model import Script, call, finish
from bot.runs.policy.run_approvals import AwaitingApproval
from bot.services.mcp import McpServer
from bot.store import Stores
from tests.support.redis import asked, decided
from tests.support.runs import Bot, answer, bot_with
from tests.support.sdk_server import RESERVED, library, served

ROOT = str(Path(__file__).parents[3])
LOAN = {"until": "2026-12-01", "copies": 2}
BORROWED = 'Emma: {"until":"2026-12-01","copies":2}'
RESERVE = call("town__reserve", {"title": "Emma"})


@pytest.fixture(autouse=True)
def nothing_reserved() -> None:
    RESERVED.clear()


@asynccontextmanager
async def bot_of(stores: Stores, made: Any = RESERVE, **entry: Any) -> AsyncGenerator[Bot]:
    """A bot whose model makes one call of the server; each run gets the same answers."""
    script = [call("acquire_tools", {"names": [made.items[0]["name"]]}), made, finish(answer())]
    async with served(library()) as url:
        server = McpServer(**{"url": url, "questions": True} | entry)
        async with bot_with(stores, Script(script), mcpServers={"town": server}) as bot:
            yield bot


def deciding(
    verdict: Verdict, filled_in: dict[str, Any] | None = None
) -> Callable[[Approval], Decision]:
    """What the asker says to a question; every call is approved."""

    def decide(approval: Approval) -> Decision:
        if approval.kind is ApprovalKind.INPUT:
            return Decision(verdict=verdict, by="U1", answer=filled_in)
        return Decision(verdict=Verdict.APPROVED, by="U1")

    return decide


async def test_the_asker_is_asked_and_the_call_goes_on_with_the_answer(stores: Stores) -> None:
    """(22.10) The question names the server; nothing of it is in what the thread reads."""
    async with bot_of(stores) as bot:
        bot.board.decide = deciding(Verdict.APPROVED, LOAN)
        await bot.ask("Reserve it!")
        [question] = [each for each in bot.board.asked if each.kind is ApprovalKind.INPUT]
        assert BORROWED in bot.outputs()[0]
    assert RESERVED == ["Emma"]
    assert question.title == "A question of town"
    assert question.details["message"] == "Reserve Emma?"
    assert [each["kind"] for each in question.details["form"]["fields"]] == ["date", "integer"]


async def test_another_worker_goes_on_with_the_answer(stores: Stores) -> None:
    """R3: neither the process nor the connection that asked is there any more."""
    async with served(library()) as url:
        entry = {"town": McpServer(url=url, questions=True)}
        script = [call("acquire_tools", {"names": ["town__reserve"]}), RESERVE, finish(answer())]
        request = asked()
        async with bot_with(stores, Script(script[:2]), mcpServers=entry) as bot:
            with pytest.raises(AwaitingApproval):
                await bot.ask(request)
            yes = Decision(verdict=Verdict.APPROVED, by="U1")
            assert not await decided(stores, bot.board.asked[-1], yes)
            with pytest.raises(AwaitingApproval):
                await bot.runner.answer(request)
            said = Decision(verdict=Verdict.APPROVED, by="U1", answer=LOAN)
            assert not await decided(stores, bot.board.asked[-1], said)
        async with bot_with(stores, Script(script[2:]), mcpServers=entry) as other:
            await other.runner.answer(request)
            assert BORROWED in other.outputs()[-1]
    assert RESERVED == ["Emma"]


@pytest.mark.parametrize("verdict", [Verdict.DENIED, Verdict.EXPIRED])
async def test_a_server_learns_that_nobody_answered(stores: Stores, verdict: Verdict) -> None:
    """(22.10) Refused or not answered in time: nothing is reserved, and the run goes on."""
    async with bot_of(stores) as bot:
        bot.board.decide = deciding(verdict)
        await bot.ask("Reserve it!")
        [output] = bot.outputs()
    assert RESERVED == []
    assert bot.board.finished[0].result == answer(), output


async def test_nobody_is_asked_unless_the_operator_lets_the_server(stores: Stores) -> None:
    """(22.10) The server is not told that people can be asked, and the model learns why it failed."""
    async with bot_of(stores, questions=False) as bot:
        bot.board.decide = deciding(Verdict.APPROVED, LOAN)
        await bot.ask("Reserve it!")
        assert [each.kind for each in bot.board.asked] == [ApprovalKind.CALL]
        assert not bot.board.asked[0].destructive
        assert "questions = true" in bot.outputs()[0]
    assert RESERVED == []
