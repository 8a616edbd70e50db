"""`bot doctor` is green where a question works, and says what is wrong and what to do where none does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web
from pydantic import SecretStr

from bot.core.check import Check, Level
from bot.ops.doctor.model import examine_model
from bot.settings import ModelSettings, Settings
from tests.servers.dialects import DIALECTS, MODEL, Dialect, Server, served, server
from tests.support.ports import free_port

OK, WARNING, PROBLEM = Level.OK, Level.WARNING, Level.PROBLEM
_PRICE: dict[str, Any] = {"price": {"input": 1, "output": 2}}


async def verdict(url: str, model: dict[str, Any] | None = None, **changes: Any) -> list[Check]:
    """What doctor says of a server, without the check of prices."""
    settings = Settings(
        openai_base_url=url,
        openai_api_key=SecretStr("sk-local"),
        model=ModelSettings(**_PRICE, **(model or {})),
        **{"openai_model": MODEL, **changes},
    )
    found = await examine_model(settings)
    return [each for each in found if each.subject != "prices"]


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda each: each.name)
async def test_every_server_with_which_a_question_works_may_be_used(dialect: Dialect) -> None:
    """C8 U11: no problem anywhere; a warning where responses are not stored, with the setting. With that
    setting nothing is left to say."""
    async with server(dialect) as api:
        [found] = await verdict(api.url)
        [when_set] = await verdict(api.url, {"stateless": True})
    if dialect.parent == "kept":
        assert (found.level, found.text) == (OK, "answers, and calls a tool when asked to")
    else:
        assert found.level is WARNING
        assert "stateless = true" in found.fix
    assert when_set.level is OK


async def test_a_server_that_forgets_is_a_problem() -> None:
    """X4: it echoes `previous_response_id` and answers without the question before."""
    async with server(Dialect("forgets", parent="ignored")) as api:
        [found] = await verdict(api.url)
        [when_set] = await verdict(api.url, {"stateless": True})
    assert (found.level, "stateless = true" in found.fix) == (PROBLEM, True)
    assert when_set.level is OK


async def test_a_window_that_no_question_fits_into_is_a_problem() -> None:
    """E1: the tiny call works, and every real one would overflow."""
    for dialect in (each for each in DIALECTS if each.window):
        async with server(dialect, window=2_048) as api:
            [found] = await verdict(api.url, {"stateless": True})
        assert found.level is PROBLEM
        assert "2,048 tokens" in found.text
        assert "-c 32768" in found.fix


async def test_a_model_that_calls_nothing_is_a_warning() -> None:
    """C4: questions are answered in text, and no tool can be used."""
    ignoring = Dialect("weak", forced="ignored", is_required_followed=False)
    async with server(ignoring, talks=True) as api:
        [found] = await verdict(api.url)
    assert (found.level, "in text" in found.text) == (WARNING, True)


async def test_settings_that_a_server_refuses_are_named() -> None:
    [ollama] = [each for each in DIALECTS if each.name == "Ollama"]
    async with server(ollama) as api:
        [found] = await verdict(api.url, {"reasoning": "minimal", "stateless": True})
    assert found.level is WARNING
    assert "reasoning" in found.fix


async def test_a_name_that_the_server_does_not_list() -> None:
    """Some run whatever they have under any name; windows and prices would be another model's."""
    async with server(DIALECTS[0], models=("qwen3", "phi")) as api:
        [found] = await verdict(api.url)
        assert (found.level, "qwen3, phi" in found.text) == (WARNING, True)
        api.models = tuple(f"model-{n}" for n in range(9))  # a gateway may list only some
        [found] = await verdict(api.url)
        assert found.level is OK


async def test_a_missing_model_is_said_with_those_that_are_there() -> None:
    """Up to five of them."""

    class Choosy(Server):
        async def respond(self, request: web.Request) -> web.StreamResponse:
            said = {"error": {"message": "The model `small-model` does not exist.", "code": 404}}
            return web.json_response(said, status=404)

    api = Choosy(DIALECTS[0], models=tuple(f"model-{n}" for n in range(7)))
    async with served(_app(api)) as url:
        [found] = await verdict(f"{url}/v1")
    assert found.level is PROBLEM
    assert "no such model" in found.text
    assert "model-0, model-1, model-2, model-3, model-4 and 2 more" in found.fix


def _app(api: Server) -> web.Application:
    app = web.Application()
    app.router.add_post("/v1/responses", api.respond)
    app.router.add_get("/v1/models", api.list_models)
    return app


def _always(status: int, said: Any) -> Callable[[web.Request], Any]:
    async def reply(_request: web.Request) -> web.Response:
        if isinstance(said, str):
            return web.Response(status=status, text=said, content_type="text/html")
        return web.json_response(said, status=status)

    return reply


_BAD_REQUEST = (400, {"error": {"message": "messages: too few items"}})
_MISTAKEN = (200, {"error": "Unexpected endpoint or method. (POST /chat/completions)"})
WRONG = {
    "Chat Completions only": (_BAD_REQUEST, (404, {"detail": "Not Found"}), "LiteLLM", "Chat"),
    "Chat Completions only, no JSON": (
        _BAD_REQUEST,
        (404, "404 page not found"),
        "LiteLLM",
        "Chat",
    ),
    "LM Studio without /v1": (_MISTAKEN, _MISTAKEN, "/v1", "no Responses API"),
    "another service": ((404, "Nothing"), (200, "<html>Hello</html>"), "/v1", "no Responses API"),
    "a proxy without its server": ((502, "Bad"), (502, "Bad Gateway"), "your own server", "fails"),
    "a region": ((403, {}), (403, {"error": {"message": "Not here."}}), "do what", "Not here."),
    "too often": ((429, {}), (429, {"error": {"message": "Rate limit."}}), "in a minute", "Rate"),
    "no tools": (
        (400, {}),
        (400, {"error": {"message": "m does not support tools"}}),
        "do what",
        "tools",
    ),
    "a wrong key": ((401, {}), (401, {"error": {"message": "No"}}), "OPENAI_API_KEY", "key"),
    "no credit": (
        (429, {}),
        (429, {"error": {"message": "No credit.", "code": "insufficient_quota"}}),
        "raise the quota",
        "No credit",
    ),
}


@pytest.mark.parametrize(("chat", "responses", "fix", "said"), WRONG.values(), ids=WRONG)
async def test_what_is_wrong_is_said(chat: Any, responses: Any, fix: str, said: str) -> None:
    """C8: one red line with the right next step; a list of models proves nothing."""
    app = web.Application()
    app.router.add_get("/models", _always(200, {"data": [{"id": MODEL}]}))
    app.router.add_post("/chat/completions", _always(*chat))
    app.router.add_post("/responses", _always(*responses))
    async with served(app) as url:
        [found] = await verdict(url)
    assert found.level is PROBLEM
    assert said in found.text
    assert fix in found.fix


async def test_a_server_that_is_not_there_and_one_that_is_slow() -> None:
    """A slow one is told apart, and the setting named that gives it time."""
    [found] = await verdict(f"http://127.0.0.1:{free_port()}/v1")
    assert (found.level, "cannot be reached" in found.text) == (PROBLEM, True)

    async def never(_request: web.Request) -> web.Response:
        await asyncio.Event().wait()
        raise AssertionError

    app = web.Application()
    app.router.add_post("/responses", never)
    async with served(app) as url:
        [found] = await verdict(url, limits={"turn_seconds": 0.3})
    assert (found.level, "turn_seconds" in found.fix) == (PROBLEM, True)
