"""`bot dev` without a model offers a server that runs on this machine, and uses none unasked."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import Any

from aiohttp import web
from yarl import URL

from bot.cli.dev import dev
from bot.cli.local_models import offers
from bot.settings import Settings
from tests.servers.dialects import DIALECTS, served, server
from tests.support.ports import free_port


async def test_a_server_with_a_model_is_offered_in_one_line() -> None:
    """U11: what to set, for the first model that is not for embeddings."""
    async with server(DIALECTS[0], models=("nomic-embed-text", "llama3.2:3b")) as api:
        port = URL(api.url).port
        assert port
        [line] = await offers({port: "Ollama", free_port(): "LM Studio"})
    assert line.startswith("Ollama is running here.")
    assert f"OPENAI_BASE_URL={api.url} OPENAI_MODEL=llama3.2:3b bot dev" in line


async def test_other_programs_on_these_ports_are_passed_over_at_once() -> None:
    """No model, no list, hostile names, too much, and silence: never more than a moment."""

    async def never(_request: web.Request) -> web.Response:
        await asyncio.Event().wait()
        raise AssertionError

    def replying(body: Any, status: int = 200) -> Any:
        async def reply(_request: web.Request) -> web.Response:
            return web.json_response(body, status=status)

        return reply

    async def page(_request: web.Request) -> web.Response:
        return web.Response(text="<html>Jenkins</html>", content_type="text/html")

    replies = (
        *(never, page, replying([]), replying({"data": None}), replying({"data": []})),
        *(replying({"data": [{"id": "x\x1b[31m"}]}), replying({"data": [{"id": 7}, 3]})),
        *(replying({"data": [{"id": "m"}]}, 500), replying({"data": [{"id": "m"}] * 200_000})),
    )
    for reply in replies:
        app = web.Application()
        app.router.add_get("/v1/models", reply)
        async with served(app) as url:
            port = URL(url).port
            assert port
            began = time.monotonic()
            assert await offers({port: "llama.cpp"}) == []
            assert time.monotonic() - began < 2


async def test_dev_offers_it_and_the_demo_answers(tmp_path, monkeypatch) -> None:
    """U11: nothing but the list is asked for; with a model set nothing is looked for. Where packages for
    programs are missing, a line says how to add them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "statsmodels", None)
    async with server(DIALECTS[0]) as api:
        port = URL(api.url).port
        assert port
        async with dev(Settings(), port=0, model_ports={port: "Ollama"}) as running:
            [line, lacking] = running.offers
        assert "bot dev" in line
        assert lacking == (
            "Without statsmodels the model writes no programs. To add them: "
            "pip install pandas scikit-learn scipy statsmodels"
        )
        monkeypatch.undo()
        monkeypatch.chdir(tmp_path)
        settings = Settings(openai_base_url=api.url, openai_model="small-model")
        async with dev(settings, port=0, model_ports={port: "Ollama"}) as running:
            assert running.offers == []
    assert api.bodies == []
