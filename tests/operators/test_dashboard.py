"""The dashboard that is shipped shows what the process really counts."""

from __future__ import annotations

import asyncio
import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

from bot.dev.model import Script, call, finish
from bot.dev.workspace import ADA
from tests.operators.test_serving import SALES, probing
from tests.support.deployment import deployed
from tests.support.ports import free_port
from tests.support.runs import answer

DASHBOARD = json.loads(
    (Path(__file__).parents[2] / "bot" / "ops" / "dashboard.json").read_text(encoding="utf-8")
)
PANELS = [each for each in DASHBOARD["panels"] if each["type"] != "row"]
GIVEN_BY_PROMETHEUS = {"instance", "le"}


def named(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


async def counted(redis_url: str) -> dict[str, set[str]]:
    """Each figure of a bot that has answered, with its labels."""
    brain, port = Script([call("calculate", {"expression": "1+1"}), finish(answer())]), free_port()
    async with deployed(brain, redis_url, bot_metrics_port=port) as bot, probing(port) as probe:
        await bot.answered(SALES, await bot.ask(ADA, SALES, "How many?"))
        async with asyncio.timeout(10):
            while not any("bot_runs_total" in each for each in await probe.figures()):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        keys = [each.removesuffix("}").partition("{") for each in await probe.figures()]
    return {
        name: {each.partition("=")[0] for each in labels.split(",")} for name, _, labels in keys
    }


async def test_every_figure_of_the_dashboard_is_counted_and_the_other_way_round(
    redis_url: str,
) -> None:
    """A panel that asks for what nobody counts stays empty, and nobody notices."""
    figures = await counted(redis_url)
    shown: set[str] = set()
    for panel in PANELS:
        for expression in (each["expr"] for each in panel["targets"]):
            by = set().union(*map(named, re.findall(r"by \(([^)]*)\)", expression)))
            found = re.findall(r"((?:bot|process)_\w+)\{([^}]*)\}", expression)
            assert found, expression
            for name, selector in found:
                assert name in figures, expression
                wanted = by | set(re.findall(r"(\w+)=", selector))
                assert wanted - GIVEN_BY_PROMETHEUS <= figures[name], expression
                shown.add(re.sub(r"_(bucket|total)$", "", name))
    ours = {re.sub(r"_(bucket|count|sum|total|created)$", "", each) for each in figures}
    assert {each for each in ours if each.startswith("bot_")} <= shown


def test_the_panels_have_room() -> None:
    """Grafana draws panels over each other without a word."""

    def cells(panel: dict[str, Any]) -> set[tuple[int, int]]:
        at = panel["gridPos"]
        return {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }

    assert all(not cells(a) & cells(b) for a, b in combinations(DASHBOARD["panels"], 2))
    assert len({each["id"] for each in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
