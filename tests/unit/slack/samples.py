"""Answers, outcomes and requests to render."""

from typing import Any

from bot.core.answers import Answer, Chart, Series, Source, Table
from bot.core.outcome import Outcome, RunStatus, StopReason, Totals
from bot.core.request import Entry, Request

REQUEST = Request(
    id="req_sample",
    entry=Entry.MENTION,
    team="T1",
    channel="C1",
    thread="1700000000.000100",
    ts="1700000000.000100",
    user="U1",
    text="How did sales go?",
)
TOTALS = Totals(
    model="gpt-5",
    turns=3,
    tool_calls=5,
    input_tokens=11_000,
    output_tokens=1_300,
    cost=0.0123,
    seconds=8.24,
)
CHART = Chart(
    title="Sales by region",
    kind="bar",
    labels=["North", "South"],
    series=[Series(name="2026", values=[10.0, 12.5])],
    image="art_png",
)


def answer(**changes: Any) -> Answer:
    fields = {
        "summary": "Sales rose by **12 %** to 4.2 M€.",
        "key_points": ["North grew most.", "South fell by `3 %`."],
        "table": Table(caption="By region", columns=["Region", "Sales"], rows=[["North", "10"]]),
        "charts": ["chart_1"],
        "sources": [
            Source(title="sales.csv", url="https://files.example/sales.csv", supports="the totals")
        ],
        "gaps": ["No figures for May."],
        "follow_ups": ["And by product?"],
        "confidence": "medium",
    }
    return Answer.model_validate(fields | changes)


def outcome(result: Answer | dict[str, Any] | None = None, **changes: Any) -> Outcome:
    result = answer() if result is None else result
    fields = {
        "run_id": "run_1",
        "status": RunStatus.SUCCESS,
        "stop_reason": StopReason.COMPLETED,
        "result": result if isinstance(result, dict) else result.model_dump(),
        "totals": TOTALS,
        "links": frozenset({"https://files.example/sales.csv"}),
        "charts": {"chart_1": CHART},
    }
    return Outcome.model_validate(fields | changes)
