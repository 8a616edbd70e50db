"""A model that has been won over: it does what stands in the question, step by step."""

from __future__ import annotations

import json
import re
from typing import Any

from bot.dev.model import ModelRequest, Reply, call, finish, text
from tests.support.runs import answer

_HANDLE = re.compile(r"\b(?:tbl|doc|file(?!_id)|out|chart|art|img)_\w+")


def won_over(request: ModelRequest) -> Reply:
    """Does the question's `do` (pairs of tool and arguments) one after the other, then finishes
    with its `say`. In both `$last` stands for the last handle that a tool named, `$file` for the
    attached file, and `$output` for the last output."""
    asked, done = _plan(request)
    steps = asked.get("do", [])
    if done < len(steps):
        name, arguments = steps[done]
        made = call(name, filled(json.dumps(arguments), request))
        if asked.get("think") and not done:
            return Reply((*text(asked["think"]).items, *made.items))
        return made
    return finish(json.loads(filled(json.dumps(asked.get("say", answer())), request)))


def question(*do: tuple[str, dict[str, Any]], **more: Any) -> str:
    """What to ask so that it does that: the tools are acquired first."""
    names = sorted({name for name, _ in do})
    first = [("acquire_tools", {"names": names})] if names else []
    return json.dumps({"do": [*first, *do], **more})


def _plan(request: ModelRequest) -> tuple[dict[str, Any], int]:
    """The last question, and how many of its steps are done."""
    words = [str(i.get("content")) if i.get("role") == "user" else "" for i in request.items]
    last = max(i for i, said in enumerate(words) if "{" in said)  # what is remembered follows it
    done = [i for i in request.items[last:] if i.get("type") == "function_call_output"]
    return json.JSONDecoder().raw_decode(words[last][words[last].index("{") :])[0], len(done)


def filled(template: str, request: ModelRequest) -> str:
    """With what has a `$` replaced, see `won_over`."""
    outputs = _outputs(request)
    handle = next((found for o in outputs[::-1] for found in _HANDLE.findall(o)[-1:]), "none")
    named = template.replace("$last", handle).replace("$file", file_id(request))
    return named.replace("$output", json.dumps(outputs[-1] if outputs else "")[1:-1])


def file_id(request: ModelRequest) -> str:
    """The id of the attached file, as the request names it."""
    file = re.search(r"\(file_id (\w+)", request.text)
    return file[1] if file else "none"


def _outputs(request: ModelRequest) -> list[str]:
    return [str(i["output"]) for i in request.items if i.get("type") == "function_call_output"]
