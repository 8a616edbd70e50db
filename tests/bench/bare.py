"""The bare loop that ours is measured against: what one would write on the SDK in an hour."""

from __future__ import annotations

import json
from typing import Any

from openai import AsyncOpenAI

from bot.agent.prompts import INSTRUCTIONS
from tests.bench.scene import MODEL, QUESTION, TOOLS, table


async def run(
    client: AsyncOpenAI, *, stream: bool = False, stateless: bool = False
) -> dict[str, Any]:
    previous: str | None = None
    items: list[Any] = [{"role": "user", "content": QUESTION}]
    while True:
        asked: Any = {
            "model": MODEL,
            "instructions": INSTRUCTIONS,
            "input": items,
            "tools": TOOLS,
        }
        if stateless:
            asked |= {"store": False, "include": ["reasoning.encrypted_content"]}
        else:
            asked["previous_response_id"] = previous
        if stream:
            async with await client.responses.create(**asked, stream=True) as events:
                async for event in events:
                    if event.type == "response.completed":
                        response = event.response
        else:
            response = await client.responses.create(**asked)
        previous = response.id
        items = [*items, *(each.to_dict() for each in response.output)] if stateless else []
        for item in response.output:
            if item.type != "function_call":
                continue
            if item.name == "complete_task":
                return dict(json.loads(item.arguments))
            output = table(**json.loads(item.arguments))
            items.append(
                {"type": "function_call_output", "call_id": item.call_id, "output": str(output)}
            )
