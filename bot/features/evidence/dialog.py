"""*Show evidence*: what an answer rests on, as far as whoever asks for it may read that now."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from slack_sdk.errors import SlackApiError
from typing_extensions import override

from bot.core.chain import LedgerEntry
from bot.core.errors import MalformedPayload, NotPermitted
from bot.core.outcome import Outcome
from bot.core.request import Request
from bot.features.evidence import words
from bot.features.evidence.modal import (
    CLAIMS_OF_A_PAGE,
    MOST_PLACES,
    PAGE,
    SHOW,
    EvidencePage,
    ShownClaim,
    ShownPlace,
    evidence_modal,
    is_found,
)
from bot.features.evidence.settings import EvidenceSettings
from bot.features.evidence.trust import distinct, evidence_line
from bot.library.tracing.findings import Finding, Findings, Place
from bot.runs.context.answer_locale import locale_of_message
from bot.runs.context.ledger_reader import THREAD
from bot.runs.context.run_loader import ReadBefore, read_before
from bot.runs.policy.access import Person
from bot.slack.edge.client import TRANSPORT_ERRORS
from bot.slack.edge.people_and_channels import ChannelMembership
from bot.slack.edge.text import clean
from bot.slack.intake.press import Press
from bot.slack.intake.questions import QuestionIntake
from bot.slack.intake.slack_app import SlackApp
from bot.slack.intake.slack_part import ChannelChoice, SlackPart
from bot.slack.ui.blocks import Block
from bot.slack.ui.links import LinkGate
from bot.text.locales import figures, in_cents
from bot.text.redaction import each_text

log = logging.getLogger(__name__)

AnswerOf = Callable[[str], Awaitable[tuple[Request, Outcome] | None]]
"""Returns the request and the outcome of a run; None when they are no longer stored."""

LedgerOf = Callable[[Request, str], Awaitable[ReadBefore]]
"""Returns the ledger entries that a run of a request could see."""

_SECONDS = 1.5
"""Time to ask Slack who may see what: a modal opens within three seconds of a press."""

_MESSAGE = re.compile(r"/archives/([A-Z0-9]+)/p\d+")
_FILE = re.compile(r"/(?:files|files-pri|docs)/[A-Z0-9]+[/-](F[A-Z0-9]+)")
_QUERIES = ("sql", "program", "query", "pattern", "expression")
"""Arguments that say what was looked for, the most telling first."""


@dataclass(frozen=True, slots=True)
class _Call:
    """A call as the ledger has it: what the model looked for, and if a hook replaced that, what the call
    looked for; the addresses of its sources, and the only person who may see it, None for everybody in the
    thread."""

    asked: str = ""
    replaced: str = ""
    addresses: frozenset[str] = frozenset()
    reader: str | None = None

    @property
    def query(self) -> str:
        """What the call looked for."""
        return self.replaced or self.asked

    def and_also(self, other: _Call) -> _Call:
        """Return this call with what another entry has under its id."""
        readers = {self.reader, other.reader} - {None}
        reader = next(iter(readers), None) if len(readers) < 2 else ""  # nobody sees both
        queries = (self.asked or other.asked, self.replaced or other.replaced)
        return _Call(*queries, self.addresses | other.addresses, reader)


@dataclass(frozen=True, slots=True)
class EvidenceDialog:
    """The evidence of the answers of one workspace."""

    team: str
    questions: QuestionIntake
    access: ChannelMembership
    answer_of: AnswerOf
    ledger_of: LedgerOf

    async def page(self, run_id: str, number: int, user: str) -> Block:
        """Return the modal with a page of the evidence. Raises NotPermitted with a sentence.

        What an answer rests on is shown to those who may ask where it was given, and of that only
        what they could open themselves at this moment.
        """
        answered = await self.answer_of(run_id)
        stored = answered[1].traced if answered else None
        if answered is None or stored is None or answered[0].team != self.team:
            raise NotPermitted(words.GONE())
        request, outcome = answered
        if request.private and request.user != user:
            raise NotPermitted(words.NOT_YOURS())
        person = await self.questions.permitted(user, request.channel)
        traced = Findings.model_validate(each_text(stored.model_dump(mode="json"), clean))
        calls = _calls((await self.ledger_of(request, run_id)).entries)
        claims = _grouped(distinct(traced.items), calls)
        pages = max(1, -(-len(claims) // CLAIMS_OF_A_PAGE))
        number = min(max(number, 0), pages - 1)
        cells = _cells_as_shown(outcome, locale_of_message(outcome, request))
        on_page = [
            claim.model_copy(update={"text": cells.get(claim.field, claim.text)})
            for claim in claims[number * CLAIMS_OF_A_PAGE :][:CLAIMS_OF_A_PAGE]
        ]
        page = EvidencePage(
            run_id=run_id,
            number=number,
            pages=pages,
            line=evidence_line(traced),
            unreadable=traced.unreadable,
            claims=await self._visible(on_page, request, calls, person),
        )
        return evidence_modal(page, LinkGate(outcome.links))

    async def _visible(
        self,
        claims: Sequence[Finding],
        request: Request,
        calls: Mapping[str, _Call],
        person: Person,
    ) -> list[ShownClaim]:
        """Return the claims with the places that the person may see.

        How a claim was worked out names its operands, so only those see it who see all their
        places.
        """
        guards = {
            guard
            for claim_found in claims
            for place in claim_found.places
            for guard in _guards(place, calls)
        }
        openable = await self._openable(guards, request, person)

        def shown(place: Place) -> ShownPlace:
            is_call = place.tool and place.call_id != THREAD
            lost = _Call(reader=request.user if is_call else None)  # it may have been private
            call = calls.get(place.call_id, lost)
            may_see = call.reader in (None, person.id) and _guards(place, calls) <= openable
            return ShownPlace(place, call.query) if may_see else ShownPlace(None)

        def claim(found: Finding) -> ShownClaim:
            places = tuple(map(shown, found.places))
            sees_all = bool(places) and all(visible.place for visible in places)
            return ShownClaim(
                found if sees_all else found.model_copy(update={"formula": ""}),
                places[:MOST_PLACES],
                left_out=len(places[MOST_PLACES:]),
            )

        return list(map(claim, claims))

    async def _openable(
        self, guards: Collection[str], request: Request, person: Person
    ) -> frozenset[str]:
        """Return those channels and files that the person may open. What cannot be checked in time
        they may not."""
        checks = {
            guard: asyncio.create_task(self._opens(person, guard, request)) for guard in guards
        }
        if checks:
            _, late = await asyncio.wait(checks.values(), timeout=_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        done = {guard: task for guard, task in checks.items() if not task.cancelled()}
        return frozenset(guard for guard, task in done.items() if task.result())

    async def _opens(self, person: Person, guard: str, request: Request) -> bool:
        if guard == request.channel:  # checked for the whole answer
            return True
        try:
            if guard.startswith("F"):
                return await self.questions.may_read_file(person, guard)
            channel = await self.access.channel(guard)
            if channel is None:
                return False
            await self.access.may_see(person, channel)
        except NotPermitted:
            return False
        except (SlackApiError, *TRANSPORT_ERRORS) as error:
            log.warning("Evidence was hidden, as Slack did not say who sees it: %s", error)
            return False
        return True


def _cells_as_shown(outcome: Outcome, locale: str) -> dict[str, str]:
    """Return the cells of the answer's table as readers see them, by the fields of their claims."""
    table = (outcome.result or {}).get("table")
    if not isinstance(table, dict) or not table.get("rows"):
        return {}
    rows = figures(in_cents([table["columns"], *table["rows"]]), locale)[1:]
    return {
        f"table.rows.{row}.{column}": text
        for row, cells in enumerate(rows)
        for column, text in enumerate(cells)
    }


def _grouped(claims: Sequence[Finding], calls: Mapping[str, _Call]) -> list[Finding]:
    """Return the claims of each query or source together, in the order of the answer; then those that
    were not found, of which readers are warned first."""
    order = dict[tuple[str, ...], int]()

    def rank(claim: Finding) -> tuple[int, int]:
        if not is_found(claim):
            return 1, not claim.warned
        place = claim.places[0] if claim.places else Place(call_id="")
        query = calls[place.call_id].query if place.call_id in calls else ""
        origin = (place.tool, query, place.source, place.url)
        return 0, order.setdefault(origin, len(order))

    return sorted(claims, key=rank)


def _guards(place: Place, calls: Mapping[str, _Call]) -> frozenset[str]:
    """Return the ids of the channels and files that a person must be able to open to see a place.

    An address that none of the call's sources has may stand in a text that somebody wrote: then
    all sources of the call count.
    """
    call, address = calls.get(place.call_id), place.link or place.url
    if call is None or address in call.addresses:
        return _guard(address)
    return frozenset().union(*map(_guard, call.addresses))


def _guard(address: str) -> frozenset[str]:
    """Return the id of the channel or the file that an address opens, if it is one of Slack's."""
    match = _MESSAGE.search(address) or _FILE.search(address)
    return frozenset({match[1]} if match else ())


def _calls(ledger: Sequence[LedgerEntry]) -> dict[str, _Call]:
    """Return the calls in the ledger, by their ids. Some model servers use an id several times:
    only those see such a call who see all of them."""
    calls = dict[str, _Call]()
    for entry in ledger:
        own_calls = {
            item["call_id"]: _Call(_query(str(item.get("arguments"))), reader=entry.bound_to)
            for item in entry.items
            if item.get("type") == "function_call"
        }
        for record in entry.calls:
            addresses = frozenset(source.url for source in record.sources if source.url)
            call = own_calls.get(record.call_id, _Call(reader=entry.bound_to))
            replaced = _query(record.replaced)
            own_calls[record.call_id] = replace(call, addresses=addresses, replaced=replaced)
        for call_id, call in own_calls.items():
            before = calls.get(call_id)
            calls[call_id] = before.and_also(call) if before else call
    return calls


def _query(arguments: str) -> str:
    """Return what a call looked for, "" if its arguments do not say."""
    try:
        values = json.loads(arguments)
    except ValueError:
        return ""
    queries = (values.get(name) for name in _QUERIES) if isinstance(values, dict) else ()
    return clean(str(next(filter(None, queries), "")))


@dataclass(frozen=True, slots=True)
class EvidenceListeners(SlackPart):
    """The listeners of one workspace, and the mode of a channel. Each press checks the rights again."""

    dialog: EvidenceDialog
    channel_choices: tuple[ChannelChoice, ...]

    @classmethod
    def of(cls, settings: EvidenceSettings, app: SlackApp) -> EvidenceListeners:
        """Return the listeners of a workspace."""
        dialog = EvidenceDialog(
            app.team,
            app.questions,
            app.access,
            answer_of=app.stores.runs.answer,
            ledger_of=partial(read_before, app.stores),
        )
        mode = ChannelChoice("evidence", words.CHANNEL_EVIDENCE, words.MODES, settings.mode)
        return cls(dialog, (mode,))

    @override
    def register(self, app: SlackApp) -> None:
        """Listen to the button of an answer, and to Back and Next."""
        app.button(SHOW)(self._show)
        app.button(re.compile(f"^{PAGE}_(back|next)$"))(self._turn)

    async def _show(self, press: Press) -> None:
        await press.open(await self.dialog.page(press.value, 0, press.user))

    async def _turn(self, press: Press) -> None:
        run_id, _, number = press.value.rpartition(":")
        if not number.isdecimal():
            raise MalformedPayload("a page of evidence without a number")
        await press.update(await self.dialog.page(run_id, int(number), press.user))
