"""Real model servers: `python -m tests.servers` prints what becomes of runs with each.

LiteLLM's proxy stands before a server with Chat Completions whose model obeys; llama.cpp's server runs
SmolLM2-135M, a model so weak that it shows what one does to a run. Each is installed from the package
registry into an environment of its own, in exact versions with hashes, and runs with an empty environment.
`--folder` keeps these environments (700 MB) for the next time.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import aiohttp
import yaml
from pydantic import SecretStr

from bot.agent.limits import Limits
from bot.core.answers import GIVEN
from bot.core.outcome import Outcome
from bot.ops.doctor.model import examine_model
from bot.settings import ModelSettings, Settings
from bot.store import open_stores
from bot.store.embedded import embedded_redis
from tests.servers.chat_completions import ChatServer, chat_server
from tests.servers.dialects import MODEL
from tests.servers.test_runs import adding
from tests.support.ports import free_port
from tests.support.redis import asked
from tests.support.runs import Bot, bot_on

_HERE = Path(__file__).parent
_START_SECONDS = 180
_WINDOW = 8_192
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"summary": {"type": "string"}},
    "required": ["summary"],
    "additionalProperties": False,
}
_GIVEN: dict[str, Any] = {"response_type": GIVEN, "response_schema": _SCHEMA}


@dataclass(frozen=True)
class Endpoint:
    """A real server: its address and key."""

    url: str
    api_key: str


def installed(folder: Path, name: str, *options: str) -> Path:
    """Return the interpreter of an environment with the pinned requirements of `name`."""
    python = folder / name / "bin" / "python"
    if not python.exists():
        subprocess.run(["uv", "venv", "-q", "--python", "3.11", folder / name], check=True)
        needs: list[str | Path] = [
            "--require-hashes",
            "--only-binary",
            ":all:",
            *options,
            "-r",
            _HERE / f"{name}.txt",
        ]
        subprocess.run(["uv", "pip", "install", "-q", "--python", python, *needs], check=True)
    return python


@asynccontextmanager
async def process(
    folder: Path, url: str, *command: str, **environment: str
) -> AsyncGenerator[None]:
    """Run a server while the body runs, once `url` answers. Raises RuntimeError if it never does."""
    alone = {"PATH": os.environ["PATH"], "HOME": str(folder), **environment}
    with (folder / "server.log").open("wb") as log:
        child = await asyncio.create_subprocess_exec(*command, env=alone, stdout=log, stderr=log)
    try:
        await _answering(url, child)
        yield
    finally:
        if child.returncode is None:
            child.terminate()
        await child.wait()


async def _answering(url: str, child: asyncio.subprocess.Process) -> None:
    async with aiohttp.ClientSession() as session:
        for _ in range(_START_SECONDS):
            if child.returncode is not None:
                raise RuntimeError("the server ended; its words are in server.log")
            try:
                async with session.get(url) as reply:
                    if reply.ok:
                        return
            except aiohttp.ClientError:
                pass
            await asyncio.sleep(1)
    raise RuntimeError("the server does not answer")


@asynccontextmanager
async def litellm(folder: Path) -> AsyncGenerator[tuple[Endpoint, ChatServer]]:
    """LiteLLM's proxy before a server that speaks Chat Completions only."""
    python, key, port = installed(folder, "litellm"), f"sk-{secrets.token_hex(24)}", free_port()
    async with chat_server() as backend:
        target: dict[str, Any] = {"model": "openai/chat", "api_base": backend.url}
        target |= {"api_key": "none", "use_chat_completions_api": True}
        config = folder / "litellm.yaml"
        models = [{"model_name": MODEL, "litellm_params": target}]
        config.write_text(yaml.safe_dump({"model_list": models}))
        command = (python.with_name("litellm"), "--config", config, "--port", port)
        started = process(
            folder,
            f"http://127.0.0.1:{port}/health/liveliness",
            *map(str, (*command, "--host", "127.0.0.1")),
            LITELLM_MASTER_KEY=key,
            LITELLM_LOCAL_MODEL_COST_MAP="True",
            LITELLM_TELEMETRY="False",
        )
        async with started:
            yield Endpoint(f"http://127.0.0.1:{port}/v1", key), backend


@asynccontextmanager
async def llama_cpp(folder: Path) -> AsyncGenerator[Endpoint]:
    """llama.cpp's server with SmolLM2-135M."""
    python, port = installed(folder, "llama_cpp", "--no-deps"), free_port()
    [weights] = (folder / "llama_cpp").rglob("*.gguf")
    script = str(_HERE / "llama_cpp_server.py")
    url = f"http://127.0.0.1:{port}/v1"
    command = (str(python), script, str(weights), str(port), str(_WINDOW))
    async with process(folder, f"{url}/models", *command):
        yield Endpoint(url, "none")


async def doctor(endpoint: Endpoint, **model: Any) -> str:
    """What doctor says of the server."""
    settings = Settings(
        openai_base_url=endpoint.url,
        openai_api_key=SecretStr(endpoint.api_key),
        openai_model=MODEL,
        model=ModelSettings(**model),
    )
    found = await examine_model(settings)
    return "; ".join(f"{each.level}: {each.text}" for each in found if each.subject != "prices")


@asynccontextmanager
async def bot_with(endpoint: Endpoint, **settings: Any) -> AsyncGenerator[Bot]:
    """A bot with one small tool and that server."""
    async with embedded_redis(None) as url, open_stores(url) as stores:
        more = {"openai_model": MODEL, **settings}
        async with bot_on(stores, cast(Any, endpoint), adding(), **more) as bot:
            yield bot


def told(outcome: Outcome) -> str:
    """One line about how a run ended."""
    totals = outcome.totals
    result = (outcome.result or {}).get("summary") or (outcome.result or {}).get("data") or ""
    tokens = totals.input_tokens + totals.output_tokens
    return (
        f"{outcome.status}, {outcome.stop_reason}; {totals.turns} turns, {totals.tool_calls} tool "
        f"calls, {tokens:,} tokens, {totals.seconds:.0f} s; {' '.join(str(result).split())[:100]!r}"
    )


async def with_litellm(folder: Path) -> AsyncGenerator[tuple[str, str]]:
    """Yield the cases with LiteLLM. Raises AssertionError where a run does not end as it must."""
    async with litellm(folder) as (endpoint, backend):
        yield "doctor", await doctor(endpoint)
        yield "doctor, stateless set", await doctor(endpoint, stateless=True)
        async with bot_with(endpoint) as bot:
            before = len(backend.bodies)
            for number, question in enumerate(("Q1 please", "and Q2", "then Q3"), 1):
                outcome = await bot.ask(question)
                seen = " ".join(f"Q{n}" for n in range(1, number + 1))
                assert (outcome.result or {})["summary"] == seen, outcome
                yield f"question {number} of a thread", told(outcome)
            yield "calls of the three", str(len(backend.bodies) - before)
            backend.overflows = 1
            outcome = await bot.ask("and Q4")
            assert "Q4" in (outcome.result or {})["summary"], outcome
            yield "a conversation that is too long", told(outcome)
            backend.talks = True
            yield "text as an answer", told(await bot.ask(asked("Q5 please", thread="5.0")))
            forced = asked("Q6 please", thread="6.0").model_copy(update=_GIVEN)
            outcome = await bot.ask(forced)
            assert outcome.status == "success", outcome
            yield "text where data is wanted", told(outcome)


async def with_llama_cpp(folder: Path) -> AsyncGenerator[tuple[str, str]]:
    """Yield the cases with a weak model: whatever it does, each run ends in one outcome."""
    async with llama_cpp(folder) as endpoint:
        short = {"max_output_tokens": 256}
        yield "doctor", await doctor(endpoint, **short)
        yield "doctor, stateless set", await doctor(endpoint, stateless=True, **short)
        settings = {
            "model": ModelSettings(**short),
            "limits": Limits(turn_seconds=600, run_seconds=900),
        }
        async with bot_with(endpoint, **settings) as bot:
            yield "small talk", told(await bot.ask("Thank you, that helped!"))
            yield "its follow-up in the thread", told(await bot.ask("What did I just say?"))
            tool = asked("How much is 17 + 25? Use the tool add.", thread="2.0")
            yield "a question for a tool", told(await bot.ask(tool))
            given = asked("Name the capital of France.", thread="3.0").model_copy(update=_GIVEN)
            yield "data of a schema", told(await bot.ask(given))


async def _print(name: str, cases: AsyncGenerator[tuple[str, str]]) -> None:
    async for case, outcome in cases:
        sys.stdout.write(f"{name:<10} {case:<32} {outcome}\n")
        sys.stdout.flush()


async def _run(folder: Path, names: list[str]) -> None:
    for name, cases in _SERVERS.items():
        if name in names:
            await _print(name, cases(folder))


_SERVERS = {"LiteLLM": with_litellm, "llama.cpp": with_llama_cpp}


@contextmanager
def _folder(given: Path | None) -> Generator[Path]:
    if given:
        given.mkdir(parents=True, exist_ok=True)
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="servers-") as made:
        yield Path(made)


def main() -> None:
    """Run the cases of all servers, or of one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=list(_SERVERS))
    parser.add_argument("--folder", type=Path, help="where the environments are kept")
    given = parser.parse_args()
    logging.getLogger("bot").setLevel(logging.ERROR)
    with _folder(given.folder) as folder:
        asyncio.run(_run(folder, [given.only] if given.only else list(_SERVERS)))


if __name__ == "__main__":
    main()
