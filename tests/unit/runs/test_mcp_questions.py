"""Questions that MCP servers ask during a call, from the server to the asker and back."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.agent.events import ToolProgress
from bot.core.approvals import CALL, Approval, Decision, Verdict
from bot.core.errors import ToolError
from bot.core.outcome import RunStatus
from bot.dev.model import ModelRequest, Reply, Script, call, finish
from bot.features.server_questions.hook import INPUT
from bot.mcp import McpServer, open_mcp_servers
from bot.runs.policy.access import Policy
from bot.runs.policy.run_approvals import AwaitingApproval
from bot.store import Stores
from bot.testing.tools import run_tool
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
async def bot_of(
    stores: Stores, made: Any = RESERVE, *, access: Policy | None = None, **entry: Any
) -> AsyncGenerator[Bot]:
    """A bot whose model makes one call of the server; each run gets the same answers."""
    script = [call("acquire_tools", {"names": [made.items[0]["name"]]}), made, finish(answer())]
    async with served(library()) as url:
        server = McpServer(**{"url": url, "questions": True} | entry)
        async with bot_with(
            stores, Script(script), mcpServers={"town": server}, access=access or Policy()
        ) as bot:
            yield bot


def deciding(
    verdict: Verdict, filled_in: dict[str, Any] | None = None
) -> Callable[[Approval], Decision]:
    """What the asker says to a question; every call is approved."""

    def decide(approval: Approval) -> Decision:
        if approval.kind == INPUT:
            return Decision(verdict=verdict, by="U1", answer=filled_in)
        return Decision(verdict=Verdict.APPROVED, by="U1")

    return decide


@pytest.mark.parametrize("questions", [True, "live"])
async def test_the_asker_is_asked_and_the_call_goes_on_with_the_answer(
    stores: Stores, questions: bool | str
) -> None:
    """(22.10) The question names the server; nothing of it is in what the thread reads. With "live"
    the same server asks while the call runs, in the response that it has begun."""
    async with bot_of(stores, questions=questions) as bot:
        bot.board.decide = deciding(Verdict.APPROVED, LOAN)
        await bot.ask("Reserve it!")
        [question] = [each for each in bot.board.asked if each.kind == INPUT]
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


async def test_a_server_learns_that_the_asker_refused(stores: Stores) -> None:
    """(22.10) Nothing is reserved, and the run goes on."""
    async with bot_of(stores) as bot:
        bot.board.decide = deciding(Verdict.DENIED)
        await bot.ask("Reserve it!")
        [output] = bot.outputs()
    assert RESERVED == []
    assert bot.board.finished[0].result == answer(), output


@pytest.mark.parametrize("questions", [True, "live"])
async def test_the_asker_changes_nothing_that_somebody_else_approved(
    stores: Stores, questions: bool | str
) -> None:
    """S5: where others approve, they saw the arguments. What the asker fills in they would never see,
    so nobody is asked, and nothing is reserved."""
    async with bot_of(stores, questions=questions, access=Policy(approvers=("U9",))) as bot:
        bot.board.decide = lambda approval: Decision(
            verdict=Verdict.APPROVED, by=approval.approvers[0], answer=LOAN
        )
        await bot.ask("Reserve it!")
        assert [each.approvers for each in bot.board.asked] == [("U9",)]
    assert RESERVED == []


async def test_nobody_is_asked_unless_the_operator_lets_the_server(stores: Stores) -> None:
    """(22.10) The server is not told that people can be asked, and the model learns why it failed."""
    async with bot_of(stores, questions=False) as bot:
        bot.board.decide = deciding(Verdict.APPROVED, LOAN)
        await bot.ask("Reserve it!")
        assert [each.kind for each in bot.board.asked] == [CALL]
        assert not bot.board.asked[0].destructive
        assert "questions = true" in bot.outputs()[0]
    assert RESERVED == []


async def test_without_the_feature_servers_are_told_that_nobody_can_be_asked(
    stores: Stores,
) -> None:
    """(architecture) Whatever bot.toml says of the server; the model learns why it failed."""
    async with served(library()) as url:
        servers = {"town": McpServer(url=url, questions=True)}
        async with open_mcp_servers(servers, stores.mcp) as opened:
            await opened.live_statuses()
            [reserve] = [tool for tool in await opened.tools() if tool.name == "town__reserve"]
            with pytest.raises(ToolError, match="puts no questions of servers to people"):
                await run_tool(reserve, {"title": "Emma"})
    assert RESERVED == []


def old_server(notes: Path, **entry: Any) -> McpServer:
    return McpServer(
        **{
            "command": sys.executable,
            "args": ("-m", "tests.support.old_mcp", str(notes)),
            "env": {"PYTHONPATH": ROOT},
            "questions": True,
            "timeout": 5,
            "read_only": ("*",),
        }
        | entry
    )


@asynccontextmanager
async def old_bot(stores: Stores, tool: str, server: McpServer) -> AsyncGenerator[Bot]:
    """A bot whose model calls a tool of a server before 2026-07-28, once for each question."""
    calls = [call(f"town__{tool}", {}), finish(answer())]
    script = Script([call("acquire_tools", {"names": [f"town__{tool}"]}), *calls, *calls, *calls])
    async with bot_with(stores, script, mcpServers={"town": server}) as bot:
        yield bot


async def test_an_old_server_waits_for_the_answer_longer_than_for_anything_else(
    stores: Stores, tmp_path: Path
) -> None:
    """(22.10) The call keeps its worker; the time in which the person thinks is not the server's."""
    server = old_server(tmp_path / "notes", timeout=1)
    async with old_bot(stores, "book", server) as bot:
        running = asyncio.create_task(bot.ask("Book!"))
        question = await until(lambda: bot.board.asked and bot.board.asked[-1])
        await asyncio.sleep(1.5)
        said = Decision(verdict=Verdict.APPROVED, by="U1", answer={"day": "2026-12-01"})
        assert not await decided(stores, question, said)
        await running
        assert '{"action": "accept", "content": {"day": "2026-12-01"}}' in bot.outputs()[-1]
        assert {each.approval.id for each in bot.board.settled} == {question.id}


async def test_the_model_learns_that_the_asker_was_not_asked(
    stores: Stores, tmp_path: Path
) -> None:
    """S8: an old server is told that the asker declined, and says so; they never saw the question."""
    async with old_bot(stores, "log_in", old_server(tmp_path / "notes")) as bot:
        await bot.ask("Log in!")
        assert bot.board.asked == []
        assert '{"action": "decline"}' in bot.outputs()[-1]
        assert "it asks for a secret (password)" in bot.outputs()[-1]


async def test_an_answer_is_for_the_question_that_was_shown(stores: Stores, tmp_path: Path) -> None:
    """S5: the worker dies while an old server waits, and the call, which only reads, is made again.
    The server asks something else by now: the answer to what it asked before is not given."""

    def server(question: str) -> McpServer:
        env = {"PYTHONPATH": ROOT, "QUESTION": question}
        return old_server(tmp_path / "notes", env=env)

    request = asked()
    async with old_bot(stores, "book", server("Book for 2?")) as bot:
        running = asyncio.create_task(bot.ask(request))
        await until(lambda: bot.board.asked)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        [before] = bot.board.asked
        said = Decision(verdict=Verdict.APPROVED, by="U1", answer={"day": "2026-12-01"})
        assert not await decided(stores, before, said)
    entry = {"town": server("Book for 200?")}
    async with bot_with(stores, Script([finish(answer())]), mcpServers=entry) as other:
        running = asyncio.create_task(other.runner.answer(request))
        [now] = await until(lambda: other.board.asked)
        assert now.details["message"] == "Book for 200?"
        assert now.expires <= time.time() + 600  # a worker waits no longer, whatever the card says
        assert not await decided(stores, now, Decision(verdict=Verdict.DENIED, by="U1"))
        await running
    assert (tmp_path / "notes").read_text().splitlines()[-1] == '{"action": "decline"}'


async def test_nobody_answers_the_question_of_another_call(stores: Stores, tmp_path: Path) -> None:
    """S9: an old server does not say which call its question belongs to. Two people whose calls run
    at once get one each, with their own words."""

    def brain(request: ModelRequest) -> Reply:
        if "town__book" not in [each["name"] for each in request.body["tools"]]:
            return call("acquire_tools", {"names": ["town__book"]})
        is_answered = '"action"' in str(request.body["input"])
        return finish(answer()) if is_answered else call("town__book", {})

    server = old_server(tmp_path / "notes")
    async with bot_with(stores, brain, mcpServers={"town": server}) as bot:
        asking = [
            asyncio.create_task(bot.ask(asked(thread=f"1.{n}", user=f"U{n}"))) for n in (1, 2)
        ]
        await until(lambda: len(bot.board.asked) == 2)
        for question in bot.board.asked:
            [user] = question.approvers
            day = {"day": f"2026-12-0{user[1:]}"}
            assert not await decided(
                stores, question, Decision(verdict=Verdict.APPROVED, by=user, answer=day)
            )
        await asyncio.gather(*asking)
        said = {str(each.body["input"]) for each in bot.api.requests}
    for n in (1, 2):
        assert any(f"2026-12-0{n}" in each and f"2026-12-0{3 - n}" not in each for each in said)


async def test_stop_ends_a_call_that_waits_for_a_person(stores: Stores, tmp_path: Path) -> None:
    """R5: at once; a question that comes afterwards reaches nobody."""
    async with old_bot(stores, "book", old_server(tmp_path / "notes")) as bot:
        request = asked()
        running = asyncio.create_task(bot.ask(request))
        await until(lambda: bot.board.asked)
        await stores.signals.request_cancel(request.thread_key, request.id, "U1")
        async with asyncio.timeout(5):
            outcome = await running
    assert outcome.status is RunStatus.CANCELLED


@pytest.mark.parametrize(
    ("tool", "verdict", "output"),
    [
        ("pay", Verdict.APPROVED, '{"action": "accept"}'),
        ("pay_first", Verdict.APPROVED, "Paid before."),
        ("pay_first", Verdict.DENIED, "did not open the page"),
    ],
)
async def test_pages_of_an_old_server(
    stores: Stores, tmp_path: Path, tool: str, verdict: Verdict, output: str
) -> None:
    """(22.10) Asked during the call, or as an error after which the call is made again."""
    async with old_bot(stores, tool, old_server(tmp_path / "notes")) as bot:
        bot.board.decide = deciding(verdict)
        await bot.ask("Pay!")
        [question] = bot.board.asked
        assert question.details["url"] == "https://pay.example.com/p/1"
        assert output in bot.outputs()[-1]


async def test_progress_of_a_call_is_shown_on_its_card(stores: Stores, tmp_path: Path) -> None:
    """(22.10) The server's words on one line, without what nobody sees."""
    async with old_bot(stores, "work", old_server(tmp_path / "notes")) as bot:
        await bot.ask("Work!")
        shown = bot.board.of(ToolProgress)
    assert shown[0].text == "step 1 of 3"
    assert shown[0].share == pytest.approx(1 / 3)


async def until(found: Callable[[], Any]) -> Any:
    async with asyncio.timeout(10):
        while not (it := found()):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    return it
