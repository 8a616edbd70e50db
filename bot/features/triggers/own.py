"""The rules of whoever asks, for tools: proposed for the channel of the request, listed and removed."""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from slack_sdk.errors import SlackApiError

from bot.core.context import current_request
from bot.core.errors import NotPermitted, SlackUnavailable, ToolError
from bot.core.request import Request
from bot.features.triggers import words
from bot.features.triggers.pages import RulePages, apps_in, ids_of
from bot.features.triggers.rules import Rule, RuleState
from bot.features.triggers.service import RuleService
from bot.slack.edge.client import TRANSPORT_ERRORS
from bot.slack.ui.words import OR

log = logging.getLogger(__name__)

_NAMED = re.compile(r"(?P<name>.*) \((?P<id>[A-Z0-9]{2,30})\)")
_ELSEWHERE = "A rule is for the channel in which it is asked for. Say that they ask for it there."
_NO_RULE = "The person has no rule {id} here. list_rules names them."
_UNREACHED = "Slack did not answer. Try again later."


@dataclass(frozen=True, slots=True)
class OwnRules:
    """The rules of the current request's asker. Methods raise ToolError with a sentence that the model can
    act on."""

    pages: RulePages

    @property
    def rules(self) -> RuleService:
        return self.pages.rules

    async def named(
        self, people: Sequence[str], apps: Sequence[str]
    ) -> tuple[list[str], list[str]]:
        """Return people and apps each as name and id, "Ben Okafor (U0BEN)", as people approve them."""
        async with _for_the_model():
            slack, channel = self.rules.slack, current_request().channel
            there = await apps_in(slack, channel) if apps else {}
            ids, unknown = ids_of([_id_of(app) or app for app in apps], there)
            if unknown:
                known = ", ".join(there.values()) or "none"
                said = f"has not posted here lately. Apps that have: {known}."
                raise ToolError(f"{', '.join(unknown)} {said}")
            users = [_id_of(user) or user for user in people]
            return (
                [f"{await slack.people.name(user)} ({user})" for user in users],
                [f"{there.get(app, 'app')} ({app})" for app in ids],
            )

    async def check(self, **fields: Any) -> None:
        """Raise ToolError where `propose` would."""
        rule = _rule(current_request().request, fields)
        async with _for_the_model():
            await self.rules.check_owner(rule.owner, rule.channel)

    async def propose(self, **fields: Any) -> tuple[Rule, int]:
        """Store a rule of the asker. It is on if they may approve rules there, and have approved the call;
        if not, those are asked who may. Return it, and how many were asked: 0 also where Slack failed
        then, as it is stored by now and waits in Home."""
        rule = _rule(current_request().request, fields)
        async with _for_the_model():
            settings = await self.rules.gate.settings(rule.channel)
            confirms = self.rules.gate.policy.confirms(settings, mutates=True, sensitive=True)
            rule = await self.rules.propose(rule.owner, rule)
            if confirms and await self.rules.may_approve(rule.owner, rule.channel):
                return await self.rules.approve(rule.owner, rule.id, rule.revision), 0
        try:
            return rule, len(await self.pages.ask_approvers(rule))
        except (SlackApiError, SlackUnavailable, *TRANSPORT_ERRORS) as error:
            log.warning("Nobody was asked to approve %s: %s", rule.id, type(error).__name__)
            return rule, 0

    async def all(self) -> list[Rule]:
        """Return the asker's rules; where others read the answer, only those of this channel."""
        request = current_request().request
        rules = await self.rules.store.in_team(request.team)
        own = [rule for rule in rules if rule.owner == request.user]
        return [rule for rule in own if request.is_for_one or rule.channel == request.channel]

    async def remove(self, rule_id: str) -> Rule:
        """Remove one of the asker's rules, and return it."""
        if rule_id not in {rule.id for rule in await self.all()}:
            raise ToolError(_NO_RULE.format(id=rule_id))
        async with _for_the_model():
            return await self.rules.remove(current_request().user, rule_id)


def line_of(rule: Rule) -> str:
    """Return a rule as the model reads it."""
    state = "waits for approval" if rule.state is RuleState.WAITING else rule.state
    people = "anybody" if rule.anyone else ", ".join(rule.people) or "nobody"
    facts = [
        f"{rule.id} · {state} · channel {rule.channel} · people: {people}",
        *([f"apps: {', '.join(rule.apps)}"] if rule.apps else []),
        *([f"words: {', '.join(rule.words)}"] if rule.words else []),
        *([f"pattern: {rule.pattern}"] if rule.pattern else []),
        *([f"question: {rule.question}"] if rule.question else []),
        rule.instruction,
    ]
    return " · ".join(facts)


def title_of(call: Any) -> str:
    """Return the rule that a call proposes in plain words."""
    apps = [words.APP(name=_name_of(app)) for app in call.apps or ()]
    people = list(map(_name_of, call.people or ()))
    named = OR().join(words.QUOTED(text=word) for word in call.words or ())
    return words.SAYS_HERE(
        who=OR().join([*people, *apps]) or words.ANYBODY(),
        what=named or words.SOMETHING(),
        instruction=call.instruction,
    )


def _name_of(named: str) -> str:
    match = _NAMED.fullmatch(named)
    return match["name"] if match else named


def _id_of(named: str) -> str:
    match = _NAMED.fullmatch(named)
    return match["id"] if match else named.strip("<@>") if named.startswith("<@") else ""


def _rule(request: Request, fields: dict[str, Any]) -> Rule:
    if request.channel.startswith("D") or request.private:
        raise ToolError(_ELSEWHERE)
    people = tuple(_id_of(user) or user for user in fields.pop("people"))
    apps = tuple(_id_of(app) or app for app in fields.pop("apps"))
    try:
        return Rule(
            team=request.team,
            channel=request.channel,
            owner=request.user,
            anyone=not (people or apps),
            people=people,
            apps=apps,
            **fields,
        )
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ToolError(f"{where}: {first['msg']}") from None


@asynccontextmanager
async def _for_the_model() -> AsyncGenerator[None]:
    try:
        yield
    except NotPermitted as refusal:
        raise ToolError(str(refusal)) from None
    except (SlackApiError, SlackUnavailable, *TRANSPORT_ERRORS):
        raise ToolError(_UNREACHED) from None
