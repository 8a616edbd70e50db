"""States that older programs kept can be gone on with (A4)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from bot.agent.events import Recorded
from bot.agent.state import LoopState
from bot.core.chain import Item, LedgerEntry
from bot.core.outcome import RunStatus, StopReason
from bot.dev.model import Script, finish, text
from tests.unit.agent.harness import ANSWER, Bench, bench

MID_TURN = """
{"version":1,"transition":"started","turn":1,"sent_back":0,"parent":null,"pending":[{"role":"user","content":"1+1?"}],"acquired":[],"links":[],"usage":{"input_tokens":1566,"cached_tokens":0,"output_tokens":18,"reasoning_tokens":0,"web_searches":0,"file_searches":0,"containers":[]},"last_usage":{"input_tokens":1566,"cached_tokens":0,"output_tokens":18,"reasoning_tokens":0,"web_searches":0,"file_searches":0,"containers":[]},"cost":0.001566,"tool_calls":2,"malformed":0,"failed_turns":0,"warned":false,"force_finish":false,"closing":null,"fallback":0,"task":{"role":"user","content":"1+1?"},"restart":"","went_on":false,"overflowed":false,"parent_missed":false,"open":{"response":{"id":"resp_5d557d23058fb6dab05c6a641be1d6b957936af73b45a9c7","items":[{"id":"fc_2e1d89840858b8dd05d70e43b8ab6cc0598990bf05608a9d","type":"function_call","status":"completed","arguments":"{\\"a\\":1,\\"b\\":1}","call_id":"call_3facdee17646b9fd5036c317","name":"add"},{"id":"fc_e90b6d76b7e91324615633f4bca039210cdb6a226efb2931","type":"function_call","status":"completed","arguments":"{\\"name\\":\\"x\\"}","call_id":"call_37b948415081379c02179550","name":"change"}],"usage":{"input_tokens":1566,"cached_tokens":0,"output_tokens":18,"reasoning_tokens":0,"web_searches":0,"file_searches":0,"containers":[]},"model":"gpt-5.4-mini","incomplete":null},"outputs":[{"call_id":"call_3facdee17646b9fd5036c317","tool":"add","text":"2","ok":true,"cancelled":false,"blocked":false,"ends":null,"acquired":[],"links":[],"restart":"","mark":"","note":"","result":null}],"begun":["call_37b948415081379c02179550"]}}
"""
"""Kept by version 1 while a change was being made: one call has its output, the other was begun."""

ACCEPTED = """
{"version":1,"transition":"tools_answered","turn":2,"sent_back":0,"parent":"resp_df99e19e2fdfa4ab0092cf377714b0fa9e6cb58e1d2949c1","pending":[{"type":"function_call_output","call_id":"call_8eb8a7626c3e1bc07fb163a9","output":"Accepted."}],"acquired":[],"links":[],"usage":{"input_tokens":3162,"cached_tokens":1566,"output_tokens":56,"reasoning_tokens":0,"web_searches":0,"file_searches":0,"containers":[]},"last_usage":{"input_tokens":1596,"cached_tokens":1566,"output_tokens":38,"reasoning_tokens":0,"web_searches":0,"file_searches":0,"containers":[]},"cost":0.003162,"tool_calls":2,"malformed":0,"failed_turns":0,"warned":false,"force_finish":false,"closing":null,"fallback":0,"task":{"role":"user","content":"1+1?"},"restart":"","went_on":false,"overflowed":false,"parent_missed":false,"open":null}
"""
"""Kept by version 1 when a result was taken; of the result it holds nothing."""

NUDGED = """
{"version":1,"transition":"nudged","turn":1,"sent_back":0,"parent":null,"pending":[{"role":"user","content":"1+1?"},{"role":"developer","content":"Your text was not delivered."}],"acquired":[],"links":[],"usage":{"input_tokens":1566,"cached_tokens":0,"output_tokens":22,"reasoning_tokens":0,"web_searches":0,"file_searches":0,"containers":[]},"last_usage":{"input_tokens":1566,"cached_tokens":0,"output_tokens":22,"reasoning_tokens":0,"web_searches":0,"file_searches":0,"containers":[]},"cost":0.001566,"tool_calls":0,"malformed":0,"failed_turns":0,"warned":false,"force_finish":false,"closing":null,"fallback":0,"task":{"role":"user","content":"1+1?"},"restart":"","went_on":false,"overflowed":false,"parent_missed":false,"open":null}
"""


def left(place: Bench, stored: str, *entries: tuple[Item, ...]) -> None:
    """Version 1 has left the run there, with these entries in the ledger."""
    for items in (({"role": "user", "content": "1+1?"},), *entries):
        entry = LedgerEntry(run_id="run_1", items=items)
        place.saved.append(Recorded(LoopState(), entry))
    place.states.append(LoopState.model_validate_json(stored))


async def test_a_turn_left_by_version_1_is_gone_on_with() -> None:
    """A4 B4: what was begun is not begun again, what has its output keeps it, and what the run had
    added before is in its items."""
    calls = tuple(json.loads(MID_TURN)["open"]["response"]["items"])
    async with bench(Script([finish(ANSWER)]), stateless=True) as place:
        left(place, MID_TURN, calls)
        ended = await place.resume()
    first, second = place.outputs().values()
    assert first == "2"
    assert second.startswith("Unknown: the bot was interrupted")
    assert place.gate.log == []
    assert ended.status is RunStatus.SUCCESS
    assert ended.new_items[:2] == calls


@pytest.mark.parametrize("stateless", [False, True])
async def test_a_result_that_version_1_had_accepted_is_the_result(stateless: bool) -> None:
    """R1: it is in the ledger, as the arguments of its call; no model is asked."""
    arguments = json.dumps(ANSWER | {"summary": "Two, as I said."})
    call: dict[str, Any] = {"type": "function_call", "name": "complete_task"}
    call |= {"call_id": "call_8eb8a7626c3e1bc07fb163a9", "arguments": arguments}
    output = json.loads(ACCEPTED)["pending"][0]
    async with bench(Script([]), stateless=stateless) as place:
        left(place, ACCEPTED, (call,), (output,))
        ended = await place.resume()
        assert place.api.requests == []
    assert (ended.status, ended.stop_reason) == (RunStatus.SUCCESS, StopReason.COMPLETED)
    assert ended.result is not None
    assert ended.result.model_dump()["summary"] == "Two, as I said."


async def test_a_nudge_of_version_1_counts() -> None:
    """C4: the second text is followed by a forced result, whoever nudged first."""
    async with bench(Script([text("It is 2."), finish(ANSWER)])) as place:
        left(place, NUDGED)
        await place.resume()
    assert place.api.requests[-1].body["tool_choice"]["name"] == "complete_task"


def test_a_state_from_the_future_is_refused() -> None:
    """A4: half of it would be lost without a word."""
    with pytest.raises(ValidationError, match="newer than this program"):
        LoopState.model_validate_json('{"version": 3, "turn": 1}')


def test_what_is_kept_can_be_read_again() -> None:
    """A4: each field survives."""
    state = LoopState.model_validate_json(MID_TURN)
    assert LoopState.model_validate_json(state.model_dump_json()) == state
    assert state.version == 2
