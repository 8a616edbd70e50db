"""The model server of the benchmarks: `python -m bot.dev.model` prints its URL on the first line.

It plays one fixed conversation without delay and without checking requests: nine model calls a run,
three parallel tool calls in eight of them, then `complete_task`. If the tool is not offered at
first, the first of the nine calls acquires it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys

from .replies import Reply, calls, finish
from .request import ModelRequest
from .server import ResponsesServer

CALLING_TURNS = 8
CALLS_A_TURN = 3
ANSWER = {
    "summary": "The tools were called and all of them answered.",
    "key_points": ["Twenty-four calls were made."],
    "table": None,
    "charts": [],
    "sources": [],
    "gaps": [],
    "follow_ups": [],
    "confidence": "high",
}


class Bench:
    """A brain that makes three calls of one tool in each of eight turns, and then finishes."""

    def __init__(self, tool: str, arguments: str, answer: str = "") -> None:
        self._tool = tool
        self._calls = calls(*[(tool, arguments)] * CALLS_A_TURN)
        self._acquire = calls(("acquire_tools", {"names": [tool]}))
        self._end = finish(json.loads(answer) if answer else ANSWER)

    def __call__(self, request: ModelRequest) -> Reply:
        """Return the next turn, chosen by the length of the chain so that runs do not interfere."""
        if request.forced:
            return self._end
        if not any(each.get("name") == self._tool for each in request.tools):
            return self._acquire
        turn = len(request.parent.lineage()) if request.parent else _turns_before(request)
        return self._calls if turn % (CALLING_TURNS + 1) < CALLING_TURNS else self._end


def _turns_before(request: ModelRequest) -> int:
    """Return how many turns precede a request that carries its whole history."""
    outputs = len([item for item in request.input if item.get("type") == "function_call_output"])
    return -(-outputs // CALLS_A_TURN)


async def serve(options: argparse.Namespace) -> None:
    """Serve until the process ends."""
    brain = Bench(options.tool, options.arguments, options.answer)
    async with ResponsesServer.open(brain, port=options.port, strict=False) as api:
        sys.stdout.write(f"{api.url}\n{api.api_key}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


def main() -> None:
    """Parse the command line and serve."""
    parser = argparse.ArgumentParser(prog="python -m bot.dev.model", description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--tool", default="look", help="the tool that is called")
    parser.add_argument("--arguments", default="{}", help="its arguments, as JSON")
    parser.add_argument("--answer", default="", help="the answer at the end, as JSON")
    asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
