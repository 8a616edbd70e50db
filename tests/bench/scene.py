"""What both loops are given: the same question, instructions, tools and model."""

from __future__ import annotations

from typing import Any

from bot.agent.calls import Toolbox
from bot.agent.complete import ResponseType
from bot.agent.interrupt import Interrupt
from bot.agent.limits import Limits
from bot.agent.parts import Parts
from bot.agent.prompts import INSTRUCTIONS as INSTRUCTIONS
from bot.agent.state import LoopState
from bot.core.answers import Answer
from bot.core.chain import LedgerEntry
from bot.core.context import RequestContext
from bot.core.request import Entry, Request
from bot.model import Model, PriceList
from bot.toolkit import tool
from bot.toolkit.catalogue import Catalogue
from tests.support.artifacts import MemoryArtifacts

MODEL = "gpt-5.4-mini"
QUESTION = "How many?"
TURNS = 9
PRICES = PriceList()


@tool(group="bench", summary="Adds", core=True)
async def add(a: int, b: int) -> int:
    """Adds two whole numbers."""
    return a + b


async def work(a: int, b: int) -> int:
    """The tool as the bare loop calls it."""
    return a + b


FINISH = ResponseType(Answer, "summary")
CATALOGUE = Catalogue.of([add.tool])
TOOLS: list[dict[str, Any]] = [*CATALOGUE.always, FINISH.definition]


async def asked() -> list[LedgerEntry]:
    """The ledger of a thread in which the question was just asked."""
    return [LedgerEntry(run_id="run_bench", items=first_state().pending)]


def parts(model: Model, *, stateless: bool = False) -> Parts:
    """All that our loop works with, priced and bounded as in production."""
    request = Request(
        entry=Entry.HEADLESS, team="T", channel="C", thread="1", ts="1", user="U", text=QUESTION
    )
    return Parts(
        model=model,
        models=(MODEL,),
        prices=PRICES,
        toolbox=Toolbox(CATALOGUE, {}, MemoryArtifacts()),
        response_type=FINISH,
        limits=Limits(tokens=10_000_000, cost=None),
        interrupt=Interrupt(),
        context=RequestContext(request=request, run_id="run_bench", model=MODEL),
        history=asked,
        stateless=stateless,
    )


def first_state() -> LoopState:
    """The question, on a new chain."""
    return LoopState(pending=({"role": "user", "content": QUESTION},))
