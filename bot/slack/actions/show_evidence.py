"""*Show evidence*: what an answer rests on, as far as whoever asks for it may read that now."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from slack_sdk.errors import SlackApiError

from bot.core.chain import LedgerEntry
from bot.core.errors import NotPermitted
from bot.core.findings import Finding, Findings, Place, Verdict
from bot.core.outcome import Outcome
from bot.core.request import Request
from bot.core.text.evidence_line import distinct, evidence_line
from bot.core.text.redaction import each_text
from bot.runs.policy.access import Person
from bot.slack.actions.questions import QuestionIntake
from bot.slack.incoming.membership import ChannelMembership
from bot.slack.incoming.text import clean
from bot.slack.render import evidence_words
from bot.slack.render.evidence import (
    CLAIMS_OF_A_PAGE,
    MOST_PLACES,
    EvidencePage,
    ShownClaim,
    ShownPlace,
    evidence_modal,
)
from bot.slack.render.links import LinkGate
from bot.slack.render.parts import Block
from bot.slack.transport.client import TRANSPORT_ERRORS

log = logging.getLogger(__name__)

AnswerOf = Callable[[str], Awaitable[tuple[Request, Outcome] | None]]
"""Returns the request and the outcome of a run; None when they are no longer stored."""

ReadBefore = Callable[[Request], Awaitable[Sequence[LedgerEntry]]]
"""Returns the ledger entries that the asker of a request may see."""

_SECONDS = 1.5
"""Time to ask Slack who may see what: a modal opens within three seconds of a press."""

_MESSAGE = re.compile(r"/archives/([A-Z0-9]+)/p\d+")
_FILE = re.compile(r"/(?:files|docs)/[A-Z0-9]+/(F[A-Z0-9]+)")
_QUERIES = ("sql", "query", "pattern", "expression")
"""Arguments that say what was looked for, the most telling first."""


@dataclass(frozen=True, slots=True)
class _Call:
    """A call as the ledger has it: what it looked for, and on whose account it ran."""

    query: str = ""
    is_personal: bool = False


@dataclass(frozen=True, slots=True)
class EvidenceDialog:
    """The evidence of the answers of one workspace."""

    team: str
    questions: QuestionIntake
    access: ChannelMembership
    answer_of: AnswerOf
    read_before: ReadBefore

    async def page(self, run_id: str, number: int, user: str) -> Block:
        """Return the modal with a page of the evidence. Raises NotPermitted with a sentence.

        What an answer rests on is shown to those who may ask where it was given, and of that only
        what they could open themselves at this moment.
        """
        found = await self.answer_of(run_id)
        kept = found[1].traced if found else None
        if found is None or kept is None or found[0].team != self.team:
            raise NotPermitted(evidence_words.GONE)
        request, outcome = found
        if request.private and request.user != user:
            raise NotPermitted(evidence_words.NOT_YOURS)
        person = await self.questions.permitted(user, request.channel)
        traced = Findings.model_validate(each_text(kept.model_dump(mode="json"), clean))
        claims = _untraced_first(distinct(traced.items))
        pages = max(1, -(-len(claims) // CLAIMS_OF_A_PAGE))
        number = min(max(number, 0), pages - 1)
        shown = claims[number * CLAIMS_OF_A_PAGE :][:CLAIMS_OF_A_PAGE]
        page = EvidencePage(
            run_id=run_id,
            number=number,
            pages=pages,
            line=evidence_line(traced) or evidence_words.TITLE,
            unreadable=traced.unreadable,
            has_untraced=traced.untraced > 0,
            claims=await self._visible(shown, request, person),
        )
        return evidence_modal(page, LinkGate(outcome.links))

    async def _visible(
        self, claims: Sequence[Finding], request: Request, person: Person
    ) -> list[ShownClaim]:
        """Return the claims with the places that the person may see."""
        calls = _calls(await self.read_before(request))
        places = [place for each in claims for place in each.places[:MOST_PLACES]]
        seen = await self._sight_of(places, calls, request, person)
        return [
            ShownClaim(
                each,
                tuple(
                    ShownPlace(place, calls.get(place.call_id, _Call()).query)
                    if seen[_origin(place)]
                    else ShownPlace(None)
                    for place in each.places[:MOST_PLACES]
                ),
                left_out=len(each.places[MOST_PLACES:]),
            )
            for each in claims
        ]

    async def _sight_of(
        self,
        places: Sequence[Place],
        calls: Mapping[str, _Call],
        request: Request,
        person: Person,
    ) -> dict[str, bool]:
        """Return for the origin of each place whether the person may see it. What cannot be checked in
        time may not be seen."""
        asked = {_origin(place): place for place in places}
        tasks = {
            origin: asyncio.create_task(self._may_see(place, calls, request, person))
            for origin, place in asked.items()
        }
        if tasks:
            _, late = await asyncio.wait(tasks.values(), timeout=_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        return {
            origin: not task.cancelled() and task.exception() is None and task.result()
            for origin, task in tasks.items()
        }

    async def _may_see(
        self, place: Place, calls: Mapping[str, _Call], request: Request, person: Person
    ) -> bool:
        """Return whether the person may see a place. What the thread itself holds they may; what was
        read on somebody's account only that person."""
        call = calls.get(place.call_id)
        is_unknown = call is None and "__" in place.tool  # its account is not known any more
        if request.user != person.id and (is_unknown or (call and call.is_personal)):
            return False
        try:
            if message := _MESSAGE.search(place.link or place.url):
                return await self._sees_channel(person, message[1], request)
            if file := _FILE.search(place.link or place.url):
                return await self.questions.may_read_file(person, file[1])
        except (SlackApiError, *TRANSPORT_ERRORS) as error:
            log.warning("Evidence was hidden, as Slack did not say who sees it: %s", error)
            return False
        return True

    async def _sees_channel(self, person: Person, channel: str, request: Request) -> bool:
        if channel == request.channel:  # checked for the whole answer
            return True
        found = await self.access.channel(channel)
        if found is None:
            return False
        try:
            await self.access.may_see(person, found)
        except NotPermitted:
            return False
        return True


def _untraced_first(claims: Sequence[Finding]) -> list[Finding]:
    return sorted(claims, key=lambda each: each.verdict is not Verdict.UNTRACED)


def _origin(place: Place) -> str:
    """Return what decides who may see a place."""
    address = place.link or place.url
    found = _MESSAGE.search(address) or _FILE.search(address)
    return f"{place.call_id} {found[1] if found else ''}"


def _calls(ledger: Sequence[LedgerEntry]) -> dict[str, _Call]:
    """Return the calls in the ledger, by their ids."""
    items = [item for entry in ledger for item in entry.items]
    personal = {each.call_id for entry in ledger for each in entry.calls if each.account}
    return {
        item["call_id"]: _Call(_query(str(item.get("arguments"))), item["call_id"] in personal)
        for item in items
        if item.get("type") == "function_call"
    }


def _query(arguments: str) -> str:
    """Return what a call looked for, "" if its arguments do not say."""
    try:
        given = json.loads(arguments)
    except ValueError:
        return ""
    found = (given.get(name) for name in _QUERIES) if isinstance(given, dict) else ()
    return clean(str(next(filter(None, found), "")))
