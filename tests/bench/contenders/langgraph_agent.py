"""The same run on langgraph."""

from __future__ import annotations

import json
import warnings
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from contender import Run, Task, again_and_again, contend, tool_of
from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import create_react_agent


@asynccontextmanager
async def opened(task: Task) -> AsyncGenerator[Run]:
    async def complete(**arguments: Any) -> str:
        return json.dumps(arguments)

    final = StructuredTool(
        name="complete_task",
        description="End the task with its result.",
        args_schema=task.tools[1]["parameters"],
        coroutine=complete,
        return_direct=True,
    )
    model = ChatOpenAI(
        model=task.model,
        base_url=task.url,
        api_key=task.key,
        use_responses_api=True,
        use_previous_response_id=not task.stateless,
        store=not task.stateless,
        streaming=task.stream,
    )
    with warnings.catch_warnings(action="ignore"):
        tools = [StructuredTool.from_function(coroutine=tool_of(task)), final]
        agent = create_react_agent(model, tools, prompt=task.instructions)

    async def run() -> dict[str, Any]:
        asked: Any = {"messages": [("user", task.question)]}
        how: Any = {"recursion_limit": 60}
        if task.stream:
            async for mode, part in agent.astream(asked, how, stream_mode=["messages", "values"]):
                if mode == "values":
                    state = part
        else:
            state = await agent.ainvoke(asked, how)
        return dict(json.loads(state["messages"][-1].content))

    yield run


contend(again_and_again(opened))
