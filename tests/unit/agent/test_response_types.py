"""C3: the entry point says what a run must return; a schema given at run time is as good as a model."""

from dataclasses import replace
from typing import Any

import pytest

from bot.agent.builtin.complete_task import ResponseType
from bot.core.answers import GIVEN, RESPONSE_TYPES, Answer
from bot.core.outcome import RunStatus, StopReason
from bot.core.request import Entry, Request
from bot.dev.model import Reply, Script, call, refusal, text
from tests.unit.agent.harness import bench

TOTALS: dict[str, Any] = {
    "type": "object",
    "properties": {"total": {"type": "integer", "minimum": 1}, "note": {"type": "string"}},
    "required": ["total"],
}
NOTE: dict[str, Any] = {
    "type": "object",
    "properties": {"note": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}},
    "required": ["note"],
}  # fmt: skip


async def wanted(**fields: Any) -> ResponseType:
    request = Request(
        entry=Entry.HEADLESS, team="T1", channel="C1", thread="1.0", ts="1.0", user="U1", text="?"
    )
    return await ResponseType.of(request.model_copy(update=fields))


async def run(response_type: ResponseType, script: Script) -> tuple[Any, list[dict[str, Any]]]:
    async with bench(script) as place:
        place.parts = replace(place.parts, response_type=response_type)
        ended = await place.run()
        return ended, [each.body for each in place.api.requests]


@pytest.mark.parametrize("name", RESPONSE_TYPES)
async def test_a_request_names_its_response_type(name):
    response_type = await wanted(response_type=name)
    assert response_type.model is RESPONSE_TYPES[name]
    assert response_type.text_field in RESPONSE_TYPES[name].model_fields


async def test_data_that_breaks_the_schema_goes_back_to_the_model():
    """C2: beyond what strict mode can say, too."""
    script = Script(
        [
            call("complete_task", {"total": 0, "note": None}),
            call("complete_task", {"total": 2, "note": None}),
        ]
    )
    ended, requests = await run(await wanted(response_schema=TOTALS), script)
    assert "total: 0 is less than the minimum of 1" in str(requests[1]["input"])
    assert (ended.status, ended.result.model_dump(mode="json")) == (
        RunStatus.SUCCESS,
        {"total": 2},
    )
    assert type(ended.result).__name__ == GIVEN


@pytest.mark.parametrize(
    ("schema", "name", "result"),
    [(NOTE, GIVEN, {"note": "It is 2."}), (TOTALS, "Answer", None)],
)
async def test_words_instead_of_data_are_kept_and_no_value_is_made_up(schema, name, result):
    """C4: where the schema has no place for words alone, they are an answer."""
    script = Script([text("It is 2."), text("Still 2."), text("Two!", disobey=True)])
    ended, _ = await run(await wanted(response_schema=schema), script)
    assert (ended.status, ended.stop_reason) == (RunStatus.PARTIAL, StopReason.MALFORMED_OUTPUT)
    assert type(ended.result).__name__ == name
    assert "It is 2." in str(ended.result.model_dump())
    if result:
        assert ended.result.model_dump(mode="json") == result


FIRST = text("Let me see.", disobey=True)
NOTHING = Reply((), disobey=True)


@pytest.mark.parametrize("stateless", [False, True])
@pytest.mark.parametrize(
    "then",
    [
        (text("Still 2.", disobey=True), "invalid_prompt"),  # the service refuses the forced call
        (text("Still 2.", disobey=True), "overloaded"),
        (text("Still 2.", disobey=True), "cut"),
        ("overloaded",),  # before anything was forced
        (text("Still 2.", disobey=True), refusal("I can't.")),
        (refusal("I can't."),),
        (NOTHING,) * 4,
        (call("complete_task", {"wrong": 1}),) * 4,
        (call("complete_task", {"wrong": 1}), text("Well, 2.", disobey=True)),
    ],
    ids=str,
)
async def test_whatever_follows_a_nudge_the_first_text_is_not_lost(
    then: tuple[Any, ...], stateless: bool
) -> None:
    """C4: it is the partial result, and never the reaction to a nudge; a refused forced call does not
    fail the run."""
    faults = [each for each in then if isinstance(each, str)]
    replies = [call("add", {"a": 1, "b": 1}), FIRST, *(r for r in then if r not in faults)]
    async with bench(Script(replies), stateless=stateless) as place:
        for fault in faults:
            place.api.faults.fail(fault, 99, skip=len(replies))
        ended = await place.run()
    assert (ended.status, ended.stop_reason) == (RunStatus.PARTIAL, StopReason.MALFORMED_OUTPUT)
    assert isinstance(ended.result, Answer)
    assert (ended.result.summary, ended.result.confidence) == ("Let me see.", "low")
