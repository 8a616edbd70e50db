"""Approval of tool calls: a call runs only with the exact arguments that a person approved.

Code decides whether to ask and whom, from the request and never from the model's words.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from typing_extensions import override

from bot.agent.hooks.chain import Approved, Hooks, Permission, Undecided
from bot.core.approvals import (
    MENTIONED,
    MOST_SHOWN,
    Approval,
    Decision,
    Verdict,
    canonical,
    digest,
    holds_secret,
    laid_out,
)
from bot.core.context import current_request
from bot.core.errors import CorruptValue
from bot.core.request import Entry, Request
from bot.runs.policy.channels import ChannelSettings
from bot.text.mentions import has_other_names
from bot.text.translation import Text, languages, load_catalogue, reader
from bot.toolkit import Changes, Memories, Tool

if TYPE_CHECKING:
    from bot.runs.run import Run

log = logging.getLogger(__name__)

MayDecide = Callable[[str], Awaitable[bool]]
"""Returns whether a user may approve anything at all: guests and external people may not."""

MayAdminister = Callable[[str], Awaitable[bool]]
"""Returns whether a user is an admin of the bot."""

MayAsk = Callable[[Request, ChannelSettings], Awaitable[bool]]
"""Returns whether the asker may still ask, with the channel's current settings."""

_EXPIRED = Text("nobody approved it in time")
_WITHDRAWN = Text("it was withdrawn")
_DENIED = Text("{name} denied it")
_MAY_NO_MORE = Text("{name} approved it, but may not approve it any more")

WHY_OF_PERSON = (_DENIED, _MAY_NO_MORE)
"""Why a person's decision kept a call from being made, as the model is told in English."""

_LONGEST = 50_000
"""Characters of arguments that a person can be asked to check."""

_NO_CHANGES = Changes()

_SAY_IT = "say once in the result that it was not done, and why; it is no gap"
_NO_OTHER_WAY = f"Do not try to do it in another way; {_SAY_IT}."
_AS_CHANGED = f"If that changes what this was to do, ask for it so changed; else {_SAY_IT}."
_TOO_LONG = (
    f"Not done: this needs a person's approval, and nobody can check more than {_LONGEST:,} "
    "characters, or very many or deeply nested arguments. Do it in smaller pieces."
)
_UNSHOWN = (
    "Not done: this needs a person's approval, and its arguments hold what looks like a password, a "
    "token or a key, which nobody is shown. Leave it out, and say in the result who can set it."
)
_ADMINS = (
    f"Not done: only admins decide what everybody in the workspace is told or has.\n{_NO_OTHER_WAY}"
)
_ASKER_OUT = f"Not done: who asked may not ask here any more.\n{_NO_OTHER_WAY}"
_NOBODY = f"Not done: it needs the approval of somebody who cannot give it.\n{_NO_OTHER_WAY}"


class ApprovalHook(Hooks):
    """A hook of one run that asks people about the calls that the policy wants approved."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._request = run.request
        self._policy = run.deps.policy
        self._channel = run.channel
        self._approvals = run.deps.stores.approvals
        self._frontend = run.deps.frontend
        self._egress = run.egress

    @override
    async def before_tool(self, tool: Tool, arguments: BaseModel) -> Permission:
        if not await self._may_tell_everybody(tool, arguments):
            return _ADMINS
        leaks = self._egress.may_leak(tool, arguments)
        sensitive = leaks or (tool.sensitive and not await self._is_free(tool, arguments))
        confirms = self._policy.confirms(self._channel, mutates=tool.mutates, sensitive=sensitive)
        is_asked_for = self._request.is_by_rule and (tool.mutates or sensitive)
        if not (confirms or is_asked_for or (tool.mutates and self._request.restored)):
            self._egress.count(tool, arguments)
            return Approved()
        approval = self._approval(tool, arguments, leaks=leaks)
        titles = await _titles(tool, arguments, approval.title)
        return await self._ask(approval.model_copy(update={"titles": titles}))

    async def _is_free(self, tool: Tool, arguments: BaseModel) -> bool:
        """Return whether the call concerns the asker alone, who writes to the bot now.

        What is asked without its owner, by a schedule or a rule, may not schedule others unasked.
        """
        request, changes = self._request, tool.changes or _NO_CHANGES
        if request.entry in (Entry.SCHEDULE, Entry.RULE):
            return False
        rules = [changes.for_asker]
        if request.channel.startswith("D"):
            rules.append(changes.free_in_direct)
        if not any(_says(rule, arguments, if_broken=False) for rule in rules):
            return False
        try:
            services = self._run.toolbox.services
            return not (changes.too_many and await changes.too_many(arguments, services))
        except Exception:
            log.exception("the rule of a tool failed")
            return False

    async def _ask(self, approval: Approval) -> Permission:
        """Return the decision of people about the call, asking them if nobody has yet."""
        if holds_secret(approval.arguments):
            return _UNSHOWN
        if len(approval.arguments) > _LONGEST or len(laid_out(approval.arguments)) > MOST_SHOWN:
            return _TOO_LONG
        if not [user for user in approval.approvers if await self._frontend.may_decide(user)]:
            return _NOBODY
        standing = None if approval.restored else await self._approvals.standing(approval)
        if standing and await self._still_allowed(standing, approval.approvers):
            return await self._permission(standing, approval.approvers)
        try:
            await self._run.waits.ask(approval)
            decision = await self._approvals.claim(approval)
        except CorruptValue:
            return "Not done: nobody knows any more what was decided about it. Ask for it again."
        return await self._permission(decision, approval.approvers)

    async def _may_tell_everybody(self, tool: Tool, arguments: BaseModel) -> bool:
        """Return whether the asker may make the call, if it affects the whole workspace."""
        if self._policy.open_memories and Memories in tool.services.values():
            return True
        changes = tool.changes or _NO_CHANGES
        if not _says(changes.for_everybody, arguments, if_broken=True):
            return True
        return await self._frontend.may_administer(self._request.user)

    async def _permission(self, decision: Decision | None, approvers: Sequence[str]) -> Permission:
        if decision is None:
            return Undecided()
        if await self._still_allowed(decision, approvers):
            may_ask = await self._frontend.may_ask(self._request, self._channel)
            return Approved(by=decision.by) if may_ask else _ASKER_OUT
        advice = _AS_CHANGED if _is_superseded(decision) else _NO_OTHER_WAY
        return f"Not done: {_reason(decision)}.\n{advice}"  # people are shown the first line

    async def _still_allowed(self, decision: Decision, approvers: Sequence[str]) -> bool:
        """Return whether the decision is an approval by one of `approvers` who may still give it.

        Settings and people's roles may have changed since.
        """
        return (
            decision.allows
            and decision.by in approvers
            and await self._frontend.may_decide(decision.by)
        )

    def _approvers(self, tool: Tool) -> tuple[str, ...]:
        """Return who may approve the call: on their own account only the asker."""
        return (self._request.user,) if tool.account else self._policy.approvers_of(self._request)

    def _approval(self, tool: Tool, arguments: BaseModel, *, leaks: bool) -> Approval:
        canonical_arguments = canonical(arguments)
        changes = tool.changes or _NO_CHANGES
        fixed = changes.standing if changes.standing is not None or changes.sensitive else ()
        if leaks or self._request.is_by_rule:
            fixed = None  # each address, and each change by a rule, needs an approval of its own
        values = {name: json.loads(canonical_arguments)[name] for name in fixed or ()}
        text = str(getattr(arguments, changes.mentions)) if changes.mentions else ""
        mentions = self._frontend.conversation.mentioned_in(text)
        people = [mention for mention in mentions if mention.is_of_a_person]
        if changes.mentions and fixed is not None:
            fixed, values = (
                (*fixed, MENTIONED),
                values | {MENTIONED: [mention.id for mention in people]},
            )
        return Approval(
            id=current_request().idempotency_key,
            thread_key=self._request.thread_key,
            tool=tool.name,
            title=tool.title(arguments),
            labels={} if tool.is_of_server else _labels(tool),
            arguments=canonical_arguments,
            mutates=tool.mutates,
            destructive=tool.changes is not None and tool.changes.destructive,
            sha256=digest(tool.name, canonical_arguments, [mention.id for mention in people]),
            requester=self._request.user,
            approvers=self._approvers(tool),
            expires=int(time.time() + self._policy.approval_hours * 3_600),
            standing="" if fixed is None else digest(tool.name, json.dumps(values)),
            fixed=fixed or (),
            mentions=tuple(mention.shown for mention in people),
            mentioned=tuple(mention.id for mention in people),
            other_names=has_other_names(text, mentions),
            private=self._request.private,
            restored=self._request.restored,
        )


async def _titles(tool: Tool, arguments: BaseModel, title: str) -> dict[str, str]:
    """Return the title of a call in all languages in which it is another one, by their codes."""
    titles = dict[str, str]()
    for language in ("en", *sorted(languages())):
        await load_catalogue(language)
        with reader(language):
            titles[language] = tool.title(arguments)
    return {language: said for language, said in titles.items() if said != title}


def _labels(tool: Tool) -> dict[str, str]:
    """Return the titles of the tool's arguments, by their names."""
    fields = tool.arguments.model_fields.items()
    return {name: field.title for name, field in fields if field.title}


def _says(rule: Callable[[Any], bool] | None, arguments: BaseModel, *, if_broken: bool) -> bool:
    """Return what a tool's own rule says of a call, `if_broken` when it raises; False without one."""
    try:
        return bool(rule and rule(arguments))
    except Exception:
        log.exception("the rule of a tool failed")
        return if_broken


def _is_superseded(decision: Decision) -> bool:
    """Return whether a new message denied the approval before anybody decided it."""
    return decision.verdict is Verdict.DENIED and not decision.by


def _reason(decision: Decision) -> str:
    name = decision.name or decision.by
    match decision.verdict:
        case Verdict.EXPIRED:
            return _EXPIRED.english
        case Verdict.DENIED if _is_superseded(decision):
            return decision.comment
        case Verdict.DENIED:
            comment = f" and said: {decision.comment}" if decision.comment else ""
            return f"{_DENIED.english.format(name=name)}{comment}"
        case Verdict.WITHDRAWN:
            return _WITHDRAWN.english
        case Verdict.APPROVED | Verdict.STANDING:
            return _MAY_NO_MORE.english.format(name=name)
