"""Stored chains as the loop relies on them: pairing, forks, caching, stateless replay (loop B)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from openai import AsyncOpenAI, BadRequestError
from openai.types.responses import Response

from bot.dev.model import Reply, ResponsesServer, Script, call, calls, incomplete, reasoning, text
from bot.dev.model.replies import Item


class Chat:
    """A server and a client for it."""

    def __init__(self, api: ResponsesServer, client: AsyncOpenAI) -> None:
        self.api = api
        self.client = client

    async def ask(self, given: Any, after: Response | None = None, **body: Any) -> Response:
        """Send one request, chained to `after`."""
        if after:
            body["previous_response_id"] = after.id
        answer: Response = await self.client.responses.create(model="m", input=given, **body)
        return answer


@asynccontextmanager
async def chat(*replies: Reply) -> AsyncGenerator[Chat]:
    """Yield a chat whose model answers with `replies`."""
    async with (
        ResponsesServer.open(Script(replies)) as api,
        AsyncOpenAI(base_url=api.url, api_key=api.api_key, max_retries=0) as client,
    ):
        yield Chat(api, client)


def outputs(response: Response, *texts: str) -> list[Item]:
    """Return outputs for the calls of a response."""
    ids = [item.call_id for item in response.output if item.type == "function_call"]
    return [
        {"type": "function_call_output", "call_id": call_id, "output": said}
        for call_id, said in zip(ids, texts, strict=True)
    ]


TWO = calls(("a", {}), ("b", {}))


async def test_a_chain_holds_every_item_once_in_order() -> None:
    """The conversation of a chain has every input and output once, in order."""
    async with chat(TWO, text("done")) as c:
        first = await c.ask("go")
        last = await c.ask(outputs(first, "1", "2"), first)
        types = [item["type"] for item in c.api.conversation(last.id)]
    assert types == [
        "message",
        "function_call",
        "function_call",
        "function_call_output",
        "function_call_output",
        "message",
    ]


async def test_an_unanswered_call_bricks_the_next_request_only() -> None:
    """B2: a missing output is refused by name; with the output the chain goes on."""
    async with chat(TWO, text("done")) as c:
        first = await c.ask("go")
        both = outputs(first, "1", "2")
        with pytest.raises(BadRequestError) as caught:
            await c.ask(both[:1], first)
        assert f"No tool output found for function call {both[1]['call_id']}." in str(caught.value)
        assert (caught.value.code, caught.value.param) == (None, "input")
        await c.ask(both, first)


async def test_a_second_output_for_a_call_is_refused() -> None:
    """A second output is refused in the same request and in a later one."""
    async with chat(call("a", {}), text("done")) as c:
        first = await c.ask("go")
        out = outputs(first, "1")
        with pytest.raises(BadRequestError, match="Duplicate function_call_output"):
            await c.ask([*out, *out], first)
        second = await c.ask(out, first)
        with pytest.raises(BadRequestError, match="Duplicate function_call_output"):
            await c.ask(out, second)


async def test_an_item_of_the_chain_is_not_sent_again() -> None:
    """Replaying a call that the chain holds is a duplicate item."""
    async with chat(call("a", {})) as c:
        first = await c.ask("go")
        replayed = [first.output[0].to_dict(), *outputs(first, "1")]
        with pytest.raises(BadRequestError, match="Duplicate item found with id fc_"):
            await c.ask(replayed, first)


async def test_chains_fork_and_each_branch_keeps_its_own_past() -> None:
    """H1: going back to the parent leaves a branch with unanswered calls behind."""
    async with chat(text("root"), TWO, text("other")) as c:
        root = await c.ask("one")
        await c.ask("two", root)
        other = await c.ask("three", root)
        said = [item.get("content") for item in c.api.conversation(other.id)]
    assert "two" not in str(said)
    assert "three" in str(said)


@pytest.mark.parametrize("status", ["unstored", "deleted", "failed", "forgotten"])
async def test_a_parent_that_cannot_be_continued(status: str) -> None:
    """B8: unknown, unstored, deleted and failed parents all get the same error."""
    async with chat(text("root")) as c:
        if status == "failed":
            c.api.faults.fail("response_failed")
        root = await c.ask("one", store=status != "unstored")
        if status == "deleted":
            await c.client.responses.delete(root.id)
        if status == "forgotten":
            c.api.responses.clear()
        with pytest.raises(BadRequestError) as caught:
            await c.ask("two", root)
    assert caught.value.code == "previous_response_not_found"


async def test_a_cut_off_response_can_be_continued() -> None:
    """G4: after `max_output_tokens` the chain goes on from the incomplete response."""
    async with chat(incomplete("max_output_tokens", text="Half"), text("the rest")) as c:
        half = await c.ask("go")
        assert half.incomplete_details
        assert half.incomplete_details.reason == "max_output_tokens"
        rest = await c.ask("Continue.", half)
    assert rest.output_text == "the rest"


async def test_no_data_retention_refuses_chains() -> None:
    """B8: the ZDR error differs from that of a missing parent."""
    async with chat(text("root")) as c:
        root = await c.ask("one")
        c.api.chains.zero_data_retention = True
        with pytest.raises(BadRequestError, match="Zero Data Retention"):
            await c.ask("two", root)


async def test_instructions_are_not_carried_over() -> None:
    """The model sees only the instructions of its own request."""
    async with chat() as c:
        seen = []
        c.api.brain = lambda request: seen.append(request.instructions) or text("ok")  # type: ignore[func-returns-value]
        root = await c.ask("one", instructions="Be brief.")
        await c.ask("two", root)
    assert seen == ["Be brief.", ""]


TOOL: Any = {
    "type": "function",
    "name": "look",
    "strict": False,
    "parameters": {"type": "object", "properties": {}},
}


async def test_cached_tokens_are_the_prefix_the_chain_sent_before() -> None:
    """E1: with the same tools and instructions all earlier input is cached, with new tools nothing."""
    async with chat(*[text("ok")] * 4) as c:
        first = await c.ask("one", tools=[TOOL], instructions="Be brief.")
        second = await c.ask("two", first, tools=[TOOL], instructions="Be brief.")
        other: Any = {**TOOL, "name": "other"}
        third = await c.ask("three", second, tools=[TOOL, other], instructions="Be brief.")
        fourth = await c.ask("four", third, tools=[TOOL, other], instructions="Be long.")
    used = [r.usage for r in (first, second, third, fourth)]
    assert all(used)
    cached = [u.input_tokens_details.cached_tokens for u in used if u]
    sent = [u.input_tokens for u in used if u]
    assert cached[:3] == [0, sent[0], 0]
    assert 0 < cached[3] < sent[2]
    assert sent == sorted(sent)


async def test_stateless_replay_needs_the_reasoning_verbatim() -> None:
    """B1: with `store=false` the client sends the sealed reasoning back unchanged, or is refused."""
    async with chat(reasoning("hm", call("a", {})), text("done")) as c:
        include: Any = {"store": False, "include": ["reasoning.encrypted_content"]}
        first = await c.ask("go", **include)
        ledger: list[Any] = [
            {"role": "user", "content": "go"},
            *[item.to_dict() for item in first.output],
            *outputs(first, "1"),
        ]
        altered = {**ledger[1], "encrypted_content": ledger[1]["encrypted_content"] + "x"}
        with pytest.raises(BadRequestError) as caught:
            await c.ask([ledger[0], altered, *ledger[2:]], **include)
        assert caught.value.code == "invalid_encrypted_content"
        with pytest.raises(BadRequestError, match="without its required 'reasoning' item"):
            await c.ask([ledger[0], *ledger[2:]], **include)
        with pytest.raises(BadRequestError, match="without its required following item"):
            await c.ask([*ledger[:2], {"role": "user", "content": "well?"}], **include)
        done = await c.ask(ledger, **include)
    assert done.output_text == "done"
    assert done.usage
    assert done.usage.input_tokens_details.cached_tokens > 0


async def test_until_waits_for_a_state() -> None:
    """Tests wait for a state of the server, not for seconds."""
    async with chat(text("ok")) as c:
        await c.ask("go")
        await c.api.until(lambda: c.api.requests[0].response_id in c.api.responses)
        with pytest.raises(TimeoutError):
            await c.api.until(lambda: False, timeout=0.05)
        received = c.api.requests[0]
    assert received.body["input"] == "go"
    assert received.headers["Authorization"].startswith("Bearer ")
    assert received.error is None
