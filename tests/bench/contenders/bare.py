"""The bare loop that all are measured against: what one would write on the SDK in an hour."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from contender import Run, Task, again_and_again, contend, tool_of
from openai import AsyncOpenAI


@asynccontextmanager
async def opened(task: Task) -> AsyncGenerator[Run]:
    look_up = tool_of(task)

    async def run() -> dict[str, Any]:
        previous: str | None = None
        items: list[Any] = [{"role": "user", "content": task.question}]
        while True:
            asked: Any = {
                "model": task.model,
                "instructions": task.instructions,
                "input": items,
                "tools": task.tools,
            }
            if task.stateless:
                asked |= {"store": False, "include": ["reasoning.encrypted_content"]}
            else:
                asked["previous_response_id"] = previous
            if task.stream:
                async with await client.responses.create(**asked, stream=True) as events:
                    async for event in events:
                        if event.type == "response.completed":
                            response = event.response
            else:
                response = await client.responses.create(**asked)
            previous = response.id
            own = [each.to_dict() for each in response.output]
            items = [*items, *own] if task.stateless else []
            for item in response.output:
                if item.type != "function_call":
                    continue
                if item.name == "complete_task":
                    return dict(json.loads(item.arguments))
                output = await look_up(**json.loads(item.arguments))
                items.append(
                    {"type": "function_call_output", "call_id": item.call_id, "output": output}
                )

    async with AsyncOpenAI(base_url=task.url, api_key=task.key) as client:
        yield run


contend(again_and_again(opened))
