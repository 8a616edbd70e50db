"""The same run on openai-agents."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from agents import (
    Agent,
    FunctionTool,
    ModelSettings,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    function_tool,
)
from contender import Run, Task, again_and_again, contend, tool_of
from openai import AsyncOpenAI


@asynccontextmanager
async def opened(task: Task) -> AsyncGenerator[Run]:
    async def complete(_context: Any, arguments: str) -> str:
        return arguments

    final = task.tools[1]
    async with AsyncOpenAI(base_url=task.url, api_key=task.key) as client:
        agent = Agent(
            name="bench",
            instructions=task.instructions,
            model=OpenAIResponsesModel(task.model, client),
            model_settings=ModelSettings(store=not task.stateless),
            tools=[
                function_tool(tool_of(task)),
                FunctionTool("complete_task", "", final["parameters"], complete),
            ],
            tool_use_behavior={"stop_at_tool_names": ["complete_task"]},
        )
        config = RunConfig(tracing_disabled=True)
        how: Any = {
            "max_turns": 20,
            "run_config": config,
            "auto_previous_response_id": not task.stateless,
        }

        async def run() -> dict[str, Any]:
            if task.stream:
                result: Any = Runner.run_streamed(agent, task.question, **how)
                async for _ in result.stream_events():
                    pass
            else:
                result = await Runner.run(agent, task.question, **how)
            return dict(json.loads(result.final_output))

        yield run


contend(again_and_again(opened))
