"""S12: schemas of others that were made to keep the bot busy. Whatever they hold, the event loop
goes on, and the check ends with a value or a sentence."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from bot.core.errors import ToolDefinitionError
from bot.library.interpreters import schemas
from bot.library.isolated.pool import warm_processes
from bot.services import given_schema
from bot.services.given_schema import given_model, given_models, validated
from bot.testing.conversation import asked
from tests.support.lag import loop_lag

BEARABLE = 0.05
"""Seconds that others may hold up the event loop."""


def root(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def doubled(keyword: str, times: int) -> dict[str, Any]:
    """A few references that stand for 2**times schemas."""
    definitions: dict[str, Any] = {"d0": {"type": "integer"}}
    for n in range(times):
        definitions[f"d{n + 1}"] = {keyword: [{"$ref": f"#/$defs/d{n}"}] * 2}
    return {**root(a={"$ref": f"#/$defs/d{times}"}), "$defs": definitions}


def within(inner: dict[str, Any], times: int, keyword: str = "anyOf") -> dict[str, Any]:
    for _ in range(times):
        inner = {keyword: [inner, {"type": "integer"}]}
    return inner


def deep(levels: int) -> Any:
    value: Any = "end"
    for _ in range(levels):
        value = {"a": value}
    return value


WORDY = "a" * 40 + "!"
OBJECTS = [{"k": n, "l": [n]} for n in range(8_000)]
CASES: dict[str, tuple[Any, Any]] = {
    "a pattern": (root(a={"type": "string", "pattern": "^(a+)+$"}), {"a": WORDY}),
    "names by a pattern": (
        {"type": "object", "propertyNames": {"pattern": "^(\\w+\\s?)*$"}},
        {WORDY: 1},
    ),
    "a pattern in a definition": (
        {**root(a={"$ref": "#/$defs/x"}), "$defs": {"x": {"pattern": "(x+x+)+y"}}},
        {"a": "x" * 60},
    ),
    "unique items": (root(a={"type": "array", "uniqueItems": True}), {"a": OBJECTS}),
    "doubled anyOf": (doubled("anyOf", 40), {"a": "no"}),
    "doubled not": (
        {**doubled("allOf", 40), "not": {"properties": {"a": {"$ref": "#/$defs/d40"}}}},
        {"a": 1},
    ),
    "nested anyOf": (root(a=within({"type": "string"}, 150)), {"a": [1] * 500}),
    "a circle of references": (
        {
            **root(a={"anyOf": [{"$ref": "#/$defs/x"}, {"$ref": "#/$defs/x"}]}),
            "$defs": {"x": root(a={"anyOf": [{"$ref": "#/$defs/x"}, {"$ref": "#/$defs/x"}]})},
        },
        deep(60),
    ),
    "a reference to itself": ({**root(a={"$ref": "#/$defs/x"}), "$defs": {"x": {"$ref": "#/$defs/x"}}}, {"a": 1}),
    "a reference elsewhere": (root(a={"$ref": "http://127.0.0.1:9/schema.json"}), {"a": 1}),
    "a long enumeration": (root(a={"enum": [{"n": n} for n in range(20_000)]}), {"a": {"n": -1}}),
    "unevaluated": ({**doubled("anyOf", 30), "unevaluatedProperties": False}, {"a": 1, "b": 2}),
    "a dynamic reference": ({"$dynamicAnchor": "n", **root(a={"$dynamicRef": "#n"})}, deep(90)),
    "a format": (root(a={"type": "string", "format": "idn-hostname"}), {"a": "é" * 200_000}),
    "a regex as data": (root(a={"type": "string", "format": "regex"}), {"a": "(" * 5_000}),
    "much data": (root(a={"type": "array", "items": {"type": "integer"}}), {"a": list(range(200_000))}),
    "long errors": (
        root(a={"allOf": [{"minItems": 10**9}] * 1_500}),
        {"a": ["x" * 100] * 2_000},
    ),
    "many names": (root(**{f"p{n}": {"type": "string"} for n in range(4_900)}), {}),
    "deep nesting": (root(a=within({"type": "string"}, 400, "allOf")), {"a": 1}),
    "deep data": (root(a={}), deep(150)),
    "a dialect of its own": (
        {"$schema": "http://json-schema.org/draft-04/schema#", **root(a={"enum": OBJECTS})},
        {"a": 1},
    ),
    "no schema at all": ({"type": "object", "properties": {"a": "(a+)+"}}, {"a": 1}),
}  # fmt: skip


@pytest.fixture(autouse=True)
def short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = replace(given_schema.LIMITS, cpu=0.2)
    monkeypatch.setattr(given_schema, "LIMITS", limits)


async def test_hostile_schemas_hold_nobody_up() -> None:
    """S12: neither reading a schema nor checking data blocks the loop over 50 ms, and each ends
    soon: with a value, or with a sentence that says why not."""
    held_up: dict[str, float] = {}
    slow: dict[str, float] = {}
    with asked():
        # Warm processes, or most of the time would go into starting them.
        async with warm_processes(), loop_lag() as lag:
            for name, (schema, value) in CASES.items():
                began, lag.longest = time.monotonic(), 0.0
                [model] = await given_models([("a tool", schema)])
                if isinstance(model, ToolDefinitionError):
                    assert "a tool" in str(model)
                else:
                    with suppress(ValidationError):
                        await validated(model, value)
                await lag.seen()
                if lag.longest >= BEARABLE:
                    held_up[name] = lag.longest
                if (seconds := time.monotonic() - began) >= 30:
                    slow[name] = seconds
    assert (held_up, slow) == ({}, {})


async def test_one_whose_check_takes_too_long_is_told_so() -> None:
    """S12: the model reads what to do about it."""
    model = await given_model(CASES["a pattern"][0])
    with pytest.raises(ValidationError, match="more time or memory than is allowed"):
        await validated(model, {"a": WORDY})
    assert (await validated(model, {"a": "aaa"})).root == {"a": "aaa"}


async def test_stop_ends_a_check_and_its_process() -> None:
    """S12: nothing goes on when whoever asked is gone."""
    model = await given_model(CASES["a pattern"][0])
    check = asyncio.create_task(validated(model, {"a": WORDY}))
    await asyncio.sleep(1)
    check.cancel()
    async with asyncio.timeout(5):
        await asyncio.gather(check, return_exceptions=True)


PARTS: st.SearchStrategy[dict[str, Any]] = st.deferred(
    lambda: st.one_of(
        st.sampled_from([{"type": "string"}, {"type": "integer", "minimum": 3}, {"enum": [1, "a"]}]),
        st.builds(lambda parts: root(**parts), st.dictionaries(st.sampled_from("abc"), PARTS, max_size=3)),
        st.builds(lambda part: {"type": "array", "items": part, "maxItems": 9}, PARTS),
        st.builds(lambda parts: {"anyOf": parts}, st.lists(PARTS, min_size=1, max_size=3)),
        st.builds(lambda parts: {"oneOf": parts}, st.lists(PARTS, min_size=1, max_size=3)),
        st.builds(lambda part: {"additionalProperties": part, "minProperties": 9}, PARTS),
    )
)  # fmt: skip
VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=9) | st.booleans(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from("abcd"), inner),
    max_leaves=200,
)


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(PARTS, VALUES)
def test_what_counts_as_cheap_is_cheap(part: Any, value: Any) -> None:
    """S12: of schemas that are checked in the bot's own process the weight times the size of the
    data bounds the work."""
    schema = {**root(a=part), "anyOf": [part, {}]}
    weight = schemas.weight(schema)
    assert weight is not None
    schemas.fitted({"type": "object"}, {})  # loads the validator
    most = 5_000 // weight
    if (size := schemas.size({"a": value}, most)) is None:
        return
    began = time.thread_time()
    with suppress(schemas.DoesNotFit):
        schemas.fitted(schema, {"a": value})
    took = time.thread_time() - began
    assert took < 0.002 + weight * size.values * 20e-6
