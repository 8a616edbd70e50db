"""`python -m tests.stored.names`: write names.txt, every name that outlives a process or that others
read, as the code of today has it."""

from __future__ import annotations

import ast
import asyncio
import importlib
import re
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Any

import yaml
from prometheus_client import CollectorRegistry
from pydantic import TypeAdapter

import bot.app.process  # noqa: F401 - defines all hooks
from bot.agent.hooks.chain import Hooks
from bot.agent.state import LoopState
from bot.app.features import all_features, operator_parts
from bot.app.tool_loading import catalogue
from bot.cli.console import exit_code
from bot.core.answers import GIVEN, RESPONSE_TYPES, Chart
from bot.core.approvals import Approval, CallProgress, Decision
from bot.core.audit import AuditEntry, AuditHead
from bot.core.budgets import Account, OverBudget, Pause, Raise, Spent
from bot.core.chain import CallerState, LedgerEntry
from bot.core.errors import ModelErrorKind
from bot.core.outcome import Outcome, RunStatus, StopReason
from bot.core.request import Request
from bot.core.schedule import Schedule
from bot.features.accounts.account import AccountChange
from bot.features.accounts.records import (
    AccountRecord,
    Flow,
    IssuerPin,
    OAuthClient,
    Proof,
    Revocation,
    Ticket,
)
from bot.features.feedback.instructions_form import Draft
from bot.features.feedback.ratings import Feedback, RatedQuestion
from bot.features.home.settings_forms import Target
from bot.features.refresh.refreshed import Refreshed
from bot.features.schedules.message import ScheduledMessage
from bot.features.shortcuts.forms import About
from bot.mcp.pins import ServerPins
from bot.runs.policy.preferences import Preferences
from bot.runs.queue.engine import open_engine
from bot.settings import ChannelTable, Settings, StoredProfiles, Tables
from bot.slack.ui.approval import Shown
from bot.slack.ui.buttons import FollowUp
from bot.store import Phase, open_stores
from bot.store.data_format import FORMAT
from bot.store.processes import Refused
from bot.store.workspaces.catch_up import Restore
from bot.store.workspaces.installs import Install
from bot.telemetry.meters import ModelMeters, ProcessMeters, RunMeters
from bot.toolkit import Memory
from bot.toolkit.provided.artifacts import Artifact

ROOT = Path(__file__).parents[2]
NAMES = Path(__file__).parent / "names.txt"

STORED: dict[str, Any] = {
    "request": Request,
    "run state": LoopState,
    "run outcome": Outcome,
    "run phase": Phase,
    "approvals asked": Approval,
    "approvals said": Decision,
    "approvals made": CallProgress,
    "caller-state": CallerState,
    "ledger": LedgerEntry,
    "artifact about": Artifact,
    "artifact chart": Chart,
    "memories": Memory,
    "schedules": Schedule,
    "scheduled-messages": ScheduledMessage,
    "preferences": Preferences,
    "channel-edits": ChannelTable,
    "profiles": StoredProfiles,
    "mcp-pins": ServerPins,
    "feedback": Feedback,
    "lesson": RatedQuestion,
    "refresh": Refreshed,
    "raise": Raise,
    "spent": Spent,
    "account": Account,
    "paused": Pause,
    "refused": Refused,
    "restored": Restore,
    "install": Install,
    "audit entry": AuditEntry,
    "audit-head": AuditHead,
    "button raise_budget": OverBudget,
    "button follow_up": FollowUp,
    "button approve_call": Shown,
    "modal ask_about_message": About,
    "modal channel_settings": Target,
    "job try_instructions": Draft,
    "personal account": AccountRecord,
    "account change": AccountChange,
    "account client": OAuthClient,
    "account flow": Flow,
    "account issuer pin": IssuerPin,
    "account proof": Proof,
    "account revocation": Revocation,
    "account ticket": Ticket,
}
"""What is kept as JSON, by where: values in Redis, and what buttons and modals carry in Slack."""


def names() -> str:
    """Return all names, a line each, in sections."""
    sections = {
        "format of the data": [str(FORMAT)],
        "Redis keys": redis_keys(),
        "stored models": [line for where, kind in STORED.items() for line in fields(where, kind)],
        "response types": [*RESPONSE_TYPES, GIVEN],
        "memory of hooks": hooks(),
        "tools and their arguments": tools(),
        "ids of actions, blocks, forms and their values": slack_ids(),
        "metadata of messages": metadata(),
        "manifest": manifest(),
        "tasks of the engine": asyncio.run(tasks()),
        "metrics": metrics(),
        "bot.toml": fields("", Tables, mode="validation"),
        "environment": [n.upper() for n in Settings.model_fields if n not in Tables.model_fields],
        "exit codes of bot ask": exit_codes(),
    }
    return "\n".join(
        f"## {title}\n" + "".join(f"{line}\n" for line in sorted(lines))
        for title, lines in sections.items()
    )


def changed() -> list[str]:
    """Return how the names of today differ from names.txt, as lines of a diff."""
    written, found = NAMES.read_text("utf-8").splitlines(), names().splitlines()
    diff = unified_diff(written, found, "stored until now", "today", n=0, lineterm="")
    return [line for line in diff if not line.startswith("@@")]


def redis_keys() -> set[str]:
    """Every `….key("family", …)`, `locked(redis, "family", …)` and the families of decisions."""
    found = set()
    for call in _calls("bot"):
        match call.func:
            case ast.Attribute(attr="key", value=owner):
                engine = "docket" in ast.unparse(owner)
                parts = call.args
                prefix = "bot:engine" if engine else "bot:v1"
            case ast.Name(id="locked"):
                prefix, parts = "bot:v1", call.args[1:]
            case ast.Name(id="Decisions" | "ListedDecisions"):
                prefix, parts = "bot:v1", call.args[2:3]
            case _:
                continue
        if parts and isinstance(parts[0], ast.Constant):
            named = [each.value if isinstance(each, ast.Constant) else "*" for each in parts]
            found.add(":".join((prefix, *map(str, named))))
    return found | {f"prefix {each}" for each in _constants("bot") if each.startswith("bot:")}


def fields(where: str, kind: Any, *, mode: Any = "serialization") -> list[str]:
    """Each field with its path and type; `*` for the keys of a mapping, `[]` for items of a list."""
    schema = TypeAdapter(kind).json_schema(by_alias=True, mode=mode)
    defs = schema.get("$defs", {})

    def walk(path: str, node: dict[str, Any], above: tuple[str, ...]) -> Iterator[str]:
        if "$ref" in node:
            name = node["$ref"].rpartition("/")[2]
            if name not in above:
                yield from walk(path, defs[name], (*above, name))
            return
        for way in (*node.get("anyOf", ()), *node.get("oneOf", ())):
            yield from walk(path, way, above)
        if "enum" in node or "const" in node:
            for value in node.get("enum", [node.get("const")]):
                yield f"{path} = {value}"
        elif node.get("type") == "object":
            for name, each in node.get("properties", {}).items():
                yield from walk(f"{path}.{name}".lstrip("."), each, above)
            if isinstance(more := node.get("additionalProperties"), dict):
                yield from walk(f"{path}.*", more, above)
            elif not node.get("properties"):
                yield f"{path}: object"
        elif node.get("type") == "array":
            items = [node.get("items") or {}, *node.get("prefixItems", ())]
            for each in items:
                yield from walk(f"{path}[]", each, above)
        elif "type" in node and node["type"] != "null":
            yield f"{path}: {node['type']}"
        elif not (node.keys() & {"anyOf", "oneOf", "type"}):
            yield f"{path}: any"

    return sorted(set(walk(where, schema, ())))


def hooks() -> set[str]:
    """What a run's state keeps for hooks is kept under their names; other tests define some, too."""
    own = [each for each in _subclasses(Hooks) if each.__module__.startswith("bot.")]
    return {each.name for each in own if each.name}


def tools() -> list[str]:
    """Approved calls and conversations hold them."""
    return [
        f"{tool.name}({', '.join(tool.parameters['properties'])})" for tool in catalogue().tools
    ]


def slack_ids() -> set[str]:
    """All constants that could be an id or a value; more than there are, none less."""
    constants = _constants("bot/slack") | _constants("bot/features")
    return {each for each in constants if re.fullmatch(r"/?[a-z][a-z0-9_]*:?", each)}


def metadata() -> set[str]:
    """Event types and the keys of their payloads."""
    found = set()
    for path in (*_files("bot/slack"), *_files("bot/features")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Dict):
                continue
            keys = [each.value for each in node.keys if isinstance(each, ast.Constant)]
            if "event_type" in keys:
                kind, payload = (
                    node.values[keys.index(k)] for k in ("event_type", "event_payload")
                )
                assert isinstance(payload, ast.Dict)
                inside = [each.value for each in payload.keys if isinstance(each, ast.Constant)]
                module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
                value = eval(ast.unparse(kind), vars(importlib.import_module(module)))
                found.add(f"{value}: {', '.join(map(str, inside))}")
    return found


def manifest() -> list[str]:
    """What the app is installed with, as far as code answers to it."""
    given = yaml.safe_load((ROOT / "manifest.yml").read_text())
    features = given["features"]
    return [
        *(f"shortcut {each['callback_id']}" for each in features["shortcuts"]),
        *(f"command {each['command']}" for each in features["slash_commands"]),
        *(f"event {each}" for each in given["settings"]["event_subscriptions"]["bot_events"]),
        *(
            f"function {name}: {', '.join(each['input_parameters']['properties'])}"
            f" -> {', '.join(each['output_parameters']['properties'])}"
            for name, each in given["functions"].items()
        ),
    ]


async def tasks() -> list[str]:
    """What tickets in Redis are named by."""
    async with (
        open_stores("redis://localhost") as stores,
        open_engine("memory://", stores.mailbox) as engine,
    ):
        return list(engine._docket.tasks)


def metrics() -> list[str]:
    """With their labels."""
    registry = CollectorRegistry()
    groups = [kind(registry) for kind in (RunMeters, ModelMeters, ProcessMeters)]
    meters = [meter for group in groups for meter in vars(group).values()]
    parts = operator_parts(all_features(Settings(_env_file=None), packages=()))
    meters += [meter for part in parts for meter in part.metrics]
    return [f"{meter._name}: {meter._type}({', '.join(meter._labelnames)})" for meter in meters]


def exit_codes() -> list[str]:
    """How `bot ask` ends."""
    made = Outcome(run_id="run_1", status=RunStatus.FAILED, stop_reason=StopReason.MODEL_ERROR)
    outcomes = {
        **{each.value: made.model_copy(update={"status": each}) for each in RunStatus},
        **{each.value: made.model_copy(update={"stop_reason": each}) for each in StopReason},
        **{each.value: made.model_copy(update={"error": each}) for each in ModelErrorKind},
    }
    main = importlib.import_module("bot.__main__")
    codes = [
        f"{name}: {exit_code(each)}" for name, each in outcomes.items() if exit_code(each) != 1
    ]
    return [*codes, f"unavailable: {main.UNAVAILABLE}", f"configuration: {main.WRONG_USAGE}"]


def _subclasses(kind: type[Any]) -> Iterator[type[Any]]:
    for each in kind.__subclasses__():
        yield each
        yield from _subclasses(each)


def _files(folder: str) -> list[Path]:
    left_out = {ROOT / "bot" / each for each in ("local", "dev", "evals")}
    return [each for each in (ROOT / folder).rglob("*.py") if not left_out & {*each.parents}]


def _calls(folder: str) -> Iterator[ast.Call]:
    for path in _files(folder):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                yield node


def _constants(folder: str) -> set[str]:
    """Texts that modules give names to, alone or in tuples and mappings; not what they export."""
    return {
        each.value
        for path in _files(folder)
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
        if "__all__" not in ast.unparse(node)[:7]
        for each in ast.walk(node.value)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    }


if __name__ == "__main__":
    NAMES.write_text(names(), "utf-8")
