"""The dashboard that is shipped shows what the process really counts."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
from itertools import combinations
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml
from prometheus_client import CollectorRegistry
from prometheus_client.metrics import MetricWrapperBase

from bot.dev.model import Script, call, finish
from bot.dev.workspace import ADA
from bot.telemetry.meters import ModelMeters, ProcessMeters, RunMeters
from bot.telemetry.metrics import Metrics
from tests.operators.test_serving import SALES, probing
from tests.support.deployment import deployed
from tests.support.ports import free_port
from tests.support.runs import answer

OPS = Path(__file__).parents[2] / "bot" / "ops"
ALERTS = [
    rule
    for group in yaml.safe_load((OPS / "alerts.yml").read_text(encoding="utf-8"))["groups"]
    for rule in group["rules"]
]
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


def declared() -> dict[str, set[str]]:
    """Each metric that a process has, also before it counted anything, with its labels."""
    registry = CollectorRegistry()
    meters = (RunMeters(registry), ModelMeters(registry), ProcessMeters(registry))
    return {
        each._name: set(each._labelnames)
        for group in meters
        for each in vars(group).values()
        if isinstance(each, MetricWrapperBase)
    } | {"bot_asyncio_tasks": set()}


def test_each_alert_asks_for_what_is_counted() -> None:
    """A rule with a typing error is silent for ever."""
    metrics = declared()
    for alert in ALERTS:
        promql_parser.parse(alert["expr"])
        selectors = re.findall(r"(bot_\w+)(?:\{([^}]*)\})?", alert["expr"])
        assert selectors, alert
        for name, selector in selectors:
            labels = metrics[re.sub(r"_(bucket|total)$", "", name)]
            assert set(re.findall(r"(\w+)[=!]", selector)) <= labels, alert


def test_alerts_fire_when_they_should() -> None:
    """Evaluated by Prometheus's own tool: also when what they ask for was never counted."""
    if not (promtool := shutil.which("promtool")):
        pytest.skip("promtool is not installed")
    rules = Path(__file__).with_name("alerts_test.yml")
    done = subprocess.run([promtool, "test", "rules", rules], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


async def test_a_first_bug_is_counted_from_zero() -> None:
    """Prometheus sees no increase in a series that begins with 1."""
    assert b'bot_runs_total{status="failed",stop_reason="internal_error"} 0.0' in Metrics().text()


def test_each_alert_says_what_to_do() -> None:
    """At three in the morning: one line, and the place in the runbook."""
    runbook = (OPS.parents[1] / "docs" / "operate.md").read_text(encoding="utf-8")
    for alert in ALERTS:
        assert alert["annotations"]["summary"]
        assert alert["annotations"]["do"].endswith(".")
        assert alert["labels"]["severity"] in {"page", "ticket"}
        assert f"`{alert['alert']}`" in runbook, alert["alert"]


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
