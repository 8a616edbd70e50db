"""The same run on pydantic-ai."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from contender import Run, Task, again_and_again, contend, tool_of
from openai import AsyncOpenAI
from pydantic import BaseModel
from pydantic_ai import Agent, ToolOutput, UsageLimits
from pydantic_ai.models.openai import OpenAIResponsesModel, OpenAIResponsesModelSettings
from pydantic_ai.providers.openai import OpenAIProvider


class Answer(BaseModel):
    """The result; it takes no schema with references."""

    summary: str
    key_points: list[str]
    table: dict[str, Any] | None
    charts: list[dict[str, Any]]
    sources: list[dict[str, Any]]
    gaps: list[str]
    follow_ups: list[str]
    confidence: str


@asynccontextmanager
async def opened(task: Task) -> AsyncGenerator[Run]:
    if task.stateless:
        settings = OpenAIResponsesModelSettings(openai_store=False)
    else:
        settings = OpenAIResponsesModelSettings(openai_previous_response_id="auto")
    async with AsyncOpenAI(base_url=task.url, api_key=task.key) as client:
        agent = Agent(
            OpenAIResponsesModel(task.model, provider=OpenAIProvider(openai_client=client)),
            instructions=task.instructions,
            model_settings=settings,
            tools=[tool_of(task)],
            output_type=ToolOutput(Answer, name="complete_task"),
        )
        limits = UsageLimits(request_limit=20)

        async def run() -> dict[str, Any]:
            if not task.stream:
                return (await agent.run(task.question, usage_limits=limits)).output.model_dump()
            async with agent.iter(task.question, usage_limits=limits) as nodes:
                async for node in nodes:
                    if Agent.is_model_request_node(node):
                        async with node.stream(nodes.ctx) as events:
                            async for _ in events:
                                pass
            assert nodes.result
            return nodes.result.output.model_dump()

        yield run


contend(again_and_again(opened))
