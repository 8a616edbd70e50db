"""The tool by which the model asks its asker back."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bot.features.ask_person.question import (
    MAX_OPTION,
    MAX_QUESTION,
    MOST_OPTIONS,
    PersonQuestion,
    told,
)
from bot.toolkit import Reads, ToolError, ToolResult, current_request, tool


@tool(
    group="agent",
    summary="Ask who asked you, with options, where a wrong guess would be dear",
    safety=Reads(repeatable=False, asks=True),
    title="Ask: {question}",
)
async def ask_person(
    question: Annotated[
        str,
        Field(
            min_length=1, max_length=MAX_QUESTION, description="One question, in their language."
        ),
    ],
    options: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=MAX_OPTION)]],
        Field(max_length=MOST_OPTIONS, description="Short likely answers; may be []."),
    ],
    otherwise: Annotated[
        str,
        Field(
            min_length=1, max_length=MAX_QUESTION, description="What you assume if nobody answers."
        ),
    ],
    several: Annotated[
        bool, Field(description="Whether more than one option can be right.")
    ] = False,
) -> ToolResult:
    """Ask the person whose request this is, and wait for the answer, for hours if need be. Only where
    a wrong guess would be dear: a change, money, much work in vain. Never for what a tool can find,
    never for taste or a yes to go on; at most twice, and alone in a response."""
    asked = PersonQuestion.of(question, options, otherwise, several)
    decision = next((record.decision for record in current_request().answers), None)
    if decision is None:
        raise ToolError(f"Nobody can be asked here. {asked.assume}")
    return told(asked, decision)
