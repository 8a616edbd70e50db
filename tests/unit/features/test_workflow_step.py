"""The step of Workflow Builder: question in, outputs out (C3), in the whole bot."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.core.outcome import Outcome, RunStatus, StopReason, Totals
from bot.dev.model import Script, call, finish, refusal
from bot.dev.workspace.store.state import Execution
from bot.features.workflow_step.step import _outputs, step_request
from bot.slack.intake.manifest import manifest
from tests.security.judge import calls, links
from tests.support.runs import answer
from tests.support.slack import Place, bot_in_slack

STEP = "answer_question"
OUTPUTS = list(manifest()["functions"][STEP]["output_parameters"]["properties"])
NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


async def ended(place: Place, **inputs: Any) -> Execution:
    """How an execution of the step ended."""
    execution = place.slack.execution(await place.slack.run_step(STEP, inputs, OUTPUTS))
    await place.slack.until(lambda: execution.is_over)
    return execution


async def test_a_step_returns_its_answer_to_the_workflow(redis_url: str) -> None:
    """All outputs that the manifest declares; nothing is posted anywhere."""
    async with bot_in_slack(Script([finish(answer("Two."))]), redis_url) as place:
        step = await ended(place, question="1+1?")
    assert step.outputs is not None
    assert (step.outputs["answer"], step.outputs["complete"]) == ("Two.", "yes")
    assert json.loads(step.outputs["data"])["summary"] == "Two."
    assert place.posted() == []
    assert not [e for e in place.slack.effects if e.method.startswith("assistant.threads")]


async def test_a_step_may_ask_for_data_in_a_form_of_its_own(redis_url: str) -> None:
    """C3: a JSON schema given at run time."""
    async with bot_in_slack(Script([finish({"n": 2})]), redis_url) as place:
        step = await ended(place, question="1+1?", schema=json.dumps(NUMBER))
    assert step.outputs is not None
    assert json.loads(step.outputs["data"]) == {"n": 2}


FREE = {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}
EVIL = "https://evil.example/?d=CANARY"


@pytest.mark.parametrize(
    "said", [EVIL, f"see <{EVIL}|x> now", f"[x]({EVIL})", "evil.example/CANARY", "<!channel> @here"]
)
async def test_a_later_step_posts_no_address_of_the_models(redis_url: str, said: str) -> None:
    """Reliability 11: workflows post outputs as they are, and Slack opens the addresses in them. What
    whoever made the workflow wrote is handed back letter by letter."""
    given = "https://site.example/a?b=c"
    script = Script([finish({"at": said}), finish({"at": given}), finish(answer(said))])
    async with bot_in_slack(script, redis_url) as place:
        schema = json.dumps(FREE)
        form = await ended(place, question="Where?", schema=schema)
        known = await ended(place, question=f"Where? {given}", schema=schema)
        text = await ended(place, question="Where?")
    assert json.loads((known.outputs or {})["data"]) == {"at": given}
    outputs = [*(form.outputs or {}).items(), *(text.outputs or {}).items()]
    assert len(outputs) == 2 * len(OUTPUTS)
    for name, output in outputs:
        assert (links([{"text": output}]), calls([{"text": output}])) == (set(), set()), name


@pytest.mark.parametrize(
    ("inputs", "why"),
    [
        ({}, "type a question"),
        ({"question": "1+1?", "schema": "{"}, "JSON schema”"),
        (
            {"question": "1+1?", "schema": '{"type": "wrong"}'},
            "The input “JSON schema”: the root must",
        ),
    ],
)
async def test_wrong_inputs_end_the_step_with_a_sentence(
    redis_url: str, inputs: dict[str, Any], why: str
) -> None:
    """Slack shows it to people; the model is not asked."""
    async with bot_in_slack(Script([]), redis_url) as place:
        step = await ended(place, **inputs)
    assert why in str(step.error)
    assert place.api.requests == []


async def test_a_run_without_an_answer_ends_the_step_as_failed(redis_url: str) -> None:
    async with bot_in_slack(Script([refusal("No.")]), redis_url) as place:
        step = await ended(place, question="?")
    assert "declined" in str(step.error)


async def test_a_lost_reply_ends_the_step_once(redis_url: str) -> None:
    """Slack completed it and the reply was lost: told that it is over, the bot is content."""
    async with bot_in_slack(Script([finish(answer())]), redis_url) as place:
        place.slack.faults.fail("functions.completeSuccess", after_effect=True)
        step = await ended(place, question="1+1?")
        await place.slack.until(
            lambda: [e for e in place.slack.effects if e.error == "execution_not_in_running_state"]
        )
    assert step.error is None


async def test_a_workflow_sees_no_channel(redis_url: str) -> None:
    """Reliability 9: nobody's rights follow from what the builder of a workflow put into it."""
    acquired = call("acquire_tools", {"names": ["read_channel"]})
    read = call("read_channel", {"channel": "general"})
    script = Script([acquired, read, finish(answer())])
    async with bot_in_slack(script, redis_url) as place:
        step = await ended(place, question="What is said in #general?")
    outputs = [i for i in place.api.requests[2].body["input"] if "output" in i]
    assert "asked by nobody in particular" in outputs[0]["output"]
    assert step.outputs is not None
    assert step.outputs["complete"] == "no"  # for later steps: nothing that was tried worked


@pytest.mark.parametrize(
    ("calls", "successes", "complete"),
    [(0, {}, "yes"), (2, {}, "no"), (2, {"read_channel": 1}, "yes")],
)
async def test_whether_a_step_is_complete_follows_from_the_whole_run(
    calls: int, successes: dict[str, int], complete: str
) -> None:
    """Also from calls of a worker that died: the one that ends the run has seen none of them."""
    request = await step_request("Fx1", {"question": "?"}, team="T1")
    outcome = Outcome(
        run_id="run_1",
        status=RunStatus.SUCCESS,
        stop_reason=StopReason.COMPLETED,
        result={"summary": "Two."},
        totals=Totals(tool_calls=calls, tools=successes),
    )
    assert _outputs(outcome, request)["complete"] == complete
