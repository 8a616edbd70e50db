"""Check of the model server by tiny calls: it answers, calls a tool, and knows the conversation.

A server's description of a model proves little: some describe models that they cannot run, others
describe none and work.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace

from bot.agent import prompts
from bot.agent.builtin.complete_task import ResponseType
from bot.agent.window import portable
from bot.app.run_setup import responses_model
from bot.app.tool_loading import tool_catalogue
from bot.core.answers import Answer
from bot.core.chain import Item
from bot.core.check import SECONDS, Check, ok, problem, warning
from bot.core.errors import ConfigurationError, ModelError, ModelErrorKind, ToolDefinitionError
from bot.model import ModelRequest, ModelResponse, ServerTraits
from bot.model.client import ResponsesModel, sdk_client
from bot.model.errors import from_exception
from bot.model.listing import describes, listed_models
from bot.model.sdk import APIStatusError, AsyncOpenAI, OpenAIError
from bot.settings import NO_MODEL, Settings
from bot.settings.checks import check_prices, unpriced_models
from bot.text.token_estimate import estimated_tokens

_GUIDE = "docs/models.md says what servers need"
_MOST_NAMED = 5
_FEWEST_REQUESTS = 2  # that must fit into a window
_TOOL_NAME = "report"
_TOOL = {
    "type": "function",
    "name": _TOOL_NAME,
    "description": "Report that you are there.",
    "strict": True,
    "parameters": {
        "type": "object",
        "properties": {"state": {"type": "string"}},
        "required": ["state"],
        "additionalProperties": False,
    },
}
_STATE = "amber-27"  # which nobody guesses who does not see the first question
_ASKED: Item = {"role": "user", "content": f"Call report with the state {_STATE}."}
_ASKED_AGAIN: Item = {
    "role": "user",
    "content": "Thank you. Call it once more, with the same state.",
}
_MISSING_KEY = "create a key on the service's page and set OPENAI_API_KEY"
_FAILING = (
    "look at the service's status page, or at the log of your own server; OPENAI_FALLBACK_MODELS are "
    "asked when a model fails"
)
_BUSY = "try again in a minute; if it stays, raise the rate limit of the key on the service's page"
_FORBIDDEN = "the key may not do this, or the network or country is blocked: do what it said"
_UNREACHED = "check the network, and OPENAI_BASE_URL if you set it"


async def examine_model(settings: Settings) -> list[Check]:
    """Make one or two tiny calls to each model, which cost a fraction of a cent."""
    if not settings.has_model:
        return [problem("OPENAI_API_KEY", "is not set", NO_MODEL)]
    key = settings.openai_api_key
    async with sdk_client(
        key.get_secret_value() if key else "none", settings.openai_base_url, max_retries=0
    ) as client:
        try:
            async with asyncio.timeout(SECONDS):
                listed = await listed_models(client)
        except TimeoutError:
            listed = None
        checks = [
            check
            for name in settings.model_names
            for check in await _Examination(settings, client, name, listed).checks()
        ]
    return [*checks, _prices(settings)]


def _prices(settings: Settings) -> Check:
    fix = "set [model] price in bot.toml; until then, costs are neither shown nor limited"
    try:
        check_prices(settings)
    except ConfigurationError as error:
        return problem(
            "prices", str(error), "set it in bot.toml, or remove the limits in dollars there"
        )
    if unknown := unpriced_models(settings):
        return warning("prices", f"the price of {', '.join(unknown)} is not known", fix)
    return ok("prices", "are known for every model")


@dataclass(frozen=True, slots=True)
class _Examination:
    """An examination of the model `name`; `listed` are the server's models with their windows."""

    settings: Settings
    client: AsyncOpenAI
    name: str
    listed: Mapping[str, int | None] | None

    @property
    def subject(self) -> str:
        return f"model {self.name}"

    async def checks(self) -> list[Check]:
        """Return the checks; a single one when the first call fails."""
        traits = ServerTraits(stateless=self.settings.model.stateless)
        model = responses_model(self.settings, self.client, traits)
        try:
            first = await self._call(model, self._request(_ASKED))
            forgets = self.settings.openai_base_url and await self._forgets(model, first)
        except TimeoutError:
            seconds = self.settings.limits.turn_seconds
            fix = "if the server is slow, allow more: [limits] turn_seconds in bot.toml"
            return [problem(self.subject, f"a small question took more than {seconds:g} s", fix)]
        except ModelError as error:
            return [await self._failure(error)]
        if forgets:
            text = "ignores previous_response_id: it answers without what was said before"
            return [problem(self.subject, text, "set stateless = true under [model] in bot.toml")]
        lines = [self._answer(first), await self._name(), self._window(), *self._traits(traits)]
        unusual = [line for line in lines if line]
        return unusual or [ok(self.subject, "answers, and calls a tool when asked to")]

    def _request(self, *items: Item) -> ModelRequest:
        stored = not self.settings.model.stateless
        return ModelRequest(
            model=self.name,
            instructions="You are being tested. Be brief.",
            input=items,
            tools=(_TOOL,),
            forced_tool=_TOOL_NAME,
            store=stored,
        )

    async def _call(self, model: ResponsesModel, request: ModelRequest) -> ModelResponse:
        """Return the response. Raises ModelError and TimeoutError."""
        async with (
            asyncio.timeout(self.settings.limits.turn_seconds),
            aclosing(model.respond(request)) as parts,
        ):
            async for part in parts:
                if isinstance(part, ModelResponse):
                    return part
        raise RuntimeError("a model must end with a response")

    async def _forgets(self, model: ResponsesModel, first: ModelResponse) -> bool:
        """Continue the conversation as a run does: on the chain, else with all of it.

        Return whether the model knows the conversation only when it is sent with the request.
        """
        outputs = (
            {"type": "function_call_output", "call_id": call["call_id"], "output": "Noted."}
            for call in first.calls
        )
        new = (*outputs, _ASKED_AGAIN)
        chained = replace(self._request(*new), previous_response_id=first.id)
        is_suspect = False
        for _ in range(2):  # a service may store a response late
            if model.traits.stateless:
                break
            try:
                second = await self._call(model, chained)
            except ModelError as error:
                if error.kind is not ModelErrorKind.MISSING_PARENT:
                    raise
                await asyncio.sleep(0 if model.traits.stateless else 1)
            else:
                is_suspect = _knows_state(first) and not _knows_state(second)
                if not is_suspect:
                    return False
                break
        whole = self._request(_ASKED, *portable(first.items), *new)
        return _knows_state(await self._call(model, replace(whole, store=False))) and is_suspect

    async def _failure(self, error: ModelError) -> Check:
        """Return the problem that a failed call shows."""
        text, fix = f"a small question fails: {error}", f"do what it said; {_GUIDE}"
        match error.kind:
            case ModelErrorKind.AUTHENTICATION if error.detail.startswith("HTTP 403"):
                text, fix = "the service refuses the request", _FORBIDDEN
            case ModelErrorKind.AUTHENTICATION:
                text, fix = "the service rejects the key", _MISSING_KEY
            case ModelErrorKind.UNREACHABLE:
                text, fix = f"the service cannot be reached: {error}", _UNREACHED
            case ModelErrorKind.OVERLOADED:
                fix = _BUSY if error.detail.startswith("HTTP 429") else _FAILING
            case ModelErrorKind.QUOTA:
                fix = "raise the quota or pay the bill on the service's page"
            case ModelErrorKind.MISSING_MODEL:
                text = "the service has no such model for this key"
                fix = "set OPENAI_MODEL or OPENAI_FALLBACK_MODELS to one that your key may use"
                if names := self._names():
                    fix = f"set OPENAI_MODEL or OPENAI_FALLBACK_MODELS to one that it has: {names}"
            case ModelErrorKind.NO_RESPONSES_API if await _speaks_chat_completions(self.client):
                text = "this server supports only Chat Completions"
                fix = f"put LiteLLM in front; {_GUIDE}"
            case ModelErrorKind.NO_RESPONSES_API:
                text = "there is no Responses API at this address"
                fix = f"correct OPENAI_BASE_URL, which usually ends in /v1; {_GUIDE}"
            case ModelErrorKind.CONTEXT_OVERFLOW:
                text, fix = f"a small question exceeds its context window: {error}", _LARGER
            case _:
                pass
        said = error.said
        if error.kind is ModelErrorKind.NO_RESPONSES_API:  # the rest are words of ours
            said = said.partition("It said: ")[2]
        server_words = f"; it said: {said}" if said and str(error) not in text else ""
        return problem(self.subject, f"{text}{server_words}", fix)

    def _answer(self, first: ModelResponse) -> Check | None:
        if any(call["name"] == _TOOL_NAME for call in first.calls):
            return None
        fix = f"use a model that calls tools; {_GUIDE}"
        text = "answers in text where a tool call is forced, so it cannot use tools"
        return warning(self.subject, text, fix)

    async def _name(self) -> Check | None:
        """Check that the server lists the name, if it lists only a few: some run whatever model they
        have under any name, and windows and prices would be those of another model."""
        listed = self.listed
        if not listed or self.name in listed or len(listed) > _MOST_NAMED:
            return None
        if await describes(self.client, self.name):
            return None
        text = f"answers, but the server lists only {self._names()}"
        return warning(self.subject, text, "set OPENAI_MODEL to a name that it lists")

    def _names(self) -> str:
        """Return up to five names of models that the server lists."""
        names = list(self.listed or ())
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        return ", ".join(names[:_MOST_NAMED]) + more

    def _window(self) -> Check | None:
        """Check that a question fits into the window that the server reports."""
        window = (self.listed or {}).get(self.name)
        if not window:
            return None
        tokens = _first_request_tokens(self.settings)
        if window >= _FEWEST_REQUESTS * tokens:
            return None
        text = f"its window of {window:,} tokens is too small: a question starts with {tokens:,}"
        return problem(self.subject, text, _LARGER)

    def _traits(self, traits: ServerTraits) -> list[Check]:
        """Return what the calls have shown that the server cannot do."""
        lines = []
        if traits.stateless and not self.settings.model.stateless:
            text = "works, but stores no responses, so each request sends the whole conversation"
            fix = "set stateless = true under [model] in bot.toml, which saves a call at each start"
            lines.append(warning(self.subject, text, fix))
        left_out = traits.left_out.get(self.name, set())
        for part, setting in _OPTIONAL.items():
            if part in left_out:
                text = f"works, but rejects {part.replace('_', ' ')}, which is left out"
                fix = f"change or remove {setting} under [model] in bot.toml"
                lines.append(warning(self.subject, text, fix))
        return lines


_OPTIONAL = {
    "reasoning": "reasoning and reasoning_summaries",
    "temperature": "temperature",
    "max_output_tokens": "max_output_tokens",
}
"""Settings that a model can do without, by the part of a call that they fill."""

_LARGER = (
    "start the server with a larger window (llama.cpp: -c 32768, vLLM: --max-model-len 32768, Ollama: "
    "OLLAMA_CONTEXT_LENGTH=32768, LM Studio: in the model's settings)"
)


def _knows_state(response: ModelResponse) -> bool:
    return any(_STATE in str(call["arguments"]) for call in response.calls)


def _first_request_tokens(settings: Settings) -> int:
    """Return about how many tokens the first request of a run has without the question."""
    tools = [ResponseType(Answer, Answer.text_field).definition]
    with suppress(ConfigurationError, ToolDefinitionError):  # the check of the tools says why
        tools += tool_catalogue(settings).always
    return estimated_tokens(prompts.INSTRUCTIONS + json.dumps(tools))


async def _speaks_chat_completions(client: AsyncOpenAI) -> bool:
    """Return whether the server has Chat Completions; the request is wrong on purpose, and free."""
    try:
        async with asyncio.timeout(SECONDS):
            reply = await client.post("/chat/completions", cast_to=object, body={"messages": []})
    except APIStatusError as error:
        is_there = error.status_code not in (404, 405)
        return is_there and from_exception(error).kind is not ModelErrorKind.NO_RESPONSES_API
    except (OpenAIError, ValueError, TimeoutError):
        return False
    return isinstance(reply, Mapping) and "choices" in reply
